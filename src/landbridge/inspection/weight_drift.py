"""How transfer boosting moves weight from the source to the target, round by round."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from landbridge._extras import import_extra
from landbridge._typing import Vector
from landbridge.boosting.weight_updates import drift_ratio, source_sum_ratio


@dataclass(frozen=True)
class Curve:
    """One line of a panel."""

    label: str
    x: Vector
    y: Vector


@dataclass(frozen=True)
class Panel:
    """One picture: its curves and what is written beside it."""

    title: str
    x_label: str
    y_label: str
    curves: list[Curve] = field(default_factory=list)
    level: float | None = None
    from_zero: bool = True


class WeightDriftDisplay:
    """Source and target mass, effective source rows and errors of each round.

    Made by `from_estimator` from a fitted `TrAdaBoostClassifier` or by `from_closed_forms`, which
    gives Figures 1 and 2 of Al-Stouhi and Reddy, *Adaptive Boosting for Transfer Learning Using
    Dynamic Updates*.

    Parameters
    ----------
    panels : list of Panel
        What to draw; computed already.

    Attributes
    ----------
    ax_ : array of axes, one a panel.
    figure_ : the figure.

    Examples
    --------
    >>> from landbridge.inspection import WeightDriftDisplay
    >>> display = WeightDriftDisplay.from_closed_forms(1)
    >>> [panel.title for panel in display.panels]
    ['n = 10000, m = 200', 'n = 1000, after one round']
    """

    def __init__(self, panels: list[Panel]):
        self.panels = panels

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Panels of a fitted `TrAdaBoostClassifier`.

        Among themselves the source rows follow the weighted majority algorithm, so that the
        source's curve divided by its start is the drift of Figure 1.

        Parameters
        ----------
        estimator : fitted estimator
            What to draw.
        """
        check_is_fitted(estimator, "source_mass_")
        if not estimator.source_errors_.size:
            raise ValueError(
                "`estimator` must have been fitted with labelled target rows; got one without, "
                "which has no drift. Pass X_target and y_target to fit."
            )
        rounds = np.arange(1, estimator.n_estimators_ + 1)
        mass = [
            Curve("source", rounds, estimator.source_mass_),
            Curve("target", rounds, 1.0 - estimator.source_mass_),
        ]
        errors = [
            Curve("target", rounds, estimator.errors_),
            Curve("source", rounds, estimator.source_errors_),
        ]
        effective = [Curve("source", rounds, estimator.effective_source_rows_)]
        return cls(
            [
                Panel("Where the weight is", "round", "share of all weight", mass),
                Panel("Effective source rows", "round", "(Σw)² / Σw²", effective),
                Panel("Error of the round's learner", "round", "weighted error", errors, level=0.5),
            ]
        )

    @classmethod
    def from_closed_forms(cls, figure: int = 1) -> Self:
        """Figure 1 (weight drift) or Figure 2 (sum of source weights) of the paper.

        Parameters
        ----------
        figure : int, default=1
            Number of the figure of the paper.
        """
        if figure not in (1, 2):
            raise ValueError(
                f"`figure` must be 1 (weight drift) or 2 (sum of source weights); got {figure!r}."
            )
        return cls(_figure_1() if figure == 1 else _figure_2())

    def plot(self, *, axes: Any = None) -> Self:
        """Draw the panels side by side, on ``axes`` if given (one a panel).

        Parameters
        ----------
        axes : array of matplotlib axes, optional
            Axes to draw on; those of a new figure by default.

        Returns
        -------
        self
            This display.
        """
        if axes is None:
            plt = import_extra("matplotlib.pyplot", "plot")
            n = len(self.panels)
            _, axes = plt.subplots(1, n, figsize=(4.2 * n, 3.4), layout="constrained")
        self.ax_ = np.atleast_1d(axes)
        self.figure_ = self.ax_[0].figure
        for ax, panel in zip(self.ax_, self.panels, strict=True):
            for curve in panel.curves:
                ax.plot(curve.x, curve.y, label=curve.label)
            if panel.level is not None:
                ax.axhline(panel.level, color="0.6", linestyle=":", linewidth=1)
            ax.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
            if panel.from_zero:
                ax.set_ylim(bottom=0)
            if len(panel.curves) > 1:
                ax.legend(fontsize="small")
        return self


def _figure_1() -> list[Panel]:
    updates, errors = np.arange(0, 21), np.linspace(0.1, 0.5, 41)
    over_rounds = [
        Curve(f"TrAdaBoost, ε = {error}", updates, np.asarray(drift_ratio(0.02, error, updates)))
        for error in (0.1, 0.2, 0.3, 0.4)
    ]
    over_rounds.append(Curve("dynamic, any ε", updates, np.ones(updates.size)))
    once = [
        Curve(f"m/n = {ratio:.0%}", errors, np.asarray(drift_ratio(ratio, errors, 1)))
        for ratio in (0.01, 0.02, 0.05)
    ]
    y_label = "source weight / weighted majority"
    return [
        Panel("n = 10000, m = 200", "round", y_label, over_rounds),
        Panel("n = 1000, after one round", "target error ε", y_label, once, from_zero=False),
    ]


def _figure_2() -> list[Panel]:
    rows, errors = np.arange(100, 10101, 100), np.linspace(0.05, 0.5, 46)
    rounds = (20, 40, 60, 80)
    by_rows = [Curve(f"N = {n}", rows, np.asarray(source_sum_ratio(0.2, rows, n))) for n in rounds]
    by_error = [
        Curve(f"N = {n}", errors, np.asarray(source_sum_ratio(errors, 1000, n))) for n in rounds
    ]
    y_label = "sum of source weights after / before"
    return [
        Panel("source error 0.2", "source rows n", y_label, by_rows, from_zero=False),
        Panel("n = 1000", "source error", y_label, by_error, from_zero=False),
    ]
