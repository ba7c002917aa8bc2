"""Transfer learning that a person can trust."""

from landbridge._version import __version__
from landbridge.baselines import Pooled, SourceOnly, TargetOnly
from landbridge.exceptions import (
    FewSourcesWarning,
    FewTargetRowsWarning,
    LandbridgeWarning,
    NoTargetWarning,
    NotConvergedWarning,
    NothingToAlignWarning,
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
    "WeightingWarning",
    "__version__",
]
