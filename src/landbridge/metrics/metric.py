"""Metric of stored predictions: scores, losses and replicates of many cells at once."""

import math
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from landbridge._typing import VectorLike
from landbridge._validation import without_masks
from landbridge.inference.intervals import format_number
from landbridge.metrics._kernels import Kernel, Pointwise

# Cross-validation does not evaluate the final model itself. On 66 tasks with natural domains, the
# variance of the error of the estimated accuracy was 1.3 times that of a fixed model
# (`benchmarks/search_regret.py`).
CROSS_VALIDATED = 4 / 3

Response: TypeAlias = Literal["label", "probability", "number"]


@dataclass(frozen=True)
class Metric:
    """Metric of stored predictions, created by `check_scoring`.

    Parameters
    ----------
    name : str
        Name given by the user, or key of a dictionary.
    label : str
        Name for tables and sentences, such as "ROC AUC" or "RMSE".
    greater_is_better : bool
        Whether larger scores are better.
    response : {"label", "probability", "number"}
        Kind of predictions that the metric uses. A metric of probabilities is meaningless for
        one-hot predictions of a model without ``predict_proba``.
    bounds : pair of floats
        Smallest and largest possible score.
    kernel : callable
        Function that computes the scores of all cells under several weightings of the rows.
    pointwise_kernel : callable, optional
        Function that computes the loss of each row, if ``loss(score)`` is a mean of such losses.
    vectorised : bool
        Whether `replicates` is fast; otherwise it calls the metric once per cell and replicate.
    variance_factor : float
        Variance of the error of the score relative to that of its replicates.
    out_of_fold_factor : float
        Variance of the error for predictions out of fold relative to that for a fixed model.
    positive : int, optional
        Position of the class that a metric of one class, like F1 or recall, is about.
    ranks : bool
        Whether the score depends only on the order of the probabilities, as that of ROC AUC does.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge.metrics.scoring import check_scoring
    >>> auc, accuracy = check_scoring(
    ...     ["roc_auc", "accuracy"], task="classification", classes=["ill", "well"]
    ... )
    >>> y = np.array([0, 0, 1, 1])
    >>> probabilities = np.array([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4], [0.2, 0.8]])
    >>> auc.score(y, probabilities), accuracy.score(y, probabilities)
    (0.75, 0.5)
    >>> auc.label, auc.loss(0.75)
    ('ROC AUC', 0.25)
    >>> accuracy.pointwise(y, probabilities), auc.score_of(0.25)
    (array([0., 1., 1., 0.]), 0.75)
    >>> auc.replicates(y, probabilities[None], np.ones((2, 4)))
    array([[0.75, 0.75]])
    """

    name: str
    label: str
    greater_is_better: bool
    response: Response
    bounds: tuple[float, float]
    kernel: Kernel = field(repr=False, metadata={"saved": False})
    pointwise_kernel: Pointwise | None = field(default=None, repr=False, metadata={"saved": False})
    vectorised: bool = field(default=True, repr=False)
    variance_factor: float = field(default=1.0, repr=False)
    out_of_fold_factor: float = field(default=CROSS_VALIDATED, repr=False)
    positive: int | None = field(default=None, repr=False, metadata={"saved": False})
    ranks: bool = field(default=False, repr=False, metadata={"saved": False})

    @property
    def decomposable(self) -> bool:
        """Whether ``loss(score)`` is the mean of a pointwise loss."""
        return self.pointwise_kernel is not None

    @property
    def loss_bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value of `loss`."""
        if not self.greater_is_better:
            return self.bounds
        low, high = self.bounds
        return float(self.loss(high)), float(self.loss(low))

    @without_masks
    def score(
        self, y: VectorLike, predictions: VectorLike, sample_weight: VectorLike = None
    ) -> Any:
        """Compute the metric in its usual orientation; for example, RMSE is positive.

        Parameters
        ----------
        y : array of shape (n_rows,)
            Positions of the true classes, or numbers.
        predictions : array of shape (…, n_rows) or (…, n_rows, n_classes)
            Numbers, or class probabilities.
        sample_weight : array of shape (n_rows,), optional
            Weights of the rows.

        Returns
        -------
        score : float, or ndarray of the leading shape
            NaN where the metric is not defined.
        """
        y, (cells, leading) = np.asarray(y), self._cells(predictions)
        weight = np.ones(y.shape[0]) if sample_weight is None else np.asarray(sample_weight)
        scores = self.kernel(y, cells, weight[None].astype(np.float64))[:, 0]
        return scores.reshape(leading) if leading else float(scores[0])

    def loss(self, score: Any) -> Any:
        """Convert a score to a loss, for which smaller is better.

        It is 1 − score for accuracy, ROC AUC, F1 and R², the error itself for errors, and −score
        for scores without an upper bound.

        Parameters
        ----------
        score : float or array
            Score in the unit of the metric.

        Returns
        -------
        float or array
            Loss.
        """
        if not self.greater_is_better:
            return score
        return (self.bounds[1] if math.isfinite(self.bounds[1]) else 0.0) - score

    def score_of(self, loss: Any) -> Any:
        """Convert a `loss` back to a score.

        Parameters
        ----------
        loss : float or array
            Result of `loss`.

        Returns
        -------
        float or array
            Score in the unit of the metric.
        """
        return self.loss(loss)

    @without_masks
    def pointwise(self, y: VectorLike, predictions: VectorLike) -> np.ndarray:
        """Compute the loss of each row; the mean of the losses is ``loss(score)``.

        Parameters
        ----------
        y : array of shape (n_rows,)
            Positions of the true classes, or numbers.
        predictions : array of shape (…, n_rows) or (…, n_rows, n_classes)
            Numbers, or class probabilities.

        Returns
        -------
        ndarray of shape (…, n_rows)
            Losses.
        """
        if self.pointwise_kernel is None:
            raise ValueError(
                f"`metric` must be the mean of a pointwise loss; got {self.name!r}, which is "
                "not. Use replicates() to estimate its uncertainty."
            )
        y, (cells, leading) = np.asarray(y), self._cells(predictions)
        return self.pointwise_kernel(y, cells).reshape(*leading, y.shape[0])

    def _cells(self, predictions: VectorLike) -> tuple[np.ndarray, tuple[int, ...]]:
        """Predictions with cells as the only leading axis, and the leading axes they had."""
        cells = np.asarray(predictions, dtype=np.float64)
        n_leading = cells.ndim - (1 if self.response == "number" else 2)
        return cells.reshape(-1, *cells.shape[n_leading:]), cells.shape[:n_leading]

    @without_masks
    def replicates(self, y: VectorLike, predictions: VectorLike, weights: VectorLike) -> np.ndarray:
        """Compute the score of every cell under every weighting of the rows.

        Parameters
        ----------
        y : array of shape (n_rows,)
            Positions of the true classes, or numbers.
        predictions : array of shape (n_cells, n_rows) or (n_cells, n_rows, n_classes)
            Numbers, or class probabilities, of every cell.
        weights : array of shape (n_replicates, n_rows)
            One weighting of the rows per replicate.

        Returns
        -------
        ndarray of shape (n_cells, n_replicates)
            Scores in the unit of the metric.
        """
        cells = np.asarray(predictions, dtype=np.float64)
        return self.kernel(np.asarray(y), cells, np.asarray(weights, dtype=np.float64))

    def format(self, value: float) -> str:
        """Format with four significant digits (three below 1), rarely with an exponent.

        Parameters
        ----------
        value : float
            Score or loss.

        Returns
        -------
        str
            Formatted number.

        Examples
        --------
        >>> from landbridge.metrics.scoring import check_scoring
        >>> rmse = check_scoring("rmse", task="regression")[0]
        >>> [rmse.format(value) for value in (42.1349, 0.05123, 12340.4, 3e-9)]
        ['42.13', '0.0512', '12 340', '3.000e-09']
        """
        return format_number(value)


def percent(share: float, digits: int = 0) -> str:
    """A share as a percentage, with a space before the sign as everywhere in the output."""
    return f"{100 * share:.{digits}f} %"
