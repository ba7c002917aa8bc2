"""Base class of transformers between two domains.

A map that aligns the source with the target transforms a row according to its domain. In a
scikit-learn Pipeline, the learner is fitted on ``fit_transform(X)``, where X contains source rows,
and predicts for ``transform(X_new)``, where X_new contains target rows. Therefore, ``transform``
expects **target** rows, ``transform_source`` expects source rows, and ``fit_transform(X, …)`` is
``fit(X, …).transform_source(X)``. Without target rows, both are the same.
"""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._set_output import _wrap_method_output
from sklearn.utils.validation import check_consistent_length

from landbridge._docstrings import Documented, documented
from landbridge._typing import MatrixLike, VectorLike
from landbridge._validation import (
    TransferData,
    check_like_source,
    check_new_source,
    check_one_label_each,
    raise_half_a_target,
    sklearn_errors,
    warn_no_target,
)


def check_mapping(
    estimator: Any,
    X: MatrixLike,
    y: VectorLike = None,
    *,
    X_target: MatrixLike = None,
    y_target: VectorLike = None,
    X_unlabeled: MatrixLike = None,
    accept_sparse: bool = True,
    plain_counterpart: str,
) -> TransferData:
    """Check the arguments of ``fit`` of a transformer, for which labels are optional.

    Only the length of the labels is checked; each method defines their meaning.
    """
    X = check_new_source(estimator, X, accept_sparse=accept_sparse)
    if y is not None:
        y = np.asarray(y)
        with sklearn_errors(X, "X"):
            check_consistent_length(X, y)
    if (X_target is None) != (y_target is None):
        raise_half_a_target(X_target)
    if X_target is not None:
        X_target = check_like_source(estimator, X_target, "X_target", accept_sparse=accept_sparse)
        y_target = np.asarray(y_target)
        check_one_label_each(y_target, X_target)
    if X_unlabeled is not None:
        X_unlabeled = check_like_source(
            estimator, X_unlabeled, "X_unlabeled", accept_sparse=accept_sparse
        )
    if X_target is None and X_unlabeled is None:
        warn_no_target(estimator, plain_counterpart)
    return TransferData(X, y, X_target, y_target, X_unlabeled)


class TransferMap(Documented, BaseEstimator):
    """Base class of transformers fitted to both domains; see `landbridge._transfer_estimator`."""

    _transfer_checks: ClassVar[dict[str, Any]]

    @documented
    def fit(
        self,
        X: MatrixLike,
        y: VectorLike = None,
        *,
        X_target: MatrixLike = None,
        y_target: VectorLike = None,
        X_unlabeled: MatrixLike = None,
    ) -> Self:
        """Fit to the rows of both domains; labels are not used.

        Returns
        -------
        self
            The fitted transformer.
        """
        self._check_parameters()
        self._check_rows_given(X, X_target, X_unlabeled)
        target = {"X_target": X_target, "y_target": y_target, "X_unlabeled": X_unlabeled}
        self._fit_transfer(check_mapping(self, X, y, **target, **self._transfer_checks))
        return self

    def _check_parameters(self) -> None:
        """Raise if a parameter is invalid, before data are checked."""

    def _check_rows_given(self, *rows: MatrixLike) -> None:
        """Raise if the method does not support this kind of rows."""

    def _fit_transfer(self, data: TransferData) -> None:
        """Learn from checked rows."""
        raise NotImplementedError


class DomainMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TransferMap):
    """Transformer with different maps for source rows and target rows.

    Subclasses define ``_fit_transfer``, ``_map_target``, ``_map_source`` and ``_n_features_out``.
    """

    def transform(self, X: MatrixLike) -> Any:
        """Map *target* rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows of the target.
        """
        return self._map_target(X)

    def transform_source(self, X: MatrixLike) -> Any:
        """Map *source* rows so that they are comparable with transformed target rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows of a source.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
            Transformed rows.
        """
        return self._map_source(X)

    def fit_transform(self, X: MatrixLike, y: VectorLike = None, **fit_params: Any) -> Any:
        """Fit, and return the transformed *source* rows for training the next step."""
        return self.fit(X, y, **fit_params).transform_source(X)

    def _map_target(self, X: MatrixLike) -> np.ndarray:
        raise NotImplementedError

    def _map_source(self, X: MatrixLike) -> np.ndarray:
        raise NotImplementedError


# scikit-learn applies ``set_output`` to ``transform`` alone.
DomainMap.transform_source = _wrap_method_output(  # type: ignore[method-assign]
    DomainMap.transform_source, "transform"
)
