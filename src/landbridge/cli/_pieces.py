"""Tables that are read in pieces: rows to predict, and Parquet tables too large for the memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from landbridge._tasks import Progress
from landbridge.cli._files import (
    TEXT_SUFFIXES,
    BlankRows,
    TextFile,
    check_encoding,
    check_names,
    check_rectangular,
    find_files,
    is_parquet,
    readable,
    scan_parquet,
)
from landbridge.cli._sampling import Sample, Sampler
from landbridge.cli._session import InputError
from landbridge.cli._tables import (
    DEFAULT_DOMAIN,
    plain_numbers,
    read_table,
    require_column,
    split_name,
)

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

# Number of cells per piece: 4 MB of numbers, and several times that while a model predicts.
CELLS = 500_000
LEAST_ROWS = 1000
# Number of pieces per query. Polars reads ahead, so one query over a large file would fill the
# memory.
WINDOW = 10
# Tables with more cells than this (160 MB of numbers) are read in pieces.
LARGE = 20_000_000
# Memory that reading a text file takes, as a multiple of its size.
MEMORY_OF_TEXT = 2
# Number of blocks of the table from which a shuffled piece takes its rows.
BLOCKS = 8
# Name of the column of row numbers, chosen so that no file has it.
ROW = "\0row"


@dataclass(frozen=True, slots=True)
class Pieces:
    """A table that is read piece by piece, without converting the cells of text files."""

    place: str
    names: list[str]
    comma_separated: bool
    read: Callable[[int], Iterator["pl.DataFrame"]]
    file: TextFile | None = None

    @classmethod
    def open(cls, path: Path, encoding: str | None = None, missing: Sequence[str] = ()) -> "Pieces":
        """Read the header, and check that all lines of a text file have equally many cells."""
        files = find_files(path)
        first = files[0]
        if is_parquet(files):
            check_encoding(first, encoding)
            table = scan_parquet(files)
            with readable(path):
                names = list(table.collect_schema())
            return cls(str(path), names, False, partial(batches, table))
        if first.suffix.lower() in TEXT_SUFFIXES:
            file = TextFile.open(first, encoding, missing)
            check_names(first, file.names)
            with readable(path, file):
                check_rectangular(file)
            read = partial(_text_batches, file)
            return cls(str(path), file.names, file.separator == ",", read, file)
        frame = read_table(first, text=None, encoding=encoding, missing=missing)
        return cls(str(path), frame.columns, False, frame.iter_slices)

    def __iter__(self) -> Iterator["pl.DataFrame"]:
        """Pieces with at least one row; raise for a table without any."""
        n_rows, blank = max(CELLS // max(len(self.names), 1), LEAST_ROWS), BlankRows(self.place)
        with readable(self.place, self.file):
            for piece in self.read(n_rows):
                filled = blank.drop(plain_numbers(piece, self.place, first_row=blank.n_rows))
                if filled.height:
                    yield filled
        if blank.n_filled == 0:
            raise InputError(
                f"{self.place}: the table must have rows below its header; got none. "
                "Check how the file was exported."
            )
        blank.warn()


def _text_batches(file: TextFile, n_rows: int) -> Iterator["pl.DataFrame"]:
    for frame in file.frames():
        yield from frame.iter_slices(n_rows)


def batches(table: "pl.LazyFrame", n_rows: int) -> Iterator["pl.DataFrame"]:
    """A table in frames of at most ``n_rows`` rows."""
    start, height = 0, WINDOW * n_rows
    while height == WINDOW * n_rows:
        height = 0
        for piece in table.slice(start, WINDOW * n_rows).collect_batches(chunk_size=n_rows):
            height += piece.height
            yield piece
        start += height


@dataclass(frozen=True, slots=True)
class LargeTable:
    """A table on disk, with the column of its domains."""

    place: str
    table: "pl.LazyFrame"
    domain: str
    columns: list[str]
    n_rows: int

    def draw(
        self, label: str | None, max_rows: int, *, seed: int, labels_first: bool
    ) -> tuple["pl.DataFrame", Sample]:
        """Draw a sample by domain and label; the table is read twice.

        The column ``ROW`` has the row numbers in the table, starting at 1.
        """
        for option, name in (("--domain", self.domain), ("--label", label)):
            if name is not None:
                require_column(self.columns, name, option)
        sampler = Sampler(self.domain, label, max_rows, seed=seed, labels_first=labels_first)
        names = list(dict.fromkeys(n for n in (self.domain, label) if n is not None))
        with readable(self.place):
            with Progress("looking at domains", self.n_rows, unit="rows") as progress:
                for piece in self.table.select(names).collect_batches(chunk_size=CELLS):
                    sampler.add(piece)
                    progress.advance(piece.height)
            rows, sample = sampler.draw()
            with Progress(f"reading {rows.size} of {self.n_rows} rows", None):
                frame = self._rows(rows)
        return plain_numbers(frame, self.place), sample

    def pieces(
        self, names: list[str], *, width: int = 0, shuffled: bool = False
    ) -> Iterator["pl.DataFrame"]:
        """Yield some columns of all rows in pieces, sized for models with this many features.

        Shuffled pieces take their rows from several places: files are often sorted by domain, label
        or time, and stochastic gradient descent would forget the first rows.
        """
        n_rows = max(CELLS // max(len(names), width), LEAST_ROWS)
        table = self.table.select(names)
        with readable(self.place):
            for piece in (self._shuffled if shuffled else batches)(table, n_rows):
                yield plain_numbers(piece, self.place)

    def counts(self, label: str) -> dict[str, int]:
        """Number of labelled rows of each domain."""
        import polars as pl

        with readable(self.place):
            is_float = self.table.collect_schema()[label].is_float()
            known = pl.col(label).fill_nan(None) if is_float else pl.col(label)
            rows = self.table.filter(known.is_not_null())
            counts = rows.group_by(pl.col(self.domain).cast(pl.String)).len()
            return dict(counts.collect(engine="streaming").iter_rows())

    def _shuffled(self, table: "pl.LazyFrame", n_rows: int) -> Iterator["pl.DataFrame"]:
        """Pieces of blocks in random order, with their rows in random order."""
        import numpy as np
        import polars as pl

        rng, size = np.random.default_rng(0), -(-n_rows // BLOCKS)
        starts = rng.permutation(np.arange(0, self.n_rows, size))
        for first in range(0, starts.size, BLOCKS):
            blocks = [
                table.slice(int(start), size).collect(engine="streaming")
                for start in starts[first : first + BLOCKS]
            ]
            piece = pl.concat(blocks)
            yield piece[rng.permutation(piece.height)]

    def _rows(self, rows: "np.ndarray") -> "pl.DataFrame":
        import polars as pl

        wanted = pl.LazyFrame({ROW: rows + 1}, schema={ROW: pl.Int64})
        numbered = self.table.with_row_index(ROW, offset=1).with_columns(pl.col(ROW).cast(pl.Int64))
        return numbered.join(wanted, on=ROW, how="semi").collect(engine="streaming").sort(ROW)


def find_large(data: Sequence[str], domain: str | None) -> LargeTable | None:
    """The table given by the arguments, if it is Parquet and too large to be read whole."""
    import polars as pl

    named = [split_name(argument) for argument in data]
    files = [find_files(path) for _, path in named]
    if not all(map(is_parquet, files)) or len({name is None for name, _ in named}) > 1:
        return None
    domain, place = domain or DEFAULT_DOMAIN, str(named[0][1])
    with readable(place):
        if named[0][0] is None:
            table = scan_parquet([file for part in files for file in part])
        else:
            tables = [
                scan_parquet(part).with_columns(pl.lit(name).alias(domain))
                for (name, _), part in zip(named, files, strict=True)
            ]
            # Tables with different columns or duplicate names are rejected when they are read.
            schemas = [list(scan_parquet(part).collect_schema()) for part in files]
            alike = all(sorted(schema) == sorted(schemas[0]) for schema in schemas)
            if not alike or domain in schemas[0] or len(dict(named)) < len(named):
                return None
            columns = [*schemas[0], domain]
            table = pl.concat([part.select(columns) for part in tables], how="vertical_relaxed")
        columns = list(table.collect_schema())
        n_rows = int(table.select(pl.len()).collect(engine="streaming").item())
    if n_rows * len(columns) < LARGE:
        return None
    return LargeTable(place, table, domain, columns, n_rows)


def advice_on_text(data: Sequence[str], memory: int) -> str:
    """Advice on text files that may need more bytes of memory than this; otherwise empty."""
    files = [file for argument in data for file in find_files(split_name(argument)[1])]
    n_bytes = sum(file.stat().st_size for file in files)
    if is_parquet(files) or MEMORY_OF_TEXT * n_bytes <= memory:
        return ""
    return (
        f"{files[0]}: {n_bytes / 1e9:.1f} GB of text are read whole into memory; save the table as "
        "Parquet, which is read in pieces and faster"
    )
