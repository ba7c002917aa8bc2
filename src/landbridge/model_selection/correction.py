r"""What may choose in the place of reverse validation, whose blind spot is the target's labels.

A model that learns its own pseudo-labels again passes reverse validation, whether they are right or
wrong. Two corrections look at the pseudo-labels themselves.

``"consensus"``
    On the target rows the candidates vote, candidate c with the weight 1/r_c, r being its
    criterion (TrCV). Let V be the winner of the vote. Whatever the model f,

    .. math::
        \bigl|\, P_t(f(x) \ne y) - P_t(f(x) \ne V(x)) \,\bigr| \le P_t(V(x) \ne y),

    so that the share of rows on which f *dissents* from the vote ranks the candidates as their
    target errors do, up to the error of the vote, and with no weights and no shift between:
    it is measured on the target itself. Numbers vote by their weighted mean, and dissent is the
    mean squared distance from it. The candidate with the least dissent is chosen.

``"label_floor"``
    The criterion is raised to the least loss that the distribution of a candidate's
    pseudo-labels allows (see `label_floor.py`).

Scores remain those of the criterion: dissent ranks candidates and estimates no target loss.
"""

import numpy as np

from landbridge._typing import Vector, VectorLike
from landbridge.model_selection.anchored import dissent_from_vote

# In words, after the reason for the criterion.
CORRECTIONS = {
    "consensus": "the candidate closest to the vote of all, weighted by it, is chosen",
    "label_floor": "where it lies below the label floor, the floor counts",
}
# A criterion of zero would make one candidate the whole vote.
LEAST = 1e-3


def corrected(
    values: Vector, correction: str | None, floors: VectorLike, ballots: VectorLike
) -> Vector:
    """What chooses: the criterion of every candidate, or what the correction makes of it."""
    if correction == "label_floor":
        return np.maximum(values, floors)
    return dissent(ballots, values) if correction == "consensus" else values


def dissent(ballots: np.ndarray, values: Vector) -> Vector:
    """Distance of every candidate from the vote; NaN where the criterion is.

    Parameters
    ----------
    ballots : ndarray (candidates, target rows)
        Predictions: numbers of classes (integers), or numbers (floats).
    values : ndarray (candidates,)
        The criterion, a loss; NaN for a candidate that failed and has no vote.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.model_selection.correction import dissent
    >>> ballots = np.array([[0, 0, 1, 1], [0, 0, 1, 0], [1, 0, 1, 0]])
    >>> dissent(ballots, np.array([0.2, 0.1, 0.2]))
    array([0.25, 0.  , 0.25])
    """
    voters = ~np.isnan(values)
    least = max(LEAST * float(values[voters].max(initial=0.0)), np.finfo(np.float64).tiny)
    answer = np.full(values.shape, np.nan)
    answer[voters] = dissent_from_vote(ballots[voters], 1.0 / np.maximum(values[voters], least))
    return answer
