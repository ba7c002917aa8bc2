"""Features as small integers: binned once, shared by every tree of an ensemble.

Every feature has at most 255 *slots*. Slots are numbered consecutively across features, and slot
``s`` holds the values from ``lower[s]`` to ``upper[s]``. A feature with at most 255 distinct values
has one slot per value, so a tree grown on slots is exact. Dense rows take one byte per entry. The
stored entries of a CSR matrix are kept twice: by row, to compute histograms, and by column, to
split rows at a feature. They take two bytes each if the slot numbers fit. Zeros that are not stored
remain implicit.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from landbridge._typing import Matrix, Vector

MAX_BINS = 255
# Number of blocks in which columns of a CSR matrix are sorted, to avoid a full copy.
COLUMN_BLOCKS = 16
# Number of stored entries of a CSR matrix that are binned at a time.
BLOCK = 1 << 14
NOTHING = np.zeros(0, dtype=np.uint32)
NO_CODES = np.zeros((0, 0), dtype=np.uint8)


class Entries(NamedTuple):
    """The stored entries of sparse rows, by row and by column.

    ``slots[indptr[i]:indptr[i + 1]]`` are the slots of row ``i``, in any order. From ``starts[f]``
    to ``starts[f + 1]``, ``holders`` lists the rows with an entry in column ``f``, and ``codes``
    lists their slots, counted within the feature. ``zero[f]`` is the slot of zeros.
    """

    indptr: Vector
    slots: Vector
    starts: Vector
    holders: Vector
    codes: Vector
    zero: Vector


NO_ENTRIES = Entries(NOTHING, NOTHING, NOTHING, NOTHING, NO_CODES.reshape(-1), NOTHING)


class BinnedRows(NamedTuple):
    """Binned rows; ``offsets[f]`` is the first slot of feature ``f``.

    Dense rows are stored in ``codes`` of shape (rows, features), with slots counted within the
    feature. Sparse rows are stored in ``entries``.
    """

    offsets: Vector
    lower: Vector
    upper: Vector
    codes: Vector
    entries: Entries

    @property
    def is_sparse(self) -> bool:
        return self.entries.indptr.size > 0

    @property
    def n_rows(self) -> int:
        return self.entries.indptr.size - 1 if self.is_sparse else self.codes.shape[0]

    @property
    def n_slots(self) -> int:
        return self.lower.size


def bin_rows(parts: list[Matrix]) -> BinnedRows:
    """Bin several matrices as one, without stacking them."""
    if any(sparse.issparse(part) for part in parts):
        return _bin_sparse([sparse.csr_array(part) for part in parts])
    return _bin_dense(parts)


def slot_bounds(values: Vector) -> tuple[Vector, Vector]:
    """Smallest and largest value per slot of one feature, from distinct values or quantiles.

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
    """Slices that cover ``range(size)``, which keep temporary arrays small."""
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
    return BinnedRows(*_joined(bounds), codes=codes, entries=NO_ENTRIES)


def _bin_sparse(parts: list[Matrix]) -> BinnedRows:
    rows = None
    if all(_are_counts(part.data) for part in parts):
        rows = _bin_counts(parts)
    elif all(part.has_canonical_format for part in parts):
        rows = _bin_values(parts)
    return _bin_sparse([_summed(part) for part in parts]) if rows is None else rows


def _summed(part: Matrix) -> Matrix:
    """Sum duplicate entries without changing the argument."""
    if not part.has_canonical_format:
        part = part.copy()
        part.sum_duplicates()
    return part


def _are_counts(data: Vector) -> bool:
    """Whether the stored entries are counts below 255, such as word counts."""
    if data.size == 0:
        return True
    if data.min() < 0 or data.max() >= MAX_BINS:
        return False
    return all((data[piece] == np.floor(data[piece])).all() for piece in pieces(data.size))


def _bin_counts(parts: list[Matrix]) -> BinnedRows | None:
    """Bin counts by table lookup; return None if a row stores the same column twice."""
    taken, n_entries = _taken_counts(parts)
    number = np.cumsum(taken, dtype=np.int32) - 1
    offsets = _running_sum(taken.sum(axis=1))
    values = np.nonzero(taken)[1].astype(np.float64)
    code = (number - np.repeat(offsets[:-1], taken.shape[1])).astype(np.uint8)
    entries = _room(parts, n_entries, offsets, values)
    filled, at = entries.starts[:-1].astype(np.intp), 0
    for first_row, block in _blocks(parts):
        cell = _cell(block.indices, block.data, taken)
        entries.slots[at : at + cell.size] = number[cell]
        at += cell.size
        block.data = code[cell]
        del cell
        by_column = block.tocsc()
        if not by_column.has_canonical_format:
            return None
        _append(entries, filled, by_column, first_row)
    return BinnedRows(offsets, values, values, NO_CODES, entries)


def _append(entries: Entries, filled: Vector, block: Matrix, first_row: int) -> None:
    """Append a block of codes to the columns, after the ``filled`` entries."""
    sizes = np.diff(block.indptr)
    place = np.repeat(filled - block.indptr[:-1], sizes)
    place += np.arange(place.size)
    entries.holders[place] = block.indices + first_row
    entries.codes[place] = block.data
    filled += sizes


def _taken_counts(parts: list[Matrix]) -> tuple[Vector, Vector]:
    """Table of the counts that occur per feature, and the number of entries per feature."""
    most = max(int(part.data.max(initial=0)) for part in parts)
    taken = np.zeros((parts[0].shape[1], most + 1), dtype=bool)
    n_entries = np.zeros(parts[0].shape[1], dtype=np.intp)
    for part in parts:
        for piece in pieces(part.nnz):
            taken.reshape(-1)[_cell(part.indices[piece], part.data[piece], taken)] = True
            n_entries += np.bincount(part.indices[piece], minlength=n_entries.size)
    # A feature is zero in rows without an entry for it.
    taken[n_entries < sum(part.shape[0] for part in parts), 0] = True
    return taken, n_entries


def _cell(columns: Vector, counts: Vector, table: Vector) -> Vector:
    """Position of a feature and a count in a flat table."""
    return columns.astype(np.intp) * table.shape[1] + counts.astype(np.intp)


def _blocks(parts: list[Matrix]) -> Iterator[tuple[int, Matrix]]:
    """Yield blocks of rows with about ``BLOCK`` one-byte entries, and their first row number."""
    first_row = 0
    for part in parts:
        cuts = np.searchsorted(part.indptr, np.arange(BLOCK, part.nnz, BLOCK))
        edges = np.unique(np.concatenate([[0], cuts, [part.shape[0]]]))
        for start, stop in pairwise(edges):
            inside = slice(part.indptr[start], part.indptr[stop])
            counts = part.data[inside].astype(np.uint8)
            indptr = part.indptr[start : stop + 1] - part.indptr[start]
            shape = (stop - start, part.shape[1])
            yield first_row + start, sparse.csr_array((counts, part.indices[inside], indptr), shape)
        first_row += part.shape[0]


def _bin_values(parts: list[Matrix]) -> BinnedRows:
    """Slots of any stored values, feature by feature."""
    columns = np.concatenate([part.indices for part in parts], dtype=np.int32)
    n_features, n_rows = parts[0].shape[1], sum(part.shape[0] for part in parts)
    bounds = []
    for entries in _entries_by_column(columns, n_features):
        values = _gather(parts, entries)
        has_zeros = entries.size < n_rows
        bounds.append(slot_bounds(np.append(values, 0.0) if has_zeros else values.copy()))
    offsets, lower, upper = _joined(bounds)
    out = _room(parts, np.bincount(columns, minlength=n_features), offsets, lower)
    for f, entries in enumerate(_entries_by_column(columns, n_features)):
        here = slice(out.starts[f], out.starts[f + 1])
        out.codes[here] = slot_of(bounds[f][0], _gather(parts, entries))
        out.slots[entries] = offsets[f] + out.codes[here]
        out.holders[here] = np.searchsorted(out.indptr, entries, side="right") - 1
    return BinnedRows(offsets, lower, upper, NO_CODES, out)


def _entries_by_column(columns: Vector, n_features: int) -> Iterator[Vector]:
    """Yield the positions of the stored entries of each column."""
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
    """Return values at sorted positions in the concatenation of all parts."""
    ends = np.cumsum([part.nnz for part in parts])
    pieces = np.split(entries, np.searchsorted(entries, ends[:-1]))
    starts = ends - [part.nnz for part in parts]
    return np.concatenate(
        [part.data[piece - at] for part, piece, at in zip(parts, pieces, starts, strict=True)]
    )


def _joined(bounds: list[tuple[Vector, Vector]]) -> tuple[Vector, Vector, Vector]:
    """First slot of each feature, and the bounds of all slots."""
    offsets = np.cumsum([0] + [lower.size for lower, _ in bounds]).astype(np.uint32)
    lower, upper = (np.concatenate(side).astype(np.float64) for side in zip(*bounds, strict=True))
    return offsets, lower, upper


def _room(parts: list[Matrix], n_entries: Vector, offsets: Vector, lower: Vector) -> Entries:
    """Allocate the arrays for the entries of all parts."""
    row_sizes = np.concatenate([np.diff(part.indptr) for part in parts])
    small = np.uint16 if max(lower.size, row_sizes.size) <= 1 << 16 else np.uint32
    below_zero = np.add.reduceat(lower <= 0, offsets[:-1], dtype=np.int32)
    return Entries(
        indptr=_running_sum(row_sizes),
        slots=np.empty(n_entries.sum(), dtype=small),
        starts=_running_sum(n_entries),
        holders=np.empty(n_entries.sum(), dtype=small),
        codes=np.empty(n_entries.sum(), dtype=np.uint8),
        # A column without zeros has no bin for zero, and its entry here is never used.
        zero=(offsets[:-1] + np.maximum(below_zero - 1, 0)).astype(np.uint32),
    )


def _running_sum(sizes: Vector) -> Vector:
    """Start of each segment, followed by the end of the last one."""
    return np.append(0, np.cumsum(sizes)).astype(np.uint32)
