"""A fit that sees one class only is that constant, for every role."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from landbridge import Pooled, SourceOnly
from landbridge.model_selection.roles import Training, fit_candidate


@pytest.mark.parametrize(
    ("estimator", "constant"),
    [(SourceOnly(LogisticRegression()), True), (Pooled(LogisticRegression(C=100)), False)],
)
def test_source_only_is_constant_where_pseudo_labels_have_one_class(estimator, constant):
    X = np.linspace(-9, 9, 20)[:, None]
    rows = Training(X, np.repeat("high", 20), X[::-4][:4], np.repeat(["low", "high"], 2))
    predicted = fit_candidate(estimator, rows, task="classification", seed=0).predict(X)
    assert (set(predicted) == {"high"}) == constant
