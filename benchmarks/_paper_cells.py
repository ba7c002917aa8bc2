"""One draw of the paper's experiments: learners, search, true accuracy; kept for a repeated run."""

import json
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import landbridge as lb
from benchmarks._paper_tasks import PaperTask
from landbridge.model_selection import roles
from landbridge.model_selection.candidates import expand_candidates

CACHE = Path(os.environ.get("LANDBRIDGE_CACHE", tempfile.gettempdir())) / "landbridge-paper"
FOLDS = 5


def algorithms() -> dict[str, Any]:
    """Eight learners: the paper's where there is one, transfer learners of this library else."""
    linear = LinearSVC(dual="auto", random_state=0)
    return {
        "NB": GaussianNB(),
        "SVM": linear,
        "C4.5": DecisionTreeClassifier(criterion="entropy", ccp_alpha=0.005, random_state=0),
        "k-NN": KNeighborsClassifier(1),
        "TrAdaBoost": lb.TrAdaBoostClassifier(linear, n_estimators=10, random_state=0),
        "reweighted": lb.ReweightedClassifier(LogisticRegression(max_iter=300), lb.RuLSIF()),
        "pooled": lb.Pooled(LogisticRegression(max_iter=300)),
        "target-only": lb.TargetOnly(LogisticRegression(max_iter=300)),
    }


def margins() -> dict[str, Any]:
    """SVM with the five values of C."""
    return {"SVM": (LinearSVC(dual="auto", random_state=0), {"C": [0.01, 0.1, 1, 10, 100]})}


def run_draw(task: PaperTask, draw: int, kind: str) -> dict[str, Any]:
    """Scores by every criterion and the true accuracy of every cell (source × candidate)."""
    path = CACHE / f"{kind}-{task.name}-{draw}.json"
    if path.exists():
        return json.loads(path.read_text())
    CACHE.mkdir(parents=True, exist_ok=True)
    candidates = margins() if kind == "tuning" else algorithms()
    rows = np.random.default_rng(draw).permutation(len(task.y_target))
    n = max(20, len(rows) // 10)  # the larger of a tenth of the target and 20
    labelled, unlabelled = rows[:n], rows[n:]
    given = {
        "X_target": task.X_target[labelled],
        "y_target": task.y_target[labelled],
        "X_unlabeled": task.X_target[unlabelled],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = lb.TransferSearchCV(
            candidates, criterion="all", cv=FOLDS, refit=False, random_state=draw
        ).fit(task.X, task.y, groups=task.groups, **given)
        truth = _true_accuracies(task, search.results_, candidates, given, unlabelled)
    result = search.results_
    answer = {
        "cells": result.labels,
        "accuracy": truth,
        "scores": {name: result.scores(name).tolist() for name in result.about["criteria"]},
    }
    path.write_text(json.dumps(answer))
    return answer


def _true_accuracies(
    task: PaperTask,
    result: lb.SearchResult,
    candidates: dict[str, Any],
    given: dict[str, Any],
    unlabelled: np.ndarray,
) -> list[float]:
    estimators = [candidate.estimator for candidate in expand_candidates(candidates)]
    accuracies = []
    for number, cell in enumerate(result.cells):
        source = task.groups == cell["source"]
        training = roles.Training(task.X[source], task.y[source], **given)
        model = roles.fit_candidate(
            estimators[number % len(estimators)], training, task="classification", seed=0
        )
        guesses = model.predict(given["X_unlabeled"])
        accuracies.append(float(np.mean(guesses == task.y_target[unlabelled])))
    return accuracies
