"""Look at data and fitted objects: shift diagnosis, and Displays that draw."""

from landbridge.inspection.multi_source_display import (
    MultiSourceDisplay,
)
from landbridge.inspection.shift import (
    ShiftDiagnosis,
    WeightedSource,
    diagnose_shift,
)
from landbridge.inspection.shift_display import (
    ShiftDisplay,
)

__all__ = [
    "MultiSourceDisplay",
    "ShiftDiagnosis",
    "ShiftDisplay",
    "WeightedSource",
    "diagnose_shift",
]
