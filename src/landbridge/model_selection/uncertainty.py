"""Intervals, probabilities and the verdict on transfer, read off a result.

Which losses each rests on is decided here; the formulas are in `confidence.py` and `worth.py`.
"""

from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from landbridge._validation import check_choice, is_number
from landbridge.inference import score_interval
from landbridge.inference.intervals import check_level
from landbridge.model_selection import confidence
from landbridge.model_selection.confidence import SearchInterval
from landbridge.model_selection.criteria import NEEDS, OF_LABELLED_ROWS
from landbridge.model_selection.losses import LOSS_RANGES
from landbridge.model_selection.worth import Verdict, judge
from landbridge.weighting import effective_sample_size

if TYPE_CHECKING:
    from landbridge.model_selection.results import SearchResult

# Which criterion's losses each method of `interval` is made from, the honest ones first.
METHODS = {"anchored": "anchored", "labelled": "tlv", "effective": "trcv", "paper": "trcv"}


def interval(
    result: "SearchResult", cell: int, *, level: float, method: str | None
) -> SearchInterval:
    """An interval for a cell's score on the target; see `SearchResult.interval`."""
    check_level(level)
    _require_cell(result, cell)
    method = method or default_method(result)
    check_choice(method, "method", tuple(METHODS))
    _require(result, METHODS[method], method)
    _require_losses(result, cell, METHODS[method])
    if method in ("anchored", "labelled"):
        return _interval_from_labels(result, cell, level, method)
    return _interval_from_trcv(result, cell, level, method)


def prob_better(result: "SearchResult", *, level: float, method: str | None) -> np.ndarray:
    """P(row's cell is better than column's); see `SearchResult.prob_better`."""
    check_level(level)
    method = method or default_comparison(result)
    check_choice(method, "method", ("paper", "paired"))
    if method == "paired":
        return _paired(result)
    _require(result, "trcv", method)
    _require_proportion(result, method, "paired")
    rows = np.sum(result.folds >= 0, axis=1)[result.source_of]
    probability = confidence.prob_better_paper(1 - result.values("trcv"), rows, level)
    return _without_failed(probability, result.status("trcv"))


def default_comparison(result: "SearchResult") -> str:
    """The method of `prob_better` that rests on the rows which the ranking rests on."""
    by_labels = result.criterion in OF_LABELLED_ROWS
    paper = result.is_proportion and _measured(result, "trcv") and not by_labels
    return "paper" if paper else "paired"


def worth_transferring(result: "SearchResult", level: float) -> Verdict:
    """The best transfer candidate against the baselines, on the labelled target rows."""
    check_level(level)
    measured = result.status("tlv") if "tlv" in result.available() else []
    # The best is chosen by the selecting criterion, which may have failed where tlv has not.
    both = enumerate(zip(measured, result.status(), strict=False))
    complete = [number for number, words in both if set(words) == {"complete"}]
    return judge(
        [result.cells[number]["role"] for number in complete],
        [result.labels[number] for number in complete],
        result.values()[complete],
        result.labelled[complete] if complete else None,
        level,
    )


def _interval_from_labels(
    result: "SearchResult", cell: int, level: float, method: str
) -> SearchInterval:
    losses = result.labelled[cell]
    losses = losses[~np.isnan(losses)]
    mean = float(result.values(METHODS[method])[cell])
    ends = confidence.interval_of_mean(mean, losses, level, proportion=result.is_proportion)
    # Student's interval and the anchored mean know nothing of what a loss can be.
    possible = LOSS_RANGES.get(result.about["loss"], (-np.inf, np.inf))
    mean, low, high = np.clip(ends, *possible).tolist()
    top = 1.0 if result.is_proportion else 0.0
    rests_on = f"{losses.size} labelled target rows"
    return SearchInterval(top - mean, top - high, top - low, level, method, rests_on)


def _interval_from_trcv(
    result: "SearchResult", cell: int, level: float, method: str
) -> SearchInterval:
    _require_proportion(result, method, "anchored")
    weights = result.weights[result.source_of[cell]]
    weights = weights[~np.isnan(weights)]
    n = weights.size if method == "paper" else effective_sample_size(weights)
    accuracy = float(np.clip(1 - result.values("trcv")[cell], 0, 1))
    low, high = map(float, score_interval(accuracy, n, level))
    rests_on = f"{n:.0f} source rows, as if drawn from the target"
    return SearchInterval(accuracy, low, high, level, method, rests_on)


def _paired(result: "SearchResult") -> np.ndarray:
    """On labelled target rows where `tlv` has any, else on those behind the selecting criterion."""
    status, losses = result.status(), result.labelled
    if losses is None:
        needs = NEEDS[result.criterion]
        (name,) = needs - {"weights"}
        losses = getattr(result, name)
        if "weights" in needs:
            losses = losses * result.weights[result.source_of]
    unknown = np.isnan(losses)
    if not unknown.any():
        return confidence.prob_better_paired(losses)
    status = ["failed" if none else word for none, word in zip(unknown.all(1), status, strict=True)]
    return _without_failed(confidence.prob_better_on_shared_rows(losses), status)


def _without_failed(probability: np.ndarray, status: list[str]) -> np.ndarray:
    """NaN in the rows and columns of cells that failed."""
    failed = np.array(status) == "failed"
    probability[failed] = probability[:, failed] = np.nan
    return probability


def _measured(result: "SearchResult", criterion: str) -> bool:
    """Whether a criterion can be computed for any cell."""
    return criterion in result.available() and set(result.status(criterion)) != {"failed"}


def default_method(result: "SearchResult") -> str:
    """The first method of `interval` for which the search has what it needs."""
    usable = [
        method
        for method in METHODS
        if METHODS[method] in result.available()
        and (result.is_proportion or METHODS[method] != "trcv")
    ]
    if not usable:
        needed = "'tlv' or 'trcv'" if result.is_proportion else "'tlv' (losses that are no rates)"
        raise ValueError(
            f"`interval` must have the losses of {needed}; got a search with "
            f"{list(result.about['criteria'])} and {result.about['labelled_rows']} labelled "
            "target rows. Search with 'tlv' or 'anchored', which need labelled target rows."
        )
    return next((method for method in usable if _measured(result, METHODS[method])), usable[0])


def _require(result: "SearchResult", criterion: str, method: str) -> None:
    if criterion not in result.available():
        raise ValueError(
            f"method={method!r} must have the losses of {criterion!r}; got a search with "
            f"{list(result.about['criteria'])}. Search with criterion={criterion!r} among them."
        )


def _require_proportion(result: "SearchResult", method: str, other: str) -> None:
    if not result.is_proportion:
        raise ValueError(
            f"`method` {method!r} must have zero-one losses; got {result.about['loss']!r}. "
            f"Use method={other!r}."
        )


def _require_cell(result: "SearchResult", cell: int) -> None:
    n_cells = len(result.cells)
    if not (is_number(cell) and isinstance(cell, Integral) and -n_cells <= cell < n_cells):
        raise ValueError(
            f"`cell` must be the number of one of the {n_cells} cells, from 0 to {n_cells - 1}; "
            f"got {cell!r}. `results_.labels` names them."
        )


def _require_losses(result: "SearchResult", cell: int, criterion: str) -> None:
    if result.status(criterion)[cell] == "failed":
        raise ValueError(
            f"`cell` must be one that could be validated by {criterion!r}; got {cell}, "
            f"{result.labels[cell]!r}, which failed. `results_.failures` says why."
        )
