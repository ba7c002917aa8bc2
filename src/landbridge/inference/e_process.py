"""E-values of paired losses, which remain valid under repeated inspection.

A gambler with one unit of money bets on the sign of each paired difference
dᵢ = lossᵢ(a) − lossᵢ(b). If neither model is better, no strategy makes money on average, and by
Ville's inequality the wealth ever reaches 1/α with probability at most α. The wealth can therefore
be inspected after every label, whereas a fixed-n test would exceed its error rate by far.

For bounded differences (|d| ≤ B), the wealth is Π (1 + λ dᵢ/B), a martingale for every λ in [−1, 1]
when the mean of d is zero (Waudby-Smith and Ramdas, *Estimating means of bounded random variables
by betting*, 2024). For unbounded differences, it is Π exp(λ dᵢ − λ² dᵢ²/2), a supermartingale when
the sign of d is a fair coin given |d| (de la Peña, *A general class of exponential inequalities for
martingales and ratios*, 1999). Both are averaged over a fixed set of λ, so the result does not
depend on the order of the rows.
"""

import numpy as np
from scipy.special import logsumexp

from landbridge._typing import Vector, VectorLike
from landbridge._validation import check_positive, without_masks

# Stakes as shares of the wealth. Kelly's stake is mean/second moment of d; for paired zero-one
# losses with relevant differences it is between 0.05 and 0.9.
STAKES = np.array([0.1, 0.2, 0.35, 0.55, 0.8])
# The scale of unbounded differences is unknown beforehand, so stakes cover twelve decades around
# 1/scale in steps of a factor of 4.
WIDE_STAKES = 2.0 ** np.arange(-20, 21, 2)


@without_masks
def e_value(
    differences: VectorLike, *, bound: float | None = None, scale: float | None = None
) -> float | Vector:
    """Evidence, valid at any number of rows, that the first of two models has the smaller loss.

    Values of at least 1/α are significant at the level α. The evidence for the second model is that
    of ``-differences``; the mean of both is a two-sided e-value.

    Parameters
    ----------
    differences : array of shape (n_rows,) or (n_pairs, n_rows)
        Loss of the first model minus loss of the second on the same rows.
    bound : float, optional
        Largest possible absolute difference: 1 for zero-one losses, 2 for Brier scores. None for
        unbounded losses; the null hypothesis is then that both signs of a difference are equally
        likely given its size.
    scale : float, optional
        Typical size of an unbounded difference, known *before* the labels are looked at (for
        example the variance of source labels for squared errors); any value within a factor of
        about a thousand suffices. 1 by default. Ignored with ``bound``.

    Returns
    -------
    float, or ndarray of shape (n_pairs,)
        E-value of each pair.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.inference import e_value
    >>> bool(e_value(np.repeat([-1, 0, 1], [20, 70, 3]), bound=1) > 20)
    True
    >>> bool(e_value(np.tile([1, -1], 30), bound=1) > 20)
    False
    """
    d = _check_differences(differences, bound)
    if bound is not None:
        wealth = np.stack([np.log1p(-stake * d / bound).sum(axis=-1) for stake in STAKES])
    else:
        check_positive(1.0 if scale is None else scale, "scale")
        stakes = WIDE_STAKES / (1.0 if scale is None else scale)
        stakes = stakes.reshape((-1,) + (1,) * (d.ndim - 1))
        wealth = -stakes * d.sum(axis=-1) - stakes**2 * (d**2).sum(axis=-1) / 2
    log_evidence = logsumexp(wealth, axis=0) - np.log(len(wealth))
    return np.exp(np.minimum(log_evidence, 690))[()]


def _check_differences(differences: VectorLike, bound: float | None) -> Vector:
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim not in (1, 2) or d.shape[-1] == 0 or not np.isfinite(d).all():
        raise ValueError(
            "`differences` must be finite numbers, one per row, for one or several pairs; got "
            f"shape {d.shape}. Pass the losses of one model minus those of the other."
        )
    if bound is not None:
        check_positive(bound, "bound")
        largest = float(np.abs(d).max())
        if largest > bound * (1 + 1e-12):
            raise ValueError(
                f"`bound` must be at least the largest absolute difference; got {bound:g}, but "
                f"the largest is {largest:.4g}. Pass None for unbounded losses."
            )
        d = np.clip(d, -bound, bound)
    return d
