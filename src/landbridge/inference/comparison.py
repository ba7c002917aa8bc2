"""Paired tests of whether one algorithm is better than another on new sources.

Both algorithms are evaluated on the same rows, so the tests use the differences d_ki = e_ki^A −
e_ki^B: their means d_k in the K sources, the mean d̄ and standard deviation S_d of those.

============= ====================================== ==============================================
method        statistic                              level
============= ====================================== ==============================================
t             d̄ / (S_d/√K), t_{K−1}                  right for sources drawn independently
nadeau_bengio d̄ / (S_d √(1/K + test/train)), t_{K−1} conservative: allows for shared training rows
wilcoxon      signed ranks of the d_k                right for symmetric differences; with fewer
                                                     than 6 sources it never reaches 0.05
theta_…       d̄ / √θ, normal                         about *these* sources; as tests about new ones
                                                     θ_A and θ_B reject far too often
============= ====================================== ==============================================

Nadeau and Bengio, *Inference for the generalization error*; Wilcoxon, *Individual comparisons by
ranking methods*; for θ see `variance`.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import stats

from landbridge._typing import Vector, VectorLike
from landbridge._validation import check_choice, without_masks
from landbridge.inference.intervals import (
    check_level,
    decimals,
    t_quantile,
    warn_few_sources,
    with_decimals,
)
from landbridge.inference.sources import (
    SourceSummary,
    SourceWeight,
    check_losses,
    summarise_sources,
)
from landbridge.inference.variance import VARIANCES

METHODS = ("t", "nadeau_bengio", "wilcoxon", *VARIANCES)


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Difference of mean losses (first minus second) with its test and interval.

    Negative differences favour the first algorithm.

    Parameters
    ----------
    first, second : str
        Names of the algorithms.
    method : str
        Name of the test.
    difference, standard_error, statistic : float
        Mean difference, its standard error and the test statistic.
    p_value, p_holm : float
        Two-sided p-value, and the same after Holm's correction for several pairs.
    low, high : float
        Bounds of the difference.
    level : float
        Nominal coverage of the bounds.
    n_sources : int
        Number of sources.
    """

    first: str
    second: str
    method: str
    difference: float
    standard_error: float
    statistic: float
    p_value: float
    p_holm: float
    low: float
    high: float
    level: float
    n_sources: int

    def __str__(self) -> str:
        shown = decimals(self.standard_error)
        difference, low, high = with_decimals(shown, self.difference, self.low, self.high)
        better, worse = (self.first, self.second)[:: 1 if self.difference <= 0 else -1]
        p_value = f"{self.p_holm:.2g}"
        if self.p_holm > 1 - self.level:
            verdict = f"no difference is shown between {self.first} and {self.second}"
        else:
            verdict = f"{better} has a lower loss than {worse} on new sources"
            if self.method.startswith("theta"):
                verdict = f"{better} has a lower loss than {worse} on these sources"
        return (
            f"{self.first} − {self.second}: {difference}, {100 * self.level:g} % between {low} and "
            f"{high}, p = {p_value} ({self.method}, {self.n_sources} sources): {verdict}"
        )


@without_masks
def paired_test(
    losses_a: VectorLike,
    losses_b: VectorLike,
    groups: VectorLike,
    method: str = "t",
    *,
    level: float = 0.95,
    sample_weight: VectorLike = None,
    source_weight: SourceWeight = "equal",
    names: tuple[str, str] = ("a", "b"),
) -> PairedTest:
    """Test whether two algorithms have the same mean loss.

    Parameters
    ----------
    losses_a, losses_b : arrays of shape (n_rows,)
        Losses of the two algorithms on the same rows.
    groups : array of shape (n_rows,)
        The source of each row.
    method : {"t", "nadeau_bengio", "wilcoxon"} or a kind of `cv_variance`, default="t"
        See the table in the module's docstring.
    level : float, default=0.95
        Coverage of the interval of the difference (for "wilcoxon" that of "t").
    sample_weight, source_weight : optional, default=None, "equal"
        As in `cv_variance`.
    names : pair of str, default=("a", "b")
        Names of the two algorithms.

    Returns
    -------
    PairedTest
        Difference, test and interval.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.inference import paired_test
    >>> rng = np.random.default_rng(0)
    >>> groups = np.repeat(np.arange(8), 200)
    >>> a, b = rng.random(1600) < 0.2, rng.random(1600) < 0.3
    >>> print(paired_test(a, b, groups))  # doctest: +NORMALIZE_WHITESPACE
    a − b: -0.104, 95 % between -0.146 and -0.062, p = 0.00064 (t, 8 sources):
    a has a lower loss than b on new sources
    """
    losses_a, losses_b = check_losses(losses_a, "losses_a"), check_losses(losses_b, "losses_b")
    if losses_a.shape != losses_b.shape:
        raise ValueError(
            f"`losses_b` must hold losses of the same rows as losses_a, {losses_a.shape[0]}; got "
            f"{losses_b.shape[0]}. Evaluate both algorithms on the same rows."
        )
    summary = summarise_sources(
        losses_a - losses_b, groups, sample_weight=sample_weight, source_weight=source_weight
    )
    return paired_test_of(summary, method, level, names)


@without_masks
def holm(p_values: VectorLike) -> Vector:
    """Holm's step-down correction, which controls the family-wise error rate.

    Sorted p_(1) ≤ … ≤ p_(m) become max_{j ≤ i} min(1, (m − j + 1) p_(j)).

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        Uncorrected p-values.

    Returns
    -------
    ndarray of shape (n_tests,)
        Corrected p-values.

    Examples
    --------
    >>> from landbridge.inference import holm
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p_values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p_values, kind="stable")
    factor = np.arange(p_values.size, 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(factor * p_values[order]), 1.0)
    return adjusted


def paired_test_of(
    summary: SourceSummary, method: str, level: float, names: tuple[str, str]
) -> PairedTest:
    """`paired_test` from a summary of the differences of losses."""
    check_choice(method, "method", METHODS)
    check_level(level)
    if not method.startswith("theta"):
        _require_sources(summary.n_sources, method)
    variance, freedom = _variance_and_freedom(summary, method)
    error = math.sqrt(variance) if variance > 0 else 0.0
    if method == "wilcoxon":
        statistic, p_value = _signed_ranks(summary.mean)
    else:
        statistic, p_value = _ratio_test(summary.estimate, variance, freedom)
    quantile = t_quantile(level, freedom)
    return PairedTest(
        first=names[0],
        second=names[1],
        method=method,
        difference=summary.estimate,
        standard_error=error,
        statistic=statistic,
        p_value=p_value,
        p_holm=p_value,
        low=summary.estimate - quantile * error,
        high=summary.estimate + quantile * error,
        level=level,
        n_sources=summary.n_sources,
    )


def _variance_and_freedom(summary: SourceSummary, method: str) -> tuple[float, float]:
    if method in VARIANCES:
        return VARIANCES[method](summary), math.inf
    factor = 1.0 / summary.effective_sources
    if method == "nadeau_bengio":
        total = summary.n_rows.sum()
        factor += float(np.mean(summary.n_rows / (total - summary.n_rows)))
    return summary.spread * factor, summary.effective_sources - 1


def _ratio_test(difference: float, variance: float, freedom: float) -> tuple[float, float]:
    """Two-sided test of difference / √variance; a zero variance gives ±inf or NaN."""
    if variance <= 0:
        rejects = variance == 0 and difference != 0
        return (math.copysign(math.inf, difference), 0.0) if rejects else (math.nan, 1.0)
    statistic = difference / math.sqrt(variance)
    tail = stats.t.sf(abs(statistic), freedom)
    return statistic, float(2 * tail)


def _signed_ranks(differences: Vector) -> tuple[float, float]:
    if not differences.any():
        return 0.0, 1.0
    answer = stats.wilcoxon(differences)
    return float(answer.statistic), float(answer.pvalue)


def _require_sources(n_sources: int, method: str) -> None:
    if n_sources < 3:
        raise ValueError(
            f"`groups` must name at least 3 sources for method={method!r}; got {n_sources}. "
            "Collect more sources, or ask about these alone with method='theta_b'."
        )
    warn_few_sources(n_sources, "test")
