"""Base learners as a boosting loop sees them: fitted to weights, answering on the training rows."""

import warnings
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.ensemble._base import _set_random_states

from landbridge._delegate import fit_weighted, takes_sample_weight
from landbridge._typing import Matrix, Vector
from landbridge._validation import stack_rows
from landbridge.boosting.binning import bin_rows
from landbridge.boosting.tree_growth import leaf_of
from landbridge.boosting.trimmed_tree import TrimmedTreeClassifier
from landbridge.exceptions import NoTargetWarning, WeightingWarning


class Learner(Protocol):
    """Fits a base learner to weights and answers on all training rows."""

    def fit(self, weights: Vector, inside: Vector | None = None) -> Any:
        """A fitted base learner, on the rows ``inside`` (default: all)."""

    def shares(self, estimator: Any) -> Vector:
        """Class shares of the learner fitted last, (rows, c)."""

    def codes(self, estimator: Any) -> Vector:
        """Classes that the learner fitted last predicts, as positions."""


def make_learner(
    estimator: Any,
    parts: list[Matrix],
    codes: Vector,
    classes: Vector,
    *,
    judged_by_target: bool,
    rng: np.random.RandomState,
) -> Learner:
    """The tree of this library with bins shared by all rounds, or any classifier.

    ``parts`` are the source rows and, if there are any, the target rows.
    """
    if type(estimator) is TrimmedTreeClassifier:
        return SharedBins(estimator, parts, codes, classes, judged_by_target=judged_by_target)
    return AnyClassifier(estimator, stack_rows(parts), codes, classes, rng)


class SharedBins:
    """`TrimmedTreeClassifier` on rows that are binned once for all rounds."""

    def __init__(
        self,
        estimator: TrimmedTreeClassifier,
        parts: list[Matrix],
        codes: Vector,
        classes: Vector,
        *,
        judged_by_target: bool,
    ):
        self.estimator, self.classes = estimator, classes
        self.labels = codes.astype(np.int32)
        self.rows = bin_rows(parts)
        # Without target rows there is nothing to trim by.
        self.first_target = parts[0].shape[0] if judged_by_target else self.rows.n_rows
        self.leaf = np.zeros(0, dtype=np.int32)

    def fit(self, weights: Vector, inside: Vector | None = None) -> TrimmedTreeClassifier:
        tree = clone(self.estimator)
        self.leaf = tree._grow(
            self.rows, self.labels, weights, self.classes, self.first_target, inside
        )
        return tree

    def codes(self, estimator: TrimmedTreeClassifier) -> Vector:
        return estimator.tree_.labels[self.leaf]

    def shares(self, estimator: TrimmedTreeClassifier) -> Vector:
        return estimator.tree_.value[self.leaf]


class AnyClassifier:
    """A classifier with row weights, or one without, fitted to rows drawn by weight."""

    def __init__(
        self,
        estimator: Any,
        X: Matrix,
        codes: Vector,
        classes: Vector,
        rng: np.random.RandomState,
    ):
        self.estimator, self.X, self.classes, self.rng = estimator, X, classes, rng
        self.labels = codes
        self.weighted = takes_sample_weight(estimator)
        if not self.weighted:
            warnings.warn(
                f"{type(estimator).__name__} takes no sample_weight, so that each round is fitted "
                "to rows drawn by weight, which adds noise. Prefer an estimator that takes weights.",
                WeightingWarning,
                stacklevel=4,
            )

    def fit(self, weights: Vector, inside: Vector | None = None) -> Any:
        inside = np.arange(weights.size) if inside is None else inside
        estimator = clone(self.estimator)
        _set_random_states(estimator, self.rng)
        weights = weights[inside] / weights[inside].mean()  # a sum of 1 breaks regularised learners
        if not self.weighted:
            inside, weights = self._draw(inside, weights), None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoTargetWarning)
            return fit_weighted(
                estimator, self.X[inside], self.classes[self.labels[inside]], weights
            )

    def _draw(self, inside: Vector, weights: Vector) -> Vector:
        drawn = self.rng.choice(inside, size=inside.size, p=weights / weights.sum())
        # A class that was not drawn is represented by its heaviest row.
        for label in np.setdiff1d(self.labels[inside], self.labels[drawn]):
            of_label = inside[self.labels[inside] == label]
            drawn = np.append(drawn, of_label[weights[self.labels[inside] == label].argmax()])
        return drawn

    def codes(self, estimator: Any) -> Vector:
        return predicted_codes(estimator, self.X, self.classes)

    def shares(self, estimator: Any) -> Vector:
        return predicted_shares(estimator, self.X, self.classes)


def predicted_codes(estimator: Any, X: Matrix, classes: Vector) -> Vector:
    """Predictions as positions in ``classes``; the rows are checked already."""
    if type(estimator) is TrimmedTreeClassifier:
        return estimator.tree_.labels[leaf_of(estimator.tree_, X)]
    return np.searchsorted(classes, estimator.predict(X))


def predicted_shares(estimator: Any, X: Matrix, classes: Vector) -> Vector:
    """Class probabilities, or ones at the predicted class where the learner has none."""
    if type(estimator) is TrimmedTreeClassifier:
        return estimator.tree_.value[leaf_of(estimator.tree_, X)]
    if not hasattr(estimator, "predict_proba"):
        return np.eye(classes.size)[predicted_codes(estimator, X, classes)]
    out = np.zeros((X.shape[0], classes.size))
    out[:, np.searchsorted(classes, estimator.classes_)] = estimator.predict_proba(X)
    return out
