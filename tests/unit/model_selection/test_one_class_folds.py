"""A fit that sees one class only is that constant, for every role."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from landbridge import CORAL, ClassifierRatio, Pooled, ReweightedClassifier, SourceOnly
from landbridge._validation import TransferData
from landbridge.model_selection._fit_tasks import OneClass, fit_candidate
from landbridge.model_selection.candidates import Candidate, role_of


@pytest.mark.parametrize(
    ("estimator", "constant"),
    [
        (SourceOnly(LogisticRegression()), True),
        (ReweightedClassifier(LogisticRegression(), ClassifierRatio(), target_share=0.0), True),
        (Pooled(LogisticRegression(C=100)), False),
        (make_pipeline(CORAL(), LogisticRegression(C=100)), False),
    ],
)
def test_candidates_that_see_one_class_are_constant(estimator, constant):
    X = np.linspace(-9, 9, 20)[:, None]
    rows = TransferData(X, np.repeat("high", 20), X[::-4][:4], np.repeat(["low", "high"], 2))
    candidate = Candidate("one", estimator, {}, role_of(estimator))
    model = fit_candidate(candidate, rows, task="classification", seed=0)
    assert isinstance(model, OneClass) == constant
    if constant:
        assert set(model.predict(X)) == {"high"}


def test_reweighting_without_target_rows_learns_from_the_source_alone():
    model = ReweightedClassifier(LogisticRegression(), ClassifierRatio(), target_share=0.0)
    assert role_of(model) == "source-only"
    assert role_of(model.set_params(target_share=0.5)) == "transfer"
