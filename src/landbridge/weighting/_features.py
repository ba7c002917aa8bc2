"""Feature maps a(x) with a(x)'a(y) ≈ k(x, y), for kernel problems with many rows."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import eigh

from landbridge._typing import Matrix, Vector
from landbridge._validation import stack_rows
from landbridge.weighting._rows import choose_rows, kernel, row_blocks

# A matrix of features with more entries than this is stored in single precision.
DOUBLE_ENTRIES = 2**25
# Directions of the landmarks' kernel matrix below this share of its largest are noise.
RANK_TOLERANCE = 1e-11


class FeatureMap(Protocol):
    """Rows in, features in double precision out: a linear map of simple functions of a row."""

    @property
    def width(self) -> int:
        """The number of features."""

    def simple(self, X: Matrix) -> np.ndarray:
        """The simple functions of each row."""

    def project(self, simple: np.ndarray) -> np.ndarray:
        """The linear map."""

    def __call__(self, X: Matrix) -> np.ndarray:
        """The features of each row."""


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
        """Half of the landmarks from each domain, drawn without regard to the order of rows."""
        half = min(size // 2, X_target.shape[0])
        landmarks = stack_rows([choose_rows(X, size - half, rng), choose_rows(X_target, half, rng)])
        values, vectors = eigh(kernel(landmarks, landmarks, name, gamma))
        keep = values > RANK_TOLERANCE * values[-1]
        return cls(landmarks, vectors[:, keep] / np.sqrt(values[keep]), name, gamma)

    @property
    def width(self) -> int:
        return self.projection.shape[1]

    def simple(self, X: Matrix) -> np.ndarray:
        return kernel(X, self.landmarks, self.kernel, self.gamma)

    def project(self, simple: np.ndarray) -> np.ndarray:
        return simple @ self.projection

    def __call__(self, X: Matrix) -> np.ndarray:
        return self.project(self.simple(X))


@dataclass(frozen=True)
class FourierFeatures:
    """a(x) = (cos Wx, sin Wx)·√(2/r), rows of W from N(0, 2γI): the Gaussian kernel on average."""

    frequencies: np.ndarray

    @classmethod
    def draw(
        cls, n_features: int, *, size: int, gamma: float, rng: np.random.RandomState
    ) -> "FourierFeatures":
        """Depends on the seed alone, not on the rows."""
        pairs = max(1, size // 2)
        return cls(np.sqrt(2 * gamma) * rng.standard_normal((n_features, pairs)))

    @property
    def width(self) -> int:
        return 2 * self.frequencies.shape[1]

    def simple(self, X: Matrix) -> np.ndarray:
        angles = np.asarray(X @ self.frequencies, dtype=np.float64)
        return np.hstack([np.cos(angles), np.sin(angles)])

    def project(self, simple: np.ndarray) -> np.ndarray:
        return simple / np.sqrt(self.frequencies.shape[1])

    def __call__(self, X: Matrix) -> np.ndarray:
        return self.project(self.simple(X))


def feature_matrix(features: FeatureMap, X: Matrix) -> np.ndarray:
    """The features of all rows, block by block, in single precision where there are many."""
    many = X.shape[0] * features.width > DOUBLE_ENTRIES
    matrix = np.empty((X.shape[0], features.width), dtype=np.float32 if many else np.float64)
    for rows in row_blocks(X, features.width):
        matrix[rows] = features(X[rows])
    return matrix


def feature_mean(features: FeatureMap, X: Matrix) -> Vector:
    """The mean of the features over the rows: the linear map once, of the mean."""
    blocks = row_blocks(X, features.width)
    total = sum(features.simple(X[rows]).sum(axis=0) for rows in blocks)
    return features.project(np.asarray(total) / X.shape[0])
