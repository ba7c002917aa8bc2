"""Display of a T-greedy path: statistics, effects per domain, and loss curves."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import stats

from landbridge._palette import ACCENT, QUIET, STRONG
from landbridge._typing import Vector
from landbridge.feature_selection import TGreedySelector
from landbridge.inspection._display import Display


@dataclass
class FeatureStabilityDisplay(Display):
    """Plot the T statistics, effects per domain, and loss curves of a feature path.

    Create it with `from_estimator`, which draws. The panels follow Figures 2 to 4 of
    Foster, Kakade, Salakhutdinov, "Domain Adaptation: A Small Sample Statistical Approach", with
    the effects on which T is based.

    Parameters
    ----------
    T : array of shape (n_steps,)
        T of each selected feature; the plot shows its absolute value.
    effects : array of shape (n_steps, n_domains)
        Effect of the selected feature in each domain, before the step.
    names : list of str
        Name of the feature selected in each step.
    source, held_out : arrays of shape (n_steps + 1, n_domains)
        Losses on the training domains and on held-out domains (NaN is not drawn). The plot shows
        their means, with the standard error of the held-out loss.
    n_kept : int
        Number of steps in the model.
    threshold : float or None
        ``|T|`` drawn as a line.
    n_features : int, default=12
        Maximum number of features whose effects are drawn.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import TGreedySelector
    >>> from landbridge.inspection import FeatureStabilityDisplay
    >>> rng = np.random.default_rng(0)
    >>> X, site = rng.normal(size=(800, 6)), np.repeat(list("abcdefgh"), 100)
    >>> y = X[:, 0] + X[:, 1] + rng.normal(size=800)
    >>> selector = TGreedySelector().fit(X, y, groups=site)
    >>> display = FeatureStabilityDisplay.from_estimator(selector)
    >>> display.ax_[2].get_ylabel()
    'squared loss'
    """

    T: Vector
    effects: np.ndarray
    names: list[str]
    source: np.ndarray
    held_out: np.ndarray
    n_kept: int
    threshold: float | None = None
    n_features: int = 12

    @classmethod
    def from_estimator(
        cls, selector: TGreedySelector, *, n_features: int = 12, ax: Any = None
    ) -> Self:
        """Draw the path of a fitted `TGreedySelector`.

        Parameters
        ----------
        selector : TGreedySelector
            A fitted selector.
        n_features : int, default=12
            Maximum number of features to draw.
        """
        path, names = selector.path_, selector.__dict__.get("feature_names_in_")
        labels = [str(i) if names is None else str(names[i]) for i in path.feature]
        display = cls(
            path.T,
            path.effects,
            labels,
            path.loss,
            path.held_out_loss,
            n_kept=path.n_kept,
            threshold=float(stats.t.ppf(1 - selector.alpha / 2, path.domains.size - 1)),
            n_features=n_features,
        )
        return display.plot(ax)

    def _figure(self) -> dict[str, Any]:
        shown = min(self.n_features, len(set(self.names)))
        return {"ncols": 3, "figsize": (13, max(3.8, 1.2 + 0.2 * shown))}  # one line per name

    def _draw(self, ax: Any) -> None:
        self._draw_statistics(ax[0])
        self._draw_effects(ax[1])
        self._draw_curves(ax[2])
        for axis in (ax[0], ax[2]):
            axis.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)

    def _draw_statistics(self, axis: Any) -> None:
        steps, height = np.arange(1, self.T.size + 1), np.abs(self.T)
        kept, endless = steps <= self.n_kept, np.isinf(height)
        height[endless] = 10 * np.max(height, where=~endless, initial=1.0)
        if endless.any():
            axis.scatter(
                steps[endless], height[endless], color=ACCENT, marker="^", s=40, label="infinite"
            )
        axis.plot(steps, height, color=QUIET, lw=1, zorder=1)
        axis.scatter(steps[kept], height[kept], color=ACCENT, s=14, zorder=2, label="kept")
        axis.scatter(steps[~kept], height[~kept], color=QUIET, s=10, zorder=2, label="not kept")
        if self.threshold is not None:
            axis.axhline(self.threshold, color=STRONG, lw=1, ls=":", label="t quantile")
        axis.set(title="T statistic of each pick", xlabel="step", ylabel="|T|", yscale="log")
        axis.legend(frameon=False)

    def _draw_effects(self, axis: Any) -> None:
        first = list(dict.fromkeys(self.names))[: self.n_features]
        rows = [self.names.index(name) for name in first]
        for place, row in enumerate(rows):
            values = self.effects[row]
            axis.plot([values.min(), values.max()], [place, place], color=QUIET, lw=0.8, zorder=1)
            axis.scatter(
                values, np.full(values.size, place), color=ACCENT, s=16, alpha=0.7, zorder=2
            )
            axis.scatter(values.mean(), place, color="k", marker="|", s=90, zorder=3)
        axis.axvline(0, color="0.6", lw=0.8)
        axis.set(title="Effect when picked, one dot per domain", xlabel="effect")
        axis.set_yticks(range(len(first)), first)
        axis.invert_yaxis()

    def _draw_curves(self, axis: Any) -> None:
        steps = np.arange(self.source.shape[0])
        axis.plot(steps, self.source.mean(axis=1), "--", color=ACCENT, label="source domains")
        if np.isfinite(self.held_out).all():
            middle = self.held_out.mean(axis=1)
            error = self.held_out.std(axis=1, ddof=1) / np.sqrt(self.held_out.shape[1])
            axis.plot(steps, middle, color=STRONG, label="held-out domains")
            axis.fill_between(steps, middle - error, middle + error, color=STRONG, alpha=0.2, lw=0)
        axis.axvline(self.n_kept, color="0.6", lw=0.8, ls=":")
        axis.set(title="Loss along the path", xlabel="step", ylabel="squared loss")
        axis.legend(frameon=False)
