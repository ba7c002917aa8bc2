"""Model selection for transfer learning, and evaluation on new sources."""

from landbridge.model_selection.criteria import rank_agreement
from landbridge.model_selection.multi_source import MultiSourceCV, compare_estimators
from landbridge.model_selection.multi_source_result import Comparison, MultiSourceResult
from landbridge.model_selection.search_inference import SearchInterval, Verdict
from landbridge.model_selection.search_result import SearchResult
from landbridge.model_selection.transfer_search import TransferSearchCV, transfer_cross_validate
from landbridge.model_selection.vote import VotingModel

__all__ = [
    "Comparison",
    "MultiSourceCV",
    "MultiSourceResult",
    "SearchInterval",
    "SearchResult",
    "TransferSearchCV",
    "Verdict",
    "VotingModel",
    "compare_estimators",
    "rank_agreement",
    "transfer_cross_validate",
]
