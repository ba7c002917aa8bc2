"""Grow a classification tree on binned rows until its target error is low enough."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Limits:
    """Stopping rules; ``target_error=None`` grows until no node can be split."""

    max_depth: int | None = None
    target_error: float | None = 0.5


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
    target_weight = weights[order[order >= first_target]].sum()
    # Without a bound, growth goes on until no node can be split.
    bound = -np.inf
    if limits.target_error is not None and target_weight > 0:
        bound = (limits.target_error - ROUNDING) * target_weight
    depth = order.size if limits.max_depth is None else limits.max_depth
    numbers, sums = growth().grow(
        rows, order, labels, weights, first_target, n_classes, depth, bound
    )
    feature, left, last_left, first_right, start, stop, _ = numbers.T
    is_leaf = feature == LEAF
    by_place = np.argsort(start[is_leaf])
    leaf = np.full(rows.n_rows, LEAF, dtype=np.int32)
    ids = np.flatnonzero(is_leaf).astype(np.int32)[by_place]
    leaf[order] = np.repeat(ids, (stop - start)[ids])
    threshold = np.zeros(feature.size)
    threshold[~is_leaf] = split_threshold(rows, last_left[~is_leaf], first_right[~is_leaf])
    weight = sums[:, :n_classes]
    value = np.round(weight / weight.sum(axis=1, keepdims=True), DIGITS)
    tree = Tree(feature.copy(), threshold, left.copy(), value, stop - start, sums[:, -1].copy())
    return tree, leaf


@cache
def growth() -> Any:
    """Module that grows trees; importing numba counts for no candidate."""
    with not_working():
        return import_module("landbridge.boosting.growth")


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
