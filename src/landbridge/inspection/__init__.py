"""Inspection of data and fitted objects: shift diagnosis, column audit and Displays."""

from landbridge.inference.label_check import LabelCheck, check_labels
from landbridge.inspection.audit import AuditedColumn, ColumnAudit, Finding, audit_columns
from landbridge.inspection.feature_stability import FeatureStabilityDisplay
from landbridge.inspection.kernel_alignment import EigenfunctionDisplay, KernelAlignmentDisplay
from landbridge.inspection.loss_split import Advice, Cause, LossSplit, explain_loss
from landbridge.inspection.multi_source_display import MultiSourceDisplay
from landbridge.inspection.search_displays import (
    CriteriaDisplay,
    PairwiseDisplay,
    SearchRankingDisplay,
    SourceCandidateDisplay,
)
from landbridge.inspection.shift import ShiftDiagnosis, WeightedSource, diagnose_shift
from landbridge.inspection.shift_display import ShiftDisplay
from landbridge.inspection.weight_drift import WeightDriftDisplay

__all__ = [
    "Advice",
    "AuditedColumn",
    "Cause",
    "ColumnAudit",
    "CriteriaDisplay",
    "EigenfunctionDisplay",
    "FeatureStabilityDisplay",
    "Finding",
    "KernelAlignmentDisplay",
    "LabelCheck",
    "LossSplit",
    "MultiSourceDisplay",
    "PairwiseDisplay",
    "SearchRankingDisplay",
    "ShiftDiagnosis",
    "ShiftDisplay",
    "SourceCandidateDisplay",
    "WeightDriftDisplay",
    "WeightedSource",
    "audit_columns",
    "check_labels",
    "diagnose_shift",
    "explain_loss",
]
