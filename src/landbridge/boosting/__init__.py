"""Transfer boosting: TrAdaBoost and its corrected updates, its base learner, regression."""

from landbridge.boosting.tradaboost import TrAdaBoostClassifier
from landbridge.boosting.trimmed_tree import TrimmedTreeClassifier

__all__ = ["TrAdaBoostClassifier", "TrimmedTreeClassifier"]
