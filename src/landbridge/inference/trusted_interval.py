"""Interval for the target from labelled rows that need not be a random sample of it."""

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy import stats

from landbridge._typing import Vector, VectorLike
from landbridge.inference.intervals import check_level, score_interval
from landbridge.inference.label_check import LabelCheck

# Models that produce out-of-fold losses share training rows. Over 61 development tasks, the error
# of the mean loss had 1.2 times the standard deviation for independent losses.
CV_INFLATION = 1.4


class Withheld(Enum):
    """Reason why no interval is given."""

    LABELS_NOT_REPRESENTATIVE = "the labelled rows are unlike most of the target"
    TOO_FEW_LABELS = "fewer than 2 labels"


@dataclass(frozen=True, slots=True)
class TrustedInterval:
    """Estimate and interval; the bounds are NaN if they are ``withheld``.

    Parameters
    ----------
    estimate, low, high, level : float
        Point estimate and bounds.
    effective_sample_size : float
        Number of random labels that would give the same precision.
    withheld : Withheld or None
        Reason why there are no bounds.
    """

    estimate: float
    low: float
    high: float
    level: float
    effective_sample_size: float
    withheld: Withheld | None = None


def reweighted_interval(
    losses: VectorLike,
    check: LabelCheck | None,
    *,
    level: float = 0.9,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    inflation: float = CV_INFLATION,
) -> TrustedInterval:
    """Interval for the mean loss in the target, reweighted if labels are not a random sample.

    With representative labels this is the plain interval: score (Wilson) for losses of 0 and 1,
    Student's t for others. Otherwise losses are weighted to resemble the unlabelled rows, and the
    interval is widened to include both the weighted and the plain interval, because weights only
    correct differences that the columns explain. If the rows do not overlap, the bounds are NaN.

    Parameters
    ----------
    losses : array of shape (n_labelled,)
        Out-of-fold losses of the labelled rows.
    check : LabelCheck or None
        Result of `check_labels` for the same rows; None means representative labels.
    level : float, default=0.9
        Nominal coverage.
    bounds : pair of floats, default=(-inf, inf)
        Smallest and largest possible loss.
    inflation : float, default=1.4
        Variance of the mean of these losses divided by that of independent losses; 1 for a model
        trained without target labels.

    Returns
    -------
    TrustedInterval
        Estimate and interval.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.inference import reweighted_interval
    >>> found = reweighted_interval(np.repeat([0, 1], [40, 10]), None, inflation=1.0)
    >>> round(found.low, 2), round(found.high, 2)
    (0.12, 0.31)
    """
    check_level(level)
    losses = np.asarray(losses, dtype=np.float64)
    n = len(losses)
    weights = np.ones(n) if check is None else check.weights
    if weights.shape != losses.shape:
        raise ValueError(
            f"`losses` must hold one loss for each of the {len(weights)} labelled rows of the "
            f"check; got shape {losses.shape}. Pass the rows in the same order to both."
        )
    estimate = float(np.average(losses, weights=weights))
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    withheld = None
    if n < 2:
        withheld = Withheld.TOO_FEW_LABELS
    elif check is not None and check.withheld:
        withheld = Withheld.LABELS_NOT_REPRESENTATIVE
    if withheld is not None:
        return TrustedInterval(estimate, math.nan, math.nan, level, effective, withheld)
    low, high = mean_interval(losses, weights, level, inflation)
    if check is not None and not check.representative:
        plain = mean_interval(losses, np.ones(n), level, inflation)
        low, high = min(low, plain[0]), max(high, plain[1])
    return TrustedInterval(
        estimate, max(low, bounds[0]), min(high, bounds[1]), level, effective, None
    )


def mean_interval(
    losses: Vector, weights: Vector, level: float, inflation: float = 1.0
) -> tuple[float, float]:
    """Interval for a weighted mean, with the effective number of rows."""
    shares = weights / weights.sum()
    effective = 1 / (shares**2).sum()
    mean = float(shares @ losses)
    if np.isin(losses, (0, 1)).all():
        low, high = score_interval(mean, effective / inflation, level)
        return float(low), float(high)
    freedom = max(effective - 1, 1.0)
    variance = (shares**2 @ (losses - mean) ** 2) * effective / freedom * inflation
    half = stats.t.ppf((1 + level) / 2, freedom) * math.sqrt(variance)
    return mean - half, mean + half
