"""Transfer boosting: TrAdaBoost with its corrected updates, its tree, regression, many sources."""

from landbridge.boosting.tradaboost import TrAdaBoostClassifier
from landbridge.boosting.tradaboost_r2 import TrAdaBoostRegressor
from landbridge.boosting.transferboost import TransferBoostClassifier
from landbridge.boosting.trimmed_tree import TrimmedTreeClassifier

__all__ = [
    "TrAdaBoostClassifier",
    "TrAdaBoostRegressor",
    "TransferBoostClassifier",
    "TrimmedTreeClassifier",
]
