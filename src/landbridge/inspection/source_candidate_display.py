"""Candidates × sources: which pair does well by a criterion."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from landbridge._extras import import_extra
from landbridge.inspection.search_ranking_display import width_of
from landbridge.model_selection import SearchResult, TransferSearchCV
from landbridge.model_selection.results import cell_label


class SourceCandidateDisplay:
    """A heat map of scores, one line a candidate and one column a source.

    Make it with `from_result` or `from_estimator`; `plot` only draws.

    Parameters
    ----------
    scores : ndarray of shape (n_sources, n_candidates)
        NaN where a cell failed.
    sources, candidates : lists of str
    label : str
        What the colours show.
    best : int, optional
        The cell that gets a frame, counted source by source; the highest score by default.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`.
    """

    def __init__(
        self,
        scores: np.ndarray,
        sources: list[str],
        candidates: list[str],
        *,
        label: str,
        best: int | None = None,
    ):
        self.scores = scores
        self.sources = sources
        self.candidates = candidates
        self.label = label
        self.best = int(np.nanargmax(scores)) if best is None else best

    @classmethod
    def from_result(cls, result: SearchResult, *, criterion: str | None = None) -> Self:
        """From ``search.results_``, by the selecting criterion unless another is named."""
        n_sources = len(result.sources)
        scores = result.scores(criterion).reshape(n_sources, -1)
        cells = result.cells[: scores.shape[1]]
        names = [cell_label(cell, several=False) for cell in cells]
        measure = "accuracy" if result.is_proportion else "negative loss"
        label = f"{measure} by {criterion or result.criterion}"
        best = result.ranking(criterion)[0]
        return cls(scores, [str(s) for s in result.sources], names, label=label, best=best)

    @classmethod
    def from_estimator(cls, search: TransferSearchCV, **options: Any) -> Self:
        """From a fitted search."""
        check_is_fitted(search, "results_")
        return cls.from_result(search.results_, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax`` or on a new figure; the best cell has a frame."""
        if ax is None:
            pyplot = import_extra("matplotlib.pyplot", "plot")
            width = 2.5 + 0.8 * len(self.sources) + width_of(self.candidates)
            size = (width, max(1.2 + 0.35 * len(self.candidates), 2.4))
            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        image = ax.imshow(self.scores.T, cmap="viridis", aspect="auto")
        ax.figure.colorbar(image, ax=ax, label=self.label)
        known = self.scores[~np.isnan(self.scores)]
        middle = (known.min() + known.max()) / 2 if known.size else 0.0
        # Losses may be of any size, rates are not.
        form = "{:.2f}" if known.size and 0 <= known.min() <= known.max() <= 1 else "{:.3g}"
        for (source, candidate), score in np.ndenumerate(self.scores):
            text = "failed" if np.isnan(score) else form.format(score)
            colour = "black" if np.isnan(score) or score > middle else "white"
            ax.text(source, candidate, text, ha="center", va="center", color=colour, fontsize=8)
        x, y = np.unravel_index(self.best, self.scores.shape)
        ax.plot(
            [x - 0.5, x + 0.5, x + 0.5, x - 0.5, x - 0.5],
            [y - 0.5, y - 0.5, y + 0.5, y + 0.5, y - 0.5],
            color="#d55e00",
            linewidth=3,
        )
        rotated = {"rotation": 40, "ha": "right"} if max(map(len, self.sources)) > 8 else {}
        ax.set_xticks(range(len(self.sources)), self.sources, **rotated)
        ax.set_yticks(range(len(self.candidates)), self.candidates)
        ax.set_xlabel("source")
        self.ax_, self.figure_ = ax, ax.figure
        return self
