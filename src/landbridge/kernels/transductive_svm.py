"""Transductive support vector machine (Joachims, 1999).

The labels y* of the unlabelled target rows are optimised together with the separating hyperplane:

    min_{w, y*} ½‖w‖² + C Σ_labelled ξ_i + C*_+ Σ_{y*_j = +1} ξ*_j + C*_- Σ_{y*_j = −1} ξ*_j,

with a fixed number of positive y*. The algorithm starts from the hyperplane of the labelled rows,
labels the highest scores positive, and increases the influence C* of the unlabelled rows from
nearly zero to its full value. At each level, it exchanges the labels of pairs until no exchange
lowers the objective.

A pair (m labelled +1, l labelled −1) is exchanged when ξ_m + ξ_l > 2, that is when f(x_l) > f(x_m).
Exchanging all such pairs at once therefore labels the rows with the highest scores positive.

Deviation 1: all pairs, not just one, are exchanged before the hyperplane is fitted again. Each
exchange lowers the objective for the current hyperplane, so the loop still terminates. Deviation 2:
``kernel="linear"`` uses the squared hinge loss (liblinear's Newton solver, whose cost is linear in
the rows and which suits sparse text). The condition for an exchange is the same for every
increasing loss. (Both are found to be much faster at the same accuracy by Sindhwani and Keerthi,
Large Scale Semi-supervised Linear SVMs, 2006.) Deviation 3: several classes are fitted one-vs-rest,
each with its own fraction. Deviation 4: with ``kernel="linear"`` rows are divided by the root of
their mean squared norm, so that C does not depend on the scale of the columns and the solver
converges.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.svm import SVC, LinearSVC

from landbridge._kernel import KernelSpec, Width, check_kernel, kernel_matrix, resolve_width
from landbridge._transfer_estimator import TransferEstimator
from landbridge._typing import Matrix, MatrixLike, Vector, VectorLike
from landbridge._validation import TransferData, check_positive, check_rows
from landbridge.baselines import check_target_share, weights_of_labelled_rows

# Growth of C* per level. The paper uses 2, which is as accurate but takes twice as long.
GROWTH = 10.0
FIRST_INFLUENCE = 1e-5
MAX_EXCHANGES = 50


def unit_scale(X: Matrix) -> float:
    """Factor that gives rows a mean squared norm of 1; 1 if all rows are zero."""
    squares = X.multiply(X) if sparse.issparse(X) else np.square(X, dtype=float)
    mean = float(squares.sum()) / X.shape[0]
    return 1 / np.sqrt(mean) if mean > 0 else 1.0


def highest(scores: Vector, n_positive: int) -> Vector:
    """+1 for the ``n_positive`` highest scores, −1 for the others; ties go to the first row."""
    labels = np.full(scores.size, -1.0)
    labels[np.argsort(-scores, kind="stable")[:n_positive]] = 1.0
    return labels


def influence_levels(
    n_positive: int, n_negative: int, full: float
) -> Iterator[tuple[float, float]]:
    """(C*_+, C*_-) from nearly zero to the full influence, relative to C.

    C*_- starts at 1e-5 and C*_+ at 1e-5·n_positive/n_negative; both are multiplied by 10
    per level, up to ``full``.
    """
    negative = FIRST_INFLUENCE * full
    positive = negative * max(n_positive, 1) / max(n_negative, 1)
    while min(positive, negative) < full:
        yield min(positive, full), min(negative, full)
        positive, negative = GROWTH * positive, GROWTH * negative
    yield full, full


def transduce(
    fit: Callable[[Vector, Vector], Any],
    scores_of: Callable[[Any], Vector],
    labels: Vector,
    costs: Vector,
    n_unlabelled: int,
    n_positive: int,
    influence: float,
) -> tuple[Any, Vector]:
    """Return the hyperplane and the labels y*.

    ``costs`` are those of the labelled rows relative to C, all 1 in the paper.
    ``fit(labels, weights)`` fits a hyperplane to as many rows as there are labels, labelled rows
    first; ``scores_of(plane)`` returns its scores for the unlabelled rows.
    """
    plane = fit(labels, costs)
    guessed = highest(scores_of(plane), n_positive)
    levels = influence_levels(n_positive, n_unlabelled - n_positive, influence)
    for positive, negative in levels:
        for _ in range(MAX_EXCHANGES):
            weights = np.where(guessed > 0, positive, negative)
            plane = fit(np.concatenate([labels, guessed]), np.concatenate([costs, weights]))
            exchanged = highest(scores_of(plane), n_positive)
            if np.array_equal(exchanged, guessed):
                break
            guessed = exchanged
    return plane, guessed


class TransductiveSVC(ClassifierMixin, TransferEstimator):
    """Support vector machine that avoids dense regions of the unlabelled target rows.

    min ½‖w‖² + C Σ ξ + C* Σ ξ* over the hyperplane and the labels of the unlabelled rows, with a
    fixed number of rows in each class. Without unlabelled rows, it is a support vector machine.
    With ``kernel="linear"`` the cost is linear in the rows.

    The fixed fractions are an assumption. If the class frequencies of the target differ from those
    of the source, pass ``class_fractions``; otherwise the decision boundary will be biased.

    Parameters
    ----------
    C : float, default=1.0
        Cost of the labelled rows (source and labelled target).
    influence : float, default=1.0
        Final cost of an unlabelled row relative to ``C``.
    class_fractions : sequence of float or None, default=None
        Fraction of the unlabelled rows in each class, in the order of ``classes_``. None uses the
        weighted fractions among the labelled rows.

    Attributes
    ----------
    classes_ : the class labels.
    unlabeled_labels_ : predicted class of each row of ``X_unlabeled``.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import TransductiveSVC
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(60, 3)), rng.normal(0.5, size=(40, 3))
    >>> model = TransductiveSVC(kernel="linear").fit(X, X[:, 0] > 0, X_unlabeled=X_target)
    >>> model.predict(X_target).shape
    (40,)
    """

    _transfer_checks = {
        "task": "classification",
        "plain_counterpart": "a support vector machine with its kernel",
    }

    def __init__(
        self,
        C: float = 1.0,
        influence: float = 1.0,
        kernel: KernelSpec = "rbf",
        width: Width = "scale",
        class_fractions: VectorLike = None,
        target_share: float | None = 0.5,
    ):
        self.C = C
        self.influence = influence
        self.kernel = kernel
        self.width = width
        self.class_fractions = class_fractions
        self.target_share = target_share

    def _fit_transfer(self, data: TransferData) -> None:
        """Fit on all rows; source and labelled target rows carry the labels."""
        self.classes_ = data.classes
        n_labelled = data.labels.size
        self.rows_ = data.all_rows
        self.width_ = resolve_width(self.width, self.rows_)
        self.scale_ = unit_scale(self.rows_) if self.kernel == "linear" else 1.0
        costs = weights_of_labelled_rows(data, self.target_share)
        fractions = self._fractions(data.labels, costs)
        inputs = self._input(self.rows_)
        one_against_rest = self.classes_[1:] if self.classes_.size == 2 else self.classes_
        self.planes_ = []
        for label in one_against_rest:
            signs = np.where(data.labels == label, 1.0, -1.0)
            fraction = fractions[self.classes_ == label][0]
            self.planes_.append(self._fit_plane(inputs, signs, costs, fraction))
        self.unlabeled_labels_ = self._choose(self._scores(inputs[n_labelled:]))

    def _fit_plane(self, inputs: Matrix, signs: Vector, costs: Vector, fraction: float) -> Any:
        linear = self.kernel == "linear"
        n_labelled = signs.size
        n_unlabelled = inputs.shape[0] - n_labelled

        def fit(labels: Vector, weights: Vector) -> Any:
            rows = inputs[: labels.size]
            if linear:
                plane = LinearSVC(C=self.C, dual=False, tol=1e-5, random_state=0)
                return plane.fit(rows, labels, weights)
            plane = SVC(C=self.C, kernel="precomputed", tol=1e-5, random_state=0)
            return plane.fit(rows[:, : labels.size], labels, weights)

        def scores_of(plane: Any) -> Vector:
            rows = inputs[n_labelled:]
            return plane.decision_function(rows if linear else rows[:, : plane.shape_fit_[1]])

        if n_unlabelled == 0:
            return fit(signs, costs)
        n_positive = round(fraction * n_unlabelled)
        return transduce(fit, scores_of, signs, costs, n_unlabelled, n_positive, self.influence)[0]

    def _input(self, X: Matrix) -> Matrix:
        if self.kernel == "linear":
            return X * self.scale_
        return kernel_matrix(X, self.rows_, self.kernel, self.width_)

    def _scores(self, inputs: Matrix) -> np.ndarray:
        n_rows = inputs.shape[0]
        if n_rows == 0:
            return np.zeros((0, len(self.planes_)))
        return np.column_stack([plane.decision_function(inputs) for plane in self.planes_])

    def _choose(self, scores: np.ndarray) -> Vector:
        if scores.shape[1] == 1:
            return self.classes_[(scores[:, 0] > 0).astype(int)]
        return self.classes_[scores.argmax(axis=1)]

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Signed score per class; with two classes, only that of the second."""
        scores = self._scores(self._input(check_rows(self, X, "planes_")))
        return scores[:, 0] if self.classes_.size == 2 else scores

    def predict(self, X: MatrixLike) -> Vector:
        """Predict the class with the highest score."""
        return self._choose(self._scores(self._input(check_rows(self, X, "planes_"))))

    def _fractions(self, labels: Vector, weights: Vector) -> Vector:
        if self.class_fractions is None:
            return np.average(labels[:, None] == self.classes_, axis=0, weights=weights)
        given = np.asarray(self.class_fractions)
        fractions = given.astype(float) if given.dtype.kind in "iuf" else np.zeros(0)
        if fractions.shape != self.classes_.shape or (fractions < 0).any():
            raise ValueError(
                f"`class_fractions` must contain one number of at least 0 for each of the "
                f"{self.classes_.size} classes; got {self.class_fractions!r}."
            )
        if not np.isclose(fractions.sum(), 1.0, atol=1e-6):
            raise ValueError(
                f"`class_fractions` must sum to 1; got a sum of {fractions.sum():g}. Divide by it."
            )
        return fractions

    def _check_parameters(self) -> None:
        check_kernel(self.kernel, self.width)
        check_positive(self.C, "C")
        check_positive(self.influence, "influence")
        check_target_share(self.target_share)
