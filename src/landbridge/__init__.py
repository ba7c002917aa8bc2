"""Transfer learning that a person can trust."""

from landbridge._version import __version__
from landbridge.baselines import Pooled, SourceOnly, TargetOnly
from landbridge.exceptions import (
    ConditionWarning,
    FewSourcesWarning,
    FewTargetRowsWarning,
    LandbridgeWarning,
    NoTargetWarning,
    NotConvergedWarning,
    NothingSelectedWarning,
    NothingToAlignWarning,
    WeightingWarning,
)
from landbridge.feature_selection import FeaturePath, SimilarityLearner, TGreedySelector

__all__ = [
    "ConditionWarning",
    "FeaturePath",
    "FewSourcesWarning",
    "FewTargetRowsWarning",
    "LandbridgeWarning",
    "NoTargetWarning",
    "NotConvergedWarning",
    "NothingSelectedWarning",
    "NothingToAlignWarning",
    "Pooled",
    "SimilarityLearner",
    "SourceOnly",
    "TGreedySelector",
    "TargetOnly",
    "WeightingWarning",
    "__version__",
]
