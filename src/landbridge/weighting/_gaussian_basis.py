"""Gaussian basis functions centred at target rows, the model of KLIEP and RuLSIF."""

import numpy as np

from landbridge._kernel import choose_rows, median_square, resolve_gamma
from landbridge._low_rank import LowRankFeatures, exact_features
from landbridge._typing import Matrix
from landbridge._validation import check_count

# Multiples of the median heuristic among which the width is chosen.
MULTIPLES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def gaussian_basis(
    X_target: Matrix, size: int, gamma: float, rng: np.random.RandomState
) -> LowRankFeatures:
    """φ_l(x) = exp(−γ‖x − c_l‖²), with centres drawn independently of the order of the rows."""
    check_count(size, "n_centers")
    return exact_features(choose_rows(X_target, size, rng), "rbf", gamma)


def check_widths(
    gamma: float | str, X: Matrix, X_target: Matrix, rng: np.random.RandomState, choose: str
) -> list[float]:
    """Candidate widths; a single one unless ``gamma`` equals ``choose``."""
    if isinstance(gamma, str) and gamma == choose:
        unit = 1.0 / (2 * median_square(X, X_target, rng))
        return [multiple * unit for multiple in MULTIPLES]
    return [resolve_gamma(gamma, X, X_target, rng, names=(choose, "median"))]
