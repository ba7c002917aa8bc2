"""Summaries of results as JSON-compatible dictionaries.

Each part of a report comes from one object of the library. Nothing is estimated here: intervals,
probabilities and verdicts are taken from those objects and also expressed in words.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from landbridge._docstrings import documented
from landbridge._version import __version__, versions
from landbridge.inference import Interval
from landbridge.inspection import ShiftDiagnosis
from landbridge.inspection.multi_source_display import QUESTION_WORDS
from landbridge.inspection.shift import LEVEL
from landbridge.metrics.metric import Metric
from landbridge.model_selection.multi_source_result import MultiSourceResult
from landbridge.model_selection.search_result import SearchResult
from landbridge.report.blocks import plain, values_of
from landbridge.report.checks import checks_of
from landbridge.report.search_summary import summarise_search
from landbridge.report.verdict import verdict_sentences

if TYPE_CHECKING:
    from landbridge.feature_selection.path import FeaturePath

FORMAT = 2
MOST_NAMED = 5


@documented
def summarise_shift(diagnoses: Mapping[str, ShiftDiagnosis], *, target: str) -> dict[str, Any]:
    """Summarise the shift of each source, the nearest source first.

    Parameters
    ----------
    diagnoses : mapping of names to ShiftDiagnosis
        One diagnosis per source.
    target : str
        Name of the target.

    Returns
    -------
    dict
        A section of the summary.
    """
    sources = [_diagnosis(name, found) for name, found in diagnoses.items()]
    sources.sort(key=lambda source: source["auc"])
    return plain({"target": target, "sources": sources})


def _diagnosis(name: str, found: ShiftDiagnosis) -> dict[str, Any]:
    sizes = {"effective_rows": "effective_sample_size", "weighted_rows": "n_rows"}
    balance = ("effective_share", "largest_share", "gap_before", "gap_after")
    figures = ("name", "mean_difference", "variance_ratio", "p_value")
    return {
        "source": name,
        **values_of(found, "detected", rows="n_source", words="verdict"),
        **values_of(found.auc, auc="value", auc_low="low", auc_high="high"),
        "mmd_p_value": found.mmd.p_value,
        "n_moved": sum(feature.p_value <= LEVEL for feature in found.features),
        **values_of(found.weighted, *balance, **sizes),
        "features": [values_of(one, *figures, distance="ks") for one in found.features],
    }


@documented
def summarise_sources(result: MultiSourceResult, *, level: float = 0.95) -> dict[str, Any]:
    """Summarise the scores on held-out sources and the three intervals.

    Parameters
    ----------
    result : MultiSourceResult
        Result of multiple-source cross-validation.

    Returns
    -------
    dict
        A section of the summary.
    """
    first, *others = result.metrics
    scores, baseline = result.source_scores(first), result.baseline_scores(first)
    low, high = result.source_intervals(first, level)
    rows = np.bincount(result.source, minlength=len(result.source_names))
    known = np.flatnonzero(~np.isnan(scores))
    beside = [result.source_scores(metric) for metric in others]
    questions = result.questions
    answers = [result.interval(question, level, first) for question in questions]
    more = [result.interval(q, level, metric) for metric in others for q in questions[:1]]
    parts = {
        "metric": first.label,
        "other_metrics": [metric.label for metric in others],
        "level": level,
        "words": [answer.describe() + "." for answer in answers[:1]]
        + [_against_constant(result, first, scores, baseline)],
        "per_source": [
            {
                "source": str(result.source_names[k]),
                "rows": rows[k],
                "mean": scores[k],
                "low": low[k],
                "high": high[k],
                "baseline": baseline[k],
                "other_metrics": [values[k] for values in beside],
            }
            for k in known
        ],
        "intervals": [_interval(a, QUESTION_WORDS[a.question], first.label) for a in answers]
        + [_interval(a, f"{QUESTION_WORDS[a.question]}, {a.name}", a.name) for a in more],
    }
    return plain(parts)


def _interval(answer: Interval, question: str, metric: str) -> dict[str, Any]:
    ends = values_of(answer, "estimate", "low", "high")
    return {"question": question, "metric": metric, **ends, "words": answer.advice()}


def _against_constant(
    result: MultiSourceResult, metric: Metric, scores: np.ndarray, baseline: np.ndarray
) -> str:
    guess = "mean label" if result.task == "regression" else "majority class"
    known = ~np.isnan(scores + baseline)
    behind = known & (metric.loss(scores) >= metric.loss(baseline))
    if not behind.any():
        return f"It beats always predicting a source's own {guess} on every source."
    names = [str(name) for name in result.source_names[behind]]
    shown = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
    return (
        f"It does not beat always predicting a source's own {guess} on {len(names)} of "
        f"{known.sum()} sources: {shown}."
    )


@documented
def summarise_features(
    path: "FeaturePath", names: Sequence[str], *, criterion: str = "t"
) -> dict[str, Any]:
    """Summarise the kept steps of a T-greedy path, with the effects per domain.

    Parameters
    ----------
    path : FeaturePath
        Path of a fitted `TGreedySelector`.
    names : sequence of str
        Names of the features.
    criterion : str, default="t"
        Criterion of the selector, to be named in the text.

    Returns
    -------
    dict
        A section of the summary.
    """
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
        words = [
            found,
            "T is the mean effect divided by its standard error over domains. It is small where "
            "domains disagree.",
        ]
    else:
        words = [f"No feature has a stable effect across {len(domains)} domains."]
    return plain({"words": words, "domains": domains, "picked": picked})


@documented
def summarise_origin(*, command: str = "", seed: int | None = None) -> dict[str, Any]:
    """Summarise the date, seed, versions and command of a run.

    Parameters
    ----------
    command : str, default=""
        Command that made the report.
    seed : int or None, optional
        Seed of the run.

    Returns
    -------
    dict
        A section of the summary.

    Examples
    --------
    >>> from landbridge.report import summarise_origin
    >>> sorted(summarise_origin(command="landbridge select wine.csv", seed=0))
    ['command', 'date', 'seed', 'versions']
    """
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return {"date": date, "seed": seed, "command": command, "versions": versions()}


@documented
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
    """Assemble a report: its parts, the verdict in a few sentences, and the checks.

    Parameters
    ----------
    title : str
        Title of the report.
    target : str
        Name of the target.
    origin : dict
        Section made by `summarise_origin`.
    data : dict, optional
        Section made by `summarise_data`.
    shift : dict, optional
        Section made by `summarise_shift`.
    sources : dict, optional
        Section made by `summarise_sources`.
    features : dict, optional
        Section made by `summarise_features`.
    warnings : sequence of str, default=()
        Messages to show among the checks.

    Returns
    -------
    dict
        Input of `render_html` and the other renderers.

    Examples
    --------
    >>> from landbridge.report import summarise, summarise_origin
    >>> summary = summarise(title="Wines", target="white", origin=summarise_origin(seed=0))
    >>> summary["title"], summary["ranking"]
    ('Wines', None)
    """
    summary: dict[str, Any] = {
        "kind": "landbridge report",
        "format": FORMAT,
        "title": title,
        "subtitle": f"landbridge {__version__}, {origin['date'][:10]}",
        "verdict": [],
        "checks": [],
        "ranking": None if result is None else summarise_search(result, level=level),
        "shift": shift,
        "sources": sources,
        "features": features,
        "data": data,
        "origin": origin,
    }
    if summary["ranking"] is not None:
        summary["verdict"] = verdict_sentences(summary["ranking"], target)
    summary["checks"] = checks_of(summary) + [
        {"name": "Warning", "state": "caution", "text": text} for text in warnings
    ]
    return summary
