"""The ranking of a search as a table: one row per cell, and one for the vote."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.ma import MaskedArray

from landbridge._html import card, html_table, sentence
from landbridge.metrics.metric import Metric
from landbridge.model_selection.criteria import CRITERIA
from landbridge.model_selection.search_inference import SearchInterval, known_interval
from landbridge.model_selection.search_records import VOTE, CellNumber

if TYPE_CHECKING:
    from landbridge.model_selection.search_result import SearchResult

# Number of rows shown in a notebook and in a terminal.
MOST_IN_NOTEBOOK, MOST_IN_TERMINAL = 15, 10


def rows(self: "SearchResult") -> list[CellNumber]:
    """Ranking of the cells, with the vote in front if it is selected.

    Returns
    -------
    list
        Cells and the vote, best first.
    """
    front: list[CellNumber] = [VOTE] if self.answer == VOTE else []
    return front + self.ranking()


def row(
    self: "SearchResult",
    cell: CellNumber,
    level: float = 0.9,
    metric: str | Metric | None = None,
) -> dict[str, Any]:
    """One line of the ranking by a metric, as plain values.

    Parameters
    ----------
    cell : int or "vote"
        Number of the cell.
    level : float, default=0.9
        Nominal coverage.
    metric : str or Metric, optional
        Name of a metric of the search; by default the one used for selection.

    Returns
    -------
    dict
        Columns of the ranking.
    """
    metric, vote = self.find_metric(metric), self.vote()
    if cell == VOTE:
        about: dict[str, Any] = {"candidate": VOTE, "source": None, "role": VOTE}
        status, weight, seconds = "complete", 1.0, np.nan
    else:
        one = self.cells[cell]
        about = {"candidate": one.name, "source": one.source, "role": one.role}
        status, seconds = self.status(None, metric)[cell], one.fit_seconds + one.predict_seconds
        weight = 0.0 if vote is None else float(vote.weights[cell])
    found = known_interval(self, level, cell, metric) if status == "complete" else None
    return {
        **about,
        "score": _shown_score(self, cell, metric, found),
        "low": np.nan if found is None else found.low,
        "high": np.nan if found is None else found.high,
        "weight": weight,
        "seconds": seconds,
        "status": status,
    }


def _shown_score(
    result: "SearchResult", cell: CellNumber, metric: Metric, found: SearchInterval | None
) -> float:
    """Estimate of the interval, if it uses more than the labelled rows."""
    check = result.label_check_
    reweighted = check is not None and not check.representative
    knows_more = cell == VOTE or (reweighted and CRITERIA[result.criterion].of_target)
    if knows_more and found is not None and found.withheld is None:
        return found.estimate
    return result.score_of(cell, metric)


def to_frame(self: "SearchResult", level: float = 0.9) -> Any:
    """The ranking as a pandas DataFrame, one row per cell and one for the vote.

    Parameters
    ----------
    level : float, default=0.9
        Nominal coverage of the intervals.

    Returns
    -------
    pandas.DataFrame
        Best first.
    """
    import pandas as pd

    names = [metric.name for metric in self.metrics]
    table = [
        {**self.row(cell, level), **{name: self.score_of(cell, name) for name in names}}
        for cell in self.rows()
    ]
    order = ["candidate", "source", "role", *names, "low", "high", "weight", "seconds", "status"]
    return pd.DataFrame(table, columns=order)


def lines(result: "SearchResult") -> Iterator[str]:
    """Lines of a short text: a heading, the verdict on the labels and the ranking."""
    status, labels, ranked = result.status(), result.labels, result.rows()
    yield (
        f"SearchResult: {len(result.cells)} cells by {result.metric.label} ({result.criterion}), "
        f"{status.count('failed')} failed"
    )
    if result.label_check_ is not None and result.label_check_.verdict:
        yield result.label_check_.verdict
    for place, cell in enumerate(ranked[:MOST_IN_TERMINAL], start=1):
        score = result.metric.format(result.score_of(cell))
        if cell == VOTE:
            yield f"{place:4d}. vote of {len(result.vote().members)} cells: {score}"  # type: ignore[union-attr]
        else:
            words = score if status[cell] == "complete" else status[cell]
            yield f"{place:4d}. {labels[cell]}: {words}"
    if len(ranked) > MOST_IN_TERMINAL:
        yield f"      … and {len(ranked) - MOST_IN_TERMINAL} more"


def html(result: "SearchResult") -> str:
    """The ranking for a notebook."""
    labels, ranked, table = result.labels, result.rows(), []
    for cell in ranked[:MOST_IN_NOTEBOOK]:
        about = result.row(cell, 0.95)
        status = "" if about["status"] == "complete" else about["status"]
        name = cell if cell == VOTE else labels[cell]
        table.append((name, about["score"], about["low"], about["high"], status))
    more = len(ranked) - len(table)
    header = ("candidate", result.metric.label, "95 % low", "95 % high", "")
    return card(
        next(lines(result)),
        html_table(header, table, best=0),
        sentence(f"{more} more in to_frame()", quiet=True) if more else "",
    )


def cv_results(result: "SearchResult", params: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The ranking in the shape of ``GridSearchCV.cv_results_``, one entry per cell."""
    cells = result.cells
    table: dict[str, Any] = {
        "candidate": np.array([cell.candidate for cell in cells]),
        "source": _names([cell.source for cell in cells]),
        "params": list(params),
    }
    for name in dict.fromkeys(name for one in params for name in one):
        column = MaskedArray(np.empty(len(params), dtype=object), mask=True)
        for number, one in enumerate(params):
            if name in one:
                column[number] = one[name]
        table[f"param_{name}"] = column
    fits = np.array([max(cell.fits, 1) for cell in cells])
    table["mean_fit_time"] = np.array([cell.fit_seconds for cell in cells]) / fits
    table["mean_score_time"] = np.array([cell.predict_seconds for cell in cells]) / fits
    table.update(_split_scores(result))
    table["mean_test_score"] = result.scores()
    table["rank_test_score"] = result.ranks()
    for metric in result.metrics:
        table[f"mean_test_{metric.name}"] = result.scores(None, metric)
    table["status"] = np.array(result.status())
    for criterion in result.info.criteria:
        table[f"score_{criterion}"] = result.scores(criterion)
        table[f"rank_{criterion}"] = result.ranks(criterion)
    return table


def _names(names: list[Any]) -> np.ndarray:
    """Array of source names without conversion, because numbers may occur with ``"pooled"``."""
    plain = {type(name) for name in names} in ({str}, {int}, {float}, {bool})
    return np.array(names) if plain else np.fromiter(names, dtype=object, count=len(names))


def _split_scores(result: "SearchResult") -> dict[str, np.ndarray]:
    """Scores of the selecting criterion by fold (those of ``tlv`` for ``anchored``)."""
    criterion = "tlv" if result.criterion == "anchored" else result.criterion
    by_fold = [
        result._fold_scores(number, criterion, result.metric) for number in range(len(result.cells))
    ]
    n_most = max(len(scores) for scores in by_fold)
    table = np.full((n_most, len(by_fold)), np.nan)
    for number, scores in enumerate(by_fold):
        table[: len(scores), number] = scores
    columns = {f"split{fold}_test_score": table[fold] for fold in range(n_most)}
    spread = [np.nanstd(s) if np.isfinite(s).any() else np.nan for s in map(np.array, by_fold)]
    return {**columns, "std_test_score": np.array(spread)}
