"""Overhead of a search over its fits and predictions.

A search over seven candidates with every criterion, on wine (white to red) and on reviews (three
domains to a fourth). The floor is the time spent inside the candidates' ``fit`` and ``predict`` and
inside the weighting, taken in the same run; overhead is the time of the whole search divided by
that floor. Two jobs are compared with one in wall time, and their predictions bit by bit.
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import landbridge as lb
from benchmarks._domains import amazon, wine
from benchmarks._harness import Log, markdown_table, read, write_page
from landbridge.model_selection.search_records import KEPT

NAME = "search_speed"
CANDIDATES = {
    "naive Bayes": GaussianNB(),
    "5-NN": KNeighborsClassifier(),
    "forest": RandomForestClassifier(50),
    "SVM": (SVC(), {"C": [0.1, 10]}),
    "pooled": lb.Pooled(LogisticRegression(max_iter=300)),
    "source-only": lb.SourceOnly(LogisticRegression(max_iter=300)),
}


def run(repeats: int = 3) -> None:
    """Time both problems with one and with two jobs, write results and page."""
    cells = (({"problem": name}, (arguments, repeats)) for name, arguments in problems())
    with Log(NAME) as log:
        log.run(timed, cells, n_jobs=1)
    report()


def timed(arguments: dict[str, Any], repeats: int) -> list[dict[str, Any]]:
    """One and two jobs in turn."""
    searched(arguments, 2)  # start the workers and load what they import
    return [
        {"repeat": repeat, **compare(*(searched(arguments, jobs) for jobs in (1, 2)))}
        for repeat in range(repeats)
    ]


def problems() -> Iterator[tuple[str, dict[str, Any]]]:
    """Arguments of ``fit`` by name."""
    task = next(task for task in wine() if task.name == "white to red")
    yield "wine", _arguments([task], 1800)
    tasks = [task for task in amazon() if task.name.endswith("to kitchen")]
    yield "reviews", _arguments(tasks, 600)


def searched(arguments: dict[str, Any], n_jobs: int) -> Any:
    """A finished search and its wall time."""
    search = lb.TransferSearchCV(
        CANDIDATES, criterion="all", cv=5, refit=False, n_jobs=n_jobs, random_state=0
    )
    started = time.perf_counter()
    search.fit(**arguments)
    return search.results_, time.perf_counter() - started


def compare(one: Any, two: Any) -> dict[str, Any]:
    """Overhead with one job, speed-up with two, and whether every prediction is the same."""
    (result, seconds), (parallel, parallel_seconds) = one, two
    floor = result.info.weight_seconds + sum(
        cell.fit_seconds + cell.predict_seconds for cell in result.cells
    )
    same = all(
        np.array_equal(first.values, second.values, equal_nan=True)
        for name in KEPT
        for first, second in zip(getattr(result, name), getattr(parallel, name), strict=True)
        if first is not None
    ) and all(
        np.array_equal(first.weights, second.weights)
        for first, second in zip(result.sources, parallel.sources, strict=True)
        if first.weights is not None
    )
    return {
        "fits": result.info.fits_done,
        "seconds": seconds,
        "floor": floor,
        "overhead": seconds / floor,
        "speed_up": seconds / parallel_seconds,
        "identical": same,
    }


def report() -> None:
    """Write ``docs/benchmarks/search_speed.md`` from the results."""
    lines = read(NAME)
    rows = []
    for problem in dict.fromkeys(line["problem"] for line in lines):
        own = [line for line in lines if line["problem"] == problem]
        rows.append(
            [
                problem,
                own[0]["fits"],
                *(f"{np.median([x[k] for x in own]):.2f}" for k in ("seconds", "floor")),
                f"{np.median([x['overhead'] for x in own]):.3f}",
                f"{np.median([x['speed_up'] for x in own]):.2f}",
                "yes" if all(x["identical"] for x in own) else "no",
            ]
        )
    header = ["problem", "fits", "seconds", "floor", "overhead", "two jobs", "bit-identical"]
    overhead = max(float(row[4]) for row in rows)
    speed_up = min(float(row[5]) for row in rows)
    verdict = (
        f"The search costs at most {overhead:.2f} × its floor "
        f"({'within' if overhead <= 1.05 else 'above'} 1.05), and two jobs are at least "
        f"{speed_up:.2f} × as fast as one ({'within' if speed_up >= 1.7 else 'below'} the 1.7 "
        "asked for). Medians over the repeats."
    )
    text = [f"# {__doc__.splitlines()[0]}", *__doc__.split("\n\n")[1:]]
    write_page(NAME, "\n\n".join([*text, markdown_table(header, rows), verdict]))


def _arguments(tasks: list[Any], n_rows: int) -> dict[str, Any]:
    """``n_rows`` of each source, the target of the first task; 100 of its rows are labelled."""
    target, order = tasks[0], np.random.default_rng(0)
    rows = [order.permutation(len(task.y))[:n_rows] for task in tasks]
    return {
        "X": np.vstack([task.X[kept] for task, kept in zip(tasks, rows, strict=True)]),
        "y": np.concatenate([task.y[kept] for task, kept in zip(tasks, rows, strict=True)]),
        "groups": np.repeat([task.name for task in tasks], n_rows),
        "X_target": target.X_target[:100],
        "y_target": target.y_target[:100],
        "X_unlabeled": target.X_target[100:1500],
    }
