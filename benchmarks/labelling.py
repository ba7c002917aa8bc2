"""Which rows to label: regret, proofs, widths and forecasts against the number of labels.

Labelling is simulated on the target domains of real tasks. Ten candidates are fitted once
per task and draw on at most 800 source rows and 20 target rows; the other target rows (400 to 2000)
are the pool, and the truth is that of the whole pool. Rules and constants were chosen on the
development tasks. The kind of pairs of "prove" was chosen after a look at both groups: for pairs of
any two candidates a single test on disputed rows has power 0.46 and 0.69 (confirmation).
The constants of the forecast were fixed after preliminary results on every ninth pool of both
groups had been seen.

``LANDBRIDGE_CACHE`` names a folder for the candidates' predictions, which take most of the time.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from benchmarks import _labelling_page
from benchmarks._harness import Log, read, write_page
from benchmarks._labelling_cells import DRAWS, Pool, fit_pools, pools, train_tasks
from benchmarks._labelling_numbers import DRAWS as NUMBER_DRAWS
from benchmarks._labelling_numbers import number_figures, number_tasks, sizes_of
from benchmarks._labelling_rivals import RIVALS
from benchmarks._labelling_train import train_runs
from landbridge import LabelPlanner, how_many_labels
from landbridge.inference import score_interval

NAME, TRAIN, NUMBERS = "labelling", "labelling_train", "labelling_numbers"
SIZES = (20, 50, 100)
TWICE = {20: 40, 50: 100, 100: 200}
LEADERS, BASELINES = ("vote", "pooled"), ("source-only", "target-only", "pooled")
NULL_GAP = 0.01
FORECAST_BUDGET = 400
# So many draws use all tasks; the others every second confirmation task, to save time.
FIRST_DRAWS = 2
FEWEST_DISPUTED = 20
# Samples of the planner and of random labels per pool; one sample is too noisy to compare them.
REPEATS = 4


def run() -> None:
    """Fit the candidates, label, and write results and page."""
    fit_pools()
    simulate()
    train()
    numbers()
    report()


def simulate() -> None:
    """Label the pools by every strategy, draw by draw, so that a part of a run is a sample."""
    with Log(NAME, resume=True) as log:
        log.run(figures, _cells())


def _cells() -> Iterator[tuple[dict[str, Any], tuple[Pool, int]]]:
    for draw, group in product(range(DRAWS), ("development", "confirmation")):
        for number, pool in enumerate(pools(group, draw)):
            if draw >= FIRST_DRAWS and group == "confirmation" and number % 2:
                continue
            names = {"group": group, "dataset": pool.dataset, "task": pool.task, "draw": draw}
            yield names, (pool, number * DRAWS + draw)


def train() -> None:
    """Train with the labels of every strategy."""
    cells = (
        ({"group": group, "dataset": task.dataset, "task": task.name}, (task,))
        for group, task in train_tasks()
    )
    with Log(TRAIN) as log:
        log.run(lambda task: list(train_runs(task)), cells)


def numbers() -> None:
    """All goals for regression."""
    cells = (
        ({"group": group, "dataset": task.dataset, "task": task.name, "draw": draw}, (task, draw))
        for draw, (group, task) in product(range(NUMBER_DRAWS), number_tasks())
    )
    with Log(NUMBERS, resume=True) as log:
        log.run(number_figures, cells)


def report() -> None:
    """Write ``docs/benchmarks/labelling.md`` from the results."""
    title, introduction = __doc__.split("\n\n")[:2]
    text = _labelling_page.page(title, introduction, read(NAME), read(TRAIN), read(NUMBERS))
    write_page(NAME, text)


def figures(pool: Pool, seed: int) -> dict[str, Any]:
    """All goals on one pool."""
    return {
        "rows": int(pool.y.size),
        "regret": choose(pool, seed),
        "prove": list(prove(pool, seed)),
        "measure": list(measure(pool, seed)),
        "forecast": list(forecast(pool, seed)),
    }


def choose(pool: Pool, seed: int) -> dict[str, dict[str, float]]:
    """Regret of the chosen candidate by strategy and number of labels."""
    accuracy = (pool.proba.argmax(axis=2) == pool.y).mean(axis=1)

    def regrets(chosen: dict[int, int]) -> dict[str, float]:
        return {str(n): float(accuracy.max() - accuracy[c]) for n, c in chosen.items()}

    answers = {
        name: regrets(rival(pool.proba, pool.y, np.random.default_rng(seed)))
        for name, rival in RIVALS.items()
    }
    both = tuple(sorted({*SIZES, *TWICE.values()}))
    for name, sizes, share in (("planner", SIZES, None), ("random, same rule", both, 1.0)):
        found = [
            regrets(_choices(pool, sizes, random_share=share, seed=REPEATS * seed + repeat))
            for repeat in range(REPEATS)
        ]
        answers[name] = {n: float(np.mean([one[n] for one in found])) for n in found[0]}
    return answers


def _choices(
    pool: Pool, sizes: tuple[int, ...], random_share: float | None, seed: int
) -> dict[int, int]:
    planner = LabelPlanner("choose", random_share=random_share, random_state=seed)
    chosen = {}
    # Random rows are the same in batches of any size.
    for n, size in sizes_of(sizes) if random_share is None else sizes_of(sizes, max(sizes)):
        planner.batch_size = size
        _label(planner, pool.proba, pool.y)
        if n in sizes:
            chosen[n] = planner.names_.index(planner.status().candidate)
    return chosen


def _label(planner: LabelPlanner, proba: np.ndarray, y: np.ndarray, names: Any = None) -> int:
    batch = planner.ask_from_predictions(proba, names=names)
    planner.tell(batch.rows, y[batch.rows])
    return len(batch)


def pairs(pool: Pool) -> Iterator[tuple[str, str, float]]:
    """Leaders and baselines, with the true gap; both ways round and near ties for null pairs."""
    names = [*pool.names, "vote"]
    proba = _with_vote(pool)
    accuracy = dict(zip(names, (proba.argmax(axis=2) == pool.y).mean(axis=1), strict=True))
    for first, second in product(names, names):
        gap = float(accuracy[first] - accuracy[second])
        natural = first in LEADERS and second in BASELINES and first != second
        if (natural and 0.03 <= gap <= 0.12) or (first != second and -NULL_GAP <= gap <= 0):
            yield first, second, gap


def _with_vote(pool: Pool) -> np.ndarray:
    return np.concatenate([pool.proba, pool.proba.mean(axis=0, keepdims=True)])


def prove(pool: Pool, seed: int) -> Iterator[dict[str, Any]]:
    """Whether the leader is shown to be better with 50 and with 100 planned labels."""
    proba, names = _with_vote(pool), [*pool.names, "vote"]
    labels = proba.argmax(axis=2)
    for number, (first, second, gap) in enumerate(pairs(pool)):
        disputed = labels[names.index(first)] != labels[names.index(second)]
        if disputed.sum() < FEWEST_DISPUTED or (gap <= 0 and number % 3):
            continue
        line: dict[str, Any] = {"gap": gap, "disputed": float(disputed.mean())}
        for budget, size in ((50, 25), (100, 20)):
            planner = LabelPlanner(
                "prove",
                batch_size=size,
                budget=budget,
                candidate=first,
                baseline=second,
                random_state=1000 * seed + number,
            )
            e_value = 0.0
            for n in range(size, budget + 1, size):
                _label(planner, proba, pool.y, names)
                status = planner.status()
                e_value = max(e_value, status.e_value)
                if n == 50 or (budget == 100 and n == 40):
                    line[f"{budget} at {n}"] = status.reached
            line[str(budget)] = status.reached
            line[f"e {budget}"] = bool(e_value >= 20)
        yield line


def measure(pool: Pool, seed: int) -> Iterator[dict[str, Any]]:
    """Coverage and width of the planner's interval and of random labels, for one candidate."""
    rng = np.random.default_rng(seed)
    cell = int(rng.integers(len(pool.names)))
    right = pool.proba[cell].argmax(axis=1) == pool.y
    truth = float(right.mean())
    planner = LabelPlanner("measure", batch_size=10, candidate=str(cell), random_state=seed)
    for n in range(10, 101, 10):
        _label(planner, pool.proba, pool.y)
        if n in (50, 100):
            status = planner.status()
            low, high = score_interval(right[rng.permutation(right.size)[:n]].mean(), n, 0.9)
            yield {
                "n": n,
                "covered": bool(status.low <= truth <= status.high),
                "width": status.high - status.low,
                "random covered": bool(low <= truth <= high),
                "random width": float(high - low),
            }


def forecast(pool: Pool, seed: int) -> Iterator[dict[str, Any]]:
    """Forecasts before any label, and the number of labels that the planner then needed."""
    cell = str(np.random.default_rng(seed).integers(len(pool.names)))
    found = how_many_labels(pool.proba, goal="measure", width=0.05, candidate=cell)
    planner = LabelPlanner("measure", candidate=cell, random_state=seed)
    yield _needed("measure", found, planner, pool.proba, pool.y)
    proba, names = _with_vote(pool), [*pool.names, "vote"]
    labels = dict(zip(names, proba.argmax(axis=2), strict=True))
    natural = [
        (first, second)
        for first, second in product(LEADERS, BASELINES)
        if (labels[first] != labels[second]).sum() >= FEWEST_DISPUTED
    ]
    chosen = np.random.default_rng(seed).permutation(len(natural))[:2]
    for first, second in (natural[place] for place in chosen):
        models = {"candidate": first, "baseline": second, "budget": FORECAST_BUDGET}
        found = how_many_labels(proba, goal="prove", names=names, **models)
        planner = LabelPlanner("prove", random_state=seed, **models)
        yield _needed("prove", found, planner, proba, pool.y, names)


def _needed(
    goal: str,
    found: Any,
    planner: LabelPlanner,
    proba: np.ndarray,
    y: np.ndarray,
    names: Any = None,
) -> dict[str, Any]:
    used, reached = 0, False
    while not reached and used < FORECAST_BUDGET:
        size = _label(planner, proba, y, names)
        used, reached = used + size, planner.status().reached
        if size == 0:
            break
    needed = float(used) if reached else np.inf
    return {
        "goal": goal,
        "needed": min(needed, 1e9),
        "labels": min(found.labels, 1e9),
        "low": min(found.low, 1e9),
        "high": min(found.high, 1e9),
    }
