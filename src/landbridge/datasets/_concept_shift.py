"""Generator of a concept shift."""

import numpy as np
from sklearn.utils import Bunch, check_random_state

from landbridge._typing import RandomState, Vector
from landbridge._validation import Task, check_choice
from landbridge.datasets._generator_checks import TASKS, check_sizes


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
    task : {"classification", "regression"}, default="classification"
        Kind of label.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same result.

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
