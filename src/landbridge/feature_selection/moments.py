"""Moments of several domains that can be merged: one pass over the data, in any order.

For each domain: the number of rows, the mean of z = (x, y) and the sums of products of the
deviations from it. Two of them are merged exactly (Chan, Golub, LeVeque, "Updating formulae and a
pairwise algorithm for computing sample variances"), so that batches, machines and halves of a
file can be summed in any order. Products are taken about the mean of each batch: products about
the origin lose what a common offset of a column costs in digits.
"""

from collections.abc import Iterator
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
        """The moments of the rows of both, whatever domains they share."""
        if self.means.shape[1] != other.means.shape[1]:
            raise ValueError(
                f"Moments to be merged must have the same columns; got {self.means.shape[1] - 1} "
                f"and {other.means.shape[1] - 1} features. Read the same columns in both places."
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
        """The moments with ``scale · y + offset`` in the place of y."""
        factors = np.ones(self.means.shape[1])
        factors[-1] = scale
        means = self.means * factors
        means[:, -1] += offset
        products = self.products * np.outer(factors, factors)
        return Moments(self.domains, self.counts, means, products, self.precision)

    def _spread(self, domains: Vector) -> "Moments":
        """The same moments in the rows of a larger set of domains, with zeros elsewhere."""
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
    width = X.shape[1] + 1
    counts = np.bincount(codes, minlength=domains.size)
    means, products = np.empty((domains.size, width)), np.empty((domains.size, width, width))
    fill = _sparse_products if sparse.issparse(X) else _dense_products
    for k, (rows, labels) in enumerate(by_domain(X, y, codes)):
        means[k] = fill(rows, labels, products[k])
    return Moments(domains, counts, means, products, np.dtype(X.dtype))


def by_domain(X: Matrix, y: Vector, codes: Vector) -> Iterator[tuple[Matrix, Vector]]:
    """The rows and labels of each domain, in the order of its code."""
    order = np.argsort(codes, kind="stable")
    for part in np.split(order, np.cumsum(np.bincount(codes))[:-1]):
        yield X[part], y[part]


def _dense_products(X: np.ndarray, y: Vector, products: np.ndarray) -> Vector:
    middle = y.mean()
    Z = np.column_stack([X, (y - middle).astype(X.dtype)])
    average = np.full(Z.shape[0], 1 / Z.shape[0], dtype=Z.dtype)
    mean = average @ Z
    Z -= mean
    # What a rounded mean leaves over is taken off the products and added to the mean.
    rest = (average @ Z).astype(np.float64)
    products[...] = Z.T @ Z
    dger(-Z.shape[0], rest, rest, a=products.T, overwrite_a=True)
    mean = mean + rest
    mean[-1] += middle
    return mean


def _sparse_products(X: Matrix, y: Vector, products: np.ndarray) -> Vector:
    Z = sparse.hstack([X.astype(np.float64), sparse.csr_array(y[:, None])], format="csr")
    mean = np.asarray(Z.mean(axis=0)).ravel()
    products[...] = (Z.T @ Z).toarray()
    products -= Z.shape[0] * np.outer(mean, mean)
    return mean
