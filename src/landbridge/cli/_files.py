"""Files of tables: find them, open them, and report what is malformed.

A Parquet table may be a file, a directory (with or without folders like ``region=north``) or a
pattern like ``data/*.parquet``. Other tables are single files.

polars is fast but too lenient with text: it fills short rows with empty cells and renames columns
of the same name. No model should be trained on a table that silently differs from its file.
"""

import codecs
import csv
import errno
import glob
import io
import os
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from urllib.parse import unquote

import numpy as np
import polars as pl
import polars.selectors as cs

from landbridge.cli._session import InputError, listing, nearest

TEXT_SUFFIXES = {".csv", ".tsv", ".txt"}
PARQUET_SUFFIXES = {".parquet", ".pq"}
JSON_SUFFIXES = {".jsonl", ".ndjson"}
EXCEL_SUFFIXES = {".xlsx", ".xls", ".ods"}
SUFFIXES = TEXT_SUFFIXES | PARQUET_SUFFIXES | JSON_SUFFIXES | EXCEL_SUFFIXES
SEPARATORS = ",;\t|"
# Cells that are read as missing in all formats; all other cells are kept unchanged.
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL"]
# Folder of rows without a value, as in region=__HIVE_DEFAULT_PARTITION__.
EMPTY_FOLDER = "__HIVE_DEFAULT_PARTITION__"
# Start of the names of columns that hold cells as they are written; no file has such names.
AS_WRITTEN = "\0as written "
# Errors of formulas by the names that fastexcel gives them.
ERRORS = {
    "Div0": "#DIV/0!",
    "GettingData": "#GETTING_DATA",
    "NA": "#N/A",
    "Name": "#NAME?",
    "Null": "#NULL!",
    "Num": "#NUM!",
    "Ref": "#REF!",
    "Value": "#VALUE!",
}
# Number of cells shown in a warning.
SHOWN = 3
# Bytes that are read at once, and most bytes of one record.
BLOCK = 4 << 20
MOST_OF_A_RECORD = 64 << 20

Table = TypeVar("Table", pl.DataFrame, pl.LazyFrame)


def find_files(path: Path) -> list[Path]:
    """List the files given by a path: one file, a directory or a pattern."""
    if path.is_dir():
        files = list(_parts(path))
        if not files:
            raise InputError(
                f"{path}: a directory must hold Parquet files, directly or in folders like "
                "region=north; got none. Name the file to read, or give a pattern like "
                "'data/**/*.parquet'."
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


def _parts(folder: Path) -> Iterator[Path]:
    """Parquet files of a dataset, without names that start with a dot or underscore.

    Only folders like ``region=north`` are entered, so that a wrong path cannot start a walk
    through a whole disk.
    """
    for entry in folder.iterdir():
        if entry.name[0] in "._":
            continue
        if entry.is_dir():
            if "=" in entry.name:
                yield from _parts(entry)
        elif entry.suffix.lower() in PARQUET_SUFFIXES and entry.is_file():
            yield entry


def is_parquet(files: Sequence[Path]) -> bool:
    """Whether the files are read as one Parquet table."""
    return all(file.suffix.lower() in PARQUET_SUFFIXES for file in files)


def scan_parquet(
    files: Sequence[Path],
    missing: Sequence[str] = (),
    text: Collection[str] = (),
    keep: Collection[str] = (),
) -> pl.LazyFrame:
    """The table in the order of the files; folders like ``region=north`` become a column."""
    # Limit how many row groups polars reads ahead, so that memory depends on the size of a piece.
    # Reading takes only a small part of the time.
    os.environ.setdefault("POLARS_ROW_GROUP_PREFETCH_SIZE", "1")
    types = _types_of_folders(files)
    table = pl.scan_parquet(list(files), hive_partitioning=bool(types), hive_schema=types or None)
    return with_plain_types(with_copies(table, keep), missing, text)


def with_copies(table: Table, names: Collection[str]) -> Table:
    """Append copies of columns that keep the cells as they are written."""
    # Escaped, because pl.col and, in some versions, cs.by_name read names like ^a.*$ as patterns.
    patterns = [f"^{re.escape(name)}$" for name in names]
    return table.with_columns(cs.matches(one).name.prefix(AS_WRITTEN) for one in patterns)


def _types_of_folders(files: Sequence[Path]) -> dict[str, Any]:
    """Types of the columns whose values are folders like ``region=north``.

    Only numbers and dates in their usual form are read as such: ``01``, ``1`` and ``1.0`` are
    different names.
    """
    names: dict[str, set[str]] = {}
    for part in {part for file in files for part in file.parent.parts if "=" in part}:
        column, _, name = part.partition("=")
        names.setdefault(column, set()).update({unquote(name)} - {EMPTY_FOLDER})
    return {column: _type_of_names(pl.Series(sorted(own))) for column, own in names.items()}


def _type_of_names(names: pl.Series) -> Any:
    text = names.cast(pl.String)
    casts = [text.cast(kind, strict=False) for kind in (pl.Int64, pl.Float64)]
    for values in (*casts, text.str.to_date("%Y-%m-%d", strict=False)):
        if values.cast(pl.String).equals(text):
            return values.dtype
    return pl.String


def with_plain_types(
    table: Table, missing: Sequence[str] = (), text: Collection[str] = ()
) -> Table:
    """Convert rare types to numbers, text and times, and empty cells that mark missing values.

    Columns named in ``text`` become text, with whole numbers as ``7``. A mark that is a number also
    stands for equal numbers. Only columns that need it are converted, because polars takes seconds
    to plan a query over tens of thousands. Copies by `with_copies` stay as they are.
    """
    schema = {n: t for n, t in table.collect_schema().items() if not n.startswith(AS_WRITTEN)}
    own = ~cs.starts_with(AS_WRITTEN)
    durations = [name for name, kind in schema.items() if kind == pl.Duration]
    if durations:
        warnings.warn(f"Durations in {listing(durations)} are read as seconds.", stacklevel=2)
    table = table.with_columns(
        (own & (cs.decimal() | cs.by_dtype(pl.Int128))).cast(pl.Float64),
        (own & cs.duration()).dt.total_microseconds() / 1e6,
        (own & (cs.time() | cs.categorical() | cs.enum() | cs.by_dtype(pl.Null))).cast(pl.String),
        (own & cs.datetime(time_zone="*")).dt.convert_time_zone("UTC").dt.replace_time_zone(None),
    )
    table = table.with_columns(
        pl.col(name).cast(pl.String).str.replace(r"^(-?\d+)\.0$", "$1")
        for name in text
        if schema.get(name, pl.String) != pl.String
    )
    numbers = pl.Series(missing, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls()
    if len(numbers):
        numeric = own & (cs.integer() | cs.float())
        is_mark = numeric.cast(pl.Float64).is_in(numbers.to_list())
        table = table.with_columns(pl.when(~is_mark).then(numeric))
    return with_empty_cells(table, missing)


def with_empty_cells(table: Table, missing: Sequence[str] = ()) -> Table:
    """Empty the text cells that mark missing values, except in copies by `with_copies`."""
    text = cs.string() & ~cs.starts_with(AS_WRITTEN)
    return table.with_columns(pl.when(~text.is_in([*MISSING, *missing])).then(text))


def check_file(path: Path) -> None:
    """Raise if a path is not a file of a known kind."""
    if path.is_symlink() and not path.exists():
        raise InputError(
            f"{path}: {_broken_link(path)}. Correct the link, or give the path of the table itself."
        )
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


def _broken_link(path: Path) -> str:
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            return f"the symbolic link to {path.readlink()} leads back to itself"
    return f"the symbolic link leads to {path.readlink()}, which does not exist"


def check_encoding(path: Path, encoding: str | None) -> None:
    """Raise if --encoding is used with a format that defines its own."""
    if encoding is not None and path.suffix.lower() not in TEXT_SUFFIXES:
        raise InputError(
            f"{path}: --encoding can only be used with a text file "
            f"({', '.join(sorted(TEXT_SUFFIXES))}); other formats define their encoding. Leave it "
            "out."
        )


@dataclass(frozen=True, slots=True)
class TextFile:
    """A table as text: its path, column names, separator and encoding (None is UTF-8)."""

    path: Path
    names: list[str]
    separator: str
    encoding: str | None = None
    missing: Sequence[str] = ()

    @classmethod
    def open(
        cls, path: Path, encoding: str | None = None, missing: Sequence[str] = ()
    ) -> "TextFile":
        """Read the first line of a file.

        Cells in ``missing`` are read as empty, in addition to the usual markers.
        """
        file = cls(path, [], "", encoding)
        try:
            header = _first_record(next(file.blocks(), b"")).decode()
        except UnicodeDecodeError:
            file.raise_not_utf8()
        first = re.sub('"[^"]*"', "", header)  # a quoted name may contain separators
        separator = "\t" if path.suffix.lower() == ".tsv" else max(SEPARATORS, key=first.count)
        names = next(_records(path, header, separator), (1, []))[1]
        return cls(path, names, separator, encoding, missing)

    def frames(self, n_rows: int, keep: Collection[str] = ()) -> Iterator[pl.DataFrame]:
        """Yield the table in frames of at most ``n_rows`` rows, with every cell as text.

        polars reads far ahead in a large file, so a scan would need memory for much of it.
        """
        header = b""
        for block in self.blocks():
            frame = pl.read_csv(
                header + block,
                separator=self.separator,
                null_values=None if keep else [*MISSING, *self.missing],
                infer_schema_length=0,
            )
            if keep:
                frame = with_empty_cells(with_copies(frame, keep), self.missing)
            yield from frame.iter_slices(n_rows)
            header = header or _first_record(block)

    def blocks(self) -> Iterator[bytes]:
        """Yield the text as UTF-8, without a byte order mark, in blocks of whole records."""
        rest, line = b"", 1
        for block in self._decoded():
            rest += block
            # Blank lines wait for the next record, because those at the end are no rows.
            filled = len(rest[: _end_of_records(rest)].rstrip(b"\r\n"))
            if filled:
                end = rest.index(b"\n", filled) + 1
                yield rest[:end]
                line += rest.count(b"\n", 0, end)
                rest = rest[end:]
            if len(rest) > MOST_OF_A_RECORD:
                raise InputError(
                    f"{self.path}, line {line}: this row does not end within "
                    f"{MOST_OF_A_RECORD >> 20} MB. Check its quotes: a quote inside a cell is "
                    "written twice."
                )
        if rest.strip(b"\r\n"):
            yield rest

    def _decoded(self) -> Iterator[bytes]:
        """Blocks of the file as UTF-8, without a byte order mark."""
        blocks = _blocks(self.path)
        try:
            if self.encoding is not None:
                "".encode(self.encoding)  # rejects codecs that are not encodings of text, like hex
                blocks = map(str.encode, codecs.iterdecode(blocks, self.encoding))
            yield next(blocks, b"").removeprefix(codecs.BOM_UTF8)
            yield from blocks
        except LookupError as error:
            raise InputError(
                "--encoding must be a name like utf-8, latin-1, cp1252 or utf-16; got "
                f"{self.encoding!r}."
            ) from error
        except UnicodeError as error:
            raise InputError(
                f"{self.path}: must be text in the encoding {self.encoding}; got {error}. Name "
                "another --encoding."
            ) from error

    def raise_not_utf8(self) -> NoReturn:
        """Raise with the line and the byte that cannot be read as UTF-8."""
        line = 1
        decoder = codecs.getincrementaldecoder("utf-8")()
        for block in _blocks(self.path):
            if line == 1 and block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise InputError(
                    f"{self.path}: the file must be text in UTF-8; got UTF-16. Read it with "
                    "--encoding utf-16."
                )
            try:
                decoder.decode(block)
            except UnicodeDecodeError as error:
                line += error.object[: error.start].count(b"\n")
                byte = error.object[error.start]
                raise InputError(
                    f"{self.path}, line {line}: the file must be text in UTF-8; got the byte "
                    f"0x{byte:02x}. Read it with --encoding latin-1, or the encoding in which it "
                    f"was saved."
                ) from None
            line += block.count(b"\n")
        raise InputError(
            f"{self.path}: the file must be text in UTF-8, and its end is cut off. Copy it again."
        )


def check_names(path: Path, names: list[str]) -> None:
    """Raise for columns without a name and for names that occur twice."""
    if not names:
        raise InputError(
            f"{path}: the first line must hold the names of the columns; it is empty. Remove the "
            "empty lines at the top."
        )
    twice = [name for name, count in Counter(names).items() if count > 1 and name.strip()]
    if twice:
        raise InputError(
            f"{path}: every column must have a name of its own; got {listing(twice)} more than "
            "once. Rename or remove the copies in the first line of the file."
        )
    empty = [place for place, name in enumerate(names, start=1) if not name.strip()]
    if empty:
        raise InputError(
            f"{path}: every column must have a name in the header; column {empty[0]} has none. "
            "Write a name there, or remove the column."
        )


def check_rectangular(file: TextFile) -> None:
    """Raise for the first row that has more or fewer cells than the header."""
    if len(file.names) == 1:
        return
    line = 1
    for block in file.blocks():
        if b'"' in block or not _has_equal_lines(block, file.separator, len(file.names)):
            for number, record in _records(file.path, block.decode(), file.separator, line):
                is_blank = len(record) < 2 and not "".join(record).strip()
                if len(record) != len(file.names) and not is_blank:
                    raise InputError(
                        f"{file.path}, line {number}: every row must have {len(file.names)} cells "
                        f"like the header; got {len(record)}. Correct the line; a cell that "
                        f"contains {file.separator!r} needs double quotes."
                    )
        line += block.count(b"\n")


def _has_equal_lines(block: bytes, separator: str, n_cells: int) -> bool:
    """Whether every line has ``n_cells`` cells, if no cell contains a separator or a line end."""
    text = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(text == ord("\n"))
    if not block.endswith(b"\n"):
        ends = np.append(ends, text.size)
    before = np.searchsorted(np.flatnonzero(text == ord(separator)), ends)
    return bool((np.diff(before, prepend=0) == n_cells - 1).all())


def _records(
    path: Path, text: str, separator: str, first_line: int = 1
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of every record."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    line = first_line
    try:
        for record in reader:
            yield line, record
            line = first_line + reader.line_num
    except csv.Error as error:
        raise InputError(
            f"{path}, line {first_line + reader.line_num - 1}: cannot be read as a table: "
            f"{error}. Check the quotes in this line."
        ) from error


def _first_record(block: bytes) -> bytes:
    end = block.find(b"\n") + 1
    while end and block.count(b'"', 0, end) % 2:
        end = block.find(b"\n", end) + 1
    return block[:end] if end else block


def _end_of_records(text: bytes) -> int:
    """Position behind the last line end that is not inside quotes; 0 if there is none."""
    end, inside = len(text), text.count(b'"') % 2
    while end > 0:
        start = text.rfind(b"\n", 0, end) + 1
        inside ^= text.count(b'"', start, end) % 2
        if not inside:
            return start
        end = start - 1
    return 0


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def read_json_lines(path: Path) -> pl.DataFrame:
    try:
        text = path.read_bytes().removeprefix(codecs.BOM_UTF8)
        return pl.read_ndjson(text, infer_schema_length=None)
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{path}: must hold one JSON object per line, with the same type in every line of a "
            f"column; got a file that cannot be read ({str(error).splitlines()[0]}). Correct it."
        ) from error


def read_excel(path: Path, keep: Collection[str] = ()) -> pl.DataFrame:
    """The first sheet with every cell as text; types are found as for text files.

    Errors of formulas, such as ``#N/A``, are missing, except in copies of the columns to ``keep``.
    """
    try:
        import fastexcel
    except ImportError as error:
        raise InputError(
            f"{path}: spreadsheets need the package fastexcel. Install it with: pip install "
            "'landbridge[excel]', or save the sheet as CSV."
        ) from error
    try:
        book = fastexcel.read_excel(path)
        # With a header, fastexcel would rename columns of the same name. As text, it rounds numbers
        # to nine decimals.
        sheet = book.load_sheet(0, header_row=None, dtypes="string")
        numbers = book.load_sheet(0, header_row=None, dtypes="float").to_polars()
        frame = sheet.to_polars().with_columns(
            pl.when(pl.col(exact.name).cast(pl.Float64, strict=False) != exact)
            .then(exact.cast(pl.String))
            .otherwise(exact.name)
            .alias(exact.name)
            for exact in numbers
        )
        errors = _errors_of_formulas(sheet, frame)
    except (fastexcel.FastExcelError, pl.exceptions.PolarsError) as error:
        raise InputError(
            f"{path}: must be a spreadsheet; got a file that cannot be read ({error}). Save the "
            "sheet as CSV."
        ) from error
    frame = frame[[column.name for column in frame if column.null_count() < frame.height]]
    names = [name or "" for name in frame.row(0)] if frame.height else []
    check_names(path, names)
    others = [name for name in book.sheet_names if name != sheet.name]
    if others:
        warnings.warn(
            f"{path}: only the sheet {sheet.name!r} is read, which is the first. Save the others, "
            f"{listing(others)}, as files if they belong to the table.",
            stacklevel=2,
        )
    header = dict(zip(frame.columns, names, strict=True))
    for column in header:
        _announce_errors(path, header[column], errors.get(column, {}))
    copies = [
        _with_errors(frame[column], errors.get(column, {}))[1:].alias(AS_WRITTEN + name)
        for column, name in header.items()
        if name in keep
    ]
    return frame[1:].rename(header).with_columns(copies)


def _errors_of_formulas(sheet: Any, frame: pl.DataFrame) -> dict[str, dict[int, str]]:
    """Cells with an error like ``#N/A`` by column and row; fastexcel reads them as missing."""
    found: dict[str, dict[int, str]] = {}
    if not any(column.null_count() for column in frame):
        return found
    cells = sheet.to_arrow_with_errors()[1]
    for cell in () if cells is None else cells.errors:
        row, column = cell.position
        error = re.search(r"Error\((\w+)\)", cell.detail)
        if error is not None:
            text = ERRORS.get(error[1], f"#{error[1]}")
            found.setdefault(frame.columns[column], {})[row] = text
    return found


def _announce_errors(path: Path, name: str, errors: dict[int, str]) -> None:
    if errors:
        cells = "1 cell is an error" if len(errors) == 1 else f"{len(errors)} cells are errors"
        shown = ", ".join(f"{text!r} in row {row}" for row, text in sorted(errors.items())[:SHOWN])
        more = f" and {len(errors) - SHOWN} more" if len(errors) > SHOWN else ""
        warnings.warn(
            f"{path}: {name!r}: {cells} of a formula and read as missing: {shown}{more}. Correct "
            "the formula, or empty the cells.",
            stacklevel=3,
        )


def _with_errors(column: pl.Series, errors: dict[int, str]) -> pl.Series:
    return column.scatter(list(errors), list(errors.values())) if errors else column


@contextmanager
def readable(place: object, file: TextFile | None = None) -> Iterator[None]:
    """Turn errors of polars into messages about the table."""
    try:
        yield
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        if file is not None and "utf-8" in str(error):
            file.raise_not_utf8()
        raise InputError(
            f"{place}: cannot be read as one table: {str(error).splitlines()[0]}. Its files must "
            "be complete and have the same columns and types."
        ) from error
