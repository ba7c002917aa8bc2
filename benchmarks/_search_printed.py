"""One search of the transfer cross-validation paper in its own setting: learners and truths."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import landbridge as lb
from benchmarks._fast_nnge import compiled_boxes
from benchmarks._paper_tasks import PaperTask
from benchmarks._weka import WekaClassifier
from landbridge._validation import TransferData
from landbridge.model_selection import _fit_tasks
from landbridge.model_selection.candidates import takes_target

FOLDS = 10
CRITERIA = ("scv", "tcv", "stv", "wcv", "trcv", "rv")
LABELLED_SHARE, FEWEST_LABELLED = 0.1, 20


def support_vectors(C: float = 1.0) -> Any:
    """Weka's SMO: hinge loss and columns scaled to [0, 1]."""
    machine = LinearSVC(C=C, loss="hinge", max_iter=5000, random_state=0)
    return make_pipeline(MinMaxScaler(), machine)


def plain_learners() -> dict[str, Any]:
    """The five traditional classifiers.

    The tree splits by entropy and is pruned by cost and complexity; C4.5 splits by gain ratio and
    is pruned by a bound on the error.
    """
    tree = DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=2, ccp_alpha=0.005, random_state=0
    )
    return {
        "NB": GaussianNB(),
        "SVM": support_vectors(),
        "C4.5": tree,
        "k-NN": KNeighborsClassifier(1),
        "NNge": lb.NNgeClassifier(shuffle=True, random_state=0),
    }


def eight_learners() -> dict[str, Any]:
    """The paper's eight: LWE over the five, TrAdaBoost on a quadratic SVM."""
    quadratic = make_pipeline(MinMaxScaler(), SVC(kernel="poly", degree=2, coef0=1.0))
    paper = {"n_estimators": 10, "vote": "second_half", "target_share": None, "random_state": 0}
    ensemble = {"min_purity": 0.0, "target_share": None, "random_state": 0}
    return {
        **plain_learners(),
        "TrAdaBoost": lb.TrAdaBoostClassifier(quadratic, **paper),
        "LatentMap": make_pipeline(lb.LatentMap(), KNeighborsClassifier(5)),
        "LWE": lb.LocallyWeightedEnsemble(list(plain_learners().items()), **ensemble),
    }


def plain_learners_of_weka() -> dict[str, Any]:
    """The five traditional classifiers of Weka, the program that the paper used."""
    names = {"NB": "NaiveBayes", "SVM": "SMO", "C4.5": "J48", "k-NN": "IBk", "NNge": "NNge"}
    return {name: WekaClassifier(learner) for name, learner in names.items()}


def accuracies_of_weka(task: PaperTask) -> dict[str, Any]:
    """Accuracy on the whole target of Weka's classifiers trained on the source."""
    learners = plain_learners_of_weka()
    guesses = [model.fit(task.X, task.y).predict(task.X_target) for model in learners.values()]
    accuracy = [round(float(np.mean(guess == task.y_target)), 4) for guess in guesses]
    return {"candidates": list(learners), "accuracy": accuracy}


def margins() -> dict[str, Any]:
    """SVM with C from 0.01 to 100."""
    return {f"C = {C:g}": support_vectors(C) for C in (0.01, 0.1, 1.0, 10.0, 100.0)}


def neighbours() -> dict[str, Any]:
    """LatentMap with 5 to 45 nearest neighbours."""
    return {
        f"{k} neighbours": make_pipeline(lb.LatentMap(), KNeighborsClassifier(k))
        for k in (5, 15, 25, 35, 45)
    }


def transfer_learners() -> dict[str, Any]:
    """Ten learners, six of which take the target, for the role of L in reverse fits."""
    every = eight_learners()
    kept = ("NB", "SVM", "C4.5", "k-NN", "TrAdaBoost", "LatentMap")
    members = [(name, every[name]) for name in ("NB", "k-NN", "C4.5")]
    return {
        **{name: every[name] for name in kept},
        "surrogate": lb.SurrogateKernelClassifier(),
        "Laplacian": lb.LaplacianRLSClassifier(),
        "reweighted": lb.ReweightedClassifier(LogisticRegression(max_iter=1000)),
        "LWE": lb.LocallyWeightedEnsemble(members, random_state=0),
    }


@contextmanager
def labelled_rows_in_the_source() -> Iterator[None]:
    """Reverse fits of transfer learners with L among the source rows, as Fig. 1 has it."""
    given = _fit_tasks.reverse_rows

    def joined(data: Any, estimator: Any, pseudo_labels: Any, test: Any) -> Any:
        rows = given(data, estimator, pseudo_labels, test)
        if not takes_target(estimator) or rows.X_target is None:
            return rows
        return TransferData(rows.labelled_rows, rows.labels, X_unlabeled=rows.X_unlabeled)

    with mock.patch.object(_fit_tasks, "reverse_rows", joined):
        yield


CANDIDATES = {
    "L beside S_i": transfer_learners,
    "L in the source": transfer_learners,
    "algorithms": eight_learners,
    "sources": eight_learners,
    "folds and labels": eight_learners,
    "Weka": plain_learners_of_weka,
    "LatentMap": neighbours,
    "SVM": margins,
}


def run_search(
    task: PaperTask, seed: int, kind: str, *, cv: int = FOLDS, share: float = LABELLED_SHARE
) -> dict[str, Any]:
    """Score by every criterion and true accuracies of every candidate on every source.

    ``trained_on_source`` are accuracies of plain learners trained on S, as in the paper's
    Figure 5; ``trained_on_both`` those of models trained on S and L. Transfer learners are given
    L in both.
    """
    candidates = CANDIDATES[kind]()
    order = np.random.default_rng(seed).permutation(len(task.y_target))
    n = max(FEWEST_LABELLED, round(share * order.size))
    few, rest = order[:n], order[n:]
    given = {"X_target": task.X_target[few], "y_target": task.y_target[few]}
    groups = task.groups if kind == "sources" else None
    criteria = ("trcv", "rv") if kind.startswith("L ") else CRITERIA
    with warnings.catch_warnings(), compiled_boxes():
        warnings.simplefilter("ignore")
        search = lb.TransferSearchCV(
            candidates, criterion=criteria, cv=cv, refit=False, random_state=seed
        )
        with labelled_rows_in_the_source() if kind == "L in the source" else nullcontext():
            search.fit(task.X, task.y, groups=groups, X_unlabeled=task.X_target[rest], **given)
        cells = search.results_.cells
        numbers = [number for number, cell in enumerate(cells) if cell.candidate in candidates]
        both, source = [], []
        for number in numbers:
            models = {"both": search.refit_cell(number)}
            if cells[number].role == "plain":
                own = slice(None) if groups is None else groups == cells[number].source
                plain = clone(candidates[cells[number].candidate])
                models["source"] = plain.fit(task.X[own], task.y[own])
            right = {
                name: float(np.mean(model.predict(task.X_target[rest]) == task.y_target[rest]))
                for name, model in models.items()
            }
            both.append(round(right["both"], 4))
            source.append(round(right.get("source", right["both"]), 4))
    return {
        "candidates": [cells[number].candidate for number in numbers],
        "trained_on_source": source,
        "trained_on_both": both,
        "scores": {c: search.results_.scores(c)[numbers].round(4).tolist() for c in criteria},
    }


def part_of(task: PaperTask, n_rows: int) -> PaperTask:
    """At most ``n_rows`` rows of each source and of the target, the same in every draw."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(task.y))
    groups = [order[task.groups[order] == name][:n_rows] for name in np.unique(task.groups)]
    source, target = np.concatenate(groups), rng.permutation(len(task.y_target))[:n_rows]
    return replace(
        task,
        X=task.X[source],
        y=task.y[source],
        groups=task.groups[source],
        X_target=task.X_target[target],
        y_target=task.y_target[target],
    )
