"""Tables of a report, which the command line also prints."""

from collections.abc import Sequence
from typing import Any

from landbridge.inference.intervals import MOST_DECIMALS, decimals
from landbridge.report.blocks import FOUR_DIGITS, P_VALUE, Column, Table, make_table

MOST_FEATURES = 12
# Maximum number of columns of a confusion matrix on a page.
MOST_CLASSES = 12


def ranking_table(ranking: dict[str, Any]) -> Table:
    """Rank, candidate, source, scores, interval, weight in the vote."""
    digits = _digits(ranking["candidates"])
    score = ranking["score"]
    if not ranking["of_target"]:
        score += f" by {ranking['criterion']['name']}"
    columns = {
        "rank": Column("rank", "d"),
        "name": Column("candidate"),
        "source": Column("source"),
        "score": Column(score, digits),
        "low": Column("low", digits),
        "high": Column("high", digits),
        **_others(ranking["other_scores"]),
        "weight": Column("vote", ".0%", minor=True),
        "seconds": Column("seconds", ".2f", minor=True),
        "note": Column("note"),
    }
    rows = [
        {**row, "weight": row["weight"] or None, **_by_place(row["other_scores"])}
        for row in ranking["candidates"]
    ]
    return _table(columns, rows, chosen=0)


def vote_table(vote: dict[str, Any]) -> Table:
    """One row per member of the vote."""
    columns = {
        "name": Column("member"),
        "weight": Column("weight", ".0%"),
        "disagreement": Column("differs from the vote", ".3g"),
    }
    return _table(columns, vote["members"])


def over_time_table(ranking: dict[str, Any]) -> Table:
    """One row per part of the labelled target rows, in the order of time."""
    columns = {
        "start": Column("from"),
        "end": Column("to"),
        "rows": Column("rows", "d"),
        "score": Column(ranking["score"], FOUR_DIGITS),
    }
    return _table(columns, ranking["over_time"])


def classes_table(classes: dict[str, Any]) -> Table:
    """Recall and precision per class, with the confusion matrix."""
    columns = [
        Column("class"),
        Column("labelled rows", "g"),
        Column("recall", FOUR_DIGITS),
        Column("precision", FOUR_DIGITS),
        *(Column(f"predicted {name}", "g") for name in classes["names"][:MOST_CLASSES]),
    ]
    parts = [classes[name] for name in ("names", "rows", "recall", "precision", "confusion")]
    values = [[*line, *counts[:MOST_CLASSES]] for *line, counts in zip(*parts, strict=True)]
    return make_table(columns, values)


def shift_table(shift: dict[str, Any]) -> Table:
    """One row per source."""
    columns = {
        "source": Column("source"),
        "rows": Column("rows", "d"),
        "auc": Column("domain classifier AUC", ".3f"),
        "auc_low": Column("low", ".3f"),
        "auc_high": Column("high", ".3f"),
        "mmd_p_value": Column("MMD p-value", P_VALUE),
        "n_moved": Column("features moved", "d"),
        "effective_share": Column("effective share", ".1%"),
        "largest_share": Column("heaviest row", ".1%", minor=True),
        "gap_before": Column("gap before", ".2f", minor=True),
        "gap_after": Column("gap after", ".2f", minor=True),
    }
    return _table(columns, shift["sources"])


def moved_table(source: dict[str, Any]) -> Table:
    """The features that moved furthest."""
    columns = {
        "name": Column("feature"),
        "distance": Column("distance", ".3f"),
        "mean_difference": Column("mean, sd", "+.2f"),
        "variance_ratio": Column("variance ratio", ".2f"),
        "p_value": Column("corrected p-value", P_VALUE),
    }
    return _table(columns, moved_features(source))


def moved_features(source: dict[str, Any]) -> list[dict[str, Any]]:
    """Features that moved significantly, the furthest first."""
    return source["features"][: min(source["n_moved"], MOST_FEATURES)]


def per_source_table(sources: dict[str, Any]) -> Table:
    """One line per source that was left out."""
    digits = _digits(sources["per_source"])
    columns = {
        "source": Column("source left out"),
        "rows": Column("rows", "d"),
        "mean": Column(sources["metric"], digits),
        "low": Column("low", digits),
        "high": Column("high", digits),
        "baseline": Column("constant guess", digits),
        **_others(sources["other_metrics"]),
    }
    rows = [{**source, **_by_place(source["other_metrics"])} for source in sources["per_source"]]
    return _table(columns, rows)


def intervals_table(sources: dict[str, Any]) -> Table:
    """Intervals for the three questions."""
    digits = _digits(sources["intervals"])
    columns = {
        "question": Column("question"),
        **{title: Column(title, digits) for title in ("estimate", "low", "high")},
        "words": Column("what it says"),
    }
    return _table(columns, sources["intervals"])


def features_table(features: dict[str, Any]) -> Table:
    """One line per step of the path."""
    columns = {
        "step": Column("step", "d"),
        "feature": Column("feature"),
        "t": Column("T", ".2f"),
        "weight": Column("weight", ".4g"),
        **_others([f"effect in {name}" for name in features["domains"]], ".3g"),
    }
    rows = [
        {"step": step, **pick, **_by_place(pick["effects"])}
        for step, pick in enumerate(features["picked"], start=1)
    ]
    return _table(columns, rows)


def domains_table(data: dict[str, Any]) -> Table:
    """Number of rows and distribution of labels by domain."""
    columns = {
        "name": Column("domain"),
        "role": Column("role"),
        "rows": Column("rows", "d"),
        "labelled": Column("labelled", "d"),
        "missing": Column("missing cells", ".1%"),
        "labels": Column("labels"),
    }
    return _table(columns, data["domains"])


def columns_table(data: dict[str, Any]) -> Table:
    """Name, type, shares of missing and distinct values, and audit findings per column."""
    columns = {
        "name": Column("column"),
        "type": Column("type"),
        "missing": Column("missing", ".1%"),
        "unique": Column("different values", ".1%"),
        "found": Column("what was found"),
    }
    rows = [{**c, "found": "; ".join(c.get("findings", []))} for c in data["columns"]]
    return _table(columns, rows)


def checks_table(checks: Sequence[dict[str, str]]) -> Table:
    """State, name and sentence of every check."""
    columns = {"state": Column("state"), "name": Column("check"), "text": Column("what it says")}
    return _table(columns, checks)


def matrix_table(
    rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[Any]], form: str
) -> Table:
    """Matrix as a table, for formats without pictures."""
    heads = [Column(""), *(Column(name, form) for name in columns)]
    return make_table(heads, [[name, *line] for name, line in zip(rows, values, strict=True)])


def _table(
    columns: dict[str, Column], rows: Sequence[dict[str, Any]], chosen: int | None = None
) -> Table:
    """Table of the values that each row has under the names of the columns."""
    values = [[row.get(name) for name in columns] for row in rows]
    return make_table(list(columns.values()), values, chosen)


def _others(titles: Sequence[str], form: str = FOUR_DIGITS) -> dict[str, Column]:
    """Columns of further scores, named by their positions."""
    return {str(place): Column(title, form) for place, title in enumerate(titles)}


def _by_place(values: Sequence[Any]) -> dict[str, Any]:
    """Values of the columns of `_others`."""
    return {str(place): value for place, value in enumerate(values)}


def _digits(rows: Sequence[dict[str, Any]]) -> str:
    """Format of scores with intervals, with one decimal more than in a sentence.

    Models share much of their error, so differences between them are often smaller than the error.
    """
    widths = [r["high"] - r["low"] for r in rows if r["low"] is not None and r["high"] > r["low"]]
    shown = decimals(min(widths) / 4) + 1 if widths else MOST_DECIMALS + 1
    return f",.{shown}f" if shown <= MOST_DECIMALS else FOUR_DIGITS
