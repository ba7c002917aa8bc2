"""Pool of unlabelled rows with the predictions of several models, and their consensus."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from landbridge._typing import Vector, VectorLike
from landbridge.metrics.metric import Metric
from landbridge.metrics.scoring import check_scoring
from landbridge.model_selection.search_inference import BASELINES
from landbridge.model_selection.search_records import VOTE
from landbridge.model_selection.search_result import SearchResult
from landbridge.model_selection.vote import stacked

# The consensus never excludes a class, because candidates are overconfident in a new domain.
LEAST_PROBABILITY = 1e-3
# Strength of the prior of equal weights in the consensus, in rows. The consensus judges the
# candidates of "choose", so it must not lean towards some of them too early.
STRENGTH, STRENGTH_TO_CHOOSE = 5.0, 10.0
# Probabilities may leave [0, 1] by this much. Numbers and their inverses are at most this large.
ROUNDING, LARGEST = 1e-6, 1e50


@dataclass(frozen=True, eq=False)
class Pool:
    """Predictions of candidates for the rows that can be labelled.

    Attributes
    ----------
    values : ndarray (candidates, rows, classes) or (candidates, rows)
        Class probabilities, or numbers.
    names : tuple of str
        Names of the candidates.
    """

    values: np.ndarray
    names: tuple[str, ...]

    @cached_property
    def labels(self) -> np.ndarray:
        """Positions of the predicted classes, for each candidate and row."""
        return np.stack([one.argmax(axis=1).astype(np.int32) for one in self.values])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.values.shape[1]

    @property
    def is_classification(self) -> bool:
        """Whether the predictions are classes."""
        return self.values.ndim == 3

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


def make_pool(predictions: VectorLike, *, names: Sequence[str] | None = None) -> Pool:
    """Check predictions, as for `LabelPlanner.ask_from_predictions`, and create a pool."""
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
    low, high = float(values.min()), float(values.max())
    if values.ndim == 3 and not -ROUNDING <= low <= high <= 1 + ROUNDING:
        raise ValueError(
            f"`predictions` of classes must be probabilities; got numbers from {low:.3g} to "
            f"{high:.3g}. Pass probabilities, or 1 for the predicted class and 0 for the others."
        )
    if values.ndim == 2:
        check_size(max(-low, high), "predictions")
    names = tuple(map(str, range(len(values)) if names is None else names))
    if len(set(names)) != len(names) or len(names) != len(values):
        raise ValueError(
            f"`names` must have one name for each of the {len(values)} candidates; got "
            f"{len(names)} names, {len(set(names))} of them different."
        )
    return Pool(values, names)


def check_size(largest: float, name: str) -> None:
    """Raise if fourth powers would overflow or vanish in double precision."""
    if largest and not 1 / LARGEST < largest < LARGEST:
        raise ValueError(
            f"`{name}` must be 0 or between {1 / LARGEST:.0e} and {LARGEST:.0e} in size; got at "
            f"most {largest:.3g}. Use another unit for the label."
        )


def default_metric(pool: Pool) -> Metric:
    """Accuracy, or RMSE: the metric of predictions that come without a search."""
    if pool.is_classification:
        classes = np.arange(pool.values.shape[2])
        return check_scoring("accuracy", task="classification", classes=classes)[0]
    return check_scoring("rmse", task="regression")[0]


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

    ``strength`` is that of the prior of equal weights, in rows.
    """
    count = len(values)
    equal = np.full(count, 1.0 / count)
    return stacked(np.asarray(values, float), y, equal, strength, np.ones(y.size))
