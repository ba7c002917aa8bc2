"""Adapters that make estimators of other libraries candidates; none is a dependency."""

from landbridge.interop.boosters import BoosterClassifier, BoosterRegressor
from landbridge.interop.peers import AdaptEstimator, SkadaEstimator, from_adapt, from_skada

__all__ = [
    "AdaptEstimator",
    "BoosterClassifier",
    "BoosterRegressor",
    "SkadaEstimator",
    "from_adapt",
    "from_skada",
]
