"""The three intervals: formulas, words and refusals."""

import math

import numpy as np
import pytest
from scipy import stats

import landbridge as lb
from landbridge.inference import cv_variance, interval, score_interval
from landbridge.inference.intervals import decimals

RNG = np.random.default_rng(0)
GROUPS = np.repeat(np.arange(6), [30, 40, 50, 20, 60, 35])
LOSSES = RNG.normal(np.array([0.2, 0.5, 0.3, 0.9, 0.4, 0.6])[GROUPS], 0.5)
PARTS = [LOSSES[np.equal(GROUPS, k)] for k in range(6)]
MEANS = np.array([part.mean() for part in PARTS])


def test_new_source_is_the_prediction_interval_of_the_source_means():
    answer = interval(LOSSES, GROUPS, level=0.9)
    half = stats.t.ppf(0.95, 5) * MEANS.std(ddof=1) * math.sqrt(1 + 1 / 6)
    assert answer.estimate == pytest.approx(MEANS.mean(), rel=1e-12)
    assert answer.high - answer.estimate == pytest.approx(half, rel=1e-12)
    assert answer.estimate - answer.low == pytest.approx(half, rel=1e-12)


def test_population_is_the_t_interval_of_source_means_widened_for_the_change_of_the_model():
    answer = interval(LOSSES, GROUPS, "population", 0.95)
    low, high = stats.ttest_1samp(MEANS, 0).confidence_interval(0.95)
    assert answer.estimate == pytest.approx((low + high) / 2, rel=1e-12)
    wider = (high - low) * math.sqrt(1 + 8 / 6)
    assert answer.high - answer.low == pytest.approx(wider, rel=1e-12)


def test_expected_half_width_of_population_allows_for_the_change_of_the_model():
    answer = interval(LOSSES, GROUPS, "population")
    quantile = stats.t.ppf(0.975, 11)
    expected = quantile * MEANS.std(ddof=1) * math.sqrt((1 + 8 / 12) / 12)
    assert answer.expected_half_width(sources=2) == pytest.approx(expected, rel=1e-12)


def test_more_sources_do_not_remove_the_spread_of_the_new_one():
    answer = interval(LOSSES, GROUPS)
    expected = stats.t.ppf(0.975, 11) * MEANS.std(ddof=1) * math.sqrt(1 + 1 / 12)
    assert answer.expected_half_width(sources=2) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("question", ["new_source", "population"])
def test_sources_that_agree_leave_the_noise_within_them(question):
    losses = np.tile([0.0, 1.0], 10)
    groups = np.repeat(np.arange(5), 4)  # every mean is 0.5: no spread at all
    answer = interval(losses, groups, question, 0.9)
    half = stats.t.ppf(0.95, 4) * math.sqrt(cv_variance(losses, groups, "theta_a"))
    assert answer.high - answer.estimate == pytest.approx(half, rel=1e-12)
    assert half > 0


def test_fixed_uses_theta_b_and_the_normal_quantile():
    answer = interval(LOSSES, GROUPS, "fixed", 0.9)
    half = 1.6448536269514722 * math.sqrt(cv_variance(LOSSES, GROUPS, "theta_b"))
    assert answer.high - answer.estimate == pytest.approx(half, rel=1e-12)


def test_intervals_are_nested_where_sources_differ():
    new, population, fixed = (
        interval(LOSSES, GROUPS, q) for q in ("new_source", "population", "fixed")
    )
    assert new.low < population.low < fixed.low < fixed.high < population.high < new.high


def test_proportional_shares_use_the_effective_number_of_sources():
    answer = interval(LOSSES, GROUPS, source_weight="proportional", level=0.9)
    share = np.bincount(GROUPS) / len(GROUPS)
    q = share @ share
    mean = share @ MEANS
    spread = share @ (MEANS - mean) ** 2 / (1 - q)
    half = stats.t.ppf(0.95, 1 / q - 1) * math.sqrt(spread * (1 + q))
    assert answer.estimate == pytest.approx(LOSSES.mean(), rel=1e-12)
    assert answer.high - answer.estimate == pytest.approx(half, rel=1e-12)
    assert answer.n_sources == 6
    assert answer.effective_sources == pytest.approx(1 / q)


def test_the_range_of_the_loss_cuts_the_interval_and_nothing_else():
    losses = np.concatenate([np.zeros(40), [1.0], np.zeros(19)])
    groups = np.repeat(np.arange(6), 10)
    free, cut = interval(losses, groups), interval(losses, groups, loss_range=(0.0, 1.0))
    assert free.low < 0
    assert cut.low == 0
    assert cut.high == free.high
    assert 0.0 in cut
    assert 0.9 not in cut


def test_split_of_the_spread():
    answer = interval(LOSSES, GROUPS)
    within = np.mean([part.var(ddof=1) / len(part) for part in PARTS])
    assert answer.within == pytest.approx(within, rel=1e-12)
    assert answer.between == pytest.approx(MEANS.var(ddof=1) - within, rel=1e-12)
    assert answer.between_share == pytest.approx(answer.between / MEANS.var(ddof=1))


@pytest.mark.parametrize("question", ["new_source", "population", "fixed"])
def test_expected_half_width_starts_from_the_present_one(question):
    answer = interval(LOSSES, GROUPS, question)
    assert answer.expected_half_width() == pytest.approx(answer.high - answer.estimate, rel=1e-12)
    assert answer.expected_half_width(sources=2) < answer.expected_half_width()
    assert answer.expected_half_width(rows=2) < answer.expected_half_width()


@pytest.mark.parametrize("question", ["new_source", "population", "fixed"])
def test_expected_half_width_where_sources_agree_more_than_noise_allows(question):
    losses, groups = np.tile([0.0, 1.0, 0.0, 1.0, 1.0], 8), np.repeat(np.arange(8), 5)
    losses[0] = 1.0
    answer = interval(losses, groups, question)
    assert answer.between == 0
    assert answer.expected_half_width() == pytest.approx(answer.high - answer.estimate, rel=1e-12)
    assert answer.expected_half_width(rows=2) < answer.expected_half_width()


def test_expected_half_width_without_any_variation_is_zero():
    answer = interval(np.ones(30), np.repeat(np.arange(6), 5))
    assert answer.expected_half_width(rows=2) == pytest.approx(0, abs=1e-12)
    zero = interval(np.zeros(30), np.repeat(np.arange(6), 5))
    assert zero.expected_half_width(rows=2) == 0


def test_more_rows_never_remove_the_spread_between_sources():
    answer = interval(LOSSES, GROUPS)
    endless = answer.expected_half_width(rows=1e12)
    quantile = stats.t.ppf(0.975, 5)
    assert endless == pytest.approx(quantile * math.sqrt(answer.between * 7 / 6), rel=1e-6)
    fixed = interval(LOSSES, GROUPS, "fixed")
    assert fixed.expected_half_width(rows=4) == pytest.approx(fixed.expected_half_width() / 2)


@pytest.mark.parametrize(
    ("between", "noise", "words"),
    [
        (1.0, 0.01, "spread between sources dominates: collecting more sources helps"),
        (0.0, 3.0, "noise within sources dominates: more rows in each source help"),
        (0.8, 4.0, "both matter"),
    ],
)
def test_words_name_what_dominates(between, noise, words):
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(40), 25)
    losses = 10 + between * rng.normal(size=40)[groups] + noise * rng.normal(size=1000)
    assert words in str(interval(losses, groups))


def test_words_for_each_question():
    new = str(interval(LOSSES, GROUPS, level=0.9, name="error"))
    assert new.startswith(
        "Expected error on a new source: 0.5, 90 % between -0.1 and 1.1 (6 sources; "
    )
    population = interval(LOSSES, GROUPS, "population").describe(why=False)
    mean = "Mean loss over all sources of this kind (approximate): 0.5, 95 % between 0.1 and 0.9"
    assert population == mean
    assert "too narrow for models that change more" in str(interval(LOSSES, GROUPS, "population"))
    fixed = str(interval(LOSSES, GROUPS, "fixed"))
    assert fixed.startswith("Mean loss over these 6 sources: 0.49, 95 % between 0.39 and 0.59")
    assert "more rows help" in fixed


@pytest.mark.parametrize(
    ("error", "expected"),
    [(0.04, 2), (0.0133, 3), (0.019, 3), (0.02, 2), (0.3, 1), (12.0, 0), (4.0, 0), (0.0, 3)],
)
def test_digits_follow_the_standard_error(error, expected):
    assert decimals(error) == expected


def test_two_sources_support_only_the_question_about_themselves():
    losses, groups = [0, 1, 0, 0], ["a", "a", "b", "b"]
    for question in ("new_source", "population"):
        with pytest.raises(ValueError, match="at least 3 sources .*; got 2.*question='fixed'"):
            interval(losses, groups, question)
    assert interval(losses, groups, "fixed").n_sources == 2


@pytest.mark.parametrize("n_sources", [3, 4])
def test_few_sources_warn(n_sources):
    losses, groups = (array[np.isin(GROUPS, range(n_sources))] for array in (LOSSES, GROUPS))
    with pytest.warns(lb.FewSourcesWarning, match=f"is based on {n_sources} sources"):
        interval(losses, groups)
    interval(losses, groups, "fixed")


def test_a_source_of_one_row_leaves_the_questions_about_other_sources():
    losses = np.concatenate([LOSSES, [0.7]])
    groups = np.concatenate([GROUPS, [6]])
    for question in ("new_source", "population"):
        answer = interval(losses, groups, question)
        assert math.isfinite(answer.low)
        assert math.isnan(answer.within)
        assert "a source has one row" in str(answer)
    with pytest.raises(ValueError, match="at least 2 rows"):
        interval(losses, groups, "fixed")


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, "0.9"])
def test_bad_levels(level):
    with pytest.raises(ValueError, match="`level` must lie between 0 and 1"):
        interval(LOSSES, GROUPS, level=level)
    with pytest.raises(ValueError, match="`level` must lie between 0 and 1"):
        score_interval(0.3, 20, level)


def test_unknown_question():
    with pytest.raises(ValueError, match="`question` must be one of 'new_source'"):
        interval(LOSSES, GROUPS, "next_year")


def test_score_interval_takes_arrays():
    low, high = score_interval([0.0, 0.5], [10, 10], 0.9)
    assert low.shape == high.shape == (2,)
    assert low[0] == pytest.approx(0, abs=1e-15)
