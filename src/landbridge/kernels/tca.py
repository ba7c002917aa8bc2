"""Transfer component analysis (Pan, Tsang, Kwok and Yang, 2011).

K is the kernel of all n = n₁ + n₂ rows, H centres, and L = ll' with l_i = 1/n₁ on the source and
−1/n₂ on the target, so that tr(W'KLKW) is the squared distance between the domain means of the
embedding KW (the maximum mean discrepancy). The components solve

    max_W tr(W'KHKW)   subject to   W'(KLK + μI)W = I,

the leading eigenvectors of the *symmetric generalised* problem KHK w = θ (KLK + μI) w. Since L has
rank one, (KLK + μI)^-½ is known in closed form, and Lanczos needs only products with K: no L, no H
and no inverse is formed, and for the linear kernel not even K.

The semi-supervised variant puts γ YY' + (1 − γ)I between H and H, where Y holds the classes of the
labelled rows (so that the embedding depends on the labels), and adds (λ/n²) K𝓛K to the constraint,
with 𝓛 the Laplacian of the graph of neighbours (so that it is smooth along the data).

Deviation 1: components are scaled by W'(KLK + μI)W = I; the paper's own constraint,
W'KHKW = I, which gives every component the same variance, is ``whiten=True``.
Deviation 2: labelled target rows have their labels in Y too.
Deviation 3: for a continuous response Y is the standardised response, one column.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator, eigsh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._tags import Tags
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from landbridge._domain_map import check_mapping
from landbridge._tasks.threads import on_one_thread, one_thread
from landbridge._typing import Matrix, MatrixLike, RandomState, Vector, VectorLike
from landbridge._validation import (
    TransferData,
    check_count,
    check_not_negative,
    check_positive,
    check_rows,
    is_number,
    missing_values,
    stack_rows,
)
from landbridge.kernels._graph import neighbor_laplacian
from landbridge.kernels._kernel import (
    KernelSpec,
    Width,
    check_kernel,
    kernel_matrix,
    resolve_width,
)
from landbridge.kernels.low_rank import (
    LowRankFeatures,
    fit_low_rank_features,
    positive_eigenpairs,
    resolve_rank,
)
from landbridge.weighting._rows import row_blocks

# Lanczos needs some room: for nearly all components, or few rows, a dense solver is faster.
DENSE_ROWS = 100
# Below this share of the largest eigenvalue a component is rounding.
NOISE = 1e-12


@dataclass(frozen=True)
class Side:
    """What the objective puts between K and K.

    ``difference`` is l, ``labels`` is Y (zero rows where unlabelled), ``label_weight`` is γ, and
    ``laplacian`` is (λ/n²)·𝓛 or None.
    """

    difference: Vector
    labels: np.ndarray
    label_weight: float
    laplacian: sparse.csr_array | None


def centred(V: np.ndarray) -> np.ndarray:
    """HV."""
    return V - V.mean(axis=0)


def between(side: Side, V: np.ndarray) -> np.ndarray:
    """H (γYY' + (1 − γ)I) H V."""
    V = centred(V)
    return (1 - side.label_weight) * V + side.label_weight * centred(
        side.labels @ (side.labels.T @ V)
    )


def transfer_components(
    product: LinearOperator, side: Side, mu: float, n_components: int
) -> tuple[Vector, np.ndarray]:
    """Leading θ and W for a kernel known by its products, by Lanczos."""
    n_rows = product.shape[0]
    u = product @ side.difference  # KLK = uu'
    length = float(np.linalg.norm(u))
    direction = u / length if length > 0 else u
    shrink = 1 - 1 / np.sqrt(1 + length**2 / mu)

    def inverse_root(v: Vector) -> Vector:
        """(uu' + μI)^-½ v."""
        return (v - shrink * direction * (direction @ v)) / np.sqrt(mu)

    def multiply(v: Vector) -> Vector:
        v = product @ inverse_root(v.ravel())
        return inverse_root(product @ between(side, v[:, None]).ravel())

    operator = LinearOperator((n_rows, n_rows), matvec=multiply, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=n_rows)
    if not multiply(start).any():  # all rows alike: nothing varies, and Lanczos cannot start
        return np.zeros(n_components), np.zeros((n_rows, n_components))
    values, vectors = eigsh(operator, n_components, which="LA", v0=start)
    return values[::-1], np.column_stack([inverse_root(v) for v in vectors.T[::-1]])


def transfer_components_dense(
    K: np.ndarray, side: Side, mu: float, n_components: int
) -> tuple[Vector, np.ndarray]:
    """The same from dense matrices; the only way to a graph Laplacian without low rank."""
    u = K @ side.difference
    constraint = np.outer(u, u) + mu * np.eye(K.shape[0])
    if side.laplacian is not None:
        constraint += K @ (side.laplacian @ K)
    objective = K @ between(side, K)
    return leading_pairs(objective, constraint, n_components)


def transfer_components_low_rank(
    gram: np.ndarray,
    between_gram: np.ndarray,
    laplacian_gram: np.ndarray | None,
    difference: Vector,
    mu: float,
    n_components: int,
) -> tuple[Vector, np.ndarray]:
    """θ and the matrix P with KW = ΦP, for K = ΦΦ'.

    ``gram`` is Φ'Φ = Vσ²V', ``between_gram`` is Φ'H(γYY' + (1 − γ)I)HΦ, ``laplacian_gram`` is
    Φ'𝓛Φ, ``difference`` is Φ'l. W lies in the range of Φ, so W = ΦVσ^-1 a with a of size r.
    """
    values, vectors = positive_eigenpairs(gram)
    basis = vectors * np.sqrt(values)
    u = basis.T @ difference
    constraint = np.outer(u, u) + mu * np.eye(values.size)
    if laplacian_gram is not None:
        constraint += basis.T @ laplacian_gram @ basis
    objective = basis.T @ between_gram @ basis
    theta, a = leading_pairs(objective, constraint, min(n_components, values.size))
    return theta, basis @ a


def leading_pairs(
    objective: np.ndarray, constraint: np.ndarray, n_components: int
) -> tuple[Vector, np.ndarray]:
    """Leading pairs of the symmetric generalised problem, largest first."""
    n = objective.shape[0]
    chosen = (n - n_components, n - 1)
    objective = (objective + objective.T) / 2
    constraint = (constraint + constraint.T) / 2
    values, vectors = linalg.eigh(objective, constraint, subset_by_index=chosen)
    return values[::-1], vectors[:, ::-1]


def flip_signs(W: np.ndarray) -> np.ndarray:
    """Each column with its largest entry positive, so that the order of rows is irrelevant."""
    largest = np.abs(W).argmax(axis=0)
    signs = np.sign(W[largest, np.arange(W.shape[1])])
    return W * np.where(signs == 0, 1.0, signs)


def label_matrix(labels: Vector | None, n_rows: int) -> np.ndarray:
    """Y: one column a class, or the standardised response; zero in unlabelled rows."""
    if labels is None:
        return np.zeros((n_rows, 0))
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    missing = missing_values(labels)
    if missing.any():
        raise ValueError(
            f"`y` and `y_target` must hold a label for every row for `label_weight` above 0; got "
            f"{missing.sum()} missing. Pass target rows without a label as `X_unlabeled`."
        )
    if type_of_target(labels).startswith("continuous"):
        spread = labels.std(axis=0)
        Y = (labels - labels.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        Y = Y.reshape(labels.shape[0], -1)
    else:
        Y = (labels[:, None] == np.unique(labels)).astype(float)
    return np.vstack([Y, np.zeros((n_rows - Y.shape[0], Y.shape[1]))])


@dataclass(frozen=True)
class KernelRows:
    """The features k(x, rows) of the exact embedding; x itself where ``rows`` is None."""

    rows: Matrix | None
    kernel: KernelSpec
    width: float

    def transform(self, X: Matrix) -> Matrix:
        """k(x, rows) for every row x."""
        return X if self.rows is None else kernel_matrix(X, self.rows, self.kernel, self.width)


def low_rank_moments(
    features: LowRankFeatures, source: Matrix, target: Matrix | None, rows: Matrix, side: Side
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, Vector]:
    """Φ'Φ, Φ'H(γYY' + (1 − γ)I)HΦ, Φ'𝓛Φ and Φ'l, in one pass over the rows where possible."""
    n_rows, n_source = rows.shape[0], source.shape[0]
    gram, total = features.moments(source)
    difference = np.zeros_like(total)
    if target is not None:
        gram_target, total_target = features.moments(target)
        difference = total / n_source - total_target / (n_rows - n_source)
        gram, total = gram + gram_target, total + total_target
    middle = (1 - side.label_weight) * (gram - np.outer(total, total) / n_rows)
    if side.label_weight > 0:
        crossed = features.transform(rows).T @ centred(side.labels)
        middle += side.label_weight * crossed @ crossed.T
    laplacian = None
    if side.laplacian is not None:
        phi = features.transform(rows)
        laplacian = phi.T @ (side.laplacian @ phi)
    return gram, middle, laplacian, difference


def _linear_product(rows: Matrix) -> LinearOperator:
    """v ↦ XX'v without the matrix XX'."""
    n_rows = rows.shape[0]
    return LinearOperator((n_rows, n_rows), matvec=lambda v: rows @ (rows.T @ v), dtype=float)


class TransferComponentAnalysis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Components in which the domain means are close and the variance is large.

    max_W tr(W'KHKW) subject to W'(KLK + μI)W = I; see the module for the notation. One embedding
    x ↦ k(x, ·)W serves source, target and new rows alike. Without target rows L = 0, which is an
    uncentred kernel PCA. Components beyond the rank of the kernel are 0.

    Parameters
    ----------
    n_components : int, default=10
        Number of components; never more than there are rows (or ``rank``).
    kernel, width
        As in `SurrogateKernelMap`.
    mu : float, default=1.0
        μ, the weight of ‖W‖² beside the distance of the means. Small values insist on equal means.
    label_weight : float in [0, 1], default=0.0
        γ of the semi-supervised variant; above 0 the labels given to ``fit`` are used.
    manifold : float, default=0.0
        λ of the semi-supervised variant, the weight of the graph of ``n_neighbors`` neighbours.
    n_neighbors : int, default=10
    whiten : bool, default=False
        Every component with the same variance (the paper's constraint W'KHKW = I).
    rank : int, "auto" or None, default=None
        None is exact. A number or "auto" uses low-rank features, linear in the rows.
    random_state : int, RandomState or None, default=None
        Draws the landmarks of the low-rank features.

    Attributes
    ----------
    eigenvalues_ : θ, largest first.
    components_ : what multiplies k(x, ·), x or φ(x).

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import TransferComponentAnalysis
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(60, 4)), rng.normal(0.5, size=(40, 4))
    >>> tca = TransferComponentAnalysis(n_components=3).fit(X, X_unlabeled=X_target)
    >>> tca.transform(X_target).shape
    (40, 3)
    """

    features_: KernelRows | LowRankFeatures

    def __init__(
        self,
        n_components: int = 10,
        kernel: KernelSpec = "rbf",
        width: Width = "scale",
        mu: float = 1.0,
        label_weight: float = 0.0,
        manifold: float = 0.0,
        n_neighbors: int = 10,
        whiten: bool = False,
        rank: int | str | None = None,
        random_state: RandomState = None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.width = width
        self.mu = mu
        self.label_weight = label_weight
        self.manifold = manifold
        self.n_neighbors = n_neighbors
        self.whiten = whiten
        self.rank = rank
        self.random_state = random_state

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike = None,
        *,
        X_target: MatrixLike = None,
        y_target: VectorLike = None,
        X_unlabeled: MatrixLike = None,
    ) -> Self:
        """Find the components; labels are used only with ``label_weight`` above 0."""
        self._check_parameters(y)
        data = check_mapping(
            self,
            X,
            y,
            X_target=X_target,
            y_target=y_target,
            X_unlabeled=X_unlabeled,
            plain_counterpart="an uncentred kernel PCA",
        )
        target = data.target_rows
        rows = data.X if target is None else stack_rows([data.X, target])
        with one_thread():
            self.width_ = resolve_width(self.width, rows)
            side = self._side(data, rows)
        if self.rank is None:
            self._fit_exact(rows, side)
        else:
            rank = resolve_rank(self.rank, rows.shape[0], "rank")
            self._fit_low_rank(data.X, target, rows, side, rank)
        self._n_features_out = self.components_.shape[1]
        return self

    def _side(self, data: TransferData, rows: Matrix) -> Side:
        n_rows, n_source = rows.shape[0], data.X.shape[0]
        difference = np.zeros(n_rows)
        if n_rows > n_source:
            difference[:n_source] = 1 / n_source
            difference[n_source:] = -1 / (n_rows - n_source)
        labels = data.labels if self.label_weight > 0 else None
        laplacian = None
        if self.manifold > 0:
            graph = neighbor_laplacian(rows, self.n_neighbors, normalized=False)
            laplacian = graph * (self.manifold / n_rows**2)
        return Side(difference, label_matrix(labels, n_rows), self.label_weight, laplacian)

    @on_one_thread
    def _fit_exact(self, rows: Matrix, side: Side) -> None:
        n_components = min(self.n_components, rows.shape[0])
        linear = self.kernel == "linear"
        dense = side.laplacian is not None or rows.shape[0] <= max(DENSE_ROWS, 3 * n_components)
        if linear and not dense:
            product = _linear_product(rows)
        else:
            K = kernel_matrix(rows, rows, self.kernel, self.width_)
            product = aslinearoperator(K)
        if dense:
            theta, W = transfer_components_dense(K, side, self.mu, n_components)
        else:
            theta, W = transfer_components(product, side, self.mu, n_components)
        W = flip_signs(W)
        self.features_ = KernelRows(None if linear else rows, self.kernel, self.width_)
        self._keep(theta, np.asarray(rows.T @ W) if linear else W)

    @on_one_thread
    def _fit_low_rank(
        self, source: Matrix, target: Matrix | None, rows: Matrix, side: Side, rank: int
    ) -> None:
        features = fit_low_rank_features(
            source,
            target,
            kernel=self.kernel,
            width=self.width_,
            rank=rank,
            random_state=self.random_state,
        )
        theta, P = transfer_components_low_rank(
            *low_rank_moments(features, source, target, rows, side),
            self.mu,
            self.n_components,
        )
        self.features_ = features
        self._keep(theta, flip_signs(P))

    def _keep(self, theta: Vector, components: np.ndarray) -> None:
        self.eigenvalues_ = theta
        varies = theta > NOISE * theta.max(initial=0.0)
        # W'KHKW = θ, so that dividing by √θ gives the identity.
        scale = np.where(varies, theta, 1.0) ** -0.5 if self.whiten else 1.0
        self.components_ = components * np.where(varies, scale, 0.0)

    @on_one_thread
    def transform(self, X: MatrixLike) -> np.ndarray:
        """The embedding of rows of either domain."""
        check_is_fitted(self, "components_")
        X = check_rows(self, X)
        embedding = np.empty((X.shape[0], self.components_.shape[1]))
        for block in row_blocks(X, self.components_.shape[0]):
            embedding[block] = self.features_.transform(X[block]) @ self.components_
        return embedding

    def _check_parameters(self, y: VectorLike) -> None:
        check_kernel(self.kernel, self.width)
        check_not_negative(self.manifold, "manifold")
        check_count(self.n_components, "n_components")
        check_count(self.n_neighbors, "n_neighbors")
        check_positive(self.mu, "mu", "because it makes the constraint definite")
        if not (is_number(self.label_weight) and 0 <= self.label_weight <= 1):
            raise ValueError(f"`label_weight` must lie in [0, 1]; got {self.label_weight!r}.")
        if self.label_weight > 0 and y is None:
            raise ValueError(
                "`y` must hold the labels of the source for `label_weight` above 0; got None. "
                "Pass them, or set label_weight=0."
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.label_weight > 0
        return tags
