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
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from zlib import crc32

import numpy as np
from sklearn import config_context
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from landbridge._delegate import clone_with_seed, fit_weighted, require_sample_weight
from landbridge._tasks import (
    TaskCache,
    one_thread,
    spawn_seeds,
    unswallowed_signals,
    without_dask,
    working_time,
)
from landbridge._typing import Matrix, MatrixLike, Vector, VectorLike
from landbridge._validation import TransferData, plain_numbers, stack_rows
from landbridge._validation.checks import SINGLE
from landbridge._warn import warn_caller
from landbridge.exceptions import FewTargetRowsWarning, LandbridgeWarning
from landbridge.metrics.metric import Metric
from landbridge.model_selection._search_data import SearchData, encode_labels, numeric_rows
from landbridge.model_selection._sources import Folds, Source, make_folds, make_source, n_folds
from landbridge.model_selection.candidates import (
    Candidate,
    prediction_cost,
    steps_that_take,
    takes_target,
)
from landbridge.model_selection.criteria import Choice
from landbridge.model_selection.search_records import Cell, Predictions

# Maximum number of unlabelled rows, and of source rows × classes × cells, for which predictions are
# kept; beyond that, rows are sampled.
MOST_UNLABELLED = 2000
MOST_VALUES = 50_000_000
Stage = Literal["source_fold", "target_fold", "source_to_target", "target_alone", "weights"]


@dataclass(frozen=True, slots=True)
class FitTask:
    """One task; its outcome fills the arrays ``fills`` of every cell in ``cells``.

    The stage ``"weights"`` estimates the density ratio of a source. It has no candidate (−1).
    """

    stage: Stage
    fold: int
    candidate: int
    source: int
    cells: tuple[int, ...]
    fills: tuple[str, ...]


@dataclass(frozen=True)
class FitContext:
    """Data shared by the tasks of a search.

    ``kept_rows`` marks the source rows whose predictions are kept, ``kept_unlabelled`` lists the
    positions of the unlabelled rows that are predicted. ``weight_fit`` holds the weighting and
    numeric source and target rows, if density ratios are needed.
    """

    data: SearchData
    candidates: tuple[Candidate, ...]
    seeds: tuple[int, ...]
    sources: tuple[Source, ...]
    target_folds: Folds | None
    kept_rows: Vector
    kept_unlabelled: Vector
    weight_fit: tuple[Any, Matrix, Matrix] | None

    def split(self, task: FitTask) -> tuple[Vector, Vector]:
        """Positions of a task's training rows and of the rows that it holds out."""
        of_source = task.stage == "source_fold"
        folds = self.sources[task.source].folds if of_source else self.target_folds
        return folds.splits[task.fold]  # type: ignore[union-attr]


# Plan


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a search."""

    choice: Choice
    metrics: tuple[Metric, ...]
    answer: str
    weighting: Any
    cv: Any
    cv_target: Any
    cv_groups: VectorLike
    cv_groups_target: VectorLike
    racing: bool
    raise_errors: bool
    cache: TaskCache | None
    time_budget: float | None
    fit_timeout: float | None
    n_jobs: int | None
    seed: int
    verbose: int


def make_context(
    data: SearchData,
    candidates: Sequence[Candidate],
    source_rows: dict[Any, Vector],
    settings: Settings,
) -> FitContext:
    """Folds, seeds and the rows whose predictions are kept.

    The last source contains all rows: it is the pooled source or an unnamed one. Candidates that
    ignore the source are validated on it.
    """
    fold_seed, target_seed, kept_seed = spawn_seeds(settings.seed, 3)
    needs, rng = settings.choice.needs, np.random.default_rng(kept_seed)
    n_values = data.n_rows * len(candidates) * (1 if data.classes is None else len(data.classes))
    kept = np.ones(data.n_rows, dtype=bool)
    if n_values > MOST_VALUES:
        kept = rng.permutation(data.n_rows) < max(data.n_rows * MOST_VALUES // n_values, 1)
    rows = dict(source_rows)
    whole = [None, *(name for name, part in rows.items() if part.size == data.n_rows)]
    rows[whole[-1]] = rows.pop(whole[-1], np.arange(data.n_rows))
    # The folds of a source do not change when another source is added.
    options = settings.cv, data.task, fold_seed, settings.cv_groups
    return FitContext(
        data=data,
        candidates=tuple(candidates),
        seeds=tuple(model_seeds(settings.seed, candidates)),
        sources=tuple(make_source(name, part, data.y, *options) for name, part in rows.items()),
        target_folds=_target_folds(data, settings, target_seed),
        kept_rows=kept,
        kept_unlabelled=np.sort(rng.permutation(data.n_unlabelled)[:MOST_UNLABELLED]),
        weight_fit=(settings.weighting, *numeric_rows(data)) if "weights" in needs else None,
    )


def model_seeds(seed: int, candidates: Sequence[Candidate]) -> list[int]:
    """One seed per candidate, used in every fold and in the final fit.

    It depends only on the name of the candidate and its position in the grid, so that adding
    another candidate does not change it.
    """
    met: Counter[str] = Counter()
    seeds = []
    for candidate in candidates:
        # Use a CRC, because Python's hash of text differs between processes.
        words = [seed, crc32(candidate.name.encode()), met[candidate.name]]
        seeds.append(int(np.random.SeedSequence(words).generate_state(1)[0]) & 0x7FFFFFFF)
        met[candidate.name] += 1
    return seeds


def _target_folds(data: SearchData, settings: Settings, seed: int) -> Folds | None:
    """Folds of the labelled target rows; one per row if there are too few for ``cv``."""
    if not settings.choice.needs & {"target", "target_alone"}:
        return None
    cv, groups = settings.cv_target, settings.cv_groups_target
    if data.n_labelled < n_folds(cv):
        warn_caller(
            f"There are {data.n_labelled} labelled target rows for {n_folds(cv)} folds, so each "
            "row is a separate fold. Label more rows, or lower `cv`.",
            FewTargetRowsWarning,
        )
        cv = data.n_labelled
    if isinstance(cv, int) and groups is not None:
        cv = max(min(cv, np.unique(groups).size), 2)
    return make_folds(data.y_target, cv=cv, task=data.task, seed=seed, groups=groups)


def plan_cells(
    candidates: Sequence[Candidate], sources: Sequence[Source], n_labelled: int
) -> list[Cell]:
    """Cells of all candidates and sources; candidates that ignore the source have a single cell."""
    numbered = list(enumerate(candidates))
    order = [
        (place, source, number, candidate)
        for place, source in enumerate(sources)
        for number, candidate in numbered
        if candidate.uses_source and source.name is not None
    ]
    last = len(sources) - 1  # holds all rows (see `make_context`)
    order += [(last, sources[last], n, other) for n, other in numbered if not other.uses_source]
    return [
        Cell(
            candidate=candidate.name,
            params={name: _plain(value) for name, value in candidate.params.items()},
            source=source.name if candidate.uses_source else None,
            role=candidate.role,
            source_index=place,
            candidate_index=number,
            complexity=candidate.complexity,
            prediction_cost=prediction_cost(
                candidate.estimator, n_labelled + candidate.uses_source * source.rows.size
            ),
        )
        for place, source, number, candidate in order
    ]


def _plain(value: Any) -> Any:
    """Convert a value of a grid to a JSON type."""
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def plan_fits(cells: Sequence[Cell], context: FitContext, needs: frozenset[str]) -> list[FitTask]:
    """Fits needed for the arrays in ``needs``; sources with a problem are skipped."""
    arrays = [_arrays_by_stage(candidate, needs) for candidate in context.candidates]
    n_target = len(context.target_folds or ())
    fits: list[FitTask] = []
    shared: dict[int, tuple[FitTask, list[int]]] = {}
    for number, cell in enumerate(cells):
        source, candidate = context.sources[cell.source_index], cell.candidate_index
        if source.problem:
            continue
        n_folds = {"source_fold": len(source.folds), "source_to_target": 1}
        for stage, fills in arrays[candidate].items():
            fit = FitTask(stage, 0, candidate, cell.source_index, (number,), fills)
            if stage == "target_alone":  # shared by a candidate's cells on all sources
                shared.setdefault(candidate, (fit, []))[1].append(number)
            else:
                fits += [replace(fit, fold=k) for k in range(n_folds.get(stage, n_target))]
    for _, (fit, numbers) in sorted(shared.items()):
        fits += [replace(fit, fold=k, cells=tuple(numbers)) for k in range(n_target)]
    return fits


def _arrays_by_stage(candidate: Candidate, needs: frozenset[str]) -> dict[Stage, tuple[str, ...]]:
    """Arrays that the fits of each stage fill for a candidate."""
    stages: dict[str, Stage] = {
        "source": "source_fold",
        "reverse": "source_fold",
        "target_alone": "target_alone",
        "source_to_target": "source_to_target",
        "target": "target_fold" if candidate.uses_source else "target_alone",
    }
    if candidate.role == "source-only":
        stages["target"] = "source_to_target"
    names = [name for name in stages if name in needs]
    # Unlabelled rows are predicted by the models most similar to the final one.
    stages["unlabelled"] = stages["target" if "target" in needs else names[0]]
    names.append("unlabelled")
    return {
        stages[name]: tuple(other for other in names if stages[other] == stages[name])
        for name in names
    }


# Training rows


def _labelled(X: MatrixLike, y: Vector, weight: VectorLike, rows: Vector) -> TransferData:
    weight = None if weight is None else weight[rows]
    return TransferData(_safe_indexing(X, rows), y[rows], sample_weight=weight)


def source_rows(data: SearchData, rows: Vector) -> TransferData:
    """Labelled source rows, without the target."""
    return _labelled(data.X, data.y, data.sample_weight, rows)


def target_alone_rows(data: SearchData, rows: Vector) -> TransferData:
    """Labelled target rows, without the source."""
    return _labelled(data.X_target, data.y_target, data.sample_weight_target, rows)


def target_rows(data: SearchData, source: Vector, train: Vector | None = None) -> TransferData:
    """Source rows and the labelled target rows ``train``; all of them for the final fit."""
    rows = source_rows(data, source)
    target = TransferData(data.X_target, data.y_target, sample_weight=data.sample_weight_target)
    if train is not None:
        target = target_alone_rows(data, train)
    weights = rows.sample_weight, target.sample_weight
    return TransferData(rows.X, rows.y, target.X, target.y, data.X_unlabeled, *weights)


def reverse_rows(
    data: SearchData, estimator: Any, pseudo_labels: Vector, test: Vector
) -> TransferData:
    """Step 3 of Fig. 1; for a transfer estimator, the two domains are exchanged."""
    weight = data.sample_weight
    if weight is not None:  # pseudo-labelled rows count as much as source rows do on average
        weight = np.full(len(pseudo_labels), weight.mean())
    unlabelled = _safe_indexing(data.X, test) if takes_target(estimator) else None
    rows = (data.rows_to_label, pseudo_labels, data.X_target, data.y_target, unlabelled)
    return TransferData(*rows, weight, data.sample_weight_target)


class OneClass(DummyClassifier):
    """Replacement for a candidate whose training labels have only one class."""


def fit_candidate(candidate: Candidate, rows: TransferData, *, task: str, seed: int) -> Any:
    """Fit a clone; predict a constant if all labels, such as pseudo-labels, are equal."""
    # A source-only candidate never sees target labels, so they cannot add a second class.
    used = rows.y if candidate.role == "source-only" else rows.labels
    one_class = task == "classification" and np.unique(rows.y).size == 1
    if not one_class or np.unique(used).size > 1:
        model = clone_with_seed(candidate.estimator, seed)
        with warnings.catch_warnings():
            # Missing and tiny classes are a property of the fold: no warnings from every fit.
            warnings.simplefilter("ignore", LandbridgeWarning)
            warnings.filterwarnings("ignore", "Only one sample available")  # default discriminant
            try:
                return fit_model(model, rows)
            except ValueError:
                # A transfer estimator need not learn from the labels of the target.
                if not one_class:
                    raise
    # The rows do not matter, and documents or tables need no conversion.
    return OneClass(strategy="most_frequent").fit(np.zeros((len(rows.y), 1)), rows.y)


def fit_model(model: Any, rows: TransferData) -> Any:
    """Fit an estimator of any kind on the rows that it can learn from.

    At the end of a pipeline that maps the domains onto each other, a plain estimator learns from
    the mapped source rows and the labelled target rows, as it would without the maps.
    """
    if not takes_target(model):
        return _fit_plain(model, rows.labelled_rows, rows)
    if not isinstance(model, Pipeline) or takes_target(model[-1]) or not hasattr(model[-1], "fit"):
        return fit_with_target(model, rows)
    given = {name: value for name, value in rows.options.items() if "weight" not in name}
    if not given:
        return _fit_plain(model, rows.X, rows)
    maps, (name, last) = model[:-1], model.steps[-1]
    mapped = _with_routing(maps, given, "fit_transform", rows.X, rows.y)
    if rows.X_target is not None:
        mapped = stack_rows([mapped, maps.transform(rows.X_target)])
    # `maps` shares its steps with the pipeline, so only the last step has to be restored.
    model.steps[-1] = (name, _fit_plain(last, mapped, rows))
    return model


def _fit_plain(model: Any, X: MatrixLike, rows: TransferData) -> Any:
    """Fit with the labels and weights of all labelled rows, which are the rows of X."""
    if not rows.weighted:
        return model.fit(X, rows.labels)
    require_sample_weight(model, "the search was given sample weights")
    return fit_weighted(model, X, rows.labels, rows.row_weights)


def fit_with_target(model: Any, rows: TransferData) -> Any:
    """Fit with all given arguments, passed to every pipeline step that accepts them."""
    given = rows.options
    refused = [name for name in given if "weight" in name and not steps_that_take(model, name)]
    if refused:
        raise ValueError(
            f"`estimator` must take {refused[0]} in fit, because the search was given sample "
            f"weights; got {type(model).__name__}, which does not. Leave the candidate out."
        )
    if not given or not isinstance(model, Pipeline):
        return model.fit(rows.X, rows.y, **given)
    return _with_routing(model, given, "fit", rows.X, rows.y)


def _with_routing(model: Pipeline, given: dict[str, Any], method: str, X: Any, y: Any) -> Any:
    """Call a method of a pipeline so that each step gets the arguments accepted by its fit."""
    with config_context(enable_metadata_routing=True):
        model.set_params(transform_input=[name for name in given if name.startswith("X")])
        for name in given:
            for step in steps_that_take(model, name):
                step.set_fit_request(**{name: True})
        return getattr(model, method)(X, y, **given)


class FitRun:
    """A running task, which measures times and collects predictions."""

    def __init__(self, context: FitContext, task: FitTask):
        self.context, self.data, self.task = context, context.data, task
        self.candidate = context.candidates[task.candidate]
        self.outcome: dict[str, Any] = {
            "fit_seconds": 0.0, "predict_seconds": 0.0, "constants": 0, "has_proba": True,
        }  # fmt: skip

    def run(self) -> dict[str, Any]:
        """Arrays of predictions and plain numbers, ready to be cached."""
        data, source = self.data, self.context.sources[self.task.source].rows
        if self.task.stage == "source_to_target":
            rows = replace(source_rows(data, source), X_unlabeled=data.target_rows)
            self._on_target(rows, np.arange(data.n_labelled))
            return self.outcome
        train, test = self.context.split(self.task)
        if self.task.stage == "target_fold":
            self._on_target(target_rows(data, source, train), test)
        elif self.task.stage == "target_alone":
            self._on_target(target_alone_rows(data, train), test)
        else:
            self._on_source(source, train, test)
        return self.outcome

    def _on_target(self, rows: TransferData, test: Vector) -> None:
        self.outcome["rows"] = test
        model = self._fit(rows)
        names = [name for name in self.task.fills if name != "unlabelled"]
        self._predict(model, _safe_indexing(self.data.X_target, test), *names)
        self._predict_unlabelled(model)

    def _on_source(self, source: Vector, train: Vector, test: Vector) -> None:
        """Fig. 1: a forward model, its pseudo-labels, and the reverse model learned from them."""
        data, estimator, fills = self.data, self.candidate.estimator, self.task.fills
        self.outcome["rows"] = kept = test[self.context.kept_rows[source[test]]]
        X_kept = _safe_indexing(data.X, source[kept])
        take_rows = target_rows if takes_target(estimator) else source_rows
        model = self._fit(take_rows(data, source[train]))
        if "source" in fills:
            self._predict(model, X_kept, "source")
        self._predict_unlabelled(model)
        if "reverse" in fills:
            labels = self._timed("predict_seconds", _checked_labels, model, data.rows_to_label)
            encode_labels(labels, data.classes)  # raises for labels that y does not have
            model = self._fit(reverse_rows(data, estimator, labels, source[test]))
            self._predict(model, X_kept, "reverse")

    def _predict_unlabelled(self, model: Any) -> None:
        if "unlabelled" in self.task.fills:
            X = _safe_indexing(self.data.rows_to_label, self.context.kept_unlabelled)
            found = self._timed("predict_seconds", predict_rows, model, X, self.data.classes)
            self.outcome["unlabelled.values"] = single(found.values)

    def _predict(self, model: Any, X: MatrixLike, *names: str) -> None:
        found = self._timed("predict_seconds", predict_rows, model, X, self.data.classes)
        for name in names:
            self.outcome[f"{name}.values"] = found.values
            if found.labels is not None:
                self.outcome[f"{name}.labels"] = found.labels

    def _fit(self, rows: TransferData) -> Any:
        options = {"task": self.data.task, "seed": self.context.seeds[self.task.candidate]}
        model = self._timed("fit_seconds", fit_candidate, self.candidate, rows, **options)
        self.outcome["constants"] += isinstance(model, OneClass)
        self.outcome["has_proba"] &= hasattr(model, "predict_proba")
        return model

    def _timed(self, clock: str, function: Any, *arguments: Any, **options: Any) -> Any:
        started = working_time()
        answer = function(*arguments, **options)
        self.outcome[clock] += working_time() - started
        return answer


def single(values: np.ndarray) -> np.ndarray:
    """Values in single precision, unless they overflow or vanish in it."""
    largest = np.abs(values).max(initial=0.0)
    return values.astype(np.float32) if SINGLE[0] <= largest <= SINGLE[1] else values


def predict_rows(model: Any, X: MatrixLike, classes: VectorLike) -> Predictions:
    """Labels and probabilities of a classifier in the order of ``classes``, or numbers."""
    labels = encode_labels(_checked_labels(model, X), classes)
    if classes is None:
        return Predictions(labels)
    values = np.zeros((labels.size, len(classes)))
    if not hasattr(model, "predict_proba"):
        values[np.arange(labels.size), labels] = 1.0
        return Predictions(values, labels)
    found = np.asarray(model.predict_proba(X), dtype=np.float64)
    columns = encode_labels(np.asarray(model.classes_), classes)
    shape = labels.size, columns.size
    if found.shape != shape:
        raise ValueError(
            f"`estimator` must give one probability per row and class, shape {shape}; got shape "
            f"{found.shape}. Check its predict_proba."
        )
    check_predictions(found)
    values[:, columns] = found
    return Predictions(values, labels)


def _checked_labels(model: Any, X: MatrixLike) -> Vector:
    """Return ``model.predict(X)``, checked to be one finite label per row."""
    labels = without_column(plain_numbers(np.asarray(model.predict(X))))
    if labels.shape != (_num_samples(X),):
        raise ValueError(
            f"`estimator` must predict one label for each of {_num_samples(X)} rows; got an array "
            f"of shape {labels.shape}. Check its predict."
        )
    if labels.dtype.kind == "f":
        check_predictions(labels)
    return labels


def without_column(labels: Any) -> Any:
    """Flatten a column of labels, which some libraries return."""
    return labels.ravel() if np.ndim(labels) == 2 and labels.shape[1] == 1 else labels


def check_predictions(values: np.ndarray) -> None:
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.argwhere(~finite)[0][0])
        raise ValueError(
            f"`estimator` predicted NaN or infinity for row {row}; check how it handles such input."
        )


@dataclass(frozen=True)
class FinalFits:
    """Rows and candidates of a search.

    ``data`` was transformed by ``preprocessor``, and ``source_rows`` holds the rows of every source
    of the result.
    """

    data: SearchData
    candidates: Sequence[Candidate]
    seed: int
    source_rows: Sequence[Vector]
    preprocessor: Any = None

    def fit(self, cell: Cell) -> Any:
        """Fit a cell on its source and all target rows; the model needs preprocessed rows."""
        number = cell.candidate_index
        with one_thread(), unswallowed_signals(), without_dask():
            return fit_candidate(
                self.candidates[number],
                target_rows(self.data, self.source_rows[cell.source_index]),
                task=self.data.task,
                seed=model_seeds(self.seed, self.candidates)[number],
            )

    def with_preprocessor(self, model: Any) -> Any:
        """Put the preprocessor in front of a model, so that it predicts rows as they are given."""
        if self.preprocessor is None:
            return model
        return Pipeline([("preprocessor", self.preprocessor), ("model", model)])
