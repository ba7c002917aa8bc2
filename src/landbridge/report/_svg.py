"""Building blocks of SVG pictures: shapes, axes with round ticks and escaped text.

Colours come from the style sheet of the page, so that pictures adapt to dark mode. Text can be
selected, searched and read aloud. Hover details are ``<title>`` elements and need no script.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

WIDTH = 560
# Width of a bold letter and room for a tick label at the larger font size of phones.
LETTER = 8.2
TICK = 55
LONGEST_LABEL = 40


@dataclass(frozen=True, slots=True)
class Scale:
    """Linear map from numbers to horizontal positions."""

    low: float
    high: float
    left: float
    right: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.left + share * (self.right - self.left), 1)

    def ticks(self) -> list[float]:
        about = min(5, max(2, int((self.right - self.left) / TICK)))
        steps = round_steps(self.low, self.high, about)
        return [tick for tick in steps if self.low <= tick <= self.high]


@dataclass(slots=True)
class Drawing:
    """A growing SVG element."""

    height: float
    description: str
    width: float = WIDTH
    parts: list[Markup] = field(default_factory=list)

    def add(self, template: str, *values: object, **named: object) -> None:
        """Add markup; all inserted values are escaped."""
        self.parts.append(Markup(template).format(*values, **named))

    def text(self, x: float, y: float, words: object, classes: str = "") -> None:
        self.add(
            '<text x="{}" y="{}" class="{}">{}</text>', round(x, 1), round(y, 1), classes, words
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, classes: str) -> None:
        self.add('<line x1="{}" y1="{}" x2="{}" y2="{}" class="{}"/>', x1, y1, x2, y2, classes)

    def grid(self, scale: Scale, top: float, bottom: float, title: str) -> None:
        """Vertical lines at round numbers, with the numbers and a title below."""
        ticks = scale.ticks()
        for tick in ticks:
            self.line(scale(tick), top, scale(tick), bottom, "rule")
            self.text(scale(tick), bottom + 15, tick_label(tick, ticks), "middle quiet")
        self.text((scale.left + scale.right) / 2, bottom + 33, title, "middle quiet")

    def hover(self, words: str, body: Markup) -> None:
        """A group with a tooltip."""
        self.add("<g><title>{}</title>{}</g>", words, body)

    def svg(self) -> Markup:
        return Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
            self.width, round(self.height), self.description, Markup("\n").join(self.parts)
        )


def label_width(labels: Iterable[str]) -> float:
    """Width of the labels on the left."""
    longest = max((len(shorten(label)) for label in labels), default=0)
    return max(60.0, longest * LETTER + 14)


def shorten(label: str, limit: int = LONGEST_LABEL) -> str:
    """Shorten a label to fit; the tooltip and the table have the full text."""
    return label if len(label) <= limit else label[: limit - 1] + "…"


def round_steps(low: float, high: float, about: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten that span ``low`` to ``high``."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((power * k for k in (1, 2, 5, 10)), key=lambda s: abs(s - raw))
    first = math.floor(low / step)
    count = math.ceil(high / step) - first
    return [round((first + k) * step, 12) for k in range(count + 1)]


def spanning_scale(values: Sequence[float | None], left: float, right: float) -> Scale:
    """A scale that covers all finite values, with some margin at both ends."""
    known = [v for v in values if v is not None and math.isfinite(v)] or [0.0]
    low, high = min(known), max(known)
    room = 0.04 * (high - low) or 0.05 * abs(high) or 0.05
    return Scale(low - room, high + room, left, right)


def tick_label(tick: float, ticks: Sequence[float]) -> str:
    """Tick label with enough digits to distinguish neighbouring ticks."""
    step = ticks[1] - ticks[0] if len(ticks) > 1 else abs(tick) or 1.0
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{tick:.{digits}f}"
