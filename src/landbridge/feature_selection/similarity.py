"""Similarity between rows that carries over to classes absent from training.

Foster, Kakade, Salakhutdinov, "Domain Adaptation: A Small Sample Statistical Approach", Section
4.2: y = sgn(Σ_i w_i φ_i(x¹) φ_i(x²)), +1 for two rows of one class and −1 otherwise, with the
classes as domains.

Deviation 1: φ is centred first. Let p_k be the mean of φ_i in class k. The effect of φ_i in class k
is about p_k (p_k − p̄), which is negative for classes below the average, so the effects of a
nonnegative feature rarely agree in sign. After centring, the effect is (p_k − p̄)² in every class.
"""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from landbridge._docstrings import Documented
from landbridge._typing import Matrix, MatrixLike, RandomState, Vector, VectorLike
from landbridge._validation import check_choice, check_count, check_rows, check_transfer
from landbridge.feature_selection.selector import TGreedySelector
from landbridge.feature_selection.t_greedy import ROUNDINGS


def draw_pairs(
    codes: Vector, n_pairs: int, random_state: np.random.RandomState
) -> tuple[Vector, Vector, Vector, Vector]:
    """Draw pairs of rows: first rows, second rows, labels ±1 and the class of each pair.

    For each class, ``n_pairs`` pairs of different rows of that class are drawn, and as many pairs
    of a row of that class with a row of another class.
    """
    first, second, same, domain = [], [], [], []
    for k in range(codes.max() + 1):
        inside, outside = np.flatnonzero(codes == k), np.flatnonzero(codes != k)
        one = random_state.randint(inside.size, size=n_pairs)
        other = (one + random_state.randint(1, inside.size, size=n_pairs)) % inside.size
        first += [inside[one], random_state.choice(inside, n_pairs)]
        second += [inside[other], random_state.choice(outside, n_pairs)]
        same += [np.ones(n_pairs), -np.ones(n_pairs)]
        domain.append(np.full(2 * n_pairs, k))
    return tuple(np.concatenate(part) for part in (first, second, same, domain))  # type: ignore[return-value]


def multiply_rows(A: Matrix, B: Matrix) -> Matrix:
    """Products of the features of two rows, for each pair."""
    return A.multiply(B).tocsr() if sparse.issparse(A) else A * B


class SimilarityLearner(TransformerMixin, Documented, BaseEstimator):
    r"""Learn a similarity between rows that carries over to new classes.

    The similarity is :math:`s(a, b) = \sum_i w_i (a_i - m_i)(b_i - m_i) + b_0`, positive for rows
    of the same class; m are the means of the training rows. The products are the features of a
    `TGreedySelector`, and the classes are its domains. A product is selected if it separates
    *every* known class from the others, so it can be expected to separate new classes too.

    Parameters
    ----------
    selector : TGreedySelector or None, default=None
        Selector of the products; ``None`` is ``TGreedySelector()``.
    n_pairs : int, default=1000
        Number of pairs of the same class, and of different classes, drawn per class.
    random_state : int, RandomState or None, default=None
        Seed for drawing the pairs.
    center : bool, default=True
        Whether to subtract the means. ``False`` multiplies the features as they are, as published,
        and is required for sparse rows.

    Attributes
    ----------
    center_ : the means m, or zeros with ``center=False``.
    selector_ : the fitted selector, with its ``path_``.
    coef_, intercept_ : weights w and b₀.
    classes_ : the known classes.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.preprocessing import StandardScaler
    >>> from landbridge import SimilarityLearner, TGreedySelector
    >>> X, y = load_digits(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> known = y < 8
    >>> learner = SimilarityLearner(TGreedySelector("gate"), n_pairs=200, random_state=0)
    >>> learner = learner.fit(X[known], y[known])
    >>> new = X[y == 9]
    >>> bool(learner.similarity(new, new).mean() > learner.similarity(new, X[known]).mean())
    True
    """

    def __init__(
        self,
        selector: Any = None,
        n_pairs: int = 1000,
        random_state: RandomState = None,
        center: bool = True,
    ):
        self.selector = selector
        self.n_pairs = n_pairs
        self.random_state = random_state
        self.center = center

    def fit(self, X: MatrixLike, y: VectorLike) -> Self:
        """Draw pairs of rows and select products."""
        check_count(self.n_pairs, "n_pairs", least=2)
        check_choice(self.center, "center", (True, False))
        if not isinstance(self.selector, TGreedySelector | None):
            raise TypeError(
                f"`selector` must be a TGreedySelector or None; got {self.selector!r}. Pass for "
                "example TGreedySelector('gate')."
            )
        data = check_transfer(self, X, y, task="classification")
        codes = data.encode(data.y)
        small = np.bincount(codes) < 2
        if small.any():
            raise ValueError(
                "`y` must have at least two rows per class; got one row for "
                f"{data.classes[small].tolist()[:5]}. Drop such classes."
            )
        random_state = check_random_state(self.random_state)
        first, second, same, domain = draw_pairs(codes, self.n_pairs, random_state)
        selector = TGreedySelector() if self.selector is None else clone(self.selector)
        self.center_ = self._means(data.X)
        rows = _subtract(data.X, self.center_)
        products = multiply_rows(rows[first], rows[second])
        self.selector_ = selector.fit(products, same, groups=data.classes[domain])
        self.classes_ = data.classes
        return self

    def _means(self, X: Matrix) -> Vector:
        """Means that are subtracted from the features."""
        if not self.center:
            return np.zeros(X.shape[1], dtype=X.dtype)
        if sparse.issparse(X):
            raise TypeError(
                "`center` must be False for sparse rows, which centring would make dense; got "
                "True. Set center=False or pass dense rows."
            )
        return X.mean(axis=0)

    @property
    def coef_(self) -> Vector:
        """Coefficients of the selector."""
        check_is_fitted(self, "selector_")
        return self.selector_.coef_

    @property
    def intercept_(self) -> float:
        """Intercept of the selector."""
        check_is_fitted(self, "selector_")
        return self.selector_.intercept_

    def similarity(self, A: MatrixLike, B: MatrixLike = None) -> np.ndarray:
        """Compute s(a, b) for every row a of ``A`` and b of ``B``.

        Parameters
        ----------
        A : array-like of shape (n_rows, n_features)
            First rows.
        B : array-like of shape (n_rows, n_features), optional
            Second rows; the first ones by default.

        Returns
        -------
        ndarray of shape (n_rows_A, n_rows_B)
            Similarities.
        """
        left = self._chosen(A)
        right = left if B is None else self._chosen(B)
        return (left * self.coef_[self.coef_ != 0]) @ right.T + self.intercept_

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Compute √|w_i| (x_i − m_i) for each selected feature.

        ``(t * sign) @ t.T + intercept_`` is `similarity`, where ``sign`` are the signs of the
        non-zero weights; with positive weights it is a plain inner product.
        """
        return self._chosen(X) * np.sqrt(np.abs(self.coef_[self.coef_ != 0]))

    def get_feature_names_out(self, input_features: VectorLike = None) -> Vector:
        """Names of the chosen features, in the order of the columns of ``transform``.

        Parameters
        ----------
        input_features : ignored, optional
            Ignored; present for compatibility with scikit-learn.

        Returns
        -------
        ndarray of str
            Names of the columns.
        """
        check_is_fitted(self, "selector_")
        return _check_feature_names_in(self, input_features)[self.coef_ != 0]

    def _chosen(self, X: MatrixLike) -> np.ndarray:
        """Selected columns of the rows, centred."""
        check_is_fitted(self, "selector_")
        chosen = np.flatnonzero(self.coef_)
        columns = check_rows(self, X)[:, chosen]
        columns = columns.toarray() if sparse.issparse(columns) else columns
        return _subtract(columns, self.center_[chosen])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.center
        tags.target_tags.required = True
        return tags


def _subtract(X: Matrix, means: Vector) -> Matrix:
    """X − means, with rounding errors of constant columns set to zero."""
    if not means.any():
        return X
    rows = X - means
    rows[np.abs(rows) <= ROUNDINGS * np.finfo(X.dtype).eps * np.abs(means)] = 0.0
    return rows
