"""Bins: exact for few values, sparse stays sparse, small in memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from landbridge.boosting import binning
from landbridge.boosting.binning import MAX_BINS, bin_rows, pieces, slot_bounds, slot_of


def slots_of_rows(rows, shape):
    """The slots of every entry, zeros included, whatever the storage."""
    if not rows.is_sparse:
        return rows.codes + rows.offsets[:-1]
    out = np.tile(rows.entries.zero, (shape[0], 1))
    for row in range(shape[0]):
        for slot in rows.entries.slots[rows.entries.indptr[row] : rows.entries.indptr[row + 1]]:
            out[row, np.searchsorted(rows.offsets, slot, side="right") - 1] = slot
    return out


def slots_of_columns(rows, shape):
    """The same from the entries kept by column."""
    stored = rows.entries
    out = np.tile(stored.zero, (shape[0], 1))
    for feature in range(shape[1]):
        column = slice(stored.starts[feature], stored.starts[feature + 1])
        out[stored.holders[column], feature] = rows.offsets[feature] + stored.codes[column]
    return out


def assert_slots_hold_values(rows, X):
    slots = slots_of_rows(rows, X.shape)
    if rows.is_sparse:
        assert np.array_equal(slots, slots_of_columns(rows, X.shape))
    assert (rows.lower[slots] <= X).all()
    assert (rows.upper[slots] >= X).all()
    for feature in range(X.shape[1]):
        inside = slice(rows.offsets[feature], rows.offsets[feature + 1])
        assert (rows.lower[inside][1:] > rows.upper[inside][:-1]).all()


@pytest.mark.parametrize("values", ["counts", "large_counts", "reals", "negative"])
@pytest.mark.parametrize("split", [1, 2])
def test_every_entry_lies_in_its_slot_dense_and_sparse(values, split):
    rng = np.random.default_rng(0)
    X = {
        "counts": rng.poisson(0.6, size=(60, 7)).astype(float),
        "large_counts": rng.poisson(0.6, size=(60, 7)) * 200.0,
        "reals": np.where(rng.random((60, 7)) < 0.3, rng.random((60, 7)), 0.0),
        "negative": np.where(rng.random((60, 7)) < 0.4, rng.normal(size=(60, 7)), 0.0),
    }[values]
    X[:, 3] = 1.5 if values in ("reals", "negative") else 2.0  # a column without zeros
    parts = np.array_split(X, split)
    dense, thin = bin_rows(parts), bin_rows([sparse.csr_array(part) for part in parts])
    assert_slots_hold_values(dense, X)
    assert_slots_hold_values(thin, X)
    assert np.array_equal(slots_of_rows(dense, X.shape), slots_of_rows(thin, X.shape))
    assert np.array_equal(dense.lower, thin.lower)


@given(st.integers(1, 40), st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_counts_are_the_same_in_blocks_of_any_size(block, seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.5, size=(30, 6)).astype(float)
    parts = [sparse.csr_array(part) for part in np.array_split(X, 2)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binning, "BLOCK", block)
        rows = bin_rows(parts)
    assert_slots_hold_values(rows, X)
    whole = bin_rows(parts)
    for name in ("indptr", "slots", "starts", "holders", "codes", "zero"):
        assert np.array_equal(getattr(rows.entries, name), getattr(whole.entries, name))


@pytest.mark.parametrize(("n_rows", "size"), [(60, 2), (66_000, 4)])
def test_entries_take_two_bytes_where_rows_and_slots_fit(n_rows, size):
    X = sparse.csr_array(np.tile([[1.0, 0.0], [0.0, 2.0]], (n_rows // 2, 1)))
    rows = bin_rows([X])
    assert rows.entries.slots.itemsize == rows.entries.holders.itemsize == size
    assert rows.entries.holders[-1] == n_rows - 1


def test_few_distinct_values_get_a_slot_each():
    values = np.array([3.0, 1.0, 1.0, -2.0])
    lower, upper = slot_bounds(values.copy())
    assert lower.tolist() == upper.tolist() == [-2.0, 1.0, 3.0]
    assert slot_of(lower, values).tolist() == [2, 1, 1, 0]


@given(st.integers(256, 3000), st.integers(0, 100))
@settings(max_examples=20, deadline=None)
def test_many_distinct_values_are_cut_at_quantiles(n, seed):
    values = np.random.default_rng(seed).normal(size=n)
    lower, upper = slot_bounds(values.copy())
    assert lower.size == MAX_BINS
    counts = np.bincount(slot_of(lower, values), minlength=MAX_BINS)
    assert counts.min() >= n // MAX_BINS
    assert counts.max() <= -(-n // MAX_BINS)
    assert lower[0] == values.min()
    assert upper[-1] == values.max()


def test_sparse_columns_with_many_values_stay_within_a_byte():
    rng = np.random.default_rng(1)
    X = sparse.csr_array(sparse.random(2000, 2, 0.5, random_state=rng))
    rows = bin_rows([X])
    assert np.diff(rows.offsets).max() <= MAX_BINS
    assert_slots_hold_values(rows, X.toarray())


@pytest.mark.parametrize("kind", ["dense", "counts"])
def test_binning_needs_less_than_the_binned_rows_beside_them(kind):
    rng = np.random.default_rng(0)
    if kind == "dense":
        X = rng.normal(size=(50_000, 30))
    else:
        X = sparse.csr_array(sparse.random(4000, 500, 0.1, random_state=rng))
        X.data = np.ceil(X.data * 3)
    bin_rows([X[:50]])
    tracemalloc.start()
    rows = bin_rows([X])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * sum(array.nbytes for array in (rows.codes, *rows.entries))


@pytest.mark.parametrize("unit", [1.0, 0.3])
def test_a_column_twice_in_a_row_is_summed_in_a_copy(unit):
    values = unit * np.array([1.0, 2.0, 1.0])
    X = sparse.csr_array((values, np.array([2, 0, 2]), np.array([0, 3])))
    before = X.indices.copy()
    rows = bin_rows([X])
    assert np.array_equal(X.indices, before)
    assert rows.lower[rows.entries.slots].tolist() == [2 * unit, 2 * unit]


def test_entries_may_stand_in_any_order():
    X = sparse.csr_array((np.array([3.0, 1.0, 2.0]), np.array([2, 0, 1]), np.array([0, 2, 3])))
    assert_slots_hold_values(bin_rows([X]), X.toarray())


def test_pieces_cover_everything_once():
    covered = np.concatenate([np.arange(10)[piece] for piece in pieces(10, 4)])
    assert covered.tolist() == list(range(10))
    assert list(pieces(0)) == []
