"""Grow a tree on binned rows, in one loop that numba compiles if it is installed.

Two steps visit every entry or slot of a node: its histogram and the choice of its split. Each has
a version in loops for numba and one in numpy; both grow the same trees.

A node is one row in each of two tables. ``numbers`` holds integers, with the columns named below.
``sums`` holds the weights of the classes, those among the target rows, and the gain.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from landbridge._tasks import not_working
from landbridge._typing import Vector
from landbridge.boosting.binning import BinnedRows, pieces
from landbridge.boosting.tree_growth import DIGITS, LEAF

try:
    from numba import njit
    from numba.core import event
except ImportError:
    njit = None  # type: ignore[assignment]

# Scores that differ by less than this share of the node's weight are ties, and each side of a split
# must have more weight than that. Otherwise rounding errors would choose the split.
TIE = 1e-10
# Initial capacity in nodes; the tables double when they are full.
FIRST_NODES = 64
FEATURE, LEFT, LAST_LEFT, FIRST_RIGHT, START, STOP, DEPTH = range(7)


def native(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, and cache the compiled code if numba finds a folder for it."""
    if njit is None:
        return function
    try:
        return njit(cache=True, error_model="numpy")(function)
    except RuntimeError:
        return njit(error_model="numpy")(function)


@native
def grow(
    rows: BinnedRows,
    order: Vector,
    labels: Vector,
    weights: Vector,
    first_target: int,
    n_classes: int,
    max_depth: int,
    bound: float,
) -> tuple[Vector, Vector]:
    """Split nodes level by level, from left to right, until target mistakes weigh below ``bound``.

    ``order`` lists the rows that are used. It is rearranged so that each node owns a contiguous
    stretch of it.
    """
    numbers = np.full((FIRST_NODES, 7), LEAF, dtype=np.int32)
    sums = np.zeros((FIRST_NODES, 2 * n_classes + 1))
    numbers[0, START], numbers[0, STOP], numbers[0, DEPTH] = 0, order.size, 0
    add_up(order, labels, weights, first_target, numbers[0], sums[0])
    mistakes = target_mistakes(sums[0])
    node, n_nodes = 0, 1
    while node < n_nodes and not (mistakes < bound and node > 0):  # the root is split in any case
        if n_nodes + 2 > sums.shape[0]:
            numbers, sums = doubled(numbers, LEAF), doubled(sums, 0.0)
        this, its_sums = numbers[node], sums[node]
        node += 1
        if this[DEPTH] >= max_depth or not shares(its_sums).max() < 1:
            continue
        inside = order[this[START] : this[STOP]]
        weight = histogram(rows, inside, labels, weights, its_sums[:n_classes])
        slot = best_split(weight, rows.offsets, this, its_sums)
        if this[FEATURE] == LEAF:
            continue
        this[LEFT] = n_nodes
        mistakes -= target_mistakes(its_sums)
        partition(rows, inside, slot, this, numbers[n_nodes : n_nodes + 2])
        for child in range(n_nodes, n_nodes + 2):
            add_up(order, labels, weights, first_target, numbers[child], sums[child])
            mistakes += target_mistakes(sums[child])
        n_nodes += 2
    return numbers[:n_nodes], sums[:n_nodes]


@native
def doubled(table: Vector, blank: float) -> Vector:
    out = np.full((2 * table.shape[0], table.shape[1]), blank, dtype=table.dtype)
    out[: table.shape[0]] = table
    return out


@native
def add_up(
    order: Vector, labels: Vector, weights: Vector, first_target: int, node: Vector, sums: Vector
) -> None:
    """Weight per class among the rows of a node, and among its target rows."""
    n_classes = sums.size // 2
    inside = order[node[START] : node[STOP]]
    target = inside[inside >= first_target]
    sums[:n_classes] = np.bincount(labels[inside], weights[inside], minlength=n_classes)
    sums[n_classes:-1] = np.bincount(labels[target], weights[target], minlength=n_classes)


@native
def shares(sums: Vector) -> Vector:
    """Share of each class in a node."""
    of_class = sums[: sums.size // 2]
    return np.round(of_class / of_class.sum(), DIGITS, np.empty_like(of_class))


@native
def target_mistakes(sums: Vector) -> float:
    """Weight of the target rows that a node misclassifies; ties go to the first class."""
    target = sums[sums.size // 2 : -1]
    return target.sum() - target[shares(sums).argmax()]


@native
def partition(rows: BinnedRows, inside: Vector, slot: int, node: Vector, children: Vector) -> None:
    """Move rows with slots up to ``slot`` to the front of a node's stretch, keeping their order."""
    f = node[FEATURE]
    first, entries = rows.offsets[f], rows.entries
    if entries.indptr.size == 0:
        at = rows.codes[:, f][inside]
    else:
        column = slice(entries.starts[f], entries.starts[f + 1])
        of_row = np.empty(entries.indptr.size - 1, dtype=np.uint8)
        of_row[inside] = entries.zero[f] - first
        of_row[entries.holders[column]] = entries.codes[column]
        at = of_row[inside]
    goes_left = at <= slot - first
    node[LAST_LEFT] = first + at[goes_left].max()
    node[FIRST_RIGHT] = first + at[~goes_left].min()
    left, right = inside[goes_left], inside[~goes_left]
    inside[: left.size], inside[left.size :] = left, right
    middle = node[START] + left.size
    children[:, DEPTH] = node[DEPTH] + 1
    children[0, START], children[0, STOP] = node[START], middle
    children[1, START], children[1, STOP] = middle, node[STOP]


def histogram_in_loops(
    rows: BinnedRows, inside: Vector, labels: Vector, weights: Vector, sums: Vector
) -> Vector:
    """Weight per class and slot."""
    offsets, codes, entries = rows.offsets, rows.codes, rows.entries
    out = np.zeros((sums.size, rows.lower.size))
    one = np.uint32(1)  # indices stay unsigned: numba checks the sign of others at every access
    for row in inside:
        of_class, weight = out[labels[row]], weights[row]
        if entries.indptr.size == 0:
            for f in range(codes.shape[1]):
                of_class[offsets[f] + codes[row, f]] += weight
        else:
            for e in range(entries.indptr[row], entries.indptr[row + one]):
                of_class[entries.slots[e]] += weight
    for c in range(sums.size):
        for f in range(entries.zero.size):  # rows without a stored entry are in the slot of zero
            stored = 0.0
            for s in range(offsets[f], offsets[f + 1]):
                stored += out[c, s]
            out[c, entries.zero[f]] += sums[c] - stored
    return out


def histogram_in_numpy(
    rows: BinnedRows, inside: Vector, labels: Vector, weights: Vector, sums: Vector
) -> Vector:
    """Weight per class and slot."""
    n_slots = rows.n_slots
    weight = np.zeros(sums.size * n_slots)
    for piece in pieces(inside.size, 4096):
        some = inside[piece]
        of_entry, slots = entries_of(rows, some)
        key = labels[some].astype(np.intp)[of_entry] * n_slots + slots
        weight += np.bincount(key, weights[some][of_entry], minlength=weight.size)
    out = weight.reshape(-1, n_slots)
    if rows.is_sparse:
        out[:, rows.entries.zero] += sums[:, None] - np.add.reduceat(out, rows.offsets[:-1], axis=1)
    return out


def entries_of(rows: BinnedRows, inside: Vector) -> tuple[Vector, Vector]:
    """Entries of the given rows: position of the row among them, and slot."""
    if not rows.is_sparse:
        slots = (rows.codes[inside] + rows.offsets[:-1]).reshape(-1)
        return np.repeat(np.arange(inside.size), rows.codes.shape[1]), slots.astype(np.intp)
    indptr = rows.entries.indptr.astype(np.intp)
    starts, sizes = indptr[inside], indptr[inside + 1] - indptr[inside]
    of_entry = np.repeat(np.arange(inside.size), sizes)
    within = np.arange(of_entry.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return of_entry, rows.entries.slots[starts[of_entry] + within].astype(np.intp)


def best_split_in_loops(weight: Vector, offsets: Vector, node: Vector, sums: Vector) -> int:
    """Set the feature and the Gini gain; return the last slot to the left.

    The gain is the weighted impurity of the node minus that of its children. Ties go to the first
    feature and slot. The feature stays that of a leaf if no split is possible.
    """
    n_classes, n_slots = weight.shape
    total, best = sums[:n_classes].sum(), -np.inf
    left, pure_left, pure_right = np.zeros(n_slots), np.zeros(n_slots), np.zeros(n_slots)
    for c in range(n_classes):
        for f in range(offsets.size - 1):
            running = 0.0
            for slot in range(offsets[f], offsets[f + 1] - 1):  # the last has nothing on its right
                running += weight[c, slot]
                left[slot] += running
                pure_left[slot] += running**2
                pure_right[slot] += (sums[c] - running) ** 2
    score = np.empty(n_slots)
    for slot in range(n_slots):
        right = total - left[slot]
        both = pure_left[slot] * right + pure_right[slot] * left[slot]
        allowed = min(left[slot], right) > TIE * total
        score[slot] = both / (left[slot] * right) if allowed else -np.inf
        best = max(best, score[slot])
    if best == -np.inf:
        return 0
    f, slot = 0, 0
    while score[slot] < best - TIE * total:
        slot += 1
    while offsets[f + 1] <= slot:
        f += 1
    node[FEATURE], sums[-1] = f, score[slot] - (sums[:n_classes] ** 2).sum() / total
    return slot


def best_split_in_numpy(weight: Vector, offsets: Vector, node: Vector, sums: Vector) -> int:
    """Set the feature and the Gini gain; return the last slot to the left."""
    of_class = sums[: weight.shape[0], None]
    total = of_class.sum()
    feature_of = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    running = np.pad(np.cumsum(weight, axis=1), ((0, 0), (1, 0)))
    left = running[:, 1:] - running[:, offsets[feature_of]]
    right = of_class - left
    weight_left, weight_right = left.sum(axis=0), right.sum(axis=0)
    allowed = np.minimum(weight_left, weight_right) > TIE * total
    if not allowed.any():
        return 0
    score = np.full(allowed.size, -np.inf)
    score[allowed] = (left[:, allowed] ** 2).sum(axis=0) / weight_left[allowed]
    score[allowed] += (right[:, allowed] ** 2).sum(axis=0) / weight_right[allowed]
    slot = int(np.argmax(score >= score.max() - TIE * total))
    node[FEATURE], sums[-1] = feature_of[slot], score[slot] - (of_class**2).sum() / total
    return slot


if njit is None:
    histogram, best_split = histogram_in_numpy, best_split_in_numpy
else:
    histogram, best_split = native(histogram_in_loops), native(best_split_in_loops)

    class _StoppedClock(event.Listener):
        """Stop the clock of candidates while numba compiles any function."""

        def __init__(self) -> None:
            self.pauses: list[Any] = []

        def on_start(self, event: Any) -> None:
            self.pauses.append(not_working())
            self.pauses[-1].__enter__()

        def on_end(self, event: Any) -> None:
            self.pauses.pop().__exit__(None, None, None)

    event.register("numba:compile", _StoppedClock())
