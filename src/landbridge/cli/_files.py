"""Files of tables: find them, open them, and report what is malformed.

A Parquet table may be a file, a directory (with or without folders like ``region=north``) or a
pattern like ``data/*.parquet``. Other tables are single files.

polars is fast but too lenient with text: it fills short rows with empty cells and renames columns
of the same name. No model should be trained on a table that silently differs from its file.
"""

import codecs
import csv
import glob
import io
import os
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn

from landbridge.cli._session import InputError, listing, nearest

if TYPE_CHECKING:
    import polars as pl

TEXT_SUFFIXES = {".csv", ".tsv", ".txt"}
PARQUET_SUFFIXES = {".parquet", ".pq"}
JSON_SUFFIXES = {".jsonl", ".ndjson"}
EXCEL_SUFFIXES = {".xlsx", ".xls", ".ods"}
SUFFIXES = TEXT_SUFFIXES | PARQUET_SUFFIXES | JSON_SUFFIXES | EXCEL_SUFFIXES
SEPARATORS = ",;\t|"
# A separator that no table uses, so that polars reads whole lines.
NO_SEPARATOR = "\x1f"
# Cells that are read as missing; all other cells are kept unchanged.
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL"]
BLOCK = 1 << 20


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
            f"{path}: --encoding can only be used with a text file "
            f"({', '.join(sorted(TEXT_SUFFIXES))}); other formats define their encoding. Leave it "
            "out."
        )


@dataclass(frozen=True, slots=True)
class TextFile:
    """A table as text: its path, column names and separator.

    ``content`` holds the text as UTF-8 where the file has another encoding.
    """

    path: Path
    names: list[str]
    separator: str
    content: bytes | None = None
    missing: Sequence[str] = ()

    @classmethod
    def open(
        cls, path: Path, encoding: str | None = None, missing: Sequence[str] = ()
    ) -> "TextFile":
        """Read the first line of a file, or the whole file if it must be decoded.

        Cells in ``missing`` are read as empty, in addition to the usual markers.
        """
        content = None if encoding is None else _decoded(path, encoding)
        file = cls(path, [], "", content)
        with file.lines() as lines:
            try:
                first = lines.readline()
            except UnicodeDecodeError:
                file.raise_not_utf8()
        separator = "\t" if path.suffix.lower() == ".tsv" else max(SEPARATORS, key=first.count)
        with file.lines() as lines:
            names = next(_records(path, lines, separator), [])
        return cls(path, names, separator, content, missing)

    def lines(self) -> IO[str]:
        """Open the text, without a byte order mark."""
        if self.content is None:
            return self.path.open(encoding="utf-8-sig", newline="")
        return io.TextIOWrapper(io.BytesIO(self.content), encoding="utf-8-sig", newline="")

    def scan(self, text: set[str], *, guess_from: int | None = 0) -> "pl.LazyFrame":
        """Scan the table; columns in ``text`` stay text, other types are inferred from the first
        rows."""
        import polars as pl

        return pl.scan_csv(
            self.source(),
            separator=self.separator,
            null_values=[*MISSING, *self.missing],
            try_parse_dates=True,
            infer_schema_length=guess_from,
            schema_overrides=dict.fromkeys(text, pl.String),
        )

    def source(self) -> Path | io.BytesIO:
        """Source from which polars reads."""
        return self.path if self.content is None else io.BytesIO(self.content)

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
    twice = [name for name, count in Counter(names).items() if count > 1 and name.strip()]
    if twice:
        raise InputError(
            f"{path}: every column must have a name of its own; got {listing(twice)} more than "
            "once. Rename or remove the copies in the first line of the file."
        )
    empty = [place for place, name in enumerate(names, start=1) if not name.strip()]
    if empty:
        raise InputError(
            f"{path}: every column must have a name in the first line; column {empty[0]} has none. "
            "Write a name there, or remove the column."
        )


def check_rectangular(file: TextFile) -> None:
    """Raise for the first row that has more or fewer cells than the header."""
    if len(file.names) == 1:
        return
    ragged = _first_ragged_row(file)
    if ragged is not None:
        line, n_cells = ragged
        raise InputError(
            f"{file.path}, line {line}: every row must have {len(file.names)} cells like the "
            f"header; got {n_cells}. Correct the line; a cell that contains {file.separator!r} "
            "needs double quotes."
        )


def _first_ragged_row(file: TextFile) -> tuple[int, int] | None:
    """Line number and number of cells of the first row with a different number of cells."""
    import polars as pl

    lines = pl.scan_csv(
        file.source(),
        separator=NO_SEPARATOR,
        quote_char=None,
        has_header=False,
        schema={"line": pl.String},
        truncate_ragged_lines=True,
    )
    quoted = lines.select(pl.col("line").str.contains('"', literal=True).any())
    if quoted.collect(engine="streaming").item():
        return _first_ragged_record(file)
    cells = pl.col("line").str.count_matches(file.separator, literal=True) + 1
    odd = (
        lines.with_row_index("number", offset=1)
        .with_columns(cells=cells)
        .filter((pl.col("cells") != len(file.names)) & (pl.col("line").str.strip_chars() != ""))
        .select("number", "cells")
        .head(1)
        .collect(engine="streaming")
    )
    return None if odd.is_empty() else odd.row(0)


def _first_ragged_record(file: TextFile) -> tuple[int, int] | None:
    """Find the first ragged record in a file with quoted separators or line ends."""
    with file.lines() as lines:
        reader = csv.reader(lines, delimiter=file.separator)
        start = 1
        for record in _checked(file.path, reader):
            if record and len(record) != len(file.names):
                return start, len(record)
            start = reader.line_num + 1
    return None


def _records(path: Path, lines: IO[str], separator: str) -> Iterator[list[str]]:
    return _checked(path, csv.reader(lines, delimiter=separator))


def _checked(path: Path, reader: Iterator[list[str]]) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise InputError(
            f"{path}, line {getattr(reader, 'line_num', 1)}: cannot be read as a table: {error}. "
            "Check the quotes in this line."
        ) from error


def _decoded(path: Path, encoding: str) -> bytes:
    """The file as UTF-8."""
    try:
        return path.read_bytes().decode(encoding).encode()
    except LookupError as error:
        raise InputError(
            f"--encoding must be a name like utf-8, latin-1, cp1252 or utf-16; got {encoding!r}."
        ) from error
    except UnicodeError as error:
        raise InputError(
            f"{path}: must be text in the encoding {encoding}; got {error}. Name another "
            "--encoding."
        ) from error


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


class BlankRows:
    """Track the empty rows that polars reads from blank lines; trailing ones are ignored."""

    def __init__(self, place: object):
        self.place = place
        self.n_rows = self.n_filled = self.n_inner = self.n_waiting = 0
        self.first: int | None = None

    def drop(self, piece: "pl.DataFrame") -> "pl.DataFrame":
        """The next rows of the table without the empty ones."""
        import polars as pl

        blank = piece.select(pl.all_horizontal(pl.all().is_null())).to_series()
        n_blank = int(blank.sum())
        start, self.n_rows = self.n_rows, self.n_rows + piece.height
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
        """Warn about empty rows between filled ones."""
        if self.n_inner:
            warnings.warn(
                f"{self.place}: {self.n_inner} rows are empty and left out, the first is row "
                f"{self.first}.",
                stacklevel=3,
            )


@contextmanager
def readable(place: object, file: TextFile | None = None) -> Iterator[None]:
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
