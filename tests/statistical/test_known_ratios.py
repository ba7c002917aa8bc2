"""Weights with default settings against the closed-form density ratio of Gaussian shifts."""

import numpy as np
import pytest

import landbridge as lb
from landbridge.datasets import make_covariate_shift

pytestmark = pytest.mark.slow


def runs(n, d, scale, seeds):
    for seed in range(seeds):
        yield make_covariate_shift(
            n, n, d, shift=0.7, scale=scale, task="regression", random_state=seed
        )


@pytest.mark.parametrize("n", [500, 2500])
@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("scale", [1.0, 0.8])
def test_kernel_mean_matching_correlates_with_the_true_ratio(n, d, scale):
    """Mean over 20 seeds; at n = 500, d = 5 it is 0.906 ± 0.01, so 0.88 leaves two errors."""
    found = [
        np.corrcoef(lb.KernelMeanMatching().fit(data.X, data.X_target).weights_, data.weights)[0, 1]
        for data in runs(n, d, scale, 20)
    ]
    assert np.mean(found) > 0.88


@pytest.mark.parametrize("d", [2, 5, 10])
@pytest.mark.parametrize(
    "weighting", [lb.KernelMeanMatching(), lb.RuLSIF(alpha=0.0), lb.ClassifierRatio()], ids=str
)
def test_weights_bring_the_mean_label_closer_to_the_target_s(weighting, d):
    """In at least 95 % of 40 runs."""
    closer = []
    for data in runs(500, d, 0.8, 40):
        w = weighting.fit(data.X, data.X_target).weights_
        error = abs(w @ data.y / w.sum() - data.target_mean)
        closer.append(error < abs(data.y.mean() - data.target_mean))
    assert np.mean(closer) >= 0.95


def test_more_rows_bring_the_weights_closer_to_the_ratio():
    errors = []
    for n in (300, 1200, 4800):
        data = make_covariate_shift(n, n, 2, shift=0.7, scale=0.8, random_state=0)
        weights = lb.KernelMeanMatching().fit(data.X, data.X_target).weights_
        errors.append(np.abs(weights - data.weights).mean())
    assert errors[0] > errors[1] > errors[2]
