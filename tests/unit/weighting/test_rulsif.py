"""RuLSIF: closed forms against brute force, uLSIF as a special case."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics.pairwise import rbf_kernel

import landbridge as lb
from landbridge._kernel import resolve_gamma
from landbridge.datasets import make_covariate_shift
from landbridge.weighting._gaussian_basis import MULTIPLES, check_widths
from landbridge.weighting.rulsif import RIDGES, leave_one_out_scores, relative_ratio_coefficients


@pytest.fixture(scope="module")
def data():
    return make_covariate_shift(300, 200, 2, shift=0.7, scale=0.8, random_state=0)


def coefficients(source, target, alpha, ridge):
    H = alpha * target.T @ target / len(target) + (1 - alpha) * source.T @ source / len(source)
    return np.linalg.solve(H + ridge * np.eye(H.shape[0]), target.mean(axis=0))


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.9])
def test_leave_one_out_equals_brute_force(alpha):
    rng = np.random.default_rng(0)
    source, target = rng.exponential(size=(11, 4)), rng.exponential(size=(8, 4))
    ridges = [0.01, 0.5]
    scores = leave_one_out_scores(source, target, alpha=alpha, ridges=ridges)
    for score, ridge in zip(scores, ridges, strict=True):
        at_source = np.array(
            [
                source[i] @ coefficients(np.delete(source, i, 0), target, alpha, ridge)
                for i in range(11)
            ]
        )
        at_target = np.array(
            [
                target[j] @ coefficients(source, np.delete(target, j, 0), alpha, ridge)
                for j in range(8)
            ]
        )
        expected = (
            0.5 * alpha * np.mean(at_target**2)
            + 0.5 * (1 - alpha) * np.mean(at_source**2)
            - np.mean(at_target)
        )
        assert score == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.4])
def test_coefficients_minimise_the_criterion(alpha):
    rng = np.random.default_rng(1)
    source, target = rng.exponential(size=(30, 3)), rng.exponential(size=(20, 3))

    def criterion(theta):
        return (
            0.5 * alpha * np.mean((target @ theta) ** 2)
            + 0.5 * (1 - alpha) * np.mean((source @ theta) ** 2)
            - np.mean(target @ theta)
            + 0.5 * 0.1 * theta @ theta
        )

    found = relative_ratio_coefficients(
        source.T @ source / 30, target.T @ target / 20, target.mean(axis=0), alpha=alpha, ridge=0.1
    )
    best = minimize(criterion, np.zeros(3), tol=1e-12)
    np.testing.assert_allclose(found, best.x, atol=1e-5)


def test_alpha_zero_is_ulsif(data):
    ulsif = lb.RuLSIF(alpha=0.0, gamma=0.5, ridge=0.01, n_centers=500)
    ulsif.fit(data.X, data.X_target)
    source = rbf_kernel(data.X, data.X_target, gamma=0.5)
    h = rbf_kernel(data.X_target, gamma=0.5).mean(axis=0)
    theta = np.linalg.solve(source.T @ source / 300 + 0.01 * np.eye(200), h)
    np.testing.assert_allclose(ulsif.weights_, np.maximum(source @ theta, 0), atol=1e-8)
    np.testing.assert_allclose(ulsif.predict_weights(data.X), ulsif.weights_)
    assert ulsif.scores_.shape == (0, 3)


@pytest.mark.parametrize("alpha", [0.0, 0.2, 0.5])
def test_follows_the_relative_ratio(data, alpha):
    ratio = lb.RuLSIF(alpha=alpha).fit(data.X, data.X_target)
    new = make_covariate_shift(400, 10, 2, shift=0.7, scale=0.8, random_state=5)
    truth = new.weights / (alpha * new.weights + 1 - alpha)
    found = ratio.predict_weights(new.X)
    assert np.corrcoef(found, truth)[0, 1] > 0.9
    assert np.abs(found - truth).mean() < 0.35
    assert ratio.weights_.min() >= 0


def test_width_and_ridge_have_the_best_score(data):
    ratio = lb.RuLSIF().fit(data.X, data.X_target)
    assert ratio.scores_.shape == (len(MULTIPLES) * len(RIDGES), 3)
    best = ratio.scores_[:, 2].argmin()
    assert (ratio.gamma_, ratio.ridge_) == tuple(ratio.scores_[best, :2])
    assert ratio.gamma_ < ratio.scores_[:, 0].max()  # too narrow for 300 rows
    fixed = lb.RuLSIF(gamma=ratio.gamma_, ridge=ratio.ridge_).fit(data.X, data.X_target)
    assert fixed.scores_.shape == (0, 3)
    np.testing.assert_allclose(fixed.predict_weights(data.X), ratio.weights_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 1.0}, r"`alpha` must be in \[0, 1\); got 1.0"),
        ({"gamma": "cv"}, "`gamma` must be 'loo', 'median' or a positive number; got 'cv'"),
        ({"ridge": 0.0}, "`ridge` must be 'loo' or a positive number; got 0.0"),
        ({"ridge": "cv"}, "`ridge` must be 'loo' or a positive number; got 'cv'"),
        ({"ridge": [0.1]}, r"`ridge` must be 'loo' or a positive number; got \[0.1\]"),
    ],
)
def test_bad_parameters_are_refused(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        lb.RuLSIF(**parameters).fit(data.X, data.X_target)


def test_one_row_cannot_be_left_out():
    with pytest.raises(ValueError, match="at least 2 rows each for leave-one-out; got n_samples"):
        lb.RuLSIF().fit(np.eye(3), np.ones((1, 3)))


def test_the_grid_of_widths_is_made_of_multiples_of_the_median_heuristic(data):
    """1 / (2 × median squared distance), the width that "median" stands for."""
    grid = check_widths("loo", data.X, data.X_target, np.random.RandomState(0), choose="loo")
    unit = resolve_gamma("median", data.X, data.X_target, np.random.RandomState(0))
    np.testing.assert_allclose(grid, unit * np.array(MULTIPLES))
