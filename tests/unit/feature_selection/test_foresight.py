"""The guess which columns a path needs next: it saves products and never changes the path."""

import numpy as np
import pytest

from landbridge.feature_selection.foresight import FOLLOWED, RIDGE, SPARE_STEPS, Foresight, Outlook
from landbridge.feature_selection.moments import moments_of
from landbridge.feature_selection.statistics import BLOCK, FullStatistics, LazyStatistics
from landbridge.feature_selection.t_greedy import greedy_path, make_score


def mixtures(seed=0, n_rows=3000, p=400, n_factors=10, n_domains=6):
    """Features that are noisy mixtures of a few common factors."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n_rows) % n_domains
    loadings = rng.normal(size=(n_factors, p))
    X = rng.normal(size=(n_rows, n_factors)) @ loadings + rng.normal(size=(n_rows, p))
    X += rng.normal(size=(n_domains, p))[codes] * 0.3
    beta = 0.1 * rng.normal(size=p) + 0.05 * rng.normal(size=(n_domains, p))[codes]
    return X, (X * beta).sum(axis=1) + rng.normal(size=n_rows), codes


def outlook(points, *, mean=None, steps_left=1):
    mean = points if mean is None else mean
    size = np.ones_like(points)
    return Outlook(
        mean, points, points, lambda i: make_score("t", size[i], 5, 0.05), steps_left=steps_left
    )


def multiplied(lazy, **options):
    """The path, and how many columns were multiplied out for it at a time."""
    calls, original = [], lazy._multiply
    lazy._multiply = lambda features: (calls.append(len(features)), original(features))
    return greedy_path(lazy, **options), calls


@pytest.mark.parametrize("scale", [1.0, 1e-8, 1e6])
def test_factor_is_that_of_the_nystrom_approximation(scale):
    rng = np.random.default_rng(0)
    second = np.cov(rng.normal(size=(50, 8)) @ rng.normal(size=(8, 8)), rowvar=False) * scale
    foresight = Foresight(np.diag(second))
    foresight.learn([5, 1], second[[5, 1]])
    foresight.learn([2], second[[2]])
    unit = second / np.sqrt(np.outer(np.diag(second), np.diag(second)))
    S, followed = [5, 1, 2], np.array([7, 0, 1, 3])
    inner = np.linalg.inv(unit[np.ix_(S, S)] + RIDGE * np.eye(3))
    expected = unit[np.ix_(followed, S)] @ inner @ unit[np.ix_(S, followed)]
    factor = foresight._factor(followed)
    np.testing.assert_allclose(factor.T @ factor, expected, rtol=1e-4, atol=1e-5)


def test_features_at_hand_foretell_what_a_step_does_to_the_others():
    # 0 and 1 are the same feature and 2 is their negative: whoever is taken, the rest is done.
    second = np.eye(5)
    second[:3, :3] = np.outer([1, 1, -1], [1, 1, -1])
    foresight = Foresight(np.ones(5))
    T = np.array([9.0, 8.0, -8.0, 2.0, 1.5])
    view = Outlook(T, T, np.abs(T), lambda i: make_score("t", np.ones(i.size), 5, 0.05), 3)
    assert foresight.next_picks(0, view, 3) == [0, 1, 2]
    foresight.learn([0], second[[0]])
    assert foresight.next_picks(1, view, 3) == [1, 3, 4]


def test_the_feature_asked_for_comes_first_and_a_block_is_bounded():
    points = np.arange(1.0, FOLLOWED + 101)
    foresight = Foresight(np.ones(points.size))
    best = points.size - 1
    assert foresight.next_picks(0, outlook(points), 1) == [0]
    few = foresight.next_picks(0, outlook(points, steps_left=2), 3)
    assert few == [0, best - 1, best]
    many = foresight.next_picks(0, outlook(points, steps_left=5), 1000)
    assert len(many) == 5 + SPARE_STEPS
    points[:] = 0.0
    points[:2] = np.inf  # A spread of zero tells nothing about what comes next.
    assert foresight.next_picks(0, outlook(points, mean=np.ones_like(points)), 3) == [0]


@pytest.mark.parametrize("criterion", ["t", "loss", "gate"])
def test_foresight_multiplies_out_fewer_columns_than_the_order_of_scores(criterion, monkeypatch):
    X, y, codes = mixtures()
    options = {"criterion": criterion, "max_steps": 100}
    walk, calls = multiplied(LazyStatistics(X, y, codes), **options)
    assert max(calls) <= BLOCK
    monkeypatch.setattr(Foresight, "learn", lambda *_: None)
    blind, blind_calls = multiplied(LazyStatistics(X, y, codes), **options)
    assert walk.feature.tolist() == blind.feature.tolist()
    assert sum(calls) < sum(blind_calls)
    assert len(calls) <= len(blind_calls)


@pytest.mark.parametrize("refit", ["stagewise", "ols"])
@pytest.mark.parametrize("guess", ["none", "wrong"])
def test_a_bad_guess_costs_time_and_nothing_else(guess, refit, monkeypatch):
    X, y, codes = mixtures(p=60)
    rng = np.random.default_rng(0)

    def next_picks(self, feature, outlook, most):
        others = [] if guess == "none" else rng.permutation(60)[:5].tolist()
        return [feature, *(i for i in others if i != feature and not self._at_hand[i])]

    full = greedy_path(FullStatistics(moments_of(X, y, codes)), max_steps=50, refit=refit)
    monkeypatch.setattr(Foresight, "next_picks", next_picks)
    lazy = greedy_path(LazyStatistics(X, y, codes), max_steps=50, refit=refit)
    assert lazy.feature.tolist() == full.feature.tolist()
    np.testing.assert_allclose(lazy.weights, full.weights, rtol=1e-7, atol=1e-10)


def test_few_columns_where_few_features_are_asked_for():
    X, y, codes = mixtures()
    walk, calls = multiplied(LazyStatistics(X, y, codes), n_features=2, max_steps=400)
    assert walk.selected.size == 2
    assert sum(calls) <= 2 * (2 + SPARE_STEPS)
    lazy = LazyStatistics(X, y, codes)
    lazy.column(7)
    assert list(lazy._columns) == [7]
