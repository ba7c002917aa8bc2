"""Low-rank features of a kernel: k(x, x') ≈ φ(x)'φ(x') with a fixed number of columns.

There are two kinds. *Landmarks* (Nyström): with L the landmark rows and K_L = U s U' their kernel,
φ(x) = k(x, L) U s^-½ U', exact on the span of the landmarks. *Explicit features* for the linear
kernel: φ(x) = x itself when it has few columns, otherwise (sparse text) φ(x) = x V, where V holds
the leading right singular vectors of the rows. This is the best approximation of that rank.

Gram matrices φ'φ are accumulated in blocks of rows, so that fitting needs no memory per row.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.utils import check_random_state
from sklearn.utils.extmath import randomized_svd

from landbridge._kernel import KernelSpec, choose_rows, kernel, order_of_rows, row_blocks
from landbridge._typing import Matrix, RandomState, Vector
from landbridge._validation import is_count, stack_rows

AUTO_RANK = 200


def resolve_rank(rank: int | str, n_rows: int, name: str = "n_components") -> int:
    """Number of features: "auto" is 200; at most the number of rows."""
    if isinstance(rank, str) and rank == "auto":
        return min(AUTO_RANK, n_rows)
    if not is_count(rank):
        raise ValueError(
            f'`{name}` must be None (exact), "auto" or an integer of at least 1; got {rank!r}.'
        )
    return min(int(rank), n_rows)


def positive_eigenpairs(K: np.ndarray) -> tuple[Vector, np.ndarray]:
    """Eigenvalues and eigenvectors of a positive semi-definite matrix on its numerical range."""
    values, vectors = linalg.eigh(K.T, driver="evr")
    noise = max(values[-1], 0.0) * K.shape[0] * np.finfo(K.dtype).eps
    first = np.searchsorted(values, noise, side="right")
    return values[first:], vectors[:, first:]


@dataclass(frozen=True)
class LowRankFeatures:
    """The feature map φ; without a ``projection`` it is k(x, landmarks), or x itself."""

    kernel: KernelSpec
    gamma: float | None
    landmarks: Matrix | None
    projection: np.ndarray | None
    n_features: int

    def transform(self, X: Matrix, dtype: Any = np.float64) -> np.ndarray:
        """φ of every row."""
        features = np.empty((X.shape[0], self.n_features), dtype=dtype)
        for rows in self.blocks(X):
            features[rows] = self._project(self._simple(X[rows]))
        return features

    def mean(self, X: Matrix) -> Vector:
        """Mean of φ over the rows; the linear map is applied once, to the mean."""
        total = sum(self._simple(X[rows]).sum(axis=0) for rows in self.blocks(X))
        return self._project(np.asarray(total) / X.shape[0])

    def moments(self, X: Matrix) -> tuple[np.ndarray, Vector]:
        """φ'φ and the column sums of φ, without storing φ."""
        gram = np.zeros((self.n_features, self.n_features))
        total = np.zeros(self.n_features)
        for rows in self.blocks(X):
            block = self._project(self._simple(X[rows]))
            gram += block.T @ block
            total += block.sum(axis=0)
        return gram, total

    def combine(self, X: Matrix, coefficients: np.ndarray) -> np.ndarray:
        """φ(x)'coefficients of every row, without storing φ."""
        parts = (self._simple(X[rows]) for rows in self.blocks(X))
        if self.projection is not None:
            parts = (part @ self.projection for part in parts)
        return np.concatenate([np.asarray(part @ coefficients) for part in parts])

    def blocks(self, X: Matrix) -> Iterator[slice]:
        """Slices of rows that are computed at a time."""
        return row_blocks(X, self.n_features if self.landmarks is None else self.landmarks.shape[0])

    def _simple(self, X: Matrix) -> Any:
        """Kernel values between rows and landmarks; the rows themselves for explicit features."""
        return X if self.landmarks is None else kernel(X, self.landmarks, self.kernel, self.gamma)

    def _project(self, simple: Any) -> np.ndarray:
        if self.projection is not None:
            return np.asarray(simple @ self.projection)
        return simple.toarray() if sparse.issparse(simple) else np.asarray(simple)


def exact_features(rows: Matrix, spec: KernelSpec, gamma: float | None) -> LowRankFeatures:
    """The features k(x, rows); for the linear kernel, x itself."""
    if spec == "linear":
        return LowRankFeatures(spec, None, None, None, rows.shape[1])
    return LowRankFeatures(spec, gamma, rows, None, rows.shape[0])


def fit_low_rank_features(
    source: Matrix,
    target: Matrix | None,
    spec: KernelSpec,
    gamma: float | None,
    rank: int,
    random_state: RandomState = None,
) -> LowRankFeatures:
    """Features of rank at most ``rank`` for rows of both domains."""
    rng = check_random_state(random_state)
    parts = [source] if target is None else [source, target]
    if spec == "linear":
        return _explicit_features(stack_rows(parts), rank, rng)
    landmarks = draw_landmarks(parts, rank, rng)
    values, vectors = positive_eigenpairs(kernel(landmarks, landmarks, spec, gamma))
    # Unlike eigenvectors, the symmetric root does not depend on a choice of signs or order.
    projection = (vectors / np.sqrt(values)) @ vectors.T
    return LowRankFeatures(spec, gamma, landmarks, projection, projection.shape[1])


def draw_landmarks(parts: list[Matrix], rank: int, rng: np.random.RandomState) -> Matrix:
    """Draw ``rank`` rows without replacement, as evenly from both domains as possible."""
    sizes = np.array([part.shape[0] for part in parts])
    shares = np.minimum(sizes, -(-rank // len(parts)))
    for domain in range(len(parts)):
        others = shares.sum() - shares[domain]
        shares[domain] = min(sizes[domain], rank - others)
    chosen = [
        choose_rows(part, share, rng) for part, share in zip(parts, shares, strict=True) if share
    ]
    # Sorted, so that the order of the features does not follow the order of the rows.
    return stack_rows([rows[order_of_rows(rows, rng)] for rows in chosen])


def _explicit_features(X: Matrix, rank: int, rng: np.random.RandomState) -> LowRankFeatures:
    n_columns = X.shape[1]
    if n_columns <= rank:
        return LowRankFeatures("linear", None, None, None, n_columns)
    # Seven power iterations, because the spectrum of text data decays slowly.
    _, values, components = randomized_svd(X, rank, n_iter=7, random_state=rng)
    kept = components[values > max(values.max(), 0.0) * 1e-10].T
    return LowRankFeatures("linear", None, None, kept, kept.shape[1])
