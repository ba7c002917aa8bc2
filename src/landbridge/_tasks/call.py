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
from landbridge._tasks.shared_file import SharedData
from landbridge._tasks.threads import one_thread

TaskFunction = Callable[[Any, Any], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Answer:
    """Outcome or failure of one call, and its duration in seconds."""

    outcome: Outcome | None
    failure: TaskFailure | None
    seconds: float

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


@dataclass(slots=True)
class Attempt:
    """A task that is waiting or running."""

    index: int
    task: Task
    deaths: int = 0
    sent: int = 0
    started: float | None = None

    def result(self, answer: Answer) -> TaskResult:
        """Return the result of the task."""
        return TaskResult(self.index, self.task, answer.outcome, answer.failure, answer.seconds)


@dataclass(frozen=True, slots=True)
class Run:
    """What all tasks of a run have in common; ``deadline`` is a value of `time.monotonic`."""

    function: TaskFunction
    shared: SharedData
    n_jobs: int
    fit_timeout: float | None
    deadline: float | None


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


@dataclass(frozen=True, slots=True)
class RemoteCall:
    """A task function with scikit-learn's configuration and the warning filters of the caller."""

    function: TaskFunction
    config: dict[str, Any] = field(default_factory=get_config)
    filters: list[Any] = field(default_factory=lambda: list(warnings.filters))

    def answer(self, shared: Any, content: Any) -> Answer:
        """Run the function under the settings of the caller, without nested parallel jobs."""
        with (
            config_context(**self.config),
            warnings.catch_warnings(),
            parallel_config(backend="sequential", n_jobs=1),
        ):
            warnings.filters[:] = self.filters  # type: ignore[index]
            return call(self.function, shared, content).sendable()

    def answer_within(self, fit_timeout: float | None, shared: Any, content: Any) -> Answer:
        """Run the function, but stop waiting after ``fit_timeout`` seconds.

        A thread cannot be stopped from outside, so the call continues in the background until its
        process ends. Supervised worker processes are stopped instead and do not need this.
        """
        if fit_timeout is None:
            return self.answer(shared, content)
        answers: list[Answer] = []
        thread = Thread(target=lambda: answers.append(self.answer(shared, content)), daemon=True)
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
