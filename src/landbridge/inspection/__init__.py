"""Pictures of results: computed arrays in, drawings out."""

from landbridge.inspection.feature_stability import FeatureStabilityDisplay

__all__ = ["FeatureStabilityDisplay"]
