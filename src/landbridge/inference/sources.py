"""Summarise pointwise losses by source, the input of the other modules of this package.

Source k has M_k losses e_ki with weights w_ki, p_ki = w_ki / Σ_i w_ki, and

    m_k = Σ_i p_ki e_ki                                      its mean loss,
    u_k = Σ_i p_ki² (e_ki − m_k)² / (1 + q − 2c/q)           the variance of that mean if rows are
          with q = Σ_i p_ki², c = Σ_i p_ki³                  independent; v_k / M_k without weights,

where v_k is the sample variance. The estimate is μ̂ = Σ_k π_k m_k with source shares π_k, 1/K or
proportional to the total weight of each source. All of them are computed in one pass of O(N)
operations.

In the notation of Geras and Sutton, *Multiple-source cross-validation*, s_k^ω = m_k² − u_k and
s_k^σ² − s_k^ω = M_k u_k, so that their quadratic estimators are functions of m and u alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from landbridge._typing import Vector, VectorLike
from landbridge._validation import check_choice, check_groups, without_masks

SourceWeight: TypeAlias = Literal["equal", "proportional"]


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """Rows, share, mean loss and its variance, per source.

    Parameters
    ----------
    names : ndarray of shape (n_sources,)
        Names of the sources.
    n_rows : ndarray of shape (n_sources,)
        Number of rows.
    share : ndarray of shape (n_sources,)
        Weights π_k of the sources in the mean.
    mean : ndarray of shape (n_sources,)
        Mean losses m_k.
    mean_variance : ndarray of shape (n_sources,)
        Variances u_k of the means; NaN for a source of one row.
    """

    names: Vector
    n_rows: Vector
    share: Vector
    mean: Vector
    mean_variance: Vector

    @property
    def n_sources(self) -> int:
        """Number of sources."""
        return self.names.shape[0]

    @property
    def estimate(self) -> float:
        """Weighted mean μ̂ = Σ_k π_k m_k."""
        return float(self.share @ self.mean)

    @property
    def effective_sources(self) -> float:
        """1 / Σ_k π_k²: K with equal shares."""
        return float(1.0 / (self.share @ self.share))

    @property
    def spread(self) -> float:
        """Variance of the source means, S_b² = Σ_k (m_k − μ̂)² / (K − 1) with equal shares."""
        deviation = self.mean - self.estimate
        return float(self.share @ deviation**2 / (1.0 - self.share @ self.share))

    @property
    def within(self) -> float:
        """Mean of u_k, the part of the spread due to the finite number of rows; NaN if unknown."""
        return float(self.share @ self.mean_variance)


@without_masks
def summarise_sources(
    losses: VectorLike,
    groups: VectorLike,
    *,
    sample_weight: VectorLike = None,
    source_weight: SourceWeight = "equal",
) -> SourceSummary:
    """Mean loss of each source and the variance of that mean.

    Parameters
    ----------
    losses : array of shape (n_rows,)
        One loss per row.
    groups : array of shape (n_rows,)
        The source of each row.
    sample_weight : array of shape (n_rows,), optional
        Weight of each row within its source.
    source_weight : {"equal", "proportional"}, default="equal"
        Whether sources have equal weight or weight in proportion to their rows (or row weights).

    Returns
    -------
    SourceSummary
        One entry per source.

    Examples
    --------
    >>> from landbridge.inference import summarise_sources
    >>> summary = summarise_sources([0, 1, 0, 0, 1, 1], ["a", "a", "b", "b", "c", "c"])
    >>> summary.mean
    array([0.5, 0. , 1. ])
    >>> summary.estimate
    0.5
    """
    check_choice(source_weight, "source_weight", ("equal", "proportional"))
    losses = check_losses(losses, "losses")
    names, codes = encode_groups(groups, losses.shape[0])
    require_two_sources(names)
    n_rows = np.bincount(codes)
    if sample_weight is None:
        total = n_rows.astype(np.float64)
        mean, mean_variance = _moments(losses, codes, total)
    else:
        weight = check_weights(sample_weight, losses.shape[0])
        total = _check_totals(np.bincount(codes, weight), names)
        mean, mean_variance = _weighted_moments(losses, codes, weight, total)
    share = total if source_weight == "proportional" else np.ones(len(names))
    return SourceSummary(names, n_rows, share / share.sum(), mean, mean_variance)


def summarise_scores(
    scores: Vector,
    variances: Vector,
    *,
    names: Vector,
    n_rows: Vector,
    totals: Vector,
    source_weight: SourceWeight = "equal",
) -> SourceSummary:
    """Summarise the scores of sources by any metric; NaN scores are omitted.

    ``variances`` are those of the errors of the scores, ``totals`` the weights of the sources.
    """
    check_choice(source_weight, "source_weight", ("equal", "proportional"))
    known = ~np.isnan(scores)
    if known.sum() < 2:
        raise ValueError(
            f"`metric` must be defined on at least 2 sources; got {known.sum()} of {known.size}. "
            "It may need rows of every class in each source: choose another metric."
        )
    share = totals[known] if source_weight == "proportional" else np.ones(known.sum())
    return SourceSummary(
        names[known], n_rows[known], share / share.sum(), scores[known], variances[known]
    )


def check_losses(losses: VectorLike, name: str) -> Vector:
    """Raise unless there is one finite number per row."""
    losses = np.asarray(losses, dtype=np.float64)
    if losses.ndim != 1 or losses.shape[0] == 0:
        raise ValueError(
            f"`{name}` must hold one loss per row; got an array of shape {losses.shape}. "
            "Pass pointwise losses, not a table or a mean."
        )
    # A finite sum proves in one pass that every value is finite.
    if not np.isfinite(losses.sum()) and not np.isfinite(losses).all():
        raise ValueError(
            f"`{name}` must hold finite numbers; got {losses[~np.isfinite(losses)][0]} in row "
            f"{int(np.argmin(np.isfinite(losses)))}. Drop the rows of failed fits first."
        )
    return losses


def encode_groups(groups: VectorLike, n_rows: int) -> tuple[Vector, Vector]:
    """Sorted source names and, for each row, the position of its source among them."""
    groups = check_groups(groups, n_rows)
    if groups.dtype.kind in "iu" and np.can_cast(groups.dtype, np.int64):
        low, high = int(groups.min()), int(groups.max())
        if high - low < 4 * n_rows:
            # For ten million rows, counting is ten times as fast as sorting.
            offset = np.subtract(groups, low, dtype=np.int64) if low else groups.astype(np.int64)
            present = np.bincount(offset) > 0
            names = (np.flatnonzero(present) + low).astype(groups.dtype)
            return names, offset if present.all() else (np.cumsum(present) - 1)[offset]
    # Rows of one source are usually contiguous, so sort only the first row of each run.
    start = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    names, run_codes = np.unique(groups[start], return_inverse=True)
    return names, np.repeat(run_codes, np.diff(start, append=n_rows))


def require_two_sources(names: Vector) -> None:
    """Raise for one source alone."""
    if len(names) < 2:
        found = ", ".join([str(len(names)), *(repr(name) for name in names.tolist())])
        raise ValueError(
            f"`groups` must name at least 2 sources; got {found}. One source does not allow "
            "conclusions about others. Use scikit-learn's cross-validation."
        )


def _sum_by_source(codes: Vector, n_sources: int, values: Callable[[slice], Vector]) -> Vector:
    """Σ of ``values(rows)`` by source, in blocks that fit into the CPU cache."""
    sums, block = np.zeros(n_sources), max(1 << 15, 4 * n_sources)
    for start in range(0, codes.shape[0], block):
        rows = slice(start, start + block)
        sums += np.bincount(codes[rows], values(rows), minlength=n_sources)
    return sums


def _moments(losses: Vector, codes: Vector, n_rows: Vector) -> tuple[Vector, Vector]:
    mean = np.bincount(codes, losses) / n_rows
    squares = _sum_by_source(codes, len(n_rows), lambda i: (losses[i] - mean[codes[i]]) ** 2)
    several = n_rows > 1
    pairs = np.where(several, n_rows * (n_rows - 1), 1.0)
    return mean, np.where(several, squares / pairs, np.nan)


def _weighted_moments(
    losses: Vector, codes: Vector, weight: Vector, total: Vector
) -> tuple[Vector, Vector]:
    def sums(values: Callable[[slice], Vector]) -> Vector:
        return _sum_by_source(codes, len(total), values)

    mean = sums(lambda i: weight[i] * losses[i]) / total
    q = sums(lambda i: weight[i] ** 2) / total**2
    c = sums(lambda i: weight[i] * weight[i] * weight[i]) / total**3
    squares = sums(lambda i: (weight[i] * (losses[i] - mean[codes[i]])) ** 2) / total**2
    correction = 1.0 + q - 2.0 * c / q
    known = correction > 1e-12
    return mean, np.where(known, squares / np.where(known, correction, 1.0), np.nan)


def check_weights(sample_weight: VectorLike, n_rows: int) -> Vector:
    """Raise unless there is one finite weight of at least 0 per row."""
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,) or not weight.min() >= 0 or not np.isfinite(weight.sum()):
        raise ValueError(
            f"`sample_weight` must hold one finite weight of at least 0 for each of the {n_rows} "
            f"losses; got shape {weight.shape}, smallest {weight.min(initial=np.inf)}. "
            "Pass the weights of the same rows."
        )
    return weight


def _check_totals(total: Vector, names: Vector) -> Vector:
    if not total.all():
        raise ValueError(
            f"`sample_weight` must have a positive sum in every source; got zeros only in "
            f"{names[total == 0].tolist()[0]!r}. Drop that source."
        )
    return total
