"""Kullback–Leibler importance estimation procedure (Sugiyama et al., 2008)."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.utils import check_random_state

from landbridge._kernel import choose_rows, deal_folds, row_blocks
from landbridge._low_rank import LowRankFeatures
from landbridge._tasks import one_thread
from landbridge._typing import Matrix, RandomState, Vector
from landbridge._warn import warn_caller
from landbridge.exceptions import NotConvergedWarning
from landbridge.weighting._base import Weighting
from landbridge.weighting._gaussian_basis import check_widths, gaussian_basis
from landbridge.weighting._interior_point import step_to_zero

# The width is chosen on at most this many rows of each domain, which bounds its cost.
SELECTION_ROWS, N_FOLDS = 5000, 5


def mixture_weights(
    P: np.ndarray, *, tol: float = 1e-9, max_iter: int = 200
) -> tuple[Vector, float, int]:
    """Maximise mean_t log(Pα)_t over the simplex; return α, its regret bound and the steps.

    With Σα added to the loss, the constraint Σα = 1 holds automatically at the optimum. The
    remaining problem, min −mean log(Pα) + Σα subject to α ≥ 0, is solved by a primal–dual
    interior-point method. For any α in the simplex and g = mean_t P_t/(Pα)_t, the likelihood is
    at most log(max g) below its maximum, which bounds the regret.
    """
    # Scaling a row adds a constant to the likelihood; without it, rows near 1e-300 overflow.
    P = P / P.max(axis=1, keepdims=True)
    m = P.shape[1]
    alpha, dual = np.full(m, 1.0 / m), np.full(m, 1.0)
    for step in range(max_iter + 1):
        best = alpha / alpha.sum()
        slope = (1.0 / (P @ best)) @ P / len(P)
        regret = float(np.log(max(slope.max(), 1.0)))
        if regret <= tol or step == max_iter:
            break
        alpha, dual = _interior_step(P, alpha, dual)
    return best, regret, step


def _interior_step(P: np.ndarray, alpha: Vector, dual: Vector) -> tuple[Vector, Vector]:
    """One damped Newton step on the perturbed optimality conditions α·z = μ."""
    n, m = P.shape
    mixture = P @ alpha
    slope = (1.0 / mixture) @ P / n
    mu = 0.1 * float(alpha @ dual) / m
    matrix = _curvature(P, mixture)
    matrix.flat[:: m + 1] += dual / alpha
    d_alpha = cho_solve(cho_factor(matrix), slope - 1 + mu / alpha)
    d_dual = mu / alpha - dual - dual / alpha * d_alpha
    length = min(1.0, 0.95 * step_to_zero(alpha, d_alpha), 0.95 * step_to_zero(dual, d_dual))
    change, loss = P @ d_alpha, -np.log(mixture).mean() + alpha.sum() - mu * np.log(alpha).sum()
    slope_along = float((1 - slope - mu / alpha) @ d_alpha)
    for _ in range(30):  # halve the step until the barrier decreases and P·α stays positive
        new = alpha + length * d_alpha
        value = -np.log(mixture + length * change).mean() + new.sum() - mu * np.log(new).sum()
        if value <= loss + 1e-4 * length * slope_along + 1e-13 * abs(loss):
            break
        length *= 0.5
    return alpha + length * d_alpha, dual + length * d_dual


def _curvature(P: np.ndarray, mixture: Vector) -> np.ndarray:
    """mean_t P_t P_t' / (Pα)_t², block by block."""
    total = np.zeros((P.shape[1],) * 2)
    for rows in row_blocks(P, P.shape[1]):
        scaled = P[rows] / mixture[rows, None]
        total += scaled.T @ scaled
    return total / len(P)


class KLIEP(Weighting):
    """Density ratio as a mixture of Gaussians, fitted by maximum likelihood on the target.

    With centres c_l from the target and φ_l(x) = exp(−γ‖x − c_l‖²), w(x) = Σ_l α_l φ_l(x) solves

        maximise  mean_t log w(x_t)   subject to   α ≥ 0,   mean_s w(x_s) = 1,

    which minimises the Kullback–Leibler divergence from p_target to w·p_source.

    * The weights are non-negative and their mean is 1, to machine precision.
    * ``regret_`` bounds how far the likelihood is below its maximum; it is below 1e-8.
    * The width maximises the cross-validated likelihood of target rows.

    Deviation 1: the paper uses projected gradient ascent. Here, the concave problem is solved by an
    interior-point method with a bound on the error. Deviation 2: the width is chosen on at most 5
    000 rows of each domain.

    Parameters
    ----------
    gamma : "cv", "median" or float, default="cv"
        The width. "cv" chooses among multiples of the median heuristic by the likelihood in 5-fold
        cross-validation.
    n_centers : int, default=100
        Number of centres; at most the number of target rows.

    Attributes
    ----------
    gamma_ : the width used.
    likelihoods_ : dict, width → mean log-likelihood on held-out rows; empty if the width is given.
    alpha_ : the coefficients α.
    regret_ : upper bound on the distance of the likelihood from its maximum.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import KLIEP
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(300, 2)), rng.normal(0.5, 1, size=(200, 2))
    >>> weights = KLIEP().fit(X, X_target).weights_
    >>> bool(abs(weights.mean() - 1) < 1e-12)
    True
    """

    def __init__(
        self, gamma: float | str = "cv", n_centers: int = 100, random_state: RandomState = 0
    ):
        self.gamma = gamma
        self.n_centers = n_centers
        self.random_state = random_state

    def _weights(self, X: Matrix, X_target: Matrix) -> Vector:
        rng = check_random_state(self.random_state)
        widths = check_widths(self.gamma, X, X_target, rng, "cv")
        self.likelihoods_: dict[float, float] = {}
        if len(widths) > 1:
            source, target = (choose_rows(part, SELECTION_ROWS, rng) for part in (X, X_target))
            self.likelihoods_ = self._cross_validate(source, target, widths, rng)
        self.gamma_ = max(widths, key=lambda width: self.likelihoods_.get(width, -np.inf))
        self._basis, self.alpha_, self.regret_ = self._fit(X, X_target, self.gamma_, rng)
        if np.isinf(self.regret_):
            raise ValueError(
                "`gamma` is too large: no Gaussian covers both source and target rows; got "
                f"{self.gamma_:.3g}. Pass a smaller gamma."
            )
        if self.regret_ > 1e-6:
            warn_caller(
                f"KLIEP stopped at a likelihood up to {self.regret_:.2g} below its maximum. Use a "
                "larger gamma or fewer centres.",
                NotConvergedWarning,
            )
        return self._basis.combine(X, self.alpha_)

    @one_thread()
    def _new_weights(self, X: Matrix) -> Vector:
        return self._basis.combine(X, self.alpha_)

    def _fit(
        self, X: Matrix, X_target: Matrix, gamma: float, rng: np.random.RandomState
    ) -> tuple[LowRankFeatures, Vector, float]:
        """Basis, coefficients and regret; zeros and infinite regret if no row is near a centre."""
        basis = gaussian_basis(X_target, self.n_centers, gamma, rng)
        source_mean = basis.mean(X)
        # A centre with no source rows nearby cannot be normalised and is dropped from the
        # constraint.
        source_mean = np.where(source_mean > 1e-100, source_mean, np.inf)
        P = basis.transform(X_target) * (1.0 / source_mean)
        # A target row far from every centre has likelihood 0 for any α.
        reached = P.max(axis=1) > 0
        if not reached.any():
            return basis, np.zeros(P.shape[1]), np.inf
        shares, regret, _ = mixture_weights(P if reached.all() else P[reached])
        return basis, shares / source_mean, regret

    def _cross_validate(
        self, X: Matrix, X_target: Matrix, widths: list[float], rng: np.random.RandomState
    ) -> dict[float, float]:
        """Mean log-likelihood of held-out target rows, per width."""
        if X_target.shape[0] < 2:
            raise ValueError(
                "`X_target` must have at least 2 rows to choose the width; got "
                f"n_samples = {X_target.shape[0]}. Pass a number as gamma."
            )
        n_folds = min(N_FOLDS, X_target.shape[0])
        folds = deal_folds(X_target, n_folds, rng)
        seed = rng.randint(np.iinfo(np.int32).max)
        scores = {}
        for width in widths:
            likelihoods = np.empty(X_target.shape[0])
            for fold in range(n_folds):
                inside = folds != fold
                basis, alpha, _ = self._fit(X, X_target[inside], width, np.random.RandomState(seed))
                ratio = basis.combine(X_target[~inside], alpha)
                likelihoods[~inside] = np.log(np.maximum(ratio, np.finfo(float).tiny))
            scores[width] = float(likelihoods.mean())
        return scores
