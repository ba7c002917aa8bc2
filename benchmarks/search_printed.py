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
from benchmarks import _weka
from benchmarks._harness import Log, read
from benchmarks._paper_tasks import PaperTask, table_2, table_3
from benchmarks._search_printed import accuracies_of_weka, part_of, run_search

NAME = "search_printed"
# Most draws where a search takes seconds; the paper has one.
DRAWS = {"Sp": 5, "Bl": 5, "Gs": 5, "RW": 1, "WR": 1, "ope": 1, "opl": 1, "pp": 1}
SOURCE_DRAWS, CURVE_DRAWS = 2, 1
# Besides 10 folds and a share of 0.1, which Table 4 has.
FOLDS = (5, 15, 20, 25, 30)
SHARES = (0.3, 0.5, 0.7, 0.9)
# The role of L is compared on parts of the tasks, where a search takes seconds.
ROLES = ("L beside S_i", "L in the source")
ROLE_ROWS, ROLE_DRAWS = 150, 5


def run() -> None:
    """Run the searches that are not yet in the results, cheap ones first; write the page."""
    tasks = {task.name: task for task in [*table_2(), *table_3()]}
    cells = [(plan, (tasks[plan["task"]], plan)) for plan in plans()]
    with Log(NAME, resume=True) as log:
        log.run(sizes, [({"kind": "sizes", "task": task.name}, (task,)) for task in tasks.values()])
        log.run(search, cells)
    report()


def plans() -> list[dict[str, Any]]:
    """Every search of the study, the cheap ones first."""

    def plan(kind: str, task: str, draw: int = 0, cv: int = 10, share: float = 0.1) -> Any:
        return {"kind": kind, "task": task, "draw": draw, "cv": cv, "share": share}

    small = [(task, draw) for task in ("Sp", "Bl", "Gs") for draw in range(DRAWS[task])]
    large = [(task, 0) for task in ("RW", "WR", "ope", "opl", "pp")]
    weka = [plan("Weka accuracy", task) for task in ("RW", "WR")]
    weka += [plan("Weka", task) for task in DRAWS]
    points = [*({"share": share} for share in SHARES), *({"cv": cv} for cv in FOLDS)]
    sources = [(task, draw) for draw in range(SOURCE_DRAWS) for task in ("comp-rec", "sci-talk")]
    return [
        *(plan("algorithms", *one) for one in small),
        *(plan(kind, *one) for kind in ("SVM", "LatentMap") for one in small + large),
        *(plan("algorithms", *one) for one in large),
        *(weka if _weka.installed() else []),
        *(plan("sources", *one) for one in sources),
        *(plan("folds and labels", "WR", d, **at) for d in range(CURVE_DRAWS) for at in points),
        *(plan(k, task, d) for d in range(ROLE_DRAWS) for task in DRAWS for k in ROLES),
    ]


def sizes(task: PaperTask) -> dict[str, dict[str, int]]:
    """Rows of every source and of the target."""
    names, counts = np.unique(task.groups, return_counts=True)
    rows = dict(zip(names.tolist(), counts.tolist(), strict=True))
    return {"rows": {**rows, "target": len(task.y_target)}}


def search(task: PaperTask, plan: dict[str, Any]) -> dict[str, Any]:
    """The scores and accuracies of one search."""
    if plan["kind"] == "Weka accuracy":
        return accuracies_of_weka(task)
    if plan["kind"] in ROLES:
        task = part_of(task, ROLE_ROWS)
    found = run_search(task, plan["draw"], plan["kind"], cv=plan["cv"], share=plan["share"])
    for values in found["scores"].values():
        values[:] = np.nan_to_num(values, nan=-1.0).tolist()
    return found


def report() -> None:
    """Write ``docs/benchmarks/search_printed.md`` from the results."""
    page.write(read(NAME))
