"""The page of the regret study: tables and words from its result lines."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks._harness import markdown_table
from benchmarks._regret_cells import LISTS, SETTINGS

# The vote was developed on these datasets and on half of the tasks of the others.
DEVELOPMENT = ("wine", "bike", "reuters", "newsgroups")
# Searched without labels only.
FURTHER = ("abalone", "syskill", "wifi, other phones", "reviews, other pairs")
POOLED = "always pooled"
# What the default answer is held to: mean regret on the mixed list, and coverage everywhere.
BARS = {"10 %": 0.012, "20": 0.016, "none": 0.035}
COVERAGE = (0.87, 0.93)
# How far above always pooled the vote may be on each list.
ALLOWED = {"10 %": 0.0, "20": 0.003}
ORDER = (
    "vote",
    "best",
    POOLED,
    "tlv",
    "trcv",
    "rv",
    "wcv",
    "scv",
    "always source-only",
    "always target-only",
    "random choice",
    "majority class",
)
WORDS = {"best": "best single candidate (anchored; trcv without labels)"}
ABOUT = """{tasks} tasks with labels and without, and {further} more without labels: abalone across
sexes, web pages across subjects, further pairs of phones and of review domains. Finished draws:
{draws}. ± is one standard error over tasks, each the mean of its draws; *held-out* are the datasets
other than {development}.

Lists of candidates: *mixed* has twelve cheap learners in all roles (seven without labels).
*source-heavy* has eight learners that ignore target labels, TrAdaBoost and a pooled logistic
regression. *default* is the default list of `TransferSearchCV`.

The order in which light members leave the vote was chosen among about twenty rules with the
searches of all tasks in view; on the development datasets it does not differ from the rule before
it.

The estimated cost of predicting with the vote is at most 4.8 times that of the best candidate. The
estimate was chosen with the mixed list of all tasks in view. If it did not know that wrappers such
as `Pooled` are asked without their check of the rows, the regrets with 10 % and 20 labels would be
0.0071 and 0.0164; if it counted the averaging by one unit less or more, 0.0059 and 0.0134, or
0.0070 and 0.0145."""
SKADA_WORDS = """skada's scorers selected among the candidates of the mixed list on the same
tasks and draws, in an earlier run that was not repeated. They ignore target labels, although the
candidates were fitted with them."""
COVERAGE_WORDS = """Share of searches whose interval covers the accuracy on held-out target rows,
and the mean width. The interval of the vote uses weights learnt without the row's fold."""
METRIC_WORDS = """Share of the same searches, of all lists, whose 90 % interval of the vote holds
the score on held-out target rows; the number of searches in parentheses. Average precision is
given for tasks with two classes; ROC AUC with more classes is the mean of each class against the
rest. Regression metrics are on the page [search_regression](search_regression.md)."""
COST_WORDS = """CPU time of predicting the test rows with the vote, in units of that of the best
candidate (fastest of ten calls, first draw, busy machine): median, largest, and the share of
searches in which it is more than five times as long, with their number. Most of these have ten or
more classes, whose probabilities take longer than estimated."""
METRICS = {
    "vote, 90 %": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "f1_macro": "F1 (macro)",
    "roc_auc": "ROC AUC",
    "roc_auc_ovr": "ROC AUC, more than two classes",
    "average_precision": "average precision",
    "neg_log_loss": "log loss",
}


def page(
    title: str, introduction: str, every: Sequence[dict[str, Any]], skada: Sequence[dict[str, Any]]
) -> str:
    """The whole page in Markdown."""
    lines = [line for line in every if line["dataset"] not in FURTHER]
    further = [line for line in every if line["dataset"] in FURTHER]
    parts = [f"# {title}", introduction, _about(lines, further)]
    parts += ["## What the figures say", _verdict(lines, further)]
    for setting in SETTINGS:
        parts += [f"## Mean regret, labels: {setting}", _regret_table(lines, further, setting)]
    parts += ["## By dataset", *_dataset_tables([*lines, *further])]
    parts += ["## skada's scorers", SKADA_WORDS, _skada_table(skada)]
    parts += ["## Coverage of the intervals", COVERAGE_WORDS, _coverage_table(lines)]
    parts += ["## Other metrics", METRIC_WORDS, _metric_table(lines)]
    parts += ["## Cost of predicting", COST_WORDS, _cost_table([*lines, *further])]
    return "\n\n".join(parts)


def select(
    lines: Iterable[dict[str, Any]], setting: str, candidates: str | None = None
) -> list[dict[str, Any]]:
    """Lines with one number of labels, of one list of candidates."""
    return [
        line
        for line in lines
        if line["labels"] == setting and candidates in (None, line["candidates"])
    ]


def regrets(lines: Iterable[dict[str, Any]], name: str) -> np.ndarray:
    """The regret of one answer on each task, averaged over draws."""
    return np.array([np.mean(line["regret"][name]) for line in lines if name in line["regret"]])


def held_out(lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines of datasets on which nothing was developed."""
    return [line for line in lines if line["dataset"] not in DEVELOPMENT]


def covered(lines: Iterable[dict[str, Any]], name: str, *, of: str = "covered") -> np.ndarray:
    """Whether the interval of each search held the truth (or its width)."""
    return np.array([hit for line in lines for hit in line[of].get(name, ())], dtype=float)


def _about(lines: Sequence[dict[str, Any]], further: Sequence[dict[str, Any]]) -> str:
    counts = []
    for setting in SETTINGS:
        draws = [len(line["draws"]) for line in select([*lines, *further], setting)]
        if draws:
            counts.append(
                f"labels {setting}: {min(draws)} to {max(draws)} per task, {sum(draws)} searches"
            )
    return ABOUT.format(
        tasks=len({(line["dataset"], line["task"]) for line in lines}),
        further=len({(line["dataset"], line["task"]) for line in further}),
        draws=", ".join(counts),
        development=", ".join(DEVELOPMENT),
    )


def _regret_table(
    lines: Sequence[dict[str, Any]], further: Sequence[dict[str, Any]], setting: str
) -> str:
    known = {name for line in select(lines, setting) for name in line["regret"]}
    rows = []
    for name in (name for name in ORDER if name in known):
        row = [f"**{name}**" if name == "vote" else WORDS.get(name, name)]
        for candidates in LISTS:
            own = select(lines, setting, candidates)
            parts = [own, held_out(own)]
            if setting == "none":
                parts = [[*own, *select(further, setting, candidates)], own]
            row += [_mean_and_error(regrets(part, name)) for part in parts]
        rows.append(row)
    second = "66 tasks" if setting == "none" else "held-out"
    header = [word for candidates in LISTS for word in (candidates, second)]
    return markdown_table(["answer", *header], rows)


def _mean_and_error(values: np.ndarray) -> str:
    if values.size < 2:
        return ""
    return f"{values.mean():.4f} ± {values.std(ddof=1) / np.sqrt(values.size):.4f}"


def _dataset_tables(lines: Sequence[dict[str, Any]]) -> list[str]:
    tables = []
    names = {"10 %": ("vote", "best", POOLED), "none": ("vote", "best", "always source-only")}
    for setting, answers in names.items():
        rows = []
        for dataset in dict.fromkeys(line["dataset"] for line in select(lines, setting)):
            own = [line for line in select(lines, setting) if line["dataset"] == dataset]
            row: list[Any] = [dataset, len({line["task"] for line in own})]
            for candidates in LISTS:
                chosen = select(own, setting, candidates)
                row += [f"{regrets(chosen, name).mean():.4f}" if chosen else "" for name in answers]
            rows.append(row)
        header = [f"{name}, {candidates}" for candidates in LISTS for name in answers]
        tables += [f"Labels: {setting}", markdown_table(["dataset", "tasks", *header], rows)]
    return tables


def _skada_table(lines: Sequence[dict[str, Any]]) -> str:
    names = sorted({name for line in lines for name in line["regret"]})
    rows = [
        [name, *(_mean_and_error(regrets(select(lines, setting), name)) for setting in SETTINGS)]
        for name in names
    ]
    return markdown_table(["scorer", *(f"labels: {setting}" for setting in SETTINGS)], rows)


def _coverage_table(lines: Sequence[dict[str, Any]]) -> str:
    rows = []
    for setting in ("10 %", "20"):
        for candidates in LISTS:
            own = select(lines, setting, candidates)
            row: list[Any] = [setting, candidates, covered(own, "vote, 90 %").size]
            for name in ("vote, 90 %", "vote, 95 %", "best, 90 %", "best, 95 %"):
                hits, widths = covered(own, name), covered(own, name, of="width")
                row.append(f"{hits.mean():.3f} ({widths.mean():.3f})" if hits.size else "")
            rows.append(row)
    header = ["labels", "list", "searches", "vote, 90 %", "vote, 95 %", "best, 90 %", "best, 95 %"]
    return markdown_table(header, rows)


def _metric_table(lines: Sequence[dict[str, Any]]) -> str:
    rows = []
    for name, words in METRICS.items():
        row = [words]
        for setting in ("10 %", "20"):
            hits = covered(select(lines, setting), name)
            row.append(f"{hits.mean():.3f} ({hits.size})" if hits.size else "")
        rows.append(row)
    return markdown_table(["metric", "labels: 10 %", "labels: 20"], rows)


def _cost_table(lines: Sequence[dict[str, Any]]) -> str:
    rows = []
    for setting in SETTINGS:
        row = [setting]
        for candidates in LISTS:
            own = select(lines, setting, candidates)
            costs = np.array([cost for line in own for cost in line.get("cost", ())])
            share = f"{np.mean(costs > 5):.3f} ({costs.size})"
            row.append(f"{np.median(costs):.1f}, {costs.max():.1f}, {share}")
        rows.append(row)
    return markdown_table(["labels", *LISTS], rows)


def _verdict(lines: Sequence[dict[str, Any]], further: Sequence[dict[str, Any]]) -> str:
    sentences = []
    for setting in SETTINGS:
        own = select(lines, setting, "mixed")
        if setting == "none":
            own += select(further, setting, "mixed")
        if own:
            mean = regrets(own, "vote").mean()
            word = "at most" if mean <= BARS[setting] else "above"
            sentences.append(
                f"- Labels {setting}, mixed list: the vote's mean regret over {len(own)} tasks is "
                f"{mean:.4f}, {word} {BARS[setting]}."
            )
    for setting, allowed in ALLOWED.items():
        for candidates in LISTS:
            own = [line for line in select(lines, setting, candidates) if POOLED in line["regret"]]
            if len(own) > 1:
                sentences.append(_against_pooled(own, setting, candidates, allowed))
    for candidates in LISTS:
        own = [line for line in lines if line["candidates"] == candidates]
        hits = covered(own, "vote, 90 %")
        if hits.size:
            low, high = COVERAGE
            word = "within" if low <= hits.mean() <= high else "outside"
            sentences.append(
                f"- The 90 % interval of the vote covers in {hits.mean():.3f} of {hits.size} "
                f"searches on the {candidates} list, {word} {low} to {high}."
            )
    return "\n".join(sentences)


def _against_pooled(
    lines: Sequence[dict[str, Any]], setting: str, candidates: str, allowed: float
) -> str:
    gap = regrets(lines, "vote") - regrets(lines, POOLED)
    error = gap.std(ddof=1) / np.sqrt(gap.size)
    if gap.mean() < -2 * error:
        word = "below it by more than two standard errors"
    elif gap.mean() <= allowed:
        word = f"not more than {allowed} above it"
    else:
        word = f"more than {allowed} above it"
    return (
        f"- Labels {setting}, {candidates} list: the vote minus always pooled is "
        f"{gap.mean():.4f} ± {error:.4f}, {word}."
    )
