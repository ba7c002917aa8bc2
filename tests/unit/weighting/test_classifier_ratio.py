"""The classifier ratio: its direction, its size, cross-fitting and calibration."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

import landbridge as lb
from landbridge.datasets import make_covariate_shift
from landbridge.weighting.classifier_ratio import ColumnSquares, log_odds, odds_to_ratio


@pytest.fixture(scope="module")
def data():
    return make_covariate_shift(4000, 1000, 2, shift=0.8, scale=1.0, random_state=0)


class Overconfident(ClassifierMixin, BaseEstimator):
    """A logistic regression that triples its log-odds."""

    def fit(self, X, y):
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-3 * self.inner_.decision_function(X)))
        return np.column_stack([1 - p, p])


def test_equals_the_closed_form_ratio_in_direction_and_size(data):
    """Four times more source rows than target rows: a missing n_s/n_t would show."""
    ratio = lb.ClassifierRatio().fit(data.X, data.X_target)
    assert np.corrcoef(ratio.weights_, data.weights)[0, 1] > 0.98
    assert np.abs(np.log(ratio.weights_ / data.weights)).mean() < 0.15
    assert ratio.weights_.mean() == pytest.approx(1, abs=0.1)
    new = make_covariate_shift(500, 10, 2, shift=0.8, scale=1.0, random_state=1)
    assert np.abs(np.log(ratio.predict_weights(new.X) / new.weights)).mean() < 0.15


@pytest.mark.filterwarnings("ignore::landbridge.WeightingWarning")
@pytest.mark.parametrize("scale", [0.6, 1.2])
def test_a_change_of_variance_is_seen(scale):
    data = make_covariate_shift(800, 800, 3, shift=0.0, scale=scale, random_state=0)
    ratio = lb.ClassifierRatio().fit(data.X, data.X_target)
    assert np.corrcoef(ratio.weights_, data.weights)[0, 1] > 0.9


def test_squares_are_centred_and_scaled_and_sparse_rows_differ_by_a_constant():
    X = np.random.default_rng(0).normal(5, 2, size=(50, 2))
    X[::3, 1] = 0
    dense = ColumnSquares().fit_transform(X)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    squares = scaled**2
    np.testing.assert_allclose(dense, np.hstack([scaled, squares / squares.std(axis=0)]))
    thin = ColumnSquares().fit_transform(sparse.csr_array(X)).toarray()
    np.testing.assert_allclose((thin - dense).std(axis=0), 0, atol=1e-12)
    constant = ColumnSquares().fit_transform(np.ones((5, 1)))
    np.testing.assert_array_equal(constant, 0)


@pytest.mark.filterwarnings("ignore::landbridge.WeightingWarning")
def test_calibration_repairs_an_overconfident_classifier(data):
    ratio = lb.ClassifierRatio(Overconfident()).fit(data.X, data.X_target)
    assert np.isfinite(ratio.predict_weights(data.X_target)).all()
    share = ratio.classifier_.predict_proba(data.X)[:, 1]
    uncalibrated = odds_to_ratio(log_odds(share), 4000, 1000)
    errors = [np.abs(w - data.weights).mean() for w in (ratio.weights_, uncalibrated)]
    assert errors[0] < 0.3 < errors[1]


def test_one_sparse_domain_suffices_for_sparse_columns(data):
    X, T = data.X[:200], data.X_target[:100]
    thin = lb.ClassifierRatio().fit(sparse.csr_array(X), sparse.csr_array(T)).weights_
    for source, target in [(X, sparse.csr_array(T)), (sparse.csr_array(X), T)]:
        np.testing.assert_allclose(lb.ClassifierRatio().fit(source, target).weights_, thin)


def test_rows_are_judged_by_a_classifier_that_has_not_seen_them(data):
    """A nearest neighbour that sees the row itself would call every source row source."""
    X, T = data.X[:400], data.X_target[:400]
    ratio = lb.ClassifierRatio(KNeighborsClassifier(1)).fit(X, T)
    remembered = ratio.predict_weights(X)
    assert np.ptp(remembered) == 0
    assert np.mean(ratio.weights_ > remembered[0] * 1.01) > 0.2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"classifier": LinearSVC()}, "`classifier` must have predict_proba; got LinearSVC")],
)
def test_bad_parameters_are_refused(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        lb.ClassifierRatio(**parameters).fit(data.X, data.X_target)
