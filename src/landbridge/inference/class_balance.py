"""Detect rare classes and classes that a model ignores, from the confusion matrix.

If a class has 1 % of the rows, a model that never predicts it has an accuracy of 0.99. The
functions report whether classes are imbalanced, which metric is more informative, and which classes
a model ignores.
"""

from dataclasses import dataclass

import numpy as np

from landbridge._typing import Vector, VectorLike

# Below this share of rows a class is rare.
RARE = 0.2
# A class is seldom predicted if its predictions number less than this share of its rows.
SELDOM = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class ClassBalance:
    """Class frequencies of the labelled rows, and the classes that a model ignores.

    Parameters
    ----------
    shares : array of shape (n_classes,)
        Share of each class among the rows.
    rarest : int
        Position of the rarest class that has rows.
    never, seldom : tuples of int
        Positions of classes that are predicted for no row, or for fewer than a fifth of their rows.
    """

    shares: Vector
    rarest: int
    never: tuple[int, ...]
    seldom: tuple[int, ...]

    @property
    def imbalanced(self) -> bool:
        """Whether the rarest class has fewer than 20 % of the rows.

        With more than four classes, the limit is half of an equal share.
        """
        n_classes = np.sum(self.shares > 0)
        return bool(self.shares[self.rarest] < (RARE if n_classes <= 4 else 0.5 / n_classes))

    @property
    def suggested_metric(self) -> str | None:
        """Name of a metric that reflects rare classes; None if classes are balanced."""
        if not self.imbalanced:
            return None
        two = np.sum(self.shares > 0) == 2
        return "average_precision" if two else "balanced_accuracy"


def class_balance(confusion: VectorLike) -> ClassBalance:
    """Find rare and ignored classes in a confusion matrix.

    Parameters
    ----------
    confusion : array of shape (n_classes, n_classes)
        Number (or weight) of rows by true class (rows) and predicted class (columns).

    Returns
    -------
    ClassBalance

    Examples
    --------
    >>> from landbridge.inference import class_balance
    >>> found = class_balance([[960, 0], [40, 0]])
    >>> found.imbalanced, found.suggested_metric
    (True, 'average_precision')
    >>> found.never
    (1,)
    """
    table = np.asarray(confusion, dtype=np.float64)
    square = table.ndim == 2 and table.shape[0] == table.shape[1]
    if not square or not (table >= 0).all() or table.sum() == 0:
        raise ValueError(
            "`confusion` must be a table of counts with one row and one column per class; got "
            f"shape {table.shape}. Pass true classes as rows and predicted ones as columns."
        )
    rows, predicted = table.sum(axis=1), table.sum(axis=0)
    present = np.flatnonzero(rows > 0)
    never = present[predicted[present] == 0]
    few = present[(predicted[present] > 0) & (predicted[present] < SELDOM * rows[present])]
    return ClassBalance(
        shares=rows / table.sum(),
        rarest=int(present[np.argmin(rows[present])]),
        never=tuple(never.tolist()),
        seldom=tuple(few.tolist()),
    )
