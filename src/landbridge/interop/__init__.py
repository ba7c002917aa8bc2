"""Estimators of other libraries as candidates: skada and ADAPT. Neither is a dependency."""

from landbridge.interop.adapt import AdaptEstimator, from_adapt
from landbridge.interop.skada import SkadaEstimator, from_skada

__all__ = ["AdaptEstimator", "SkadaEstimator", "from_adapt", "from_skada"]
