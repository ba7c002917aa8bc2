"""The transfer cross-validation paper in its own setting.

Zhong, Fan, Yang, Verscheure and Ren (2010) at the paper's sizes with 10 folds, its eight learners
(NNge among them; LWE over the five traditional ones; TrAdaBoost on a polynomial SVM; an SVM with
hinge loss) and labels for the larger of a tenth of the target and 20 rows. corr counts the pairs of
models that a criterion does not rank in the wrong order. It is counted twice: against the
accuracy of plain learners trained on the source alone, which is what the accuracies of the paper's
Figure 5 are, and of those trained on source and labelled target rows together. Transfer learners
have both in either case. A candidate that a criterion cannot fit (25 neighbours among 18 rows)
ranks last.
"""

from typing import Any

import numpy as np

from benchmarks import _search_printed_page as page
from benchmarks._harness import Log, read
from benchmarks._paper_tasks import PaperTask, table_2
from benchmarks._search_printed import run_search

NAME = "search_printed"
# Most draws first where a search takes seconds; the paper has one.
DRAWS = {"Sp": 5, "Bl": 5, "Gs": 5, "RW": 1, "WR": 1, "ope": 1, "opl": 1, "pp": 1}
FOLDS = (5, 10, 15, 20, 25, 30)
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)


def run() -> None:
    """Run the searches that are not yet in the results, cheap ones first; write the page."""
    log = Log(NAME, resume=True)
    done = {_key(line) for line in read(NAME)}
    tasks = {task.name: task for task in table_2()}
    for number, plan in enumerate(plans()):
        if _key(plan) not in done:
            log.write(**plan, **search(tasks[plan["task"]], plan))
            if number % 5 == 0:
                page.write(read(NAME))
    page.write(read(NAME))


def _key(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line[name] for name in ("kind", "task", "draw", "cv", "share"))


def plans() -> list[dict[str, Any]]:
    """Every search of the study in the order of its cost."""
    common = {"cv": 10, "share": 0.1}
    tuning = [
        {"kind": kind, "task": task, "draw": draw, **common}
        for kind in ("SVM", "LatentMap")
        for task, draws in DRAWS.items()
        for draw in range(draws)
    ]
    choice = [
        {"kind": "algorithms", "task": task, "draw": draw, **common}
        for task, draws in DRAWS.items()
        for draw in range(draws)
    ]
    small, large = choice[:15], choice[15:]
    curves = [
        {"kind": "curves", "task": "WR", "draw": 0, "cv": cv, "share": 0.1} for cv in FOLDS
    ] + [
        {"kind": "curves", "task": "WR", "draw": 0, "cv": 10, "share": share}
        for share in SHARES[1:]
    ]
    roles = [
        {"kind": kind, "task": task, "draw": draw, **common}
        for task in ("Sp", "Bl", "Gs")
        for draw in range(4)
        for kind in ("L beside S_i", "L in the source")
    ]
    return small + tuning + curves + roles + large


def search(task: PaperTask, plan: dict[str, Any]) -> dict[str, Any]:
    """The scores and accuracies of one search."""
    found = run_search(task, plan["draw"], plan["kind"], cv=plan["cv"], share=plan["share"])
    for values in found["scores"].values():
        values[:] = np.nan_to_num(values, nan=-1.0).tolist()
    return found


def report() -> None:
    """Write ``docs/benchmarks/search_printed.md`` from the results."""
    page.write(read(NAME))
