"""Transfer learning that a person can trust."""

from landbridge._version import __version__
from landbridge.baselines import Pooled, SourceOnly, TargetOnly
from landbridge.boosting import TrAdaBoostClassifier, TrimmedTreeClassifier
from landbridge.exceptions import (
    FewSourcesWarning,
    FewTargetRowsWarning,
    LandbridgeWarning,
    NoTargetWarning,
    NotConvergedWarning,
    NothingToAlignWarning,
    WeakLearnerWarning,
    WeightingWarning,
)

__all__ = [
    "FewSourcesWarning",
    "FewTargetRowsWarning",
    "LandbridgeWarning",
    "NoTargetWarning",
    "NotConvergedWarning",
    "NothingToAlignWarning",
    "Pooled",
    "SourceOnly",
    "TargetOnly",
    "TrAdaBoostClassifier",
    "TrimmedTreeClassifier",
    "WeakLearnerWarning",
    "WeightingWarning",
    "__version__",
]
