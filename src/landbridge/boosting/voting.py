"""Base class of ensembles that predict by a weighted vote."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from landbridge._delegate import linear_learner
from landbridge._transfer_estimator import WeightedTransferEstimator
from landbridge._typing import Matrix, MatrixLike, RandomState, Vector
from landbridge._validation import TransferData, check_rows
from landbridge.boosting.base_learners import Learner, make_learner, predicted_codes


def first_voter(n_rounds: int, vote: str) -> int:
    """Index of the first round that votes: 0, or that of round ⌈N/2⌉ of N."""
    return 0 if vote == "all" else math.ceil(n_rounds / 2) - 1


@dataclass(slots=True)
class Boosted:
    """Result of boosting: the learners, their votes, and the statistics of every round."""

    estimators: list[Any] = field(default_factory=list)
    votes: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    source_errors: list[float] = field(default_factory=list)
    corrections: list[Any] = field(default_factory=list)
    source_mass: list[float] = field(default_factory=list)
    effective_source_rows: list[float] = field(default_factory=list)
    source_weights: list[Vector] = field(default_factory=list)
    target_weights: list[Vector] = field(default_factory=list)
    n_doublings: int = 0
    stop_reason: str = "all rounds done"

    def add(self, estimator: Any, vote: float, error: float) -> None:
        """Record the learner of a round."""
        self.estimators.append(estimator)
        self.votes.append(vote)
        self.errors.append(error)


class VotingClassifier(MetaEstimatorMixin, ClassifierMixin, WeightedTransferEstimator):
    """Classifier that predicts by a weighted vote.

    Subclasses set ``classes_`` and call ``_keep_rounds``.

    Attributes
    ----------
    classes_ : labels of source and target, sorted.
    estimators_ : the base learners, one per round; ``n_estimators_`` is their number.
    estimator_weights_ : the vote log(1/β_t) of each round.
    errors_ : weighted error ε_t of each round.
    stop_reason_ : why boosting ended, in words.
    """

    estimator: Any
    random_state: RandomState
    vote: str = "all"
    estimators_: list[Any]
    estimator_weights_: Vector
    classes_: Vector

    def _base(self) -> Any:
        return linear_learner() if self.estimator is None else self.estimator

    def _learner(self, data: TransferData, parts: list[Matrix], codes: Vector) -> Learner:
        """Base learner on the given source rows and, if there are any, target rows."""
        rng = check_random_state(self.random_state)
        return make_learner(self._base(), parts, codes, self.classes_, rng, data.row_weights)

    def _keep_rounds(self, done: Boosted) -> None:
        self.estimators_ = done.estimators
        self.n_estimators_ = len(done.estimators)
        self.estimator_weights_ = np.array(done.votes)
        self.errors_ = np.array(done.errors)
        self.stop_reason_ = done.stop_reason

    def predict(self, X: MatrixLike) -> Vector:
        """Predict the class with the largest vote."""
        votes = self._votes(X)
        return self.classes_[votes.argmax(axis=1)]

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Votes divided by the number of voters; with two classes, the second minus the first."""
        votes = self._votes(X)
        return votes[:, 1] - votes[:, 0] if self.classes_.size == 2 else votes

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Softmax of the votes divided by the number of voters.

        These scores are not calibrated probabilities. The predicted class has the largest score.
        """
        return softmax(self._votes(X), axis=1)

    def staged_predict(self, X: MatrixLike) -> Iterator[Vector]:
        """Yield the predictions of the ensemble after each round."""
        X = check_rows(self, X, "estimators_")
        answers = [self._answer(estimator, X) for estimator in self.estimators_]
        for n_rounds in range(1, len(answers) + 1):
            first = first_voter(n_rounds, self.vote)
            voters = zip(answers[first:n_rounds], self.estimator_weights_[first:], strict=False)
            yield self.classes_[sum(weight * answer for answer, weight in voters).argmax(axis=1)]

    def _votes(self, X: MatrixLike) -> np.ndarray:
        X = check_rows(self, X, "estimators_")
        votes = np.zeros((X.shape[0], self.classes_.size))
        first = first_voter(len(self.estimators_), self.vote)
        for t in range(first, len(self.estimators_)):
            votes += self.estimator_weights_[t] * self._answer(self.estimators_[t], X)
        return votes / (len(self.estimators_) - first)

    def _answer(self, estimator: Any, X: Matrix) -> np.ndarray:
        return np.eye(self.classes_.size)[predicted_codes(estimator, X, self.classes_)]

    @property
    def feature_importances_(self) -> Vector:
        """Vote-weighted mean of the learners' feature importances, if they have any."""
        check_is_fitted(self, "estimators_")
        if not hasattr(self.estimators_[0], "feature_importances_"):
            raise AttributeError(
                f"{type(self.estimators_[0]).__name__} has no feature_importances_. Use a base "
                "learner that provides them, for example a tree."
            )
        first = first_voter(len(self.estimators_), self.vote)
        importances = [estimator.feature_importances_ for estimator in self.estimators_[first:]]
        return np.average(importances, axis=0, weights=self.estimator_weights_[first:])
