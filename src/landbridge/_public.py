"""Public names, imported from the modules that define them; `landbridge` exports them."""

from landbridge._version import __version__
from landbridge.baselines import Pooled, SourceOnly, TargetOnly
from landbridge.boosting import (
    MultiSourceTrAdaBoostClassifier,
    TaskTrAdaBoostClassifier,
    TrAdaBoostClassifier,
    TrAdaBoostRegressor,
    TransferBoostClassifier,
    TrimmedTreeClassifier,
)
from landbridge.ensemble import LocallyWeightedEnsemble
from landbridge.exceptions import (
    CacheWarning,
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
from landbridge.feature_selection import FeaturePath, SimilarityLearner, TGreedySelector
from landbridge.inference import cv_variance, interval, paired_test
from landbridge.inspection import (
    CriteriaDisplay,
    EigenfunctionDisplay,
    FeatureStabilityDisplay,
    KernelAlignmentDisplay,
    MultiSourceDisplay,
    PairwiseDisplay,
    SearchRankingDisplay,
    ShiftDiagnosis,
    ShiftDisplay,
    SourceCandidateDisplay,
    WeightDriftDisplay,
    diagnose_shift,
)
from landbridge.interop import from_adapt, from_skada
from landbridge.kernels import (
    LaplacianRLSClassifier,
    LaplacianRLSRegressor,
    SurrogateKernelClassifier,
    SurrogateKernelMap,
    SurrogateKernelRegressor,
    TransductiveSVC,
    TransferComponentAnalysis,
    align_kernel,
    surrogate_kernel,
)
from landbridge.labelling import (
    LabelForecast,
    LabelPlanner,
    LabelStatus,
    ask_from_predictions,
    how_many_labels,
)
from landbridge.mapping import CORAL, LatentMap, SubspaceAlignment
from landbridge.model_selection import (
    MultiSourceCV,
    SearchInterval,
    SearchResult,
    TransferSearchCV,
    Verdict,
    compare_estimators,
    rank_agreement,
    transfer_cross_validate,
)
from landbridge.neighbors import NNgeClassifier
from landbridge.persistence import load_model, save_model
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

__all__ = ["__version__", *sorted(name for name in globals() if not name.startswith("_"))]
