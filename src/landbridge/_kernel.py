"""Choice of rows, kernel widths and kernel matrices, for weighting methods and kernel machines.

Choices do not depend on the order of the rows, and matrices are computed in blocks of rows to keep
temporary arrays small.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances, pairwise_kernels
from sklearn.utils.sparsefuncs import mean_variance_axis

from landbridge._typing import Matrix, Vector
from landbridge._validation import check_choice, is_number, stack_rows

# Number of rows per domain used for the median distance.
MEDIAN_ROWS = 500
# Kernel values computed at a time: 16 MB.
BLOCK_VALUES = 2**21
KERNELS = ("rbf", "linear", "cosine", "laplacian", "poly")

KernelSpec = str | Callable[[Any, Any], Any]
Width = float | str


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


def check_kernel(kernel: KernelSpec, width: Width) -> None:
    """Raise if the kernel or its width is invalid."""
    if not callable(kernel):
        check_choice(kernel, "kernel", KERNELS)
    if isinstance(width, str):
        check_choice(width, "width", ("scale",))
    elif not (is_number(width) and 0 < width < np.inf):
        raise ValueError(
            f'`width` must be a positive number, or "scale"; got {width!r}. '
            "Pass a typical distance between rows."
        )


def resolve_width(width: Width, X: Matrix) -> float:
    """Width as a number: "scale" is √(Σ_j var_j), so that 2·width² = E‖x − x'‖².

    Unlike the median of all distances, it needs one pass over the rows. Constant rows give 1.
    """
    if not isinstance(width, str):
        return float(width)
    if sparse.issparse(X):
        total = float(mean_variance_axis(X, axis=0)[1].sum())
    else:
        total = float(X.var(axis=0, dtype=np.float64).sum())
    return float(np.sqrt(total)) if total > 0 else 1.0


def resolve_gamma(
    gamma: Any,
    X: Matrix,
    X_target: Matrix,
    rng: np.random.RandomState,
    names: tuple[str, ...] = ("median",),
) -> float:
    """1/(2·width²) as a number, from "median" or a number; ``names`` are the allowed words."""
    if isinstance(gamma, str) and gamma == "median":
        return 1.0 / (2 * median_square(X, X_target, rng))
    if not (is_number(gamma) and 0 < gamma < np.inf):
        words = ", ".join(map(repr, names))
        raise ValueError(f"`gamma` must be {words} or a positive number; got {gamma!r}.")
    return float(gamma)


def median_square(X: Matrix, X_target: Matrix, rng: np.random.RandomState) -> float:
    """Median squared distance between distinct rows of the pooled domains."""
    rows = stack_rows([choose_rows(part, MEDIAN_ROWS, rng) for part in (X, X_target)])
    rows, _ = about_origin(rows, rows)
    squares = euclidean_distances(rows, squared=True)
    squares = squares[np.triu_indices(len(squares), 1)]
    squares = squares[squares > 1e-12 * squares.max(initial=0.0)]
    return float(np.median(squares)) if squares.size else 1.0


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


def kernel(X: Matrix, Y: Matrix, spec: KernelSpec, gamma: float | None) -> np.ndarray:
    """k(x, y) for every row x of X and y of Y; ``gamma`` is ignored if the kernel has none.

    The result is in double precision even for rows in single precision, because methods divide by
    its small eigenvalues.
    """
    # Use one memory layout, because the order of a sum affects its rounding.
    Y = _in_double(Y)
    K = np.empty((X.shape[0], Y.shape[0]))
    # One job, because joblib would otherwise split the product, which rounds differently.
    options: dict[str, Any] = {"n_jobs": 1}
    if not callable(spec):
        options |= {"filter_params": True, "gamma": gamma}
    for rows in row_blocks(X, Y.shape[0]):
        block = _in_double(X[rows]), Y
        if spec == "rbf":
            block = about_origin(*block)
        K[rows] = pairwise_kernels(*block, metric=spec, **options)
    return K


def kernel_matrix(X: Matrix, Y: Matrix, spec: KernelSpec, width: float) -> np.ndarray:
    """`kernel` for a width in the units of the rows.

    ``width`` is that of the Gaussian exp(−‖x − y‖²/2w²) and of the Laplacian exp(−‖x − y‖₁/w);
    for the polynomial (1 + ⟨x, y⟩/w²)³ it is the scale of a row.
    """
    return kernel(X, Y, spec, gamma_of(spec, width))


def gamma_of(spec: KernelSpec, width: float) -> float | None:
    """Value of scikit-learn's parameter ``gamma`` for a width; None if the kernel has no width."""
    gammas = {"rbf": 0.5 / width**2, "laplacian": 1 / width, "poly": 1 / width**2}
    return gammas.get(spec) if isinstance(spec, str) else None


def mean_self_kernel(X: Matrix, name: str, gamma: float) -> float:
    """The mean of k(x, x) over the rows."""
    if name in ("rbf", "laplacian", "chi2"):
        return 1.0
    starts = range(0, X.shape[0], 64)
    traces = [np.trace(kernel(X[i : i + 64], X[i : i + 64], name, gamma)) for i in starts]
    return float(np.sum(traces) / X.shape[0])


def _in_double(X: Matrix) -> Matrix:
    if sparse.issparse(X):
        return X.astype(np.float64, copy=False)
    return np.ascontiguousarray(X, dtype=np.float64)
