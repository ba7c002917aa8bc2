"""Display of how transfer boosting moves weight from the source to the target."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from landbridge._palette import ACCENT, NAMES, QUIET, STRONG
from landbridge._typing import Vector
from landbridge.inspection._display import Display

COLOURS = {"source": ACCENT, "target": STRONG}


@dataclass(frozen=True)
class Panel:
    """One panel with its labels and its curves by name."""

    title: str
    x_label: str
    y_label: str
    x: Vector
    curves: dict[str, Vector]
    level: float | None = None
    from_zero: bool = True


@dataclass
class WeightDriftDisplay(Display):
    """Plot source and target weight, effective source rows and errors per round.

    Create it with `from_estimator` from a fitted `TrAdaBoostClassifier`. The panels correspond to
    Figures 1 and 2 of Al-Stouhi and Reddy, *Adaptive Boosting for Transfer Learning Using Dynamic
    Updates*.

    Parameters
    ----------
    panels : list of Panel
        Computed panels to draw.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import TrAdaBoostClassifier
    >>> from landbridge.inspection import WeightDriftDisplay
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(90, 2)), rng.normal(size=(30, 2))
    >>> model = TrAdaBoostClassifier(n_estimators=5, random_state=0)
    >>> model = model.fit(X, X[:, 0] > 0, X_target=X_target, y_target=X_target[:, 0] > 0.2)
    >>> [panel.title for panel in WeightDriftDisplay.from_estimator(model).panels]
    ['Where the weight is', 'Effective source rows', "Error of the round's learner"]
    """

    panels: list[Panel]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the panels of a fitted `TrAdaBoostClassifier`.

        The relative weights of source rows follow the weighted majority algorithm, so the curve of
        the source divided by its initial value is the drift of Figure 1.

        Parameters
        ----------
        estimator : TrAdaBoostClassifier
            A classifier that was fitted with labelled target rows.
        """
        check_is_fitted(estimator, "source_mass_")
        if not estimator.source_errors_.size:
            raise ValueError(
                "`estimator` must be fitted with labelled target rows; without them there is no "
                "drift. Pass X_target and y_target to fit."
            )
        rounds = np.arange(1, estimator.n_estimators_ + 1)
        mass = {"source": estimator.source_mass_, "target": 1.0 - estimator.source_mass_}
        effective = {"source": estimator.effective_source_rows_}
        errors = {"target": estimator.errors_, "source": estimator.source_errors_}
        panels = [
            Panel("Where the weight is", "round", "share of all weight", rounds, mass),
            Panel("Effective source rows", "round", "(Σw)² / Σw²", rounds, effective),
            Panel("Error of the round's learner", "round", "weighted error", rounds, errors, 0.5),
        ]
        return cls(panels).plot(ax)

    def _figure(self) -> dict[str, Any]:
        return {"ncols": len(self.panels), "figsize": (4.2 * len(self.panels), 3.4)}

    def _draw(self, ax: Any) -> None:
        for axis, panel in zip(np.atleast_1d(ax), self.panels, strict=True):
            others = iter(NAMES)
            for label, y in panel.curves.items():
                # A domain has one colour in all panels.
                axis.plot(panel.x, y, label=label, color=COLOURS.get(label) or next(others))
            if panel.level is not None:
                axis.axhline(panel.level, color=QUIET, linestyle=":", linewidth=1)
            axis.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
            if panel.from_zero:
                axis.set_ylim(bottom=0)
            if len(panel.curves) > 1:
                axis.legend(fontsize="small")
