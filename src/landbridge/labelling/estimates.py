"""Estimates from labels: relative losses of candidates, and the mean loss of one of them."""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from landbridge._typing import Vector
from landbridge.inference import score_interval
from landbridge.inference.intervals import normal_quantile

# Prior standard deviation of a candidate's loss around the value expected by the consensus,
# relative to the other candidates; for regression, relative to the mean loss. Measured in the
# benchmark.
PRIOR_SPREAD = 0.025
# The slope of losses on expected losses has a prior of ½ with a weight of ``SLOPE_WEIGHT``.
PRIOR_SLOPE, SLOPE_WEIGHT = 0.5, 0.02
PRIOR_ROWS = 10.0
# The corrected mean of positive losses is at least this share of the plain one, and the interval at
# most this wide on a logarithmic scale.
LEAST_SHARE, MOST_LOG = 0.1, 5.0
TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Relative:
    """Losses relative to each other, in units of the mean loss unless they are 0 or 1.

    ``mean`` is used to select the leader. ``lead`` is the loss of each candidate minus that of the
    leader, with the standard deviation ``error``; they decide whether the lead is significant.
    ``weights`` are larger for candidates that may be best and sum to 1.
    """

    mean: Vector
    lead: Vector
    error: Vector
    weights: Vector

    @property
    def leader(self) -> int:
        """The candidate with the smallest loss."""
        return int(np.argmin(self.mean))

    def probability_of_lead(self) -> float:
        """Probability that the leader is better than the runner-up."""
        if self.mean.size == 1:
            return 1.0
        second = np.argsort(self.mean, kind="stable")[1]
        return float(stats.norm.cdf(self.lead[second] / (self.error[second] + TINY)))


@dataclass(frozen=True, slots=True)
class Level:
    """Mean loss of one candidate in the pool.

    ``worth`` is the number of random labels that would give an interval of the same width.
    """

    estimate: float
    low: float
    high: float
    worth: float
    error: float


def relative_losses(
    losses: np.ndarray, weights: Vector, expected: np.ndarray, means: Vector, n_pool: int
) -> Relative:
    """Compare candidates on labelled rows, with the consensus as a prior.

    With the losses r and their expectation ρ, both relative to the average candidate, the estimate
    is b·mean(ρ) + Σ w (r − b ρ)/N, where the common slope b is estimated from the labelled rows. It
    is shrunk towards mean(ρ), the less the smaller its variance is compared with the square of
    `PRIOR_SPREAD`.

    Parameters
    ----------
    losses : ndarray (candidates, labelled rows)
    weights : ndarray (labelled rows,)
        Design weights.
    expected : ndarray (candidates, labelled rows)
        Losses that the consensus expects at these rows.
    means : ndarray (candidates,)
        Means of the expected losses over the pool.
    n_pool : int
        Number of rows of the pool.

    Returns
    -------
    Relative
    """
    n = weights.size
    if n == 0 or not np.isin(losses, (0.0, 1.0)).all():
        # Zero-one losses have a natural unit; others are compared with the mean loss.
        unit = _unit(losses if n else means)
        losses, expected, means = losses / unit, expected / unit, means / unit
    centre = means - means.mean()
    if n < 2:
        unknown = np.full(centre.size, np.inf)
        return _relative(centre, np.full(centre.size, PRIOR_SPREAD), centre, unknown)
    share = weights / n_pool
    relative, at_rows = losses - losses.mean(axis=0), expected - expected.mean(axis=0)
    slope = (share * relative * at_rows).sum() + PRIOR_SLOPE * SLOPE_WEIGHT
    slope = float(np.clip(slope / ((share * at_rows**2).sum() + SLOPE_WEIGHT), 0, 1.5))
    parts = share * (relative - slope * at_rows)
    measured = slope * centre + parts.sum(axis=1)
    variance = n / (n - 1) * ((parts - parts.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    # A variance from few rows is unstable, so it is averaged with that of all candidates.
    variance = (n * variance + PRIOR_ROWS * variance.mean()) / (n + PRIOR_ROWS) + TINY
    trust = PRIOR_SPREAD**2 / (PRIOR_SPREAD**2 + variance)
    posterior = trust * measured + (1 - trust) * centre
    return _relative(posterior, np.sqrt(trust * variance), measured, np.sqrt(variance))


def _unit(losses: np.ndarray) -> float:
    """Mean loss; 1 if all losses are 0."""
    return float(losses.mean()) or 1.0


def _relative(mean: Vector, sd: Vector, measured: Vector, error: Vector) -> Relative:
    """Compare with the leader; ``measured`` and ``error`` do not use the prior."""
    leader = int(np.argmin(mean))
    noise = np.hypot(sd, sd[leader]) + TINY
    weights = np.exp(-0.5 * ((mean - mean[leader]) / noise) ** 2)
    error = np.hypot(error, error[leader])
    return Relative(mean, measured - measured[leader], error, weights / weights.sum())


def mean_loss(
    losses: Vector,
    weights: Vector,
    risk_labelled: Vector,
    risk_mean: float,
    *,
    level: float,
    zero_one: bool,
    n_candidates: int,
) -> Level:
    """Design-based estimate and interval of the mean loss of one candidate.

    The regression estimator: the weighted mean, corrected by a slope times the distance between the
    weighted mean of the expected losses and their mean over the pool. Losses of 0 and 1 have the
    score (Wilson) interval with the effective number of labels. The interval of other losses allows
    for the weights of the consensus, which were fitted to the same rows, and has the degrees of
    freedom of Satterthwaite (1946), because heavy tails make the variance itself uncertain.

    Parameters
    ----------
    losses, weights, risk_labelled : ndarray (labelled rows,)
        Losses, design weights and the losses that the consensus expects.
    risk_mean : float
        Mean of the expected losses over the pool.
    level : float
    zero_one : bool
        Whether the losses are 0 or 1.
    n_candidates : int
        Number of candidates in the consensus.

    Returns
    -------
    Level
    """
    if not zero_one:
        if not losses.any():  # no loss shows how large others may be
            return Level(0.0, 0.0, math.inf, losses.size, math.inf)
        unit = _unit(losses)
        losses, risk_labelled, risk_mean = losses / unit, risk_labelled / unit, risk_mean / unit
    n: float = losses.size
    share = weights / weights.sum()
    mean, risk = float(share @ losses), float(share @ risk_labelled)
    spread = float(share @ (risk_labelled - risk) ** 2)
    slope = 0.0
    if spread > TINY and n > 3:
        slope = float(share @ ((losses - mean) * (risk_labelled - risk))) / spread
        slope *= n / (n + PRIOR_ROWS)
    estimate = mean + slope * (risk_mean - risk)
    residual = losses - mean - slope * (risk_labelled - risk)
    parts = share**2 * residual**2
    total = max(float(parts.sum()), TINY**2)
    freedom = max(n - (2 if zero_one else n_candidates + 1), 1)
    variance = total * n / freedom
    if zero_one:
        # If a few rows have most of the weight, they alone tell how precise the estimate is.
        effective = 1.0 / float(share @ share)
        n = effective if effective < n / 2 else n
        estimate = min(max(estimate, 0.0), 1.0)
        # Add half a row to both outcomes, so that a perfect score has a positive variance.
        smooth = (n * estimate + 0.5) / (n + 1)
        binomial = smooth * (1 - smooth)
        # Residuals get them too, with the squared shares of rows that the consensus expects to be
        # wrong or right. Otherwise labels without an error seem worth many more random ones.
        wrong, right = (
            float(np.average(share**2, weights=one + TINY))
            for one in (risk_labelled, 1 - risk_labelled)
        )
        variance += (wrong * (1 - smooth) ** 2 + right * smooth**2) / 2 * losses.size / freedom
        worth = float(np.clip(binomial / variance, n / 4, 4 * n))
        quantile, of_random = stats.t.ppf((1 + level) / 2, [max(n - 2, 1), max(losses.size - 2, 1)])
        low, high = map(
            float, score_interval(estimate, worth * (normal_quantile(level) / quantile) ** 2, level)
        )
        error = math.sqrt(binomial / worth)
        return Level(estimate, low, high, worth * float(of_random / quantile) ** 2, error)
    # Squared errors have heavy tails, so the interval is symmetric for the logarithm.
    estimate = max(estimate, LEAST_SHARE * mean, TINY)
    freedom = 2 / max(float(((parts / total) ** 2).sum()) - 1 / n, 2 / freedom)
    half = stats.t.ppf((1 + level) / 2, freedom) * math.sqrt(variance) / estimate
    factor = math.exp(min(half, MOST_LOG))
    plain = float(share @ (losses - mean) ** 2)
    worth = float(np.clip(plain / max(variance, TINY * max(plain, TINY)), n / 4, 4 * n))
    ends = (unit * estimate, unit * estimate / factor, unit * estimate * factor)
    return Level(*ends, worth, unit * math.sqrt(variance))
