"""Running one planned fit: rows in, pointwise losses out, and a record where it fails."""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from landbridge._typing import Vector, VectorLike
from landbridge.model_selection import roles
from landbridge.model_selection.label_floor import describe_labels
from landbridge.model_selection.losses import Loss, pointwise_loss, predicted_labels
from landbridge.model_selection.plan import Fit
from landbridge.model_selection.sources import Source
from landbridge.model_selection.tables import SearchData


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong in a fit, in words and with its traceback."""

    message: str
    traceback: str


@dataclass(slots=True)
class Outcome:
    """Losses by the array they fill, on ``rows`` of the source or of the labelled target."""

    rows: VectorLike = None
    losses: dict[str, Vector] = field(default_factory=dict)
    guesses: VectorLike = None
    pseudo_labels: VectorLike = None
    ballot: VectorLike = None
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    constants: int = 0
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A planned fit with everything it needs besides the data."""

    fit: Fit
    estimator: Any
    source: Source
    target_folds: VectorLike
    loss: Loss
    seed: int
    record_errors: bool


def run_job(data: SearchData, job: Job) -> Outcome:
    """Fit and predict as the stage asks; errors are recorded or raised as the job asks."""
    outcome = Outcome()
    try:
        STAGES[job.fit.stage](data, job, outcome)
    except Exception as error:
        if not job.record_errors:
            raise
        outcome.failure = Failure(f"{type(error).__name__}: {error}", traceback.format_exc())
    return outcome


def _source_fold(data: SearchData, job: Job, outcome: Outcome) -> None:
    train, test = job.source.split(job.fit.fold)
    model = _fit(data, job, outcome, roles.forward(data, job.estimator, train))
    X, y = _safe_indexing(data.X, test), data.y[test]
    outcome.rows = test
    if "forward" in job.fit.fills:
        outcome.losses["forward"] = _validate(job, outcome, model, X, y)
    if "reverse" in job.fit.fills:
        labels = _timed_predict(outcome, predicted_labels, model, data.rows_to_label)
        outcome.ballot = data.encode(labels)
        back = roles.reverse(data, job.estimator, labels, test)
        model = _fit(data, job, outcome, back)
        outcome.losses["reverse"] = _validate(job, outcome, model, X, y)
        outcome.pseudo_labels = describe_labels(job.loss, labels, data.classes)


def _target_fold(data: SearchData, job: Job, outcome: Outcome) -> None:
    train, test = _target_split(job)
    rows = roles.labelled(data, job.source.rows, train)
    _validate_on_target(data, job, outcome, _fit(data, job, outcome, rows), test)


def _target_alone(data: SearchData, job: Job, outcome: Outcome) -> None:
    train, test = _target_split(job)
    rows = roles.target_alone(data, train)
    _validate_on_target(data, job, outcome, _fit(data, job, outcome, rows), test)


def _source_to_target(data: SearchData, job: Job, outcome: Outcome) -> None:
    rows = roles.source_to_target(data, job.source.rows)
    test = np.arange(data.n_labelled)
    _validate_on_target(data, job, outcome, _fit(data, job, outcome, rows), test)


STAGES: dict[str, Callable[[SearchData, Job, Outcome], None]] = {
    "source_fold": _source_fold,
    "target_fold": _target_fold,
    "target_alone": _target_alone,
    "source_to_target": _source_to_target,
}


def _target_split(job: Job) -> tuple[Vector, Vector]:
    held_out = job.target_folds == job.fit.fold
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def _validate_on_target(
    data: SearchData, job: Job, outcome: Outcome, model: Any, test: Vector
) -> None:
    X, y = _safe_indexing(data.X_target, test), data.y_target[test]
    losses = _validate(job, outcome, model, X, y)
    outcome.rows = test
    outcome.losses = {name: losses for name in job.fit.fills if name != "guesses"}
    if "guesses" in job.fit.fills:
        guesses = _timed_predict(outcome, predicted_labels, model, data.rows_to_label)
        outcome.guesses = data.encode(guesses)


def _fit(data: SearchData, job: Job, outcome: Outcome, rows: roles.Training) -> Any:
    started = time.perf_counter()
    model = roles.fit_candidate(job.estimator, rows, task=data.task, seed=job.seed)
    outcome.fit_seconds += time.perf_counter() - started
    outcome.constants += isinstance(model, roles.OneClass)
    return model


def _validate(job: Job, outcome: Outcome, model: Any, X: Any, y: Vector) -> Vector:
    return _timed_predict(outcome, pointwise_loss, job.loss, model, X, y)


def _timed_predict(outcome: Outcome, function: Callable[..., Any], *arguments: Any) -> Any:
    started = time.perf_counter()
    answer = function(*arguments)
    outcome.predict_seconds += time.perf_counter() - started
    return answer
