"""Successive halving on folds: a cell that is clearly behind is not fitted on the other folds.

After each round of folds the cells are compared with the leader on the rows both were validated
on, pair by pair. A cell whose mean loss is larger by more than ``Z`` standard errors of the paired
difference, and which is not in the better half, stops. A pair that shares no rows (two sources)
is compared by the two means and their errors.
"""

from collections.abc import Sequence

import numpy as np

from landbridge._typing import Vector
from landbridge.model_selection.plan import Fit

# Folds after which cells are compared, and how many standard errors mean "clearly behind".
FIRST_ROUND = 2
Z = 2.5


def rounds(fits: Sequence[Fit], n_folds: int) -> list[list[Fit]]:
    """Fits in rounds of 2, 4, 8, … folds."""
    bounds, reached = [], FIRST_ROUND
    while reached < n_folds:
        bounds.append(reached)
        reached *= 2
    rounds_of_fits: list[list[Fit]] = [[] for _ in range(len(bounds) + 1)]
    for fit in fits:
        rounds_of_fits[int(np.searchsorted(bounds, fit.fold, side="right"))].append(fit)
    return [fits_of_round for fits_of_round in rounds_of_fits if fits_of_round]


def clearly_behind(losses: np.ndarray, running: Sequence[int]) -> list[int]:
    """Which of the ``running`` cells stop.

    ``losses`` (weighted ones for a weighted criterion) are cells × rows, NaN on rows that a cell
    has not been validated on.
    """
    means = {cell: np.nanmean(losses[cell]) for cell in running}
    order = sorted(running, key=lambda cell: means[cell])
    leader, worse_half = order[0], order[(len(order) + 1) // 2 :]
    return [cell for cell in worse_half if _distance(losses[cell], losses[leader]) > Z]


def _distance(losses: Vector, of_leader: Vector) -> float:
    """How many standard errors the mean loss lies above the leader's."""
    shared = ~np.isnan(losses) & ~np.isnan(of_leader)
    if shared.sum() >= 2:
        difference = losses[shared] - of_leader[shared]
        gap, variance = difference.mean(), difference.var(ddof=1) / difference.size
    else:
        own, leading = losses[~np.isnan(losses)], of_leader[~np.isnan(of_leader)]
        gap = own.mean() - leading.mean()
        variance = own.var(ddof=1) / own.size + leading.var(ddof=1) / leading.size
    if variance == 0:
        return np.inf if gap > 0 else 0.0
    return float(gap / np.sqrt(variance))
