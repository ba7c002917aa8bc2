"""Estimators of skada as candidates.

skada's ``fit(X, y, sample_domain=…)`` takes all rows in one matrix: ``sample_domain`` is positive
on source rows and negative on target rows, whose labels are masked by −1 (NaN for regression).
"""

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone

from landbridge._extras import import_optional
from landbridge._typing import Matrix, Vector
from landbridge._validation import Task, TransferData, stack_rows
from landbridge.interop._peer import PeerEstimator

SOURCE, TARGET = 1, -2  # skada's own defaults
MASKED = {"classification": -1, "regression": np.nan}


def from_skada(estimator: Any, task: Task = "classification") -> "SkadaEstimator":
    """Give an estimator of skada the signature of landbridge.

    Parameters
    ----------
    estimator : a domain-aware estimator or pipeline of skada
        For example ``skada.CORAL(LogisticRegression())`` or ``skada.make_da_pipeline(…)``.
    task : {"classification", "regression"}, default="classification"
        Kind of label, which skada's pipelines do not indicate.

    Returns
    -------
    estimator : SkadaEstimator
        Estimator that can be used as a candidate of `TransferSearchCV`.
    """
    import_optional("skada", "skada", needed_by="`from_skada`")
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise ValueError(
            "`estimator` must have fit and predict; got "
            f"{type(estimator).__name__}. Put an adapter of skada and a learner into "
            "skada.make_da_pipeline(adapter, learner)."
        )
    return SkadaEstimator(estimator, task)


class SkadaEstimator(PeerEstimator):
    """An estimator of skada with ``X_target``, ``y_target`` and ``X_unlabeled``.

    All target rows are passed to skada as target rows with masked labels. Labelled target rows are
    also added to the source rows with their labels, because skada hides the labels of target rows
    from its learners.

    Parameters
    ----------
    estimator : estimator
        A domain-aware estimator or pipeline of skada.

    Attributes
    ----------
    estimator_ : the fitted estimator of skada, with classes 0, 1, …
    classes_ : array of shape (n_classes,), for classification only.
    """

    def _fit_peer(self, data: TransferData, y: Vector, y_target: Vector | None) -> Any:
        labels = y if y_target is None else np.concatenate([y, y_target])
        target: Matrix = data.target_rows
        n_target = target.shape[0]
        with config_context(enable_metadata_routing=True):
            return clone(self.estimator).fit(
                stack_rows([data.labelled_rows, target]),
                np.concatenate([labels, np.full(n_target, MASKED[self.task])]),
                sample_domain=np.repeat([SOURCE, TARGET], [labels.size, n_target]),
            )

    def _answer(self, method: str, X: Matrix) -> np.ndarray:
        # By default, skada assumes target rows; not all of its estimators accept a domain.
        with config_context(enable_metadata_routing=True):
            return super()._answer(method, X)
