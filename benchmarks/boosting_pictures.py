"""Figures 1 and 2 of Al-Stouhi and Reddy from their closed forms."""

import matplotlib as mpl
import numpy as np

from benchmarks._harness import PAGES
from landbridge._typing import Vector
from landbridge.inspection import WeightDriftDisplay
from landbridge.inspection.weight_drift import Panel


def run() -> None:
    mpl.use("Agg")
    pictures = PAGES.parent / "pictures"
    for name, panels in (("boosting_drift", figure_1()), ("boosting_source_sum", figure_2())):
        WeightDriftDisplay(panels).plot().figure_.savefig(pictures / f"{name}.png", dpi=80)


def drift_ratio(
    target_ratio: float, error: float | Vector, n_updates: int | Vector
) -> float | Vector:
    """TrAdaBoost's weight of a source row that is never misclassified, relative to what the
    weighted majority algorithm would give it, after some updates at a constant ε.

    (1 + r)/(1 + r(2(1 − ε))^t) with r = m/n; the dynamic update keeps it at 1. Figure 1 of the
    paper.
    """
    return (1.0 + target_ratio) / (
        1.0 + target_ratio * (2.0 * (1.0 - error)) ** np.asarray(n_updates)
    )


def source_sum_ratio(
    source_error: float | Vector, n_source: int | Vector, n_rounds: int
) -> float | Vector:
    """Sum of source weights after one update / before it: 1 − ε_src/(1 + √(N/(2 ln n))).

    Theorem 5 and Figure 2 of the paper.
    """
    return 1.0 - source_error / (1.0 + np.sqrt(n_rounds / (2.0 * np.log(n_source))))


def figure_1() -> list[Panel]:
    """Weight drift by round and by target error."""
    updates, errors = np.arange(0, 21), np.linspace(0.1, 0.5, 41)
    over_rounds = {
        f"TrAdaBoost, ε = {error}": np.asarray(drift_ratio(0.02, error, updates))
        for error in (0.1, 0.2, 0.3, 0.4)
    }
    over_rounds["dynamic, any ε"] = np.ones(updates.size)
    once = {
        f"m/n = {ratio:.0%}": np.asarray(drift_ratio(ratio, errors, 1))
        for ratio in (0.01, 0.02, 0.05)
    }
    y_label, title = "source weight / weighted majority", "n = 1000, after one round"
    return [
        Panel("n = 10000, m = 200", "round", y_label, updates, over_rounds),
        Panel(title, "target error ε", y_label, errors, once, from_zero=False),
    ]


def figure_2() -> list[Panel]:
    """Sum of the source weights by rows and by source error."""
    rows, errors = np.arange(100, 10101, 100), np.linspace(0.05, 0.5, 46)
    rounds = (20, 40, 60, 80)
    by_rows = {f"N = {n}": np.asarray(source_sum_ratio(0.2, rows, n)) for n in rounds}
    by_error = {f"N = {n}": np.asarray(source_sum_ratio(errors, 1000, n)) for n in rounds}
    y_label = "sum of source weights after / before"
    return [
        Panel("source error 0.2", "source rows n", y_label, rows, by_rows, from_zero=False),
        Panel("n = 1000", "source error", y_label, errors, by_error, from_zero=False),
    ]
