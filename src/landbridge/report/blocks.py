"""Building blocks of a page, for any output format: text, facts, tables, pictures."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from markupsafe import Markup

from landbridge.metrics.metric import format_number, percent

State: TypeAlias = str  # "ok", "caution" or "problem"


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph, a ``"heading"`` inside a section, or ``"code"`` to copy into a shell."""

    text: str
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with values."""

    facts: Sequence[tuple[str, str]]
    kind: str = "facts"


@dataclass(frozen=True, slots=True)
class Picture:
    """Picture with its caption.

    Formats without pictures (Markdown, the terminal) show the adjacent table instead, or ``table``
    if there is none.
    """

    caption: str
    svg: Markup
    table: "Table | None" = None
    kind: str = "picture"


# Format of a column of scores in the unit of the label; see `format_number`.
FOUR_DIGITS = "four digits"
# Two digits; values too small for a float are shown as an upper bound.
P_VALUE = "p-value"
SMALLEST_P = 1e-300


@dataclass(frozen=True, slots=True)
class Column:
    """Title of a column and the format of its numbers, ``None`` for text.

    A ``minor`` column is omitted if the table is too wide.
    """

    title: str
    format: str | None = None
    minor: bool = False

    @property
    def number(self) -> bool:
        return self.format is not None


@dataclass(frozen=True, slots=True)
class Cell:
    """Displayed text and the value to sort by."""

    text: str
    value: Any


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under columns; the ``chosen`` row is highlighted."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    chosen: int | None = None
    kind: str = "table"


Block: TypeAlias = Text | Facts | Picture | Table


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of the page."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report."""

    title: str
    subtitle: str
    verdict: Sequence[str] = ()
    overview: Picture | None = None
    steps: Sequence[str] = ()
    checks: Sequence[dict[str, str]] = ()
    sections: Sequence[Section] = field(default_factory=tuple)


def make_table(
    columns: Sequence[Column], values: Sequence[Sequence[Any]], chosen: int | None = None
) -> Table:
    """Table from plain values; missing numbers become dashes, empty columns are omitted."""
    lines = [
        [_cell(column, value) for column, value in zip(columns, line, strict=True)]
        for line in values
    ]
    used = [
        n
        for n in range(len(columns))
        if not lines or any(line[n].value not in (None, "") for line in lines)
    ]
    return Table([columns[n] for n in used], [[line[n] for n in used] for line in lines], chosen)


def _cell(column: Column, value: Any) -> Cell:
    if column.format is None:
        return Cell("" if value is None else str(value), value)
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return Cell("–", "")
    if column.format == FOUR_DIGITS:
        return Cell(format_number(value), value)
    if column.format == P_VALUE:
        return Cell(f"<{SMALLEST_P:g}" if value < SMALLEST_P else f"{value:.2g}", value)
    if column.format.endswith("%"):
        return Cell(percent(value, int(column.format[1])), value)
    return Cell(format(value, column.format).replace(",", " "), value)


def values_of(record: Any, *names: str, **renamed: str) -> dict[str, Any]:
    """Attributes of an object as a dictionary, some of them under other names."""
    chosen = dict(zip(names, names, strict=True)) | renamed
    return {name: getattr(record, attribute) for name, attribute in chosen.items()}


def plain(value: Any) -> Any:
    """Convert a value to built-in types; non-finite numbers become None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)
