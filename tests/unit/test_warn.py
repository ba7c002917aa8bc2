"""Warnings name the user's line, at any depth of calls inside the library."""

import warnings

import numpy as np
import pytest

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
