"""Confusion matrix, recall and precision per class."""

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import confusion_matrix

from landbridge._typing import Vector, VectorLike


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
