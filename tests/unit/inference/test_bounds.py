"""The generalisation bound and the decomposition: closed forms and messages."""

import math

import numpy as np
import pytest
from benchmarks._variance_decomposition import variance_decomposition

from landbridge.inference import generalization_bound


def test_bound_by_hand():
    losses = np.repeat([0.0, 1.0], [80, 20])
    bound = generalization_bound(losses, vc_dimension=4, delta=0.1)
    complexity = math.sqrt((4 * (math.log(50) + 1) + math.log(40)) / 100)
    assert bound.complexity == pytest.approx(complexity, rel=1e-14)
    assert bound.value == pytest.approx(0.2 + complexity, rel=1e-14)
    assert not bound.is_vacuous
    assert "vacuous" not in repr(bound)


def test_weights_enter_the_loss_alone():
    losses, beta = np.array([0.0, 1.0, 1.0, 0.0] * 50), np.array([0.5, 2.0, 0.5, 1.0] * 50)
    bound = generalization_bound(losses, 3, weights=beta)
    assert bound.loss == pytest.approx((2.0 + 0.5) / 4)
    assert bound.complexity == generalization_bound(losses, 3).complexity


def test_bound_is_monotone():
    zero = np.zeros(1000)
    by_size = [generalization_bound(zero[:n], 5).value for n in (10, 100, 1000)]
    assert by_size == sorted(by_size, reverse=True)
    by_dimension = [generalization_bound(zero, d).value for d in (1, 10, 100)]
    assert by_dimension == sorted(by_dimension)
    by_delta = [generalization_bound(zero, 5, delta=d).value for d in (0.01, 0.05, 0.5)]
    assert by_delta == sorted(by_delta, reverse=True)


def test_a_vacuous_bound_says_so():
    bound = generalization_bound(np.zeros(20), 10)
    assert bound.is_vacuous
    assert "vacuous" in repr(bound)


@pytest.mark.parametrize(
    ("losses", "dimension", "options", "message"),
    [
        ([0.0, 2.0], 1, {}, "`losses` must lie between 0 and 1 for this bound; got 0 to 2"),
        ([0.0, -0.1], 1, {}, "`losses` must lie between 0 and 1"),
        ([0.0, 1.0], 3, {}, "`vc_dimension` must lie between 0 and the number of rows, 2; got 3"),
        ([0.0, 1.0], 0, {}, "`vc_dimension`"),
        ([0.0, 1.0], 1, {"delta": 0}, "`delta` must lie between 0 and 1"),
        ([0.0, 1.0], 1, {"weights": [1.0]}, "`weights` must hold one number of at least 0"),
        ([0.0, 1.0], 1, {"weights": [1.0, -1.0]}, "smallest -1"),
    ],
)
def test_bad_input(losses, dimension, options, message):
    with pytest.raises(ValueError, match=message):
        generalization_bound(losses, dimension, **options)


@pytest.mark.parametrize(
    ("losses", "groups", "message"),
    [
        (np.zeros((1, 4)), [0, 0, 1, 1], "at least 2 runs"),
        (np.zeros(4), [0, 0, 1, 1], "at least 2 runs"),
        (np.full((3, 4), np.nan), [0, 0, 1, 1], "finite losses"),
        (np.zeros((3, 3)), ["a", "a", "b"], "at least 2 rows; got one in 'b'"),
        (np.zeros((3, 4)), [0, 0, 1], "each of the 4 rows"),
    ],
)
def test_decomposition_bad_input(losses, groups, message):
    with pytest.raises(ValueError, match=message):
        variance_decomposition(losses, groups)


def test_decomposition_of_independent_losses_is_all_sigma():
    runs = np.random.default_rng(0).normal(size=(4000, 12))
    parts = variance_decomposition(runs, np.repeat([0, 1, 2], 4))
    assert parts.from_sigma == pytest.approx(1 / 12, rel=0.02)
    assert abs(parts.from_omega) < 0.005
    assert abs(parts.from_gamma) < 0.005
    assert "3 sources" in repr(parts)
