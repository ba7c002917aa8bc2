"""Metrics of kept predictions against scikit-learn's scorers."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer

from landbridge.inference.intervals import format_interval, format_number
from landbridge.metrics.scoring import check_scoring

BINARY = [
    "accuracy",
    "balanced_accuracy",
    "f1",
    "f1_macro",
    "f1_micro",
    "f1_weighted",
    "precision",
    "precision_macro",
    "recall",
    "recall_weighted",
    "jaccard",
    "jaccard_macro",
    "matthews_corrcoef",
    "roc_auc",
    "average_precision",
    "neg_log_loss",
    "neg_brier_score",
]
MULTICLASS = [
    "accuracy",
    "balanced_accuracy",
    "f1_macro",
    "f1_micro",
    "f1_weighted",
    "precision_macro",
    "precision_weighted",
    "precision_micro",
    "recall_macro",
    "recall_weighted",
    "recall_micro",
    "jaccard_macro",
    "jaccard_weighted",
    "matthews_corrcoef",
    "roc_auc_ovr",
    "roc_auc_ovr_weighted",
    "average_precision",
    "neg_log_loss",
    "neg_brier_score",
]
NUMBERS = ["neg_root_mean_squared_error", "neg_mean_squared_error", "neg_mean_absolute_error", "r2"]
LOOPED = ["top_k_accuracy", "d2_log_loss_score", "jaccard_micro", "adjusted_rand_score"]
# scikit-learn 1.6 has no scorer for the first and no score of several classes for the second.
LOOPED = [name for name in LOOPED if name in get_scorer_names()]
if "d2_log_loss_score" not in LOOPED:
    MULTICLASS.remove("neg_brier_score")


class Kept(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are their own probabilities."""

    def __init__(self, classes=(0, 1)):
        self.classes = classes

    def fit(self, X, y=None):
        self.classes_ = np.asarray(self.classes)
        return self

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return self.classes_[X.argmax(axis=1)]


class KeptNumbers(RegressorMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        return X[:, 0]


def draw(seed, n_classes, n_rows=60, n_cells=3, decimals=1):
    """Probabilities that are a little right, with ties, and weights of which some are zero."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_rows - n_classes)])
    raw = rng.gamma(1.0, size=(n_cells, n_rows, n_classes))
    raw[:, np.arange(n_rows), y] += rng.gamma(0.5, size=(n_cells, n_rows))
    counts = np.ceil(10**decimals * raw / raw.sum(axis=-1, keepdims=True))
    probabilities = counts / counts.sum(axis=-1, keepdims=True)
    weight = rng.gamma(1.0, size=n_rows) * (rng.random(n_rows) < 0.9)
    return y, probabilities, weight


def sklearn_score(scorer, y, probabilities, classes, weight=None):
    """The scorer's value without its sign."""
    model = Kept(classes).fit(None)
    options = {} if weight is None else {"sample_weight": weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return scorer._sign * scorer(model, probabilities, np.asarray(classes)[y], **options)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", BINARY)
def test_binary_metrics_equal_scikit_learn(name, seed):
    y, probabilities, weight = draw(seed, 2)
    (metric,) = check_scoring(name, task="classification", classes=[0, 1])
    for w in (None, weight):
        expected = [sklearn_score(get_scorer(name), y, p, [0, 1], w) for p in probabilities]
        np.testing.assert_allclose(metric.score(y, probabilities, w), expected, rtol=1e-12)
    assert metric.vectorised


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MULTICLASS)
def test_multiclass_metrics_equal_scikit_learn(name, seed):
    classes = ["a", "b", "c", "d"]
    y, probabilities, weight = draw(seed, 4)
    (metric,) = check_scoring(name, task="classification", classes=classes)
    for w in (None, weight):
        if name == "neg_brier_score" or name == "average_precision":
            # These scorers reject names of classes, though the functions take them.
            expected = [
                sklearn_score(get_scorer(name), y, p, [0, 1, 2, 3], w) for p in probabilities
            ]
        else:
            expected = [sklearn_score(get_scorer(name), y, p, classes, w) for p in probabilities]
        np.testing.assert_allclose(metric.score(y, probabilities, w), expected, rtol=1e-12)
    assert metric.vectorised


@pytest.mark.parametrize("name", ["roc_auc_ovo", "roc_auc_ovo_weighted"])
def test_pairwise_auc_equals_scikit_learn_without_weights(name):
    for seed in range(5):
        y, probabilities, _ = draw(seed, 4)
        (metric,) = check_scoring(name, task="classification", classes=[0, 1, 2, 3])
        expected = [sklearn_score(get_scorer(name), y, p, [0, 1, 2, 3]) for p in probabilities]
        np.testing.assert_allclose(metric.score(y, probabilities), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["roc_auc_ovo", "roc_auc_ovo_weighted"])
def test_pairwise_auc_with_whole_weights_repeats_rows(name):
    y, probabilities, _ = draw(0, 3)
    times = np.random.default_rng(0).integers(1, 4, size=y.size)
    rows = np.repeat(np.arange(y.size), times)
    (metric,) = check_scoring(name, task="classification", classes=[0, 1, 2])
    np.testing.assert_allclose(
        metric.score(y, probabilities, times), metric.score(y[rows], probabilities[:, rows])
    )


@pytest.mark.parametrize("name", NUMBERS)
def test_metrics_of_numbers_equal_scikit_learn(name):
    rng = np.random.default_rng(0)
    y = 1000 + rng.normal(size=40)
    predictions = y + rng.normal(size=(3, 40))
    (metric,) = check_scoring(name, task="regression")
    scorer, model = get_scorer(name), KeptNumbers().fit(None)
    for weight in (None, rng.gamma(1.0, size=40)):
        options = {} if weight is None else {"sample_weight": weight}
        expected = [scorer._sign * scorer(model, p[:, None], y, **options) for p in predictions]
        np.testing.assert_allclose(metric.score(y, predictions, weight), expected, rtol=1e-9)


@pytest.mark.parametrize("name", LOOPED)
def test_other_metrics_are_called_once_per_replicate(name):
    y, probabilities, weight = draw(1, 3)
    (metric,) = check_scoring(name, task="classification", classes=["a", "b", "c"])
    assert not metric.vectorised
    expected = [sklearn_score(get_scorer(name), y, p, ["a", "b", "c"]) for p in probabilities]
    np.testing.assert_allclose(metric.score(y, probabilities), expected)
    weights = np.stack([np.ones(y.size), weight])
    replicates = metric.replicates(y, probabilities, weights)
    np.testing.assert_allclose(replicates[:, 0], expected)
    if name in ("top_k_accuracy", "jaccard_micro"):
        second = [
            sklearn_score(get_scorer(name), y, p, ["a", "b", "c"], weight) for p in probabilities
        ]
        np.testing.assert_allclose(replicates[:, 1], second)


def test_a_metric_without_weights_sees_rows_in_proportion():
    def share(y_true, y_pred):
        return float(np.mean(y_true == y_pred))

    y, probabilities, weight = draw(2, 2)
    mine, accuracy = check_scoring([share, "accuracy"], task="classification", classes=[0, 1])
    np.testing.assert_allclose(
        mine.score(y, probabilities, weight), accuracy.score(y, probabilities, weight), atol=2e-3
    )


@pytest.mark.parametrize("name", [*MULTICLASS, "roc_auc_ovo"])
def test_replicates_are_scores_under_each_weighting(name):
    y, probabilities, _ = draw(3, 3)
    weights = np.random.default_rng(0).exponential(size=(4, y.size))
    (metric,) = check_scoring(name, task="classification", classes=[0, 1, 2])
    replicates = metric.replicates(y, probabilities, weights)
    assert replicates.shape == (3, 4)
    for r, weight in enumerate(weights):
        np.testing.assert_allclose(replicates[:, r], metric.score(y, probabilities, weight))


@pytest.mark.parametrize("name", ["f1_macro", "precision_macro", "balanced_accuracy"])
def test_absent_classes_count_as_in_scikit_learn(name):
    y, probabilities, _ = draw(4, 4)
    here = y < 2  # classes 2 and 3 have no true rows, but some are predicted
    y, probabilities = y[here], probabilities[:, here]
    probabilities[:, :, 3] = 0.0
    (metric,) = check_scoring(name, task="classification", classes=[0, 1, 2, 3])
    expected = [sklearn_score(get_scorer(name), y, p, [0, 1, 2, 3]) for p in probabilities]
    np.testing.assert_allclose(metric.score(y, probabilities), expected)


def test_absent_classes_in_rankings_and_log_loss():
    y, probabilities, _ = draw(5, 3)
    here = y < 2
    y, probabilities = y[here], probabilities[:, here]
    ovr, log, one = check_scoring(
        ["roc_auc_ovr", "neg_log_loss", "roc_auc_ovo"], task="classification", classes=[0, 1, 2]
    )
    expected = [
        np.mean([metrics.roc_auc_score(y == k, p[:, k]) for k in (0, 1)]) for p in probabilities
    ]
    np.testing.assert_allclose(ovr.score(y, probabilities), expected)
    expected = [metrics.log_loss(y, p, labels=[0, 1, 2]) for p in probabilities]
    np.testing.assert_allclose(log.score(y, probabilities), expected)
    only = y == 0
    for metric in (ovr, one):
        assert np.isnan(metric.score(y[only], probabilities[:, only])).all()


def test_a_total_without_weights_has_the_size_of_the_given_rows():
    def cost(y, predicted):
        return np.sum(y != predicted)

    y, probabilities, weight = draw(2, 2)
    total, error = check_scoring([cost, "zero_one"], task="classification", classes=[0, 1])
    for given in (None, weight):
        expected = y.size * error.score(y, probabilities, given)
        assert total.score(y, probabilities, given) == pytest.approx(expected, abs=0.002 * y.size)


def test_a_metric_that_raises_is_undefined_with_a_warning():
    def of_positive_numbers(y, predicted):
        if predicted.min() <= 0:
            raise ValueError("some are not positive")
        return np.mean(np.abs(np.log(y / predicted)))

    (metric,) = check_scoring(of_positive_numbers, task="regression")
    with pytest.warns(UndefinedMetricWarning, match="of_positive_numbers is NaN.*not positive"):
        found = metric.score(np.ones(4), np.array([[1, 1, 1, 1], [1, -1, 1, 1]]))
    np.testing.assert_array_equal(found, [0.0, np.nan])


def test_the_positive_class_is_named():
    classes = ["ill", "well"]
    y, probabilities, weight = draw(6, 2)
    for positive, place in (("ill", 0), ("well", 1)):
        scorers = {
            "f": make_scorer(metrics.f1_score, pos_label=positive),
            "ap": make_scorer(
                metrics.average_precision_score, pos_label=positive, response_method="predict_proba"
            ),
            "f2": make_scorer(metrics.fbeta_score, beta=2, pos_label=positive),
        }
        for metric, scorer in zip(
            check_scoring(scorers, task="classification", classes=classes),
            scorers.values(),
            strict=True,
        ):
            expected = [sklearn_score(scorer, y, p, classes, weight) for p in probabilities]
            np.testing.assert_allclose(metric.score(y, probabilities, weight), expected)
            assert repr(positive) in metric.label
            assert place == classes.index(positive)
    f1, numbers = (
        check_scoring("f1", task="classification", classes=c)[0] for c in (classes, [0, 1])
    )
    assert f1.label == "F1 of 'well'"
    assert numbers.label == "F1"
    one_first = check_scoring("f1", task="classification", classes=[1, 2])[0]
    expected = [sklearn_score(get_scorer("f1"), y, p, [1, 2]) for p in probabilities]
    np.testing.assert_allclose(one_first.score(y, probabilities), expected)


def test_classes_that_are_numbers_have_distances():
    y, probabilities, weight = draw(7, 4)
    classes = np.array([1, 2, 5, 9])
    mae, rmse = check_scoring(["mae", "rmse"], task="classification", classes=classes)
    assert mae.response == "label"
    predicted = classes[probabilities[0].argmax(axis=1)]
    truth = classes[y]
    assert mae.score(y, probabilities[0], weight) == pytest.approx(
        metrics.mean_absolute_error(truth, predicted, sample_weight=weight)
    )
    assert rmse.score(y, probabilities[0]) == pytest.approx(
        metrics.root_mean_squared_error(truth, predicted)
    )
    np.testing.assert_allclose(mae.pointwise(y, probabilities[0]), np.abs(truth - predicted))


@pytest.mark.parametrize(
    "name", ["accuracy", "f1_micro", "zero_one", "log", "neg_brier_score", "mae", "mse"]
)
def test_decomposable_losses_are_means_of_pointwise_losses(name):
    y, probabilities, weight = draw(8, 3)
    (metric,) = check_scoring(name, task="classification", classes=[0, 1, 2])
    losses = metric.pointwise(y, probabilities)
    assert losses.shape == (3, y.size)
    np.testing.assert_allclose(
        np.average(losses, axis=1, weights=weight),
        metric.loss(metric.score(y, probabilities, weight)),
    )
    assert metric.decomposable
    assert losses.min() >= metric.loss_bounds[0]


def test_orientation():
    names = ["accuracy", "roc_auc", "neg_log_loss", "zero_one"]
    accuracy, auc, log, error = check_scoring(names, task="classification", classes=[0, 1])
    assert [accuracy.loss(0.9), auc.loss(0.75), log.loss(2.0), error.loss(0.2)] == pytest.approx(
        [0.1, 0.25, 2.0, 0.2]
    )
    assert accuracy.score_of(accuracy.loss(0.9)) == pytest.approx(0.9)
    assert [m.greater_is_better for m in (accuracy, auc, log, error)] == [True, True, False, False]
    assert accuracy.loss_bounds == (0.0, 1.0)
    rmse, mae, r2 = check_scoring(None, task="regression")
    assert (rmse.label, mae.label, r2.label) == ("RMSE", "MAE", "R²")
    assert r2.loss(-1.0) == 2.0
    assert r2.loss_bounds == (0.0, np.inf)
    assert not rmse.decomposable

    def gain(y_true, y_pred):
        return 7.0

    (unbounded,) = check_scoring(gain, task="regression")
    assert unbounded.loss(7.0) == -7.0
    assert unbounded.score(np.zeros(3), np.zeros((2, 2, 3))).shape == (2, 2)


def test_responses():
    names = ["accuracy", "roc_auc", "neg_log_loss", "f1"]
    found = check_scoring(names, task="classification", classes=[0, 1])
    assert [m.response for m in found] == ["label", "probability", "probability", "label"]
    assert check_scoring("r2", task="regression")[0].response == "number"
    assert [m.name for m in check_scoring(None, task="classification", classes=[0, 1])] == [
        "accuracy",
        "balanced_accuracy",
    ]


def test_functions_of_scikit_learn_keep_their_orientation():
    mse, log = (
        check_scoring(metrics.mean_squared_error, task="regression")[0],
        check_scoring(metrics.log_loss, task="classification", classes=[0, 1])[0],
    )
    assert not mse.greater_is_better
    assert not log.greater_is_better
    assert log.response == "probability"


def test_functions_get_labels_probabilities_and_weights():
    seen = {}

    def labels(y_true, y_pred, sample_weight=None):
        seen["labels"] = y_true.dtype.kind, y_pred.shape, sample_weight
        return 0.5

    def matrix(y_true, y_proba, *, sample_weight=None):
        seen["matrix"] = y_true.dtype.kind, y_proba.shape, sample_weight
        return 0.5

    y, probabilities, weight = draw(9, 3)
    scoring = {"one": labels, "two": make_scorer(matrix, response_method="predict_proba")}
    one, two = check_scoring(scoring, task="classification", classes=["a", "b", "c"])
    assert (one.name, two.name, two.response) == ("one", "two", "probability")
    one.score(y, probabilities[0], weight)
    two.score(y, probabilities[0], weight)
    assert seen["labels"][:2] == ("U", (y.size,))
    assert seen["matrix"][:2] == ("U", (y.size, 3))
    np.testing.assert_allclose(seen["matrix"][2], weight)


def test_metrics_survive_pickling():
    for name in (*BINARY, "top_k_accuracy"):
        (metric,) = check_scoring(name, task="classification", classes=["a", "b"])
        again = pickle.loads(pickle.dumps(metric))  # noqa: S301
        y, probabilities, _ = draw(0, 2)
        np.testing.assert_array_equal(again.score(y, probabilities), metric.score(y, probabilities))


@pytest.mark.parametrize(
    ("scoring", "task", "classes", "message"),
    [
        ("rocauc", "classification", [0, 1], "got 'rocauc'. Did you mean 'roc_auc'?"),
        ("no_such", "classification", [0, 1], "must be the name of a metric; got 'no_such'"),
        (3, "classification", [0, 1], "must be a name, a scorer or a function; got 3"),
        ([], "classification", [0, 1], "must name at least one metric"),
        ("accuracy", "classification", None, "`classes` must contain the sorted classes"),
        ("accuracy", "regression", None, "must be a regression metric"),
        ("r2", "classification", ["a", "b"], "must be a classification metric; got 'r2'"),
        ("f1", "classification", [0, 1, 2], "requires two classes; got 3. Use 'f1_macro'"),
        ("roc_auc", "classification", [0, 1, 2], "Use 'roc_auc_ovr' or 'roc_auc_ovo'"),
        ("f1_samples", "classification", [0, 1], "must be a metric of single labels"),
        (["r2", "r2"], "regression", None, "a unique name; got 'r2' twice"),
        (
            make_scorer(metrics.f1_score, pos_label="x"),
            "classification",
            ["a", "b"],
            "must name a class in pos_label; got 'x'",
        ),
        (
            make_scorer(metrics.hinge_loss, response_method="decision_function"),
            "classification",
            [0, 1],
            "needs decision_function, but only probabilities are stored",
        ),
        (
            lambda estimator, X, y: 0.0,
            "classification",
            [0, 1],
            "must be a function of \\(y_true, y_pred\\), because models are not stored",
        ),
    ],
)
def test_what_is_refused(scoring, task, classes, message):
    with pytest.raises(ValueError, match=message):
        check_scoring(scoring, task=task, classes=classes)


def test_pointwise_losses_of_other_metrics_are_refused():
    (auc,) = check_scoring("roc_auc", task="classification", classes=[0, 1])
    with pytest.raises(ValueError, match="must be the mean of a pointwise loss; got 'roc_auc'"):
        auc.pointwise([0, 1], [[0.5, 0.5], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (42.1349, "42.13"),
        (0.05123, "0.0512"),
        (12340.4, "12 340"),
        (0.8312, "0.831"),
        (0.9999, "0.9999"),
        (999.96, "1 000"),
        (-3.14159, "-3.142"),
        (0, "0"),
        (0.00051, "0.000510"),
        (float("nan"), "–"),
        (float("inf"), "∞"),
        (3e-9, "3.000e-09"),
        (135951741473.0, "136 000 000 000"),
        (1.25e15, "1.250e+15"),
    ],
)
def test_four_digits_or_three_below_one(value, text):
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("interval", "texts"),
    [
        ((0.8312, 0.7901, 0.8704), ("0.83", "0.79", "0.87")),  # standard error 0.02
        ((0.8312, 0.8041, 0.8554), ("0.831", "0.804", "0.855")),  # standard error 0.013
        ((1234.56, 1034.1, 1434.9), ("1 235", "1 034", "1 435")),
        ((42.1349, 38.5, 46.0), ("42.1", "38.5", "46.0")),
        ((0.5, 0.5, 0.5), ("0.500", "0.500", "0.500")),
        (
            (135951741473, 94618956950, 195340094685),
            ("136 000 000 000", "94 620 000 000", "195 300 000 000"),
        ),
        ((123457.0, 123452.0, 123462.0), ("123 457", "123 452", "123 462")),
        ((3e-9, 2e-9, 4e-9), ("3.000e-09", "2.000e-09", "4.000e-09")),
        ((0.8312, float("nan"), float("nan")), ("0.831", "–", "–")),
    ],
)
def test_the_width_of_an_interval_sets_the_decimals(interval, texts):
    assert format_interval(*interval) == texts
