"""Which target rows somebody labelled: a random sample, the first, one cluster, or an extreme."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression

from benchmarks import _domains, _regression_tasks
from benchmarks._domains import DomainTask
from landbridge import Pooled
from landbridge.inference import LabelCheck, check_labels
from landbridge.metrics import MetricInterval, check_scoring, metric_interval
from landbridge.metrics.inference import reweighted_interval

PATTERNS = ("random", "by time", "by cluster", "by extreme")
N_LABELS, MOST_SOURCE, MOST_TARGET, SHARE, LEVEL = 60, 400, 2000, 0.1, 0.9


@dataclass(frozen=True)
class LabelTask:
    """A task with its kind and its part of the study."""

    part: str
    kind: str
    task: DomainTask


def label_tasks() -> Iterator[LabelTask]:
    """Classification and regression tasks with at least 300 target rows."""
    for part, kind, tasks in (
        ("development", "classification", _domains.all_tasks()),
        ("confirmation", "classification", _domains.further_tasks()),
        ("development", "regression", _regression_tasks.tasks()),
        ("confirmation", "regression", _regression_tasks.further_tasks()),
    ):
        for task in tasks:
            if len(task.y_target) >= 300 and "shift" not in task.dataset + task.name:
                yield LabelTask(part, kind, task)


def region_of(X: np.ndarray, pattern: str, rng: np.random.Generator) -> np.ndarray:
    """Positions of the rows from which labels are drawn; tables with a date are in its order."""
    n = len(X)
    few = max(int(SHARE * n), 2 * N_LABELS)
    if pattern == "random":
        return np.arange(n)
    if pattern == "by time":
        return np.arange(few)
    if pattern == "by cluster":
        found = KMeans(5, n_init=1, random_state=int(rng.integers(2**31))).fit_predict(X)
        large = [k for k in range(5) if np.sum(found == k) >= N_LABELS]
        return np.flatnonzero(found == rng.choice(large))
    many = [k for k in range(X.shape[1]) if np.unique(X[:, k]).size > 10]
    column = X[:, rng.choice(many)] * rng.choice([-1, 1])
    return np.argsort(column, kind="stable")[:few]


def model_of(kind: str) -> Any:
    """What is validated: pooled logistic regression, or a pooled forest."""
    if kind == "classification":
        return Pooled(LogisticRegression(C=0.1, max_iter=200))
    return Pooled(RandomForestRegressor(30, min_samples_leaf=3, random_state=0))


def draw_rows(task: DomainTask, pattern: str, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Target and source rows, and positions in the former: of the region and of labelled rows."""
    rows = np.sort(rng.permutation(len(task.y_target))[:MOST_TARGET])
    source = rng.permutation(len(task.y))[:MOST_SOURCE]
    region = region_of(task.X_target[rows], pattern, rng)
    return rows, source, region, rng.choice(region, N_LABELS, replace=False)


def has_one_class(kind: str, labels: np.ndarray) -> bool:
    """Whether a search withholds the interval of labels that differ from the others."""
    return kind == "classification" and np.unique(labels).size == 1


def examine(found: LabelTask, pattern: str, draw: int) -> dict[str, Any]:
    """Check, interval and truth of one task with one pattern of labels."""
    task = found.task
    rng = np.random.default_rng([draw, PATTERNS.index(pattern)])
    rows, source, region, labelled = draw_rows(task, pattern, rng)
    X, y = task.X_target[rows], task.y_target[rows]
    others = np.setdiff1d(np.arange(len(y)), labelled)
    like = np.isin(others, region)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        losses, missed = _losses(
            found.kind,
            (task.X[source], task.y[source]),
            (X[labelled], y[labelled]),
            (X[others], y[others]),
            rng,
        )
    check = check_labels(X[labelled], X[others], random_state=draw)
    interval = interval_of(found.kind, losses, check)
    return {
        "part": found.part,
        "kind": found.kind,
        "dataset": task.dataset,
        "task": task.name,
        "pattern": pattern,
        "draw": draw,
        "plain": float(losses.mean()),
        "truth": float(missed.mean()),
        "off": off_by(missed[like], missed[~like]) if like.any() and not like.all() else 1.0,
        "p_value": check.p_value,
        "auc": check.auc,
        "overlap": check.overlap,
        "effective": check.effective_sample_size,
        "estimate": interval.estimate,
        "interval": [interval.low, interval.high],
        "withheld": check.withheld,
        "one_class": has_one_class(found.kind, y[labelled]),
    }


def interval_of(kind: str, losses: np.ndarray, check: LabelCheck) -> MetricInterval:
    """Interval of the mean loss as a search has it; also where it would be withheld, to study that.

    Zero-one losses are an accuracy of two classes, wrong and right, other losses distances to 0.
    """
    if kind == "classification":
        (metric,) = check_scoring("accuracy", task=kind, classes=[0, 1])
        y, values = np.ones(losses.size, dtype=int), np.eye(2)[1 - losses.astype(int)]
    else:
        (metric,) = check_scoring("mae", task=kind)
        y, values = losses, np.zeros(losses.size)
    options = {"variance_factor": metric.out_of_fold_factor}
    answer = metric_interval(metric, y, values, LEVEL, **options)
    if not check.representative:
        answer = reweighted_interval(answer, metric, y, values, check.weights, **options)
    if kind == "regression":
        return answer
    # From accuracy to error.
    return replace(answer, estimate=1 - answer.estimate, low=1 - answer.high, high=1 - answer.low)


def off_by(inside: np.ndarray, outside: np.ndarray) -> float:
    """Factor between the errors on rows like the labelled ones and on others; 1 within noise."""
    if min(inside.size, outside.size) < 20:
        return 1.0
    parts = (inside, outside)
    if np.isin(np.concatenate(parts), (0, 1)).all():
        # Regions with few errors or none need an exact test.
        p_value = stats.fisher_exact([[p.sum(), p.size - p.sum()] for p in parts]).pvalue
    else:
        p_value = stats.ttest_ind(*parts, equal_var=False).pvalue
    if p_value > 0.01:
        return 1.0
    # Half an error keeps the factor finite where one of the two has none.
    largest = max(inside.max(), outside.max())
    a, b = (part.mean() + 0.5 * largest / part.size for part in parts)
    return float(max(a / b, b / a))


def _losses(kind: str, source: tuple, labelled: tuple, others: tuple, rng: Any) -> tuple:
    """Out-of-fold losses of the labelled rows, and losses of the refit on the others."""
    model, folds = model_of(kind), rng.permutation(np.arange(N_LABELS) % 5)
    X, y = labelled
    losses = np.empty(N_LABELS)
    for fold in range(5):
        inside = folds != fold
        fitted = clone(model).fit(*source, X_target=X[inside], y_target=y[inside])
        losses[~inside] = _loss(kind, fitted, X[~inside], y[~inside])
    fitted = clone(model).fit(*source, X_target=X, y_target=y)
    return losses, _loss(kind, fitted, *others)


def _loss(kind: str, model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    if kind == "classification":
        return (model.predict(X) != y).astype(float)
    return np.abs(model.predict(X) - y)
