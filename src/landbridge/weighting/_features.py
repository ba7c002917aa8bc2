"""Features a(x) with a(x)'a(y) ≈ k(x, y), for kernel problems with many rows."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from landbridge._typing import Matrix, Vector
from landbridge._validation import stack_rows
from landbridge.weighting._rows import choose_rows, kernel, row_blocks

# A matrix of features with more entries than this is stored in single precision.
DOUBLE_ENTRIES = 2**25
# Eigenvalues of the landmark kernel below this share of the largest are treated as zero.
RANK_TOLERANCE = 1e-11


@dataclass(frozen=True)
class NystroemFeatures:
    """a(x) = Λ^(−1/2) U' k(Z, x) for landmarks Z with k(Z, Z) = UΛU': exact at the landmarks."""

    landmarks: Matrix
    projection: np.ndarray
    kernel: str
    gamma: float

    @classmethod
    def draw(
        cls,
        X: Matrix,
        X_target: Matrix,
        *,
        size: int,
        name: str,
        gamma: float,
        rng: np.random.RandomState,
    ) -> "NystroemFeatures":
        """Draw half of the landmarks from each domain, independently of the row order."""
        half = min(size // 2, X_target.shape[0])
        landmarks = stack_rows([choose_rows(X, size - half, rng), choose_rows(X_target, half, rng)])
        values, vectors = eigh(kernel(landmarks, landmarks, name, gamma))
        keep = values > RANK_TOLERANCE * values[-1]
        return cls(landmarks, vectors[:, keep] / np.sqrt(values[keep]), name, gamma)

    @property
    def width(self) -> int:
        """The number of features."""
        return self.projection.shape[1]

    def simple(self, X: Matrix) -> np.ndarray:
        """k(Z, x) of each row x."""
        return kernel(X, self.landmarks, self.kernel, self.gamma)

    def project(self, simple: np.ndarray) -> np.ndarray:
        """Multiply the result of `simple`, or its mean, by Λ^(−1/2) U'."""
        return simple @ self.projection

    def __call__(self, X: Matrix) -> np.ndarray:
        return self.project(self.simple(X))


def feature_matrix(features: NystroemFeatures, X: Matrix) -> np.ndarray:
    """Features of all rows, computed block by block; large results are in single precision."""
    many = X.shape[0] * features.width > DOUBLE_ENTRIES
    matrix = np.empty((X.shape[0], features.width), dtype=np.float32 if many else np.float64)
    for rows in row_blocks(X, features.width):
        matrix[rows] = features(X[rows])
    return matrix


def feature_mean(features: NystroemFeatures, X: Matrix) -> Vector:
    """Mean of the features over the rows; the linear map is applied once, to the mean."""
    blocks = row_blocks(X, features.width)
    total = sum(features.simple(X[rows]).sum(axis=0) for rows in blocks)
    return features.project(np.asarray(total) / X.shape[0])
