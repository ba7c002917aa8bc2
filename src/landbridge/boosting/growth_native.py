"""Growing a tree in loops compiled by numba. Imported only where numba is installed.

The same steps as in ``growth_numpy``, with one device more: the histogram of a node is that of its
parent minus that of its smaller sibling, as long as the histograms fit beside the binned rows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from landbridge.boosting.tree_growth import DIGITS, LEAF, TIE, Nodes, Task, bound_on_mistakes

# Memory for histograms in any case; more where the binned rows are larger than that.
HISTOGRAM_BYTES = 1 << 18
# A node that weighs less than this share of its parent would inherit the parent's rounding.
LIGHT = 0.01


def native(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, and keep the compiled code where numba finds a folder for it."""
    try:
        return njit(cache=True)(function)
    except RuntimeError:
        return njit(function)


def grow(task: Task) -> Nodes:
    """Split nodes from the top down, each level from left to right, until good enough."""
    rows, limits, n_rows = task.rows, task.limits, task.order.size
    target_weight = task.weights[task.order[task.order >= task.first_target]].sum()
    max_depth = n_rows if limits.max_depth is None else limits.max_depth
    n_nodes = 2 * min(n_rows, 2 ** min(max_depth, 30)) - 1
    counted = limits.min_samples_leaf > 1
    width = task.n_classes + counted
    budget = max(HISTOGRAM_BYTES, rows.nbytes // 2 - 28 * rows.n_rows)
    n_histograms = max(2, min(n_nodes + 1, budget // (8 * rows.n_slots * width)))
    nodes = Nodes(
        feature=np.full(n_nodes, LEAF, dtype=np.int32),
        edges=np.zeros((n_nodes, 2), dtype=np.int32),
        left=np.full(n_nodes, LEAF, dtype=np.int32),
        sums=np.zeros((n_nodes, task.n_classes + 1)),
        gain=np.zeros(n_nodes),
        stretch=np.zeros((n_nodes, 2), dtype=np.int32),
    )
    used = _grow(
        (rows.is_sparse, rows.codes, rows.indptr, rows.slots, rows.offsets, rows.zero),
        task.order, task.labels, task.weights, task.first_target,
        max_depth, limits.min_depth, limits.min_samples_leaf,
        bound_on_mistakes(limits, target_weight),
        np.empty((n_histograms, rows.n_slots, width)),
        nodes.feature, nodes.edges, nodes.left, nodes.sums, nodes.gain, nodes.stretch,
    )  # fmt: skip
    return Nodes(*(getattr(nodes, name)[:used].copy() for name in Nodes.__slots__))


@native
def _grow(  # type: ignore[no-untyped-def]
    rows, order, labels, weights, first_target, max_depth, min_depth, min_leaf, bound,
    pool, feature, edges, left, sums, gain, stretch,
):  # fmt: skip
    n_classes = sums.shape[1] - 1
    target = np.zeros((feature.size, n_classes))
    depth = np.zeros(feature.size, dtype=np.int32)
    held = np.full(feature.size, LEAF, dtype=np.int32)  # the node's histogram in the pool
    free = np.arange(pool.shape[0] - 1)  # the last one of the pool is for a moment only
    n_free = free.size
    spare = np.empty_like(order)
    score = np.empty(pool.shape[1])
    stretch[0, 1] = order.size
    _add_up(order, labels, weights, first_target, stretch[0], sums[0], target[0])
    mistakes = _mistakes(sums[0], target[0])
    node, n_nodes = 0, 1
    while node < n_nodes and not (mistakes < bound and depth[node] >= min_depth):
        if _may_split(sums[node], depth[node], max_depth, min_leaf):
            if held[node] == LEAF:
                at = pool.shape[0] - 1
                if n_free > 0:
                    n_free -= 1
                    at = held[node] = free[n_free]
                _fill(rows, order, labels, weights, stretch[node], sums[node], pool[at])
                here = pool[at]
            else:
                here = pool[held[node]]
            feature[node], slot, gain[node] = _best_split(
                here, sums[node], rows[4], min_leaf, score
            )
            if feature[node] != LEAF:
                middle = _partition(
                    rows, order, spare, stretch[node], feature[node], slot, edges[node]
                )
                left[node] = n_nodes
                mistakes -= _mistakes(sums[node], target[node])
                for child in (n_nodes, n_nodes + 1):
                    depth[child] = depth[node] + 1
                    stretch[child, 0] = stretch[node, 0] if child == n_nodes else middle
                    stretch[child, 1] = middle if child == n_nodes else stretch[node, 1]
                    _add_up(
                        order, labels, weights, first_target,
                        stretch[child], sums[child], target[child],
                    )  # fmt: skip
                    mistakes += _mistakes(sums[child], target[child])
                if held[node] != LEAF and not (mistakes < bound and depth[node] + 1 > min_depth):
                    small = n_nodes
                    if sums[n_nodes + 1, n_classes] < sums[n_nodes, n_classes]:
                        small = n_nodes + 1
                    large = 2 * n_nodes + 1 - small
                    small_open = _may_split(sums[small], depth[small], max_depth, min_leaf)
                    large_open = _may_split(sums[large], depth[large], max_depth, min_leaf)
                    heavy = sums[large, :n_classes].sum() > LIGHT * sums[node, :n_classes].sum()
                    if large_open and heavy:
                        at = pool.shape[0] - 1
                        if small_open and n_free > 0:
                            n_free -= 1
                            at = held[small] = free[n_free]
                        _fill(rows, order, labels, weights, stretch[small], sums[small], pool[at])
                        _subtract(pool[held[node]], pool[at])
                        held[large] = held[node]
                        held[node] = LEAF
                n_nodes += 2
        if held[node] != LEAF:
            free[n_free] = held[node]
            n_free += 1
        node += 1
    return n_nodes


@native
def _add_up(order, labels, weights, first_target, stretch, sums, target):  # type: ignore[no-untyped-def]
    for i in range(stretch[0], stretch[1]):
        row = order[i]
        sums[labels[row]] += weights[row]
        if row >= first_target:
            target[labels[row]] += weights[row]
    sums[-1] = stretch[1] - stretch[0]


@native
def _label(sums):  # type: ignore[no-untyped-def]
    # The first class whose share, rounded, is the largest.
    weight = sums[:-1].sum()
    best, most = 0, np.round(sums[0] / weight, DIGITS)
    for c in range(1, sums.size - 1):
        share = np.round(sums[c] / weight, DIGITS)
        if share > most:
            best, most = c, share
    return best


@native
def _mistakes(sums, target):  # type: ignore[no-untyped-def]
    return target.sum() - target[_label(sums)]


@native
def _may_split(sums, depth, max_depth, min_leaf):  # type: ignore[no-untyped-def]
    if depth >= max_depth or sums[-1] < 2 * min_leaf:
        return False
    return np.round(sums[:-1].max() / sums[:-1].sum(), DIGITS) < 1


@native
def _fill(rows, order, labels, weights, stretch, sums, out):  # type: ignore[no-untyped-def]
    is_sparse, codes, indptr, slots, offsets, zero = rows
    counted = out.shape[1] == sums.size
    out[:] = 0.0
    for i in range(stretch[0], stretch[1]):
        row = order[i]
        label, weight = labels[row], weights[row]
        if is_sparse:
            for e in range(indptr[row], indptr[row + 1]):
                out[slots[e], label] += weight
                if counted:
                    out[slots[e], -1] += 1.0
        else:
            for f in range(codes.shape[1]):
                out[offsets[f] + codes[row, f], label] += weight
                if counted:
                    out[offsets[f] + codes[row, f], -1] += 1.0
    for column in range(out.shape[1]):
        total = sums[column]
        for f in range(zero.size):  # what the node holds beyond the stored entries are zeros
            zeros = total
            for slot in range(offsets[f], offsets[f + 1]):
                zeros -= out[slot, column]
            out[zero[f], column] += zeros


@native
def _subtract(parent, child):  # type: ignore[no-untyped-def]
    for slot in range(parent.shape[0]):
        for column in range(parent.shape[1]):
            parent[slot, column] -= child[slot, column]


@native
def _best_split(histogram, sums, offsets, min_leaf, score):  # type: ignore[no-untyped-def]
    weight, purity = sums[:-1].sum(), (sums[:-1] ** 2).sum()
    if histogram.shape[1] == 2 and sums.size == 3:
        best = _score_two_classes(histogram, sums, offsets, score)
    else:
        best = _score(histogram, sums, offsets, min_leaf, score)
    if best == -np.inf:
        return LEAF, 0, 0.0
    f, slot = 0, 0
    while score[slot] < best - TIE * weight:
        slot += 1
    while offsets[f + 1] <= slot:
        f += 1
    return f, slot, score[slot] - purity / weight


@native
def _score(histogram, sums, offsets, min_leaf, score):  # type: ignore[no-untyped-def]
    n_classes = sums.size - 1
    counted = histogram.shape[1] > n_classes
    left = np.zeros(n_classes)
    weight, best = sums[:-1].sum(), -np.inf
    for f in range(offsets.size - 1):
        left[:] = 0.0
        rows_left = 0.0
        score[offsets[f + 1] - 1] = -np.inf  # nothing would be left for the right side
        for slot in range(offsets[f], offsets[f + 1] - 1):
            score[slot] = -np.inf
            pure_left, pure_right, weight_left = 0.0, 0.0, 0.0
            for c in range(n_classes):
                left[c] += histogram[slot, c]
                right = sums[c] - left[c]
                weight_left += left[c]
                pure_left += left[c] * left[c]
                pure_right += right * right
            weight_right = weight - weight_left
            if counted:
                rows_left += histogram[slot, n_classes]
                if min(rows_left, sums[n_classes] - rows_left) < min_leaf:
                    continue
            if min(weight_left, weight_right) > TIE * weight:
                both = pure_left * weight_right + pure_right * weight_left
                score[slot] = both / (weight_left * weight_right)
                best = max(best, score[slot])
    return best


@native
def _score_two_classes(histogram, sums, offsets, score):  # type: ignore[no-untyped-def]
    # The same numbers with the two classes in registers: most trees of an ensemble are here.
    first, second = sums[0], sums[1]
    least, best = TIE * (first + second), -np.inf
    for f in range(offsets.size - 1):
        a, b = 0.0, 0.0
        score[offsets[f + 1] - 1] = -np.inf
        for slot in range(offsets[f], offsets[f + 1] - 1):
            a += histogram[slot, 0]
            b += histogram[slot, 1]
            left, right = a + b, first + second - a - b
            both = (a * a + b * b) * right + ((first - a) ** 2 + (second - b) ** 2) * left
            score[slot] = both / (left * right) if min(left, right) > least else -np.inf
            best = max(best, score[slot])
    return best


@native
def _slot_at(rows, row, f):  # type: ignore[no-untyped-def]
    _, _, indptr, slots, offsets, zero = rows
    start, stop = indptr[row], indptr[row + 1]
    # A row's slots are spread over all slots: start the search where the feature's should be.
    at = start + (stop - start) * f // zero.size
    while at < stop and slots[at] < offsets[f]:
        at += 1
    while at > start and slots[at - 1] >= offsets[f]:
        at -= 1
    if at < stop and slots[at] < offsets[f + 1]:
        return slots[at]
    return zero[f]


@native
def _partition(rows, order, spare, stretch, f, slot, edges):  # type: ignore[no-untyped-def]
    is_sparse, codes, offsets = rows[0], rows[1], rows[4]
    start, stop = stretch
    last_left, first_right = offsets[f], offsets[f + 1]
    for i in range(start, stop):
        if is_sparse:
            at = _slot_at(rows, order[i], f)
        else:
            at = offsets[f] + codes[order[i], f]
        goes_left = at <= slot
        spare[i] = goes_left
        last_left = max(last_left, at if goes_left else last_left)
        first_right = min(first_right, first_right if goes_left else at)
    edges[0], edges[1] = last_left, first_right
    left, right = start, 0
    for i in range(start, stop):
        # Rows to the right are kept where marks have been read already. Both sides are written and
        # one of them counts: a branch would be guessed wrong too often.
        row, goes_left = order[i], spare[i]
        order[left] = row
        spare[right] = row
        left += goes_left
        right += 1 - goes_left
    order[left:stop] = spare[:right]
    return left
