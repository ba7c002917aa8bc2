r"""The anchored criterion: combine few target labels with many unlabelled rows.

Cell c has the true target loss θ_c. Validation on the labelled target rows gives an unbiased but
noisy estimate of θ_c. Two other quantities use many rows but are biased: p_c, the TrCV loss, and
d_c, the *dissent* of c, which is its distance from the vote of the cells with the same role on the
unlabelled target rows. They form the prior mean,

.. math::
    t_c \mid θ_c \sim N(θ_c, v_c), \qquad
    θ_c \sim N(a + r_{ρ(c)} + b\,p_c + e\,d_c,\; τ^2),

where t_c is the measured loss and v_c the variance of its error relative to the average cell (all
cells are evaluated on the same rows, so shared noise does not affect the ranking). The level a is
that of the labelled rows. The *role* ρ(c) says whether a cell learns from source labels, target
labels or both. TrCV and dissent are biased against cells that learn from target labels, so both are
centred within roles, and each role has its own intercept r ~ N(0, s²), which the labels determine.
The slopes b ~ N(1, 1) and e ~ N(0, 1), neither negative, and τ, half of Student's t with 3 degrees
of freedom and scale s, are learned from the cells themselves (empirical Bayes). The criterion is
the posterior mean

.. math::
    \hat θ_c = E\Bigl[ μ_c + \frac{τ^2}{τ^2 + v_c} (t_c - μ_c) \Bigr], \qquad
    μ_c = a + r_{ρ(c)} + b\,p_c + e\,d_c.

As the number of labels grows, v_c → 0 and the criterion tends to the measured loss. Without labels,
v_c → ∞, and within a role the ranking tends to that of TrCV. The scale s is the larger of two
spreads, that of TrCV and that of the measured losses beyond their noise, so that labels matter even
if all TrCV values are equal.

Unbounded losses are compared by their ratios: the same model is used for logarithms, with the
errors by the delta method. Otherwise, a single cell that extrapolates badly would dominate. A
few labelled rows may not include the rows on which such a cell fails, but unlabelled rows do. If
the loss is a distance, the triangle inequality bounds the loss of c by that of every other cell j
and by the distance :math:`D_{cj}` of their predictions,

.. math:: \lVert θ_c \rVert \ge D_{cj} - \lVert θ_j \rVert .

A bound is used if it ranks c behind j, and the criterion is raised to the median of the bounds.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import product
from typing import Literal, TypeAlias

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import softmax

from landbridge._typing import Vector, VectorLike

Scale: TypeAlias = Literal["difference", "ratio"]
Distance: TypeAlias = Literal["rmse", "mse", "mae"]

# A variance from few rows is unstable, so it is averaged with the mean over cells, which has the
# weight of this many rows.
PRIOR_ROWS = 10.0
# The error of a mean over few rows is at least that of half a row, for losses and logarithms of
# size 1.
LEAST_ROWS = 0.5
TINY = 1e-12
# Replaces a loss of zero, whose logarithm is not finite.
SMALLEST = float(np.finfo(np.float64).tiny)
# Values of τ in units of its scale. The tail of its prior is heavy enough for labels to override
# the prior mean, and light enough to vanish under unlimited noise.
SPREADS = np.geomspace(1e-3, 1e3, 61)
# Values of the slopes; none is negative, because a cell is never better for a larger TrCV loss or
# for more dissent.
SLOPES = np.linspace(0.0, 4.0, 17)
# Standard deviation of a role's intercept, in the same units.
ROLE_SPREAD = 1.0
# Order of the norm used as distance, and the power of the norm that gives the loss.
NORMS: dict[str, tuple[int, int]] = {"rmse": (2, 1), "mse": (2, 2), "mae": (1, 1)}


def anchor(
    measured: Vector,
    errors: np.ndarray,
    prior: Vector,
    *,
    n_rows: int,
    roles: Sequence[str] | None = None,
    kinds: Sequence[Hashable] | None = None,
    unlabelled: VectorLike = None,
    scale: Scale = "difference",
    distance: Distance | None = None,
) -> Vector:
    """Posterior mean of the loss of every cell: the anchored criterion.

    It combines measured target losses with TrCV and the agreement on unlabelled rows.

    Parameters
    ----------
    measured, errors : ndarrays (cells,), (cells, any number)
        Loss of each cell on the labelled target rows, and a matrix E with the covariance E Eᵀ of
        their errors, as from `landbridge.metrics.inference.loss_errors`.
    prior : ndarray (cells,)
        TrCV loss of each cell. Its level within a role is irrelevant.
    n_rows : int
        Number of labelled rows on which ``measured`` is based.
    roles, kinds : sequences (cells,), optional
        ``"source-only"``, ``"target-only"``, or any other word for cells that learn from both;
        cells of one kind (points of a grid) share one vote. By default all cells have the same
        role, and each has its own vote.
    unlabelled : ndarray (cells, rows, classes) or (cells, rows), optional
        Class probabilities, or numbers, predicted for unlabelled target rows.
    scale : {"difference", "ratio"}
        ``"ratio"`` for unbounded non-negative losses.
    distance : {"rmse", "mse", "mae"}, optional
        Kind of distance, if the loss is a distance between labels and predictions.

    Examples
    --------
    >>> errors = np.diag([0.1, 0.1])
    >>> anchor(np.array([0.2, 0.4]), errors, np.array([0.3, 0.3]), n_rows=20).round(2)
    array([0.26, 0.34])
    """
    if scale == "ratio":
        floor = np.maximum(measured, SMALLEST)
        errors = errors / floor[:, None]
        measured, prior = np.log(floor), np.log(np.maximum(prior, SMALLEST))
    groups = role_groups(roles, len(prior))
    level = measured.mean()
    noise = shrunk_variances(relative_variances(errors), n_rows)
    expected = centred(prior, groups)[:, None]
    mean = combine(measured - level, noise, expected, groups)
    if unlabelled is not None and len(prior) > 2:
        voters = _voters(mean, scale, kinds)
        dissent = centred(dissent_within_roles(unlabelled, voters, groups, distance), groups)
        # Scaled to the measured differences, so that a slope of 1 is large for any loss.
        dissent = dissent * measured.std() / max(float(dissent.std()), TINY)
        mean = combine(measured - level, noise, np.column_stack([expected, dissent]), groups)
    mean = level + mean
    if scale == "ratio":
        with np.errstate(over="ignore"):
            mean = np.exp(mean)
        if unlabelled is not None and distance is not None and len(prior) > 1:
            mean = np.maximum(mean, distance_floors(mean, np.asarray(unlabelled), distance))
    return mean


def role_groups(roles: Sequence[str] | None, n_cells: int) -> Vector:
    """Group number of each cell: 0 learns from both domains, 1 source alone, 2 target alone."""
    numbers = {"source-only": 1, "target-only": 2}
    words = [""] * n_cells if roles is None else roles
    return np.array([numbers.get(word, 0) for word in words])


def centred(values: Vector, groups: Vector) -> Vector:
    """Values minus the mean of their group."""
    means = np.bincount(groups, values) / np.maximum(np.bincount(groups), 1)
    return values - means[groups]


def relative_variances(errors: np.ndarray) -> Vector:
    """Variance of the difference of each cell's error from that of the average cell."""
    return ((errors - errors.mean(axis=0)) ** 2).sum(axis=1)


def shrunk_variances(own: Vector, n_rows: int) -> Vector:
    """Variances from few rows, shrunk towards their mean over cells."""
    shrunk = (n_rows * own + PRIOR_ROWS * own.mean()) / (n_rows + PRIOR_ROWS)
    # Cells that make the same errors on a few rows may still differ on others.
    return np.maximum(shrunk, (LEAST_ROWS / n_rows) ** 2)


def dissent_within_roles(
    unlabelled: np.ndarray, weights: Vector, groups: Vector, distance: Distance | None = None
) -> Vector:
    """Distance of each cell from the weighted vote of the cells with the same role."""
    answer = np.zeros(len(weights))
    for group in np.unique(groups):
        own = groups == group
        cells, shares = np.asarray(unlabelled)[own], weights[own] / weights[own].sum()
        vote = np.tensordot(shares, cells, axes=1)
        answer[own] = distance_from_vote(cells, vote, distance or "mse")
    return answer


def distance_from_vote(predictions: np.ndarray, vote: np.ndarray, distance: Distance) -> Vector:
    """Distance of each cell's numbers from the vote, or the share of rows with another class."""
    if predictions.ndim == 3:
        return (predictions.argmax(axis=2) != vote.argmax(axis=1)).mean(axis=1)
    order, power = NORMS[distance]
    return (np.abs(predictions - vote) ** order).mean(axis=1) ** (power / order)


def distance_floors(means: Vector, unlabelled: np.ndarray, distance: Distance) -> Vector:
    """Lower bound on the loss of each cell from its distances to the others.

    It is the median of the bounds, because a single underestimated loss would distort them all.
    """
    order, power = NORMS[distance]
    apart = cdist(unlabelled, unlabelled, "minkowski", p=order)
    apart /= unlabelled.shape[1] ** (1 / order)
    bounds = np.maximum(apart - means ** (1 / power), 0.0) ** power
    bounds[bounds < means] = 0.0
    np.fill_diagonal(bounds, np.nan)
    return np.nanquantile(bounds, 0.5, axis=1, method="lower")


def combine(measured: Vector, noise: Vector, expected: np.ndarray, groups: Vector) -> Vector:
    """Posterior mean of differences from the average cell, over τ and the slopes.

    ``expected`` holds TrCV and, if there is any, dissent (cells × slopes, centred within roles).
    Slopes and τ take the values of a grid, so that the constraint on the slopes enters the
    evidence: a τ that only a negative slope could explain has little weight.
    """
    # The spread of measured losses beyond their noise keeps τ away from zero if TrCV values are
    # equal.
    beyond = max(float(np.mean(measured**2) - noise.mean()), 0.0)
    unit = max(float(expected[:, 0].std()), np.sqrt(beyond), TINY)
    roles = _role_columns(groups)
    slopes, log_prior = _slope_grid(expected.shape[1])
    columns = np.column_stack([measured, expected])
    contrasts = np.column_stack([np.ones(len(slopes)), -slopes])
    means, evidence = [], []
    for spread in unit * SPREADS:
        total = spread**2 + noise
        # Regression on roles with a normal prior: residuals are weighted by the inverse of
        # diag(total) + s² R R', by Woodbury's identity.
        scaled = roles / total[:, None]
        inner = np.linalg.inv(np.eye(roles.shape[1]) / (ROLE_SPREAD * unit) ** 2 + roles.T @ scaled)
        moments = scaled.T @ columns
        gram = columns.T @ (columns / total[:, None]) - moments.T @ inner @ moments
        misfit = np.einsum("gk,kl,gl->g", contrasts, gram, contrasts)
        log_weight = log_prior - 0.5 * misfit
        top = log_weight.max()
        weight = np.exp(log_weight - top)
        determinant = np.log(total).sum() - np.linalg.slogdet(inner)[1]
        evidence.append(top + np.log(weight.sum()) - 0.5 * determinant)
        # Predictions are linear in the slopes, so their mean is enough.
        slope = weight / weight.sum() @ slopes
        effects = expected - roles @ inner @ moments[:, 1:]
        prediction = roles @ inner @ moments[:, 0] + effects @ slope
        means.append(prediction + spread**2 / total * (measured - prediction))
    # The prior of τ; the factor τ is that of a grid with equal steps of log τ. The determinant of
    # the prior of the roles is the same for every τ.
    log_weights = np.array(evidence) + np.log(SPREADS) - 2.0 * np.log1p(SPREADS**2 / 3.0)
    return softmax(log_weights) @ np.array(means)


def _slope_grid(n_slopes: int) -> tuple[np.ndarray, Vector]:
    """Values of the slopes (points × slopes) and the logarithm of their prior."""
    points = np.array(list(product(SLOPES, repeat=n_slopes)))
    prior_means = np.array([1.0, 0.0])[:n_slopes]
    return points, -0.5 * ((points - prior_means) ** 2).sum(axis=1)


def _role_columns(groups: Vector) -> np.ndarray:
    """One centred indicator per role (cells × roles); none if all cells have the same role."""
    present = np.unique(groups)
    if present.size < 2:
        return np.empty((groups.size, 0))
    indicators = (groups[:, None] == present).astype(float)
    return indicators - indicators.mean(axis=0)


def _voters(means: Vector, scale: Scale, kinds: Sequence[Hashable] | None) -> Vector:
    """Weights in the vote that defines dissent, by the posterior without dissent.

    Differences are measured relative to their spread. On the ratio scale, the weights are inverse
    squares of the losses, so that a bad cell has little influence.
    """
    unit = 0.5 if scale == "ratio" else max(2.0 * float(means.std()), TINY)
    behind = np.minimum((means - means.min()) / unit, 600.0)  # weights stay positive
    return np.exp(-behind) / kind_sizes(kinds, len(means))


def kind_sizes(kinds: Sequence[Hashable] | None, n_cells: int) -> Vector:
    """Number of cells of the same kind as each cell."""
    kinds = range(n_cells) if kinds is None else kinds
    counts = Counter(kinds)
    return np.array([float(counts[kind]) for kind in kinds])
