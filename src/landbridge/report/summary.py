"""Summaries: what was computed, as plain dictionaries that JSON can hold.

Each part of a report comes from one object of the library. Nothing is estimated here: intervals,
probabilities and verdicts are asked of those objects, and put into words beside the numbers.
"""

import math
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from landbridge._version import __version__
from landbridge.inspection import ShiftDiagnosis
from landbridge.model_selection.criteria import OF_LABELLED_ROWS
from landbridge.model_selection.multi_source_result import MultiSourceResult
from landbridge.model_selection.results import SearchResult
from landbridge.model_selection.uncertainty import METHODS
from landbridge.report.sources_summary import source_parts
from landbridge.report.verdict import checks_of, verdict_sentences

if TYPE_CHECKING:
    from landbridge.feature_selection.path import FeaturePath

FORMAT = 1
ALL_SOURCES = "all sources"
MOST_PAIRS = 8
LOSS_WORDS = {"log": "log loss", "absolute": "absolute error", "squared": "squared error"}
CRITERION_WORDS = {
    "scv": "cross-validation on the source, which knows nothing of the target",
    "wcv": "cross-validation on the source, weighted towards the target",
    "rv": "reverse validation: pseudo-labels of the target must lead back to the source",
    "trcv": "transfer cross-validation: reverse validation weighted towards the target",
    "tcv": "cross-validation on the labelled target rows alone",
    "stv": "training on the source, validation on the labelled target rows",
    "tlv": "validation on labelled target rows, with source and other labelled rows in training",
    "anchored": "validation on labelled target rows, steadied by transfer cross-validation",
}


def plain(value: Any) -> Any:
    """The value with Python's own types only; numbers that are not finite become None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)


def summarise_search(result: SearchResult, *, level: float = 0.95) -> dict[str, Any]:
    """Ranking with intervals, the matrix over sources, pairwise probabilities."""
    order = result.ranking()
    rows = [_cell_row(result, cell, place, level) for place, cell in enumerate(order, start=1)]
    criterion = result.criterion
    words = f"Criterion: {criterion}, {result.about['reason']}: {CRITERION_WORDS[criterion]}."
    return plain(
        {
            "score": _score_name(result),
            "higher_is_better": result.is_proportion,
            "criterion": {"name": criterion, "words": words},
            "interval": _interval_words(result, level),
            "candidates": rows,
            "matrix": _matrix(result),
            "pairwise": _pairwise(result, order),
        }
    )


def summarise_sources(result: MultiSourceResult, *, level: float = 0.95) -> dict[str, Any]:
    """Score on every source when it was left out, and the three intervals."""
    return plain(source_parts(result, level=level))


def summarise_shift(
    diagnoses: Mapping[str, ShiftDiagnosis], *, target: str, alpha: float = 0.05
) -> dict[str, Any]:
    """One diagnosis a source, the nearest source first."""
    sources = [_diagnosis(name, found, alpha) for name, found in diagnoses.items()]
    sources.sort(key=lambda source: source["auc"])
    return plain({"target": target, "sources": sources})


def _diagnosis(name: str, found: ShiftDiagnosis, alpha: float) -> dict[str, Any]:
    weighted = found.weighted
    return {
        "source": name,
        "rows": found.n_source,
        "auc": found.auc.value,
        "auc_low": found.auc.low,
        "auc_high": found.auc.high,
        "mmd_p_value": found.mmd.p_value,
        "detected": found.detected,
        "n_moved": sum(feature.p_value <= alpha for feature in found.features),
        "effective_rows": weighted.effective_sample_size,
        "effective_share": weighted.effective_share,
        "weighted_rows": weighted.n_rows,
        "largest_share": weighted.largest_share,
        "gap_before": weighted.gap_before,
        "gap_after": weighted.gap_after,
        "words": found.verdict,
        "features": [
            {
                "name": feature.name,
                "distance": feature.ks,
                "mean_difference": feature.mean_difference,
                "variance_ratio": feature.variance_ratio,
                "p_value": feature.p_value,
            }
            for feature in found.features
        ],
    }


def summarise_features(
    path: "FeaturePath", names: Sequence[str], *, criterion: str = "t"
) -> dict[str, Any]:
    """The kept steps of a T-greedy path, with the effect of each feature in every domain."""
    domains = [str(name) for name in path.domains]
    picked = [
        {
            "feature": names[path.feature[step]],
            "t": path.T[step],
            "weight": path.weight[step],
            "mean_effect": path.effect[step],
            "effects": path.effects[step],
        }
        for step in range(path.n_kept)
    ]
    if picked:
        first = np.unique(path.feature[: path.n_kept], return_index=True)[1]
        same = int((np.abs(np.sign(path.effects[first]).sum(axis=1)) == len(domains)).sum())
        found = (
            f"{first.size} of {len(names)} features were picked (criterion {criterion!r}, "
            f"{path.n_kept} steps); the effect of {same} of them has the same sign in all "
            f"{len(domains)} domains."
        )
    else:
        found = f"No feature keeps its meaning across {len(domains)} domains."
    words = [
        found,
        "T is the mean effect divided by its standard error over domains: small where they "
        "disagree.",
    ]
    return plain({"words": words, "domains": domains, "picked": picked})


def summarise_origin(*, command: str = "", seed: int | None = None) -> dict[str, Any]:
    """Date, seed, versions and the command."""
    import scipy
    import sklearn

    versions = {
        "landbridge": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return {"date": date, "seed": seed, "command": command, "versions": versions}


def summarise(
    *,
    title: str,
    target: str,
    origin: dict[str, Any],
    result: SearchResult | None = None,
    level: float = 0.95,
    data: dict[str, Any] | None = None,
    shift: dict[str, Any] | None = None,
    sources: dict[str, Any] | None = None,
    features: dict[str, Any] | None = None,
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """The whole of a report: its parts, the verdict in two sentences and the checks."""
    summary: dict[str, Any] = {
        "kind": "landbridge report",
        "format": FORMAT,
        "title": title,
        "subtitle": f"landbridge {__version__}, {origin['date']}",
        "verdict": [],
        "checks": [],
        "ranking": None if result is None else summarise_search(result, level=level),
        "shift": shift,
        "sources": sources,
        "features": features,
        "data": data,
        "origin": origin,
    }
    if result is not None:
        worth = result.worth_transferring().message
        if ALL_SOURCES in map(partial(source_name, result), result.sources):
            worth = worth.replace(" from pooled ", f" from {ALL_SOURCES} ")
        summary["verdict"] = verdict_sentences(summary["ranking"], target, worth)
    summary["checks"] = checks_of(summary, result) + [
        {"name": "Warning", "state": "caution", "text": text} for text in warnings
    ]
    return summary


def score_as_read(result: SearchResult, score: float) -> float:
    """Accuracy for zero-one loss, else the loss itself: what a person calls the score."""
    return score if result.is_proportion else 0.0 - score  # and not −0


def _cell_row(result: SearchResult, cell: int, place: int, level: float) -> dict[str, Any]:
    about = result.cells[cell]
    status = result.status()[cell]
    low, high = _interval_of(result, cell, level) if status == "complete" else (None, None)
    return {
        "rank": place,
        "name": candidate_name(about),
        "source": source_name(result, about["source"]),
        "show_source": len(result.sources) > 1,
        "score": score_as_read(result, float(result.scores()[cell])),
        "low": low,
        "high": high,
        "seconds": about["fit_seconds"] + about["predict_seconds"],
        "role": about["role"],
        "note": result.notes()[cell] if status == "complete" else _why(result, cell, status),
    }


def source_name(result: SearchResult, source: Any) -> str:
    """The name of a source as a person reads it."""
    domains = () if result.groups is None else result.groups
    return ALL_SOURCES if source == "pooled" and source not in domains else str(source)


def candidate_name(cell: dict[str, Any]) -> str:
    """Name of a candidate with its parameters."""
    params = ", ".join(f"{name}={value}" for name, value in cell["params"].items())
    return f"{cell['candidate']} ({params})" if params else str(cell["candidate"])


def full_name(result: SearchResult, cell: int) -> str:
    """Candidate, parameters and, where there are several, the source."""
    about = result.cells[cell]
    if len(result.sources) == 1:
        return candidate_name(about)
    return f"{candidate_name(about)} · {source_name(result, about['source'])}"


def _interval_of(
    result: SearchResult, cell: int, level: float
) -> tuple[float | None, float | None]:
    method = _interval_method(result)
    if method is None or result.status(METHODS[method])[cell] == "failed":
        return None, None
    found = result.interval(level, method=method, cell=cell)
    low, high = sorted((score_as_read(result, found.low), score_as_read(result, found.high)))
    return low, high


def _interval_method(result: SearchResult) -> str | None:
    """The honest one where there are target labels; for losses that are no rates it needs them."""
    for method, criterion in (("anchored", "anchored"), ("labelled", "tlv"), ("effective", "trcv")):
        if criterion in result.available() and (result.is_proportion or method != "effective"):
            return method
    return None


# Of 320 searches with 20 and 60 labels (docs/benchmarks/search_regression.md, fresh draws).
HELD = {"anchored": 83, "labelled": 77}


def _interval_words(result: SearchResult, level: float) -> dict[str, Any]:
    method = _interval_method(result)
    if method is None:
        words = "There are no intervals: those of tlv and anchored need labelled target rows."
        return {"level": level, "method": None, "words": words}
    found = result.interval(level, method=method, cell=result.ranking(METHODS[method])[0])
    words = f"Lines are {100 * level:g} % intervals, resting on {found.rests_on}."
    if method == "effective":
        words += " Without target labels their level is not guaranteed."
    elif not result.is_proportion:
        words += (
            " Losses of few rows are skewed, so that they hold the truth less often than that: in"
            f" trials with squared losses {HELD[method]} % of the 90 % intervals of chosen models"
            " did."
        )
    return {"level": level, "method": method, "rests_on": found.rests_on, "words": words}


def _score_name(result: SearchResult) -> str:
    loss = result.about["loss"]
    return "accuracy" if result.is_proportion else f"mean {LOSS_WORDS.get(loss, loss)}"


def _why(result: SearchResult, cell: int, status: str) -> str:
    messages = [f["message"] for f in result.failures if f["cell"] == cell]
    return f"{status}: {messages[0].splitlines()[0]}" if messages else status


def _matrix(result: SearchResult) -> dict[str, Any] | None:
    if len(result.sources) < 2:
        return None
    names = list(dict.fromkeys(candidate_name(cell) for cell in result.cells))
    scores = result.scores()
    values = np.full((len(result.sources), len(names)), np.nan)
    for number, cell in enumerate(result.cells):
        row, column = result.sources.index(cell["source"]), names.index(candidate_name(cell))
        values[row, column] = score_as_read(result, scores[number])
    sources = [source_name(result, source) for source in result.sources]
    return {"sources": sources, "candidates": names, "values": values}


def _pairwise(result: SearchResult, order: list[int]) -> dict[str, Any] | None:
    status = result.status()
    best = [cell for cell in order if status[cell] == "complete"][:MOST_PAIRS]
    if len(best) < 2:
        return None
    method = "paired" if result.labelled is not None else None
    if method or result.criterion in OF_LABELLED_ROWS:
        words = "Both are judged on the same labelled target rows."
    else:
        words = f"From {result.criterion} alone, without target labels: a hint, not a test."
    values = result.prob_better(method=method)[np.ix_(best, best)]
    np.fill_diagonal(values, np.nan)
    names = [full_name(result, cell) for cell in best]
    return {"names": names, "values": values, "words": words}
