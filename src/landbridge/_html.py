"""HTML fragments for notebooks, and text that is safe in a terminal.

Colours are inherited from the page, so that light and dark notebooks both work.
"""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

from landbridge._palette import ACCENT

# Unicode categories: control, format (such as writing direction), surrogate, line separators.
_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
STYLE = (
    "<style>"
    ".lb{font-family:inherit;line-height:1.45;max-width:60em}"
    ".lb p{margin:.2em 0}.lb .lb-quiet{opacity:.7}.lb .lb-head{font-weight:600}"
    ".lb table{border-collapse:collapse;margin:.4em 0}"
    ".lb th,.lb td{padding:.15em .7em;text-align:left;border-bottom:1px solid #8884}"
    ".lb td.lb-number,.lb th.lb-number{text-align:right;font-variant-numeric:tabular-nums}"
    ".lb tr.lb-best{font-weight:600}"
    ".lb svg{vertical-align:middle}"
    "</style>"
)


def card(head: str, *parts: str) -> str:
    """Heading with content, for use in ``_repr_html_``."""
    return f'{STYLE}<div class="lb"><p class="lb-head">{escape(head)}</p>{"".join(parts)}</div>'


def sentence(words: str, *, quiet: bool = False) -> str:
    """A paragraph."""
    kind = ' class="lb-quiet"' if quiet else ""
    return f"<p{kind}>{escape(words)}</p>"


def html_table(header: Sequence[str], rows: Iterable[Sequence[object]], *, best: int = -1) -> str:
    """Table with right-aligned numbers and optionally one highlighted row.

    The largest number of a column has three significant digits.
    """
    from landbridge.inference.intervals import three_digits  # which imports this module

    body, numbers, rows = [], [False] * len(header), list(rows)
    columns = zip(*rows, strict=True)
    shown = [three_digits(x for x in cells if isinstance(x, float)) for cells in columns]
    for place, row in enumerate(rows):
        cells = []
        for column, value in enumerate(row):
            numbers[column] |= isinstance(value, float | int)
            kind = ' class="lb-number"' if isinstance(value, float | int) else ""
            cells.append(f"<td{kind}>{escape(_shown(value, shown[column]))}</td>")
        kind = ' class="lb-best"' if place == best else ""
        body.append(f"<tr{kind}>{''.join(cells)}</tr>")
    heads = "".join(
        f'<th class="lb-number">{escape(name)}</th>' if number else f"<th>{escape(name)}</th>"
        for name, number in zip(header, numbers, strict=True)
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def interval_bar(low: float, estimate: float, high: float, bounds: tuple[float, float]) -> str:
    """Interval as a line with a dot; the axis spans the bounds of the metric, if finite."""
    if not all(map(math.isfinite, (low, estimate, high))):
        return ""
    spread = (high - low) or abs(estimate) or 1.0
    left = bounds[0] if math.isfinite(bounds[0]) else low - spread / 2
    right = bounds[1] if math.isfinite(bounds[1]) else high + spread / 2
    x1, x2, x3 = (6 + 228 * (value - left) / (right - left) for value in (low, estimate, high))
    return (
        '<svg width="240" height="18" role="img" aria-hidden="true">'
        '<line x1="6" x2="234" y1="9" y2="9" stroke="currentColor" stroke-opacity=".25"/>'
        f'<line x1="{x1:.1f}" x2="{x3:.1f}" y1="9" y2="9" stroke="{ACCENT}" stroke-width="5" '
        'stroke-linecap="round"/>'
        f'<circle cx="{x2:.1f}" cy="9" r="5" fill="currentColor"/></svg>'
    )


def _shown(value: object, decimals: int) -> str:
    from landbridge.inference.intervals import with_decimals

    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return with_decimals(decimals, value)[0] if isinstance(value, float) else str(value)


def visible(text: str) -> str:
    """Escape control characters, so that a name cannot control the terminal."""
    return "".join(
        character
        if character == "\n" or unicodedata.category(character) not in _INVISIBLE
        else character.encode("unicode_escape").decode()
        for character in text
    )
