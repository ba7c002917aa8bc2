"""How the two questions of `landbridge demo` about bike rentals were chosen.

Each season, year and kind of day serves as the target once. 200 of its rows are labelled, and a
logistic regression is trained on the source, on these rows, and on both (pooled). The demo shows
the target with the largest mean gain of pooled over the better of the other two, and the target
with the smallest. The mean is over ten random draws of the labelled rows. The demo itself labels
200 evenly spaced rows in order of time, a rule that leaves no draw to choose.
"""

from collections.abc import Iterator

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from benchmarks._harness import Log, markdown_table, read, write_page
from landbridge import Pooled, SourceOnly, TargetOnly
from landbridge.cli._table_encoder import TableEncoder
from landbridge.cli.demo import LABELLED, bike_table

NAME = "demo_choice"
DRAWS = 10
ROLES = {"source-only": SourceOnly, "target-only": TargetOnly, "pooled": Pooled}


def run() -> None:
    """Measure every target, write results and page."""
    with Log(NAME) as log:
        log.run(mean_accuracies, cells())
    report()


def cells() -> Iterator[tuple[dict[str, str], tuple[np.ndarray, np.ndarray, np.ndarray]]]:
    """Every target with its rows, labels and which rows belong to it."""
    for domain in ("season", "year", "day"):
        table, demand = bike_table(domain)
        domains = table[domain].to_numpy()
        X = TableEncoder().fit_transform(table.drop(domain))
        for target in np.unique(domains):
            yield {"target": str(target)}, (X, demand, domains == target)


def mean_accuracies(X: np.ndarray, y: np.ndarray, is_target: np.ndarray) -> dict[str, float]:
    """Accuracy of each role, averaged over the draws."""
    scores = [accuracies(X, y, is_target, seed) for seed in range(DRAWS)]
    return dict(zip(ROLES, np.mean(scores, axis=0).tolist(), strict=True))


def accuracies(X: np.ndarray, y: np.ndarray, is_target: np.ndarray, seed: int) -> list[float]:
    """Accuracy of each role on the target rows that are not labelled."""
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(is_target))
    known, rest = rows[:LABELLED], rows[LABELLED:]
    linear = make_pipeline(MinMaxScaler(), LogisticRegression(C=4, max_iter=1000))
    models = [
        role(linear).fit(X[~is_target], y[~is_target], X_target=X[known], y_target=y[known])
        for role in ROLES.values()
    ]
    return [float(model.score(X[rest], y[rest])) for model in models]


def report() -> None:
    """Write ``docs/benchmarks/demo_choice.md`` from the results."""
    rows = [
        [
            line["target"],
            *(f"{line[role]:.3f}" for role in ROLES),
            f"{line['pooled'] - max(line['source-only'], line['target-only']):+.3f}",
        ]
        for line in read(NAME)
    ]
    rows.sort(key=lambda row: -float(row[-1]))
    words = f"Accuracy on unlabelled target rows, mean over {DRAWS} draws of {LABELLED} labels."
    header = ["target", *ROLES, "gain of pooled"]
    lines = ["# How the demo's questions were chosen", __doc__ or "", words]
    write_page(
        NAME, "\n\n".join([*lines, markdown_table(header, rows), "`make bench NAME=demo_choice`"])
    )
