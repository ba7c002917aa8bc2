"""Look at data and fitted objects: shift diagnosis, and Displays that draw."""

from landbridge.inspection.kernel_alignment import (
    EigenfunctionDisplay,
    KernelAlignmentDisplay,
)
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
from landbridge.inspection.weight_drift import (
    WeightDriftDisplay,
)

__all__ = [
    "EigenfunctionDisplay",
    "KernelAlignmentDisplay",
    "MultiSourceDisplay",
    "ShiftDiagnosis",
    "ShiftDisplay",
    "WeightDriftDisplay",
    "WeightedSource",
    "diagnose_shift",
]
