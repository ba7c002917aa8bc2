"""Quadratic forms β'Qβ for the interior-point solver.

Each has ``product`` (Q times a vector), ``solver``, which returns a function that solves (Q +
diag(diagonal)) x = b for one or several columns b, and ``mean_diagonal``, the scale of Q.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from landbridge._typing import Vector

# Number of rows of a feature matrix that are converted to double precision at a time.
BLOCK = 8192


Solve: TypeAlias = Callable[..., np.ndarray]


@dataclass(frozen=True)
class FullMatrix:
    """Q as a symmetric matrix, with one Cholesky factorisation (n³/3 operations) per step."""

    matrix: np.ndarray

    def product(self, vector: Vector) -> Vector:
        return self.matrix @ vector

    def solver(self, diagonal: Vector) -> Solve:
        shifted = self.matrix.copy()
        shifted.flat[:: len(shifted) + 1] += diagonal
        # A symmetric matrix equals its transpose, which LAPACK can factorise in place.
        factor = cho_factor(shifted.T, lower=True, overwrite_a=True, check_finite=False)

        def solve(b: np.ndarray, *, refine: bool = False) -> np.ndarray:
            return cho_solve(factor, b, check_finite=False)

        return solve

    def mean_diagonal(self) -> float:
        return float(np.mean(np.diagonal(self.matrix)))


@dataclass(frozen=True)
class LowRank:
    """Q = AA' with few columns and one r × r factorisation (n·r² operations) per step.

    A may be stored in single precision. It is read in blocks, and sums use double precision.
    """

    features: np.ndarray

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for start in range(0, len(self.features), BLOCK):
            rows = slice(start, start + BLOCK)
            yield rows, self.features[rows].astype(np.float64, copy=False)

    def times(self, coefficients: np.ndarray) -> np.ndarray:
        """A times a vector of length r, or several columns."""
        return np.concatenate([block @ coefficients for _, block in self.blocks()])

    def transposed_times(self, vector: np.ndarray) -> np.ndarray:
        """A' times a vector of length n, or several columns."""
        return sum(block.T @ vector[rows] for rows, block in self.blocks())

    def product(self, vector: Vector) -> Vector:
        return self.times(self.transposed_times(vector))

    def solver(self, diagonal: Vector) -> Solve:
        root = 1.0 / np.sqrt(diagonal)
        gram = np.zeros((self.features.shape[1],) * 2)
        for rows, block in self.blocks():
            scaled = block * root[rows, None]
            gram += scaled.T @ scaled
        # Shift eigenvalues that rounding could make negative; the refinement below corrects for it.
        gram.flat[:: len(gram) + 1] += 1.0 + 1e-15 * np.trace(gram)
        factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)

        def woodbury(b: np.ndarray) -> np.ndarray:
            scaled = (b.T / diagonal).T
            inner = cho_solve(factor, self.transposed_times(scaled), check_finite=False)
            return scaled - (self.times(inner).T / diagonal).T

        def solve(b: np.ndarray, *, refine: bool = False) -> np.ndarray:
            x = woodbury(b)
            if not refine:
                return x
            # The difference above suffers cancellation if the diagonal is tiny; one refinement step
            # corrects it.
            return x + woodbury(b - self.product(x) - diagonal * x)

        return solve

    def mean_diagonal(self) -> float:
        return sum(np.einsum("ij,ij->", b, b) for _, b in self.blocks()) / len(self.features)


QuadraticForm: TypeAlias = FullMatrix | LowRank
