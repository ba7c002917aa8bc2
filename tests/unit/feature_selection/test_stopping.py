import numpy as np
import pytest
from scipy import stats

import landbridge as lb
from landbridge.feature_selection.moments import moments_of
from landbridge.feature_selection.statistics import FullStatistics, LazyStatistics
from landbridge.feature_selection.stopping import (
    bonferroni_threshold,
    corollary_3,
    held_out_losses,
    number_of_steps,
    theorem_1_holds,
    theorem_1_threshold,
)
from landbridge.feature_selection.t_greedy import greedy_path


def sample(seed=0, n_domains=5, p=8):
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_domains), 50)
    X = rng.normal(size=(codes.size, p)) + rng.normal(size=(n_domains, p))[codes]
    y = X[:, 0] - X[:, 1] + X[:, 2] * rng.normal(size=n_domains)[codes]
    return X, y + rng.normal(size=codes.size), codes


@pytest.mark.parametrize("make", [LazyStatistics, lambda *a: FullStatistics(moments_of(*a))])
@pytest.mark.parametrize("refit", ["stagewise", "ols"])
def test_held_out_losses_are_those_of_fits_without_the_domain(make, refit):
    X, y, codes = sample()
    options = {"criterion": "t", "max_steps": 6, "refit": refit}
    curves = held_out_losses(make(X, y, codes), 6, **options)
    for k in range(5):
        rest = codes != k
        for steps in (1, 4):
            model = lb.TGreedySelector("t", stop=None, max_steps=steps, refit=refit)
            model.fit(X[rest], y[rest], groups=codes[rest])
            error = np.mean((y[~rest] - model.predict(X[~rest])) ** 2)
            assert curves[steps, k] == pytest.approx(error, rel=1e-9)
        middle = np.mean([y[codes == j].mean() for j in range(5) if j != k])
        assert curves[0, k] == pytest.approx(np.mean((y[~rest] - middle) ** 2), rel=1e-9)


def test_held_out_curves_stay_where_a_path_has_ended():
    X, y, codes = sample()
    curves = held_out_losses(
        FullStatistics(moments_of(X, y, codes)), 40, criterion="gate", max_steps=40
    )
    assert curves.shape == (41, 5)
    assert np.isfinite(curves).all()
    assert np.array_equal(curves[-1], curves[-2])


def test_thresholds_by_hand():
    assert bonferroni_threshold(10, 6, 0.05) == pytest.approx(stats.t.isf(0.0025, 5))
    assert theorem_1_threshold(10, 0.05) == pytest.approx(np.sqrt(4 * np.log(400)))
    # (0.05 / 2)·exp(n / 8) reaches 10 features between 47 and 48 domains.
    assert not theorem_1_holds(np.log(10), 47, 0.05)
    assert theorem_1_holds(np.log(10), 48, 0.05)


def test_rules_count_the_steps_before_the_first_small_t():
    T = np.array([-90.0, 50.0, 1.0, 60.0])
    no_curves = np.full((5, 6), np.nan)
    assert number_of_steps("bonferroni", T, no_curves, 10, 0.05) == 2
    assert number_of_steps("bonferroni", T[:2], no_curves, 10, 0.05) == 2
    assert number_of_steps(None, T, no_curves, 10, 0.05) == 4
    curves = np.array([5.0, 3.0, 2.0, 4.0, 6.0])[:, None] * np.ones((1, 6))
    assert number_of_steps("domain", T, curves, 10, 0.05) == 2
    assert number_of_steps("bound", T, np.full((5, 60), np.nan), 10, 0.05) == 2


def test_the_bound_warns_where_its_condition_fails():
    with pytest.warns(lb.ConditionWarning, match="10 features and 6 domains, but 48 domains are"):
        number_of_steps("bound", np.ones(3), np.full((4, 6), np.nan), 10, 0.05)


def test_corollary_3_in_an_explicit_orthonormal_basis():
    X, y, codes = sample()
    statistics = FullStatistics(moments_of(X, y, codes))
    walk = greedy_path(statistics, criterion="t", max_steps=12)
    bound, holds = corollary_3(statistics, walk, 0.05)
    centre = np.mean([X[codes == k].mean(axis=0) for k in range(5)], axis=0)
    middle = np.mean([y[codes == k].mean() for k in range(5)])
    seen = []
    for step, i in enumerate(walk.feature):
        seen += [i] if i not in seen else []
        q, Z = len(seen), (X - centre)[:, seen]
        gram = np.mean([Z[codes == k].T @ Z[codes == k] / 50 for k in range(5)], axis=0)
        values, vectors = np.linalg.eigh(gram)
        basis = Z @ vectors / np.sqrt(values)  # another basis of the same space
        effects = np.array([basis[codes == k].T @ (y - middle)[codes == k] / 50 for k in range(5)])
        expected = effects.var(axis=0, ddof=1).sum()
        expected *= (8 * q * np.log(8) + 4 * np.log(2 / 0.05)) / 5
        assert bound[step] == pytest.approx(expected, rel=1e-6)
    assert not holds.any()


def test_corollary_3_holds_with_many_domains():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(80), 4)
    X = rng.normal(size=(320, 2))
    statistics = FullStatistics(moments_of(X, X[:, 0], codes))
    walk = greedy_path(statistics, criterion="loss", max_steps=1)
    assert corollary_3(statistics, walk, 0.05)[1].tolist() == [True]


def test_corollary_3_survives_a_duplicated_feature():
    X, y, codes = sample()
    statistics = FullStatistics(moments_of(X[:, [0, 0, 1]], y, codes))
    walk = greedy_path(statistics, criterion="loss", max_steps=2)
    walk = type(walk)(
        np.array([0, 1]),
        walk.T,
        walk.effects,
        walk.delta,
        np.array([0, 1]),
        walk.weights,
        walk.losses,
    )
    bound = corollary_3(statistics, walk, 0.05)[0]
    ratio = (16 * np.log(3) + 4 * np.log(40)) / (8 * np.log(3) + 4 * np.log(40))
    assert bound[1] / bound[0] == pytest.approx(ratio, rel=1e-4)


def test_dependent_features_in_single_precision_have_a_bound():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = (rng.normal(size=(360, 5)) @ rng.normal(size=(5, 60))).astype(np.float32)
        y, codes = X[:, 0] + X[:, 1] + rng.normal(size=360), np.repeat(np.arange(6), 60)
        statistics = FullStatistics(moments_of(X, y, codes))
        walk = greedy_path(statistics, max_steps=60)
        assert walk.selected.size > 6
        bound, _ = corollary_3(statistics, walk, 0.05)
        assert np.isfinite(bound).all()


def test_a_threshold_of_a_tiny_level_is_a_number():
    assert bonferroni_threshold(1000, 6, 1e-15) == pytest.approx(stats.t.isf(5e-19, 5))
