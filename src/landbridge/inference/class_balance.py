"""Detect rare classes and classes that a model ignores, from the confusion matrix.

If a class has 1 % of the rows, a model that never predicts it has an accuracy of 0.99. The
functions report whether classes are imbalanced, which metric is more informative, and which classes
a model ignores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from landbridge._typing import Vector, VectorLike

# Below this share of rows a class is rare.
RARE = 0.2
# A class is seldom predicted if its predictions number less than this share of its rows.
SELDOM = 0.2
# Metrics that hardly penalise ignoring a rare class.
BLIND_METRICS = ("accuracy", "zero_one", "error")


@dataclass(frozen=True, slots=True, eq=False)
class ClassBalance:
    """Class frequencies of the labelled rows, and how well a model predicts each class.

    Parameters
    ----------
    classes : tuple
        Class labels.
    shares : array of shape (n_classes,)
        Share of each class among the rows.
    recall : array of shape (n_classes,)
        Share of correctly predicted rows per class; NaN for a class without rows.
    majority_error : float
        Error of always predicting the most frequent class.
    rarest : int
        Position of the rarest class that has rows.
    never, seldom : tuples of int
        Positions of classes that are predicted for no row, or for fewer than a fifth of their rows.
    """

    classes: tuple[Any, ...]
    shares: Vector
    recall: Vector
    majority_error: float
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

    def headline(self) -> str:
        """Recall of the rarest class in words; empty if classes are balanced.

        Returns
        -------
        str
            One sentence, empty if nothing is rare.
        """
        if not self.imbalanced:
            return ""
        k = self.rarest
        return (
            f"recall of {self.classes[k]!r} ({100 * self.shares[k]:.1f} % of rows): "
            f"{self.recall[k]:.2f}"
        )

    def warnings(self, metric: str | None = None) -> tuple[str, ...]:
        """Describe classes that the model ignores, and suggest a metric.

        Parameters
        ----------
        metric : str or Metric, optional
            Metric by which models are compared.

        Returns
        -------
        tuple of str
            One sentence per problem.
        """
        found = [
            f"The model never predicts {self.classes[k]!r}, which has "
            f"{100 * self.shares[k]:.1f} % of the rows."
            for k in self.never
        ]
        found += [
            f"The model hardly ever predicts {self.classes[k]!r}, which has "
            f"{100 * self.shares[k]:.1f} % of the rows (recall {self.recall[k]:.2f})."
            for k in self.seldom
        ]
        if self.imbalanced and metric in BLIND_METRICS:
            found.append(
                f"Always predicting the most frequent class has an accuracy of "
                f"{1 - self.majority_error:.3f}; use {self.suggested_metric} to compare models."
            )
        return tuple(found)


def class_balance(confusion: VectorLike, classes: Sequence[Any]) -> ClassBalance:
    """Find rare and ignored classes in a confusion matrix.

    Parameters
    ----------
    confusion : array of shape (n_classes, n_classes)
        Number (or weight) of rows by true class (rows) and predicted class (columns).
    classes : sequence of length n_classes
        Names of the classes.

    Returns
    -------
    ClassBalance

    Examples
    --------
    >>> from landbridge.inference import class_balance
    >>> found = class_balance([[960, 0], [40, 0]], ["fine", "fraud"])
    >>> found.imbalanced, found.suggested_metric
    (True, 'average_precision')
    >>> print(found.warnings()[0])
    The model never predicts 'fraud', which has 4.0 % of the rows.
    >>> print(found.headline())
    recall of 'fraud' (4.0 % of rows): 0.00
    """
    table = np.asarray(confusion, dtype=np.float64)
    k = len(classes)
    if table.shape != (k, k) or not (table >= 0).all() or table.sum() == 0:
        raise ValueError(
            f"`confusion` must be a table of counts with {k} rows and columns, one per class; got "
            f"shape {table.shape}. Pass true classes as rows and predicted ones as columns."
        )
    rows, predicted = table.sum(axis=1), table.sum(axis=0)
    shares = rows / table.sum()
    with np.errstate(invalid="ignore"):
        recall = np.diag(table) / rows
    present = np.flatnonzero(rows > 0)
    never = present[predicted[present] == 0]
    few = present[(predicted[present] > 0) & (predicted[present] < SELDOM * rows[present])]
    return ClassBalance(
        classes=tuple(classes),
        shares=shares,
        recall=recall,
        majority_error=float(1 - shares.max()),
        rarest=int(present[np.argmin(rows[present])]),
        never=tuple(never.tolist()),
        seldom=tuple(few.tolist()),
    )
