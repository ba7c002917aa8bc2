"""The cells of a search from best to worst, each with its interval."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from landbridge._extras import import_extra
from landbridge._typing import Vector
from landbridge.model_selection import SearchResult, TransferSearchCV
from landbridge.model_selection.uncertainty import METHODS, default_method

BEST_COLOUR, OTHER_COLOUR = "#d55e00", "#0072b2"


def width_of(labels: list[str]) -> float:
    """About the inches that the longest of some tick labels takes."""
    return 0.085 * max(map(len, labels))


class SearchRankingDisplay:
    """Scores with intervals, best first.

    Make it with `from_result` or `from_estimator`; `plot` only draws.

    Parameters
    ----------
    labels : list of str
        One for each cell, best first.
    scores, lows, highs : arrays of shape (n_cells,)
    xlabel : str
        What is measured, and what the intervals rest on.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`.
    """

    def __init__(
        self, labels: list[str], scores: Vector, lows: Vector, highs: Vector, *, xlabel: str
    ):
        self.labels = labels
        self.scores = scores
        self.lows = lows
        self.highs = highs
        self.xlabel = xlabel

    @classmethod
    def from_result(
        cls,
        result: SearchResult,
        *,
        level: float = 0.9,
        method: str | None = None,
        most: int = 20,
    ) -> Self:
        """From ``search.results_``; cells that failed are left out, of many the best are shown."""
        method = method or default_method(result)
        words = list(zip(result.status(), result.status(METHODS.get(method)), strict=True))
        cells = [cell for cell in result.ranking() if "failed" not in words[cell]][:most]
        cells = cells or [result.best]  # whose interval says what is missing
        intervals = [result.interval(level, method=method, cell=cell) for cell in cells]
        name = "accuracy" if result.is_proportion else f"negative {result.about['loss']} loss"
        return cls(
            [result.labels[cell] for cell in cells],
            np.array([interval.estimate for interval in intervals]),
            np.array([interval.low for interval in intervals]),
            np.array([interval.high for interval in intervals]),
            xlabel=f"target {name}, {100 * level:g}% interval ({method})",
        )

    @classmethod
    def from_estimator(cls, search: TransferSearchCV, **options: Any) -> Self:
        """From a fitted search."""
        check_is_fitted(search, "results_")
        return cls.from_result(search.results_, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax`` or on a new figure."""
        if ax is None:
            pyplot = import_extra("matplotlib.pyplot", "plot")
            height = 1.2 + 0.3 * len(self.labels)
            size = (4.5 + width_of(self.labels), height)
            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        places = np.arange(len(self.labels))
        colours = [BEST_COLOUR] + [OTHER_COLOUR] * (len(self.labels) - 1)
        ax.hlines(places, self.lows, self.highs, colors=colours, linewidth=2)
        ax.scatter(self.scores, places, c=colours, zorder=3)
        ax.set_yticks(places, self.labels)
        ax.invert_yaxis()
        ax.set_xlabel(self.xlabel)
        ax.grid(axis="x", alpha=0.3)
        self.ax_, self.figure_ = ax, ax.figure
        return self
