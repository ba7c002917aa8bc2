"""Base class of the Displays, and helpers for axes and labels."""

from typing import Any, Self

import numpy as np

from landbridge._docstrings import Documented
from landbridge._extras import import_extra


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


def width_of(labels: list[str]) -> float:
    """Approximate width of the longest tick label in inches."""
    return 0.085 * max(map(len, labels), default=0)


def open_frame(ax: Any) -> None:
    """Hide the top and right spines."""
    ax.spines[["top", "right"]].set_visible(False)
