"""Generators of domains with known truth: covariate, label and concept shift, and many sources."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy.special import expit
from scipy.stats import norm
from sklearn.utils import Bunch, check_random_state

from landbridge._docstrings import documented
from landbridge._typing import RandomState, Vector
from landbridge._validation import Task, check_choice, check_count, check_positive

TASKS = ["classification", "regression"]
# Nodes of the Gauss-Hermite rule for `target_mean`; with 120 the error is below 1e-8.
_QUADRATURE_NODES = 120


@documented
def make_covariate_shift(
    n_source: int = 500,
    n_target: int = 500,
    n_features: int = 2,
    *,
    shift: float = 1.0,
    scale: float = 0.7,
    noise: float = 0.3,
    task: Task = "classification",
    random_state: RandomState = None,
) -> Bunch:
    r"""Two Gaussian domains that share the conditional of the label: a pure covariate shift.

    With the unit vector :math:`u = (1, …, 1)/\sqrt d`,

    .. math::
        x \sim N(0, I) \text{ (source)}, \qquad x \sim N(s\,u, \sigma^2 I) \text{ (target)}, \qquad
        w(x) = \sigma^{-d} \exp\Big(\tfrac{\|x\|^2}{2} - \tfrac{\|x - s u\|^2}{2\sigma^2}\Big).

    Labels follow :math:`f(x) = z - z^2/2` with :math:`z = u^\top x` in both domains:
    :math:`y = f(x) + \text{noise}·\varepsilon` for regression,
    :math:`P(y = 1 \mid x) = 1/(1 + e^{-f(x)/\text{noise}})` for classification. :math:`f` is not
    linear, so the best linear model of the source is not the best one of the target.

    Parameters
    ----------
    n_source, n_target, n_features : int, default=500, 500, 2
        Number of rows and columns.
    shift : float, default=1.0
        Distance s between the two means.
    scale : float, default=0.7
        Standard deviation σ of the target. The variance of the weights is finite only for σ² < 2.
    noise : float, default=0.3
        Standard deviation of the error; for classification the width of the logistic step.

    Returns
    -------
    data : Bunch
        ``X, y`` (source), ``X_target, y_target``, ``weights`` (true ratio at the rows of ``X``),
        ``weights_target`` (at the rows of ``X_target``), ``ratio`` (the ratio as a function of
        rows), ``effective_share`` (the limit of effective sample size / rows,
        :math:`1/E_s[w^2]`), ``source_mean`` and ``target_mean`` (of the label), ``DESCR``.

    Examples
    --------
    >>> from landbridge.datasets import make_covariate_shift
    >>> data = make_covariate_shift(n_source=20000, random_state=0)
    >>> bool(abs(data.weights.mean() - 1) < 0.05)
    True
    """
    check_sizes(n_source=n_source, n_target=n_target, n_features=n_features)
    check_positive(scale, "scale")
    check_positive(noise, "noise")
    check_choice(task, "task", TASKS)
    rng = check_random_state(random_state)
    direction = np.full(n_features, 1 / np.sqrt(n_features))
    X = rng.standard_normal((n_source, n_features))
    X_target = shift * direction + scale * rng.standard_normal((n_target, n_features))
    ratio = partial(gaussian_ratio, mean=shift * direction, scale=scale)
    return Bunch(
        X=X,
        y=_bent_labels(X @ direction, noise, task, rng),
        X_target=X_target,
        y_target=_bent_labels(X_target @ direction, noise, task, rng),
        weights=ratio(X),
        weights_target=ratio(X_target),
        ratio=ratio,
        effective_share=_effective_share(n_features, shift, scale),
        source_mean=_bent_mean(0.0, 1.0, noise, task),
        target_mean=_bent_mean(shift, scale, noise, task),
        DESCR=make_covariate_shift.__doc__,
    )


def gaussian_ratio(X: np.ndarray, *, mean: Vector, scale: float) -> Vector:
    """Density of N(mean, scale² I) over the density of N(0, I) at the rows of ``X``."""
    inside = (X**2).sum(axis=1) / 2 - ((X - mean) ** 2).sum(axis=1) / (2 * scale**2)
    return np.exp(inside - X.shape[1] * np.log(scale))


def _effective_share(n_features: int, shift: float, scale: float) -> float:
    """1 / E_s[w²], a product of one-dimensional Gaussian integrals; 0 where it diverges."""
    if scale**2 >= 2:
        return 0.0
    spread = scale * np.sqrt(2 - scale**2)
    return float(spread**n_features * np.exp(-(shift**2) / (2 - scale**2)))


def _bend(z: Vector) -> Vector:
    return z - z**2 / 2


def _bent_labels(z: Vector, noise: float, task: Task, rng: np.random.RandomState) -> Vector:
    if task == "regression":
        return _bend(z) + noise * rng.standard_normal(z.shape)
    return (rng.uniform(size=z.shape) < expit(_bend(z) / noise)).astype(int)


def _bent_mean(mean: float, scale: float, noise: float, task: Task) -> float:
    """Mean of the label for z ~ N(mean, scale²)."""
    if task == "regression":
        return mean - (mean**2 + scale**2) / 2
    nodes, weights = np.polynomial.hermite_e.hermegauss(_QUADRATURE_NODES)
    values = expit(_bend(mean + scale * nodes) / noise)
    return float(weights @ values / weights.sum())


@documented
def make_label_shift(
    n_source: int = 500,
    n_target: int = 500,
    n_features: int = 2,
    *,
    source_proportions: Sequence[float] = (0.5, 0.5),
    target_proportions: Sequence[float] = (0.2, 0.8),
    separation: float = 2.0,
    shift: float = 1.0,
    scale: float = 0.7,
    task: Task = "classification",
    random_state: RandomState = None,
) -> Bunch:
    r"""Two domains that share p(x | y) and differ in p(y): a pure label shift.

    Classification: :math:`y \sim \pi`, :math:`x \mid y = k \sim N(\mu_k, I)` with :math:`\mu_k` on
    the axis k modulo d at ``separation`` (1 + k div d); the weight of a row is
    :math:`\pi_t(y)/\pi_s(y)`. Regression: :math:`y \sim N(0, 1)` in the source and
    :math:`N(\text{shift}, \text{scale}^2)` in the target,
    :math:`x \mid y \sim N(\text{separation}·y·u, I)`; the weight is the ratio of the two normal
    densities at y.

    Parameters
    ----------
    n_source, n_target, n_features : int, default=500, 500, 2
        Number of rows and columns.
    source_proportions, target_proportions : sequences of float, default=(0.5, 0.5), (0.2, 0.8)
        Class proportions of the two domains, of the same length and with sum 1 (classification).
    separation : float, default=2.0
        Distance between the class means, or slope of the features in the label.
    shift, scale : float, default=1.0, 0.7
        Mean and standard deviation of the target's labels (regression).

    Returns
    -------
    data : Bunch
        ``X, y``, ``X_target, y_target``, ``weights`` (true ratio at the source rows, a function of
        the label), ``class_weights`` (the ratio of each class; None for regression),
        ``target_mean`` (mean of the label in the target), ``DESCR``.

    Examples
    --------
    >>> from landbridge.datasets import make_label_shift
    >>> make_label_shift(random_state=0).class_weights
    array([0.4, 1.6])
    """
    check_sizes(n_source=n_source, n_target=n_target, n_features=n_features)
    check_choice(task, "task", TASKS)
    rng = check_random_state(random_state)
    if task == "regression":
        check_positive(scale, "scale")
        y = rng.standard_normal(n_source)
        y_target = shift + scale * rng.standard_normal(n_target)
        weights, class_weights = norm.pdf(y, shift, scale) / norm.pdf(y), None
        means = separation / np.sqrt(n_features) * np.ones(n_features)
        centres, centres_target = np.outer(y, means), np.outer(y_target, means)
        target_mean = float(shift)
    else:
        before, after = _check_proportions(source_proportions, target_proportions)
        y = rng.choice(len(before), size=n_source, p=before)
        y_target = rng.choice(len(after), size=n_target, p=after)
        class_weights = after / before
        weights = class_weights[y]
        corners = _class_centres(len(before), n_features, separation)
        centres, centres_target = corners[y], corners[y_target]
        target_mean = float(after @ np.arange(len(after)))
    return Bunch(
        X=centres + rng.standard_normal(centres.shape),
        y=y,
        X_target=centres_target + rng.standard_normal(centres_target.shape),
        y_target=y_target,
        weights=weights,
        class_weights=class_weights,
        target_mean=target_mean,
        DESCR=make_label_shift.__doc__,
    )


def _class_centres(n_classes: int, n_features: int, separation: float) -> np.ndarray:
    centres = np.zeros((n_classes, n_features))
    for k in range(n_classes):
        centres[k, k % n_features] = separation * (1 + k // n_features)
    return centres


def _check_proportions(before: Sequence[float], after: Sequence[float]) -> tuple[Vector, Vector]:
    proportions = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    for name, values in zip(("source", "target"), proportions, strict=True):
        if values.ndim != 1 or (values < 0).any() or not np.isclose(values.sum(), 1):
            raise ValueError(
                f"`{name}_proportions` must be non-negative with sum 1; got {values.tolist()}."
            )
    if len(proportions[0]) != len(proportions[1]) or (proportions[0] == 0).any():
        raise ValueError(
            "`source_proportions` must be positive and of the same length as `target_proportions`; "
            f"got lengths {len(proportions[0])} and {len(proportions[1])}. A class absent from "
            "the source has no weight."
        )
    return proportions


@documented
def make_concept_shift(
    n_source: int = 500,
    n_target: int = 500,
    n_features: int = 2,
    *,
    angle: float = np.pi / 4,
    noise: float = 0.1,
    task: Task = "classification",
    random_state: RandomState = None,
) -> Bunch:
    r"""Two domains with the same features and different labels: a pure concept shift.

    :math:`x \sim N(0, I)` in both. The unit vectors :math:`\beta_s` and :math:`\beta_t` enclose the
    angle θ. Regression: :math:`y = \beta^\top x + \text{noise}·\varepsilon`. Classification:
    :math:`y = 1[\beta^\top x > 0]`, flipped with probability ``noise``. In the target, the best
    rule of the source has

    .. math::
        \text{accuracy} = (1 - \theta/\pi)(1 - \text{noise}) + (\theta/\pi)\,\text{noise},
        \qquad \text{mean squared error} = \text{noise}^2 + 4\sin^2(\theta/2).

    Parameters
    ----------
    n_source, n_target, n_features : int, default=500, 500, 2
        Number of rows and columns; at least two columns.
    angle : float in [0, π], default=π/4
        θ; 0 is no shift, π flips every label.
    noise : float, default=0.1
        Standard deviation of the error, or the probability of a flipped label.

    Returns
    -------
    data : Bunch
        ``X, y``, ``X_target, y_target``, ``coef`` (β of the source), ``coef_target``,
        ``source_rule_score`` (accuracy or mean squared error of the source's best rule in the
        target), ``target_rule_score`` (the same for the best rule of the target), ``weights`` (all
        1: the features do not shift), ``DESCR``.

    Examples
    --------
    >>> from landbridge.datasets import make_concept_shift
    >>> round(make_concept_shift(random_state=0).source_rule_score, 3)
    0.7
    """
    check_sizes(n_source=n_source, n_target=n_target, n_features=n_features)
    check_choice(task, "task", TASKS)
    if n_features < 2:
        raise ValueError(
            f"`n_features` must be at least 2, since the shift is a rotation; got {n_features}."
        )
    if not 0 <= angle <= np.pi:
        raise ValueError(f"`angle` must be in [0, π], in radians; got {angle!r}.")
    rng = check_random_state(random_state)
    coef, coef_target = np.eye(n_features)[0], np.zeros(n_features)
    coef_target[:2] = np.cos(angle), np.sin(angle)
    X = rng.standard_normal((n_source, n_features))
    X_target = rng.standard_normal((n_target, n_features))
    return Bunch(
        X=X,
        y=linear_labels(X @ coef, noise, task, rng),
        X_target=X_target,
        y_target=linear_labels(X_target @ coef_target, noise, task, rng),
        coef=coef,
        coef_target=coef_target,
        source_rule_score=_rotated_score(angle, noise, task),
        target_rule_score=_rotated_score(0.0, noise, task),
        weights=np.ones(n_source),
        DESCR=make_concept_shift.__doc__,
    )


def _rotated_score(angle: float, noise: float, task: Task) -> float:
    """Score of a rule at ``angle`` from the true one."""
    if task == "regression":
        return float(noise**2 + 4 * np.sin(angle / 2) ** 2)
    wrong = angle / np.pi
    return float((1 - wrong) * (1 - noise) + wrong * noise)


def linear_labels(signal: Vector, noise: float, task: Task, rng: np.random.RandomState) -> Vector:
    """``signal`` with Gaussian errors, or its sign as a class with flipped labels."""
    if task == "regression":
        return signal + noise * rng.standard_normal(signal.shape)
    if not 0 <= noise <= 1:
        raise ValueError(
            f"`noise` must be in [0, 1], as the probability of a flipped label; got {noise!r}."
        )
    turned = rng.uniform(size=signal.shape) < noise
    return ((signal > 0) ^ turned).astype(int)


@documented
def make_sources(
    n_sources: int = 5,
    n_per_source: int | Sequence[int] = 100,
    n_features: int = 5,
    *,
    n_target: int = 100,
    between: float = 0.3,
    location: float = 0.0,
    noise: float = 0.1,
    task: Task = "regression",
    random_state: RandomState = None,
) -> Bunch:
    r"""Generate sources from a population of sources; the target is another one.

    Source k has its own coefficients :math:`\beta_k \sim N(\beta, \text{between}^2 I)` around a
    common unit vector :math:`\beta = (1, …, 1)/\sqrt d` (concept shift) and its own centre
    :math:`m_k \sim N(0, \text{location}^2 I)` (covariate shift);
    :math:`x = m_k + N(0, I)`. Regression: :math:`y = \beta_k^\top x + \text{noise}·\varepsilon`.
    Classification: :math:`y = 1[\beta_k^\top x > 0]`, flipped with probability ``noise``. For
    regression, the mean squared error of the common rule β on a new source is

    .. math:: \text{noise}^2 + d\,\text{between}^2 (1 + \text{location}^2).

    Parameters
    ----------
    n_sources : int, default=5
        Number of sources.
    n_per_source : int or sequence of int, default=100
        Number of rows, either common or one value per source.
    n_features : int, default=5
        Number of features.
    n_target : int, default=100
        Number of target rows.
    between : float, default=0.3
        Standard deviation of the coefficients between sources; 0 makes them agree.
    location : float, default=0.0
        Standard deviation of the centres between sources.
    noise : float, default=0.1
        Standard deviation of the error, or the probability of a flipped label.

    Returns
    -------
    data : Bunch
        ``X, y, groups`` (group names "source 0", "source 1", …), ``X_target, y_target``,
        ``coef`` (β), ``source_coef`` (β_k, one row per source), ``target_coef``, ``centres``,
        ``new_source_error`` (error of the common rule β on a new source; None for classification,
        where it has no closed form), ``DESCR``.

    Examples
    --------
    >>> from landbridge.datasets import make_sources
    >>> data = make_sources(n_sources=3, n_per_source=[10, 20, 30], random_state=0)
    >>> data.X.shape, data.source_coef.shape
    ((60, 5), (3, 5))
    """
    check_choice(task, "task", TASKS)
    check_sizes(n_sources=n_sources, n_features=n_features, n_target=n_target)
    sizes = _check_rows_per_source(n_per_source, n_sources)
    rng = check_random_state(random_state)
    coef = np.full(n_features, 1 / np.sqrt(n_features))
    # The target is the last source of the same population.
    coefs = coef + between * rng.standard_normal((n_sources + 1, n_features))
    centres = location * rng.standard_normal((n_sources + 1, n_features))
    which = np.repeat(np.arange(n_sources + 1), [*sizes, n_target])
    X = centres[which] + rng.standard_normal((which.size, n_features))
    y = linear_labels((X * coefs[which]).sum(axis=1), noise, task, rng)
    source = which < n_sources
    error = noise**2 + n_features * between**2 * (1 + location**2)
    return Bunch(
        X=X[source],
        y=y[source],
        groups=np.array([f"source {k}" for k in which[source]]),
        X_target=X[~source],
        y_target=y[~source],
        coef=coef,
        source_coef=coefs[:-1],
        target_coef=coefs[-1],
        centres=centres[:-1],
        new_source_error=error if task == "regression" else None,
        DESCR=make_sources.__doc__,
    )


def _check_rows_per_source(n_per_source: int | Sequence[int], n_sources: int) -> list[int]:
    sizes = np.atleast_1d(np.asarray(n_per_source, dtype=int))
    if sizes.size == 1:
        sizes = np.repeat(sizes, n_sources)
    if sizes.size != n_sources or (sizes < 1).any():
        raise ValueError(
            f"`n_per_source` must be one positive number of rows, or one for each of the "
            f"{n_sources} sources; got {n_per_source!r}."
        )
    return sizes.tolist()


def check_sizes(**sizes: int) -> None:
    for name, value in sizes.items():
        check_count(value, name)
