"""Wrappers that let a boosting loop fit a base learner to weights and read its mistakes."""

import warnings
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble._base import _set_random_states

from landbridge._delegate import check_learns, fit_weighted, takes_sample_weight
from landbridge._typing import Matrix, Vector
from landbridge._validation import stack_rows
from landbridge._warn import warn_caller
from landbridge.boosting.binning import bin_rows
from landbridge.boosting.tree_growth import leaf_of
from landbridge.boosting.trimmed_tree import TrimmedTreeClassifier
from landbridge.boosting.weight_updates import mean_count
from landbridge.exceptions import NoTargetWarning, WeightingWarning

NO_ROWS = np.zeros(0, dtype=np.int32)


class Learner(Protocol):
    """Base learner that is fitted to row weights and reports its mistakes on the training rows."""

    def fit(self, weights: Vector, inside: Vector | None = None) -> Any:
        """Fit a base learner to the rows ``inside`` (default: all)."""

    def mistakes(self, estimator: Any) -> Vector:
        """Mistake of the last fitted learner on each training row, between 0 and 1."""


def make_learner(
    estimator: Any,
    parts: list[Matrix],
    codes: Vector,
    classes: Vector,
    rng: np.random.RandomState,
    row_weights: Vector,
) -> Learner:
    """Wrap the base learner; `TrimmedTreeClassifier` shares its bins between rounds.

    ``parts`` are the source rows and, if there are any, the target rows, which judge the learner.
    ``row_weights`` are the weights given by the user.
    """
    check_learns(estimator, "classifier")
    if type(estimator) is TrimmedTreeClassifier:
        return SharedBins(estimator, parts, codes, classes)
    return AnyClassifier(
        estimator, stack_rows(parts), codes, classes, rng, row_weights, alone=len(parts) == 1
    )


class SharedBins:
    """`TrimmedTreeClassifier` on rows that are binned once for all rounds."""

    def __init__(
        self, estimator: TrimmedTreeClassifier, parts: list[Matrix], codes: Vector, classes: Vector
    ):
        # Calling the constructor is much cheaper than `clone`, which matters for small trees.
        self.parameters = estimator.get_params()
        self.classes = classes
        self.labels = codes
        self.rows = bin_rows(parts)
        # Trees are not trimmed without target rows.
        self.first_target = parts[0].shape[0] if len(parts) > 1 else self.rows.n_rows
        self.leaf = NO_ROWS

    def fit(self, weights: Vector, inside: Vector | None = None) -> TrimmedTreeClassifier:
        self.leaf = NO_ROWS  # free the leaves of the last round before the next fit
        tree = TrimmedTreeClassifier(**self.parameters)
        self.leaf = tree._grow(
            self.rows, self.labels, weights, self.classes, self.first_target, inside
        )
        return tree

    def mistakes(self, estimator: TrimmedTreeClassifier) -> Vector:
        tree = estimator.tree_
        return tree.labels.astype(self.labels.dtype)[self.leaf] != self.labels


class AnyLearner:
    """Any base learner; without ``sample_weight`` it is fitted to rows drawn by weight."""

    def __init__(
        self,
        estimator: Any,
        X: Matrix,
        y: Vector,
        rng: np.random.RandomState,
        row_weights: Vector | None = None,
        *,
        alone: bool = False,
    ):
        self.estimator, self.X, self.y, self.rng, self.alone = estimator, X, y, rng, alone
        self.row_weights = np.ones(y.size) if row_weights is None else row_weights
        self.weighted = takes_sample_weight(estimator)
        if not self.weighted:
            warn_caller(
                f"{type(estimator).__name__} does not accept sample_weight, so each round is "
                "fitted to rows drawn by weight, which adds noise. Prefer one that does.",
                WeightingWarning,
            )

    def fit(self, weights: Vector, inside: Vector | None = None) -> Any:
        inside = np.arange(weights.size) if inside is None else inside
        estimator = clone(self.estimator)
        _set_random_states(estimator, self.rng)
        # A sum of 1, as in scikit-learn's AdaBoost, lets a penalty outweigh the rows.
        scale = 1.0 / weights[inside].mean() * mean_count(self.row_weights[inside])
        if self.alone:  # a power of two causes no rounding, so trees equal scikit-learn's
            scale = 2.0 ** np.round(np.log2(scale))
        given: Vector | None = weights[inside] * scale
        if not self.weighted:
            inside, given = self._draw(inside, weights[inside]), None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoTargetWarning)
            return fit_weighted(estimator, self.X[inside], self.y[inside], given)

    def _draw(self, inside: Vector, weights: Vector) -> Vector:
        return self.rng.choice(inside, size=inside.size, p=weights / weights.sum())


class AnyClassifier(AnyLearner):
    """Any classifier, judged by its misclassified rows."""

    def __init__(
        self, estimator: Any, X: Matrix, codes: Vector, classes: Vector, *others: Any, alone: bool
    ):
        super().__init__(estimator, X, classes[codes], *others, alone=alone)
        self.labels, self.classes = codes, classes

    def fit(self, weights: Vector, inside: Vector | None = None) -> Any:
        labels = self.labels if inside is None else self.labels[inside]
        if (labels == labels[0]).all():
            # A source, or a target, may have one class alone.
            return DummyClassifier(strategy="most_frequent").fit(
                self.X[:1], self.classes[labels[:1]]
            )
        return super().fit(weights, inside)

    def _draw(self, inside: Vector, weights: Vector) -> Vector:
        drawn = super()._draw(inside, weights)
        # A class that was not drawn is represented by its heaviest row.
        for label in np.setdiff1d(self.labels[inside], self.labels[drawn]):
            of_label = inside[self.labels[inside] == label]
            drawn = np.append(drawn, of_label[weights[self.labels[inside] == label].argmax()])
        return drawn

    def mistakes(self, estimator: Any) -> Vector:
        return predicted_codes(estimator, self.X, self.classes) != self.labels


def predicted_codes(estimator: Any, X: Matrix, classes: Vector) -> Vector:
    """Predictions as positions in ``classes``, for rows that are already checked."""
    if type(estimator) is TrimmedTreeClassifier:
        return estimator.tree_.labels[leaf_of(estimator.tree_, X)]
    return np.searchsorted(classes, estimator.predict(X))
