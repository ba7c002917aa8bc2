"""Choosing models and judging them on data that nobody has seen."""

from landbridge.model_selection.losses import check_loss, pointwise_loss
from landbridge.model_selection.multi_source import MultiSourceCV, compare_estimators
from landbridge.model_selection.multi_source_result import Comparison, MultiSourceResult
from landbridge.model_selection.splitters import LeaveSourcesOut

__all__ = [
    "Comparison",
    "LeaveSourcesOut",
    "MultiSourceCV",
    "MultiSourceResult",
    "check_loss",
    "compare_estimators",
    "pointwise_loss",
]
