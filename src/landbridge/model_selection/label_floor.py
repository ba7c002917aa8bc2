r"""The least loss that guesses of a given distribution can have on the target.

If labels are distributed in the target as they are in the source, then whatever the model f, its
loss is at least the cost of carrying its guesses over to labels of that distribution,

.. math::
    E\,\ell\bigl(y, f(x)\bigr) \ge \min_{γ} E_γ\,\ell(y, \hat y), \qquad
    γ \text{ with marginals } P_s(y) \text{ and } P_t\bigl(f(x)\bigr),

because the joint distribution of y and f(x) is one of the γ. A model that calls 90 % of the target
rows positive after a source with 50 % errs on at least 40 % of them, however well its
pseudo-labels lead back to the source: a linear model learns its own labels again, right or wrong,
so that reverse validation is blind to what the floor sees.

======== ======================================================= ==========================
loss     floor                                                   in words
======== ======================================================= ==========================
zero_one ½ Σ_k abs(P_s(y = k) − P_t(f(x) = k))                   total variation
log      log 2 times that: a wrong class had p̂(y) ≤ ½            the same in nats
absolute ∫ abs(F_s⁻¹ − F_t⁻¹)                                    Wasserstein distance
squared  ∫ (F_s⁻¹ − F_t⁻¹)²                                      the same of order 2, squared
callable 0                                                       unknown
======== ======================================================= ==========================
"""

import numpy as np

from landbridge._typing import Vector
from landbridge.model_selection.losses import Loss

POWERS = {"absolute": 1, "squared": 2}


def label_floor(loss: Loss, y: Vector, guesses: Vector) -> float:
    """The floor of ``loss`` for guesses of target rows, given the labels of the source.

    Examples
    --------
    >>> from landbridge.model_selection.label_floor import label_floor
    >>> label_floor("zero_one", ["no", "yes"], ["no", "yes", "yes", "yes"])
    0.25
    >>> label_floor("squared", [0.0, 2.0], [1.0, 3.0])
    1.0
    """
    y, guesses = np.asarray(y), np.asarray(guesses)
    if callable(loss):
        return 0.0
    if loss in POWERS:
        return transport_cost(y.astype(np.float64), guesses.astype(np.float64), POWERS[loss])
    return total_variation(y, guesses) * (np.log(2.0) if loss == "log" else 1.0)


def total_variation(first: Vector, second: Vector) -> float:
    """½ Σ over classes of the difference of their shares."""
    classes, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    shares = [
        np.bincount(part, minlength=classes.size) / part.size
        for part in np.split(codes, [first.shape[0]])
    ]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def transport_cost(first: Vector, second: Vector, power: int) -> float:
    """∫ abs(F⁻¹ − G⁻¹)^power between two samples: the cheapest way from one to the other."""
    edges = np.union1d(*(np.arange(n + 1) / n for n in (first.size, second.size)))
    # Both quantile functions are constant between edges; middles are safe from rounding.
    middles = (edges[1:] + edges[:-1]) / 2
    quantiles = [np.quantile(sample, middles, method="inverted_cdf") for sample in (first, second)]
    return float(np.diff(edges) @ np.abs(quantiles[0] - quantiles[1]) ** power)
