"""Saved results: one ``.npz`` file of arrays and a JSON header, without pickle."""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Self

import numpy as np

from landbridge._docstrings import Documented
from landbridge._storage import load_record, save_record
from landbridge._typing import VectorLike
from landbridge._validation import Task
from landbridge.inference.label_check import LabelCheck, LabelledColumn
from landbridge.metrics._kernels import accuracy
from landbridge.metrics.metric import Metric
from landbridge.metrics.scoring import check_scoring
from landbridge.model_selection.search_records import (
    Cell,
    Failure,
    Predictions,
    SearchInfo,
    SourceRows,
)

# Records inside a result. Functions of metrics are not saved, so any function takes their place
# until `find_metrics` has found them.
PARTS: dict[str, Any] = {
    record.__name__: record
    for record in (Cell, Failure, LabelCheck, LabelledColumn, Predictions, SearchInfo, SourceRows)
} | {"Metric": lambda **values: Metric(kernel=accuracy, **values)}


class SavedResult(Documented):
    """Mixin of results, with the fields ``metrics`` and ``classes``, that adds files."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file of arrays and JSON (``.npz``), without pickle.

        Parameters
        ----------
        path : str or path
            Name of the file.
        """
        save_record(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, scoring: Any = None) -> Self:
        """Load a result written by `save`.

        Parameters
        ----------
        path : str or path
            File written by `save`.
        scoring : str, scorer, callable, list or dict, optional
            Required if the result has user-defined metrics, whose functions are not saved.

        Returns
        -------
        result
            The same result.
        """

        def complete(content: dict[str, Any]) -> dict[str, Any]:
            try:
                metrics = find_metrics(content["metrics"], content["classes"], scoring)
            except ValueError as error:
                names = [metric.name for metric in content["metrics"]]
                raise ValueError(
                    f"`{path}` was saved with user-defined metrics, {names}, which a file cannot "
                    f"hold. Pass scoring= to load. ({error})"
                ) from error
            return content | {"metrics": metrics}

        return load_record(cls, path, parts=PARTS, complete=complete)


def find_metrics(
    saved: tuple[Metric, ...], classes: VectorLike, scoring: Any = None
) -> tuple[Metric, ...]:
    """Find metrics again by their names; raise if a name stands for another metric."""
    task: Task = "regression" if classes is None or not len(classes) else "classification"
    names = [metric.name for metric in saved]
    found = check_scoring(names if scoring is None else scoring, task=task, classes=classes)
    for metric, same in zip(saved, found, strict=False):
        if scoring is None and repr(metric) != repr(same):
            raise ValueError(f"{metric.name!r} is the name of another metric")
    return found


# What the parts of a loaded result must have in common. Each check yields what is wrong, in words.


def wrong_shapes(shape: tuple[int, ...], arrays: Mapping[str, Any]) -> Iterator[str]:
    """Arrays that do not have this shape; None stands for no array."""
    for name, array in arrays.items():
        if array is not None and np.shape(array) != shape:
            yield f"{name!r} must have the shape {shape}; got {np.shape(array)}"


def wrong_positions(end: int, arrays: Mapping[str, Any], start: int = 0) -> Iterator[str]:
    """Arrays with anything but integers from ``start`` to ``end - 1``."""
    for name, array in arrays.items():
        found = np.asarray([] if array is None else array)
        whole = found.dtype.kind in "iu"
        if found.size and not (whole and start <= found.min() <= found.max() < end):
            yield f"{name!r} must hold positions from {start} to {end - 1}; got others"


def wrong_numbers(arrays: Mapping[str, Any], least: float = -np.inf) -> Iterator[str]:
    """Arrays with anything but finite numbers of at least ``least``."""
    for name, array in arrays.items():
        found = np.asarray([] if array is None else array)
        if found.dtype.kind not in "iuf" or not (np.isfinite(found) & (found >= least)).all():
            bound = "" if np.isinf(least) else f" of at least {least}"
            yield f"{name!r} must hold finite numbers{bound}; got others"


def wrong_names(arrays: Mapping[str, Any]) -> Iterator[str]:
    """Arrays with anything but one row of different names."""
    for name, array in arrays.items():
        names = np.unique(array)
        if names.dtype.kind == "V" or names.shape != np.shape(array):
            yield f"{name!r} must hold different names; got others"
