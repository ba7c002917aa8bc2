"""Pointwise losses: one number a row, so that means, intervals and tests can be built on them.

========== ================================ =================================
loss       value on a row                   for
========== ================================ =================================
zero_one   [ŷ ≠ y]                          classification
log        −log p̂(y), p̂ at least 2⁻⁵²       classification, predict_proba
absolute   \\|ŷ − y\\|                        regression, numeric classes
squared    (ŷ − y)²                         regression, numeric classes
callable   loss(y, ŷ), one value a row      anything
========== ================================ =================================

With several outputs a row is wrong when any output is, and distances are averaged over outputs.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples

from landbridge._typing import MatrixLike, Vector, VectorLike
from landbridge._validation import Task, check_choice, plain_numbers

LossName: TypeAlias = Literal["zero_one", "log", "absolute", "squared"]
Loss: TypeAlias = LossName | Callable[[Vector, Vector], Vector]

LOSSES = ("zero_one", "log", "absolute", "squared")
# A probability of zero would make one row's loss infinite and hide all the others; this is the
# floor of sklearn.metrics.log_loss. A class that the model never saw gets it too.
PROBABILITY_FLOOR = float(np.finfo(np.float64).eps)
# Smallest and largest possible value; a callable has none that is known.
LOSS_RANGES = {
    "zero_one": (0.0, 1.0),
    "log": (0.0, float(-np.log(PROBABILITY_FLOOR))),
    "absolute": (0.0, float("inf")),
    "squared": (0.0, float("inf")),
}
# Those that are a distance between the truth and a number, and its power.
DISTANCES = {"absolute": 1, "squared": 2}


def check_loss(loss: Loss, task: Task) -> None:
    """Raise for an unknown loss and for one that makes no sense for the task."""
    if callable(loss):
        return
    check_choice(loss, "loss", LOSSES)
    if task == "regression" and loss in ("zero_one", "log"):
        raise ValueError(
            f"`loss` must measure a distance for regression; got {loss!r}, which is for classes. "
            "Use loss='squared' or loss='absolute'."
        )


def pointwise_loss(loss: Loss, estimator: Any, X: MatrixLike, y: VectorLike) -> Vector:
    """The loss of a fitted estimator on each row.

    Parameters
    ----------
    loss : {"zero_one", "log", "absolute", "squared"} or callable
        A callable is given ``(y, estimator.predict(X))`` and returns one number a row.
    estimator : fitted classifier or regressor
    X, y : rows and what is true of them

    Returns
    -------
    losses : ndarray of shape (n_rows,), float64, finite

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from landbridge.model_selection import pointwise_loss
    >>> model = DummyClassifier().fit([[0], [0], [0], [0]], ["no", "no", "no", "yes"])
    >>> pointwise_loss("zero_one", model, [[0], [0]], ["no", "yes"])
    array([0., 1.])
    >>> pointwise_loss("log", model, [[0], [0]], ["no", "maybe"]).round(2)
    array([ 0.29, 36.04])
    """
    y = np.asarray(y)
    if loss == "log":
        return log_losses(y, class_probabilities(estimator, X), estimator.classes_)
    predicted = predicted_labels(estimator, X)
    if callable(loss):
        return _checked_values(loss(y, predicted), y.shape[0])
    if loss == "zero_one":
        wrong = predicted.reshape(y.shape) != y
        return (wrong if y.ndim == 1 else wrong.any(axis=1)).astype(np.float64)
    distance = np.abs(_difference(predicted, y, loss))
    if loss == "squared":
        with np.errstate(over="ignore"):
            distance = distance**2
        _check_finite(distance, "squared errors that are finite", "Scale y, or use 'absolute'.")
    return distance if y.ndim == 1 else distance.mean(axis=1)


def predicted_labels(estimator: Any, X: MatrixLike) -> Vector:
    """``estimator.predict(X)``, one label a row, without NaN and infinity."""
    labels = plain_numbers(np.asarray(estimator.predict(X)))
    if labels.shape[:1] != (_num_samples(X),):
        raise ValueError(
            f"`estimator` must predict one label for each of {_num_samples(X)} rows; got an array "
            f"of shape {labels.shape}. Look at its predict."
        )
    if labels.dtype.kind == "f":
        _check_finite(labels, "finite predictions", "Look at what it does with such rows.")
    return without_column(labels)


def without_column(labels: Any) -> Any:
    """A column of labels, with which some libraries answer, as a row of them."""
    return labels.ravel() if np.ndim(labels) == 2 and labels.shape[1] == 1 else labels


def loss_name(loss: Loss) -> str:
    """What results call a loss; a callable never has the name of one that is known here."""
    if isinstance(loss, str):
        return loss
    name = getattr(loss, "__name__", repr(loss))
    return f"{name} (callable)" if name in LOSSES else name


def log_losses(y: Vector, probabilities: np.ndarray, classes: Vector) -> Vector:
    """−log of the probability of the true class; classes outside ``classes`` get the floor."""
    place = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    of_truth = probabilities[np.arange(y.shape[0]), place].astype(np.float64)
    of_truth[np.asarray(classes)[place] != y] = 0.0
    return -np.log(np.clip(of_truth, PROBABILITY_FLOOR, 1.0))


def class_probabilities(estimator: Any, X: MatrixLike) -> np.ndarray:
    """``estimator.predict_proba(X)``, or a message that says what to do without it."""
    if not hasattr(estimator, "predict_proba"):
        last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
        raise ValueError(
            "`estimator` must have predict_proba for loss='log'; got "
            f"{type(last).__name__}, which has none. Wrap it in "
            "sklearn.calibration.CalibratedClassifierCV, or use loss='zero_one'."
        )
    probabilities = estimator.predict_proba(X)
    if isinstance(probabilities, list):
        raise ValueError(
            "`estimator` must have one output for loss='log'; got several. "
            "Evaluate each output on its own, or use loss='zero_one'."
        )
    probabilities = np.asarray(probabilities)
    _check_finite(probabilities, "finite probabilities", "Look at what it does with such rows.")
    return probabilities


def _check_finite(values: np.ndarray, what: str, advice: str) -> None:
    if not np.isfinite(values).all():
        row, *_ = np.argwhere(~np.isfinite(values))[0].tolist()
        raise ValueError(
            f"`estimator` must have {what}; got NaN or infinity in row {row}. {advice}"
        )


def _difference(predicted: Vector, y: Vector, loss: Any) -> Vector:
    try:
        return predicted.reshape(y.shape).astype(np.float64) - y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"`y` must be numeric for loss={loss!r}; got values like {y.ravel().tolist()[0]!r}. "
            "Use loss='zero_one' or loss='log' for named classes."
        ) from error


def _checked_values(values: Any, n_rows: int) -> Vector:
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (n_rows,):
        raise ValueError(
            f"`loss` must return one number for each of the {n_rows} rows; got shape "
            f"{values.shape}. Return pointwise values, not their mean."
        )
    if not np.isfinite(values).all():
        raise ValueError(
            f"`loss` must return finite numbers; got {values[~np.isfinite(values)][0]} in row "
            f"{int(np.argmin(np.isfinite(values)))}. Clip what the logarithm or division is given."
        )
    return values
