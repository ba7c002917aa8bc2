"""CPU time of a default search, in units of one random forest fitted on the same rows.

``TransferSearchCV(sources="both")`` without candidates, which is what ``landbridge select`` runs,
on one core. The unit is ``RandomForestClassifier(100)`` (or the regressor) fitted once on all
labelled rows in the same process. *UJIIndoorLoc*: building and floor from 520 signal strengths,
1500 rows of each of three phones, the third is the target, without the floor that
the others never saw, and 150 of its rows are labelled.
*Generated*: 16 000 source rows and 4000 target rows with 50 columns and two classes (or a
number), of which 400 are labelled. Bars: 75 on UJIIndoorLoc, 10 on the two generated classes.
"""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from benchmarks._harness import Log, markdown_table, read, write_page
from landbridge import TransferSearchCV, datasets

NAME = "select_cost"
PHONES, PHONE_ROWS = ("13", "7", "14"), 1500


@dataclass(frozen=True)
class Rows:
    """A search problem with all labels; the first ``n_labelled`` target rows show theirs."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    X_target: np.ndarray
    y_target: np.ndarray
    n_labelled: int

    def arguments(self, *, labelled: bool) -> dict[str, Any]:
        """Keyword arguments of ``fit``."""
        n = self.n_labelled if labelled else 0
        known = {"X_target": self.X_target[:n], "y_target": self.y_target[:n]} if n else {}
        return {
            "X": self.X,
            "y": self.y,
            "groups": self.groups,
            "X_unlabeled": self.X_target[n:],
            **known,
        }


def run() -> None:
    """Measure every problem with and without labels, write results and page."""
    problems: dict[str, Callable[[], Rows]] = {
        "UJIIndoorLoc, 4500 × 520": phones,
        "generated, 20 000 × 50, two classes": generated,
        "generated, 20 000 × 50, a number": lambda: generated(task="regression"),
    }
    with Log(NAME) as log:
        cells = (({"problem": problem}, (make,)) for problem, make in problems.items())
        log.run(costs, cells, n_jobs=1)
    report()


def costs(make: Callable[[], Rows]) -> list[dict[str, Any]]:
    """The search with and without labels, beside one forest."""
    rows = make()
    regression = rows.y.dtype.kind == "f"
    unit = forest_cost(rows, RandomForestRegressor if regression else RandomForestClassifier)
    return [{"unit_s": unit, **search_cost(rows, labelled=known)} for known in (True, False)]


def phones() -> Rows:
    """Building and floor, with the last of the phones as target."""
    data = datasets.fetch_ujiindoorloc()
    label = (data.building * 10 + data.floor).astype(int)
    rng = np.random.default_rng(0)
    parts = [rng.permutation(np.flatnonzero(data.domain == p))[:PHONE_ROWS] for p in PHONES]
    source = np.concatenate(parts[:-1])
    target = parts[-1][np.isin(label[parts[-1]], label[source])]
    groups = data.domain[source]
    return Rows(data.data[source], label[source], groups, data.data[target], label[target], 150)


def generated(task: str = "classification") -> Rows:
    """Clusters of two classes, or their distance from a moved plane, shifted in the target."""
    X, y = make_classification(20_000, 50, n_informative=20, random_state=0)
    X[16_000:] += 0.3 * np.random.default_rng(0).normal(size=50)
    if task == "regression":
        y = np.tanh(X[:, :10]).sum(axis=1) + y
    groups = np.repeat("source", 16_000)
    return Rows(X[:16_000], y[:16_000], groups, X[16_000:], y[16_000:], 400)


def forest_cost(rows: Rows, forest: type) -> float:
    """CPU seconds of one forest on every row."""
    X, y = np.vstack([rows.X, rows.X_target]), np.concatenate([rows.y, rows.y_target])
    started = time.process_time()
    forest(random_state=0).fit(X, y)
    return time.process_time() - started


def search_cost(rows: Rows, *, labelled: bool) -> dict[str, Any]:
    """CPU seconds of a search, and the accuracy (or R²) of its answer on the unlabelled rows."""
    search = TransferSearchCV(sources="both", random_state=0)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(**rows.arguments(labelled=labelled))
    seconds = time.process_time() - started
    n = rows.n_labelled
    return {
        "labelled": labelled,
        "search_s": seconds,
        "score": float(search.score(rows.X_target[n:], rows.y_target[n:])),
    }


def report() -> None:
    """Write ``docs/benchmarks/select_cost.md`` from the results."""
    title, text = __doc__.split("\n\n", 1)
    table = markdown_table(
        ["problem", "labels", "forest, s", "search, s", "ratio", "accuracy or R²"],
        [
            [
                line["problem"],
                "some" if line["labelled"] else "none",
                line["unit_s"],
                line["search_s"],
                line["search_s"] / line["unit_s"],
                line["score"],
            ]
            for line in read(NAME)
        ],
    )
    write_page(NAME, f"# {title}\n\n{text.strip()}\n\n{table}")
