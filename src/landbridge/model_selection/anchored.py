r"""The anchored criterion: few target labels, read in the light of what unlabelled rows suggest.

Candidate c has true target loss θ_c. Validation on the labelled target rows (TLV) measures it
without bias and with noise; two other figures rest on many rows and are biased: p_c, the TrCV loss,
and d_c, the share of unlabelled target rows on which c *dissents* from the vote of all candidates.
Take them as the prior mean,

.. math::
    t_c \mid θ_c \sim N(θ_c, v_c), \qquad θ_c \sim N(a + b\,p_c + e\,d_c, τ^2),

where t_c is the mean of the TLV losses and v_c its variance compared with the average candidate
(all are judged on the same rows, so noise they share does not rank them). The level a is that of
the labelled rows. The slopes b ~ N(1, 1), e ~ N(0, 1) and τ, half of Student's t with 3 degrees of
freedom, are learnt from the candidates themselves (empirical Bayes), and the criterion is

.. math::
    \hat θ_c = E\Bigl[ μ_c + \frac{τ^2}{τ^2 + v_c} (t_c - μ_c) \Bigr], \qquad
    μ_c = a + b\,p_c + e\,d_c,

averaged over the posterior of τ. Votes are weighted by exp(−θ̂_c / 2s), θ̂ being the same without
dissent and s its spread, so that the labels decide who is listened to.

As labels grow v_c → 0 and the criterion tends to TLV. As they vanish v_c → ∞, so b → 1, e → 0, and
the ranking tends to that of TrCV. Losses that have no upper end are compared by their ratios
instead (`anchored_ratios.py`).
"""

from dataclasses import dataclass

import numpy as np

from landbridge._typing import Vector, VectorLike

# A variance from few rows is wild: it is averaged with that of all candidates, which counts as
# so many rows.
PRIOR_ROWS = 10.0
TINY = 1e-12
# Values of τ in units of its scale. The tail of its prior is heavy enough to let labels speak
# where they contradict the prior mean, and light enough to be silenced by noise without end.
SPREADS = np.geomspace(1e-3, 1e3, 61)


@dataclass(frozen=True, slots=True)
class Anchored:
    """Posterior of every candidate's target loss, with what it was made from.

    ``trust`` is the share of each candidate's own measurement in its mean; ``slopes`` (of TrCV and
    of dissent) and ``spread`` are the posterior means of b, e and τ.
    """

    mean: Vector
    trust: Vector
    slopes: Vector
    spread: float


def anchor(losses: np.ndarray, prior: Vector, guesses: VectorLike = None) -> Anchored:
    """Combine TLV losses (candidates × labelled rows) with the prior mean of each candidate.

    ``guesses`` are the candidates' predictions for unlabelled target rows: numbers of classes
    (integers) or numbers (floats). Without them TrCV is the whole prior.
    """
    measured, noise = relative_means(losses)
    expected = (prior - prior.mean())[:, None]
    posterior = combine(measured, noise, expected, np.array([1.0]))
    if guesses is not None and len(prior) > 2:
        weights = np.exp(-posterior.mean / max(2.0 * float(posterior.mean.std()), TINY))
        dissent = dissent_from_vote(guesses, weights)
        # In units of the measured differences, so that a slope of 1 is large for any loss.
        dissent *= measured.std() / max(float(dissent.std()), TINY)
        expected = np.column_stack([expected, dissent - dissent.mean()])
        posterior = combine(measured, noise, expected, np.array([1.0, 0.0]))
    mean = losses.mean() + posterior.mean
    return Anchored(mean, posterior.trust, posterior.slopes, posterior.spread)


def relative_means(losses: np.ndarray) -> tuple[Vector, Vector]:
    """Mean loss of each candidate relative to the average one, and the variance of that mean."""
    n_rows = losses.shape[1]
    relative = losses - losses.mean(axis=0)
    own = relative.var(axis=1, ddof=1)
    variance = (n_rows * own + PRIOR_ROWS * own.mean()) / (n_rows + PRIOR_ROWS)
    return relative.mean(axis=1), np.maximum(variance, TINY) / n_rows


def dissent_from_vote(guesses: np.ndarray, weights: Vector, *, power: int = 2) -> Vector:
    """How far each candidate's guesses are from the weighted vote of all, on average.

    For classes the share of rows on which it differs from the winner, for numbers the mean squared
    distance from the weighted mean (with ``power=1`` the mean distance).
    """
    winner = vote(guesses, weights)
    if guesses.dtype.kind == "f":
        return (np.abs(guesses - winner) ** power).mean(axis=1)
    return (guesses != winner).mean(axis=1)


def vote(guesses: np.ndarray, weights: Vector) -> Vector:
    """The class with the most weight in each column of ``guesses``; of numbers the mean."""
    if guesses.dtype.kind == "f":
        return weights @ guesses / weights.sum()
    votes = np.stack([weights @ (guesses == label) for label in range(guesses.max() + 1)])
    return votes.argmax(axis=0)


def combine(measured: Vector, noise: Vector, expected: np.ndarray, slope_means: Vector) -> Anchored:
    """Posterior means for predictors ``expected`` (candidates × slopes, centred)."""
    scale = max(float(expected.std(axis=0).max()), TINY)
    spreads = scale * SPREADS
    variances = spreads[:, None] ** 2 + noise
    slopes, evidence = _slopes_and_evidence(measured, variances, expected, slope_means)
    # The prior of τ; the factor τ is that of a grid with equal steps of log τ.
    evidence += np.log(SPREADS) - 2.0 * np.log1p(SPREADS**2 / 3.0)
    weights = np.exp(evidence - evidence.max())
    weights /= weights.sum()
    prediction = np.maximum(slopes, 0.0) @ expected.T
    trust = spreads[:, None] ** 2 / variances
    mean = weights @ (prediction + trust * (measured - prediction))
    return Anchored(mean, weights @ trust, weights @ slopes, float(weights @ spreads))


def _slopes_and_evidence(
    measured: Vector, variances: np.ndarray, expected: np.ndarray, slope_means: Vector
) -> tuple[np.ndarray, Vector]:
    """For each row of ``variances`` the posterior mean of the slopes and the log evidence."""
    # Normal prior of variance 1 and normal likelihood: the usual regression formulas.
    precision = np.eye(len(slope_means)) + np.einsum(
        "ck,tc,cl->tkl", expected, 1.0 / variances, expected
    )
    moment = slope_means + (measured / variances) @ expected
    slopes = np.linalg.solve(precision, moment[:, :, None])[:, :, 0]
    misfit = (
        (measured**2 / variances).sum(axis=1)
        + slope_means @ slope_means
        - (slopes * moment).sum(axis=1)
    )
    log_determinant = np.linalg.slogdet(precision)[1]
    return slopes, -0.5 * (np.log(variances).sum(axis=1) + log_determinant + misfit)
