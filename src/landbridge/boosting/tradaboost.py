"""TrAdaBoost (Dai et al. 2007) with the corrections of Al-Stouhi and Reddy (2011)."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from landbridge._typing import Matrix, RandomState, Vector
from landbridge._validation import (
    TransferData,
    check_choice,
    check_count,
    check_not_negative,
    is_number,
    warn_no_target,
)
from landbridge._warn import warn_caller
from landbridge.baselines import check_target_share, share_mass
from landbridge.boosting import weight_updates as formula
from landbridge.boosting.base_learners import Learner
from landbridge.boosting.trimmed_tree import class_codes
from landbridge.boosting.voting import Boosted, VotingClassifier
from landbridge.exceptions import FewTargetRowsWarning, WeakLearnerWarning

Correction = Literal["dynamic", "paper", "none"] | float
# Maximum number of consecutive doublings of the target weight before boosting stops.
MAX_DOUBLINGS = 30
# An error above the limit is replaced by this share of the limit, so that a single learner has a
# positive vote.
CLIP = 0.98
# With fewer target rows, the target error is too coarse to guide boosting.
FEW = 10
CHANCE = "the base learner did no better than chance on the target"
PERFECT = "no row was misclassified any more"


@dataclass(frozen=True, slots=True)
class Rules:
    """Checked parameters of the estimator."""

    n_rounds: int
    correction: Correction = "dynamic"
    label_costs: Vector | None = None
    store_weights: bool = False
    target_share: float | None = None


def first_weights(row_weights: Vector, n_source: int, target_share: float | None) -> Vector:
    """Line 1 of Algorithm 2: the given weights, or a given share of the total for the target."""
    if target_share is None or n_source == 0:
        return row_weights.copy()
    return share_mass(row_weights[:n_source], row_weights[n_source:], target_share=target_share)


def boost(
    learner: Learner,
    codes: Vector,
    n_source: int,
    n_classes: int,
    rules: Rules,
    row_weights: Vector | None = None,
) -> Boosted:
    """Algorithm 2 of the paper; the first ``n_source`` rows belong to the source.

    Without source rows it is AdaBoost (SAMME) on the target.
    """
    given = np.ones(codes.size) if row_weights is None else row_weights
    weights = first_weights(given, n_source, rules.target_share)  # line 1
    rate = formula.source_rate(formula.row_count(given[:n_source]), rules.n_rounds)  # line 2
    floor, limit = 0.5 / formula.row_count(given[n_source:]), formula.error_limit(n_classes)
    done, doublings = Boosted(), 0
    while len(done.estimators) < rules.n_rounds:
        weights /= weights.sum()  # line 4
        source, target = weights[:n_source], weights[n_source:]
        estimator = learner.fit(weights)  # line 5
        mistakes = learner.mistakes(estimator)
        error = formula.weighted_error(target, mistakes[n_source:])  # line 6
        stalled = error >= limit
        if stalled and n_source and doublings < MAX_DOUBLINGS:
            target *= 2.0
            doublings += 1
            done.n_doublings += 1
            continue
        if stalled and done.estimators:
            done.stop_reason = CHANCE
            break
        counted = CLIP * limit if stalled else error
        vote = formula.vote_weight(counted, n_classes, floor)  # line 7
        factor = correction_factor(
            rules, target, mistakes[n_source:], codes[n_source:], vote, error, n_classes
        )  # line 8
        done.add(estimator, vote, error)
        done.corrections.append(factor)
        _record_weights(done, rules, weights, n_source, mistakes)
        if stalled or not mistakes.any():
            done.stop_reason = CHANCE if stalled else PERFECT
            break
        per_row = factor[codes[:n_source]] if isinstance(factor, np.ndarray) else factor
        source *= formula.source_factor(mistakes[:n_source], rate, per_row)  # line 9
        target[:] = formula.update_target(target, mistakes[n_source:], vote)  # line 10
        np.maximum(weights, formula.TINY, out=weights)
        doublings = 0
    return done


def correction_factor(
    rules: Rules,
    weights: Vector,
    mistakes: Vector,
    codes: Vector,
    vote: float,
    error: float,
    n_classes: int,
) -> float | Vector:
    """Correction C of a round, or one value per class, computed on the target rows."""
    if rules.label_costs is not None:
        by_label = formula.errors_by_label(weights, mistakes, codes, n_classes, error)
        return formula.label_correction(error, by_label, rules.label_costs, n_classes)
    if rules.correction == "dynamic":
        return formula.mass_correction(weights, mistakes, vote)
    if rules.correction == "paper":
        return formula.printed_correction(error, n_classes)
    return 1.0 if rules.correction == "none" else float(rules.correction)


def _record_weights(
    done: Boosted, rules: Rules, weights: Vector, n_source: int, mistakes: Vector
) -> None:
    source, target = weights[:n_source], weights[n_source:]
    done.source_mass.append(float(source.sum()))
    if n_source:
        done.source_errors.append(formula.weighted_error(source, mistakes[:n_source]))
        done.effective_source_rows.append(float(source.sum() ** 2 / (source @ source)))
    if rules.store_weights:
        done.source_weights.append(source.copy())
        done.target_weights.append(target.copy())


class TrAdaBoostClassifier(VotingClassifier):
    """Boosting that reduces the weight of source rows that contradict the target.

    Every round fits the base learner to all rows, reduces the weight of misclassified source rows
    (weighted majority algorithm) and increases the weight of misclassified target rows (AdaBoost):

        w_src ← C_t · w_src · β_src^[f(x) ≠ y],      β_src = 1/(1 + √(2 ln n / N)),
        w_tar ← w_tar · β_t^(−[f(x) ≠ y]),           β_t = ε_t/((1 − ε_t)(c − 1)),

    with n source rows, N rounds, c classes and ε_t the target error under normalised target
    weights. All rounds vote (in the paper, rounds ⌈N/2⌉ … N), with weight log(1/β_t). C_t = 1 gives
    TrAdaBoost, in which normalisation moves weight from the source to the target even where the
    source is right. The dynamic factor C_t = 2(1 − ε_t) compensates for this: source weights then
    follow the weighted majority algorithm exactly, and target weights follow AdaBoost. The method
    is useful where part of the source contradicts the target. On nine pairs of domains with 60
    target labels, its accuracy was 2 points below that of pooled logistic regression and 5 points
    above that of the best source-only model (benchmark ``defaults``).

    Without labelled target rows, it is AdaBoost (SAMME) on the source, with a warning. Unlabelled
    rows are ignored.

    Parameters
    ----------
    estimator : classifier, default=None
        Base learner; ``None`` is logistic regression on scaled columns. The paper uses
        `TrimmedTreeClassifier`, whose bins are shared by all rounds. A learner that does not accept
        ``sample_weight`` is fitted to rows drawn by weight.
    n_estimators : int, default=5
        Number of rounds N.
    correction : {"dynamic", "paper", "none"} or float, default="dynamic"
        C_t: "dynamic" is the ratio of the total target weight after and before its update, "paper"
        is 2(1 − ε_t) as printed, "none" is 1, and a number is a fixed cost.
    label_cost : float or dict of class to float, default=None
        Balances the classes of the source: C_t,label = 2{1 − ε_t(1 − ε_t,label)^cost} replaces C_t
        for source rows of that class (Section 5.4). Cost 0 equals "paper". A class missing from the
        dict has cost 0.
    vote : {"all", "second_half"}, default="all"
        Which rounds vote.
    store_weights : bool, default=False
        Keep ``source_weights_`` and ``target_weights_``.
    random_state : int, RandomState or None, default=None
        Controls the randomness of the base learners and the sampling of rows by weight.
    target_share : float in (0, 1) or None, default=0.5
        Share of the total weight given to the labelled target rows in the first round, as in
        `Pooled`. ``None`` gives every row the same weight, as in the paper.

    Attributes
    ----------
    source_errors_ : weighted error of each round on the source.
    corrections_ : C_t of each round (rounds × classes with ``label_cost``).
    source_mass_ : share of all weight on source rows, before each round.
    effective_source_rows_ : (Σw)²/Σw² over the source rows, before each round.
    source_weights_, target_weights_ : normalised weights of each round, of shape (rounds, rows);
        only with ``store_weights=True``.
    n_doublings_ : how often the weight of the target was doubled.

    Notes
    -----
    Deviation 1: C_t is the ratio of the total target weight after and before its update. It equals
    2(1 − ε_t) (c(1 − ε_t) for c classes) for 0 < ε_t < ½, and 1 for ε_t = 0. At ε_t = 0 the weights
    do not drift, but the printed factor would double the source weight. With a dozen target rows,
    this happens in many rounds.

    Deviation 2: ε_t is at least 1/(2m) in β_t and in the vote, so that a round without a mistake on
    the m target rows has a finite vote.

    Deviation 3: if ε_t is not below 1 − 1/c − 1e-9, the target weight is doubled and the learner
    fitted again, at most 30 times in a row; then boosting stops. The ensemble is never empty.

    Deviation 4: if boosting ends early, N in ⌈N/2⌉ is the number of completed rounds.

    Deviation 5: the defaults differ from those of the paper, which are less accurate than logistic
    regression on pooled rows (benchmark ``defaults``). The paper's defaults are
    ``TrAdaBoostClassifier(
    TrimmedTreeClassifier(), n_estimators=30, vote="second_half", target_share=None)``. With
    hundreds of target rows, use ``TrimmedTreeClassifier(target_error="auto")``, because trees with
    an error just below ½ have votes near 0.

    Deviation 6: ``sample_weight`` and ``sample_weight_target`` multiply the initial weights. If the
    sum of these weights exceeds the number of rows, the sum replaces n or m. An integer
    weight is then equivalent to repeated rows, provided that this holds for the base learner.

    References
    ----------
    Al-Stouhi and Reddy, *Adaptive Boosting for Transfer Learning Using Dynamic Updates*, ECML PKDD
    2011. Dai, Yang, Xue and Yu, *Boosting for Transfer Learning*, ICML 2007. Zhu, Zou, Rosset
    and Hastie, *Multi-class AdaBoost*, 2009 (the form for c classes).

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import TrAdaBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(300, 2)), rng.normal(0.5, 1, size=(20, 2))
    >>> y, y_target = (X[:, 0] > 0).astype(int), (X_target[:, 0] > 0.2).astype(int)
    >>> model = TrAdaBoostClassifier(n_estimators=10).fit(
    ...     X, y, X_target=X_target, y_target=y_target)
    >>> model.predict([[-1.0, 0.0], [1.0, 0.0]]).tolist()
    [0, 1]
    >>> len(list(model.staged_predict(X_target)))
    5
    """

    _transfer_checks = {"task": "classification"}

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 5,
        correction: Correction = "dynamic",
        label_cost: float | dict[Any, float] | None = None,
        vote: str = "all",
        store_weights: bool = False,
        random_state: RandomState = None,
        target_share: float | None = 0.5,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.correction = correction
        self.label_cost = label_cost
        self.vote = vote
        self.store_weights = store_weights
        self.random_state = random_state
        self.target_share = target_share

    def _fit_transfer(self, data: TransferData) -> None:
        """Boost on ``X, y`` and ``X_target, y_target``."""
        self.classes_ = data.classes
        rules = self._rules()
        parts, codes = training_rows(self, data)
        learner = self._learner(data, parts, codes)
        n_source = data.X.shape[0] if len(parts) > 1 else 0
        self._keep(boost(learner, codes, n_source, self.classes_.size, rules, data.row_weights))

    def _rules(self) -> Rules:
        check_count(self.n_estimators, "n_estimators")
        check_correction(self.correction)
        check_choice(self.vote, "vote", ("second_half", "all"))
        check_target_share(self.target_share)
        return Rules(
            n_rounds=self.n_estimators,
            correction=self.correction,
            label_costs=self._label_costs(),
            store_weights=self.store_weights,
            target_share=self.target_share,
        )

    def _label_costs(self) -> Vector | None:
        if self.label_cost is None:
            return None
        if self.correction not in ("dynamic", "paper"):
            raise ValueError(
                "`label_cost` requires correction='dynamic' or 'paper', whose factor it replaces; "
                f"got correction={self.correction!r}. Remove one of the two."
            )
        if not isinstance(self.label_cost, dict):
            check_not_negative(self.label_cost, "label_cost")
            return np.full(self.classes_.size, float(self.label_cost))
        for label, cost in self.label_cost.items():
            check_not_negative(cost, f"label_cost[{label!r}]")
        unknown = [label for label in self.label_cost if label not in self.classes_.tolist()]
        if unknown:
            raise ValueError(
                f"`label_cost` must name classes of the data, {self.classes_.tolist()}; got "
                f"{unknown}. Check the spelling and the type of the labels."
            )
        return np.array([float(self.label_cost.get(c, 0.0)) for c in self.classes_.tolist()])

    def _keep(self, done: Boosted) -> None:
        self._keep_rounds(done)
        self.n_doublings_ = done.n_doublings
        self.source_errors_ = np.array(done.source_errors)
        self.corrections_ = np.array(done.corrections)
        self.source_mass_ = np.array(done.source_mass)
        self.effective_source_rows_ = np.array(done.effective_source_rows)
        if self.store_weights:
            self.source_weights_ = np.array(done.source_weights)
            self.target_weights_ = np.array(done.target_weights)
        warn_weak_learner(done, self.classes_.size)


def check_correction(correction: Any) -> None:
    """Raise unless the correction is one of the names or a positive number."""
    positive = is_number(correction) and 0 < correction < np.inf
    if not positive and correction not in ("dynamic", "paper", "none"):
        raise ValueError(
            "`correction` must be 'dynamic', 'paper', 'none' or a positive number (a fixed cost, "
            f"for example 1.1); got {correction!r}."
        )


def training_rows(estimator: Any, data: TransferData) -> tuple[list[Matrix], Vector]:
    """Return source and target rows and the codes of their classes; warn about few labels."""
    codes = class_codes(data)
    if data.X_target is None:
        warn_no_target(estimator, "AdaBoost fitted on X")
        return [data.X], codes
    warn_few_rows(data.y_target.size)
    labels = np.unique(data.y_target)
    if labels.size == 1:
        warn_caller(
            f"The labelled target rows have only one class, {labels.tolist()[0]!r}, which "
            "biases boosting towards it. Label target rows of another class.",
            FewTargetRowsWarning,
        )
    new = np.setdiff1d(labels, data.y)
    if new.size:
        warn_caller(
            f"The source has no rows of the target classes {new.tolist()}, which are learned from "
            "the target rows alone. Check that the labels are spelled the same way in both "
            "domains.",
            FewTargetRowsWarning,
        )
    return [data.X, data.X_target], codes


def warn_few_rows(n_target: int) -> None:
    """Warn if the error on the labelled target rows is too coarse."""
    if n_target < FEW:
        warn_caller(
            f"{n_target} labelled target rows are too few to guide boosting by their error. Label "
            f"at least {FEW}.",
            FewTargetRowsWarning,
        )


def warn_weak_learner(done: Boosted, n_classes: int) -> None:
    """Warn that the first base learner did no better than chance and is the only one."""
    if done.stop_reason == CHANCE and done.errors[0] >= formula.error_limit(n_classes):
        warn_caller(
            "The base learner was no better than chance: its weighted error in round 1 was "
            f"{done.errors[0]:.3g}. Boosting stopped after this round. Use a stronger learner, "
            "for example a deeper tree, or check the labels of the target rows.",
            WeakLearnerWarning,
        )
