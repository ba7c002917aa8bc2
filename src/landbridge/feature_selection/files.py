"""Read a Parquet or CSV file in batches with polars."""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from landbridge._extras import import_extra
from landbridge._tasks import Progress
from landbridge._typing import Vector
from landbridge._validation import check_finite


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of a file: feature names, sorted domains, and the rows and labels of each domain."""

    names: list[str]
    domains: Vector
    parts: list[tuple[np.ndarray, Vector]]

    def __len__(self) -> int:
        return sum(labels.size for _, labels in self.parts)


def read_batches(
    path: str | Path,
    *,
    label: str,
    domain: str,
    features: Sequence[str] | None = None,
    dtype: str | None = None,
    batch_size: int = 32768,
) -> Generator[Batch, None, None]:
    """Read a file; all columns but ``label`` and ``domain`` are features by default.

    Rows are split by domain in columnar form, which is cheaper than sorting the rows of a matrix.
    """
    with _polars_errors(path):
        table = _scan(Path(path), keep=(label, domain))
        if table.head(1).collect().is_empty():
            raise ValueError(f"`path` must have at least one row; {str(path)!r} has none.")
        yield from batches_of(
            table, label=label, domain=domain, features=features, dtype=dtype, batch_size=batch_size
        )


def batches_of(
    table: Any,
    *,
    label: str,
    domain: str,
    features: Sequence[str] | None,
    dtype: str | None,
    batch_size: int,
) -> Iterator[Batch]:
    """Batches of a lazy table of polars."""
    pl = import_extra("polars", "polars")
    schema = table.collect_schema()
    _check_roles(schema, label, domain)
    names = _feature_names(schema, label, domain, features)
    single = dtype == "float32" or (
        dtype is None and all(schema[name] == pl.Float32 for name in names)
    )
    numbers = pl.col(names).cast(pl.Float32 if single else pl.Float64)
    answers, sites = pl.col(label), pl.col(domain)
    if schema[label].is_decimal():
        answers = answers.cast(pl.Float64)
    if schema[domain].is_decimal() or schema[domain].is_temporal():
        sites = sites.cast(pl.String)
    for batch in table.select(numbers, answers, sites).collect_batches(chunk_size=batch_size):
        if batch.height:
            yield _split(batch, names, label, domain)


def count_rows(path: str | Path) -> int:
    """Number of rows of the file, for the progress bar."""
    with _polars_errors(path) as pl:
        return int(_scan(Path(path)).select(pl.len()).collect().item())


def with_progress(batches: Iterable[Batch], n_rows: int, name: str) -> Generator[Batch, None, None]:
    """Yield the batches and report progress on the terminal or in the log."""
    with Progress(name, n_rows, unit="rows") as progress:
        for batch in batches:
            yield batch
            progress.advance(len(batch))


@contextmanager
def _polars_errors(path: str | Path) -> Iterator[Any]:
    """Context that yields the polars module and adds advice to its errors."""
    pl = import_extra("polars", "polars")
    try:
        yield pl
    except pl.exceptions.PolarsError as error:
        raise ValueError(
            "`path` must be a readable table with one type per column and, for a CSV file, "
            f"comma-separated columns; reading {str(path)!r} failed: "
            f"{str(error).splitlines()[0]}. Correct the file, or convert it to Parquet."
        ) from error


def _split(batch: Any, names: list[str], label: str, domain: str) -> Batch:
    """The rows and labels of each domain, checked."""
    _check_complete(batch, label, domain)
    by_name = {key[0]: part for key, part in batch.partition_by(domain, as_dict=True).items()}
    found = sorted(by_name)
    parts = [
        (by_name[key].select(names).to_numpy(writable=True), by_name[key][label].to_numpy())
        for key in found
    ]
    for key, (rows, _) in zip(found, parts, strict=True):
        check_finite(rows, f"rows of domain {key!r} in one batch", names)
    return Batch(names, np.array(found), parts)


def _check_complete(batch: Any, *columns: str) -> None:
    for name in columns:
        values = batch[name]
        missing = values.null_count()
        if values.dtype.is_float():
            missing += (~values.is_finite()).sum()
        if missing:
            raise ValueError(
                f"Column {name!r} must have a finite value in every row; got {missing} missing or "
                "infinite values in one batch. Drop those rows first."
            )


def _check_roles(schema: Any, label: str, domain: str) -> None:
    """Raise unless label and domain are two columns of the right kinds."""
    for role, name in {"label": label, "domain": domain}.items():
        if name not in schema:
            raise ValueError(
                f"`{role}` must be a column of the file; got {name!r}, but the columns are "
                f"{list(schema)[:20]}. Pass the name of the {role} column. The columns of a CSV "
                "file must be separated by commas."
            )
        kind = schema[name]
        if kind.is_nested() or (role == "label" and kind.is_temporal()):
            raise ValueError(
                f"`{role}` must be a column of numbers, text or booleans; {name!r} contains "
                f"{kind}. Pass another column, or convert this one first."
            )
    if label == domain:
        raise ValueError(
            f"`label` and `domain` must be two columns; got {label!r} for both. Pass the label "
            "column and the column that names the domain."
        )


def _scan(path: Path, keep: tuple[str, ...] = ()) -> Any:
    pl = import_extra("polars", "polars")
    if not path.exists():
        raise FileNotFoundError(f"`path` must be a Parquet or CSV file; {str(path)!r} is missing.")
    if path.suffix.lower() in (".parquet", ".pq"):
        return pl.scan_parquet(path)
    if path.suffix.lower() == ".csv":
        schema = pl.scan_csv(path, infer_schema_length=10_000).collect_schema()
        # A feature that starts with integers may contain other numbers later.
        whole = [name for name, kind in schema.items() if kind.is_integer() and name not in keep]
        kinds: dict[str, Any] = {**schema, **dict.fromkeys(whole, pl.Float64)}
        return pl.scan_csv(path, schema=kinds)
    raise ValueError(
        f"`path` must end in .parquet, .pq or .csv; got {path.name!r}. Convert the file first."
    )


def _feature_names(
    schema: Any, label: str, domain: str, features: Sequence[str] | None
) -> list[str]:
    names = [c for c in schema if c not in (label, domain)]
    if features is not None:
        names = [features] if isinstance(features, str) else list(features)
    counts = Counter(names)
    strange = [c for c in counts if c not in schema or c in (label, domain) or counts[c] > 1]
    if strange or not names:
        raise ValueError(
            f"`features` must be columns of the file other than label and domain; got "
            f"{strange or 'none'}, but the columns are {list(schema)[:20]}. Pass each feature "
            "name once."
        )
    text = [c for c in names if not (schema[c].is_numeric() or str(schema[c]) == "Boolean")]
    if text:
        raise ValueError(
            f"`features` must be numeric columns; got {text[:5]}, which are not numeric. Pass "
            "the numeric columns as features=, or encode the others first."
        )
    return names
