"""The baselines that stand in every comparison: source only, target only, pooled.

They take the signature of every transfer estimator, so that they are candidates like any other.
"""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.dummy import DummyClassifier

from landbridge._delegate import DelegatingEstimator, fit_weighted, require_sample_weight
from landbridge._typing import MatrixLike, Vector, VectorLike
from landbridge._validation import check_transfer, is_number, stack_rows, warn_no_target
from landbridge.exceptions import FewTargetRowsWarning


class SourceOnly(DelegatingEstimator):
    """Fit on the source rows and ignore the target.

    Parameters
    ----------
    estimator : classifier or regressor
        Fitted on ``X, y`` alone.

    Attributes
    ----------
    estimator_ : the fitted estimator.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from landbridge import SourceOnly
    >>> from landbridge.datasets import make_covariate_shift
    >>> data = make_covariate_shift(random_state=0)
    >>> model = SourceOnly(LogisticRegression()).fit(data.X, data.y, X_unlabeled=data.X_target)
    >>> model.predict(data.X_target).shape
    (500,)
    """

    def __init__(self, estimator: Any):
        self.estimator = estimator

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        *,
        X_target: MatrixLike = None,
        y_target: VectorLike = None,
        X_unlabeled: MatrixLike = None,
    ) -> Self:
        """Fit on ``X, y``; target rows are checked and left alone."""
        data = check_transfer(
            self,
            X,
            y,
            task=self.task_,
            X_target=X_target,
            y_target=y_target,
            X_unlabeled=X_unlabeled,
            min_classes=1,
            plain_counterpart="its estimator fitted on X",
        )
        self.estimator_ = fit_weighted(self.estimator, data.X, data.y, None)
        return self


class TargetOnly(DelegatingEstimator):
    """Fit on the labelled target rows and ignore the source.

    Without labelled target rows it equals its estimator fitted on the source, and warns. With
    labelled target rows of one class only it predicts that class, and warns.

    Parameters
    ----------
    estimator : classifier or regressor
        Fitted on ``X_target, y_target`` alone.

    Attributes
    ----------
    estimator_ : the fitted estimator.
    """

    def __init__(self, estimator: Any):
        self.estimator = estimator

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        *,
        X_target: MatrixLike = None,
        y_target: VectorLike = None,
        X_unlabeled: MatrixLike = None,
    ) -> Self:
        """Fit on ``X_target, y_target``; source and unlabelled rows are checked and left alone."""
        data = check_transfer(
            self,
            X,
            y,
            task=self.task_,
            X_target=X_target,
            y_target=y_target,
            X_unlabeled=X_unlabeled,
            min_classes=1,
        )
        if data.X_target is None:
            warn_no_target(self, "its estimator fitted on X")
            self.estimator_ = fit_weighted(self.estimator, data.X, data.y, None)
            return self
        estimator = self.estimator
        if self.task_ == "classification" and np.unique(data.y_target).size == 1:
            warnings.warn(
                "The labelled target rows hold one class only, so TargetOnly always predicts it. "
                "Label target rows of another class.",
                FewTargetRowsWarning,
                stacklevel=2,
            )
            estimator = DummyClassifier(strategy="most_frequent")
        self.estimator_ = fit_weighted(estimator, data.X_target, data.y_target, None)
        return self


class Pooled(DelegatingEstimator):
    """Fit on source and labelled target rows together.

    Parameters
    ----------
    estimator : classifier or regressor
        Fitted on both sets of rows stacked.
    target_share : float in (0, 1) or None, default=0.5
        Share of the total weight that the target rows carry together, whatever their number: a
        handful of target rows is heard beside thousands of source rows. ``None`` counts every row
        the same and works with estimators that take no weights.

    Attributes
    ----------
    estimator_ : the fitted estimator.
    """

    def __init__(self, estimator: Any, target_share: float | None = 0.5):
        self.estimator = estimator
        self.target_share = target_share

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        *,
        X_target: MatrixLike = None,
        y_target: VectorLike = None,
        X_unlabeled: MatrixLike = None,
    ) -> Self:
        """Fit on ``X, y`` and ``X_target, y_target``; unlabelled rows are left alone."""
        share = self.target_share
        if share is not None and not (is_number(share) and 0 < share < 1):
            raise ValueError(f"`target_share` must lie between 0 and 1, or be None; got {share!r}.")
        data = check_transfer(
            self,
            X,
            y,
            task=self.task_,
            X_target=X_target,
            y_target=y_target,
            X_unlabeled=X_unlabeled,
            min_classes=1,
        )
        if data.X_target is None:
            warn_no_target(self, "its estimator fitted on X")
            self.estimator_ = fit_weighted(self.estimator, data.X, data.y, None)
            return self
        weights = None
        if self.target_share is not None:
            require_sample_weight(self.estimator, "`target_share` weighs the target rows")
            weights = shared_weights(data.X.shape[0], data.X_target.shape[0], self.target_share)
        self.estimator_ = fit_weighted(
            self.estimator,
            stack_rows([data.X, data.X_target]),
            np.concatenate([data.y, data.y_target]),
            weights,
        )
        return self


def shared_weights(n_source: int, n_target: int, target_share: float) -> Vector:
    """Weights of mean 1 under which the target rows carry ``target_share`` of the mass."""
    n_rows = n_source + n_target
    return np.repeat(
        [(1 - target_share) * n_rows / n_source, target_share * n_rows / n_target],
        [n_source, n_target],
    )
