"""Selection of rows and kernel widths, independent of the order of the rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances, pairwise_kernels

from landbridge._typing import Matrix, Vector
from landbridge._validation import is_number, stack_rows

# Number of rows per domain used for the median distance.
MEDIAN_ROWS = 500
# Kernel values computed at a time: 16 MB.
BLOCK_VALUES = 2**21


def order_of_rows(X: Matrix, rng: np.random.RandomState) -> Vector:
    """Positions of the rows sorted along a random direction.

    Permuting X permutes the positions accordingly, so a selection from this order is the same set
    of rows for any arrangement.
    """
    return np.argsort(X @ rng.standard_normal(X.shape[1]), kind="stable")


def choose_rows(X: Matrix, size: int, rng: np.random.RandomState) -> Matrix:
    """Draw at most ``size`` rows, independently of their order."""
    if X.shape[0] <= size:
        return X
    order = order_of_rows(X, rng)
    return X[order[np.sort(rng.choice(X.shape[0], size, replace=False))]]


def deal_folds(X: Matrix, n_folds: int, rng: np.random.RandomState) -> Vector:
    """Assign rows to balanced folds, independently of the order of the rows."""
    folds = np.empty(X.shape[0], dtype=np.intp)
    folds[order_of_rows(X, rng)] = rng.permutation(np.arange(X.shape[0]) % n_folds)
    return folds


def row_blocks(X: Matrix, width: int) -> Iterator[slice]:
    """Slices of rows such that a block of ``width`` columns stays small."""
    step = max(1, BLOCK_VALUES // max(1, width))
    for start in range(0, X.shape[0], step):
        yield slice(start, min(start + step, X.shape[0]))


def resolve_gamma(gamma: Any, X: Matrix, X_target: Matrix, rng: np.random.RandomState) -> float:
    """Kernel width as a number, from "median", "scale" or a number."""
    if isinstance(gamma, str) and gamma == "median":
        return 1.0 / (2 * median_square(X, X_target, rng))
    if isinstance(gamma, str) and gamma == "scale":
        variance = _variance(stack_rows([X, X_target]))
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0
    if not (is_number(gamma) and 0 < gamma < np.inf):
        raise ValueError(f"`gamma` must be 'median', 'scale' or a positive number; got {gamma!r}.")
    return float(gamma)


def about_origin(X: Matrix, Y: Matrix) -> tuple[Matrix, Matrix]:
    """Shift both sets of rows by the same vector so that Y is centred at the origin.

    Squared distances are computed as differences of squares. Rows far from the origin but near
    each other would otherwise lose all accuracy. Sparse rows are not shifted.
    """
    if sparse.issparse(X) or sparse.issparse(Y):
        return X, Y
    centre = Y.mean(axis=0, dtype=np.float64).astype(Y.dtype)
    moved = Y - centre
    return (moved if X is Y else X - centre), moved


def median_square(X: Matrix, X_target: Matrix, rng: np.random.RandomState) -> float:
    """Median squared distance between distinct rows of the pooled domains."""
    rows = stack_rows([choose_rows(part, MEDIAN_ROWS, rng) for part in (X, X_target)])
    rows, _ = about_origin(rows, rows)
    squares = euclidean_distances(rows, squared=True)
    squares = squares[np.triu_indices(len(squares), 1)]
    squares = squares[squares > 1e-12 * squares.max(initial=0.0)]
    return float(np.median(squares)) if squares.size else 1.0


def kernel(X: Matrix, Y: Matrix, name: str, gamma: float) -> np.ndarray:
    """Kernel of scikit-learn in double precision; ``gamma`` is ignored if it has none."""
    if name == "rbf":
        X, Y = about_origin(X, Y)
    values = pairwise_kernels(X, Y, metric=name, filter_params=True, gamma=gamma)
    return values.astype(np.float64, copy=False)


def mean_self_kernel(X: Matrix, name: str, gamma: float) -> float:
    """The mean of k(x, x) over the rows."""
    if name in ("rbf", "laplacian", "chi2"):
        return 1.0
    starts = range(0, X.shape[0], 64)
    traces = [np.trace(kernel(X[i : i + 64], X[i : i + 64], name, gamma)) for i in starts]
    return float(np.sum(traces) / X.shape[0])


def _variance(X: Matrix) -> float:
    if sparse.issparse(X):
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(X.var(dtype=np.float64))
