"""The tasks of the benchmark ``defaults``: nine to choose settings on, nine to report on.

Text is the 100 leading singular directions of tf-idf, as `TruncatedSVD` gives them; other columns
are standardised over both domains. No data set is in both halves.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks import _domains, _regression_tasks
from benchmarks._domains import DomainTask

N_LABELLED = 60
MOST_SOURCE, MOST_TEST = 800, 1000
TEXT = ("newsgroups", "reviews", "reuters", "amazon")
HALVES = {
    "choice": {
        "wine": ("red to white", "white to red"),
        "newsgroups": (
            "rec-talk first to second",
            "comp-sci first to second",
            "rec-sci first to second",
        ),
        "office": ("amazon to caltech", "caltech to webcam"),
        "reviews": ("books to camera_photo", "kitchen_housewares to magazines"),
    },
    "report": {
        "bike": ("2011 to 2012",),
        "reuters": (
            "orgs-people source to target",
            "orgs-places source to target",
            "people-places source to target",
        ),
        "amazon": ("books to kitchen", "electronics to dvd"),
        "wifi": ("phone 14 to 13", "phone 13 to 7"),
        "abalone": ("M to F",),
    },
}
REGRESSION = {
    "wine": ("red to white", "white to red"),
    "abalone": ("F to I", "M to F", "I to M"),
    "bike years": ("2011 to 2012", "2012 to 2011"),
    "bike seasons": ("1 to 2", "3 to 4"),
}


@dataclass(frozen=True)
class Sources:
    """Rows of several sources, with the source of each, and of a target."""

    name: str
    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    X_target: np.ndarray
    y_target: np.ndarray


def pairs_of_domains(half: str) -> Iterator[DomainTask]:
    """The classification tasks of one half."""
    for dataset, names in HALVES[half].items():
        options = {"scale": False} if dataset in TEXT else {}
        found = {task.name: task for task in getattr(_domains, dataset)(**options)}
        yield from (found[name] for name in names)


def regressions() -> Iterator[DomainTask]:
    """Tasks with a numeric label."""
    for task in _regression_tasks.tasks():
        if task.name in REGRESSION.get(task.dataset, ()):
            yield replace(task, y=task.y.astype(float), y_target=task.y_target.astype(float))


def several_sources() -> Iterator[Sources]:
    """Each kind of product, and each photo collection, as the target of the three others."""
    for dataset, options in (("amazon", {"scale": False}), ("office", {})):
        found = list(getattr(_domains, dataset)(**options))
        for target in dict.fromkeys(task.name.split()[-1] for task in found):
            own = [task for task in found if task.name.split()[-1] == target]
            groups = np.repeat([task.name.split()[0] for task in own], [len(t.y) for t in own])
            X, y = np.vstack([t.X for t in own]), np.concatenate([t.y for t in own])
            yield Sources(f"{dataset} to {target}", X, y, groups, own[0].X_target, own[0].y_target)


@dataclass(frozen=True)
class Split:
    """One draw: source rows, labelled and unlabelled target rows, test rows."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray | None
    X_target: np.ndarray
    y_target: np.ndarray
    X_unlabeled: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def split(task: Any, seed: int) -> Split:
    """At most 800 source rows, 60 labelled and at most 740 unlabelled target rows, 1000 to test."""
    rng = np.random.default_rng(seed)
    source = rng.permutation(len(task.y))[:MOST_SOURCE]
    target = rng.permutation(len(task.y_target))
    n = min(MOST_SOURCE, int(0.6 * target.size))
    few, rest, test = target[:N_LABELLED], target[N_LABELLED:n], target[n : n + MOST_TEST]
    groups = getattr(task, "groups", None)
    return Split(
        task.X[source],
        task.y[source],
        None if groups is None else groups[source],
        task.X_target[few],
        task.y_target[few],
        task.X_target[rest],
        task.X_target[test],
        task.y_target[test],
    )
