"""Types of columns: find them in text, store them with a model, and check new rows against them.

polars treats a column as text if a single cell is not a number. Here, a column of numbers with a
few other cells remains numeric, and those cells become missing. A message names every converted
cell.

New rows are read with the column types of the training data. A cell that does not fit its column
becomes missing, is named in a caution and counts as outside. If half of the cells or more do not
fit, the column is taken to be a different one and the table is refused.
"""

import contextlib
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl

from landbridge.cli._session import InputError, listing, nearest
from landbridge.inspection.audit import MISSING_MARKS

# The encoder computes in single precision, where the squares of larger numbers overflow. All 64-bit
# integers are smaller.
LARGEST = 1e19
# A column has a type if at least this share of its filled cells fits it.
MOST_CELLS = 0.9
# Below that, a column with this share of numbers is read as text, with a caution.
MANY_CELLS = 0.5
LEADING_ZERO = r"^[+-]?0\d+$"
DAY_FIRST = r"^\s*\d{1,2}[-/.]\d{1,2}[-/.]"
# Years like 20 may be 1920 or 2020.
TWO_DIGITS = 100
TIME_ZONE = r":\d{2}.*([Zz]|[+-]\d{2}:?\d{2})\s*$"
DECIMAL_COMMA, THOUSANDS = "a decimal comma", "thousands separators"
_PATTERNS = {
    DECIMAL_COMMA: r"^[+-]?\d+(,\d+)?([eE][+-]?\d+)?$",
    THOUSANDS: r"^[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)(\.\d+)?$",
}
# If a column contains 1.234,56, its dots separate thousands; 0.234 never does.
_DOTTED = r"^[+-]?[1-9]\d{0,2}(\.\d{3})+,\d+$"
# Decimals are written as 1.72 and 35 or as 1.720 and 35.000, hardly ever as 1.720 and 35.
_MAYBE_DOTTED = r"^[+-]?(0|[1-9]\d{0,2}(\.\d{3})?)$"
_DOTTED_COMMA = r"^[+-]?([1-9]\d{0,2}(\.\d{3})+|\d+)(,\d+)?$"
PERCENT, CURRENCY = "percent signs", "currency signs"
_MONEY = r"(?:[$€£¥]|USD|EUR|GBP|CHF|JPY)"
# A number with its unit; the groups are the number without the unit.
_UNITS = {
    PERCENT: r"^([+-]?\d.*?)\s*%$",
    CURRENCY: rf"(?i)^([+-]?)\s*(?:{_MONEY}\s*([+-]?\d.*)|(\d.*?)\s*{_MONEY})$",
}
# Cells that look like quantities or dates, in whatever notation: (1 234), 12 kg, 12/31/2020, 3 May.
_MONTH = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\p{L}*"
_SHAPES = {
    "numbers": r"^\s*['(+\-−]?\s*\d[\d\s.,'’]*\s*\p{L}{0,3}\)?\s*$",
    "dates": rf"^\s*(\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}\b|(\d+\W+)?{_MONTH}\W+\d+\b)",
}
# Whole numbers between these may be dates like 20201231.
DATES_IN_DIGITS = (19_000_101, 21_001_231)
# Number of cells whose shape is examined.
MOST_SHAPES = 10_000
# Text columns with more values than this are free text, not categories.
MOST_VALUES = 40
# Number of misfit cells shown in a caution.
SHOWN = 3
KINDS = ("number", "text", "date", "time", "true or false")


@dataclass(frozen=True, slots=True)
class Notation:
    """How the numbers of a column are written: a sign of the unit, and the use of commas."""

    unit: str = ""
    commas: str = ""

    def __str__(self) -> str:
        return " and ".join(filter(None, (self.unit, self.commas)))


PLAIN = Notation()


@dataclass(frozen=True, slots=True)
class Numbers:
    """A text column as numbers, missing where a cell is not a number, and its notation."""

    values: pl.Series
    notation: Notation
    n_filled: int

    @property
    def share(self) -> float:
        """Share of the filled cells that are numbers."""
        return (len(self.values) - self.values.null_count()) / max(self.n_filled, 1)


def read_numbers(
    text: pl.Series, *, comma_separated: bool, notation: Notation | None = None
) -> Numbers:
    """Read a text column in ``notation``, or in the one that fits most of its cells.

    Ties are read as plain numbers. ``"1,234"`` may have a thousands separator or a decimal comma:
    if both notations fit all cells equally well, the comma separates thousands in comma-separated
    files and decimals in others. The two readings differ by a factor of 1000 only.
    """
    text = text.str.strip_chars()
    filled = len(text) - text.null_count()
    plain = _plain(text)
    if notation == PLAIN or (notation is None and plain.null_count() == len(text) - filled):
        return Numbers(plain, PLAIN, filled)
    if notation is not None:
        return Numbers(_in_notation(text, notation), notation, filled)
    read = {PLAIN: plain}
    for unit in ("", *(unit for unit, form in _UNITS.items() if text.str.contains(form).any())):
        found = {commas: _in_notation(text, Notation(unit, commas)) for commas in ("", *_PATTERNS)}
        if found[DECIMAL_COMMA].null_count() == found[THOUSANDS].null_count():
            del found[DECIMAL_COMMA if comma_separated else THOUSANDS]
        read |= {Notation(unit, commas): numbers for commas, numbers in found.items()}
    best = min(read, key=lambda notation: read[notation].null_count())
    return Numbers(read[best], best, filled)


def find_types(frame: pl.DataFrame, place: str, *, keep: set[str], comma: bool) -> pl.DataFrame:
    """Give text columns their types, except for those to ``keep`` as text."""
    columns, codes = [], []
    # Column by column: polars takes seconds to plan one query over tens of thousands of columns.
    for column in frame:
        if column.dtype != pl.String or column.name in keep:
            columns.append(column)
            continue
        numbers = _in_digits(column)
        if (numbers is None or numbers.dtype == pl.Int64) and is_code(column.drop_nulls()):
            columns.append(column)
            if share_read(column, _plain(column)) >= MANY_CELLS:
                codes.append(column.name)
        elif numbers is None:
            columns.append(find_type(column, place, comma_separated=comma))
        else:
            announce_notation(Numbers(numbers, PLAIN, len(numbers)), column, place)
            _announce_dates_in_digits(numbers, place)
            columns.append(numbers)
    if codes:
        warnings.warn(
            f"{place}: whole numbers with leading zeros are read as text in {listing(codes)}. "
            "Remove the zeros where they are quantities.",
            stacklevel=2,
        )
    return pl.DataFrame(columns)


def _in_digits(text: pl.Series) -> pl.Series | None:
    """The column as numbers, if every filled cell is one in plain digits."""
    for kind in (pl.Int64, pl.Float64):
        values = text.cast(kind, strict=False)
        if values.null_count() == text.null_count() < len(text):
            return values
    return None


def find_type(text: pl.Series, place: str, *, comma_separated: bool = True) -> pl.Series:
    """Convert a column to the type of most of its cells and warn about the others.

    Marks of missing values, such as ``n/a`` or ``-``, say nothing about the type.
    """
    filled = text.drop_nulls()
    if not len(filled):
        return text
    numbers = read_numbers(text, comma_separated=comma_separated)
    n_marks = int(filled.str.strip_chars().str.to_lowercase().is_in(MISSING_MARKS).sum())
    known = 1 - n_marks / len(filled)
    if numbers.share >= max(MOST_CELLS * known, MANY_CELLS):
        announce_notation(numbers, text, place, f"--text {text.name} to keep it as text")
        return _announce(text, numbers.values, "numbers", place)
    if filled.str.to_lowercase().is_in(["true", "false"]).all():
        return text.str.to_lowercase() == "true"
    dates = read_dates(text)
    if dates is not None and share_read(text, dates) >= max(MOST_CELLS * known, MANY_CELLS):
        announce_dates(text, place)
        return _announce(text, dates, "dates", place)
    for kind, values in (("numbers", numbers.values), ("dates", dates)):
        if values is None:
            values = numbers.values.clear(len(text))
        shaped = filled.head(MOST_SHAPES).str.contains(_SHAPES[kind]).mean()
        is_shaped = float(shaped) >= MOST_CELLS and filled.n_unique() > MOST_VALUES  # type: ignore[arg-type]
        if is_shaped or share_read(text, values) >= MANY_CELLS:
            odd = unreadable(text, values)
            warnings.warn(
                f"{place}: {text.name!r} is read as text, because {odd.len()} of its {len(filled)} "
                f"cells are not {kind} ({strays(text, values)}). If it should hold {kind}, "
                "correct them or pass them as --missing.",
                stacklevel=2,
            )
            break
    return text


def announce_notation(numbers: Numbers, text: pl.Series, place: str, change: str = "") -> None:
    """Announce numbers that are not written in plain digits, with an example and advice."""
    if numbers.notation == PLAIN:
        cell = _find_dotted(text.filter(numbers.values.is_not_null()))
        if cell:
            warnings.warn(
                f"{place}: {text.name!r} holds numbers like {cell!r}, which are read as decimals. "
                "If the dots separate thousands, remove them.",
                stacklevel=3,
            )
        return
    written = _plain(text.str.strip_chars()).is_null() & numbers.values.is_not_null()
    row = text.str.len_chars().set(~written, 0).arg_max() or 0  # the longest shows all signs
    example = f"{text[row]!r} is {numbers.values[row]:.12g}"
    warnings.warn(
        f"{place}: {text.name!r} holds numbers with {numbers.notation} and is read as such: "
        f"{example}{change and f' ({change})'}.",
        stacklevel=3,
    )


def _find_dotted(cells: pl.Series) -> str:
    """A cell like 1.720 where the dots of a column appear to separate thousands; else empty."""
    if cells.dtype != pl.String:
        return ""
    cells = cells.str.strip_chars()
    if not all(part.str.contains(_MAYBE_DOTTED).all() for part in (cells.head(100), cells)):
        return ""
    rounded = cells.filter(cells.str.contains(r"\.\d\d0$"))
    is_mixed = len(rounded) and not cells.str.contains(".", literal=True).all()
    return rounded[0] if is_mixed else ""


def announce_dates(text: pl.Series, place: str) -> bool:
    """Announce dates like 31/12/2020, and times with a time zone; whether there were any."""
    is_day_first = bool(text.str.contains(DAY_FIRST).any())
    if is_day_first:
        warnings.warn(
            f"{place}: the dates in {text.name!r} are read as day, month, year. Write them like "
            "2020-12-31 if they are not.",
            stacklevel=3,
        )
    has_zone = bool(text.str.contains(TIME_ZONE).any())
    if has_zone:
        warnings.warn(
            f"{place}: the times in {text.name!r} have a time zone and are converted to UTC. New "
            "rows without one are read as UTC.",
            stacklevel=3,
        )
    return is_day_first or has_zone


def _announce_dates_in_digits(numbers: pl.Series, place: str) -> None:
    known = numbers.drop_nulls()
    if not (known.dtype == pl.Int64 and known.is_between(*DATES_IN_DIGITS).all()):
        return
    if not known.cast(pl.String).str.to_date("%Y%m%d", strict=False).null_count():
        warnings.warn(
            f"{place}: {numbers.name!r} holds whole numbers like {known[0]}, which are read as "
            "numbers. If they are dates, write them like 2020-12-31.",
            stacklevel=3,
        )


def is_code(filled: pl.Series) -> bool:
    """Whether most cells are integers, some with a leading zero, such as 007."""
    cells = filled.str.strip_chars()
    if not cells.str.contains(LEADING_ZERO).any():
        return False
    # Columns of quantities like 00.5 also have cells with a decimal point.
    return not cells.str.contains(r"^[+-]?\d*[.,]\d").any()


def read_dates(text: pl.Series) -> pl.Series | None:
    """Dates or times, whichever fit more cells, missing for others; None without any."""
    # Trying every format on millions of names would take most of the time of reading a file.
    if not text.str.contains(r"\d").any():
        return None
    best = None
    for read in (text.str.to_date, text.str.to_datetime):
        try:
            values = read(strict=False)
        except pl.exceptions.PolarsError:
            continue
        if (values.dt.year() < TWO_DIGITS).all():  # or no cell could be read
            continue
        if isinstance(values.dtype, pl.Datetime) and values.dtype.time_zone is not None:
            values = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        if values.null_count() == text.null_count():
            return values
        if best is None or values.null_count() < best.null_count():
            best = values
    return best


def share_read(text: pl.Series, values: pl.Series) -> float:
    """Share of the filled cells that became values."""
    return (len(values) - values.null_count()) / max(len(text) - text.null_count(), 1)


def unreadable(text: pl.Series, values: pl.Series) -> pl.Series:
    """Positions of the filled cells that could not be converted."""
    return (text.is_not_null() & values.is_null()).arg_true()


def strays(text: pl.Series, values: pl.Series, limit: int = 3) -> str:
    """The first unreadable cells with their rows, in words."""
    rows = unreadable(text, values).to_list()
    shown = ", ".join(f"{text[row]!r} in row {row + 1}" for row in rows[:limit])
    return shown if len(rows) <= limit else f"{shown} and {len(rows) - limit} more"


def warn_similar_names(values: pl.Series, what: str) -> None:
    """Warn about names that are nearly the same, or look like a mark of a missing value.

    Names are nearly the same if they differ only in spaces, capitals, the way a number is written
    or the way an accent is stored.
    """
    groups: dict[object, list[str]] = {}
    known = values.drop_nulls().unique(maintain_order=True).to_list()
    marks = [name for name in known if name.strip().lower() in {"", *MISSING_MARKS}]
    if marks:
        warnings.warn(
            f"{values.name!r} holds {listing(marks)}, which are read as names of {what}. If they "
            "mark missing values, pass them as --missing.",
            stacklevel=2,
        )
    for name in known:
        key: object = unicodedata.normalize("NFKC", name).strip().casefold()
        with contextlib.suppress(ValueError):
            key = float(name)
        groups.setdefault(key, []).append(name)
    for names in groups.values():
        if len(names) > 1:
            warnings.warn(
                f"{values.name!r} holds {listing(names)}, which are read as {len(names)} different "
                f"{what} because they are written differently.",
                stacklevel=2,
            )


def _announce(text: pl.Series, values: pl.Series, kind: str, place: str) -> pl.Series:
    odd = unreadable(text, values)
    if len(odd):
        cells = "1 cell that is not is" if len(odd) == 1 else f"{len(odd)} cells that are not are"
        warnings.warn(
            f"{place}: {text.name!r} holds {kind}; {cells} read as missing: "
            f"{strays(text, values)} (--text {text.name} to keep them).",
            stacklevel=3,
        )
    return values


def _plain(text: pl.Series) -> pl.Series:
    return text.cast(pl.Float64, strict=False)


def _in_notation(text: pl.Series, notation: Notation) -> pl.Series:
    """Numbers in one notation; cells in another one, even in plain digits, become missing."""
    cells = text
    if notation.unit:
        form = _UNITS[notation.unit]
        groups = "$1" if notation.unit == PERCENT else "$1$2$3"
        cells = _only(cells, form).str.replace(form, groups)
    if not notation.commas:
        return _plain(cells)
    pattern = _PATTERNS[notation.commas]
    if notation.commas == THOUSANDS:
        return _plain(_only(cells, pattern).str.replace_all(",", "", literal=True))
    n_commas, n_dots = (int(cells.str.contains(form).sum()) for form in (",", r"^[^,]*\.[^,]*$"))
    # A single 1.234,56 does not make the dot of many 1.234 a thousands separator.
    if n_commas >= n_dots and cells.str.contains(_DOTTED).any():
        pattern = _DOTTED_COMMA
    cells = _only(cells, pattern).str.replace_all(".", "", literal=True)
    return _plain(cells.str.replace(",", ".", literal=True))


def _only(cells: pl.Series, pattern: str) -> pl.Series:
    return cells.set(~cells.str.contains(pattern).fill_null(False), None)


@dataclass(frozen=True, slots=True)
class NewRows:
    """Converted rows, and the number of columns outside the training range per row."""

    frame: pl.DataFrame
    outside: np.ndarray


def column_kind(column: pl.Series) -> str:
    """The type of a column in words."""
    if column.dtype.is_numeric():
        return "number"
    kinds: dict[Any, str] = {pl.Boolean: "true or false", pl.Date: "date", pl.Datetime: "time"}
    kinds |= {pl.String: "text", pl.Null: "text"}
    return next((words for kind, words in kinds.items() if column.dtype == kind), "other")


def describe_columns(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Name and type of every column, with its range or its values."""
    return [_describe(frame[name]) for name in frame.columns]


def check_card(card: dict[str, Any], path: object) -> list[dict[str, Any]]:
    """Columns of a saved model; raise if the card does not describe them."""
    columns = card.get("columns")
    if columns is None:
        raise InputError(f"{path}: must be a model that `landbridge select --save` wrote.")
    names = [[card.get(name, "")] for name in ("label", "domain")]
    names += [card.get(name, []) for name in ("missing", "text")]
    whole = isinstance(columns, list) and all(map(_is_description, columns))
    whole = whole and all(isinstance(own, list) for own in names)
    whole = whole and all(isinstance(name, str) for own in names for name in own)
    if not whole or len({column["name"] for column in columns}) < len(columns):
        raise InputError(
            f"{path}: the columns on its card must be as `landbridge select --save` wrote them; "
            "they were edited. Copy the file again."
        )
    return columns


def _is_description(column: Any) -> bool:
    if not isinstance(column, dict) or not isinstance(column.get("name"), str):
        return False
    if column.get("type") not in KINDS or not isinstance(column.get("missing"), bool):
        return False
    end = (int, float) if column["type"] == "number" else str
    ends = [column[name] for name in ("low", "high") if name in column]
    try:
        if end is str and any(datetime.fromisoformat(value).tzinfo for value in ends):
            return False
    except (TypeError, ValueError):
        return False
    values = column.get("values", [])
    return (
        len(ends) in (0, 2)
        and all(isinstance(value, end) for value in ends)
        and isinstance(values, list)
        and all(isinstance(value, str) for value in values)
    )


class RowChecker:
    """Convert new rows in pieces and record anomalies.

    The notation of numbers is determined by the first piece in which a column has values.
    """

    def __init__(self, columns: Sequence[dict[str, Any]], *, comma_separated: bool = True):
        self.columns, self.comma_separated = columns, comma_separated
        self.n_rows = 0
        self.n_outside = 0
        self.findings = {column["name"]: _Findings() for column in columns}

    def check(self, frame: pl.DataFrame) -> NewRows:
        """Select and convert the columns that the model needs; raise if one is missing."""
        require_columns([column["name"] for column in self.columns], frame.columns)
        outside = np.zeros(frame.height, dtype=int)
        converted = []
        for known in self.columns:
            found = self.findings[known["name"]]
            given = frame[known["name"]]
            column = _convert(given, known, self.comma_separated, found)
            converted.append(column)
            strange = found.add_misfits(given, column, self.n_rows)
            if not found.n_misfits < max(found.n_filled, 1) / 2:
                _refuse_misfits(given, column, known)
            for new in (found.add_empty(given, known), found.add_outside(column, known)):
                strange = strange | new
            outside += strange
        self.n_rows += frame.height
        self.n_outside += int((outside > 0).sum())
        return NewRows(type(frame)(converted), outside)

    def cautions(self) -> list[str]:
        """Anomalies of all rows so far, one sentence per column and kind."""
        return [
            f"{known['name']}: {words}"
            for known in self.columns
            for words in self.findings[known["name"]].describe(known, self.n_rows)
        ]


@dataclass(slots=True)
class _Findings:
    """Anomalies of one column, over all pieces."""

    notation: Notation | None = None
    announced: bool = False  # notation of dates
    n_filled: int = 0
    n_misfits: int = 0
    misfits: list[str] = field(default_factory=list)  # the first few
    n_empty: int = 0
    n_outside: int = 0
    new_values: set[str] = field(default_factory=set)

    def add_misfits(self, given: pl.Series, column: pl.Series, start: int) -> np.ndarray:
        """Cells that could not be converted."""
        self.n_filled += len(given) - given.null_count()
        misfit = np.zeros(len(given), dtype=bool)
        if column is given:
            return misfit
        rows = unreadable(given, column)
        self.n_misfits += len(rows)
        for row in rows.to_list()[: SHOWN - len(self.misfits)]:
            self.misfits.append(f"{str(given[row])!r} in row {start + row + 1}")
        misfit[rows.to_numpy()] = True
        return misfit

    def add_empty(self, given: pl.Series, known: dict[str, Any]) -> np.ndarray:
        """Rows without a value in a column that always had one."""
        empty = np.zeros(len(given), dtype=bool)
        if not known["missing"] and given.null_count():
            empty = given.is_null().to_numpy()
        self.n_empty += int(empty.sum())
        return empty

    def add_outside(self, column: pl.Series, known: dict[str, Any]) -> np.ndarray:
        """Rows with a value that did not occur in training."""
        strange = _outside(column, known)
        self.n_outside += int(strange.sum())
        if "values" in known and strange.any() and len(self.new_values) < MOST_VALUES:
            self.new_values.update(column.filter(strange).unique().to_list()[:MOST_VALUES])
        return strange

    def describe(self, known: dict[str, Any], n_rows: int) -> Iterator[str]:
        if self.n_misfits:
            cells = ", ".join(self.misfits)
            more = self.n_misfits - len(self.misfits)
            cells = f"{cells} and {more} more" if more else cells
            yield f"read as missing, because it is not of type {known['type']}: {cells}"
        if self.n_empty:
            yield (
                f"{self.n_empty} of {n_rows} rows have no value, which never happened in training"
            )
        if self.n_outside and "values" in known:
            new = listing(sorted(self.new_values), 5)
            yield f"{self.n_outside} of {n_rows} rows hold a new value: {new}"
        elif self.n_outside:
            yield f"{self.n_outside} of {n_rows} rows lie outside {seen_range(known)}"


def require_columns(names: Sequence[str], given: Sequence[str]) -> None:
    """Raise for columns of training that the table does not have."""
    missing = [name for name in names if name not in given]
    if missing:
        raise InputError(
            f"The table must have the columns that the model was trained on; {listing(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} missing.{nearest(missing[0], given)} "
            f"The columns of the table are {listing(given)}."
        )


def _describe(column: pl.Series) -> dict[str, Any]:
    kind = column_kind(column)
    known: dict[str, Any] = {
        "name": column.name,
        "type": kind,
        "missing": bool(column.null_count()),
    }
    values = column.drop_nulls()
    if not len(values):
        return known | {"filled": False}
    if kind == "number":
        values = values.cast(pl.Float64)
        finite = values.filter(values.is_finite())
        known |= {"low": finite.min(), "high": finite.max()} if len(finite) else {}
    elif kind in ("date", "time"):
        ends: list[Any] = [values.min(), values.max()]
        known |= {"low": ends[0].isoformat(), "high": ends[1].isoformat()}
    elif kind == "text" and values.n_unique() <= MOST_VALUES:
        known["values"] = sorted(values.unique().to_list())
    return known


def _convert(
    column: pl.Series, known: dict[str, Any], comma_separated: bool, found: _Findings
) -> pl.Series:
    """Convert the column to its type in training; cells that do not fit become missing."""
    wanted = known["type"]
    never_filled = wanted == "text" and known["missing"] and not known.get("filled", True)
    if column_kind(column) == wanted or never_filled:
        return column
    return _cast(column, wanted, comma_separated, found)


def _refuse_misfits(given: pl.Series, column: pl.Series, known: dict[str, Any]) -> None:
    wanted = known["type"]
    kind = "numbers" if wanted == "number" else f"values of the type {wanted!r}"
    wrong = given.filter(given.is_not_null() & column.is_null()).to_list()[0]
    raise InputError(
        f"Column {given.name!r} must hold {kind} as in training; got {wrong!r}. "
        "Check the column, or train a model on data like these."
    )


def _cast(column: pl.Series, kind: str, comma_separated: bool, found: _Findings) -> pl.Series:
    """Converted values; null where a value cannot be converted."""
    types: dict[str, Any] = {"date": pl.Date, "time": pl.Datetime("us"), "number": pl.Float64}
    if column.dtype == pl.String:
        if kind == "number":
            numbers = read_numbers(column, comma_separated=comma_separated, notation=found.notation)
            if numbers.n_filled and found.notation is None:
                found.notation = numbers.notation
                announce_notation(numbers, column, "new rows")
            usable = (numbers.values.abs() <= LARGEST).fill_null(False)
            return numbers.values.set(~usable, None)
        if kind == "true or false":
            names = column.str.strip_chars().str.to_lowercase()
            return names.replace_strict({"true": True, "false": False}, default=None)
        dates = read_dates(column)
        if dates is not None:
            if not found.announced:
                found.announced = announce_dates(column, "new rows")
            is_time = kind == "time" and dates.dtype != pl.Date
            return dates if is_time else dates.cast(types[kind])
    elif column_kind(column) in types and kind in ("date", "time") and column.dtype.is_temporal():
        return column.cast(types[kind])
    nothing = pl.Boolean if kind == "true or false" else types.get(kind, pl.String)
    return pl.Series(column.name, [None] * len(column), dtype=nothing)


def _outside(column: pl.Series, known: dict[str, Any]) -> np.ndarray:
    """Rows with a value that did not occur in training."""
    if "values" in known:
        strange = ~column.is_in(known["values"]) & column.is_not_null()
    elif "low" not in known:
        return np.zeros(len(column), dtype=bool)
    elif known["type"] == "number":
        # Missing numbers become NaN, which is never outside. numpy takes a tenth of polars' time.
        values = column.to_numpy()
        return (values < np.float64(known["low"])) | (values > np.float64(known["high"]))
    else:
        low, high = (datetime.fromisoformat(known[end]) for end in ("low", "high"))
        strange = (column < low) | (column > high)
    return strange.fill_null(False).to_numpy()


def seen_range(known: dict[str, Any]) -> str:
    """The range of a column in words."""
    ends = (known["low"], known["high"])
    return " to ".join(f"{end:.6g}" if isinstance(end, float) else str(end) for end in ends)
