"""Use unlabelled target rows to estimate accuracy: control variates and agreement."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from landbridge._typing import Vector
from landbridge.inference.agreement import FEWEST_CANDIDATES, AgreementInterval, agreement_interval
from landbridge.inference.control_variate import fit_slope
from landbridge.model_selection.vote import combine

if TYPE_CHECKING:
    from landbridge.model_selection.search_result import SearchResult

# With fewer labels the slope of the loss on its proxy is noise.
FEWEST_LABELS = 20


@dataclass(frozen=True, slots=True)
class Adjustment:
    """Control variate: the correction of the mean loss, and its worth in labels."""

    loss: float
    effective_rows: float


def adjust_with_unlabelled(
    result: "SearchResult", cell: int | Literal["vote"], losses: Vector, seen: Vector
) -> Adjustment | None:
    """The control variate for the zero-one losses of a cell on its labelled rows ``seen``.

    The proxy of a loss is one minus the probability that the mean of all candidates gives to the
    predicted class. It is known for labelled and unlabelled rows; see
    `landbridge.inference.control_variate_interval`.
    """
    voters = _voters(result)
    if len(voters) < FEWEST_CANDIDATES or losses.size < FEWEST_LABELS or not result.unlabelled:
        return None
    kept = [result.predictions("tlv", voter) for voter in voters]
    predicted = result.predictions("tlv", cell)
    elsewhere = _unlabelled(result, cell)
    if elsewhere is None or predicted is None or not all(one.seen[seen].all() for one in kept):  # type: ignore[union-attr]
        return None
    labelled_vote = np.mean([one.values[seen] for one in kept], axis=0)  # type: ignore[union-attr]
    vote = np.mean([result.unlabelled[voter].values for voter in voters], axis=0)  # type: ignore[union-attr]
    classes = predicted.labels[seen]
    proxy = 1 - labelled_vote[np.arange(losses.size), classes]
    others = 1 - vote[np.arange(len(vote)), elsewhere]
    slope, effective = fit_slope(losses, proxy, others.size)
    everywhere = (proxy.sum() + others.sum()) / (proxy.size + others.size)
    return Adjustment(float(-slope * (proxy.mean() - everywhere)), effective)


def agreement_of(
    result: "SearchResult", level: float
) -> tuple[list[int], AgreementInterval] | None:
    """Cells and reference intervals for their accuracy, from agreement on unlabelled rows.

    Models of one source are compared, those of the best cell: models of different sources agree
    less, and the same learner on two sources more, than the ones that the interval rests on.
    """
    if result.classes is None or not result.unlabelled:
        return None
    cells = _voters(result)
    if result.best in cells:
        source = result.cells[result.best].source_index
        cells = [cell for cell in cells if result.cells[cell].source_index == source]
    if len(cells) < FEWEST_CANDIDATES:
        return None
    predicted = np.stack([_unlabelled(result, cell) for cell in cells])  # type: ignore[misc]
    return cells, agreement_interval(predicted, level=level)


def _voters(result: "SearchResult") -> list[int]:
    """Complete candidates with predictions of unlabelled rows."""
    status = result.status()
    return [
        number
        for number, cell in enumerate(result.cells)
        if cell.role != "baseline"
        and status[number] == "complete"
        and result.unlabelled
        and result.unlabelled[number] is not None
    ]


def _unlabelled(result: "SearchResult", cell: int | Literal["vote"]) -> Vector | None:
    """Predicted classes of the kept unlabelled rows."""
    if cell != "vote":
        found = result.unlabelled[int(cell)]
        return None if found is None else found.values.argmax(axis=1)
    vote = result.vote()
    if vote is None or any(result.unlabelled[member] is None for member in vote.members):
        return None
    values = np.stack([result.unlabelled[member].values for member in vote.members])  # type: ignore[union-attr]
    return combine(values, vote.weights[vote.members]).argmax(axis=1)
