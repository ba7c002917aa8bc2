"""Probabilities that one cell of a search is better than another."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from landbridge._extras import import_extra
from landbridge.inspection.search_ranking_display import width_of
from landbridge.model_selection import SearchResult, TransferSearchCV
from landbridge.model_selection.uncertainty import default_comparison


class PairwiseDisplay:
    """A matrix of P(row is better than column), cells from best to worst, numbered.

    Make it with `from_result` or `from_estimator`; `plot` only draws.

    Parameters
    ----------
    probabilities : ndarray of shape (n_cells, n_cells)
    labels : list of str
    title : str

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`.
    """

    def __init__(self, probabilities: np.ndarray, labels: list[str], *, title: str):
        self.probabilities = probabilities
        self.labels = labels
        self.title = title

    @classmethod
    def from_result(
        cls, result: SearchResult, *, method: str | None = None, most: int = 15
    ) -> Self:
        """From ``search.results_``; of many cells the best are shown."""
        status = result.status()
        cells = [cell for cell in result.ranking() if status[cell] != "failed"][:most]
        method = method or default_comparison(result)
        probabilities = result.prob_better(method=method)[np.ix_(cells, cells)]
        title = f"P(row better than column), {method}"
        return cls(probabilities, [result.labels[cell] for cell in cells], title=title)

    @classmethod
    def from_estimator(cls, search: TransferSearchCV, **options: Any) -> Self:
        """From a fitted search."""
        check_is_fitted(search, "results_")
        return cls.from_result(search.results_, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax`` or on a new figure."""
        n = len(self.labels)
        if ax is None:
            pyplot = import_extra("matplotlib.pyplot", "plot")
            size = (2.5 + 0.45 * n + width_of(self.labels), 1.5 + 0.4 * n)
            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        image = ax.imshow(self.probabilities, cmap="RdBu", vmin=0, vmax=1, aspect="auto")
        ax.figure.colorbar(image, ax=ax, shrink=0.8)
        for (row, column), probability in np.ndenumerate(self.probabilities):
            if row != column:
                colour = "white" if abs(probability - 0.5) > 0.35 else "black"
                text = f"{probability:.2f}"
                ax.text(column, row, text, ha="center", va="center", color=colour, fontsize=8)
        ax.set_xticks(range(n), range(1, n + 1))
        ax.set_yticks(
            range(n), [f"{label}  {place + 1}" for place, label in enumerate(self.labels)]
        )
        ax.set_title(self.title)
        self.ax_, self.figure_ = ax, ax.figure
        return self
