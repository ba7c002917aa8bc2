"""The goals of labelling for regression: regret, proofs, widths, training and forecasts.

Tasks and candidates are those of the regression searches. Errors are RMSE; regret and gaps are
relative to the RMSE of the best candidate or of the baseline, since every task has its own unit.
"""

import warnings
from collections.abc import Iterator
from itertools import chain, product
from typing import Any

import numpy as np
from scipy import stats
from sklearn.linear_model import Ridge

from benchmarks._domains import DomainTask
from benchmarks._regression_tasks import candidates, further_tasks, part_of, tasks
from landbridge import LabelPlanner, Pooled, how_many_labels

DRAWS, N_TRAINED, MOST_SOURCE, LEAST_POOL, MOST_POOL = 3, 20, 400, 250, 2000
SIZES, TWICE = (20, 50, 100), (20, 40, 50, 100, 200)
LEADERS, BASELINES = ("vote", "pooled"), ("source-only", "target-only", "pooled")
NULL_GAP, GAPS = 0.01, (0.03, 0.3)


def number_tasks() -> Iterator[tuple[str, DomainTask]]:
    """The tasks with enough target rows; all but the development datasets are for confirmation."""
    for task in chain(tasks(), further_tasks()):
        if len(task.y_target) >= LEAST_POOL + N_TRAINED:
            group = "development" if part_of(task) == "development" else "confirmation"
            yield group, task


def number_figures(task: DomainTask, draw: int) -> dict[str, Any]:
    """All goals on one draw of one task."""
    rng = np.random.default_rng(draw)
    source = rng.permutation(len(task.y))[:MOST_SOURCE]
    target = rng.permutation(len(task.y_target))
    seen, pool = target[:N_TRAINED], target[N_TRAINED:][:MOST_POOL]
    learn = {
        "X": task.X[source],
        "y": task.y[source].astype(float),
        "X_target": task.X_target[seen],
        "y_target": task.y_target[seen].astype(float),
    }
    names, values = predictions(learn, task.X_target[pool])
    y = task.y_target[pool].astype(float)
    return {
        "rows": int(y.size),
        "regret": choose(values, y, draw),
        "prove": list(prove(names, values, y, draw)),
        "measure": list(measure(values, y, draw)),
        "train": train(learn, task.X_target[pool], y, draw),
        "forecast": list(forecast(names, values, y, draw)),
    }


def predictions(learn: dict[str, Any], X: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Names of the candidates and of their mean, and what they predict."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in candidates().values():
            # Plain estimators learn from the source alone.
            plain = "X_target" not in model.fit.__code__.co_varnames
            arguments = {k: v for k, v in learn.items() if not (plain and k.endswith("target"))}
            found.append(np.asarray(model.fit(**arguments).predict(X), float))
    # The median, since one candidate is deliberately terrible.
    return [*candidates(), "vote"], np.stack([*found, np.median(found, axis=0)])


def rmse(values: np.ndarray, y: np.ndarray) -> np.ndarray:
    """RMSE of every candidate."""
    return np.sqrt(((values - y) ** 2).mean(axis=-1))


def ask(planner: LabelPlanner, values: np.ndarray, y: np.ndarray, names: Any = None) -> int:
    """Answer one batch."""
    batch = planner.ask_from_predictions(values, names=names)
    planner.tell(batch.rows, y[batch.rows])
    return len(batch)


def choose(values: np.ndarray, y: np.ndarray, seed: int) -> dict[str, dict[str, float]]:
    """Regret relative to the best RMSE, by strategy and number of labels."""
    truth = rmse(values, y)
    orders = {
        "random": np.random.default_rng(seed).permutation(y.size),
        "uncertainty": np.argsort(-values.std(axis=0)),
    }
    chosen = {
        name: {n: int(np.argmin(rmse(values[:, order[:n]], y[order[:n]]))) for n in TWICE}
        for name, order in orders.items()
    }
    for name, share in (("planner", 0.25), ("random, same rule", 1.0)):
        planner = LabelPlanner(random_share=share, random_state=seed)
        chosen[name] = {}
        for n, size in sizes_of(SIZES if share < 1 else TWICE):
            planner.batch_size = size
            ask(planner, values, y)
            if n in TWICE:
                chosen[name][n] = planner.names_.index(planner.status().candidate)
    return {
        name: {str(n): float(truth[cell] / truth.min() - 1) for n, cell in found.items()}
        for name, found in chosen.items()
    }


def sizes_of(ends: tuple[int, ...], batch: int = 20) -> Iterator[tuple[int, int]]:
    """Labels after each batch, and its size: batches of 20, shorter where an end is reached."""
    known = 0
    for end in ends:
        while known < end:
            size = min(batch, end - known)
            known += size
            yield known, size


def prove(names: list[str], values: np.ndarray, y: np.ndarray, seed: int) -> Iterator[Any]:
    """Proofs with 50 and 100 planned labels, beside one t-test of as many random labels."""
    errors = dict(zip(names, rmse(values, y), strict=True))
    rng = np.random.default_rng(seed)
    number = 0
    for first, second in product(names, names):
        gap = float(1 - errors[first] / errors[second])
        natural = first in LEADERS and second in BASELINES and GAPS[0] <= gap <= GAPS[1]
        if first == second or not (natural or -NULL_GAP <= gap <= 0):
            continue
        number += 1
        cells = [names.index(first), names.index(second)]
        difference = np.subtract(*(values[cells[::-1]] - y) ** 2)
        line: dict[str, Any] = {"gap": gap}
        for budget, size in ((50, 25), (100, 20)):
            planner = LabelPlanner(
                "prove",
                batch_size=size,
                budget=budget,
                candidate=first,
                baseline=second,
                random_state=1000 * seed + number,
            )
            for _ in range(0, budget, size):
                ask(planner, values, y, names)
            status = planner.status()
            line[str(budget)] = status.reached
            line[f"e {budget}"] = bool(max(one.e_value for one in planner.history()) >= 20)
            drawn = difference[rng.choice(y.size, budget, replace=False)]
            line[f"random {budget}"] = bool(
                stats.ttest_1samp(drawn, 0, alternative="greater").pvalue <= 0.05
            )
        yield line


def measure(values: np.ndarray, y: np.ndarray, seed: int) -> Iterator[dict[str, Any]]:
    """Coverage and width of the interval of one candidate, with chosen and with random labels."""
    cell = int(np.random.default_rng(seed).integers(len(values) - 2))  # not the terrible one
    truth = float(rmse(values[cell], y))
    planners = {
        "": LabelPlanner("measure", batch_size=10, candidate=str(cell), random_state=seed),
        "random ": LabelPlanner(
            "measure", batch_size=10, candidate=str(cell), random_share=1.0, random_state=seed
        ),
    }
    for n in range(10, 101, 10):
        line: dict[str, Any] = {"n": n}
        for name, planner in planners.items():
            ask(planner, values, y)
            if n in (50, 100):
                status = planner.status()
                line[f"{name}covered"] = bool(status.low <= truth <= status.high)
                line[f"{name}width"] = (status.high - status.low) / truth
                line[f"{name}error"] = float(abs(np.log(status.estimate / truth)))
        if n in (50, 100):
            yield line


def train(learn: dict[str, Any], X: np.ndarray, y: np.ndarray, seed: int) -> dict[str, Any]:
    """RMSE on the other half of the pool of a pooled ridge regression that is fitted again."""
    half = np.random.default_rng(seed).permutation(y.size)
    pool, test = half[: y.size // 2], half[y.size // 2 :]
    source = (learn["X"], learn["y"])
    found: dict[str, Any] = {}
    for name, share in (("planner", 0.25), ("random", 1.0)):
        planner = LabelPlanner("train", batch_size=10, random_share=share, random_state=seed)
        committee, known = _committee(source, None, None), np.empty(0, int)
        for n in range(10, 51, 10):
            ask(planner, np.stack([model.predict(X[pool]) for model in committee]), y[pool])
            known = planner.labelled_[0]
            committee = _committee(source, X[pool][known], y[pool][known])
            if n in (20, 50):
                error = float(rmse(committee[0].predict(X[test]), y[test]))
                found.setdefault(name, {})[str(n)] = error
    return found


def _committee(source: Any, X: Any, y: Any) -> list[Any]:
    """A pooled ridge regression, and others whose disagreement shows where it may be wrong."""
    models = [Ridge(), Ridge(100.0), candidates()["tree"]]
    if X is None:
        return [model.fit(*source) for model in models]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [Pooled(model).fit(*source, X_target=X, y_target=y) for model in models]


def forecast(names: list[str], values: np.ndarray, y: np.ndarray, seed: int) -> Iterator[Any]:
    """Forecasts before any label, and the number of labels that was then needed."""
    rng = np.random.default_rng(seed)
    cell = names[int(rng.integers(len(values) - 2))]
    natural = [pair for pair in product(LEADERS, BASELINES) if pair[0] != pair[1]]
    first, second = natural[int(rng.integers(len(natural)))]
    for goal, models in (
        ("measure", {"candidate": cell}),
        ("prove", {"candidate": first, "baseline": second}),
    ):
        found = how_many_labels(values, goal=goal, names=names, **models)  # type: ignore[arg-type]
        planner = LabelPlanner(goal, budget=400, random_state=seed, **models)  # type: ignore[arg-type]
        needed = np.inf
        while len(planner.asked_) < 400 and ask(planner, values, y, names):
            if planner.status().reached:
                needed = len(planner.asked_)
                break
        ends = {"labels": found.labels, "low": found.low, "high": found.high, "needed": needed}
        yield {"goal": goal, **{name: min(float(end), 1e9) for name, end in ends.items()}}
