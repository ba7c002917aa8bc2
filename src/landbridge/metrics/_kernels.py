"""Weighted metrics of many cells and many weightings at once.

Every kernel is a function ``(y, predictions, weights) -> (cells, replicates)`` of

- ``y``: class positions 0..k−1, or numbers, of shape (rows,),
- ``predictions``: probabilities (cells, rows, classes), or numbers (cells, rows),
- ``weights``: one weighting of the rows per replicate, (replicates, rows).

Results equal those of `sklearn.metrics` with ``sample_weight`` up to rounding, and are NaN where a
metric is not defined, for example ROC AUC with one class.
"""

import warnings
from collections.abc import Callable
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from landbridge._typing import Vector
from landbridge._warn import warn_caller

Kernel: TypeAlias = Callable[[Vector, np.ndarray, np.ndarray], np.ndarray]
# The loss of each row, (cells, rows), smaller is better.
Pointwise: TypeAlias = Callable[[Vector, np.ndarray], np.ndarray]
# tp, true and predicted weight of each class, (cells, classes, replicates) -> the same shape.
Ratio: TypeAlias = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

# A probability of zero would make the mean loss infinite; this is the lower limit of
# sklearn.metrics.log_loss for float64.
PROBABILITY_FLOOR = float(np.finfo(np.float64).eps)
# Number of rows resampled by weight for metrics that do not accept weights.
RESAMPLED_ROWS = 2000
# Number of weights per block of a ranking, small enough for the CPU cache.
CACHED_WEIGHTS = 1 << 18


def zero_one_losses(y: Vector, predictions: np.ndarray) -> np.ndarray:
    """1 where the most probable class is not the true one."""
    return (predictions.argmax(axis=-1) != y).astype(np.float64)


def log_losses(y: Vector, predictions: np.ndarray) -> np.ndarray:
    """−log of the probability of the true class."""
    of_truth = np.take_along_axis(predictions, y[None, :, None], axis=-1)[..., 0]
    return -np.log(np.clip(of_truth, PROBABILITY_FLOOR, 1.0 - PROBABILITY_FLOOR))


def brier_losses(y: Vector, predictions: np.ndarray, *, scale: float) -> np.ndarray:
    """Squared distance between the probabilities and the truth, times ``scale``."""
    of_truth = np.take_along_axis(predictions, y[None, :, None], axis=-1)[..., 0]
    distance = (predictions**2).sum(axis=-1) - 2.0 * of_truth + 1.0
    return scale * np.maximum(distance, 0.0)  # rounding errors may make it negative


def absolute_losses(y: Vector, predictions: np.ndarray) -> np.ndarray:
    """|ŷ − y|."""
    return np.abs(predictions - y)


def squared_losses(y: Vector, predictions: np.ndarray) -> np.ndarray:
    """(ŷ − y)²."""
    return (predictions - y) ** 2


def weighted_mean(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σ_i w_ri v_ci / Σ_i w_ri."""
    return values @ weights.T / weights.sum(axis=1)


def mean_loss(
    y: Vector, predictions: np.ndarray, weights: np.ndarray, *, pointwise: Pointwise
) -> np.ndarray:
    """The mean of a pointwise loss."""
    return weighted_mean(pointwise(y, predictions), weights)


def accuracy(y: Vector, predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Share of rows whose most probable class is the true one."""
    return 1.0 - weighted_mean(zero_one_losses(y, predictions), weights)


def root_mean_squared_error(y: Vector, predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """√ of the mean squared error."""
    return np.sqrt(weighted_mean(squared_losses(y, predictions), weights))


def r_squared(y: Vector, predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """1 − MSE / variance of y; constant y is handled as in scikit-learn."""
    error = weighted_mean(squared_losses(y, predictions), weights)
    centred = y - y.mean()  # avoids cancellation when y is far from zero
    mean, square = (weighted_mean(v[None], weights)[0] for v in (centred, centred**2))
    if y.size < 2:
        return np.full(error.shape, np.nan)
    variance = np.broadcast_to(square - mean**2, error.shape)
    varies = variance > 0
    explained = 1.0 - np.divide(error, variance, out=np.zeros(error.shape), where=varies)
    return np.where(varies, explained, np.where(error == 0, 1.0, 0.0))


def class_totals(codes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Weight of the rows of each code, (cells, classes, replicates); a code of −1 is ignored.

    With a sparse indicator matrix, the cost does not depend on the number of classes.
    """
    cell, row = np.nonzero(codes >= 0)
    place = cell * n_classes + codes[cell, row]
    shape = (codes.shape[0] * n_classes, codes.shape[1])
    indicator = sparse.csr_array((np.ones(row.size), (place, row)), shape=shape)
    return (indicator @ weights.T).reshape(codes.shape[0], n_classes, -1)


def class_counts(
    y: Vector, predictions: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Weight of correct, true and predicted rows of each class, and which classes occur."""
    n_classes = predictions.shape[-1]
    predicted = predictions.argmax(axis=-1)
    correct = class_totals(np.where(predicted == y, predicted, -1), weights, n_classes)
    true = np.broadcast_to(class_totals(y[None], weights, n_classes), correct.shape)
    of_predicted = class_totals(predicted, weights, n_classes)
    occurs = np.bincount(y, minlength=n_classes) > 0
    seen = np.stack([np.bincount(row, minlength=n_classes) > 0 for row in predicted])
    return correct, true, of_predicted, seen | occurs


def _quotient(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Quotient with 0/0 = 0, the default of ``zero_division`` in scikit-learn."""
    return np.divide(numerator, denominator, out=np.zeros(numerator.shape), where=denominator > 0)


def precision_ratio(correct: np.ndarray, true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Correct among predicted."""
    return _quotient(correct, predicted)


def recall_ratio(correct: np.ndarray, true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Correct among true."""
    return _quotient(correct, true)


def f_ratio(
    correct: np.ndarray, true: np.ndarray, predicted: np.ndarray, *, beta: float = 1.0
) -> np.ndarray:
    """F_β."""
    return _quotient((1 + beta**2) * correct, beta**2 * true + predicted)


def jaccard_ratio(correct: np.ndarray, true: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Intersection over union."""
    return _quotient(correct, true + predicted - correct)


def ratio_of_class(
    y: Vector, predictions: np.ndarray, weights: np.ndarray, *, ratio: Ratio, positive: int
) -> np.ndarray:
    """Precision, recall, F or Jaccard of the positive class."""
    correct, true, predicted, _ = class_counts(y, predictions, weights)
    return ratio(correct, true, predicted)[:, positive]


def mean_ratio(
    y: Vector, predictions: np.ndarray, weights: np.ndarray, *, ratio: Ratio, by_support: bool
) -> np.ndarray:
    """Mean over the classes that occur in y or in the predictions, or weighted by true rows."""
    correct, true, predicted, occurs = class_counts(y, predictions, weights)
    values = ratio(correct, true, predicted)
    share = (true if by_support else np.ones(values.shape)) * occurs[:, :, None]
    return _quotient((values * share).sum(axis=1), share.sum(axis=1))


def balanced_accuracy(
    y: Vector, predictions: np.ndarray, weights: np.ndarray, *, adjusted: bool = False
) -> np.ndarray:
    """Mean recall of the classes that have true rows."""
    correct, true, _, _ = class_counts(y, predictions, weights)
    there = true > 0
    n_classes = there.sum(axis=1)
    score = _quotient(correct, true).sum(axis=1) / n_classes
    if not adjusted:
        return score
    with np.errstate(invalid="ignore", divide="ignore"):
        return (score - 1 / n_classes) / (1 - 1 / n_classes)


def matthews_correlation(y: Vector, predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Correlation between true and predicted classes."""
    correct, true, predicted, _ = class_counts(y, predictions, weights)
    total = weights.sum(axis=1)
    covariance = correct.sum(axis=1) * total - (true * predicted).sum(axis=1)
    spread = (total**2 - (true**2).sum(axis=1)) * (total**2 - (predicted**2).sum(axis=1))
    # If all rows have the same predicted class, rounding leaves a tiny number instead of zero.
    spread = np.where(spread > 1e-12 * total**4, spread, 0.0)
    return _quotient(covariance, np.sqrt(spread))


def running_sums(weights: np.ndarray) -> np.ndarray:
    """Sum of the rows before each row and, last, of all rows.

    Adding whole rows is several times as fast as `numpy.cumsum`, which sums column by column.
    """
    sums = np.zeros((len(weights) + 1, weights.shape[1]))
    if weights.shape[1] == 1:
        np.cumsum(weights, axis=0, out=sums[1:])
        return sums
    for k, row in enumerate(weights):
        np.add(sums[k], row, out=sums[k + 1])
    return sums


def binary_auc(scores: Vector, positive: Vector, weights: np.ndarray) -> Vector:
    """P(score of a positive row > score of a negative one), ties counted half, per weighting.

    ``weights`` has shape (rows, replicates), so that contiguous rows are read.
    """
    if positive.all() or not positive.any():
        return np.full(weights.shape[1], np.nan)
    negative_scores = scores[~positive]
    order = np.argsort(negative_scores, kind="stable")
    negative_scores = negative_scores[order]
    below = running_sums(weights[np.flatnonzero(~positive)[order]])
    first = np.searchsorted(negative_scores, scores[positive], side="left")
    last = np.searchsorted(negative_scores, scores[positive], side="right")
    weight = weights[positive]
    won = np.einsum("ij,ij->j", weight, below[first])
    tied = last > first
    won += 0.5 * np.einsum("ij,ij->j", weight[tied], below[last[tied]] - below[first[tied]])
    pairs = weight.sum(axis=0) * below[-1]
    return np.divide(won, pairs, out=np.full(won.shape, np.nan), where=pairs > 0)


def binary_average_precision(scores: Vector, positive: Vector, weights: np.ndarray) -> Vector:
    """Σ_t (recall_t − recall_{t−1}) precision_t, with scores of positive rows as thresholds t."""
    if not positive.any():
        return np.full(weights.shape[1], np.nan)
    order = np.argsort(-scores, kind="stable")
    ordered, hit = weights[order], np.flatnonzero(positive[order])
    descending = -scores[order]
    # Tied rows are retrieved together, so use the last row of each tie.
    last = np.searchsorted(descending, descending[hit], side="right")
    found, above = running_sums(ordered[hit]), running_sums(ordered)
    n_found = np.searchsorted(hit, last, side="left")
    precision = _quotient(found[n_found], above[last])
    area = np.einsum("ij,ij->j", ordered[hit], precision)
    return np.divide(area, found[-1], out=np.full(area.shape, np.nan), where=found[-1] > 0)


def ranking_of_class(
    y: Vector,
    predictions: np.ndarray,
    weights: np.ndarray,
    *,
    curve: Callable[[Vector, Vector, np.ndarray], Vector],
    positive: int,
) -> np.ndarray:
    """ROC AUC or average precision of the positive class."""
    truth = y == positive
    values = np.empty((predictions.shape[0], weights.shape[0]))
    step = max(64, CACHED_WEIGHTS // y.size)
    for start in range(0, weights.shape[0], step):
        part = slice(start, start + step)
        columns = np.ascontiguousarray(weights[part].T)
        for cell, row in zip(predictions, values, strict=True):
            row[part] = curve(cell[:, positive], truth, columns)
    return values


def mean_ranking(
    y: Vector,
    predictions: np.ndarray,
    weights: np.ndarray,
    *,
    curve: Callable[[Vector, Vector, np.ndarray], Vector],
    by_support: bool,
) -> np.ndarray:
    """One-vs-rest score, averaged over the classes for which it is defined."""
    classes = np.unique(y)
    values = np.stack(
        [ranking_of_class(y, predictions, weights, curve=curve, positive=k) for k in classes]
    )
    share = np.ones((classes.size, weights.shape[0]))
    if by_support:
        share = class_totals(y[None], weights, predictions.shape[-1])[0, classes]
    return _mean_of_defined(values, share[:, None, :])


def mean_pairwise_auc(
    y: Vector, predictions: np.ndarray, weights: np.ndarray, *, by_support: bool
) -> np.ndarray:
    """One-vs-one ROC AUC, averaged over all ordered pairs of classes (Hand and Till)."""
    values, shares = [], []
    for a, b in combinations(np.unique(y), 2):
        rows = (y == a) | (y == b)
        part = weights[:, rows]
        one, other = (
            ranking_of_class(y[rows], predictions[:, rows], part, curve=binary_auc, positive=k)
            for k in (a, b)
        )
        values.append((one + other) / 2)
        shares.append(part.sum(axis=1) if by_support else np.ones(weights.shape[0]))
    if not values:
        return np.full((predictions.shape[0], weights.shape[0]), np.nan)
    return _mean_of_defined(np.stack(values), np.stack(shares)[:, None, :])


def _mean_of_defined(values: np.ndarray, share: np.ndarray) -> np.ndarray:
    share = np.where(np.isnan(values), 0.0, share)
    total = share.sum(axis=0)
    sums = (np.nan_to_num(values) * share).sum(axis=0)
    return np.divide(sums, total, out=np.full(sums.shape, np.nan), where=total > 0)


def looped(
    y: Vector,
    predictions: np.ndarray,
    weights: np.ndarray,
    *,
    function: Callable[..., float],
    options: dict[str, Any],
    takes_weights: bool,
) -> np.ndarray:
    """Call a metric once per cell and weighting; NaN where it raises, with a warning.

    For a metric that does not accept weights, rows are resampled in proportion to their
    weights. A total, such as a cost, is then scaled to the number of rows.
    """

    def value(cell: np.ndarray, weight: Vector) -> float:
        if takes_weights:
            return function(y, cell, sample_weight=weight, **options)
        rows = proportional_rows(weight)
        found = function(y[rows], cell[rows], **options)
        if rows.size == y.size:
            return found
        twice = np.repeat(rows, 2)
        is_total = np.isclose(function(y[twice], cell[twice], **options), 2 * found, rtol=1e-6)
        return found * y.size / rows.size if is_total else found

    values = np.full((predictions.shape[0], weights.shape[0]), np.nan)
    failure: Exception | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # metrics may be undefined on some replicates
        for place in np.ndindex(values.shape):
            try:
                values[place] = value(predictions[place[0]], weights[place[1]])
            except Exception as error:
                failure = error
    if failure is not None:
        name = getattr(function, "__name__", repr(function))
        message = f"The metric {name} is NaN where it raises {type(failure).__name__}: {failure}"
        warn_caller(message, UndefinedMetricWarning)
    return values


def proportional_rows(weight: Vector) -> Vector:
    """Sample rows systematically in proportion to the weights; each once if these are equal."""
    n_rows = weight.size
    if np.ptp(weight) == 0:
        return np.arange(n_rows)
    n_drawn = max(n_rows, RESAMPLED_ROWS)
    total = np.cumsum(weight)
    places = (np.arange(n_drawn) + 0.5) / n_drawn * total[-1]
    return np.searchsorted(total, places, side="right").clip(max=n_rows - 1)
