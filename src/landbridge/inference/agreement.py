"""Accuracy without labels: agreement between candidates, with a reference interval.

Without labels, the accuracy of a model cannot be measured. However, the agreement of its
predictions with those of the other candidates on the target rows can be computed. On tasks with
known labels, the mean agreement was closer to the accuracy than confidences and source scores
(benchmark `trust`). The interval covers the differences between accuracy and agreement observed
there, with equal weight for every dataset. It is a reference from other data, not a confidence
interval: candidates that all make the same mistake agree perfectly.
"""

import math
from dataclasses import dataclass

import numpy as np

from landbridge._typing import Vector, VectorLike
from landbridge._validation import without_masks
from landbridge.inference.intervals import check_level, normal_quantile

FEWEST_CANDIDATES = 3


@dataclass(frozen=True, slots=True, eq=False)
class AgreementInterval:
    """Agreement with the other candidates and reference intervals for the accuracy.

    Parameters
    ----------
    estimate : array of shape (n_candidates,)
        Agreement minus 0.019, its mean excess over the accuracy on the development tasks.
    agreement : array of shape (n_candidates,)
        Mean agreement of each candidate with the others.
    low, high : arrays of shape (n_candidates,)
        Bounds.
    level : float
        Share of the reference differences that the interval contains.
    n_rows : int
        Number of rows on which the candidates were compared.
    """

    estimate: Vector
    agreement: Vector
    low: Vector
    high: Vector
    level: float
    n_rows: int

    @property
    def basis(self) -> str:
        """Basis of the interval, in words."""
        return (
            f"agreement of {len(self.estimate)} candidates on {self.n_rows} unlabelled rows; the "
            f"interval holds {100 * self.level:.0f} % of the differences between agreement and "
            f"accuracy on {N_TASKS} tasks from {N_DATASETS} other datasets. No label was used."
        )


# From `python -m benchmarks trust`: median of accuracy − agreement over the development tasks, and
# quantiles over all tasks with equal weight per dataset. The page of the benchmark reports the
# coverage with each dataset left out.
OFFSET = -0.019
N_TASKS, N_DATASETS = 130, 10
PROBABILITIES = np.array([0.005, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.995])
QUANTILES = np.array(
    [-0.479, -0.295, -0.272, -0.214, -0.153, -0.059, 0.004, 0.06, 0.119, 0.175, 0.368]
)


def mean_agreement(predicted: VectorLike) -> Vector:
    """Mean share of rows on which each candidate agrees with the other candidates."""
    predicted = np.asarray(predicted)
    same = np.array([(predicted == one).mean(axis=1) for one in predicted])
    return (same.sum(axis=1) - 1) / (len(predicted) - 1)


@without_masks
def agreement_interval(predicted: VectorLike, *, level: float = 0.9) -> AgreementInterval:
    """Reference interval for the accuracy of each candidate from unlabelled rows.

    Parameters
    ----------
    predicted : array of shape (n_candidates, n_rows)
        Classes that the candidates predict for the same unlabelled target rows.
    level : float, default=0.9
        Share of the differences on the other datasets that the interval contains; at most 0.99.

    Returns
    -------
    AgreementInterval
        Agreement and interval of each candidate.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.inference import agreement_interval
    >>> predicted = np.array([[0, 1, 1, 0], [0, 1, 0, 0], [0, 1, 1, 1]])
    >>> agreement_interval(predicted).agreement
    array([0.75 , 0.625, 0.625])
    """
    check_level(level)
    predicted = np.asarray(predicted)
    if predicted.ndim != 2 or len(predicted) < FEWEST_CANDIDATES or predicted.shape[1] == 0:
        raise ValueError(
            f"`predicted` must contain the predictions of at least {FEWEST_CANDIDATES} candidates "
            f"for the same rows; got shape {predicted.shape}. Add candidates."
        )
    agreement = mean_agreement(predicted)
    estimate = np.clip(agreement + OFFSET, 0, 1)
    below, above = np.interp([(1 - level) / 2, (1 + level) / 2], PROBABILITIES, QUANTILES)
    low, high = np.clip(agreement + below, 0, 1), np.clip(agreement + above, 0, 1)
    return AgreementInterval(estimate, agreement, low, high, level, predicted.shape[1])


def labels_for_accuracy(accuracy: float, *, within: float = 0.05, level: float = 0.9) -> int:
    """Number of random labels, in tens, for an interval of an accuracy of ± ``within``."""
    check_level(level)
    accuracy = float(np.clip(accuracy, 0.05, 0.95))
    n = (normal_quantile(level) / within) ** 2 * accuracy * (1 - accuracy)
    return 10 * math.ceil(n / 10)


def labels_for_error(*, within: float = 0.2, level: float = 0.9) -> int:
    """Number of random labels, in tens, for an interval of an RMSE of ± ``within`` times the RMSE.

    The mean of n squared normal errors has a relative standard deviation of √(2/n), and its root
    half of that. Long tails need more labels.
    """
    check_level(level)
    n = (normal_quantile(level) / (2 * within)) ** 2 * 2
    return 10 * math.ceil(n / 10)
