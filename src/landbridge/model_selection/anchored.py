r"""The anchored criterion: few target labels, read in the light of what the source suggests.

Candidate c has true target loss θ_c. Validation on the labelled target rows (TLV) measures it
without bias and with noise; transfer cross-validation (TrCV) ranks it from many rows, with bias.
Take the second as the prior mean of the first,

.. math::
    t_c \mid θ_c \sim N(θ_c, v_c), \qquad θ_c \mid p_c \sim N(a + b\,p_c, τ^2),

where t_c is the mean of the TLV losses, p_c the TrCV loss, and v_c the variance of t_c compared
with the average candidate (all are judged on the same rows, so noise they share does not rank
them). The level a is that of the labelled rows. The slope b ~ N(1, 1) and τ, half of Student's t
with 3 degrees of freedom and the spread of the prior means as its scale, are learnt from the
candidates themselves (empirical Bayes): the criterion is the posterior mean

.. math::
    \hat θ_c = E\Bigl[ a + b\,p_c + \frac{τ^2}{τ^2 + v_c} (t_c - a - b\,p_c) \Bigr],

averaged over the posterior of τ. As labels grow v_c → 0 and the criterion tends to TLV; as they
vanish v_c → ∞, b → 1 and the ranking tends to that of TrCV.
"""

from dataclasses import dataclass

import numpy as np

from landbridge._typing import Vector

# A variance from few rows is wild: it is averaged with that of all candidates, which counts as
# so many rows.
PRIOR_ROWS = 10.0
TINY = 1e-12
# Values of τ in units of its scale. The tail of its prior is heavy enough to let labels speak
# where they contradict the source, and light enough to be silenced by noise without end.
SPREADS = np.geomspace(1e-3, 1e3, 61)


@dataclass(frozen=True, slots=True)
class Anchored:
    """Posterior of every candidate's target loss, with what it was made from.

    ``trust`` is the share of each candidate's own measurement in its mean, ``slope`` and
    ``spread`` the posterior means of b and τ.
    """

    mean: Vector
    trust: Vector
    slope: float
    spread: float


def anchor(losses: np.ndarray, prior: Vector) -> Anchored:
    """Combine TLV losses (candidates × labelled rows) with the prior mean of each candidate."""
    measured, noise = relative_means(losses)
    expected = prior - prior.mean()
    spreads = max(float(expected.std()), TINY) * SPREADS
    slopes, weights = _posterior(measured, noise, expected, spreads)
    trust = spreads[:, None] ** 2 / (spreads[:, None] ** 2 + noise)
    prediction = slopes[:, None] * expected
    mean = losses.mean() + weights @ (prediction + trust * (measured - prediction))
    return Anchored(mean, weights @ trust, float(weights @ slopes), float(weights @ spreads))


def relative_means(losses: np.ndarray) -> tuple[Vector, Vector]:
    """Mean loss of each candidate relative to the average one, and the variance of that mean."""
    n_rows = losses.shape[1]
    relative = losses - losses.mean(axis=0)
    own = relative.var(axis=1, ddof=1)
    variance = (n_rows * own + PRIOR_ROWS * own.mean()) / (n_rows + PRIOR_ROWS)
    return relative.mean(axis=1), np.maximum(variance, TINY) / n_rows


def _posterior(
    measured: Vector, noise: Vector, expected: Vector, spreads: Vector
) -> tuple[Vector, Vector]:
    """For each τ the posterior mean of the slope, and the posterior probability of that τ."""
    variances = spreads[:, None] ** 2 + noise
    precision = 1.0 + (expected**2 / variances).sum(axis=1)
    slopes = (1.0 + (expected * measured / variances).sum(axis=1)) / precision
    # The marginal likelihood of τ, the slope integrated out.
    fit = (measured**2 / variances).sum(axis=1) + 1.0 - precision * slopes**2
    evidence = -0.5 * (np.log(variances).sum(axis=1) + np.log(precision) + fit)
    # The prior of τ; the factor τ is that of a grid with equal steps of log τ.
    evidence += np.log(SPREADS) - 2.0 * np.log1p(SPREADS**2 / 3.0)
    weights = np.exp(evidence - evidence.max())
    return np.maximum(slopes, 0.0), weights / weights.sum()
