"""Grow a tree in loops compiled by numba. Imported only if numba is installed.

The steps are those of ``growth_numpy`` with one shortcut: the histogram of a node is that of its
parent minus that of its smaller sibling, as long as the histograms fit into their memory budget.

The kernels store a node as one row in each of two tables. ``numbers`` holds integers, with the
columns named below; ``sums`` holds the weights of the classes, the number of rows, the gain, and
the weights of the classes among the target rows. Indices are unsigned, because numba checks signed
ones for negative values at every access.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numba.core import event

from landbridge._tasks import not_working
from landbridge.boosting.tree_growth import DIGITS, LEAF, TIE, Nodes, Task, bound_on_mistakes

# Minimum memory budget for histograms; the budget grows with the size of the binned rows.
HISTOGRAM_BYTES = 1 << 17
# Below this share of the parent's weight, a subtracted histogram would be mostly rounding error.
LIGHT = 0.01
# Initial capacity in nodes; the tables double when they are full.
FIRST_NODES = 64
# Columns of the table of integers; HELD is the position of the node's histogram in the pool.
FEATURE, LEFT, LAST_LEFT, FIRST_RIGHT, START, STOP, DEPTH, HELD = range(8)
# An unsigned integer stays unsigned only if it is combined with unsigned ones.
ZERO, ONE = np.uint32(0), np.uint32(1)


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


def native(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, and cache the compiled code if numba finds a folder for it."""
    try:
        return njit(cache=True, error_model="numpy")(function)
    except RuntimeError:
        return njit(error_model="numpy")(function)


def grow(task: Task) -> Nodes:
    """Split nodes level by level, from left to right, until the target error is low enough."""
    rows, limits, c = task.rows, task.limits, task.n_classes
    max_depth = task.order.size if limits.max_depth is None else limits.max_depth
    target_weight = task.weights[task.order[task.order >= task.first_target]].sum()
    pool = np.empty((n_histograms(task), c, rows.n_slots))
    stored = rows.entries
    numbers, sums = _grow(
        (rows.is_sparse, rows.offsets, rows.codes, stored.indptr, stored.slots, stored.starts,
         stored.holders, stored.codes, stored.zero),
        task.order, task.labels, task.weights, task.first_target,
        max_depth, bound_on_mistakes(limits, target_weight), pool, c,
    )  # fmt: skip
    return Nodes(
        feature=numbers[:, FEATURE].copy(),
        edges=numbers[:, LAST_LEFT : FIRST_RIGHT + 1],
        left=numbers[:, LEFT].copy(),
        sums=sums[:, : c + 1],
        gain=sums[:, c + 1].copy(),
        stretch=numbers[:, START : STOP + 1],
    )


def n_histograms(task: Task) -> int:
    """Number of histograms to keep: one temporary, the others for nodes waiting to be split."""
    rows, limits, n_rows = task.rows, task.limits, task.order.size
    depth = n_rows if limits.max_depth is None else limits.max_depth
    width = 8 * task.n_classes * rows.n_slots
    budget = max(HISTOGRAM_BYTES, rows.nbytes // 2 - 28 * rows.n_rows)
    # A level has at most half as many nodes as the next.
    return max(2, min(2 * min(n_rows, 2 ** min(depth, 30)), budget // width))


@native
def _grow(  # type: ignore[no-untyped-def]
    rows, order, labels, weights, first_target, max_depth, bound, pool, n_classes
):
    numbers = np.full((FIRST_NODES, 8), LEAF, dtype=np.int32)
    sums = np.zeros((FIRST_NODES, 2 * n_classes + 2))
    free = np.arange(pool.shape[0])  # unused entries; the first element is their number
    free[0] = free.size - 1
    mark = np.empty(max(rows[3].size, 1) - 1, dtype=np.uint8)
    spare, score = np.empty_like(order), np.empty(pool.shape[2])
    numbers[0, START], numbers[0, STOP], numbers[0, DEPTH] = 0, order.size, 0
    _add_up(order, labels, weights, first_target, numbers[0], sums[0])
    mistakes = _mistakes(sums[0])
    node, n_nodes = 0, 1
    while node < n_nodes and not (mistakes < bound and node > 0):  # the root is split in any case
        if n_nodes + 2 > sums.shape[0]:
            numbers, sums = _doubled(numbers, LEAF), _doubled(sums, 0.0)
        this, its_sums = numbers[node], sums[node]
        if _may_split(this, its_sums, max_depth):
            here = _histogram(rows, order, labels, weights, this, its_sums, pool, free)
            slot = _best_split(here, its_sums, rows[1], score, this)
            if this[FEATURE] != LEAF:
                mistakes -= _mistakes(its_sums)
                this[LEFT] = n_nodes
                pair, pair_sums = numbers[n_nodes : n_nodes + 2], sums[n_nodes : n_nodes + 2]
                _partition(rows, order, mark, spare, slot, this, pair)
                for child in range(2):
                    _add_up(order, labels, weights, first_target, pair[child], pair_sums[child])
                    mistakes += _mistakes(pair_sums[child])
                n_nodes += 2
                if not (mistakes < bound and node > 0):
                    _hand_down(
                        rows, order, labels, weights, max_depth, this, its_sums, pair, pair_sums,
                        pool, free,
                    )  # fmt: skip
            if this[HELD] != LEAF:
                _give(free, this[HELD])
        node += 1
    return numbers[:n_nodes].copy(), sums[:n_nodes].copy()


@native
def _doubled(table, blank):  # type: ignore[no-untyped-def]
    out = np.full((2 * table.shape[0], table.shape[1]), blank, dtype=table.dtype)
    out[: table.shape[0]] = table
    return out


@native
def _add_up(order, labels, weights, first_target, node, sums):  # type: ignore[no-untyped-def]
    n_classes = sums.size // 2 - 1
    for i in range(node[START], node[STOP]):
        row = order[i]
        sums[labels[row]] += weights[row]
        if row >= first_target:
            sums[n_classes + 2 + labels[row]] += weights[row]
    sums[n_classes] = node[STOP] - node[START]


@native
def _mistakes(sums):  # type: ignore[no-untyped-def]
    n_classes = sums.size // 2 - 1
    weight, target = sums[:n_classes].sum(), sums[n_classes + 2 :]
    # The class with the largest rounded share; the first one if several are tied.
    label, most = 0, np.round(sums[0] / weight, DIGITS)
    for c in range(1, n_classes):
        share = np.round(sums[c] / weight, DIGITS)
        if share > most:
            label, most = c, share
    return target.sum() - target[label]


@native
def _may_split(node, sums, max_depth):  # type: ignore[no-untyped-def]
    n_classes = sums.size // 2 - 1
    if node[DEPTH] >= max_depth:
        return False
    return np.round(sums[:n_classes].max() / sums[:n_classes].sum(), DIGITS) < 1


@native
def _take(free):  # type: ignore[no-untyped-def]
    if free[0] == 0:
        return LEAF
    free[0] -= 1
    return free[free[0] + 1]


@native
def _give(free, at):  # type: ignore[no-untyped-def]
    free[0] += 1
    free[free[0]] = at


@native
def _histogram(rows, order, labels, weights, node, sums, pool, free):  # type: ignore[no-untyped-def]
    if node[HELD] != LEAF:
        return pool[node[HELD]]
    node[HELD] = _take(free)
    here = pool[max(node[HELD], 0)]  # the first histogram is temporary
    _fill(rows, order, labels, weights, node, sums, here)
    return here


@native
def _hand_down(  # type: ignore[no-untyped-def]
    rows, order, labels, weights, max_depth, node, sums, pair, pair_sums, pool, free
):
    n_classes = sums.size // 2 - 1
    small = 1 if pair_sums[1, n_classes] < pair_sums[0, n_classes] else 0
    large = 1 - small
    heavy = pair_sums[large, :n_classes].sum() > LIGHT * sums[:n_classes].sum()
    if node[HELD] == LEAF or not heavy or not _may_split(pair[large], pair_sums[large], max_depth):
        return
    if _may_split(pair[small], pair_sums[small], max_depth):
        pair[small, HELD] = _take(free)
    parent, child = pool[node[HELD]], pool[max(pair[small, HELD], 0)]
    _fill(rows, order, labels, weights, pair[small], pair_sums[small], child)
    for column in range(parent.shape[0]):
        for slot in range(parent.shape[1]):
            parent[column, slot] -= child[column, slot]
    pair[large, HELD], node[HELD] = node[HELD], LEAF


@native
def _fill(rows, order, labels, weights, node, sums, out):  # type: ignore[no-untyped-def]
    is_sparse, offsets, codes, indptr, slots = rows[:5]
    out[:] = 0.0
    for i in range(np.uint32(node[START]), np.uint32(node[STOP])):
        row = order[i]
        of_label, weight = out[labels[row]], weights[row]
        if is_sparse:
            for e in range(indptr[row], indptr[row + ONE]):
                of_label[slots[e]] += weight
        else:
            for f in range(codes.shape[1]):
                of_label[offsets[f] + codes[row, f]] += weight
    if is_sparse:
        _add_zeros(rows, sums, out)


@native
def _add_zeros(rows, sums, out):  # type: ignore[no-untyped-def]
    offsets, zero = rows[1], rows[8]
    for column in range(out.shape[0]):
        of_column, total = out[column], sums[column]
        for f in range(
            zero.size
        ):  # the weight of rows without a stored entry belongs to the slot of zero
            zeros = total
            for slot in range(offsets[f], offsets[f + 1]):
                zeros -= of_column[slot]
            of_column[zero[f]] += zeros


@native
def _best_split(histogram, sums, offsets, score, node):  # type: ignore[no-untyped-def]
    n_classes = sums.size // 2 - 1
    weight, purity = sums[:n_classes].sum(), (sums[:n_classes] ** 2).sum()
    if n_classes == 2:
        best = _score_two_classes(histogram, sums, offsets, score)
    else:
        best = _score(histogram, sums, offsets, score)
    if best == -np.inf:
        return 0
    f, slot = 0, 0
    while score[slot] < best - TIE * weight:
        slot += 1
    while offsets[f + 1] <= slot:
        f += 1
    node[FEATURE], sums[n_classes + 1] = f, score[slot] - purity / weight
    return slot


@native
def _score(histogram, sums, offsets, score):  # type: ignore[no-untyped-def]
    n_classes = sums.size // 2 - 1
    left = np.zeros(n_classes)
    weight, best = sums[:n_classes].sum(), -np.inf
    for f in range(offsets.size - 1):
        left[:] = 0.0
        score[offsets[f + 1] - 1] = -np.inf  # the right side would be empty
        for slot in range(offsets[f], offsets[f + 1] - 1):
            score[slot] = -np.inf
            pure_left, pure_right, weight_left = 0.0, 0.0, 0.0
            for c in range(n_classes):
                left[c] += histogram[c, slot]
                right = sums[c] - left[c]
                weight_left += left[c]
                pure_left += left[c] * left[c]
                pure_right += right * right
            weight_right = weight - weight_left
            if min(weight_left, weight_right) > TIE * weight:
                both = pure_left * weight_right + pure_right * weight_left
                score[slot] = both / (weight_left * weight_right)
                best = max(best, score[slot])
    return best


@native
def _score_two_classes(histogram, sums, offsets, score):  # type: ignore[no-untyped-def]
    # Same result with both classes held in registers, for the common case of two classes.
    first, second = sums[0], sums[1]
    least, best = TIE * (first + second), -np.inf
    for f in range(offsets.size - 1):
        a, b = 0.0, 0.0
        score[offsets[f + 1] - 1] = -np.inf
        for slot in range(offsets[f], offsets[f + 1] - 1):
            a += histogram[0, slot]
            b += histogram[1, slot]
            left, right = a + b, first + second - a - b
            both = (a * a + b * b) * right + ((first - a) ** 2 + (second - b) ** 2) * left
            score[slot] = both / (left * right) if min(left, right) > least else -np.inf
            best = max(best, score[slot])
    return best


@native
def _look_up(rows, order, node, mark, out):  # type: ignore[no-untyped-def]
    is_sparse, offsets, codes, indptr, slots, starts, holders, held, zero = rows
    f, start, stop = np.uint32(node[FEATURE]), np.uint32(node[START]), np.uint32(node[STOP])
    first, end = offsets[f], offsets[f + ONE]
    if not is_sparse:
        for i in range(start, stop):
            out[i] = first + codes[order[i], f]
    # Scan whichever is shorter: the entries of the column or those of the node's rows.
    elif (starts[f + ONE] - starts[f]) * mark.size < (stop - start) * slots.size:
        for i in range(start, stop):
            mark[order[i]] = zero[f] - first
        for e in range(starts[f], starts[f + ONE]):
            mark[holders[e]] = held[e]
        for i in range(start, stop):
            out[i] = first + mark[order[i]]
    else:
        for i in range(start, stop):
            out[i] = zero[f]
            for e in range(indptr[order[i]], indptr[order[i] + ONE]):
                if first <= slots[e] < end:
                    out[i] = slots[e]


@native
def _partition(rows, order, mark, spare, slot, node, pair):  # type: ignore[no-untyped-def]
    _look_up(rows, order, node, mark, spare)
    start, stop, f = np.uint32(node[START]), np.uint32(node[STOP]), np.uint32(node[FEATURE])
    last_left, first_right = rows[1][f], rows[1][f + ONE]
    left, right = start, ZERO
    for i in range(start, stop):
        # Rows to the right overwrite slots that have been read already. Both sides are written and
        # only one position advances: a branch would often be mispredicted.
        row, at = order[i], spare[i]
        goes_left = np.uint32(at <= slot)
        last_left = max(last_left, at if goes_left else last_left)
        first_right = min(first_right, first_right if goes_left else at)
        order[left] = row
        spare[right] = row
        left += goes_left
        right += ONE - goes_left
    order[left:stop] = spare[:right]
    node[LAST_LEFT], node[FIRST_RIGHT] = last_left, first_right
    pair[:, DEPTH] = node[DEPTH] + 1
    pair[0, START], pair[0, STOP], pair[1, START], pair[1, STOP] = start, left, left, stop
