"""Batches of a Parquet or CSV file that does not fit into memory, through polars."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from landbridge._typing import Vector

logger = logging.getLogger(__name__)


def read_batches(
    path: str | Path,
    *,
    label: str,
    domain: str,
    features: Sequence[str] | None = None,
    batch_size: int = 65536,
) -> Iterator[tuple[Any, Vector, Vector]]:
    """Yield (table of features, labels, domains); all columns but two are features by default."""
    table = _scan(Path(path), keep=(label, domain))
    names = _feature_names(table, label, domain, features)
    for batch in table.select(*names, label, domain).collect_batches(chunk_size=batch_size):
        for name in (label, domain):
            if batch[name].null_count():
                raise ValueError(
                    f"Column {name!r} of {str(path)!r} must have a value in every row; got "
                    f"{batch[name].null_count()} missing in one batch. Drop those rows first."
                )
        yield batch.select(names), batch[label].to_numpy(), batch[domain].to_numpy()


def count_rows(path: str | Path) -> int:
    """Number of rows of the file, for a progress bar."""
    import polars as pl

    return int(_scan(Path(path)).select(pl.len()).collect().item())


def with_progress(batches: Iterable[Any], n_rows: int, name: str) -> Iterator[Any]:
    """The batches, with a bar on the terminal where rich is installed, or lines in the log."""
    try:
        from rich.progress import Progress
    except ImportError:
        yield from _logged(batches, n_rows, name)
        return
    with Progress(transient=True) as bar:
        task = bar.add_task(name, total=n_rows)
        for batch in batches:
            yield batch
            bar.advance(task, len(batch[1]))


def _logged(batches: Iterable[Any], n_rows: int, name: str) -> Iterator[Any]:
    done = 0
    for batch in batches:
        yield batch
        done += len(batch[1])
        logger.info("%s: %d of %d rows", name, done, n_rows)


def _scan(path: Path, keep: tuple[str, ...] = ()) -> Any:
    try:
        import polars as pl
    except ImportError as error:
        raise ImportError(
            "Reading files in batches needs polars; it is not installed. "
            "Install it with: pip install 'landbridge[polars]'."
        ) from error
    if not path.exists():
        raise FileNotFoundError(f"`path` must be a Parquet or CSV file; {str(path)!r} is missing.")
    if path.suffix.lower() in (".parquet", ".pq"):
        return pl.scan_parquet(path)
    if path.suffix.lower() == ".csv":
        schema = pl.scan_csv(path, infer_schema_length=10_000).collect_schema()
        # A feature that starts with whole numbers may go on with others.
        whole = [name for name, kind in schema.items() if kind.is_integer() and name not in keep]
        kinds: dict[str, Any] = {**schema, **dict.fromkeys(whole, pl.Float64)}
        return pl.scan_csv(path, schema=kinds)
    raise ValueError(
        f"`path` must end in .parquet, .pq or .csv; got {path.name!r}. Convert the file first."
    )


def _feature_names(
    table: Any, label: str, domain: str, features: Sequence[str] | None
) -> list[str]:
    schema = table.collect_schema()
    for role, name in {"label": label, "domain": domain}.items():
        if name not in schema:
            raise ValueError(
                f"`{role}` must be a column of the file; got {name!r}, the columns are "
                f"{list(schema)[:20]}. Pass the name of the {role} column."
            )
    names = [c for c in schema if c not in (label, domain)] if features is None else list(features)
    absent = [name for name in names if name not in schema]
    if absent or not names:
        raise ValueError(
            f"`features` must be columns of the file; got {absent or 'none'}, the columns are "
            f"{list(schema)[:20]}. Pass names that the file has."
        )
    kinds = {name: schema[name] for name in names}
    text = [
        name for name in names if not (kinds[name].is_numeric() or str(kinds[name]) == "Boolean")
    ]
    if text:
        raise ValueError(
            f"`features` must be numeric columns; got {text[:5]}, which are not. Name the numeric "
            "ones with features=, or encode the others first."
        )
    return names
