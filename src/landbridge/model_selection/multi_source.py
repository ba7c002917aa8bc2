"""Multiple-source cross-validation: train without each source, predict it.

Geras and Sutton, *Multiple-source cross-validation*: CVS, and CVR for comparison.
"""

import logging
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_regressor
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import _num_samples, has_fit_parameter

from landbridge._delegate import clone_with_seed
from landbridge._parallel import iterate_tasks, spawn_seeds
from landbridge._typing import MatrixLike, RandomState, Vector, VectorLike
from landbridge._validation import (
    Task,
    check_choice,
    check_estimator_given,
    missing_values,
    plain_numbers,
)
from landbridge.exceptions import FailedFitWarning
from landbridge.inference.sources import check_weights, encode_groups, require_two_sources
from landbridge.model_selection.metric import Metric
from landbridge.model_selection.multi_source_result import MultiSourceResult
from landbridge.model_selection.scoring import check_scoring
from landbridge.model_selection.source_comparison import Comparison
from landbridge.model_selection.tables import plain_labels

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Folds:
    """Checked rows with the source and the fold of each; X is left as it was given."""

    X: MatrixLike
    labels: Vector
    classes: Vector  # empty for regression
    source_names: Vector
    source: Vector
    fold: Vector
    sample_weight: Vector  # empty without weights

    @property
    def n_folds(self) -> int:
        return int(self.fold.max()) + 1

    @property
    def y(self) -> Vector:
        """Positions in ``classes``, or numbers."""
        return np.searchsorted(self.classes, self.labels) if self.classes.size else self.labels


@dataclass(frozen=True)
class FoldPredictions:
    """What one fit predicted, or why it did not."""

    predicted: Vector | float = np.nan
    probabilities: np.ndarray | float = np.nan
    seconds: float = 0.0
    failure: str = ""


class MultiSourceCV(MetaEstimatorMixin, BaseEstimator):
    """How well does an estimator do on a source it has never seen, and how sure are we?

    Train on all sources but k, predict source k, for each of the K sources (CVS). With s_k the
    score of the predictions for source k, the estimate is the mean over the sources,

        μ̂ = (1/K) Σ_k s_k,

    which is the expected score on a new source after training on K − 1 of them (Section 4.1).
    ``scheme="random"`` deals the rows into K random blocks instead (CVR): that is the score on
    the sources one already has, and optimistic for a new one.

    Parameters
    ----------
    estimator : classifier, regressor, pipeline or search
        Cloned for every fold. Where its ``fit`` takes ``groups``, it is given those of the training
        rows.
    scoring : str, scorer, callable, list or dict, default=None
        One or several metrics, as in `landbridge.model_selection.scoring.check_scoring`. None for
        accuracy with balanced accuracy, or RMSE with MAE and R². Predictions are kept, so that
        every other metric can be asked for afterwards.
    scheme : {"source", "random"}, default="source"
        Leave out sources, or random blocks for comparison.
    unlabeled_target : bool, default=False
        Give the rows of the left-out source, without labels, to the estimator's ``fit`` as
        ``X_unlabeled``, as a transfer estimator would see them.
    n_jobs : int, default=None
        Number of parallel jobs. Results are identical for any value.
    random_state : int, RandomState instance or None, default=None
        Deals the random blocks and, if given, sets unset random states of the estimator by fold.

    Attributes
    ----------
    result_ : MultiSourceResult
        Kept predictions, scores, intervals; ``print`` it for the answers in words.

    Notes
    -----
    A fit that fails is recorded in ``result_.failures`` with a `FailedFitWarning`; its source is
    left out of every estimate. If fewer than two sources remain, ``fit`` raises.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from landbridge import MultiSourceCV
    >>> rng = np.random.default_rng(0)
    >>> groups = np.repeat(["a", "b", "c", "d", "e", "f"], 100)
    >>> slope = np.repeat(rng.normal(2, 1, size=6), 100)
    >>> X = rng.normal(size=(600, 1))
    >>> y = np.where(slope * X[:, 0] + rng.logistic(size=600) > 0, "ill", "well")
    >>> cv = MultiSourceCV(LogisticRegression()).fit(X, y, groups=groups)
    >>> cv.result_.source_scores().round(2)
    array([0.81, 0.81, 0.84, 0.77, 0.71, 0.79])
    >>> answer = cv.result_.interval("new_source", level=0.9)
    >>> print(answer.describe(why=False))
    Expected accuracy on a new source: 0.79, 90 % between 0.69 and 0.89
    >>> print(cv.result_.interval(metric="roc_auc", level=0.9).describe(why=False))
    Expected ROC AUC on a new source: 0.86, 90 % between 0.77 and 0.96
    >>> answer.advice()
    'noise within sources dominates: more rows in each source help'
    """

    def __init__(
        self,
        estimator: Any,
        *,
        scoring: Any = None,
        scheme: Literal["source", "random"] = "source",
        unlabeled_target: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.estimator = estimator
        self.scoring = scoring
        self.scheme = scheme
        self.unlabeled_target = unlabeled_target
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        *,
        groups: VectorLike,
        sample_weight: VectorLike = None,
    ) -> Self:
        """Fit the estimator without each source and predict it.

        Parameters
        ----------
        X : array, table, CSR matrix or list of length n_rows
            Handed to the estimator as it is, so that pipelines can start from raw tables or texts.
        y : array of length n_rows
        groups : array of length n_rows
            The source of each row.
        sample_weight : array of length n_rows, optional
            Given to the estimator's ``fit`` with the training rows, and to the metrics.
        """
        check_choice(self.scheme, "scheme", ("source", "random"))
        rng = None if self.random_state is None else check_random_state(self.random_state)
        folds = deal_folds(
            X, y, groups, sample_weight, scheme=self.scheme, task=task_of(self.estimator), rng=rng
        )
        metrics = _metrics(self.scoring, folds)
        predictions = predict_folds(
            [self.estimator],
            folds,
            metrics=metrics,
            unlabeled_target=self.unlabeled_target,
            n_jobs=self.n_jobs,
            random_state=rng,
        )
        self.result_ = MultiSourceResult(
            y=folds.y,
            predicted=predictions.predicted[0],
            probabilities=predictions.probabilities[0],
            classes=folds.classes,
            source=folds.source,
            source_names=folds.source_names,
            sample_weight=folds.sample_weight,
            scoring=tuple(metric.name for metric in metrics),
            fold=folds.fold,
            seconds=predictions.seconds[0],
            failures=tuple((fold, message) for _, fold, message in predictions.failures),
            scheme=self.scheme,
            estimator=_short(self.estimator),
        ).with_metrics(metrics)
        return self


def compare_estimators(
    a: Any,
    b: Any,
    X: MatrixLike,
    y: VectorLike,
    *,
    groups: VectorLike,
    scoring: Any = None,
    sample_weight: VectorLike = None,
    unlabeled_target: bool = False,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Comparison:
    """Compare two or more estimators on sources that they have not seen.

    All are trained without source k and predict the same rows of it, for every k; the tests rest
    on the paired differences of their losses by source.

    Parameters
    ----------
    a, b : estimators, or dictionaries of them by name
        ``b`` may be None when ``a`` is a dictionary of several.
    X, y, groups, scoring, sample_weight, unlabeled_target, n_jobs, random_state
        As in `MultiSourceCV`.

    Returns
    -------
    Comparison
        ``pairs()`` tests every pair with Holm's correction, ``friedman()`` ranks three or more,
        ``result(name)`` has the intervals of one; ``print`` it for the answers in words.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from landbridge import compare_estimators
    >>> rng = np.random.default_rng(0)
    >>> groups, X = np.repeat(np.arange(6), 50), rng.normal(size=(300, 2))
    >>> y = X[:, 0] + rng.normal(size=300) > 0
    >>> comparison = compare_estimators(GaussianNB(), DummyClassifier(), X, y, groups=groups)
    >>> comparison.pairs()[0].p_value < 0.05
    True
    """
    estimators = _named_estimators(a, b)
    rng = None if random_state is None else check_random_state(random_state)
    tasks = {task_of(estimator) for estimator in estimators.values()}
    if len(tasks) > 1:
        raise ValueError(
            "`a` and `b` must all be classifiers or all be regressors; got both. Compare each kind "
            "on its own."
        )
    folds = deal_folds(X, y, groups, sample_weight, scheme="source", task=tasks.pop(), rng=None)
    metrics = _metrics(scoring, folds)
    found = predict_folds(
        list(estimators.values()),
        folds,
        metrics=metrics,
        unlabeled_target=unlabeled_target,
        n_jobs=n_jobs,
        random_state=rng,
    )
    names = np.array(list(estimators))
    return Comparison(
        y=folds.y,
        predicted=found.predicted,
        probabilities=found.probabilities,
        classes=folds.classes,
        source=folds.source,
        source_names=folds.source_names,
        sample_weight=folds.sample_weight,
        scoring=tuple(metric.name for metric in metrics),
        names=names,
        seconds=found.seconds,
        failures=tuple((str(names[who]), fold, message) for who, fold, message in found.failures),
    ).with_metrics(metrics)


def task_of(estimator: Any) -> Task:
    """Regression for regressors, otherwise classification."""
    check_estimator_given(estimator)
    return "regression" if is_regressor(estimator) else "classification"


def deal_folds(
    X: MatrixLike,
    y: VectorLike,
    groups: VectorLike,
    sample_weight: VectorLike = None,
    *,
    scheme: str,
    task: Task,
    rng: np.random.RandomState | None,
) -> Folds:
    """Check lengths, labels, groups and weights and give every row its fold."""
    if y is None:
        raise ValueError("`y` must hold the label of each row; got None. Pass y.")
    (X,) = indexable(X)
    labels, n_rows = plain_labels(y), _num_samples(X)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.shape != (n_rows,):
        raise ValueError(
            f"`y` must have one label for each of the {n_rows} rows of X; got shape "
            f"{labels.shape}. Pass the labels of the same rows; of several outputs one at a time."
        )
    missing = missing_values(labels)
    if missing.any():
        raise ValueError(
            f"`y` must have a label for every row; got {missing.sum()} missing. "
            "Drop the rows without a label."
        )
    names, source = encode_groups(groups, n_rows)
    require_two_sources(names)
    if task == "regression":
        labels, classes = _numbers(labels), np.array([])
    else:
        classes = np.unique(labels)
    fold = source if scheme == "source" else random_blocks(n_rows, len(names), rng)
    weight = np.array([]) if sample_weight is None else check_weights(sample_weight, n_rows)
    return Folds(X, labels, classes, names, source, fold, weight)


def random_blocks(n_rows: int, n_blocks: int, rng: np.random.RandomState | None) -> Vector:
    """CVR: a random partition into blocks whose sizes differ by one at most."""
    fresh = np.random.default_rng() if rng is None else rng
    return fresh.permutation(np.arange(n_rows) % n_blocks)


@dataclass(frozen=True)
class AllPredictions:
    """Predictions of several estimators: −1 or NaN where a fit failed.

    ``predicted`` is (estimators, rows), ``probabilities`` (estimators, rows, classes), NaN for an
    estimator without ``predict_proba``; ``failures`` are (estimator, fold, message).
    """

    predicted: np.ndarray
    probabilities: np.ndarray
    seconds: np.ndarray
    failures: list[tuple[int, str, str]]


def predict_folds(
    estimators: list[Any],
    folds: Folds,
    *,
    metrics: tuple[Metric, ...],
    unlabeled_target: bool,
    n_jobs: int | None,
    random_state: np.random.RandomState | None,
) -> AllPredictions:
    """Predict every fold with every estimator; a fold has the same seed for all of them."""
    for estimator in estimators:
        if unlabeled_target:
            _require_argument(estimator, "X_unlabeled", "with unlabeled_target=True")
        if folds.sample_weight.size:
            _require_argument(estimator, "sample_weight", "because sample weights were given")
    n_folds = folds.n_folds
    seeds = [None] * n_folds if random_state is None else spawn_seeds(random_state, n_folds)
    tasks = [(who, k) for who in range(len(estimators)) for k in range(n_folds)]
    needs = next((metric.name for metric in metrics if metric.response == "probability"), "")
    answers = iterate_tasks(
        predict_fold,
        ((estimators[who], folds, k, needs, unlabeled_target, seeds[k]) for who, k in tasks),
        n_jobs=n_jobs,
    )
    names = [_short(estimator) for estimator in estimators]
    shape, n_classes = (len(estimators), len(folds.labels)), len(folds.classes)
    predicted = np.full(shape, -1) if n_classes else np.full(shape, np.nan)
    probabilities = np.full((*shape, n_classes), np.nan)
    seconds = np.zeros((len(estimators), n_folds))
    failures = []
    for (who, k), answer in zip(tasks, answers, strict=True):
        rows = folds.fold == k
        if answer.failure:
            failures.append((who, _fold_name(folds, k), answer.failure))
        else:
            predicted[who, rows] = answer.predicted
            probabilities[who, rows] = answer.probabilities
        seconds[who, k] = answer.seconds
        log.info("%s, fold %d of %d: %.2f s", names[who], k + 1, n_folds, answer.seconds)
    _report_failures(failures, n_folds, len(estimators))
    return AllPredictions(predicted, probabilities, seconds, failures)


def predict_fold(
    estimator: Any,
    folds: Folds,
    k: int,
    needs_probabilities: str,
    unlabeled_target: bool,
    seed: int | None,
) -> FoldPredictions:
    """Fit without fold k and predict it."""
    started = time.perf_counter()
    train, test = np.flatnonzero(folds.fold != k), np.flatnonzero(folds.fold == k)
    X_test = _safe_indexing(folds.X, test)
    options = {
        "X_unlabeled": X_test if unlabeled_target else None,
        "sample_weight": folds.sample_weight[train] if folds.sample_weight.size else None,
    }
    groups = folds.source_names[folds.source[train]] if _takes_groups(estimator) else None
    try:
        model = fit_with_options(
            clone_with_seed(estimator, seed),
            _safe_indexing(folds.X, train),
            folds.labels[train],
            groups=groups,
            **options,
        )
        predicted = predict_labels(model, X_test, folds.classes)
        probabilities = predict_probabilities(model, X_test, folds.classes, needs_probabilities)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
        return FoldPredictions(seconds=time.perf_counter() - started, failure=failure)
    return FoldPredictions(predicted, probabilities, time.perf_counter() - started)


def fit_with_options(
    model: Any, X: MatrixLike, y: Vector, *, groups: VectorLike, **options: Any
) -> Any:
    """Fit with the options that are not None; in a pipeline each reaches the steps that take it."""
    given = {name: value for name, value in options.items() if value is not None}
    direct = {} if groups is None else {"groups": groups}
    if not given or not isinstance(model, Pipeline):
        return model.fit(X, y, **given, **direct)
    with config_context(enable_metadata_routing=True):
        model.set_params(transform_input=[name for name in given if name.startswith("X")])
        for _, step in model.steps:
            wanted = [name for name in given if _takes(step, name)]
            if wanted:
                step.set_fit_request(**dict.fromkeys(wanted, True))
        return model.fit(X, y, **given, **direct)


def predict_labels(model: Any, X: MatrixLike, classes: Vector) -> Vector:
    """Numbers, or positions in ``classes``."""
    labels = plain_numbers(np.asarray(model.predict(X)))
    labels = labels.ravel() if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.shape != (_num_samples(X),):
        raise ValueError(
            f"`estimator` must predict one label for each of {_num_samples(X)} rows; got an array "
            f"of shape {labels.shape}. Check its predict."
        )
    if not classes.size:
        _check_finite(labels)
        return labels
    return _positions(labels, classes)


def predict_probabilities(
    model: Any, X: MatrixLike, classes: Vector, needed_by: str
) -> np.ndarray | float:
    """Probabilities with a column for each of ``classes``; NaN without ``predict_proba``."""
    if not classes.size:
        return np.nan
    if not hasattr(model, "predict_proba"):
        if needed_by:
            last = model.steps[-1][1] if isinstance(model, Pipeline) else model
            raise ValueError(
                f"`estimator` must have predict_proba for the metric {needed_by!r}; got "
                f"{type(last).__name__}, which has none. Wrap it in "
                "sklearn.calibration.CalibratedClassifierCV, or use a metric of labels."
            )
        return np.nan
    found = np.asarray(model.predict_proba(X), dtype=np.float64)
    _check_finite(found)
    probabilities = np.zeros((found.shape[0], classes.size))
    probabilities[:, _positions(np.asarray(model.classes_), classes)] = found
    return probabilities


def _positions(labels: Vector, classes: Vector) -> Vector:
    places = np.searchsorted(classes, labels).clip(max=classes.size - 1)
    strange = classes[places] != labels
    if strange.any():
        raise ValueError(
            f"`estimator` must predict classes of y; got {labels[strange].tolist()[0]!r}. The "
            f"classes are {classes.tolist()[:10]}."
        )
    return places


def _check_finite(values: np.ndarray) -> None:
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0][0])
        raise ValueError(
            f"`estimator` predicted NaN or infinity for row {row} of the left-out source; check "
            "how it handles such input."
        )


def _metrics(scoring: Any, folds: Folds) -> tuple[Metric, ...]:
    task: Task = "classification" if folds.classes.size else "regression"
    return check_scoring(scoring, task=task, classes=folds.classes)


def _numbers(y: Vector) -> Vector:
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"`y` must be numeric for a regressor; got values like {y.tolist()[0]!r}. Pass a "
            "classifier for named classes."
        ) from error


def _report_failures(failures: list[tuple[int, str, str]], n_folds: int, n_estimators: int) -> None:
    if not failures:
        return
    failed = {fold for _, fold, _ in failures}
    _, fold, message = failures[0]
    if n_folds - len(failed) < 2:
        raise ValueError(
            f"`estimator` must fit on at least 2 of the {n_folds} sources left out; got "
            f"{len(failed)} failures, the first without {fold}: {message}"
        )
    warnings.warn(
        f"{len(failures)} of {n_folds * n_estimators} fits failed, the first without {fold} "
        f"({message}). Those sources are left out of every estimate and interval.",
        FailedFitWarning,
        stacklevel=4,
    )


def _fold_name(folds: Folds, k: int) -> str:
    if folds.fold is folds.source:
        return repr(folds.source_names[k].item())
    return f"block {k}"


def _named_estimators(a: Any, b: Any) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for given in (a, b):
        if given is None:
            continue
        if not isinstance(given, Mapping):
            name = type(given).__name__
            given = {name if name not in named else f"{name}_2": given}
        for name, estimator in given.items():
            if name in named:
                raise ValueError(
                    f"`b` must not use the names of a again; got {name!r} in both. Rename one."
                )
            named[str(name)] = estimator
    if len(named) < 2:
        raise ValueError(
            f"`a` and `b` must hold at least 2 estimators together; got {len(named)}. "
            "Use MultiSourceCV to judge one."
        )
    return named


def _takes_groups(estimator: Any) -> bool:
    if isinstance(estimator, BaseSearchCV):  # other splitters warn about groups or refuse them
        return isinstance(estimator.cv, GroupsConsumerMixin)
    return has_fit_parameter(estimator, "groups")


def _takes(estimator: Any, name: str) -> bool:
    """Whether ``fit``, for a pipeline that of any step, has this parameter."""
    if isinstance(estimator, Pipeline):
        return any(_takes(step, name) for _, step in estimator.steps if hasattr(step, "fit"))
    return has_fit_parameter(estimator, name)


def _require_argument(estimator: Any, name: str, when: str) -> None:
    if not _takes(estimator, name):
        raise ValueError(
            f"`estimator` must take {name} in fit {when}; got {type(estimator).__name__}, which "
            "does not. Pass an estimator that does, or leave the option out."
        )


def _short(estimator: Any) -> str:
    """The estimator on one line."""
    return " ".join(repr(estimator).split())
