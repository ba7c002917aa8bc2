"""The ``fit`` method shared by transfer estimators, which documents and checks its arguments.

Subclasses check their parameters in ``_check_parameters``, pass options to `check_transfer` in
``_transfer_checks`` and are fitted to checked rows in ``_fit_transfer``.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.utils._tags import Tags

from landbridge._docstrings import Documented, documented
from landbridge._typing import MatrixLike, VectorLike
from landbridge._validation import TransferData, check_transfer


class TransferEstimator(Documented, BaseEstimator):
    """Base class of estimators that learn from labelled source rows and target rows."""

    _transfer_checks: ClassVar[dict[str, Any]] = {}
    _keeps_zero_weights: ClassVar[bool] = False
    _check_arguments: ClassVar[Callable[..., TransferData]] = staticmethod(check_transfer)

    @documented
    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        *,
        X_target: MatrixLike = None,
        y_target: VectorLike = None,
        X_unlabeled: MatrixLike = None,
    ) -> Self:
        """Fit to source rows and, if given, target rows."""
        target = {"X_target": X_target, "y_target": y_target, "X_unlabeled": X_unlabeled}
        return self._fit_checked(X, y, **target)

    def _fit_checked(self, X: MatrixLike, y: VectorLike, **others: Any) -> Self:
        """Check parameters and rows, then learn from the rows whose weight is not 0."""
        self._check_parameters()
        data = self._check_arguments(self, X, y, **others, **self._checks())
        self._fit_transfer(data if self._keeps_zero_weights else data.without_zero_weights())
        return self

    def _checks(self) -> dict[str, Any]:
        """Options of `check_transfer`."""
        return self._transfer_checks

    def _check_parameters(self) -> None:
        """Raise if a parameter is invalid, before data are checked."""

    def _fit_transfer(self, data: TransferData) -> None:
        """Learn from checked rows."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._transfer_checks.get("accept_sparse", True)
        tags.target_tags.multi_output = self._transfer_checks.get("multi_output", False)
        return tags


class SourcesEstimator(TransferEstimator):
    """Base class of estimators that learn from several sources, given by ``groups``."""

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        *,
        groups: VectorLike = None,
        X_target: MatrixLike = None,
        y_target: VectorLike = None,
        X_unlabeled: MatrixLike = None,
    ) -> Self:
        """Fit to the sources and, if given, target rows."""
        target = {"X_target": X_target, "y_target": y_target, "X_unlabeled": X_unlabeled}
        return self._fit_checked(X, y, groups=groups, **target)


class WeightedTransferEstimator(TransferEstimator):
    """`TransferEstimator` whose rows may have weights; rows with weight 0 are left out."""

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        *,
        X_target: MatrixLike = None,
        y_target: VectorLike = None,
        X_unlabeled: MatrixLike = None,
        sample_weight: VectorLike = None,
        sample_weight_target: VectorLike = None,
    ) -> Self:
        """Fit to source rows and, if given, target rows.

        Rows with weight 0 are left out.
        """
        target = {"X_target": X_target, "y_target": y_target, "X_unlabeled": X_unlabeled}
        weights = {"sample_weight": sample_weight, "sample_weight_target": sample_weight_target}
        return self._fit_checked(X, y, **target, **weights)


class WeightedSourcesEstimator(WeightedTransferEstimator):
    """`SourcesEstimator` whose rows may have weights; rows with weight 0 are left out."""

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        *,
        groups: VectorLike = None,
        X_target: MatrixLike = None,
        y_target: VectorLike = None,
        X_unlabeled: MatrixLike = None,
        sample_weight: VectorLike = None,
        sample_weight_target: VectorLike = None,
    ) -> Self:
        """Fit to the sources and, if given, target rows.

        Rows with weight 0 are left out.
        """
        target = {"X_target": X_target, "y_target": y_target, "X_unlabeled": X_unlabeled}
        weights = {"sample_weight": sample_weight, "sample_weight_target": sample_weight_target}
        return self._fit_checked(X, y, groups=groups, **target, **weights)
