"""Splitters that keep sources whole, for scikit-learn's ``cv=``."""

from collections.abc import Iterator

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.model_selection._split import GroupsConsumerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from landbridge._typing import MatrixLike, RandomState, Vector, VectorLike
from landbridge._validation import check_count, check_groups


class LeaveSourcesOut(GroupsConsumerMixin, BaseCrossValidator):
    """Leave out p whole sources at a time, every source once a repeat.

    In each repeat the sources are dealt at random into ⌈K/p⌉ blocks of at most p, whose sizes
    differ by one at most; each block is a test set once. scikit-learn's LeavePGroupsOut tries all
    subsets (184 756 for 10 of 20), and its GroupShuffleSplit leaves some sources out often and
    others never.

    Parameters
    ----------
    n_out : int, default=1
        p, the number of sources in a test set.
    n_repeats : int, default=1
        How often the sources are dealt anew.
    random_state : int, RandomState instance or None, default=None
        How they are dealt. With ``n_out=1`` and one repeat it does not matter.

    Examples
    --------
    >>> from landbridge.model_selection import LeaveSourcesOut
    >>> groups = ["a", "a", "b", "c", "c", "d"]
    >>> splitter = LeaveSourcesOut(n_out=2, n_repeats=3, random_state=0)
    >>> splitter.get_n_splits(groups=groups)
    6
    >>> train, test = next(splitter.split(groups, groups=groups))
    >>> [groups[i] for i in train], [groups[i] for i in test]
    (['a', 'a', 'b'], ['c', 'c', 'd'])
    """

    def __init__(
        self, n_out: int = 1, *, n_repeats: int = 1, random_state: RandomState = None
    ) -> None:
        check_count(n_out, "n_out")
        check_count(n_repeats, "n_repeats")
        self.n_out = n_out
        self.n_repeats = n_repeats
        self.random_state = random_state

    def get_n_splits(
        self, X: MatrixLike = None, y: VectorLike = None, groups: VectorLike = None
    ) -> int:
        """Number of splits: blocks times repeats."""
        return self.n_repeats * self._n_blocks(self._sources(groups, None))

    def _iter_test_masks(
        self, X: MatrixLike = None, y: VectorLike = None, groups: VectorLike = None
    ) -> Iterator[Vector]:
        groups = check_groups(groups, _num_samples(X))
        sources = self._sources(groups, _num_samples(X))
        n_blocks = self._n_blocks(sources)
        rng = check_random_state(self.random_state)
        for _ in range(self.n_repeats):
            order = sources if n_blocks == len(sources) else rng.permutation(sources)
            for block in np.array_split(order, n_blocks):
                yield np.isin(groups, block)

    def _sources(self, groups: VectorLike, n_rows: int | None) -> Vector:
        n_rows = n_rows if groups is None or n_rows is not None else _num_samples(groups)
        sources = np.unique(check_groups(groups, n_rows or 0))
        if len(sources) <= self.n_out:
            raise ValueError(
                f"`n_out` must be smaller than the number of sources, {len(sources)}; got "
                f"{self.n_out}. Leave out fewer, so that some remain to train on."
            )
        return sources

    def _n_blocks(self, sources: Vector) -> int:
        return -(-len(sources) // self.n_out)
