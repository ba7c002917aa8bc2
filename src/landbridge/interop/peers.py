"""Estimators of ADAPT and skada as candidates, with landbridge's signature.

Both libraries mark unlabelled rows by reserved values of y. Therefore classes are passed to them as
0, 1, …, and predictions are translated back.

ADAPT's ``fit(X, y, Xt=…, yt=…)`` has two uses. Methods based on the marginal distribution (CORAL,
KMM, …) use only Xt; others (TrAdaBoost, FA, …) learn from Xt with its labels yt.

skada's ``fit(X, y, sample_domain=…)`` takes all rows in one matrix: ``sample_domain`` is positive
on source rows and negative on target rows, whose labels are masked by −1 (NaN for regression).
"""

import inspect
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import MetaEstimatorMixin, clone, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils._tags import Tags
from sklearn.utils.metaestimators import available_if

from landbridge._extras import import_optional
from landbridge._transfer_estimator import TransferEstimator
from landbridge._typing import Matrix, MatrixLike, Vector, VectorLike
from landbridge._validation import (
    Task,
    TransferData,
    check_choice,
    check_estimator_given,
    check_rows,
    stack_rows,
)

TASKS = ("classification", "regression")
SOURCE, TARGET = 1, -2  # skada's own defaults
MASKED = {"classification": -1, "regression": np.nan}


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
