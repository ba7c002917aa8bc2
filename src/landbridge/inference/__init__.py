"""Pure functions of pointwise losses: variances, intervals, tests and bounds."""

from landbridge.inference.bounds import Bound, generalization_bound
from landbridge.inference.comparison import PairedTest, holm, paired_test
from landbridge.inference.decomposition import VarianceDecomposition, variance_decomposition
from landbridge.inference.intervals import Interval, interval, score_interval, source_intervals
from landbridge.inference.ranks import FriedmanTest, friedman_test
from landbridge.inference.sources import SourceSummary, summarise_sources
from landbridge.inference.variance import cv_variance

__all__ = [
    "Bound",
    "FriedmanTest",
    "Interval",
    "PairedTest",
    "SourceSummary",
    "VarianceDecomposition",
    "cv_variance",
    "friedman_test",
    "generalization_bound",
    "holm",
    "interval",
    "paired_test",
    "score_interval",
    "source_intervals",
    "summarise_sources",
    "variance_decomposition",
]
