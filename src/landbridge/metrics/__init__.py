"""Metrics of kept predictions: any metric of scikit-learn, with intervals and comparisons."""

from landbridge.metrics.class_report import ClassReport, class_report
from landbridge.metrics.inference import MetricInterval, metric_interval, paired_probability
from landbridge.metrics.metric import Metric
from landbridge.metrics.scoring import check_scoring

__all__ = [
    "ClassReport",
    "Metric",
    "MetricInterval",
    "check_scoring",
    "class_report",
    "metric_interval",
    "paired_probability",
]
