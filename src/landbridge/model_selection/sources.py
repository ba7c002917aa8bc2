"""Sources: the sets of rows among which a search chooses."""

import reprlib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.model_selection._split import GroupsConsumerMixin

from landbridge._typing import Vector, VectorLike
from landbridge._validation import Task, check_choice


@dataclass(frozen=True, slots=True)
class Source:
    """A named set of source rows with its folds.

    ``folds`` gives each of ``rows`` its fold. ``problem`` says in words why nothing can be
    validated on this source, where that is so.
    """

    name: Any
    rows: Vector
    folds: Vector
    problem: str | None = None

    @property
    def n_folds(self) -> int:
        return 0 if self.problem else int(self.folds.max()) + 1

    def split(self, fold: int) -> tuple[Vector, Vector]:
        """Rows to train on and rows held out."""
        held_out = self.folds == fold
        return self.rows[~held_out], self.rows[held_out]


def resolve_sources(sources: Any, groups: VectorLike, n_rows: int) -> dict[Any, Vector]:
    """Row numbers of every source by name.

    ``"each"`` group alone, ``"pooled"`` all together, ``"both"``, a list of groups or tuples of
    groups, or a mapping from names to such.
    """
    everything = np.arange(n_rows)
    if isinstance(sources, str):
        check_choice(sources, "sources", ("each", "pooled", "both"))
    elif groups is None:
        raise ValueError(
            f"`sources` {sources!r} must come with `groups`, which name the source of each row; "
            "got no groups. Pass groups= to fit."
        )
    names = [] if groups is None else np.unique(groups).tolist()
    if len(names) < 2 and isinstance(sources, str):
        return {names[0] if names else "source": everything}
    each = {name: np.flatnonzero(groups == name) for name in names}
    if not isinstance(sources, str):
        return _subsets(sources, each)
    if sources == "each":
        return each
    if "pooled" in each:
        raise ValueError(
            f"`groups` must not hold 'pooled' with sources={sources!r}, where it is the name of "
            "all rows together; got a group of that name. Rename the group."
        )
    return {**(each if sources == "both" else {}), "pooled": everything}


def _subsets(sources: Any, each: dict[Any, Vector]) -> dict[Any, Vector]:
    if not isinstance(sources, Iterable):
        raise TypeError(
            "`sources` must be 'each', 'pooled', 'both', a list of groups or of tuples of groups, "
            f"or a mapping from names to such; got {sources!r}."
        )
    if not isinstance(sources, Mapping):
        members = [_members(part) for part in sources]
        sources = {"+".join(map(str, part)): part for part in members}
        if len(sources) < len(members):
            raise ValueError(
                f"`sources` must be subsets with names that differ; got {members}, which become "
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
    """The groups of one subset; those of a set in an order that is the same in every process."""
    if isinstance(part, (set, frozenset)):
        return sorted(part, key=str)
    return list(part) if isinstance(part, (tuple, list, np.ndarray)) else [part]


def make_source(name: Any, rows: Vector, y: Vector, *, cv: Any, task: Task, seed: int) -> Source:
    """A source with its folds, or with the reason why it can have none."""
    problem, folds = None, np.full(rows.size, -1)
    if task == "classification" and np.unique(y[rows]).size < 2:
        problem = (
            f"source {name!r} must hold at least 2 classes; got {y[rows].tolist()[0]!r} only. "
            "Pool it with another source."
        )
    elif rows.size < n_folds(cv):
        problem = (
            f"source {name!r} must have at least as many rows as folds; got n_samples={rows.size} "
            f"for {n_folds(cv)} folds. Lower `cv` or pool it with another source."
        )
    else:
        try:
            folds = fold_numbers(y[rows], cv=cv, task=task, seed=seed)
        except NoFoldsError as error:
            problem = (
                f"source {name!r} must be one that `cv` can split; got {cv!r}, which says: {error}"
            )
    return Source(name, rows, folds, problem)


class NoFoldsError(ValueError):
    """A splitter cannot split the rows of one source."""


def fold_numbers(y: Vector, *, cv: Any, task: Task, seed: int) -> Vector:
    """The fold of each row; shuffled, and for classes in equal shares, where ``cv`` is a number."""
    if isinstance(cv, int):
        if task == "classification" and np.unique(y, return_counts=True)[1].min() >= cv:
            cv = StratifiedKFold(cv, shuffle=True, random_state=seed)
        elif task == "classification":
            return _dealt_by_class(y, cv, seed)
        else:
            cv = KFold(cv, shuffle=True, random_state=seed)
    folds = np.full(y.shape[0], -1)
    for fold, held_out in enumerate(_held_out(cv, y)):
        if (folds[held_out] >= 0).any():
            raise ValueError("`cv` must hold out each row once; got a row in two folds. Use KFold.")
        folds[held_out] = fold
    if (folds < 0).any():
        raise ValueError("`cv` must hold out every row; got rows in no fold. Use KFold.")
    return folds


def _held_out(cv: Any, y: Vector) -> list[Vector]:
    """The test rows of each fold of a splitter."""
    try:
        parts = [held_out for _, held_out in cv.split(np.zeros(y.shape[0]), y)]
    except ValueError as error:
        raise NoFoldsError(str(error)) from error
    if any(np.max(part, initial=0) >= y.shape[0] for part in parts):
        raise NoFoldsError(f"it holds out rows beyond the {y.shape[0]} that there are.")
    return parts


def n_folds(cv: Any) -> int:
    """Number of folds of a number or of a splitter."""
    return cv if isinstance(cv, int) else cv.get_n_splits()


def check_cv(cv: Any) -> Any:
    """A number of folds of at least 2, or a splitter that knows its number without the rows."""
    if hasattr(cv, "split") and hasattr(cv, "get_n_splits"):
        try:
            cv.get_n_splits()
            sound = not isinstance(cv, GroupsConsumerMixin)
        except (TypeError, ValueError):
            sound = False
        if sound:
            return cv
        raise ValueError(
            "`cv` must be a splitter that serves sources of any size and needs no groups, like "
            f"KFold; got {cv!r}. Pass a number of folds, or KFold(5, shuffle=True)."
        )
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool) and cv >= 2:
        return int(cv)
    raise ValueError(
        "`cv` must be a number of folds, at least 2, or a splitter like KFold; got "
        f"{reprlib.repr(cv)}."
    )


def _dealt_by_class(y: Vector, cv: int, seed: int) -> Vector:
    """Rows dealt out in turn, class after class: equal shares where a class has too few rows."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(y.shape[0])
    order = order[np.argsort(y[order], kind="stable")]
    folds = np.empty(y.shape[0], dtype=int)
    folds[order] = np.arange(y.shape[0]) % cv
    return folds
