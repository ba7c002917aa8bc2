"""One criterion of a search against another, a point a cell."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from landbridge._extras import import_extra
from landbridge._typing import Vector
from landbridge.inspection.search_ranking_display import width_of
from landbridge.model_selection import SearchResult, TransferSearchCV

PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]


class CriteriaDisplay:
    """Scores by two criteria; cells off the diagonal are those they disagree about.

    Make it with `from_result` or `from_estimator`; `plot` only draws.

    Parameters
    ----------
    x, y : arrays of shape (n_cells,)
        Scores by the two criteria.
    names : list of str
        Candidate of each cell; the colour.
    xlabel, ylabel : str

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`.
    """

    def __init__(self, x: Vector, y: Vector, names: list[str], *, xlabel: str, ylabel: str):
        self.x = x
        self.y = y
        self.names = names
        self.xlabel = xlabel
        self.ylabel = ylabel

    @classmethod
    def from_result(cls, result: SearchResult, x: str, y: str) -> Self:
        """From ``search.results_`` and the names of two criteria."""
        measure = "accuracy" if result.is_proportion else "negative loss"
        names = [cell["candidate"] for cell in result.cells]
        return cls(
            result.scores(x),
            result.scores(y),
            names,
            xlabel=f"{measure} by {x}",
            ylabel=f"{measure} by {y}",
        )

    @classmethod
    def from_estimator(cls, search: TransferSearchCV, x: str, y: str) -> Self:
        """From a fitted search and the names of two criteria."""
        check_is_fitted(search, "results_")
        return cls.from_result(search.results_, x, y)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax`` or on a new figure."""
        if ax is None:
            pyplot = import_extra("matplotlib.pyplot", "plot")
            size = (5.4 + width_of(self.names), 4.4)
            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        names = np.array(self.names)
        for number, name in enumerate(dict.fromkeys(self.names)):
            chosen = names == name
            marker = "os^Dv"[number // len(PALETTE) % 5]
            colour = PALETTE[number % len(PALETTE)]
            ax.scatter(self.x[chosen], self.y[chosen], c=colour, marker=marker, label=name)
        ends = np.array([np.nanmin([self.x, self.y]), np.nanmax([self.x, self.y])])
        ax.plot(ends, ends, color="#888888", linewidth=1, zorder=0)
        ax.set_xlabel(self.xlabel)
        ax.set_ylabel(self.ylabel)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
