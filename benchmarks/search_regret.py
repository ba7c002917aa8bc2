"""Regret of a search and coverage of its intervals.

Regret is the accuracy of the best single candidate on held-out target rows minus that of the
selected model. A vote can beat every candidate and then has a negative regret. Three lists of
candidates are searched with a tenth of the target rows labelled, with 20 labels, and with none. The
vote is compared with the best candidate of each criterion and with choices that need no search:
always pooled, source-only or target-only logistic regression, the majority class, a random
candidate. The same searches show how often the 90 % interval covers the accuracy of the vote.

``LANDBRIDGE_CACHE`` names a folder for the searches, so that a run can be interrupted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby, product
from typing import Any

from benchmarks import _regret_page
from benchmarks._domains import DomainTask, all_tasks, draw_rows, further_tasks
from benchmarks._harness import Log, read, run_cells, write_page
from benchmarks._regret_cells import CACHE, LISTS, CellKey, figures, run_cell

NAME, SKADA = "search_regret", "search_regret_skada"
DRAWS = 4


def run() -> None:
    """Search every task draw by draw, then write results and page."""
    labelled, further = list(all_tasks()), list(further_tasks())
    for draw in range(DRAWS):
        _search(labelled, ("10 %", "20"), draw)
        _search([*labelled, *further], ("none",), draw)
    gather()


def gather() -> None:
    """Write results and page from the searches that are finished."""
    finished = [figures(path) for path in sorted(CACHE.glob("*.npz"))]
    finished.sort(key=_names)
    lines = [
        {**names_of_line(names), **summarise(list(draws))}
        for names, draws in groupby(finished, key=_names)
    ]
    with Log(NAME) as log:
        log.write(*lines)
    report()


def report() -> None:
    """Write ``docs/benchmarks/search_regret.md`` from the results."""
    title, introduction = __doc__.split("\n\n")[:2]
    write_page(NAME, _regret_page.page(title, introduction, read(NAME), read(SKADA)))


def summarise(finished: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The draws of one task: regrets and coverage of every answer, a list of them per name."""
    regret: dict[str, list[float]] = {}
    covered: dict[str, list[int]] = {}
    width: dict[str, list[float]] = {}
    for one in finished:
        best = one["best single"]
        for name, accuracy in one["answers"].items():
            regret.setdefault(name, []).append(round(best - accuracy, 4))
        ends = {
            f"{name}, {level}": (one["answers"][name], *pair)
            for name, levels in one["intervals"].items()
            for level, pair in levels.items()
        }
        for name, (truth, low, high) in {**ends, **one["metrics"]}.items():
            if low is None:  # withheld, because the labels do not look like a sample
                continue
            covered.setdefault(name, []).append(int(low <= truth <= high))
            width.setdefault(name, []).append(round(high - low, 4))
    return {
        "draws": [one["key"]["draw"] for one in finished],
        "n_labels": finished[0]["n_labels"],
        "accuracy": [round(one["answers"]["vote"], 4) for one in finished],
        "members": [len(one["weights"]) for one in finished],
        "cost": [round(one["cost"], 2) for one in finished if one["key"]["draw"] == 0],
        "regret": regret,
        "covered": covered,
        "width": width,
    }


def names_of_line(names: Sequence[str]) -> dict[str, str]:
    """Fields that tell the lines of the results apart."""
    return dict(zip(("dataset", "task", "labels", "candidates"), names, strict=True))


def _names(figures: dict[str, Any]) -> tuple[str, ...]:
    return tuple(figures["key"][name] for name in ("dataset", "task", "setting", "candidates"))


def _search(tasks: Iterable[DomainTask], settings: Sequence[str], draw: int) -> None:
    cells = (
        (asdict(key), (key, rows))
        for task in _in_turn(tasks)
        for rows in [draw_rows(task, draw)]
        for setting, candidates in product(settings, LISTS)
        for key in [CellKey(task.dataset, task.name, draw, setting, candidates)]
    )
    for _ in run_cells(f"searches of draw {draw}", run_cell, cells):
        pass


def _in_turn(tasks: Iterable[DomainTask]) -> list[DomainTask]:
    """The first task of every dataset, then the second, so that a part of a run is a sample."""
    seen: dict[str, int] = {}
    places = []
    for task in tasks:
        seen[task.dataset] = place = seen.get(task.dataset, 0) + 1
        places.append((place, task))
    return [task for _, task in sorted(places, key=lambda pair: pair[0])]
