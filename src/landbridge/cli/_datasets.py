"""Tables of any size: several Parquet files as one table, and tables in pieces.

A Parquet table may be a file, a directory (also one with folders like ``region=north``) or a
pattern like ``data/*.parquet``. Nothing here holds more than one piece in memory.
"""

import glob
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from landbridge.cli._errors import InputError
from landbridge.cli._tables import (
    PARQUET_SUFFIXES,
    TEXT_SUFFIXES,
    check_encoding,
    check_file,
    plain_numbers,
    read_table,
)
from landbridge.cli._text_files import TextFile, check_names, check_rectangular

if TYPE_CHECKING:
    import polars as pl

# Cells of a piece: 16 MB of numbers, and a few times that while a model predicts.
CELLS = 2_000_000
LEAST_ROWS = 1000


def find_files(path: Path) -> list[Path]:
    """The files that a path stands for: itself, those in a directory, those of a pattern."""
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
    """Whether a file belongs to the dataset; names with a dot or underscore are bookkeeping."""
    hidden = any(part[0] in "._" for part in file.relative_to(folder).parts)
    return file.suffix.lower() in PARQUET_SUFFIXES and file.is_file() and not hidden


def is_parquet(files: Sequence[Path]) -> bool:
    """Whether the files are read as one Parquet table."""
    return all(file.suffix.lower() in PARQUET_SUFFIXES for file in files)


def scan_parquet(files: Sequence[Path]) -> "pl.LazyFrame":
    """The table in the order of the files; folders like ``region=north`` become a column."""
    import polars as pl

    in_folders = any("=" in part for file in files for part in file.parent.parts)
    return pl.scan_parquet(list(files), hive_partitioning=in_folders)


@dataclass(frozen=True, slots=True)
class Pieces:
    """A table that is read piece by piece, every cell of text files as it is written."""

    place: str
    names: list[str]
    comma_separated: bool
    table: "pl.LazyFrame"
    file: TextFile | None = None

    @classmethod
    def open(cls, path: Path, encoding: str | None = None, missing: Sequence[str] = ()) -> "Pieces":
        """Look at the header, and at the shape of text files."""
        files = find_files(path)
        first = files[0]
        if is_parquet(files):
            check_encoding(first, encoding)
            table = scan_parquet(files)
            with _readable(str(path)):
                return cls(str(path), list(table.collect_schema()), False, table)
        if first.suffix.lower() in TEXT_SUFFIXES:
            file = TextFile.open(first, encoding, missing)
            check_names(first, file.names)
            with _readable(str(path), file):
                check_rectangular(file)
            table = file.scan(set(file.names))
            return cls(str(path), file.names, file.separator == ",", table, file)
        frame = read_table(first, text=None, encoding=encoding, missing=missing)
        return cls(str(path), frame.columns, False, frame.lazy())

    def __iter__(self) -> Iterator["pl.DataFrame"]:
        """Pieces with at least one row; raise for a table without any."""
        n_rows, blank = max(CELLS // max(len(self.names), 1), LEAST_ROWS), _BlankRows(self.place)
        start = 0
        with _readable(self.place, self.file):
            for piece in self.table.collect_batches(chunk_size=n_rows):
                numbers = plain_numbers(piece, self.place, first_row=start)
                start += piece.height
                filled = blank.drop(numbers, start - piece.height)
                if filled.height:
                    yield filled
        if blank.n_filled == 0:
            raise InputError(
                f"{self.place}: the table must have rows below its header; got none. "
                "Check how the file was exported."
            )
        blank.warn()


class _BlankRows:
    """Rows without any cell, which polars makes of empty lines; those at the end are no rows."""

    def __init__(self, place: str):
        self.place = place
        self.n_filled = self.n_inner = self.n_waiting = 0
        self.first: int | None = None

    def drop(self, piece: "pl.DataFrame", start: int) -> "pl.DataFrame":
        import polars as pl

        blank = piece.select(pl.all_horizontal(pl.all().is_null())).to_series()
        n_blank = int(blank.sum())
        self.n_filled += piece.height - n_blank
        if not n_blank and not self.n_waiting:
            return piece
        if n_blank and self.first is None:
            self.first = start + (blank.arg_max() or 0) + 1
        last = (~blank).arg_true().max()
        before = 0 if last is None else int(blank[:last].sum())
        if last is not None:
            self.n_inner += self.n_waiting + before
            self.n_waiting = 0
        self.n_waiting += n_blank - before
        return piece.filter(~blank)

    def warn(self) -> None:
        if self.n_inner:
            warnings.warn(
                f"{self.place}: {self.n_inner} rows are empty and left out, the first is row "
                f"{self.first}.",
                stacklevel=3,
            )


@contextmanager
def _readable(place: str, file: TextFile | None = None) -> Iterator[None]:
    """Turn errors of polars into messages about the table."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        if file is not None and "utf-8" in str(error):
            file.raise_not_utf8()
        raise InputError(
            f"{place}: cannot be read as one table: {str(error).splitlines()[0]}. Its files must "
            "be whole and have the same columns and types."
        ) from error
