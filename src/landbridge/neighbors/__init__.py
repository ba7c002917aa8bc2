"""Nearest exemplars: rows and boxes of rows."""

from landbridge.neighbors.nnge import NNgeClassifier

__all__ = ["NNgeClassifier"]
