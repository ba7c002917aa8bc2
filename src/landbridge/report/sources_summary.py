"""Summary of multiple-source cross-validation as plain dictionaries."""

from typing import Any

import numpy as np

from landbridge._docstrings import documented
from landbridge.inference import Interval
from landbridge.inspection.multi_source_display import QUESTION_WORDS
from landbridge.metrics.metric import Metric
from landbridge.model_selection.multi_source_result import MultiSourceResult
from landbridge.report.blocks import plain

MOST_NAMED = 5


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
        "intervals": [_interval(answer, QUESTION_WORDS[answer.question]) for answer in answers]
        + [_interval(a, f"{QUESTION_WORDS[a.question]}, {a.name}") for a in more],
    }
    return plain(parts)


def _interval(answer: Interval, question: str) -> dict[str, Any]:
    return {
        "question": question,
        "estimate": answer.estimate,
        "low": answer.low,
        "high": answer.high,
        "words": answer.advice(),
    }


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
