"""Confusion matrix, recall and precision per class, and classes that are rare or ignored.

If a class has 1 % of the rows, a model that never predicts it has an accuracy of 0.99.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import confusion_matrix

from landbridge._typing import Vector, VectorLike
from landbridge._validation import without_masks

# Below this share of rows a class is rare.
RARE = 0.2
# A class is seldom predicted if its predictions number less than this share of its rows.
SELDOM = 0.2


@dataclass(frozen=True, eq=False)
class ClassReport:
    """Recall, precision and confusion matrix per class.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        Class labels.
    confusion : ndarray of shape (n_classes, n_classes)
        Weight of the rows of a true class (row) with a predicted class (column).
    """

    classes: Vector
    confusion: np.ndarray

    @property
    def n_rows(self) -> Vector:
        """Number (or total weight) of rows per true class."""
        return self.confusion.sum(axis=1)

    @property
    def n_predicted(self) -> Vector:
        """Number (or total weight) of rows per predicted class."""
        return self.confusion.sum(axis=0)

    @property
    def recall(self) -> Vector:
        """Share of the rows of a class that are predicted correctly; NaN without such rows."""
        return _share(np.diag(self.confusion), self.n_rows)

    @property
    def precision(self) -> Vector:
        """Share of correct predictions of a class; NaN if it was never predicted."""
        return _share(np.diag(self.confusion), self.n_predicted)

    @property
    def shares(self) -> Vector:
        """Share of each class among the rows."""
        return self.n_rows / self.confusion.sum()

    @property
    def rarest(self) -> int:
        """Position of the rarest class that has rows."""
        return int(np.argmin(np.where(self.n_rows > 0, self.n_rows, np.inf)))

    @property
    def never(self) -> list[int]:
        """Positions of classes that have rows but are never predicted."""
        return np.flatnonzero((self.n_rows > 0) & (self.n_predicted == 0)).tolist()

    @property
    def seldom(self) -> list[int]:
        """Positions of classes that are predicted for fewer than a fifth of their rows."""
        few = (self.n_predicted > 0) & (self.n_predicted < SELDOM * self.n_rows)
        return np.flatnonzero(few).tolist()

    @property
    def imbalanced(self) -> bool:
        """Whether the rarest class has fewer than 20 % of the rows.

        With more than four classes, the limit is half of an equal share.
        """
        n_classes = np.sum(self.n_rows > 0)
        return bool(self.shares[self.rarest] < (RARE if n_classes <= 4 else 0.5 / n_classes))

    @property
    def suggested_metric(self) -> str | None:
        """Name of a metric that reflects rare classes; None if classes are balanced."""
        if not self.imbalanced:
            return None
        return "average_precision" if np.sum(self.n_rows > 0) == 2 else "balanced_accuracy"


@without_masks
def class_report(
    y: VectorLike, predictions: VectorLike, classes: VectorLike, sample_weight: VectorLike = None
) -> ClassReport:
    """Compute recall, precision and confusion matrix per class.

    Examples
    --------
    >>> from landbridge.metrics.class_report import class_report
    >>> report = class_report([0, 0, 1], [[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]], ["ill", "well"])
    >>> report.recall, report.precision
    (array([0.5, 1. ]), array([1. , 0.5]))
    """
    known = np.asarray(classes)
    predicted = np.asarray(predictions).argmax(axis=-1)
    positions = np.arange(len(known))
    table = confusion_matrix(y, predicted, labels=positions, sample_weight=sample_weight)
    return ClassReport(known, table)


def _share(part: Vector, whole: Vector) -> Vector:
    return np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
