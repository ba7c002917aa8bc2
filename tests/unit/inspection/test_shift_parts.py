"""The parts of a shift diagnosis against definitions, closed forms and other programs."""

from math import comb

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import ks_2samp, norm, ttest_ind
from scipy.stats import t as t_distribution
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from landbridge.inspection import _domain_auc
from landbridge.inspection._domain_auc import auc_interval, delong, domain_auc
from landbridge.inspection._feature_shift import MAX_COLUMNS, feature_shifts, moment_shifts
from landbridge.inspection._label_shift import label_shift
from landbridge.inspection._mmd import gaussian_kernel, mmd_test, unbiased_mmd


def rows(n, shift=0.0, seed=0, d=2):
    return np.random.default_rng(seed).normal(shift, 1, size=(n, d))


# Domain classifier ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_delong_is_the_auc_with_the_variance_of_its_placements(seed):
    rng = np.random.default_rng(seed)
    source, target = rng.integers(0, 8, size=30), rng.integers(2, 10, size=20)
    wins = (target[:, None] > source) + 0.5 * (target[:, None] == source)
    value, variance = delong(source, target)
    labels = np.repeat([0, 1], [30, 20])
    assert value == pytest.approx(roc_auc_score(labels, np.concatenate([source, target])))
    by_hand = wins.mean(axis=1).var(ddof=1) / 20 + wins.mean(axis=0).var(ddof=1) / 30
    assert variance == pytest.approx(by_hand)


def test_the_interval_lies_inside_zero_and_one_and_around_the_value():
    auc = auc_interval(0.97, 0.02**2, 50, 0.95)
    assert 0.8 < auc.low < 0.97 < auc.high < 1
    narrow = auc_interval(0.6, 0.01**2, 50, 0.95)
    assert (narrow.low, narrow.high) == pytest.approx(
        (0.6 - 1.96 * 0.01, 0.6 + 1.96 * 0.01), abs=2e-4
    )


def test_a_perfect_auc_keeps_an_open_end():
    perfect = auc_interval(1.0, 0.0, 20, 0.95)
    assert (perfect.value, perfect.high) == (1, 1)
    # 20 rows all on the right side have probability 2.5 % where each is with this probability.
    assert perfect.low**20 == pytest.approx(0.025)
    worst = auc_interval(0.0, 0.0, 20, 0.95)
    assert (worst.low, worst.high) == (0, 1 - perfect.low)


def test_the_classifier_finds_the_auc_of_two_gaussians():
    X, X_target = rows(2000), rows(2000, 0.5, seed=1)
    auc = domain_auc(X, X_target, classifier=LogisticRegression(), seed=0)
    # The best rule sees N(0, 1) against N(δ, 1) with δ = 0.5·√2, so its AUC is Φ(δ/√2).
    assert auc.low < norm.cdf(0.5) < auc.high
    assert auc.value == pytest.approx(norm.cdf(0.5), abs=0.03)


def test_rows_are_never_scored_by_a_classifier_that_saw_them():
    # A nearest-neighbour rule that may look at itself separates any two samples.
    from sklearn.neighbors import KNeighborsClassifier

    auc = domain_auc(rows(300), rows(300, seed=1), classifier=KNeighborsClassifier(1), seed=0)
    assert auc.value < 0.6


class FirstColumn(ClassifierMixin, BaseEstimator):
    """Scores a row by its first column, whatever it was fitted on."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.column_stack([-X[:, 0], X[:, 0]])


@pytest.mark.parametrize("n_folds", [2, 5])
def test_folds_of_one_rule_give_the_error_of_the_whole_times_the_correction(monkeypatch, n_folds):
    monkeypatch.setattr(_domain_auc, "N_FOLDS", n_folds)
    X, X_target = rows(1000), rows(800, 0.5, seed=1)
    auc = domain_auc(X, X_target, classifier=FirstColumn(), seed=0)
    value, variance = delong(X[:, 0], X_target[:, 0])
    # Nadeau and Bengio: (1/K + n_test/n_training)·σ² in place of σ²/K.
    corrected = variance * (1 + n_folds / (n_folds - 1))
    whole = auc_interval(value, corrected, 800, 0.95)
    assert auc.value == pytest.approx(value, abs=0.005)
    assert auc.high - auc.low == pytest.approx(whole.high - whole.low, rel=0.05)


def test_few_rows_get_fewer_folds():
    auc = domain_auc(rows(4), rows(40, 3.0, seed=1), seed=0)
    assert auc.value > 0.8


# Maximum mean discrepancy --------------------------------------------------------------------


def test_mmd_is_the_sum_over_different_pairs():
    X, Z = rows(7, seed=1), rows(5, 0.5, seed=2)
    kernel = gaussian_kernel(np.vstack([X, Z]), np.random.default_rng(0))
    pairs = ~np.eye(12, dtype=bool)
    inside = kernel[:7, :7][pairs[:7, :7]].mean() + kernel[7:, 7:][pairs[7:, 7:]].mean()
    by_hand = inside - 2 * kernel[:7, 7:].mean()
    test = mmd_test(X, Z, n_permutations=5, seed=0)
    assert test.value == pytest.approx(by_hand)
    np.fill_diagonal(kernel, 0)
    division = np.repeat([1.0, 0.0], [7, 5])[:, None]
    assert unbiased_mmd(kernel, division)[0] == pytest.approx(by_hand)


def test_the_kernel_has_the_median_width():
    X = rows(50)
    kernel = gaussian_kernel(X, np.random.default_rng(0))
    assert np.median(kernel[np.triu_indices(50, k=1)]) == pytest.approx(np.exp(-1), rel=0.01)
    np.testing.assert_allclose(np.diag(kernel), 1)


def test_the_kernel_of_equal_rows_is_one():
    same = gaussian_kernel(np.ones((6, 2)), np.random.default_rng(0))
    np.testing.assert_array_equal(same, 1)
    mostly = gaussian_kernel(
        np.vstack([np.zeros((9, 2)), np.ones((1, 2))]), np.random.default_rng(0)
    )
    assert 0 < mostly[0, 9] < 1


@pytest.mark.parametrize("seed", range(3))
def test_the_mmd_of_a_shift_is_positive_and_significant(seed):
    test = mmd_test(rows(100, seed=seed), rows(80, 1.0, seed=9), n_permutations=99, seed=seed)
    assert test.value > 0.1
    assert test.p_value == pytest.approx(0.01)


def test_the_mmd_sees_a_shift_of_the_spread_alone():
    test = mmd_test(rows(300), 2 * rows(300, seed=1), n_permutations=99, seed=0)
    assert test.p_value == pytest.approx(0.01)


# Features ------------------------------------------------------------------------------------


def test_feature_shifts_have_their_definitions_and_signs():
    X = np.column_stack([rows(100, d=1), rows(100, seed=1, d=1)])
    Z = np.column_stack([rows(60, seed=2, d=1), 1.5 + 2 * rows(60, seed=3, d=1)])
    second, first = feature_shifts(X, Z, (X, Z), ["same", "moved"])
    assert (second.name, first.name) == ("moved", "same")
    spread = np.sqrt((X[:, 1].var(ddof=1) + Z[:, 1].var(ddof=1)) / 2)
    assert second.mean_difference == pytest.approx((Z[:, 1].mean() - X[:, 1].mean()) / spread)
    assert second.mean_difference > 0.5
    assert second.variance_ratio == pytest.approx(Z[:, 1].var(ddof=1) / X[:, 1].var(ddof=1))
    test = ks_2samp(X[:, 1], Z[:, 1], method="asymp")
    assert second.ks == pytest.approx(test.statistic)
    assert second.p_value == pytest.approx(2 * test.pvalue)
    assert first.p_value <= 1


def test_p_values_are_multiplied_by_the_number_of_columns():
    # A shift that is neither certain nor absent, so that a missing factor shows.
    X, Z = rows(60, d=4), rows(60, 0.3, seed=1, d=4)
    shifts = {shift.name: shift for shift in feature_shifts(X, Z, (X, Z), "abcd")}
    plain = [ks_2samp(X[:, k], Z[:, k], method="asymp").pvalue for k in range(4)]
    assert any(1e-3 < p < 0.2 for p in plain)
    for name, p in zip("abcd", plain, strict=True):
        assert shifts[name].p_value == pytest.approx(min(1, 4 * p), abs=0)


def test_sparse_columns_shift_like_dense_ones():
    X, Z = rows(40, d=3) * (rows(40, seed=5, d=3) > 0), rows(30, 1.0, seed=1, d=3)
    dense = feature_shifts(X, Z, (X, Z), "abc")
    sparse_rows = sparse.csr_matrix(X), sparse.csr_matrix(Z)
    for expected, found in zip(
        dense, feature_shifts(*sparse_rows, sparse_rows, "abc"), strict=True
    ):
        assert expected.name == found.name
        assert expected.mean_difference == pytest.approx(found.mean_difference)
        assert expected.variance_ratio == pytest.approx(found.variance_ratio)
        assert expected.ks == found.ks


def test_constant_columns():
    X, Z = np.array([[1.0, 2.0, 0.0]] * 5), np.array([[1.0, 3.0, 0.0]] * 5)
    Z[:, 2] = [0, 1, 2, 3, 4]
    difference, ratio = moment_shifts(X, Z)
    assert difference[:2].tolist() == [0, np.inf]
    assert ratio.tolist() == [1, 1, np.inf]


def test_among_very_many_columns_those_with_the_largest_difference_are_compared():
    X = np.zeros((10, MAX_COLUMNS + 200))
    X[::2] = 1
    Z = X.copy()
    Z[:, -3:] += 5
    shifts = feature_shifts(X, Z, (X, Z), [str(k) for k in range(X.shape[1])])
    assert len(shifts) == MAX_COLUMNS
    assert {shift.name for shift in shifts[:3]} == {"1197", "1198", "1199"}


# Labels --------------------------------------------------------------------------------------


def test_proportions_of_classes():
    y, y_target = ["a"] * 60 + ["b"] * 40, ["a"] * 20 + ["c"] * 30
    shift = label_shift(y, y_target)
    assert shift.task == "classification"
    assert shift.classes == ("a", "b", "c")
    assert shift.source == (0.6, 0.4, 0)
    assert shift.target == (0.4, 0, 0.6)
    assert shift.effect == pytest.approx(0.6)
    assert shift.p_value < 1e-6


def test_pearsons_test_of_proportions():
    shift = label_shift(np.repeat([0, 1], [30, 70]), np.repeat([0, 1], [50, 50]))
    statistic = 200 * (30 * 50 - 50 * 70) ** 2 / (100 * 100 * 80 * 120)
    assert shift.p_value == pytest.approx(2 * norm.sf(np.sqrt(statistic)))


def test_means_of_numbers_and_their_sign():
    y, y_target = rows(200, d=1).ravel(), rows(100, -1.0, seed=1, d=1).ravel()
    shift = label_shift(y, y_target)
    assert shift.task == "regression"
    assert -1.3 < shift.effect < -0.7
    assert shift.source == pytest.approx((y.mean(), y.std(ddof=1)))
    assert shift.p_value < 1e-6


def test_means_are_compared_by_welchs_test():
    # The smaller sample has the larger spread: Student's pooled test is far too sure.
    rng = np.random.default_rng(0)
    y, y_target = rng.normal(0, 1, 200), rng.normal(0.8, 4, 12)
    variances = y.var(ddof=1) / 200, y_target.var(ddof=1) / 12
    t = (y_target.mean() - y.mean()) / np.sqrt(sum(variances))
    freedom = sum(variances) ** 2 / (variances[0] ** 2 / 199 + variances[1] ** 2 / 11)
    assert label_shift(y, y_target).p_value == pytest.approx(2 * t_distribution.sf(abs(t), freedom))
    student = ttest_ind(y, y_target).pvalue
    assert label_shift(y, y_target).p_value > 1.5 * student


def test_whole_numbers_are_classes_unless_said_otherwise():
    assert label_shift([1, 2, 3], [1, 2, 4]).task == "classification"
    assert label_shift([1, 2, 3], [1, 2, 4], "regression").task == "regression"
    assert label_shift(range(20), range(10, 30)).task == "classification"
    assert label_shift(range(20), range(10, 31)).task == "regression"
    assert label_shift([str(k) for k in range(30)], ["a", "b"]).task == "classification"


def test_truth_values_in_an_array_of_objects_are_classes():
    shift = label_shift(np.array([True, False, True], dtype=object), np.array([True, False]))
    assert shift.classes == (False, True)
    assert label_shift(np.array([1, 2, 2], dtype=object), [2, 3]).classes == (1, 2, 3)


def test_constant_labels():
    assert label_shift(["a", "a"], ["a", "a"]).p_value == 1
    equal = label_shift([0.5, 0.5], [0.5, 0.5], "regression")
    assert (equal.effect, equal.p_value) == (0, 1)
    lower = label_shift([0.5, 0.5], [0.25, 0.25], "regression")
    assert (lower.effect, lower.p_value) == (-np.inf, 0)


@pytest.mark.parametrize(
    ("y", "y_target", "message"),
    [
        ([[1], [2]], [1, 2], r"`y` must be a vector of at least 2 labels; got shape \(2, 1\)"),
        ([1, 2], [1], "`y_target` must be a vector of at least 2 labels"),
        ([1, 2], [1.0, np.nan], "`y_target` must not contain missing labels; got 1 missing"),
        (np.array(["a", None], dtype=object), ["a", "b"], "`y` must not contain missing labels"),
        ([1, 2], ["a", "b"], "`y_target` must hold labels of the same type as y"),
        ([0.5, np.inf], [1, 2], "`y` must not contain missing labels; got 1 missing or infinite"),
        (pd.Series(["a", None], dtype="string"), ["a", "b"], "`y` must not contain missing labels"),
    ],
)
def test_labels_that_cannot_be_compared(y, y_target, message):
    with pytest.raises(ValueError, match=message):
        label_shift(y, y_target)


def test_a_constant_has_no_variance_whatever_rounding_leaves_of_it():
    constant, moving = np.full((30, 1), 0.1) * 3, np.arange(40.0)[:, None] / 40
    assert constant.var() > 0  # the mean of 0.30000000000000004 is another number
    difference, ratio = moment_shifts(constant, moving)
    assert ratio[0] == np.inf
    assert moment_shifts(moving, constant)[1][0] == 0.0
    assert difference[0] == pytest.approx((moving.mean() - 0.3) / np.sqrt(moving.var(ddof=1) / 2))


@pytest.mark.parametrize("n", [4, 20])
def test_few_rows_have_the_exact_p_value(n):
    X = np.arange(float(n))[:, None]
    (found,) = feature_shifts(X, X + n, (X, X + n), ["a"])
    # All rows of one domain below all of the other: 2 of the C(2n, n) orders.
    assert found.ks == 1.0
    assert found.p_value == pytest.approx(2 / comb(2 * n, n))


def test_text_has_no_mean():
    with pytest.raises(ValueError, match="`task` must be 'classification' or 'auto' for labels"):
        label_shift(["a", "b"], ["a", "c"], "regression")
