"""The group-sequential sign test."""

import numpy as np
import pytest
from scipy import stats

from landbridge.labelling.sequential import sequential_sign_test, sequential_z_boundaries


def test_one_look_is_the_exact_sign_test():
    for wins in range(31):
        test = sequential_sign_test([wins], [30], [1.0])
        assert test.rejected == (stats.binom.sf(wins - 1, 30, 0.5) <= 0.05)
        assert test.p_value == pytest.approx(stats.binom.sf(wins - 1, 30, 0.5))


def test_the_level_of_many_looks_is_at_most_alpha_and_nearly_used():
    sizes = [10] * 10
    shares = np.cumsum(sizes) / 100
    boundaries = np.array(sequential_sign_test([0] * 10, sizes, shares).boundaries)
    # Enumerate by dynamic programming, independently of the test's own.
    alive, crossed = np.ones(1), 0.0
    for size, boundary in zip(sizes, boundaries, strict=True):
        alive = np.convolve(alive, stats.binom.pmf(np.arange(size + 1), size, 0.5))
        crossed += alive[boundary:].sum()
        alive[boundary:] = 0
    assert 0.04 < crossed <= 0.05


def test_a_rejection_stays_although_later_rows_are_lost():
    early = sequential_sign_test([20, 0, 0], [20, 20, 20], [1 / 3, 2 / 3, 1])
    assert early.rejected
    assert early.wins == 20
    assert not sequential_sign_test([0, 20, 0], [20, 20, 20], [1 / 3, 2 / 3, 1]).rejected


def test_ties_and_empty_batches_change_nothing():
    assert sequential_sign_test([9, 0], [10, 0], [0.5, 1.0]).informative == 10
    assert not sequential_sign_test([0], [0], [1.0]).rejected


def test_normal_boundaries_spend_the_level():
    shares = [0.2, 0.4, 0.6, 0.8, 1.0]
    boundaries = sequential_z_boundaries(shares)
    rng = np.random.default_rng(0)
    sums = np.cumsum(rng.normal(size=(200_000, 5)), axis=1) / np.sqrt(np.arange(1, 6))
    crossed = (sums >= boundaries).any(axis=1).mean()
    assert crossed == pytest.approx(0.05, abs=0.003)
    assert sequential_z_boundaries([]).size == 0


def test_no_level_is_left_where_shares_do_not_grow():
    test = sequential_sign_test([5, 5], [5, 5], [1.0, 0.5])
    assert test.boundaries == (5, 10)  # paths with five wins ended at the first look
    assert sequential_z_boundaries([0.5, 0.5]).tolist()[1] == np.inf
