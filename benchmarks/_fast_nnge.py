"""Compiled loops for the search for overlapping boxes in NNge, with identical results.

The benchmark of the transfer cross-validation paper fits NNge thousands of times. Without numba
the loops of the library are used.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import numpy as np

from landbridge.neighbors import nnge

try:
    from numba import njit
except ImportError:
    njit = None


@contextmanager
def compiled_boxes() -> Iterator[None]:
    """Fit and predict with the compiled loops within the ``with`` statement."""
    if njit is None:
        yield
        return
    fast = {"overlaps": njit(_overlaps), "squared_distances": _distances_by(njit(_squared_gaps))}
    with mock.patch.multiple(nnge, **fast):
        yield


def _overlaps(low, high, lower, upper):  # type: ignore[no-untyped-def]
    found = np.empty(lower.shape[0], dtype=np.int64)
    n_found = 0
    for i in range(lower.shape[0]):
        meet = True
        for j in range(low.size):
            if lower[i, j] > high[j] or low[j] > upper[i, j]:
                meet = False
                break
        if meet:
            found[n_found] = i
            n_found += 1
    return found[:n_found]


def _squared_gaps(x, lower, upper):  # type: ignore[no-untyped-def]
    gaps = np.empty(lower.shape)
    for i in range(lower.shape[0]):
        for j in range(x.size):
            gap = min(max(x[j], lower[i, j]), upper[i, j]) - x[j]
            gaps[i, j] = gap * gap
    return gaps


def _distances_by(squared_gaps):  # type: ignore[no-untyped-def]
    def distances(x, lower, upper, scale):  # type: ignore[no-untyped-def]
        return squared_gaps(x, lower, upper) @ np.square(scale)

    return distances
