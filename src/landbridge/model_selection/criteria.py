"""The criteria: each a small function from fitted folds to pointwise losses.

======== ===================================================================== =============
name     what it measures                                                      defined in
======== ===================================================================== =============
scv      k-fold cross-validation on the source                                 Eq. (2)
wcv      the same, losses weighted by the density ratio β                      Eq. (4)
rv       reverse validation, unweighted                                        Fig. 1
trcv     reverse validation weighted by β: transfer cross-validation           Eq. (6), Fig. 3
tcv      k-fold cross-validation on the labelled target rows alone             Section 5.1
stv      trained on the source, validated on the labelled target rows          Section 5.1
tlv      trained on the source and the other labelled rows, validated on each  here
         fold of the labelled target rows
anchored tlv as a measurement of what trcv and unlabelled rows expect          here
======== ===================================================================== =============

Numbers are those of Zhong, Fan, Yang, Verscheure and Ren, "Cross Validation Framework to Choose
amongst Models and Datasets for Transfer Learning". A criterion is the sum of weighted losses
divided by the number of rows, a loss: smaller is better.
"""

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from landbridge._typing import Vector, VectorLike
from landbridge._validation import check_choice
from landbridge.model_selection.correction import CORRECTIONS


@dataclass(frozen=True, slots=True)
class FittedFolds:
    """Pointwise losses of one candidate on one source, from the folds it was fitted on.

    The first three have one value for each row of the source, the last three one for each
    labelled target row; ``None`` where no requested criterion needs them.
    """

    forward: VectorLike = None
    reverse: VectorLike = None
    weights: VectorLike = None
    source_to_target: VectorLike = None
    target_alone: VectorLike = None
    labelled: VectorLike = None


@dataclass(frozen=True, slots=True)
class PointwiseLosses:
    """Losses of rows, with the weight of each row."""

    values: Vector
    weights: Vector

    @property
    def mean(self) -> float:
        """(1/n) Σ β r, the criterion."""
        return float(self.weights @ self.values / self.values.shape[0])


def scv(folds: FittedFolds) -> PointwiseLosses:
    """Eq. (2)."""
    return _unweighted(folds.forward)


def wcv(folds: FittedFolds) -> PointwiseLosses:
    """Eq. (4)."""
    return PointwiseLosses(folds.forward, folds.weights)


def rv(folds: FittedFolds) -> PointwiseLosses:
    """Fig. 1."""
    return _unweighted(folds.reverse)


def trcv(folds: FittedFolds) -> PointwiseLosses:
    """Eq. (6) with Fig. 3."""
    return PointwiseLosses(folds.reverse, folds.weights)


def stv(folds: FittedFolds) -> PointwiseLosses:
    """Trained on the source, validated on the labelled target rows."""
    return _unweighted(folds.source_to_target)


def tcv(folds: FittedFolds) -> PointwiseLosses:
    """Cross-validation on the labelled target rows alone."""
    return _unweighted(folds.target_alone)


def tlv(folds: FittedFolds) -> PointwiseLosses:
    """Validated on labelled target folds, trained on the source and the other labelled rows."""
    return _unweighted(folds.labelled)


def _unweighted(losses: Vector) -> PointwiseLosses:
    return PointwiseLosses(losses, np.ones_like(losses))


Criterion: TypeAlias = Callable[[FittedFolds], PointwiseLosses]
POINTWISE: dict[str, Criterion] = {
    "scv": scv,
    "wcv": wcv,
    "rv": rv,
    "trcv": trcv,
    "tcv": tcv,
    "stv": stv,
    "tlv": tlv,
}
# Which of the fitted folds each criterion is made from: fits are planned from the union.
NEEDS: dict[str, frozenset[str]] = {
    "scv": frozenset({"forward"}),
    "wcv": frozenset({"forward", "weights"}),
    "rv": frozenset({"reverse"}),
    "trcv": frozenset({"reverse", "weights"}),
    "tcv": frozenset({"target_alone"}),
    "stv": frozenset({"source_to_target"}),
    "tlv": frozenset({"labelled"}),
    "anchored": frozenset({"labelled", "reverse", "weights", "guesses"}),
}
CRITERIA = tuple(NEEDS)
# Made from pseudo-labels of the target, which the corrections look at.
CORRECTABLE = frozenset({"rv", "trcv"})
# How many kinds of candidates make a vote, unless it is asked for.
FEWEST_VOTERS = 5
BY_DEFAULT = "by default"
OF_LABELLED_ROWS = frozenset({"tcv", "stv", "tlv", "anchored"})


@dataclass(frozen=True, slots=True)
class Choice:
    """The criterion that selects, all that are computed, and why the first was taken.

    With a ``correction`` the candidate is chosen by the corrected criterion (`correction.py`).
    """

    criterion: str
    criteria: tuple[str, ...]
    reason: str
    correction: str | None = None

    @property
    def needs(self) -> frozenset[str]:
        return frozenset().union(*(NEEDS[name] for name in self.criteria))


def choose_criterion(
    requested: str | Iterable[str] | None,
    n_labelled: int,
    *,
    correction: str | None = "auto",
    n_voters: int = 0,
) -> Choice:
    """Settle what to compute: a name, several (the first selects), ``"all"`` or ``None``.

    ``n_voters`` counts the kinds of candidates whose vote `correction` may go by.
    """
    choice = _without_correction(requested, n_labelled)
    if correction == "auto":
        by_default = choice.reason.startswith(BY_DEFAULT) and choice.criterion == "trcv"
        correction = "consensus" if by_default and n_voters >= FEWEST_VOTERS else None
    if correction is None:
        return choice
    check_choice(correction, "correction", ("auto", *CORRECTIONS))
    if choice.criterion not in CORRECTABLE:
        raise ValueError(
            f"`correction` must be None or 'auto' with criterion {choice.criterion!r}, which is "
            f"not made from pseudo-labels; got {correction!r}. Use criterion='trcv' or 'rv'."
        )
    reason = f"{choice.reason}; {CORRECTIONS[correction]}"
    return replace(choice, reason=reason, correction=correction)


def _without_correction(requested: str | Iterable[str] | None, n_labelled: int) -> Choice:
    if requested is None:
        criterion, reason = _default(n_labelled)
        return Choice(criterion, (criterion,), reason)
    if not isinstance(requested, Iterable) or isinstance(requested, Set):
        raise TypeError(
            "`criterion` must be a name or a list of names, of which the first selects; got "
            f"{requested!r}."
        )
    names = (requested,) if isinstance(requested, str) else tuple(requested)
    if not names:
        raise ValueError("`criterion` must name at least one criterion; got an empty list.")
    for name in names:
        check_choice(name, "criterion", (*CRITERIA, "all"))
        if name in OF_LABELLED_ROWS and n_labelled < 2:
            raise ValueError(
                f"`criterion` {name!r} must have at least 2 labelled target rows; got "
                f"{n_labelled}. Label some target rows, or use criterion='trcv'."
            )
    criterion, reason = (names[0], "as requested") if names[0] != "all" else _default(n_labelled)
    possible = [c for c in CRITERIA if n_labelled >= 2 or c not in OF_LABELLED_ROWS]
    every = [c for name in names for c in (possible if name == "all" else [name])]
    return Choice(criterion, tuple(dict.fromkeys(every)), reason)


def _default(n_labelled: int) -> tuple[str, str]:
    if n_labelled >= 2:
        return "anchored", f"{BY_DEFAULT}, because there are {n_labelled} labelled target rows"
    few = "are no" if n_labelled == 0 else "are fewer than 2"
    return "trcv", f"{BY_DEFAULT}, because there {few} labelled target rows"
