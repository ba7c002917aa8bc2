"""Intervals and comparisons of metrics."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from landbridge.inference import score_interval
from landbridge.inference.intervals import normal_quantile, t_quantile
from landbridge.metrics.class_report import class_report
from landbridge.metrics.inference import (
    bootstrap_scores,
    bootstrap_weights,
    degrees_of_freedom,
    effective_rows,
    loss_errors,
    metric_interval,
    paired_probability,
    reweighted_interval,
)
from landbridge.metrics.metric import CROSS_VALIDATED
from landbridge.metrics.scoring import check_scoring


def draw(n_rows=80, n_cells=3, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_rows - n_classes)])
    raw = rng.gamma(1.0, size=(n_cells, n_rows, n_classes))
    raw[:, np.arange(n_rows), y] += np.arange(1, n_cells + 1)[:, None] * rng.gamma(
        0.7, size=(n_cells, n_rows)
    )
    return y, raw / raw.sum(axis=-1, keepdims=True)


def classification(*names, n_classes=2):
    return check_scoring(list(names), task="classification", classes=np.arange(n_classes))


def test_weights_have_mean_one_in_every_replicate():
    weights = bootstrap_weights(80, n_replicates=50, seed=1)
    np.testing.assert_allclose(weights.mean(axis=1), 1.0)
    assert weights.shape == (50, 80)
    np.testing.assert_array_equal(weights, bootstrap_weights(80, n_replicates=50, seed=1))


def test_accuracy_has_the_score_interval():
    y, predictions = draw()
    (accuracy,) = classification("accuracy")
    score = accuracy.score(y, predictions[0])
    low, high = metric_interval(accuracy, y, predictions[0], 0.8)
    assert (low, high) == pytest.approx(score_interval(score, y.size, 0.8))
    moved = metric_interval(accuracy, y, predictions[0], 0.8, estimate=0.5)
    assert tuple(moved) == pytest.approx(score_interval(0.5, y.size, 0.8))


def test_the_error_of_a_rate_is_that_of_a_proportion_with_fewer_rows():
    y, predictions = draw(seed=3)
    (auc,) = classification("roc_auc")
    replicates = bootstrap_scores(auc, y, predictions[:1], n_replicates=4000)[0]
    score = auc.score(y, predictions[0])
    n = y.size
    variance = np.var(replicates, ddof=1) * (n + 1) / (n - 1)
    rows = score * (1 - score) / variance
    counts = np.bincount(y)
    assert rows < 4 / np.sum(1 / counts)  # otherwise the other bound would be tested
    z, t = stats.norm.ppf(0.95), stats.t.ppf(0.95, n - 1)
    expected = score_interval(score, rows * (z / t) ** 2, 0.9)
    found = metric_interval(auc, y, predictions[0], replicates=replicates)
    assert tuple(found) == pytest.approx(expected)


def test_the_brier_score_is_as_certain_as_its_losses_are_alike():
    """Near the centre, the score interval equals Student's interval of the mean loss."""
    y = np.repeat([0, 1], 200)
    risk = np.random.default_rng(0).uniform(0.2, 0.4, size=y.size)
    predictions = np.where(y[:, None] == [0, 1], 1 - risk[:, None], risk[:, None])
    (brier,) = classification("neg_brier_score")
    found = metric_interval(brier, y, predictions)
    losses = brier.pointwise(y, predictions)
    half = stats.t.ppf(0.95, y.size - 1) * losses.std(ddof=1) / math.sqrt(y.size)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.01)


def test_a_perfect_rate_is_not_certain():
    y = np.repeat([0, 1], [40, 10])
    predictions = np.eye(2)[y]
    for metric in classification("roc_auc", "balanced_accuracy", "f1_macro", "average_precision"):
        low, high = metric_interval(metric, y, predictions)
        z, t = stats.norm.ppf(0.95), stats.t.ppf(0.95, 49)
        # Average precision is about the ten positive rows, the others about both classes.
        rows = 10 if metric.name == "average_precision" else 4 / (1 / 40 + 1 / 10)
        assert low == pytest.approx(float(score_interval(1.0, rows * (z / t) ** 2, 0.9)[0]))
        assert high == pytest.approx(1.0)


def test_skewed_losses_have_a_wide_upper_side():
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    predictions = y + rng.standard_t(3, size=50)
    mse, rmse, r2, mae = check_scoring(["mse", "rmse", "r2", "mae"], task="regression")
    estimate = mse.score(y, predictions)
    losses = (y - predictions) ** 2
    error = losses.std(ddof=1) / (math.sqrt(50) * estimate)
    freedom = 100 / (15 - 47 / 49)
    factor = math.exp(stats.t.ppf(0.95, freedom) * error)
    assert degrees_of_freedom(50) == pytest.approx(freedom)
    found = metric_interval(mse, y, predictions)
    assert tuple(found) == pytest.approx((estimate / factor, estimate * factor))
    assert found.method == "skewed"
    # RMSE comes from replicates of the square root of the same mean.
    replicates = bootstrap_scores(rmse, y, predictions[None], n_replicates=4000)[0]
    of_root = metric_interval(rmse, y, predictions, replicates=replicates)
    assert tuple(of_root) == pytest.approx(np.sqrt(tuple(found)), rel=0.05)
    low, high = metric_interval(r2, y, predictions)
    score = r2.score(y, predictions)
    assert low < score < high < 1.0
    assert (1 - low) / (1 - score) == pytest.approx((1 - score) / (1 - high))
    assert metric_interval(mae, y, predictions).low > 0


def test_degrees_of_freedom_are_those_of_normal_losses_for_their_kurtosis(monkeypatch):
    monkeypatch.setattr("landbridge.metrics.inference.KURTOSIS", 3.0)
    assert degrees_of_freedom(20) == pytest.approx(19.0)


def test_metrics_without_bounds_have_students_interval():
    def gain(y_true, y_pred, sample_weight=None):
        return float(np.average(y_true * y_pred, weights=sample_weight))

    rng = np.random.default_rng(0)
    y, predictions = rng.normal(size=(2, 60))
    (metric,) = check_scoring(gain, task="regression")
    products = y * predictions
    half = stats.t.ppf(0.95, 59) * products.std(ddof=1) / math.sqrt(60)
    found = metric_interval(metric, y, predictions)
    assert found.method == "student"
    assert tuple(found) == pytest.approx(
        (products.mean() - half, products.mean() + half), abs=0.15 * half
    )
    moved = metric_interval(metric, y, predictions, estimate=products.mean() + 1.0)
    assert moved.low < products.mean() < products.mean() + 1.0 < moved.high


@pytest.mark.parametrize("name", ["roc_auc", "neg_log_loss", "f1_macro"])
def test_an_estimate_away_from_the_score_widens_the_interval(name):
    y, predictions = draw(seed=4)
    (metric,) = classification(name)
    own = metric_interval(metric, y, predictions[0])
    moved = metric_interval(metric, y, predictions[0], estimate=own.estimate * 0.8)
    assert moved.estimate == pytest.approx(own.estimate * 0.8)
    assert moved.low < own.low
    assert moved.high - moved.low > own.high - own.low


@pytest.mark.parametrize("name", ["accuracy", "roc_auc", "neg_log_loss"])
def test_cross_validated_predictions_have_the_interval_of_fewer_rows(name):
    y, predictions = draw(seed=4)
    (metric,) = classification(name)
    fixed = metric_interval(metric, y, predictions[0])
    crossed = metric_interval(metric, y, predictions[0], variance_factor=CROSS_VALIDATED)
    if name == "accuracy":
        expected = score_interval(fixed.estimate, y.size / CROSS_VALIDATED, 0.9)
        assert tuple(crossed) == pytest.approx(expected)
    elif name == "neg_log_loss":
        fixed_width, width = (math.log(i.low / i.high) for i in (fixed, crossed))
        assert width == pytest.approx(math.sqrt(CROSS_VALIDATED) * fixed_width)
    ratio = (crossed.high - crossed.low) / (fixed.high - fixed.low)
    assert ratio == pytest.approx(math.sqrt(CROSS_VALIDATED), rel=0.05)


def test_squared_errors_vary_most_from_fold_to_fold():
    factors = {m.label: m.out_of_fold_factor for m in check_scoring(None, task="regression")}
    assert factors == {"RMSE": 5 / 3, "MAE": CROSS_VALIDATED, "R²": 5 / 3}


def test_sample_weights_cost_rows():
    y, predictions = draw(seed=5)
    weight = np.random.default_rng(0).gamma(0.5, size=y.size)
    assert effective_rows(4, [1, 1, 0, 0]) == 2.0
    assert effective_rows(4, None) == 4.0
    for metric in classification("accuracy", "roc_auc", "neg_log_loss"):
        plain = metric_interval(metric, y, predictions[0])
        weighted = metric_interval(metric, y, predictions[0], sample_weight=weight)
        assert weighted.estimate == metric.score(y, predictions[0], weight)
        assert weighted.high - weighted.low > plain.high - plain.low


def test_the_interval_of_weighted_rows_reaches_the_plain_one():
    y, values = np.ones(40, dtype=int), np.eye(2)[np.repeat([1, 0], [30, 10])]
    (accuracy,) = check_scoring("accuracy", task="classification", classes=[0, 1])
    plain = metric_interval(accuracy, y, values)
    weights = np.repeat([0.5, 2.5], [30, 10])
    found = reweighted_interval(plain, accuracy, y, values, weights)
    effective = 40**2 / (30 * 0.25 + 10 * 6.25)
    assert found.estimate == pytest.approx(15 / 40)
    assert found.low == pytest.approx(score_interval(15 / 40, effective, 0.9)[0])
    assert found.high == pytest.approx(score_interval(30 / 40, 40, 0.9)[1])


def test_undefined_metrics_have_the_whole_range_and_say_why():
    (auc,) = classification("roc_auc")
    found = metric_interval(auc, np.zeros(9, dtype=int), np.full((9, 2), 0.5))
    assert tuple(found) == (0.0, 1.0)
    assert "not defined" in found.note


def test_few_rows_of_a_class_are_noted():
    y, predictions = draw(seed=6)
    (metric,) = classification("balanced_accuracy")
    assert metric_interval(metric, y, predictions[0]).note == ""
    few = np.flatnonzero(np.cumsum(y == 1) * (y == 1) <= 2)
    note = metric_interval(metric, y[few], predictions[0, few]).note
    assert "the rarest class has 2 labelled rows" in note


@pytest.mark.parametrize(
    ("name", "truth"), [("balanced_accuracy", 0.5), ("recall", 0.5), ("f1", 0.5), ("f1_macro", 0.5)]
)
@pytest.mark.parametrize("predicted", [0, 1])
def test_intervals_allow_for_a_class_without_rows(name, truth, predicted):
    """Thirty negative rows say nothing about positive ones, however good or bad the score is."""
    (metric,) = classification(name)
    found = metric_interval(metric, np.zeros(30, dtype=int), np.eye(2)[[predicted] * 30])
    assert truth in found
    assert "a class has no labelled row" in found.note


@pytest.mark.parametrize(
    ("name", "predicted", "score"),
    [("f1", 1, 1.0), ("recall", 1, 1.0), ("average_precision", 1, 1.0), ("f1", 0, 0.0)],
)
def test_only_positive_rows_limit_a_perfect_or_failed_score_of_one_class(name, predicted, score):
    """All or none of three positive rows found are three trials, however many rows are negative."""
    y = np.repeat([1, 0], [3, 27])
    (metric,) = classification(name)
    found = metric_interval(metric, y, np.eye(2)[y * predicted])
    assert found.estimate == score
    rows = 3 * (normal_quantile(0.9) / t_quantile(0.9, 29)) ** 2
    assert tuple(found) == pytest.approx(score_interval(score, rows, 0.9))


def test_metrics_of_several_classes_have_no_positive_class():
    names = ["balanced_accuracy", "f1_macro", "roc_auc", "accuracy"]
    assert {metric.positive for metric in classification(*names)} == {None}
    assert {m.positive for m in classification("f1", "precision", "average_precision")} == {1}
    (several,) = classification("average_precision", n_classes=3)
    assert several.positive is None


@pytest.mark.parametrize("name", ["neg_log_loss", "neg_brier_score"])
def test_losses_of_probabilities_without_rows_of_a_class_are_noted(name):
    (metric,) = classification(name)
    predictions = np.tile([0.99, 0.01], (30, 1)) + np.linspace(0, 0.005, 30)[:, None] * [1, -1]
    found = metric_interval(metric, np.zeros(30, dtype=int), predictions)
    assert "a class has no labelled row" in found.note
    (accuracy,) = classification("accuracy")
    assert metric_interval(accuracy, np.zeros(30, dtype=int), predictions).note == ""


def test_log_losses_of_impossible_rows_are_noted():
    y, predictions = draw(seed=6)
    (log,) = classification("neg_log_loss")
    assert metric_interval(log, y, predictions[0]).note == ""
    certain = predictions[0].copy()
    certain[0] = np.eye(2)[1 - y[0]]
    assert "probability of zero" in metric_interval(log, y, certain).note


def test_average_precision_is_known_to_vary_more_than_its_replicates():
    y, predictions = draw(seed=12)
    (metric,) = classification("average_precision")
    assert metric.variance_factor > 1
    plain = replace(metric, variance_factor=1.0)
    wide, narrow = (metric_interval(m, y, predictions[0]) for m in (metric, plain))
    assert wide.high - wide.low > narrow.high - narrow.low


def test_intervals_in_words():
    rng = np.random.default_rng(0)
    y = 4000 * rng.normal(size=30)
    (rmse,) = check_scoring("rmse", task="regression")
    text = str(metric_interval(rmse, y, np.zeros(30), 0.9))
    assert "90 % interval" in text
    assert "e+" not in text


def test_paired_probability_of_means_is_the_paired_t_test():
    y, predictions = draw(seed=7)
    for metric in classification("accuracy", "neg_log_loss"):
        found = paired_probability(metric, y, predictions)
        losses = metric.pointwise(y, predictions)
        for a, b in ((0, 1), (2, 0)):
            test = stats.ttest_rel(losses[a], losses[b], alternative="less")
            assert found[a, b] == pytest.approx(1 - test.pvalue)
            assert found[a, b] + found[b, a] == pytest.approx(1.0)
        np.testing.assert_array_equal(np.diag(found), 0.5)


def test_losses_that_differ_by_rounding_errors_are_equal():
    (mse,) = check_scoring("mse", task="regression")
    y = np.zeros(30)
    predictions = np.repeat([[1.0], [1.0 + 1e-15]], 30, axis=1)
    np.testing.assert_array_equal(paired_probability(mse, y, predictions), 0.5)


def test_paired_probability_follows_the_weights_of_rows():
    y, predictions = draw(seed=7)
    for metric in classification("accuracy", "roc_auc"):
        equal = paired_probability(metric, y, predictions, sample_weight=np.full(y.size, 3.0))
        np.testing.assert_allclose(equal, paired_probability(metric, y, predictions))
        weight = np.where(np.arange(y.size) % 3, 0.01, 1.0)
        loss = metric.loss(metric.score(y, predictions, weight))
        found = paired_probability(metric, y, predictions, sample_weight=weight)
        np.testing.assert_array_equal(found > 0.5, loss[:, None] < loss)


def test_paired_probability_of_replicates_agrees_with_that_of_means():
    """Accuracy written as a function is compared through replicates."""

    def share(y_true, y_pred, sample_weight=None):
        return float(np.average(y_true == y_pred, weights=sample_weight))

    y, predictions = draw(seed=8)
    accuracy, same = classification("accuracy", share)
    np.testing.assert_allclose(
        paired_probability(same, y, predictions),
        paired_probability(accuracy, y, predictions),
        atol=0.03,
    )


@pytest.mark.parametrize(
    ("name", "better"), [("roc_auc", 2), ("average_precision", 2), ("neg_brier_score", 2)]
)
def test_the_better_cell_is_the_probable_one(name, better):
    y, predictions = draw(n_rows=200, seed=9)
    found = paired_probability(*classification(name), y, predictions)
    assert found[better, 0] > 0.95


def test_a_cell_without_a_score_has_no_probability():
    def recall(y, predicted):
        assert predicted.any(), "no positive prediction"
        return np.mean(predicted[y == 1])

    y, predictions = draw(n_cells=3)
    (metric,) = check_scoring(recall, task="classification", classes=[0, 1])
    others = paired_probability(metric, y, predictions[[0, 2]])
    predictions[1] = [1.0, 0.0]
    with pytest.warns(UndefinedMetricWarning, match="no positive prediction"):
        found = paired_probability(metric, y, predictions)
    assert np.isnan(found[1]).all()
    assert np.isnan(found[:, 1]).all()
    np.testing.assert_array_equal(found[np.ix_([0, 2], [0, 2])], others)


def test_replicates_on_which_a_metric_is_not_defined_are_left_out():
    y, predictions = draw()
    (auc,) = classification("roc_auc")
    replicates = bootstrap_scores(auc, y, predictions)
    options = {"replicates": replicates[0], "level": 0.9}
    expected = metric_interval(auc, y, predictions[0], **options)
    holes = np.pad(replicates, ((0, 0), (0, 30)), constant_values=np.nan)
    found = metric_interval(auc, y, predictions[0], **options | {"replicates": holes[0]})
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    np.testing.assert_allclose(
        loss_errors(auc, y, predictions, replicates=holes),
        loss_errors(auc, y, predictions, replicates=replicates),
    )


def test_a_few_equal_differences_are_no_certainty():
    y = np.zeros(5, dtype=int)
    predictions = np.stack([np.eye(2)[np.zeros(5, dtype=int)], np.eye(2)[np.ones(5, dtype=int)]])
    (accuracy,) = classification("accuracy")
    found = paired_probability(accuracy, y, predictions)
    assert found[0, 1] == pytest.approx(1 - 0.5**5)
    assert found[1, 0] == pytest.approx(0.5**5)


def test_covariance_of_errors():
    y, predictions = draw(seed=10)
    log, auc = classification("neg_log_loss", "roc_auc")
    losses = log.pointwise(y, predictions)
    errors = loss_errors(log, y, predictions)
    np.testing.assert_allclose(errors @ errors.T, np.cov(losses) / y.size)
    weight = np.random.default_rng(1).uniform(1.0, 3.0, y.size)
    errors = loss_errors(log, y, predictions, sample_weight=weight)
    n = weight.sum() ** 2 / (weight @ weight)
    np.testing.assert_allclose(errors @ errors.T, np.cov(losses, aweights=weight) / n)
    errors = loss_errors(auc, y, predictions)
    assert len(errors) == 3
    # DeLong's variance of the first cell
    positive, negative = (predictions[0, y == k, 1] for k in (1, 0))
    wins = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    delong = wins.mean(1).var(ddof=1) / positive.size + wins.mean(0).var(ddof=1) / negative.size
    assert errors[0] @ errors[0] == pytest.approx(delong, rel=0.15)


def test_confusion_and_class_report():
    y, predictions = draw(n_classes=3, seed=11)
    predicted = predictions[0].argmax(axis=1)
    weight = np.random.default_rng(0).gamma(1.0, size=y.size)
    for w in (None, weight):
        np.testing.assert_allclose(
            class_report(y, predictions[0], ["a", "b", "c"], w).confusion,
            metrics.confusion_matrix(y, predicted, sample_weight=w),
        )
    report = class_report(y, predictions[0], ["a", "b", "c"], weight)
    np.testing.assert_allclose(
        report.recall, metrics.recall_score(y, predicted, average=None, sample_weight=weight)
    )
    np.testing.assert_allclose(
        report.precision, metrics.precision_score(y, predicted, average=None, sample_weight=weight)
    )
    assert report.n_rows.sum() == pytest.approx(report.n_predicted.sum())
    never = class_report([0, 0], [[1.0, 0.0], [1.0, 0.0]], ["a", "b"])
    assert math.isnan(never.precision[1])
    assert math.isnan(never.recall[1])
