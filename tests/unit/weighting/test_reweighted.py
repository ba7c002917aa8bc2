"""Reweighted estimators: the estimator with these weights, better under covariate shift."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import landbridge as lb
from landbridge.datasets import make_covariate_shift
from landbridge.weighting.reweighted import unit_mean


@pytest.fixture(scope="module")
def data():
    return make_covariate_shift(400, 300, 2, task="regression", random_state=0)


def test_equals_the_estimator_fitted_with_weights_of_mean_one(data):
    model = lb.ReweightedRegressor(Ridge(), lb.RuLSIF())
    model.fit(data.X, data.y, X_unlabeled=data.X_target)
    weights = lb.RuLSIF().fit(data.X, data.X_target).weights_
    weights = weights / weights.mean()
    np.testing.assert_allclose(model.weights_, weights)
    assert model.weights_.mean() == pytest.approx(1)
    by_hand = Ridge().fit(data.X, data.y, sample_weight=weights)
    np.testing.assert_allclose(model.predict(data.X_target), by_hand.predict(data.X_target))
    assert model.weighting_.effective_sample_size_ == pytest.approx(
        lb.effective_sample_size(weights)
    )


def test_default_weighting_is_rulsif(data):
    model = lb.ReweightedRegressor(Ridge()).fit(data.X, data.y, X_unlabeled=data.X_target)
    assert isinstance(model.weighting_, lb.RuLSIF)


def test_weights_use_labelled_and_unlabelled_target_rows(data):
    model = lb.ReweightedRegressor(Ridge(), lb.KernelMeanMatching(), target_share=0)
    model.fit(
        data.X,
        data.y,
        X_target=data.X_target[:50],
        y_target=data.y_target[:50],
        X_unlabeled=data.X_target[50:],
    )
    expected = lb.KernelMeanMatching().fit(data.X, data.X_target).weights_
    np.testing.assert_allclose(model.weights_, expected, atol=1e-8)


@pytest.mark.parametrize("share", [None, 0.0, 0.3])
def test_labelled_target_rows_count_as_the_share_says(data, share):
    model = lb.ReweightedRegressor(Ridge(), lb.UniformWeights(), target_share=share)
    model.fit(data.X, data.y, X_target=data.X_target[:100], y_target=data.y_target[:100])
    X = np.vstack([data.X, data.X_target[:100]])
    y = np.concatenate([data.y, data.y_target[:100]])
    weights = {
        None: np.ones(500),
        0.0: np.repeat([1.0, 0.0], [400, 100]),
        0.3: np.repeat([0.7 * 500 / 400, 0.3 * 500 / 100], [400, 100]),
    }[share]
    by_hand = Ridge().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.estimator_.coef_, by_hand.coef_, rtol=1e-9)


def test_without_a_target_it_equals_its_estimator(data):
    with pytest.warns(lb.NoTargetWarning, match="equals its estimator fitted on X"):
        model = lb.ReweightedRegressor(Ridge()).fit(data.X, data.y)
    plain = Ridge().fit(data.X, data.y)
    np.testing.assert_array_equal(model.predict(data.X), plain.predict(data.X))
    assert np.array_equal(model.weights_, np.ones(400))


def test_weighting_helps_a_straight_line_under_covariate_shift():
    gains = []
    for seed in range(10):
        data = make_covariate_shift(500, 500, 2, task="regression", random_state=seed)
        plain = LinearRegression().fit(data.X, data.y)
        model = lb.ReweightedRegressor(LinearRegression())
        model.fit(data.X, data.y, X_unlabeled=data.X_target)
        errors = [np.mean((m.predict(data.X_target) - data.y_target) ** 2) for m in (plain, model)]
        gains.append(errors[1] < errors[0])
    assert sum(gains) >= 9


def test_pipelines_pass_the_weights_to_their_last_step(data):
    y = (data.y > 0).astype(int)
    model = lb.ReweightedClassifier(make_pipeline(StandardScaler(), LogisticRegression()))
    model.fit(data.X, y, X_unlabeled=data.X_target)
    scaled = StandardScaler().fit_transform(data.X)
    by_hand = LogisticRegression().fit(scaled, y, sample_weight=model.weights_)
    np.testing.assert_allclose(model.estimator_[-1].coef_, by_hand.coef_)


def test_messages(data):
    y = (data.y > 0).astype(int)
    fit = {"X": data.X, "y": y, "X_unlabeled": data.X_target}
    with pytest.raises(ValueError, match="`estimator` must accept sample_weight"):
        lb.ReweightedClassifier(KNeighborsClassifier()).fit(**fit)
    with pytest.raises(ValueError, match="`estimator` must be a classifier; got Ridge"):
        lb.ReweightedClassifier(Ridge()).fit(**fit)
    with pytest.raises(ValueError, match="`estimator` must be a regressor; got Dummy"):
        lb.ReweightedRegressor(DummyClassifier()).fit(**fit)
    with pytest.raises(ValueError, match=r"`target_share` must be in \[0, 1\) or None"):
        lb.ReweightedClassifier(LogisticRegression(), target_share=1.0).fit(**fit)
    with pytest.raises(ValueError, match="`weighting` gave every source row weight 0"):
        unit_mean(np.zeros(3))


@pytest.mark.parametrize("share", [None, 0.0, 0.3])
def test_weights_of_rows_multiply_the_density_ratio(data, share):
    rng = np.random.default_rng(0)
    times = rng.integers(1, 4, size=400).astype(float)
    labelled = {"X_target": data.X_target[:50], "y_target": data.y_target[:50]}
    model = lb.ReweightedRegressor(Ridge(), lb.ClassifierRatio(), target_share=share)
    weights_target = rng.random(50) + 0.5
    model.fit(data.X, data.y, **labelled, sample_weight=times, sample_weight_target=weights_target)
    source = model.weights_ * times
    target = weights_target
    target_share = {None: 50 / 450, 0.0: 0.0, 0.3: 0.3}[share]
    n_rows = 450 if share != 0 else 400
    weights = np.concatenate(
        [
            source * (1 - target_share) * n_rows / source.sum(),
            target * target_share * n_rows / target.sum(),
        ]
    )
    by_hand = Ridge().fit(
        np.vstack([data.X, labelled["X_target"]]),
        np.concatenate([data.y, labelled["y_target"]]),
        sample_weight=weights,
    )
    np.testing.assert_allclose(model.estimator_.coef_, by_hand.coef_, rtol=1e-9)
