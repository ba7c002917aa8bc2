"""Paired tests against other programs' answers, and their messages."""

import numpy as np
import pytest
from scipy import stats

import landbridge as lb
from landbridge.inference import cv_variance, friedman_test, holm, paired_test

RNG = np.random.default_rng(3)
GROUPS = np.repeat(np.arange(8), [20, 30, 25, 40, 35, 20, 30, 50])
A = RNG.normal(RNG.normal(0.4, 0.2, 8)[GROUPS], 1.0)
B = A - RNG.normal(RNG.normal(0.15, 0.1, 8)[GROUPS], 0.4)
MEANS_A, MEANS_B = (np.bincount(GROUPS, e) / np.bincount(GROUPS) for e in (A, B))


def test_t_is_scipys_paired_t_of_the_source_means():
    ours, theirs = paired_test(A, B, GROUPS), stats.ttest_rel(MEANS_A, MEANS_B)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert ours.p_value == ours.p_holm == pytest.approx(theirs.pvalue, rel=1e-10)
    expected = theirs.confidence_interval(0.95)
    assert (ours.low, ours.high) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_wilcoxon_is_scipys():
    ours, theirs = paired_test(A, B, GROUPS, "wilcoxon"), stats.wilcoxon(MEANS_A, MEANS_B)
    assert (ours.statistic, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_nadeau_bengio_adds_the_share_of_test_rows():
    sizes = np.bincount(GROUPS)
    ratio = np.mean(sizes / (sizes.sum() - sizes))
    plain, corrected = paired_test(A, B, GROUPS), paired_test(A, B, GROUPS, "nadeau_bengio")
    factor = np.sqrt((1 / 8 + ratio) / (1 / 8))
    assert corrected.standard_error == pytest.approx(plain.standard_error * factor, rel=1e-12)
    assert corrected.p_value == pytest.approx(
        2 * stats.t.sf(abs(plain.statistic) / factor, 7), rel=1e-10
    )
    assert corrected.p_value > plain.p_value


def test_nadeau_bengio_of_equal_sources_is_the_textbook_formula():
    groups = np.repeat(np.arange(5), 10)
    d = RNG.normal(size=50)
    means = d.reshape(5, 10).mean(axis=1)
    expected = means.mean() / np.sqrt((1 / 5 + 1 / 4) * means.var(ddof=1))
    assert paired_test(d, np.zeros(50), groups, "nadeau_bengio").statistic == pytest.approx(
        expected
    )


@pytest.mark.parametrize("kind", ["theta_a", "theta_b", "theta_3"])
def test_theta_tests_are_normal_tests(kind):
    ours = paired_test(A, B, GROUPS, kind)
    statistic = (MEANS_A - MEANS_B).mean() / np.sqrt(cv_variance(A - B, GROUPS, kind))
    assert ours.statistic == pytest.approx(statistic, rel=1e-12)
    assert ours.p_value == pytest.approx(2 * stats.norm.sf(abs(statistic)), rel=1e-10)


def test_a_negative_variance_rejects_nothing():
    losses = np.tile([0.0, 1.0], 10) + 0.1
    groups = np.repeat(np.arange(5), 4)
    assert cv_variance(losses, groups, "theta_5") < 0
    answer = paired_test(losses, np.zeros(20), groups, "theta_5")
    assert (answer.p_value, answer.standard_error) == (1.0, 0.0)
    assert np.isnan(answer.statistic)


@pytest.mark.parametrize("method", ["t", "nadeau_bengio", "wilcoxon", "theta_b"])
def test_swapping_the_two_changes_the_sign_alone(method):
    one, other = paired_test(A, B, GROUPS, method), paired_test(B, A, GROUPS, method)
    assert other.difference == -one.difference
    assert other.p_value == pytest.approx(one.p_value, rel=1e-12)
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low), rel=1e-12)


@pytest.mark.parametrize("method", ["t", "nadeau_bengio", "wilcoxon", "theta_b"])
def test_the_same_losses_show_no_difference(method):
    answer = paired_test(A, A, GROUPS, method)
    assert (answer.difference, answer.p_value) == (0.0, 1.0)
    assert "no difference is shown between a and b" in str(answer)


def test_the_same_difference_everywhere_is_certain():
    answer = paired_test(np.ones(GROUPS.size), np.zeros(GROUPS.size), GROUPS)
    assert answer.p_value == 0.0
    assert answer.statistic == np.inf


def test_words_name_the_better_one():
    assert "b has a lower loss than a on new sources" in str(paired_test(A, B, GROUPS))
    swapped = paired_test(B, A, GROUPS, names=("svm", "nb"))
    assert "svm has a lower loss than nb on new sources" in str(swapped)
    assert "on these sources" in str(paired_test(A, B, GROUPS, "theta_b"))


def test_weights_reach_the_differences():
    weight = RNG.random(GROUPS.size)
    ours = paired_test(A, B, GROUPS, sample_weight=weight)
    means = np.bincount(GROUPS, weight * (A - B)) / np.bincount(GROUPS, weight)
    assert ours.difference == pytest.approx(means.mean(), rel=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        (A, B[:-1], {}, "`losses_b` must hold losses of the same rows as losses_a, 250; got 249"),
        (A, B, {"method": "anova"}, "`method` must be one of 't', 'nadeau_bengio'"),
        (A, B, {"level": 2}, "`level` must lie between 0 and 1"),
        (A, np.full(250, np.nan), {}, "`losses_b` must hold finite numbers"),
    ],
)
def test_bad_input(a, b, options, message):
    with pytest.raises(ValueError, match=message):
        paired_test(a, b, GROUPS, **options)


def test_few_sources():
    two = GROUPS < 2
    with pytest.raises(ValueError, match="at least 3 sources for method='t'; got 2"):
        paired_test(A[two], B[two], GROUPS[two])
    assert paired_test(A[two], B[two], GROUPS[two], "theta_b").n_sources == 2
    four = GROUPS < 4
    with pytest.warns(lb.FewSourcesWarning, match="The test is based on 4 sources"):
        paired_test(A[four], B[four], GROUPS[four])


def test_holm_by_hand():
    # Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1, made monotone.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert holm([0.2]).tolist() == [0.2]


def test_holm_lies_between_no_correction_and_bonferroni():
    p = RNG.random(30) ** 3
    assert (holm(p) >= p).all()
    assert (holm(p) <= np.minimum(30 * p, 1)).all()
    assert holm(p)[p.argmin()] == min(30 * p.min(), 1)


DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],  # a tie only as printed: the paper ranks them 2 and 3
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_friedman_on_the_example_of_demsar():
    """Statistical comparisons of classifiers over multiple data sets, Table 6 (areas under ROC)."""
    answer = friedman_test(1 - DEMSAR)
    assert answer.mean_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert answer.critical_difference == pytest.approx(1.25, abs=5e-3)
    # The paper prints F = 3.69 without the correction for ties, which can only raise it.
    assert 3.69 < answer.statistic < 4.5
    assert answer.p_value == pytest.approx(stats.f.sf(answer.statistic, 3, 39), rel=1e-12)


def test_friedman_without_ties_is_the_textbook_formula():
    losses = np.random.default_rng(0).random((9, 5))
    ranks = stats.rankdata(losses, axis=1).mean(axis=0)
    chi2 = 12 * 9 / (5 * 6) * ((ranks**2).sum() - 5 * 36 / 4)
    assert friedman_test(losses).statistic == pytest.approx(8 * chi2 / (9 * 4 - chi2), rel=1e-10)


def test_friedman_extremes():
    assert friedman_test(np.ones((5, 3))).p_value == 1.0
    same_order = friedman_test(np.tile([0.1, 0.2, 0.3], (6, 1)))
    assert same_order.p_value == 0.0
    assert same_order.mean_ranks.tolist() == [1, 2, 3]
    assert "critical difference" in repr(same_order)


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        (np.ones((5, 2)), "3 algorithms"),
        (np.ones((1, 4)), "at least 2 sources"),
        (np.ones(4), "at least 2 sources"),
        (np.full((4, 3), np.nan), "finite"),
    ],
)
def test_friedman_bad_input(losses, message):
    with pytest.raises(ValueError, match=message):
        friedman_test(losses)


def test_friedman_bad_level():
    with pytest.raises(ValueError, match="`level` must lie between 0 and 1; got 95"):
        friedman_test(DEMSAR, level=95)
