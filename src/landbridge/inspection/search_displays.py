"""Displays of a search: ranking, candidates × sources, pairs of candidates, criteria.

Each Display holds plain arrays; `from_result` and `from_estimator` compute them and draw.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from landbridge._palette import ACCENT, NAMES, QUIET, STRONG
from landbridge._typing import Vector
from landbridge.inference.intervals import format_number
from landbridge.inspection._display import Display, draw_matrix, width_of
from landbridge.model_selection import SearchResult, TransferSearchCV
from landbridge.model_selection._sources import source_name


def scores_by_source(
    result: SearchResult, criterion: str | None = None, *, without_source: bool = True
) -> tuple[list[Any], list[str], np.ndarray]:
    """Sources, candidates and the score of each pair, optionally with source-free candidates."""
    scores = result.scores(criterion)
    known = [
        (cell, score)
        for cell, score in zip(result.cells, scores, strict=True)
        if without_source or cell.source is not None
    ]
    sources = list(dict.fromkeys(cell.source for cell, _ in known))
    names = list(dict.fromkeys(cell.name for cell, _ in known))
    table = np.full((len(sources), len(names)), np.nan)
    for cell, score in known:
        table[sources.index(cell.source), names.index(cell.name)] = score
    return sources, names, table


def best_pairs(
    result: SearchResult, most: int, method: str | None = None
) -> tuple[list[int], np.ndarray]:
    """The best complete cells, and the probability that one is better than another."""
    status = result.status()
    cells = [cell for cell in result.ranking() if status[cell] == "complete"][:most]
    return cells, result.prob_better(method=method, cells=cells)


class _SearchDisplay(Display):
    """`from_estimator` of every Display of a search."""

    from_result: Any

    @classmethod
    def from_estimator(cls, search: TransferSearchCV, *arguments: Any, **options: Any) -> Self:
        """Compute and draw from a fitted search; options as in `from_result`."""
        check_is_fitted(search, "results_")
        return cls.from_result(search.results_, *arguments, **options)


@dataclass
class SearchRankingDisplay(_SearchDisplay):
    """Plot scores with intervals, best first; a selected vote is on top.

    Parameters
    ----------
    labels : list of str
        Names of the candidates, best first.
    scores, lows, highs : arrays of shape (n_rows,)
        Scores and interval bounds; NaN without an interval.
    xlabel : str
        Name of the score, and the level of the intervals.
    baseline : float, optional
        Score of the majority class or mean, drawn as a line.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.inspection import SearchRankingDisplay
    >>> scores = np.array([0.9, 0.8])
    >>> display = SearchRankingDisplay(
    ...     ["pooled", "source-only"], scores, scores - 0.05, scores + 0.05, "accuracy").plot()
    >>> display.ax_.get_xlabel()
    'accuracy'
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from landbridge import transfer_cross_validate
    >>> from landbridge.datasets import make_covariate_shift
    >>> data = make_covariate_shift(random_state=0)
    >>> result = transfer_cross_validate(
    ...     GaussianNB(), data.X, data.y, X_unlabeled=data.X_target, random_state=0)
    >>> len(SearchRankingDisplay.from_result(result).labels)
    2
    """

    labels: list[str]
    scores: Vector
    lows: Vector
    highs: Vector
    xlabel: str
    baseline: float | None = None

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
        """Draw up to ``most`` cells, best first, without those that failed.

        Parameters
        ----------
        most : int, default=20
            Maximum number of rows to draw.
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
        baseline, xlabel = (
            result.baseline,
            f"{known.label} on the target, {100 * level:g} % interval",
        )
        if baseline is not None:
            xlabel += f"\ndotted: {result.cells[baseline].name}"
        display = cls(
            labels,
            scores,
            lows,
            highs,
            xlabel=xlabel,
            baseline=None if baseline is None else float(result.scores(None, known)[baseline]),
        )
        return display.plot(ax)

    def _figure(self) -> dict[str, Any]:
        return {"figsize": (4.5 + width_of(self.labels), 1.2 + 0.3 * len(self.labels))}

    def _draw(self, ax: Any) -> None:
        places = np.arange(len(self.labels))
        colours = [STRONG] + [ACCENT] * (len(self.labels) - 1)
        if self.baseline is not None and np.isfinite(self.baseline):
            ax.axvline(self.baseline, color=QUIET, linestyle=":", linewidth=1.2)
        ax.hlines(places, self.lows, self.highs, colors=colours, linewidth=2)
        ax.scatter(self.scores, places, c=colours, zorder=3)
        ax.set_yticks(places, self.labels)
        ax.invert_yaxis()
        ax.set_xlabel(self.xlabel)
        ax.grid(axis="x", alpha=0.3)


@dataclass
class CriteriaDisplay(_SearchDisplay):
    """Plot scores by two criteria; they disagree about cells off the diagonal.

    Parameters
    ----------
    x, y : arrays of shape (n_cells,)
        Scores by the two criteria.
    names : list of str
        Candidate of each cell, shown as its colour.
    xlabel, ylabel : str
        Labels of the axes.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.inspection import CriteriaDisplay
    >>> display = CriteriaDisplay(
    ...     np.array([0.8, 0.7]), np.array([0.9, 0.6]), ["a", "b"], "scv", "trcv").plot()
    >>> display.ax_.get_ylabel()
    'trcv'
    """

    x: Vector
    y: Vector
    names: list[str]
    xlabel: str
    ylabel: str

    @classmethod
    def from_result(cls, result: SearchResult, x: str, y: str, *, ax: Any = None) -> Self:
        """Compute and draw from the names of two criteria.

        Parameters
        ----------
        x : str
            Criterion on the horizontal axis.
        y : str
            Criterion on the vertical axis.
        """
        label = result.metric.label
        return cls(
            result.scores(x),
            result.scores(y),
            [cell.candidate for cell in result.cells],
            xlabel=f"{label} by {x}",
            ylabel=f"{label} by {y}",
        ).plot(ax)

    def _figure(self) -> dict[str, Any]:
        return {"figsize": (5.4 + width_of(self.names), 4.4)}

    def _draw(self, ax: Any) -> None:
        names = np.array(self.names)
        for number, name in enumerate(dict.fromkeys(self.names)):
            chosen = names == name
            marker = "os^Dv"[number // len(NAMES) % 5]
            colour = NAMES[number % len(NAMES)]
            ax.scatter(self.x[chosen], self.y[chosen], c=colour, marker=marker, label=name)
        ends = np.array([np.nanmin([self.x, self.y]), np.nanmax([self.x, self.y])])
        ax.plot(ends, ends, color=QUIET, linewidth=1, zorder=0)
        ax.set_xlabel(self.xlabel)
        ax.set_ylabel(self.ylabel)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


@dataclass
class PairwiseDisplay(_SearchDisplay):
    """Plot the probabilities that the row is better than the column, best cells first.

    Parameters
    ----------
    probabilities : ndarray of shape (n_cells, n_cells)
        Probabilities to draw.
    labels : list of str
        Names on both axes.
    title : str
        Title of the picture.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.inspection import PairwiseDisplay
    >>> probabilities = np.array([[0.5, 0.9], [0.1, 0.5]])
    >>> display = PairwiseDisplay(probabilities, ["a", "b"], "P(row better)").plot()
    >>> display.ax_.get_title()
    'P(row better)'
    """

    probabilities: np.ndarray
    labels: list[str]
    title: str

    @classmethod
    def from_result(
        cls, result: SearchResult, *, method: str = "paired", most: int = 15, ax: Any = None
    ) -> Self:
        """Draw up to ``most`` cells, best first.

        Parameters
        ----------
        method : str, default="paired"
            Name of the method.
        most : int, default=15
            Maximum number of rows to draw.
        """
        cells, probabilities = best_pairs(result, most, method)
        title = f"P(row better than column), {method}"
        return cls(probabilities, [result.labels[cell] for cell in cells], title=title).plot(ax)

    def _figure(self) -> dict[str, Any]:
        n = len(self.labels)
        return {"figsize": (2.5 + 0.45 * n + width_of(self.labels), 1.5 + 0.4 * n)}

    def _draw(self, ax: Any) -> None:
        rows = [f"{label}  {place}" for place, label in enumerate(self.labels, start=1)]
        columns = [str(place) for place in range(1, len(rows) + 1)]
        others = np.where(np.eye(len(rows), dtype=bool), np.nan, self.probabilities)
        draw_matrix(ax, others, rows, columns, "{:.2f}".format, cmap="RdBu", vmin=0, vmax=1)
        ax.set_title(self.title)


@dataclass
class SourceCandidateDisplay(_SearchDisplay):
    """Plot a heat map of scores, with one row per candidate and one column per source.

    Parameters
    ----------
    scores : ndarray of shape (n_sources, n_candidates)
        Scores; NaN for failed cells.
    sources, candidates : lists of str
        Names of the columns and rows.
    label : str
        Name of the scores, used as title.
    best : (source, candidate) positions, optional
        Position of the cell to frame.
    greater_is_better : bool, default=True
        Whether larger scores are better.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.inspection import SourceCandidateDisplay
    >>> display = SourceCandidateDisplay(
    ...     np.array([[0.8, 0.9]]), ["red"], ["linear", "trees"], "accuracy").plot()
    >>> display.ax_.get_yticklabels()[0].get_text()
    'linear'
    """

    scores: np.ndarray
    sources: list[str]
    candidates: list[str]
    label: str
    best: tuple[int, int] | None = None
    greater_is_better: bool = True

    @classmethod
    def from_result(
        cls, result: SearchResult, *, criterion: str | None = None, ax: Any = None
    ) -> Self:
        """Compute and draw.

        Candidates that do not use a source have a separate column.

        Parameters
        ----------
        criterion : str, optional
            Name of a criterion; by default the one used for selection.
        """
        cells = result.cells
        sources, names, scores = scores_by_source(result, criterion)
        order = [c for c in result.ranking(criterion) if cells[c].role != "baseline"]
        first = cells[order[0]]
        return cls(
            scores,
            ["no source" if source is None else source_name(source) for source in sources],
            names,
            label=f"{result.metric.label} by {criterion or result.criterion}",
            best=(sources.index(first.source), names.index(first.name)),
            greater_is_better=result.metric.greater_is_better,
        ).plot(ax)

    def _figure(self) -> dict[str, Any]:
        width = 2.5 + 0.8 * len(self.sources) + width_of(self.candidates)
        return {"figsize": (width, 1.7 + 0.35 * len(self.candidates))}

    def _draw(self, ax: Any) -> None:
        known = self.scores[~np.isnan(self.scores)]
        is_rate = known.size and known.min() >= 0 and 0.1 <= known.max() <= 1
        form = "{:.2f}".format if is_rate else format_number
        # Bright colours mean better scores, regardless of the orientation of the metric.
        colours = "viridis" if self.greater_is_better else "viridis_r"
        draw_matrix(ax, self.scores.T, self.candidates, self.sources, form, cmap=colours)
        ax.set_title(self.label)
        if self.best is not None:
            x, y = self.best
            left, right, top, bottom = x - 0.5, x + 0.5, y - 0.5, y + 0.5
            corners = [left, right, right, left, left], [top, top, bottom, bottom, top]
            ax.plot(*corners, color=STRONG, linewidth=3)
        if max(map(len, self.sources)) > 8:
            ax.tick_params("x", rotation=40)
            for label in ax.get_xticklabels():
                label.set_ha("right")
        ax.set_xlabel("source")
