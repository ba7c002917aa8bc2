"""Searches among regressors: regret and coverage of intervals.

The loss of a regressor is unbounded, and with few labelled rows its mean is skewed. Ten
candidates, one of them deliberately poor, are searched on tasks between natural domains with
20, 50 and 200 labelled target rows. The truth is the score on all other target rows, at most 3000.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np

from benchmarks._domains import DomainTask
from benchmarks._harness import Log, markdown_table, read, write_page
from benchmarks._regression_tasks import (
    DRAWS,
    FEWEST_TEST,
    LABELS,
    Searched,
    further_tasks,
    n_test,
    part_of,
    run_search,
    tasks,
)
from landbridge.metrics import check_scoring
from landbridge.model_selection.vote import combine

NAME = "search_regression"
LEVEL = 0.9
SEEN = 5  # draws in view when limits and factor were first chosen
HABITS = ("pooled", "source-only", "target-only")
ANSWERS = ("vote", "best", "tlv", *(f"always {name}" for name in HABITS))
COVERED = ("vote: RMSE", "vote: MAE", "vote: R²", "best: RMSE", "always pooled: RMSE")
PARTS = ("development", "held-out", "further")
GROUPS = (*PARTS, "all", "all, fresh draws")
WORDS = """The tasks were split beforehand. *Development* is {development}: the comparison by ratios
and the degrees of freedom of the intervals were decided there, for single candidates. *Held-out* is
{held-out}, *further* is {further}. The limits
of the numbers of members were found on the development tasks. The factor by which the variance of
out-of-fold squared errors exceeds that of a fixed model (`landbridge.metrics.scoring`) was chosen
with all tasks and draws in view. *Fresh* are the last {fresh} of {draws} draws, made after the
first choice of both; the factor was then set lower."""
REGRET_WORDS = """RMSE relative to that of the best single candidate, minus one: geometric mean over
searches, and in brackets the share of searches in which it is more than twice as large."""
COVERAGE_WORDS = """Share of searches whose 90 % interval holds the truth, and the number of
searches. "Always pooled" is a model that was not chosen by its score."""


def run() -> None:
    """Search every task, write results and page."""
    cells = (
        ({**_about(task), "labels": labels, "draws": list(draws)}, (task, labels, draws))
        for task, labels in product([*tasks(), *further_tasks()], LABELS)
        if n_test(task, labels) >= FEWEST_TEST[labels]
        for draws in (range(SEEN), range(SEEN, DRAWS))
    )
    with Log(NAME) as log:
        log.run(search_draws, cells)
    report()


def search_draws(task: DomainTask, labels: int, draws: range) -> dict[str, Any]:
    """Figures of every answer, a list over the draws."""
    found = [figures(run_search(task, draw, labels)) for draw in draws]
    return {
        kind: {name: [one[kind][name] for one in found if name in one[kind]] for name in names}
        for kind, names in (("ratio", ANSWERS), ("covered", COVERED))
    }


def figures(searched: Searched) -> dict[str, dict[str, float]]:
    """Regret of every answer, and which intervals held the truth."""
    result, y, values = searched.result, searched.y, searched.values
    rmse, *others = check_scoring(None, task="regression")
    names = {cell.candidate: number for number, cell in enumerate(result.cells)}
    weights = result.vote().weights
    predicted = {"vote": combine(result._limited(values), weights), "best": values[result.best]}
    own = [cell for cell in names.values() if cell != result.baseline]
    predicted["tlv"] = values[min(own, key=lambda cell: result.values("tlv", rmse)[cell])]
    predicted |= {f"always {name}": values[names[name]] for name in HABITS}
    truth = {name: float(rmse.score(y, numbers)) for name, numbers in predicted.items()}
    best = min(float(rmse.score(y, values[cell])) for cell in own)
    cells = {"vote": "vote", "best": result.best, "always pooled": names["pooled"]}
    covered = {}
    for name, metric in product(cells, (rmse, *others)):
        low, high = result.interval(LEVEL, cell=cells[name], metric=metric)
        if np.isfinite(low):
            score = metric.score(y, predicted[name])
            covered[f"{name}: {metric.label}"] = int(low <= score <= high)
    return {"ratio": {n: _rounded(value / best) for n, value in truth.items()}, "covered": covered}


def report() -> None:
    """Write ``docs/benchmarks/search_regression.md`` from the results."""
    lines = read(NAME)
    title, introduction = __doc__.split("\n\n")[:2]
    names = {
        part: ", ".join(dict.fromkeys(x["dataset"] for x in lines if x["part"] == part))
        for part in PARTS
    }
    groups = {
        (labels, part): _select(lines, labels, part) for labels, part in product(LABELS, GROUPS)
    }
    regret = [[*key, *(_regret(group, name) for name in ANSWERS)] for key, group in groups.items()]
    covered = [
        [*key, *(_coverage(group, name) for name in COVERED)] for key, group in groups.items()
    ]
    parts = [
        f"# {title}",
        introduction,
        WORDS.format(**names, draws=DRAWS, fresh=DRAWS - SEEN),
        "## Regret",
        REGRET_WORDS,
        markdown_table(["labels", "tasks", *ANSWERS], regret),
        "## Coverage",
        COVERAGE_WORDS,
        markdown_table(["labels", "tasks", *COVERED], covered),
        f"Command: `python -m benchmarks {NAME}`.",
    ]
    write_page(NAME, "\n\n".join(parts))


def _about(task: DomainTask) -> dict[str, str]:
    return {"part": part_of(task), "dataset": task.dataset, "task": task.name}


def _select(lines: Iterable[dict[str, Any]], labels: int, group: str) -> list[dict[str, Any]]:
    lines = [line for line in lines if line["labels"] == labels]
    if group in PARTS:
        return [line for line in lines if line["part"] == group]
    return [line for line in lines if group == "all" or min(line["draws"]) >= SEEN]


def _regret(lines: Sequence[dict[str, Any]], name: str) -> str:
    ratios = np.concatenate([line["ratio"][name] for line in lines])
    return f"{np.exp(np.log(ratios).mean()) - 1:.3f} ({np.mean(ratios > 2):.0%})"


def _coverage(lines: Sequence[dict[str, Any]], name: str) -> str:
    hits = np.concatenate([line["covered"][name] for line in lines])
    return f"{hits.mean():.3f} ({hits.size})"


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
