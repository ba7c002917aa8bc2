"""Saved search results: one ``.npz`` file of arrays and a JSON header, without pickle."""

import json
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from landbridge import _storage
from landbridge._version import __version__
from landbridge.inference.label_check import LabelCheck, LabelledColumn
from landbridge.metrics.metric import Metric
from landbridge.metrics.scoring import check_scoring
from landbridge.model_selection.search_records import (
    KEPT,
    Cell,
    Failure,
    Predictions,
    SearchInfo,
    SourceRows,
)

if TYPE_CHECKING:
    from landbridge.model_selection.search_result import SearchResult

FORMAT = 3
PLAIN = (
    "y", "y_target", "classes", "target_folds", "unlabelled_rows", "sample_weight",
    "sample_weight_target", "target_groups",
)  # fmt: skip


def pack(result: "SearchResult") -> tuple[str, dict[str, np.ndarray]]:
    """Convert a result, without the functions of its metrics, to a JSON header and arrays."""
    arrays = {name: getattr(result, name) for name in PLAIN if getattr(result, name) is not None}
    for number, source in enumerate(result.sources):
        arrays[f"source {number} rows"] = source.rows
        arrays[f"source {number} folds"] = source.folds
        if source.weights is not None:
            arrays[f"source {number} weights"] = source.weights
    for name in KEPT:
        for cell, found in enumerate(getattr(result, name)):
            if found is not None:
                arrays[f"{name} {cell} values"] = found.values
                if found.labels is not None:
                    arrays[f"{name} {cell} labels"] = found.labels
    check = result.label_check_
    header = {
        "format": FORMAT,
        "landbridge": __version__,
        "record": "SearchResult",
        "cells": [asdict(cell) for cell in result.cells],
        "sources": [source.name for source in result.sources],
        "failures": [asdict(failure) for failure in result.failures],
        "info": asdict(result.info),
        "kept": [name for name in KEPT if getattr(result, name)],
        "label_check": None if check is None else asdict(check),
    }
    arrays = {name: _storage.plain_array(array, name) for name, array in arrays.items()}
    return json.dumps(header, default=_plain), arrays


def unpack(
    cls: "type[SearchResult]",
    header: dict[str, Any],
    arrays: dict[str, np.ndarray],
    path: Any,
    *,
    scoring: Any = None,
    metrics: tuple[Metric, ...] | None = None,
) -> "SearchResult":
    """Inverse of `pack`, which checks that the arrays are consistent."""
    _check_header(header, path)
    try:
        return _unpack(cls, header, arrays, path, scoring, metrics)
    except (TypeError, KeyError, IndexError, AttributeError) as error:
        raise ValueError(
            f"`{path}` is damaged or was edited: {type(error).__name__}: {error}. Restore the "
            f"file from the original."
        ) from error


def _unpack(
    cls: "type[SearchResult]",
    header: dict[str, Any],
    arrays: dict[str, np.ndarray],
    path: Any,
    scoring: Any,
    metrics: tuple[Metric, ...] | None,
) -> "SearchResult":
    header = _storage.as_tuple(header)
    info = SearchInfo(**header["info"])
    if metrics is None:
        metrics = _metrics(info, arrays.get("classes"), scoring, path)
    cells = tuple(Cell(**values) for values in header["cells"])
    sources = _sources(header["sources"], arrays, path)
    parts: dict[str, Any] = {name: arrays.get(name) for name in PLAIN}
    _check_rows(parts, sources, cells, path)
    for name in header["kept"]:
        parts[name] = tuple(
            _predictions(
                arrays, name, cell, _expected_rows(name, cells[cell], sources, parts), path
            )
            for cell in range(len(cells))
        )
    return cls(
        cells=cells,
        sources=sources,
        failures=tuple(Failure(**values) for values in header["failures"]),
        info=info,
        metrics=metrics,
        label_check_=_label_check(header["label_check"]),
        **parts,
    )


def _check_header(header: dict[str, Any], path: Any) -> None:
    if header.get("record") != "SearchResult":
        raise ValueError(
            f"`{path}` must hold a saved SearchResult; got a saved {header.get('record')}. Read it "
            f"with {header.get('record')}.load."
        )
    if header.get("format") != FORMAT:
        raise ValueError(
            f"`{path}` must have format {FORMAT}, which keeps the costs of predictions; got format "
            f"{header.get('format')}, saved by landbridge {header.get('landbridge')}. Search again "
            f"with landbridge {__version__}."
        )


def _metrics(info: Any, classes: Any, scoring: Any, path: Any) -> Any:
    try:
        return check_scoring(
            list(info.scoring) if scoring is None else scoring, task=info.task, classes=classes
        )
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"`{path}` was saved with user-defined metrics, {list(info.scoring)}, which a file "
            f"cannot hold. Pass scoring= to load. ({error})"
        ) from error


def _label_check(values: dict[str, Any] | None) -> LabelCheck | None:
    if values is None:
        return None
    columns = tuple(LabelledColumn(**column) for column in values["columns"])
    arrays = {name: np.asarray(values[name]) for name in ("weights", "rows_to_label")}
    known = {name: values[name] for name in {part.name for part in fields(LabelCheck)}}
    return LabelCheck(**known | arrays | {"columns": columns})


def _sources(names: list[Any], arrays: dict[str, np.ndarray], path: Any) -> tuple[SourceRows, ...]:
    return tuple(
        SourceRows(
            name,
            _array(arrays, f"source {number} rows", path),
            _array(arrays, f"source {number} folds", path),
            arrays.get(f"source {number} weights"),
        )
        for number, name in enumerate(names)
    )


def _predictions(
    arrays: dict[str, np.ndarray], name: str, cell: int, n_rows: int, path: Any
) -> Predictions | None:
    values = arrays.get(f"{name} {cell} values")
    if values is None:
        return None
    labels = arrays.get(f"{name} {cell} labels")
    for array in (values, labels):
        if array is not None and array.shape[0] != n_rows:
            _refuse(path, f"{name} {cell}", f"{n_rows} rows", f"{array.shape[0]}")
    return Predictions(values, labels)


def _expected_rows(name: str, cell: Any, sources: Any, parts: dict[str, Any]) -> int:
    if name in ("source", "reverse"):
        return sources[cell.source_index].rows.size
    return len(parts["unlabelled_rows" if name == "unlabelled" else "y_target"])


def _check_rows(parts: dict[str, Any], sources: Any, cells: Any, path: Any) -> None:
    n_rows = len(parts["y"])
    for number, source in enumerate(sources):
        name = f"source {number}"
        if source.folds.shape != source.rows.shape:
            _refuse(path, f"{name} folds", f"{source.rows.size} rows", f"{source.folds.size}")
        if source.rows.size and not 0 <= source.rows.min() <= source.rows.max() < n_rows:
            _refuse(path, f"{name} rows", f"row numbers below {n_rows}", "others")
        weights = source.weights
        if weights is not None:
            sound = weights.shape == source.rows.shape and np.isfinite(weights).all()
            if not sound or (weights < 0).any():
                _refuse(path, f"{name} weights", "finite weights of at least 0", "others")
    for number, cell in enumerate(cells):
        if not 0 <= cell.source_index < len(sources):
            _refuse(path, f"cell {number}", f"one of {len(sources)} sources", cell.source_index)
    classes = parts["classes"]
    for name in ("y", "y_target"):
        labels = parts[name]
        if classes is None or labels is None or not labels.size:
            continue
        if not 0 <= labels.min() <= labels.max() < len(classes):
            _refuse(path, name, f"positions of {len(classes)} classes", "others")
    for name in ("target_folds", "sample_weight_target", "target_groups"):
        if parts[name] is not None and len(parts[name]) != len(parts["y_target"]):
            _refuse(path, name, f"{len(parts['y_target'])} rows", len(parts[name]))


def _array(arrays: dict[str, np.ndarray], name: str, path: Any) -> np.ndarray:
    if name not in arrays:
        _refuse(path, name, "an array", "none")
    return arrays[name]


def _refuse(path: Any, name: str, expected: str, found: Any) -> None:
    raise ValueError(
        f"`{path}` is damaged or was edited: {name!r} must hold {expected}; got {found}. Restore "
        f"the file from the original."
    )


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    return _storage.plain_value(value)
