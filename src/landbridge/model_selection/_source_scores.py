"""Scores of sources and differences in loss between two cells, with error variances.

A *unit* is a source or a random block. A mean of pointwise losses has the variance of
`summarise_sources`, any other metric that of its replicates (`landbridge.metrics.inference`).
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from landbridge._typing import Vector
from landbridge.inference.sources import summarise_sources
from landbridge.metrics.inference import (
    bootstrap_weights,
    effective_rows,
    inflation,
)
from landbridge.metrics.metric import Metric

N_REPLICATES = 400


def unit_scores(
    metric: Metric,
    y: Vector,
    predictions: np.ndarray,
    units: Vector,
    n_units: int,
    weight: Vector | None,
) -> tuple[Vector, Vector]:
    """Score of the rows of each unit and the variance of its error; NaN without rows."""
    if metric.decomposable:
        means, variances = _unit_means(metric.pointwise(y, predictions), units, n_units, weight)
        return metric.score_of(means), variances
    read = partial(_score_and_variance, metric)
    return _by_unit(read, y, predictions[None], units, n_units, weight)


def unit_differences(
    metric: Metric,
    y: Vector,
    predictions: np.ndarray,
    units: Vector,
    n_units: int,
    weight: Vector | None,
) -> tuple[Vector, Vector]:
    """Difference in loss between two cells (first minus second) per unit, with its variance."""
    if metric.decomposable:
        first, second = metric.pointwise(y, predictions)
        return _unit_means(first - second, units, n_units, weight)
    read = partial(_difference_and_variance, metric)
    return _by_unit(read, y, predictions, units, n_units, weight)


def _unit_means(
    losses: Vector, units: Vector, n_units: int, weight: Vector | None
) -> tuple[Vector, Vector]:
    summary = summarise_sources(losses, units, sample_weight=weight)
    means, variances = np.full((2, n_units), np.nan)
    means[summary.names], variances[summary.names] = summary.mean, summary.mean_variance
    return means, variances


def _by_unit(
    read: Callable[..., tuple[float, float]],
    y: Vector,
    predictions: np.ndarray,
    units: Vector,
    n_units: int,
    weight: Vector | None,
) -> tuple[Vector, Vector]:
    values, variances = np.full((2, n_units), np.nan)
    for k in np.unique(units):
        rows = units == k
        own = None if weight is None else weight[rows]
        values[k], variances[k] = read(y[rows], predictions[:, rows], own)
    return values, variances


def _score_and_variance(
    metric: Metric, y: Vector, predictions: np.ndarray, weight: Vector | None
) -> tuple[float, float]:
    replicates = _replicates(metric, y, predictions, weight)[0]
    return float(metric.score(y, predictions, weight)[0]), _variance(replicates, y, weight)


def _difference_and_variance(
    metric: Metric, y: Vector, predictions: np.ndarray, weight: Vector | None
) -> tuple[float, float]:
    first, second = metric.loss(metric.score(y, predictions, weight))
    replicates = metric.loss(_replicates(metric, y, predictions, weight))
    return float(first - second), _variance(replicates[0] - replicates[1], y, weight)


def _replicates(
    metric: Metric, y: Vector, predictions: np.ndarray, weight: Vector | None
) -> np.ndarray:
    weights = bootstrap_weights(y, n_replicates=N_REPLICATES)
    return metric.replicates(y, predictions, weights if weight is None else weights * weight)


def _variance(replicates: Vector, y: Vector, weight: Vector | None) -> float:
    """Variance of the error; NaN for a single row."""
    n = effective_rows(y.shape[0], weight)
    return float(np.var(replicates, ddof=1) * inflation(n)) if n > 1 else float("nan")


def constant_prediction(y: Vector, n_classes: int, weight: Vector | None) -> np.ndarray:
    """The mean of numbers, or the shares of the classes, in every row."""
    if not n_classes:
        return np.full(y.shape[0], np.average(y, weights=weight))
    counts = np.bincount(y, weight, minlength=n_classes)
    return np.tile(counts / counts.sum(), (y.shape[0], 1))
