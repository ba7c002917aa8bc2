"""Summary of a search as plain dictionaries: ranking, vote, classes, verdict."""

import math
from typing import Any

import numpy as np

from landbridge._docstrings import documented
from landbridge.inference.agreement import labels_for_accuracy, labels_for_error
from landbridge.inference.label_check import LabelCheck
from landbridge.inspection.search_displays import best_pairs, scores_by_source
from landbridge.labelling.forecast import labels_to_decide
from landbridge.metrics.scoring import check_scoring
from landbridge.model_selection._sources import source_name
from landbridge.model_selection.criteria import CRITERIA
from landbridge.model_selection.search_inference import known_interval, unlabelled_predictions
from landbridge.model_selection.search_records import VOTE
from landbridge.model_selection.search_result import SearchResult
from landbridge.report.blocks import plain, values_of

MOST_PAIRS = 8
MOST_TO_LABEL = 20
REFERENCE_LEVEL = 0.9
# Desired precision of an accuracy, and of an error relative to its size.
WITHIN, WITHIN_ERROR = 0.05, 0.2
CRITERION_WORDS = {
    "scv": "cross-validation on the source, which ignores the target",
    "wcv": "cross-validation on the source, weighted towards the target",
    "rv": "reverse validation: a model trained on target pseudo-labels must predict the source",
    "trcv": "transfer cross-validation: reverse validation weighted towards the target",
    "tcv": "cross-validation on the labelled target rows alone",
    "stv": "training on the source, validation on the labelled target rows",
    "tlv": "validation on labelled target rows, trained on the source and the other labelled rows",
    "anchored": "validation on labelled target rows, combined with the agreement of candidates on "
    "unlabelled rows",
}


@documented
def summarise_search(result: SearchResult, *, level: float = 0.95) -> dict[str, Any]:
    """Summarise a search: ranking with intervals, vote, classes, scores by source, pairs.

    Returns
    -------
    dict
        A section of the summary.
    """
    metric = result.metric
    rows = [_row(result, cell, place, level) for place, cell in enumerate(result.rows(), start=1)]
    of_target = CRITERIA[result.criterion].of_target
    simpler = result.simpler if of_target else None
    parts = {
        "score": metric.label,
        "other_scores": [other.label for other in result.metrics[1:]],
        "higher_is_better": metric.greater_is_better,
        "answer": VOTE if result.answer == VOTE else "candidate",
        "criterion": {"name": result.criterion, "words": _criterion_words(result)},
        "of_target": of_target,
        "interval": _interval_words(result, level),
        "candidates": rows,
        "beats_baseline": beats_baseline(result),
        "baseline": _baseline(result),
        # Simplest candidate that is not significantly worse than the best, unless it is the best.
        "simplest": None if simpler is None else result.labels[simpler],
        "vote": _vote(result),
        "classes": _classes(result),
        "label_check": summarise_label_check(result.label_check_),
        "lead": _lead(result),
        "agreement": None if of_target else _agreement(result),
        "only_class": None if of_target else _only_class(result),
        "labels_needed": None if of_target else _labels_needed(result),
        "worth": _worth(result) if result.target else None,
        "over_time": None,
        "to_decide": _to_decide(result),
        "sampling": _sampling(result),
        "matrix": _matrix(result),
        "pairwise": _pairwise(result),
    }
    return plain(parts)


def _to_decide(result: SearchResult) -> str | None:
    """Number of additional labels needed to decide between the two best candidates."""
    found = labels_to_decide(result)
    if found is None:
        return None
    if math.isinf(found.labels):
        return (
            f"More than {found.budget} labels would likely be needed to decide between "
            f"{found.candidate} and {found.baseline}."
        )
    high = f"more than {found.budget}" if math.isinf(found.high) else f"{found.high:.0f}"
    return (
        f"About {found.labels:.0f} more labels would decide between {found.candidate} and "
        f"{found.baseline} (80 % interval {found.low:.0f} to {high}), if the rows on which the "
        f"two disagree are labelled; the command landbridge label lists them."
    )


def beats_baseline(result: SearchResult) -> bool | None:
    """Whether the selected model has a better score than the majority class or mean."""
    if result.baseline is None:
        return None
    own, other = (result.score_of(cell) for cell in (result.answer, result.baseline))
    if np.isnan(own) or np.isnan(other):
        return None
    return bool(own > other) == result.metric.greater_is_better and own != other


def _row(result: SearchResult, cell: Any, place: int, level: float) -> dict[str, Any]:
    values = result.row(cell, level)
    name = f"vote of {len(result.vote().members)}" if cell == VOTE else values["candidate"]  # type: ignore[union-attr]
    others = [result.score_of(cell, metric) for metric in result.metrics[1:]]
    several = len({one.source for one in result.cells} - {None}) > 1
    source = None if values["source"] is None else source_name(values["source"])
    taken = ("score", "low", "high", "seconds", "role", "status")
    return {
        "rank": place,
        "name": name,
        "source": source,
        "show_source": several and source is not None,
        "other_scores": others,
        "weight": None if cell == VOTE else values["weight"],
        **{key: values[key] for key in taken},
        "note": _note(result, cell, values["status"]),
    }


def _note(result: SearchResult, cell: Any, status: str) -> str:
    if cell == VOTE or status == "complete":
        return ""
    failure = next((failure for failure in result.failures if failure.cell == cell), None)
    if failure is None:
        return status
    status = "cut" if failure.stage == "budget" else status
    return f"{status}: {failure.message.splitlines()[0]}"


def _criterion_words(result: SearchResult) -> str:
    n, info = result.info.n_labelled, result.info
    why = "as requested"
    if info.by_default:
        count = f"{n} labelled target rows" if n != 1 else "1 labelled target row"
        why = f"the default with {count if n else 'no labelled target rows'}"
    words = CRITERION_WORDS[info.criterion]
    if "trcv" in info.criteria and info.criterion == "anchored":
        words += " and with transfer cross-validation"
    return f"Ranked by the criterion {info.criterion}, {why} ({words})."


def _interval_words(result: SearchResult, level: float) -> dict[str, Any]:
    cell = result.answer if result.target else result.best
    found = known_interval(result, level, cell)
    if found is None:
        words = "There are no intervals, because they require labelled target rows."
        return {"level": level, "words": words, "withheld": None}
    if found.withheld is not None:
        words = f"Intervals are withheld, because {found.withheld}."
    else:
        words = f"Intervals of {100 * level:g} % are based on {found.rests_on}."
        if not found.of_target:
            words += " Without target labels their level is not guaranteed."
        if found.note:
            words += f" {found.note}"
    withheld = None if found.withheld is None else str(found.withheld)
    return {"level": level, "method": found.method, "words": words, "withheld": withheld}


def _baseline(result: SearchResult) -> dict[str, Any] | None:
    cell = result.baseline
    if cell is None:
        return None
    return {"name": result.cells[cell].name, "score": result.score_of(cell)}


def _vote(result: SearchResult) -> dict[str, Any] | None:
    vote = result.vote()
    if vote is None or result.answer != VOTE:
        return None
    labels, weights, apart = result.labels, vote.weights, vote.disagreement
    return {
        "members": [
            {"name": labels[cell], "weight": weights[cell], "disagreement": apart[cell]}
            for cell in vote.members
        ],
        "learnt": "labels" if vote.predictions is not None else "criterion",
        "of_classes": result.classes is not None,
    }


def _classes(result: SearchResult) -> dict[str, Any] | None:
    report = result.class_report()
    if report is None:
        return None
    names = [str(name) for name in report.classes]
    suggested: str | None = report.suggested_metric or "balanced_accuracy"
    if suggested == "average_precision":
        (metric,) = check_scoring(suggested, task="classification", classes=result.classes)
        suggested = suggested if metric.positive == report.rarest else "roc_auc"
    if result.metric.label != "accuracy" and result.metric.positive in (None, report.rarest):
        suggested = None  # the metric reflects all classes, or the rarest
    figures = ("recall", "precision", "confusion", "rarest", "never", "seldom")
    return {
        "names": names,
        **values_of(report, *figures, rows="n_rows", predicted="n_predicted", is_rare="imbalanced"),
        "rarest_share": report.shares[report.rarest],
        "suggested_metric": suggested,
    }


def _lead(result: SearchResult) -> dict[str, Any] | None:
    lead = result.lead()
    if lead is None:
        return None
    names = ("best", "rival", "e_value", "probability", "decided")
    return values_of(lead, *names, rows="n_rows")


def _worth(result: SearchResult) -> dict[str, Any]:
    """Whether transfer is shown to be worth it."""
    found = result.worth_transferring()
    unbeaten = [rival.role for rival in found.rivals if not rival.beaten]
    return {**values_of(found, shown="worth", words="message"), "unbeaten": unbeaten}


def _agreement(result: SearchResult) -> dict[str, Any] | None:
    """Reference interval for the accuracy of the selected model without target labels.

    A vote is about as accurate as the candidate closest to it.
    """
    found = result.agreement(REFERENCE_LEVEL)
    if found is None:
        return None
    cells, intervals = found
    closest = int(np.argmax(intervals.agreement))
    own = cells.index(result.answer) if result.answer in cells else closest
    figures = values_of(intervals, "agreement", "low", "high", "estimate")
    return {
        **values_of(intervals, "level", rows="n_rows"),
        **{name: of[own] for name, of in figures.items()},
    }


def _only_class(result: SearchResult) -> str | None:
    """Class that the selected model predicts for all unlabelled rows, if there is only one."""
    found = unlabelled_predictions(result, result.answer)
    if found is None or result.classes is None:
        return None
    predicted = np.unique(found.labels)
    return str(result.classes[predicted[0]]) if predicted.size == 1 else None


def _labels_needed(result: SearchResult) -> dict[str, Any]:
    """Number of random labels needed to measure the score, without target labels."""
    if result.classes is None:
        labels = labels_for_error(within=WITHIN_ERROR)
        return {"labels": labels, "within": WITHIN_ERROR, "accuracy": False}
    found = result.agreement(REFERENCE_LEVEL)
    accuracy = 0.5 if found is None else float(np.max(found[1].estimate))
    labels = labels_for_accuracy(accuracy, within=WITHIN)
    return {"labels": labels, "within": WITHIN, "accuracy": True}


def summarise_label_check(check: LabelCheck | None) -> dict[str, Any] | None:
    """The check of the labelled target rows, or None."""
    if check is None:
        return None
    names = ("representative", "by_design", "withheld", "p_value", "auc", "overlap")
    sizes = {
        "effective_rows": "effective_sample_size",
        "labelled": "n_labelled",
        "unlabelled": "n_unlabelled",
    }
    return {
        **values_of(check, *names, **sizes, words="verdict"),
        "columns": [values_of(c, "name", "shift", "outside", "p_value") for c in check.columns],
        "rows_to_label": check.rows_to_label[:MOST_TO_LABEL],
    }


def _sampling(result: SearchResult) -> str | None:
    info, parts = result.info, []
    if info.kept_rows < info.n_rows:
        parts.append(f"{info.kept_rows} of {info.n_rows} source rows")
    if info.kept_unlabelled < info.n_unlabelled:
        parts.append(f"{info.kept_unlabelled} of {info.n_unlabelled} unlabelled target rows")
    if not parts:
        return None
    return f"Predictions were kept for a random sample of {' and '.join(parts)}."


def _matrix(result: SearchResult) -> dict[str, Any] | None:
    sources, names, values = scores_by_source(result, without_source=False)
    if len(sources) < 2:
        return None
    return {"sources": list(map(source_name, sources)), "candidates": names, "values": values}


def _pairwise(result: SearchResult) -> dict[str, Any] | None:
    best, values = best_pairs(result, MOST_PAIRS)
    if len(best) < 2:
        return None
    if "tlv" in result.available():
        words = "Both are compared on the same labelled target rows."
    else:
        words = f"From {result.criterion} alone, without target labels: a hint, not a test."
    values = np.where(np.eye(len(best), dtype=bool), np.nan, values)  # cached, so not changed
    return {"names": [result.labels[cell] for cell in best], "values": values, "words": words}
