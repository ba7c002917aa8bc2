"""Look at data and fitted objects: shift diagnosis, and Displays that draw."""

from landbridge.inspection.shift import ShiftDiagnosis, WeightedSource, diagnose_shift
from landbridge.inspection.shift_display import ShiftDisplay

__all__ = ["ShiftDiagnosis", "ShiftDisplay", "WeightedSource", "diagnose_shift"]
