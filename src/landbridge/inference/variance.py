"""Estimators of the variance of a cross-validation error.

Geras and Sutton, *Multiple-source cross-validation*; Grandvalet and Bengio, *Hypothesis testing
for cross-validation*.

K sources (or random blocks) of M losses e_ki, μ̂ = Σ_k m_k / K. The variance of μ̂ is, Eq. (7),

    θ = (1/K²M) Σ_k σ_k² + ((M−1)/K²M) Σ_k ω_k + (1/K²) Σ_{k≠l} γ_kl

with σ_k² = V[e_ki], ω_k = Cov[e_ki, e_kj], γ_kl = Cov[e_ki, e_lj]. It has no unbiased estimator.
With s_k^σ² = mean_i e_ki², s_k^ω = mean_{i≠j} e_ki e_kj, s_kl^γ = m_k m_l, every estimator below is
a quadratic form in the losses; θ1 = μ̂², S_b² is the variance of the K means, v̄/M the mean of the
u_k = v_k/M.

============ ===================== ========================= ======================================
kind         equals                bias                      meant for
============ ===================== ========================= ======================================
theta_2      v̄/M − (K−1)/K·S_b²    −ω                        random blocks, ω = 0; often negative
theta_3      S_b²/K                −γ                        random blocks, γ = 0
theta_4      v̄/(KM)                −(ω + (K−1)γ)/K           random blocks; too small
theta_5      (K+1)/K·S_b² − v̄/M    ω − 2γ                    random blocks; negative half the time
theta_a      v̄/(KM)                −Σω_k/K² − Σγ_kl/K²       these sources; too small, Eq. (11)
theta_b      2v̄/(KM)               (Σσ_k² − (M+1)Σω_k        these sources, Eq. (12): it allows for
                                   − MΣγ_kl) / K²M           the variance of training as well
theta_omega  theta_2               Table 1                   sources with ω_k = 0: needs equal means
theta_gamma  theta_3               Table 1                   sources with γ_kl = 0: does not vanish
                                                             with more rows, since sources differ
============ ===================== ========================= ======================================

Deviation 1: sources may differ in size and rows and sources may carry weights. Then v̄/M becomes
Σ_k π_k u_k, v̄/(KM) becomes Σ_k π_k² u_k, (K−1)/K·S_b² becomes Σ_k π_k (m_k − μ̂)² and S_b²/K becomes
Σ_k π_k² · Σ_k π_k (m_k − μ̂)² / (1 − Σ_k π_k²). Equal sizes give the paper's numbers.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from landbridge._typing import VectorLike
from landbridge._validation import check_choice, without_masks
from landbridge.inference.sources import SourceSummary, SourceWeight, summarise_sources


def theta_omega(summary: SourceSummary) -> float:
    """θ2 = θ^ω = θ1 − mean_k s_k^ω."""
    require_within(summary)
    deviation = summary.mean - summary.estimate
    return summary.within - float(summary.share @ deviation**2)


def theta_gamma(summary: SourceSummary) -> float:
    """θ3 = θ^γ = θ1 − mean_{k≠l} s_kl^γ."""
    return summary.spread / summary.effective_sources


def theta_a(summary: SourceSummary) -> float:
    """θ4 = θ_A, Eq. (11)."""
    require_within(summary)
    return float(summary.share**2 @ summary.mean_variance)


def theta_b(summary: SourceSummary) -> float:
    """θ_B = 2 θ_A, Eq. (12)."""
    return 2.0 * theta_a(summary)


def theta_5(summary: SourceSummary) -> float:
    """θ5 = θ1 + mean_k s_k^ω − 2 mean_{k≠l} s_kl^γ = 2 θ3 − θ2."""
    return 2.0 * theta_gamma(summary) - theta_omega(summary)


VARIANCES: dict[str, Callable[[SourceSummary], float]] = {
    "theta_2": theta_omega,
    "theta_3": theta_gamma,
    "theta_4": theta_a,
    "theta_5": theta_5,
    "theta_a": theta_a,
    "theta_b": theta_b,
    "theta_omega": theta_omega,
    "theta_gamma": theta_gamma,
}


@without_masks
def cv_variance(
    losses: VectorLike,
    groups: VectorLike,
    kind: str = "theta_b",
    sample_weight: VectorLike = None,
    *,
    source_weight: SourceWeight = "equal",
    source: Any = None,
) -> float:
    """Estimate the variance of the mean loss over sources.

    Parameters
    ----------
    losses : array of shape (n_rows,)
        Loss of each row under the model that was trained without the source of the row.
    groups : array of shape (n_rows,)
        The source of each row; for random cross-validation its block.
    kind : {"theta_2", …, "theta_5", "theta_a", "theta_b", "theta_omega", "theta_gamma"}, \
            default="theta_b"
        The table in the module's docstring gives the formula, bias and purpose of each.
    sample_weight : array of shape (n_rows,), optional
        Weight of each row within its source.
    source_weight : {"equal", "proportional"}, default="equal"
        Whether sources have equal weight or weight in proportion to their rows.
    source : name, or pair of names, optional
        With ``kind="theta_omega"``, the one source whose ω is assumed to be 0; with
        ``kind="theta_gamma"``, the one pair whose γ is assumed to be 0 (the one-source estimators
        of Table 1).

    Returns
    -------
    variance : float
        Variance of the estimate Σ_k π_k m_k. ``theta_2``, ``theta_5`` and the one-source kinds can
        be negative.

    Examples
    --------
    >>> from landbridge.inference import cv_variance
    >>> losses, groups = [0, 1, 0, 1, 1, 1], ["a", "a", "b", "b", "c", "c"]
    >>> round(cv_variance(losses, groups, "theta_a"), 4)
    0.0556
    >>> round(cv_variance(losses, groups, "theta_gamma"), 4)
    0.0278
    """
    check_choice(kind, "kind", tuple(VARIANCES))
    summary = summarise_sources(
        losses, groups, sample_weight=sample_weight, source_weight=source_weight
    )
    if source is None:
        return float(VARIANCES[kind](summary))
    if kind == "theta_omega":
        return _one_source_omega(summary, source)
    if kind == "theta_gamma":
        return _one_pair_gamma(summary, source)
    raise ValueError(
        f"`source` requires kind='theta_omega' or kind='theta_gamma'; got kind={kind!r}. Omit it."
    )


def require_within(summary: SourceSummary) -> None:
    """Raise if a source has one row, which leaves the variance within sources unknown."""
    unknown = np.isnan(summary.mean_variance)
    if unknown.any():
        raise ValueError(
            "`groups` must have at least 2 rows per source to estimate the variance within it; "
            f"got one row (of positive weight) in {summary.names[unknown].tolist()[0]!r}. "
            "Drop that source, merge it with another, or ask about a new source."
        )


def _one_source_omega(summary: SourceSummary, source: Any) -> float:
    """Table 1, first line: θ1 − s_k^ω, s_k^ω = m_k² − u_k."""
    require_within(summary)
    k = _position(summary, source)
    return float(summary.estimate**2 - (summary.mean[k] ** 2 - summary.mean_variance[k]))


def _one_pair_gamma(summary: SourceSummary, pair: Any) -> float:
    """Table 1, second line: θ1 − s_kl^γ."""
    if isinstance(pair, str) or np.ndim(pair) != 1 or len(pair) != 2:
        raise ValueError(
            f"`source` must be a pair of sources for kind='theta_gamma'; got {pair!r}. "
            "Pass two names, for example ('a', 'b')."
        )
    first, second = (summary.mean[_position(summary, name)] for name in pair)
    return float(summary.estimate**2 - first * second)


def _position(summary: SourceSummary, source: Any) -> int:
    found = np.flatnonzero(summary.names == source)
    if not found.size:
        raise ValueError(
            f"`source` must be one of the names in groups, {summary.names.tolist()[:10]}; "
            f"got {source!r}."
        )
    return int(found[0])
