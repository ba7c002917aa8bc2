"""One call of a task function, wherever it runs."""

import pickle
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Thread
from typing import Any

from joblib import parallel_config
from sklearn import config_context, get_config

from landbridge._tasks.records import Outcome, Task, TaskFailure, TaskResult, plain_outcome
from landbridge._tasks.threads import one_thread

TaskFunction = Callable[[Any, Any], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Answer:
    """Outcome or failure of one call, and its duration in seconds."""

    outcome: Outcome | None
    failure: TaskFailure | None
    seconds: float

    def as_result(self, index: int, task: Task) -> TaskResult:
        """Return the result together with its task."""
        return TaskResult(index, task, self.outcome, self.failure, self.seconds)

    def sendable(self) -> "Answer":
        """Return the result without an exception that cannot be pickled."""
        if self.failure is None or self.failure.exception is None:
            return self
        error = self.failure.exception
        error.add_note(f"In a worker process:\n{self.failure.traceback}")
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 - made in this line
        except Exception:
            return replace(self, failure=replace(self.failure, exception=None))
        return self


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of the caller that a worker needs: scikit-learn's configuration, warning filters."""

    config: dict[str, Any] = field(default_factory=get_config)
    filters: list[Any] = field(default_factory=lambda: list(warnings.filters))


def call(function: TaskFunction, shared: Any, content: Any) -> Answer:
    """Run the function; any exception except Ctrl-C becomes a failure."""
    started = time.perf_counter()
    outcome, failure = None, None
    try:
        with one_thread():
            outcome = plain_outcome(function(shared, content))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a candidate may raise SystemExit or GeneratorExit
        message = f"{type(error).__name__}: {error}"
        failure = TaskFailure("error", message, traceback.format_exc(), error)
    return Answer(outcome, failure, time.perf_counter() - started)


def call_in_worker(settings: Settings, function: TaskFunction, shared: Any, content: Any) -> Answer:
    """Run the function under the settings of the caller, without nested parallel jobs."""
    with (
        config_context(**settings.config),
        warnings.catch_warnings(),
        parallel_config(backend="sequential", n_jobs=1),
    ):
        warnings.filters[:] = settings.filters  # type: ignore[index]
        return call(function, shared, content)


def call_within(
    fit_timeout: float | None, settings: Settings, function: TaskFunction, shared: Any, content: Any
) -> Answer:
    """Run `call_in_worker` and stop waiting after ``fit_timeout`` seconds.

    A thread cannot be stopped from outside, so the call continues in the background until its
    process ends. Supervised worker processes are stopped instead and do not need this function.
    """
    if fit_timeout is None:
        return call_in_worker(settings, function, shared, content)
    answers: list[Answer] = []
    thread = Thread(
        target=lambda: answers.append(call_in_worker(settings, function, shared, content)),
        daemon=True,
    )
    thread.start()
    thread.join(fit_timeout)
    return answers[0] if answers else timed_out(fit_timeout)


def timed_out(fit_timeout: float) -> Answer:
    """Result of a task that timed out."""
    message = f"Stopped after `fit_timeout` = {fit_timeout:g} s."
    return Answer(None, TaskFailure("timeout", message), fit_timeout)


def cut(seconds: float = 0.0) -> Answer:
    """Result of a task that did not finish within the time budget."""
    state = f"stopped after {seconds:.1f} s" if seconds else "not started"
    return Answer(None, TaskFailure("cut", f"The time budget ended: {state}."), seconds)
