r"""Weighted vote of candidates: its members, their weights, and the fitted model.

A weighted average of several cells is safer than choosing one of them. With labelled target rows,
the weights are learned by stacking: they minimise, over the simplex,

.. math::
    -\sum_i \log \sum_c w_c\, p_c(y_i \mid x_i) + λ \operatorname{KL}(w \,\|\, π),

with p_c predicted out of fold. For numbers the first term is the likelihood of normal errors,
:math:`\frac n2 \log \sum_i (y_i - \sum_c w_c f_c(x_i))^2`. The prior π gives most of its mass to
cells that learn from source and target labels, because they are the safest choice with few labels,
and shares it equally among the kinds of a role and among the points of a grid. For numbers it is
divided by the square of each cell's mean squared error, which is unbounded. Without labels, the
weight of a cell is its skill according to the criterion, 1 − loss/(loss of the majority class). A
cell that predicts one class for the whole target has no skill, even if its loss is small.

A regressor that extrapolates wildly on a few rows spoils an average even with little weight, so
predictions of members are limited; see `number_limits`. On the tasks of
``benchmarks/search_regression.py`` the limits changed the RMSE of the vote relative to the best
single candidate from +13 to +2 % with 20 labels (development tasks; on the others it fell as well).
"""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.base import BaseEstimator
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, Tags
from sklearn.utils.metaestimators import available_if

from landbridge._delegate import DelegatingEstimator
from landbridge._docstrings import Documented
from landbridge._typing import MatrixLike, Vector, VectorLike
from landbridge._validation import check_rows, without_masks
from landbridge.model_selection.anchored import distance_from_vote, kind_sizes, role_groups
from landbridge.model_selection.candidates import CHECK

# λ, and the mass of the prior by role: cells that learn from both domains, from the source alone,
# from the target alone. Measured in `benchmarks/search_regret.py`.
STRENGTH = 5.0
ROLE_MASS = (0.7, 0.2, 0.1)
# Lower limit of the probability of the true class, so that a single confident error does not
# dominate.
LEAST_PROBABILITY = 1e-3
# A prior weight is at least this, so that its logarithm is finite.
LEAST_WEIGHT = 1e-12
# The vote keeps its heaviest members up to this share of the weight and this number.
SHARE, MOST_MEMBERS = 0.95, 5
# Predicting with the vote takes at most five times as long as with the best cell. Estimated costs
# are kept below that by what their errors need in `benchmarks/search_regret.py`. They include what
# the vote adds to its members, in units of `prediction_cost`: one check of the rows for all
# wrappers, and averaging, which takes as long as a linear model.
MOST_COST = 4.8
OVERHEAD = CHECK + 3.0
# Roles of wrappers such as `Pooled`, whose models the vote asks without their check of the rows.
WRAPPED = ("source-only", "target-only", "pooled")
# Lower limit of losses relative to the largest one, so that a loss of zero does not take the whole
# vote.
LEAST_LOSS = 0.01
TINY = 1e-300
# How far beyond the range of the known labels a regressor may go, as a share of that range.
MARGIN = 0.5


def role_prior(roles: Sequence[str], kinds: Sequence[Hashable] | None = None) -> Vector:
    """Prior weights of cells: the mass of each role, shared by its kinds and their grid points.

    Any role except ``"source-only"`` and ``"target-only"`` means learning from both domains. Roles
    that are absent give their mass to the others in proportion. Without ``kinds``, each cell is a
    separate kind.

    >>> role_prior(["pooled", "source-only", "source-only"]).round(2)
    array([0.78, 0.11, 0.11])
    """
    groups = role_groups(roles, len(roles))
    names = list(range(len(roles))) if kinds is None else list(kinds)
    # A kind is shared within its role: "linear" source-only and pooled are two kinds.
    share = 1.0 / kind_sizes(list(zip(groups.tolist(), names, strict=True)), len(names))
    totals = np.bincount(groups, share, minlength=3)
    weights = np.array(ROLE_MASS)[groups] * share / totals[groups]
    return weights / weights.sum()


def vote_weights(
    target: np.ndarray,
    y: Vector,
    *,
    roles: Sequence[str],
    kinds: Sequence[Hashable] | None = None,
    costs: Vector | None = None,
    sample_weight: VectorLike = None,
    strength: float = STRENGTH,
    most: int = MOST_MEMBERS,
) -> Vector:
    """Learn the weights of the vote from labelled target rows by stacking.

    ``target`` holds the out-of-fold predictions, (cells, rows, classes) or (cells, rows),
    ``costs`` those of `relative_costs`, at most `MOST_COST` each, and ``strength`` is λ, in rows;
    rows with ``sample_weight`` count as in `row_counts`. The cell with the smallest weight per cost
    is removed until at most ``most`` remain that together cost at most `MOST_COST`, and the weights
    are learned again each time: similar cells share their weight, so several of them would be
    removed together. If there are very many cells, all but the first ``2 * most`` are removed at
    once.

    >>> right, wrong = np.eye(2)[[0, 1] * 20], np.eye(2)[[1, 0] * 20]
    >>> y, roles = np.array([0, 1] * 20), ["pooled", "pooled"]
    >>> bool(vote_weights(np.stack([right, wrong]), y, roles=roles)[0] > 0.95)
    True
    """
    counts = row_counts(sample_weight, y.size)
    kinds = range(len(target)) if kinds is None else kinds
    costs = np.zeros(len(target)) if costs is None else costs
    kept = np.arange(len(target))
    while True:
        own, cells = target[kept], kept.tolist()
        prior = role_prior([roles[cell] for cell in cells], [kinds[cell] for cell in cells])
        if target.ndim == 2:
            # Errors of regressors are unbounded, so a bad cell must not keep its share of the
            # prior.
            squares = (counts * (own - y) ** 2).sum(axis=1) / max(counts.sum(), TINY)
            squares = np.maximum(squares, TINY)
            prior = np.maximum(prior * (squares.min() / squares) ** 2, LEAST_WEIGHT)
            prior /= prior.sum()
        weights = stacked(own, y, prior, strength, counts)
        order, n_members = affordable(weights, costs[kept], most=most)
        if n_members == kept.size:
            break
        kept = kept[np.sort(order[: min(kept.size - 1, 2 * most)])]
    members = np.zeros(len(target))
    members[kept] = weights
    return members


def relative_costs(costs: Vector, roles: Sequence[str], best: int) -> Vector:
    """What cells cost as members of a vote, in units of which `MOST_COST` can be spent.

    If ``costs`` are those of `prediction_cost`, the sum of what the members cost in the vote and
    `OVERHEAD` is at most `MOST_COST` times the cost of the best cell.

    >>> relative_costs(np.array([5.0, 5.0, 3.0]), ["pooled", "transfer", "plain"], 0).round(2)
    array([0.76, 1.26, 0.76])
    """
    in_vote = costs - CHECK * np.isin(roles, WRAPPED)
    return in_vote / (costs[best] - OVERHEAD / MOST_COST)


def affordable(weights: Vector, costs: Vector, *, most: int = MOST_MEMBERS) -> tuple[Vector, int]:
    """Cells by weight per cost, and how many may vote: ``most``, at a total cost of `MOST_COST`.

    Costs are those of `relative_costs`; if all are 0, only the number is limited.

    >>> affordable(np.array([0.5, 0.3, 0.2]), np.array([3.0, 1.0, 1.0]))
    (array([1, 2, 0]), 2)
    """
    order = np.argsort(-weights / np.maximum(costs, TINY), kind="stable")
    return order, int(np.sum(np.cumsum(costs[order[:most]]).round(6) <= MOST_COST))


def row_counts(sample_weight: VectorLike, n_rows: int) -> Vector:
    """How much each row counts: weights whose sum is their effective sample size, or ones.

    >>> row_counts(np.array([2.0, 2.0, 0.0]), 3)
    array([1., 1., 0.])
    """
    if sample_weight is None:
        return np.ones(n_rows)
    return sample_weight * (sample_weight.sum() / max(sample_weight @ sample_weight, TINY))


def stacked(
    target: np.ndarray, y: Vector, prior: Vector, strength: float, counts: Vector
) -> Vector:
    """Minimise the stacking loss plus ``strength`` times KL(w ‖ prior) over the simplex."""
    if target.ndim == 3:
        likelihood = np.maximum(target[:, np.arange(y.size), y], LEAST_PROBABILITY)

    def objective(logits: Vector) -> tuple[float, Vector]:
        weights = softmax(logits)  # free logits, so that there are no constraints
        if target.ndim == 3:
            mixture = weights @ likelihood
            value = -float((counts * np.log(mixture)).sum())
            slope = -(counts * likelihood / mixture).sum(axis=1)
        else:
            error = weights @ target - y
            weighted = counts * error
            squares = max(float(weighted @ error), TINY)
            value = 0.5 * counts.sum() * np.log(squares)
            slope = counts.sum() * (target @ weighted) / squares
        surprise = np.log(np.maximum(weights, TINY) / prior)
        slope = slope + strength * (surprise + 1.0)
        return value + strength * float(weights @ surprise), weights * (slope - weights @ slope)

    return softmax(minimize(objective, np.log(prior), jac=True, method="L-BFGS-B").x)


def skill_weights(
    losses: Vector, *, guess: float | None = None, kinds: Sequence[Hashable] | None = None
) -> Vector:
    """Weights of the vote without labels: the skill of each cell by the criterion.

    The skill is 1 − loss/guess, at least 0, where the loss of the majority class is given as
    ``guess``, otherwise 1/loss. Cells of one kind share its vote; all are equal if none has skill.

    >>> skill_weights(np.array([0.1, 0.3, 0.5]), guess=0.5).round(2)
    array([0.67, 0.33, 0.  ])
    """
    if guess is None or not np.isfinite(guess):
        worst = float(losses.max())
        skill = 1.0 / np.maximum(losses, max(LEAST_LOSS * worst, TINY)) if worst > 0 else losses * 0
    else:
        skill = np.maximum(1 - losses / max(guess, TINY), 0.0)
    if not skill.any():
        skill = np.ones_like(losses)
    weights = skill / kind_sizes(kinds, losses.size)
    return weights / weights.sum()


def members_of(weights: Vector, costs: Vector | None = None) -> Vector:
    """Weights of the members: the `affordable` cells until they hold `SHARE`.

    >>> members_of(np.array([0.02, 0.6, 0.38]))
    array([0.       , 0.6122449, 0.3877551])
    """
    order, n_members = affordable(weights, np.zeros_like(weights) if costs is None else costs)
    order = order[:n_members]
    before = np.cumsum(np.append(0.0, weights[order[:-1]]))
    kept = np.zeros_like(weights)
    kept[order[before < SHARE]] = weights[order[before < SHARE]]
    return kept / kept.sum()


def number_limits(labels: Vector) -> tuple[float, float]:
    """Limits of a member's predictions: the range of the labels, widened by half on both sides."""
    low, high = float(np.min(labels)), float(np.max(labels))
    margin = MARGIN * (high - low)
    return low - margin, high + margin


def combine(predictions: np.ndarray, weights: Vector) -> np.ndarray:
    """Weighted mean of predictions, cells × rows (× classes) to rows (× classes)."""
    voting = np.flatnonzero(weights)
    return np.tensordot(weights[voting], np.asarray(predictions)[voting], axes=1)


def cross_fitted(
    target: np.ndarray,
    y: Vector,
    folds: Vector,
    *,
    costs: Vector | None = None,
    sample_weight: VectorLike = None,
    **options: Any,
) -> np.ndarray:
    """Predictions of the vote for labelled rows, with weights learned without the row's fold.

    ``options`` are those of `vote_weights`. The predictions allow a fair score of the vote in the
    ranking, which is not biased by weights learned from the same labels.

    >>> y = np.array([1.0, 2.0, 3.0, 4.0])
    >>> cross_fitted(np.stack([y, y]), y, np.array([0, 0, 1, 1]), roles=["pooled", "plain"])
    array([1., 2., 3., 4.])
    """
    answer = np.empty(target.shape[1:])
    for fold in np.unique(folds):
        held_out = folds == fold
        weights = vote_weights(
            target[:, ~held_out],
            y[~held_out],
            costs=costs,
            sample_weight=None if sample_weight is None else sample_weight[~held_out],
            **options,
        )
        answer[held_out] = combine(target[:, held_out], members_of(weights, costs))
    return answer


def disagreement(predictions: np.ndarray, weights: Vector) -> Vector:
    """Distance of each cell from the vote: share of rows, or root mean squared distance.

    >>> disagreement(np.array([[1.0, 3.0], [3.0, 5.0]]), np.array([0.5, 0.5]))
    array([1., 1.])
    """
    return distance_from_vote(np.asarray(predictions), combine(predictions, weights), "rmse")


class VotingModel(Documented, BaseEstimator):
    """Fitted models that predict by a weighted vote.

    Classifiers average class probabilities; a member without ``predict_proba`` gives its class the
    probability 1. Regressors average numbers, each limited to ``limits``.

    Parameters
    ----------
    members : list of (str, fitted estimator)
        Names and models.
    weights : array-like (members,)
        Weights of the members, not negative; they are divided by their sum.
    classes : array-like, optional
        All classes, sorted. Without them the members are regressors.
    limits : (float, float), optional
        Smallest and largest prediction of a regressor; see `number_limits`.

    Attributes
    ----------
    classes_ : ndarray
        The classes, for classification.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from landbridge.model_selection.vote import VotingModel
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> members = [("linear", LogisticRegression().fit(X, y)), ("bayes", GaussianNB().fit(X, y))]
    >>> VotingModel(members, [0.7, 0.3], classes=[0, 1]).predict(X)
    array([0, 0, 1, 1])
    >>> VotingModel(members, [0.7, 0.3], classes=[0, 1]).disagreement(X)
    array([0., 0.])
    """

    def __init__(
        self,
        members: Sequence[tuple[str, Any]],
        weights: VectorLike,
        classes: VectorLike = None,
        limits: tuple[float, float] | None = None,
    ):
        self.members = members
        self.weights = weights
        self.classes = classes
        self.limits = limits

    @property
    def classes_(self) -> Vector:
        """Class labels."""
        if self.classes is None:
            raise AttributeError("a VotingModel of regressors has no classes_")
        return np.asarray(self.classes)

    @property
    def n_features_in_(self) -> int:
        """Number of features of the members."""
        return self.members[0][1].n_features_in_

    def fit(self, X: MatrixLike = None, y: VectorLike = None) -> Self:
        """Return the model unchanged, because its members are already fitted.

        Parameters
        ----------
        X, y : array-like, optional
            Ignored.
        """
        return self

    @without_masks
    def predict(self, X: MatrixLike) -> Vector:
        """Class with the largest mean probability, or the mean of numbers."""
        if self.classes is None:
            return combine(self._predictions(X), self._shares())
        if len(self.members) == 1:  # it may have its own threshold
            return self.members[0][1].predict(X)
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    @available_if(lambda self: self.classes is not None)
    @without_masks
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Mean class probabilities, in the order of ``classes_``."""
        return combine(self._predictions(X), self._shares())

    @without_masks
    def score(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> float:
        """Accuracy of classifiers, R² of regressors."""
        metric = r2_score if self.classes is None else accuracy_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))

    def disagreement(self, X: MatrixLike) -> Vector:
        """Distance of each member from the vote: share of rows, or root mean squared distance.

        Returns
        -------
        ndarray of shape (n_members,)
            One value per member.
        """
        return disagreement(self._predictions(X), self._shares())

    def _shares(self) -> Vector:
        weights = np.asarray(self.weights, float)
        return weights / weights.sum()

    def _predictions(self, X: MatrixLike) -> np.ndarray:
        checked, found = None, []
        for _, model in self.members:
            rows = X
            # Wrappers such as `Pooled` only check the rows, which takes longer than many
            # predictions, so the rows are checked once for all of them.
            if isinstance(model, DelegatingEstimator):
                checked = check_rows(model, X, "estimator_") if checked is None else checked
                model, rows = model.estimator_, checked
            if self.classes is None:
                found.append(np.asarray(model.predict(rows), float))
            else:
                found.append(class_probabilities(model, rows, self.classes_))
        return np.stack(found) if self.limits is None else np.clip(found, *self.limits)

    def __sklearn_clone__(self) -> Self:
        # The members are fitted already, so a clone must keep them.
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.classes is None:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags


def class_probabilities(model: Any, X: MatrixLike, classes: Vector) -> np.ndarray:
    """Probabilities in the order of ``classes``, one-hot for a model that has none."""
    if not hasattr(model, "predict_proba"):
        return (np.asarray(model.predict(X))[:, None] == classes).astype(float)
    own = np.asarray(model.predict_proba(X), float)
    answer = np.zeros((own.shape[0], len(classes)))
    answer[:, np.searchsorted(classes, model.classes_)] = own
    return answer
