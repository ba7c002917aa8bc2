"""Predict from the available columns which features a path is likely to pick next.

A step changes the mean effect of every feature by a column of Ḡ = mean_k E[XX'|d_k]. The column of
a feature that was never picked is unknown except for its entries at the available features S, and

    Ḡ ≈ Ḡ[:, S] (Ḡ[S, S] + λI)⁻¹ Ḡ[S, :]                                              (Nyström)

approximates the unknown entries. The path is simulated with this approximation, without updating
the variation between domains. The prediction is accurate enough that few columns are computed
unnecessarily. The prediction affects only the time, not the result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from landbridge._typing import Vector

# Score of each feature as a function of (μ, T); zero means not eligible.
Score: TypeAlias = Callable[[Vector, Vector], Vector]
# λ, for features scaled to unit size.
RIDGE = 0.05
# The simulation tracks the features with the highest scores and uses the latest columns.
FOLLOWED, KNOWN = 500, 200
# It continues beyond the last step, because another product costs more than a few extra columns.
SPARE_STEPS = 24


@dataclass(frozen=True, slots=True)
class Outlook:
    """State of a path before a step; ``score_at`` scores the given features."""

    mean: Vector
    T: Vector
    points: Vector
    score_at: Callable[[Vector], Score]
    steps_left: int


class Foresight:
    """Latest available columns of Ḡ, for features scaled to unit size."""

    def __init__(self, size: Vector):
        self._scale = np.sqrt(size)
        self._inverse = np.divide(1.0, self._scale, out=np.zeros_like(size), where=size > 0)
        self._at_hand = np.zeros(size.size, dtype=bool)
        self._features = np.empty(0, dtype=np.intp)
        self._columns = np.empty((0, size.size), dtype=np.float32)

    def learn(self, features: list[int], columns: np.ndarray) -> None:
        """Add columns of Ḡ, one row per feature."""
        columns = (columns * self._inverse * self._inverse[features, None]).astype(np.float32)
        self._at_hand[features] = True
        self._features = np.append(self._features, features)[-KNOWN:]
        self._columns = np.concatenate([self._columns, columns])[-KNOWN:]

    def next_picks(self, feature: int, outlook: Outlook, most: int) -> list[int]:
        """``feature`` and the missing features that the path is likely to pick next."""
        points = outlook.points.copy()
        points[feature] = np.inf
        followed = np.argsort(-points, kind="stable")[:FOLLOWED]
        factor, seen = self._factor(followed), self._at_hand[followed]
        mean, T = outlook.mean[followed], outlook.T[followed]
        slope = np.divide(T, mean, out=np.zeros_like(T), where=np.isfinite(T) & (mean != 0))
        score, scale = outlook.score_at(followed), self._scale[followed]
        effect, i = mean * self._inverse[followed], 0
        picks: list[int] = []
        for _ in range(outlook.steps_left + SPARE_STEPS):
            if not seen[i]:
                seen[i] = True
                picks.append(int(followed[i]))
            effect -= effect[i] * (factor[:, i] @ factor)
            effect[i] = 0.0
            mean = scale * effect
            points = score(mean, slope * mean)
            i = int(points.argmax())
            if points[i] <= 0 or (len(picks) == most and not seen[i]):
                break
        return sorted(picks)

    def _factor(self, followed: Vector) -> np.ndarray:
        """Return F with F'F ≈ Ḡ for the tracked features."""
        among = self._columns[:, self._features]
        among[np.diag_indices_from(among)] += RIDGE
        root = cholesky(among, lower=True)
        return solve_triangular(root, self._columns[:, followed], lower=True)
