"""Base class of the Displays, and helpers for axes and labels."""

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np

from landbridge._docstrings import Documented
from landbridge._extras import import_extra
from landbridge.inference.intervals import engineering, engineering_exponent

# Shares of red, green and blue in the brightness of a colour.
LUMINANCE = (0.299, 0.587, 0.114)


class Display(Documented):
    """A picture: the arrays it shows are attributes, and `plot` draws them.

    The constructors ``from_…`` compute the arrays and draw. Subclasses describe the figure in
    ``_figure`` and draw in ``_draw``.

    Attributes
    ----------
    ax_ : matplotlib axes, or an array of them where there are several panels
        Axes of the last drawing.
    figure_ : matplotlib figure
        Their figure.
    """

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw again, on ``ax`` or on a new figure.

        Parameters
        ----------
        ax : matplotlib axes, or an array of them where there are several panels, optional
            Axes to draw on; those of a new figure by default.

        Returns
        -------
        self
            This display.
        """
        if ax is None:
            pyplot = import_extra("matplotlib.pyplot", "plot")
            ax = pyplot.subplots(1, layout="constrained", **self._figure())[1]
        self._draw(ax)
        for one in np.ravel(ax):
            _label_extreme_ticks(one)
        self.ax_, self.figure_ = ax, np.atleast_1d(ax)[0].figure
        return self

    def _repr_html_(self) -> str:
        # A notebook shows the picture, so the arrays, which would fill the page, are omitted.
        return f"<code>{type(self).__name__}</code>"

    def _figure(self) -> dict[str, Any]:
        """Options of `matplotlib.pyplot.subplots`: the size in inches, and the panels."""
        raise NotImplementedError

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


def _label_extreme_ticks(ax: Any) -> None:
    """Label ticks of very large or small numbers like 200×10⁹ instead of a factor in a corner."""
    ticker = import_extra("matplotlib.ticker", "plot")
    for axis, ends in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        exponent = engineering_exponent(*ends)
        if exponent and type(axis.get_major_formatter()) is ticker.ScalarFormatter:
            axis.set_major_formatter(ticker.FuncFormatter(partial(_tick_label, exponent)))
            if axis is ax.xaxis:  # few of these labels fit side by side
                axis.set_major_locator(ticker.MaxNLocator(4, steps=[1, 2, 5, 10]))


def _tick_label(exponent: int, tick: float, _place: int) -> str:
    return engineering(f"{tick / 10.0**exponent:.6g}".replace("-", "−"), exponent)


def width_of(labels: list[str]) -> float:
    """Approximate width of the longest tick label in inches."""
    return 0.085 * max(map(len, labels), default=0)


def draw_matrix(
    ax: Any,
    values: np.ndarray,
    rows: list[str],
    columns: list[str],
    form: Callable[[float], str],
    **colours: Any,
) -> None:
    """Draw coloured cells with their numbers, in black on bright and white on dark colours."""
    image = ax.imshow(values, aspect="auto", **colours)
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            brightness = np.dot(image.cmap(image.norm(value))[:3], LUMINANCE)
            ink = "black" if brightness > 0.45 else "white"
            text = {"ha": "center", "va": "center", "fontsize": 8}
            ax.text(column, row, form(value), color=ink, **text)
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)


def open_frame(ax: Any) -> None:
    """Hide the top and right spines."""
    ax.spines[["top", "right"]].set_visible(False)
