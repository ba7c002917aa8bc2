"""Statistical inference from pointwise losses: variances, intervals, tests and bounds."""

from landbridge.inference.agreement import AgreementInterval, agreement_interval
from landbridge.inference.bounds import Bound, generalization_bound
from landbridge.inference.comparison import PairedTest, holm, paired_test
from landbridge.inference.e_process import e_value
from landbridge.inference.intervals import Interval, interval, score_interval
from landbridge.inference.label_check import LabelCheck, LabelledColumn, check_labels
from landbridge.inference.ranks import FriedmanTest, friedman_test
from landbridge.inference.sources import SourceSummary, summarise_sources
from landbridge.inference.variance import cv_variance

__all__ = [
    "AgreementInterval",
    "Bound",
    "FriedmanTest",
    "Interval",
    "LabelCheck",
    "LabelledColumn",
    "PairedTest",
    "SourceSummary",
    "agreement_interval",
    "check_labels",
    "cv_variance",
    "e_value",
    "friedman_test",
    "generalization_bound",
    "holm",
    "interval",
    "paired_test",
    "score_interval",
    "summarise_sources",
]
