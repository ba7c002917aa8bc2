"""Coverage of the 90 % intervals of metrics with 50 and 100 labelled rows.

Classifiers and regressors are trained on one domain and predict another. Their predictions for all
its rows are the population. A draw has 50 or 100 of these rows, at most an eighth of them. The
interval computed from the draw should contain the metric of the population.
"""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

from benchmarks import _domains
from benchmarks._harness import Log, markdown_table, read, write_page
from landbridge import datasets
from landbridge.metrics.inference import bootstrap_scores, metric_interval
from landbridge.metrics.metric import Metric
from landbridge.metrics.scoring import check_scoring

NAME = "metric_intervals"
SIZES, DRAWS, LEVEL, MOST_ROWS, MOST_TASKS = (50, 100), 12, 0.9, 3000, 4
CLASSIFIERS = {
    "logistic regression": LogisticRegression(max_iter=300),
    "naive Bayes": GaussianNB(),
    "forest": RandomForestClassifier(50, min_samples_leaf=2, random_state=0),
}
REGRESSORS = {
    "ridge": Ridge(),
    "5-NN": KNeighborsRegressor(),
    "forest": RandomForestRegressor(30, min_samples_leaf=3, random_state=0),
}
METRICS = ("accuracy", "balanced_accuracy", "f1_macro", "average_precision", "neg_log_loss")
PARTS = ("development", "further")


def tasks() -> Iterator[tuple[str, str, _domains.DomainTask]]:
    """Part, kind and task; the form of the intervals was chosen on the development part."""
    development = (_domains.wine, _domains.bike, _domains.reuters, _domains.wifi, _domains.office)
    for dataset in (*development, _domains.amazon, _domains.abalone, _domains.reviews):
        for task in islice(dataset(), MOST_TASKS):
            yield "development", "classification", task
    others = _domains.wifi(other_phones=True)
    for found in (_domains.newsgroups(), others, _domains.reviews(step=5, dataset="other pairs")):
        for task in islice(found, MOST_TASKS):
            yield "further", "classification", task
    for task in chain(wine_quality(), rings(), rentals()):
        yield "development", "regression", task
    for task in chain(alcohol(), days_off(), generated()):
        yield "further", "regression", task


def wine_quality() -> Iterator[_domains.DomainTask]:
    data = datasets.fetch_wine_quality()
    yield from _domains.pairs("wine quality", data.data, data.target, data.domain)


def rings() -> Iterator[_domains.DomainTask]:
    data = datasets.fetch_abalone()
    yield from _domains.pairs("rings", data.data, data.target, data.domain)


def rentals() -> Iterator[_domains.DomainTask]:
    data = datasets.fetch_bike_sharing()
    yield from _domains.pairs("rentals", data.data, data.target, data.domain)


def alcohol() -> Iterator[_domains.DomainTask]:
    data = datasets.fetch_wine_quality()
    yield from _domains.pairs("alcohol", data.data[:, :-1], data.data[:, -1], data.domain)


def days_off() -> Iterator[_domains.DomainTask]:
    data = datasets.fetch_bike_sharing()
    calendar = ("workingday", "holiday", "weekday")
    columns = [k for k, name in enumerate(data.feature_names) if name not in calendar]
    work = np.where(data.data[:, data.feature_names.index("workingday")] > 0, "work", "off")
    yield from _domains.pairs("days off", data.data[:, columns], data.target, work)


def generated() -> Iterator[_domains.DomainTask]:
    for seed in (0, 1):
        made = datasets.make_covariate_shift(
            4000, 4000, 5, shift=1.5, task="regression", random_state=seed
        )
        name = f"covariate shift {seed}"
        yield _domains.DomainTask("generated", name, made.X, made.y, made.X_target, made.y_target)


def run() -> None:
    """Draw, measure, write the page."""
    with Log(NAME) as log:
        log.run(coverages, cells())
    page()


def cells() -> Iterator[tuple[dict[str, str], tuple[Any, ...]]]:
    """Every model of every task, with the rows and seeds of its draws."""
    rng = np.random.default_rng(0)
    for part, kind, task in tasks():
        source = rng.permutation(len(task.y))[:800]
        target = rng.permutation(len(task.y_target))[:MOST_ROWS]
        if len(target) < 8 * min(SIZES):
            continue
        y, classes = task.y_target[target], None
        if kind == "classification":
            classes = np.unique(np.concatenate([task.y[source], y]))
            y = np.searchsorted(classes, y)
        rows = task.X[source], task.y[source], task.X_target[target], y
        for name, model in (CLASSIFIERS if classes is not None else REGRESSORS).items():
            where = {"part": part, "dataset": task.dataset, "task": task.name, "model": name}
            draws = [
                (metric, n_rows, [_drawn(rng, len(y), n_rows) for _ in range(DRAWS)])
                for metric in metrics_of(classes)
                for n_rows in SIZES
                if 8 * n_rows <= len(y)
            ]
            yield where, (model, *rows, classes, draws)


def _drawn(rng: np.random.Generator, n: int, size: int) -> tuple[np.ndarray, int]:
    return rng.choice(n, size, replace=False), int(rng.integers(1 << 31))


def coverages(
    model: Any,
    X: np.ndarray,
    y: np.ndarray,
    X_target: np.ndarray,
    y_target: np.ndarray,
    classes: np.ndarray | None,
    draws: list[tuple[Metric, int, list[tuple[np.ndarray, int]]]],
) -> list[dict[str, Any]]:
    """Coverage of every metric and number of rows by the intervals of one model."""
    predictions = predicted(model.fit(X, y), X_target, classes)
    return [
        {"metric": metric.label, **coverage(metric, y_target, predictions, n_rows, drawn)}
        for metric, n_rows, drawn in draws
    ]


def predicted(model: object, X: np.ndarray, classes: np.ndarray | None) -> np.ndarray:
    """Numbers, or probabilities with a column for every class."""
    if classes is None:
        return model.predict(X)
    probabilities = np.zeros((len(X), len(classes)))
    probabilities[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X)
    return probabilities


def metrics_of(classes: np.ndarray | None) -> tuple[Metric, ...]:
    if classes is None:
        return check_scoring(None, task="regression")
    auc = "roc_auc" if len(classes) == 2 else "roc_auc_ovr"
    return check_scoring([*METRICS, auc], task="classification", classes=classes)


def coverage(
    metric: Metric,
    y: np.ndarray,
    predictions: np.ndarray,
    n_rows: int,
    draws: list[tuple[np.ndarray, int]],
) -> dict[str, float]:
    """How many intervals of draws held the metric of all rows, and on which side others missed."""
    truth, found = metric.score(y, predictions), []
    for rows, seed in draws:
        drawn = y[rows], predictions[rows]
        scores = bootstrap_scores(metric, drawn[0], drawn[1][None], n_replicates=500, seed=seed)
        found.append(metric_interval(metric, *drawn, LEVEL, replicates=scores[0]))
    return {
        "rows": n_rows,
        "draws": DRAWS,
        "held": sum(truth in interval for interval in found),
        "too_high": sum(interval.low > truth for interval in found),
        "width": float(np.median([interval.high - interval.low for interval in found])),
    }


def page() -> None:
    """Write the page from the results."""
    lines = [{**line, "metric": line["metric"].partition(" of ")[0]} for line in read(NAME)]
    names = list(dict.fromkeys(line["metric"] for line in lines))
    heads = [f"{part}, {n} rows" for part in PARTS for n in SIZES]
    table = []
    for name in names:
        row = [name]
        for part in PARTS:
            for n_rows in SIZES:
                chosen = select(lines, metric=name, part=part, rows=n_rows)
                row.append(share(chosen) if chosen else "–")
        table.append([*row, *lowest(select(lines, metric=name))])
    write_page(
        NAME,
        f"""# Intervals of metrics

{__doc__.split(chr(10), 2)[2].strip()}

The nominal level is {LEVEL:.0%}; {DRAWS} draws for each task, model and number of rows. The form of
the intervals (`landbridge.metrics.inference`) was chosen on the development tasks;
the further tasks were evaluated once. The number of draws is in parentheses.

{markdown_table(["metric", *heads, "lowest of a dataset"], table)}

Average precision is biased upwards if a class has few rows. Its variance is multiplied by 1.25, a
factor chosen on the development tasks. Intervals of means over many classes with few rows each (one
against the rest) are too wide. The log loss of forests that give some classes a probability of zero
is covered less often, and the note of the interval says so.

Command: `python -m benchmarks {NAME}`.
""",
    )


def select(lines: list[dict], **wanted: object) -> list[dict]:
    return [line for line in lines if all(line[k] == v for k, v in wanted.items())]


def share(lines: list[dict]) -> str:
    draws = sum(line["draws"] for line in lines)
    return f"{sum(line['held'] for line in lines) / draws:.3f} ({draws})"


def lowest(lines: list[dict]) -> list[str]:
    by_dataset = {name: select(lines, dataset=name) for name in {line["dataset"] for line in lines}}
    name = min(by_dataset, key=lambda key: share(by_dataset[key]))
    return [f"{share(by_dataset[name])}, {name}"]
