"""Sources of a search, and how their rows are split into folds."""

import reprlib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from landbridge._typing import Vector, VectorLike
from landbridge._validation import Task, check_choice

# The name of all source rows together.
POOLED = "pooled"


@dataclass(frozen=True)
class Folds:
    """Train and test positions of every fold, and the fold in which each row is held out.

    A row is held out at most once. ``TimeSeriesSplit`` never holds out the earliest rows, so
    ``numbers`` is −1 there.
    """

    splits: tuple[tuple[Vector, Vector], ...]
    numbers: Vector

    def __len__(self) -> int:
        return len(self.splits)


@dataclass(frozen=True)
class Source:
    """A named set of source rows with its folds.

    ``problem`` is the reason if this source cannot be validated. ``name`` is ``None`` for the set
    of all rows used to validate candidates that ignore the source.
    """

    name: Any
    rows: Vector
    folds: Folds
    problem: str | None = None


def resolve_sources(sources: Any, groups: VectorLike, n_rows: int) -> dict[Any, Vector]:
    """Row numbers of every source by name.

    ``sources`` is ``"each"`` (every group separately), ``"pooled"`` (all rows), ``"both"``, a list
    of groups or tuples of groups, or a mapping from names to these.
    """
    everything = np.arange(n_rows)
    if isinstance(sources, str):
        check_choice(sources, "sources", ("each", "pooled", "both"))
    elif groups is None:
        raise ValueError(
            f"`sources` {sources!r} must come with `groups`, which name the source of each row; "
            "got no groups. Pass groups= to fit."
        )
    if groups is None:
        return {"source": everything}
    names, numbers = np.unique(groups, return_inverse=True)
    # One sort instead of one comparison per group, because there may be thousands of groups.
    order = np.argsort(numbers, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(numbers))[:-1])
    each = dict(zip(names.tolist(), parts, strict=True))
    found = each if isinstance(sources, str) else _subsets(sources, each)
    for name in (POOLED, source_name(POOLED)):
        if name in found:
            given = "groups" if isinstance(sources, str) else "sources"
            raise ValueError(
                f"`{given}` must not contain {name!r} with sources={sources!r}, because it is the "
                "name of all rows together; got a group of that name. Rename the group."
            )
    if not isinstance(sources, str) or sources == "each" or len(each) < 2:
        return found
    return {**(each if sources == "both" else {}), POOLED: everything}


def _subsets(sources: Any, each: dict[Any, Vector]) -> dict[Any, Vector]:
    if not isinstance(sources, Iterable):
        raise TypeError(
            "`sources` must be 'each', 'pooled', 'both', a list of groups or of tuples of groups, "
            f"or a mapping from names to groups; got {sources!r}."
        )
    if not isinstance(sources, Mapping):
        members = [_members(part) for part in sources]
        sources = {"+".join(map(str, part)): part for part in members}
        if len(sources) < len(members):
            raise ValueError(
                f"`sources` must be subsets with distinct names; got {members}, which become "
                f"{list(sources)}. Pass a mapping from names to subsets."
            )
    subsets = {}
    for name, part in sources.items():
        part = _members(part)
        unknown = [group for group in part if not isinstance(group, Hashable) or group not in each]
        if unknown or not part:
            raise ValueError(
                f"`sources` must be made of groups, {list(each)}; got {unknown or 'none'} in "
                f"{name!r}. Name groups that occur in `groups`."
            )
        subsets[name] = np.unique(np.concatenate([each[group] for group in part]))
    if not subsets:
        raise ValueError("`sources` must name at least one source; got none.")
    return subsets


def _members(part: Any) -> list[Any]:
    """Groups of one subset; sets are sorted so that the order is the same in every process."""
    if isinstance(part, (set, frozenset)):
        return sorted(part, key=str)
    return list(part) if isinstance(part, (tuple, list, np.ndarray)) else [part]


def make_source(
    name: Any, rows: Vector, y: Vector, cv: Any, task: Task, seed: int, groups: VectorLike
) -> Source:
    """A source with its folds, or with the reason why it can have none."""
    folds, problem, y = Folds((), np.full(rows.size, -1)), None, y[rows]
    if task == "classification" and np.unique(y).size < 2:
        problem = (
            f"source {name!r} must hold at least 2 classes; got {y.tolist()[0]!r} only. "
            "Pool it with another source."
        )
    elif rows.size < n_folds(cv):
        problem = (
            f"source {name!r} must have at least as many rows as folds; got n_samples={rows.size} "
            f"for {n_folds(cv)} folds. Lower `cv` or pool it with another source."
        )
    else:
        try:
            groups = None if groups is None else groups[rows]
            folds = make_folds(y, cv=cv, task=task, seed=seed, groups=groups)
        except NoFoldsError as error:
            problem = f"`cv` must be able to split source {name!r}; got {cv!r}, which says: {error}"
    return Source(name, rows, folds, problem)


class GroupTimeSeriesSplit(TimeSeriesSplit):
    """Folds in the order of time that train on earlier rows of other groups only."""

    __metadata_request__split = {"groups": True}

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Yield training and test rows of each fold."""
        groups = np.asarray(groups)
        for train, test in super().split(X):
            train = train[~np.isin(groups[train], groups[test])]
            if not train.size:
                raise ValueError("every group with earlier rows has rows in the test part too.")
            yield train, test


class NoFoldsError(ValueError):
    """A splitter failed to split the rows of one source."""


def make_folds(y: Vector, *, cv: Any, task: Task, seed: int, groups: VectorLike = None) -> Folds:
    """Folds of rows with labels ``y``; shuffled and stratified by class where ``cv`` is a number.

    With ``groups``, rows of one group are in one fold, unless a splitter decides otherwise.
    """
    n_rows = y.shape[0]
    if isinstance(cv, int):
        cv = _splitter(y, cv, task, seed, groups)
    rows, groups = np.zeros((n_rows, 1)), groups if takes_groups(cv) else None
    try:
        splits = [
            (np.asarray(train), np.asarray(test)) for train, test in cv.split(rows, y, groups)
        ]
    except ValueError as error:
        raise NoFoldsError(str(error)) from error
    if any(np.max(part, initial=0) >= n_rows for split in splits for part in split):
        raise NoFoldsError(f"it holds out rows beyond the {n_rows} rows of the source.")
    numbers = np.full(n_rows, -1)
    for fold, (_, test) in enumerate(splits):
        if (numbers[test] >= 0).any():
            raise ValueError(
                "`cv` must hold out each row at most once; got a row in two test sets. Use KFold "
                "or another splitter without repeats."
            )
        numbers[test] = fold
    if (numbers < 0).all():
        raise ValueError("`cv` must hold out rows; got none in any fold. Use KFold.")
    return Folds(tuple(splits), numbers)


def _splitter(y: Vector, cv: int, task: Task, seed: int, groups: VectorLike) -> Any:
    """Splitter into ``cv`` folds, stratified where every class allows it."""
    if groups is not None and np.unique(groups).size < cv:
        raise NoFoldsError(f"its rows belong to fewer than {cv} groups.")
    shuffled = {"n_splits": cv, "shuffle": True, "random_state": seed}
    if task == "classification" and np.unique(y, return_counts=True)[1].min() >= cv:
        return (StratifiedKFold if groups is None else StratifiedGroupKFold)(**shuffled)
    if groups is not None:
        return GroupKFold(cv)
    if task == "regression":
        return KFold(**shuffled)
    # Deal the rows of each class to the folds in turn, even if a class has too few rows.
    order = np.random.default_rng(seed).permutation(y.shape[0])
    order = order[np.argsort(y[order], kind="stable")]
    folds = np.empty(y.shape[0], dtype=int)
    folds[order] = np.arange(y.shape[0]) % cv
    return PredefinedSplit(folds)


def n_folds(cv: Any) -> int:
    """Number of folds, from a number or a splitter."""
    return cv if isinstance(cv, int) else cv.get_n_splits()


def needs_groups(cv: Any) -> bool:
    """Whether a splitter keeps groups of rows together."""
    return hasattr(cv, "get_metadata_routing") and takes_groups(cv)


def takes_groups(cv: Any) -> bool:
    """Whether a splitter accepts groups; those of scikit-learn warn if they ignore them."""
    routing = getattr(cv, "get_metadata_routing", None)
    return routing is None or "groups" in routing().split.requests


def check_cv(cv: Any, name: str = "cv", *, groups: VectorLike = None) -> Any:
    """Check that ``cv`` is at least 2, or a splitter with a fixed number of folds."""
    if hasattr(cv, "split") and hasattr(cv, "get_n_splits"):
        try:
            cv.get_n_splits()
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"`{name}` must be a splitter whose number of folds does not depend on the rows, "
                f"like KFold; got {cv!r}. Pass a number of folds, or KFold(5, shuffle=True)."
            ) from error
        if needs_groups(cv) and groups is None:
            raise ValueError(
                f"`{name}` {cv!r} must come with the group of every row; got none. Pass cv_groups "
                "to fit (and cv_groups_target where target rows are labelled)."
            )
        return cv
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool) and cv >= 2:
        return int(cv)
    raise ValueError(
        f"`{name}` must be a number of folds, at least 2, or a splitter like KFold; got "
        f"{reprlib.repr(cv)}."
    )


def source_name(source: Any) -> str:
    """Display name of a source."""
    return "all sources" if source == POOLED else str(source)
