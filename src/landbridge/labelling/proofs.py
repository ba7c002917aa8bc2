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


# Classes: a label is a win or a loss, and the exact sign test counts them


def expected_wins(
    pool: Pool, first: int, second: int, gap: float | None = None
) -> tuple[float, float, float]:
    """Share of disputed rows, and the share of them won by the first model, with its sd."""
    disputed = np.flatnonzero(prove_scores(pool, first, second).values)
    if disputed.size == 0:
        raise ValueError(_same(pool, first, second))
    share = disputed.size / pool.n_rows
    if gap is not None:
        return share, min(0.5 + gap / (2 * share), 1.0), 0.0
    consensus = pool.consensus()[disputed]
    places = np.arange(disputed.size)
    mine, theirs = (consensus[places, pool.labels[cell][disputed]] for cell in (first, second))
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
) -> Vector:
    """Simulated numbers of further disputed labels at which the sign test ends; ∞ if it does not.

    ``wins`` and ``spread`` are the mean and the standard deviation of the share of wins. ``before``
    has the wins, informative rows and labels of the known batches.
    """
    won, informative, known = before
    sizes = _sizes(budget, batch_size, sum(known))
    if not sizes:
        return np.full(1, np.inf)
    # Wins needed at each future analysis if all of its rows are informative.
    shares = (np.cumsum([*known, *sizes]) / budget).tolist()
    test = sequential_sign_test([0] * len(shares), [*informative, *sizes], shares)
    chances = np.clip(rng.normal(wins, spread, N_SIMULATIONS), 0.02, 0.98)
    counts = rng.binomial(np.array(sizes)[:, None], chances)
    return _first_crossing(sum(won) + np.cumsum(counts, axis=0), test.boundaries, sizes)


# Numbers: a label has a normal effect, and its standardised sum is compared with boundaries


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
    share, noise, consensus = float((distance > 0).mean()), candidate_noise(pool), pool.consensus()
    mean, variance = _signed_distance(one, two, consensus, distance)
    # A small part of the distance keeps the effect finite if all candidates but one agree.
    spread = math.sqrt(variance + 4 * noise**2) + 1e-12 * float(distance.mean())
    if gap is not None:
        risk = math.sqrt(float(np.mean((one - consensus) ** 2)) + noise**2)
        return share, 2 * risk * gap / (float(distance.mean()) * spread), 0.0
    return share, mean / spread + EFFECT_BIAS, EFFECT_SD


def candidate_noise(pool: Pool) -> float:
    """Standard deviation of numbers around the consensus, estimated from the candidates."""
    # Medians, so that a single bad candidate does not affect the noise.
    spread = np.median(np.abs(pool.values - np.median(pool.values, axis=0)), axis=0)
    return NOISE_FACTOR * 1.48 * float(np.sqrt(np.mean(spread**2)))


def measured_effect(values: np.ndarray, y: Vector) -> tuple[float, float]:
    """Effect as in `expected_effect`, measured on labelled rows, and their effective number."""
    one, two = np.asarray(values, float)
    weights = np.abs(one - two)
    known = np.isfinite(weights) & (weights > 0)
    if known.sum() < 3:
        return 0.0, 0.0
    weights = weights[known]
    mean, variance = _signed_distance(one[known], two[known], y[known], weights)
    n = float(weights.sum() ** 2 / (weights @ weights))
    return (mean / math.sqrt(variance) if variance > 0 else 0.0), n


def _signed_distance(one: Vector, two: Vector, y: Vector, weights: Vector) -> tuple[float, float]:
    """Mean and variance of sign(f₁ − f₂)(2y − f₁ − f₂)."""
    signed = np.sign(one - two) * (2 * y - one - two)
    mean = float(np.average(signed, weights=weights))
    return mean, float(np.average((signed - mean) ** 2, weights=weights))


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

    ``effect`` and ``spread`` are the posterior mean and standard deviation of the effect of a
    label. ``before`` has the standardised sum of the known labels and the sizes of their batches.
    """
    statistic, known = before
    sizes = _sizes(budget, batch_size, sum(known))
    if not sizes:
        return np.full(1, np.inf)
    totals = np.cumsum([*known, *sizes])
    boundaries = sequential_z_boundaries((totals / budget).tolist()) * np.sqrt(totals)
    ahead = np.array(sizes)[:, None]
    steps = rng.normal(ahead * rng.normal(effect, spread, N_SIMULATIONS), np.sqrt(ahead))
    sums = statistic * math.sqrt(sum(known)) + np.cumsum(steps, axis=0)
    return _first_crossing(sums, boundaries, sizes)


def _sizes(budget: int, batch_size: int, known: int) -> list[int]:
    """Sizes of the batches up to the planned number of labels."""
    ends = [*range(known + batch_size, budget, batch_size), budget]
    return np.diff([known, *ends]).tolist() if budget > known else []


def _first_crossing(sums: np.ndarray, boundaries: Sequence[float], sizes: list[int]) -> Vector:
    """Labels at the first future analysis at which a sum reaches its boundary."""
    crossed = sums >= np.array(boundaries)[-len(sizes) :, None]
    return np.where(crossed.any(axis=0), np.cumsum(sizes)[crossed.argmax(axis=0)], np.inf)


def _same(pool: Pool, first: int, second: int) -> str:
    return (
        f"`candidate` and `baseline` must differ on some row; {pool.names[first]!r} and "
        f"{pool.names[second]!r} predict the same for all rows. Compare other models."
    )
