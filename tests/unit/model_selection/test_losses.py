"""Pointwise losses agree with scikit-learn's means and say what is wrong."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, mean_absolute_error, mean_squared_error, zero_one_loss
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from landbridge.model_selection import check_loss, pointwise_loss

X, Y = make_classification(n_samples=120, n_classes=3, n_informative=4, random_state=0)
NAMES = np.array(["ash", "birch", "cedar"])


@pytest.mark.parametrize(
    "labels", [np.arange(3), NAMES, NAMES.astype(object), np.array([5, -1, 2])]
)
def test_classification_losses_have_scikit_learns_mean(labels):
    y = labels[Y]
    model = GaussianNB().fit(X[:60], y[:60])
    X_test, y_test = X[60:], y[60:]
    zero_one = pointwise_loss("zero_one", model, X_test, y_test)
    assert zero_one.mean() == pytest.approx(zero_one_loss(y_test, model.predict(X_test)), abs=1e-15)
    assert set(zero_one) == {0.0, 1.0}
    log = pointwise_loss("log", model, X_test, y_test)
    expected = log_loss(y_test, model.predict_proba(X_test), labels=model.classes_)
    assert log.mean() == pytest.approx(expected, rel=1e-12)
    assert (log >= 0).all()


def test_an_unseen_class_gets_the_floor_and_an_impossible_one_stays_finite():
    model = GaussianNB().fit(X[Y != 1], NAMES[Y[Y != 1]])
    losses = pointwise_loss("log", model, X, NAMES[Y])
    floor = -np.log(np.finfo(float).eps)
    assert (losses[Y == 1] == floor).all()
    assert (losses[Y != 1] <= floor).all()
    assert losses[Y != 1].max() < floor
    # A class beyond the last known one must not be read from the last column.
    assert pointwise_loss("log", model, X[:1], ["zelkova"]) == [floor]


def test_single_precision_probabilities_are_taken_in_double():
    class Single(GaussianNB):
        def predict_proba(self, X):
            return super().predict_proba(X).astype(np.float32)

    double = pointwise_loss("log", GaussianNB().fit(X, Y), X, Y)
    single = pointwise_loss("log", Single().fit(X, Y), X, Y)
    assert single.dtype == np.float64
    np.testing.assert_allclose(single, double, rtol=1e-5, atol=1e-6)


def test_distances_have_scikit_learns_mean():
    y = X[:, 0] + 0.3 * X[:, 1] ** 2
    model = LinearRegression().fit(X, y)
    for loss, mean in (("absolute", mean_absolute_error), ("squared", mean_squared_error)):
        values = pointwise_loss(loss, model, X, pd.Series(y))
        assert values.mean() == pytest.approx(mean(y, model.predict(X)), rel=1e-12)
        assert values.shape == (120,)


def test_several_outputs_are_averaged_or_wrong_together():
    y = np.column_stack([X[:, 0] ** 2, X[:, 1]])
    model = LinearRegression().fit(X, y)
    for loss, mean in (("absolute", mean_absolute_error), ("squared", mean_squared_error)):
        values = pointwise_loss(loss, model, X, y)
        assert values.mean() == pytest.approx(mean(y, model.predict(X)), rel=1e-12)
    labels = np.column_stack([Y, X[:, 0] > 0])
    both = MultiOutputClassifier(GaussianNB()).fit(X, labels)
    expected = (both.predict(X) != labels).any(axis=1)
    assert np.array_equal(pointwise_loss("zero_one", both, X, labels), expected)
    with pytest.raises(ValueError, match="one output for loss='log'; got several"):
        pointwise_loss("log", both, X, labels)


def test_absolute_loss_of_numeric_classes_counts_how_far_off():
    model = GaussianNB().fit(X, Y)
    expected = np.abs(model.predict(X) - Y)
    assert np.array_equal(pointwise_loss("absolute", model, X, Y), expected)


def test_absolute_loss_of_integers_is_exact_for_unsigned_labels():
    model = GaussianNB().fit(X, Y.astype(np.uint8))
    losses = pointwise_loss("absolute", model, X, Y.astype(np.uint8))
    assert losses.max() <= 2


def test_a_callable_gives_its_own_values():
    model = LinearRegression().fit(X, X[:, 0])
    values = pointwise_loss(lambda y, p: np.maximum(y - p - 1, 0), model, X, X[:, 1])
    assert np.array_equal(values, np.maximum(X[:, 1] - model.predict(X) - 1, 0))


def test_a_pipeline_of_a_table_is_judged_as_it_is():
    table = pd.DataFrame(X)
    table.columns = [f"x{i}" for i in range(X.shape[1])]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(table, NAMES[Y])
    losses = pointwise_loss("log", model, table, pd.Series(NAMES[Y]))
    assert losses.mean() == pytest.approx(log_loss(NAMES[Y], model.predict_proba(table)))


@pytest.mark.parametrize("estimator", [LinearSVC(), make_pipeline(StandardScaler(), LinearSVC())])
def test_log_loss_without_probabilities_says_what_to_do(estimator):
    with pytest.raises(ValueError, match="got LinearSVC, which has none. Wrap it in"):
        pointwise_loss("log", estimator.fit(X, Y), X, Y)


def test_distances_of_named_classes_are_refused():
    model = GaussianNB().fit(X, NAMES[Y])
    with pytest.raises(ValueError, match="`y` must be numeric for loss='squared'"):
        pointwise_loss("squared", model, X, NAMES[Y])


def test_a_callable_must_return_finite_pointwise_values():
    model = LinearRegression().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="one number for each of the 120 rows; got shape"):
        pointwise_loss(mean_squared_error, model, X, X[:, 0])
    with pytest.raises(ValueError, match="finite numbers; got nan in row 3"):
        pointwise_loss(lambda y, p: np.where(np.arange(120) == 3, np.nan, 0), model, X, X[:, 0])


def test_check_loss():
    for loss in ("zero_one", "log", "absolute", "squared", max):
        check_loss(loss, "classification")
    for loss in ("absolute", "squared", max):
        check_loss(loss, "regression")
    for loss in ("zero_one", "log"):
        with pytest.raises(ValueError, match="`loss` must measure a distance for regression"):
            check_loss(loss, "regression")
    with pytest.raises(ValueError, match="`loss` must be one of 'zero_one', 'log'"):
        check_loss("hinge", "classification")
