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
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks._domains import all_tasks
from benchmarks._harness import HERE, Log, markdown_table, python_of, read, write_page
from benchmarks._regret_cells import SETTINGS, CellKey, folder, load_cell, run_cell
from landbridge import SearchResult

NAME = "search_regret"
LEVEL = 0.9
METHODS = ("anchored", "labelled", "effective", "paper")
# The anchored criterion was developed on the first four datasets and not changed for the others.
DEVELOPMENT = ("wine", "bike", "reuters", "newsgroups")


def run(draws: Iterable[int] = range(1)) -> None:
    """Search every task, score it with skada, write results and page."""
    keys = []
    for task in all_tasks():
        for draw in draws:
            keys += [run_cell(task, draw, setting) for setting in SETTINGS]
            print(task.dataset, task.name, draw, flush=True)
    score_with_skada(keys)
    log = Log(NAME)
    for key in keys:
        log.write(**summarise(key))
    report()


def score_with_skada(keys: list[CellKey]) -> None:
    """Let skada's scorers judge the same candidates, in skada's environment."""
    waiting = [str(folder(k)) for k in keys if not (folder(k) / "skada.json").exists()]
    if waiting:
        script = HERE / "peers" / "skada_scorers.py"
        subprocess.run([python_of("skada"), str(script), *waiting], check=True, env=_environment())


def summarise(key: CellKey) -> dict[str, Any]:
    """What each way of choosing takes and loses, and whether intervals hold the truth."""
    result, truth = load_cell(key)
    accuracy = np.array(truth["accuracies"])
    chosen = {name: int(np.nanargmin(result.values(name))) for name in result.available()}
    skada = json.loads((folder(key) / "skada.json").read_text())
    for name, scores in skada.items():
        if np.isfinite(scores).any():
            chosen[f"skada: {name}"] = int(np.nanargmax(scores))
    names = [cell["candidate"] for cell in result.cells]
    for name in ("pooled", "source-only", "target-only"):
        if name in names:
            chosen[f"always {name}"] = names.index(name)
    regret = {name: accuracy.max() - accuracy[number] for name, number in chosen.items()}
    regret["random choice"] = accuracy.max() - accuracy.mean()
    best = chosen["anchored" if "anchored" in chosen else "trcv"]
    return {
        "dataset": key.dataset,
        "task": key.task,
        "draw": key.draw,
        "labels": key.setting,
        "chosen": names[best],
        "accuracy": round(accuracy[best], 4),
        "regret": {name: round(float(value), 4) for name, value in regret.items()},
        "intervals": _intervals(result, best),
    }


def report() -> None:
    """Write ``docs/benchmarks/search_regret.md`` from the results."""
    lines = read(NAME)
    text = [f"# {__doc__.splitlines()[0]}", *__doc__.split("\n\n")[1:2]]
    text.append(
        f"{len({(line['dataset'], line['task']) for line in lines})} tasks, "
        f"{len({line['draw'] for line in lines})} draw(s); cheap learners (logistic regression, "
        "naive Bayes, nearest neighbours, trees, discriminant analysis, reweighted, pooled, "
        "target-only). ± is one standard error over tasks. *held-out* are the datasets that "
        f"played no part in the development of the anchored criterion (all but "
        f"{', '.join(DEVELOPMENT)})."
    )
    text += ["## Mean regret", _regret_table(lines), "## Mean regret by dataset, a tenth labelled"]
    text += [_dataset_table(lines), "## Coverage of the 90 % interval", _coverage_table(lines)]
    text += ["## What the figures say", _verdict(lines)]
    write_page(NAME, "\n\n".join(text))


def _intervals(result: SearchResult, cell: int) -> dict[str, list[float]]:
    methods = METHODS if result.about["labelled_rows"] else METHODS[2:]
    found = {m: result.interval(LEVEL, method=m, cell=cell) for m in methods}
    return {m: [round(i.low, 4), round(i.high, 4)] for m, i in found.items()}


def _regrets(lines: list[dict[str, Any]], setting: str, *, held_out: bool) -> dict[str, Any]:
    values = defaultdict(list)
    for line in lines:
        if line["labels"] == setting and not (held_out and line["dataset"] in DEVELOPMENT):
            for name, regret in line["regret"].items():
                values[name].append(regret)
    return values


def _regret_table(lines: list[dict[str, Any]]) -> str:
    columns = {s: _regrets(lines, s, held_out=False) for s in SETTINGS}
    held_out = {s: _regrets(lines, s, held_out=True) for s in SETTINGS}
    names = sorted(
        {name for column in columns.values() for name in column},
        key=lambda name: np.mean(columns["10 %"].get(name, columns["none"].get(name, [9.0]))),
    )
    rows = []
    for name in names:
        row = [f"**{name}**" if name == "anchored" else name]
        for setting in SETTINGS:
            row += [
                _mean_and_error(columns[setting].get(name)),
                _mean_and_error(held_out[setting].get(name)),
            ]
        rows.append(row)
    header = ["chosen by"]
    for setting in SETTINGS:
        header += [f"labels: {setting}", "held-out"]
    return markdown_table(header, rows)


def _mean_and_error(values: list[float] | None) -> str:
    if not values:
        return ""
    return f"{np.mean(values):.4f} ± {np.std(values) / np.sqrt(len(values)):.4f}"


def _dataset_table(lines: list[dict[str, Any]]) -> str:
    names = ["anchored", "tlv", "trcv", "scv", "always pooled", "always source-only"]
    rows = []
    for dataset in dict.fromkeys(line["dataset"] for line in lines):
        own = [x for x in lines if x["dataset"] == dataset and x["labels"] == "10 %"]
        means = [float(np.mean([x["regret"][name] for x in own])) for name in names]
        rows.append([dataset, len(own), *(f"{mean:.4f}" for mean in means)])
    return markdown_table(["dataset", "tasks", *names], rows)


def coverage(lines: list[dict[str, Any]], setting: str, method: str) -> list[bool]:
    """Whether the interval of each chosen model holds its accuracy on held-out rows."""
    return [
        line["intervals"][method][0] <= line["accuracy"] <= line["intervals"][method][1]
        for line in lines
        if line["labels"] == setting and method in line["intervals"]
    ]


def _coverage_table(lines: list[dict[str, Any]]) -> str:
    words = {
        "anchored": "anchored on labels (default)",
        "labelled": "labels alone (TLV)",
        "effective": "Eq. (15), effective sample size",
        "paper": "Eq. (15)",
    }
    rows = []
    for method in METHODS:
        found = [coverage(lines, setting, method) for setting in SETTINGS]
        rows.append([words[method], *(f"{np.mean(f):.3f}" if f else "" for f in found)])
    return markdown_table(["interval", *(f"labels: {s}" for s in SETTINGS)], rows)


def _verdict(lines: list[dict[str, Any]]) -> str:
    sentences = []
    for setting in SETTINGS:
        regrets = {n: np.mean(v) for n, v in _regrets(lines, setting, held_out=False).items()}
        criteria = {n: v for n, v in regrets.items() if " " not in n}
        default = "trcv" if setting == "none" else "anchored"
        best = min(criteria, key=lambda n: criteria[n])
        sentences.append(
            f"- labels {setting}: the default criterion ({default}) has mean regret "
            f"{regrets[default]:.4f}; the lowest of the criteria is {best} "
            f"({criteria[best]:.4f})."
        )
        skada = {n: v for n, v in regrets.items() if n.startswith("skada")}
        rival = min(skada, key=lambda n: skada[n])
        word = "no worse than" if regrets[default] <= skada[rival] else "worse than"
        sentences.append(f"  It is {word} the best of skada's ({rival}, {skada[rival]:.4f}).")
    ten = np.mean(_regrets(lines, "10 %", held_out=False)["anchored"])
    word = "at most" if ten <= 0.02 else "above"
    sentences.append(f"- With a tenth of the rows labelled the default's regret is {word} 0.02.")
    both = [c for s in ("10 %", "20") for c in coverage(lines, s, "anchored")]
    word = "within" if 0.85 <= np.mean(both) <= 0.95 else "outside"
    sentences.append(
        f"- The default 90 % interval covers in {np.mean(both):.3f} of {len(both)} searches, "
        f"{word} 0.85 to 0.95."
    )
    return "\n".join(sentences)


def _environment() -> dict[str, str]:
    paths = [str(HERE.parent), str(HERE.parent / "src")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
