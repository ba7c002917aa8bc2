"""Adapters that make estimators of other libraries candidates; none is a dependency."""

from landbridge.interop.adapt import AdaptEstimator, from_adapt
from landbridge.interop.boosters import BoosterClassifier, BoosterRegressor
from landbridge.interop.skada import SkadaEstimator, from_skada

__all__ = [
    "AdaptEstimator",
    "BoosterClassifier",
    "BoosterRegressor",
    "SkadaEstimator",
    "from_adapt",
    "from_skada",
]
