"""Trees on binned rows: both routes, the exact tree, the trimming rule."""

import importlib
import importlib.util
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from landbridge.boosting import tree_growth
from landbridge.boosting.binning import bin_rows
from landbridge.boosting.tree_growth import LEAF, Limits, grow_tree, growth, leaf_of

needs_numba = pytest.mark.skipif(
    importlib.util.find_spec("numba") is None, reason="numba is not installed"
)


@pytest.fixture(scope="module")
def growth_without_numba():
    spec = importlib.util.find_spec("landbridge.boosting.growth")
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "numba", None)
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def without_numba(monkeypatch, growth_without_numba):
    monkeypatch.setattr(tree_growth, "growth", lambda: growth_without_numba)


def problem(seed, n=120, d=5, c=2, values=6, thin=False):
    """Few distinct values, so that scores tie often; the last quarter is the target."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, values, size=(n, d)).astype(float)
    if thin:
        X = np.where(rng.random((n, d)) < 0.3, X, 0.0)
    labels = ((X[:, 0] + X[:, 1] + rng.integers(0, 3, n)) % c).astype(np.int32)
    return X, labels, rng.exponential(size=n)


def grown(X, labels, weights, n_classes, limits, *, inside=None):
    return grow_tree(
        bin_rows([X]),
        labels,
        weights,
        n_classes,
        limits,
        first_target=3 * len(labels) // 4,
        inside=inside,
    )


def assert_same_tree(one, other):
    assert np.array_equal(one.feature, other.feature)
    assert np.array_equal(one.left, other.left)
    assert np.array_equal(one.n_rows, other.n_rows)
    np.testing.assert_allclose(one.threshold, other.threshold, rtol=1e-12)
    np.testing.assert_allclose(one.value, other.value, atol=1e-11)
    np.testing.assert_allclose(one.gain, other.gain, atol=1e-9 * max(1, abs(one.gain).max()))


@needs_numba
@given(
    st.integers(0, 10_000),
    st.sampled_from([2, 3]),
    st.booleans(),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([None, 0.5, 0.3]),
)
@settings(max_examples=40, deadline=None)
def test_both_routes_grow_the_same_tree(growth_without_numba, seed, c, thin, depth, error):
    X, labels, weights = problem(seed, c=c, thin=thin)
    X = sparse.csr_array(X) if thin else X
    limits = Limits(depth, error)
    with pytest.MonkeyPatch.context() as patch:
        native, native_leaf = grown(X, labels, weights, c, limits)
        patch.setattr(tree_growth, "growth", lambda: growth_without_numba)
        plain, plain_leaf = grown(X, labels, weights, c, limits)
    assert_same_tree(native, plain)
    assert np.array_equal(native_leaf, plain_leaf)


def test_the_route_follows_the_installation(growth_without_numba):
    plain = growth_without_numba
    assert plain.histogram is plain.histogram_in_numpy
    assert plain.best_split is plain.best_split_in_numpy


@needs_numba
def test_numba_is_used_where_it_is_installed():
    assert growth().histogram.py_func is growth().histogram_in_loops
    assert growth().best_split.py_func is growth().best_split_in_loops


@needs_numba
def test_functions_compile_also_where_nothing_can_be_kept_on_disk(monkeypatch):
    def njit(cache=False, error_model=None):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(growth(), "njit", njit)
    assert growth().native(len) is len


@pytest.fixture(params=["native", "numpy"])
def each_route(request):
    if request.param == "numpy":
        request.getfixturevalue("without_numba")
    elif importlib.util.find_spec("numba") is None:
        pytest.skip("numba is not installed")
    return request.param


@pytest.mark.parametrize("depth", [1, 4, None])
def test_the_tree_is_scikit_learns_where_values_are_few(each_route, depth):
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(150, 4)), 1)
    labels = (X[:, 0] + 0.5 * rng.normal(size=150) > 0).astype(np.int32)
    weights = rng.exponential(size=150)
    tree, leaves = grown(X, labels, weights, 2, Limits(depth, None))
    reference = DecisionTreeClassifier(max_depth=depth, random_state=0)
    reference.fit(X, labels, sample_weight=weights)
    assert np.array_equal(tree.labels[leaves], reference.predict(X))
    assert tree.depth == reference.get_depth()
    np.testing.assert_allclose(tree.value[leaves], reference.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("thin", [False, True])
def test_rows_end_where_apply_sends_them(each_route, thin):
    X, labels, weights = problem(5, c=3, thin=thin)
    X = sparse.csr_array(X) if thin else X
    tree, leaves = grown(X, labels, weights, 3, Limits(None, None))
    assert np.array_equal(leaf_of(tree, X), leaves)
    assert (tree.feature[leaves] == LEAF).all()
    assert np.array_equal(
        np.bincount(leaves, minlength=tree.feature.size)[leaves], tree.n_rows[leaves]
    )


def target_error(tree, leaves, labels, weights):
    target = slice(3 * len(labels) // 4, None)
    wrong = tree.labels[leaves[target]] != labels[target]
    return weights[target] @ wrong / weights[target].sum()


@pytest.mark.parametrize("error", [0.5, 0.35, 0.2])
def test_growth_ends_with_the_first_split_that_is_good_enough(each_route, error):
    n_trimmed = 0
    for seed in range(12):
        X, labels, weights = problem(seed)
        full, full_leaves = grown(X, labels, weights, 2, Limits(None, None))
        tree, leaves = grown(X, labels, weights, 2, Limits(None, error))
        if target_error(full, full_leaves, labels, weights) < error:
            assert target_error(tree, leaves, labels, weights) < error
        n_splits = int((tree.feature != LEAF).sum())
        assert np.array_equal(full.feature[:n_splits], tree.feature[:n_splits])
        n_trimmed += tree.feature.size < full.feature.size
        if n_splits > 1:  # one split fewer, the last in breadth-first order, was not good enough
            last = int(np.flatnonzero(tree.feature != LEAF)[-1])
            merged = np.where(np.isin(leaves, [tree.left[last], tree.right[last]]), last, leaves)
            assert target_error(tree, merged, labels, weights) >= error - 1e-9
    assert n_trimmed >= 6


def test_the_root_is_split_in_any_case(each_route):
    X, labels, weights = problem(2)
    tree, _ = grown(X, labels, weights, 2, Limits(None, 1.0))
    assert tree.depth == 1


def test_an_error_of_exactly_one_half_is_not_below_one_half(each_route):
    """The heavy source splits the root by the first feature, but the target needs the second."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 2)
    labels = np.array([0, 0, 1, 1, 0, 1, 0, 1], dtype=np.int32)
    weights = np.repeat([0.3, 0.1], 4)
    rows = bin_rows([X])
    tree, _ = grow_tree(rows, labels, weights, 2, Limits(1, None), first_target=4)
    assert tree.feature[0] == 0
    tree, _ = grow_tree(rows, labels, weights, 2, Limits(None, 0.5), first_target=4)
    assert tree.feature.size > 3  # its error is one half; it goes on and splits
    tree, _ = grow_tree(rows, labels, weights, 2, Limits(None, 0.5 + 1e-8), first_target=4)
    assert tree.feature.size == 3


def test_rows_outside_have_no_part(each_route):
    X, labels, weights = problem(6)
    inside = np.arange(0, 120, 2)
    tree, leaves = grown(X, labels, weights, 2, Limits(None, None), inside=inside)
    assert (leaves[1::2] == LEAF).all()
    alone, _ = grow_tree(
        bin_rows([X[inside]]),
        labels[inside],
        weights[inside],
        2,
        Limits(None, None),
        first_target=45,
    )
    assert_same_tree(tree, alone)


def test_scaling_all_weights_changes_nothing(each_route):
    X, labels, weights = problem(7)
    one, _ = grown(X, labels, weights, 2, Limits(None, None))
    other, _ = grown(X, labels, weights * 1e-9, 2, Limits(None, None))
    assert np.array_equal(one.feature, other.feature)
    assert np.array_equal(one.threshold, other.threshold)


def test_a_light_sibling_does_not_inherit_the_parents_rounding(each_route):
    X, labels, weights = problem(8, values=20)
    weights[X[:, 0] < 10] *= 1e-9
    tree, leaves = grown(X, labels, weights, 2, Limits(6, None))
    assert np.array_equal(leaf_of(tree, X), leaves)
    assert (tree.n_rows > 0).all()


def test_nothing_to_split_gives_a_single_leaf(each_route):
    tree, leaves = grown(
        np.ones((8, 2)), np.array([0, 1] * 4, dtype=np.int32), np.ones(8), 2, Limits()
    )
    assert tree.feature.tolist() == [LEAF]
    assert leaves.tolist() == [0] * 8
    assert leaf_of(tree, np.zeros((3, 2))).tolist() == [0, 0, 0]
    assert tree.depth == 0
