"""Base class of adapters that give estimators of other libraries landbridge's signature.

The other libraries mark unlabelled rows by reserved values of y. Therefore classes are passed to
them as 0, 1, …, and predictions are translated back.
"""

from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils._tags import Tags
from sklearn.utils.metaestimators import available_if

from landbridge._transfer_estimator import TransferEstimator
from landbridge._typing import Matrix, MatrixLike, Vector, VectorLike
from landbridge._validation import (
    Task,
    TransferData,
    check_choice,
    check_estimator_given,
    check_rows,
)

TASKS = ("classification", "regression")


def _peer_has(method: str) -> Any:
    return available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), method))


class PeerEstimator(MetaEstimatorMixin, TransferEstimator):
    """Wrap an estimator of another library in landbridge's signature.

    Subclasses define ``_fit_peer(data, y, y_target)``, which returns the fitted estimator, and may
    extend ``_ask``, which calls one of its methods.
    """

    _fit_peer: Any

    def __init__(self, estimator: Any, task: Task = "classification"):
        self.estimator = estimator
        self.task = task

    def _check_parameters(self) -> None:
        check_estimator_given(self.estimator)
        check_choice(self.task, "task", TASKS)

    def _checks(self) -> dict[str, Any]:
        return {"task": self.task, "accept_sparse": False}

    def _fit_transfer(self, data: TransferData) -> None:
        """Fit the wrapped estimator on rows converted for the other library."""
        if data.target_rows is None:
            raise ValueError(
                f"{type(self).__name__} needs target rows, because "
                f"{type(self.estimator).__name__} cannot be fitted without them; got none. Pass "
                "`X_unlabeled`, or `X_target` with `y_target`."
            )
        if self.task == "classification":
            self.classes_ = data.classes
        y_target = None if data.y_target is None else self._encode(data, data.y_target)
        self.estimator_ = self._fit_peer(data, self._encode(data, data.y), y_target)

    def _encode(self, data: TransferData, labels: Vector) -> Vector:
        return data.encode(labels) if self.task == "classification" else labels.astype(float)

    def predict(self, X: MatrixLike) -> Vector:
        """Predict the labels of *target* rows."""
        answer = np.ravel(self._ask("predict", X))
        return self.classes_[answer.astype(int)] if self.task == "classification" else answer

    @_peer_has("predict_proba")
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Class probabilities of *target* rows, in the order of ``classes_``."""
        return self._ask("predict_proba", X)

    def score(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> float:
        """Accuracy of a classifier, R² of a regressor."""
        measure = accuracy_score if self.task == "classification" else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def _ask(self, method: str, X: MatrixLike) -> np.ndarray:
        return self._answer(method, check_rows(self, X, "estimator_", accept_sparse=False))

    def _answer(self, method: str, X: Matrix) -> np.ndarray:
        return np.asarray(getattr(self.estimator_, method)(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self.task == "classification":
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags
