r"""Uncertainty of metrics: intervals, paired probabilities and covariances.

Means of a pointwise loss have closed forms. Every other metric is computed R times with Dirichlet
weights of the rows (the Bayesian bootstrap, with the same weights for all cells), and

.. math:: v = \frac{n + 1}{n - 1} \operatorname{var}_r g(s_r)

is the variance of its error on a scale g; with this factor, v of a mean equals s²/n.

================================= ================================================================
metric                            interval
================================= ================================================================
mean of 0 and 1 (accuracy)        score (Wilson) interval with n rows
other rates (AUC, F1, …)          score interval with :math:`\min(θ̂(1 - θ̂)/v, n_b)` rows and
                                  Student's t_{n−1}; n_b = K²/Σ 1/n_k is the number for a mean of
                                  K recalls, so that a perfect score on few rows is not certain; the
                                  Brier score, a mean over rows, has no such limit
other losses of at least 0 (RMSE, :math:`\hat l e^{\pm t_ν \sqrt v}`, g = log; ν degrees of freedom
1 − R², log loss)                 for a long tail, see `degrees_of_freedom`
others                            ŝ ± t_{n−1} √v
================================= ================================================================

Rows of one group (a patient) are not independent. With ``groups`` the Bayesian bootstrap weights
whole groups, means have the cluster-robust variance

.. math:: \frac{G}{G - 1} \sum_g \Bigl(\sum_{i \in g} w_i (l_i - \bar l)\Bigr)^2 / (\sum_i w_i)^2,

and the number of groups takes the place of n in t and ν.

Coverage of nominal 90 % on real predictions is measured in ``benchmarks/metric_intervals.py``.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from landbridge._typing import Vector, VectorLike
from landbridge._validation import without_masks
from landbridge.inference.intervals import (
    check_level,
    format_interval,
    normal_quantile,
    score_interval,
    t_quantile,
)
from landbridge.inference.sources import summarise_sources
from landbridge.metrics._kernels import log_losses
from landbridge.metrics.metric import Metric

N_REPLICATES = 1000
# Metrics that are called once per replicate get fewer replicates; the standard error is accurate to
# 5 %.
N_LOOPED = 200
# Variances are averaged over sources, so each source needs fewer replicates.
N_BY_UNIT = 400
# Kurtosis of squared normal errors, E(z² − 1)⁴ / 2², because few rows do not suffice to estimate
# it.
KURTOSIS = 15.0
# Differences that are equal in every row have a variance from rounding errors only.
SAME_IN_EVERY_ROW = 1e7
# Equal cells may have losses that differ by rounding errors, relative to the loss.
ROUNDING = 1e-12
FEW_ROWS_OF_A_CLASS = 5
# A class without rows counts as this many rows, because nothing is known about its recall: for two
# classes, the interval of a perfect score then includes that of a constant prediction.
ROWS_OF_A_MISSING_CLASS = 0.5
# A log loss above this comes from a probability that is zero up to rounding.
ZERO = 30.0


@dataclass(frozen=True)
class MetricInterval:
    """Interval for the score on the target; unpacks to ``low, high``.

    Parameters
    ----------
    estimate, low, high, level : float
        Estimate, bounds and confidence level.
    method : {"score", "skewed", "student", "none"}
        Method, as in the table of this module; "none" if no interval can be computed.
    note : str
        Known limitation of the interval for these rows, or "".
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    note: str = ""

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __contains__(self, score: float) -> bool:
        return self.low <= score <= self.high

    def __str__(self) -> str:
        estimate, low, high = format_interval(self.estimate, self.low, self.high)
        return f"{estimate}, {100 * self.level:g} % interval {low} to {high}"


def bootstrap_weights(
    n_rows: int, *, n_replicates: int = N_REPLICATES, seed: int = 0, groups: VectorLike = None
) -> np.ndarray:
    """Dirichlet weights of rows with a mean of 1, (replicates, rows); groups share a weight."""
    codes = np.arange(n_rows) if groups is None else _codes(groups)
    size = (n_replicates, codes.max() + 1)
    weights = np.random.default_rng(seed).standard_exponential(size)
    weights = weights if groups is None else weights[:, codes]
    return weights / weights.mean(axis=1, keepdims=True)


def bootstrap_scores(
    metric: Metric,
    y: VectorLike,
    predictions: VectorLike,
    *,
    sample_weight: VectorLike = None,
    groups: VectorLike = None,
    n_replicates: int = N_REPLICATES,
    seed: int = 0,
) -> np.ndarray:
    """Scores of cells under `bootstrap_weights`, the same for all, (cells, replicates)."""
    if not metric.vectorised:
        n_replicates = min(n_replicates, N_LOOPED)
    weights = bootstrap_weights(len(y), n_replicates=n_replicates, seed=seed, groups=groups)
    if sample_weight is not None:
        weights = weights * np.asarray(sample_weight)
    return metric.replicates(y, predictions, weights)


@without_masks
def metric_interval(
    metric: Metric,
    y: VectorLike,
    predictions: VectorLike,
    level: float = 0.9,
    *,
    estimate: float | None = None,
    sample_weight: VectorLike = None,
    groups: VectorLike = None,
    replicates: VectorLike = None,
    variance_factor: float = 1.0,
    shrunk: bool = True,
) -> MetricInterval:
    """Interval for the score of one cell on the population of the rows.

    Parameters
    ----------
    metric : Metric
        Metric from `check_scoring`.
    y : array of shape (n_rows,)
        Positions of the true classes, or numbers.
    predictions : array of shape (n_rows,) or (n_rows, n_classes)
        Numbers, or class probabilities.
    level : float, default=0.9
        Confidence level.
    estimate : float, optional
        Centre of the interval, if a better estimate than the score of these rows is known.
    sample_weight : array of shape (n_rows,), optional
        Weights of the rows.
    groups : array of shape (n_rows,), optional
        Group of each row; rows of one group are not independent.
    replicates : array of shape (n_replicates,), optional
        `bootstrap_scores` of the cell, if already computed.
    variance_factor : float, default=1.0
        Variance of the error relative to that of a model that was fixed before the rows were drawn;
        `Metric.out_of_fold_factor` for predictions out of fold.
    shrunk : bool, default=True
        Whether ``estimate`` also uses other information, such as a prior, so that its distance from
        the score of these rows is added to the error.

    Returns
    -------
    MetricInterval
        Estimate and bounds.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.metrics.inference import metric_interval
    >>> from landbridge.metrics.scoring import check_scoring
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=60)
    >>> score = 1 / (1 + np.exp(-(2 * y - 1 + rng.normal(size=60))))
    >>> (auc,) = check_scoring("roc_auc", task="classification", classes=[0, 1])
    >>> print(metric_interval(auc, y, np.column_stack([1 - score, score])))
    0.93, 90 % interval 0.86 to 0.97
    """
    check_level(level)
    y, predictions = np.asarray(y), np.asarray(predictions)
    own = metric.score(y, predictions, sample_weight)
    centre = own if estimate is None else float(np.clip(estimate, *metric.bounds))
    if not math.isfinite(own):
        note = f"{metric.label} is not defined on these rows"
        return MetricInterval(centre, *metric.bounds, level, "none", note)
    n = max(effective_rows(y.shape[0], sample_weight), 2.0)
    independent = max(effective_rows(y.shape[0], sample_weight, groups), 2.0)
    rate = metric.bounds == (0.0, 1.0)
    if rate and metric.decomposable and metric.response == "label" and groups is None:
        low, high = score_interval(centre, n / variance_factor, level)
        return MetricInterval(centre, float(low), float(high), level, "score")
    if y.shape[0] < 2:
        note = "a single row does not show how much rows vary"
        return MetricInterval(centre, *metric.bounds, level, "none", note)
    options = {"sample_weight": sample_weight, "groups": groups, "replicates": replicates}
    errors = _standard_errors(metric, y, predictions, own, independent, **options)
    widening = math.sqrt(variance_factor * metric.variance_factor)
    of_score, of_log = (widening * error for error in errors)
    gap = centre - own if shrunk else 0.0
    note = _note(metric, y, predictions)
    if rate:
        most = n if of_score > 0 and 0 < own < 1 else independent
        error = math.hypot(of_score, gap)
        rows = _rows_of_rate(metric, y, predictions, own, most / variance_factor, error)
        # The score interval depends on z²/rows only, so reducing the rows has the effect of using
        # Student's quantile.
        rows *= (normal_quantile(level) / t_quantile(level, independent - 1)) ** 2
        low, high = score_interval(centre, rows, level)
        return MetricInterval(centre, float(low), float(high), level, "score", note)
    loss, own_loss = metric.loss(centre), metric.loss(own)
    if metric.loss_bounds[0] == 0.0 and min(loss, own_loss) > 0:
        # The same error is larger relative to a smaller estimate.
        error = math.hypot(of_log, math.log(loss / own_loss)) if shrunk else of_score / loss
        factor = math.exp(min(t_quantile(level, degrees_of_freedom(independent)) * error, 700.0))
        ends, method = [metric.score_of(loss / factor), metric.score_of(loss * factor)], "skewed"
    else:
        half = t_quantile(level, independent - 1) * math.hypot(of_score, gap)
        ends, method = [centre - half, centre + half], "student"
    least, most = np.clip(sorted(ends), *metric.bounds).tolist()
    return MetricInterval(centre, least, most, level, method, note)


def reweighted_interval(
    plain: MetricInterval,
    metric: Metric,
    y: VectorLike,
    predictions: VectorLike,
    sample_weight: VectorLike,
    **options: Any,
) -> MetricInterval:
    """Interval of rows that are weighted to resemble others, widened to include ``plain``.

    Weights correct only differences that the columns explain, so the unweighted interval remains
    possible.
    """
    weighted = metric_interval(
        metric, y, predictions, plain.level, sample_weight=sample_weight, **options
    )
    return replace(
        weighted,
        low=float(np.fmin(weighted.low, plain.low)),
        high=float(np.fmax(weighted.high, plain.high)),
    )


@without_masks
def paired_probability(
    metric: Metric,
    y: VectorLike,
    predictions: VectorLike,
    *,
    sample_weight: VectorLike = None,
    groups: VectorLike = None,
    replicates: VectorLike = None,
) -> np.ndarray:
    """Probability that the cell of each row is better than that of each column.

    It is one minus the p-value of a paired t test, with the variance of the difference estimated
    from pointwise losses or from replicates. If all rows have the same difference, as may happen by
    chance with few zero-one losses, it comes from the sign test: 1 − 2⁻ⁿ.

    Parameters
    ----------
    metric : Metric
        Metric from `check_scoring`.
    y : array of shape (n_rows,)
        Positions of the true classes, or numbers.
    predictions : array of shape (n_cells, n_rows) or (n_cells, n_rows, n_classes)
        Numbers, or class probabilities, of every cell.
    sample_weight, groups : array of shape (n_rows,), optional
        As in `metric_interval`.
    replicates : array of shape (n_cells, n_replicates), optional
        `bootstrap_scores` of the cells, if already computed.

    Returns
    -------
    ndarray of shape (n_cells, n_cells)
        Probabilities; 0.5 on the diagonal, NaN for cells for which the metric is not defined.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.metrics import check_scoring, paired_probability
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=50)
    >>> good, bad = y + rng.normal(size=(2, 50)) * [[0.5], [1.0]]
    >>> (mae,) = check_scoring("mae", task="regression")
    >>> bool(paired_probability(mae, y, [good, bad])[0, 1] > 0.95)
    True
    """
    y, predictions = np.asarray(y), np.asarray(predictions)
    n = effective_rows(y.shape[0], sample_weight, groups)
    loss = metric.loss(metric.score(y, predictions, sample_weight))
    answer, known = np.full((loss.size, loss.size), np.nan), np.isfinite(loss)
    if not known.any():
        return answer
    loss = loss[known]
    difference = loss[None, :] - loss[:, None]
    difference[np.abs(difference) <= ROUNDING * np.abs(loss)] = 0.0
    errors = loss_errors(
        metric,
        y,
        predictions[known],
        sample_weight=sample_weight,
        groups=groups,
        replicates=None if replicates is None else np.asarray(replicates)[known],
    )
    covariance = errors @ errors.T
    own = np.diag(covariance)
    error = np.sqrt(np.maximum(own[:, None] + own[None, :] - 2 * covariance, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(difference == 0, 0.0, difference / error)
    by_signs = np.where(difference > 0, 1 - 0.5**n, 0.5**n)
    probability = stats.t.cdf(statistic, df=max(n - 1, 1))
    same = np.abs(statistic) > SAME_IN_EVERY_ROW
    answer[np.ix_(known, known)] = np.where(same, by_signs, probability)
    return answer


def loss_errors(
    metric: Metric,
    y: VectorLike,
    predictions: VectorLike,
    *,
    sample_weight: VectorLike = None,
    groups: VectorLike = None,
    replicates: VectorLike = None,
) -> np.ndarray:
    """Errors E of ``metric.loss(score)``, one row per cell, with the covariance E Eᵀ.

    The covariance is s²/n for means of pointwise losses, cluster-robust with ``groups``, and that
    of replicates otherwise. E is returned because with thousands of cells the covariance would not
    fit into memory.
    """
    y, predictions = np.asarray(y), np.asarray(predictions)
    n = effective_rows(y.shape[0], sample_weight, groups)
    if metric.decomposable:
        losses = np.atleast_2d(metric.pointwise(y, predictions))
        weight = np.ones(losses.shape[1]) if sample_weight is None else np.asarray(sample_weight)
        share = weight / weight.sum()
        deviations = losses - (losses @ share)[:, None]
        if groups is None:
            return deviations * np.sqrt(share / (n - 1 if n > 1 else 1.0))
        codes = _codes(groups)
        sums = np.stack([np.bincount(codes, row) for row in deviations * share])
        return sums * np.sqrt(sums.shape[1] / max(sums.shape[1] - 1, 1))
    if replicates is None:
        options = {"sample_weight": sample_weight, "groups": groups}
        replicates = bootstrap_scores(metric, y, predictions, **options)
    replicates = np.compress(~np.isnan(replicates).any(axis=0), replicates, axis=1)
    deviations = replicates - replicates.mean(axis=1, keepdims=True)
    return deviations * np.sqrt(inflation(n) / (replicates.shape[1] - 1))


def losses_by_unit(
    metric: Metric,
    y: Vector,
    predictions: np.ndarray,
    units: Vector,
    n_units: int,
    sample_weight: VectorLike,
) -> tuple[Vector, Vector]:
    """Loss of one cell, or difference of the losses of two cells, with its variance, by unit.

    A unit is a source or a block of rows; both values are NaN for a unit without rows. A mean of
    pointwise losses has the variance of `summarise_sources`, any other metric that of its
    replicates.
    """
    values, variances = np.full((2, n_units), np.nan)
    if metric.decomposable:
        losses = _difference(metric.pointwise(y, predictions))
        summary = summarise_sources(losses, units, sample_weight=sample_weight)
        values[summary.names], variances[summary.names] = summary.mean, summary.mean_variance
        return values, variances
    for unit in np.unique(units):
        rows = units == unit
        own = None if sample_weight is None else sample_weight[rows]
        cells, n = predictions[:, rows], effective_rows(rows.sum(), own)
        values[unit] = _difference(metric.loss(metric.score(y[rows], cells, own)))
        if n > 1 and np.isfinite(values[unit]):
            scores = bootstrap_scores(
                metric, y[rows], cells, sample_weight=own, n_replicates=N_BY_UNIT
            )
            variances[unit] = np.nanvar(_difference(metric.loss(scores)), ddof=1) * inflation(n)
    return values, variances


def _difference(losses: np.ndarray) -> np.ndarray:
    return losses[0] if len(losses) == 1 else losses[0] - losses[1]


def effective_rows(n_rows: int, sample_weight: VectorLike, groups: VectorLike = None) -> float:
    """(Σw)² / Σw², which is the number of rows or groups if all weights are equal."""
    if sample_weight is None and groups is None:
        return float(n_rows)
    weight = np.ones(n_rows) if sample_weight is None else np.asarray(sample_weight, np.float64)
    totals = weight if groups is None else np.bincount(_codes(groups), weight)
    return float(totals.sum() ** 2 / (totals @ totals))


def _codes(groups: VectorLike) -> Vector:
    return np.unique(np.asarray(groups), return_inverse=True)[1]


def inflation(n: float) -> float:
    """Factor that converts a variance of the Bayesian bootstrap to the usual variance."""
    return (n + 1) / max(n - 1, 1)


def degrees_of_freedom(n: float) -> float:
    r"""Degrees of freedom ν for the variance s² of n long-tailed losses.

    .. math:: ν = \frac{2n}{κ - (n - 3)/(n - 1)}

    is n − 1 for a kurtosis of κ = 3. The kurtosis of squared normal errors is used, because few
    rows do not suffice to estimate κ. The result is at least 2, or n − 1.
    """
    n = max(n, 2.0)
    return max(min(n - 1, 2.0), 2 * n / (KURTOSIS - (n - 3) / (n - 1)))


def _standard_errors(
    metric: Metric,
    y: Vector,
    predictions: np.ndarray,
    score: float,
    n: float,
    *,
    sample_weight: VectorLike,
    groups: VectorLike,
    replicates: VectorLike,
) -> tuple[float, float]:
    """Standard errors of the score of a cell and of the logarithm of its loss."""
    options = {"sample_weight": sample_weight, "groups": groups}
    if metric.decomposable:
        of_score = float(np.linalg.norm(loss_errors(metric, y, predictions[None], **options)))
        loss = metric.loss(score)
        return of_score, of_score / loss if loss > 0 else 0.0  # the delta method
    scores = replicates
    if scores is None:
        scores = bootstrap_scores(metric, y, predictions[None], **options)[0]
    factor = math.sqrt(inflation(n))
    of_score = factor * float(np.nanstd(scores, ddof=1))
    if metric.loss_bounds[0] != 0.0:
        return of_score, 0.0
    logs = np.log(np.maximum(metric.loss(scores), np.finfo(np.float64).tiny))
    return of_score, factor * float(np.nanstd(logs, ddof=1))


def _rows_of_rate(
    metric: Metric, y: Vector, predictions: np.ndarray, score: float, n: float, error: float
) -> float:
    """Number of rows at which a proportion has this standard error; at most n_b (see above).

    The Brier score is a mean of losses that vary less than zeros and ones, so it has no limit.
    """
    known = error > 0 and 0 < score < 1
    if known and metric.decomposable and metric.response == "probability":
        return score * (1 - score) / error**2
    most = n
    if metric.response != "number":
        counts = np.maximum(_rows_by_class(y, predictions), ROWS_OF_A_MISSING_CLASS)
        counts = counts * (n / y.shape[0])
        most = counts.size**2 / float(np.sum(1 / counts))
        if not known and metric.positive is not None:
            most = min(most, float(counts[metric.positive]))
    return min(most, score * (1 - score) / error**2) if known else most


def _rows_by_class(y: Vector, predictions: np.ndarray) -> Vector:
    """Number of rows of each class that the models know."""
    return np.bincount(y, minlength=predictions.shape[-1])


def _note(metric: Metric, y: Vector, predictions: np.ndarray) -> str:
    """Known reasons why the coverage may be below the level."""
    if metric.response == "number":
        return ""
    if metric.pointwise_kernel is log_losses and log_losses(y, predictions[None]).max() > ZERO:
        return (
            "some rows had a probability of zero for their true class, and one such row can "
            "dominate the log loss: 90 % intervals of such models covered 0.67 to 0.9"
        )
    fewest = int(_rows_by_class(y, predictions).min())
    of_rows = metric.decomposable and metric.response == "label"  # accuracy counts rows alike
    if of_rows or fewest >= FEW_ROWS_OF_A_CLASS:
        return ""
    if fewest == 0:
        return (
            f"a class has no labelled row, so the interval of {metric.label} is rough; label rows "
            "of every class"
        )
    return (
        f"the rarest class has {fewest} labelled {'row' if fewest == 1 else 'rows'}, so the "
        f"interval of {metric.label} is rough"
    )
