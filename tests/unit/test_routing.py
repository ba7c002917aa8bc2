"""With metadata routing switched on everywhere, weights reach fits and metrics as without it."""

from contextlib import nullcontext

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import landbridge as lb

RNG = np.random.default_rng(0)
X, XT = RNG.normal(size=(60, 3)), RNG.normal(0.4, 1, size=(24, 3))
Y, YT = (X[:, 0] > 0).astype(int), (XT[:, 0] > 0.2).astype(int)
TARGET = {"X_target": XT, "y_target": YT}
WEIGHT = np.linspace(0.1, 2, 60)
WEIGHTS = {"sample_weight": WEIGHT, "sample_weight_target": np.linspace(2, 0.1, 24)}
SITES = np.repeat(["a", "b", "c"], 20)


def searched(**weights):
    models = {
        "nb": GaussianNB(),
        "pooled": lb.Pooled(LogisticRegression()),
        "boosted": lb.TrAdaBoostClassifier(n_estimators=2),
        "neighbours": KNeighborsClassifier(),
    }
    search = lb.TransferSearchCV(models, criterion="tlv", cv=3, random_state=0)
    # Neighbours take no weights.
    with pytest.warns(lb.FailedFitWarning) if weights else nullcontext():
        return search.fit(X, Y, **TARGET, **weights)


ESTIMATORS = {
    "search": searched,
    "source-only": lambda **w: lb.SourceOnly(LogisticRegression()).fit(X, Y, **TARGET, **w),
    "target-only": lambda **w: lb.TargetOnly(LogisticRegression()).fit(X, Y, **TARGET, **w),
    "pooled": lambda **w: lb.Pooled(LogisticRegression()).fit(X, Y, **TARGET, **w),
    "boosting": lambda **w: lb.TrAdaBoostClassifier().fit(X, Y, **TARGET, **w),
    "several-sources": lambda **w: lb.TransferBoostClassifier().fit(
        X, Y, groups=SITES, **TARGET, **w
    ),
    "reweighting": lambda **w: lb.ReweightedClassifier(LogisticRegression()).fit(
        X, Y, X_unlabeled=XT, **{k: v for k, v in w.items() if k == "sample_weight"}
    ),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_weights_count_the_same_with_and_without_routing(name):
    fit = ESTIMATORS[name]
    plain = fit(**WEIGHTS)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = fit(**WEIGHTS)
        predicted = routed.predict_proba(XT)
    np.testing.assert_allclose(predicted, plain.predict_proba(XT))
    assert np.abs(fit().predict_proba(XT) - predicted).max() > 1e-3
    if name == "search":
        for result in (plain.results_, routed.results_):
            (failure,) = {failure.cell for failure in result.failures}
            assert result.cells[failure].candidate == "neighbours"


@pytest.mark.parametrize("refit", ["vote", "best"])
def test_a_search_of_pipelines_is_scored_with_weights(refit):
    models = {"linear": make_pipeline(StandardScaler(), LogisticRegression())}
    search = lb.TransferSearchCV(models, refit=refit, preprocessor=StandardScaler(), cv=3)
    search.fit(X, Y, **TARGET)
    weight = WEIGHTS["sample_weight_target"]
    with sklearn.config_context(enable_metadata_routing=True):
        score = search.score(XT, YT, sample_weight=weight)
    assert score == pytest.approx(np.average(search.predict(XT) == YT, weights=weight))


def test_weights_count_the_same_in_multiple_source_cross_validation():
    def scores():
        cv = lb.MultiSourceCV(LogisticRegression())
        return cv.fit(X, Y, groups=SITES, sample_weight=WEIGHT).result_.source_scores()

    plain = scores()
    with sklearn.config_context(enable_metadata_routing=True):
        np.testing.assert_allclose(scores(), plain)
