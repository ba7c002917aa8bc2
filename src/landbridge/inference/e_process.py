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

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import logsumexp

from landbridge._typing import Vector, VectorLike
from landbridge._validation import check_positive

# Stakes as shares of the wealth. Kelly's stake is mean/second moment of d; for paired zero-one
# losses with relevant differences it is between 0.05 and 0.9.
STAKES = np.array([0.1, 0.2, 0.35, 0.55, 0.8])
# The scale of unbounded differences is unknown beforehand, so stakes cover twelve decades around
# 1/scale in steps of a factor of 4.
WIDE_STAKES = 2.0 ** np.arange(-20, 21, 2)


@dataclass(frozen=True, slots=True)
class EValue:
    """Evidence from paired differences, as numbers or as arrays with one entry per pair.

    Parameters
    ----------
    value : float or array
        Two-sided e-value, the mean of the two one-sided ones. Values of at least 20 are significant
        at 5 %.
    first_better, second_better : float or array
        Evidence that the first or the second model has the smaller loss.
    n_rows : int
        Number of differences.
    """

    value: float | Vector
    first_better: float | Vector
    second_better: float | Vector
    n_rows: int

    @property
    def p_value(self) -> float | Vector:
        """Anytime-valid p-value, min(1, 1/value)."""
        return np.minimum(1.0, 1.0 / np.maximum(self.value, 1e-300))[()]

    def decided(self, alpha: float = 0.05) -> bool | Vector:
        """Whether one model is better, with an error probability of at most ``alpha``.

        Parameters
        ----------
        alpha : float, default=0.05
            Probability of a false alarm.

        Returns
        -------
        bool or array
            Whether the e-value reaches ``1 / alpha``.
        """
        return (np.asarray(self.value) >= 1 / alpha)[()]

    def winner(self, alpha: float = 0.05) -> Literal["first", "second"] | None:
        """Return the better model of a single pair, or None while undecided.

        Parameters
        ----------
        alpha : float, default=0.05
            Probability of a false alarm.

        Returns
        -------
        {"first", "second"} or None
            None if the evidence does not suffice.
        """
        if not self.decided(alpha):
            return None
        return "first" if self.first_better > self.second_better else "second"


def e_value(
    differences: VectorLike, *, bound: float | None = None, scale: float | None = None
) -> EValue:
    """Evidence, valid at any number of rows, that one of two models is better.

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
    EValue
        Evidence in both directions.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.inference import e_value
    >>> evidence = e_value(np.repeat([1, 0, -1], [20, 70, 3]), bound=1)
    >>> evidence.winner(), bool(evidence.value > 20)
    ('second', True)
    >>> e_value(np.tile([1, -1], 30), bound=1).winner() is None
    True
    >>> bool(evidence.decided(0.95))
    True
    """
    d = _check_differences(differences, bound)
    if bound is not None:
        up = np.stack([np.log1p(stake * d / bound).sum(axis=-1) for stake in STAKES])
        down = np.stack([np.log1p(-stake * d / bound).sum(axis=-1) for stake in STAKES])
    else:
        check_positive(1.0 if scale is None else scale, "scale")
        stakes = WIDE_STAKES / (1.0 if scale is None else scale)
        shape = (-1,) + (1,) * (d.ndim - 1)
        drift = stakes.reshape(shape) * d.sum(axis=-1)
        price = (stakes.reshape(shape) ** 2) * (d**2).sum(axis=-1) / 2
        up, down = drift - price, -drift - price
    n_stakes = len(STAKES) if bound is not None else len(WIDE_STAKES)
    log_second = logsumexp(up, axis=0) - np.log(n_stakes)
    log_first = logsumexp(down, axis=0) - np.log(n_stakes)
    first, second = np.exp(np.minimum(log_first, 690)), np.exp(np.minimum(log_second, 690))
    return EValue(((first + second) / 2)[()], first[()], second[()], d.shape[-1])


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
