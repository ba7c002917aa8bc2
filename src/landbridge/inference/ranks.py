"""Comparison of many algorithms over sources: Friedman's test and critical differences.

Demšar, *Statistical comparisons of classifiers over multiple data sets*.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from landbridge._typing import Vector, VectorLike
from landbridge._validation import without_masks
from landbridge.inference.intervals import check_level


@dataclass(frozen=True, slots=True)
class FriedmanTest:
    """Mean ranks (1 is best), the test of their equality and the critical difference.

    Two algorithms whose mean ranks differ by less than ``critical_difference`` do not differ
    significantly at ``1 − level`` (Nemenyi).

    Parameters
    ----------
    mean_ranks : ndarray of shape (n_algorithms,)
        Ranks averaged over the sources.
    statistic, p_value : float
        Iman and Davenport's F and its p-value.
    critical_difference : float
        Smallest significant difference of mean ranks.
    level : float
        Confidence level of the critical difference.
    n_sources : int
        Number of sources.
    """

    mean_ranks: Vector
    statistic: float
    p_value: float
    critical_difference: float
    level: float
    n_sources: int

    def __repr__(self) -> str:
        return (
            f"FriedmanTest(ranks {np.round(self.mean_ranks, 2).tolist()}, p = {self.p_value:.2g}, "
            f"critical difference {self.critical_difference:.2f}, {self.n_sources} sources)"
        )


@without_masks
def friedman_test(losses: VectorLike, level: float = 0.95) -> FriedmanTest:
    """Test whether A algorithms have equal mean ranks over K sources.

    Tied algorithms share their ranks. From Friedman's χ², corrected for ties, the test computes
    Iman and Davenport's

        F = (K − 1) χ² / (K (A − 1) − χ²)  ~  F_{A−1, (A−1)(K−1)},

    and the critical difference q √(A (A + 1) / 6K), where q is the quantile of the studentised
    range divided by √2.

    Parameters
    ----------
    losses : array of shape (n_sources, n_algorithms)
        Mean loss of each algorithm on each source.
    level : float, default=0.95
        1 − level is the significance level of the critical difference.

    Returns
    -------
    FriedmanTest
        Mean ranks, test and critical difference.

    Examples
    --------
    >>> from landbridge.inference import friedman_test
    >>> friedman_test([[0.1, 0.2, 0.3], [0.2, 0.3, 0.4], [0.1, 0.3, 0.2], [0.2, 0.3, 0.5]])
    FriedmanTest(ranks [1.0, 2.25, 2.75], p = 0.0066, critical difference 1.66, 4 sources)
    """
    losses = np.asarray(losses, dtype=np.float64)
    if losses.ndim != 2 or losses.shape[0] < 2 or losses.shape[1] < 3:
        raise ValueError(
            "`losses` must have at least 2 sources (rows) and 3 algorithms (columns); got shape "
            f"{losses.shape}. Compare two algorithms with paired_test."
        )
    if not np.isfinite(losses).all():
        raise ValueError("`losses` must hold finite numbers; got NaN or inf. Drop such sources.")
    check_level(level)
    n_sources, n_algorithms = losses.shape
    ranks = stats.rankdata(losses, axis=1)
    statistic, p_value = _iman_davenport(losses, n_sources, n_algorithms)
    range_quantile = stats.studentized_range.ppf(level, n_algorithms, np.inf)
    critical = (
        range_quantile
        / math.sqrt(2)
        * math.sqrt(n_algorithms * (n_algorithms + 1) / (6 * n_sources))
    )
    return FriedmanTest(ranks.mean(axis=0), statistic, p_value, float(critical), level, n_sources)


def _iman_davenport(losses: np.ndarray, n_sources: int, n_algorithms: int) -> tuple[float, float]:
    if (losses == losses[:, :1]).all():  # all algorithms are tied on all sources
        return 0.0, 1.0
    chi2 = stats.friedmanchisquare(*losses.T).statistic
    room = n_sources * (n_algorithms - 1) - chi2
    if room <= 1e-9:  # the same order on every source
        return math.inf, 0.0
    statistic = (n_sources - 1) * chi2 / room
    freedom = n_algorithms - 1, (n_algorithms - 1) * (n_sources - 1)
    return float(statistic), float(stats.f.sf(statistic, *freedom))
