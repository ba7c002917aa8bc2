"""Losses without an upper end: ratios, the floor of dissent, and what a terrible candidate does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from landbridge.model_selection.anchored import anchor, relative_means
from landbridge.model_selection.anchored_ratios import anchor_ratios, distance_floors, log_values


def simulate(rng, n_rows, *, n_candidates=10, spread=0.2):
    """Skewed losses of candidates with a shared part, whose prior is wrong in level and spread."""
    truth = np.exp(rng.normal(0, 0.4, size=n_candidates))
    prior = 0.3 * truth * np.exp(rng.normal(0, spread, size=n_candidates))
    shared, own = rng.normal(size=n_rows), rng.normal(size=(n_candidates, n_rows))
    return truth[:, None] * (0.8 * shared + 0.6 * own) ** 2, prior, truth


def test_means_of_log_values_are_logarithms_and_their_variance_is_the_delta_method():
    losses = np.array([[1.0, 3.0, 2.0], [10.0, 20.0, 60.0]])
    values = log_values(losses)
    np.testing.assert_allclose(values[0], np.log(2) + np.array([-0.5, 0.5, 0.0]))
    np.testing.assert_allclose(values.mean(axis=1), np.log(losses.mean(axis=1)))
    relative = losses.std(axis=1, ddof=1) / losses.mean(axis=1)
    np.testing.assert_allclose(values.std(axis=1, ddof=1), relative)


def test_equal_ratios_in_every_row_are_no_noise():
    losses = np.array([[1.0, 3.0, 2.0], [4.0, 12.0, 8.0]])
    posterior = anchor_ratios(losses, np.array([5.0, 6.0]))
    np.testing.assert_allclose(posterior.mean, [2.0, 8.0], rtol=1e-3)
    assert posterior.trust.min() > 0.999


@pytest.mark.parametrize("seed", range(5))
def test_tends_to_tlv_as_labels_grow(seed):
    rng = np.random.default_rng(seed)
    losses, prior, _ = simulate(rng, 100_000)
    guesses = rng.normal(size=(len(prior), 50))
    for given_guesses in (None, 0.1 * guesses):
        posterior = anchor_ratios(losses, prior, given_guesses, power=2)
        np.testing.assert_allclose(posterior.mean, losses.mean(axis=1), rtol=5e-3)


@pytest.mark.parametrize("seed", range(5))
def test_tends_to_the_ranking_of_trcv_as_labels_vanish(seed):
    rng = np.random.default_rng(seed)
    prior = rng.permutation(np.geomspace(1.0, 5.0, 10))
    # Two rows on which all candidates do the same carry no word about their differences.
    posterior = anchor_ratios(np.broadcast_to([0.5, 1.0], (len(prior), 2)) + 0.0, prior)
    assert np.array_equal(np.argsort(posterior.mean), np.argsort(prior))


@given(st.integers(0, 10_000), st.floats(0.01, 100), st.floats(0.01, 100))
@settings(max_examples=30, deadline=None)
def test_units_of_the_loss_pass_through_and_the_level_of_the_prior_is_irrelevant(seed, a, b):
    rng = np.random.default_rng(seed)
    losses, prior, _ = simulate(rng, 25)
    guesses = rng.normal(size=(len(prior), 40))
    plain = anchor_ratios(losses, prior, guesses, power=2).mean
    scaled = anchor_ratios(a * losses, b * prior, np.sqrt(a) * guesses, power=2).mean
    np.testing.assert_allclose(scaled, a * plain, rtol=1e-6)


def test_order_of_candidates_is_irrelevant():
    rng = np.random.default_rng(0)
    losses, prior, _ = simulate(rng, 25)
    guesses, order = rng.normal(size=(len(prior), 40)), rng.permutation(len(prior))
    mean = anchor_ratios(losses, prior, guesses, power=2).mean
    turned = anchor_ratios(losses[order], prior[order], guesses[order], power=2).mean
    np.testing.assert_allclose(turned, mean[order])


@pytest.mark.parametrize(("power", "expected"), [(2, [0, 0, 25, 9]), (1, [0, 0, 5, 3])])
def test_floor_by_hand(power, expected):
    # The third is 6 away from two of the others, whose loss is 1, and 2 away from the fourth.
    guesses = np.array([[0.0, 0.0], [0.0, 0.0], [6.0, 6.0], [4.0, 4.0]])
    means = np.array([1.0, 1.0, 1.0, 16.0])
    np.testing.assert_allclose(distance_floors(means, guesses, power), expected)


def test_floor_is_what_half_of_the_others_say():
    guesses = np.array([[0.0], [3.0], [5.0], [7.0], [9.0]])
    floors = distance_floors(np.ones(5), guesses, 1)
    # Bounds of the first by the others: 2, 4, 6 and 8; the lower of the middle ones.
    assert floors[0] == 4
    # By three candidates: the smaller of two.
    assert distance_floors(np.ones(3), guesses[:3], 1)[0] == 2


def test_bounds_that_do_not_put_a_candidate_behind_are_within_noise():
    # Losses of 1 taken for 0.9 would bound an excellent candidate at far more than its loss.
    guesses = np.array([[0.0], [1.0], [1.0]])
    means = np.array([1e-4, 0.81, 0.81])
    assert distance_floors(means, guesses, 2).tolist() == [0, 0, 0]


@pytest.mark.parametrize("power", [1, 2])
def test_floor_is_never_above_the_loss(power):
    rng = np.random.default_rng(4)
    raised = 0
    for _ in range(50):
        truth, noise = rng.normal(size=500), rng.gamma(0.5, 2.0, size=(8, 1))
        guesses = truth + noise * rng.normal(size=(8, 500)) + rng.normal(0, 2, size=(8, 1))
        losses = (np.abs(guesses - truth) ** power).mean(axis=1)
        floors = distance_floors(losses, guesses, power)
        assert np.all(floors <= losses * (1 + 1e-9))
        raised += np.sum(floors > 0)
    assert raised > 10


def test_a_candidate_that_hides_its_tail_from_the_labels_is_raised_and_no_other():
    rng = np.random.default_rng(5)
    losses, prior, _ = simulate(rng, 20, n_candidates=6)
    losses[0] *= 0.1
    guesses = 0.5 * rng.normal(size=(6, 100))
    hidden = anchor_ratios(losses, prior, guesses, power=2).mean
    assert np.argmin(hidden) == 0
    guesses[0, 0] = 1000.0
    shown = anchor_ratios(losses, prior, guesses, power=2).mean
    assert np.argmin(shown) != 0
    assert shown[0] > 5000
    assert np.all(shown[1:] < 2 * hidden[1:])
    # No floor where the loss is no distance between numbers.
    assert anchor_ratios(losses, prior, guesses).mean[0] < 10
    classes = rng.integers(0, 2, size=(6, 100))
    plain = anchor_ratios(losses, prior, classes).mean
    np.testing.assert_array_equal(anchor_ratios(losses, prior, classes, power=2).mean, plain)


def test_a_terrible_candidate_hardly_moves_the_others():
    """A hundred thousand times as bad: in the median by less than 10 %, never by more than half."""
    rng = np.random.default_rng(6)
    ratios, differences = [], []
    for _ in range(100):
        losses, prior, _ = simulate(rng, 20)
        guesses = rng.normal(size=(len(prior), 60))
        terrible = losses[0] * np.exp(rng.normal(11.5, 1.5, size=20))
        more = np.vstack([losses, terrible]), np.append(prior, 50 * prior.max())
        guesses_of_more = np.vstack([guesses, 300 * rng.normal(size=60)])
        before = anchor_ratios(losses, prior, guesses, power=2).mean
        after = anchor_ratios(*more, guesses_of_more, power=2).mean[:-1]
        ratios.append(np.abs(np.log(after / before)).max())
        moved = anchor(*more, guesses_of_more).mean[:-1] - anchor(losses, prior, guesses).mean
        differences.append(np.abs(moved / losses.mean(axis=1)).max())
    assert np.median(ratios) < np.log(1.1)
    assert np.max(ratios) < np.log(1.5)
    assert np.median(differences) > 1


def test_a_candidate_without_loss_is_the_best_and_finite():
    losses, prior, _ = simulate(np.random.default_rng(7), 20)
    losses[3] = 0.0
    prior[4] = 0.0
    posterior = anchor_ratios(losses, prior, np.zeros((len(prior), 5)), power=2)
    assert np.argmin(posterior.mean) == 3
    assert posterior.mean[3] == pytest.approx(0.0)
    assert np.isfinite(posterior.mean).all()


def test_good_prior_lowers_regret_with_few_labels_and_a_bad_one_hardly_hurts():
    rng = np.random.default_rng(8)
    regret = {"tlv": [], "good": [], "bad": []}
    for _ in range(300):
        losses, prior, truth = simulate(rng, 15)
        chosen = {
            "tlv": losses.mean(axis=1),
            "good": anchor_ratios(losses, prior).mean,
            "bad": anchor_ratios(losses, rng.permutation(prior)).mean,
        }
        for name, values in chosen.items():
            regret[name].append(np.log(truth[np.argmin(values)] / truth.min()))
    mean = {name: np.mean(values) for name, values in regret.items()}
    assert mean["good"] < 0.9 * mean["tlv"]
    assert mean["bad"] < mean["tlv"] + 0.03


def test_noise_is_measured_in_ratios():
    losses = np.array([[1.0, 2.0, 3.0, 4.0], [100.0, 200.0, 300.0, 400.0], [3.0, 1.0, 4.0, 2.0]])
    _, noise = relative_means(log_values(losses))
    assert noise[0] == pytest.approx(noise[1])
    assert stats.rankdata(noise)[2] == 3
