"""Inclusion probabilities, samples and weights."""

import numpy as np
import pytest

from landbridge.labelling import design_weights
from landbridge.labelling.design import (
    Scores,
    choose_scores,
    inclusion_probabilities,
    measure_scores,
    prove_scores,
    systematic_sample,
    train_scores,
)
from landbridge.labelling.pool import make_pool


def test_probabilities_sum_to_the_batch_and_are_bounded_below():
    rng = np.random.default_rng(0)
    scores = Scores(rng.exponential(size=300) ** 3)
    left = rng.random(300) < 0.9
    p = inclusion_probabilities(scores, 20, 0.25, left)
    assert p.sum() == pytest.approx(20)
    assert p.max() <= 1
    assert (p[~left] == 0).all()
    # Cutting probabilities at 1 raises the others, never lowers them.
    assert p[left].min() >= 0.25 * 20 / left.sum() - 1e-12
    assert p[np.argmax(np.where(left, scores.values, 0))] == 1


def test_probabilities_of_a_small_pool_are_one():
    p = inclusion_probabilities(Scores(np.ones(8)), 20, 0.25, np.arange(8) < 5)
    assert p.tolist() == [1, 1, 1, 1, 1, 0, 0, 0]


def test_scores_of_zero_mean_a_uniform_batch():
    p = inclusion_probabilities(Scores(np.zeros(50)), 5, 0.25, np.ones(50, bool))
    assert p == pytest.approx(np.full(50, 0.1))


@pytest.mark.parametrize("ordered", [True, False])
def test_a_systematic_sample_keeps_its_probabilities(ordered):
    rng = np.random.default_rng(1)
    p = inclusion_probabilities(Scores(rng.exponential(size=40)), 8, 0.2, np.ones(40, bool))
    counts = np.zeros(40)
    for _ in range(4000):
        rows = systematic_sample(p, np.arange(40) if ordered else None, rng)
        assert np.unique(rows).size == 8
        counts[rows] += 1
    # Five standard errors of a share from 4000 samples.
    assert np.abs(counts / 4000 - p).max() < 5 * 0.5 / np.sqrt(4000)


def test_weights_are_unbiased_over_adaptive_batches():
    """The second batch prefers rows like those that were wrong in the first."""
    rng = np.random.default_rng(2)
    losses = rng.random(60) < 0.3
    totals = []
    for _ in range(4000):
        left = np.ones(60, bool)
        scores = Scores(np.ones(60))
        rows, batches, chances = [], [], []
        for batch, size in enumerate((6, 9)):
            p = inclusion_probabilities(scores, size, 0.3, left)
            drawn = systematic_sample(p, None, rng)
            rows += drawn.tolist()
            batches += [batch] * size
            chances += p[drawn].tolist()
            left[drawn] = False
            scores = Scores(1.0 + 3 * losses[drawn].mean() * np.arange(60))
        weights = design_weights(np.array(batches), np.array(chances))
        totals.append(weights @ losses[rows])
    error = np.std(totals) / np.sqrt(len(totals))
    assert abs(np.mean(totals) - losses.sum()) < 4 * error


def test_no_rows_have_no_weights():
    assert design_weights(np.empty(0), np.empty(0)).size == 0


def probabilities(*labels):
    return make_pool(0.8 * np.eye(2)[np.array(labels)] + 0.1)


def test_disputed_rows_are_scored_and_no_others():
    pool = probabilities([0, 0, 1, 1], [0, 1, 1, 0])
    assert prove_scores(pool, 0, 1).values.tolist() == [0, 1, 0, 1]
    scores = choose_scores(pool, pool.consensus(), np.array([0.5, 0.5]), 1.0).values
    assert scores == pytest.approx([0, 0.5, 0, 0.5])
    # A candidate that cannot be best does not make rows interesting.
    scores = choose_scores(pool, pool.consensus(), np.array([1.0, 0.0]), 1.0).values
    assert scores == pytest.approx(np.zeros(4))


def test_doubtful_rows_are_measured_first():
    pool = probabilities([0, 0, 0], [0, 0, 1], [0, 1, 1])
    scores = measure_scores(pool, pool.consensus(), 0, 1.0).values
    assert scores[0] < scores[1]
    assert scores[1] == pytest.approx(scores[2])  # p(1 − p) with p and 1 − p exchanged


def test_scores_of_numbers_grow_with_the_distance():
    pool = make_pool(np.array([[1.0, 2.0, 5.0], [1.0, 3.0, 1.0]]))
    assert prove_scores(pool, 0, 1).values.tolist() == [0, 1, 4]
    half = np.array([0.5, 0.5])
    scores = choose_scores(pool, pool.consensus(), half, 1.0).values
    # Both are ±d/2 from the consensus, so squares agree and 4·noise²·(d/2)² is left.
    assert scores == pytest.approx([0, 1, 4])


def test_margins_choose_rows_to_train_with():
    p = np.array([0.5, 0.9, 0.45, 0.99])
    proba = np.column_stack([p, 1 - p])
    left = np.array([False, True, True, True])
    assert train_scores(proba, 2, proba[None], left).values.tolist() == [0, 1, 1, 0]
