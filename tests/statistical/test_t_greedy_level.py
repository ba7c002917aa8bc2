"""Bonferroni's rule keeps its level where no feature has an effect of its own."""

import warnings

import numpy as np
import pytest

import landbridge as lb
from landbridge import TGreedySelector

pytestmark = pytest.mark.slow


def selected_share(seed, n_domains, repetitions=400, p=20, alpha=0.1):
    """Share of repetitions in which anything is selected; domain effects are symmetric noise."""
    rng = np.random.default_rng(seed)
    hits = 0
    codes = np.repeat(np.arange(n_domains), 40)
    for _ in range(repetitions):
        X = rng.normal(size=(codes.size, p))
        y = (X * rng.normal(size=(n_domains, p))[codes]).sum(axis=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lb.NothingSelectedWarning)
            model = TGreedySelector(stop="bonferroni", alpha=alpha, max_steps=2)
            hits += model.fit(X, y, groups=codes).n_steps_ > 0
    return hits / repetitions


@pytest.mark.parametrize("n_domains", [5, 10])
def test_bonferroni_selects_noise_as_often_as_promised(n_domains):
    share = selected_share(n_domains, n_domains)
    # 400 repetitions: a share of 0.1 has a standard error of 0.015. The features are nearly
    # independent, so the level is also nearly reached.
    assert 0.04 < share < 0.15


def test_a_true_effect_is_found():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(10), 100)
    found = 0
    for _ in range(50):
        X = rng.normal(size=(1000, 20))
        y = X[:, 3] + (X * 0.3 * rng.normal(size=(10, 20))[codes]).sum(axis=1)
        model = TGreedySelector(stop="bonferroni").fit(X, y, groups=codes)
        found += bool(model.get_support()[3])
    assert found >= 48
