"""How much is lost by the chosen model, on every dataset with natural domains.

Regret is the accuracy of the best candidate on held-out target rows minus that of the chosen one.
Each criterion chooses among the same candidates, with a tenth of the target rows labelled, with 20
labels, and with none; beside them stand what a user would do otherwise (always pooled, always
source-only, a random choice) and the scorers of skada. The same searches show how often the 90 %
interval holds the accuracy of the chosen model.

``LANDBRIDGE_CACHE`` names a folder for the searches, so that a run can be interrupted.
"""

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from benchmarks import _regret_page, _regret_rules
from benchmarks._domains import DomainTask, all_tasks, further_tasks
from benchmarks._harness import HERE, Log, python_of, read, write_page
from benchmarks._regret_cells import SETTINGS, CellKey, folder, load_cell, run_cell
from landbridge import SearchResult

NAME, FURTHER = "search_regret", "search_regret_further"
METHODS = ("anchored", "labelled", "effective", "paper")

# Searches with labels have more to fit; those without differ less between criteria.
DRAWS = {"10 %": 4, "20": 4, "none": 10}


def run() -> None:
    """Search every task, score it with skada, write results and page."""
    for name, tasks, settings in (
        (FURTHER, further_tasks(), ("none",)),
        (NAME, all_tasks(), SETTINGS),
    ):
        studied = [_search(task, settings) for task in tasks]
        score_with_skada([key for keys in studied for key in keys])
        log = Log(name)
        for keys in studied:
            for setting in settings:
                log.write(**summarise([key for key in keys if key.setting == setting]))
    report()


def report() -> None:
    """Write ``docs/benchmarks/search_regret.md`` from the results."""
    title, introduction = __doc__.split("\n\n")[:2]
    write_page(NAME, _regret_page.page(title, introduction, read(NAME), read(FURTHER)))


def score_with_skada(keys: list[CellKey]) -> None:
    """Let skada's scorers judge the same candidates, in skada's environment."""
    waiting = [str(folder(k)) for k in keys if not (folder(k) / "skada.json").exists()]
    if waiting:
        script = HERE / "peers" / "skada_scorers.py"
        subprocess.run([python_of("skada"), str(script), *waiting], check=True, env=_environment())


def summarise(keys: Sequence[CellKey]) -> dict[str, Any]:
    """The draws of one task with one number of labels: a list of them under every name."""
    draws = [_summary_of_draw(key) for key in keys]
    together = {
        name: [draw[name] for draw in draws] for name in ("chosen", "accuracy", "optimism", "shift")
    }
    nested = {
        name: {key: [draw[name][key] for draw in draws] for key in draws[0][name]}
        for name in ("regret", "fixed", "rules", "90 %", "95 %")
    }
    key = keys[0]
    return {"dataset": key.dataset, "task": key.task, "labels": key.setting, **together, **nested}


def _search(task: DomainTask, settings: Iterable[str]) -> list[CellKey]:
    keys = [run_cell(task, draw, setting) for setting in settings for draw in range(DRAWS[setting])]
    print(task.dataset, task.name, flush=True)
    return keys


def _summary_of_draw(key: CellKey) -> dict[str, Any]:
    """What each way of choosing takes and loses, and whether intervals hold the truth."""
    result, truth = load_cell(key)
    accuracy = np.array(truth["accuracies"])
    names = [cell["candidate"] for cell in result.cells]
    regret = {
        name: round(float(accuracy.max() - accuracy[number]), 4)
        for name, number in _chosen(key, result, names).items()
    }
    regret["random choice"] = round(float(accuracy.max() - accuracy.mean()), 4)
    losses = (accuracy.max() - accuracy).round(4).tolist()
    rules = _regret_rules.choices(result) if key.setting == "none" else {}
    return {
        "chosen": names[result.best],
        "accuracy": round(float(accuracy[result.best]), 4),
        "optimism": round(float(result.interval().estimate - accuracy[result.best]), 4),
        "shift": _change_of_shares(key),
        "regret": regret,
        "fixed": dict(zip(names, losses, strict=True)),
        "rules": {n: round(float(accuracy.max() - accuracy[c]), 4) for n, c in rules.items()},
        "90 %": _covered(result, 0.9, accuracy[result.best]),
        "95 %": _covered(result, 0.95, accuracy[result.best]),
    }


def _change_of_shares(key: CellKey) -> float:
    """Total variation between the classes of the source and those of the target."""
    with np.load(folder(key) / "rows.npz") as rows:
        y, y_target = rows["y"], rows["y_target"]
    n_classes = int(max(y.max(), y_target.max())) + 1
    shares = [np.bincount(part, minlength=n_classes) / part.size for part in (y, y_target)]
    return round(float(np.abs(shares[0] - shares[1]).sum() / 2), 3)


def _chosen(key: CellKey, result: SearchResult, names: list[str]) -> dict[str, int]:
    """The cell that each criterion, scorer and habit takes."""
    chosen = {name: int(np.nanargmin(result.values(name))) for name in result.available()}
    if result.about["correction"]:
        chosen[f"{result.criterion}, {result.about['correction']}"] = result.best
    for name, scores in json.loads((folder(key) / "skada.json").read_text()).items():
        chosen[f"skada: {name}"] = int(np.nanargmax(scores))
    for name in ("pooled", "source-only", "target-only"):
        if name in names:
            chosen[f"always {name}"] = names.index(name)
    return chosen


def _covered(result: SearchResult, level: float, accuracy: float) -> dict[str, int]:
    methods = METHODS if result.about["labelled_rows"] else METHODS[2:]
    return {method: int(accuracy in result.interval(level, method=method)) for method in methods}


def _environment() -> dict[str, str]:
    paths = [str(HERE.parent), str(HERE.parent / "src")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
