"""Nearest-exemplar classification, where an exemplar is a row or a box of rows."""

from landbridge.neighbors.nnge import NNgeClassifier

__all__ = ["NNgeClassifier"]
