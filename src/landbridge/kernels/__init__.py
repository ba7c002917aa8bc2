"""Kernel alignment and kernel machines for two domains, exact or low-rank."""

from landbridge.kernels.laplacian_rls import LaplacianRLSClassifier, LaplacianRLSRegressor
from landbridge.kernels.surrogate import align_kernel, surrogate_kernel
from landbridge.kernels.surrogate_machines import (
    SurrogateKernelClassifier,
    SurrogateKernelRegressor,
)
from landbridge.kernels.surrogate_map import SurrogateKernelMap
from landbridge.kernels.tca import TransferComponentAnalysis
from landbridge.kernels.transductive_svm import TransductiveSVC

__all__ = [
    "LaplacianRLSClassifier",
    "LaplacianRLSRegressor",
    "SurrogateKernelClassifier",
    "SurrogateKernelMap",
    "SurrogateKernelRegressor",
    "TransductiveSVC",
    "TransferComponentAnalysis",
    "align_kernel",
    "surrogate_kernel",
]
