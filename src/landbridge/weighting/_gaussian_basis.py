"""Gaussian basis functions centred at target rows, the model of KLIEP and RuLSIF."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from landbridge._kernel import (
    choose_rows,
    kernel,
    median_square,
    resolve_gamma,
    row_blocks,
)
from landbridge._typing import Matrix, Vector
from landbridge._validation import check_count

# Multiples of the median heuristic among which the width is chosen.
MULTIPLES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class GaussianBasis:
    """φ_l(x) = exp(−γ‖x − c_l‖²)."""

    centers: Matrix
    gamma: float

    @classmethod
    def draw(
        cls, X_target: Matrix, size: int, gamma: float, rng: np.random.RandomState
    ) -> "GaussianBasis":
        """Draw centres from the target, independently of the row order."""
        check_count(size, "n_centers")
        return cls(choose_rows(X_target, size, rng), gamma)

    def __call__(self, X: Matrix) -> np.ndarray:
        return kernel(X, self.centers, "rbf", self.gamma)

    def matrix(self, X: Matrix, *, scale: Vector | float = 1.0) -> np.ndarray:
        """Φ with its columns scaled."""
        values = np.empty((X.shape[0], self.centers.shape[0]))
        for rows in row_blocks(X, self.centers.shape[0]):
            values[rows] = self(X[rows]) * scale
        return values

    def mean(self, X: Matrix) -> Vector:
        """The mean of φ over the rows, without storing Φ."""
        blocks = row_blocks(X, self.centers.shape[0])
        return np.asarray(sum(self(X[rows]).sum(axis=0) for rows in blocks)) / X.shape[0]

    def second_moment(self, X: Matrix) -> np.ndarray:
        """Φ'Φ over the rows, without storing Φ."""
        total = np.zeros((self.centers.shape[0],) * 2)
        for rows in row_blocks(X, self.centers.shape[0]):
            values = self(X[rows])
            total += values.T @ values
        return total

    def combine(self, X: Matrix, coefficients: Vector) -> Vector:
        """Σ_l coefficients_l φ_l(x) for each row."""
        blocks = row_blocks(X, self.centers.shape[0])
        return np.concatenate([self(X[rows]) @ coefficients for rows in blocks])


def check_widths(
    gamma: Any, X: Matrix, X_target: Matrix, rng: np.random.RandomState, *, choose: str = "cv"
) -> list[float]:
    """Candidate widths; a single one unless ``gamma`` is a sequence or equals ``choose``."""
    if isinstance(gamma, str) and gamma == choose:
        unit = 1.0 / (2 * median_square(X, X_target, rng))
        return [multiple * unit for multiple in MULTIPLES]
    if isinstance(gamma, (list, tuple, np.ndarray)):
        if len(gamma) == 0:
            raise ValueError(
                "`gamma` must contain at least one width; got none. Pass 'median' or a number."
            )
        return [resolve_gamma(one, X, X_target, rng) for one in gamma]
    try:
        return [resolve_gamma(gamma, X, X_target, rng)]
    except ValueError as error:
        raise ValueError(
            f"`gamma` must be {choose!r}, 'median', 'scale', a positive number or a list of "
            f"them; got {gamma!r}."
        ) from error
