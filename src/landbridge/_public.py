"""The public names and where they live; `landbridge` offers them under its own name."""

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
    TrimmedTreeClassifier,
)
from landbridge.exceptions import (
    ConditionWarning,
    FailedFitWarning,
    FewSourcesWarning,
    FewTargetRowsWarning,
    LandbridgeWarning,
    NoTargetWarning,
    NotConvergedWarning,
    NothingSelectedWarning,
    NothingToAlignWarning,
    WeakLearnerWarning,
    WeightingWarning,
)
from landbridge.feature_selection import (
    FeaturePath,
    SimilarityLearner,
    TGreedySelector,
)
from landbridge.inference import (
    cv_variance,
    interval,
    paired_test,
)
from landbridge.inspection import (
    MultiSourceDisplay,
    ShiftDiagnosis,
    ShiftDisplay,
    diagnose_shift,
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
    SearchInterval,
    SearchResult,
    TransferSearchCV,
    Verdict,
    compare_estimators,
    rank_agreement,
    transfer_cross_validate,
)
from landbridge.persistence import (
    load_model,
    save_model,
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
    "ConditionWarning",
    "FailedFitWarning",
    "FeaturePath",
    "FewSourcesWarning",
    "FewTargetRowsWarning",
    "KernelMeanMatching",
    "LandbridgeWarning",
    "LaplacianRLSClassifier",
    "LaplacianRLSRegressor",
    "LeaveSourcesOut",
    "MultiSourceCV",
    "MultiSourceDisplay",
    "NoTargetWarning",
    "NotConvergedWarning",
    "NothingSelectedWarning",
    "NothingToAlignWarning",
    "Pooled",
    "ReweightedClassifier",
    "ReweightedRegressor",
    "RuLSIF",
    "SearchInterval",
    "SearchResult",
    "ShiftDiagnosis",
    "ShiftDisplay",
    "SimilarityLearner",
    "SourceOnly",
    "SubspaceAlignment",
    "SurrogateKernelClassifier",
    "SurrogateKernelMap",
    "SurrogateKernelRegressor",
    "TGreedySelector",
    "TargetOnly",
    "TrAdaBoostClassifier",
    "TransductiveSVC",
    "TransferComponentAnalysis",
    "TransferSearchCV",
    "TrimmedTreeClassifier",
    "UniformWeights",
    "Verdict",
    "WeakLearnerWarning",
    "WeightDiagnostics",
    "WeightingWarning",
    "__version__",
    "align_kernel",
    "compare_estimators",
    "composite_kernel",
    "cv_variance",
    "diagnose_shift",
    "effective_sample_size",
    "interval",
    "load_model",
    "paired_test",
    "rank_agreement",
    "save_model",
    "surrogate_kernel",
    "transfer_cross_validate",
]
