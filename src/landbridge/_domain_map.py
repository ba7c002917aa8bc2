"""Base class of transformers between two domains.

A map that aligns the source with the target transforms a row according to its domain. In a
scikit-learn Pipeline, the learner is fitted on ``fit_transform(X)``, where X contains source rows,
and predicts for ``transform(X_new)``, where X_new contains target rows. Therefore, ``transform``
expects **target** rows, ``transform_source`` expects source rows, and ``fit_transform(X, …)`` is
``fit(X, …).transform_source(X)``. Without target rows, both are the same.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._set_output import _wrap_method_output

from landbridge._docstrings import documented
from landbridge._tasks import one_thread
from landbridge._transfer_estimator import TransferEstimator
from landbridge._typing import Matrix, MatrixLike, VectorLike
from landbridge._validation import check_mapping, check_rows


class TransferMap(TransferEstimator):
    """Base class of transformers fitted to both domains, for which labels are optional."""

    _check_arguments = staticmethod(check_mapping)

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
        target = {"X_target": X_target, "y_target": y_target, "X_unlabeled": X_unlabeled}
        with one_thread():
            return self._fit_checked(X, y, **target)


class DomainMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TransferMap):
    """Transformer with different maps for source rows and target rows.

    Subclasses define ``_fit_transfer``, which sets ``_n_features_out``, and the maps of checked
    rows, ``_map_target`` and ``_map_source``.
    """

    _map_target: Callable[[Matrix], np.ndarray]
    _map_source: Callable[[Matrix], np.ndarray]

    @one_thread()
    def transform(self, X: MatrixLike) -> Any:
        """Map *target* rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows of the target.
        """
        return self._map_target(self._rows(X))

    @one_thread()
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
        return self._map_source(self._rows(X))

    def fit_transform(self, X: MatrixLike, y: VectorLike = None, **fit_params: Any) -> Any:
        """Fit, and return the transformed *source* rows for training the next step."""
        return self.fit(X, y, **fit_params).transform_source(X)

    def _rows(self, X: MatrixLike) -> Matrix:
        accept_sparse = self._transfer_checks.get("accept_sparse", True)
        return check_rows(self, X, "_n_features_out", accept_sparse=accept_sparse)


# scikit-learn applies ``set_output`` to ``transform`` alone.
DomainMap.transform_source = _wrap_method_output(  # type: ignore[method-assign]
    DomainMap.transform_source, "transform"
)
