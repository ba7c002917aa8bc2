"""Searches among regressors: how often intervals hold the truth, and what the choice loses.

The target loss of a regressor has no upper end, and with few labelled rows its mean is skewed. Ten
candidates, one of them deliberately terrible, are searched on tasks between natural domains with 20
and 60 labelled target rows. The truth is the mean loss on all other target rows, at most 3000.
Beside the default stands what it was before: candidates compared by differences, as error rates
are, and Student's interval.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy import stats

from benchmarks import _regression_page
from benchmarks._domains import DomainTask
from benchmarks._harness import Log, read, write_page
from benchmarks._regression_tasks import (
    DRAWS,
    FEWEST_TEST,
    LABELS,
    further_tasks,
    n_test,
    part_of,
    run_search,
    tasks,
)
from landbridge import SearchResult
from landbridge.model_selection.anchored import anchor
from landbridge.model_selection.anchored_ratios import anchor_ratios
from landbridge.model_selection.confidence import interval_of_skewed_mean
from landbridge.model_selection.losses import DISTANCES

NAME = "search_regression"
ABSOLUTE, FRESH = f"{NAME}_absolute", f"{NAME}_fresh"
LEVELS = {"90 %": 0.9, "95 %": 0.95}
HABITS = ("pooled", "source-only", "target-only")


def run() -> None:
    """Search every task with both losses, write results and page."""
    every = [*tasks(), *further_tasks()]
    others = [task for task in every if part_of(task) != "development"]
    _study(NAME, every, "squared", range(DRAWS))
    _study(ABSOLUTE, every, "absolute", range(DRAWS))
    _study(FRESH, others, "squared", range(DRAWS, 2 * DRAWS))
    report()


def report() -> None:
    """Write ``docs/benchmarks/search_regression.md`` from the results."""
    title, introduction = __doc__.split("\n\n")[:2]
    write_page(
        NAME, _regression_page.page(title, introduction, *map(read, (NAME, ABSOLUTE, FRESH)))
    )


def _study(name: str, studied: list[DomainTask], loss: str, draws: range) -> None:
    log = Log(name)
    for task, labels in product(studied, LABELS):
        if n_test(task, labels) >= FEWEST_TEST:
            log.write(**summarise(task, labels, loss, draws))


def summarise(task: DomainTask, labels: int, loss: str, draws: range) -> dict[str, Any]:
    """Some draws of one task with one number of labels: a list of figures under every name."""
    found = [_figures(*run_search(task, draw, labels, loss)) for draw in draws]
    lists = {
        name: {key: [figures[name][key] for figures in found] for key in found[0][name]}
        for name in found[0]
    }
    part = part_of(task) if draws[0] == 0 else "fresh draws"
    about = {"part": part, "dataset": task.dataset, "task": task.name, "draws": [*draws]}
    return {**about, "loss": loss, "labels": labels, **lists}


@dataclass(frozen=True)
class Statement:
    """An estimate of the loss of a cell and its intervals, by level."""

    cell: int
    estimate: float
    ends: dict[str, tuple[float, ...]]


def _figures(result: SearchResult, truth: np.ndarray) -> dict[str, dict[str, float]]:
    statements = dict(_statements(result))
    figures: dict[str, dict[str, float]] = {
        level: {
            name: int(s.ends[level][0] <= truth[s.cell] <= s.ends[level][1])
            for name, s in statements.items()
        }
        for level in LEVELS
    }
    figures["width"] = {n: _width(s.ends["90 %"], truth[s.cell]) for n, s in statements.items()}
    figures["bias"] = {
        n: _rounded(np.log(max(s.estimate, 1e-9) / truth[s.cell])) for n, s in statements.items()
    }
    figures["regret"] = {
        name: _rounded(truth[cell] / truth.min() - 1) for name, cell in _chosen(result).items()
    }
    figures["pull"] = _pull_of_the_worst(result)
    return figures


def _statements(result: SearchResult) -> Iterator[tuple[str, Statement]]:
    """Intervals of the chosen cell now and before, and of one that was not chosen by its losses."""
    chosen, losses = result.best, result.labelled
    names = [cell["candidate"] for cell in result.cells]
    for name, method, cell in (
        ("anchored", "anchored", chosen),
        ("labelled", "labelled", chosen),
        ("always pooled", "labelled", names.index("pooled")),
    ):
        found = {
            level: result.interval(value, method=method, cell=cell)
            for level, value in LEVELS.items()
        }
        ends = {level: (-i.high, -i.low) for level, i in found.items()}
        yield name, Statement(cell, -found["90 %"].estimate, ends)
    yield "anchored, first look", _without_the_way(float(result.values()[chosen]), chosen, losses)
    values = _by_differences(result)
    before = int(np.argmin(values))
    yield "anchored, before", _student(float(values[before]), before, losses)
    yield "labelled, before", _student(float(losses[before].mean()), before, losses)
    pooled = names.index("pooled")
    yield "always pooled, before", _student(float(losses[pooled].mean()), pooled, losses)


def _without_the_way(mean: float, cell: int, losses: np.ndarray) -> Statement:
    """As the default, but not knowing how far the estimate is from the mean of the losses."""
    own = losses[cell].mean()
    ends = {
        level: tuple(mean / own * np.array(interval_of_skewed_mean(own, losses[cell], value)))
        for level, value in LEVELS.items()
    }
    return Statement(cell, mean, ends)


def _student(mean: float, cell: int, losses: np.ndarray) -> Statement:
    error, freedom = stats.sem(losses[cell]), losses.shape[1] - 1
    ends = {
        level: tuple(np.maximum(mean + error * np.array(stats.t.interval(value, freedom)), 0.0))
        for level, value in LEVELS.items()
    }
    return Statement(cell, mean, ends)


def _by_differences(result: SearchResult) -> np.ndarray:
    return anchor(result.labelled, result.values("trcv"), result.guesses).mean


def _chosen(result: SearchResult) -> dict[str, int]:
    """The cell that each criterion and habit takes."""
    names = [cell["candidate"] for cell in result.cells]
    values = {name: result.values(name) for name in ("anchored", "tlv", "trcv", "scv")}
    values["anchored, before"] = _by_differences(result)
    chosen = {name: int(np.argmin(found)) for name, found in values.items()}
    return chosen | {f"always {name}": names.index(name) for name in HABITS}


def _pull_of_the_worst(result: SearchResult) -> dict[str, float]:
    """By what factor the worst candidate moves the estimate of the best of the others."""
    prior, power = result.values("trcv"), DISTANCES[result.about["loss"]]
    keep = np.arange(len(prior)) != np.argmax(result.labelled.mean(axis=1))
    means = {}
    for name, rows in (("with", slice(None)), ("without", keep)):
        given = result.labelled[rows], prior[rows], result.guesses[rows]
        means[name] = {
            "anchored": anchor_ratios(*given, power=power).mean,
            "anchored, before": anchor(*given).mean,
        }
    factors = {}
    for name, without in means["without"].items():
        best = int(np.argmin(without))
        moved = np.maximum([means["with"][name][keep][best], without[best]], 1e-9)
        factors[name] = _rounded(np.exp(np.abs(np.log(moved[0] / moved[1]))))
    return factors


def _width(ends: tuple[float, ...], truth: float) -> float:
    return _rounded((ends[1] - ends[0]) / truth)


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
