"""The anchored criterion: its limits, roles, both scales, and what it gains."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from landbridge.model_selection.anchored import (
    anchor,
    centred,
    dissent_within_roles,
    distance_floors,
    relative_variances,
    role_groups,
    shrunk_variances,
)


def simulate(rng, n_rows, *, n_cells=12, spread=0.05, bias=0.2):
    """Bernoulli losses of cells whose true loss the prior knows up to bias and spread."""
    prior = rng.uniform(0.2, 0.6, size=n_cells)
    truth = np.clip(prior + bias + rng.normal(0, spread, n_cells), 0.01, 0.99)
    rows = rng.uniform(size=(n_cells, n_rows))
    return (rows < truth[:, None]).astype(float), prior, truth


def skewed(rng, n_rows, *, n_cells=10, spread=0.2):
    """Squared errors with a shared part, whose prior is wrong in level and spread."""
    truth = np.exp(rng.normal(0, 0.4, size=n_cells))
    prior = 0.3 * truth * np.exp(rng.normal(0, spread, size=n_cells))
    shared, own = rng.normal(size=n_rows), rng.normal(size=(n_cells, n_rows))
    return truth[:, None] * (0.8 * shared + 0.6 * own) ** 2, prior, truth


def anchor_losses(losses, prior, **options):
    n_rows = losses.shape[1]
    return anchor(losses.mean(axis=1), errors_of(losses), prior, n_rows=n_rows, **options)


def errors_of(losses):
    """Errors of the mean losses, whose covariance is that of independent rows."""
    n_rows = losses.shape[1]
    return (losses - losses.mean(axis=1, keepdims=True)) / np.sqrt(n_rows * (n_rows - 1))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("roles", [None, ["source-only", "pooled", "target-only"] * 4])
def test_tends_to_the_measured_loss_as_labels_grow(seed, roles):
    losses, prior, _ = simulate(np.random.default_rng(seed), 100_000)
    mean = anchor_losses(losses, prior, roles=roles)
    assert_allclose(mean, losses.mean(axis=1), atol=2e-3)


def test_tends_to_the_ranking_of_trcv_as_labels_vanish():
    rng = np.random.default_rng(0)
    prior = rng.uniform(0.2, 0.6, size=12)
    # Rows on which all cells do the same carry no word about their differences.
    mean = anchor(np.full(12, 0.5), np.full((12, 1), 0.22), prior, n_rows=5)
    assert np.array_equal(np.argsort(mean), np.argsort(prior))
    noisy = anchor(rng.normal(0, 70.0, size=12), np.eye(12) * 70.0, prior, n_rows=2)
    assert stats.spearmanr(noisy, prior).statistic > 0.9


def test_one_cell_is_its_measurement():
    mean = anchor(np.array([0.5]), np.array([[0.2]]), np.array([0.3]), n_rows=6)
    assert mean[0] == pytest.approx(0.5)


def test_equal_trcv_values_do_not_silence_the_labels():
    losses = np.stack([np.ones(40), np.zeros(40)])
    for roles in (None, ["source-only", "pooled"]):
        mean = anchor_losses(losses, np.array([0.3, 0.3]), roles=roles)
        assert_allclose(mean, [1.0, 0.0], atol=0.01)


def test_a_contradicted_prior_does_not_move_the_means():
    rng = np.random.default_rng(1)
    truth = np.linspace(0.1, 0.6, 8)
    losses = (rng.uniform(size=(8, 400)) < truth[:, None]).astype(float)
    measured = losses.mean(axis=1)
    errors = np.abs(anchor_losses(losses, 1 - truth) - measured)
    assert (errors <= np.sqrt(measured * (1 - measured) / 400)).all()


def test_slopes_are_never_negative():
    """A larger TrCV loss, or more dissent, never makes a cell better."""
    prior = np.linspace(0.1, 0.5, 6)
    measured = 0.4 - 2 * (prior - prior.mean())
    mean = anchor(measured, np.eye(6) * 0.4, prior, n_rows=20)
    # With a negative slope the mean would follow the measurement; without it the means are drawn
    # towards each other.
    assert mean.std() < 0.15 * measured.std()


def test_level_of_prior_within_a_role_is_irrelevant():
    """TrCV overstates the loss of cells that learn from target labels by an unknown amount."""
    rng = np.random.default_rng(3)
    losses, prior, _ = simulate(rng, 30)
    roles = ["source-only"] * 8 + ["pooled"] * 4
    plain = anchor_losses(losses, prior, roles=roles)
    shifted = anchor_losses(losses, prior + np.repeat([0.0, 0.3], [8, 4]), roles=roles)
    assert_allclose(shifted, plain, atol=1e-9)


def test_roles_protect_pooled_cells_from_the_bias_of_trcv():
    """Nine source-only cells and a pooled one that is better although TrCV says the opposite."""
    rng = np.random.default_rng(4)
    chosen = {"roles": 0, "none": 0}
    for _ in range(100):
        truth = np.append(rng.uniform(0.3, 0.4, size=9), 0.22)
        prior = truth + np.append(rng.normal(0, 0.02, size=9), 0.2)
        losses = (rng.uniform(size=(10, 40)) < truth[:, None]).astype(float)
        roles = ["source-only"] * 9 + ["pooled"]
        chosen["roles"] += int(anchor_losses(losses, prior, roles=roles).argmin() == 9)
        chosen["none"] += int(anchor_losses(losses, prior).argmin() == 9)
    assert chosen["roles"] > chosen["none"] + 15


@given(st.integers(0, 10_000), st.floats(-3, 3, allow_nan=False))
@settings(max_examples=20, deadline=None)
def test_level_of_losses_passes_through_and_order_is_irrelevant(seed, level):
    rng = np.random.default_rng(seed)
    losses, prior, _ = simulate(rng, 30)
    roles = np.array(["source-only", "pooled", "target-only"] * 4)
    plain = anchor_losses(losses, prior, roles=roles)
    assert_allclose(anchor_losses(losses + level, prior, roles=roles), plain + level)
    order = rng.permutation(len(prior))
    turned = anchor_losses(losses[order], prior[order], roles=roles[order])
    assert_allclose(turned, plain[order])


def test_noise_shared_by_all_cells_is_irrelevant():
    measured, prior = np.array([0.2, 0.3, 0.4]), np.array([0.3, 0.2, 0.4])
    errors = np.eye(3) * 0.1
    own = anchor(measured, errors, prior, n_rows=50)
    shared = anchor(measured, np.column_stack([errors, np.full(3, 0.2)]), prior, n_rows=50)
    assert_allclose(shared, own)


def test_relative_variance_is_that_of_the_difference_from_the_average():
    rng = np.random.default_rng(5)
    losses = rng.normal(size=(4, 60)) * np.array([[1.0], [2.0], [3.0], [4.0]])
    relative = losses - losses.mean(axis=0)
    own = relative.var(axis=1, ddof=1) / 60
    assert_allclose(relative_variances(errors_of(losses)), own)
    assert_allclose(shrunk_variances(own, 60), (60 * own + 10 * own.mean()) / 70)
    # Losses that are the same in all cells leave half a row of doubt.
    assert_allclose(shrunk_variances(np.zeros(3), 20), [0.025**2] * 3)


def test_dissent_is_measured_within_roles():
    guesses = np.eye(2)[np.array([[0, 0, 1, 1], [0, 0, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0]])]
    one = np.zeros(3, int)
    assert dissent_within_roles(guesses[:3], np.ones(3), one).tolist() == [0.25, 0, 0.25]
    weights = np.array([5.0, 1.0, 1.0])
    assert dissent_within_roles(guesses[:3], weights, one).tolist() == [0, 0.25, 0.5]
    groups = role_groups(["source-only", "source-only", "source-only", "pooled"], 4)
    assert dissent_within_roles(guesses, np.ones(4), groups).tolist() == [0.25, 0, 0.25, 0]
    numbers = np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([3.0, 1.0]), one[:2]
    assert dissent_within_roles(*numbers).tolist() == [0.25, 2.25]
    assert dissent_within_roles(*numbers, "rmse").tolist() == [0.5, 1.5]
    assert dissent_within_roles(*numbers, "mae").tolist() == [0.5, 1.5]


def test_centred_values_have_mean_zero_in_every_group():
    values = centred(np.array([1.0, 3.0, 10.0]), np.array([0, 0, 2]))
    assert values.tolist() == [-1, 1, 0]


def test_dissent_helps_where_the_vote_is_right():
    rng = np.random.default_rng(7)
    regret = {"with": [], "without": []}
    for _ in range(60):
        truth = rng.uniform(0.1, 0.5, size=8)
        y = rng.integers(0, 2, size=300)
        guesses = np.where(rng.uniform(size=(8, 300)) < truth[:, None], 1 - y, y)
        losses = (rng.uniform(size=(8, 20)) < truth[:, None]).astype(float)
        prior = rng.uniform(0.1, 0.5, size=8)
        for name, unlabelled in (("with", np.eye(2)[guesses]), ("without", None)):
            mean = anchor_losses(losses, prior, unlabelled=unlabelled)
            regret[name].append(truth[mean.argmin()] - truth.min())
    assert np.mean(regret["with"]) < 0.9 * np.mean(regret["without"])


class TestRatios:
    def test_tends_to_the_measured_loss_as_labels_grow(self):
        losses, prior, _ = skewed(np.random.default_rng(0), 100_000)
        mean = anchor_losses(losses, prior, scale="ratio")
        assert_allclose(mean, losses.mean(axis=1), rtol=0.01)

    @pytest.mark.parametrize("factor", [1e-8, 1e8])
    def test_unit_of_the_loss_is_irrelevant(self, factor):
        losses, prior, _ = skewed(np.random.default_rng(1), 20)
        plain = anchor_losses(losses, prior, scale="ratio")
        scaled = anchor_losses(factor * losses, prior / factor, scale="ratio")
        assert_allclose(scaled, factor * plain)

    def test_a_terrible_cell_does_not_move_the_others(self):
        losses, prior, _ = skewed(np.random.default_rng(2), 20)
        usual = anchor_losses(losses, prior, scale="ratio")
        losses[0], prior[0] = 1e6 * losses[0], 1e6 * prior[0]
        moved = anchor_losses(losses, prior, scale="ratio")
        assert_allclose(moved[1:], usual[1:], rtol=0.3)

    def test_a_loss_of_zero_is_finite(self):
        mean = anchor_losses(np.zeros((3, 5)), np.ones(3), scale="ratio")
        assert (mean < 1e-200).all()

    @pytest.mark.parametrize(
        ("distance", "order", "power"), [("mse", 2, 2), ("rmse", 2, 1), ("mae", 1, 1)]
    )
    def test_distance_floor_is_the_triangle_inequality(self, distance, order, power):
        rng = np.random.default_rng(3)
        truth = rng.normal(size=200)
        numbers = truth + rng.normal(size=(3, 200)) * np.array([[0.1], [0.2], [50.0]])
        losses = (np.abs(numbers - truth) ** order).mean(axis=1) ** (power / order)
        believed = np.append(losses[:2], losses[2] / 100)
        floors = distance_floors(believed, numbers, distance)
        # The floor of the third cell is nearly its loss and never above it.
        assert 0.9 * losses[2] < floors[2] <= losses[2]
        assert (floors <= losses).all()

    def test_floor_raises_a_cell_that_few_labels_flatter(self):
        rng = np.random.default_rng(4)
        truth = rng.normal(size=100)
        numbers = truth + rng.normal(size=(4, 100)) * np.array([[0.3], [0.4], [0.5], [30.0]])
        measured = np.array([0.3, 0.4, 0.5, 0.2])
        mean = anchor(
            measured,
            np.diag(0.2 * measured),
            measured,
            n_rows=20,
            unlabelled=numbers,
            scale="ratio",
            distance="rmse",
        )
        assert mean[3] > 20
        assert mean.argmin() == 0


def test_good_prior_lowers_regret_with_few_labels_and_a_bad_one_hardly_hurts():
    rng = np.random.default_rng(8)
    regret = {"measured": [], "good": [], "bad": []}
    for _ in range(200):
        losses, prior, truth = simulate(rng, 20)
        chosen = {
            "measured": losses.mean(axis=1),
            "good": anchor_losses(losses, prior),
            "bad": anchor_losses(losses, rng.permutation(prior)),
        }
        for name, values in chosen.items():
            regret[name].append(truth[np.argmin(values)] - truth.min())
    mean = {name: np.mean(values) for name, values in regret.items()}
    assert mean["good"] < 0.6 * mean["measured"]
    assert mean["bad"] < mean["measured"] + 0.03
