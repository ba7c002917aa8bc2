"""Multiple-source cross-validation: train without each source, predict it.

Geras and Sutton, *Multiple-source cross-validation*: CVS, and CVR for comparison.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import _num_samples, has_fit_parameter

from landbridge._delegate import clone_with_seed, last_step, task_of_estimator
from landbridge._tasks import (
    Task,
    TaskCache,
    TaskProgress,
    TaskResult,
    describe_candidate,
    describe_rows,
    run_tasks,
    spawn_seeds,
    task_key,
)
from landbridge._typing import MatrixLike, RandomState, Vector, VectorLike
from landbridge._validation import (
    TransferData,
    check_choice,
    check_numeric_labels,
    check_object_labels,
    missing_values,
    without_masks,
)
from landbridge._warn import warn_caller
from landbridge.exceptions import FailedFitWarning
from landbridge.inference.sources import check_weights, encode_groups, require_two_sources
from landbridge.metrics.scoring import check_scoring
from landbridge.model_selection._fit_tasks import fit_with_target, predict_rows, without_column
from landbridge.model_selection.candidates import steps_that_take
from landbridge.model_selection.multi_source_result import Comparison


class MultiSourceCV(MetaEstimatorMixin, BaseEstimator):
    """Estimate how well an estimator does on a new source, with intervals.

    For each of the K sources, the estimator is trained on the other sources and predicts source k
    (CVS). With s_k the score of the predictions for source k, the estimate is the mean over the
    sources,

        μ̂ = (1/K) Σ_k s_k,

    which estimates the expected score on a new source after training on K − 1 sources (Section
    4.1). ``scheme="random"`` uses K random blocks of rows instead (CVR): this estimates the score
    on the present sources and is optimistic for a new one.

    Parameters
    ----------
    estimator : classifier, regressor, pipeline or search
        Estimator that is cloned for every fold. If its ``fit`` accepts ``groups``, those of the
        training rows are passed.
    scoring : str, scorer, callable, list or dict, default=None
        One or several metrics, as in `landbridge.metrics.scoring.check_scoring`. None for
        accuracy with balanced accuracy, or RMSE with MAE and R². Predictions are stored, so any
        other metric can be computed afterwards.
    scheme : {"source", "random"}, default="source"
        Leave out sources, or random blocks for comparison.
    unlabeled_target : bool, default=False
        Pass the rows of the left-out source, without labels, to ``fit`` as ``X_unlabeled``.
    cache : str or path, optional
        Directory in which finished fits are kept, as in `TransferSearchCV`.
    n_jobs : int, default=None
        Number of parallel jobs. Results are identical for any value.
    random_state : int, RandomState instance or None, default=None
        Seed for the random blocks. If given, it also sets unset random states of the estimator in
        each fold.
    verbose : int, default=0
        If positive, show a progress bar, or log the number of finished fits and the time left.

    Attributes
    ----------
    result_ : MultiSourceResult
        Stored predictions, scores and intervals; ``print`` it for a summary in words.

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
        cache: str | os.PathLike[str] | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ):
        self.estimator = estimator
        self.scoring = scoring
        self.scheme = scheme
        self.unlabeled_target = unlabeled_target
        self.cache = cache
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: MatrixLike, y: VectorLike, *, groups: VectorLike, sample_weight: VectorLike = None
    ) -> Self:
        """Fit the estimator without each source and predict it.

        Parameters
        ----------
        X : array, table, CSR matrix or list of length n_rows
            Passed to the estimator unchanged, so pipelines can start from raw tables or texts.
        y : array of length n_rows
            Labels of the rows.
        groups : array of length n_rows
            The source of each row.
        sample_weight : array of length n_rows, optional
            Weights of the rows, used in ``fit`` and in the metrics. In a pipeline, every step
            whose ``fit`` has ``sample_weight`` gets them, unless it refuses them with
            ``set_fit_request(sample_weight=False)``; the last step must take them.

        Returns
        -------
        self
            The fitted estimator.
        """
        check_choice(self.scheme, "scheme", ("source", "random"))
        name = short_name(self.estimator)
        estimators = {name: self.estimator}
        every, fold = leave_out_folds(self, estimators, X, y, groups, sample_weight)
        self.result_ = replace(every.result(name), fold=fold, scheme=self.scheme)
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
    cache: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Comparison:
    """Compare two or more estimators on sources that they have not seen.

    For every source k, all estimators are trained without it and predict its rows. The tests use
    the paired differences of their losses by source.

    Parameters
    ----------
    a, b : estimators, or dictionaries of them by name
        ``b`` may be None if ``a`` is a dictionary of at least two estimators.
    X : array-like of shape (n_rows, n_features)
        Rows of all sources.
    y : array-like of shape (n_rows,)
        Labels.
    groups : array-like of shape (n_rows,)
        Source of each row.
    scoring : str, scorer, callable, list or dict, default=None
        One or several metrics, as in `MultiSourceCV`.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows, as in `MultiSourceCV.fit`.
    unlabeled_target : bool, default=False
        Pass the rows of the left-out source, without labels, to ``fit`` as ``X_unlabeled``.
    cache : str or path, optional
        Directory in which finished fits are stored, as in `TransferSearchCV`.
    n_jobs : int, default=None
        Number of parallel jobs. Results are identical for any value.
    random_state : int, RandomState instance or None, default=None
        If given, sets unset random states of the estimators in each fold.

    Returns
    -------
    Comparison
        ``pairs()`` tests every pair with Holm's correction, ``friedman()`` ranks three or more
        estimators, and ``result(name)`` has the intervals of one of them; ``print`` it for a
        summary in words.

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
    settings = MultiSourceCV(
        None,
        scoring=scoring,
        unlabeled_target=unlabeled_target,
        cache=cache,
        n_jobs=n_jobs,
        random_state=random_state,
    )
    return leave_out_folds(settings, _named_estimators(a, b), X, y, groups, sample_weight)[0]


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
                    f"`b` must not repeat names of `a`; got {name!r} in both. Rename one."
                )
            named[str(name)] = estimator
    if len(named) < 2:
        raise ValueError(
            f"`a` and `b` must hold at least 2 estimators together; got {len(named)}. "
            "Use MultiSourceCV to judge one."
        )
    return named


# Fits


@dataclass(frozen=True)
class Folds:
    """Data shared by all fits: the estimators, and checked rows with their fold."""

    estimators: tuple[Any, ...]
    rows: TransferData
    fold: Vector
    needs_probabilities: str  # name of the metric that needs them
    unlabeled_target: bool


@dataclass(frozen=True)
class FoldTask:
    """One fit: index of the estimator, the left-out fold, and the seed."""

    who: int
    fold: int
    seed: int | None


@without_masks
def leave_out_folds(
    settings: MultiSourceCV,
    estimators: dict[str, Any],
    X: MatrixLike,
    y: VectorLike,
    groups: VectorLike,
    sample_weight: VectorLike,
) -> tuple[Comparison, Vector]:
    """Predict every fold with every estimator, and return the fold of every row as well."""
    tasks = {task_of_estimator(estimator) for estimator in estimators.values()}
    if len(tasks) > 1:
        raise ValueError(
            "`a` and `b` must all be classifiers or all be regressors; got both. Compare "
            "classifiers and regressors separately."
        )
    task = tasks.pop()
    rng = None if settings.random_state is None else check_random_state(settings.random_state)
    (X,) = indexable(X)
    n_rows = _num_samples(X)
    labels, classes, weight = _check_labels(y, n_rows), np.array([]), np.array([])
    names, source = encode_groups(groups, n_rows)
    require_two_sources(names)
    if task == "classification":
        classes = np.unique(labels)
    else:
        labels = check_numeric_labels(labels).astype(np.float64)
    fold = source
    if settings.scheme == "random":  # CVR: blocks whose sizes differ by at most one
        fold = (rng or np.random.default_rng()).permutation(np.arange(n_rows) % len(names))
    rows = TransferData(X, labels, groups=names[source], classes=classes if classes.size else None)
    if sample_weight is not None:
        weight = check_weights(sample_weight, n_rows)
        rows = replace(rows, sample_weight=weight)
    metrics = check_scoring(settings.scoring, task=task, classes=classes)
    for estimator in estimators.values():
        if settings.unlabeled_target:
            _require_argument(estimator, "X_unlabeled", "with unlabeled_target=True")
        if weight.size:
            _require_argument(estimator, "sample_weight", "because sample weights were given")
    needs = next((metric.name for metric in metrics if metric.response == "probability"), "")
    folds = Folds(tuple(estimators.values()), rows, fold, needs, settings.unlabeled_target)
    # A fold has the same seed for all estimators.
    seeds = [None] * len(names) if rng is None else spawn_seeds(rng, len(names))
    predicted = np.full((len(estimators), n_rows), -1 if classes.size else np.nan)
    probabilities = np.full((*predicted.shape, classes.size), np.nan)
    seconds, failures = np.zeros((len(estimators), len(names))), {}
    for result in _run(folds, seeds, settings):
        who, k = result.task.content.who, result.task.content.fold
        seconds[who, k] = result.seconds
        if result.outcome is not None:
            predicted[who, fold == k] = result.outcome["predicted"]
            probabilities[who, fold == k] = result.outcome["probabilities"]
        elif result.failure is not None:
            left_out = repr(names.tolist()[k]) if fold is source else f"block {k}"
            failures[who, k] = (list(estimators)[who], left_out, result.failure.message)
    ordered = tuple(failures[fit] for fit in sorted(failures))
    _report_failures(ordered, *seconds.shape)
    return Comparison(
        y=np.searchsorted(classes, labels) if classes.size else labels,
        predicted=predicted,
        probabilities=probabilities,
        classes=classes,
        source=source,
        source_names=names,
        sample_weight=weight,
        metrics=metrics,
        names=np.array(list(estimators)),
        seconds=seconds,
        failures=ordered,
    ), fold


def _check_labels(y: VectorLike, n_rows: int) -> Vector:
    if y is None:
        raise ValueError("`y` must hold the label of each row; got None. Pass y.")
    labels = without_column(np.asarray(y))
    if labels.shape != (n_rows,):
        raise ValueError(
            f"`y` must have one label for each of the {n_rows} rows of X; got shape "
            f"{labels.shape}. Pass the labels of the same rows, and only one output."
        )
    missing = missing_values(labels)
    if missing.any():
        raise ValueError(
            f"`y` must have a label for every row; got {missing.sum()} missing. "
            "Drop the rows without a label."
        )
    return check_object_labels(labels)


def _run(
    folds: Folds, seeds: Sequence[int | None], settings: MultiSourceCV
) -> Iterator[TaskResult]:
    """Run all fits, and yield their results as they finish."""
    store, about, n_jobs, rows = None, "", settings.n_jobs, folds.rows
    if settings.cache is not None:
        store = TaskCache(settings.cache)
        about = describe_rows(rows.X, rows.y, rows.sample_weight, rows.groups, rows.classes)
    tasks = []
    for who, estimator in enumerate(folds.estimators):
        name = short_name(estimator)
        text = None if store is None else describe_candidate(name, estimator)
        for fold, seed in enumerate(seeds):
            key = None if text is None else task_key(
                "left-out source", about, folds.fold == fold, text, seed, folds.unlabeled_target,
                bool(folds.needs_probabilities),
            )  # fmt: skip
            tasks.append(Task(FoldTask(who, fold, seed), f"{who} {name}", key))
    with TaskProgress(
        [task.kind for task in tasks],
        verbose=settings.verbose,
        name="left-out sources",
        n_jobs=effective_n_jobs(n_jobs),
    ) as progress:
        for result in run_tasks(predict_fold, tasks, shared=folds, n_jobs=n_jobs, cache=store):
            progress.advance(result)
            yield result


def predict_fold(folds: Folds, task: FoldTask) -> dict[str, Any]:
    """Fit without one fold and predict it."""
    estimator, rows, is_test = folds.estimators[task.who], folds.rows, folds.fold == task.fold
    train, X_test = np.flatnonzero(~is_test), _safe_indexing(rows.X, np.flatnonzero(is_test))
    takes_groups = has_fit_parameter(estimator, "groups")
    if isinstance(estimator, BaseSearchCV):  # other splitters warn about groups or reject them
        takes_groups = isinstance(estimator.cv, GroupsConsumerMixin)
    given = TransferData(
        _safe_indexing(rows.X, train),
        rows.y[train],
        X_unlabeled=X_test if folds.unlabeled_target else None,
        sample_weight=None if rows.sample_weight is None else rows.sample_weight[train],
        groups=None if rows.groups is None or not takes_groups else rows.groups[train],
    )
    model = fit_with_target(clone_with_seed(estimator, task.seed), given)
    has_proba = hasattr(model, "predict_proba")
    if folds.needs_probabilities and not has_proba:
        raise ValueError(
            f"`estimator` must have predict_proba for the metric {folds.needs_probabilities!r}; "
            f"got {type(last_step(model)).__name__}, which has none. Wrap it in "
            "sklearn.calibration.CalibratedClassifierCV, or use a metric of labels."
        )
    found = predict_rows(model, X_test, rows.classes)
    if rows.classes is None:
        return {"predicted": found.values, "probabilities": np.nan}
    return {"predicted": found.labels, "probabilities": found.values if has_proba else np.nan}


def _report_failures(failures: Sequence[tuple[str, ...]], n_estimators: int, n_folds: int) -> None:
    """Warn of failed fits; raise if fewer than two folds remain."""
    if not failures:
        return
    n_failed = len({fold for _, fold, _ in failures})
    _, fold, message = failures[0]
    if n_folds - n_failed < 2:
        raise ValueError(
            f"`estimator` could not be fitted in {n_failed} of {n_folds} folds, but at least 2 "
            f"folds must succeed. The first failure, with {fold} left out: {message}"
        )
    warn_caller(
        f"{len(failures)} of {n_estimators * n_folds} fits failed, the first with {fold} left out "
        f"({message}). Such sources are excluded from every estimate and interval.",
        FailedFitWarning,
    )


def _require_argument(estimator: Any, name: str, when: str) -> None:
    if not steps_that_take(estimator, name):
        raise ValueError(
            f"`estimator` must accept {name} in fit {when}; got {type(estimator).__name__}, which "
            "does not. Pass an estimator that does, or leave the option out."
        )


def short_name(estimator: Any) -> str:
    """The estimator on one line."""
    return " ".join(repr(estimator).split())
