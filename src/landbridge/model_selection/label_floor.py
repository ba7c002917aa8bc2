r"""The least loss that guesses of a given distribution can have on the target.

Whatever the model f, its loss is at least the cost of carrying its guesses over to labels that are
distributed as the target's labels are,

.. math::
    E\,\ell\bigl(y, f(x)\bigr) \ge \min_{γ} E_γ\,\ell(y, \hat y), \qquad
    γ \text{ with marginals } P_t(y) \text{ and } P_t\bigl(f(x)\bigr),

because the joint distribution of y and f(x) is one of the γ. A model that calls 90 % of the target
rows positive where 50 % are errs on at least 40 % of them, however well its pseudo-labels lead back
to the source: a linear model learns its own labels again, right or wrong, so that reverse
validation is blind to what the floor sees.

======== ========================================= ==========================
loss     floor                                     in words
======== ========================================= ==========================
zero_one ½ Σ_k abs(P_t(y = k) − P_t(f(x) = k))     total variation
log      log 2 times that: a wrong class had       the same in nats
         p̂(y) ≤ ½
absolute ∫ abs(F⁻¹ − F_f⁻¹)                        Wasserstein distance
squared  ∫ (F⁻¹ − F_f⁻¹)²                          the same of order 2, squared
callable 0                                         unknown
======== ========================================= ==========================

The target's P_t(y) is taken to be the source's. Where it is not, the floor holds a true change of
shares against the candidates that see it: it is an option for targets that are known to have the
source's shares, and not the default.
"""

from typing import Any

import numpy as np

from landbridge._typing import Vector, VectorLike
from landbridge.model_selection.losses import Loss

POWERS: dict[Any, int] = {"absolute": 1, "squared": 2}
# Numbers are described by their quantile function in so many steps.
STEPS = 100


def describe_labels(loss: Loss, labels: Vector, classes: VectorLike) -> VectorLike:
    """What the floor of a loss needs to know of labels: shares of classes, or quantiles.

    ``None`` where there is no floor: for a callable, and for a distance of names.

    Examples
    --------
    >>> from landbridge.model_selection.label_floor import describe_labels
    >>> describe_labels("zero_one", ["no", "yes", "yes", "yes"], ["maybe", "no", "yes"])
    array([0.  , 0.25, 0.75])
    """
    labels = np.asarray(labels)
    if callable(loss) or (loss in POWERS and labels.dtype.kind not in "iufb"):
        return None
    if loss in POWERS:
        levels = (np.arange(STEPS) + 0.5) / STEPS
        return np.quantile(labels.astype(np.float64), levels, method="inverted_cdf")
    return np.bincount(np.searchsorted(classes, labels), minlength=len(classes)) / labels.size


def label_floors(loss: Loss | str, source: Vector, guesses: np.ndarray) -> Vector:
    """The floor of every row of ``guesses``, descriptions of pseudo-labels; 0 where they are NaN.

    ``source`` describes the labels of one source, or those of each row's own.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.model_selection.label_floor import label_floors
    >>> half, guesses = np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.4, 0.6]])
    >>> label_floors("zero_one", half, guesses)
    array([0.4, 0.1])
    """
    distances = np.nan_to_num(np.abs(guesses - source))
    if loss in POWERS:
        return (distances ** POWERS[loss]).mean(axis=1)
    variation = distances.sum(axis=1) / 2
    return variation * (np.log(2.0) if loss == "log" else 1.0)
