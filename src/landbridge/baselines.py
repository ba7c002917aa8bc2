"""Baselines for comparisons: source only, target only, pooled.

They have the signature of a transfer estimator, so they can be candidates in a search.
"""

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.utils import Tags, get_tags

from landbridge._delegate import (
    DelegatingEstimator,
    first_step,
    fit_weighted,
    require_sample_weight,
    takes_sample_weight,
)
from landbridge._transfer_estimator import WeightedTransferEstimator
from landbridge._typing import Vector
from landbridge._validation import TransferData, is_number, warn_no_target
from landbridge._warn import warn_caller
from landbridge.exceptions import FewTargetRowsWarning


class _Baseline(DelegatingEstimator, WeightedTransferEstimator):
    """Base class: fit on the rows chosen by the subclass; unlabelled rows are not used.

    Missing values pass if the estimator, or the first step of a pipeline, handles them.

    Attributes
    ----------
    estimator_ : the fitted estimator.
    """

    _keeps_zero_weights = True  # rows with weight 0 count in the total weight

    def _checks(self) -> dict[str, Any]:
        return {"task": self.task_, "min_classes": 1}

    def _fit_transfer(self, data: TransferData) -> None:
        for name in ("sample_weight", "sample_weight_target"):
            if getattr(data, name) is not None:
                require_sample_weight(self.estimator, f"`{name}` is given")
        self.estimator_ = self._fit_on_chosen_rows(data)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(first_step(self.estimator)).input_tags.allow_nan
        return tags

    def _fit_on_chosen_rows(self, data: TransferData) -> Any:
        raise NotImplementedError

    def _fit_on_source(self, data: TransferData) -> Any:
        return fit_weighted(self.estimator, data.X, data.y, data.sample_weight)


class SourceOnly(_Baseline):
    """Fit on the source rows and ignore the target.

    Parameters
    ----------
    estimator : classifier or regressor
        Fitted on ``X, y`` alone.

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

    def _fit_on_chosen_rows(self, data: TransferData) -> Any:
        if data.target_rows is None:
            warn_no_target(self, "its estimator fitted on X")
        return self._fit_on_source(data)


class TargetOnly(_Baseline):
    """Fit on the labelled target rows and ignore the source.

    Without labelled target rows, the estimator is fitted on the source and a warning is issued. If
    the labelled target rows have only one class, that class is always predicted, with a warning.

    Parameters
    ----------
    estimator : classifier or regressor
        Fitted on ``X_target, y_target`` alone.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from landbridge import TargetOnly
    >>> from landbridge.datasets import make_concept_shift
    >>> data = make_concept_shift(random_state=0)
    >>> model = TargetOnly(LogisticRegression()).fit(
    ...     data.X, data.y, X_target=data.X_target[:50], y_target=data.y_target[:50])
    >>> bool(model.score(data.X_target, data.y_target) > 0.8)
    True
    """

    def __init__(self, estimator: Any):
        self.estimator = estimator

    def _fit_on_chosen_rows(self, data: TransferData) -> Any:
        if data.X_target is None:
            warn_no_target(self, "its estimator fitted on X")
            return self._fit_on_source(data)
        estimator = self.estimator
        if self.task_ == "classification" and np.unique(data.y_target).size == 1:
            warn_caller(
                "The labelled target rows have only one class, so TargetOnly always predicts it. "
                "Label target rows of another class.",
                FewTargetRowsWarning,
            )
            estimator = DummyClassifier(strategy="most_frequent")
        return fit_weighted(estimator, data.X_target, data.y_target, data.sample_weight_target)


class Pooled(_Baseline):
    """Fit on source and labelled target rows together.

    Parameters
    ----------
    estimator : classifier or regressor
        Fitted on both sets of rows stacked.
    target_share : float in (0, 1) or None, default=0.5
        Share of the total weight given to the target rows, so that a few target rows matter among
        thousands of source rows. For an estimator that does not accept ``sample_weight``, the rows
        of one domain are repeated to approximate the share. ``None`` gives every row the same
        weight.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from landbridge import Pooled
    >>> from landbridge.datasets import make_concept_shift
    >>> data = make_concept_shift(random_state=0)
    >>> model = Pooled(LogisticRegression(), target_share=0.8).fit(
    ...     data.X, data.y, X_target=data.X_target[:50], y_target=data.y_target[:50])
    >>> model.predict(data.X_target).shape
    (500,)
    """

    def __init__(self, estimator: Any, target_share: float | None = 0.5):
        self.estimator = estimator
        self.target_share = target_share

    def _check_parameters(self) -> None:
        check_target_share(self.target_share)

    def _fit_on_chosen_rows(self, data: TransferData) -> Any:
        if data.X_target is None:
            warn_no_target(self, "its estimator fitted on X")
            return self._fit_on_source(data)
        X, y = data.labelled_rows, data.labels
        n_source, n_target = data.X.shape[0], data.X_target.shape[0]
        if self.target_share is not None and not takes_sample_weight(self.estimator):
            times = repeats(n_source, n_target, self.target_share)
            rows = np.repeat(np.arange(n_source + n_target), np.repeat(times, [n_source, n_target]))
            return fit_weighted(self.estimator, X[rows], y[rows], None)
        return fit_weighted(self.estimator, X, y, self._weights(data))

    def _weights(self, data: TransferData) -> Vector | None:
        given = data.sample_weight, data.sample_weight_target
        if self.target_share is None and all(weights is None for weights in given):
            return None
        return weights_of_labelled_rows(data, self.target_share)


def check_target_share(share: Any) -> None:
    """Raise unless the share is a number strictly between 0 and 1, or None."""
    if share is not None and not (is_number(share) and 0 < share < 1):
        raise ValueError(f"`target_share` must be between 0 and 1, or None; got {share!r}.")


def weights_of_labelled_rows(data: TransferData, target_share: float | None) -> Vector:
    """Weights of the source rows and then of the labelled target rows, with a share if given."""
    weights, n_source = data.row_weights, data.X.shape[0]
    if data.X_target is None or target_share is None:
        return weights
    return share_mass(weights[:n_source], weights[n_source:], target_share=target_share)


def share_mass(source: Vector, target: Vector, *, target_share: float) -> Vector:
    """Weights with mean 1, source rows first, of which the target has ``target_share``.

    Within each domain, they are proportional to the given weights.
    """
    n_rows = source.size + target.size
    return np.concatenate(
        [
            source * ((1 - target_share) * n_rows / source.sum()),
            target * (target_share * n_rows / target.sum()),
        ]
    )


def repeats(n_source: int, n_target: int, target_share: float) -> tuple[int, int]:
    """Copies of source and target rows that give the target about ``target_share`` of all.

    Only the rows of the underrepresented domain are repeated.
    """
    ratio = target_share * n_source / ((1 - target_share) * n_target)
    return (1, round(ratio)) if ratio >= 1 else (round(1 / ratio), 1)
