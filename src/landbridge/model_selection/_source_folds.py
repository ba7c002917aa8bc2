"""Fit without each fold and predict it, recording failures."""

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.model_selection._search import BaseSearchCV
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples, has_fit_parameter

from landbridge._delegate import clone_with_seed, last_step
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
from landbridge._typing import MatrixLike, Vector, VectorLike
from landbridge._validation import Task as Kind
from landbridge._validation import missing_values
from landbridge.exceptions import FailedFitWarning
from landbridge.inference.sources import check_weights, encode_groups, require_two_sources
from landbridge.metrics.metric import Metric
from landbridge.model_selection._fit_tasks import Training, fit_with_target, predict_rows
from landbridge.model_selection._search_data import check_numbers, plain_labels
from landbridge.model_selection.candidates import steps_that_take


@dataclass(frozen=True)
class Folds:
    """Checked rows with their source and fold; X is unchanged."""

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
    def names(self) -> list[str]:
        """Names of the folds in messages."""
        if self.fold is self.source:
            return [repr(name) for name in self.source_names.tolist()]
        return [f"block {k}" for k in range(self.n_folds)]

    @property
    def y(self) -> Vector:
        """Positions in ``classes``, or numbers."""
        return np.searchsorted(self.classes, self.labels) if self.classes.size else self.labels

    def fields(self, metrics: tuple[Metric, ...]) -> dict[str, Any]:
        """Fields that every `KeptPredictions` has."""
        shared = ("y", "classes", "source", "source_names", "sample_weight")
        scoring = tuple(metric.name for metric in metrics)
        return {name: getattr(self, name) for name in shared} | {"scoring": scoring}


@dataclass(frozen=True)
class FoldTask:
    """One fit: index of the estimator, the left-out fold, and the seed."""

    who: int
    fold: int
    seed: int | None


@dataclass(frozen=True)
class FoldContext:
    """Data shared by all fits."""

    estimators: tuple[Any, ...]
    folds: Folds
    needs_probabilities: str  # name of the metric that needs them
    unlabeled_target: bool


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


def deal_folds(
    X: MatrixLike,
    y: VectorLike,
    groups: VectorLike,
    sample_weight: VectorLike = None,
    *,
    scheme: str,
    task: Kind,
    rng: np.random.RandomState | None,
) -> Folds:
    """Check lengths, labels, groups and weights, and assign every row to a fold."""
    if y is None:
        raise ValueError("`y` must hold the label of each row; got None. Pass y.")
    (X,) = indexable(X)
    labels, n_rows = plain_labels(y), _num_samples(X)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
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
    names, source = encode_groups(groups, n_rows)
    require_two_sources(names)
    if task == "regression":
        labels, classes = check_numbers(labels).astype(np.float64), np.array([])
    else:
        classes = np.unique(labels)
    fold = source if scheme == "source" else random_blocks(n_rows, len(names), rng)
    weight = np.array([]) if sample_weight is None else check_weights(sample_weight, n_rows)
    return Folds(X, labels, classes, names, source, fold, weight)


def random_blocks(n_rows: int, n_blocks: int, rng: np.random.RandomState | None) -> Vector:
    """CVR: a random partition into blocks whose sizes differ by at most one."""
    fresh = np.random.default_rng() if rng is None else rng
    return fresh.permutation(np.arange(n_rows) % n_blocks)


def predict_folds(
    estimators: list[Any],
    folds: Folds,
    *,
    metrics: tuple[Metric, ...],
    unlabeled_target: bool,
    cache: str | os.PathLike[str] | None,
    n_jobs: int | None,
    random_state: np.random.RandomState | None,
    verbose: int,
) -> AllPredictions:
    """Predict every fold with every estimator; a fold has the same seed for all of them."""
    for estimator in estimators:
        if unlabeled_target:
            _require_argument(estimator, "X_unlabeled", "with unlabeled_target=True")
        if folds.sample_weight.size:
            _require_argument(estimator, "sample_weight", "because sample weights were given")
    n_folds = folds.n_folds
    seeds = [None] * n_folds if random_state is None else spawn_seeds(random_state, n_folds)
    needs = next((metric.name for metric in metrics if metric.response == "probability"), "")
    context = FoldContext(tuple(estimators), folds, needs, unlabeled_target)
    tasks = [FoldTask(who, k, seeds[k]) for who in range(len(estimators)) for k in range(n_folds)]
    shape, n_classes = (len(estimators), len(folds.labels)), len(folds.classes)
    predicted = np.full(shape, -1) if n_classes else np.full(shape, np.nan)
    probabilities = np.full((*shape, n_classes), np.nan)
    seconds = np.zeros((len(estimators), n_folds))
    failures = {}
    for result in _run(context, tasks, cache, n_jobs, verbose):
        who, k = result.task.content.who, result.task.content.fold
        rows = folds.fold == k
        if result.outcome is None:
            failures[who, k] = result.failure.message  # type: ignore[union-attr]
        else:
            predicted[who, rows] = result.outcome["predicted"]
            probabilities[who, rows] = result.outcome["probabilities"]
        seconds[who, k] = result.seconds
    named = [(who, folds.names[k], failures[who, k]) for who, k in sorted(failures)]
    _report_failures(named, n_folds, len(estimators))
    return AllPredictions(predicted, probabilities, seconds, named)


def _run(
    context: FoldContext,
    tasks: list[FoldTask],
    cache: str | os.PathLike[str] | None,
    n_jobs: int | None,
    verbose: int,
) -> Iterator[TaskResult]:
    """Yield results as they finish."""
    store = None if cache is None else TaskCache(cache)
    keys = [None] * len(tasks) if store is None else _cache_keys(context, tasks)
    kinds = [f"{who} {short_name(model)}" for who, model in enumerate(context.estimators)]
    planned = [Task(t, kinds[t.who], key) for t, key in zip(tasks, keys, strict=True)]
    with TaskProgress(
        [task.kind for task in planned],
        verbose=verbose,
        name="left-out sources",
        n_jobs=effective_n_jobs(n_jobs),
    ) as progress:
        for result in run_tasks(predict_fold, planned, shared=context, n_jobs=n_jobs, cache=store):
            progress.advance(result)
            yield result


def _cache_keys(context: FoldContext, tasks: list[FoldTask]) -> list[str | None]:
    """Keys of fits: estimator, all rows with their sources, folds and seed."""
    folds = context.folds
    rows = describe_rows(folds.X, folds.labels, folds.sample_weight, folds.source_names)
    texts = [describe_candidate(short_name(model), model) for model in context.estimators]
    return [
        None
        if texts[task.who] is None
        else task_key(
            "left-out source",
            rows,
            folds.source,
            folds.fold == task.fold,
            folds.classes,
            texts[task.who],
            task.seed,
            context.unlabeled_target,
            bool(context.needs_probabilities),
        )
        for task in tasks
    ]


def predict_fold(context: FoldContext, task: FoldTask) -> dict[str, Any]:
    """Fit without one fold and predict it."""
    estimator, folds = context.estimators[task.who], context.folds
    is_test = folds.fold == task.fold
    train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
    X_test = _safe_indexing(folds.X, test)
    rows = Training(
        _safe_indexing(folds.X, train),
        folds.labels[train],
        X_unlabeled=X_test if context.unlabeled_target else None,
        sample_weight=folds.sample_weight[train] if folds.sample_weight.size else None,
    )
    groups = folds.source_names[folds.source[train]]
    options = {"groups": groups} if _takes_groups(estimator) else {}
    model = fit_with_target(clone_with_seed(estimator, task.seed), rows, **options)
    if not folds.classes.size:
        return {"predicted": predict_rows(model, X_test, None).values, "probabilities": np.nan}
    has_proba = hasattr(model, "predict_proba")
    if context.needs_probabilities and not has_proba:
        raise ValueError(
            f"`estimator` must have predict_proba for the metric {context.needs_probabilities!r}; "
            f"got {type(last_step(model)).__name__}, which has none. Wrap it in "
            "sklearn.calibration.CalibratedClassifierCV, or use a metric of labels."
        )
    found = predict_rows(model, X_test, folds.classes)
    return {"predicted": found.labels, "probabilities": found.values if has_proba else np.nan}


def _report_failures(failures: list[tuple[int, str, str]], n_folds: int, n_estimators: int) -> None:
    if not failures:
        return
    failed = {fold for _, fold, _ in failures}
    _, fold, message = failures[0]
    if n_folds - len(failed) < 2:
        raise ValueError(
            f"`estimator` could not be fitted in {len(failed)} of {n_folds} folds, but at least 2 "
            f"folds must succeed. The first failure, with {fold} left out: {message}"
        )
    warnings.warn(
        f"{len(failures)} of {n_folds * n_estimators} fits failed, the first with {fold} left out "
        f"({message}). Such sources are excluded from every estimate and interval.",
        FailedFitWarning,
        stacklevel=4,
    )


def _takes_groups(estimator: Any) -> bool:
    if isinstance(estimator, BaseSearchCV):  # other splitters warn about groups or reject them
        return isinstance(estimator.cv, GroupsConsumerMixin)
    return has_fit_parameter(estimator, "groups")


def _require_argument(estimator: Any, name: str, when: str) -> None:
    if not steps_that_take(estimator, name):
        raise ValueError(
            f"`estimator` must accept {name} in fit {when}; got {type(estimator).__name__}, which "
            "does not. Pass an estimator that does, or leave the option out."
        )


def short_name(estimator: Any) -> str:
    """The estimator on one line."""
    return " ".join(repr(estimator).split())
