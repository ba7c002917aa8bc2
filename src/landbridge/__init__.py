"""Transfer learning that a person can trust."""

from landbridge._version import __version__
from landbridge.baselines import Pooled, SourceOnly, TargetOnly
from landbridge.exceptions import (
    FailedCandidateWarning,
    FewSourcesWarning,
    FewTargetRowsWarning,
    LandbridgeWarning,
    NoTargetWarning,
    NotConvergedWarning,
    NothingToAlignWarning,
    WeightingWarning,
)
from landbridge.model_selection import (
    SearchInterval,
    SearchResult,
    TransferSearchCV,
    Verdict,
    rank_agreement,
    transfer_cross_validate,
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
    "FailedCandidateWarning",
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
    "SearchInterval",
    "SearchResult",
    "SourceOnly",
    "TargetOnly",
    "TransferSearchCV",
    "UniformWeights",
    "Verdict",
    "WeightDiagnostics",
    "WeightingWarning",
    "__version__",
    "effective_sample_size",
    "rank_agreement",
    "transfer_cross_validate",
]
