"""Estimators of ADAPT as candidates.

ADAPT's ``fit(X, y, Xt=…, yt=…)`` has two uses. Methods based on the marginal distribution (CORAL,
KMM, …) use only Xt; others (TrAdaBoost, FA, …) learn from Xt with its labels yt.
"""

import inspect
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from landbridge._extras import import_optional
from landbridge._typing import Vector
from landbridge._validation import Task, TransferData
from landbridge.interop._peer import PeerEstimator


def from_adapt(estimator: Any, task: Task | None = None) -> "AdaptEstimator":
    """Give an estimator of ADAPT the signature of landbridge.

    Parameters
    ----------
    estimator : an instance- or feature-based estimator of ADAPT, without ``Xt`` and ``yt``
        For example ``adapt.feature_based.CORAL(LogisticRegression(), verbose=0)``.
    task : {"classification", "regression"} or None, default=None
        ``None`` uses the task of the wrapped estimator.

    Returns
    -------
    estimator : AdaptEstimator
        Estimator that can be used as a candidate of `TransferSearchCV`.
    """
    import_optional("adapt", "adapt", needed_by="`from_adapt`")
    if "Xt" not in _parameters(getattr(estimator, "fit", None))[1:]:
        raise ValueError(
            "`estimator` must have a fit(X, y, Xt=…, yt=…) of source and target rows; got "
            f"{type(estimator).__name__}. Estimators of ADAPT that update a fitted model "
            "(parameter_based) do not use source rows and cannot be candidates."
        )
    if task is None:
        inner = getattr(estimator, "estimator", None)
        of_numbers = inner is not None and is_regressor(inner)
        task = "regression" if of_numbers else "classification"
    return AdaptEstimator(estimator, task)


def learns_target_labels(estimator: Any) -> bool:
    """Whether the adaptation step of the method has a parameter yt."""
    for step in ("fit_weights", "fit_transform"):
        if hasattr(estimator, step):
            return "yt" in _parameters(getattr(estimator, step))
    return True


def _parameters(function: Any) -> list[str]:
    return [] if function is None else list(inspect.signature(function).parameters)


class AdaptEstimator(PeerEstimator):
    """An estimator of ADAPT with ``X_target``, ``y_target`` and ``X_unlabeled``.

    A method based on the marginal distribution gets all target rows as Xt; labelled target rows are
    also added to the source rows with their labels. A method that learns from target labels gets
    the labelled target rows as Xt and yt, without the unlabelled ones.

    Some estimators of ADAPT with a ``random_state`` set the seed of numpy's global generator.

    Parameters
    ----------
    estimator : an estimator of ADAPT
        Instance-based or feature-based estimator of ADAPT.

    Attributes
    ----------
    estimator_ : the fitted estimator of ADAPT, with classes 0, 1, …
    classes_ : array of shape (n_classes,), for classification only.
    """

    def _fit_peer(self, data: TransferData, y: Vector, y_target: Vector | None) -> Any:
        model = clone(self.estimator)
        if not learns_target_labels(model):
            labels = y if y_target is None else np.concatenate([y, y_target])
            return model.fit(data.labelled_rows, labels, Xt=data.target_rows)
        if y_target is None:
            raise ValueError(
                f"{type(model).__name__} learns from target labels, so it needs `X_target` and "
                "`y_target`; got only unlabelled target rows. Label some of them, or use a method "
                "based on the marginal distribution, for example adapt.feature_based.CORAL."
            )
        return model.fit(data.X, y, Xt=data.X_target, yt=y_target)
