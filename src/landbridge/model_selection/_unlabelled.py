"""Use unlabelled target rows to estimate scores: control variates and agreement."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from landbridge._typing import Vector
from landbridge.inference.agreement import FEWEST_CANDIDATES, AgreementInterval, agreement_interval
from landbridge.inference.control_variate import adjust_mean
from landbridge.metrics.metric import Metric
from landbridge.model_selection.search_records import VOTE, CellNumber, Predictions
from landbridge.model_selection.vote import combine

if TYPE_CHECKING:
    from landbridge.model_selection.search_result import SearchResult

# With fewer labels the slope of the loss on its proxy is noise.
FEWEST_LABELS = 20


@dataclass(frozen=True, slots=True)
class Adjustment:
    """Control variate: the correction of the mean loss, and the equivalent number of labels."""

    loss: float
    effective_rows: float


def adjust_with_unlabelled(
    result: "SearchResult",
    cell: CellNumber,
    metric: Metric,
    y: Vector,
    values: np.ndarray,
) -> Adjustment | None:
    """The control variate for the mean loss of a cell on its labelled rows.

    The proxy of a loss is its expectation according to the other candidates: the mean over the
    classes, weighted by the average probabilities of the candidates, or, for numbers, the loss of
    the cell if the vote were right. It is known for labelled and unlabelled rows; see
    `landbridge.inference.control_variate_interval`.
    """
    predicted, elsewhere = result.predictions("tlv", cell), _unlabelled(result, cell)
    if predicted is None or elsewhere is None or y.size < FEWEST_LABELS:
        return None
    references = _references(result, predicted.seen)
    if references is None:
        return None
    g = expected_losses(metric, values, references[0])
    others = expected_losses(metric, elsewhere.read(metric.response), references[1])
    slope, effective, moved = adjust_mean(metric.pointwise(y, values), g, others)
    return Adjustment(moved, effective) if slope else None


def expected_losses(metric: Metric, values: np.ndarray, reference: np.ndarray) -> Vector:
    """Loss of each row if its label were drawn from the reference, or equal to it for numbers."""
    if reference.ndim == 1:
        return metric.pointwise(reference, values)
    n_rows, n_classes = reference.shape
    by_class = [metric.pointwise(np.full(n_rows, k), values) for k in range(n_classes)]
    return np.einsum("kr,rk->r", np.stack(by_class), reference)


def _references(result: "SearchResult", seen: Vector) -> tuple[np.ndarray, np.ndarray] | None:
    """Average predictions of the candidates for labelled and unlabelled rows."""
    voters = _voters(result)
    if len(voters) < FEWEST_CANDIDATES:
        return None
    if result.classes is None:
        vote, elsewhere = result.predictions("tlv", VOTE), _unlabelled(result, VOTE)
        if vote is None or elsewhere is None or not vote.seen[seen].all():
            return None
        return vote.values[seen], elsewhere.values
    kept = [result.predictions("tlv", voter) for voter in voters]
    if not all(one.seen[seen].all() for one in kept):  # type: ignore[union-attr]
        return None
    return (
        np.mean([one.values[seen] for one in kept], axis=0),  # type: ignore[union-attr]
        np.mean([result.unlabelled[voter].values for voter in voters], axis=0),  # type: ignore[union-attr]
    )


def agreement(
    self: "SearchResult", level: float = 0.9
) -> tuple[list[int], AgreementInterval] | None:
    """Agreement of candidates on unlabelled rows, a reference for their accuracy.

    Only models of the best cell's source are compared. The interval was calibrated on models of one
    source. Models of different sources agree less, and one learner fitted to two sources agrees
    more.

    Parameters
    ----------
    level : float in (0, 1), default=0.9
        Share of the reference differences between agreement and accuracy that the interval
        covers.

    Returns
    -------
    cells, intervals : list of int and AgreementInterval, or None
        ``None`` for numbers, and with fewer than three candidates.
    """
    if self.classes is None or not self.unlabelled:
        return None
    cells = _voters(self)
    if self.best in cells:
        source = self.cells[self.best].source_index
        cells = [cell for cell in cells if self.cells[cell].source_index == source]
    if len(cells) < FEWEST_CANDIDATES:
        return None
    predicted = np.stack([_unlabelled(self, cell).labels for cell in cells])  # type: ignore[union-attr]
    return cells, agreement_interval(predicted, level=level)


def _voters(result: "SearchResult") -> list[int]:
    """Complete candidates with predictions of unlabelled rows."""
    kept = result.unlabelled
    return [cell for cell in result._complete() if kept and kept[cell] is not None]


def _unlabelled(result: "SearchResult", cell: CellNumber) -> Predictions | None:
    """Predictions of the kept unlabelled rows."""
    if not result.unlabelled:
        return None
    if cell != VOTE:
        found = result.unlabelled[cell]
        return None if found is None else _with_labels(found.values)
    vote = result.vote()
    if vote is None or any(result.unlabelled[member] is None for member in vote.members):
        return None
    values = np.stack([result.unlabelled[member].values for member in vote.members])  # type: ignore[union-attr]
    return _with_labels(combine(values, vote.weights[vote.members]))


def _with_labels(values: np.ndarray) -> Predictions:
    return Predictions(values, None if values.ndim == 1 else values.argmax(axis=1))
