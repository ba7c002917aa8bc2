"""Generator of a label shift."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm
from sklearn.utils import Bunch, check_random_state

from landbridge._typing import RandomState, Vector
from landbridge._validation import Task, check_choice
from landbridge.datasets._generator_checks import TASKS, check_positive, check_sizes


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
    task : {"classification", "regression"}, default="classification"
        Kind of label.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same result.

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
        check_positive(scale=scale)
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
