"""Adapters of skada and ADAPT, with stand-ins that have the interface of each."""

import sys
from types import ModuleType

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression, Ridge

import landbridge as lb
from landbridge.datasets import make_covariate_shift
from landbridge.interop import SkadaEstimator, from_adapt, from_skada
from landbridge.interop.peers import learns_target_labels

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
Y = np.array(["no", "no", "yes", "yes"])
X_TARGET, Y_TARGET = X[1:3] + 0.5, Y[1:3]
X_UNLABELED = X + 0.25


@pytest.fixture
def peers(monkeypatch):
    for name in ("skada", "adapt"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))


class LikeSkada(BaseEstimator):
    """fit(X, y, sample_domain=…), labels of target rows masked."""

    def __init__(self, estimator=None):
        self.estimator = estimator

    def fit(self, X, y, sample_domain=None):
        self.routing_ = sklearn.get_config()["enable_metadata_routing"]
        self.given_ = X, y, sample_domain
        self.inner_ = clone(self.estimator).fit(X[sample_domain > 0], y[sample_domain > 0])
        return self

    def predict(self, X):
        return self.inner_.predict(X)

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)


class LikeAdapt(BaseEstimator):
    """fit(X, y, Xt=…, yt=…)."""

    def __init__(self, estimator=None):
        self.estimator = estimator

    def fit(self, X, y, Xt=None, yt=None, domains=None, **fit_params):
        self.given_ = X, y, Xt, yt
        self.inner_ = clone(self.estimator).fit(X, y)
        return self

    def predict(self, X, domain=None):
        return self.inner_.predict(X)[:, None]


class OfMarginals(LikeAdapt):
    def fit_weights(self, Xs, Xt, **kwargs):
        return np.ones(len(Xs))


class OfLabels(LikeAdapt):
    def fit_transform(self, Xs, Xt, ys, yt, **kwargs):
        return Xs


def all_targets():
    return {"X_target": X_TARGET, "y_target": Y_TARGET, "X_unlabeled": X_UNLABELED}


@pytest.mark.usefixtures("peers")
def test_skada_is_given_domains_and_masked_labels():
    model = from_skada(LikeSkada(LogisticRegression())).fit(X, Y, **all_targets())
    rows, labels, domain = model.estimator_.given_
    assert domain.tolist() == [1] * 6 + [-2] * 6
    # Source, labelled target rows as further source rows; then every target row, masked.
    assert labels.tolist() == [0, 0, 1, 1, 0, 1] + [-1] * 6
    np.testing.assert_array_equal(rows, np.vstack([X, X_TARGET, X_TARGET, X_UNLABELED]))
    assert model.estimator_.routing_
    assert not sklearn.get_config()["enable_metadata_routing"]
    assert set(model.predict(X)) == {"no", "yes"}
    assert model.predict_proba(X).shape == (4, 2)
    assert model.score(X, Y) == np.mean(model.predict(X) == Y)


@pytest.mark.usefixtures("peers")
def test_skada_without_target_labels():
    model = from_skada(LikeSkada(LogisticRegression())).fit(X, Y, X_unlabeled=X_UNLABELED)
    assert model.estimator_.given_[1].tolist() == [0, 0, 1, 1] + [-1] * 4


@pytest.mark.usefixtures("peers")
def test_skada_regression_masks_by_nan():
    model = from_skada(LikeSkada(Ridge()), task="regression")
    model.fit(X, X[:, 0], X_unlabeled=X_UNLABELED)
    assert np.isnan(model.estimator_.given_[1][4:]).all()
    assert is_regressor(model)
    assert not is_classifier(model)
    assert not hasattr(model, "classes_")
    assert 0 < model.score(X, X[:, 0]) <= 1


@pytest.mark.usefixtures("peers")
def test_adapt_methods_of_marginals_are_given_all_target_rows():
    model = from_adapt(OfMarginals(LogisticRegression())).fit(X, Y, **all_targets())
    rows, labels, Xt, yt = model.estimator_.given_
    np.testing.assert_array_equal(rows, np.vstack([X, X_TARGET]))
    assert labels.tolist() == [0, 0, 1, 1, 0, 1]
    np.testing.assert_array_equal(Xt, np.vstack([X_TARGET, X_UNLABELED]))
    assert yt is None
    assert model.predict(X).shape == (4,)
    assert not hasattr(model, "predict_proba")


@pytest.mark.usefixtures("peers")
@pytest.mark.parametrize("kind", [LikeAdapt, OfLabels])
def test_adapt_methods_of_labels_are_given_labelled_target_rows(kind):
    assert learns_target_labels(kind())
    model = from_adapt(kind(LogisticRegression())).fit(X, Y, **all_targets())
    rows, labels, Xt, yt = model.estimator_.given_
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(Xt, X_TARGET)
    assert (labels.tolist(), yt.tolist()) == ([0, 0, 1, 1], [0, 1])
    with pytest.raises(ValueError, match=f"{kind.__name__} learns from target labels"):
        from_adapt(kind(LogisticRegression())).fit(X, Y, X_unlabeled=X_UNLABELED)


@pytest.mark.usefixtures("peers")
def test_adapt_finds_its_task_inside():
    assert is_regressor(from_adapt(OfMarginals(Ridge())))
    assert is_classifier(from_adapt(OfMarginals(LogisticRegression())))
    assert is_regressor(from_adapt(OfMarginals(LogisticRegression()), task="regression"))


@pytest.mark.usefixtures("peers")
@pytest.mark.parametrize(
    "candidate", [lambda: from_skada(LikeSkada()), lambda: from_adapt(OfMarginals())]
)
def test_they_are_candidates_of_a_search(candidate):
    data = make_covariate_shift(n_source=60, n_target=60, random_state=0)
    grid = {"estimator__estimator": [LogisticRegression(C=0.1), LogisticRegression()]}
    search = lb.TransferSearchCV(
        {"peer": (candidate(), grid), "source": lb.SourceOnly(LogisticRegression())},
        cv=3,
        random_state=0,
    )
    search.fit(
        data.X,
        data.y,
        X_target=data.X_target[:20],
        y_target=data.y_target[:20],
        X_unlabeled=data.X_target[20:],
    )
    names = search.cv_results_["candidate"].tolist()
    assert names == ["peer", "peer", "source", "majority class"]
    assert search.predict(data.X_target).shape == (60,)


@pytest.mark.usefixtures("peers")
def test_no_target_is_refused():
    with pytest.raises(ValueError, match="SkadaEstimator needs target rows"):
        from_skada(LikeSkada(LogisticRegression())).fit(X, Y)


@pytest.mark.usefixtures("peers")
def test_what_cannot_be_adapted_is_refused():
    with pytest.raises(ValueError, match="make_da_pipeline"):
        from_skada(BaseEstimator())
    for other in (LogisticRegression(), BaseEstimator()):
        with pytest.raises(ValueError, match=f"got {type(other).__name__}.*parameter_based"):
            from_adapt(other)
    with pytest.raises(ValueError, match="`task` must be one of"):
        from_skada(LikeSkada(), task="ranking").fit(X, Y, X_unlabeled=X)
    with pytest.raises(TypeError, match="`estimator` must be an estimator instance; got the cl"):
        SkadaEstimator(LikeSkada).fit(X, Y, X_unlabeled=X)


@pytest.mark.parametrize(("name", "convert"), [("skada", from_skada), ("adapt", from_adapt)])
def test_a_missing_package_is_named(monkeypatch, name, convert):
    monkeypatch.setitem(sys.modules, name, None)  # an import of it fails
    with pytest.raises(ImportError, match=f"pip install {name}"):
        convert(LikeSkada())
