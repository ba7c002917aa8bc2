r"""What may choose in the place of reverse validation, whose blind spot is the target's labels.

A model that learns its own pseudo-labels again passes reverse validation, whether they are right or
wrong. Two corrections look at the pseudo-labels themselves.

``"consensus"``
    The candidates vote on the target rows. Let V be the winner. Whatever the model f,

    .. math::
        \bigl|\, P_t(f(x) \ne y) - P_t(f(x) \ne V(x)) \,\bigr| \le P_t(V(x) \ne y),

    so that the share of rows on which f *dissents* from the vote ranks the candidates as their
    target errors do, up to the error of the vote, and it is measured on the target itself. The
    candidate with the least dissent is chosen. Candidate c, whose criterion is r_c, votes with the
    weight 1 − r_c k/(k − 1), its skill beyond chance among k classes, for zero-one loss (0 where
    it has none), and 1/r_c for other losses. The points of a grid share their candidate's vote, so
    that many variants of one model do not outvote the others. Numbers vote by their weighted
    mean, and dissent is the mean squared distance from it.

``"label_floor"``
    The criterion is raised to the least loss that the distribution of a candidate's
    pseudo-labels allows (see `label_floor.py`).

Scores remain those of the criterion: dissent ranks candidates and estimates no target loss.
"""

from collections.abc import Hashable, Sequence

import numpy as np

from landbridge._typing import Vector, VectorLike
from landbridge.model_selection.anchored import dissent_from_vote, vote

# In words, after the reason for the criterion.
CORRECTIONS = {
    "consensus": "chosen is who is closest to the vote of all on the target",
    "label_floor": "where it lies below the label floor, the floor counts",
}
# Losses below this part of the largest one count as such, or one of zero would be the whole vote.
LEAST = 0.01
# A loss whose inverse is a weight that can still be summed.
TINY = 1e-300


def corrected(
    values: Vector,
    correction: str | None,
    *,
    floors: VectorLike,
    ballots: VectorLike,
    kinds: Sequence[Hashable],
    proportion: bool,
) -> Vector:
    """What chooses: the criterion of every candidate, or what the correction makes of it."""
    if correction == "label_floor":
        return np.maximum(values, floors)
    if correction == "consensus":
        return dissent(ballots, values, kinds, proportion=proportion)
    return values


def dissent(
    ballots: np.ndarray, values: Vector, kinds: Sequence[Hashable], *, proportion: bool
) -> Vector:
    """Distance of every candidate from the vote; NaN where the criterion is.

    Parameters
    ----------
    ballots : ndarray (candidates, target rows)
        Predictions: numbers of classes (integers), or numbers (floats).
    values : ndarray (candidates,)
        The criterion, a loss; NaN for a candidate that failed and has no vote.
    kinds : sequence (candidates,)
        Those of one kind share a vote.
    proportion : bool
        Whether the criterion is a share of wrong rows.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.model_selection.correction import dissent
    >>> ballots = np.array([[0, 0, 1, 1], [0, 0, 1, 0], [1, 0, 1, 0]])
    >>> dissent(ballots, np.array([0.2, 0.1, 0.2]), ["tree", "bayes", "linear"], proportion=True)
    array([0.25, 0.  , 0.25])
    """
    voters = ~np.isnan(values)
    numbers = np.unique([kinds.index(kind) for kind in kinds], return_inverse=True)[1][voters]
    answer = np.full(values.shape, np.nan)
    n_classes = max(int(ballots[voters].max(initial=0)) + 1, 2) if proportion else None
    weights = vote_weights(values[voters], n_classes) / np.bincount(numbers)[numbers]
    answer[voters] = dissent_from_vote(ballots[voters], weights)
    return answer


class BallotBox:
    """Pseudo-labels of the cells of a search, fold by fold."""

    def __init__(self, n_cells: int, classes: VectorLike):
        self._cast: list[list[Vector]] = [[] for _ in range(n_cells)]
        # As few bytes as the numbers of classes need.
        self._type = np.dtype(float) if classes is None else np.min_scalar_type(len(classes))

    def cast(self, cell: int, labels: Vector) -> None:
        """Add the labels of one fold: numbers of classes, or numbers."""
        self._cast[cell].append(labels.astype(self._type))

    def counted(self) -> VectorLike:
        """Cells × rows: the mean of numbers, the class that most folds give, the first of equals.

        Zeros for a cell without any fold, and ``None`` where no cell has one.
        """
        n_rows = {labels.size for folds in self._cast for labels in folds}
        if not n_rows:
            return None
        answer = np.zeros((len(self._cast), n_rows.pop()), dtype=self._type)
        for row, folds in zip(answer, self._cast, strict=True):
            if folds:
                row[:] = vote(np.array(folds), np.ones(len(folds)))
        return answer


def vote_weights(losses: Vector, n_classes: int | None) -> Vector:
    """Skill beyond chance among ``n_classes``, where losses are shares of wrong rows; else 1/loss.

    All votes are equal where none has any skill.
    """
    if n_classes is None:
        worst = float(losses.max(initial=0.0))
        # Losses of a callable may all be negative, and have no inverse that is a weight.
        return 1.0 / np.maximum(losses, max(LEAST * worst, TINY)) if worst else np.ones_like(losses)
    skill = np.maximum(1 - losses * n_classes / (n_classes - 1), 0.0)
    return skill if skill.any() else np.ones_like(losses)
