"""Second moments within each domain, provided to a path column by column.

A step needs one column of E[XX'|d_k]. `FullStatistics` holds all of them (after streaming, or if
the path will need most of them anyway). `LazyStatistics` keeps the rows and computes only the
columns that are needed, together with those likely to be needed next: a product with twenty columns
costs less than twice one with four. The choice of precomputed columns affects only the time, not
the result.
"""

from typing import TypeAlias

import numpy as np
from scipy import sparse

from landbridge._typing import Matrix, Vector
from landbridge.feature_selection.foresight import Foresight, Outlook
from landbridge.feature_selection.moments import (
    Moments,
    centre_full_columns,
    moments_of,
    rows_by_domain,
)

# Maximum number of columns computed at once.
BLOCK = 48
FULL_BYTES = 2**30
# Rows that are read at once, so that they are still in the cache when they are used again.
PART_BYTES = 2**20
# Products about the origin lose two bits if a column's mean square is four times its variance.
LARGEST_OFFSET = 4.0


class FullStatistics:
    """Means and covariances within n domains, from a full matrix of second moments.

    ``rounding`` is the unit roundoff of the data.
    """

    def __init__(self, moments: Moments):
        counts = moments.counts[:, None]
        self.means, self.label_means = moments.means[:, :-1], moments.means[:, -1]
        self.covariances = moments.products[:, :-1, -1] / counts
        self.variances = np.einsum("kii->ki", moments.products)[:, :-1] / counts
        self.label_variances = moments.products[:, -1, -1] / moments.counts
        self.rounding = float(np.finfo(moments.precision).eps)
        self._products, self._counts = moments.products, counts

    def column(self, feature: int, outlook: Outlook | None = None) -> np.ndarray:
        """Covariances of one feature with all features, domains × features."""
        return self._products[:, feature, :-1] / self._counts


class LazyStatistics:
    """The same as `FullStatistics`, computed from the rows on first use."""

    def __init__(self, X: Matrix, y: Vector, codes: Vector):
        domains = [_Domain(X[rows], y[rows]) for rows in rows_by_domain(codes)]
        self.means = np.stack([domain.mean for domain in domains])
        self.label_means = np.array([domain.label_mean for domain in domains])
        self.covariances = np.stack([domain.covariance for domain in domains])
        self.variances = np.stack([domain.variance for domain in domains])
        self.label_variances = np.array([(domain.y**2).mean() for domain in domains])
        self.rounding = float(np.finfo(X.dtype).eps)
        self._domains = domains
        self._columns: dict[int, np.ndarray] = {}
        self._offsets = self.means - self.means.mean(axis=0)
        size = (np.maximum(self.variances, 0.0) + self._offsets**2).mean(axis=0)
        self._foresight = Foresight(size)

    def column(self, feature: int, outlook: Outlook | None = None) -> np.ndarray:
        """Covariances of one feature with all features, domains × features.

        ``outlook`` predicts which features are likely to be needed next.
        """
        if feature not in self._columns:
            features = [feature]
            if outlook is not None:
                features = self._foresight.next_picks(feature, outlook, BLOCK)
            self._multiply(features)
        return self._columns[feature]

    def _multiply(self, features: list[int]) -> None:
        shape = (len(features), *self.means.shape)
        products = np.empty(shape, dtype=np.result_type(*(d.X.dtype for d in self._domains)))
        for k, domain in enumerate(self._domains):
            domain.columns(features, out=products[:, k])
        among = self._offsets[:, features].T @ self._offsets / len(self._domains)
        self._foresight.learn(features, products.mean(axis=1) + among)
        self._columns.update(zip(features, products, strict=True))


Statistics: TypeAlias = FullStatistics | LazyStatistics


def statistics_of(X: Matrix, y: Vector, groups: Vector, *, n_columns: int) -> Statistics:
    """Full or lazy statistics, whichever is cheaper for about ``n_columns`` columns.

    Computing all columns at once costs half as much per column, since the product is symmetric.
    """
    codes = np.unique(groups, return_inverse=True)[1]
    n_bytes = (codes.max() + 1) * (X.shape[1] + 1) ** 2 * 8
    if X.shape[1] <= 2 * n_columns and n_bytes <= FULL_BYTES:
        return FullStatistics(moments_of(X, y, groups))
    return LazyStatistics(X, y, codes)


def check_range(statistics: Statistics, names: list[str] | None = None) -> None:
    """Raise if squares overflowed the precision of the data."""
    wrong = ~np.isfinite(statistics.variances).all(axis=0)
    label = not np.isfinite(statistics.label_variances).all()
    if not (label or wrong.any()):
        return
    place = int(wrong.argmax())
    column = "`y`" if label else f"column {names[place] if names else place!r} of `X`"
    single = not label and statistics.rounding > np.finfo(np.float64).eps
    raise ValueError(
        f"The squares of `X` and `y` must not overflow: they must be below about "
        f"{'1e38 in single' if single else '1e308 in double'} precision; got larger ones in "
        f"{column}. Divide it by a constant{', or set dtype=' + repr('float64') if single else ''}."
    )


class _Domain:
    """Rows of one domain and their products.

    ``rest`` is the mean of the rows that are kept. Dense rows are used in place if their means are
    small and are copied and centred otherwise; sparse rows are used in place, in double precision,
    except for columns without zeros.
    """

    def __init__(self, X: Matrix, y: Vector):
        self.label_mean = y.mean()
        self.y = y - self.label_mean
        self.X, taken = X, np.zeros(1)
        if sparse.issparse(X):
            self.X, taken = centre_full_columns(X.astype(np.float64, copy=False))
        self._measure()
        if not sparse.issparse(X) and (self.squares > LARGEST_OFFSET * self.variance).any():
            taken = self.rest.astype(X.dtype)
            self.X = X - taken
            self._measure()
        self.mean = taken + self.rest

    def _measure(self) -> None:
        """Means, mean squares and covariances with the label, in one pass over the rows."""
        n, p = self.X.shape
        factors = np.stack([np.ones(n), self.y]).astype(self.X.dtype)
        sums, squares = np.zeros((2, p)), np.zeros(p)
        step = n if sparse.issparse(self.X) else max(PART_BYTES // (p * self.X.itemsize), 1)
        for start in range(0, n, step):
            part = self.X[start : start + step]
            sums[0] += factors[0, start : start + step] @ part
            sums[1] += factors[1, start : start + step] @ part
            squares += _column_squares(part)
        self.rest, self.covariance = sums / n
        self.squares = squares / n
        self.variance = self.squares - self.rest**2

    def columns(self, features: list[int], *, out: np.ndarray) -> None:
        """Covariances of some features with all of them, one row per feature.

        It is enough to centre one of the two factors.
        """
        chosen = self.X[:, features]
        if sparse.issparse(chosen):
            out[...] = (self.X.T @ self._centred(chosen.toarray(), features)).T
        else:
            np.matmul(self._centred(chosen, features).T, self.X, out=out)

    def _centred(self, chosen: np.ndarray, features: list[int]) -> np.ndarray:
        chosen -= self.rest[features]
        chosen *= 1 / self.y.size
        return chosen


def _column_squares(X: Matrix) -> Vector:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=0)).ravel()
    return np.einsum("ij,ij->j", X, X)
