"""The model of votes: kinds of rows, its posterior, and the rows that a batch takes."""

import numpy as np
import pytest

from landbridge.labelling.design import systematic_sample
from landbridge.labelling.pool import make_pool
from landbridge.labelling.votes import MOST_KINDS, Votes, agreement, kinds_of_rows, vote_scores


def make_votes(n=600, skills=(0.9, 0.7, 0.7, 0.6), n_labels=0, seed=0):
    """Predicted classes, true classes, and the posterior after the first labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    labels = np.stack([np.where(rng.random(n) < p, y, rng.integers(3, size=n)) for p in skills])
    consensus = make_pool(np.eye(3)[labels]).consensus()
    expected = 1 - consensus[np.arange(n), labels]
    surprise = (labels != y)[:, :n_labels] - expected[:, :n_labels]
    return labels, y, Votes.of(labels, labels[:, :n_labels], surprise, expected.mean(axis=1), 3)


def test_rows_with_the_same_agreement_are_of_one_kind():
    labels = np.array([[0, 1, 0, 2, 0], [0, 1, 1, 1, 1], [1, 0, 1, 1, 2]])
    kinds = kinds_of_rows(labels)
    assert kinds[0] == kinds[1]  # the first two agree
    assert kinds[2] == kinds[3]  # the last two agree
    assert len(set(kinds.tolist())) == 3


def test_kinds_of_many_candidates():
    """More candidates than fit into one integer."""
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=(40, 30))
    labels = np.concatenate([labels, 1 - labels], axis=1)  # the same kinds, classes exchanged
    kinds = kinds_of_rows(labels)
    assert kinds[:30].tolist() == kinds[30:].tolist()
    assert len(set(kinds.tolist())) == 30


def test_agreement_of_one_row():
    matrix = agreement(np.array([[0], [0], [1]]), 2)
    assert matrix.tolist() == [[0.5, 0.5, -0.5], [0.5, 0.5, -0.5], [-0.5, -0.5, 0.5]]


def test_a_census_of_votes_is_the_truth():
    labels, y, votes = make_votes(n_labels=600)
    assert votes.mean == pytest.approx((labels != y).mean(axis=1))
    assert votes.relative().error == pytest.approx(np.zeros(4), abs=1e-5)


def test_labels_move_the_posterior_towards_the_truth():
    labels, y, _ = make_votes()
    truth = (labels != y).mean(axis=1)
    distances = []
    for n in (0, 50, 200):
        mean = make_votes(n_labels=n)[2].mean
        distances.append(np.abs((mean - mean.mean()) - (truth - truth.mean())).max())
    assert distances[2] < distances[1] < distances[0]


def test_a_batch_takes_disputed_rows_and_has_the_stated_probabilities():
    labels, _, votes = make_votes()
    left = np.ones(600, dtype=bool)
    left[:100] = False
    disputed = (labels != labels[0]).any(axis=0)
    counts = np.zeros(600)
    for seed in range(300):
        rng = np.random.default_rng(seed)
        scores = vote_scores(votes, labels, left, 20, 0.25, rng)
        rows = systematic_sample(scores.probabilities, scores.order, rng)
        assert rows.size == 20
        assert disputed[rows].sum() >= 15
        counts[rows] += 1
    probabilities = scores.probabilities
    assert probabilities.sum() == pytest.approx(20)
    assert (probabilities[left] > 0).all()
    assert not probabilities[~left].any()
    error = np.sqrt(probabilities * (1 - probabilities) / 300)
    assert np.abs(counts / 300 - probabilities)[left].max() < 5 * error[left].max()


def test_random_batches_and_the_last_rows():
    labels, _, votes = make_votes()
    rng = np.random.default_rng(0)
    scores = vote_scores(votes, labels, np.ones(600, bool), 20, 1.0, rng)
    assert scores.probabilities == pytest.approx(np.full(600, 20 / 600))
    left = np.arange(600) < 8
    assert vote_scores(votes, labels, left, 20, 0.25, rng).probabilities.sum() == 8


def test_candidates_that_always_agree_are_sampled_uniformly():
    labels, _, _ = make_votes()
    same = np.repeat(labels[:1], 3, axis=0)
    votes = Votes.of(same, same[:, :0], np.empty((3, 0)), np.full(3, 0.2), 3)
    scores = vote_scores(votes, same, np.ones(600, bool), 20, 0.25, np.random.default_rng(0))
    assert scores.probabilities == pytest.approx(np.full(600, 20 / 600))


def test_only_the_most_common_kinds_are_selected():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=(12, MOST_KINDS + 500))
    votes = Votes.of(labels, labels[:, :0], np.empty((12, 0)), np.full(12, 0.5), 4)
    left = np.ones(labels.shape[1], bool)
    scores = vote_scores(votes, labels, left, 20, 0.25, rng)
    assert scores.probabilities.sum() == pytest.approx(20)
    assert (scores.probabilities == 1).sum() <= 15
