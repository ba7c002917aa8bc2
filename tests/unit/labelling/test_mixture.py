"""The mixture of classifiers: its posterior, and the rows that a batch takes."""

import numpy as np
import pytest
from scipy import stats

from landbridge.labelling import mixture
from landbridge.labelling.design import systematic_sample
from landbridge.labelling.mixture import Mixture
from landbridge.labelling.pool import make_pool


def make_mixture(n=600, skills=(0.9, 0.7, 0.7, 0.6), n_labels=0, seed=0):
    """A pool, true classes, and the posterior after the first labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    labels = np.stack([np.where(rng.random(n) < p, y, rng.integers(3, size=n)) for p in skills])
    pool = make_pool(0.8 * np.eye(3)[labels] + 0.2 / 3)
    known = make_pool(pool.values[:, :n_labels]) if n_labels else None
    return pool, y, Mixture.of(pool, known, y[:n_labels])


def halves(pool):
    """Means of the probabilities and the votes."""
    return (pool.values + np.eye(3)[pool.labels]) / 2


def test_without_labels_errors_are_those_expected_by_the_mean():
    pool, _, mixed = make_mixture()
    mean = halves(pool).mean(axis=0)
    expected = [1 - mean[np.arange(600), labels].mean() for labels in pool.labels]
    assert mixed.mean == pytest.approx(expected)


def test_the_posterior_is_a_penalised_least_squares_fit():
    """The weights of the docstring, from the normal equations with one line per row and class."""
    pool, y, mixed = make_mixture(n_labels=30)
    x = (np.moveaxis(halves(pool)[:, :30], 0, 2) - 1 / 3).reshape(-1, 4)
    target = (np.eye(3)[y[:30]] - 1 / 3).ravel()
    prior = mixture._prior_precision(4)
    equal = np.full(4, 1 / 4)
    weights = np.linalg.solve(x.T @ x + prior, x.T @ target + prior @ equal)
    values = np.tensordot(weights, halves(pool) - 1 / 3, 1) + 1 / 3
    right = (pool.labels == y)[:, :30].sum(axis=1)
    rows = np.arange(30, 600)
    right = right + [values[rows, labels[30:]].sum() for labels in pool.labels]
    assert mixed.mean == pytest.approx(1 - right / 600)
    assert mixed.precision == pytest.approx(x.T @ x + prior)


def test_the_size_of_the_parts_of_a_sum_does_not_matter(monkeypatch):
    whole = make_mixture(n_labels=30)[2]
    monkeypatch.setattr(mixture, "MOST_ROWS", 70)
    parts = make_mixture(n_labels=30)[2]
    assert parts.mean == pytest.approx(whole.mean)
    assert parts.pool == pytest.approx(whole.pool)


def test_the_prior_nearly_fixes_the_sum_of_the_weights():
    covariance = np.linalg.inv(mixture._prior_precision(5))
    independent = 5 / mixture.PRIOR_ROWS
    assert covariance.sum() == pytest.approx(mixture.SUM_VARIANCE * independent)


def test_a_census_is_the_truth():
    pool, y, mixed = make_mixture(n_labels=600)
    assert mixed.mean == pytest.approx((pool.labels != y).mean(axis=1))
    assert mixed.covariance == pytest.approx(np.zeros((4, 4)), abs=1e-12)


def test_labels_move_the_posterior_towards_the_truth():
    pool, y, _ = make_mixture()
    truth = (pool.labels != y).mean(axis=1)
    distances = []
    for n in (0, 50, 200):
        mean = make_mixture(n_labels=n)[2].mean
        distances.append(np.abs((mean - mean.mean()) - (truth - truth.mean())).max())
    assert distances[2] < distances[1] < distances[0]


def test_candidates_weigh_as_likely_as_no_difference_from_the_leader_is():
    mixed = make_mixture(n_labels=30)[2]
    found, leader, covariance = mixed.relative(), mixed.leader, mixed.covariance
    for cell in set(range(4)) - {leader}:
        contrast = np.eye(4)[cell] - np.eye(4)[leader]
        spread = np.sqrt(contrast @ covariance @ contrast)
        likelihood = stats.norm.pdf(mixed.mean[cell] - mixed.mean[leader], scale=spread)
        ratio = likelihood / stats.norm.pdf(0.0, scale=spread)
        assert found.weights[cell] / found.weights[leader] == pytest.approx(ratio)


def test_pairs_weigh_differences_only():
    """A quadratic form of differences: rows sum to zero, and no value is negative."""
    pairs = make_mixture(n_labels=50)[2].pairs()
    assert pairs.sum(axis=1) == pytest.approx(np.zeros(4))
    assert np.linalg.eigvalsh(pairs).min() > -1e-9


def test_a_batch_takes_disputed_rows_and_has_the_stated_probabilities():
    pool, _, mixed = make_mixture()
    left = np.ones(600, dtype=bool)
    left[:100] = False
    disputed = (pool.labels != pool.labels[0]).any(axis=0)
    counts = np.zeros(600)
    for seed in range(300):
        rng = np.random.default_rng(seed)
        scores = mixed.scores(pool, left, 20, 0.25, rng)
        rows = systematic_sample(scores.probabilities, scores.order, rng)
        assert rows.size == 20
        counts[rows] += 1
    probabilities = scores.probabilities
    assert probabilities.sum() == pytest.approx(20)
    assert probabilities[disputed].sum() > 20 * 1.2 * disputed.mean()
    assert (probabilities[left] > 0).all()
    assert not probabilities[~left].any()
    error = np.sqrt(probabilities * (1 - probabilities) / 300)
    assert np.abs(counts / 300 - probabilities)[left].max() < 5 * error[left].max()


def test_a_batch_is_more_precise_than_uniform_rows():
    """The design lowers the variance that it is made for."""
    pool, _, mixed = make_mixture()
    scores = mixed.scores(pool, np.ones(600, bool), 20, 0.0, np.random.default_rng(0))
    products = mixture._products(mixture._centred(pool.values, pool.labels))
    target = mixed.pool.T @ mixed.pairs() @ mixed.pool

    def variance(chosen):
        return np.trace(target @ np.linalg.inv(mixed.precision + (chosen @ products).reshape(4, 4)))

    assert variance(scores.probabilities) < variance(np.full(600, 20 / 600))


def test_random_batches_and_the_last_rows():
    pool, _, mixed = make_mixture()
    rng = np.random.default_rng(0)
    scores = mixed.scores(pool, np.ones(600, bool), 20, 1.0, rng)
    assert scores.probabilities == pytest.approx(np.full(600, 20 / 600))
    left = np.arange(600) < 8
    assert mixed.scores(pool, left, 20, 0.25, rng).probabilities.sum() == 8


def test_candidates_that_always_agree_are_sampled_uniformly():
    pool, _, _ = make_mixture()
    same = make_pool(np.repeat(pool.values[:1], 3, axis=0))
    rng = np.random.default_rng(0)
    scores = Mixture.of(same).scores(same, np.ones(600, bool), 20, 0.25, rng)
    assert scores.probabilities == pytest.approx(np.full(600, 20 / 600))


def test_a_large_pool_is_sampled_first(monkeypatch):
    monkeypatch.setattr(mixture, "MOST_ROWS", 200)
    pool, _, mixed = make_mixture()
    scores = mixed.scores(pool, np.ones(600, bool), 20, 0.25, np.random.default_rng(0))
    assert scores.frame == pytest.approx(200 / 600)
    assert (scores.probabilities > 0).sum() == 200
    assert scores.probabilities.sum() == pytest.approx(20)
