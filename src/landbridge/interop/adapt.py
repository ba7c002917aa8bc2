"""Estimators of ADAPT as candidates.

ADAPT's ``fit(X, y, Xt=…, yt=…)`` has two readings. Methods of the marginal distribution (CORAL,
KMM, …) look at Xt alone; others (TrAdaBoost, FA, …) learn from Xt with its labels yt.
"""

import inspect
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from landbridge._typing import Vector
from landbridge._validation import Task, TransferData
from landbridge.interop._peer import PeerEstimator, require_package


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
        A candidate for `TransferSearchCV` like any other.
    """
    require_package("adapt")
    if "Xt" not in _parameters(getattr(estimator, "fit", None))[1:]:
        raise ValueError(
            "`estimator` must have a fit(X, y, Xt=…, yt=…) of source and target rows; got "
            f"{type(estimator).__name__}. Estimators of ADAPT that continue a fitted model "
            "(parameter_based) see no source and are no candidates."
        )
    if task is None:
        inner = getattr(estimator, "estimator", None)
        of_numbers = inner is not None and is_regressor(inner)
        task = "regression" if of_numbers else "classification"
    return AdaptEstimator(estimator, task)


def learns_target_labels(estimator: Any) -> bool:
    """Whether the method uses yt, that is, whether its adaptation step has such a parameter."""
    for step in ("fit_weights", "fit_transform"):
        if hasattr(estimator, step):
            return "yt" in _parameters(getattr(estimator, step))
    return True


def _parameters(function: Any) -> list[str]:
    return [] if function is None else list(inspect.signature(function).parameters)


class AdaptEstimator(PeerEstimator):
    """An estimator of ADAPT with ``X_target``, ``y_target`` and ``X_unlabeled``.

    A method of the marginal distribution is given all target rows as Xt, and labelled target rows
    besides, with their labels, among the source rows. A method that learns from target labels is
    given the labelled target rows as Xt and yt; unlabelled ones are left out.

    Some estimators of ADAPT set the seed of numpy's global generator where they have a
    ``random_state``.

    Parameters
    ----------
    estimator : an estimator of ADAPT
        Estimator of ADAPT.
    task : {"classification", "regression"}, default="classification"
        Kind of label.

    Attributes
    ----------
    estimator_ : the fitted estimator of ADAPT, with classes 0, 1, …
    classes_ : array of shape (n_classes,), for classification only.
    """

    def _fit_peer(self, data: TransferData, y: Vector, y_target: Vector | None) -> Any:
        model = clone(self.estimator)
        if not learns_target_labels(model):
            labels = y if y_target is None else np.concatenate([y, y_target])
            return model.fit(data.labeled_rows, labels, Xt=data.target_rows)
        if y_target is None:
            raise ValueError(
                f"{type(model).__name__} learns from target labels, so `X_target` must come with "
                "`y_target`; got unlabelled target rows only. Label some of them, or use a method "
                "of the marginal distribution, for example adapt.feature_based.CORAL."
            )
        return model.fit(data.X, y, Xt=data.X_target, yt=y_target)
