"""Choosing models and judging them on data that nobody has seen."""

from landbridge.model_selection.agreement import rank_agreement
from landbridge.model_selection.confidence import SearchInterval
from landbridge.model_selection.losses import check_loss, pointwise_loss
from landbridge.model_selection.multi_source import MultiSourceCV, compare_estimators
from landbridge.model_selection.multi_source_result import MultiSourceResult
from landbridge.model_selection.results import SearchResult
from landbridge.model_selection.search import TransferSearchCV
from landbridge.model_selection.source_comparison import Comparison
from landbridge.model_selection.validation import transfer_cross_validate
from landbridge.model_selection.worth import Verdict

__all__ = [
    "Comparison",
    "MultiSourceCV",
    "MultiSourceResult",
    "SearchInterval",
    "SearchResult",
    "TransferSearchCV",
    "Verdict",
    "check_loss",
    "compare_estimators",
    "pointwise_loss",
    "rank_agreement",
    "transfer_cross_validate",
]
