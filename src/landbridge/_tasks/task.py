"""One task: its record, its seed, its call, and the result.

Every task runs on one thread of linear algebra. The order of a sum inside a threaded product
depends on the number of threads, so results would differ in the last bits between machines and
between settings of ``OMP_NUM_THREADS``; parallel tasks would also compete for cores.
"""

import json
import pickle
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from types import FrameType
from typing import Any, Literal

import numpy as np
from joblib import parallel_config
from sklearn import config_context, get_config
from sklearn.utils import check_random_state
from threadpoolctl import OpenBLASController, ThreadpoolController

from landbridge._storage import plain_value
from landbridge._typing import RandomState

Reason = Literal["error", "timeout", "worker_died", "cut"]
Outcome = dict[str, Any]
TaskFunction = Callable[[Any, Any], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Task:
    """One call of the task function.

    Attributes
    ----------
    content : object
        Second argument of the function. Keep it small: data belongs in ``shared``.
    kind : str
        Group of tasks of similar duration, for example the name of a candidate. The remaining time
        is estimated per kind.
    key : str or None
        Content hash from `task_key`. A task without a key is never cached.
    """

    content: Any
    kind: str = ""
    key: str | None = None


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """Reason why a task has no outcome.

    Attributes
    ----------
    reason : {"error", "timeout", "worker_died", "cut"}
        The function raised; exceeded ``fit_timeout``; ended its worker process three times; or
        was not finished when the time budget ended.
    message : str
        One sentence.
    traceback : str
        Text of the traceback of an error.
    exception : BaseException or None
        The exception itself, if it could be sent from its worker.
    """

    reason: Reason
    message: str
    traceback: str = ""
    exception: BaseException | None = None


@dataclass(frozen=True, slots=True)
class TaskResult:
    """A task with its outcome or its failure.

    Attributes
    ----------
    index : int
        Position of the task.
    task : Task
        The task.
    outcome : dict or None
        Return value of the function; None for a failure.
    failure : TaskFailure or None
        Reason why there is no outcome.
    seconds : float
        Wall time of the call; for a cached outcome, of the call that produced it.
    cached : bool
        Whether the outcome was read from the cache.
    """

    index: int
    task: Task
    outcome: Outcome | None
    failure: TaskFailure | None
    seconds: float
    cached: bool = False


def spawn_seeds(random_state: RandomState, n_tasks: int) -> list[int]:
    """One seed per task, a function of ``random_state`` and of the index of the task alone."""
    root = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    children = np.random.SeedSequence(root).spawn(n_tasks)
    return [int(child.generate_state(1)[0]) & 0x7FFFFFFF for child in children]


# Outcomes: dictionaries of arrays and JSON values.


def split_outcome(outcome: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], str]:
    """Arrays of an outcome, and its other values as JSON text."""
    arrays, values = {}, {}
    for name, value in outcome.items():
        if isinstance(value, np.ndarray):
            arrays[name] = _plain_array(name, value)
        else:
            values[name] = value
    return arrays, json.dumps(values, default=plain_value)


def join_outcome(arrays: dict[str, np.ndarray], values: str, names: list[str]) -> Outcome:
    """Inverse of `split_outcome`, in the order of ``names``."""
    content = {**json.loads(values), **arrays}
    return {name: content[name] for name in names}


def _plain_outcome(outcome: Mapping[str, Any]) -> Outcome:
    """The outcome as the cache would return it, so that fresh and cached outcomes are equal."""
    if not isinstance(outcome, Mapping):
        raise TypeError(
            "A task function must return a dictionary of arrays and JSON values; got "
            f"{type(outcome).__name__}."
        )
    return join_outcome(*split_outcome(outcome), list(outcome))


def _plain_array(name: str, array: np.ndarray) -> np.ndarray:
    """Read-only, contiguous array that can be saved without pickle; objects must be text."""
    if array.dtype == object and all(isinstance(value, str) for value in array.ravel().tolist()):
        array = array.astype(str)
    if array.dtype.kind in "OV":
        raise TypeError(
            f"`{name}` of a task's outcome must be an array of numbers or of text; got dtype "
            f"{array.dtype}. Convert it with astype first."
        )
    array = np.asarray(array, order="C").view()
    array.flags.writeable = False
    return array


# The call.


@dataclass(frozen=True, slots=True)
class Answer:
    """Outcome or failure of one call, and its duration in seconds."""

    outcome: Outcome | None
    failure: TaskFailure | None
    seconds: float = 0.0

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

    def elapsed(self) -> float:
        """Seconds since the task was started."""
        return 0.0 if self.started is None else time.monotonic() - self.started


def call(function: TaskFunction, shared: Any, content: Any) -> Answer:
    """Run the function; any exception becomes a failure.

    A candidate may raise SystemExit or KeyboardInterrupt itself. Those caused by a signal are
    raised again by `unswallowed_signals`; in its own process, `run_tasks` raises all interrupts.
    """
    started = time.perf_counter()
    outcome, failure = None, None
    try:
        with one_thread():
            outcome = _plain_outcome(function(shared, content))
    except BaseException as error:
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
        thread = threading.Thread(
            target=lambda: answers.append(self.answer(shared, content)), daemon=True
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


# What surrounds a call: one thread of linear algebra, a clock, signals.

_lock = threading.Lock()
_users = 0
_limit: Any = None
_paused = 0.0


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread; ``@one_thread()`` decorates a function.

    The limit belongs to the process, not to the calling thread. Concurrent tasks in threads
    therefore share it: the last one lifts it. If each task restored the limit it found, a task
    that ends early would lift the limit of a task still running. Every task sets it, because the
    caller may have changed it since the first one did; a task that was given up after its
    ``fit_timeout`` counts as running until its thread ends.
    """
    global _users, _limit
    with _lock, _in_control():
        limit = _threadpools(len(sys.modules)).limit(limits=1)
        if not _users:
            _limit = limit
        _users += 1
    try:
        yield
    finally:
        with _lock, _in_control():
            _users -= 1
            if not _users:
                _limit.restore_original_limits()


@contextmanager
def _in_control() -> Iterator[None]:
    """Let this thread set the limit of OpenBLAS.

    Since threadpoolctl 3.8 the first thread that sets it keeps all others from doing so, until it
    ends or gives up control.
    """
    give_up = getattr(OpenBLASController, "clear_controlling_thread", lambda force: None)
    give_up(force=True)
    try:
        yield
    finally:
        give_up(force=True)


@lru_cache(maxsize=1)
def _threadpools(n_modules: int) -> ThreadpoolController:
    """Native libraries of this process, looked up again only after an import."""
    return ThreadpoolController()


def working_time() -> float:
    """Seconds of a clock that times candidates and stands still inside `not_working`."""
    return time.perf_counter() - _paused


@contextmanager
def not_working() -> Iterator[None]:
    """Stop the clock, so that compilation is not counted for the first candidate."""
    global _paused
    started = working_time()
    try:
        yield
    finally:
        # Nested pauses have already moved the clock, so they are not counted twice.
        _paused += working_time() - started


@contextmanager
def unswallowed_signals() -> Iterator[None]:
    """Raise a second time after SIGINT or SIGTERM if the block caught the first exception.

    scikit-learn's neural networks catch KeyboardInterrupt and end their training early. Without
    this, Ctrl-C would stop one fit instead of the search.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread receives signals
        return
    seen: list[tuple[Any, int]] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    replaced = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number, handler in replaced.items():
        signal.signal(number, partial(_note_and_handle, seen, handler))
    try:
        yield
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)
    for noted, received in seen:
        noted(received, None)


def _note_and_handle(
    seen: list[tuple[Any, int]], handler: Any, number: int, frame: FrameType | None
) -> None:
    seen.append((handler, number))
    handler(number, frame)
