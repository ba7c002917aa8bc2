"""E-values of paired differences: formula, direction, fairness and messages."""

import numpy as np
import pytest

from landbridge.inference import e_value
from landbridge.inference.e_process import STAKES, WIDE_STAKES


def test_the_bounded_wealth_is_the_mean_over_stakes_of_the_product():
    d = np.array([1.0, 0.0, -1.0, 1.0, 0.5])
    wealth = np.mean([np.prod(1 - stake * d / 2) for stake in STAKES])
    assert e_value(d, bound=2) == pytest.approx(wealth)


def test_the_unbounded_wealth_pays_for_the_squares():
    d = np.array([3.0, -1.0, 2.0])
    stakes = WIDE_STAKES / 4.0
    wealth = np.mean(np.exp(-stakes * d.sum() - stakes**2 * (d**2).sum() / 2))
    assert e_value(d, scale=4.0) == pytest.approx(wealth)


@pytest.mark.parametrize("bound", [1, None])
def test_a_bet_on_one_fair_coin_never_gains_on_average(bound):
    assert (e_value([1.0], bound=bound) + e_value([-1.0], bound=bound)) / 2 <= 1 + 1e-12


@pytest.mark.parametrize("bound", [1, None])
def test_the_model_with_smaller_losses_wins(bound):
    d = np.repeat([1.0, -1.0], [40, 5])
    assert e_value(d, bound=bound) < 1
    assert e_value(-d, bound=bound) > 20
    assert e_value(np.tile([1.0, -1.0], 20), bound=bound) < 20


def test_pairs_are_rows_of_a_table_and_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    table = rng.integers(-1, 2, size=(4, 30)).astype(float)
    together = e_value(table, bound=1)
    assert together.shape == (4,)
    for k, row in enumerate(table):
        assert together[k] == pytest.approx(e_value(rng.permutation(row), bound=1))


def test_huge_evidence_stays_finite():
    assert np.isfinite(e_value(-np.ones(10_000), bound=1))
    assert np.isfinite(e_value(-1e6 * np.ones(100_000), scale=1e6))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"differences": []}, "`differences` must be finite numbers"),
        ({"differences": [np.nan, 1]}, "`differences` must be finite numbers"),
        ({"differences": [2.0, 0.0], "bound": 1}, "`bound` must be at least the largest absolute"),
        ({"differences": [0.0], "bound": 0}, "`bound` must be a finite number above 0"),
        ({"differences": [0.0], "scale": -1}, "`scale` must be a finite number above 0"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        e_value(arguments.pop("differences"), **arguments)
