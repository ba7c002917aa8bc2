"""Ranges of features and their mutual information with the class, updated row by row.

The mutual information of feature j and the class, in bits, is taken over bins b of equal width
between the smallest and the largest value seen so far:

    I_j = Σ_b Σ_c (n_bc / n) · log₂(n_bc · n / (n_b · n_c)),

with n_bc the rows of class c in bin b, n_b those in bin b and n_c those of class c. Bins include
both of their borders, so a value on the border of two bins counts in both, as it does in Weka.
"""

import numpy as np

from landbridge._typing import Vector


def in_bins(X: np.ndarray, low: Vector, high: Vector, n_bins: int) -> np.ndarray:
    """Whether each value lies in each bin of its feature: (…, n_features, n_bins)."""
    edges = low[:, None] + np.arange(n_bins + 1) * ((high - low) / n_bins)[:, None]
    edges[:, -1] = high  # rounding must not exclude the largest value
    values = X[..., None]
    return (edges[:, :-1] <= values) & (values <= edges[:, 1:])


def mutual_information(counts: np.ndarray, class_sizes: Vector) -> Vector:
    """Bits of information per feature from ``counts`` of (n_features, n_bins, n_classes)."""
    n_rows = class_sizes.sum()
    expected = counts.sum(axis=2, keepdims=True) * class_sizes
    ratio = np.divide(counts * n_rows, expected, out=np.ones_like(counts), where=counts > 0)
    return (counts * np.log2(ratio)).sum(axis=(1, 2)) / n_rows


class SeenRows:
    """Rows learned so far, with the ranges and weights needed for distances."""

    def __init__(self, X: np.ndarray, codes: Vector, n_bins: int):
        n_features = X.shape[1]
        self.X, self.codes, self.n_bins = X, codes, n_bins
        self.n_classes = int(codes.max()) + 1
        self.rows: list[int] = []
        self.low, self.high = np.full(n_features, np.inf), np.full(n_features, -np.inf)
        self.class_sizes = np.zeros(self.n_classes)
        self.counts = np.zeros((n_features, n_bins, self.n_classes))

    @property
    def ranges(self) -> Vector:
        """Largest minus smallest value per feature; 1 for a constant feature."""
        extent = self.high - self.low
        return np.where(extent > 0, extent, 1.0)

    @property
    def weights(self) -> Vector:
        """Bits per feature; all 1 if no feature is informative yet."""
        bits = np.maximum(mutual_information(self.counts, self.class_sizes), 0.0)  # rounding
        return bits if bits.max() > 1e-12 else np.ones(self.X.shape[1])

    def add(self, row: int) -> None:
        """Add one row to the rows seen."""
        x, code = self.X[row], int(self.codes[row])
        self.rows.append(row)
        self.class_sizes[code] += 1
        moved = (x < self.low) | (x > self.high)
        self.low, self.high = np.minimum(self.low, x), np.maximum(self.high, x)
        self._count(x, code, np.flatnonzero(~moved))
        self._count_again(np.flatnonzero(moved))

    def _count(self, x: Vector, code: int, features: Vector) -> None:
        low, high = self.low[features], self.high[features]
        self.counts[features, :, code] += in_bins(x[features], low, high, self.n_bins)

    def _count_again(self, features: Vector) -> None:
        """Count all rows again for features whose range, and therefore bins, have changed."""
        if not features.size:
            return
        seen = np.asarray(self.rows)
        low, high = self.low[features], self.high[features]
        inside = in_bins(self.X[np.ix_(seen, features)], low, high, self.n_bins)
        for code in range(self.n_classes):
            self.counts[features, :, code] = inside[self.codes[seen] == code].sum(axis=0)
