"""What differs between the versions of scikit-learn that landbridge supports."""

from typing import Any

from sklearn import metrics

try:  # 1.9 and later
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Callbacks need scikit-learn 1.9."""

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged."""
        return method


__all__ = ["CallbackSupportMixin", "metrics_there", "with_callbacks"]


def metrics_there(*names: str) -> list[Any]:
    """Functions of `sklearn.metrics`, without those that this version does not have yet."""
    return [getattr(metrics, name) for name in names if hasattr(metrics, name)]
