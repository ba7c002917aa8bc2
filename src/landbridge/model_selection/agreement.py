"""How well a criterion orders models: the paper's measure."""

import numpy as np
from sklearn.utils.validation import check_consistent_length

from landbridge._typing import VectorLike


def rank_agreement(accuracy: VectorLike, score: VectorLike) -> int:
    r"""Pairs of models that a score does not rank the wrong way round.

    .. math::
        corr = \binom{|H|}{2} - \#\{f, g : (ε(f) - ε(g)) (v(f) - v(g)) < 0\},

    the measure of Section 5.1 of Zhong et al., where ε is the true accuracy and v the score.
    Greater is better in both; ties are not wrong.

    Parameters
    ----------
    accuracy : array-like of shape (n_models,)
        What the models achieve on the target.
    score : array-like of shape (n_models,)
        What the criterion says of them, greater for better. Pass ``-loss`` for a loss.

    Returns
    -------
    corr : int
        At most ``n_models * (n_models - 1) / 2``.

    Examples
    --------
    >>> from landbridge import rank_agreement
    >>> rank_agreement([0.6, 0.7, 0.9], [0.5, 0.8, 0.7])
    2
    """
    check_consistent_length(accuracy, score)
    accuracy, score = (np.asarray(values, dtype=np.float64) for values in (accuracy, score))
    if accuracy.ndim != 1 or score.ndim != 1:
        raise ValueError(
            "`accuracy` and `score` must hold one number a model; got arrays of shapes "
            f"{accuracy.shape} and {score.shape}. Compare one criterion at a time."
        )
    if not (np.isfinite(accuracy).all() and np.isfinite(score).all()):
        raise ValueError(
            "`accuracy` and `score` must hold finite numbers; got NaN or infinity. "
            "Leave out models that failed."
        )
    first, second = np.triu_indices(accuracy.shape[0], k=1)
    # Signs, because a product of two tiny differences rounds to zero.
    true_order = np.sign(accuracy[first] - accuracy[second])
    wrong = true_order * np.sign(score[first] - score[second]) < 0
    return int(wrong.size - wrong.sum())
