"""One search of the regret study: a task, a draw, a number of labels and a list of candidates.

Searches take nearly all of the time, so the result of each and the predictions of all its models
for the test rows are kept under the system's temporary folder (or ``LANDBRIDGE_CACHE``): a run that
was interrupted continues there, and the figures are made again without fitting anything.
"""

import json
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks._domains import Draw
from landbridge import (
    CORAL,
    ClassifierRatio,
    KernelMeanMatching,
    Pooled,
    ReweightedClassifier,
    SourceOnly,
    TargetOnly,
    TrAdaBoostClassifier,
    TransferSearchCV,
)
from landbridge.metrics.scoring import check_scoring
from landbridge.model_selection import SearchResult
from landbridge.model_selection.vote import VotingModel, class_probabilities, combine

SETTINGS = ("10 %", "20", "none")
LISTS = ("mixed", "source-heavy", "default")
LEVELS = {"90 %": 0.9, "95 %": 0.95}
# Calls of which the fastest counts.
REPEATS = 10
METRICS = ("balanced_accuracy", "f1_macro", "neg_log_loss")
CACHE = Path(os.environ.get("LANDBRIDGE_CACHE", tempfile.gettempdir())) / "landbridge-regret-2"
# The candidate that stands for each habit, by list.
HABITS = {
    "mixed": {"pooled": "pooled", "source-only": "source-only", "target-only": "target-only"},
    "source-heavy": {"pooled": "pooled", "source-only": "linear"},
    "default": {
        "pooled": "pooled linear",
        "source-only": "source-only linear",
        "target-only": "target-only linear",
    },
}


def candidates(name: str, *, labelled: bool) -> dict[str, Any] | None:
    """One of the three lists; ``None`` is the default list of the search."""
    if name == "default":
        return None
    return _mixed(labelled) if name == "mixed" else _source_heavy(labelled)


def _mixed(labelled: bool) -> dict[str, Any]:
    """Cheap learners in every role, the list on which the search was developed."""
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


def _source_heavy(labelled: bool) -> dict[str, Any]:
    """Learners that ignore target labels, with one or two that do not."""
    logistic = LogisticRegression(max_iter=300)
    always = {
        "naive Bayes": SourceOnly(GaussianNB()),
        "linear": SourceOnly(logistic),
        "SVM": SourceOnly(SVC()),
        "tree": SourceOnly(DecisionTreeClassifier(min_samples_leaf=5, random_state=0)),
        "5-NN": SourceOnly(KNeighborsClassifier()),
        "forest": SourceOnly(RandomForestClassifier(30, random_state=0)),
        "CORAL": make_pipeline(CORAL(), SourceOnly(logistic)),
        "KMM": ReweightedClassifier(logistic, KernelMeanMatching(), target_share=0.0),
    }
    if not labelled:
        return always
    stump = DecisionTreeClassifier(max_depth=3, max_features="sqrt", random_state=0)
    return {
        **always,
        "TrAdaBoost": TrAdaBoostClassifier(
            stump, n_estimators=10, vote="second_half", target_share=None, random_state=0
        ),
        "pooled": Pooled(logistic),
    }


def n_labels(setting: str, n_target: int) -> int:
    """How many of the target rows are labelled."""
    return {"10 %": max(20, n_target // 10), "20": 20, "none": 0}[setting]


@dataclass(frozen=True)
class CellKey:
    """Names of one search of the study."""

    dataset: str
    task: str
    draw: int
    setting: str
    candidates: str

    @property
    def path(self) -> Path:
        name = "__".join(str(value) for value in asdict(self).values())
        return CACHE / ("".join(c if c.isalnum() else "_" for c in name) + ".npz")


def run_cell(key: CellKey, rows: Draw) -> None:
    """Search, and keep the result and what every model predicts for the test rows."""
    if key.path.exists():
        return
    CACHE.mkdir(parents=True, exist_ok=True)
    n = n_labels(key.setting, len(rows.y_target))
    given = {"X_unlabeled": rows.X_target[n:]}
    if n:
        given |= {"X_target": rows.X_target[:n], "y_target": rows.y_target[:n]}
    search = TransferSearchCV(
        candidates(key.candidates, labelled=n > 0),
        criterion="all" if n == 0 else [None, "tlv"],
        refit=False,
        random_state=key.draw,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(rows.X, rows.y, **given)
        predicted = _test_predictions(search, rows.X_test)
    search.results_.save(_result_path(key.path))
    unfinished = key.path.with_suffix(".part")
    with unfinished.open("wb") as file:
        np.savez_compressed(
            file,
            key=json.dumps(asdict(key)),
            **predicted,
            y=np.searchsorted(search.classes_, rows.y_test),
        )
    unfinished.rename(key.path)


def _result_path(path: Path) -> Path:
    return path.with_suffix(".result")


def _test_predictions(search: TransferSearchCV, X: np.ndarray) -> dict[str, np.ndarray]:
    """Probabilities and positions of the predicted classes; NaN and −1 for cells that failed.

    Also the CPU seconds of predicting with the vote and with the best candidate.
    """
    result, classes = search.results_, search.classes_
    status, vote = result.status(), result.vote()
    values = np.full((len(status), len(X), len(classes)), np.nan, dtype=np.float32)
    labels = np.full((len(status), len(X)), -1, dtype=np.int16)
    models = {}
    for cell, word in enumerate(status):
        if word == "complete":
            models[cell] = model = search.refit_cell(cell)
            values[cell] = class_probabilities(model, X, classes)
            labels[cell] = np.searchsorted(classes, model.predict(X))
    members = [(result.labels[cell], models[cell]) for cell in vote.members]
    voting = VotingModel(members, vote.weights[vote.members], classes)
    seconds = np.array([_seconds(model.predict, X) for model in (voting, models[result.best])])
    return {"values": values, "labels": labels, "seconds": seconds}


def _seconds(function: Callable[[np.ndarray], Any], X: np.ndarray) -> float:
    """The least CPU time of several calls."""
    seconds = []
    for _ in range(REPEATS):
        started = time.process_time()
        function(X)
        seconds.append(time.process_time() - started)
    return min(seconds)


def figures(path: Path) -> dict[str, Any]:
    """What one search shows: true scores of the ways to answer, and intervals."""
    result = SearchResult.load(_result_path(path))
    with np.load(path, allow_pickle=False) as file:
        key, test = json.loads(str(file["key"])), {name: file[name] for name in file.files}
    right = (test["labels"] == test["y"]).mean(axis=1)
    accuracy = {
        cell: float(right[cell]) for cell in range(len(right)) if test["labels"][cell, 0] >= 0
    }
    vote = result.vote()
    voted = combine(test["values"].astype(float), vote.weights)
    majority = accuracy.pop(result.baseline)
    names = {result.cells[cell].candidate: cell for cell in accuracy}
    answers = {
        "vote": float(np.mean(voted.argmax(axis=1) == test["y"])),
        "best": accuracy[result.best],
        "majority class": majority,
        "random choice": float(np.mean(list(accuracy.values()))),
    }
    for habit, name in HABITS[key["candidates"]].items():
        if name in names:
            answers[f"always {habit}"] = accuracy[names[name]]
    for criterion in ("tlv", "trcv", "rv", "wcv", "scv"):
        if criterion in result.available():
            chosen = min(accuracy, key=lambda c: result.values(criterion)[c])
            answers[criterion] = accuracy[chosen]
    return {
        "key": key,
        "best single": max(accuracy.values()),
        "answers": answers,
        "accuracies": {name: accuracy[cell] for name, cell in names.items()},
        # CPU time of predicting with the vote, in units of the best candidate.
        "cost": float(test["seconds"][0] / test["seconds"][1]),
        "weights": {result.labels[cell]: float(vote.weights[cell]) for cell in vote.members},
        "intervals": _intervals(result),
        "metrics": _metric_intervals(result, test["y"], voted),
        "n_labels": int(result.info.n_labelled),
    }


def _intervals(result: SearchResult) -> dict[str, dict[str, list[float | None]]]:
    """Low and high end by answer and level; none without labels, ``None`` where withheld."""
    if not result.info.n_labelled:
        return {}
    return {
        answer: {
            level: [end if np.isfinite(end) else None for end in result.interval(p, cell=cell)]
            for level, p in LEVELS.items()
        }
        for answer, cell in (("vote", "vote"), ("best", result.best))
    }


def _metric_intervals(
    result: SearchResult, y: np.ndarray, voted: np.ndarray
) -> dict[str, list[float | None]]:
    """True score of the vote, low and high end of its 90 % interval, by metric."""
    if not result.info.n_labelled:
        return {}
    binary = len(result.classes) == 2
    metrics = check_scoring(
        [*METRICS, *(("roc_auc", "average_precision") if binary else ("roc_auc_ovr",))],
        task="classification",
        classes=result.classes,
    )
    found = {}
    for metric in metrics:
        interval = result.interval(0.9, cell="vote", metric=metric)
        ends = [end if np.isfinite(end) else None for end in interval]
        found[metric.name] = [float(metric.score(y, voted)), *ends]
    return found
