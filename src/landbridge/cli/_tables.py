"""Tables from files: one file with a domain column, or one file per domain.

Column types are inferred from the whole file. The label and the domain stay text, because `1`, `01`
and `1.0` are different names. Cells that do not fit their column are reported, never dropped
silently.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landbridge.cli._cells import LARGEST, find_types, is_code
from landbridge.cli._files import (
    EXCEL_SUFFIXES,
    MISSING,
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
from landbridge.cli._session import InputError, listing, nearest

if TYPE_CHECKING:
    import polars as pl

DEFAULT_DOMAIN = "domain"
# Number of cells per piece: 4 MB of numbers, and several times that while a model predicts.
CELLS = 500_000
LEAST_ROWS, MOST_ROWS = 1000, 2**31
# Number of pieces per query. Polars reads ahead, so one query over a large file would fill the
# memory.
WINDOW = 10


def read_data(
    data: list[str],
    domain: str | None,
    *,
    text: Collection[str] = (),
    encoding: str | None = None,
    missing: Sequence[str] = (),
) -> "pl.DataFrame":
    """Read the table of all domains: one table, or several given as ``name=path``.

    With several tables the name of each goes into the column ``domain``; Parquet files without
    names are one table. Columns named in ``text`` are read as they are written; cells that are in
    ``missing`` are empty.
    """
    how: dict[str, Any] = {"encoding": encoding, "missing": missing}
    named = [split_name(argument) for argument in data]
    if len(named) == 1 and named[0][0] is None:
        return read_table(named[0][1], text={domain or DEFAULT_DOMAIN, *text}, **how)
    unnamed = [str(path) for name, path in named if name is None]
    files = [file for name, path in named if name is None for file in find_files(path)]
    if len(unnamed) == len(named) and is_parquet(files):
        return Pieces.of_parquet(files, unnamed[0]).whole()
    if unnamed:
        raise InputError(
            "Several files must each be given as name=path, with the name of the domain; got "
            f"{unnamed[0]!r} without a name. Write for example "
            f"{Path(unnamed[0]).stem}={unnamed[0]}."
        )
    names = [name for name, _ in named if name is not None]
    if len(set(names)) < len(names):
        raise InputError(f"Every file must have a different name; got {listing(names)}.")
    paths = {name: path for name, path in named if name}
    tables = {n: read_table(p, text=text, **how) for n, p in paths.items()}
    codes = {name for table in tables.values() for name in _codes(table)}
    # A column with codes like 007 in one file is read as codes in all files.
    for name, table in tables.items():
        if any(c in table.columns and table[c].dtype.is_numeric() for c in codes):
            tables[name] = read_table(paths[name], text={*text, *codes}, **how)
    return _stack(tables, domain)


def read_table(
    path: Path,
    *,
    text: Collection[str] = (),
    encoding: str | None = None,
    missing: Sequence[str] = (),
) -> "pl.DataFrame":
    """Read a whole table; raise with a clear message if it is malformed.

    Columns named in ``text`` stay as they are written in text files and spreadsheets.
    """
    return Pieces.open(path, encoding, missing).whole(text)


@dataclass(frozen=True, slots=True)
class Pieces:
    """A table that is read piece by piece; cells of text files and spreadsheets stay text."""

    place: str
    names: list[str]
    read: Callable[[int], Iterator["pl.DataFrame"]]
    is_text: bool = False
    file: TextFile | None = None

    @classmethod
    def open(cls, path: Path, encoding: str | None = None, missing: Sequence[str] = ()) -> "Pieces":
        """Read the header, and check that all lines of a text file have equally many cells."""
        files, place = find_files(path), str(path)
        suffix = files[0].suffix.lower()
        check_encoding(files[0], encoding)
        if is_parquet(files):
            return cls.of_parquet(files, place)
        if suffix in TEXT_SUFFIXES:
            file = TextFile.open(path, encoding, missing)
            check_names(path, file.names)
            with readable(path, file):
                check_rectangular(file)
            return cls(place, file.names, file.frames, True, file)
        is_sheet = suffix in EXCEL_SUFFIXES
        frame = _read_excel(path, missing) if is_sheet else _read_json_lines(path)
        return cls(place, frame.columns, frame.iter_slices, is_sheet)

    @classmethod
    def of_parquet(cls, files: Sequence[Path], place: str) -> "Pieces":
        """Several Parquet files as one table."""
        table = scan_parquet(files)
        with readable(place):
            return cls(place, list(table.collect_schema()), partial(batches, table))

    @property
    def comma_separated(self) -> bool:
        return self.file is not None and self.file.separator == ","

    def __iter__(self) -> Iterator["pl.DataFrame"]:
        """Pieces with at least one row; raise for a table without any."""
        return self._filled(self.read(rows_per_piece(len(self.names))), drop_blank=True)

    def whole(self, text: Collection[str] = ()) -> "pl.DataFrame":
        """All rows; cells that are text get types, except in the columns named in ``text``."""
        (frame,) = self._filled(self._joined(), drop_blank=self.is_text)
        if not self.is_text:
            return frame
        frame = find_types(frame, self.place, keep=set(text), comma=self.comma_separated)
        return plain_numbers(frame, self.place)

    def _joined(self) -> Iterator["pl.DataFrame"]:
        """All rows as one piece, if there are any."""
        import polars as pl

        pieces = list(self.read(MOST_ROWS))
        if pieces:
            yield pl.concat(pieces, rechunk=True)

    def _filled(
        self, pieces: Iterable["pl.DataFrame"], *, drop_blank: bool
    ) -> Iterator["pl.DataFrame"]:
        blank, n_rows, n_filled = BlankRows(self.place), 0, 0
        with readable(self.place, self.file):
            for piece in pieces:
                filled = piece if self.is_text else plain_numbers(piece, self.place, n_rows)
                filled = blank.drop(filled, n_rows) if drop_blank else filled
                n_rows += piece.height
                n_filled += filled.height
                if filled.height:
                    yield filled
        if not n_filled:
            raise InputError(
                f"{self.place}: the table must have rows below its header; got none. "
                "Check how the file was exported."
            )
        blank.warn()


def rows_per_piece(n_columns: int) -> int:
    """Number of rows to read at once."""
    return max(CELLS // max(n_columns, 1), LEAST_ROWS)


def batches(table: "pl.LazyFrame", n_rows: int) -> Iterator["pl.DataFrame"]:
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
    return name, Path(path)


def _read_json_lines(path: Path) -> "pl.DataFrame":
    import polars as pl

    try:
        return pl.read_ndjson(path, infer_schema_length=None)
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{path}: must hold one JSON object per line, with the same type in every line of a "
            f"column; got a file that cannot be read ({str(error).splitlines()[0]}). Correct it."
        ) from error


def _read_excel(path: Path, missing: Sequence[str]) -> "pl.DataFrame":
    """The first sheet with every cell as text; types are found as for text files."""
    import polars as pl

    try:
        import fastexcel
    except ImportError as error:
        raise InputError(
            f"{path}: spreadsheets need the package fastexcel. Install it with: pip install "
            "'landbridge[excel]', or save the sheet as CSV."
        ) from error
    try:
        sheet = fastexcel.read_excel(path).load_sheet(0, dtypes="string")
        frame = sheet.to_polars()
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"{path}: must be a spreadsheet; got a file that cannot be read ({error}). Save the "
            "sheet as CSV."
        ) from error
    check_names(path, [str(column.name) for column in sheet.selected_columns])
    frame = frame.with_columns(pl.all().replace(dict.fromkeys([*MISSING, *missing])))
    return frame.filter(~pl.all_horizontal(pl.all().is_null()))


def plain_numbers(frame: "pl.DataFrame", place: object, first_row: int = 0) -> "pl.DataFrame":
    """Convert decimals to floats and NaN to missing values; raise for infinite or huge numbers."""
    import polars as pl

    columns = []
    # Column by column: polars takes seconds to plan one query over tens of thousands of columns.
    for column in frame:
        if column.dtype.is_decimal() or column.dtype == pl.Int128:
            column = column.cast(pl.Float64)
        if column.dtype.is_float():
            column = column.fill_nan(None)
            _check_size(column, place, first_row)
        columns.append(column)
    return pl.DataFrame(columns)


def _check_size(column: "pl.Series", place: object, first_row: int) -> None:
    if (column.abs().max() or 0) <= LARGEST:  # type: ignore[operator]
        return
    row = (column.abs() > LARGEST).arg_max() or 0
    words = "finite" if column.is_infinite()[row] else f"at most {LARGEST:g} in absolute value"
    raise InputError(
        f"{place}: numbers must be {words}; {column.name!r} holds {column[row]} in row "
        f"{first_row + row + 1}. Replace it, or leave the cell empty."
    )


def _codes(table: "pl.DataFrame") -> list[str]:
    import polars as pl

    return [c.name for c in table if c.dtype == pl.String and is_code(c.drop_nulls())]


def _stack(tables: dict[str, "pl.DataFrame"], domain: str | None) -> "pl.DataFrame":
    """Stack the tables, with a column of domain names."""
    import polars as pl

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


def _check_same_kind(name: str, tables: dict[str, "pl.DataFrame"]) -> None:
    """Raise if the type of a column, such as date or number, differs between files."""
    from landbridge.report.data_summary import column_kind

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


_WORDS = {
    "number": "numbers",
    "text": "text",
    "date": "dates",
    "time": "times",
    "true or false": "true and false",
}
