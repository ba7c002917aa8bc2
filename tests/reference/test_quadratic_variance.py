"""Proposition 1: biases of quadratic estimators of the variance of random cross-validation."""

import numpy as np
import pytest
from benchmarks._quadratic import QuadraticEstimator, estimator_with_bias

from landbridge.inference import cv_variance

K, M = 4, 6
N = K * M
# Table 2 of the paper and θ5: coefficients of the bias, then of s1, s2, s3.
PRINTED = {
    "theta_1": ((0, 0, 0, 1), (1 / N, (M - 1) / N, (N - M) / N)),
    "theta_2": ((0, -1, 0, 0), (1 / N, -(N + 1 - M) / N, (N - M) / N)),
    "theta_3": ((0, 0, -1, 0), (1 / N, (M - 1) / N, -M / N)),
    "theta_4": ((0, -M / N, -(N - M) / N, 0), (1 / N, -1 / N, 0)),
    "theta_5": ((0, 1, -2, 0), (1 / N, (N + M - 1) / N, -(N + M) / N)),
}


@pytest.mark.parametrize("kind", PRINTED)
def test_printed_estimators_have_their_printed_biases_and_back(kind):
    alphas, coefficients = PRINTED[kind]
    found = QuadraticEstimator(*coefficients, n_blocks=K, n_rows=M)
    np.testing.assert_allclose(found.bias, alphas, atol=1e-12)
    again = estimator_with_bias(*alphas, n_blocks=K, n_rows=M)
    np.testing.assert_allclose((again.a, again.b, again.c), coefficients, atol=1e-12)


@pytest.mark.parametrize("kind", [kind for kind in PRINTED if kind != "theta_1"])
def test_estimates_are_those_of_cv_variance(kind):
    losses = np.random.default_rng(0).exponential(size=(K, M))
    found = QuadraticEstimator(*PRINTED[kind][1], n_blocks=K, n_rows=M).estimate(losses)
    groups = np.repeat(np.arange(K), M)
    assert found == pytest.approx(cv_variance(losses.ravel(), groups, kind))


def test_the_bias_is_that_of_losses_with_known_moments():
    """e = μ + block + common + noise: γ and ω − γ are the variances of common and block."""
    rng = np.random.default_rng(1)
    mu, gamma, between, noise = 0.5, 0.3, 0.2, 0.7
    omega, sigma2 = gamma + between, gamma + between + noise
    alphas = (0.5, -1.0, 0.25, 0.75)
    estimator = estimator_with_bias(*alphas, n_blocks=K, n_rows=M)
    truth = sigma2 / N + (M - 1) / N * omega + (K - 1) / K * gamma
    runs = 20_000
    losses = mu + np.sqrt(gamma) * rng.normal(size=(runs, 1, 1))
    losses = losses + np.sqrt(between) * rng.normal(size=(runs, K, 1))
    losses = losses + np.sqrt(noise) * rng.normal(size=(runs, K, M))
    values = np.array([estimator.estimate(run) for run in losses])
    expected = truth + np.dot(alphas, (sigma2, omega, gamma, mu**2))
    error = values.std(ddof=1) / np.sqrt(runs)
    assert abs(values.mean() - expected) < 4 * error
    assert error < 0.05 * abs(expected - truth)


def test_every_bias_lies_on_the_plane():
    rng = np.random.default_rng(2)
    for a, b, c in rng.normal(size=(20, 3)):
        one, two, three, four = QuadraticEstimator(a, b, c, n_blocks=3, n_rows=5).bias
        assert one + two + three - four == pytest.approx(-1)


def test_no_estimator_is_unbiased():
    with pytest.raises(ValueError, match="must be −1 .* got 0. Change one of the four"):
        estimator_with_bias(0, 0, 0, 0, n_blocks=K, n_rows=M)


def test_sizes_are_checked():
    with pytest.raises(ValueError, match="`n_blocks` must be a whole number of at least 2"):
        estimator_with_bias(0, 0, -1, 0, n_blocks=1, n_rows=5)
    with pytest.raises(ValueError, match="`n_rows` must be a whole number of at least 2"):
        QuadraticEstimator(0.1, 0.0, 0.0, n_blocks=3, n_rows=1)
    theta_3 = estimator_with_bias(0, 0, -1, 0, n_blocks=K, n_rows=M)
    with pytest.raises(ValueError, match=r"`losses` must have the shape \(4, 6\)"):
        theta_3.estimate(np.zeros((M, K)))
