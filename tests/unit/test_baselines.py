"""Baselines do exactly what their names say."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import landbridge as lb
from landbridge import FewTargetRowsWarning, NoTargetWarning, Pooled, SourceOnly, TargetOnly
from landbridge.baselines import repeats, share_mass

RNG = np.random.default_rng(0)
X, XT = RNG.normal(size=(50, 3)), RNG.normal(size=(12, 3))
Y, YT = (X[:, 0] > 0).astype(int), (XT[:, 1] > 0).astype(int)


def test_source_only_ignores_the_target():
    plain = LogisticRegression().fit(X, Y)
    model = SourceOnly(LogisticRegression()).fit(X, Y, X_target=XT, y_target=YT)
    assert np.array_equal(model.predict_proba(XT), plain.predict_proba(XT))
    assert model.score(XT, YT) == plain.score(XT, YT)


@pytest.mark.parametrize("baseline", [SourceOnly, TargetOnly, Pooled])
def test_missing_values_are_left_to_an_estimator_that_handles_them(baseline):
    holes, unlabelled = X.copy(), XT.copy()
    holes[3, 0] = unlabelled[2, 1] = np.nan
    target = {"X_target": unlabelled, "y_target": YT, "X_unlabeled": unlabelled}
    imputed = make_pipeline(SimpleImputer(keep_empty_features=True), LogisticRegression())
    for estimator in (imputed, HistGradientBoostingClassifier(max_iter=2)):
        model = baseline(estimator).fit(holes, Y, **target)
        assert np.isfinite(model.predict_proba(holes)).all()
    with pytest.raises(ValueError, match="NaN in row 3, column 0.*`preprocessor` of a search"):
        baseline(LogisticRegression()).fit(holes, Y, **target)
    holes[4, 2] = np.inf
    with pytest.raises(ValueError, match="inf in row 4, column 2"):
        baseline(imputed).fit(holes, Y, **target)
    holes[:] = np.nan
    assert baseline(imputed).fit(holes, Y, **target).predict(holes).shape == (50,)


def test_target_only_ignores_the_source():
    plain = LogisticRegression().fit(XT, YT)
    model = TargetOnly(LogisticRegression()).fit(X, Y, X_target=XT, y_target=YT)
    assert np.array_equal(model.decision_function(X), plain.decision_function(X))


def test_target_only_with_unlabelled_rows_alone_is_the_plain_estimator():
    with pytest.warns(NoTargetWarning, match="TargetOnly was fitted without target rows"):
        model = TargetOnly(Ridge()).fit(X, Y, X_unlabeled=XT)
    assert np.array_equal(model.predict(X), Ridge().fit(X, Y).predict(X))


def test_target_only_with_one_class_predicts_it():
    with pytest.warns(FewTargetRowsWarning, match="only one class"):
        model = TargetOnly(LogisticRegression()).fit(X, Y, X_target=XT, y_target=np.ones(12, int))
    assert set(model.predict(X)) == {1}


def test_pooled_weighs_the_target_rows():
    weights = share_mass(np.ones(50), np.ones(12), target_share=0.3)
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


def test_pooled_repeats_the_target_rows_for_an_estimator_without_weights():
    model = Pooled(KNeighborsClassifier(3), target_share=0.6).fit(X, Y, X_target=XT, y_target=YT)
    # 0.6 of the rows are 75 beside 50, so each of the 12 stands 6 times.
    plain = KNeighborsClassifier(3).fit(
        np.vstack([X, np.repeat(XT, 6, axis=0)]), np.concatenate([Y, np.repeat(YT, 6)])
    )
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_pooled_repeats_the_source_rows_for_a_small_target_share():
    model = Pooled(LinearDiscriminantAnalysis(), target_share=0.1)
    model.fit(X, Y, X_target=XT, y_target=YT)
    # 12 rows are 0.1 beside 108, which 50 rows come nearest to twice.
    plain = LinearDiscriminantAnalysis().fit(
        np.vstack([np.repeat(X, 2, axis=0), XT]), np.concatenate([np.repeat(Y, 2), YT])
    )
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X))


def test_repeats_come_nearest_to_the_share():
    assert repeats(900, 30, 0.5) == (1, 30)
    assert repeats(10, 30, 0.75) == (1, 1)
    assert repeats(10, 30, 0.1) == (27, 1)


@pytest.mark.parametrize("model", [SourceOnly(Ridge()), TargetOnly(Ridge()), Pooled(Ridge())])
def test_weights_of_rows_act_as_repetitions(model):
    times, times_target = RNG.integers(0, 4, size=50), RNG.integers(1, 4, size=12)
    weighted = clone(model).fit(
        X, Y, X_target=XT, y_target=YT, sample_weight=times, sample_weight_target=times_target
    )
    repeated = clone(model).fit(
        np.repeat(X, times, axis=0),
        np.repeat(Y, times),
        X_target=np.repeat(XT, times_target, axis=0),
        y_target=np.repeat(YT, times_target),
    )
    # Ridge's penalty counts for less beside more rows, unless the mass is the same.
    if isinstance(model, Pooled):
        weighted.estimator.set_params(alpha=62 / (times.sum() + times_target.sum()))
        weighted.fit(
            X, Y, X_target=XT, y_target=YT, sample_weight=times, sample_weight_target=times_target
        )
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))


def test_pooled_without_share_passes_the_weights_on():
    weights, weights_target = RNG.random(50), RNG.random(12)
    model = Pooled(Ridge(), target_share=None)
    model.fit(X, Y, X_target=XT, y_target=YT, sample_weight=weights)
    plain = Ridge().fit(
        np.vstack([X, XT]),
        np.concatenate([Y, YT]),
        sample_weight=np.concatenate([weights, np.ones(12)]),
    )
    np.testing.assert_allclose(model.predict(X), plain.predict(X))
    model.fit(X, Y, X_target=XT, y_target=YT, sample_weight_target=weights_target)
    assert not np.allclose(model.predict(X), plain.predict(X))


@pytest.mark.parametrize("name", ["sample_weight", "sample_weight_target"])
def test_weights_need_an_estimator_that_takes_them(name):
    weights = {name: np.ones(50 if name == "sample_weight" else 12)}
    with pytest.raises(ValueError, match=f"must accept sample_weight in fit, because `{name}` is"):
        Pooled(KNeighborsClassifier()).fit(X, Y, X_target=XT, y_target=YT, **weights)


def test_target_weights_need_target_rows():
    with pytest.raises(ValueError, match="`sample_weight_target` must come with `X_target`"):
        Pooled(Ridge()).fit(X, Y, X_unlabeled=XT, sample_weight_target=np.ones(12))


def test_target_weights_need_a_positive_sum():
    with pytest.raises(ValueError, match="`sample_weight_target` must have a positive sum"):
        Pooled(Ridge()).fit(X, Y, X_target=XT, y_target=YT, sample_weight_target=np.zeros(12))


def test_weights_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        model = SourceOnly(Ridge()).set_fit_request(sample_weight=True, X_unlabeled=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        weights = np.arange(50) % 3 + 1.0
        pipeline.fit(X, Y, sample_weight=weights, X_unlabeled=XT)
    plain = make_pipeline(StandardScaler(), Ridge()).fit(X, Y, ridge__sample_weight=weights)
    np.testing.assert_allclose(pipeline.predict(X), plain.predict(X))


@pytest.mark.parametrize("share", [0.0, 1.0, -1, 2])
def test_pooled_refuses_a_share_outside_0_1(share):
    with pytest.raises(ValueError, match="`target_share` must be between 0 and 1"):
        Pooled(Ridge(), target_share=share).fit(X, Y, X_target=XT, y_target=YT)


@pytest.mark.parametrize("routing", [False, True])
def test_weights_reach_the_last_step_of_a_pipeline(routing):
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    with sklearn.config_context(enable_metadata_routing=routing):
        model = Pooled(pipeline, target_share=0.9).fit(X, Y, X_target=XT, y_target=YT)
    both = np.vstack([X, XT]), np.concatenate([Y, YT])
    scaled = StandardScaler().fit_transform(both[0])
    weights = share_mass(np.ones(50), np.ones(12), target_share=0.9)
    plain = LogisticRegression().fit(scaled, both[1], sample_weight=weights)
    np.testing.assert_allclose(model.estimator_[-1].coef_, plain.coef_)


@pytest.mark.parametrize(
    "estimator",
    [
        lb.LaplacianRLSClassifier(),
        lb.SurrogateKernelClassifier(),
        lb.TransductiveSVC(),
        lb.LocallyWeightedEnsemble([("svm", SVC())], min_purity=1.0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_half_of_the_weight_makes_few_labelled_target_rows_count(estimator):
    """In the target the rule is the opposite one; twenty rows say so against two hundred."""
    rng = np.random.default_rng(0)
    X, X_target, X_new = (rng.normal(size=(n, 2)) for n in (200, 20, 300))
    y, y_target, y_new = X[:, 0] > 0, X_target[:, 0] < 0, X_new[:, 0] < 0
    target = {"X_target": X_target, "y_target": y_target, "X_unlabeled": X_new[:50]}

    def accuracy(share):
        model = clone(estimator).set_params(target_share=share)
        return model.fit(X, y, **target).score(X_new, y_new)

    equal, half, most = accuracy(None), accuracy(0.5), accuracy(0.95)
    assert equal < 0.2
    assert half > equal + 0.1
    assert most > 0.75
    with pytest.raises(ValueError, match="`target_share` must be between 0 and 1"):
        accuracy(1.5)
