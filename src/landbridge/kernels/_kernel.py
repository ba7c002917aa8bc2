"""Kernel matrices, computed in blocks of rows to keep temporary arrays small."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.sparsefuncs import mean_variance_axis

from landbridge._typing import Matrix
from landbridge._validation import check_choice, is_number
from landbridge.weighting._rows import about_origin, row_blocks

KERNELS = ("rbf", "linear", "cosine", "laplacian", "poly")

KernelSpec = str | Callable[[Any, Any], Any]
Width = float | str


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


def kernel_matrix(X: Matrix, Y: Matrix, kernel: KernelSpec, width: float) -> np.ndarray:
    """k(x, y) for every row x of X and y of Y.

    ``width`` is that of the Gaussian exp(−‖x − y‖²/2w²) and of the Laplacian exp(−‖x − y‖₁/w);
    for the polynomial (1 + ⟨x, y⟩/w²)³ it is the scale of a row. The result is in double precision
    even for rows in single precision, because methods divide by its small eigenvalues.
    """
    # Use one memory layout, because the order of a sum affects its rounding.
    Y = _in_double(Y)
    K = np.empty((X.shape[0], Y.shape[0]))
    options = _kernel_options(kernel, width)
    for rows in row_blocks(X, Y.shape[0]):
        block = _in_double(X[rows]), Y
        if kernel == "rbf":
            block = about_origin(*block)
        K[rows] = pairwise_kernels(*block, metric=kernel, **options)
    return K


def _in_double(X: Matrix) -> Matrix:
    if sparse.issparse(X):
        return X.astype(np.float64, copy=False)
    return np.ascontiguousarray(X, dtype=np.float64)


def _kernel_options(kernel: KernelSpec, width: float) -> dict[str, float]:
    if kernel == "rbf":
        return {"gamma": 0.5 / width**2}
    if kernel == "laplacian":
        return {"gamma": 1 / width}
    if kernel == "poly":
        return {"gamma": 1 / width**2}
    return {}
