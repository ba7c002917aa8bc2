"""Choosing models and judging them on data that nobody has seen."""

from landbridge.model_selection.losses import check_loss, pointwise_loss

__all__ = ["check_loss", "pointwise_loss"]
