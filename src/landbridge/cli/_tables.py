"""Tables from files: CSV, TSV and Parquet, one file with a domain column or one file a domain."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from landbridge.cli._errors import InputError, listing, nearest
from landbridge.cli._text_files import (
    check_names,
    check_rectangular,
    raise_not_utf8,
    read_header,
)

if TYPE_CHECKING:
    import polars as pl

TEXT_SUFFIXES = {".csv", ".tsv", ".txt"}
PARQUET_SUFFIXES = {".parquet", ".pq"}
# Cells that mean "nothing here"; everything else is kept as it is written.
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL"]
DECIMAL_COMMA = r"^\s*[+-]?\d+(,\d+)?([eE][+-]?\d+)?\s*$"
DEFAULT_DOMAIN = "domain"
# Rows from which the types of columns are guessed first; a later surprise reads the whole file.
GUESS_FROM = 10_000


def read_data(data: list[str], domain: str | None) -> "pl.DataFrame":
    """The table of all domains: one file, or several given as ``name=path``.

    With several files the name of each goes into the column ``domain``.
    """
    named = [_split_name(argument) for argument in data]
    if len(named) == 1 and named[0][0] is None:
        return read_table(named[0][1])
    unnamed = [str(path) for name, path in named if name is None]
    if unnamed:
        raise InputError(
            "Several files must each be given as name=path, with the name of the domain; got "
            f"{unnamed[0]!r} without a name. Write for example "
            f"{Path(unnamed[0]).stem}={unnamed[0]}."
        )
    names = [name for name, _ in named if name is not None]
    if len(set(names)) < len(names):
        raise InputError(f"Every file must have a name of its own; got {listing(names)}.")
    return _stack({name: read_table(path) for name, path in named if name}, domain)


def read_table(path: Path) -> "pl.DataFrame":
    """One file as a table, with every way in which it can be wrong said in words."""
    _check_file(path)
    frame = _read_parquet(path) if path.suffix.lower() in PARQUET_SUFFIXES else _read_text(path)
    if frame.is_empty():
        raise InputError(
            f"{path}: the table must have rows below its header; got none. "
            "Check how the file was exported."
        )
    return _plain_numbers(frame, path)


def require_column(frame: "pl.DataFrame", name: str, option: str) -> None:
    """Raise for a column that is not there, with the nearest name."""
    if name not in frame.columns:
        raise InputError(
            f"{option} must name a column of the table; got {name!r}."
            f"{nearest(name, frame.columns)} The columns are {listing(frame.columns)}."
        )


def _split_name(argument: str) -> tuple[str | None, Path]:
    name, equals, path = argument.partition("=")
    if not equals or Path(argument).exists():
        return None, Path(argument)
    return name, Path(path)


def _check_file(path: Path) -> None:
    if not path.exists():
        there = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(
            f"{path}: no such file.{nearest(path.name, there)} "
            "Give the path of a CSV, TSV or Parquet file."
        )
    if path.is_dir():
        raise InputError(f"{path}: must be a file; got a directory. Name the file inside it.")
    if path.suffix.lower() not in TEXT_SUFFIXES | PARQUET_SUFFIXES:
        raise InputError(
            f"{path}: the name must end in .csv, .tsv, .txt, .parquet or .pq, which says how to "
            f"read it; got {path.suffix or 'no ending'!r}. Rename or convert the file."
        )
    if path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty. Check how it was exported.")


def _read_parquet(path: Path) -> "pl.DataFrame":
    import polars as pl

    try:
        return pl.scan_parquet(path).collect(engine="streaming")
    except pl.exceptions.PolarsError as error:
        raise InputError(
            f"{path}: must be a whole Parquet file; got one that cannot be read ({error}). "
            "Copy or export it again."
        ) from error


def _plain_numbers(frame: "pl.DataFrame", path: Path) -> "pl.DataFrame":
    """Decimals as ordinary numbers, NaN as a missing cell; infinity is refused."""
    import polars as pl
    import polars.selectors as cs

    frame = frame.with_columns(cs.decimal().cast(pl.Float64))
    floats = [column for column in frame if column.dtype.is_float()]
    for column in floats:
        if column.is_infinite().any():
            row = column.is_infinite().arg_max() or 0
            raise InputError(
                f"{path}: numbers must be finite; {column.name!r} holds {column[row]} in row "
                f"{row + 1}. Replace it, or leave the cell empty."
            )
    return frame.with_columns(column.fill_nan(None) for column in floats if column.is_nan().any())


def _read_text(path: Path) -> "pl.DataFrame":
    import polars as pl

    names, separator = read_header(path)
    check_names(path, names)
    try:
        check_rectangular(path, len(names), separator)
        frame = _scan(path, separator, GUESS_FROM)
    except UnicodeDecodeError:
        raise_not_utf8(path)
    except pl.exceptions.PolarsError as error:
        if "utf-8" in str(error):
            raise_not_utf8(path)
        raise InputError(f"{path}: cannot be read as a table: {error}") from error
    # polars makes a row of empty cells out of an empty line.
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    return frame if separator == "," else _read_decimal_commas(frame, path)


def _read_decimal_commas(frame: "pl.DataFrame", path: Path) -> "pl.DataFrame":
    """Columns of numbers like 1,5 as numbers, with a caution; files of spreadsheets have them."""
    import polars as pl

    texts = [column for column in frame if column.dtype == pl.String]
    found = [
        column.name
        for column in texts
        if column.str.contains(DECIMAL_COMMA).all() and column.str.contains(",").any()
    ]
    if not found:
        return frame
    warnings.warn(
        f"{path}: {listing(found)} hold numbers with a decimal comma and are read as such: 1,5 is "
        "one and a half.",
        stacklevel=2,
    )
    return frame.with_columns(
        pl.col(found).str.strip_chars().str.replace(",", ".", literal=True).cast(pl.Float64)
    )


def _scan(path: Path, separator: str, guess_from: int | None) -> "pl.DataFrame":
    import polars as pl

    lazy = pl.scan_csv(
        path,
        separator=separator,
        null_values=MISSING,
        try_parse_dates=True,
        infer_schema_length=guess_from,
    )
    try:
        return lazy.collect(engine="streaming")
    except pl.exceptions.ComputeError as error:
        if guess_from is None or "utf-8" in str(error):
            raise
        return _scan(path, separator, None)


def _stack(tables: dict[str, "pl.DataFrame"], domain: str | None) -> "pl.DataFrame":
    """One table below the other, with a column of domain names."""
    import polars as pl

    domain = domain or DEFAULT_DOMAIN
    first, *others = tables
    columns = tables[first].columns
    if domain in columns:
        raise InputError(
            f"With several files --domain names the column that is added; got {domain!r}, which "
            "the files have already. Choose another name."
        )
    for other in others:
        missing = [name for name in columns if name not in tables[other].columns]
        extra = [name for name in tables[other].columns if name not in columns]
        if missing or extra:
            raise InputError(
                f"All files must have the same columns as {first!r}; {other!r} lacks "
                f"{listing(missing) or 'none'} and has {listing(extra) or 'none'} besides. "
                "Remove or add those columns."
            )
    for name in columns:
        kinds = {str(t[name].dtype) for t in tables.values() if t[name].null_count() < t.height}
        if len(kinds) > 1 and "String" in kinds:
            raise InputError(
                f"All files must have columns of the same types; got {' and '.join(sorted(kinds))} "
                f"in {name!r}. Check that column for stray text."
            )
    parts = [
        table.select(
            # An empty column has no type; polars calls it text, which would not fit numbers.
            pl.lit(None).alias(name) if table[name].null_count() == table.height else name
            for name in columns
        ).with_columns(pl.lit(name).alias(domain))
        for name, table in tables.items()
    ]
    return pl.concat(parts, how="vertical_relaxed")
