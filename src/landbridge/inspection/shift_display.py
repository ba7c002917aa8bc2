"""Draw a shift diagnosis."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from landbridge._palette import ACCENT, INK, QUIET, STRONG
from landbridge._typing import MatrixLike
from landbridge.inspection._display import Display, open_frame
from landbridge.inspection._feature_shift import FeatureShift
from landbridge.inspection.shift import LEVEL, ShiftDiagnosis, diagnose_shift, difference_words


@dataclass
class ShiftDisplay(Display):
    """Plot the features by size of shift, with the overall figures.

    Make it with `from_diagnosis` or `from_data`, which compute and draw.

    Parameters
    ----------
    diagnosis : `ShiftDiagnosis`
        Result of `diagnose_shift`.
    n_features : int, default=12
        Maximum number of features to draw.

    Examples
    --------
    >>> from landbridge.datasets import load_auto_mpg
    >>> from landbridge.inspection import ShiftDisplay
    >>> cars = load_auto_mpg(as_frame=True)
    >>> usa, japan = cars.data[cars.domain == "USA"], cars.data[cars.domain == "Japan"]
    >>> display = ShiftDisplay.from_data(usa, japan, random_state=0)
    >>> display.ax_[0].get_title()
    'Which features shift'
    >>> from landbridge.inspection import diagnose_shift
    >>> again = ShiftDisplay.from_diagnosis(diagnose_shift(usa, japan, random_state=0))
    >>> len(again.ax_)
    2
    """

    diagnosis: ShiftDiagnosis
    n_features: int = 12

    @classmethod
    def from_diagnosis(
        cls, diagnosis: ShiftDiagnosis, *, n_features: int = 12, ax: Any = None
    ) -> Self:
        """Draw the result of `diagnose_shift`.

        Parameters
        ----------
        diagnosis : ShiftDiagnosis
            Result of `diagnose_shift`.
        n_features : int, default=12
            Maximum number of features to draw.
        """
        return cls(diagnosis, n_features).plot(ax)

    @classmethod
    def from_data(
        cls,
        X: MatrixLike,
        X_target: MatrixLike,
        *,
        n_features: int = 12,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Diagnose and draw; ``options`` go to `diagnose_shift`.

        Parameters
        ----------
        n_features : int, default=12
            Maximum number of features to draw.
        """
        diagnosis = diagnose_shift(X, X_target, **options)
        return cls.from_diagnosis(diagnosis, n_features=n_features, ax=ax)

    def _figure(self) -> dict[str, Any]:
        n_features = len(self.diagnosis.features[: self.n_features])
        height = max(3.4, 0.34 * n_features + 1.7)
        return {"ncols": 2, "width_ratios": [3, 2], "figsize": (9, height)}

    def _draw(self, ax: Any) -> None:
        _draw_features(ax[0], self.diagnosis.features[: self.n_features])
        _draw_whole(ax[1], self.diagnosis)


def _draw_features(ax: Any, features: tuple[FeatureShift, ...]) -> None:
    places = np.arange(len(features))[::-1]
    colours = [STRONG if feature.p_value <= LEVEL else QUIET for feature in features]
    ax.barh(places, [feature.ks for feature in features], color=colours, height=0.7)
    for place, feature in zip(places, features, strict=True):
        text = difference_words(feature.mean_difference)
        ax.text(feature.ks + 0.015, place, text, va="center", color=INK, fontsize=8)
    ax.set_yticks(places, [feature.name for feature in features])
    ax.set_xlim(0, 1.18)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1])
    ax.set_xlabel(
        "distance of the distributions (Kolmogorov-Smirnov)\n"
        "labels: difference of means; grey: not significant"
    )
    ax.set_title("Which features shift")
    open_frame(ax)


def _draw_whole(ax: Any, diagnosis: ShiftDiagnosis) -> None:
    auc, weighted, mmd = diagnosis.auc, diagnosis.weighted, diagnosis.mmd
    colour = STRONG if diagnosis.detected else QUIET
    spread = [[auc.value - auc.low], [auc.high - auc.value]]
    ax.errorbar(auc.value, 2, xerr=spread, fmt="o", color=colour, capsize=4)
    ax.plot([0.5, 0.5], [1.8, 2.2], color=INK, linestyle=":", linewidth=1)
    ax.barh(1, weighted.effective_share, color=ACCENT, height=0.3)
    ax.barh(1, 1, color="none", edgecolor=INK, linewidth=0.6, height=0.3)
    effective = f"{weighted.effective_sample_size:.0f} of {weighted.n_rows}"
    for height, text in [
        (2.32, f"domain classifier: AUC {auc.value:.3f} (dotted: no shift)"),
        (1.27, f"after weighting: {effective} rows effective"),
        (0.45, f"MMD² {mmd.value:.3f}, p = {mmd.p_value:.3f}"),
    ]:
        ax.text(0, height, text, color=INK, fontsize=9)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(0.3, 2.6)
    ax.set_yticks([])
    ax.set_title("Difference of the domains")
    ax.spines[["top", "right", "left"]].set_visible(False)
