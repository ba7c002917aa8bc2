r"""Sampling design: scores of rows, inclusion probabilities, samples and weights.

A goal assigns a score to each row: the standard deviation that its label would remove from the
estimate. (To choose among classifiers, `mixture` finds the scores in several steps.) A batch is
drawn with inclusion probabilities

.. math:: π_i = \min\bigl(1,\; n\,[(1 - s)\, u_i / \textstyle\sum u + s / N]\bigr),

a mixture of the scores u with a share s of rows drawn uniformly, so that no weight 1/π exceeds
N/(s n). Rows are sampled systematically along an order in which neighbours are similar, which
spreads a batch over the pool. After batches 1 … B of sizes :math:`n_b` the total of a loss over the
pool is estimated by the mean of the batches' own estimates, weighted by size,

.. math:: \hat T = \sum_b \frac{n_b}{n} \Bigl( \sum_{i \in \text{earlier}} \ell_i +
          \sum_{i \in b} \frac{\ell_i}{π_i^{(b)}} \Bigr),

each of which is unbiased given the past, for any choice of the batch (Horvitz and Thompson, 1952).
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np

from landbridge._typing import Vector
from landbridge.labelling.pool import Pool

Goal: TypeAlias = Literal["choose", "prove", "measure", "train"]
GOALS: tuple[str, ...] = get_args(Goal)
# Default share of uniform rows in a batch.
RANDOM_SHARE = 0.25
TINY = 1e-300


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of the rows of a pool.

    ``order`` is an order in which neighbours are similar. ``eligible`` marks the rows that are
    informative and may be selected. ``probabilities`` are the inclusion probabilities of a batch,
    if they are already known; they hold for a random sample of this share ``frame`` of the rows.
    """

    values: Vector
    order: Vector | None = None
    eligible: Vector | None = None
    probabilities: Vector | None = None
    frame: float = 1.0


def choose_scores(pool: Pool, consensus: np.ndarray, weights: Vector, noise: float) -> Scores:
    """Variation of the losses of the likely best candidates on each row.

    The root of :math:`E_y \\operatorname{Var}_c \\ell_c(x, y)`, with y from the consensus and c
    drawn with the probability ``weights`` of being best.
    """
    if pool.is_classification:
        variance = np.zeros(pool.n_rows)
        for k in range(consensus.shape[1]):
            agree = np.zeros(pool.n_rows)
            for weight, labels in zip(weights, pool.labels, strict=True):
                agree += weight * (labels == k)
            variance += consensus[:, k] * agree * (1 - agree)
    else:
        mean = weights @ pool.values
        centred = pool.values - consensus
        spread = weights @ (pool.values - mean) ** 2
        squares = weights @ centred**4 - (weights @ centred**2) ** 2
        # Var_c of (f − y)² for y = consensus + noise.
        variance = squares + 4 * noise**2 * spread
    # Neighbours in the order give similar evidence about the two likely best candidates.
    leader, rival = np.argsort(-weights, kind="stable")[[0, min(1, weights.size - 1)]]
    risk = risk_of(pool, consensus, leader)
    order = np.lexsort((risk, risk - risk_of(pool, consensus, rival)))
    return Scores(np.sqrt(np.maximum(variance, 0)), order)


def prove_scores(pool: Pool, first: int, second: int) -> Scores:
    """Score 1 for rows on which two candidates differ; for regression, their difference."""
    if pool.is_classification:
        values = (pool.labels[first] != pool.labels[second]).astype(np.float64)
    else:
        values = np.abs(pool.values[first] - pool.values[second]).astype(np.float64)
    return Scores(values, eligible=values > 0)


def measure_scores(pool: Pool, consensus: np.ndarray, cell: int, noise: float) -> Scores:
    """Standard deviation of the loss of one candidate under the consensus."""
    risk = risk_of(pool, consensus, cell)
    if pool.is_classification:
        values = np.sqrt(risk * (1 - risk))
    else:
        # Var of (a − e)² for normal e: 4a²s² + 2s⁴.
        values = np.sqrt(4 * risk * noise**2 + 2 * noise**4)
    return Scores(values, np.argsort(risk, kind="stable"))


def train_scores(consensus: np.ndarray, n: int, values: np.ndarray, left: Vector) -> Scores:
    """Score 1 for the n remaining rows with the smallest margin between two classes, else 0.

    For regression, the score is the spread of the candidates. Rows are drawn in proportion to it,
    because the rows with the largest spread are outliers.
    """
    if consensus.ndim == 1:
        return Scores(values.std(axis=0))
    top = np.sort(consensus, axis=1)[:, -2:]  # one column if there is one class
    doubt = np.where(left, top[:, 0] - top[:, -1], -np.inf)
    scores = np.zeros(doubt.size)
    scores[np.argpartition(-doubt, min(n, doubt.size) - 1)[:n]] = 1.0
    return Scores(scores)


def risk_of(pool: Pool, consensus: np.ndarray, cell: int) -> Vector:
    """Loss of a candidate that the consensus expects; for regression, without the noise of y."""
    if pool.is_classification:
        return 1.0 - consensus[np.arange(pool.n_rows), pool.labels[cell]]
    return (pool.values[cell] - consensus) ** 2


def inclusion_probabilities(scores: Scores, n: int, share: float, left: Vector) -> Vector:
    """π of the module's docstring for one batch; 0 for rows that were selected before.

    Parameters
    ----------
    scores : Scores
    n : int
        Size of the batch.
    share : float
        s, the share of uniform rows.
    left : ndarray of bool (rows,)
        Rows without label.

    Returns
    -------
    ndarray (rows,)
        Probabilities that sum to n, or to the number of remaining rows.
    """
    allowed = left if scores.eligible is None else left & scores.eligible
    count = int(allowed.sum())
    if count <= n:
        return allowed.astype(np.float64)
    useful = np.where(allowed, np.maximum(scores.values, 0.0), 0.0)
    total = float(useful.sum())
    if total == 0:
        return allowed * (n / count)
    wanted = n * ((1 - share) * useful / total + share * allowed / count)
    # Probabilities above 1 are clipped, and the excess is distributed in proportion.
    certain = np.zeros(wanted.size, dtype=bool)
    while True:
        new = (wanted >= 1.0) & ~certain
        if not new.any():
            break
        certain |= new
        wanted[certain] = 1.0
        others = allowed & ~certain
        wanted[others] *= (n - certain.sum()) / max(float(wanted[others].sum()), TINY)
    return wanted


def systematic_sample(
    probabilities: Vector, order: Vector | None, rng: np.random.Generator
) -> Vector:
    """Draw rows with the given inclusion probabilities, spread along an order.

    A uniform start is drawn. Row i is selected if the running sum of the probabilities passes
    start, start + 1, …, so that exactly ⌊Σπ⌉ rows are drawn, each with probability π.
    """
    order = rng.permutation(probabilities.size) if order is None else order
    running = np.cumsum(probabilities[order])
    n = round(float(running[-1]))
    running *= n / running[-1]  # removes rounding errors
    points = rng.random() + np.arange(n)
    return order[np.searchsorted(running, points, side="right").clip(max=order.size - 1)]


def design_weights(batches: Vector, probabilities: Vector) -> Vector:
    """Weights that make labelled rows represent the pool.

    Parameters
    ----------
    batches : ndarray of int (rows,)
        Number of the batch of each labelled row, from 0.
    probabilities : ndarray (rows,)
        Inclusion probability of the row in its batch.

    Returns
    -------
    ndarray (rows,)
        Weights whose sum estimates the number of rows of the pool: the share of the row's batch
        divided by π, plus the share of all later batches, in which the row counts as known.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.labelling import design_weights
    >>> design_weights(np.array([0, 0, 1, 1]), np.array([0.1, 0.1, 0.1, 0.5]))
    array([5.5, 5.5, 5. , 1. ])
    """
    batches, probabilities = np.asarray(batches, int), np.asarray(probabilities, float)
    if batches.size == 0:
        return np.empty(0)
    shares = np.bincount(batches) / batches.size
    later = 1.0 - np.cumsum(shares)
    return shares[batches] / probabilities + np.maximum(later[batches], 0.0)
