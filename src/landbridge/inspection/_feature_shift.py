"""Shift of single columns."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.stats import ks_2samp
from sklearn.utils.sparsefuncs import mean_variance_axis

from landbridge._typing import Matrix, Vector

# Maximum number of columns compared by their full distribution.
MAX_COLUMNS = 1000
FEW_ROWS = 50
ROUNDING = 1e-14


@dataclass(frozen=True, slots=True)
class FeatureShift:
    """The shift of one column.

    Attributes
    ----------
    name : the column's name, or for example "column 3" without names.
    mean_difference : mean of the target minus mean of the source, in units of the root of the
        mean of both variances (the standardised mean difference).
    variance_ratio : variance of the target over variance of the source.
    ks : largest distance of the two distribution functions, between 0 and 1.
    p_value : of the Kolmogorov-Smirnov test, times the number of columns (Bonferroni).
    """

    name: str
    mean_difference: float
    variance_ratio: float
    ks: float
    p_value: float


def feature_shifts(
    X: Matrix, X_target: Matrix, drawn: tuple[Matrix, Matrix], names: Sequence[str]
) -> tuple[FeatureShift, ...]:
    """Shifts by decreasing distance; means use all rows, distances the sampled ones.

    With more than 1000 columns, only the 1000 with the largest differences of means are
    compared.
    """
    difference, ratio = moment_shifts(X, X_target)
    columns = np.argsort(-np.abs(difference), kind="stable")[:MAX_COLUMNS]
    # The asymptotic p-value is far too small for few rows; the exact one is slow for many.
    method = "exact" if min(part.shape[0] for part in drawn) < FEW_ROWS else "asymp"
    shifts = []
    for column in columns.tolist():
        test = ks_2samp(*(_column(part, column) for part in drawn), method=method)
        shifts.append(
            FeatureShift(
                name=names[column],
                mean_difference=float(difference[column]),
                variance_ratio=float(ratio[column]),
                ks=float(test.statistic),
                p_value=float(min(1.0, X.shape[1] * test.pvalue)),
            )
        )
    return tuple(sorted(shifts, key=lambda shift: (-shift.ks, -abs(shift.mean_difference))))


def moment_shifts(X: Matrix, X_target: Matrix) -> tuple[Vector, Vector]:
    """Standardised mean differences and ratios of variances, target against source.

    For two constant columns, the difference is 0 if they agree and infinite otherwise.
    """
    (mean, variance), (mean_target, variance_target) = _moments(X), _moments(X_target)
    spread = np.sqrt((variance + variance_target) / 2)
    gap = mean_target - mean
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.where(gap == 0, 0.0, gap / spread)
        ratio = np.where(variance == variance_target, 1.0, variance_target / variance)
    return difference, ratio


def _moments(X: Matrix) -> tuple[Vector, Vector]:
    """Mean and variance (n − 1) of each column."""
    if sparse.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0)
    else:
        mean, variance = X.mean(axis=0, dtype=np.float64), X.var(axis=0, dtype=np.float64)
    # Rounding errors of a constant column must not count as variance.
    variance = np.where(variance <= (ROUNDING * mean) ** 2, 0.0, variance)
    return mean, variance * (X.shape[0] / (X.shape[0] - 1))


def _column(X: Matrix, column: int) -> Vector:
    if sparse.issparse(X):
        return X[:, [column]].toarray().ravel()
    return X[:, column]
