"""Read tables in pieces, of which only a few are in memory at a time."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from landbridge.cli._files import (
    TEXT_SUFFIXES,
    check_encoding,
    find_files,
    is_parquet,
    scan_parquet,
)
from landbridge.cli._session import InputError
from landbridge.cli._tables import plain_numbers, read_table
from landbridge.cli._text_files import TextFile, check_names, check_rectangular

if TYPE_CHECKING:
    import polars as pl

# Number of cells per piece: 4 MB of numbers, and several times that while a model predicts.
CELLS = 500_000
LEAST_ROWS = 1000
# Number of pieces per query. Polars reads ahead, so one query over a large file would fill the
# memory.
WINDOW = 10


@dataclass(frozen=True, slots=True)
class Pieces:
    """A table that is read piece by piece, without converting the cells of text files."""

    place: str
    names: list[str]
    comma_separated: bool
    table: "pl.LazyFrame"
    file: TextFile | None = None

    @classmethod
    def open(cls, path: Path, encoding: str | None = None, missing: Sequence[str] = ()) -> "Pieces":
        """Read the header, and check that all lines of a text file have equally many cells."""
        files = find_files(path)
        first = files[0]
        if is_parquet(files):
            check_encoding(first, encoding)
            table = scan_parquet(files)
            with readable(str(path)):
                return cls(str(path), list(table.collect_schema()), False, table)
        if first.suffix.lower() in TEXT_SUFFIXES:
            file = TextFile.open(first, encoding, missing)
            check_names(first, file.names)
            with readable(str(path), file):
                check_rectangular(file)
            table = file.scan(set(file.names))
            return cls(str(path), file.names, file.separator == ",", table, file)
        frame = read_table(first, text=None, encoding=encoding, missing=missing)
        return cls(str(path), frame.columns, False, frame.lazy())

    def __iter__(self) -> Iterator["pl.DataFrame"]:
        """Pieces with at least one row; raise for a table without any."""
        n_rows, blank = max(CELLS // max(len(self.names), 1), LEAST_ROWS), _BlankRows(self.place)
        start = 0
        with readable(self.place, self.file):
            for piece in batches(self.table, n_rows, in_one_go=self.file is not None):
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


def batches(
    table: "pl.LazyFrame", n_rows: int, *, in_one_go: bool = False
) -> Iterator["pl.DataFrame"]:
    """A table in frames of at most ``n_rows`` rows.

    Text files do not allow random access and are read in one query.
    """
    if in_one_go:
        yield from table.collect_batches(chunk_size=n_rows)
        return
    start, height = 0, WINDOW * n_rows
    while height == WINDOW * n_rows:
        height = 0
        for piece in table.slice(start, WINDOW * n_rows).collect_batches(chunk_size=n_rows):
            height += piece.height
            yield piece
        start += height


class _BlankRows:
    """Track the empty rows that polars reads from blank lines; trailing ones are ignored."""

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
def readable(place: str, file: TextFile | None = None) -> Iterator[None]:
    """Turn errors of polars into messages about the table."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        if file is not None and "utf-8" in str(error):
            file.raise_not_utf8()
        raise InputError(
            f"{place}: cannot be read as one table: {str(error).splitlines()[0]}. Its files must "
            "be complete and have the same columns and types."
        ) from error
