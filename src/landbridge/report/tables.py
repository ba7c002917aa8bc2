"""Tables of a report, which the command line also prints."""

from collections.abc import Sequence
from typing import Any

from landbridge.inference.intervals import decimals
from landbridge.metrics.metric import MOST_DECIMALS
from landbridge.report.blocks import FOUR_DIGITS, P_VALUE, Column, Table, make_table

MOST_FEATURES = 12
# Maximum number of columns of a confusion matrix on a page.
MOST_CLASSES = 12


def ranking_table(ranking: dict[str, Any]) -> Table:
    """Rank, candidate, source, scores, interval, weight in the vote."""
    digits = _digits(ranking["candidates"])
    columns = [
        Column("rank", "d"),
        Column("candidate"),
        Column("source"),
        *(Column(title, digits) for title in (_score_title(ranking), "low", "high")),
        *(Column(name, FOUR_DIGITS) for name in ranking["other_scores"]),
        Column("vote", ".0%", minor=True),
        Column("seconds", ".2f", minor=True),
        Column("note"),
    ]
    rows = ranking["candidates"]
    values = [
        [r["rank"], r["name"], r["source"], r["score"], r["low"], r["high"], *r["other_scores"],
         r["weight"] or None, r["seconds"], r["note"]]
        for r in rows
    ]  # fmt: skip
    return make_table(columns, values, chosen=0)


def _score_title(ranking: dict[str, Any]) -> str:
    """Name of the metric, followed by the criterion if the target has no labels."""
    if ranking["of_target"]:
        return ranking["score"]
    return f"{ranking['score']} by {ranking['criterion']['name']}"


def vote_table(vote: dict[str, Any]) -> Table:
    """One row per member of the vote."""
    columns = [Column("member"), Column("weight", ".0%"), Column("differs from the vote", ".3g")]
    values = [[m["name"], m["weight"], m["disagreement"]] for m in vote["members"]]
    return make_table(columns, values)


def over_time_table(ranking: dict[str, Any]) -> Table:
    """One row per part of the labelled target rows, in the order of time."""
    columns = [
        Column("from"), Column("to"), Column("rows", "d"), Column(ranking["score"], FOUR_DIGITS),
    ]  # fmt: skip
    values = [[p["start"], p["end"], p["rows"], p["score"]] for p in ranking["over_time"]]
    return make_table(columns, values)


def classes_table(classes: dict[str, Any]) -> Table:
    """Recall and precision per class, with the confusion matrix."""
    names = classes["names"]
    columns = [
        Column("class"),
        Column("labelled rows", "g"),
        Column("recall", FOUR_DIGITS),
        Column("precision", FOUR_DIGITS),
        *(Column(f"predicted {name}", "g") for name in names[:MOST_CLASSES]),
    ]
    values = [
        [name, rows, recall, precision, *line[:MOST_CLASSES]]
        for name, rows, recall, precision, line in zip(
            names,
            classes["rows"],
            classes["recall"],
            classes["precision"],
            classes["confusion"],
            strict=True,
        )
    ]
    return make_table(columns, values)


def shift_table(shift: dict[str, Any]) -> Table:
    """One row per source."""
    columns = [
        Column("source"),
        Column("rows", "d"),
        Column("domain classifier AUC", ".3f"),
        Column("low", ".3f"),
        Column("high", ".3f"),
        Column("MMD p-value", P_VALUE),
        Column("features moved", "d"),
        Column("effective share", ".1%"),
        Column("heaviest row", ".1%", minor=True),
        Column("gap before", ".2f", minor=True),
        Column("gap after", ".2f", minor=True),
    ]
    keys = (
        "source", "rows", "auc", "auc_low", "auc_high", "mmd_p_value", "n_moved",
        "effective_share", "largest_share", "gap_before", "gap_after",
    )  # fmt: skip
    return make_table(columns, [[source[key] for key in keys] for source in shift["sources"]])


def moved_table(source: dict[str, Any]) -> Table:
    """The features that moved furthest."""
    columns = [
        Column("feature"),
        Column("distance", ".3f"),
        Column("mean, sd", "+.2f"),
        Column("variance ratio", ".2f"),
        Column("corrected p-value", P_VALUE),
    ]
    keys = ("name", "distance", "mean_difference", "variance_ratio", "p_value")
    moved = moved_features(source)
    return make_table(columns, [[feature[key] for key in keys] for feature in moved])


def moved_features(source: dict[str, Any]) -> list[dict[str, Any]]:
    """Features that moved significantly, the furthest first."""
    return source["features"][: min(source["n_moved"], MOST_FEATURES)]


def per_source_table(sources: dict[str, Any]) -> Table:
    """One line per source that was left out."""
    digits = _digits(sources["per_source"])
    columns = [
        Column("source left out"),
        Column("rows", "d"),
        *(Column(title, digits) for title in (sources["metric"], "low", "high", "constant guess")),
        *(Column(label, FOUR_DIGITS) for label in sources["other_metrics"]),
    ]
    keys = ("source", "rows", "mean", "low", "high", "baseline")
    values = [[*(s[key] for key in keys), *s["other_metrics"]] for s in sources["per_source"]]
    return make_table(columns, values)


def intervals_table(sources: dict[str, Any]) -> Table:
    """Intervals for the three questions."""
    digits = _digits(sources["intervals"])
    columns = [
        Column("question"),
        *(Column(title, digits) for title in ("estimate", "low", "high")),
        Column("what it says"),
    ]
    values = [
        [i["question"], i["estimate"], i["low"], i["high"], i["words"]]
        for i in sources["intervals"]
    ]
    return make_table(columns, values)


def features_table(features: dict[str, Any]) -> Table:
    """One line per step of the path."""
    columns = [
        Column("step", "d"),
        Column("feature"),
        Column("T", ".2f"),
        Column("weight", ".4g"),
        *(Column(f"effect in {name}", ".3g") for name in features["domains"]),
    ]
    values = [
        [step, p["feature"], p["t"], p["weight"], *p["effects"]]
        for step, p in enumerate(features["picked"], start=1)
    ]
    return make_table(columns, values)


def domains_table(data: dict[str, Any]) -> Table:
    """Number of rows and distribution of labels by domain."""
    columns = [
        Column("domain"),
        Column("role"),
        Column("rows", "d"),
        Column("labelled", "d"),
        Column("missing cells", ".1%"),
        Column("labels"),
    ]
    values = [
        [d["name"], d["role"], d["rows"], d["labelled"], d["missing"], d["labels"]]
        for d in data["domains"]
    ]
    return make_table(columns, values)


def columns_table(data: dict[str, Any]) -> Table:
    """Name, type, shares of missing and distinct values, and audit findings per column."""
    columns = [
        Column("column"),
        Column("type"),
        Column("missing", ".1%"),
        Column("different values", ".1%"),
        Column("what was found"),
    ]
    rows = [
        [c["name"], c["type"], c["missing"], c.get("unique"), "; ".join(c.get("findings", []))]
        for c in data["columns"]
    ]
    return make_table(columns, rows)


def checks_table(checks: Sequence[dict[str, str]]) -> Table:
    """State, name and sentence of every check."""
    columns = [Column("state"), Column("check"), Column("what it says")]
    return make_table(columns, [[c["state"], c["name"], c["text"]] for c in checks])


def matrix_table(
    rows: Sequence[str], columns: Sequence[str], values: Sequence[Sequence[Any]], form: str
) -> Table:
    """Matrix as a table, for formats without pictures."""
    heads = [Column(""), *(Column(name, form) for name in columns)]
    return make_table(heads, [[name, *line] for name, line in zip(rows, values, strict=True)])


def _digits(rows: Sequence[dict[str, Any]]) -> str:
    """Format of scores with intervals, with one decimal more than in a sentence.

    Models share much of their error, so differences between them are often smaller than the error.
    """
    widths = [r["high"] - r["low"] for r in rows if r["low"] is not None and r["high"] > r["low"]]
    shown = decimals(min(widths) / 4) + 1 if widths else MOST_DECIMALS + 1
    return f",.{shown}f" if shown <= MOST_DECIMALS else FOUR_DIGITS
