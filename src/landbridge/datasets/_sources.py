"""Generator of several sources with known truth."""

from collections.abc import Sequence

import numpy as np
from sklearn.utils import Bunch, check_random_state

from landbridge._typing import RandomState
from landbridge._validation import Task, check_choice
from landbridge.datasets._concept_shift import linear_labels
from landbridge.datasets._generator_checks import TASKS, check_sizes


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
    task : {"classification", "regression"}, default="regression"
        Kind of label.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same result.

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
