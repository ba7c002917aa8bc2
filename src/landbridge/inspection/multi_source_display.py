"""Display of scores per source with intervals, and overall intervals."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from landbridge._palette import ACCENT, QUIET, STRONG
from landbridge._typing import MatrixLike, Vector, VectorLike
from landbridge.inference.intervals import t_quantile
from landbridge.inspection._display import Display, open_frame
from landbridge.model_selection import Comparison, MultiSourceCV, MultiSourceResult
from landbridge.model_selection.multi_source_result import loss_label

QUESTION_WORDS = {
    "new_source": "one new source",
    "population": "all sources of this kind",
    "fixed": "these sources",
}


@dataclass
class MultiSourceDisplay(Display):
    """Plot losses by source with intervals, and the overall intervals below them.

    Make it with `from_result`, `from_estimator` or `from_comparison`, which compute and draw.

    Parameters
    ----------
    names : sequence of str
        The sources.
    means, lows, highs : arrays of shape (n_sources,)
        Mean loss of each source, or the difference of two mean losses, with its interval.
    answers : sequence of (label, estimate, low, high)
        Intervals for all sources, drawn below them.
    xlabel : str
        Name of the score.
    reference : float, optional
        Position of the vertical line; by default the estimate.
    level : float, default=0.95
        Nominal coverage of the intervals, for the label.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.inspection import MultiSourceDisplay
    >>> means = np.array([0.1, 0.2])
    >>> display = MultiSourceDisplay(
    ...     ["a", "b"], means, means - 0.05, means + 0.05, [("a new source", 0.15, 0.0, 0.3)],
    ...     "error").plot()
    >>> display.ax_.get_xlabel()
    'error, 95 % intervals'
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from landbridge import compare_estimators
    >>> from landbridge.datasets import make_sources
    >>> data = make_sources(6, task="classification", random_state=0)
    >>> comparison = compare_estimators(
    ...     GaussianNB(), DummyClassifier(), data.X, data.y, groups=data.groups)
    >>> MultiSourceDisplay.from_comparison(comparison).ax_.get_xlabel()
    'error of GaussianNB − DummyClassifier, 95 % intervals'
    """

    names: list[str]
    means: Vector
    lows: Vector
    highs: Vector
    answers: list[tuple[str, float, float, float]]
    xlabel: str
    reference: float | None = None
    level: float = 0.95

    @classmethod
    def from_result(
        cls, result: MultiSourceResult, *, metric: Any = None, level: float = 0.95, ax: Any = None
    ) -> Self:
        """Draw the result of `MultiSourceCV`, with sources sorted by score.

        Parameters
        ----------
        result : MultiSourceResult
            Result of `MultiSourceCV`.
        metric : str or Metric, optional
            Name of a metric; by default the first one.
        """
        chosen = result.metric(metric)
        scores, (lows, highs) = result.source_scores(chosen), result.source_intervals(chosen, level)
        found = [result.interval(question, level, chosen) for question in result.questions]
        return cls._sorted(
            result.source_names,
            scores,
            lows,
            highs,
            [(QUESTION_WORDS[a.question], a.estimate, a.low, a.high) for a in found],
            xlabel=chosen.label,
            reference=result.estimate(chosen),
            level=level,
        ).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: VectorLike,
        *,
        groups: VectorLike,
        level: float = 0.95,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Run `MultiSourceCV` with ``options`` and show its result.

        Parameters
        ----------
        estimator : estimator
            The estimator to validate.
        X : array-like of shape (n_rows, n_features)
            Rows of all sources.
        groups : array-like of shape (n_rows,)
            Source of each row.
        """
        result = MultiSourceCV(estimator, **options).fit(X, y, groups=groups).result_
        return cls.from_result(result, level=level, ax=ax)

    @classmethod
    def from_comparison(
        cls,
        comparison: Comparison,
        first: str | None = None,
        second: str | None = None,
        *,
        metric: Any = None,
        method: str = "t",
        level: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """Draw paired differences of two estimators by source, from `compare_estimators`.

        Values left of zero favour ``first``. By default, the first two estimators are compared.

        Parameters
        ----------
        comparison : Comparison
            Result of `compare_estimators`.
        first : str, optional
            Name of the first estimator.
        second : str, optional
            Name of the second estimator.
        metric : str or Metric, optional
            Name of a metric; by default the first one.
        method : str, default="t"
            Name of the method.
        """
        first, second = first or str(comparison.names[0]), second or str(comparison.names[1])
        test = comparison.test(first, second, method, level, metric)
        summary = comparison.differences(first, second, metric)
        # The interval of a source with one row is undefined and not drawn.
        quantiles = [t_quantile(level, max(n - 1, 1)) for n in summary.n_rows]
        half = np.array(quantiles) * np.sqrt(summary.mean_variance)
        return cls._sorted(
            summary.names,
            summary.mean,
            summary.mean - half,
            summary.mean + half,
            [(f"mean (p = {test.p_value:.2g})", test.difference, test.low, test.high)],
            xlabel=f"{loss_label(comparison.metric(metric))} of {first} − {second}",
            reference=0.0,
            level=level,
        ).plot(ax)

    @classmethod
    def _sorted(
        cls,
        sources: Vector,
        means: Vector,
        lows: Vector,
        highs: Vector,
        answers: list[tuple[str, float, float, float]],
        **options: Any,
    ) -> Self:
        order = np.argsort(means, kind="stable")[: np.sum(~np.isnan(means))]  # NaN comes last
        names = [str(name) for name in sources[order]]
        return cls(names, means[order], lows[order], highs[order], answers, **options)

    def _figure(self) -> dict[str, Any]:
        return {"figsize": (6.4, 1.0 + 0.26 * (len(self.names) + len(self.answers)))}

    def _draw(self, ax: Any) -> None:
        n_sources, n_rows = len(self.names), len(self.names) + len(self.answers)
        rows = np.arange(n_sources)
        known = np.isfinite(self.lows) & np.isfinite(self.highs)  # NaN for one row
        ax.hlines(rows[known], self.lows[known], self.highs[known], color=ACCENT)
        ax.plot(self.means, rows, "o", color=ACCENT, markersize=5)
        for row, (_, estimate, low, high) in enumerate(self.answers, start=n_sources):
            ax.hlines(row, low, high, color=STRONG, linewidth=4)
            ax.plot(estimate, row, "D", color="white", markeredgecolor=STRONG, markersize=6)
        ax.axhline(n_sources - 0.5, color=QUIET, linewidth=0.8)
        if self.reference is not None:
            ax.axvline(self.reference, color=QUIET, linewidth=0.8, linestyle=":")
        ax.set_yticks(np.arange(n_rows), [*self.names, *(label for label, *_ in self.answers)])
        ax.set_ylim(n_rows - 0.4, -0.6)
        ax.set_xlabel(f"{self.xlabel}, {100 * self.level:g} % intervals")
        open_frame(ax)
