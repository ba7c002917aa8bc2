"""Kernel mean matching: the sentences of its docstring, its settings and its messages."""

from functools import partial

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

import landbridge as lb
from landbridge._kernel import resolve_gamma
from landbridge.datasets import make_covariate_shift
from landbridge.weighting import kernel_mean_matching as module
from landbridge.weighting._interior_point import LowRank, solve_box_and_slab
from landbridge.weighting.kernel_mean_matching import mean_embedding, resolve_components

MODES = [{"n_components": None}, {"n_components": 40}]


@pytest.fixture(scope="module")
def data():
    return make_covariate_shift(400, 300, 3, shift=0.7, scale=0.8, random_state=0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"setting": "paper"},
        {"bound": 1.7, "eps": 0.05},
        {"bound": 2.5, "eps": 0.0, "ridge": 0.0},
    ],
)
def test_constraints_hold_and_no_row_is_dropped(data, mode, limits):
    kmm = lb.KernelMeanMatching(**mode, **limits).fit(data.X, data.X_target)
    assert kmm.weights_.shape == (400,)
    assert kmm.weights_.min() >= 0
    assert kmm.weights_.max() <= kmm.bound_
    assert abs(kmm.weights_.sum() - 400) <= 400 * kmm.eps_ + 1e-11
    assert kmm.diagnostics_.n_at_bound == np.sum(kmm.weights_ >= kmm.bound_ * (1 - 1e-6))


def test_bound_is_reached_where_it_binds(data):
    kmm = lb.KernelMeanMatching(bound=1.7).fit(data.X, data.X_target)
    assert kmm.diagnostics_.n_at_bound > 10


def test_settings_fill_in_what_is_not_given(data):
    median = resolve_gamma("median", data.X, data.X_target, np.random.RandomState(0))
    kmm = lb.KernelMeanMatching().fit(data.X, data.X_target)
    assert (kmm.bound_, kmm.eps_, kmm.ridge_) == (1000.0, 0.0, 0.15)
    assert kmm.gamma_ == pytest.approx(0.3 * median)
    paper = lb.KernelMeanMatching(setting="paper").fit(data.X, data.X_target)
    assert (paper.bound_, paper.eps_, paper.ridge_) == (1000.0, 0.95, 0.0)
    assert paper.gamma_ == pytest.approx(median)
    mixed = lb.KernelMeanMatching(setting="paper", ridge=2.0, bound=7, eps=0.5, gamma=1.0)
    mixed.fit(data.X, data.X_target)
    assert (mixed.bound_, mixed.eps_, mixed.ridge_, mixed.gamma_) == (7.0, 0.5, 2.0, 1.0)
    huang = lb.KernelMeanMatching(eps="huang").fit(data.X, data.X_target)
    assert huang.eps_ == 0.95


def test_objective_is_that_of_the_problem(data):
    kmm = lb.KernelMeanMatching(gamma=0.2, ridge=0.5).fit(data.X, data.X_target)
    beta, K = kmm.weights_, rbf_kernel(data.X, gamma=0.2)
    kappa = 400 / 300 * rbf_kernel(data.X, data.X_target, gamma=0.2).sum(axis=1)
    expected = 0.5 * beta @ K @ beta + 0.25 * beta @ beta - kappa @ beta
    assert kmm.objective_ == pytest.approx(expected)
    nearby = beta + 0.01 * np.random.default_rng(0).normal(size=400)
    nearby = np.clip(nearby, 0, None) * 400 / np.clip(nearby, 0, None).sum()
    assert 0.5 * nearby @ K @ nearby + 0.25 * nearby @ nearby - kappa @ nearby > expected


def test_all_rows_as_landmarks_give_the_exact_answer(data):
    exact = lb.KernelMeanMatching(n_components=None).fit(data.X, data.X_target)
    full = lb.KernelMeanMatching(n_components=2000).fit(data.X, data.X_target)
    np.testing.assert_allclose(full.weights_, exact.weights_, atol=1e-3)


def test_features_keep_the_trace_of_the_kernel(data):
    """With the trace, the exact objective comes nearer to its minimum than without it."""
    parameters = {"setting": "paper", "gamma": 0.5}
    K = rbf_kernel(data.X, gamma=0.5)
    kappa = mean_embedding(data.X, data.X_target, "rbf", 0.5)
    exact = lb.KernelMeanMatching(**parameters).fit(data.X, data.X_target)
    near = lb.KernelMeanMatching(**parameters, n_components=60).fit(data.X, data.X_target)
    form = LowRank(near._map.transform(data.X))
    bare = solve_box_and_slab(form, form.times(400 * near._target_mean), bound=1000.0, eps=0.95)

    def regret(beta):
        return 0.5 * beta @ K @ beta - kappa @ beta - exact.objective_

    assert 0 < regret(near.weights_) < regret(bare.beta)
    assert near._diagonal + form.mean_diagonal() == pytest.approx(1.0)


def test_features_come_near_the_exact_weights(data):
    exact = lb.KernelMeanMatching(n_components=None).fit(data.X, data.X_target).weights_
    for mode in MODES[1:]:
        near = lb.KernelMeanMatching(**{**mode, "n_components": 150}).fit(data.X, data.X_target)
        assert np.corrcoef(near.weights_, exact)[0, 1] > 0.9


def test_automatic_features_do_not_depend_on_the_order_of_rows():
    data = make_covariate_shift(2100, 700, 4, random_state=3)
    order, other = np.random.default_rng(0).permutation(2100), np.arange(700)[::-1]
    kmm = lb.KernelMeanMatching().fit(data.X, data.X_target)
    assert kmm.n_components_ == 256
    again = lb.KernelMeanMatching().fit(data.X[order], data.X_target[other])
    np.testing.assert_allclose(again.weights_, kmm.weights_[order], atol=1e-5)


def test_number_of_components():
    assert resolve_components("auto", 2000) is None
    assert resolve_components("auto", 2001) == 256
    assert resolve_components("auto", 20_001) == 128
    assert resolve_components(None, 10**6) is None
    assert resolve_components(np.int64(7), 5) == 7


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bound", [1000.0, 1.7])
@pytest.mark.parametrize("eps", [0.0, 0.4])
def test_predict_weights_reproduces_the_weights_of_fit(data, mode, bound, eps):
    kmm = lb.KernelMeanMatching(**mode, bound=bound, eps=eps).fit(data.X, data.X_target)
    np.testing.assert_allclose(kmm.predict_weights(data.X), kmm.weights_, atol=2e-3)


def test_predict_weights_follows_the_true_ratio_at_new_rows(monkeypatch, data):
    new = make_covariate_shift(200, 10, 3, shift=0.7, scale=0.8, random_state=9)
    for mode in MODES:
        kmm = lb.KernelMeanMatching(**mode).fit(data.X, data.X_target)
        weights = kmm.predict_weights(new.X)
        assert np.corrcoef(weights, new.weights)[0, 1] > 0.85
        monkeypatch.setattr("landbridge._kernel.BLOCK_VALUES", 999)
        np.testing.assert_allclose(kmm.predict_weights(new.X), weights, atol=1e-8)
        monkeypatch.undo()


def test_predict_weights_needs_a_ridge(data):
    kmm = lb.KernelMeanMatching(setting="paper").fit(data.X, data.X_target)
    with pytest.raises(ValueError, match="`ridge` must be positive to weight new rows; got 0"):
        kmm.predict_weights(data.X)


@pytest.mark.parametrize("name", ["linear", "poly", "polynomial", "laplacian", "cosine", "chi2"])
@pytest.mark.parametrize("n_components", [None, 30])
def test_other_kernels(data, name, n_components):
    X, T = np.exp(data.X), np.exp(data.X_target)
    kmm = lb.KernelMeanMatching(kernel=name, n_components=n_components, ridge=1.0).fit(X, T)
    before, after = kmm.diagnostics_.mean_gap_before, kmm.diagnostics_.mean_gap_after
    assert np.abs(after).max() < np.abs(before).max()


def test_kernel_that_is_not_positive_semi_definite_is_refused(data):
    kmm = lb.KernelMeanMatching(kernel="sigmoid", gamma=5.0, ridge=0.0)
    with pytest.raises(ValueError, match="`kernel` must be positive semi-definite.*'sigmoid'"):
        kmm.fit(data.X, data.X_target)


def test_mean_embedding_in_blocks(monkeypatch, data):
    expected = 400 / 300 * rbf_kernel(data.X, data.X_target, gamma=0.3).sum(axis=1)
    monkeypatch.setattr("landbridge._kernel.BLOCK_VALUES", 300 * 7)
    np.testing.assert_allclose(mean_embedding(data.X, data.X_target, "rbf", 0.3), expected)


def test_sparse_rows_with_features(data):
    X, T = (np.where(np.abs(part) > 0.4, part, 0) for part in (data.X, data.X_target))
    kmm = lb.KernelMeanMatching(n_components=40)
    dense = kmm.fit(X, T).weights_
    thin = kmm.fit(sparse.csr_array(X), sparse.csr_array(T))
    np.testing.assert_allclose(thin.weights_, dense, atol=1e-6)
    np.testing.assert_allclose(thin.predict_weights(sparse.csr_array(X)), dense, atol=2e-3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "gauss"}, "`kernel` must be one of .*'rbf'.*; got 'gauss'"),
        ({"setting": "default"}, "`setting` must be one of 'evidence', 'paper'"),
        ({"bound": 1.0}, "`bound` must be a finite number above 1"),
        ({"bound": np.inf}, "`bound` must be a finite number above 1"),
        ({"ridge": -1.0}, "`ridge` must be a finite number of at least 0; got -1.0"),
        ({"eps": 1.5}, r"`eps` must be in \[0, 1\] or 'huang'; got 1.5"),
        ({"eps": "paper"}, r"`eps` must be in \[0, 1\] or 'huang'; got 'paper'"),
        ({"gamma": "auto"}, "`gamma` must be 'median' or a positive number; got 'auto'"),
        ({"gamma": 0.0}, "`gamma` must be 'median' or a positive number; got 0.0"),
        ({"n_components": 0}, "`n_components` must be 'auto', a positive integer or None; got 0"),
        ({"n_components": "many"}, "`n_components` must be 'auto', a positive integer or None"),
    ],
)
def test_bad_parameters_are_refused(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        lb.KernelMeanMatching(**parameters).fit(data.X, data.X_target)


def test_the_number_of_jobs_of_joblib_changes_no_digit():
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(701, 12)), rng.normal(0.3, 1, size=(503, 12))
    expected = lb.KernelMeanMatching().fit(X, X_target).weights_
    with parallel_config(backend="threading", n_jobs=2):
        found = lb.KernelMeanMatching().fit(X, X_target).weights_
    assert np.array_equal(found, expected)


def test_says_so_when_it_stops_before_the_optimum(monkeypatch, data):
    hasty = partial(module.solve_box_and_slab, max_iter=2)
    monkeypatch.setattr(module, "solve_box_and_slab", hasty)
    with pytest.warns(lb.NotConvergedWarning, match="stopped after 2 steps .* not optimal"):
        lb.KernelMeanMatching().fit(data.X, data.X_target)
