"""Mergeable moments of several domains, computed in one pass over the data.

For each domain, the number of rows, the mean of z = (x, y) and the sums of products of deviations
are kept. Two sets of moments are merged exactly (Chan, Golub, LeVeque, "Updating formulae and a
pairwise algorithm for computing sample variances"), so batches can be summed in any order and on
any machine. Products are centred at the mean of each batch, because products about the origin lose
precision if a column has a large offset.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dger

from landbridge._typing import Matrix, Vector


@dataclass(frozen=True, slots=True)
class Moments:
    """Counts, means and sums of products of deviations; the label is the last column of z."""

    domains: Vector
    counts: Vector
    means: np.ndarray
    products: np.ndarray
    precision: np.dtype

    def merge(self, other: Self) -> "Moments":
        """Moments of the rows of both; domains may differ."""
        if self.means.shape[1] != other.means.shape[1]:
            raise ValueError(
                f"Moments must have the same columns to be merged; got {self.means.shape[1] - 1} "
                f"and {other.means.shape[1] - 1} features. Read the same columns in both places."
            )
        if (self.domains.dtype.kind in "US") != (other.domains.dtype.kind in "US"):
            raise ValueError(
                "Domains must be text in every batch or numbers in every batch; got "
                f"{self.domains.tolist()[:3]} and {other.domains.tolist()[:3]}. Convert them first."
            )
        domains = np.union1d(self.domains, other.domains)
        a, b = self._spread(domains), other._spread(domains)
        counts = a.counts + b.counts
        share = b.counts / np.maximum(counts, 1)
        step = b.means - a.means
        outer = np.einsum("ki,kj,k->kij", step, step, a.counts * share)
        precision = max(self.precision, other.precision, key=lambda dtype: np.finfo(dtype).eps)
        return Moments(
            domains,
            counts,
            a.means + share[:, None] * step,
            a.products + b.products + outer,
            precision,
        )

    def map_label(self, scale: float, offset: float) -> "Moments":
        """The moments with ``scale · y + offset`` instead of y."""
        if (scale, offset) == (1.0, 0.0):
            return self
        factors = np.ones(self.means.shape[1])
        factors[-1] = scale
        means = self.means * factors
        means[:, -1] += offset
        products = self.products * np.outer(factors, factors)
        return Moments(self.domains, self.counts, means, products, self.precision)

    def _spread(self, domains: Vector) -> "Moments":
        """Extend the moments to a larger set of domains, with zeros for new ones."""
        if np.array_equal(domains, self.domains):
            return self
        place = np.searchsorted(domains, self.domains)
        n, width = domains.size, self.means.shape[1]
        counts, means = np.zeros(n, dtype=np.int64), np.zeros((n, width))
        products = np.zeros((n, width, width))
        counts[place], means[place], products[place] = self.counts, self.means, self.products
        return Moments(domains, counts, means, products, self.precision)


def moments_of(X: Matrix, y: Vector, groups: Vector) -> Moments:
    """The moments of rows in memory; single precision data are multiplied in single precision."""
    domains, codes = np.unique(groups, return_inverse=True)
    return moments_of_parts(domains, by_domain(X, y, codes), X.shape[1])


def moments_of_parts(
    domains: Vector, parts: Iterable[tuple[Matrix, Vector]], n_features: int
) -> Moments:
    """The moments of the rows and labels of each domain; dense rows are centred in place."""
    n, width = domains.size, n_features + 1
    counts = np.empty(n, dtype=np.int64)
    means, products = np.empty((n, width)), np.empty((n, width, width))
    for k, (rows, labels) in enumerate(parts):
        fill = _sparse_products if sparse.issparse(rows) else _dense_products
        counts[k], means[k] = labels.size, fill(rows, labels, products[k])
    return Moments(domains, counts, means, products, np.dtype(rows.dtype))


def by_domain(X: Matrix, y: Vector, codes: Vector) -> Iterator[tuple[Matrix, Vector]]:
    """A copy of the rows and labels of each domain, in the order of its code."""
    for rows in rows_by_domain(codes):
        part = X[rows]
        yield (part.copy() if isinstance(rows, slice) else part), y[rows]


def rows_by_domain(codes: Vector) -> Iterator[Vector | slice]:
    """Row indices of each domain; evenly spaced rows give a slice, which avoids a copy."""
    order = np.argsort(codes, kind="stable")
    for part in np.split(order, np.cumsum(np.bincount(codes))[:-1]):
        step = int(part[1] - part[0]) if part.size > 1 else 1
        even = (np.diff(part) == step).all()
        yield slice(int(part[0]), int(part[-1]) + 1, step) if even else part


def _dense_products(X: np.ndarray, y: Vector, products: np.ndarray) -> Vector:
    """Fill ``products`` and return the means; the label comes last."""
    average = np.full(y.size, 1 / y.size, dtype=X.dtype)
    mean = average @ X
    X -= mean
    # Correct for rounding of the mean: subtract the remainder from the products and add it to the
    # mean.
    rest = (average @ X).astype(np.float64)
    deviations = y - y.mean()
    products[:-1, :-1] = X.T @ X
    products[:-1, -1] = products[-1, :-1] = deviations.astype(X.dtype) @ X
    products[-1, -1] = deviations @ deviations
    remove = np.append(rest, 0.0)
    dger(-y.size, remove, remove, a=products.T, overwrite_a=True)
    return np.append(mean + rest, y.mean())


def _sparse_products(X: Matrix, y: Vector, products: np.ndarray) -> Vector:
    X, taken = centre_full_columns(X.astype(np.float64))
    Z = sparse.hstack([X, sparse.csr_array((y - y.mean())[:, None])], format="csr")
    mean = np.asarray(Z.mean(axis=0)).ravel()
    products[...] = (Z.T @ Z).toarray()
    products -= y.size * np.outer(mean, mean)
    return mean + np.append(taken, y.mean())


def centre_full_columns(X: Matrix) -> tuple[Matrix, Vector]:
    """Centre the columns without zeros of a sparse matrix; return it and the offsets.

    A large offset in such a column would cost precision in products about the origin, and centring
    it does not destroy sparsity.
    """
    n, p = X.shape
    if not (np.bincount(X.indices) >= n).any():
        return X, np.zeros(p)
    X = X.copy()
    X.sum_duplicates()
    full = np.bincount(X.indices, minlength=p) == n
    taken = np.where(full, np.asarray(X.mean(axis=0)).ravel(), 0.0)
    X.data -= taken[X.indices]
    return X, taken
