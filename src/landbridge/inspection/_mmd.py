"""Maximum mean discrepancy with an exact permutation test (Gretton et al., 2012)."""

from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from landbridge._tasks import map_tasks
from landbridge._typing import Matrix, Vector
from landbridge._validation import stack_rows

# Number of rows for the median distance, and of permutations per matrix product.
_MEDIAN_ROWS, _BATCH = 1000, 100


@dataclass(frozen=True, slots=True)
class MMDTest:
    """Unbiased squared MMD (it may be below 0) and the p-value of its permutation test."""

    value: float
    p_value: float


def mmd_test(
    X: Matrix, X_target: Matrix, *, n_permutations: int, seed: int, n_jobs: int | None = None
) -> MMDTest:
    r"""Test that both sets of rows come from one distribution.

    With a Gaussian kernel of the median width of all rows,

    .. math::
        \text{MMD}^2_u = \frac{1}{m(m-1)} \sum_{i \ne j} k(x_i, x_j)
            + \frac{1}{n(n-1)} \sum_{i \ne j} k(z_i, z_j) - \frac{2}{mn} \sum_{i,j} k(x_i, z_j).

    Kernel and width do not depend on the domains. Under the null hypothesis, every division of the
    rows is therefore equally likely, and the p-value (1 + #{permuted ≥ observed}) / (1 +
    permutations) is exact for any number of rows.
    """
    rng = np.random.default_rng(seed)
    m, n = X.shape[0], X_target.shape[0]
    kernel = gaussian_kernel(stack_rows([X, X_target]), rng)
    np.fill_diagonal(kernel, 0.0)
    divisions = np.zeros((m + n, n_permutations + 1))
    divisions[:m, 0] = 1
    for column in range(1, n_permutations + 1):
        divisions[rng.permutation(m + n)[:m], column] = 1
    batches = [
        (kernel, divisions[:, start : start + _BATCH])
        for start in range(0, n_permutations + 1, _BATCH)
    ]
    values = np.concatenate(map_tasks(unbiased_mmd, batches, n_jobs=n_jobs))
    # Sums of the same split in another order differ in the last digits.
    reached = values[1:] >= values[0] - 1e-12
    return MMDTest(float(values[0]), float((1 + reached.sum()) / (1 + n_permutations)))


def gaussian_kernel(rows: Matrix, rng: np.random.Generator) -> np.ndarray:
    """exp(−‖a − b‖² / median of ‖a − b‖²) for all pairs of rows."""
    squares = euclidean_distances(rows, squared=True)
    chosen = rng.permutation(rows.shape[0])[:_MEDIAN_ROWS]
    pairs = squares[np.ix_(chosen, chosen)][np.triu_indices(len(chosen), k=1)]
    median = np.median(pairs)
    if median <= 0:
        # If more than half of all pairs are equal, the median is 0, so use the mean.
        median = pairs.mean() or 1.0
    squares /= -median
    return np.exp(squares, out=squares)


def unbiased_mmd(kernel: np.ndarray, divisions: np.ndarray) -> Vector:
    """MMD²_u for each column of ``divisions`` (1 source, 0 target); the diagonal is zero."""
    m = divisions[:, 0].sum()
    n = len(kernel) - m
    row_sums = kernel.sum(axis=1)
    within_source = np.einsum("ij,ij->j", divisions, kernel @ divisions)
    from_source = row_sums @ divisions
    across = from_source - within_source
    within_target = row_sums.sum() - 2 * from_source + within_source
    return within_source / (m * (m - 1)) + within_target / (n * (n - 1)) - 2 * across / (m * n)
