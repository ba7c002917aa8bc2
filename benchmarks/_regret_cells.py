"""One search of the regret study: a task, a draw, a number of labels and a list of candidates.

Searches take nearly all of the time, so the figures of each are kept as JSON under the system's
temporary folder (or ``LANDBRIDGE_CACHE``), and a run that was interrupted continues there.
"""

import json
import os
import tempfile
import warnings
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
from landbridge.model_selection import VotingModel

SETTINGS = ("10 %", "20", "none")
LISTS = ("mixed", "source-heavy", "default")
LEVELS = {"90 %": 0.9, "95 %": 0.95}
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
        "TrAdaBoost": TrAdaBoostClassifier(stump, n_estimators=10, random_state=0),
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
        return CACHE / ("".join(c if c.isalnum() else "_" for c in name) + ".json")


def run_cell(key: CellKey, rows: Draw) -> dict[str, Any]:
    """Search, measure the true accuracy of every answer on held-out target rows, and keep it."""
    if key.path.exists():
        return json.loads(key.path.read_text())
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
        figures = {"key": asdict(key), **measure(search, rows, key.candidates)}
    unfinished = key.path.with_suffix(".part")
    unfinished.write_text(json.dumps(figures))
    unfinished.rename(key.path)
    return figures


def measure(search: TransferSearchCV, rows: Draw, list_name: str) -> dict[str, Any]:
    """True accuracies of the ways to answer, and the intervals of the vote and the best cell."""
    result = search.results_
    status = result.status()
    models = {
        cell: search.refit_cell(cell) for cell in range(len(status)) if status[cell] == "complete"
    }
    accuracy = {
        cell: float(np.mean(model.predict(rows.X_test) == rows.y_test))
        for cell, model in models.items()
    }
    vote = result.vote()
    voting = VotingModel(
        [(result.labels[cell], models[cell]) for cell in vote.members],
        vote.weights[vote.members],
        search.classes_,
    )
    majority = accuracy.pop(result.baseline)
    names = {result.cells[cell].candidate: cell for cell in accuracy}
    answers = {
        "vote": voting.score(rows.X_test, rows.y_test),
        "best": accuracy[result.best],
        "majority class": majority,
        "random choice": float(np.mean(list(accuracy.values()))),
    }
    for habit, name in HABITS[list_name].items():
        if name in names:
            answers[f"always {habit}"] = accuracy[names[name]]
    for criterion in ("tlv", "trcv", "rv", "wcv", "scv"):
        if criterion in result.available():
            chosen = min(accuracy, key=lambda c: result.values(criterion)[c])
            answers[criterion] = accuracy[chosen]
    return {
        "best single": max(accuracy.values()),
        "answers": answers,
        "accuracies": {name: accuracy[cell] for name, cell in names.items()},
        "weights": {result.labels[cell]: float(vote.weights[cell]) for cell in vote.members},
        "intervals": _intervals(search),
        "n_labels": int(result.info.n_labelled),
    }


def _intervals(search: TransferSearchCV) -> dict[str, dict[str, list[float | None]]]:
    """Low and high end by answer and level; none without labels, ``None`` where withheld."""
    if not search.results_.info.n_labelled:
        return {}
    return {
        answer: {
            level: [end if np.isfinite(end) else None for end in search.interval(p, cell=cell)]
            for level, p in LEVELS.items()
        }
        for answer, cell in (("vote", "vote"), ("best", search.results_.best))
    }
