"""Which questions about the embedded bike rentals the demo asks.

Every season, year and kind of day is a target once. 200 of its rows are labelled, and a logistic
regression learns from the source, from these rows, and from both. The demo shows the target with
the largest gain of pooled over the better of the other two, in the mean over ten draws of the
labelled rows, and the target with the smallest; it uses the labels of seed 0.
"""

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
    log = Log(NAME)
    for domain in ("season", "year", "day"):
        table, demand = bike_table(domain)
        domains = table[domain].to_numpy()
        X = TableEncoder().fit_transform(table.drop(domain))
        for target in np.unique(domains):
            scores = [accuracies(X, demand, domains == target, seed) for seed in range(DRAWS)]
            log.write(target=str(target), **dict(zip(ROLES, np.mean(scores, axis=0), strict=True)))
    report()


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
    words = (
        f"Accuracy on target rows without a label, mean over {DRAWS} draws of {LABELLED} labels."
    )
    header = ["target", *ROLES, "gain of pooled"]
    lines = ["# The choice of the demo's questions", __doc__ or "", words]
    write_page(
        NAME, "\n\n".join([*lines, markdown_table(header, rows), "`make bench NAME=demo_choice`"])
    )
