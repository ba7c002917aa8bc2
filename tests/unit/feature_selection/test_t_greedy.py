import numpy as np
import pytest
from benchmarks._residual_path import residual_path
from scipy import sparse, stats

from landbridge.feature_selection.moments import moments_of
from landbridge.feature_selection.statistics import FullStatistics, LazyStatistics, statistics_of
from landbridge.feature_selection.t_greedy import (
    first_of_best,
    greedy_path,
    make_score,
    t_statistics,
)


def sample(seed=0, n_domains=6, n_rows=60, p=40):
    """Correlated features with offsets, invariant and changing effects."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_domains), n_rows)
    X = rng.normal(size=(codes.size, p)) @ (np.eye(p) + 0.2 * rng.normal(size=(p, p)))
    X += rng.normal(size=p) * 3 + rng.normal(size=(n_domains, p))[codes] * 0.3
    beta = np.where(np.arange(p) < 8, 0.5, 0) + rng.normal(size=(n_domains, p))[codes] * 0.2
    y = (X * beta).sum(axis=1) + rng.normal(size=codes.size)
    return X, y, codes


FORMS = [("t", "stagewise"), ("loss", "stagewise"), ("gate", "stagewise"), ("t", "ols")]


@pytest.mark.parametrize(("criterion", "refit"), FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_lazy_and_full_moments_give_one_path(criterion, refit, seed):
    X, y, codes = sample(seed)
    options = {"criterion": criterion, "refit": refit, "max_steps": 30}
    full = greedy_path(FullStatistics(moments_of(X, y, codes)), **options)
    lazy = greedy_path(LazyStatistics(X, y, codes), **options)
    thin = greedy_path(LazyStatistics(sparse.csr_array(X), y, codes), **options)
    for other in (lazy, thin):
        assert other.feature.tolist() == full.feature.tolist()
        np.testing.assert_allclose(other.T, full.T, rtol=1e-7)
        np.testing.assert_allclose(other.weights, full.weights, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(other.losses, full.losses, rtol=1e-8)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("criterion", ["t", "t_signed", "loss", "gate"])
@pytest.mark.parametrize("seed", range(3))
def test_residual_form_gives_the_same_path(criterion, center, seed):
    X, y, codes = sample(seed)
    options = {"criterion": criterion, "center": center, "max_steps": 60}
    walk = greedy_path(LazyStatistics(X, y, codes), **options)
    feature, T, delta = residual_path(X, y, codes, **options)
    assert feature.tolist() == walk.feature.tolist()
    np.testing.assert_allclose(T, walk.T, rtol=1e-6)
    np.testing.assert_allclose(delta, walk.delta, rtol=1e-8)


def test_residual_form_may_have_nothing_to_pick():
    X, y, codes = sample()
    assert residual_path(X, np.ones_like(y), codes)[0].size == 0


@pytest.mark.parametrize("seed", range(3))
def test_single_precision_starts_with_the_same_picks(seed):
    X, y, codes = sample(seed)
    double = greedy_path(LazyStatistics(X, y, codes), max_steps=10)
    single = greedy_path(LazyStatistics(X.astype(np.float32), y, codes), max_steps=10)
    assert single.feature.tolist() == double.feature.tolist()
    np.testing.assert_allclose(single.T, double.T, rtol=1e-3)


@pytest.mark.parametrize("refit", ["stagewise", "ols"])
def test_losses_are_those_of_the_weights_in_every_domain(refit):
    X, y, codes = sample()
    train = np.array([True, True, True, True, False, True])
    walk = greedy_path(
        FullStatistics(moments_of(X, y, codes)), max_steps=7, refit=refit, train=train
    )
    centre = np.mean([X[codes == k].mean(axis=0) for k in np.flatnonzero(train)], axis=0)
    middle = np.mean([y[codes == k].mean() for k in np.flatnonzero(train)])
    for step in (1, 4, 7):
        weights = np.zeros(X.shape[1])
        weights[walk.selected] = walk.weights[step - 1]
        residual = y - middle - (X - centre) @ weights
        expected = [np.mean(residual[codes == k] ** 2) for k in range(6)]
        np.testing.assert_allclose(walk.losses[step], expected, rtol=1e-10)


def test_t_is_the_t_test_of_the_domain_effects():
    effects = np.random.default_rng(0).normal(0.5, 1, size=(7, 5))
    mean, T = t_statistics(effects)
    np.testing.assert_allclose(T, stats.ttest_1samp(effects, 0).statistic)
    np.testing.assert_allclose(mean, effects.mean(axis=0))


def test_no_spread_means_infinite_t_and_no_effect_means_zero():
    effects = np.array([[1.0, 0.0, -2.0, 1e-9], [1.0, 0.0, -2.0, 1e-9]])
    mean, T = t_statistics(effects, noise=1e-6)
    assert T.tolist() == [np.inf, 0.0, -np.inf, 0.0]
    assert mean.tolist() == [1.0, 0.0, -2.0, 0.0]


def test_scores_by_hand():
    mean, T, size = np.array([1.0, -3.0, 2.0]), np.array([9.0, -1.0, 4.0]), np.array([1.0, 2.0, 0])
    assert make_score("t", size, 5, 0.05)(mean, T).tolist() == [9.0, 1.0, 0.0]
    assert make_score("loss", size, 5, 0.05)(mean, T).tolist() == [1.0, 4.5, 0.0]
    # The two-sided 5 % point of t with four degrees of freedom is 2.7764.
    gate = make_score("gate", np.ones(4), 5, 0.05)
    assert gate(np.ones(4), np.array([2.77, 2.78, -2.77, -2.78])).tolist() == [0.0, 1.0, 0.0, 1.0]
    assert make_score("gate", size, 5, 0.05)(mean, T).tolist() == [1.0, 0.0, 0.0]
    # One domain has no T; the gate then lets everything pass.
    assert make_score("gate", size, 1, 0.05)(mean, T).tolist() == [1.0, 4.5, 0.0]


def test_ties_go_to_the_lowest_index():
    assert first_of_best(np.array([1.0, 2.0 - 1e-12, 2.0])) == 1
    assert first_of_best(np.array([1.0, np.inf, np.inf])) == 1
    X, y, codes = sample(p=5)
    twice = np.hstack([X, X])
    walk = greedy_path(FullStatistics(moments_of(twice, y, codes)), max_steps=5)
    assert walk.feature.max() < 5


def test_constant_features_are_never_picked():
    X, y, codes = sample(p=4)
    for value in (0.0, 1e6, 0.1):
        X[:, 2] = value
        for data in (X, X.astype(np.float32)):
            statistics = FullStatistics(moments_of(data, y, codes))
            assert 2 not in greedy_path(statistics, criterion="loss", max_steps=50).feature


def test_a_path_ends_when_everything_is_explained():
    X, _, codes = sample(p=3)
    statistics = FullStatistics(moments_of(X, X @ [1.0, 2.0, -1.0], codes))
    walk = greedy_path(statistics, criterion="loss", refit="ols", max_steps=50)
    assert walk.feature.size == 3
    np.testing.assert_allclose(walk.losses[-1], 0, atol=1e-10)


def test_refitting_survives_features_that_are_nearly_the_same():
    X, y, codes = sample(p=4)
    near = np.hstack([X, X + 1e-7 * np.random.default_rng(0).normal(size=X.shape)])
    statistics = FullStatistics(moments_of(near, y, codes))
    walk = greedy_path(statistics, criterion="t", refit="ols", max_steps=30)
    assert np.unique(walk.feature).size == walk.feature.size
    assert np.isfinite(walk.weights).all()
    assert walk.losses[-1].mean() <= walk.losses[3].mean() + 1e-9


def test_infinite_t_of_a_useless_feature_is_not_picked():
    score = make_score("t", np.array([0.0, 1.0]), 4, 0.05)
    assert score(np.array([1e-20, 0.5]), np.array([np.inf, 3.0])).tolist() == [0.0, 3.0]


def test_order_of_rows_and_copies_of_rows_do_not_matter():
    X, y, codes = sample()
    walk = greedy_path(FullStatistics(moments_of(X, y, codes)), max_steps=20)
    order = np.random.default_rng(0).permutation(y.size)
    # Domain 0 counts as much as the others when all of its rows are there three times.
    order = np.concatenate([order, np.flatnonzero(codes == 0), np.flatnonzero(codes == 0)])
    again = greedy_path(FullStatistics(moments_of(X[order], y[order], codes[order])), max_steps=20)
    assert again.feature.tolist() == walk.feature.tolist()
    np.testing.assert_allclose(again.weights, walk.weights, rtol=1e-8)


def test_a_feature_that_is_constant_but_for_the_domain_left_out_is_not_picked():
    X, y, codes = sample(n_rows=53)
    X[codes != 2, 3] = -104.3  # Neither this nor 1/53 is exact, so that the mean is rounded.
    statistics = FullStatistics(moments_of(X, y, codes))
    train = np.arange(6) != 2
    walk = greedy_path(statistics, max_steps=200, train=train)
    assert 3 not in walk.feature
    assert np.isfinite(walk.losses).all()


def test_rows_of_evenly_spaced_domains_are_read_in_place():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    for codes in (np.repeat(np.arange(6), 10), np.arange(60) % 6):
        lazy = LazyStatistics(X, y, codes)
        assert all(np.shares_memory(domain.X, X) for domain in lazy._domains)
    far = X + 100
    assert not any(np.shares_memory(d.X, far) for d in LazyStatistics(far, y, codes)._domains)
    lazy = LazyStatistics(X, y, rng.permutation(codes))
    assert not any(np.shares_memory(domain.X, X) for domain in lazy._domains)


@pytest.mark.parametrize("offset", [0.0, 1.5, 1000.0])
def test_an_offset_of_the_columns_changes_nothing_and_is_left_to_the_caller(offset):
    X, y, codes = sample()
    rows = (X + offset).astype(np.float32)
    before = rows.copy()
    walk = greedy_path(LazyStatistics(rows, y, codes), max_steps=10)
    exact = rows.astype(np.float64)
    expected = greedy_path(FullStatistics(moments_of(exact, y, codes)), max_steps=10)
    assert walk.feature.tolist() == expected.feature.tolist()
    np.testing.assert_allclose(walk.weights, expected.weights, rtol=1e-3)
    np.testing.assert_array_equal(rows, before)


def test_full_moments_where_most_columns_are_needed_lazy_ones_elsewhere():
    X, y, codes = sample(p=40)
    assert isinstance(statistics_of(X, y, codes, n_columns=20), FullStatistics)
    assert isinstance(statistics_of(X, y, codes, n_columns=19), LazyStatistics)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_constant_column_of_a_sparse_matrix_is_never_picked(lazy):
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(6), 60)
    X = np.column_stack([rng.normal(size=(360, 2)), np.full((360, 3), [0.1, 3.7, 1e8])])
    y = X[:, 0] + rng.normal(size=360)
    rows = sparse.csr_array(X)
    statistics = (
        LazyStatistics(rows, y, codes) if lazy else FullStatistics(moments_of(rows, y, codes))
    )
    walk = greedy_path(statistics, max_steps=12)
    assert set(walk.feature) == {0, 1}


@pytest.mark.parametrize("criterion", ["t", "loss", "gate"])
@pytest.mark.parametrize("refit", ["stagewise", "ols"])
def test_scales_change_weights_and_nothing_else(criterion, refit):
    rng = np.random.default_rng(1)
    codes = np.repeat(np.arange(6), 60)
    X = rng.normal(size=(360, 6))
    y = X @ [1.0, -0.6, 0.4, 0.3, 0, 0] + rng.normal(size=360)
    scales = 10.0 ** np.array([8, -12, 0, 5, -5, 3])
    options = {"criterion": criterion, "refit": refit, "max_steps": 6}
    plain = greedy_path(FullStatistics(moments_of(X, y, codes)), **options)
    scaled = greedy_path(FullStatistics(moments_of(X * scales, y, codes)), **options)
    assert scaled.feature.tolist() == plain.feature.tolist()
    weights = scaled.weights * scales[scaled.selected]
    np.testing.assert_allclose(weights, plain.weights, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(scaled.losses, plain.losses, rtol=1e-8)
