"""Warnings name the user's line, at any depth of calls inside the library."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import landbridge as lb

CLASSIFIERS = (
    lb.TrAdaBoostClassifier,
    lb.TransferBoostClassifier,
    lb.MultiSourceTrAdaBoostClassifier,
    lb.TaskTrAdaBoostClassifier,
    lb.TrimmedTreeClassifier,
    lb.LocallyWeightedEnsemble,
    lb.SurrogateKernelClassifier,
    lb.LaplacianRLSClassifier,
    lb.TransductiveSVC,
)
REGRESSORS = (lb.TrAdaBoostRegressor, lb.SurrogateKernelRegressor, lb.LaplacianRLSRegressor)


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, *REGRESSORS])
def test_a_missing_target_is_reported_at_the_line_of_the_caller(estimator):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = X[:, 0] if estimator in REGRESSORS else X[:, 0] > 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator().fit(X, y)
    assert {w.category for w in caught} == {lb.NoTargetWarning}
    assert {w.filename for w in caught} == {__file__}


def test_few_target_rows_are_reported_at_the_line_of_the_caller():
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.warns(lb.FewTargetRowsWarning, match="4 labelled.*too few") as caught:
        lb.TrAdaBoostClassifier().fit(X, X[:, 0] > 0, X_target=X[:4], y_target=X[:4, 0] > 0)
    assert caught[0].filename == __file__


class Failing(LogisticRegression):
    """Fails without the first row, which holds a large number."""

    def fit(self, X, y, sample_weight=None):
        if X[:, 0].max() < 9:
            raise ValueError("too small")
        return super().fit(X, y, sample_weight)


def undefined(y_true, y_pred):
    raise ValueError("not defined")


class OneRow:
    """Gives all weight to the first row."""

    def fit(self, X, X_target):
        self.weights_ = np.eye(len(X))[0]


def rows(*groups):
    X = np.random.default_rng(0).normal(size=(90, 2))
    X[0, 0] = 10
    return X, (X[:, 0] > 0).astype(int), np.resize(groups, 90)


def search(n_labelled=20, unlabelled=None, **options):
    X, y, _ = rows("a")
    candidates = {"linear": LogisticRegression(), "own": Failing()}
    options = {"cv": 5, "refit": False, "random_state": 0, **options}
    target = {"X_target": X[:n_labelled], "y_target": y[:n_labelled]} if n_labelled else {}
    given = {"groups": rows("a", "b")[2], **target, "X_unlabeled": X[-30:]}
    return lambda: lb.TransferSearchCV(candidates, **options).fit(X, y, **given)


def sources(*names, estimator=None):
    X, y, groups = rows(*names)
    model = lb.MultiSourceCV(LogisticRegression() if estimator is None else estimator)
    return lambda: model.fit(X, y, groups=groups)


WARNING_CALLS = {
    "few target rows": (search(3), lb.FewTargetRowsWarning),
    "failed candidates": (search(), lb.FailedFitWarning),
    "unstable weights": (search(0, weighting=OneRow()), lb.WeightingWarning),
    "undefined metric": (search(scoring=["accuracy", undefined]), UndefinedMetricWarning),
    "failed source": (sources("a", "b", "c", estimator=Failing()), lb.FailedFitWarning),
}


@pytest.mark.parametrize("name", WARNING_CALLS)
def test_a_search_warns_at_the_line_of_the_caller(name):
    call, category = WARNING_CALLS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert category in {w.category for w in caught}
    assert {w.filename for w in caught} == {__file__}


def test_answers_of_a_result_warn_at_the_line_of_the_caller():
    result = sources("a", "b", "c")().result_
    X, y, groups = rows("a", "b", "c")
    pair = lb.compare_estimators(LogisticRegression(), GaussianNB(), X, y, groups=groups)
    losses = result.losses()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result.interval()
        pair.pairs()
        lb.inference.interval(losses, groups)
        lb.inference.paired_test(losses, 1 - losses, groups)
        result.source_intervals(undefined)
    assert len(caught) == 4 + 3  # a metric is computed for every source
    assert {w.filename for w in caught} == {__file__}
