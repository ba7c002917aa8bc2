"""Features as small integers: binned once, shared by every tree of an ensemble.

Every feature gets at most 255 *slots*, the slots of all features are numbered through, and slot
``s`` holds the values from ``lower[s]`` to ``upper[s]``. A feature with at most 255 distinct values
has one slot for each of them, so that a tree on slots is the exact tree. Dense rows become one byte
an entry, rows of a CSR matrix one slot a stored entry; zeros that are not stored stay so.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from landbridge._typing import Matrix, Vector

MAX_BINS = 255
# Columns of a CSR matrix are sorted in so many blocks: their sum never stands in memory twice.
COLUMN_BLOCKS = 16
NOTHING = np.zeros(0, dtype=np.int32)
NO_CODES = np.zeros((0, 0), dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class BinnedRows:
    """Rows in slots. ``codes`` is set for dense rows; ``indptr`` and ``slots`` for sparse ones.

    ``offsets[f]`` is the first slot of feature ``f``; ``zero[f]`` the slot of its zeros.
    """

    offsets: Vector
    lower: Vector
    upper: Vector
    zero: Vector
    codes: Vector
    indptr: Vector
    slots: Vector

    @property
    def is_sparse(self) -> bool:
        return self.codes is NO_CODES

    @property
    def n_rows(self) -> int:
        return self.indptr.size - 1 if self.is_sparse else self.codes.shape[0]

    @property
    def n_slots(self) -> int:
        return self.lower.size

    @property
    def nbytes(self) -> int:
        """What the binned rows themselves occupy."""
        return self.codes.nbytes + self.indptr.nbytes + self.slots.nbytes


def bin_rows(parts: list[Matrix]) -> BinnedRows:
    """Bin matrices as if they stood below each other (they are never stacked)."""
    if any(sparse.issparse(part) for part in parts):
        return _bin_sparse([sparse.csr_array(part) for part in parts])
    return _bin_dense(parts)


def slot_bounds(values: Vector) -> tuple[Vector, Vector]:
    """Smallest and largest value of each slot of one feature: distinct values or quantiles.

    Sorts ``values`` in place.
    """
    values.sort()
    is_new = np.append(True, values[1:] != values[:-1])
    if np.count_nonzero(is_new) <= MAX_BINS:
        return values[is_new], values[is_new]
    cuts = np.arange(MAX_BINS) * values.size // MAX_BINS
    lower = np.unique(values[cuts])
    ends = np.append(np.searchsorted(values, lower[1:]), values.size)
    return lower, values[ends - 1]


def slot_of(lower: Vector, values: Vector) -> Vector:
    """Position of each value among the slots of its feature."""
    return np.searchsorted(lower, values, side="right") - 1


def split_threshold(rows: BinnedRows, left: Vector, right: Vector) -> Vector:
    """Value between two slots; rows at or below it go to the left."""
    upper, lower = rows.upper[left], rows.lower[right]
    middle = upper / 2 + lower / 2
    return np.where((middle < lower) & (middle >= upper), middle, upper)


def pieces(size: int, length: int = 1 << 13) -> Iterator[slice]:
    """Slices that cover ``range(size)``: a step at a time keeps temporaries small."""
    for start in range(0, size, length):
        yield slice(start, min(start + length, size))


def _bin_dense(parts: list[Matrix]) -> BinnedRows:
    n_features = parts[0].shape[1]
    codes = np.empty((sum(part.shape[0] for part in parts), n_features), dtype=np.uint8)
    bounds = []
    for feature in range(n_features):
        bounds.append(slot_bounds(np.concatenate([part[:, feature] for part in parts])))
        start = 0
        for part in parts:
            stop = start + part.shape[0]
            codes[start:stop, feature] = slot_of(bounds[-1][0], part[:, feature])
            start = stop
    return BinnedRows(*_joined(bounds), zero=NOTHING, codes=codes, indptr=NOTHING, slots=NOTHING)


def _bin_sparse(parts: list[Matrix]) -> BinnedRows:
    counts = _small_counts(parts)
    ends = np.cumsum([0] + [part.nnz for part in parts])
    indptr = np.concatenate(
        [[0], *(part.indptr[1:] + end for part, end in zip(parts, ends, strict=False))]
    ).astype(np.int32)
    columns = np.concatenate([part.indices for part in parts], dtype=np.int32)
    n_features = parts[0].shape[1]
    if counts is None:
        return _bin_values(parts, indptr, columns, n_features)
    light = sort_within_rows(columns, counts, indptr, n_features)
    if not light.has_canonical_format:  # a column twice in a row
        return _bin_sparse([_summed(part) for part in parts])
    return _bin_counts(light.data, indptr, light.indices, n_features)


def _summed(part: Matrix) -> Matrix:
    """No column twice in a row; the argument stays as it is."""
    if not part.has_canonical_format:
        part = part.copy()
        part.sum_duplicates()
    return part


def sort_within_rows(indices: Vector, values: Vector, indptr: Vector, n_columns: int) -> Matrix:
    """A CSR matrix of the arrays, its rows sorted in place."""
    light = sparse.csr_array((values, indices, indptr), shape=(indptr.size - 1, n_columns))
    light.sort_indices()
    return light


def _small_counts(parts: list[Matrix]) -> Vector | None:
    """The stored entries as bytes, if they are counts below 255 (words of a text)."""
    if not all(_are_counts(part.data) for part in parts):
        return None
    return np.concatenate([part.data.astype(np.uint8) for part in parts])


def _are_counts(data: Vector) -> bool:
    if data.size == 0:
        return True
    if data.min() < 0 or data.max() >= MAX_BINS:
        return False
    return all((data[piece] == np.floor(data[piece])).all() for piece in pieces(data.size))


def _bin_counts(counts: Vector, indptr: Vector, columns: Vector, n_features: int) -> BinnedRows:
    """Slots of counts, from a table of which feature takes which count."""
    taken = np.zeros((n_features, int(counts.max(initial=0)) + 1), dtype=bool)
    n_entries = np.zeros(n_features, dtype=np.intp)
    for piece in pieces(columns.size):
        taken[columns[piece], counts[piece]] = True
        n_entries += np.bincount(columns[piece], minlength=n_features)
    # A feature without an entry in some row is zero there.
    taken[n_entries < indptr.size - 1, 0] = True
    number = np.cumsum(taken, dtype=np.int32).reshape(taken.shape) - 1
    for piece in pieces(columns.size):
        columns[piece] = number[columns[piece], counts[piece]]
    values = np.nonzero(taken)[1].astype(np.float64)
    offsets = np.append(0, np.cumsum(taken.sum(axis=1))).astype(np.int32)
    return _sparse_rows(offsets, values, values, indptr, columns)


def _bin_values(
    parts: list[Matrix], indptr: Vector, columns: Vector, n_features: int
) -> BinnedRows:
    """Slots of any stored values, feature by feature."""
    if not all(part.has_canonical_format for part in parts):
        return _bin_sparse([_summed(part) for part in parts])
    codes = np.empty(columns.size, dtype=np.uint8)
    bounds = []
    for entries in _entries_by_column(columns, n_features):
        values = _gather(parts, entries)
        has_zeros = entries.size < indptr.size - 1
        bounds.append(slot_bounds(np.append(values, 0.0) if has_zeros else values.copy()))
        codes[entries] = slot_of(bounds[-1][0], values)
    offsets, lower, upper = _joined(bounds)
    slots = np.take(offsets, columns, out=columns, mode="clip")
    slots += codes
    return _sparse_rows(offsets, lower, upper, indptr, slots)


def _entries_by_column(columns: Vector, n_features: int) -> Iterator[Vector]:
    """Positions of the stored entries of each column, in turn."""
    width = -(-n_features // COLUMN_BLOCKS)
    for first in range(0, n_features, width):
        last = min(first + width, n_features)
        inside = columns >= first
        inside &= columns < last
        entries = np.flatnonzero(inside)
        block = columns[entries]
        entries = entries[np.argsort(block, kind="stable")]
        ends = np.cumsum(np.bincount(block - first, minlength=last - first))
        yield from np.split(entries, ends[:-1])


def _gather(parts: list[Matrix], entries: Vector) -> Vector:
    """Values at positions counted through all parts; positions ascend."""
    ends = np.cumsum([part.nnz for part in parts])
    pieces = np.split(entries, np.searchsorted(entries, ends[:-1]))
    starts = ends - [part.nnz for part in parts]
    return np.concatenate(
        [part.data[piece - at] for part, piece, at in zip(parts, pieces, starts, strict=True)]
    )


def _joined(bounds: list[tuple[Vector, Vector]]) -> tuple[Vector, Vector, Vector]:
    """First slot of each feature, and the bounds of all slots."""
    offsets = np.cumsum([0] + [lower.size for lower, _ in bounds]).astype(np.int32)
    lower, upper = (np.concatenate(side).astype(np.float64) for side in zip(*bounds, strict=True))
    return offsets, lower, upper


def _sparse_rows(
    offsets: Vector, lower: Vector, upper: Vector, indptr: Vector, slots: Vector
) -> BinnedRows:
    below_zero = np.add.reduceat(lower <= 0, offsets[:-1], dtype=np.int32)
    # A column without zeros has no slot for them and needs none.
    zero = offsets[:-1] + np.maximum(below_zero - 1, 0)
    return BinnedRows(offsets, lower, upper, zero=zero, codes=NO_CODES, indptr=indptr, slots=slots)
