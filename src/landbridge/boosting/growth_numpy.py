"""Grow a tree with one `numpy.bincount` per node, for use without numba."""

import numpy as np

from landbridge._typing import Vector
from landbridge.boosting.binning import BinnedRows, pieces
from landbridge.boosting.tree_growth import LEAF, TIE, Nodes, Task, bound_on_mistakes, shares


def grow(task: Task) -> Nodes:
    """Split nodes level by level, from left to right, until the target error is low enough."""
    limits, order = task.limits, task.order
    sums, target = [class_weights(task, order)], [target_weights(task, order)]
    stretch, depth = [(0, order.size)], [0]
    feature, edges, left, gain = [LEAF], [(0, 0)], [LEAF], [0.0]
    mistakes = target_mistakes(sums[0], target[0])
    bound = bound_on_mistakes(limits, target[0].sum())
    for node, (start, stop) in enumerate(stretch):  # children are appended during the loop
        if mistakes < bound and node > 0:  # the root is split in any case
            break
        if not may_split(task, sums[node], depth[node]):
            continue
        split = best_split(task, order[start:stop], sums[node])
        if split is None:
            continue
        feature[node], slot, gain[node] = split
        edges[node], middle = partition(task, start, stop, feature[node], slot)
        left[node] = len(stretch)
        mistakes -= target_mistakes(sums[node], target[node])
        for first, last in ((start, middle), (middle, stop)):
            stretch.append((first, last))
            depth.append(depth[node] + 1)
            sums.append(class_weights(task, order[first:last]))
            target.append(target_weights(task, order[first:last]))
            mistakes += target_mistakes(sums[-1], target[-1])
            feature.append(LEAF)
            edges.append((0, 0))
            left.append(LEAF)
            gain.append(0.0)
    return Nodes(*map(np.array, (feature, edges, left, sums, gain, stretch)))


def class_weights(task: Task, inside: Vector) -> Vector:
    """Weight per class among the given rows, and the number of rows."""
    return np.append(_by_class(task, inside), inside.size)


def target_weights(task: Task, inside: Vector) -> Vector:
    """Weight per class among the target rows within the given rows."""
    return _by_class(task, inside[inside >= task.first_target])


def target_mistakes(sums: Vector, target: Vector) -> float:
    """Weight of the target rows that a node misclassifies."""
    return target.sum() - target[shares(sums[:-1]).argmax()]


def may_split(task: Task, sums: Vector, depth: int) -> bool:
    """Whether a node is impure and not too deep."""
    deepest = task.limits.max_depth
    return bool((deepest is None or depth < deepest) and shares(sums[:-1]).max() < 1)


def histogram(task: Task, inside: Vector, sums: Vector) -> Vector:
    """Weight per class in each slot, of shape (slots, c)."""
    rows, c = task.rows, task.n_classes
    weight = np.zeros(rows.n_slots * c)
    for piece in pieces(inside.size, 4096):
        some = inside[piece]
        of_entry, slots = _entries(rows, some)
        key = slots * c + task.labels[some][of_entry]
        weight += np.bincount(key, task.weights[some][of_entry], minlength=weight.size)
    out = weight.reshape(-1, c)
    if rows.is_sparse:  # the remaining weight belongs to the slot of zero
        out[rows.entries.zero] += sums - np.add.reduceat(out, rows.offsets[:-1], axis=0)
    return out


def best_split(task: Task, inside: Vector, sums: Vector) -> tuple[int, int, float] | None:
    """Feature, last slot to the left and Gini gain; ties go to the first feature and slot.

    The gain is the weighted impurity of the node minus that of its children.
    """
    offsets, sums = task.rows.offsets, sums[:-1]
    weight = sums.sum()
    feature_of = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    running = np.cumsum(np.vstack([np.zeros_like(sums), histogram(task, inside, sums)]), axis=0)
    left = running[1:] - running[offsets[feature_of]]
    right = sums - left
    weight_left, weight_right = left.sum(axis=1), right.sum(axis=1)
    allowed = np.minimum(weight_left, weight_right) > TIE * weight
    if not allowed.any():
        return None
    score = np.full(allowed.size, -np.inf)
    score[allowed] = (left[allowed] ** 2).sum(axis=1) / weight_left[allowed]
    score[allowed] += (right[allowed] ** 2).sum(axis=1) / weight_right[allowed]
    best = int(np.argmax(score >= score.max() - TIE * weight))
    gain = score[best] - (sums**2).sum() / weight
    return int(feature_of[best]), best, float(gain)


def partition(
    task: Task, start: int, stop: int, feature: int, slot: int
) -> tuple[tuple[int, int], int]:
    """Move rows with slots up to ``slot`` to the front of a node's stretch, keeping their order.

    Returns the last occupied slot on the left, the first one on the right, and the position at
    which the right side begins.
    """
    inside = task.order[start:stop].copy()
    at = _slots_at(task.rows, inside, feature)
    goes_left = at <= slot
    middle = start + int(goes_left.sum())
    task.order[start:middle], task.order[middle:stop] = inside[goes_left], inside[~goes_left]
    return (int(at[goes_left].max()), int(at[~goes_left].min())), middle


def _by_class(task: Task, inside: Vector) -> Vector:
    return np.bincount(task.labels[inside], task.weights[inside], minlength=task.n_classes)


def _entries(rows: BinnedRows, inside: Vector) -> tuple[Vector, Vector]:
    """Entries of the given rows: position of the row among them, and slot."""
    if not rows.is_sparse:
        slots = (rows.codes[inside] + rows.offsets[:-1]).reshape(-1)
        return np.repeat(np.arange(inside.size), rows.codes.shape[1]), slots.astype(np.intp)
    indptr = rows.entries.indptr.astype(np.intp)
    starts, sizes = indptr[inside], indptr[inside + 1] - indptr[inside]
    of_entry = np.repeat(np.arange(inside.size), sizes)
    within = np.arange(of_entry.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return of_entry, rows.entries.slots[starts[of_entry] + within].astype(np.intp)


def _slots_at(rows: BinnedRows, inside: Vector, feature: int) -> Vector:
    """Slot of one feature in each of the given rows."""
    if not rows.is_sparse:
        return rows.offsets[feature] + rows.codes[inside, feature]
    stored = rows.entries
    column = slice(stored.starts[feature], stored.starts[feature + 1])
    at = np.full(rows.n_rows, stored.zero[feature])
    at[stored.holders[column]] = rows.offsets[feature] + stored.codes[column]
    return at[inside]
