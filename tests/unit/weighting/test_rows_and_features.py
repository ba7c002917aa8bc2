"""Choices that do not depend on the order of rows, kernel widths, feature maps."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances

import landbridge as lb
from landbridge._kernel import choose_rows, deal_folds, kernel, mean_self_kernel, resolve_gamma
from landbridge._low_rank import fit_low_rank_features


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(300, 4))


def seeded():
    return np.random.RandomState(5)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_choice_of_rows_ignores_their_order(rows, convert):
    shuffled = np.random.default_rng(1).permutation(rows)
    one, two = (choose_rows(convert(X), 20, seeded()) for X in (rows, shuffled))
    one, two = (part.toarray() if sparse.issparse(part) else part for part in (one, two))
    assert one.shape == (20, 4)
    assert np.array_equal(one, two)
    assert choose_rows(rows, 300, seeded()) is rows


def test_folds_travel_with_the_rows(rows):
    order = np.random.default_rng(1).permutation(300)
    folds = deal_folds(rows, 7, seeded())
    assert np.array_equal(deal_folds(rows[order], 7, seeded()), folds[order])
    assert set(np.bincount(folds)) == {42, 43}


def test_widths_by_their_formulas(rows):
    other = rows[:100] + 1
    squares = euclidean_distances(np.vstack([rows, other]), squared=True)
    median = np.median(squares[np.triu_indices(400, 1)])
    assert resolve_gamma("median", rows, other, seeded()) == pytest.approx(1 / (2 * median))
    assert resolve_gamma(2, rows, other, seeded()) == 2.0


def test_widths_of_constant_rows_are_one():
    same = np.ones((5, 2))
    assert resolve_gamma("median", same, same, seeded()) == 0.5


def test_the_mean_of_low_rank_features_and_their_single_precision(monkeypatch, rows):
    how = {"spec": "rbf", "gamma": 0.3, "rank": 16, "random_state": 0}
    features = fit_low_rank_features(rows, rows[:50] + 1, **how)
    expected = features.transform(rows)
    monkeypatch.setattr("landbridge._kernel.BLOCK_VALUES", 16 * 7)
    np.testing.assert_allclose(features.transform(rows), expected, rtol=1e-12)
    np.testing.assert_allclose(features.mean(rows), expected.mean(axis=0), atol=1e-12)
    single = features.transform(rows, np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, atol=1e-5)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "chi2", "linear", "poly", "cosine"])
def test_mean_of_the_kernel_of_a_row_with_itself(rows, name):
    rows = np.abs(rows)
    expected = np.mean(np.diagonal(kernel(rows, rows, name, 0.3)))
    assert mean_self_kernel(rows, name, 0.3) == pytest.approx(expected)


@pytest.mark.parametrize(
    "method",
    [
        lb.KernelMeanMatching(),
        lb.KernelMeanMatching(n_components=30),
        lb.KLIEP(),
        lb.RuLSIF(),
        lb.ClassifierRatio(),
    ],
    ids=["exact", "nystroem", "kliep", "rulsif", "classifier"],
)
@pytest.mark.parametrize("far", [1e8, -1e9])
def test_rows_far_from_the_origin_have_the_weights_of_rows_near_it(method, far):
    rng = np.random.default_rng(0)
    # Eighths are exact in both places.
    X, T = (np.round(8 * rng.normal(m, 1, size=(60, 3))) / 8 for m in (0.0, 0.4))
    near = clone(method).fit(X, T)
    away = clone(method).fit(X + far, T + far)
    np.testing.assert_allclose(away.weights_, near.weights_, atol=2e-4)
    np.testing.assert_allclose(
        away.predict_weights(T + far), near.predict_weights(T), atol=2e-4, rtol=2e-4
    )
