"""Pool of unlabelled rows with the predictions of several models, and their consensus."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from landbridge._typing import Vector, VectorLike
from landbridge.model_selection.search_inference import BASELINES
from landbridge.model_selection.search_records import VOTE
from landbridge.model_selection.search_result import SearchResult
from landbridge.model_selection.vote import stacked

# The consensus never excludes a class, because candidates are overconfident in a new domain.
LEAST_PROBABILITY = 1e-3
# Strength of the prior of equal weights in the consensus, in rows. The consensus judges the
# candidates of "choose", so it must not lean towards some of them too early.
STRENGTH, STRENGTH_TO_CHOOSE = 5.0, 10.0


@dataclass(frozen=True, eq=False)
class Pool:
    """Predictions of candidates for the rows that can be labelled.

    Attributes
    ----------
    values : ndarray (candidates, rows, classes) or (candidates, rows)
        Class probabilities, or numbers.
    labels : ndarray (candidates, rows) or None
        Positions of the predicted classes; ``None`` for numbers.
    names : tuple of str
        Names of the candidates.
    """

    values: np.ndarray
    labels: VectorLike
    names: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.values.shape[1]

    @property
    def is_classification(self) -> bool:
        """Whether the predictions are classes."""
        return self.labels is not None

    def consensus(self, weights: Vector | None = None) -> np.ndarray:
        """Weighted mean of the candidates: probabilities bounded away from 0, or numbers.

        Without weights, it is the mean of probabilities or the median of numbers, which a single
        bad candidate cannot distort.
        """
        if weights is None and not self.is_classification:
            return np.median(self.values, axis=0).astype(np.float64)
        count = len(self.values)
        weights = np.full(count, 1.0 / count) if weights is None else np.asarray(weights, float)
        total = np.zeros(self.values.shape[1:])
        for weight, values in zip(weights, self.values, strict=True):
            if weight > 0:
                total += weight * values
        if self.is_classification:
            np.maximum(total, LEAST_PROBABILITY, out=total)
            total /= total.sum(axis=1, keepdims=True)
        return total


def make_pool(
    predictions: VectorLike, *, labels: VectorLike = None, names: Sequence[str] | None = None
) -> Pool:
    """Check predictions and create a pool.

    Parameters
    ----------
    predictions : array of shape (candidates, rows, classes) or (candidates, rows)
        Class probabilities, or numbers for regression.
    labels : array of int (candidates, rows), optional
        Positions of the predicted classes, if they are not the most probable ones.
    names : sequence of str, optional
        Names of the candidates; their numbers if omitted.

    Returns
    -------
    Pool
    """
    values = np.asarray(predictions)
    if values.ndim not in (2, 3) or min(values.shape) == 0:
        raise ValueError(
            "`predictions` must have shape (candidates, rows, classes), or (candidates, rows) for "
            f"regression; got shape {values.shape}. Stack the predictions of the models."
        )
    if not np.issubdtype(values.dtype, np.floating):
        values = values.astype(np.float64)
    # A sum is finite only if all of its terms are, and needs no temporary array.
    if not all(np.isfinite(one.sum(dtype=np.float64)) for one in values):
        raise ValueError(
            "`predictions` must be finite; got NaN or infinity. Remove the models or rows without "
            "predictions."
        )
    if values.ndim == 3 and labels is None:
        labels = np.stack([one.argmax(axis=1).astype(np.int32) for one in values])
    count = len(values)
    names = tuple(str(k) for k in range(count)) if names is None else tuple(map(str, names))
    if len(names) != count:
        raise ValueError(
            f"`names` must have one name for each of the {count} candidates; got {len(names)}."
        )
    return Pool(values, None if labels is None else np.asarray(labels), names)


def pool_of_search(search: Any) -> tuple[Pool, Vector]:
    """Return the predictions of a search for unlabelled rows, and their indices.

    A search keeps the predictions of at most 2000 unlabelled rows. A search fitted in this process
    predicts the other rows of a larger pool with refitted cells. With a saved result, only the kept
    rows can be selected. The vote is included as a candidate if the search predicts with it.

    Parameters
    ----------
    search : fitted TransferSearchCV, or SearchResult

    Returns
    -------
    pool : Pool
    rows : ndarray of int
        Position of each row of the pool among the unlabelled rows of the search.
    """
    result = getattr(search, "results_", search)
    cells = usable_cells(result)
    if not cells:
        raise ValueError(
            "`search` must have predictions of unlabelled target rows; got a search without them. "
            "Fit it with X_unlabeled, the rows that could be labelled."
        )
    rows = result.unlabelled_rows
    if rows.size < result.info.n_unlabelled and hasattr(search, "_final_fits"):
        values = list(search.predict_unlabelled(cells))
        rows = np.arange(result.info.n_unlabelled)
    else:
        values = [result.unlabelled[cell].values for cell in cells]
    names = [result.labels[cell] for cell in cells]
    if result.answer == VOTE:
        weights = result.vote().weights
        voting = {cell: one for cell, one in zip(cells, values, strict=True) if weights[cell] > 0}
        values.append(sum(weights[cell] * one for cell, one in voting.items()))
        names.append(VOTE)
    return make_pool(np.stack(values), names=names), rows


def usable_cells(result: SearchResult) -> list[int]:
    """Complete cells with predictions of unlabelled rows; never the majority class or mean."""
    info = result.info
    # Without X_unlabeled, a search predicts its labelled target rows instead.
    if info.n_unlabelled == info.n_labelled and result.label_check_ is None:
        return []
    status = result.status()
    return [
        number
        for number, cell in enumerate(result.cells)
        if status[number] == "complete"
        and cell.role != "baseline"
        and result.unlabelled
        and result.unlabelled[number] is not None
    ]


def pair_of_search(search: Any) -> tuple[str, str | None]:
    """Names of the model selected by a search and of the best model without transfer."""
    result = getattr(search, "results_", search)
    leader = VOTE if result.answer == VOTE else result.labels[int(result.answer)]
    order = [cell for cell in result.ranking() if cell in usable_cells(result)]
    rivals = [cell for cell in order if result.labels[cell] != leader]
    plain = [cell for cell in rivals if result.cells[cell].role in BASELINES]
    return leader, result.labels[(plain or rivals)[0]] if rivals else None


def consensus_weights(values: np.ndarray, y: Vector, strength: float = STRENGTH) -> Vector:
    """Weights of the candidates in the consensus, from labelled rows by stacking.

    Parameters
    ----------
    values : ndarray (candidates, rows, classes) or (candidates, rows)
        Predictions of the labelled rows, made before their labels were known.
    y : ndarray (rows,)
        Positions of classes, or numbers.
    strength : float
        Strength of the prior of equal weights, in rows.

    Returns
    -------
    ndarray (candidates,)
        Weights that sum to 1; equal without rows.
    """
    count = len(values)
    equal = np.full(count, 1.0 / count)
    if y.size == 0:
        return equal
    return stacked(np.asarray(values, float), y, equal, strength, np.ones(y.size))
