"""Does the verdict of `diagnose_shift` foretell whether weighting helps?

For pairs of domains the shift is diagnosed, and a ridge regression on weighted source rows is
compared with one on plain source rows, by its mean absolute error on target rows whose labels no
model has seen. Five draws of 80 % of the rows of each domain, at most 500.
"""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error
from sklearn.preprocessing import StandardScaler

from benchmarks._harness import Log, markdown_table, read, write_page
from landbridge import ReweightedRegressor, SourceOnly, WeightingWarning, diagnose_shift
from landbridge.datasets import (
    fetch_abalone,
    fetch_bike_sharing,
    fetch_wine_quality,
    load_auto_mpg,
    make_concept_shift,
    make_covariate_shift,
)

N_DRAWS, N_ROWS, SHARE, N_GENERATED = 5, 500, 0.8, 3000
Pair = tuple[str, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def pairs() -> Iterator[Pair]:
    """Name, source rows and labels, target rows and labels."""
    yield from _domains("cars", load_auto_mpg, ["USA → Japan", "USA → Europe", "Japan → USA"])
    yield from _domains("wine", fetch_wine_quality, ["red → white", "white → red"])
    yield from _domains("abalone", fetch_abalone, ["M → F", "M → I", "I → M"])
    yield from _domains("bikes", fetch_bike_sharing, ["2011 → 2012"])
    for name, options in {
        "Gaussian, no shift": {"shift": 0.0, "scale": 1.0},
        "Gaussian, covariate shift 1": {"shift": 1.0},
        "Gaussian, covariate shift 3": {"shift": 3.0},
    }.items():
        data = make_covariate_shift(
            N_GENERATED, N_GENERATED, task="regression", random_state=0, **options
        )
        yield name, data.X, data.y, data.X_target, data.y_target
    data = make_concept_shift(N_GENERATED, N_GENERATED, task="regression", random_state=0)
    yield "Gaussian, concept shift only", data.X, data.y, data.X_target, data.y_target


def _domains(name: str, load: Callable, directions: list[str]) -> Iterator[Pair]:
    data = load()
    rows = StandardScaler().fit_transform(data.data)
    for direction in directions:
        here, there = (data.domain == domain for domain in direction.split(" → "))
        yield f"{name}: {direction}", rows[here], data.target[here], rows[there], data.target[there]


def errors(X, y, X_target, y_target, seed: int) -> tuple[float, float]:
    """Mean absolute error in the target of the plain and of the weighted source."""
    rng = np.random.default_rng(seed)
    sizes = [min(N_ROWS, int(SHARE * len(part))) for part in (X, X_target)]
    here, there = (rng.permutation(len(p))[:n] for p, n in zip((X, X_target), sizes, strict=True))
    models = SourceOnly(Ridge()), ReweightedRegressor(Ridge())
    return tuple(
        mean_absolute_error(
            y_target[there],
            model.fit(X[here], y[here], X_unlabeled=X_target[there]).predict(X_target[there]),
        )
        for model in models
    )


def run() -> None:
    """Write ``results/diagnosis.jsonl`` and the page."""
    with Log("diagnosis") as log:
        log.run(compare, (({"pair": name}, tuple(pair)) for name, *pair in pairs()))
    write_page("diagnosis", page())


def compare(X, y, X_target, y_target) -> dict[str, Any]:
    """The diagnosis of a pair, and both errors in every draw."""
    found = diagnose_shift(X, X_target, max_rows=2 * N_ROWS, random_state=0)
    with warnings.catch_warnings():
        # Few effective rows are what this benchmark is about.
        warnings.simplefilter("ignore", WeightingWarning)
        drawn = [errors(X, y, X_target, y_target, seed) for seed in range(N_DRAWS)]
    plain, weighted = np.transpose(drawn)
    return {
        "auc": [found.auc.value, found.auc.low, found.auc.high],
        "mmd_p": found.mmd.p_value,
        "effective_share": found.weighted.effective_share,
        "gap": [found.weighted.gap_before, found.weighted.gap_after],
        "verdict": _word(found.verdict),
        "plain": plain.tolist(),
        "weighted": weighted.tolist(),
        "seed": 0,
    }


def _word(verdict: str) -> str:
    if "Weighting" not in verdict:
        return "no shift"
    return verdict.split("Weighting ")[1].split(":")[0].replace("correct it", "correct")


def page() -> str:
    """The page, from the file alone."""
    rows, helped = [], {}
    for line in read("diagnosis"):
        ratio = np.divide(line["weighted"], line["plain"])
        error = ratio.std(ddof=1) / np.sqrt(len(ratio))
        helped.setdefault(line["verdict"], []).append(bool(ratio.mean() + 2 * error < 1))
        value, low, high = line["auc"]
        rows.append(
            [
                line["pair"],
                f"{value:.3f} [{low:.3f}, {high:.3f}]",
                f"{line['mmd_p']:.3f}",
                f"{line['effective_share']:.0%}",
                f"{line['gap'][0]:.2f} → {line['gap'][1]:.2f}",
                line["verdict"],
                f"{ratio.mean():.2f} ± {error:.2f}",
            ]
        )
    header = ["pair", "AUC", "MMD p", "effective rows", "gap of means, sd", "weighting", "error"]
    counts = [[word, len(found), sum(found)] for word, found in helped.items()]
    return "\n\n".join(
        [
            "# Shift diagnosis: does the verdict predict whether weighting helps?",
            __doc__.split("\n\n", 1)[1].replace("\n", " ").strip(),
            "The last column is the error of the weighted model over the error of the plain one "
            "(mean ± standard error over the draws): below 1 weighting helps.",
            markdown_table(header, rows),
            "Pairs in which weighting helped by more than two standard errors:",
            markdown_table(["verdict: weighting …", "pairs", "helped"], counts),
            "The verdict is about the features. Where the meaning of the label differs as well, "
            "weights that balance the features need not lower the error.",
        ]
    )
