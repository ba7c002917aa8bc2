"""Graphs beside the numbers of a table: intervals, bars and dots on one axis, as SVG.

Positions are percentages of the width of a cell, so that text and dots keep their size on a phone.
Colours come from the style sheet of the page, and so adapt to dark mode.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from landbridge.inference.intervals import engineering, engineering_exponent

# Share of the width kept free at both ends, for dots and for the labels of ticks.
MARGIN = 0.06
# Characters of the labels of all ticks that fit side by side on a phone.
ROOM = 16


@dataclass(frozen=True, slots=True)
class Marks:
    """What a graph shows in one row; unknown numbers are None.

    A bar starts at zero, a line spans an interval, a tick marks a mean, and every dot has the text
    shown when the pointer is on it.
    """

    dots: Sequence[tuple[float | None, str]] = ()
    line: tuple[float | None, float | None] = (None, None)
    bar: float | None = None
    tick: float | None = None

    def values(self) -> list[float]:
        numbers = [*(value for value, _ in self.dots), *self.line, self.bar, self.tick]
        return [value for value in numbers if value is not None and math.isfinite(value)]


@dataclass(frozen=True)
class Graph:
    """One axis for all rows of a table; it covers their values and those of ``include``.

    A thick vertical line is drawn at ``zero``, if given.
    """

    rows: Sequence[Marks]
    include: Sequence[float] = ()
    zero: float | None = None

    @cached_property
    def ends(self) -> tuple[float, float]:
        values = [value for row in self.rows for value in row.values()]
        known = [*values, *self.include, *([] if self.zero is None else [self.zero])] or [0.0]
        low, high = min(known), max(known)
        room = 0.0 if high > low else 0.05 * abs(high) or 0.05
        return low - room, high + room

    @cached_property
    def ticks(self) -> list[tuple[float, str]]:
        """Round numbers on the axis with their labels, as many as fit."""
        low, high = self.ends
        steps = [step for step in round_steps(low, high, 5) if low <= step <= high]
        while sum(map(len, tick_labels(steps))) > ROOM and len(steps) > 2:
            steps = steps[::2]
        return list(zip(steps, tick_labels(steps), strict=True))

    def share(self, width: float) -> float:
        """Width in percent of the cell."""
        low, high = self.ends
        return round(100 * (1 - 2 * MARGIN) * width / (high - low), 2)

    def at(self, value: float) -> str:
        """Horizontal position."""
        return f"{100 * MARGIN + self.share(value - self.ends[0]):.2f}%"

    def axis(self) -> Markup:
        """Labels of the ticks, at the bottom of their element."""
        label = Markup('<text x="{}" y="100%" dy="-.3em" class="middle quiet">{}</text>')
        return Markup("").join(label.format(self.at(step), text) for step, text in self.ticks)

    def row(self, place: int, *, chosen: bool = False) -> Markup:
        """Marks of one row over the vertical lines of the axis."""
        marks, kind = self.rows[place], " chosen" if chosen else ""
        parts = [_vertical(self.at(step), "rule") for step, _ in self.ticks]
        if self.zero is not None:
            parts.append(_vertical(self.at(self.zero), "zero"))
        if marks.bar is not None:
            bar = Markup('<rect x="{}" y="25%" width="{}%" height="50%" class="bar"/>')
            parts.append(bar.format(self.at(0.0), self.share(marks.bar)))
        low, high = marks.line
        if low is not None and high is not None:
            line = Markup('<line x1="{}" x2="{}" y1="50%" y2="50%" class="range{}"/>')
            parts.append(line.format(self.at(low), self.at(high), kind))
        if marks.tick is not None:
            parts.append(_vertical(self.at(marks.tick), "mean", 15))
        dot = Markup('<circle cx="{}" cy="50%" r="5" class="dot{}"><title>{}</title></circle>')
        parts += [dot.format(self.at(x), kind, text) for x, text in marks.dots if x is not None]
        return Markup("").join(parts)


def interval_graph(
    rows: Sequence[tuple[float | None, float | None, float | None]],
    include: Sequence[float] = (),
    zero: float | None = None,
) -> Graph:
    """Graph of estimates with the ends of their intervals."""
    marks = [Marks([(value, "")], (low, high)) for value, low, high in rows]
    return Graph(marks, include, zero)


def _vertical(x: str, kind: str, gap: int = 0) -> Markup:
    line = Markup('<line x1="{}" x2="{}" y1="{}%" y2="{}%" class="{}"/>')
    return line.format(x, x, gap, 100 - gap, kind)


def round_steps(low: float, high: float, about: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten that span ``low`` to ``high``."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((power * k for k in (1, 2, 5, 10)), key=lambda s: abs(s - raw))
    first = math.floor(low / step)
    count = math.ceil(high / step) - first
    return [float(f"{(first + k) * step:.12g}") for k in range(count + 1)]


def tick_labels(ticks: Sequence[float]) -> list[str]:
    """Labels with enough digits to distinguish neighbouring ticks."""
    step = ticks[1] - ticks[0] if len(ticks) > 1 else abs(ticks[0]) or 1.0
    exponent = engineering_exponent(ticks[0], ticks[-1])
    digits = max(0, exponent - math.floor(math.log10(step) + 1e-9))
    # Zero needs no decimals where the others have an exponent.
    return [
        engineering(f"{tick / 10.0**exponent:.{digits if tick or not exponent else 0}f}", exponent)
        for tick in ticks
    ]
