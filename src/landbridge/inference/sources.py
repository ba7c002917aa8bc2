"""From pointwise losses to one line a source: everything else in this room starts here.

Source k has M_k losses e_ki with weights w_ki, p_ki = w_ki / Σ_i w_ki, and

    m_k = Σ_i p_ki e_ki                                      its mean loss,
    u_k = Σ_i p_ki² (e_ki − m_k)² / (1 + q − 2c/q)           the variance of that mean if rows are
          with q = Σ_i p_ki², c = Σ_i p_ki³                  independent; v_k / M_k without weights,

where v_k is the sample variance. The estimate is μ̂ = Σ_k π_k m_k with source shares π_k, 1/K or
proportional to the total weight of each source. One pass of O(N) operations gives all of them.

In the notation of Geras and Sutton, *Multiple-source cross-validation*, s_k^ω = m_k² − u_k and
s_k^σ² − s_k^ω = M_k u_k, so that their quadratic estimators are functions of m and u alone.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from landbridge._typing import Vector, VectorLike
from landbridge._validation import check_choice, check_groups

SourceWeight: TypeAlias = Literal["equal", "proportional"]


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """One entry a source: name, rows, share π_k, mean m_k and its variance u_k.

    ``mean_variance`` is NaN for a source of one row, whose spread nobody knows.
    """

    names: Vector
    n_rows: Vector
    share: Vector
    mean: Vector
    mean_variance: Vector

    @property
    def n_sources(self) -> int:
        return self.names.shape[0]

    @property
    def estimate(self) -> float:
        """μ̂ = Σ_k π_k m_k."""
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
        """Mean of u_k: how much of the spread is noise of finitely many rows. NaN if unknown."""
        return float(self.share @ self.mean_variance)


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
        One loss a row.
    groups : array of shape (n_rows,)
        The source of each row.
    sample_weight : array of shape (n_rows,), optional
        Weight of each row within its source.
    source_weight : {"equal", "proportional"}, default="equal"
        Whether every source counts the same or in proportion to its rows (their weights).

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
        total: Vector = n_rows.astype(np.float64)
        mean = np.bincount(codes, losses) / total
        squares = np.bincount(codes, (losses - mean[codes]) ** 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean_variance = np.where(n_rows > 1, squares / (total * (total - 1)), np.nan)
    else:
        weight = _check_weights(sample_weight, losses, codes, names)
        total = np.bincount(codes, weight)
        mean, mean_variance = _weighted_moments(losses, codes, weight / total[codes])
    share = total if source_weight == "proportional" else np.ones(len(names))
    return SourceSummary(names, n_rows, share / share.sum(), mean, mean_variance)


def check_losses(losses: VectorLike, name: str) -> Vector:
    """One finite number a row."""
    losses = np.asarray(losses, dtype=np.float64)
    if losses.ndim != 1 or losses.shape[0] == 0:
        raise ValueError(
            f"`{name}` must hold one loss a row; got an array of shape {losses.shape}. "
            "Pass pointwise losses, not a table or a mean."
        )
    # A finite sum proves that every value is finite, and costs one pass.
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
            # Counting beats sorting by an order of magnitude at ten million rows.
            offset = groups.astype(np.int64) - low
            present = np.bincount(offset) > 0
            names = (np.flatnonzero(present) + low).astype(groups.dtype)
            return names, offset if present.all() else (np.cumsum(present) - 1)[offset]
    # Rows of one source usually stand together: sort the first rows of the runs, not all rows.
    start = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    names, run_codes = np.unique(groups[start], return_inverse=True)
    return names, np.repeat(run_codes, np.diff(start, append=n_rows))


def require_two_sources(names: Vector) -> None:
    """Raise for one source alone."""
    if len(names) < 2:
        raise ValueError(
            f"`groups` must name at least 2 sources; got 1, {names.tolist()[0]!r}. With one source "
            "nothing can be said about others: use scikit-learn's cross-validation."
        )


def _weighted_moments(losses: Vector, codes: Vector, p: Vector) -> tuple[Vector, Vector]:
    mean = np.bincount(codes, p * losses)
    q, c = np.bincount(codes, p**2), np.bincount(codes, p**3)
    squares = np.bincount(codes, (p * (losses - mean[codes])) ** 2)
    correction = 1.0 + q - 2.0 * c / q
    known = correction > 1e-12
    return mean, np.where(known, squares / np.where(known, correction, 1.0), np.nan)


def _check_weights(
    sample_weight: VectorLike, losses: Vector, codes: Vector, names: Vector
) -> Vector:
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != losses.shape or not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError(
            f"`sample_weight` must hold one finite weight of at least 0 for each of the "
            f"{losses.shape[0]} losses; got shape {weight.shape}, smallest "
            f"{weight.min() if weight.size else 'none'}. Pass the weights of the same rows."
        )
    empty = np.bincount(codes, weight) == 0
    if empty.any():
        raise ValueError(
            f"`sample_weight` must have a positive sum in every source; got zeros only in "
            f"{names[empty].tolist()[0]!r}. Drop that source."
        )
    return weight
