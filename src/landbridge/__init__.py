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
from landbridge.mapping import CORAL, SubspaceAlignment

__all__ = [
    "CORAL",
    "FewSourcesWarning",
    "FewTargetRowsWarning",
    "LandbridgeWarning",
    "LaplacianRLSClassifier",
    "LaplacianRLSRegressor",
    "NoTargetWarning",
    "NotConvergedWarning",
    "NothingToAlignWarning",
    "Pooled",
    "SourceOnly",
    "SubspaceAlignment",
    "SurrogateKernelClassifier",
    "SurrogateKernelMap",
    "SurrogateKernelRegressor",
    "TargetOnly",
    "TransductiveSVC",
    "TransferComponentAnalysis",
    "WeightingWarning",
    "__version__",
    "align_kernel",
    "composite_kernel",
    "surrogate_kernel",
]
