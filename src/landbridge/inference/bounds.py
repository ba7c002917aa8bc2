"""A bound on the target error from weighted source losses."""

from dataclasses import dataclass

import numpy as np

from landbridge._typing import VectorLike
from landbridge._validation import without_masks
from landbridge.inference.sources import check_losses


@dataclass(frozen=True, slots=True)
class Bound:
    """Bound on the target error; a bound of 1 or more is vacuous for a loss in [0, 1].

    Parameters
    ----------
    value : float
        Sum of ``loss`` and ``complexity``.
    loss : float
        Weighted loss on the source.
    complexity : float
        Term for the capacity of the models.
    delta : float
        Probability that the bound fails.
    """

    value: float
    loss: float
    complexity: float
    delta: float

    @property
    def is_vacuous(self) -> bool:
        """Whether the bound is trivial for a loss in [0, 1]."""
        return self.value >= 1.0

    def __repr__(self) -> str:
        note = ", vacuous" if self.is_vacuous else ""
        return (
            f"Bound({self.value:.3g} = {self.loss:.3g} + {self.complexity:.3g}, "
            f"holds with probability {1 - self.delta:g}{note})"
        )


@without_masks
def generalization_bound(
    losses: VectorLike, vc_dimension: float, *, weights: VectorLike = None, delta: float = 0.05
) -> Bound:
    """Bound the target error by the weighted source loss and the capacity of the models.

    With probability at least 1 − δ (Zhong, Fan, Yang, Verscheure and Ren, *Cross validation
    framework to choose amongst models and datasets for transfer learning*, Theorem 1, Eq. (8))

        G(f) ≤ ℓ_w(f) + √( (d (log(2n/d) + 1) − log(δ/4)) / n ),   ℓ_w(f) = (1/n) Σ_i β_i loss_i.

    The square root is Vapnik's term for n unweighted rows. The theorem replaces the target loss by
    ℓ_w, which equals it only for n → ∞. The bound therefore ignores the cost of uneven or estimated
    weights and is optimistic if the effective sample size is far below n. For most models in
    practice it is vacuous.

    Parameters
    ----------
    losses : array of shape (n_rows,)
        Losses between 0 and 1 of one model on source rows.
    vc_dimension : float
        The Vapnik–Chervonenkis dimension d of the class of models; for linear ones with an
        intercept the number of features + 1.
    weights : array of shape (n_rows,), optional
        Density ratio β_i of target to source; 1 by default.
    delta : float, default=0.05
        Probability that the bound fails.

    Returns
    -------
    Bound
        Bound with its two terms.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.inference import generalization_bound
    >>> generalization_bound(np.repeat([0, 1], [9000, 1000]), vc_dimension=3)
    Bound(0.158 = 0.1 + 0.0581, holds with probability 0.95)
    """
    losses = check_losses(losses, "losses")
    if losses.min() < 0 or losses.max() > 1:
        raise ValueError(
            f"`losses` must lie between 0 and 1 for this bound; got {losses.min():.3g} to "
            f"{losses.max():.3g}. Use zero-one losses, or divide by the largest possible loss."
        )
    if not 0 < delta < 1:
        raise ValueError(f"`delta` must lie between 0 and 1; got {delta!r}.")
    n = losses.shape[0]
    if not 0 < vc_dimension <= n:
        raise ValueError(
            f"`vc_dimension` must lie between 0 and the number of rows, {n}; got {vc_dimension!r}. "
            "With a larger one the bound does not hold; use more rows or a simpler model."
        )
    beta = np.ones(n) if weights is None else check_losses(weights, "weights")
    if beta.shape != losses.shape or beta.min() < 0:
        raise ValueError(
            f"`weights` must hold one number of at least 0 for each of the {n} losses; got shape "
            f"{beta.shape}, smallest {beta.min():.3g}. Pass the density ratio at the same rows."
        )
    weighted_loss = float(beta @ losses / n)
    capacity = vc_dimension * (np.log(2 * n / vc_dimension) + 1)  # Eq. (8)
    complexity = float(np.sqrt((capacity - np.log(delta / 4)) / n))
    return Bound(weighted_loss + complexity, weighted_loss, complexity, delta)
