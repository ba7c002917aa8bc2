"""Interval and evidence against the number of labels, as one SVG file."""

import math
from collections.abc import Sequence

from markupsafe import Markup

from landbridge._palette import ACCENT, INK, LINE, QUIET, STRONG
from landbridge.labelling import LabelStatus
from landbridge.report._svg import Drawing, Scale, spanning_scale, tick_label

STYLE = f"""<style>
text {{ font: 13px system-ui, sans-serif; fill: {INK} }} .quiet {{ fill: {QUIET} }}
.middle {{ text-anchor: middle }} .end {{ text-anchor: end }}
.rule {{ stroke: {LINE} }} .band {{ fill: {ACCENT}; opacity: 0.2 }}
.curve {{ stroke: {ACCENT}; stroke-width: 2; fill: none }} .dot {{ fill: {ACCENT} }}
.limit {{ stroke: {STRONG}; stroke-dasharray: 5 4 }}
</style>"""
PANEL, GAP, LEFT, RIGHT, TOP = 190, 70, 70, 700, 34
# An e-value of 20 is significant at 5 %; the axis of the e-value is logarithmic.
PROOF = 20.0


def label_picture(history: Sequence[LabelStatus]) -> str:
    """Draw a panel with the interval and, for goal "prove", one with the e-value."""
    known = [one for one in history if math.isfinite(one.estimate)]
    proof = bool(known) and known[-1].goal == "prove"
    height = TOP + PANEL + 60 + (GAP + PANEL if proof else 0)
    drawing = Drawing(height, "Interval and evidence against the number of labels")
    drawing.parts.append(Markup(STYLE))
    if known:
        across = Scale(0, max(one.n_labels for one in known), LEFT, RIGHT)
        title = f"{known[-1].score} of {known[-1].candidate}"
        if proof:
            title = f"{title} over {known[-1].baseline}"
        ends = [end for one in known for end in (one.low, one.high)]
        up = _upwards(spanning_scale([*ends, 0.0] if proof else ends, 0, 1), TOP)
        _axes(drawing, across, up, TOP, f"{title}, {100 * known[-1].level:g} % interval")
        band = [(across(o.n_labels), up(o.high)) for o in known]
        band += [(across(o.n_labels), up(o.low)) for o in reversed(known)]
        drawing.add('<polygon class="band" points="{}"/>', _points(band))
        for one in known:  # with one batch there is no band to draw
            x = across(one.n_labels)
            drawing.line(x, up(one.low), x, up(one.high), "curve")
        _curve(drawing, [(across(o.n_labels), up(o.estimate)) for o in known])
        if proof:
            drawing.line(LEFT, up(0.0), RIGHT, up(0.0), "limit")
            _evidence(drawing, known, across, TOP + PANEL + GAP)
    whole = str(drawing.svg())
    return whole.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + "\n"


def _evidence(drawing: Drawing, known: Sequence[LabelStatus], across: Scale, top: float) -> None:
    logs = [math.log10(max(one.e_value, 1e-9)) for one in known]
    up = _upwards(spanning_scale([*logs, 0.0, math.log10(PROOF)], 0, 1), top)
    _axes(drawing, across, up, top, "e-value (dashed: 20, significant at 5 %)", power=True)
    drawing.line(LEFT, up(math.log10(PROOF)), RIGHT, up(math.log10(PROOF)), "limit")
    points = [(across(o.n_labels), up(y)) for o, y in zip(known, logs, strict=True)]
    _curve(drawing, points)


def _upwards(scale: Scale, top: float) -> Scale:
    """Turn a scale into a vertical one, with low values at the bottom."""
    return Scale(scale.low, scale.high, top + PANEL, top)


def _axes(
    drawing: Drawing, across: Scale, up: Scale, top: float, title: str, *, power: bool = False
) -> None:
    drawing.text(LEFT, top - 12, title)
    ticks = up.ticks()
    for tick in ticks:
        drawing.line(LEFT, up(tick), RIGHT, up(tick), "rule")
        words = f"{10**tick:.3g}" if power else tick_label(tick, ticks)
        drawing.text(LEFT - 8, up(tick) + 4, words, "end quiet")
    ticks = across.ticks()
    for tick in ticks:
        drawing.text(across(tick), top + PANEL + 18, tick_label(tick, ticks), "middle quiet")
    drawing.text((LEFT + RIGHT) / 2, top + PANEL + 38, "labels", "middle quiet")


def _curve(drawing: Drawing, points: Sequence[tuple[float, float]]) -> None:
    drawing.add('<polyline class="curve" points="{}"/>', _points(points))
    for x, y in points:
        drawing.add('<circle class="dot" cx="{}" cy="{}" r="3.5"/>', x, y)


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)
