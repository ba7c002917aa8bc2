"""Records of a search: cells, failures, sources, stored predictions and the weights of the vote."""

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from landbridge._typing import Vector, VectorLike
from landbridge._validation import Task
from landbridge.metrics.metric import Response
from landbridge.model_selection.candidates import Role

Status = Literal["complete", "stopped", "failed"]
# Number that stands for the vote in a ranking, whose other rows are cells.
VOTE: Final = "vote"
CellNumber = int | Literal["vote"]
# Names of the stored predictions of a cell.
KEPT = ("target", "source_to_target", "target_alone", "source", "reverse", "unlabelled")


@dataclass(frozen=True, slots=True)
class Predictions:
    """Predictions of one model for some rows.

    Attributes
    ----------
    values : ndarray (rows, classes) or (rows,)
        Class probabilities (one-hot for a model without them), or numbers for regression.
    labels : ndarray (rows,) or None
        Positions of the predicted classes. They may differ from the most probable ones if a
        classifier has its own decision threshold.
    """

    values: np.ndarray
    labels: VectorLike = None

    @property
    def seen(self) -> Vector:
        """Mask of the rows that have a prediction."""
        return ~np.isnan(self.values if self.values.ndim == 1 else self.values[:, 0])

    def read(self, response: Response) -> np.ndarray:
        """Predictions in the form used by a metric: numbers, probabilities or one-hot labels."""
        if response != "label" or self.labels is None:
            return self.values
        return (self.labels[:, None] == np.arange(self.values.shape[1])).astype(np.float64)


@dataclass(frozen=True, slots=True)
class Cell:
    """One candidate on one source.

    Attributes
    ----------
    candidate : str
    params : dict
        Point of the candidate's grid, as JSON-compatible values.
    source : name or None
        ``None`` if the candidate is not trained on a source.
    role : str
    source_index, candidate_index : int
        Index of the source used for validation, and of the candidate in the list.
    complexity : int
        Complexity, used to break ties; smaller for simpler candidates.
    prediction_cost : float
        Estimated cost of a prediction; see `prediction_cost`.
    fit_seconds, predict_seconds : float
    fits : int
        Number of models that were fitted.
    constants : int
        Number of fits with only one class.
    has_proba : bool
        Whether it predicts probabilities.
    stopped_after : int or None
        Number of folds after which racing stopped the cell.
    """

    candidate: str
    params: dict[str, Any]
    source: Any
    role: Role
    source_index: int = 0
    candidate_index: int = 0
    complexity: int = 0
    prediction_cost: float = 1.0
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    fits: int = 0
    constants: int = 0
    has_proba: bool = True
    stopped_after: int | None = None

    @property
    def name(self) -> str:
        """Candidate and parameters; ``estimator__C`` is called C unless that is ambiguous."""
        short = [name.rpartition("__")[2] for name in self.params]
        names = short if len(set(short)) == len(short) else list(self.params)
        params = ", ".join(map("{}={}".format, names, self.params.values()))
        return f"{self.candidate} ({params})" if params else self.candidate


@dataclass(frozen=True, slots=True)
class Failure:
    """Recorded failure.

    ``arrays`` names the predictions that are missing; ``stage`` is that of the fit, or
    ``"source"``, ``"weights"``, ``"metric"`` or, for a cell that the time budget cut, ``"budget"``.
    """

    cell: int
    stage: str
    fold: int
    arrays: tuple[str, ...]
    message: str
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class SourceRows:
    """Rows of a source, their folds (−1 if never held out) and density ratios."""

    name: Any
    rows: Vector
    folds: Vector
    weights: VectorLike = None


@dataclass(frozen=True, slots=True)
class SearchInfo:
    """Settings and size of a search.

    ``kept_rows`` and ``kept_unlabelled`` count the source and unlabelled rows whose predictions are
    kept, out of ``n_rows`` and ``n_unlabelled``; large inputs are sampled.
    """

    criterion: str
    criteria: tuple[str, ...]
    by_default: bool
    answer: Literal["vote", "best"]
    task: Task
    n_rows: int
    n_labelled: int
    n_unlabelled: int
    kept_rows: int
    kept_unlabelled: int
    fits_planned: int
    fits_done: int
    fits_cut: int
    weight_seconds: float
    seconds: float
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class Vote:
    """Weights of the cells in the vote.

    Attributes
    ----------
    weights : ndarray (cells,)
        Zero for cells that are not members; the sum is 1.
    disagreement : ndarray (cells,)
        Share of unlabelled target rows on which a member differs from the vote; the root mean
        squared distance for numbers. NaN for cells that are not members.
    predictions : Predictions or None
        Predictions for the labelled target rows, with weights learned without the row's fold.
    """

    weights: Vector
    disagreement: Vector
    predictions: Predictions | None

    @property
    def members(self) -> list[int]:
        """Cells with positive weight, largest first."""
        order = np.argsort(-self.weights, kind="stable")
        return [cell for cell in order.tolist() if self.weights[cell] > 0]


@dataclass(frozen=True, slots=True)
class ValidatedRows:
    """Rows for which several cells all have predictions.

    Attributes
    ----------
    y : ndarray (rows,)
        Labels as positions in the classes, or numbers.
    values : ndarray (cells, rows) or (cells, rows, classes)
        Predictions of the cells, in the form that a metric uses.
    weight : ndarray (rows,) or None
        Sample weights.
    ratio : ndarray (rows,) or None
        Density ratios, for `wcv` and `trcv`.
    groups : ndarray (rows,) or None
        ``None`` where rows are independent.
    seen : ndarray (all rows,)
        Mask of these rows among all rows of the target or of the source.
    """

    y: Vector
    values: np.ndarray
    weight: VectorLike
    ratio: VectorLike
    groups: VectorLike
    seen: Vector

    @property
    def importance(self) -> VectorLike:
        """Product of sample weights and density ratios."""
        if self.weight is None or self.ratio is None:
            return self.ratio if self.weight is None else self.weight
        return self.ratio * self.weight

    @property
    def design(self) -> dict[str, Any]:
        """Weights and groups as arguments of the functions of `metrics.inference`."""
        return {"sample_weight": self.importance, "groups": self.groups}
