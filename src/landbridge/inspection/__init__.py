"""Look at data and fitted objects: Displays that draw."""

from landbridge.inspection.weight_drift import WeightDriftDisplay

__all__ = ["WeightDriftDisplay"]
