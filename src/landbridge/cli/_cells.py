"""Infer the types of text columns: numbers, booleans and dates, with stray cells.

polars treats a column as text if a single cell is not a number. Here, a column of numbers with a
few other cells remains numeric, and those cells become missing. A message names every converted
cell.
"""

import contextlib
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from landbridge.cli._errors import listing

if TYPE_CHECKING:
    import polars as pl

# The encoder computes in single precision, where larger numbers and their squares overflow.
LARGEST = 1e18
# A column has a type if at least this share of its filled cells fits it.
MOST_CELLS = 0.9
# Below that, a column with this share of numbers is read as text, with a caution.
MANY_CELLS = 0.5
PLAIN = "plain"
DECIMAL_COMMA, THOUSANDS, PERCENT = "a decimal comma", "thousands separators", "percent signs"
LEADING_ZERO = r"^[+-]?0\d+$"
WHOLE_NUMBER = r"^[+-]?\d+$"
_PATTERNS = {
    DECIMAL_COMMA: r"^[+-]?\d+(,\d+)?([eE][+-]?\d+)?$",
    THOUSANDS: r"^[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?$",
    PERCENT: r"^[+-]?\d+(\.\d+)?\s*%$",
}
# With 1.234,56 in a column, its dots separate thousands.
_DOTTED = r"^[+-]?\d{1,3}(\.\d{3})+,\d+$"
_DOTTED_COMMA = r"^[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$"
_EXAMPLES = {
    DECIMAL_COMMA: "1,5 is one and a half",
    THOUSANDS: "1,234 is one thousand two hundred and thirty-four",
    PERCENT: "12% is 12",
}


@dataclass(frozen=True, slots=True)
class Numbers:
    """A text column as numbers, missing where a cell is not a number, and its notation."""

    values: "pl.Series"
    notation: str
    n_filled: int

    @property
    def share(self) -> float:
        """Share of the filled cells that are numbers."""
        return (len(self.values) - self.values.null_count()) / max(self.n_filled, 1)


def read_numbers(
    text: "pl.Series", *, comma_separated: bool, notation: str | None = None
) -> Numbers:
    """Read a text column in ``notation``, or in the one that fits most of its cells.

    Ties are read as plain numbers. ``"1,234"`` may have a thousands separator or a decimal comma:
    if both notations fit the column equally well, neither is used.
    """
    text = text.str.strip_chars()
    filled = len(text) - text.null_count()
    plain = _plain(text)
    if notation == PLAIN or (notation is None and plain.null_count() == len(text) - filled):
        return Numbers(plain, PLAIN, filled)
    if notation is not None:
        return Numbers(_in_notation(text, notation), notation, filled)
    read = {PLAIN: plain} | {name: _in_notation(text, name) for name in _PATTERNS}
    missing = {name: numbers.null_count() for name, numbers in read.items()}
    if missing[DECIMAL_COMMA] == missing[THOUSANDS]:
        for name in (DECIMAL_COMMA, THOUSANDS) if comma_separated else (THOUSANDS,):
            del missing[name]
    best = min(missing, key=missing.__getitem__)
    return Numbers(read[best], best, filled)


def find_types(frame: "pl.DataFrame", place: str, *, keep: set[str], comma: bool) -> "pl.DataFrame":
    """Give the text columns of ``frame`` their types, except for those to ``keep`` as text."""
    import polars as pl

    text = [c.name for c in frame if c.dtype == pl.String and c.name not in keep]
    found = {name: find_type(frame[name], place, comma_separated=comma) for name in text}
    return frame.with_columns(**found) if found else frame


def find_type(text: "pl.Series", place: str, *, comma_separated: bool = True) -> "pl.Series":
    """Convert a column to the type of most of its cells and warn about the others."""
    filled = text.drop_nulls()
    if not len(filled) or is_code(filled):
        return text
    numbers = read_numbers(text, comma_separated=comma_separated)
    if numbers.share >= MOST_CELLS:
        announce_notation(numbers, place)
        return _announce(text, numbers.values, "numbers", place)
    if filled.str.to_lowercase().is_in(["true", "false"]).all():
        return text.str.to_lowercase() == "true"
    dates = read_dates(text)
    if dates is not None and share_read(text, dates) >= MOST_CELLS:
        return _announce(text, dates, "dates", place)
    if numbers.share >= MANY_CELLS:
        odd = unreadable(text, numbers.values)
        warnings.warn(
            f"{place}: {text.name!r} is read as text, because {odd.len()} of its {len(filled)} "
            f"cells are not numbers ({strays(text, numbers.values)}). Correct them or leave them "
            "empty if it should hold numbers.",
            stacklevel=2,
        )
    elif _looks_like_thousands(filled):
        warnings.warn(
            f"{place}: {text.name!r} is read as text: {filled[0]!r} may be a fraction or a number "
            "with a thousands separator. Write the numbers without commas.",
            stacklevel=2,
        )
    return text


def announce_notation(numbers: Numbers, place: str) -> None:
    """Report how numbers in an unusual notation were read."""
    if numbers.notation != PLAIN:
        warnings.warn(
            f"{place}: {numbers.values.name!r} holds numbers with {numbers.notation} and is read "
            f"as such: {_EXAMPLES[numbers.notation]}.",
            stacklevel=3,
        )


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
    """Positions of filled cells without a value."""
    return (text.is_not_null() & values.is_null()).arg_true()


def strays(text: "pl.Series", values: "pl.Series", limit: int = 3) -> str:
    """The first unreadable cells with their rows, in words."""
    rows = unreadable(text, values).to_list()
    shown = ", ".join(f"{text[row]!r} in row {row + 1}" for row in rows[:limit])
    return shown if len(rows) <= limit else f"{shown} and {len(rows) - limit} more"


def warn_similar_names(values: "pl.Series", what: str) -> None:
    """Announce names that differ only in spaces, capitals or the way a number is written."""
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
            f"{strays(text, values)}.",
            stacklevel=3,
        )
    return values


def _plain(text: "pl.Series") -> "pl.Series":
    import polars as pl

    return text.cast(pl.Float64, strict=False)


def _in_notation(text: "pl.Series", notation: str) -> "pl.Series":
    pattern = _PATTERNS[notation]
    if notation == DECIMAL_COMMA and text.str.contains(_DOTTED).any():
        pattern = _DOTTED_COMMA
    # `filter` by the pattern first: clean cells of other notations must not become numbers.
    fits = text.str.contains(pattern)
    cells = text.set(~fits.fill_null(False), None)
    if notation == DECIMAL_COMMA:
        cells = cells.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    elif notation == THOUSANDS:
        cells = cells.str.replace_all(",", "", literal=True)
    else:
        cells = cells.str.strip_chars(" %")
    return _plain(cells)


def _looks_like_thousands(filled: "pl.Series") -> bool:
    fits = filled.str.strip_chars().str.contains(r"^[+-]?\d{1,3}(,\d{3})+$")
    return int(fits.sum()) >= MOST_CELLS * len(filled)
