"""Layout of a report: sentences, tables and pictures of a summary, in order."""

from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from landbridge.metrics.metric import format_number
from landbridge.report.blocks import Block, Facts, Page, Picture, Section, Text
from landbridge.report.checks import next_steps
from landbridge.report.pictures import (
    Bar,
    Interval,
    Strip,
    bar_picture,
    interval_picture,
    matrix_picture,
    strip_picture,
    three_digits,
)
from landbridge.report.tables import (
    classes_table,
    columns_table,
    domains_table,
    features_table,
    intervals_table,
    matrix_table,
    moved_features,
    moved_table,
    over_time_table,
    per_source_table,
    ranking_table,
    shift_table,
    vote_table,
)

MOST_ROWS = 25


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


def _overview(ranking: dict[str, Any]) -> Picture | None:
    """Compare the selected model with the best model of each baseline, if they have intervals."""
    rows = ranking["candidates"][:1]
    for role in ("target-only", "source-only", "baseline"):
        rows += [row for row in ranking["candidates"][1:] if row["role"] == role][:1]
    if len(rows) < 2 or rows[0]["low"] is None:
        return None
    level = f"{100 * ranking['interval']['level']:g} %"
    return Picture(
        f"{_capital(_score_words(ranking))} of the selected model and of the best baselines, with "
        f"{level} intervals.",
        _scores_picture(ranking, rows, "The selected model and the baselines"),
    )


def ranking_section(ranking: dict[str, Any]) -> Section:
    """Ranking of candidates, scores by source, pairwise probabilities."""
    blocks: list[Block] = [
        Text(ranking["criterion"]["words"]),
        Picture(
            f"{_capital(_score_words(ranking))}. {ranking['interval']['words']} "
            "The selected model is highlighted.",
            _scores_picture(ranking, ranking["candidates"][:MOST_ROWS], "Ranking with intervals"),
        ),
        ranking_table(ranking),
    ]
    if ranking["vote"]:
        blocks += [
            Text("The vote", "heading"),
            Text(_vote_words(ranking["vote"])),
            vote_table(ranking["vote"]),
        ]
    if ranking.get("over_time"):
        words = "Score on labelled target rows in order of time; each part is predicted by models"
        blocks += [
            Text("Score over time", "heading"),
            Text(f"{words} trained on earlier rows."),
            over_time_table(ranking),
        ]
    if ranking["classes"]:
        blocks += [
            Text("Recall and precision per class", "heading"),
            Text("Out-of-fold predictions of the labelled target rows."),
            classes_table(ranking["classes"]),
        ]
    if ranking["matrix"]:
        matrix = ranking["matrix"]
        blocks += [
            Text("Source by candidate", "heading"),
            Picture(
                f"{_capital(ranking['score'])} of every candidate trained on every source; better "
                "scores have a stronger colour.",
                matrix_picture(
                    matrix["sources"],
                    matrix["candidates"],
                    matrix["values"],
                    description="Scores of candidates by source",
                    best_is_high=ranking["higher_is_better"],
                ),
                matrix_table(matrix["sources"], matrix["candidates"], matrix["values"], ".3f"),
            ),
        ]
    if ranking["pairwise"]:
        blocks += _pairwise_blocks(ranking["pairwise"])
    return Section("Ranking", blocks)


def _score_words(ranking: dict[str, Any]) -> str:
    if ranking["of_target"]:
        return f"{ranking['score']} on the target"
    return f"{ranking['score']} by {ranking['criterion']['name']}, without a target label"


def _vote_words(vote: dict[str, Any]) -> str:
    words = "Predictions are the weighted mean of these models; the weights come from"
    if vote["learnt"] != "labels":
        return f"{words} the criterion."
    return (
        f"{words} labelled target rows. Each row is scored with weights learned from the others, "
        "so the vote may have a lower score than the best model, which was chosen on these rows."
    )


def _scores_picture(
    ranking: dict[str, Any], candidates: list[dict[str, Any]], words: str
) -> Markup:
    """Draw the scores of candidates; the first one is the selected model."""
    rows = [
        Interval(
            label=_full_name(row),
            value=row["score"],
            low=row["low"],
            high=row["high"],
            hover=f"{_full_name(row)}: {three_digits(row['score'])} ({three_digits(row['low'])} to "
            f"{three_digits(row['high'])})",
            chosen=place == 0,
        )
        for place, row in enumerate(candidates)
    ]
    return interval_picture(rows, title=ranking["score"], description=words)


def _pairwise_blocks(pairwise: dict[str, Any]) -> list[Block]:
    names = [f"{place}. {name}" for place, name in enumerate(pairwise["names"], start=1)]
    heads = [str(place) for place in range(1, len(names) + 1)]
    return [
        Text("Pairwise probabilities", "heading"),
        Picture(
            "Probability that the candidate of the row is better on the target than the candidate "
            f"of the column. {pairwise['words']}",
            matrix_picture(
                names,
                heads,
                pairwise["values"],
                description="Probability that the row beats the column",
                lowest=0.0,
                highest=1.0,
                digits=2,
            ),
            matrix_table(names, heads, pairwise["values"], ".2f"),
        ),
    ]


def shift_section(shift: dict[str, Any]) -> Section:
    """Distance of the target from each source, features that moved, effect of weights."""
    blocks: list[Block] = [Text(shift["note"])] if shift.get("note") else []
    blocks += [Text(f"{source['source']}: {source['words']}") for source in shift["sources"]]
    blocks.append(shift_table(shift))
    for source in shift["sources"]:
        if not moved_features(source):
            blocks.append(Text(f"No feature of {source['source']} moved significantly."))
            continue
        blocks += [
            Text(f"Features that moved: {source['source']} → {shift['target']}", "heading"),
            Picture(
                "Kolmogorov–Smirnov distance of the two distributions: 0 if they are equal, 1 if "
                "they do not overlap.",
                _moved_picture(source),
            ),
            moved_table(source),
        ]
    return Section("Shift between source and target", blocks)


def _moved_picture(source: dict[str, Any]) -> Markup:
    bars = [
        Bar(
            label=f["name"],
            value=f["distance"],
            text=f"{f['distance']:.2f}",
            hover=f"{f['name']}: mean {three_digits(f['mean_difference'])} sd, variance "
            f"{three_digits(f['variance_ratio'])} times",
        )
        for f in moved_features(source)
    ]
    words = f"Features of {source['source']} that moved"
    return bar_picture(bars, title="distance", description=words, most=1.0)


def sources_section(sources: dict[str, Any]) -> Section:
    """Scores and intervals of multiple-source cross-validation."""
    return Section(
        "Score on a new source",
        [
            *(Text(sentence) for sentence in sources["words"]),
            Picture(
                f"{_capital(sources['metric'])} on each source when it is left out of training, "
                "and intervals for the mean over sources.",
                _sources_picture(sources),
            ),
            intervals_table(sources),
            per_source_table(sources),
        ],
    )


def _sources_picture(sources: dict[str, Any]) -> Markup:
    rows = [
        Interval(
            s["source"],
            s["mean"],
            s["low"],
            s["high"],
            f"{s['source']}: {format_number(s['mean'])} on {s['rows']} rows",
        )
        for s in sources["per_source"]
    ]
    rows += [
        Interval(i["question"], i["estimate"], i["low"], i["high"], i["words"], True)
        for i in sources["intervals"]
    ]
    return interval_picture(rows, title=sources["metric"], description="Score by source left out")


def features_section(features: dict[str, Any]) -> Section:
    """Features picked by T-greedy selection and their effect in every domain."""
    blocks: list[Block] = [Text(sentence) for sentence in features["words"]]
    if features["picked"]:
        words = (
            "Effect of every selected feature in each domain (dots) and their mean (tick). Dots on "
            "both sides of zero mean that the effect changes its sign."
        )
        blocks += [Picture(words, _features_picture(features)), features_table(features)]
    return Section("Features that keep their meaning", blocks)


def _features_picture(features: dict[str, Any]) -> Markup:
    strips = [
        Strip(p["feature"], p["effects"], features["domains"], p["mean_effect"])
        for p in features["picked"][:MOST_ROWS]
    ]
    return strip_picture(
        strips, title="effect when it was picked", description="Effects of features by domain"
    )


def data_section(data: dict[str, Any]) -> Section:
    """Rows of every domain, and the type and findings of every column."""
    return Section(
        "Data",
        [
            Facts([("label", data["label"]), ("task", data["task"]), ("target", data["target"])]),
            domains_table(data),
            columns_table(data),
        ],
    )


def origin_section(origin: dict[str, Any]) -> Section:
    """Command, versions and settings needed to reproduce the report."""
    versions = ", ".join(f"{name} {version}" for name, version in origin["versions"].items())
    facts = [("made on", origin["date"]), ("seed", str(origin["seed"])), ("versions", versions)]
    blocks: list[Block] = [Facts(facts)]
    if origin["command"]:
        blocks.append(Text(origin["command"], "code"))
    return Section("How this was made", blocks)


def _full_name(row: dict[str, Any]) -> str:
    return f"{row['name']} from {row['source']}" if row["show_source"] else row["name"]


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
