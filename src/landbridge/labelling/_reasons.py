"""Reasons for choosing a row, in words."""

from typing import TYPE_CHECKING, Any

import numpy as np

from landbridge._typing import Vector
from landbridge.inference.intervals import format_number
from landbridge.labelling.design import Scores
from landbridge.labelling.pool import Pool

if TYPE_CHECKING:
    from landbridge.labelling.planner import LabelPlanner

RANDOM = "random row, to keep the estimates unbiased"


def reasons(
    planner: "LabelPlanner", pool: Pool, rows: Vector, scores: Scores, weights: Vector | None
) -> list[str]:
    """One reason per row."""
    classes = None if planner.classes_ is None else np.asarray(planner.classes_).tolist()
    least = 1e-9 * float(np.max(scores.values))
    told = []
    for row in rows.tolist():
        if scores.values[row] <= least:
            told.append(RANDOM)
        elif planner.goal == "prove":
            told.append(_both(pool, row, planner.candidate_, planner.baseline_, classes))
        elif planner.goal == "choose":
            told.append(_dispute(pool, row, weights, classes))
        elif planner.goal == "measure":
            said = _said(pool, row, planner.candidate_, classes)
            told.append(f"{planner.candidate_} predicts {said} and may be wrong")
        else:
            told.append("the classes are nearly tied" if classes else "the candidates differ most")
    return told


def _both(pool: Pool, row: int, first: str, second: str, classes: Any) -> str:
    mine, theirs = (_said(pool, row, name, classes) for name in (first, second))
    return f"{first}: {mine}, {second}: {theirs}"


def _dispute(pool: Pool, row: int, weights: Any, classes: Any) -> str:
    """Predictions of the leader and of the most likely rival that disagrees with it."""
    order = np.argsort(-weights, kind="stable").tolist()
    leader = order[0]
    answers = (pool.labels if pool.is_classification else pool.values)[:, row]
    for rival in order[1:]:
        if answers[rival] != answers[leader]:
            return _both(pool, row, pool.names[leader], pool.names[rival], classes)
    return RANDOM


def _said(pool: Pool, row: int, name: str, classes: Any) -> str:
    cell = pool.names.index(name)
    if not pool.is_classification:
        return format_number(float(pool.values[cell, row]))
    return str(classes[pool.labels[cell, row]])
