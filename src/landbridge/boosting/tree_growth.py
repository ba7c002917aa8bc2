"""Grow a classification tree on binned rows until its target error is low enough."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

import numpy as np
from scipy import sparse

from landbridge._tasks import not_working
from landbridge._typing import Matrix, Vector
from landbridge.boosting.binning import BinnedRows, split_threshold

LEAF = -1
# Class shares are rounded to this many digits, so that rounding errors do not break ties.
DIGITS = 12
# Growth stops when the target error is below the bound by more than this rounding margin.
ROUNDING = 1e-9
# Scores that differ by less than this share of the node's weight are ties, and each side of a split
# must have more weight than that. Otherwise rounding errors would choose the split.
TIE = 1e-10


@dataclass(frozen=True, slots=True)
class Limits:
    """Stopping rules; ``target_error=None`` grows until no node can be split."""

    max_depth: int | None = None
    target_error: float | None = 0.5


@dataclass(frozen=True, slots=True)
class Task:
    """The rows to grow a tree on; rows from ``first_target`` on are target rows.

    ``order`` lists the rows that are used. It is rearranged during growth so that each node owns a
    contiguous stretch.
    """

    rows: BinnedRows
    order: Vector
    labels: Vector
    weights: Vector
    n_classes: int
    first_target: int
    limits: Limits


@dataclass(frozen=True, slots=True)
class Nodes:
    """Table of grown nodes, one row per node in breadth-first order.

    ``feature`` is −1 in leaves. ``edges`` holds the last occupied slot left of the split and the
    first one right of it. ``left`` is the left child, and the right child follows it. ``sums``
    holds the weights of the classes and the number of rows. ``stretch`` is the node's part of the
    order.
    """

    feature: Vector
    edges: Vector
    left: Vector
    sums: Vector
    gain: Vector
    stretch: Vector


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes in breadth-first order; ``feature`` is −1 in leaves. ``value`` holds class shares."""

    feature: Vector
    threshold: Vector
    left: Vector
    value: Vector
    n_rows: Vector
    gain: Vector

    @property
    def right(self) -> Vector:
        """Right child of each node, which directly follows the left child; −1 in leaves."""
        return np.where(self.feature == LEAF, LEAF, self.left + 1)

    @property
    def labels(self) -> Vector:
        """Class that each node predicts; the first one in case of ties."""
        return self.value.argmax(axis=1)

    @property
    def depth(self) -> int:
        """Number of splits on the longest path from the root to a leaf."""
        depth = np.zeros(self.feature.size, dtype=np.intp)
        for node in np.flatnonzero(self.feature != LEAF):  # parents precede their children
            depth[[self.left[node], self.left[node] + 1]] = depth[node] + 1
        return int(depth.max())


def grow_tree(
    rows: BinnedRows,
    labels: Vector,
    weights: Vector,
    n_classes: int,
    limits: Limits,
    *,
    first_target: int,
    inside: Vector | None = None,
) -> tuple[Tree, Vector]:
    """Grow a tree with Gini splits; return it and the leaf of each row.

    Nodes are split level by level, from left to right, until the weighted error on the target
    rows (from ``first_target`` on) is below ``limits.target_error``. The root is split in any case.
    ``inside`` restricts the rows; other rows have leaf −1.
    """
    order = np.arange(rows.n_rows, dtype=np.uint32) if inside is None else inside.astype(np.uint32)
    task = Task(rows, order, labels, weights, n_classes, first_target, limits)
    nodes = route()(task)
    is_leaf = nodes.feature == LEAF
    start, stop = nodes.stretch[is_leaf].T
    by_place = np.argsort(start)
    leaf = np.full(rows.n_rows, LEAF, dtype=np.int32)
    ids = np.flatnonzero(is_leaf).astype(np.int32)
    leaf[order] = np.repeat(ids[by_place], (stop - start)[by_place])
    threshold = np.zeros(is_leaf.size)
    threshold[~is_leaf] = split_threshold(rows, *nodes.edges[~is_leaf].T)
    n_rows = nodes.sums[:, -1].astype(np.int32)
    value = shares(nodes.sums[:, :-1])
    return Tree(nodes.feature, threshold, nodes.left, value, n_rows, nodes.gain), leaf


@cache
def route() -> Callable[[Task], Nodes]:
    """Compiled tree growth if numba is installed, else numpy; both grow the same trees."""
    with not_working():
        try:
            return import_module("landbridge.boosting.growth_native").grow
        except ImportError:
            return import_module("landbridge.boosting.growth_numpy").grow


def shares(class_weights: Vector) -> Vector:
    """Share of each class in each node."""
    return np.round(class_weights / class_weights.sum(axis=-1, keepdims=True), DIGITS)


def bound_on_mistakes(limits: Limits, target_weight: float) -> float:
    """Weight of target mistakes below which growth stops; negative without a bound."""
    if limits.target_error is None or target_weight == 0:
        return -np.inf
    return (limits.target_error - ROUNDING) * target_weight


def leaf_of(tree: Tree, X: Matrix) -> Vector:
    """Leaf of each row of ``X``."""
    used, column = np.unique(tree.feature, return_inverse=True)
    used, column = used[1:], column - 1  # drop −1, which marks leaves
    # A tree uses few columns, so only those are converted to a dense array.
    X = X[:, used].toarray() if sparse.issparse(X) else X[:, used]
    node = np.zeros(X.shape[0], dtype=np.intp)
    rows = np.arange(X.shape[0])
    while True:
        rows = rows[tree.feature[node[rows]] != LEAF]
        if not rows.size:
            return node
        at = node[rows]
        goes_left = X[rows, column[at]] <= tree.threshold[at]
        node[rows] = tree.left[at] + ~goes_left  # the right child follows the left one
