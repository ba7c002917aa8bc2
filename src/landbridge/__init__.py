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
from landbridge.weighting import (
    KLIEP,
    ClassifierRatio,
    KernelMeanMatching,
    ReweightedClassifier,
    ReweightedRegressor,
    RuLSIF,
    UniformWeights,
    WeightDiagnostics,
    effective_sample_size,
)

__all__ = [
    "KLIEP",
    "ClassifierRatio",
    "FewSourcesWarning",
    "FewTargetRowsWarning",
    "KernelMeanMatching",
    "LandbridgeWarning",
    "NoTargetWarning",
    "NotConvergedWarning",
    "NothingToAlignWarning",
    "Pooled",
    "ReweightedClassifier",
    "ReweightedRegressor",
    "RuLSIF",
    "SourceOnly",
    "TargetOnly",
    "UniformWeights",
    "WeightDiagnostics",
    "WeightingWarning",
    "__version__",
    "effective_sample_size",
]
