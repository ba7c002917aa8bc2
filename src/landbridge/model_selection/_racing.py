"""Racing: stop the candidates that are clearly behind after some of their folds."""

from collections.abc import Sequence

import numpy as np

from landbridge._typing import Vector
from landbridge.model_selection._fit_tasks import FitTask

# Number of folds before the first comparison of racing, and the number of standard errors that
# counts as clearly behind.
FIRST_ROUND = 2
Z = 2.5


def racing_rounds(fits: Sequence[FitTask]) -> list[list[FitTask]]:
    """Fits in rounds of 2, 4, 8, … folds."""
    most = max((fit.fold for fit in fits), default=0) + 1
    bounds, reached = [], FIRST_ROUND
    while reached < most:
        bounds.append(reached)
        reached *= 2
    rounds: list[list[FitTask]] = [[] for _ in range(len(bounds) + 1)]
    for fit in fits:
        rounds[int(np.searchsorted(bounds, fit.fold, side="right"))].append(fit)
    return [group for group in rounds if group]


def clearly_behind(losses: dict[int, Vector]) -> list[int]:
    """Cells that stop: in the worse half and clearly behind the leader.

    ``losses`` are those of the rows that a cell has been validated on so far, NaN elsewhere. A
    cell is clearly behind if its mean loss is larger than the leader's by more than ``Z`` standard
    errors of the paired difference; a pair that shares no rows (two sources) is compared by the
    two means and their errors.
    """
    order = sorted(losses, key=lambda cell: float(np.nanmean(losses[cell])))
    worse_half = order[(len(order) + 1) // 2 :]
    return [cell for cell in worse_half if _distance(losses[cell], losses[order[0]]) > Z]


def _distance(losses: Vector, of_leader: Vector) -> float:
    """Difference of the mean loss from the leader's, in standard errors."""
    shared = ~np.isnan(losses) & ~np.isnan(of_leader)
    if shared.sum() >= 2:
        difference = losses[shared] - of_leader[shared]
        gap, variance = difference.mean(), difference.var(ddof=1) / difference.size
    else:
        own, leading = losses[~np.isnan(losses)], of_leader[~np.isnan(of_leader)]
        if min(own.size, leading.size) < 2:
            return 0.0
        gap = own.mean() - leading.mean()
        variance = own.var(ddof=1) / own.size + leading.var(ddof=1) / leading.size
    if variance == 0:
        return np.inf if gap > 0 else 0.0
    return float(gap / np.sqrt(variance))
