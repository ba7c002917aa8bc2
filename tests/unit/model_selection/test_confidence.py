"""Intervals and probabilities against closed forms and scipy."""

import numpy as np
import pytest
from scipy import stats

from landbridge.model_selection import confidence
from landbridge.model_selection.confidence import (
    interval_of_mean,
    interval_of_skewed_mean,
    prob_better_on_shared_rows,
    prob_better_paired,
    prob_better_paper,
    score_centre,
    score_interval,
)


@pytest.mark.parametrize(("wrong", "n"), [(0, 20), (3, 20), (19, 20), (150, 400)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_eq_15_is_the_score_interval_of_scipy(wrong, n, level):
    expected = stats.binomtest(n - wrong, n).proportion_ci(level, method="wilson")
    low, high = score_interval(1 - wrong / n, n, level)
    assert (low, high) == pytest.approx((expected.low, expected.high))


def test_eq_15_solves_its_own_equation():
    # |ε_u − ε| / √(ε(1 − ε)/n) = z at both ends.
    e, n, z = 0.7, 50, stats.norm.ppf(0.95)
    for end in score_interval(e, n, 0.9):
        assert abs(e - end) / np.sqrt(end * (1 - end) / n) == pytest.approx(z)


def test_eq_15_of_an_estimate_outside_the_unit_interval_is_that_of_its_border():
    assert score_interval(-0.3, 40, 0.9) == pytest.approx(score_interval(0.0, 40, 0.9))


def test_eq_16_by_hand():
    accuracy, n = np.array([0.8, 0.6]), np.array([100, 100])
    probability = prob_better_paper(accuracy, n, 0.9)
    (m1, s1), (m2, s2) = (score_centre(e, 100, 0.9) for e in accuracy)
    expected = stats.norm.cdf((m1 - m2) / np.hypot(s1, s2))
    assert probability[0, 1] == pytest.approx(expected)
    assert probability[0, 1] > 0.9
    assert probability[1, 0] == pytest.approx(1 - expected)
    assert np.diag(probability).tolist() == [0.5, 0.5]


def test_paired_probability_is_that_of_the_paired_t_test():
    rng = np.random.default_rng(0)
    losses = rng.normal(size=(3, 40)) + np.array([[0.0], [0.2], [0.5]])
    probability = prob_better_paired(losses)
    for a in range(3):
        for b in range(3):
            if a != b:
                # A small loss is good: better means that the difference a − b is negative.
                expected = stats.ttest_rel(losses[a], losses[b], alternative="less").pvalue
                assert probability[a, b] == pytest.approx(1 - expected)
    assert np.allclose(np.diag(probability), 0.5)


def test_paired_probability_of_equal_and_of_constantly_better_candidates():
    losses = np.array([[0.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], [1.0, 2.0, 1.0, 2.0]])
    probability = prob_better_paired(losses)
    assert probability[0, 1] == 0.5
    # Four of four rows in favour are no certainty: the sign test's p-value is 1/16.
    assert probability[0, 2] == 1 - 1 / 16
    assert probability[2, 0] == 1 / 16


def test_equal_differences_are_recognised_through_rounding():
    losses = np.random.default_rng(0).normal(size=(1, 5))
    probability = prob_better_paired(np.concatenate([losses, losses + 0.1]))
    assert probability[0, 1] == 1 - 1 / 32


def test_cells_of_two_sources_are_compared_on_the_rows_they_share():
    nan = np.nan
    losses = np.array([[0.0, 0.1, 0.0, 0.2, nan], [1.0, 0.9, 1.0, 0.8, nan], [nan] * 4 + [0.0]])
    probability = prob_better_on_shared_rows(losses)
    assert probability[0, 1] > 0.99
    assert probability[0, 1] + probability[1, 0] == pytest.approx(1)
    assert probability[0, 2] == probability[2, 0] == 0.5


def test_interval_of_losses_that_may_be_negative_is_student_s():
    losses = np.random.default_rng(1).normal(1.0, 1.0, size=30)
    assert losses.min() < 0
    mean, low, high = interval_of_mean(losses.mean(), losses, 0.9, proportion=False)
    expected = stats.ttest_1samp(losses, 0).confidence_interval(0.9)
    assert (mean, low, high) == pytest.approx((losses.mean(), expected.low, expected.high))


def test_an_estimate_moved_away_from_equal_losses_has_a_width():
    mean, low, high = interval_of_mean(0.1, np.zeros(20), 0.9, proportion=False)
    assert (mean, low, high) == pytest.approx((0.1, *(0.1 + 0.1 * stats.t(19).ppf([0.05, 0.95]))))


def test_interval_of_skewed_losses_by_hand():
    # Mean 2, standard deviation 2 in 10 rows; the estimate is 3.
    losses = np.array([2.0 + 2 * np.sqrt(0.9), 2.0 - 2 * np.sqrt(0.9)] * 5)
    error = np.hypot(1 / np.sqrt(10), np.log(1.5))
    assert 2 * 10 / (15 - 7 / 9) < 2
    factor = np.exp(stats.t.ppf(0.95, 2) * error)
    expected = (3.0, 3.0 / factor, 3.0 * factor)
    assert interval_of_mean(3.0, losses, 0.9, proportion=False) == pytest.approx(expected)
    # Forty rows: 2n / (κ − (n − 3)/(n − 1)) degrees of freedom.
    losses = np.array([2.0 + 2 * np.sqrt(39 / 40), 2.0 - 2 * np.sqrt(39 / 40)] * 20)
    factor = np.exp(stats.t.ppf(0.95, 80 / (15 - 37 / 39)) / np.sqrt(40))
    assert interval_of_skewed_mean(2.0, losses, 0.9) == pytest.approx((2 / factor, 2 * factor))


def test_kurtosis_is_that_of_squared_normal_errors_and_three_gives_student_s_freedom(monkeypatch):
    assert stats.chi2(1).stats("k") + 3 == pytest.approx(confidence.KURTOSIS)
    monkeypatch.setattr(confidence, "KURTOSIS", 3.0)
    losses = np.random.default_rng(1).exponential(size=12)
    low, high = interval_of_skewed_mean(losses.mean(), losses, 0.9)
    half = stats.t.ppf(0.95, 11) * stats.sem(losses) / losses.mean()
    assert (low, high) == pytest.approx(losses.mean() * np.exp([-half, half]))


def test_interval_of_skewed_losses_tends_to_student_s():
    rng, apart = np.random.default_rng(3), []
    for n in (100, 10_000, 1_000_000):
        losses = rng.exponential(size=n)
        ends = np.array(interval_of_skewed_mean(losses.mean(), losses, 0.9))
        student = stats.t.interval(0.9, n - 1, losses.mean(), stats.sem(losses))
        apart.append(np.abs(ends - student).max() / stats.sem(losses))
    assert apart[0] > apart[1] > apart[2]
    assert apart[2] < 0.01


@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_interval_of_skewed_losses_is_positive_and_scales_with_them(n):
    losses = np.random.default_rng(n).normal(size=n) ** 6
    low, high = interval_of_skewed_mean(0.7 * losses.mean(), losses, 0.99)
    assert 0 < low < 0.7 * losses.mean() < high < np.inf
    scaled = interval_of_skewed_mean(70 * losses.mean(), 100 * losses, 0.99)
    assert scaled == pytest.approx((100 * low, 100 * high))


def test_way_of_the_estimate_from_the_losses_counts():
    losses = np.random.default_rng(2).exponential(size=30)
    own, own_low, own_high = interval_of_mean(losses.mean(), losses, 0.9, proportion=False)
    for moved in (0.5 * own, 2 * own):
        mean, low, high = interval_of_mean(moved, losses, 0.9, proportion=False)
        assert high / low > own_high / own_low
        assert low < mean < high


@pytest.mark.slow
@pytest.mark.parametrize("accuracy", [0.6, 0.9])
def test_score_interval_covers_as_often_as_it_says(accuracy):
    rng = np.random.default_rng(2)
    n, draws = 40, 4000
    right = rng.binomial(n, accuracy, size=draws)
    covered = [
        low <= accuracy <= high for low, high in (score_interval(k / n, n, 0.9) for k in right)
    ]
    assert np.mean(covered) == pytest.approx(0.9, abs=0.05)
