r"""Exact group-sequential sign test, with an analysis after every batch.

Rows on which two models differ are labelled in batches, and the labels are analysed after each
batch. Let :math:`S_k` be the number of rows that the first model wins among the :math:`n_k`
informative rows (exactly one model is right) of the first k batches. If the first model is no
better, :math:`S_k` is stochastically smaller than a binomial count with p = ½. The test rejects at
the first look with :math:`S_k \ge c_k`, where the boundaries spend the level α gradually,

.. math:: P(\text{reject at or before look } k) \le α\, t_k,

:math:`t_k` being the share of the planned labels that are known (Lan and DeMets, 1983, with the
linear function of Kim and DeMets, 1987). The probabilities are those of the binomial random walk,
so the level is exact for every number of looks.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import stats

from landbridge._typing import Vector

# Grid of standardised sums, fine enough that a boundary is at most 0.02 too far out.
GRID = np.linspace(-8.0, 8.0, 801)


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """State of a group-sequential sign test after some looks.

    Parameters
    ----------
    rejected : bool
        Whether the first model was shown to be better at some look.
    wins, informative : int
        Rows won by the first model, and rows on which exactly one is right.
    boundaries : tuple of int
        Wins needed at each look; larger than the number of informative rows if no count suffices.
    spent : float
        Share of α that was spent, at most 1.
    p_value : float
        One-sided exact p-value of the last look alone, ignoring earlier looks.
    """

    rejected: bool
    wins: int
    informative: int
    boundaries: tuple[int, ...]
    spent: float
    p_value: float


def sequential_sign_test(
    wins: Sequence[int], informative: Sequence[int], shares: Sequence[float], *, alpha: float = 0.05
) -> SequentialTest:
    """Test after every batch whether the first model wins more than half of the rows.

    Parameters
    ----------
    wins, informative : sequences of int (looks,)
        Rows of the batch that the first model wins, and rows that exactly one model gets right.
    shares : sequence of float (looks,)
        Share of the planned labels known after the batch, increasing; values above 1 count as 1.
    alpha : float, default=0.05
        Level of the whole test.

    Returns
    -------
    SequentialTest
        Wins, boundaries and the decision.

    Examples
    --------
    >>> from landbridge.labelling.sequential import sequential_sign_test
    >>> sequential_sign_test([15, 17], [20, 20], [0.5, 1.0]).rejected
    True
    >>> sequential_sign_test([11, 9], [20, 20], [0.5, 1.0]).rejected
    False
    """
    alive = np.ones(1)  # distribution of the wins under p = ½ among paths that were not stopped
    spent, total_wins, total = 0.0, 0, 0
    boundaries: list[int] = []
    rejected = False
    for won, size, share in zip(wins, informative, shares, strict=True):
        alive = np.convolve(alive, _fair_coin(size))
        total_wins, total = total_wins + won, total + size
        boundary, crossed = _boundary(alive, max(alpha * min(share, 1.0) - spent, 0.0))
        spent += crossed
        boundaries.append(boundary)
        rejected = rejected or total_wins >= boundary
        alive[boundary:] = 0.0
    p_value = float(stats.binom.sf(total_wins - 1, total, 0.5))
    return SequentialTest(rejected, total_wins, total, tuple(boundaries), spent / alpha, p_value)


@lru_cache(maxsize=256)
def _fair_coin(size: int) -> Vector:
    """Probabilities of 0 … size wins, cached because few batch sizes occur."""
    probabilities = stats.binom.pmf(np.arange(size + 1), size, 0.5)
    probabilities.flags.writeable = False
    return probabilities


def _boundary(alive: Vector, budget: float) -> tuple[int, float]:
    """Smallest count whose upper tail has at most the given probability, and that tail."""
    tails = np.append(np.cumsum(alive[::-1])[::-1], 0.0)
    # Rounding must not exclude a tail that exactly equals the remaining level.
    place = int(np.argmax(tails <= budget + 1e-15))
    return place, float(tails[place])


def sequential_z_boundaries(shares: Sequence[float], *, alpha: float = 0.05) -> Vector:
    """One-sided normal boundaries with the same spending, for sums that are not counts.

    Parameters
    ----------
    shares : sequence of float (looks,)
        Share of the planned labels known at each look, increasing.
    alpha : float, default=0.05
        Level of the whole test.

    Returns
    -------
    ndarray (looks,)
        Bounds on the standardised sum at each look; infinite if no level may be spent.

    Examples
    --------
    >>> from landbridge.labelling.sequential import sequential_z_boundaries
    >>> sequential_z_boundaries([1.0]).round(2)
    array([1.66])
    """
    t = tuple(np.minimum(np.asarray(shares, float), 1.0).tolist())
    return np.array([_z_look(t[: look + 1], alpha)[0] for look in range(len(t))])


@lru_cache(maxsize=1024)
def _z_look(shares: tuple[float, ...], alpha: float) -> tuple[float, Any, float]:
    """Boundary of the last look, the density of continuing paths, and the level spent so far.

    Each look continues the previous one. Looks are cached, because every status repeats them.
    """
    _, density, spent = _z_look(shares[:-1], alpha) if shares[:-1] else (0.0, None, 0.0)
    before = shares[-2] if shares[:-1] else 0.0
    if shares[-1] <= before:
        return math.inf, density, spent
    # The sum at information t is a Brownian motion; the grid holds sum/√t.
    density = _step(density, GRID, GRID[1] - GRID[0], before, shares[-1])
    tails = np.cumsum(density[::-1])[::-1] * (GRID[1] - GRID[0])
    place = int(np.argmax(np.append(tails, 0.0) <= alpha * shares[-1] - spent))
    if place == GRID.size:
        return math.inf, density, spent
    density[place:] = 0.0
    return float(GRID[place]), density, spent + float(tails[place])


def _step(density: Vector | None, grid: Vector, step: float, before: float, share: float) -> Vector:
    if density is None:
        return stats.norm.pdf(grid)
    sd = np.sqrt(share - before)
    shifts = (grid[:, None] * np.sqrt(share) - grid[None, :] * np.sqrt(before)) / sd
    kernel = stats.norm.pdf(shifts) * np.sqrt(share) / sd
    return kernel @ density * step
