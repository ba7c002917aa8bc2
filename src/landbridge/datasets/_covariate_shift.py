"""Generator of a covariate shift with known density ratio."""

from functools import partial

import numpy as np
from scipy.special import expit
from sklearn.utils import Bunch, check_random_state

from landbridge._typing import RandomState, Vector
from landbridge._validation import Task, check_choice
from landbridge.datasets._generator_checks import TASKS, check_positive, check_sizes

# Nodes of the Gauss-Hermite rule for `target_mean`; with 120 the error is below 1e-8.
_QUADRATURE_NODES = 120


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
    task : {"classification", "regression"}, default="classification"
        Kind of label.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same result.

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
    check_positive(scale=scale, noise=noise)
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
