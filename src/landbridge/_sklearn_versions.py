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
    """Functions of `sklearn.metrics` that the installed version provides."""
    return [getattr(metrics, name) for name in names if hasattr(metrics, name)]


class NamedRows:
    """Table that provides column names by the interchange protocol, which polars 2 dropped."""

    def __init__(self, table: Any):
        self.table, self.shape = table, table.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.table, dtype=dtype)

    def __dataframe__(self) -> "NamedRows":
        return self

    def column_names(self) -> list[str]:
        """Column names, as expected by scikit-learn before 1.9."""
        return list(self.table.columns)


def validate_data(estimator: Any, X: Any, *arguments: Any, **options: Any) -> Any:
    """Wrap scikit-learn's function, which before 1.9 ignores the column names of polars 2."""
    protocols = ("__dataframe__", "iloc", "dtype")
    if VERSION < (1, 9) and hasattr(X, "columns") and not any(hasattr(X, p) for p in protocols):
        X = NamedRows(X)
    return validation.validate_data(estimator, X, *arguments, **options)
