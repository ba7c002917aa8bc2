"""Baselines do exactly what their names say."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from landbridge import FewTargetRowsWarning, NoTargetWarning, Pooled, SourceOnly, TargetOnly
from landbridge.baselines import shared_weights

RNG = np.random.default_rng(0)
X, XT = RNG.normal(size=(50, 3)), RNG.normal(size=(12, 3))
Y, YT = (X[:, 0] > 0).astype(int), (XT[:, 1] > 0).astype(int)


def test_source_only_ignores_the_target():
    plain = LogisticRegression().fit(X, Y)
    model = SourceOnly(LogisticRegression()).fit(X, Y, X_target=XT, y_target=YT)
    assert np.array_equal(model.predict_proba(XT), plain.predict_proba(XT))
    assert model.score(XT, YT) == plain.score(XT, YT)


def test_target_only_ignores_the_source():
    plain = LogisticRegression().fit(XT, YT)
    model = TargetOnly(LogisticRegression()).fit(X, Y, X_target=XT, y_target=YT)
    assert np.array_equal(model.decision_function(X), plain.decision_function(X))


def test_target_only_with_unlabelled_rows_alone_is_the_plain_estimator():
    with pytest.warns(NoTargetWarning, match="TargetOnly was fitted without target rows"):
        model = TargetOnly(Ridge()).fit(X, Y, X_unlabeled=XT)
    assert np.array_equal(model.predict(X), Ridge().fit(X, Y).predict(X))


def test_target_only_with_one_class_predicts_it():
    with pytest.warns(FewTargetRowsWarning, match="one class only"):
        model = TargetOnly(LogisticRegression()).fit(X, Y, X_target=XT, y_target=np.ones(12, int))
    assert set(model.predict(X)) == {1}


def test_pooled_weighs_the_target_rows():
    weights = shared_weights(50, 12, 0.3)
    assert weights[50:].sum() / weights.sum() == pytest.approx(0.3)
    assert weights.mean() == pytest.approx(1.0)
    both = np.vstack([X, XT]), np.concatenate([Y, YT])
    plain = LogisticRegression().fit(*both, sample_weight=weights)
    model = Pooled(LogisticRegression(), target_share=0.3)
    model.fit(X, Y, X_target=XT, y_target=YT)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_pooled_without_share_counts_rows_alike():
    model = Pooled(KNeighborsClassifier(), target_share=None).fit(X, Y, X_target=XT, y_target=YT)
    plain = KNeighborsClassifier().fit(np.vstack([X, XT]), np.concatenate([Y, YT]))
    assert np.array_equal(model.predict(X), plain.predict(X))
    assert not hasattr(model, "decision_function")


def test_pooled_needs_weights_for_a_share():
    with pytest.raises(ValueError, match="must take sample_weight.*got KNeighborsClassifier"):
        Pooled(KNeighborsClassifier()).fit(X, Y, X_target=XT, y_target=YT)


@pytest.mark.parametrize("share", [0.0, 1.0, -1, 2])
def test_pooled_refuses_a_share_outside_0_1(share):
    with pytest.raises(ValueError, match="`target_share` must lie between 0 and 1"):
        Pooled(Ridge(), target_share=share).fit(X, Y, X_target=XT, y_target=YT)


@pytest.mark.parametrize("routing", [False, True])
def test_weights_reach_the_last_step_of_a_pipeline(routing):
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    with sklearn.config_context(enable_metadata_routing=routing):
        model = Pooled(pipeline, target_share=0.9).fit(X, Y, X_target=XT, y_target=YT)
    both = np.vstack([X, XT]), np.concatenate([Y, YT])
    scaled = StandardScaler().fit_transform(both[0])
    plain = LogisticRegression().fit(scaled, both[1], sample_weight=shared_weights(50, 12, 0.9))
    np.testing.assert_allclose(model.estimator_[-1].coef_, plain.coef_)
