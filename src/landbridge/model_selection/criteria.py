"""Criteria for comparing candidates, and the choice of the default.

======== ===================================================================== =============
name     what it measures                                                      defined in
======== ===================================================================== =============
scv      k-fold cross-validation on the source                                 Eq. (2)
wcv      the same, rows weighted by the density ratio β                        Eq. (4)
rv       reverse validation, unweighted                                        Fig. 1
trcv     reverse validation weighted by β: transfer cross-validation           Eq. (6), Fig. 3
tcv      k-fold cross-validation on the labelled target rows alone             Section 5.1
stv      trained on the source, validated on the labelled target rows          Section 5.1
tlv      trained on the source and the other labelled rows, validated on each  here
         fold of the labelled target rows
anchored tlv combined with what the unlabelled rows suggest, and with trcv     here
         if it is computed too
======== ===================================================================== =============

Equation numbers are those of Zhong, Fan, Yang, Verscheure and Ren, "Cross Validation Framework to
Choose amongst Models and Datasets for Transfer Learning". For a metric that is the mean of a
pointwise loss, a criterion is the sum of the weighted losses divided by the number of rows. Any
other metric gets the density ratio as its ``sample_weight``.
"""

from collections.abc import Iterable, Set
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_consistent_length

from landbridge._typing import VectorLike
from landbridge._validation import check_choice, without_masks


@dataclass(frozen=True, slots=True)
class Criterion:
    """The stored predictions that a criterion uses: one of the arrays of `SearchResult`."""

    predictions: str
    weighted: bool = False

    @property
    def of_target(self) -> bool:
        """Whether it validates on labelled target rows."""
        return self.predictions not in ("source", "reverse")

    @property
    def needs(self) -> frozenset[str]:
        """Arrays that the fits must fill; a search plans the fits for the union over criteria."""
        return frozenset({self.predictions, "weights"} if self.weighted else {self.predictions})


CRITERIA = {
    "scv": Criterion("source"),
    "wcv": Criterion("source", weighted=True),
    "rv": Criterion("reverse"),
    "trcv": Criterion("reverse", weighted=True),
    "tcv": Criterion("target_alone"),
    "stv": Criterion("source_to_target"),
    "tlv": Criterion("target"),
    "anchored": Criterion("target"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """The criterion used for selection and all criteria that are computed.

    ``by_default`` is true if the selecting criterion follows from the number of target labels.
    """

    criterion: str
    criteria: tuple[str, ...]
    by_default: bool

    @property
    def needs(self) -> frozenset[str]:
        """The arrays that the fits must fill."""
        return frozenset().union(*(CRITERIA[name].needs for name in self.criteria))


def choose_criterion(requested: str | Iterable[str | None] | None, n_labelled: int) -> Choice:
    """Resolve ``criterion``: a name, several names, ``"all"`` or ``None``."""
    default = "anchored" if n_labelled >= 2 else "trcv"
    given = [requested] if requested is None or isinstance(requested, str) else requested
    if not isinstance(given, Iterable) or isinstance(given, Set):
        raise TypeError(
            "`criterion` must be a name or a list of names, the first of which is used for "
            f"selection; got {requested!r}."
        )
    names = tuple(given)
    if not names:
        raise ValueError("`criterion` must name at least one criterion; got an empty list.")
    possible = [c for c in CRITERIA if n_labelled >= 2 or not CRITERIA[c].of_target]
    meaning: dict[str | None, list[str]] = {name: [name] for name in possible}
    meaning |= {None: [default], "all": [default, *possible]}
    for name in names:
        if name is not None:
            check_choice(name, "criterion", (*CRITERIA, "all"))
        if name not in meaning:
            raise ValueError(
                f"`criterion` {name!r} must have at least 2 labelled target rows; got "
                f"{n_labelled}. Label some target rows, or use criterion='trcv'."
            )
    every = tuple(dict.fromkeys(criterion for name in names for criterion in meaning[name]))
    return Choice(every[0], every, by_default=names[0] in (None, "all"))


@without_masks
def rank_agreement(accuracy: VectorLike, score: VectorLike) -> int:
    r"""Count the pairs of models that a score does not rank in the wrong order.

    .. math::
        corr = \binom{|H|}{2} - \#\{f, g : (ε(f) - ε(g)) (v(f) - v(g)) < 0\},

    the measure of Section 5.1 of Zhong et al., where ε is the true accuracy and v the score.
    Greater is better in both; ties are not wrong.

    Parameters
    ----------
    accuracy : array-like of shape (n_models,)
        True accuracies of the models on the target.
    score : array-like of shape (n_models,)
        Scores of the models by a criterion, greater is better. Pass ``-loss`` for a loss.

    Returns
    -------
    corr : int
        At most ``n_models * (n_models - 1) / 2``.

    Examples
    --------
    >>> from landbridge import rank_agreement
    >>> rank_agreement([0.6, 0.7, 0.9], [0.5, 0.8, 0.7])
    2
    """
    check_consistent_length(accuracy, score)
    accuracy, score = (np.asarray(values, dtype=np.float64) for values in (accuracy, score))
    if accuracy.ndim != 1 or score.ndim != 1:
        raise ValueError(
            "`accuracy` and `score` must hold one number per model; got arrays of shapes "
            f"{accuracy.shape} and {score.shape}. Compare one criterion at a time."
        )
    if not (np.isfinite(accuracy).all() and np.isfinite(score).all()):
        raise ValueError(
            "`accuracy` and `score` must hold finite numbers; got NaN or infinity. "
            "Leave out models that failed."
        )
    first, second = np.triu_indices(accuracy.size, k=1)
    # Compare signs, because a product of two tiny differences rounds to zero.
    true_order, order = (np.sign(v[first] - v[second]) for v in (accuracy, score))
    return int(np.sum(true_order * order >= 0))
