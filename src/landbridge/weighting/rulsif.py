"""Relative unconstrained least-squares importance fitting (Yamada et al., 2011).

With ``alpha=0`` it is uLSIF (Kanamori, Hido and Sugiyama, 2009).
"""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from sklearn.utils import check_random_state

from landbridge._kernel import choose_rows
from landbridge._low_rank import LowRankFeatures
from landbridge._tasks import one_thread
from landbridge._typing import Matrix, RandomState, Vector
from landbridge._validation import is_number
from landbridge.weighting._base import Weighting
from landbridge.weighting._gaussian_basis import check_widths, gaussian_basis

# Width and regularisation are chosen on at most this many rows of each domain.
SELECTION_ROWS = 10_000
RIDGES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def relative_ratio_coefficients(
    source_moment: np.ndarray,
    target_moment: np.ndarray,
    target_mean: Vector,
    *,
    alpha: float,
    ridge: float,
) -> Vector:
    """θ = (H + ridge·I)⁻¹ h with H = α·E_t[φφ'] + (1 − α)·E_s[φφ'] and h = E_t[φ]."""
    H = alpha * target_moment + (1 - alpha) * source_moment
    H.flat[:: len(H) + 1] += ridge
    return cho_solve(cho_factor(H), target_mean)


def leave_one_out_scores(
    source: np.ndarray, target: np.ndarray, *, alpha: float, ridges: list[float]
) -> Vector:
    """Leave-one-out criterion for each ridge, in closed form.

    ``source`` and ``target`` are Φ on the rows of the two domains. With r₋ᵢ fitted without row i,

        ½α·mean_t r₋ⱼ(x_j)² + ½(1 − α)·mean_s r₋ᵢ(x_i)² − mean_t r₋ⱼ(x_j).

    Leaving a row out changes H by a rank-one term, so r₋ᵢ(x_i) = a/(1 − c·q) with
    a = φ'M⁻¹h and q = φ'M⁻¹φ (Sherman–Morrison), where M is H without the contribution of the row
    to the normalisation. One eigendecomposition is used for all ridges.
    """
    n_s, n_t = len(source), len(target)
    S, T, t = source.T @ source, target.T @ target, target.sum(axis=0)
    left_source = _left_out(
        source, alpha * T / n_t + (1 - alpha) * S / (n_s - 1), t / n_t, ridges,
        own_share=(1 - alpha) / (n_s - 1), own_mean=0.0,
    )  # fmt: skip
    left_target = _left_out(
        target, alpha * T / (n_t - 1) + (1 - alpha) * S / n_s, t / (n_t - 1), ridges,
        own_share=alpha / (n_t - 1), own_mean=1.0 / (n_t - 1),
    )  # fmt: skip
    return (
        0.5 * alpha * np.mean(left_target**2, axis=1)
        + 0.5 * (1 - alpha) * np.mean(left_source**2, axis=1)
        - np.mean(left_target, axis=1)
    )


def _left_out(
    rows: np.ndarray,
    matrix: np.ndarray,
    mean: Vector,
    ridges: list[float],
    *,
    own_share: float,
    own_mean: float,
) -> np.ndarray:
    """r₋ᵢ(x_i) for each ridge (rows of the result) and each row i.

    The row contributes ``own_share``·φφ' to H and ``own_mean``·φ to h.
    """
    values, vectors = eigh(matrix)
    rotated = rows @ vectors
    inverse = 1.0 / (np.maximum(values, 0.0)[None, :] + np.asarray(ridges)[:, None])
    a = (inverse * (vectors.T @ mean)) @ rotated.T
    q = inverse @ (rotated**2).T
    return (a - own_mean * q) / (1 - own_share * q)


class RuLSIF(Weighting):
    """Relative density ratio, fitted by least squares in closed form.

    The α-relative ratio r_α = p_target / (α·p_target + (1 − α)·p_source) is at most 1/α, even if
    the domains barely overlap. α = 0 gives the density ratio (uLSIF). With centres c_l from the
    target and φ_l(x) = exp(−γ‖x − c_l‖²), r(x) = θ'φ(x) solves

        minimise  ½ θ'Hθ − h'θ + ½ ridge·‖θ‖²,   H = α·E_t[φφ'] + (1 − α)·E_s[φφ'],  h = E_t[φ],

    and the weights are max(0, r(x)).

    * The weights are non-negative and are not scaled to a mean of 1.
    * Width and ridge minimise the leave-one-out criterion, which has a closed form.

    Deviation 1: Kanamori et al. leave out pairs of rows, one of each domain, which ignores the
    surplus rows of the larger domain and depends on the row order. Here, each row is left out
    separately. Deviation 2: width and ridge are chosen on at most 10 000 rows of each domain.
    Deviation 3: negative values of r(x) are set to zero at the rows, not in θ.

    Parameters
    ----------
    alpha : float in [0, 1), default=0.1
        Relative parameter α; 0 is uLSIF.
    gamma : "loo", "median" or float, default="loo"
        The width; "loo" chooses among multiples of the median heuristic by the leave-one-out
        criterion.
    ridge : "loo" or float, default="loo"
        Regularisation; "loo" chooses among powers of ten.
    n_centers : int, default=100
        Number of centres; at most the number of target rows.

    Attributes
    ----------
    gamma_, ridge_ : the numbers used.
    scores_ : array of shape (choices, 3): width, ridge and leave-one-out criterion, smaller is
        better; empty if both are given.
    theta_ : the coefficients θ.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import RuLSIF
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(300, 2)), rng.normal(0.5, 1, size=(200, 2))
    >>> weights = RuLSIF(alpha=0.2).fit(X, X_target).weights_
    >>> bool(weights.min() >= 0)
    True
    """

    def __init__(
        self,
        alpha: float = 0.1,
        gamma: float | str = "loo",
        ridge: float | str = "loo",
        n_centers: int = 100,
        random_state: RandomState = 0,
    ):
        self.alpha = alpha
        self.gamma = gamma
        self.ridge = ridge
        self.n_centers = n_centers
        self.random_state = random_state

    def _weights(self, X: Matrix, X_target: Matrix) -> Vector:
        if not (is_number(self.alpha) and 0 <= self.alpha < 1):
            raise ValueError(f"`alpha` must be in [0, 1); got {self.alpha!r}.")
        rng = check_random_state(self.random_state)
        widths = check_widths(self.gamma, X, X_target, rng, "loo")
        ridges = check_ridges(self.ridge)
        seed = rng.randint(np.iinfo(np.int32).max)
        self.scores_ = np.empty((0, 3))
        self.gamma_, self.ridge_ = widths[0], ridges[0]
        if len(widths) * len(ridges) > 1:
            self.scores_ = self._leave_one_out(X, X_target, widths, ridges, seed)
            self.gamma_, self.ridge_ = self.scores_[self.scores_[:, 2].argmin(), :2].tolist()
        self._basis = self._draw(X_target, self.gamma_, seed)
        self.theta_ = relative_ratio_coefficients(
            self._basis.moments(X)[0] / X.shape[0],
            self._basis.moments(X_target)[0] / X_target.shape[0],
            self._basis.mean(X_target),
            alpha=self.alpha,
            ridge=self.ridge_,
        )
        return self._new_weights(X)

    @one_thread()
    def _new_weights(self, X: Matrix) -> Vector:
        return np.maximum(self._basis.combine(X, self.theta_), 0.0)

    def _draw(self, X_target: Matrix, gamma: float, seed: int) -> LowRankFeatures:
        return gaussian_basis(X_target, self.n_centers, gamma, np.random.RandomState(seed))

    def _leave_one_out(
        self, X: Matrix, X_target: Matrix, widths: list[float], ridges: list[float], seed: int
    ) -> np.ndarray:
        if min(X.shape[0], X_target.shape[0]) < 2:
            raise ValueError(
                "`X` and `X_target` must have at least 2 rows each for leave-one-out; got "
                f"n_samples = {X.shape[0]} and {X_target.shape[0]}. Pass numbers instead."
            )
        rng = np.random.RandomState(seed)
        source, target = (choose_rows(part, SELECTION_ROWS, rng) for part in (X, X_target))
        scores = []
        for width in widths:
            basis = self._draw(X_target, width, seed)
            parts = basis.transform(source), basis.transform(target)
            values = leave_one_out_scores(*parts, alpha=self.alpha, ridges=ridges)
            scores += [(width, *one) for one in zip(ridges, values, strict=True)]
        return np.array(scores)


def check_ridges(ridge: Any) -> list[float]:
    """Candidate ridges; a single one if ``ridge`` is a number."""
    if isinstance(ridge, str) and ridge == "loo":
        return list(RIDGES)
    if not (is_number(ridge) and 0 < ridge < np.inf):
        raise ValueError(f"`ridge` must be 'loo' or a positive number; got {ridge!r}.")
    return [float(ridge)]
