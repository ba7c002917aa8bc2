"""Fits of a search: which are needed, their training rows, and how they are run.

A *cell* is one candidate on one source. S is the source, L the labelled target, U the unlabelled
target; a bar means "without the fold".

================= ============================= ================================== ===========
fit               a plain estimator is given    a transfer estimator is given      predicts
================= ============================= ================================== ===========
forward           S̄ᵢ                            S̄ᵢ as source, L, U                 Sᵢ, U
reverse           {U, Ŷ} ∪ L                    {U, Ŷ} as source, L, Xs of Sᵢ      Sᵢ
target fold       S ∪ L̄ⱼ                        S as source, L̄ⱼ, U                 Lⱼ, U
source to target  S                             S as source, L and U unlabelled    L, U
target alone      L̄ⱼ                            L̄ⱼ as source, no target            Lⱼ, U
final             S ∪ L                         S as source, L, U                  new rows
================= ============================= ================================== ===========

A transfer estimator is one whose ``fit`` takes ``X_target``, alone or as a step of a pipeline.
Without unlabelled rows, the rows of L are used as U. Criteria share fits: models that do not depend
on the source are fitted once, and a candidate that ignores the target is not fitted again for every
fold of the target.

In the reverse fit of a transfer estimator, L is passed with Sᵢ as labelled target rows, although it
comes from the other domain, so that an estimator that needs target labels has them in both
directions. Adding L to the source rows, as for a plain estimator, does not improve the ranking
(corr −0.6 ± 0.5 of 45 in 29 searches of the benchmark ``search_printed``).
"""

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn import config_context
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from landbridge._delegate import clone_with_seed, fit_weighted, require_sample_weight
from landbridge._tasks import working_time
from landbridge._typing import Matrix, MatrixLike, Vector, VectorLike
from landbridge._validation import plain_numbers, stack_rows
from landbridge.exceptions import LandbridgeWarning
from landbridge.model_selection._search_data import SearchData, encode_labels
from landbridge.model_selection._sources import Folds, Source
from landbridge.model_selection.candidates import Candidate, steps_that_take, takes_target
from landbridge.model_selection.search_records import Predictions

Stage = Literal["source_fold", "target_fold", "source_to_target", "target_alone"]


@dataclass(frozen=True, slots=True)
class FitTask:
    """One task; its predictions fill the arrays ``fills`` of every cell in ``cells``."""

    stage: Stage
    fold: int
    candidate: int
    source: int
    cells: tuple[int, ...]
    fills: tuple[str, ...]

    @property
    def n_models(self) -> int:
        """Number of models that the task fits."""
        return 2 if "reverse" in self.fills else 1


@dataclass(frozen=True)
class FitContext:
    """Data shared by the tasks of a search.

    ``kept_rows`` marks the source rows whose predictions are kept, ``kept_unlabelled`` lists the
    positions of the unlabelled rows that are predicted. ``weight_rows`` are numeric source and
    target rows, if density ratios are needed.
    """

    data: SearchData
    candidates: tuple[Candidate, ...]
    seeds: tuple[int, ...]
    sources: tuple[Source, ...]
    target_folds: Folds | None
    kept_rows: Vector
    kept_unlabelled: Vector
    weight_rows: tuple[Matrix, Matrix] | None = None


@dataclass(frozen=True, slots=True)
class Training:
    """Arguments of one call of ``fit``."""

    X: MatrixLike
    y: Vector
    X_target: MatrixLike = None
    y_target: VectorLike = None
    X_unlabeled: MatrixLike = None
    sample_weight: VectorLike = None
    sample_weight_target: VectorLike = None

    @property
    def labels(self) -> Vector:
        """Every label of the fit."""
        return self.y if self.y_target is None else np.concatenate([self.y, self.y_target])

    @property
    def rows(self) -> MatrixLike:
        """All labelled rows of the fit, source rows first."""
        return self.X if self.X_target is None else stack_rows([self.X, self.X_target])

    @property
    def weights(self) -> VectorLike:
        """Weights of all labelled rows; ``None`` if no weights were given."""
        if self.sample_weight is None and self.sample_weight_target is None:
            return None
        source = np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight
        if self.y_target is None:
            return source
        target = self.sample_weight_target
        target = np.ones(len(self.y_target)) if target is None else target
        return np.concatenate([source, target])

    @property
    def target(self) -> dict[str, Any]:
        """Arguments of ``fit`` that are not None, except X and y."""
        named = {
            "X_target": self.X_target,
            "y_target": self.y_target,
            "X_unlabeled": self.X_unlabeled,
            "sample_weight": self.sample_weight,
            "sample_weight_target": self.sample_weight_target,
        }
        return {name: value for name, value in named.items() if value is not None}


def _take(values: VectorLike, rows: Vector) -> VectorLike:
    return None if values is None else values[rows]


def forward_rows(data: SearchData, estimator: Any, train: Vector) -> Training:
    """Step 1 of Fig. 1."""
    X, y, weight = _safe_indexing(data.X, train), data.y[train], _take(data.sample_weight, train)
    if not takes_target(estimator):
        return Training(X, y, sample_weight=weight)
    return Training(
        X, y, data.X_target, data.y_target, data.X_unlabeled, weight, data.sample_weight_target
    )


def reverse_rows(data: SearchData, estimator: Any, pseudo_labels: Vector, test: Vector) -> Training:
    """Step 3 of Fig. 1; for a transfer estimator, the two domains are exchanged."""
    held_out = _safe_indexing(data.X, test) if takes_target(estimator) else None
    return Training(
        data.rows_to_label,
        pseudo_labels,
        data.X_target,
        data.y_target,
        held_out,
        sample_weight_target=data.sample_weight_target,
    )


def target_rows(data: SearchData, source: Vector, train: Vector | None = None) -> Training:
    """Source rows and the labelled target rows ``train``; all of them for the final fit."""
    X_target, y_target, weight = data.X_target, data.y_target, data.sample_weight_target
    if X_target is not None and train is not None:
        X_target, y_target = _safe_indexing(X_target, train), y_target[train]
        weight = _take(weight, train)
    return Training(
        _safe_indexing(data.X, source),
        data.y[source],
        X_target,
        y_target,
        data.X_unlabeled,
        _take(data.sample_weight, source),
        weight,
    )


def source_to_target_rows(data: SearchData, source: Vector) -> Training:
    """Labelled source rows and unlabelled target rows."""
    return Training(
        _safe_indexing(data.X, source),
        data.y[source],
        X_unlabeled=data.target_rows,
        sample_weight=_take(data.sample_weight, source),
    )


def target_alone_rows(data: SearchData, train: Vector) -> Training:
    """Labelled target rows, without the source."""
    return Training(
        _safe_indexing(data.X_target, train),
        data.y_target[train],
        sample_weight=_take(data.sample_weight_target, train),
    )


class OneClass(DummyClassifier):
    """Replacement for a candidate whose training labels have only one class."""


def fit_candidate(candidate: Candidate, rows: Training, *, task: str, seed: int) -> Any:
    """Fit a clone; predict a constant if all labels, such as pseudo-labels, are equal."""
    # A source-only candidate never sees target labels, so they cannot add a second class.
    used = rows.y if candidate.role == "source-only" else rows.labels
    one_class = task == "classification" and np.unique(rows.y).size == 1
    if one_class and np.unique(used).size == 1:
        return _constant(rows)
    model = clone_with_seed(candidate.estimator, seed)
    with warnings.catch_warnings():
        # Missing classes are a property of the fold, so the user is not warned in every fit.
        warnings.simplefilter("ignore", LandbridgeWarning)
        try:
            return fit_model(model, rows)
        except ValueError:
            # A transfer estimator need not learn from the labels of the target.
            if one_class:
                return _constant(rows)
            raise


def _constant(rows: Training) -> OneClass:
    return OneClass(strategy="most_frequent").fit(np.zeros((len(rows.y), 1)), rows.y)


def fit_model(model: Any, rows: Training) -> Any:
    """Fit an estimator of any kind on the rows that it can learn from."""
    if not takes_target(model):
        return _fit_plain(model, rows.rows, rows.labels, rows.weights)
    if isinstance(model, Pipeline) and not takes_target(model[-1]) and hasattr(model[-1], "fit"):
        return _fit_mapped(model, rows)
    return fit_with_target(model, rows)


def _fit_plain(model: Any, X: MatrixLike, y: Vector, weights: VectorLike) -> Any:
    if weights is None:
        return model.fit(X, y)
    require_sample_weight(model, "the search was given sample weights")
    return fit_weighted(model, X, y, weights)


def _fit_mapped(model: Pipeline, rows: Training) -> Pipeline:
    """Fit a pipeline that maps the domains onto each other and ends in a plain estimator.

    The estimator learns from the mapped source rows and from the labelled target rows, as it would
    without the maps.
    """
    maps, last = model[:-1], model[-1]
    given = {name: value for name, value in rows.target.items() if "weight" not in name}
    if not given:
        return _fit_plain(model, rows.X, rows.y, rows.weights)
    mapped = _with_routing(maps, given, "fit_transform", rows.X, rows.y)
    if rows.X_target is not None:
        mapped = stack_rows([mapped, maps.transform(rows.X_target)])
    # `maps` shares its steps with the pipeline, so only the last step has to be restored.
    model.steps[-1] = (model.steps[-1][0], _fit_plain(last, mapped, rows.labels, rows.weights))
    return model


def fit_with_target(model: Any, rows: Training, **options: Any) -> Any:
    """Fit with the available target rows, passed to every pipeline step that accepts them.

    ``options`` are additional arguments of ``fit``.
    """
    given = rows.target
    refused = [name for name in given if "weight" in name and not steps_that_take(model, name)]
    if refused:
        raise ValueError(
            f"`estimator` must take {refused[0]} in fit, because the search was given sample "
            f"weights; got {type(model).__name__}, which does not. Leave the candidate out."
        )
    if not given or not isinstance(model, Pipeline):
        return model.fit(rows.X, rows.y, **given, **options)
    return _with_routing(model, given, "fit", rows.X, rows.y, **options)


def _with_routing(
    model: Pipeline, given: dict[str, Any], method: str, X: Any, y: Any, **options: Any
) -> Any:
    """Call a method of a pipeline so that each step gets the arguments accepted by its fit."""
    with config_context(enable_metadata_routing=True):
        model.set_params(transform_input=[name for name in given if name.startswith("X")])
        for name in given:
            for step in steps_that_take(model, name):
                step.set_fit_request(**{name: True})
        return getattr(model, method)(X, y, **given, **options)


def run_fit(context: FitContext, task: FitTask) -> dict[str, Any]:
    """Run one task and return arrays of predictions and plain numbers, ready to be cached."""
    return _FitRun(context, task).outcome()


class _FitRun:
    """A running task, which measures times and collects predictions."""

    def __init__(self, context: FitContext, task: FitTask):
        self.context, self.data, self.task = context, context.data, task
        self.candidate = context.candidates[task.candidate]
        self.source = context.sources[task.source]
        self.fit_seconds = self.predict_seconds = 0.0
        self.constants, self.has_proba = 0, True
        self.arrays: dict[str, Any] = {}

    def outcome(self) -> dict[str, Any]:
        getattr(self, f"_{self.task.stage}")()
        return {
            **self.arrays,
            "fit_seconds": self.fit_seconds,
            "predict_seconds": self.predict_seconds,
            "constants": self.constants,
            "has_proba": self.has_proba,
        }

    def _source_fold(self) -> None:
        train, test = self.source.split(self.task.fold)
        kept = self.context.kept_rows[test]
        X_kept = _safe_indexing(self.data.X, test[kept])
        self.arrays["rows"] = self.source.folds.splits[self.task.fold][1][kept]
        model = self._fit(forward_rows(self.data, self.candidate.estimator, train))
        if "source" in self.task.fills:
            self._predict(model, X_kept, "source")
        self._predict_unlabelled(model)
        if "reverse" in self.task.fills:
            labels = self._timed(_checked_labels, model, self.data.rows_to_label)
            encode_labels(labels, self.data.classes)  # raises for labels that y does not have
            back = reverse_rows(self.data, self.candidate.estimator, labels, test)
            self._predict(self._fit(back), X_kept, "reverse")

    def _target_fold(self) -> None:
        train, test = self.context.target_folds.splits[self.task.fold]  # type: ignore[union-attr]
        self._on_target(target_rows(self.data, self.source.rows, train), test)

    def _target_alone(self) -> None:
        train, test = self.context.target_folds.splits[self.task.fold]  # type: ignore[union-attr]
        self._on_target(target_alone_rows(self.data, train), test)

    def _source_to_target(self) -> None:
        rows = source_to_target_rows(self.data, self.source.rows)
        self._on_target(rows, np.arange(self.data.n_labelled))

    def _on_target(self, rows: Training, test: Vector) -> None:
        model = self._fit(rows)
        self.arrays["rows"] = test
        names = [name for name in self.task.fills if name != "unlabelled"]
        if names:
            self._predict(model, _safe_indexing(self.data.X_target, test), *names)
        self._predict_unlabelled(model)

    def _predict_unlabelled(self, model: Any) -> None:
        if "unlabelled" in self.task.fills:
            X = _safe_indexing(self.data.rows_to_label, self.context.kept_unlabelled)
            found = self._timed(predict_rows, model, X, self.data.classes)
            self.arrays["unlabelled.values"] = found.values.astype(np.float32)

    def _predict(self, model: Any, X: MatrixLike, *names: str) -> None:
        found = self._timed(predict_rows, model, X, self.data.classes)
        for name in names:
            self.arrays[f"{name}.values"] = found.values
            if found.labels is not None:
                self.arrays[f"{name}.labels"] = found.labels

    def _fit(self, rows: Training) -> Any:
        started = working_time()
        model = fit_candidate(
            self.candidate,
            rows,
            task=self.data.task,
            seed=self.context.seeds[self.task.candidate],
        )
        self.fit_seconds += working_time() - started
        self.constants += isinstance(model, OneClass)
        self.has_proba = self.has_proba and hasattr(model, "predict_proba")
        return model

    def _timed(self, function: Any, *arguments: Any) -> Any:
        started = working_time()
        answer = function(*arguments)
        self.predict_seconds += working_time() - started
        return answer


def predict_rows(model: Any, X: MatrixLike, classes: VectorLike) -> Predictions:
    """Labels and probabilities of a classifier in the order of ``classes``, or numbers."""
    if isinstance(model, OneClass):
        X = np.zeros((_num_samples(X), 1))
    labels = encode_labels(_checked_labels(model, X), classes)
    if classes is None:
        return Predictions(labels)
    n_rows, n_classes = labels.size, len(classes)
    values = np.zeros((n_rows, n_classes))
    if not hasattr(model, "predict_proba"):
        values[np.arange(n_rows), labels] = 1.0
        return Predictions(values, labels)
    found = np.asarray(model.predict_proba(X), dtype=np.float64)
    columns = encode_labels(np.asarray(model.classes_), classes)
    if found.shape != (n_rows, columns.size):
        raise ValueError(
            f"`estimator` must give one probability per row and class, shape {n_rows, columns.size}"
            f"; got shape {found.shape}. Check its predict_proba."
        )
    _check_finite(found)
    values[:, columns] = found
    return Predictions(values, labels)


def _checked_labels(model: Any, X: MatrixLike) -> Vector:
    """Return ``model.predict(X)``, checked to be one finite label per row."""
    if isinstance(model, OneClass):
        X = np.zeros((_num_samples(X), 1))
    labels = without_column(plain_numbers(np.asarray(model.predict(X))))
    if labels.shape != (_num_samples(X),):
        raise ValueError(
            f"`estimator` must predict one label for each of {_num_samples(X)} rows; got an array "
            f"of shape {labels.shape}. Check its predict."
        )
    if labels.dtype.kind == "f":
        _check_finite(labels)
    return labels


def without_column(labels: Any) -> Any:
    """Flatten a column of labels, which some libraries return."""
    return labels.ravel() if np.ndim(labels) == 2 and labels.shape[1] == 1 else labels


def _check_finite(values: np.ndarray) -> None:
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.argwhere(~finite)[0][0])
        raise ValueError(
            f"`estimator` predicted NaN or infinity for row {row}; check how it handles such input."
        )
