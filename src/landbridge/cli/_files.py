"""Find the files given by a path on the command line.

A Parquet table may be a file, a directory (with or without folders like ``region=north``) or a
pattern like ``data/*.parquet``. Other tables are single files.
"""

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from landbridge.cli._session import InputError, nearest

if TYPE_CHECKING:
    import polars as pl

TEXT_SUFFIXES = {".csv", ".tsv", ".txt"}
PARQUET_SUFFIXES = {".parquet", ".pq"}
JSON_SUFFIXES = {".jsonl", ".ndjson"}
EXCEL_SUFFIXES = {".xlsx", ".xls", ".ods"}
SUFFIXES = TEXT_SUFFIXES | PARQUET_SUFFIXES | JSON_SUFFIXES | EXCEL_SUFFIXES


def find_files(path: Path) -> list[Path]:
    """List the files given by a path: one file, a directory or a pattern."""
    if path.is_dir():
        files = [file for file in path.rglob("*") if _is_part(file, path)]
        if not files:
            raise InputError(
                f"{path}: a directory must hold Parquet files; got none. Name the file to read."
            )
    elif glob.has_magic(str(path)) and not path.exists():
        files = [Path(name) for name in glob.glob(str(path), recursive=True)]
        if not files:
            raise InputError(f"{path}: no file matches the pattern. Check the folder and the name.")
        other = [file for file in files if file.suffix.lower() not in PARQUET_SUFFIXES]
        if other:
            raise InputError(
                f"{path}: a pattern must match Parquet files only; got {other[0]}. Convert it, or "
                "give the files one by one as name=path."
            )
    else:
        files = [path]
    for file in files:
        check_file(file)
    return sorted(files)


def _is_part(file: Path, folder: Path) -> bool:
    """Whether a file belongs to the dataset; names starting with a dot or underscore do not."""
    hidden = any(part[0] in "._" for part in file.relative_to(folder).parts)
    return file.suffix.lower() in PARQUET_SUFFIXES and file.is_file() and not hidden


def is_parquet(files: Sequence[Path]) -> bool:
    """Whether the files are read as one Parquet table."""
    return all(file.suffix.lower() in PARQUET_SUFFIXES for file in files)


def scan_parquet(files: Sequence[Path]) -> "pl.LazyFrame":
    """The table in the order of the files; folders like ``region=north`` become a column."""
    import polars as pl

    # Limit how many row groups polars reads ahead, so that memory depends on the size of a piece.
    # Reading takes only a small part of the time.
    os.environ.setdefault("POLARS_ROW_GROUP_PREFETCH_SIZE", "1")
    in_folders = any("=" in part for file in files for part in file.parent.parts)
    return pl.scan_parquet(list(files), hive_partitioning=in_folders)


def check_file(path: Path) -> None:
    """Raise if a path is not a file of a known kind."""
    if not path.exists():
        there = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(
            f"{path}: no such file.{nearest(path.name, there)} "
            "Give the path of a CSV, TSV, Parquet, Excel or JSON lines file."
        )
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"{path}: the name must end in {', '.join(sorted(SUFFIXES))}, which says how to "
            f"read it; got {path.suffix or 'no ending'!r}. Rename or convert the file."
        )
    if not path.is_file():
        raise InputError(
            f"{path}: must be a regular file; got a pipe or a device. Save its content first."
        )
    if path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty. Check how it was exported.")


def check_encoding(path: Path, encoding: str | None) -> None:
    """Raise if --encoding is used with a format that defines its own."""
    if encoding is not None and path.suffix.lower() not in TEXT_SUFFIXES:
        raise InputError(
            f"{path}: --encoding must come with a text file ({', '.join(sorted(TEXT_SUFFIXES))}); "
            "other formats carry their own. Leave it out."
        )
