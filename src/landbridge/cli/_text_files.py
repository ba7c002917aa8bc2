"""What is wrong with a text file of columns, said with the line where it happens.

polars reads fast but forgives too much: short rows are filled with empty cells and columns of the
same name are renamed. A table that is silently different from the file must not be learnt from.
"""

import codecs
import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from landbridge.cli._errors import InputError, listing

SEPARATORS = ",;\t|"
# A character that no table has between its columns: with it, polars reads whole lines.
NO_SEPARATOR = "\x1f"
BLOCK = 1 << 20


def read_header(path: Path) -> tuple[list[str], str]:
    """Column names of a text file and the character that separates them."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            first = file.readline()
        except UnicodeDecodeError:
            raise_not_utf8(path)
    if path.suffix.lower() == ".tsv":
        separator = "\t"
    else:
        separator = max(SEPARATORS, key=first.count)
    with path.open(encoding="utf-8-sig", newline="") as file:
        names = next(csv.reader(file, delimiter=separator), [])
    return names, separator


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


def check_rectangular(path: Path, n_columns: int, separator: str) -> None:
    """Raise for the first row that has more or fewer cells than the header."""
    if n_columns == 1:
        return
    ragged = _first_ragged_row(path, n_columns, separator)
    if ragged is not None:
        line, n_cells = ragged
        raise InputError(
            f"{path}, line {line}: every row must have {n_columns} cells like the header; got "
            f"{n_cells}. Mend the line; a cell that contains {separator!r} needs double quotes."
        )


def raise_not_utf8(path: Path) -> None:
    """Raise with the line and the byte that cannot be read as UTF-8."""
    line = 1
    decoder = codecs.getincrementaldecoder("utf-8")()
    for block in _blocks(path):
        try:
            decoder.decode(block)
        except UnicodeDecodeError as error:
            line += error.object[: error.start].count(b"\n")
            byte = error.object[error.start]
            raise InputError(
                f"{path}, line {line}: the file must be text in UTF-8; got the byte 0x{byte:02x}. "
                f"Convert it, for example with: iconv -f latin1 -t utf-8 {path.name} > new.csv"
            ) from None
        line += block.count(b"\n")
    raise InputError(
        f"{path}: the file must be text in UTF-8, and its end is cut off. Copy it again."
    )


def _first_ragged_row(path: Path, n_columns: int, separator: str) -> tuple[int, int] | None:
    """Line number and number of cells of the first row of another width."""
    import polars as pl

    lines = pl.scan_csv(
        path,
        separator=NO_SEPARATOR,
        quote_char=None,
        has_header=False,
        schema={"line": pl.String},
        truncate_ragged_lines=True,
    )
    quoted = lines.select(pl.col("line").str.contains('"', literal=True).any())
    if quoted.collect(engine="streaming").item():
        return _first_ragged_record(path, n_columns, separator)
    cells = pl.col("line").str.count_matches(separator, literal=True) + 1
    odd = (
        lines.with_row_index("number", offset=1)
        .with_columns(cells=cells)
        .filter((pl.col("cells") != n_columns) & (pl.col("line").str.strip_chars() != ""))
        .select("number", "cells")
        .head(1)
        .collect(engine="streaming")
    )
    return None if odd.is_empty() else odd.row(0)


def _first_ragged_record(path: Path, n_columns: int, separator: str) -> tuple[int, int] | None:
    """The same for files with quoted cells, which may hold separators and line ends."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=separator)
        start = 1
        for record in reader:
            if record and len(record) != n_columns:
                return start, len(record)
            start = reader.line_num + 1
    return None


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block
