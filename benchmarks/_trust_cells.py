"""Predictions behind the benchmark of what a search says: one file per task, kept and found again.

For each classification task: predictions of source-only candidates on source rows (out of fold),
unlabelled target rows and test rows; and for several numbers of labels those of all candidates, out
of fold on the labelled rows, averaged over folds on the unlabelled rows, and of the refitted models
on the test rows.
"""

import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks._domains import DomainTask, all_tasks, draw_rows, further_tasks
from landbridge import Pooled, TargetOnly

LABELS = (20, 50, 100)
MOST_UNLABELLED, N_FOLDS, DRAWS = 500, 5, 4
CACHE = Path(os.environ.get("LANDBRIDGE_CACHE", tempfile.gettempdir())) / "landbridge-trust"


def source_candidates() -> dict[str, Any]:
    """Cheap learners that never see a target label."""
    return {
        "logistic": LogisticRegression(max_iter=200),
        "logistic, C=0.01": LogisticRegression(C=0.01, max_iter=200),
        "naive Bayes": GaussianNB(),
        "5-NN": KNeighborsClassifier(),
        "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
        "discriminant": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    }


def target_candidates() -> dict[str, Any]:
    """Cheap learners that learn from target labels."""
    logistic = LogisticRegression(C=0.1, max_iter=200)
    return {
        "pooled": Pooled(logistic),
        "pooled tree": Pooled(DecisionTreeClassifier(min_samples_leaf=5, random_state=0)),
        "target-only": TargetOnly(logistic),
        "target-only naive Bayes": TargetOnly(GaussianNB()),
    }


def every_task() -> Iterator[tuple[str, DomainTask]]:
    """Development tasks, then those on which nothing was chosen."""
    for task in all_tasks():
        yield "development", task
    for task in further_tasks():
        yield "confirmation", task


def path_of(task: DomainTask, draw: int) -> Path:
    """Where the predictions of a task are kept."""
    name = "".join(c if c.isalnum() else "_" for c in f"{task.dataset} {task.name}")
    return CACHE / (f"{name}.npz" if draw == 0 else f"{name}-{draw}.npz")


def predictions(part: str, task: DomainTask, draw: int = 0) -> dict[str, np.ndarray]:
    """The predictions of one task and draw of rows, computed at most once.

    Only the first draw has predictions of source rows.
    """
    path = path_of(task, draw)
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = _compute(task, draw)
        partial = path.with_suffix(".part.npz")
        np.savez(partial, part=part, dataset=task.dataset, task=task.name, **found)
        partial.rename(path)
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def _compute(task: DomainTask, draw: int) -> dict[str, np.ndarray]:
    rows = draw_rows(task, draw)
    classes = np.unique(np.concatenate([rows.y, rows.y_target, rows.y_test]))
    n_pool = min(max(LABELS), len(rows.y_target) // 2)
    unlabelled = rows.X_target[n_pool:][:MOST_UNLABELLED]
    y_test = np.searchsorted(classes, rows.y_test)
    found: dict[str, Any] = {"y": np.searchsorted(classes, rows.y), "y_test": y_test}
    fitted = [model.fit(rows.X, rows.y) for model in source_candidates().values()]
    if draw == 0:
        found |= _source_predictions(fitted, rows, classes)
    found["unlabelled"] = np.stack([_proba(m, unlabelled, classes) for m in fitted])
    found["test"] = np.stack([_proba(m, rows.X_test, classes) for m in fitted])
    pool = np.stack([_proba(m, rows.X_target[:n_pool], classes) for m in fitted])
    for n in [n for n in LABELS if n <= n_pool]:
        parts = _with_labels(rows, unlabelled, n, classes)
        found[f"y_{n}"] = np.searchsorted(classes, rows.y_target[:n])
        found[f"labelled_{n}"] = np.concatenate([pool[:, :n], parts[0]])
        found[f"unlabelled_{n}"] = np.concatenate([found["unlabelled"], parts[1]])
        found[f"test_{n}"] = np.concatenate([found["test"], parts[2]])
    return {k: v.astype(np.float32) if v.dtype == np.float64 else v for k, v in found.items()}


def _source_predictions(fitted: list[Any], rows: Any, classes: np.ndarray) -> dict[str, Any]:
    """Out-of-fold predictions of source rows, and their classes."""
    source, y_source = _common_classes(rows.X, rows.y)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    cv = [
        cross_val_predict(clone(m), source, y_source, cv=folds, method="predict_proba")
        for m in fitted
    ]
    return {
        "cv_source": _filled(np.array(cv), np.unique(y_source), classes),
        "cv_y": np.searchsorted(classes, y_source),
    }


def _with_labels(rows: Any, unlabelled: np.ndarray, n: int, classes: np.ndarray) -> tuple:
    """Predictions of the candidates that learn from labels: labelled, unlabelled and test rows."""
    X, y = rows.X_target[:n], rows.y_target[:n]
    folds = np.random.default_rng(0).permutation(np.arange(n) % N_FOLDS)
    labelled, others, test = [], [], []
    for model in target_candidates().values():
        own = np.zeros((n, len(classes)))
        averaged = np.zeros((len(unlabelled), len(classes)))
        for fold in range(N_FOLDS):
            inside = folds != fold
            fitted = clone(model).fit(rows.X, rows.y, X_target=X[inside], y_target=y[inside])
            own[~inside] = _proba(fitted, X[~inside], classes)
            averaged += _proba(fitted, unlabelled, classes) / N_FOLDS
        fitted = clone(model).fit(rows.X, rows.y, X_target=X, y_target=y)
        labelled.append(own)
        others.append(averaged)
        test.append(_proba(fitted, rows.X_test, classes))
    return np.stack(labelled), np.stack(others), np.stack(test)


def _common_classes(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of classes with enough rows for every fold."""
    names, counts = np.unique(y, return_counts=True)
    keep = np.isin(y, names[counts >= N_FOLDS])
    return X[keep], y[keep]


def _proba(model: Any, X: np.ndarray, classes: np.ndarray) -> np.ndarray:
    return _filled(model.predict_proba(X), model.classes_, classes)


def _filled(proba: np.ndarray, own: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Probabilities with a column for every class."""
    full = np.zeros((*proba.shape[:-1], len(classes)))
    full[..., np.searchsorted(classes, own)] = proba
    return full
