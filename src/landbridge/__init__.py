"""Transfer learning that a person can trust."""

from landbridge._version import __version__
from landbridge.baselines import Pooled, SourceOnly, TargetOnly
from landbridge.exceptions import (
    FailedFitWarning,
    FewSourcesWarning,
    FewTargetRowsWarning,
    LandbridgeWarning,
    NoTargetWarning,
    NotConvergedWarning,
    NothingToAlignWarning,
    WeightingWarning,
)
from landbridge.inference import cv_variance, interval, paired_test
from landbridge.model_selection import LeaveSourcesOut, MultiSourceCV, compare_estimators
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
    "FailedFitWarning",
    "FewSourcesWarning",
    "FewTargetRowsWarning",
    "KernelMeanMatching",
    "LandbridgeWarning",
    "LeaveSourcesOut",
    "MultiSourceCV",
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
    "compare_estimators",
    "cv_variance",
    "effective_sample_size",
    "interval",
    "paired_test",
]
