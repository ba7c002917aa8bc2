"""Selection of rows to label next, and forecasts of how many labels are needed."""

from landbridge.labelling.design import design_weights
from landbridge.labelling.forecast import LabelForecast, how_many_labels
from landbridge.labelling.planner import LabelPlanner, ask_from_predictions
from landbridge.labelling.records import AskedRow, Batch
from landbridge.labelling.sequential import SequentialTest, sequential_sign_test
from landbridge.labelling.status import LabelStatus

__all__ = [
    "AskedRow",
    "Batch",
    "LabelForecast",
    "LabelPlanner",
    "LabelStatus",
    "SequentialTest",
    "ask_from_predictions",
    "design_weights",
    "how_many_labels",
    "sequential_sign_test",
]
