"""The anchored criterion: its two limits, its algebra, and what it gains."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from landbridge.model_selection.anchored import anchor, dissent_from_vote


def simulate(rng, n_rows, *, n_candidates=12, spread=0.05, bias=0.2):
    """Bernoulli losses of candidates whose true loss the prior knows up to bias and spread."""
    prior = rng.uniform(0.2, 0.6, size=n_candidates)
    truth = np.clip(prior + bias + rng.normal(0, spread, n_candidates), 0.01, 0.99)
    rows = rng.uniform(size=(n_candidates, n_rows))
    return (rows < truth[:, None]).astype(float), prior, truth


@pytest.mark.parametrize("seed", range(5))
def test_tends_to_tlv_as_labels_grow(seed):
    rng = np.random.default_rng(seed)
    losses, prior, _ = simulate(rng, 200_000)
    posterior = anchor(losses, prior)
    np.testing.assert_allclose(posterior.mean, losses.mean(axis=1), atol=2e-3)
    assert posterior.trust.min() > 0.98


@pytest.mark.parametrize("seed", range(5))
def test_tends_to_the_ranking_of_trcv_as_labels_vanish(seed):
    rng = np.random.default_rng(seed)
    losses, prior, _ = simulate(rng, 2)
    # Two rows on which all candidates do the same carry no word about their differences.
    posterior = anchor(np.broadcast_to([0.0, 1.0], losses.shape) + 0.0, prior)
    assert np.array_equal(np.argsort(posterior.mean), np.argsort(prior))
    # Noise without end: differences between candidates that are pure chance hardly move them.
    noisy = anchor(rng.normal(0, 100.0, size=losses.shape), prior)
    assert stats.spearmanr(noisy.mean, prior).statistic > 0.9


@given(st.integers(0, 10_000), st.floats(-3, 3, allow_nan=False), st.floats(-3, 3, allow_nan=False))
@settings(max_examples=30, deadline=None)
def test_level_of_prior_is_irrelevant_and_level_of_losses_passes_through(seed, a, b):
    rng = np.random.default_rng(seed)
    losses, prior, _ = simulate(rng, 30)
    plain = anchor(losses, prior)
    shifted = anchor(losses + a, prior + b)
    np.testing.assert_allclose(shifted.mean, plain.mean + a, atol=1e-6)


def test_order_of_candidates_is_irrelevant():
    rng = np.random.default_rng(0)
    losses, prior, _ = simulate(rng, 25)
    order = rng.permutation(len(prior))
    mean = anchor(losses, prior).mean
    np.testing.assert_allclose(anchor(losses[order], prior[order]).mean, mean[order])


def test_lies_between_measurement_and_prior():
    rng = np.random.default_rng(1)
    for _ in range(20):
        losses, prior, _ = simulate(rng, 25)
        posterior = anchor(losses, prior)
        measured = losses.mean(axis=1)
        expected = losses.mean() + posterior.slopes[0] * (prior - prior.mean())
        low, high = np.minimum(measured, expected), np.maximum(measured, expected)
        assert np.all((posterior.mean >= low - 1e-12) & (posterior.mean <= high + 1e-12))


def test_dissent_is_the_share_of_rows_off_the_weighted_vote():
    guesses = np.array([[0, 0, 1, 1], [0, 0, 1, 0], [1, 0, 1, 0]])
    assert dissent_from_vote(guesses, np.ones(3)).tolist() == [0.25, 0, 0.25]
    assert dissent_from_vote(guesses, np.array([5.0, 1.0, 1.0])).tolist() == [0, 0.25, 0.5]
    numbers = np.array([[0.0, 1.0], [2.0, 3.0]])
    assert dissent_from_vote(numbers, np.ones(2)).tolist() == [1, 1]
    assert dissent_from_vote(numbers, np.array([3.0, 1.0])).tolist() == [0.25, 2.25]


def test_limits_hold_with_guesses_too():
    rng = np.random.default_rng(3)
    losses, prior, _ = simulate(rng, 200_000)
    guesses = rng.integers(0, 2, size=(len(prior), 50))
    many = anchor(losses, prior, guesses)
    np.testing.assert_allclose(many.mean, losses.mean(axis=1), atol=2e-3)
    none = anchor(np.broadcast_to([0.0, 1.0], (len(prior), 2)) + 0.0, prior, guesses)
    assert np.array_equal(np.argsort(none.mean), np.argsort(prior))
    noisy = anchor(rng.normal(0, 100.0, size=(len(prior), 2)), prior, guesses)
    assert abs(noisy.slopes[1]) < 0.5


def test_one_candidate_is_its_mean():
    losses = np.array([[0.0, 1.0, 1.0, 0.0]])
    assert anchor(losses, np.array([0.3])).mean[0] == pytest.approx(0.5)


def test_figures_of_rates_are_fixed():
    """Coverage and regret were measured with these formulas on hundreds of real searches."""
    wrong = [[0, 5], [1, 5], [2, 6, 7], [0, 1, 2, 3], [4]]
    losses = np.array([[float(row in rows) for row in range(10)] for rows in wrong])
    prior = np.array([0.25, 0.3, 0.2, 0.5, 0.35])
    guesses = np.array([[0, 1, 1, 0], [0, 1, 1, 1], [0, 1, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0]])
    plain, voted = anchor(losses, prior), anchor(losses, prior, guesses)
    expected = [0.199460841203, 0.2226965446721, 0.1915320989259, 0.3545785375984, 0.2260505030026]
    np.testing.assert_allclose(plain.mean, expected, rtol=1e-11)
    expected = [0.18252784107, 0.2218901278709, 0.2117456045064, 0.3909382556787, 0.1888837878706]
    np.testing.assert_allclose(voted.mean, expected, rtol=1e-11)


def test_good_prior_lowers_regret_with_few_labels_and_a_bad_one_hardly_hurts():
    rng = np.random.default_rng(2)
    regret = {"tlv": [], "good": [], "bad": []}
    for _ in range(300):
        losses, prior, truth = simulate(rng, 20)
        chosen = {
            "tlv": losses.mean(axis=1),
            "good": anchor(losses, prior).mean,
            "bad": anchor(losses, rng.permutation(prior)).mean,
        }
        for name, values in chosen.items():
            regret[name].append(truth[np.argmin(values)] - truth.min())
    mean = {name: np.mean(values) for name, values in regret.items()}
    assert mean["good"] < 0.6 * mean["tlv"]
    assert mean["bad"] < mean["tlv"] + 0.03
