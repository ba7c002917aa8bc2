"""Sources × candidates: which pair does well by a criterion."""

from typing import Any, Self

import numpy as np

from landbridge._extras import import_extra
from landbridge.model_selection import SearchResult, TransferSearchCV
from landbridge.model_selection.results import cell_label


class SourceCandidateDisplay:
    """A heat map of scores, one row a source and one column a candidate.

    Make it with `from_result` or `from_estimator`; `plot` only draws.

    Parameters
    ----------
    scores : ndarray of shape (n_sources, n_candidates)
        NaN where a cell failed.
    sources, candidates : lists of str
    label : str
        What the colours show.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`.
    """

    def __init__(
        self, scores: np.ndarray, sources: list[str], candidates: list[str], *, label: str
    ):
        self.scores = scores
        self.sources = sources
        self.candidates = candidates
        self.label = label

    @classmethod
    def from_result(cls, result: SearchResult, *, criterion: str | None = None) -> Self:
        """From ``search.results_``, by the selecting criterion unless another is named."""
        n_sources = len(result.sources)
        scores = result.scores(criterion).reshape(n_sources, -1)
        cells = result.cells[: scores.shape[1]]
        names = [cell_label(cell, several=False) for cell in cells]
        measure = "accuracy" if result.is_proportion else "negative loss"
        label = f"{measure} by {criterion or result.criterion}"
        return cls(scores, [str(source) for source in result.sources], names, label=label)

    @classmethod
    def from_estimator(cls, search: TransferSearchCV, **options: Any) -> Self:
        """From a fitted search."""
        return cls.from_result(search.results_, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax`` or on a new figure; the best cell has a frame."""
        if ax is None:
            pyplot = import_extra("matplotlib.pyplot", "plot")
            size = (3 + 0.6 * len(self.candidates), 2.4 + 0.4 * len(self.sources))
            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        image = ax.imshow(self.scores, cmap="viridis", aspect="auto")
        ax.figure.colorbar(image, ax=ax, label=self.label)
        middle = np.nanmean([np.nanmin(self.scores), np.nanmax(self.scores)])
        for (row, column), score in np.ndenumerate(self.scores):
            text = "failed" if np.isnan(score) else f"{score:.2f}"
            colour = "black" if np.isnan(score) or score > middle else "white"
            ax.text(column, row, text, ha="center", va="center", color=colour, fontsize=8)
        row, column = np.unravel_index(np.nanargmax(self.scores), self.scores.shape)
        ax.plot(
            [column - 0.5, column + 0.5, column + 0.5, column - 0.5, column - 0.5],
            [row - 0.5, row - 0.5, row + 0.5, row + 0.5, row - 0.5],
            color="#d55e00",
            linewidth=3,
        )
        ax.set_xticks(range(len(self.candidates)), self.candidates, rotation=40, ha="right")
        ax.set_yticks(range(len(self.sources)), self.sources)
        ax.set_ylabel("source")
        self.ax_, self.figure_ = ax, ax.figure
        return self
