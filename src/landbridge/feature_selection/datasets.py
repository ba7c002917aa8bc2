"""Moments of a dataset, computed in parallel over pyarrow row groups or Dask partitions.

Each piece is a separate task. The moments are merged in the order of the pieces, so the result does
not depend on which task finishes first.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from landbridge._extras import import_extra
from landbridge._tasks import Task, TaskProgress, run_tasks
from landbridge.feature_selection.files import Batch, batches_of
from landbridge.feature_selection.labels import Labels
from landbridge.feature_selection.moments import Moments, moments_of_parts


@dataclass(frozen=True, slots=True)
class Sums:
    """Feature names, moments and labels accumulated from a table."""

    names: list[str]
    moments: Moments
    labels: Labels

    def add(self, other: "Sums") -> "Sums":
        """Merge with the sums of other rows."""
        if self.names != other.names:
            raise ValueError(
                f"Selectors must have the same columns to be merged; got {self.names[:5]} … and "
                f"{other.names[:5]} …. Read the same columns in both places."
            )
        labels = self.labels.extend(np.array(other.labels.values))
        theirs = other.moments.map_label(*labels.code_map(other.labels))
        return Sums(self.names, self.moments.merge(theirs), labels)


def total_of(parts: Iterable[Sums]) -> Sums | None:
    """Sums of all parts, None without any."""
    total: Sums | None = None
    for part in parts:
        total = part if total is None else total.add(part)
    return total


def sums_of_batch(batch: Batch) -> Sums:
    """Moments of one batch."""
    labels, parts = Labels(), []
    for rows, y in batch.parts:
        labels = labels.extend(y)
        parts.append((rows, labels.encode(y)))
    return Sums(batch.names, moments_of_parts(batch.domains, parts, len(batch.names)), labels)


def sums_of_dataset(
    dataset: Any, *, n_jobs: int | None, progress: bool, **how: Any
) -> Iterator[Sums]:
    """Yield the sums of each nonempty piece of a dataset, in order."""
    if hasattr(dataset, "to_delayed"):
        outcomes = _on_dask(dataset, how)
    elif hasattr(dataset, "get_fragments"):
        outcomes = _of_fragments(dataset, how, n_jobs, progress)
    else:
        raise TypeError(
            "`dataset` must be a pyarrow dataset or a Dask data frame; got "
            f"{type(dataset).__name__}. Open files with pyarrow.dataset.dataset(path)."
        )
    return (_from_outcome(outcome) for outcome in outcomes if outcome["names"])


def _of_fragments(
    dataset: Any, how: dict[str, Any], n_jobs: int | None, progress: bool
) -> Iterator[dict[str, Any]]:
    """One task per row group."""
    pieces = [
        piece
        for fragment in dataset.get_fragments()
        for piece in (
            fragment.split_by_row_group() if hasattr(fragment, "row_groups") else [fragment]
        )
    ]
    tasks = [Task(piece) for piece in pieces]
    waiting: dict[int, dict[str, Any]] = {}
    position = 0
    with TaskProgress([""] * len(tasks), verbose=progress, name="moments", unit="pieces") as bar:
        shared = (dataset.schema, how)
        for result in run_tasks(_sums_of_fragment, tasks, shared=shared, n_jobs=n_jobs):
            bar.advance(result)
            if result.outcome is None:
                failure = result.failure
                raise failure.exception or RuntimeError(failure.message)  # type: ignore[union-attr]
            waiting[result.index] = result.outcome
            while position in waiting:
                yield waiting.pop(position)
                position += 1


def _on_dask(dataset: Any, how: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Run one Dask task per partition."""
    dask = import_extra("dask", "dask")
    piece = dask.delayed(_sums_of_pandas, pure=False)
    yield from dask.compute(*[piece(part, how) for part in dataset.to_delayed()])


def _sums_of_fragment(shared: tuple[Any, dict[str, Any]], fragment: Any) -> dict[str, Any]:
    pl = import_extra("polars", "polars")
    schema, how = shared
    names = how["features"] and [*how["features"], how["label"], how["domain"]]
    return _as_outcome(pl.from_arrow(fragment.to_table(schema=schema, columns=names)), how)


def _sums_of_pandas(part: Any, how: dict[str, Any]) -> dict[str, Any]:
    pl = import_extra("polars", "polars")
    return _as_outcome(pl.from_pandas(part), how)


def _as_outcome(table: Any, how: dict[str, Any]) -> dict[str, Any]:
    """Convert to the arrays and JSON values that a task returns; an empty piece has no names."""
    found = total_of(map(sums_of_batch, batches_of(table.lazy(), **how)))
    if found is None:
        return {"names": []}
    moments, labels = found.moments, found.labels
    return {
        "names": found.names,
        "domains": moments.domains,
        "counts": moments.counts,
        "means": moments.means,
        "products": moments.products,
        "precision": moments.precision.str,
        "values": list(labels.values),
        "text": labels.text,
    }


def _from_outcome(outcome: dict[str, Any]) -> Sums:
    names = ("domains", "counts", "means", "products")
    arrays = {name: outcome[name] for name in names}
    moments = Moments(**arrays, precision=np.dtype(outcome["precision"]))
    return Sums(outcome["names"], moments, Labels(tuple(outcome["values"]), outcome["text"]))
