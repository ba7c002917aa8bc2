"""Rows that were asked for, batches of them, and the rows whose labels are known."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from landbridge._typing import Vector
from landbridge.labelling.design import design_weights
from landbridge.labelling.pool import Pool, make_pool


@dataclass(frozen=True, slots=True)
class AskedRow:
    """One row that was asked for.

    Parameters
    ----------
    row : int
        Index of the row among the unlabelled rows.
    batch : int
        Number of the batch, from 0.
    probability : float
        Inclusion probability of the row in its batch.
    why : str
        Reason for selecting the row, in words.
    predictions : list
        Predictions of every candidate before the label was known: class probabilities, or numbers.
    label : int, float or None
        Index of the class, or number; ``None`` until the row is labelled.
    """

    row: int
    batch: int
    probability: float
    why: str
    predictions: list[Any]
    label: float | int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows to label next.

    Parameters
    ----------
    rows : ndarray of int
        Sorted row indices in ``X_unlabeled``.
    probabilities : ndarray
        Inclusion probability of each row.
    reasons : tuple of str
        Reason for selecting each row.
    number : int
        Number of the batch, from 0.
    """

    rows: Vector
    probabilities: Vector
    reasons: tuple[str, ...]
    number: int

    def __len__(self) -> int:
        return self.rows.size


@dataclass(frozen=True, eq=False)
class Known:
    """Labelled rows: predictions before the label was known, labels, batches and their design."""

    pool: Pool | None
    y: Vector
    batches: Vector
    probabilities: Vector

    @classmethod
    def of(
        cls, asked: Sequence[AskedRow], names: Sequence[str], *, is_classification: bool
    ) -> Self:
        """Collect the labelled rows; rows left unanswered are assumed missing at random."""
        known = [one for one in asked if one.label is not None]
        if not known:
            return cls(None, np.empty(0), np.empty(0, int), np.empty(0))
        batches = np.array([one.batch for one in known])
        # Batches without answers are left out, so numbers are made consecutive.
        _, numbers = np.unique(batches, return_inverse=True)
        n_asked = np.bincount([one.batch for one in asked])
        share = np.bincount(batches, minlength=n_asked.size) / np.maximum(n_asked, 1)
        probabilities = np.array([one.probability for one in known]) * share[batches]
        values = np.stack([np.array(one.predictions) for one in known], axis=1)
        y = np.array([one.label for one in known], dtype=int if is_classification else float)
        return cls(make_pool(values, names=names), y, numbers, probabilities)

    @property
    def sizes(self) -> list[int]:
        """Number of labels per batch."""
        return np.bincount(self.batches).tolist() if self.y.size else []

    @cached_property
    def weights(self) -> Vector:
        """Design weights of the rows; their sum estimates the number of rows of the pool."""
        return design_weights(self.batches, self.probabilities)
