"""Eqs. (15) and (16) against closed forms and scipy."""

import numpy as np
import pytest
from scipy import stats

from landbridge.inference import score_interval
from landbridge.model_selection.search_inference import prob_better_paper


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
    (a, b), (c, d) = (score_interval(e, 100, 0.9) for e in accuracy)
    expected = stats.norm.cdf((a + b - c - d) / np.hypot(b - a, d - c))
    assert probability[0, 1] == pytest.approx(expected)
    assert probability[0, 1] > 0.9
    assert probability[1, 0] == pytest.approx(1 - expected)
    assert np.diag(probability).tolist() == [0.5, 0.5]


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
