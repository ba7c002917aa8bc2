"""A classification tree grown top-down on binned rows until it is good enough on the target."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

import numpy as np
from scipy import sparse

from landbridge._typing import Matrix, Vector
from landbridge.boosting.binning import BinnedRows, split_threshold

LEAF = -1
# Class shares are rounded to so many digits: rounding in a sum must not decide between classes.
DIGITS = 12
# A tree is good enough when its target error is below the bound by more than rounding.
ROUNDING = 1e-9
# Scores closer than this share of a node's weight are tied, and a side of a split must carry more
# than it: rounding must not choose.
TIE = 1e-10


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop growing. ``target_error=None`` grows until nothing is left to split."""

    max_depth: int | None = None
    min_depth: int = 1
    min_samples_leaf: int = 1
    target_error: float | None = 0.5


@dataclass(frozen=True, slots=True)
class Task:
    """The rows to grow a tree on; rows from ``first_target`` on are target rows.

    ``order`` holds the rows in play and is rearranged: a node owns a stretch of it.
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

    ``feature`` is −1 in leaves; ``edges`` are the last occupied slot to the left and the first to
    the right of the split; ``left`` is the left child and the right child follows it; ``sums`` are
    the weights of the classes and the number of rows; ``stretch`` is the node's part of the order.
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
        """The right child of each node, which stands behind the left one; −1 in leaves."""
        return np.where(self.feature == LEAF, LEAF, self.left + 1)

    @property
    def labels(self) -> Vector:
        """Class that each node predicts; the first one in case of ties."""
        return self.value.argmax(axis=1)

    @property
    def depth(self) -> int:
        """Number of splits on the longest way from the root to a leaf."""
        depth = np.zeros(self.feature.size, dtype=np.intp)
        for node in np.flatnonzero(self.feature != LEAF):  # parents stand before children
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
    """Grow a tree with Gini splits; also tell in which leaf each row ended.

    Nodes are split from the top down, each level from left to right, until the weighted error on
    the target rows (from ``first_target`` on) is below ``limits.target_error``; the levels above
    ``limits.min_depth`` are grown in any case. ``inside`` restricts the rows; rows outside
    have leaf −1.
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
    try:
        return import_module("landbridge.boosting.growth_native").grow
    except ImportError:
        return import_module("landbridge.boosting.growth_numpy").grow


def shares(class_weights: Vector) -> Vector:
    """Share of each class in each node."""
    return np.round(class_weights / class_weights.sum(axis=-1, keepdims=True), DIGITS)


def bound_on_mistakes(limits: Limits, target_weight: float) -> float:
    """Weight of target mistakes below which a tree is good enough; never, without a bound."""
    if limits.target_error is None or target_weight == 0:
        return -np.inf
    return (limits.target_error - ROUNDING) * target_weight


def leaf_of(tree: Tree, X: Matrix) -> Vector:
    """The leaf that each row of ``X`` falls into."""
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
        node[rows] = tree.left[at] + ~goes_left  # the right child stands behind the left one
