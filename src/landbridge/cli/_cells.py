"""Infer the types of text columns (numbers, booleans, dates), even if a few cells do not fit.

polars treats a column as text if a single cell is not a number. Here, a column of numbers with a
few other cells remains numeric, and those cells become missing. A message names every converted
cell.
"""

import contextlib
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from landbridge.cli._session import listing
from landbridge.inspection._column_tests import MISSING_MARKS

if TYPE_CHECKING:
    import polars as pl

# The encoder computes in single precision, where larger numbers and their squares overflow.
LARGEST = 1e18
# A column has a type if at least this share of its filled cells fits it.
MOST_CELLS = 0.9
# Below that, a column with this share of numbers is read as text, with a caution.
MANY_CELLS = 0.5
LEADING_ZERO = r"^[+-]?0\d+$"
DAY_FIRST = r"^\s*\d{1,2}[-/.]\d{1,2}[-/.]"
DECIMAL_COMMA, THOUSANDS = "a decimal comma", "thousands separators"
_PATTERNS = {
    DECIMAL_COMMA: r"^[+-]?\d+(,\d+)?([eE][+-]?\d+)?$",
    THOUSANDS: r"^[+-]?([1-9]\d{0,2}(,\d{3})+|\d+)(\.\d+)?$",
}
# If a column contains 1.234,56, its dots separate thousands; 0.234 never does.
_DOTTED = r"^[+-]?[1-9]\d{0,2}(\.\d{3})+,\d+$"
_DOTTED_COMMA = r"^[+-]?([1-9]\d{0,2}(\.\d{3})+|\d+)(,\d+)?$"
PERCENT, CURRENCY = "percent signs", "currency signs"
_MONEY = r"(?:[$€£¥]|USD|EUR|GBP|CHF|JPY)"
# A number with its unit; the groups are the number without the unit.
_UNITS = {
    PERCENT: r"^([+-]?\d.*?)\s*%$",
    CURRENCY: rf"(?i)^([+-]?)\s*(?:{_MONEY}\s*([+-]?\d.*)|(\d.*?)\s*{_MONEY})$",
}


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

    values: "pl.Series"
    notation: Notation
    n_filled: int

    @property
    def share(self) -> float:
        """Share of the filled cells that are numbers."""
        return (len(self.values) - self.values.null_count()) / max(self.n_filled, 1)


def read_numbers(
    text: "pl.Series", *, comma_separated: bool, notation: Notation | None = None
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


def find_types(frame: "pl.DataFrame", place: str, *, keep: set[str], comma: bool) -> "pl.DataFrame":
    """Give text columns their types, except for those to ``keep`` as text."""
    import polars as pl

    columns, codes = [], []
    # Column by column: polars takes seconds to plan one query over tens of thousands of columns.
    for column in frame:
        if column.dtype != pl.String or column.name in keep:
            columns.append(column)
            continue
        numbers = _in_digits(column)
        if numbers is None:
            columns.append(find_type(column, place, comma_separated=comma))
        elif numbers.dtype == pl.Int64 and column.str.contains(LEADING_ZERO).any():
            columns.append(column)
            codes.append(column.name)
        else:
            columns.append(numbers)
    if codes:
        warnings.warn(
            f"{place}: whole numbers with leading zeros are read as text in {listing(codes)}. "
            "Remove the zeros where they are quantities.",
            stacklevel=2,
        )
    return pl.DataFrame(columns)


def _in_digits(text: "pl.Series") -> "pl.Series | None":
    """The column as numbers, if every filled cell is one in plain digits."""
    import polars as pl

    for kind in (pl.Int64, pl.Float64):
        values = text.cast(kind, strict=False)
        if values.null_count() == text.null_count() < len(text):
            return values
    return None


def find_type(text: "pl.Series", place: str, *, comma_separated: bool = True) -> "pl.Series":
    """Convert a column to the type of most of its cells and warn about the others.

    Marks of missing values, such as ``n/a`` or ``-``, say nothing about the type.
    """
    filled = text.drop_nulls()
    if not len(filled) or is_code(filled):
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
        announce_day_first(text, place)
        return _announce(text, dates, "dates", place)
    if numbers.share >= MANY_CELLS:
        odd = unreadable(text, numbers.values)
        warnings.warn(
            f"{place}: {text.name!r} is read as text, because {odd.len()} of its {len(filled)} "
            f"cells are not numbers ({strays(text, numbers.values)}). If it should hold numbers, "
            "correct them or pass them as --missing.",
            stacklevel=2,
        )
    return text


def announce_notation(numbers: Numbers, text: "pl.Series", place: str, change: str = "") -> None:
    """Announce numbers that are not written in plain digits, with an example and advice."""
    if numbers.notation == PLAIN:
        return
    written = _plain(text.str.strip_chars()).is_null() & numbers.values.is_not_null()
    row = text.str.len_chars().set(~written, 0).arg_max() or 0  # the longest shows all signs
    example = f"{text[row]!r} is {numbers.values[row]:.12g}"
    warnings.warn(
        f"{place}: {text.name!r} holds numbers with {numbers.notation} and is read as such: "
        f"{example}{change and f' ({change})'}.",
        stacklevel=3,
    )


def announce_day_first(text: "pl.Series", place: str) -> bool:
    """Announce dates like 31/12/2020, which are read as day, month, year."""
    is_day_first = bool(text.str.contains(DAY_FIRST).any())
    if is_day_first:
        warnings.warn(
            f"{place}: the dates in {text.name!r} are read as day, month, year. Write them like "
            "2020-12-31 if they are not.",
            stacklevel=3,
        )
    return is_day_first


def is_code(filled: "pl.Series") -> bool:
    """Whether most cells are integers, some with a leading zero, such as 007."""
    cells = filled.str.strip_chars()
    if not cells.str.contains(LEADING_ZERO).any():
        return False
    # Columns of quantities like 00.5 also have cells with a decimal point.
    return not cells.str.contains(r"^[+-]?\d*[.,]\d").any()


def read_dates(text: "pl.Series") -> "pl.Series | None":
    """Dates or times, missing for other cells; None without a known format."""
    import polars as pl

    # Trying every format on millions of names would take most of the time of reading a file.
    if not text.str.contains(r"\d").any():
        return None
    for read in (text.str.to_date, text.str.to_datetime):
        try:
            values = read(strict=False)
        except pl.exceptions.PolarsError:
            continue
        if values.null_count() < len(values):
            return values
    return None


def share_read(text: "pl.Series", values: "pl.Series") -> float:
    """Share of the filled cells that became values."""
    return (len(values) - values.null_count()) / max(len(text) - text.null_count(), 1)


def unreadable(text: "pl.Series", values: "pl.Series") -> "pl.Series":
    """Positions of the filled cells that could not be converted."""
    return (text.is_not_null() & values.is_null()).arg_true()


def strays(text: "pl.Series", values: "pl.Series", limit: int = 3) -> str:
    """The first unreadable cells with their rows, in words."""
    rows = unreadable(text, values).to_list()
    shown = ", ".join(f"{text[row]!r} in row {row + 1}" for row in rows[:limit])
    return shown if len(rows) <= limit else f"{shown} and {len(rows) - limit} more"


def warn_similar_names(values: "pl.Series", what: str) -> None:
    """Warn about names that differ only in spaces, capitals or the way a number is written."""
    groups: dict[object, list[str]] = {}
    for name in values.drop_nulls().unique(maintain_order=True).to_list():
        key: object = name.strip().casefold()
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


def _announce(text: "pl.Series", values: "pl.Series", kind: str, place: str) -> "pl.Series":
    odd = unreadable(text, values)
    if len(odd):
        cells = "1 cell that is not is" if len(odd) == 1 else f"{len(odd)} cells that are not are"
        warnings.warn(
            f"{place}: {text.name!r} holds {kind}; {cells} read as missing: "
            f"{strays(text, values)} (--text {text.name} to keep them).",
            stacklevel=3,
        )
    return values


def _plain(text: "pl.Series") -> "pl.Series":
    import polars as pl

    return text.cast(pl.Float64, strict=False)


def _in_notation(text: "pl.Series", notation: Notation) -> "pl.Series":
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
    # One 1.234,56 among many 1.234 says less than they do.
    if n_commas >= n_dots and cells.str.contains(_DOTTED).any():
        pattern = _DOTTED_COMMA
    cells = _only(cells, pattern).str.replace_all(".", "", literal=True)
    return _plain(cells.str.replace(",", ".", literal=True))


def _only(cells: "pl.Series", pattern: str) -> "pl.Series":
    return cells.set(~cells.str.contains(pattern).fill_null(False), None)
