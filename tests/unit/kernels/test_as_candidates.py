"""Every kernel method and map is a candidate of the search, alone or in a pipeline."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import landbridge as lb


def three_classes(rng, n, shift):
    y = np.arange(n) % 3
    return 2 * np.eye(3)[y] + shift + rng.normal(scale=0.7, size=(n, 3)), y


@pytest.mark.filterwarnings("ignore::landbridge.LandbridgeWarning")
def test_kernel_methods_and_maps_are_candidates():
    rng = np.random.default_rng(0)
    X, y = three_classes(rng, 60, 0.0)
    X_target, y_target = three_classes(rng, 45, 0.5)
    maps = (
        lb.CORAL(),
        lb.SubspaceAlignment(2),
        lb.TransferComponentAnalysis(3),
        lb.SurrogateKernelMap(ridge=0.1),
    )
    candidates = {
        "surrogate": (lb.SurrogateKernelClassifier(), {"ridge": [0.1, 1.0]}),
        "laplacian": lb.LaplacianRLSClassifier(),
        "transductive": lb.TransductiveSVC(kernel="linear"),
        **{
            type(one).__name__: make_pipeline(StandardScaler(), one, LogisticRegression())
            for one in maps
        },
    }
    search = lb.TransferSearchCV(candidates, cv=3, weighting=lb.UniformWeights(), random_state=0)
    search.fit(X, y, X_target=X_target[:15], y_target=y_target[:15], X_unlabeled=X_target[15:])
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(search.cv_results_["mean_test_score"]) == 8 + 1  # and the majority class
    assert search.score(X_target[15:], y_target[15:]) > 0.7
