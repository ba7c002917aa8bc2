"""Print parts of a report within the width of the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from landbridge.cli._errors import visible
from landbridge.report.blocks import Block, Column, Facts, Picture, Row, Table, Text

if TYPE_CHECKING:
    from rich.console import Console

# Spaces between two columns, and at both ends of a line.
GAP = 3
# Sentences in narrower columns are hard to read.
NARROWEST_TEXT = 24


def print_block(console: "Console", block: Block | None) -> None:
    """Print a part of the report; a picture is shown as its table."""
    if block is None:
        return
    if isinstance(block, Picture):
        print_block(console, block.table)
    elif isinstance(block, Table):
        print_table(console, block)
    elif isinstance(block, Facts):
        for name, text in block.facts:
            console.print(visible(f"{name}: {text}"), markup=False, soft_wrap=True)
    elif isinstance(block, Text):
        console.print(visible(block.text), markup=False)
    else:
        # Headings name files and code is copied: neither is broken.
        style = "bold" if block.kind == "heading" else None
        console.print(visible(block.text), style=style, markup=False, soft_wrap=True)


def print_table(console: "Console", table: Table) -> None:
    """Print a table, split into several tables if its columns do not fit on one line."""
    from rich import box
    from rich.table import Table as RichTable

    spaces = [
        _space(column, [row.cells[n].text for row in table.rows])
        for n, column in enumerate(table.columns)
    ]
    for part in _parts(table.columns, spaces, console.width):
        shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        widths = _widths([spaces[n] for n in part], console.width)
        for n, width in zip(part, widths, strict=True):
            column = table.columns[n]
            shown.add_column(
                _escaped(column.title), justify="right" if column.number else "left", width=width
            )
        for row in table.rows:
            shown.add_row(*_texts(row, part), style="bold" if row.chosen else None)
        console.print(shown)


@dataclass(frozen=True, slots=True)
class _Space:
    """Width of a column on one line, and its smallest width with words on several lines."""

    whole: int
    least: int


def _space(column: Column, texts: Sequence[str]) -> _Space:
    from rich.cells import cell_len

    texts = [visible(text) for text in texts]
    title = max(map(cell_len, column.title.split()), default=0)
    longest = max(map(cell_len, texts), default=0)
    whole = max(cell_len(column.title), longest)
    if column.number:
        return _Space(whole, max(title, longest))
    words = max(map(cell_len, chain.from_iterable(text.split() for text in texts)), default=0)
    return _Space(whole, min(whole, max(title, NARROWEST_TEXT, min(words, 2 * NARROWEST_TEXT))))


def _line(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1) + 2


def _parts(columns: Sequence[Column], spaces: Sequence[_Space], width: int) -> list[list[int]]:
    """Split columns into lines; minor columns are omitted first, and the first is repeated."""
    kept = list(range(len(columns)))

    def too_wide(part: Sequence[int]) -> bool:
        return _line([spaces[n].least for n in part]) > width

    for n in reversed(range(len(columns))):
        if columns[n].minor and too_wide(kept):
            kept.remove(n)
    parts = [kept[:1]]
    for n in kept[1:]:
        if len(parts[-1]) > 1 and too_wide([*parts[-1], n]):
            parts.append(kept[:1])
        parts[-1].append(n)
    return parts


def _widths(spaces: Sequence[_Space], width: int) -> list[int]:
    """Full width for narrow columns, and the remaining space for the others."""
    limit = max(space.whole for space in spaces)
    widths = [space.whole for space in spaces]
    while _line(widths) > width and limit > 1:
        limit -= 1
        widths = [max(space.least, min(space.whole, limit)) for space in spaces]
    return widths


def _texts(row: Row, part: Sequence[int]) -> list[str]:
    return [_escaped(row.cells[n].text) for n in part]


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(visible(text))
