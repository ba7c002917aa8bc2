"""Weights of the locally weighted ensemble on six target rows, by hand.

Columns of X: the cluster, the answer of the first model, that of the second.

    row        0    1    2    3    4    5
    cluster    0    0    0    1    1    1
    model 1    0    0    0    1    1    1      agrees with the clusters: s = 1 everywhere
    model 2    0    0    1    1    1    0      row 2 is alone with its label in its cluster

Model 2 gives each label three times and each cluster has three rows. Rows 0 and 1 share label and
cluster: s = 2·2/(3 + 3) = 2/3. Row 2: s = 2·1/(3 + 3) = 1/3.
"""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin

import landbridge as lb

TARGET = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 1], [1, 1, 0]], dtype=float)
SOURCE, LABELS = np.array([[0.0, 0, 0], [0, 1, 1]]), [0, 1]


class Reads(ClassifierMixin, ClusterMixin, BaseEstimator):
    """What it predicts stands in a column of X."""

    def __init__(self, column):
        self.column = column

    def fit(self, X, y=None):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return X[:, self.column].astype(int)


def fitted(threshold):
    members = [("first", Reads(1)), ("second", Reads(2))]
    model = lb.LocallyWeightedEnsemble(
        members, clusterer=Reads(0), threshold=threshold, min_purity=0.0
    )
    return model.fit(SOURCE, LABELS, X_unlabeled=TARGET)


def test_similarities_and_weights():
    model = fitted(threshold=0.5)
    np.testing.assert_allclose(model.similarities_[0, :2], [[1, 0], [0, 1]])
    np.testing.assert_allclose(model.similarities_[1, :2], [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])
    # 1 : 2/3 is 0.6 : 0.4, and 1 : 1/3 is 0.75 : 0.25.
    likely, doubtful = [0.6, 0.4], [0.75, 0.25]
    expected = [likely, likely, doubtful, likely, likely, doubtful]
    np.testing.assert_allclose(model.local_weights(TARGET), expected)


def test_weighted_answers():
    proba = fitted(threshold=0.5).predict_proba(TARGET)
    expected = [[1, 0], [1, 0], [0.75, 0.25], [0, 1], [0, 1], [0.25, 0.75]]
    np.testing.assert_allclose(proba, expected)


@pytest.mark.parametrize(("threshold", "replaced"), [(0.65, False), (0.7, True)])
def test_below_the_threshold_the_cluster_answers(threshold, replaced):
    """Rows 2 and 5 have the mean similarity (1 + 1/3)/2 = 2/3, the others (1 + 2/3)/2 = 5/6."""
    proba = fitted(threshold).predict_proba(TARGET)
    np.testing.assert_allclose(proba[2], [1, 0] if replaced else [0.75, 0.25])
    np.testing.assert_allclose(proba[5], [0, 1] if replaced else [0.25, 0.75])


def test_a_new_row_is_compared_with_the_rows_of_fit():
    """Cluster 0, both models say 1: model 1 never does so there (s = 0), model 2 once (s = 1/3)."""
    model = fitted(threshold=0.0)
    np.testing.assert_allclose(model.local_weights([[0.0, 1, 1]]), [[0, 1]])
    # With a threshold nobody is believed, and the cluster's confident rows say 0.
    np.testing.assert_allclose(fitted(0.7).predict_proba([[0.0, 1, 1]]), [[1, 0]])
