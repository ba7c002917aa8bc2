"""Transfer learning that a person can trust."""

from landbridge._version import (
    __version__,
)
from landbridge.baselines import (
    Pooled,
    SourceOnly,
    TargetOnly,
)
from landbridge.boosting import (
    TrAdaBoostClassifier,
    TrAdaBoostRegressor,
    TransferBoostClassifier,
    TrimmedTreeClassifier,
)
from landbridge.exceptions import (
    FailedFitWarning,
    FewSourcesWarning,
    FewTargetRowsWarning,
    LandbridgeWarning,
    NoTargetWarning,
    NotConvergedWarning,
    NothingToAlignWarning,
    WeakLearnerWarning,
    WeightingWarning,
)
from landbridge.inference import (
    cv_variance,
    interval,
    paired_test,
)
from landbridge.kernels import (
    LaplacianRLSClassifier,
    LaplacianRLSRegressor,
    SurrogateKernelClassifier,
    SurrogateKernelMap,
    SurrogateKernelRegressor,
    TransductiveSVC,
    TransferComponentAnalysis,
    align_kernel,
    composite_kernel,
    surrogate_kernel,
)
from landbridge.mapping import (
    CORAL,
    SubspaceAlignment,
)
from landbridge.model_selection import (
    LeaveSourcesOut,
    MultiSourceCV,
    compare_estimators,
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
    "CORAL",
    "KLIEP",
    "ClassifierRatio",
    "FailedFitWarning",
    "FewSourcesWarning",
    "FewTargetRowsWarning",
    "KernelMeanMatching",
    "LandbridgeWarning",
    "LaplacianRLSClassifier",
    "LaplacianRLSRegressor",
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
    "SubspaceAlignment",
    "SurrogateKernelClassifier",
    "SurrogateKernelMap",
    "SurrogateKernelRegressor",
    "TargetOnly",
    "TrAdaBoostClassifier",
    "TrAdaBoostRegressor",
    "TransductiveSVC",
    "TransferBoostClassifier",
    "TransferComponentAnalysis",
    "TrimmedTreeClassifier",
    "UniformWeights",
    "WeakLearnerWarning",
    "WeightDiagnostics",
    "WeightingWarning",
    "__version__",
    "align_kernel",
    "compare_estimators",
    "composite_kernel",
    "cv_variance",
    "effective_sample_size",
    "interval",
    "paired_test",
    "surrogate_kernel",
]
