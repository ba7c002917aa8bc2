"""Tables from files: one file with a domain column, one file per domain, or a sample.

Column types are inferred from the whole file. The label and the domain stay text, because `1`, `01`
and `1.0` are different names. Cells that do not fit their column are reported, never dropped
silently.

Large Parquet tables are not read whole but sampled by domain and label. Every row gets a random
number, and the rows of a stratum (a domain and a label) with the smallest numbers are the sample.
One pass over two columns is enough, only the sample is kept in memory, and the rows drawn do not
depend on the pieces in which the table was read.
"""

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from landbridge._tasks import Progress
from landbridge.cli._columns import LARGEST, column_kind, find_types, is_code
from landbridge.cli._files import (
    AS_WRITTEN,
    EXCEL_SUFFIXES,
    TEXT_SUFFIXES,
    TextFile,
    check_encoding,
    check_names,
    check_rectangular,
    find_files,
    is_parquet,
    read_excel,
    read_json_lines,
    readable,
    scan_parquet,
    with_copies,
    with_plain_types,
)
from landbridge.cli._session import InputError, listing, nearest

DEFAULT_DOMAIN = "domain"
# Number of cells per piece: 4 MB of numbers, and several times that while a model predicts.
CELLS = 500_000
LEAST_ROWS, MOST_ROWS = 1000, 2**31
# Number of pieces per query. Polars reads ahead, so one query over a large file would fill the
# memory.
WINDOW = 10
_WORDS = {
    "number": "numbers",
    "text": "text",
    "date": "dates",
    "time": "times",
    "true or false": "true and false",
    "other": "lists, records or bytes",
}
# Tables with more cells than this (160 MB of numbers) are read in pieces.
LARGE = 20_000_000
# Memory that reading a text file takes, as a multiple of its size.
MEMORY_OF_TEXT = 4
# Number of blocks of the table from which a shuffled piece takes its rows.
BLOCKS = 8
# Name of the column of row numbers, chosen so that no file has it.
ROW = "\0row"
# Labels with more distinct values than this are treated as numbers, whose strata are the labelled
# and the unlabelled rows.
MOST_CLASSES = 100
# Minimum number of buffered rows before the smallest numbers of each stratum are determined.
WAITING = 2_000_000
STRATUM = ["domain", "label"]


def read_data(
    data: list[str],
    domain: str | None,
    *,
    names: Collection[str] = (),
    text: Collection[str] = (),
    encoding: str | None = None,
    missing: Sequence[str] = (),
) -> pl.DataFrame:
    """Read the table of all domains: one table, or several given as ``name=path``.

    With several tables the name of each goes into the column ``domain``; Parquet files without
    names are one table. Text in the columns ``names`` stays as it is written; the columns ``text``
    become text in all formats. Cells that are in ``missing`` are empty.
    """
    how: dict[str, Any] = {"text": text, "encoding": encoding, "missing": missing}
    named = [split_name(argument) for argument in data]
    if len(named) == 1 and named[0][0] is None:
        return read_table(named[0][1], names={domain or DEFAULT_DOMAIN, *names}, **how)
    unnamed = [str(path) for name, path in named if name is None]
    files = [file for name, path in named if name is None for file in find_files(path)]
    if len(unnamed) == len(named) and is_parquet(files):
        return Pieces.of_parquet(files, unnamed[0], missing, text).whole()
    if unnamed:
        raise InputError(
            "Several files must each be given as name=path, with the name of the domain; got "
            f"{unnamed[0]!r} without a name. Write for example "
            f"{Path(unnamed[0]).stem}={unnamed[0]}."
        )
    paths = {name: path for name, path in named if name is not None}
    if len(paths) < len(named):
        domains = [name for name, _ in named]
        raise InputError(f"Every file must have a different name; got {listing(domains)}.")
    tables = {n: read_table(p, names=names, **how) for n, p in paths.items()}
    codes = {name for table in tables.values() for name in _codes(table)}
    # A column with codes like 007 in one file is read as codes in all files.
    for name, table in tables.items():
        if any(c in table.columns and table[c].dtype.is_numeric() for c in codes):
            tables[name] = read_table(paths[name], names={*names, *codes}, **how)
    return _stack(tables, domain)


def read_table(
    path: Path,
    *,
    names: Collection[str] = (),
    text: Collection[str] = (),
    encoding: str | None = None,
    missing: Sequence[str] = (),
) -> pl.DataFrame:
    """Read a whole table as in `read_data`; raise with a clear message if it is malformed."""
    return Pieces.open(path, encoding, missing, text).whole({*names, *text})


@dataclass(frozen=True, slots=True)
class Pieces:
    """A table that is read piece by piece; text is converted only by `whole`."""

    place: str
    names: list[str]
    read: Callable[[int], Iterator[pl.DataFrame]]
    is_text: bool = False
    has_blanks: bool = False  # rows without any cell
    file: TextFile | None = None
    missing: Sequence[str] = ()

    @classmethod
    def open(
        cls,
        path: Path,
        encoding: str | None = None,
        missing: Sequence[str] = (),
        text: Collection[str] = (),
        keep: Collection[str] = (),
    ) -> "Pieces":
        """Read the header, and check that all lines of a text file have equally many cells.

        The pieces also have a copy of each column to ``keep``, whose cells are as they are written.
        """
        files, place = find_files(path), str(path)
        suffix = files[0].suffix.lower()
        check_encoding(files[0], encoding)
        if is_parquet(files):
            return cls.of_parquet(files, place, missing, text, keep)
        if suffix in TEXT_SUFFIXES:
            file = TextFile.open(path, encoding, missing)
            check_names(path, file.names)
            with readable(path, file):
                check_rectangular(file)
            read = partial(file.frames, keep=keep)
            return cls(place, file.names, read, True, True, file, missing)
        is_sheet = suffix in EXCEL_SUFFIXES
        frame = read_excel(path, keep) if is_sheet else with_copies(read_json_lines(path), keep)
        frame = with_plain_types(frame, missing, text)
        return cls(place, _own(frame.columns), frame.iter_slices, True, is_sheet, missing=missing)

    @classmethod
    def of_parquet(
        cls,
        files: Sequence[Path],
        place: str,
        missing: Sequence[str] = (),
        text: Collection[str] = (),
        keep: Collection[str] = (),
    ) -> "Pieces":
        """Several Parquet files as one table."""
        with readable(place):
            table = scan_parquet(files, missing, text, keep)
            names = _own(table.collect_schema())
        check_names(Path(place), names)
        return cls(place, names, partial(batches, table))

    @property
    def comma_separated(self) -> bool:
        return self.file is not None and self.file.separator == ","

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Pieces with at least one row; raise for a table without any."""
        return self._filled(self.read(rows_per_piece(len(self.names))))

    def whole(self, names: Collection[str] = ()) -> pl.DataFrame:
        """All rows; cells that are text get types, except in the columns ``names``."""
        (frame,) = self._filled(self._joined())
        if not self.is_text:
            return frame
        frame = find_types(frame, self.place, keep=set(names), comma=self.comma_separated)
        return plain_numbers(with_plain_types(frame, self.missing), self.place)

    def _joined(self) -> Iterator[pl.DataFrame]:
        """All rows as one piece, if there are any."""
        pieces = list(self.read(MOST_ROWS))
        if pieces:
            yield pl.concat(pieces, rechunk=True)

    def _filled(self, pieces: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        """Pieces without the empty rows of text files and spreadsheets, which are announced."""
        n_rows, blanks = 0, []
        with readable(self.place, self.file):
            for piece in pieces:
                filled = plain_numbers(piece, self.place, n_rows)
                if self.has_blanks:
                    cells = cs.by_name(*self.names).is_null()
                    is_blank = filled.select(pl.all_horizontal(cells)).to_series()
                    blanks += (is_blank.arg_true() + n_rows + 1).to_list()
                    filled = filled.filter(~is_blank)
                n_rows += piece.height
                if filled.height:
                    yield filled
        if n_rows == len(blanks):
            raise InputError(
                f"{self.place}: the table must have rows below its header; got none. "
                "Check how the file was exported."
            )
        if blanks:
            warnings.warn(
                f"{self.place}: {len(blanks)} rows are empty and left out, the first is row "
                f"{blanks[0]}.",
                stacklevel=2,
            )


def _own(columns: Iterable[str]) -> list[str]:
    """Names of columns without the copies of `with_copies`."""
    return [name for name in columns if not name.startswith(AS_WRITTEN)]


def rows_per_piece(n_columns: int) -> int:
    """Number of rows to read at once."""
    return max(CELLS // max(n_columns, 1), LEAST_ROWS)


def batches(table: pl.LazyFrame, n_rows: int) -> Iterator[pl.DataFrame]:
    """A table in frames of at most ``n_rows`` rows."""
    window = min(WINDOW * n_rows, MOST_ROWS)
    start, height = 0, window
    while height == window:
        height = 0
        for piece in table.slice(start, window).collect_batches(chunk_size=n_rows):
            height += piece.height
            yield piece
        start += height


def require_column(columns: Sequence[str], name: str, option: str) -> None:
    """Raise if a column does not exist, and suggest the most similar name."""
    if name not in columns:
        raise InputError(
            f"{option} must name a column of the table; got {name!r}."
            f"{nearest(name, columns)} The columns are {listing(columns)}."
        )


def split_name(argument: str) -> tuple[str | None, Path]:
    """The name of the domain and the path of ``name=path``; None for a path without a name."""
    name, equals, path = argument.partition("=")
    # `data/region=north` is a folder of a dataset.
    if not equals or "/" in name or Path(argument).exists():
        return None, Path(argument)
    if not name or not path:
        raise InputError(
            f"Several files must each be given as name=path; got {argument!r}. Write the name of "
            "the domain before the equals sign and its file behind it."
        )
    return name, Path(path)


def files_of(data: Sequence[str]) -> list[Path]:
    """All files of a table."""
    return [file for argument in data for file in find_files(split_name(argument)[1])]


def plain_numbers(frame: pl.DataFrame, place: object, first_row: int = 0) -> pl.DataFrame:
    """Convert NaN to missing values; raise for infinite or huge numbers."""
    columns = []
    # Column by column: polars takes seconds to plan one query over tens of thousands of columns.
    for column in frame:
        if column.dtype.is_float() and not column.name.startswith(AS_WRITTEN):
            column = column.fill_nan(None)
            _check_size(column, place, first_row)
        columns.append(column)
    return pl.DataFrame(columns)


def _check_size(column: pl.Series, place: object, first_row: int) -> None:
    if (column.abs().max() or 0) <= LARGEST:  # type: ignore[operator]
        return
    row = (column.abs() > LARGEST).arg_max() or 0
    words = "finite" if column.is_infinite()[row] else f"at most {LARGEST:g} in absolute value"
    raise InputError(
        f"{place}: numbers must be {words}; {column.name!r} holds {column[row]} in row "
        f"{first_row + row + 1}. Replace it, or leave the cell empty."
    )


def _codes(table: pl.DataFrame) -> list[str]:
    return [c.name for c in table if c.dtype == pl.String and is_code(c.drop_nulls())]


def _stack(tables: dict[str, pl.DataFrame], domain: str | None) -> pl.DataFrame:
    """Stack the tables, with a column of domain names."""
    domain = domain or DEFAULT_DOMAIN
    first, *others = tables
    columns = tables[first].columns
    if domain in columns:
        raise InputError(
            f"With several files, --domain names a new column for the domain; got {domain!r}, "
            f"which the files already have. Choose another name."
        )
    for other in others:
        missing = [name for name in columns if name not in tables[other].columns]
        extra = [name for name in tables[other].columns if name not in columns]
        if missing or extra:
            raise InputError(
                f"All files must have the same columns as {first!r}; {other!r} lacks "
                f"{listing(missing) or 'none'} and also has {listing(extra) or 'none'}. "
                "Remove or add those columns."
            )
    for name in columns:
        _check_same_kind(name, tables)
    parts = [
        table.select(
            # An empty column has no type; polars calls it text, which would not fit numbers.
            pl.lit(None).alias(name) if table[name].null_count() == table.height else name
            for name in columns
        ).with_columns(pl.lit(name).alias(domain))
        for name, table in tables.items()
    ]
    return pl.concat(parts, how="vertical_relaxed")


def _check_same_kind(name: str, tables: dict[str, pl.DataFrame]) -> None:
    """Raise if the type of a column, such as date or number, differs between files."""
    filled = {k: t[name] for k, t in tables.items() if t[name].null_count() < t.height}
    kinds = {domain: column_kind(column) for domain, column in filled.items()}
    if len(set(kinds.values())) > 1:
        (first, kind), (other, differs) = next(
            (a, b) for a in kinds.items() for b in kinds.items() if a[1] != b[1]
        )
        cells = [repr(str(filled[domain].drop_nulls()[0])) for domain in (first, other)]
        raise InputError(
            f"All files must have columns of the same type; {name!r} holds {_WORDS[kind]} in "
            f"{first!r} ({cells[0]}) and {_WORDS[differs]} in {other!r} ({cells[1]}). Write the "
            f"column in one way, read it as text with --text {name}, or leave it out with "
            f"--drop {name}."
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """Number of rows drawn from each domain, and their total number."""

    max_rows: int
    drawn: dict[str, int]
    rows: dict[str, int]
    by_label: bool

    def of(self, domains: set[str]) -> "Sample":
        """Restrict the record to some domains."""
        kept = {name: count for name, count in self.drawn.items() if name in domains}
        rows = {name: self.rows[name] for name in kept}
        return Sample(self.max_rows, kept, rows, self.by_label)

    def cut(self) -> list[str]:
        """Domains from which only some rows were drawn."""
        return [name for name, count in self.drawn.items() if count < self.rows[name]]

    def rows_used(self) -> str:
        """Number of rows used and total number, in words."""
        used, total = sum(self.drawn.values()), sum(self.rows.values())
        return f"all {total} rows" if used == total else f"{used} of {total} rows"

    def sentence(self) -> str:
        """Describe the sample in one sentence."""
        strata = "domain and label" if self.by_label else "domain"
        return (
            f"These figures are based on a random sample by {strata}: {self.rows_used()}, at most "
            f"{self.max_rows} of each domain (--max-rows)."
        )


class Sampler:
    """Draws at most ``max_rows`` rows of each domain from a table that is read in pieces.

    Each label keeps its share of its domain, with at least two rows. With ``labels_first``,
    unlabelled rows are drawn only if labelled rows leave room, because a large target has few
    labels.
    """

    def __init__(
        self, domain: str, label: str | None, max_rows: int, *, seed: int, labels_first: bool
    ):
        self.domain, self.label, self.max_rows = domain, label, max_rows
        self.labels_first = labels_first
        self.rng = np.random.default_rng(seed)
        self.n_rows = 0
        self.has_classes: bool | None = None
        self.pieces: list[pl.DataFrame] = []
        self.counts: list[pl.DataFrame] = []
        self.bounds: pl.DataFrame | None = None

    def add(self, piece: pl.DataFrame) -> None:
        """Add the next rows of the table."""
        numbers = pl.Series("number", self.rng.random(piece.height))
        row = pl.int_range(self.n_rows, self.n_rows + piece.height, dtype=pl.Int64)
        rows = piece.select(
            pl.col(self.domain).cast(pl.String).alias("domain"),
            self._stratum(piece).alias("label"),
            row.alias("row"),
            numbers,
        )
        self.n_rows += piece.height
        self.counts.append(rows.group_by(STRATUM).len())
        if self.bounds is not None:  # these rows can no longer be in the sample
            rows = (
                rows.join(self.bounds, on=STRATUM, how="left", nulls_equal=True)
                .filter(pl.col("bound").is_null() | (pl.col("number") < pl.col("bound")))
                .drop("bound")
            )
        self.pieces.append(rows)
        # Collect as many new rows as are kept before sorting, so that each row is sorted only a few
        # times.
        if sum(part.height for part in self.pieces[1:]) > max(WAITING, self.pieces[0].height):
            self._keep_smallest()

    def draw(self) -> tuple[np.ndarray, Sample]:
        """Row numbers of the sample in the order of the table, and its record."""
        counts = pl.concat(self.counts).group_by(STRATUM).sum().sort(STRATUM)
        if counts["domain"].null_count():
            missing = counts.filter(pl.col("domain").is_null())["len"].sum()
            raise InputError(
                f"Every row must name its domain; {self.domain!r} is empty in {missing} rows. Fill "
                "in the names or remove those rows."
            )
        sizes = pl.concat(self._sizes(part) for part in counts.partition_by("domain"))
        self._keep_smallest()
        chosen = (
            self.pieces[0]
            .join(sizes, on=STRATUM, nulls_equal=True)
            .filter(pl.col("number").rank("ordinal").over(STRATUM) <= pl.col("size"))
        )
        by_domain = sizes.group_by("domain").agg(pl.col("size", "len").sum()).sort("domain")
        sample = Sample(
            self.max_rows,
            dict(by_domain.select("domain", "size").iter_rows()),
            dict(by_domain.select("domain", "len").iter_rows()),
            self.label is not None,
        )
        return np.sort(chosen["row"].to_numpy()), sample

    def _stratum(self, piece: pl.DataFrame) -> pl.Expr:
        """The class of a row, or whether it has a label at all."""
        if self.label is None:
            return pl.lit(None, dtype=pl.String)
        labels = piece[self.label]
        if self.has_classes is None:
            self.has_classes = not labels.dtype.is_float() and labels.n_unique() <= MOST_CLASSES
        column = pl.col(self.label)
        if self.has_classes:
            return column.cast(pl.String)
        known = column.is_not_null() & (column.is_not_nan() if labels.dtype.is_float() else True)
        return pl.when(known).then(pl.lit("labelled"))

    def _keep_smallest(self) -> None:
        rows = pl.concat(self.pieces)
        kept = rows.filter(pl.col("number").rank("ordinal").over(STRATUM) <= self.max_rows)
        self.pieces = [kept]
        self.bounds = (
            kept.group_by(STRATUM)
            .agg(pl.col("number").max().alias("bound"), pl.len())
            .filter(pl.col("len") >= self.max_rows)
            .drop("len")
        )
        self.counts = [pl.concat(self.counts).group_by(STRATUM).sum()]

    def _sizes(self, counts: pl.DataFrame) -> pl.DataFrame:
        """Number of rows to draw from each stratum of one domain."""
        known, rest = counts.filter(pl.col("label").is_not_null()), counts
        if self.labels_first and known.height:
            n_known = min(self.max_rows, int(known["len"].sum()))
            rest = counts.filter(pl.col("label").is_null())
            sizes = [(known, shares(known["len"].to_numpy(), n_known))]
            sizes.append((rest, shares(rest["len"].to_numpy(), self.max_rows - n_known)))
        else:
            sizes = [(rest, shares(rest["len"].to_numpy(), self.max_rows))]
        return pl.concat(
            part.with_columns(pl.Series("size", numbers, dtype=pl.Int64)) for part, numbers in sizes
        )


def shares(counts: np.ndarray, total: int) -> np.ndarray:
    """Split ``total`` in proportion to ``counts``, with at least two each if possible."""
    if counts.sum() <= total:
        return counts.astype(int)
    least = np.minimum(counts, 2)
    if least.sum() > total:
        least = np.zeros_like(counts)
    exact = counts * (total / counts.sum())
    sizes = np.clip(np.floor(exact), least, counts).astype(int)
    # Round by largest remainders; the largest strata compensate for small ones that were raised.
    while sizes.sum() < total:
        sizes[np.argmax(np.where(sizes < counts, exact - sizes, -np.inf))] += 1
    while sizes.sum() > total:
        sizes[np.argmax(np.where(sizes > least, sizes, -1))] -= 1
    return sizes


@dataclass(frozen=True, slots=True)
class LargeTable:
    """A table on disk, with the column of its domains."""

    place: str
    table: pl.LazyFrame
    domain: str
    columns: list[str]
    n_rows: int

    def draw(
        self, label: str | None, max_rows: int, *, seed: int, labels_first: bool
    ) -> tuple[pl.DataFrame, Sample]:
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
    ) -> Iterator[pl.DataFrame]:
        """Yield some columns of all rows in pieces, sized for models with this many features.

        Shuffled pieces take their rows from several places: files are often sorted by domain, label
        or time, and stochastic gradient descent would forget the first rows.
        """
        n_rows, table = rows_per_piece(max(len(names), width)), self.table.select(names)
        with readable(self.place):
            for piece in (self._shuffled if shuffled else batches)(table, n_rows):
                yield plain_numbers(piece, self.place)

    def counts(self, label: str) -> dict[str, int]:
        """Number of labelled rows of each domain."""
        with readable(self.place):
            is_float = self.table.collect_schema()[label].is_float()
            known = pl.col(label).fill_nan(None) if is_float else pl.col(label)
            rows = self.table.filter(known.is_not_null())
            counts = rows.group_by(pl.col(self.domain).cast(pl.String)).len()
            return dict(counts.collect(engine="streaming").iter_rows())

    def _shuffled(self, table: pl.LazyFrame, n_rows: int) -> Iterator[pl.DataFrame]:
        """Pieces of blocks in random order, with their rows in random order."""
        rng, size = np.random.default_rng(0), -(-n_rows // BLOCKS)
        starts = rng.permutation(np.arange(0, self.n_rows, size))
        for first in range(0, starts.size, BLOCKS):
            blocks = [
                table.slice(int(start), size).collect(engine="streaming")
                for start in starts[first : first + BLOCKS]
            ]
            piece = pl.concat(blocks)
            yield piece[rng.permutation(piece.height)]

    def _rows(self, rows: np.ndarray) -> pl.DataFrame:
        wanted = pl.LazyFrame({ROW: rows + 1}, schema={ROW: pl.Int64})
        numbered = self.table.with_row_index(ROW, offset=1).with_columns(pl.col(ROW).cast(pl.Int64))
        return numbered.join(wanted, on=ROW, how="semi").collect(engine="streaming").sort(ROW)


def find_large(
    data: Sequence[str],
    domain: str | None,
    *,
    missing: Sequence[str] = (),
    text: Collection[str] = (),
) -> LargeTable | None:
    """The table given by the arguments, if it is Parquet and too large to be read whole."""
    named = [split_name(argument) for argument in data]
    files = [find_files(path) for _, path in named]
    if not all(map(is_parquet, files)) or len({name is None for name, _ in named}) > 1:
        return None
    domain, place = domain or DEFAULT_DOMAIN, str(named[0][1])
    with readable(place):
        if named[0][0] is None:
            table = scan_parquet([file for part in files for file in part], missing, text)
        else:
            tables = [
                scan_parquet(part, missing, text).with_columns(pl.lit(name).alias(domain))
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


def is_comma_separated(data: Sequence[str], encoding: str | None = None) -> bool:
    """Whether the cells of all files are separated by commas, so that one in a cell is no decimal
    comma."""
    files = files_of(data)
    if any(file.suffix.lower() not in TEXT_SUFFIXES for file in files):
        return False
    return all(TextFile.open(file, encoding).separator == "," for file in files)


def advice_on_text(data: Sequence[str], memory: int) -> str:
    """Advice on text files that may need more bytes of memory than this; otherwise empty."""
    files = files_of(data)
    n_bytes = sum(file.stat().st_size for file in files)
    if is_parquet(files) or MEMORY_OF_TEXT * n_bytes <= memory:
        return ""
    return (
        f"{files[0]}: {n_bytes / 1e9:.1f} GB of text are read whole into memory; save the table as "
        "Parquet, which is read in pieces and faster"
    )
