"""Layout of a report: sentences and tables of a summary, in order."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from landbridge.inference.intervals import decimals, format_interval, format_number, three_digits
from landbridge.report.blocks import (
    P_VALUE,
    THREE_DIGITS,
    Block,
    Column,
    Facts,
    Page,
    Section,
    Table,
    Text,
    make_table,
    table_of,
)
from landbridge.report.checks import next_steps
from landbridge.report.graph import Graph, Marks, interval_graph

MOST_FEATURES = 12
# With more classes, the most frequent mistake of each class replaces the confusion matrix.
MOST_CLASSES = 12
Rows = Sequence[dict[str, Any]]


def lay_out(summary: dict[str, Any]) -> Page:
    """Lay out a summary as a page; parts that were not computed are omitted."""
    parts: list[tuple[str, Callable[[Any], Section]]] = [
        ("ranking", ranking_section),
        ("shift", shift_section),
        ("sources", sources_section),
        ("features", features_section),
        ("data", data_section),
        ("origin", origin_section),
    ]
    return Page(
        title=summary["title"],
        subtitle=summary["subtitle"],
        verdict=summary.get("verdict", ()),
        overview=_overview(summary["ranking"]) if summary.get("ranking") else None,
        steps=next_steps(summary["checks"]) if summary.get("checks") else (),
        checks=summary.get("checks", ()),
        sections=[build(summary[name]) for name, build in parts if summary.get(name)],
    )


def checks_table(checks: Sequence[dict[str, str]]) -> Table:
    """State, name and sentence of every check."""
    columns = {"state": Column("state"), "name": Column("check"), "text": Column("what it says")}
    return table_of(columns, checks)


# Ranking


def _overview(ranking: dict[str, Any]) -> Table | None:
    """Compare the selected model with the best model of each baseline, if they have intervals."""
    rows = ranking["candidates"][:1]
    for role in ("target-only", "source-only", "baseline"):
        rows += [row for row in ranking["candidates"][1:] if row["role"] == role][:1]
    if len(rows) < 2 or rows[0]["low"] is None:
        return None
    columns = {"name": Column("selected model and baselines"), **_score_columns(ranking, rows)}
    # The graph has the interval too.
    columns |= {end: replace(columns[end], minor=True) for end in ("low", "high")}
    return table_of(columns, [row | {"name": _full_name(row)} for row in rows], chosen=0)


def ranking_section(ranking: dict[str, Any]) -> Section:
    """Ranking of candidates, scores by source, pairwise probabilities."""
    by = "on the target"
    if not ranking["of_target"]:
        by = f"by {ranking['criterion']['name']}, without a target label"
    better = "larger" if ranking["higher_is_better"] else "smaller"
    blocks: list[Block] = [
        Text(ranking["criterion"]["words"]),
        Text(
            f"{_capital(ranking['score'])} {by}; {better} is better. {ranking['interval']['words']}"
        ),
        _ranking_table(ranking),
    ]
    if ranking["vote"]:
        blocks += _vote_blocks(ranking["vote"])
    if ranking.get("over_time"):
        blocks += _over_time_blocks(ranking)
    if ranking["classes"]:
        blocks += _classes_blocks(ranking["classes"])
    if ranking["matrix"]:
        blocks += _matrix_blocks(ranking)
    if ranking["pairwise"]:
        blocks += _pairwise_blocks(ranking["pairwise"])
    return Section("Ranking", blocks)


def _ranking_table(ranking: dict[str, Any]) -> Table:
    """Rank, candidate, source, scores, interval, weight in the vote."""
    columns = {
        "rank": Column("rank", "d"),
        "name": Column("candidate"),
        "source": Column("source"),
        **_score_columns(ranking, ranking["candidates"]),
        **_numbered(ranking["other_scores"]),
        "weight": Column("vote", ".0%", minor=True),
        "seconds": Column("seconds", ".2f", minor=True),
        "note": Column("note"),
    }
    rows = [
        row | {"weight": row["weight"] or None} | dict(enumerate(row["other_scores"]))
        for row in ranking["candidates"]
    ]
    return table_of(columns, rows, chosen=0)


def _score_columns(ranking: dict[str, Any], rows: Rows) -> dict[str, Column]:
    """Score and interval of candidates, with their graph."""
    title, digits = ranking["score"], _digits(rows, "score")
    if not ranking["of_target"]:
        title += f" by {ranking['criterion']['name']}"
    graph = interval_graph([(row["score"], row["low"], row["high"]) for row in rows])
    return {
        "score": Column(title, digits, graph=graph),
        "low": Column("low", digits),
        "high": Column("high", digits),
    }


def _vote_blocks(vote: dict[str, Any]) -> list[Block]:
    words = "Predictions are the weighted mean of these models; the weights come from"
    if vote["learnt"] == "labels":
        words += (
            " labelled target rows. Each row is scored with weights learned from the others, so "
            "the vote may have a lower score than the best model, which was chosen on these rows."
        )
    else:
        words += " the criterion."
    apart = Column("rows on which it differs from the vote", ".1%")
    if not vote.get("of_classes", True):
        apart = Column("root mean squared distance from the vote", THREE_DIGITS)
    columns = {"name": Column("member"), "weight": Column("weight", ".0%"), "disagreement": apart}
    return [Text("The vote", "heading"), Text(words), table_of(columns, vote["members"])]


def _over_time_blocks(ranking: dict[str, Any]) -> list[Block]:
    words = (
        "Score on labelled target rows in order of time; each part is predicted by models trained "
        "on earlier rows."
    )
    columns = {
        "start": Column("from"),
        "end": Column("to"),
        "rows": Column("rows", "d"),
        "score": Column(ranking["score"], THREE_DIGITS),
    }
    table = table_of(columns, ranking["over_time"])
    return [Text("Score over time", "heading"), Text(words), table]


def _classes_blocks(classes: dict[str, Any]) -> list[Block]:
    """Recall and precision per class, with the confusion matrix or the most frequent mistakes."""
    # Rows selected with known probabilities have weights, so counts may be fractional.
    whole = all(float(count).is_integer() for line in classes["confusion"] for count in line)
    count = ",.0f" if whole else ",.1f"
    columns = [
        Column("class"),
        Column("labelled rows", count),
        Column("recall", ".2f"),
        Column("precision", ".2f"),
    ]
    names, confusion = classes["names"], classes["confusion"]
    if len(names) > MOST_CLASSES:
        columns += [Column("most often mistaken for"), Column("rows", count)]
        confusion = [_most_frequent_mistake(names, k, line) for k, line in enumerate(confusion)]
    else:
        columns += [Column(f"predicted {name}", count) for name in names]
    parts = [classes[name] for name in ("names", "rows", "recall", "precision")]
    values = [[*line, *more] for *line, more in zip(*parts, confusion, strict=True)]
    return [
        Text("Recall and precision per class", "heading"),
        Text("Out-of-fold predictions of the labelled target rows."),
        make_table(columns, values),
    ]


def _most_frequent_mistake(
    names: list[str], true: int, counts: list[float]
) -> tuple[str, float | None]:
    """The class that is predicted most often instead of the true one, and for how many rows."""
    count, name = max((n, names[k]) for k, n in enumerate(counts) if k != true)
    return (name, count) if count else ("–", None)


def _matrix_blocks(ranking: dict[str, Any]) -> list[Block]:
    matrix = ranking["matrix"]
    known = [value for line in matrix["values"] for value in line if value is not None] or [0.0]
    ends = (min(known), max(known)) if ranking["higher_is_better"] else (max(known), min(known))
    words = (
        f"{_capital(ranking['score'])} of every candidate trained on every source; better scores "
        "have a stronger colour."
    )
    columns = [Column(name, THREE_DIGITS, shaded=ends) for name in matrix["sources"]]
    lines = zip(matrix["candidates"], *matrix["values"], strict=True)
    table = make_table([Column("candidate"), *columns], list(lines))
    return [Text("Candidate by source", "heading"), Text(words), table]


def _pairwise_blocks(pairwise: dict[str, Any]) -> list[Block]:
    words = (
        "Probability that the candidate of the row is better on the target than the candidate of "
        f"the column. {pairwise['words']}"
    )
    names = [f"{place}. {name}" for place, name in enumerate(pairwise["names"], start=1)]
    heads = [Column(f"{place}.", ".2f", shaded=(0.0, 1.0)) for place in range(1, len(names) + 1)]
    lines = [[name, *line] for name, line in zip(names, pairwise["values"], strict=True)]
    table = make_table([Column("candidate"), *heads], lines)
    return [Text("Pairwise probabilities", "heading"), Text(words), table]


# The other sections


SHIFT_WORDS = (
    "The AUC of a classifier that separates source and target is 0.5 if they are equal and 1 if "
    "they do not overlap. Importance weights make a source resemble the target: they rest on the "
    "effective share of its rows, and the gap is the largest difference of means, in standard "
    "deviations, before and after weighting. The distance of a feature is the Kolmogorov–Smirnov "
    "distance of its distributions: 0 if they are equal, 1 if they do not overlap."
)


def shift_section(shift: dict[str, Any]) -> Section:
    """Distance of the target from each source, effect of weights, features that moved."""
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
    blocks: list[Block] = [Text(shift["note"])] if shift.get("note") else []
    blocks += [table_of(columns, shift["sources"]), Text(SHIFT_WORDS)]
    for source in shift["sources"]:
        heading = Text(f"{source['source']} → {shift['target']}", "heading")
        blocks += [heading, Text(source["words"])]
        # Features that moved significantly, the furthest first.
        moved = source["features"][: min(source["n_moved"], MOST_FEATURES)]
        if moved:
            blocks.append(_moved_table(moved))
    return Section("Shift between source and target", blocks)


def _moved_table(features: Rows) -> Table:
    graph = Graph([Marks(bar=feature["distance"]) for feature in features], include=(0.0, 1.0))
    columns = {
        "name": Column("feature that moved"),
        "distance": Column("distance", ".2f", graph=graph),
        "mean_difference": Column("mean, sd", "+.2f"),
        "variance_ratio": Column("variance ratio", ".2f"),
        "p_value": Column("corrected p-value", P_VALUE),
    }
    return table_of(columns, features)


def sources_section(sources: dict[str, Any]) -> Section:
    """Scores and intervals of multiple-source cross-validation."""
    metric, digits = sources["metric"], _digits(sources["per_source"], "mean")
    scores = [(s["mean"], s["low"], s["high"]) for s in sources["per_source"]]
    # Both tables have one axis, on which the intervals of further metrics cannot be drawn.
    answers = [
        (i["estimate"], i["low"], i["high"]) if i.get("metric", metric) == metric else (None,) * 3
        for i in sources["intervals"]
    ]
    axis = [end for row in scores + answers for end in row if end is not None]
    questions = {
        "question": Column("question"),
        "interval": Column("estimate and interval", graph=interval_graph(answers, axis)),
        "words": Column("what it says"),
    }
    columns = {
        "source": Column("source left out"),
        "rows": Column("rows", "d"),
        "mean": Column(metric, digits, graph=interval_graph(scores, axis)),
        "low": Column("low", digits),
        "high": Column("high", digits),
        "baseline": Column("constant guess", digits),
        **_numbered(sources["other_metrics"]),
    }
    caption = (
        f"{_capital(metric)} on each source when it is left out of training, and intervals for the "
        "mean over sources."
    )
    intervals = [i | {"interval": _interval_words(i)} for i in sources["intervals"]]
    per_source = [s | dict(enumerate(s["other_metrics"])) for s in sources["per_source"]]
    return Section(
        "Score on a new source",
        [
            *(Text(sentence) for sentence in sources["words"]),
            Text(caption),
            table_of(questions, intervals),
            table_of(columns, per_source),
        ],
    )


def _interval_words(found: dict[str, Any]) -> str:
    if found["low"] is None:
        return format_number(found["estimate"])
    ends = format_interval(found["estimate"], found["low"], found["high"])
    return "{} ({} to {})".format(*ends)


def features_section(features: dict[str, Any]) -> Section:
    """Features picked by T-greedy selection and their effect in every domain."""
    blocks: list[Block] = [Text(sentence) for sentence in features["words"]]
    picked, domains = features["picked"], features["domains"]
    if picked:
        marks = [
            Marks(list(zip(pick["effects"], domains, strict=True)), tick=pick["mean_effect"])
            for pick in picked
        ]
        columns = {
            "step": Column("step", "d"),
            "feature": Column("feature"),
            "mean_effect": Column("mean effect", THREE_DIGITS, graph=Graph(marks, zero=0.0)),
            "t": Column("T", ".2f"),
            "weight": Column("weight", THREE_DIGITS),
            **_numbered([f"effect in {name}" for name in domains]),
        }
        rows = [
            pick | {"step": step} | dict(enumerate(pick["effects"]))
            for step, pick in enumerate(picked, start=1)
        ]
        words = (
            "Mean effect of every selected feature, and its effect in each domain. A feature may "
            "be picked again; its effect is then that on what the earlier steps left unexplained."
        )
        blocks += [Text(words), table_of(columns, rows)]
    return Section("Features that keep their meaning", blocks)


def data_section(data: dict[str, Any]) -> Section:
    """Rows of every domain, and the type and findings of every column."""
    facts = [(name, data[name]) for name in ("label", "task", "target")]
    columns = {
        "name": Column("domain"),
        "role": Column("role"),
        "rows": Column("rows", "d"),
        "labelled": Column("labelled", "d"),
        "missing": Column("missing cells", ".1%"),
        "labels": Column("labels"),
    }
    audit = columns_table(data["columns"], f"Show the {len(data['columns'])} columns")
    return Section("Data", [Facts(facts), table_of(columns, data["domains"]), audit])


def columns_table(columns: Rows, summary: str = "") -> Table:
    """Name, type, shares of missing and distinct values, and audit findings per column."""
    titles = {
        "name": Column("column"),
        "type": Column("type"),
        "missing": Column("missing", ".1%"),
        "unique": Column("different values", ".1%"),
        "found": Column("what was found"),
    }
    rows = [{**column, "found": "; ".join(column.get("findings", []))} for column in columns]
    return table_of(titles, rows, summary=summary)


def origin_section(origin: dict[str, Any]) -> Section:
    """Command, versions and settings needed to reproduce the report."""
    versions = ", ".join(f"{name} {version}" for name, version in origin["versions"].items())
    facts = [("made on", origin["date"]), ("seed", str(origin["seed"])), ("versions", versions)]
    blocks: list[Block] = [Facts(facts)]
    if origin["command"]:
        blocks.append(Text(origin["command"], "code"))
    return Section("How this was made", blocks)


def _numbered(titles: Sequence[str]) -> dict[Any, Column]:
    """Columns of further numbers, whose keys are their positions."""
    return {place: Column(title, THREE_DIGITS) for place, title in enumerate(titles)}


def _digits(rows: Rows, key: str) -> int:
    """Decimals of scores: those that the narrowest interval justifies, or three digits.

    Models share much of their error, so differences between them are often smaller than the error.
    """
    widths = [r["high"] - r["low"] for r in rows if r["low"] is not None and r["high"] > r["low"]]
    shown = decimals(min(widths) / 4) if widths else 0
    return max(shown, three_digits(row[key] for row in rows))


def _full_name(row: dict[str, Any]) -> str:
    return f"{row['name']} from {row['source']}" if row["show_source"] else row["name"]


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
