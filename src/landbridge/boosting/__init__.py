"""Transfer boosting: TrAdaBoost and its variants for regression and for several sources."""

from landbridge.boosting.multi_source_tradaboost import (
    MultiSourceTrAdaBoostClassifier,
    TaskTrAdaBoostClassifier,
)
from landbridge.boosting.tradaboost import TrAdaBoostClassifier
from landbridge.boosting.tradaboost_r2 import TrAdaBoostRegressor
from landbridge.boosting.transferboost import TransferBoostClassifier
from landbridge.boosting.trimmed_tree import TrimmedTreeClassifier

__all__ = [
    "MultiSourceTrAdaBoostClassifier",
    "TaskTrAdaBoostClassifier",
    "TrAdaBoostClassifier",
    "TrAdaBoostRegressor",
    "TransferBoostClassifier",
    "TrimmedTreeClassifier",
]
