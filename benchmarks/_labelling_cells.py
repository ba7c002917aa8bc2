"""Predictions of a list of candidates on the target rows of every task, made once and kept.

Strategies of labelling are compared on these arrays, so that a simulated person answers at no cost.
Candidates that learn from target labels have seen 20 random rows, which are not in the pool. The
files are kept under the system's temporary folder (or ``LANDBRIDGE_CACHE``).
"""

import os
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks._domains import DomainTask, all_tasks, further_tasks
from benchmarks._harness import run_cells
from landbridge import Pooled, TargetOnly

CACHE = Path(os.environ.get("LANDBRIDGE_CACHE", tempfile.gettempdir())) / "landbridge-labelling"
DRAWS = 5
N_TRAINED, MOST_SOURCE, LEAST_POOL, MOST_POOL = 20, 800, 400, 2000


@dataclass(frozen=True)
class Pool:
    """Predictions of the candidates on the pool, and the answers a person would give."""

    dataset: str
    task: str
    draw: int
    names: tuple[str, ...]
    proba: np.ndarray
    y: np.ndarray


def candidates() -> dict[str, Any]:
    """Cheap learners in every role."""
    logistic, strong = LogisticRegression(max_iter=200), LogisticRegression(C=0.01, max_iter=200)
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    return {
        "source-only": logistic,
        "source-only, C=0.01": strong,
        "naive Bayes": GaussianNB(),
        "5-NN": KNeighborsClassifier(),
        "tree": tree,
        "forest": RandomForestClassifier(30, min_samples_leaf=2, random_state=0),
        "discriminant": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        "pooled": Pooled(logistic),
        "pooled, C=0.01": Pooled(strong),
        "target-only": TargetOnly(logistic),
    }


def task_groups() -> Iterator[tuple[str, DomainTask]]:
    """Every task with a pool that is large enough, for development or for confirmation."""
    large = (task for task in all_tasks() if len(task.y_target) >= LEAST_POOL + N_TRAINED)
    for number, task in enumerate(large):
        yield ("development" if number % 2 == 0 else "confirmation"), task
    for task in further_tasks():
        if len(task.y_target) >= LEAST_POOL + N_TRAINED:
            yield "confirmation", task


def train_tasks() -> Iterator[tuple[str, DomainTask]]:
    """The tasks of the study of training, with at least 300 rows to choose from."""
    for number, task in enumerate(all_tasks()):
        if len(task.y_target) >= 500:
            yield ("development" if number % 2 == 0 else "confirmation"), task


def fit_pools(draws: int = DRAWS) -> None:
    """Fit the candidates of every task and keep their predictions."""
    CACHE.mkdir(parents=True, exist_ok=True)
    cells = (
        ({"dataset": task.dataset, "task": task.name, "draw": draw}, (path, task, draw))
        for number, (group, task) in enumerate(task_groups())
        for draw in range(draws)
        if not (path := CACHE / f"{group}-{number:03d}-{draw}.npz").exists()
    )
    for _ in run_cells("pools", lambda path, *cell: _write(path, fit_pool(*cell)), cells):
        pass


def fit_pool(task: DomainTask, draw: int) -> Pool:
    """Candidates fitted on at most 800 source rows and 20 target rows."""
    rng = np.random.default_rng(draw)
    source = rng.permutation(len(task.y))[:MOST_SOURCE]
    target = rng.permutation(len(task.y_target))
    seen, pool = target[:N_TRAINED], target[N_TRAINED:][:MOST_POOL]
    classes = np.unique(task.y)
    known = np.isin(task.y_target, classes)
    seen, pool = seen[known[seen]], pool[known[pool]]
    models = candidates()
    proba = np.zeros((len(models), pool.size, classes.size), dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row, model in enumerate(models.values()):
            if isinstance(model, (Pooled, TargetOnly)):
                model.fit(
                    task.X[source],
                    task.y[source],
                    X_target=task.X_target[seen],
                    y_target=task.y_target[seen],
                )
            else:
                model.fit(task.X[source], task.y[source])
            places = np.searchsorted(classes, model.classes_)
            proba[row][:, places] = model.predict_proba(task.X_target[pool])
    y = np.searchsorted(classes, task.y_target[pool])
    return Pool(task.dataset, task.name, draw, tuple(models), proba, y)


def _write(path: Path, pool: Pool) -> None:
    unfinished = path.with_suffix(".part")
    with unfinished.open("wb") as file:
        np.savez(
            file, names=pool.names, proba=pool.proba, y=pool.y, about=[pool.dataset, pool.task]
        )
    unfinished.rename(path)


def pools(group: str, draw: int) -> Iterator[Pool]:
    """The pools of a group and draw, task by task."""
    for path in sorted(CACHE.glob(f"{group}-*-{draw}.npz")):
        with np.load(path) as kept:
            dataset, task = kept["about"].tolist()
            yield Pool(dataset, task, draw, tuple(kept["names"].tolist()), kept["proba"], kept["y"])
