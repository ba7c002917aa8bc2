"""Compatibility with the supported versions of scikit-learn."""

from typing import Any

import numpy as np
import sklearn
from sklearn import metrics
from sklearn.utils import validation

try:  # 1.9 and later
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Callbacks need scikit-learn 1.9."""

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged."""
        return method


__all__ = ["CallbackSupportMixin", "metrics_there", "validate_data", "with_callbacks"]
VERSION = tuple(int(part) for part in sklearn.__version__.split(".")[:2])


def metrics_there(*names: str) -> list[Any]:
    """Functions of `sklearn.metrics`, without those that this version does not have yet."""
    return [getattr(metrics, name) for name in names if hasattr(metrics, name)]


class NamedRows:
    """A table that tells its column names by the interchange protocol, which polars 2 left."""

    def __init__(self, table: Any):
        self.table, self.shape = table, table.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.table, dtype=dtype)

    def __dataframe__(self) -> "NamedRows":
        return self

    def column_names(self) -> list[str]:
        """Names of the columns, where scikit-learn before 1.9 looks for them."""
        return list(self.table.columns)


def validate_data(estimator: Any, X: Any, *arguments: Any, **options: Any) -> Any:
    """scikit-learn's, which before 1.9 does not see the column names of polars 2."""
    protocols = ("__dataframe__", "iloc", "dtype")
    if VERSION < (1, 9) and hasattr(X, "columns") and not any(hasattr(X, p) for p in protocols):
        X = NamedRows(X)
    return validation.validate_data(estimator, X, *arguments, **options)
