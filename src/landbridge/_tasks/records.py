"""Records of tasks and their results."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from landbridge._storage import plain_value

Reason = Literal["error", "timeout", "worker_died", "cut"]
Outcome = dict[str, Any]


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
        The error itself, where it could be sent from its worker.
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


def split_outcome(outcome: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], str]:
    """Arrays of an outcome, and its other values as JSON text."""
    arrays, values = {}, {}
    for name, value in outcome.items():
        if isinstance(value, np.ndarray):
            arrays[name] = _plain_array(name, value)
        else:
            values[name] = value
    return arrays, json.dumps(values, default=plain_value)


def plain_outcome(outcome: Mapping[str, Any]) -> Outcome:
    """The outcome as the cache would return it, so that fresh and cached outcomes are equal."""
    if not isinstance(outcome, Mapping):
        raise TypeError(
            "A task function must return a dictionary of arrays and JSON values; got "
            f"{type(outcome).__name__}."
        )
    arrays, values = split_outcome(outcome)
    return join_outcome(arrays, values, list(outcome))


def join_outcome(arrays: dict[str, np.ndarray], values: str, names: list[str]) -> Outcome:
    """Inverse of `split_outcome`, in the order of ``names``."""
    content = {**json.loads(values), **arrays}
    return {name: content[name] for name in names}


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
