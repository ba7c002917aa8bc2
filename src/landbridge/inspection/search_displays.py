"""Pictures of a search: the ranking, candidates × sources, pairs of candidates, two criteria.

Each Display holds plain arrays; `from_result` and `from_estimator` compute them and draw.
"""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from landbridge._extras import import_extra
from landbridge._typing import Vector
from landbridge.metrics.metric import format_number
from landbridge.model_selection import SearchResult, TransferSearchCV

BEST_COLOUR, OTHER_COLOUR, BASELINE_COLOUR = "#d55e00", "#0072b2", "#767676"
PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]


def width_of(labels: list[str]) -> float:
    """About the inches that the longest of some tick labels takes."""
    return 0.085 * max(map(len, labels), default=0)


def _axes(ax: Any, width: float, height: float) -> Any:
    if ax is not None:
        return ax
    pyplot = import_extra("matplotlib.pyplot", "plot")
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


class _SearchDisplay:
    """`from_estimator` of every Display of a search."""

    from_result: Any

    @classmethod
    def from_estimator(cls, search: TransferSearchCV, *arguments: Any, **options: Any) -> Self:
        """Compute and draw from a fitted search; options as in `from_result`."""
        check_is_fitted(search, "results_")
        return cls.from_result(search.results_, *arguments, **options)


class SearchRankingDisplay(_SearchDisplay):
    """Scores with intervals, best first; the vote, where it is the answer, on top.

    Parameters
    ----------
    labels : list of str
        One per row, best first.
    scores, lows, highs : arrays of shape (n_rows,)
        NaN bounds where there is no interval.
    xlabel : str
        Name of the score, and the level of the intervals.
    baseline : float, optional
        Score of the majority class or mean, drawn as a line.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after `plot`.
    """

    def __init__(
        self,
        labels: list[str],
        scores: Vector,
        lows: Vector,
        highs: Vector,
        *,
        xlabel: str,
        baseline: float | None = None,
    ):
        self.labels = labels
        self.scores = scores
        self.lows = lows
        self.highs = highs
        self.xlabel = xlabel
        self.baseline = baseline

    @classmethod
    def from_result(
        cls,
        result: SearchResult,
        *,
        level: float = 0.9,
        metric: str | None = None,
        most: int = 20,
        ax: Any = None,
    ) -> Self:
        """Compute and draw; cells that failed are left out, of many the best are shown.

        Parameters
        ----------
        result : SearchResult
            Results of a search.
        level : float, default=0.95
            Nominal coverage.
        metric : str or Metric, optional
            Name of a metric of the search; by default the one used for selection.
        most : int, default=20
            Largest number of rows to draw.
        ax : matplotlib axes, optional
            Axes to draw on; those of a new figure by default.
        """
        known = result.find_metric(metric)
        rows: list[Any] = ["vote"] if result.answer == "vote" else []
        status = result.status(None, known)
        rows += [cell for cell in result.ranking(None, known) if status[cell] != "failed"]
        rows = rows[:most]
        found = [result.row(cell, level, known) for cell in rows]
        labels = ["vote" if cell == "vote" else result.labels[cell] for cell in rows]
        columns = ("score", "low", "high")
        scores, lows, highs = (np.array([row[name] for row in found]) for name in columns)
        baseline = result.baseline
        display = cls(
            labels,
            scores,
            lows,
            highs,
            xlabel=f"{known.label} on the target, {100 * level:g} % interval",
            baseline=None if baseline is None else float(result.scores(None, known)[baseline]),
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax`` or on a new figure.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; those of a new figure by default.

        Returns
        -------
        self
            This display.
        """
        ax = _axes(ax, 4.5 + width_of(self.labels), 1.2 + 0.3 * len(self.labels))
        places = np.arange(len(self.labels))
        colours = [BEST_COLOUR] + [OTHER_COLOUR] * (len(self.labels) - 1)
        if self.baseline is not None and np.isfinite(self.baseline):
            ax.axvline(self.baseline, color=BASELINE_COLOUR, linestyle=":", linewidth=1.2)
        ax.hlines(places, self.lows, self.highs, colors=colours, linewidth=2)
        ax.scatter(self.scores, places, c=colours, zorder=3)
        ax.set_yticks(places, self.labels)
        ax.invert_yaxis()
        ax.set_xlabel(self.xlabel)
        ax.grid(axis="x", alpha=0.3)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class CriteriaDisplay(_SearchDisplay):
    """Scores by two criteria; cells off the diagonal are those they disagree about.

    Parameters
    ----------
    x, y : arrays of shape (n_cells,)
        Scores by the two criteria.
    names : list of str
        Candidate of each cell, shown as its colour.
    xlabel, ylabel : str
        Label of the horizontal axis.

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
    def from_result(cls, result: SearchResult, x: str, y: str, *, ax: Any = None) -> Self:
        """Compute and draw from the names of two criteria.

        Parameters
        ----------
        result : SearchResult
            Results of a search.
        x : str
            Criterion on the horizontal axis.
        y : array-like of shape (n_rows,)
            Labels of the rows.
        ax : matplotlib axes, optional
            Axes to draw on; those of a new figure by default.
        """
        label = result.metric.label
        return cls(
            result.scores(x),
            result.scores(y),
            [cell.candidate for cell in result.cells],
            xlabel=f"{label} by {x}",
            ylabel=f"{label} by {y}",
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax`` or on a new figure.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; those of a new figure by default.

        Returns
        -------
        self
            This display.
        """
        ax = _axes(ax, 5.4 + width_of(self.names), 4.4)
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


class PairwiseDisplay(_SearchDisplay):
    """A matrix of P(row is better than column), cells from best to worst, numbered.

    Parameters
    ----------
    probabilities : ndarray of shape (n_cells, n_cells)
        Probabilities to draw.
    labels : list of str
        Names on both axes.
    title : str
        Title of the picture.

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
        cls, result: SearchResult, *, method: str = "paired", most: int = 15, ax: Any = None
    ) -> Self:
        """Compute and draw; of many cells the best are shown.

        Parameters
        ----------
        result : SearchResult
            Results of a search.
        method : str, optional
            Name of the method.
        most : int, default=15
            Largest number of rows to draw.
        ax : matplotlib axes, optional
            Axes to draw on; those of a new figure by default.
        """
        status = result.status()
        cells = [cell for cell in result.ranking() if status[cell] != "failed"][:most]
        probabilities = result.prob_better(method=method)[np.ix_(cells, cells)]
        title = f"P(row better than column), {method}"
        return cls(probabilities, [result.labels[cell] for cell in cells], title=title).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax`` or on a new figure.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; those of a new figure by default.

        Returns
        -------
        self
            This display.
        """
        n = len(self.labels)
        ax = _axes(ax, 2.5 + 0.45 * n + width_of(self.labels), 1.5 + 0.4 * n)
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


class SourceCandidateDisplay(_SearchDisplay):
    """A heat map of scores, one row per candidate and one column per source.

    Parameters
    ----------
    scores : ndarray of shape (n_sources, n_candidates)
        NaN where a cell failed.
    sources, candidates : lists of str
        Names of the columns.
    label : str
        Name of the quantity shown by the colours.
    best : (source, candidate) positions, optional
        The cell that gets a frame.
    greater_is_better : bool, default=True
        Whether larger scores are better.

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
        best: tuple[int, int] | None = None,
        greater_is_better: bool = True,
    ):
        self.scores = scores
        self.sources = sources
        self.candidates = candidates
        self.label = label
        self.best = best
        self.greater_is_better = greater_is_better

    @classmethod
    def from_result(
        cls, result: SearchResult, *, criterion: str | None = None, ax: Any = None
    ) -> Self:
        """Compute and draw by the selecting criterion unless another is named.

        Candidates that do not learn from a source have a column of their own.

        Parameters
        ----------
        result : SearchResult
            Results of a search.
        criterion : str, optional
            Name of a criterion; by default the one used for selection.
        ax : matplotlib axes, optional
            Axes to draw on; those of a new figure by default.
        """
        cells = result.cells
        sources = list(dict.fromkeys(cell.source for cell in cells))
        names = list(dict.fromkeys(cell.name for cell in cells))
        scores = np.full((len(sources), len(names)), np.nan)
        for cell, score in zip(cells, result.scores(criterion), strict=True):
            scores[sources.index(cell.source), names.index(cell.name)] = score
        order = [c for c in result.ranking(criterion) if cells[c].role != "baseline"]
        first = cells[order[0]]
        return cls(
            scores,
            ["no source" if source is None else str(source) for source in sources],
            names,
            label=f"{result.metric.label} by {criterion or result.criterion}",
            best=(sources.index(first.source), names.index(first.name)),
            greater_is_better=result.metric.greater_is_better,
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax`` or on a new figure; the best cell has a frame.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Axes to draw on; those of a new figure by default.

        Returns
        -------
        self
            This display.
        """
        width = 2.5 + 0.8 * len(self.sources) + width_of(self.candidates)
        ax = _axes(ax, width, max(1.2 + 0.35 * len(self.candidates), 2.7))
        # Bright colours are good, whether greater or smaller is better.
        colours = "viridis" if self.greater_is_better else "viridis_r"
        image = ax.imshow(self.scores.T, cmap=colours, aspect="auto")
        ax.figure.colorbar(image, ax=ax, label=self.label)
        known = self.scores[~np.isnan(self.scores)]
        middle = (known.min() + known.max()) / 2 if known.size else 0.0
        is_rate = known.size and known.min() >= 0 and 0.1 <= known.max() <= 1
        form = "{:.2f}".format if is_rate else format_number
        for (source, candidate), score in np.ndenumerate(self.scores):
            text = "" if np.isnan(score) else form(score)
            bright = (score > middle) == self.greater_is_better
            colour = "black" if bright else "white"
            ax.text(source, candidate, text, ha="center", va="center", color=colour, fontsize=8)
        if self.best is not None:
            x, y = self.best
            ax.plot(
                [x - 0.5, x + 0.5, x + 0.5, x - 0.5, x - 0.5],
                [y - 0.5, y - 0.5, y + 0.5, y + 0.5, y - 0.5],
                color=BEST_COLOUR,
                linewidth=3,
            )
        rotated = {"rotation": 40, "ha": "right"} if max(map(len, self.sources)) > 8 else {}
        ax.set_xticks(range(len(self.sources)), self.sources, **rotated)
        ax.set_yticks(range(len(self.candidates)), self.candidates)
        ax.set_xlabel("source")
        self.ax_, self.figure_ = ax, ax.figure
        return self
