"""Settings of every test."""

import os
from functools import partial

import pytest
from hypothesis import settings

# The same examples in every run; HYPOTHESIS_PROFILE=explore draws new ones.
settings.register_profile("same", derandomize=True)
settings.register_profile("explore")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.fixture
def small_default_forests(monkeypatch):
    """Default candidates with forests of 10 trees, for tests of what a search does with them."""
    from landbridge.model_selection import candidates

    for name in ("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesRegressor"):
        small = partial(getattr(candidates, name), n_estimators=10)
        monkeypatch.setattr(candidates, name, small)
