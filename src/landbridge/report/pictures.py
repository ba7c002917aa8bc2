"""Pictures of a report: intervals, bars, strips of dots, and matrices."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from landbridge.report._svg import WIDTH, Drawing, label_width, shorten, spanning_scale

ROW = 26
RIGHT_MARGIN = 70
AXIS = 44
CELL = 30
# Width of a cell of a matrix, and the space on the right for slanted titles.
NARROWEST_CELL, WIDEST_CELL, SLANT = 38.0, 90.0, 40


def three_digits(value: float | None) -> str:
    """Format with three significant digits, including trailing zeros."""
    return "–" if value is None else f"{value:#.3g}".rstrip(".")


@dataclass(frozen=True, slots=True)
class Interval:
    """One row of an interval picture; unknown numbers are None."""

    label: str
    value: float | None
    low: float | None
    high: float | None
    hover: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a bar picture."""

    label: str
    value: float
    text: str
    hover: str


@dataclass(frozen=True, slots=True)
class Strip:
    """One row of dots: one number per domain, and their mean."""

    label: str
    values: Sequence[float]
    names: Sequence[str]
    mean: float


def interval_picture(
    rows: Sequence[Interval], *, title: str, description: str, zero: bool = False
) -> Markup:
    """Draw a dot with its interval per row, optionally with a line at zero.

    The selected row is highlighted.
    """
    left = label_width(row.label for row in rows)
    drawing = Drawing(len(rows) * ROW + AXIS, description)
    ends = [x for row in rows for x in (row.value, row.low, row.high)] + [0.0] * zero
    scale = spanning_scale(ends, left, drawing.width - RIGHT_MARGIN)
    drawing.grid(scale, 0, len(rows) * ROW, title)
    if zero:
        drawing.line(scale(0.0), 0, scale(0.0), len(rows) * ROW, "zero")
    for place, row in enumerate(rows):
        y = place * ROW + ROW / 2
        kind = "chosen" if row.chosen else "plain"
        drawing.text(left - 10, y + 4, shorten(row.label), f"end {kind}")
        body = Markup("")
        if row.low is not None and row.high is not None:
            body = Markup('<line x1="{}" y1="{y}" x2="{}" y2="{y}" class="range {kind}"/>').format(
                scale(row.low), scale(row.high), y=y, kind=kind
            )
        if row.value is not None:
            body += Markup('<circle cx="{}" cy="{}" r="5" class="dot {}"/>').format(
                scale(row.value), y, kind
            )
            drawing.text(drawing.width - RIGHT_MARGIN + 12, y + 4, three_digits(row.value), kind)
        drawing.hover(row.hover, body)
    return drawing.svg()


def bar_picture(rows: Sequence[Bar], *, title: str, description: str, most: float = 0.0) -> Markup:
    """Draw horizontal bars with their values; the axis extends at least to ``most``."""
    left = label_width(row.label for row in rows)
    drawing = Drawing(len(rows) * ROW + AXIS, description)
    scale = spanning_scale([0.0, most, *(row.value for row in rows)], left, drawing.width - 90)
    drawing.grid(scale, 0, len(rows) * ROW, title)
    for place, row in enumerate(rows):
        top = place * ROW + 4
        drawing.text(left - 10, top + 13, shorten(row.label), "end")
        start, end = sorted((scale(0.0), scale(row.value)))
        body = Markup('<rect x="{}" y="{}" width="{}" height="{}" class="bar"/>').format(
            start, top, max(round(end - start, 1), 0.5), ROW - 8
        )
        drawing.hover(row.hover, body)
        drawing.text(end + 6, top + 13, row.text, "quiet")
    return drawing.svg()


def strip_picture(rows: Sequence[Strip], *, title: str, description: str) -> Markup:
    """Draw dots for the domains and a tick for their mean, with a line at zero."""
    left = label_width(row.label for row in rows)
    drawing = Drawing(len(rows) * ROW + AXIS, description)
    every = [0.0, *(value for row in rows for value in row.values)]
    scale = spanning_scale(every, left, drawing.width - RIGHT_MARGIN)
    drawing.grid(scale, 0, len(rows) * ROW, title)
    drawing.line(scale(0.0), 0, scale(0.0), len(rows) * ROW, "zero")
    for place, row in enumerate(rows):
        y = place * ROW + ROW / 2
        drawing.text(left - 10, y + 4, shorten(row.label), "end")
        drawing.line(scale(row.mean), y - 9, scale(row.mean), y + 9, "mean")
        for name, value in zip(row.names, row.values, strict=True):
            dot = Markup('<circle cx="{}" cy="{}" r="4.5" class="dot plain"/>')
            drawing.hover(f"{row.label}, {name}: {value:.3g}", dot.format(scale(value), y))
        drawing.text(drawing.width - RIGHT_MARGIN + 12, y + 4, three_digits(row.mean))
    return drawing.svg()


def matrix_picture(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    *,
    description: str,
    lowest: float | None = None,
    highest: float | None = None,
    digits: int = 3,
    best_is_high: bool = True,
) -> Markup:
    """Draw cells with numbers; better numbers have stronger colours."""
    known = [v for line in values for v in line if v is not None] or [0.0]
    lowest = min(known) if lowest is None else lowest
    highest = max(known) if highest is None else highest
    left = label_width(rows)
    head = 24 if max((len(c) for c in columns), default=0) <= 9 else 112
    room = (WIDTH - left - SLANT) / max(len(columns), 1)
    cell = min(WIDEST_CELL, max(NARROWEST_CELL, room))
    width = max(WIDTH, round(left + len(columns) * cell + SLANT))
    drawing = Drawing(head + len(rows) * CELL + 6, description, width)
    for place, column in enumerate(columns):
        x = left + (place + 0.5) * cell
        if head == 24:
            drawing.text(x, head - 8, column, "middle quiet")
        else:
            drawing.add(
                '<text transform="translate({} {}) rotate(-38)" class="quiet">{}</text>',
                round(x - 6, 1),
                head - 8,
                shorten(column, 18),
            )
    for place, row in enumerate(rows):
        top = head + place * CELL
        drawing.text(left - 10, top + 20, shorten(row), "end")
        for number, value in enumerate(values[place]):
            x = round(left + number * cell, 1)
            strength = _strength(value, lowest, highest, best_is_high)
            words = "–" if value is None else f"{value:.{digits}f}"
            body = Markup(
                '<rect x="{x}" y="{y}" width="{w}" height="{h}" class="cell" '
                'fill-opacity="{o}"/><text x="{tx}" y="{ty}" class="middle">{t}</text>'
            ).format(
                x=x, y=top, w=round(cell - 2, 1), h=CELL - 2, o=strength,
                tx=round(x + cell / 2 - 1, 1), ty=top + 19, t=words,
            )  # fmt: skip
            drawing.hover(f"{row} · {columns[number]}: {words}", body)
    return drawing.svg()


def _strength(value: float | None, lowest: float, highest: float, best_is_high: bool) -> float:
    """Opacity of a cell, limited so that the number remains readable."""
    if value is None:
        return 0.0
    share = (value - lowest) / (highest - lowest) if highest > lowest else 0.5
    return round(0.06 + 0.5 * (share if best_is_high else 1 - share), 3)
