"""One cell of the regret study: a task, a draw and a number of labels, searched and scored.

Searches take most of the time, so each is kept under the system's temporary folder (or
``LANDBRIDGE_CACHE``) and found again when a run is repeated or was interrupted.
"""

import json
import os
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks._domains import DomainTask, draw_rows
from landbridge import (
    ClassifierRatio,
    Pooled,
    ReweightedClassifier,
    SearchResult,
    SourceOnly,
    TargetOnly,
    TransferSearchCV,
)
from landbridge.model_selection import roles

SETTINGS = ("10 %", "20", "none")
CACHE = Path(os.environ.get("LANDBRIDGE_CACHE", tempfile.gettempdir())) / "landbridge-regret"


def candidates(labelled: bool) -> dict[str, Any]:
    """Cheap learners with class probabilities; those that need target labels only with them."""
    logistic, strong = LogisticRegression(max_iter=300), LogisticRegression(C=0.01, max_iter=300)
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    always = {
        "source-only": SourceOnly(logistic),
        "source-only, C=0.01": SourceOnly(strong),
        "naive Bayes": GaussianNB(),
        "5-NN": KNeighborsClassifier(),
        "tree": tree,
        "discriminant": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        "reweighted": ReweightedClassifier(logistic, ClassifierRatio()),
    }
    if not labelled:
        return always
    return {
        **always,
        "pooled": Pooled(logistic),
        "pooled, C=0.01": Pooled(strong),
        "pooled tree": Pooled(tree),
        "target-only": TargetOnly(logistic),
        "target-only naive Bayes": TargetOnly(GaussianNB()),
    }


def n_labels(setting: str, n_target: int) -> int:
    """How many of the target rows are labelled."""
    return {"10 %": max(20, n_target // 10), "20": 20, "none": 0}[setting]


@dataclass(frozen=True)
class CellKey:
    """Names of one cell of the study."""

    dataset: str
    task: str
    draw: int
    setting: str


def folder(key: CellKey) -> Path:
    """Where one cell is kept."""
    name = f"{key.dataset} {key.task} {key.draw} {key.setting}"
    return CACHE / "".join(c if c.isalnum() else "_" for c in name)


def run_cell(task: DomainTask, draw: int, setting: str) -> CellKey:
    """Search one cell and measure the true accuracy of every candidate; keep both."""
    key = CellKey(task.dataset, task.name, draw, setting)
    home = folder(key)
    if (home / "truth.json").exists():
        return key
    home.mkdir(parents=True, exist_ok=True)
    rows = draw_rows(task, draw)
    n = n_labels(setting, len(rows.y_target))
    given = {"X_unlabeled": rows.X_target[n:]}
    if n:
        given |= {"X_target": rows.X_target[:n], "y_target": rows.y_target[:n]}
    search = TransferSearchCV(
        candidates(n > 0), criterion="all", cv=5, refit=False, random_state=draw
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(rows.X, rows.y, **given)
        truth = _true_accuracies(search, rows, given)
    search.results_.save(home / "result.npz")
    np.savez(
        home / "rows.npz",
        X=rows.X.astype(np.float32),
        y=np.unique(np.concatenate([rows.y, rows.y_target]), return_inverse=True)[1][: len(rows.y)],
        X_target=rows.X_target.astype(np.float32),
        y_target=np.unique(np.concatenate([rows.y, rows.y_target]), return_inverse=True)[1][
            len(rows.y) :
        ],
        n_labels=n,
        guesses=truth.pop("guesses"),
    )
    (home / "truth.json").write_text(json.dumps(truth))
    return key


def load_cell(key: CellKey) -> tuple[SearchResult, dict[str, Any]]:
    """What `run_cell` kept."""
    home = folder(key)
    return SearchResult.load(home / "result.npz"), json.loads((home / "truth.json").read_text())


def _true_accuracies(search: TransferSearchCV, rows: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Accuracy on held-out target rows of each candidate, fitted on everything as a refit is."""
    training = roles.Training(rows.X, rows.y, **given)
    accuracies, guesses = [], []
    for estimator in search.candidates.values():
        model = roles.fit_candidate(estimator, training, task="classification", seed=0)
        accuracies.append(float(np.mean(model.predict(rows.X_test) == rows.y_test)))
        guesses.append(np.searchsorted(search.classes_, model.predict(given["X_unlabeled"])))
    return {"accuracies": accuracies, "guesses": np.array(guesses), "n_test": len(rows.y_test)}
