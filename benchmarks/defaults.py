"""Every estimator with its defaults, compared with simple baselines.

The defaults were chosen on nine pairs of domains; nine pairs from other datasets are reported. A
draw has at most 800 source rows, 60 labelled target rows (or none), at most 740 unlabelled ones and
at most 1000 test rows. Maps are followed by logistic regression, which receives the labelled target
rows as in `Pooled`. The last columns show the mean accuracy minus that of the best simple baseline
on the same rows (source-only, target-only or pooled, with logistic regression or gradient boosting:
the one with the highest mean over the tasks), and minus that of the best source-only one, with the
standard error over tasks. Numbers are points of accuracy, means over the draws named below each
table. The last lines of a table with labels show the papers' settings and equal weights of all
rows. `TransferSearchCV` and `TGreedySelector` have separate pages. Defaults for several sources
were chosen on newsgroups and on reviews of 16 products.
"""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline

import landbridge as lb
from benchmarks._defaults_tasks import Split, pairs_of_domains, regressions, several_sources, split
from benchmarks._harness import Log, markdown_table, read, write_page
from landbridge._validation import TransferData
from landbridge.model_selection._fit_tasks import fit_model

NAME = "defaults"
N_DRAWS = 3
Makers = dict[str, Callable[[], Any]]


def linear() -> LogisticRegression:
    return LogisticRegression(max_iter=1000)


def baselines(learners: dict[str, Any], labels: bool) -> Makers:
    """Source-only, and with labels also target-only and pooled."""
    wrappers = (lb.SourceOnly, lb.TargetOnly, lb.Pooled) if labels else (lb.SourceOnly,)
    return {
        f"{wrapper.__name__}, {name}": lambda wrapper=wrapper, learner=learner: wrapper(learner)
        for wrapper in wrappers
        for name, learner in learners.items()
    }


CLASSIFIERS = {
    "logistic regression": linear(),
    "gradient boosting": HistGradientBoostingClassifier(random_state=0),
}
REGRESSORS = {"ridge": Ridge(), "gradient boosting": HistGradientBoostingRegressor(random_state=0)}


def before(transformer: Any) -> Callable[[], Pipeline]:
    """A map in front of pooled logistic regression."""
    steps = [("map", transformer), ("classify", lb.Pooled(linear()))]
    return lambda: Pipeline(steps, transform_input=["X_target", "X_unlabeled"])


def reweighted(weighting: Any) -> Callable[[], Any]:
    return lambda: lb.ReweightedClassifier(linear(), weighting)


ESTIMATORS: Makers = {
    "TrAdaBoostClassifier": lb.TrAdaBoostClassifier,
    "TransferBoostClassifier": lb.TransferBoostClassifier,
    "TrimmedTreeClassifier": lb.TrimmedTreeClassifier,
    "LocallyWeightedEnsemble": lambda: lb.LocallyWeightedEnsemble(random_state=0),
    "SurrogateKernelClassifier": lb.SurrogateKernelClassifier,
    "LaplacianRLSClassifier": lb.LaplacianRLSClassifier,
    "TransductiveSVC": lb.TransductiveSVC,
    "TransductiveSVC, linear": lambda: lb.TransductiveSVC(kernel="linear"),
    "NNgeClassifier": lambda: lb.Pooled(lb.NNgeClassifier()),
    "ReweightedClassifier": reweighted(None),
    "ReweightedClassifier, KLIEP": reweighted(lb.KLIEP()),
    "ReweightedClassifier, KernelMeanMatching": reweighted(lb.KernelMeanMatching()),
    "ReweightedClassifier, ClassifierRatio": reweighted(lb.ClassifierRatio()),
    "SurrogateKernelMap": before(lb.SurrogateKernelMap(random_state=0)),
    "TransferComponentAnalysis": before(lb.TransferComponentAnalysis()),
    "CORAL": before(lb.CORAL()),
    "SubspaceAlignment": before(lb.SubspaceAlignment()),
    "LatentMap": before(lb.LatentMap()),
}
NEED_LABELS = ("TrAdaBoostClassifier", "TransferBoostClassifier", "TrimmedTreeClassifier")
# What the defaults were before, and what the papers have, for comparison with the new ones.
EARLIER: Makers = {
    "TrAdaBoostClassifier, as printed": lambda: lb.TrAdaBoostClassifier(
        lb.TrimmedTreeClassifier(), 30, vote="second_half", target_share=None
    ),
    "TrAdaBoostClassifier, trees trimmed by auto": lambda: lb.TrAdaBoostClassifier(
        lb.TrimmedTreeClassifier(target_error="auto"), 30, vote="second_half", target_share=None
    ),
    "LocallyWeightedEnsemble, min_purity=0.3, target_share=None": lambda: (
        lb.LocallyWeightedEnsemble(min_purity=0.3, target_share=None, random_state=0)
    ),
    **{
        f"{name}, target_share=None": lambda maker=maker: maker().set_params(target_share=None)
        for name, maker in ESTIMATORS.items()
        if (
            name.startswith(("Surrogate", "Laplacian", "Transductive"))
            and name.endswith(("Classifier", "SVC"))
        )
        or name.endswith("KernelMeanMatching")
    },
}
NUMERIC: Makers = {
    "TrAdaBoostRegressor": lambda: lb.TrAdaBoostRegressor(random_state=0),
    "SurrogateKernelRegressor": lb.SurrogateKernelRegressor,
    "LaplacianRLSRegressor": lb.LaplacianRLSRegressor,
    "ReweightedRegressor": lambda: lb.ReweightedRegressor(Ridge()),
}
GROUPED: Makers = {
    "MultiSourceTrAdaBoostClassifier": lambda: lb.MultiSourceTrAdaBoostClassifier(random_state=0),
    "TaskTrAdaBoostClassifier": lambda: lb.TaskTrAdaBoostClassifier(random_state=0),
    "TaskTrAdaBoostClassifier, columns not scaled": lambda: lb.TaskTrAdaBoostClassifier(linear()),
    "TransferBoostClassifier": lb.TransferBoostClassifier,
    "LocallyWeightedEnsemble": lambda: lb.LocallyWeightedEnsemble(random_state=0),
}


def run() -> None:
    """Run what is not yet in the results, and write the page."""
    with Log(NAME, resume=True) as log:
        log.run(measure, all_cells())
    report()


def all_cells() -> Iterator[tuple[dict[str, Any], tuple[Any, ...]]]:
    """Every estimator on every draw, the half that the defaults were chosen on last."""
    with_labels = {**baselines(CLASSIFIERS, labels=True), **ESTIMATORS, **EARLIER}
    without = {**baselines(CLASSIFIERS, labels=False), **ESTIMATORS}
    without = {name: make for name, make in without.items() if name not in NEED_LABELS}
    grouped = {**baselines(CLASSIFIERS, labels=True), **GROUPED}
    numeric = {**baselines(REGRESSORS, labels=True), **NUMERIC}
    for half, tasks, makers in (
        ("several sources", several_sources(), grouped),
        ("regression", regressions(), numeric),
    ):
        for draw, task in product(range(N_DRAWS), tasks):
            yield from cells_of(half, task, draw, makers, labels=True)
    for half in ("report", "choice"):
        for draw, task in product(range(N_DRAWS), pairs_of_domains(half)):
            yield from cells_of(half, task, draw, with_labels, labels=True)
            yield from cells_of(half, task, draw, without, labels=False)


def cells_of(
    half: str, task: Any, draw: int, makers: Makers, *, labels: bool
) -> list[tuple[dict[str, Any], tuple[Any, ...]]]:
    """Every estimator on one draw of a task."""
    name = f"{task.dataset}, {task.name}" if hasattr(task, "dataset") else task.name
    names = {"half": half, "labels": labels, "task": name, "draw": draw}
    return [({**names, "method": m}, (make, task, draw, labels)) for m, make in makers.items()]


def measure(make: Callable[[], Any], task: Any, draw: int, labels: bool) -> dict[str, float]:
    """Test score and CPU seconds of one estimator."""
    started = time.process_time()
    found = round(score(make(), split(task, draw), labels), 4)
    return {"score": found, "cpu_s": round(time.process_time() - started, 3)}


def score(model: Any, rows: Split, labels: bool) -> float:
    """Accuracy, or for numbers one minus the RMSE in standard deviations of the test labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = fit(model, rows, labels).predict(rows.X_test)
    if rows.y_test.dtype.kind == "f":
        return float(1 - np.sqrt(np.mean((predicted - rows.y_test) ** 2)) / rows.y_test.std())
    return float(np.mean(predicted == rows.y_test))


def fit(model: Any, rows: Split, labels: bool) -> Any:
    """Fit on the rows that the estimator can use."""
    few = (rows.X_target, rows.y_target) if labels else (None, None)
    training = TransferData(rows.X, rows.y, *few, X_unlabeled=rows.X_unlabeled)
    if rows.groups is not None and type(model).__name__ in GROUPED:
        return model.fit(rows.X, rows.y, groups=rows.groups, **training.options)
    return fit_model(model, training)


def report() -> None:
    """Write ``docs/benchmarks/defaults.md`` from the results."""
    lines = read(NAME)
    parts = [f"# {__doc__.splitlines()[0]}", __doc__.split("\n\n", 1)[1].strip()]
    for half, labels, title in SECTIONS:
        own = [x for x in lines if x["half"] == half and x["labels"] == labels]
        if own:
            parts += [f"## {title}", table(own)]
    write_page(NAME, "\n\n".join(parts))


SECTIONS = (
    ("report", True, "Reported half, 60 labelled target rows"),
    ("report", False, "Reported half, no labels"),
    ("choice", True, "Half that the defaults were chosen on, 60 labelled target rows"),
    ("choice", False, "Half that the defaults were chosen on, no labels"),
    ("several sources", True, "Three sources, 60 labelled target rows"),
    (
        "regression",
        True,
        "Regression, 60 labelled target rows: 100 − RMSE in per cent of the standard deviation",
    ),
)


def table(lines: list[dict[str, Any]]) -> str:
    """Scores in per cent for each task; the mean, its distance from the best baseline, CPU."""
    draws = Counter((x["task"], x["draw"]) for x in lines)
    whole = {key for key, count in draws.items() if count == max(draws.values())}
    lines = [x for x in lines if (x["task"], x["draw"]) in whole]
    tasks = list(dict.fromkeys(x["task"] for x in lines))
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for x in lines:
        found.setdefault((x["method"], x["task"]), []).append(x)
    order = [*baselines(CLASSIFIERS, True), *baselines(REGRESSORS, True), *ESTIMATORS, *GROUPED]
    methods = [
        m
        for m in dict.fromkeys([*order, *NUMERIC, *EARLIER])
        if all((m, t) in found for t in tasks)
    ]
    scores = {
        m: np.array([100 * np.mean([x["score"] for x in found[m, t]]) for t in tasks])
        for m in methods
    }
    baseline = [m for m in methods if m.startswith(("SourceOnly", "TargetOnly", "Pooled"))]
    best = max(baseline, key=lambda m: scores[m].mean())
    source = max(
        (m for m in baseline if m.startswith("SourceOnly")), key=lambda m: scores[m].mean()
    )
    rows = []
    for m in methods:
        cpu = np.mean([x["cpu_s"] for t in tasks for x in found[m, t]])
        gaps = [_with_error(scores[m] - scores[other]) for other in (best, source)]
        words = [f"{value:.1f}" for value in scores[m]]
        rows.append([m, *words, f"{scores[m].mean():.1f}", *gaps, f"{cpu:.2f}"])
    header = ["estimator", *tasks, "mean", "against the best baseline", "against source-only"]
    text = markdown_table([*header, "CPU s"], rows)
    counts = Counter(task for task, _ in whole)
    drawn = " to ".join(map(str, sorted({min(counts.values()), max(counts.values())})))
    return f"{text}\n\nBest baseline: {best}; best source-only: {source}. Draws per task: {drawn}."


def _with_error(gaps: np.ndarray) -> str:
    error = gaps.std(ddof=1) / np.sqrt(gaps.size)
    return f"{gaps.mean():+.1f} ± {error:.1f}"
