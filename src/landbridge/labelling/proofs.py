"""Simulated numbers of labels until one of two models is shown to be better."""

import math
from collections.abc import Sequence

import numpy as np

from landbridge._typing import Vector
from landbridge.labelling.design import prove_scores
from landbridge.labelling.pool import Pool
from landbridge.labelling.sequential import sequential_sign_test, sequential_z_boundaries

# Chosen on the development tasks of the benchmark so that intervals have their coverage: the
# consensus underestimates the share of disputed rows that a leader wins.
WINS_BIAS, WINS_SD = 0.05, 0.07
# For regression: the bias and the standard deviation of the effect of a label, and the noise of y
# relative to the spread of the candidates.
EFFECT_BIAS, EFFECT_SD = -0.04, 0.15
NOISE_FACTOR = 1.7
N_SIMULATIONS = 400


def expected_wins(
    pool: Pool, first: int, second: int, gap: float | None = None
) -> tuple[float, float, float]:
    """Share of disputed rows, and the share of them won by the first model, with its sd."""
    disputed = np.flatnonzero(prove_scores(pool, first, second).values)
    if disputed.size == 0:
        raise ValueError(_same(pool, first, second))
    share = disputed.size / pool.n_rows
    consensus = pool.consensus()[disputed]
    places = np.arange(disputed.size)
    mine, theirs = (consensus[places, pool.labels[cell][disputed]] for cell in (first, second))
    if gap is not None:
        return share, min(0.5 + gap / (2 * share), 1.0), 0.0
    wins = float(mine.sum() / (mine.sum() + theirs.sum()))
    return share, wins + WINS_BIAS, WINS_SD


def updated_wins(wins: float, spread: float, won: int, total: int) -> tuple[float, float]:
    """Mean and standard deviation of the share of wins after some rows.

    The prior is a beta distribution with this mean and spread.
    """
    wins = min(max(wins, 0.01), 0.99)
    rows = max(wins * (1 - wins) / spread**2 - 1, 0.0)
    mean = (rows * wins + won) / max(rows + total, 1e-12)
    return mean, math.sqrt(mean * (1 - mean) / (rows + total + 1))


def labels_to_prove(
    wins: float,
    spread: float,
    rng: np.random.Generator,
    *,
    budget: int,
    batch_size: int,
    before: tuple[list[int], list[int], list[int]] = ([], [], []),
    alpha: float = 0.05,
) -> Vector:
    """Simulated numbers of disputed labels at which the sequential test ends; ∞ if it does not.

    Parameters
    ----------
    wins, spread : float
        Mean and standard deviation of the share of wins of the first model.
    rng : Generator
    budget, batch_size : int
        Planned number of labels, and number of labels between two analyses.
    before : three lists of int
        Wins, informative rows and labels of the known batches.
    alpha : float

    Returns
    -------
    ndarray (simulations,)
        Additional labels.
    """
    known = sum(before[2])
    sizes = _sizes(budget, batch_size, known)
    if not sizes:
        return np.full(1, np.inf)
    shares = (known + np.cumsum(sizes)) / budget
    boundaries = _boundaries(before, sizes, shares, budget, alpha)
    chances = np.clip(rng.normal(wins, spread, N_SIMULATIONS), 0.02, 0.98)
    counts = rng.binomial(np.array(sizes, int)[:, None], chances)
    totals = sum(before[0]) + np.cumsum(counts, axis=0)
    return _first_crossing(totals >= boundaries[:, None], np.cumsum(sizes))


def expected_effect(
    pool: Pool, first: int, second: int, *, gap: float | None = None
) -> tuple[float, float, float]:
    """Share of rows on which two regression models differ; effect of a label and its sd.

    The difference of two squared errors is (f₁ − f₂)(2y − f₁ − f₂). Rows are drawn in proportion to
    |f₁ − f₂|, so a label weighs sign(f₁ − f₂)(2y − f₁ − f₂); the effect is its mean over its
    standard deviation.
    """
    one, two = (np.asarray(pool.values[cell], float) for cell in (first, second))
    distance = np.abs(one - two)
    if not distance.any():
        raise ValueError(_same(pool, first, second))
    share, noise = float((distance > 0).mean()), candidate_noise(pool)
    signs = np.sign(one - two) * (2 * pool.consensus() - one - two)
    mean = float(np.average(signs, weights=distance))
    spread = math.sqrt(float(np.average((signs - mean) ** 2, weights=distance)) + 4 * noise**2)
    if gap is not None:
        risk = math.sqrt(float(np.mean((one - pool.consensus()) ** 2)) + noise**2)
        return share, 2 * risk * gap / (float(distance.mean()) * spread), 0.0
    return share, mean / spread + EFFECT_BIAS, EFFECT_SD


def candidate_noise(pool: Pool) -> float:
    """Standard deviation of numbers around the consensus, estimated from the candidates."""
    # Medians, so that a single bad candidate does not affect the noise.
    spread = np.median(np.abs(pool.values - np.median(pool.values, axis=0)), axis=0)
    return NOISE_FACTOR * 1.48 * float(np.sqrt(np.mean(spread**2))) + 1e-12


def measured_effect(values: np.ndarray, y: Vector) -> tuple[float, float]:
    """Effect as in `expected_effect`, measured on labelled rows, and their effective number."""
    one, two = np.asarray(values, float)
    distance = np.abs(one - two)
    known = np.isfinite(distance) & (distance > 0)
    if known.sum() < 3:
        return 0.0, 0.0
    weights, signs = distance[known], (np.sign(one - two) * (2 * y - one - two))[known]
    mean = float(np.average(signs, weights=weights))
    spread = math.sqrt(float(np.average((signs - mean) ** 2, weights=weights)))
    n = float(weights.sum() ** 2 / (weights @ weights))
    return mean / max(spread, 1e-12), n


def updated_effect(effect: float, sd: float, observed: float, n: float) -> tuple[float, float]:
    """Normal posterior of the effect of a label after n labels, whose own variance is 1."""
    precision = 1 / sd**2 + n
    return (effect / sd**2 + n * observed) / precision, 1 / math.sqrt(precision)


def labels_to_prove_numbers(
    effect: float,
    spread: float,
    rng: np.random.Generator,
    *,
    budget: int,
    batch_size: int,
    before: tuple[float, Sequence[int]] = (0.0, ()),
) -> Vector:
    """Simulated numbers of further labels at which the normal test ends; ∞ if it does not.

    Parameters
    ----------
    effect, spread : float
        Posterior mean and standard deviation of the effect of a label.
    rng : Generator
    budget, batch_size : int
        Planned labels, and labels between two analyses.
    before : float and sequence of int
        Standardised sum of the labels that are known, and the sizes of their batches.

    Returns
    -------
    ndarray (simulations,)
    """
    past = list(before[1])
    sizes = _sizes(budget, batch_size, sum(past))
    if not sizes:
        return np.full(1, np.inf)
    totals = np.cumsum([*past, *sizes])
    boundaries = sequential_z_boundaries((totals / budget).tolist())[len(past) :]
    ahead = np.array(sizes)[:, None]
    effects = rng.normal(effect, spread, N_SIMULATIONS)
    steps = rng.normal(ahead * effects, np.sqrt(ahead))
    sums = before[0] * math.sqrt(sum(past)) + np.cumsum(steps, axis=0)
    crossed = sums / np.sqrt(totals[len(past) :, None]) >= boundaries[:, None]
    return _first_crossing(crossed, np.cumsum(sizes))


def _sizes(budget: int, batch_size: int, known: int) -> list[int]:
    """Sizes of the batches up to the planned number of labels."""
    sizes = [batch_size] * max((budget - known) // batch_size, 0)
    rest = budget - known - sum(sizes)
    return [*sizes, rest] if rest > 0 else sizes


def _first_crossing(crossed: np.ndarray, labels: Vector) -> Vector:
    return np.where(crossed.any(axis=0), labels[crossed.argmax(axis=0)], np.inf)


def _boundaries(
    before: tuple[list[int], list[int], list[int]],
    sizes: list[int],
    shares: Vector,
    budget: int,
    alpha: float,
) -> Vector:
    """Wins needed at each future analysis if all of its rows are informative."""
    past = (np.cumsum(before[2]) / budget).tolist()
    informative = [*before[1], *sizes]
    whole = [*past, *shares.tolist()]
    looks = range(len(before[1]) + 1, len(informative) + 1)
    test = sequential_sign_test([0] * len(informative), informative, whole, alpha=alpha)
    return np.array([test.boundaries[look - 1] for look in looks])


def _same(pool: Pool, first: int, second: int) -> str:
    return (
        f"`candidate` and `baseline` must differ on some row; {pool.names[first]!r} and "
        f"{pool.names[second]!r} predict the same for all rows. Compare other models."
    )
