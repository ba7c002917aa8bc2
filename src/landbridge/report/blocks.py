"""Building blocks of a page, for any output format: text, facts and tables."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from landbridge.inference.intervals import three_digits, with_decimals
from landbridge.metrics.metric import percent
from landbridge.report.graph import Graph

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


# As many decimals as give the largest number of the column three significant digits.
THREE_DIGITS = "three digits"
# Two digits, or an upper bound.
P_VALUE = "p-value"
SMALLEST_P = 0.001


@dataclass(frozen=True, slots=True)
class Column:
    """Title of a column and the format or decimals of its numbers, ``None`` for text.

    A ``minor`` column is omitted if the table is too wide. In HTML, a ``graph`` is drawn before
    the column, and the numbers of a ``shaded`` one are coloured from the first end (faint) to the
    second end (strong).
    """

    title: str
    format: str | int | None = None
    minor: bool = False
    graph: Graph | None = None
    shaded: tuple[float, float] | None = None

    @property
    def number(self) -> bool:
        return self.format is not None


@dataclass(frozen=True, slots=True)
class Cell:
    """Displayed text, the value to sort by, and the strength of the colour of a shaded cell."""

    text: str
    value: Any
    strength: float = 0.0


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under columns; the ``chosen`` row is highlighted.

    A table with a ``summary`` is shown on request if the format allows it.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    chosen: int | None = None
    summary: str = ""
    kind: str = "table"


Block: TypeAlias = Text | Facts | Table


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
    overview: Table | None = None
    steps: Sequence[str] = ()
    checks: Sequence[dict[str, str]] = ()
    sections: Sequence[Section] = field(default_factory=tuple)


def make_table(
    columns: Sequence[Column],
    values: Sequence[Sequence[Any]],
    chosen: int | None = None,
    summary: str = "",
) -> Table:
    """Table from plain values; missing numbers become dashes, empty columns are omitted."""
    forms = [
        three_digits(line[n] for line in values) if column.format == THREE_DIGITS else column.format
        for n, column in enumerate(columns)
    ]
    lines = [[_cell(*parts) for parts in zip(columns, forms, line, strict=True)] for line in values]
    used = [
        n
        for n in range(len(columns))
        if not lines or any(line[n].value not in (None, "") for line in lines)
    ]
    rows = [[line[n] for n in used] for line in lines]
    return Table([columns[n] for n in used], rows, chosen, summary)


def table_of(columns: dict[Any, Column], rows: Sequence[dict[Any, Any]], **options: Any) -> Table:
    """Table of the values that each row has under the keys of the columns."""
    values = [[row.get(key) for key in columns] for row in rows]
    return make_table(list(columns.values()), values, **options)


def _cell(column: Column, form: str | int | None, value: Any) -> Cell:
    if form is None:
        return Cell("" if value is None else str(value), value)
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return Cell("–", "")
    return Cell(_shown(form, value), value, _strength(column.shaded, value))


def _shown(form: str | int, value: float) -> str:
    if isinstance(form, int):
        return with_decimals(form, value)[0]
    if form == P_VALUE:
        return f"< {SMALLEST_P}" if value < SMALLEST_P else f"{value:.2g}"
    if form.endswith("%"):
        return percent(value, int(form[1]))
    return format(value, form).replace(",", " ")


def _strength(shaded: tuple[float, float] | None, value: float) -> float:
    """Opacity of a cell, limited so that the number remains readable."""
    if shaded is None:
        return 0.0
    faint, strong = shaded
    share = (value - faint) / (strong - faint) if strong != faint else 0.5
    return round(0.06 + 0.5 * share, 3)


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
