"""Density-ratio estimation: weights that make the source rows resemble the target."""

from landbridge.weighting._base import WeightDiagnostics, Weighting, effective_sample_size
from landbridge.weighting.classifier_ratio import ClassifierRatio
from landbridge.weighting.kernel_mean_matching import KernelMeanMatching
from landbridge.weighting.kliep import KLIEP
from landbridge.weighting.reweighted import ReweightedClassifier, ReweightedRegressor
from landbridge.weighting.rulsif import RuLSIF
from landbridge.weighting.uniform import UniformWeights

__all__ = [
    "KLIEP",
    "ClassifierRatio",
    "KernelMeanMatching",
    "ReweightedClassifier",
    "ReweightedRegressor",
    "RuLSIF",
    "UniformWeights",
    "WeightDiagnostics",
    "Weighting",
    "effective_sample_size",
]
