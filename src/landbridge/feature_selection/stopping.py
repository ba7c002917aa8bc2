"""Stopping rules of a path (held-out domains, Bonferroni, Theorem 1), and Corollary 3.

Foster, Kakade, Salakhutdinov, "Domain Adaptation: A Small Sample Statistical Approach", Sections
3.1, 3.2 and 5. Everything is computed from the moments; no rule reads the rows again.
"""

from typing import Any

import numpy as np
from scipy import stats
from scipy.linalg import cholesky, solve_triangular

from landbridge._typing import Vector
from landbridge._warn import warn_caller
from landbridge.exceptions import ConditionWarning
from landbridge.feature_selection.statistics import Statistics
from landbridge.feature_selection.t_greedy import Walk, greedy_path, problem_of

RULES = ("domain", "bonferroni", "bound", None)
# Relative ridge on the diagonal, so that duplicated features do not make the basis singular. It is
# at least the rounding error of the smallest eigenvalue.
JITTER = 1e-10


def held_out_losses(statistics: Statistics, n_steps: int, **options: Any) -> np.ndarray:
    """Squared loss on each domain of a path fitted without it, after 0 … ``n_steps`` steps.

    Centring, selection and weighting all exclude that domain. With two domains, only one is left
    for training and T is undefined, so such paths select by the loss.
    """
    n = statistics.means.shape[0]
    curves = np.empty((n_steps + 1, n))
    for k in range(n):
        train = np.arange(n) != k
        if n == 2:
            options["criterion"] = "loss"
        losses = greedy_path(statistics, train=train, **options).losses[: n_steps + 1, k]
        curves[: losses.size, k] = losses
        curves[losses.size :, k] = losses[-1]  # this path ended earlier
    return curves


def bonferroni_threshold(n_features: int, n_domains: int, alpha: float) -> float:
    """Bonferroni threshold for |T| over all features at level ``alpha`` (Section 5)."""
    return float(stats.t.isf(alpha / (2 * n_features), n_domains - 1))


def theorem_1_threshold(n_features: int, alpha: float) -> float:
    """Value of |T| above which the interval of Theorem 1 for E[X_i Y] excludes zero."""
    return float(np.sqrt(4 * np.log(2 * n_features / alpha)))


def theorem_1_holds(log_n_features: float, n_domains: int, alpha: float) -> bool:
    """Whether the condition |F| ≤ (δ/2) exp(n/8) of Theorem 1 holds."""
    return bool(log_n_features <= np.log(alpha / 2) + n_domains / 8)


def corollary_3(
    statistics: Statistics, walk: Walk, alpha: float, *, center: bool = True
) -> tuple[Vector, Vector]:
    """Bound on L(μ̂_S) − L(μ_S) for the features S chosen up to each step, and its condition.

    With X̃ an orthonormal basis of S under the average second moments and [σ̂_S]_i the standard
    deviation of E[X̃_i Y | d_k] over the domains, it is

        (Σ_i [σ̂_S]_i²) · (8 q log p + 4 log(2/δ)) / n      where q p^q ≤ (δ/2) exp(n/8).

    Deviation 1: the corollary is printed with log(2/δ); its proof, Theorem 1 for q p^q basis
    elements, gives 4 log(2/δ), which is used here.
    """
    problem = problem_of(statistics, center=center)
    n, p = problem.effects.shape
    S = walk.selected
    among = problem.offsets[:, S]
    within = np.stack([statistics.column(i).take(S, axis=1) for i in S])
    gram = within.mean(axis=1, dtype=np.float64) + among.T @ among / n
    gram[np.diag_indices_from(gram)] *= 1 + max(JITTER, S.size * statistics.rounding)
    effects = problem.effects[:, S]
    # L L' = E[X_S X_S']; row i of L⁻¹ gives the i-th basis element in terms of the first i
    # features.
    basis = solve_triangular(
        cholesky(gram, lower=True), (effects - effects.mean(axis=0)).T, lower=True
    )
    variance = np.cumsum((basis**2).sum(axis=1) / (n - 1))
    _, first_pick = np.unique(walk.feature, return_index=True)
    q = np.cumsum(np.isin(np.arange(walk.feature.size), first_pick))
    bound = variance[q - 1] * (8 * q * np.log(p) + 4 * np.log(2 / alpha)) / n
    holds = [theorem_1_holds(np.log(size) + size * np.log(p), n, alpha) for size in q]
    return bound, np.array(holds, dtype=bool)


def number_of_steps(
    rule: str | None, T: Vector, held_out: np.ndarray, n_features: int, alpha: float
) -> int:
    """Number of steps to keep: up to the smallest held-out loss or before the first small |T|."""
    n_domains = held_out.shape[1]
    if rule is None:
        return T.size
    if rule == "domain":
        return int(held_out.mean(axis=1).argmin())
    threshold = bonferroni_threshold(n_features, n_domains, alpha)
    if rule == "bound":
        threshold = theorem_1_threshold(n_features, alpha)
        if not theorem_1_holds(np.log(n_features), n_domains, alpha):
            _warn_condition(n_features, n_domains, alpha)
    small = np.abs(T) <= threshold
    return int(small.argmax()) if small.any() else T.size


def _warn_condition(n_features: int, n_domains: int, alpha: float) -> None:
    needed = int(np.ceil(8 * np.log(2 * n_features / alpha)))
    warn_caller(
        f"stop='bound' uses Theorem 1, which holds for at most (alpha / 2)·exp(n / 8) features "
        f"and n domains; got {n_features} features and {n_domains} domains, but {needed} domains "
        "are needed. The rule is only a heuristic here; stop='domain' is safer.",
        ConditionWarning,
    )
