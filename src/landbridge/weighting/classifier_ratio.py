"""Density ratio from a classifier that separates the two domains (Bickel et al., 2009)."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_random_state
from sklearn.utils.sparsefuncs import mean_variance_axis

from landbridge._kernel import deal_folds
from landbridge._tasks import one_thread
from landbridge._typing import Matrix, RandomState, Vector
from landbridge._validation import check_probabilistic, stack_rows
from landbridge.weighting._base import Weighting

N_FOLDS = 5


def log_odds(probability: Vector) -> Vector:
    """log p/(1 − p) of probabilities kept away from 0 and 1."""
    p = np.clip(probability.astype(np.float64), 1e-12, 1 - 1e-12)
    return np.log(p) - np.log1p(-p)


def odds_to_ratio(target_log_odds: Vector, n_source: int, n_target: int) -> Vector:
    """p_target(x)/p_source(x) = P(target | x)/P(source | x) · n_source/n_target (Bayes' rule)."""
    return np.exp(target_log_odds) * (n_source / n_target)


class SigmoidCalibration:
    """Platt's calibration: log-odds → a·log-odds + b with the largest likelihood."""

    def fit(self, scores: Vector, is_target: Vector) -> "SigmoidCalibration":
        self.model = LogisticRegression(C=np.inf, tol=1e-8).fit(scores[:, None], is_target)
        return self

    def __call__(self, scores: Vector) -> Vector:
        return self.model.decision_function(scores[:, None])


class ColumnSquares(TransformerMixin, BaseEstimator):
    """Standardised columns and their squares, each with unit variance.

    The log-ratio of two Gaussians with independent columns is linear in both, so a linear
    classifier can detect shifted means and changed variances. Sparse rows stay sparse: they are not
    centred, and (x − m)² − m² = x² − 2mx replaces the square, which is equivalent for a linear
    classifier with an intercept.
    """

    def fit(self, X: Matrix, y: Any = None) -> Self:
        """Learn means and standard deviations of columns and squares."""
        if sparse.issparse(X):
            self.mean_, variance = mean_variance_axis(X, axis=0)
        else:
            self.mean_, variance = X.mean(axis=0), X.var(axis=0)
        self.scale_ = np.where(variance > 0, np.sqrt(variance), 1.0)
        self.square_scale_ = np.ones(X.shape[1])
        squares = self._parts(X)[1]
        if sparse.issparse(squares):
            spread = np.sqrt(mean_variance_axis(sparse.csr_array(squares), axis=0)[1])
        else:
            spread = squares.std(axis=0)
        self.square_scale_ = np.where(spread > 1e-12, spread, 1.0)
        return self

    def transform(self, X: Matrix) -> Matrix:
        """Concatenate columns and squares."""
        parts = self._parts(X)
        if sparse.issparse(parts[0]):
            return sparse.csr_array(sparse.hstack(parts))
        return np.hstack(parts)

    def _parts(self, X: Matrix) -> tuple[Matrix, Matrix]:
        if sparse.issparse(X):
            scaled = sparse.csr_array(X) @ sparse.diags_array(1 / self.scale_)
            twice = scaled @ sparse.diags_array(2 * self.mean_ / self.scale_)
            squares = (scaled.multiply(scaled) - twice) @ sparse.diags_array(1 / self.square_scale_)
            return scaled, sparse.csr_array(squares)
        scaled = (X - self.mean_) / self.scale_
        return scaled, scaled**2 / self.square_scale_


class ClassifierRatio(Weighting):
    """Density ratio from the odds of a classifier between target and source rows.

    By Bayes' rule p_target(x)/p_source(x) = P(target | x)/P(source | x) · n_source/n_target. The
    method is meant for few columns. If a classifier separates the domains well, only few source
    rows keep substantial weight: without target labels, logistic regression with these weights was
    16 points less accurate than the best source-only model, and 1 point with the weights of
    `RuLSIF` (benchmark ``defaults``).

    * The weight of a source row comes from a classifier that has not seen the row
      (cross-fitting). Otherwise, a classifier that memorises its training rows would predict
      "source" for each of them.
    * The probabilities are calibrated on those predictions, all rows of both domains together, by
      Platt's method.
    * Folds do not depend on the order of the rows.

    Parameters
    ----------
    classifier : classifier with ``predict_proba``, default=None
        ``None`` is a logistic regression on standardised columns and their squares, which is exact
        for Gaussians with independent columns. Use a flexible classifier for anything else.
    random_state : int, RandomState or None, default=0
        Seed for the folds.

    Attributes
    ----------
    weights_ : one weight per source row; their mean is near 1, not exactly 1.
    classifier_ : classifier fitted on all rows, used for new rows.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import ClassifierRatio
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(300, 1)), rng.normal(1.0, 1, size=(200, 1))
    >>> low, high = ClassifierRatio().fit(X, X_target).predict_weights([[-1.0], [2.0]])
    >>> bool(low < 0.5 < 2 < high)
    True
    """

    def __init__(self, classifier: Any = None, random_state: RandomState = 0):
        self.classifier = classifier
        self.random_state = random_state

    def _weights(self, X: Matrix, X_target: Matrix) -> Vector:
        check_probabilistic(self.classifier, "classifier")
        self._sizes = X.shape[0], X_target.shape[0]
        folds = self._folds(X, X_target)
        rows = stack_rows([X, X_target])
        classifier = self.classifier
        if classifier is None:
            linear = LogisticRegression(tol=1e-7, max_iter=1000)
            classifier = make_pipeline(ColumnSquares(), linear)
        is_target = np.repeat([0, 1], self._sizes)
        scores = cross_fitted_log_odds(classifier, rows, is_target, folds)
        self._calibration = SigmoidCalibration().fit(scores, is_target)
        self.classifier_ = clone(classifier).fit(rows, is_target)
        return odds_to_ratio(self._calibration(scores[: X.shape[0]]), *self._sizes)

    @one_thread()
    def _new_weights(self, X: Matrix) -> Vector:
        """The density ratio by the classifier fitted on all rows."""
        scores = log_odds(self.classifier_.predict_proba(X)[:, 1])
        return odds_to_ratio(self._calibration(scores), *self._sizes)

    def _folds(self, X: Matrix, X_target: Matrix) -> Vector:
        fewest = min(X.shape[0], X_target.shape[0])
        if fewest < 2:
            raise ValueError(
                "`X` and `X_target` must have at least 2 rows each for cross-fitting; got "
                f"n_samples = {fewest}. Pass more rows."
            )
        n_folds = min(N_FOLDS, fewest)
        rng = check_random_state(self.random_state)
        return np.concatenate([deal_folds(part, n_folds, rng) for part in (X, X_target)])


def cross_fitted_log_odds(
    classifier: Any, rows: Matrix, is_target: Vector, folds: Vector
) -> Vector:
    """Log-odds of "target" for each row, from a classifier fitted on the other folds."""
    scores = np.empty(len(is_target))
    for fold in np.unique(folds):
        inside = folds != fold
        fitted = clone(classifier).fit(rows[inside], is_target[inside])
        scores[~inside] = log_odds(fitted.predict_proba(rows[~inside])[:, 1])
    return scores
