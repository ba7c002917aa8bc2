r"""The anchored criterion: few target labels, read in the light of what the source suggests.

Candidate c has true target loss θ_c. Validation on the labelled target rows (TLV) measures it
without bias and with noise; transfer cross-validation (TrCV) ranks it from many rows, with bias.
Take the second as the prior mean of the first,

.. math::
    t_c \mid θ_c \sim N(θ_c, v_c), \qquad θ_c \mid p_c \sim N(a + b\,p_c, τ^2),

where t_c is the mean of the TLV losses, p_c the TrCV loss, and v_c the variance of t_c compared
with the average candidate (all are judged on the same rows, so noise they share does not rank
them). The slope b, with prior N(1, 1), and τ² are estimated from the candidates themselves
(empirical Bayes), and the criterion is the posterior mean

.. math::
    \hat θ_c = a + b\,p_c + \frac{τ^2}{τ^2 + v_c} (t_c - a - b\,p_c).

As labels grow v_c → 0 and the criterion tends to TLV; as they vanish v_c → ∞, b → 1 and the
ranking tends to that of TrCV.
"""

from dataclasses import dataclass

import numpy as np

from landbridge._typing import Vector


@dataclass(frozen=True, slots=True)
class Anchored:
    """Posterior of every candidate's target loss, with what it was made from."""

    mean: Vector
    variance: Vector
    slope: float
    spread: float
    trust: Vector


def anchor(losses: np.ndarray, prior: Vector) -> Anchored:
    """Combine TLV losses (candidates × labelled rows) with the prior mean of each candidate."""
    measured, noise = _relative_means(losses)
    level = losses.mean()
    level_variance = losses.mean(axis=0).var(ddof=1) / losses.shape[1]
    expected = prior - prior.mean()
    slope, spread = _empirical_bayes(measured, noise, expected)
    trust = spread / (spread + noise)
    mean = slope * expected + trust * (measured - slope * expected)
    return Anchored(level + mean, level_variance + trust * noise, slope, spread, trust)


def _relative_means(losses: np.ndarray) -> tuple[Vector, Vector]:
    """Mean loss of each candidate relative to the average one, and the variance of that mean."""
    n_rows = losses.shape[1]
    relative = losses - losses.mean(axis=0)
    own = relative.var(axis=1, ddof=1)
    # Few rows give a wild variance, and two equal candidates none at all: lean on the average.
    variance = (n_rows * own + PRIOR_ROWS * own.mean()) / (n_rows + PRIOR_ROWS)
    return relative.mean(axis=1), np.maximum(variance, TINY) / n_rows


def _empirical_bayes(measured: Vector, noise: Vector, expected: Vector) -> tuple[float, float]:
    """Slope and τ² that maximise the marginal likelihood, the slope with its prior N(1, 1)."""
    scale = max(measured.var(), expected.var(), noise.mean(), TINY)
    spreads = scale * np.concatenate([[0.0], np.geomspace(1e-6, 1e2, 81)])
    variances = spreads[:, None] + noise
    # Given τ² the slope has a normal posterior; written for all τ² at once.
    precision = 1.0 + (expected**2 / variances).sum(axis=1)
    slopes = (1.0 + (expected * measured / variances).sum(axis=1)) / precision
    slopes = np.maximum(slopes, 0.0)
    residual = measured - slopes[:, None] * expected
    evidence = (
        -0.5 * (np.log(variances) + residual**2 / variances).sum(axis=1)
        - 0.5 * (slopes - 1.0) ** 2
        - 0.5 * np.log(precision)
    )
    best = int(np.argmax(evidence))
    return float(slopes[best]), float(spreads[best])


PRIOR_ROWS = 10.0
TINY = 1e-12
