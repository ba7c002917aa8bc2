r"""The anchored criterion for losses without an upper end, which are compared by their ratios.

A candidate that extrapolates wildly can have a squared error a thousand times that of the others.
Among differences it is the only one that counts: it makes the average candidate, to which all
noise is compared, as bad and as noisy as itself. So the model of `anchored.py` is used for
logarithms,

.. math::
    \log t_c \mid θ_c \sim N(\log θ_c, v_c), \qquad
    \log θ_c \sim N\Bigl(a + b \log p_c + e \log\bigl(1 + d_c / \bar t\bigr), τ^2\Bigr),

with :math:`\bar t` the geometric mean of the measured losses and v_c by the delta method. Votes
count as the inverse square of the loss, so that a terrible candidate is not heard.

Few labelled rows can miss the rows on which a candidate is terrible; rows without labels show them.
Where the loss is a distance, :math:`|ŷ - y|^k` with k = 1 or 2, the triangle inequality bounds the
loss of c by that of every other candidate j and by the mean :math:`d_{cj}` of
:math:`|ŷ_c - ŷ_j|^k` over the unlabelled rows,

.. math::
    θ_c \ge \Bigl( d_{cj}^{1/k} - θ_j^{1/k} \Bigr)_+^k .

A bound counts where it puts c behind j, which a small error in θ_j cannot do, and the criterion is
raised to what half of the others say. Both limits are those of `anchored.py`.
"""

import numpy as np
from scipy.spatial.distance import cdist

from landbridge._typing import Vector, VectorLike
from landbridge.model_selection.anchored import (
    Anchored,
    combine,
    dissent_from_vote,
    relative_means,
)

# Stands in for a loss of zero, whose logarithm is not a number to calculate with.
SMALLEST = float(np.finfo(np.float64).tiny)
LARGEST = float(np.finfo(np.float64).max)


def anchor_ratios(
    losses: np.ndarray, prior: Vector, guesses: VectorLike = None, *, power: int | None = None
) -> Anchored:
    """Combine TLV losses (candidates × labelled rows, none negative) with their prior means.

    ``power`` is k where the loss is a distance; without it there is no floor. In the answer
    ``spread`` is that of the logarithms.
    """
    values = log_values(losses)
    level = values.mean()
    measured, noise = relative_means(values)
    log_prior = np.log(np.maximum(prior, SMALLEST))
    expected = (log_prior - log_prior.mean())[:, None]
    posterior = combine(measured, noise, expected, np.array([1.0]))
    floors = np.zeros(len(prior))
    if guesses is not None and len(prior) > 2:
        dissent = dissent_from_vote(guesses, _votes(posterior.mean), power=power or 2)
        with np.errstate(over="ignore"):  # where all measured losses are zero
            dissent = np.log1p(np.minimum(dissent / np.exp(level), LARGEST))
        expected = np.column_stack([expected, dissent - dissent.mean()])
        posterior = combine(measured, noise, expected, np.array([1.0, 0.0]))
        if power is not None and guesses.dtype.kind == "f":
            floors = distance_floors(np.exp(level + posterior.mean), guesses, power)
    mean = np.maximum(np.exp(level + posterior.mean), floors)
    return Anchored(mean, posterior.trust, posterior.slopes, posterior.spread)


def log_values(losses: np.ndarray) -> np.ndarray:
    """Values of rows whose means are the logarithms of the mean losses, by the delta method."""
    means = np.maximum(losses.mean(axis=-1, keepdims=True), SMALLEST)
    return np.log(means) + (losses / means - 1.0)


def distance_floors(means: Vector, guesses: np.ndarray, power: int) -> Vector:
    """The least loss of each candidate by its distance from the others: the median of the bounds.

    The median, because one loss that is taken for much too small would spoil all other bounds.
    """
    apart = cdist(guesses, guesses, "minkowski", p=power) / guesses.shape[1] ** (1 / power)
    bounds = np.maximum(apart - means ** (1 / power), 0.0) ** power
    bounds[bounds < means] = 0.0
    np.fill_diagonal(bounds, np.nan)
    return np.nanquantile(bounds, 0.5, axis=1, method="lower")


def _votes(logs: Vector) -> Vector:
    """Inverse squares of the losses, the best candidate's being 1."""
    return np.exp(2.0 * (logs.min() - logs))
