import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from landbridge.feature_selection.moments import moments_of


def sample(seed=0, n_rows=200, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)) @ rng.normal(size=(4, 4)) + offset
    return X, rng.normal(size=n_rows) + X[:, 0], rng.choice(list("abc"), n_rows)


def assert_same(got, expected, rtol=1e-10):
    assert got.domains.tolist() == expected.domains.tolist()
    assert got.counts.tolist() == expected.counts.tolist()
    np.testing.assert_allclose(got.means, expected.means, rtol=rtol, atol=1e-12)
    scale = np.abs(expected.products).max()
    np.testing.assert_allclose(got.products, expected.products, rtol=rtol, atol=rtol * scale)


def test_moments_are_those_of_numpy():
    X, y, groups = sample()
    moments = moments_of(X, y, groups)
    for k, name in enumerate(moments.domains):
        Z = np.column_stack([X, y])[groups == name]
        np.testing.assert_allclose(moments.means[k], Z.mean(axis=0), rtol=1e-12)
        expected = np.cov(Z, rowvar=False, ddof=0) * len(Z)
        np.testing.assert_allclose(moments.products[k], expected, rtol=1e-10)


@given(st.lists(st.integers(1, 199), max_size=5, unique=True), st.randoms(use_true_random=False))
def test_any_batches_in_any_order_give_the_moments_of_all_rows(cuts, random):
    X, y, groups = sample()
    order = list(range(200))
    random.shuffle(order)
    parts = [part for part in np.split(np.array(order), sorted(cuts)) if part.size]
    merged = moments_of(X[parts[0]], y[parts[0]], groups[parts[0]])
    for part in parts[1:]:
        merged = merged.merge(moments_of(X[part], y[part], groups[part]))
    assert_same(merged, moments_of(X, y, groups))


def test_domains_may_be_in_one_part_only():
    X, y, groups = sample()
    a, rest = groups == "a", groups != "a"
    merged = moments_of(X[a], y[a], groups[a]).merge(moments_of(X[rest], y[rest], groups[rest]))
    assert_same(merged, moments_of(X, y, groups))


def test_csr_gives_the_dense_moments():
    X, y, groups = sample()
    X[np.abs(X) < 0.5] = 0
    assert_same(moments_of(sparse.csr_array(X), y, groups), moments_of(X, y, groups))


def test_single_precision_survives_a_large_offset():
    X, y, groups = sample(offset=1000.0)
    X = X.astype(np.float32)
    single, double = moments_of(X, y, groups), moments_of(X.astype(float), y, groups)
    np.testing.assert_allclose(single.products, double.products, rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(single.means, double.means, rtol=1e-6)


def test_label_map_is_that_of_the_labels():
    X, y, groups = sample()
    assert_same(moments_of(X, y, groups).map_label(-3.0, 2.0), moments_of(X, -3 * y + 2, groups))


def test_merging_precisions_keeps_the_coarser_one():
    X, y, groups = sample()
    merged = moments_of(X, y, groups).merge(moments_of(X.astype(np.float32), y, groups))
    assert merged.precision == np.float32


def test_different_columns_cannot_be_merged():
    X, y, groups = sample()
    with pytest.raises(
        ValueError, match="must have the same columns to be merged; got 4 and 3 features"
    ):
        moments_of(X, y, groups).merge(moments_of(X[:, :3], y, groups))
    with pytest.raises(
        ValueError, match=r"Domains must be text in every batch.*'a', 'b', 'c'.*1, 2"
    ):
        moments_of(X, y, groups).merge(moments_of(X, y, np.resize([1, 2], y.size)))


@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_sparse_columns_without_zeros_survive_a_large_offset(offset):
    X, y, groups = sample()
    X[:, 1] = np.where(np.abs(X[:, 1]) < 0.5, 0, X[:, 1])  # a column with zeros stays as it is
    full = np.array([True, False, True, True])
    expected = moments_of(X + offset * full, y + offset, groups)
    moments = moments_of(sparse.csr_array(X + offset * full), y + offset, groups)
    scale = np.sqrt(np.einsum("kii->ki", expected.products))
    error = np.abs(moments.products - expected.products) / (scale[:, :, None] * scale[:, None])
    assert error.max() < 1e-15 * offset
    np.testing.assert_allclose(moments.means, expected.means, rtol=1e-12)


def test_entries_that_are_stored_in_pieces_are_added_first():
    X, y, _ = sample()
    X[0, 0] = 0.0  # not a full column, though as many entries are stored as there are rows
    rows, columns = np.nonzero(X)
    rows, columns = np.append(rows, 1), np.append(columns, 0)
    values = np.append(X[np.nonzero(X)], 0.0)
    order = np.lexsort((columns, rows))
    start = np.searchsorted(rows[order], np.arange(y.size + 1))
    pieces = sparse.csr_array((values[order], columns[order], start), shape=X.shape)
    assert not pieces.has_canonical_format
    one = np.zeros(y.size, dtype=int)
    assert_same(moments_of(pieces, y, one), moments_of(X, y, one))
    assert pieces.nnz == values.size  # what was given is not touched
