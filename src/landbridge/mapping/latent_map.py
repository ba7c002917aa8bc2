"""LatentMap (Xie, Fan, Peng, Verscheure and Ren 2009: Latent space domain transfer between high
dimensional overlapping distributions).

The two domains share only some of their features. S are the shared columns, A those of the source
only, and B those of the target only.

1. Filling: A is missing in the target, and B in the source. A ridge regression of A on S, learned
   from source rows, predicts A for target rows: x_A = m_A + (x_S − m_S) W with W = argmin ‖(X_S −
   m_S) W − (X_A − m_A)‖² + λ‖W‖². B is predicted from S in the same way, with a regression learned
   from target rows.
2. Latent space: F, the stacked filled rows of both domains, is approximated by U Σ V' of low rank.
   A row is mapped to its filled version times V.

Both steps are affine, so each domain has one matrix: x ↦ x M + c. W and F are never formed; the
singular vectors come from products with F alone.

Deviation 1: a feature is missing in a domain where it is zero in every row. The paper refers to
features that one domain does not have; in one matrix for both domains they are columns of zeros.
Deviation 2: the regression is a ridge with an intercept, λ = ridge · mean squared length of the
centred rows of S, so that one value suits features of any scale, also with fewer rows than
features. Deviation 3: the paper then classifies by a vote of the nearest labelled rows. Here, that
is the next step of a Pipeline: KNeighborsClassifier(metric="cosine", weights="distance"), or any
other learner.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, aslinearoperator, svds
from sklearn.utils.extmath import svd_flip

from landbridge._domain_map import DomainMap
from landbridge._typing import Matrix, Vector
from landbridge._validation import TransferData, check_count, check_positive

# Up to this many rows or columns, all singular vectors are computed; beyond it, only the first k.
FULL_SIZE = 500


@dataclass(frozen=True, slots=True)
class Fill:
    """The affine map x ↦ x T + t that fills the missing features of one domain."""

    matrix: LinearOperator
    offset: Vector


def has_support(X: Matrix) -> Vector:
    """Columns with at least one non-zero entry."""
    return np.asarray((X != 0).sum(axis=0)).ravel() > 0


def column_means(X: Matrix) -> Vector:
    """Means of dense or sparse columns."""
    return np.asarray(X.mean(axis=0), dtype=float).ravel()


def plus_constant(X: LinearOperator, row: Vector) -> LinearOperator:
    """X + 1 row' as an operator, without forming the matrix."""
    ones = aslinearoperator(np.ones((X.shape[0], 1)))
    return X + ones @ aslinearoperator(row[None, :])


def centred_gram(X: Matrix, mean: Vector, *, of_rows: bool) -> np.ndarray:
    """Products of the rows of X − 1m', or of its columns, without centring sparse rows."""
    product = X @ X.T if of_rows else X.T @ X
    product = product.toarray() if sparse.issparse(product) else product
    if not of_rows:
        return product - X.shape[0] * np.outer(mean, mean)
    cross = X @ mean
    return product - cross[:, None] - cross[None, :] + mean @ mean


def ridge_inverse(gram: np.ndarray, ridge: float) -> LinearOperator:
    """(G + λI)⁻¹ for a positive semi-definite G."""
    gram[np.diag_indices_from(gram)] += ridge
    try:
        factor = cho_factor(gram, overwrite_a=True)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "`ridge` is too small: shared features are linearly dependent, so the regression has "
            "no unique solution in working precision. Pass 1e-8 or more."
        ) from error
    solve = partial(cho_solve, factor)
    return LinearOperator(
        gram.shape, matvec=solve, rmatvec=solve, matmat=solve, rmatmat=solve, dtype=float
    )


def ridge_coefficients(
    known: Matrix, mean: Vector, missing: LinearOperator, ridge: float
) -> LinearOperator:
    """W of step 1; the inverse has the size of the smaller of rows and known columns."""
    of_rows = known.shape[0] < known.shape[1]
    gram = centred_gram(known, mean, of_rows=of_rows)
    # Known columns that do not vary have W = 0 for any ridge.
    inverse = ridge_inverse(gram, ridge * np.trace(gram) / known.shape[0] or 1.0)
    centred = plus_constant(aslinearoperator(known), -mean)
    return centred.T @ inverse @ missing if of_rows else inverse @ centred.T @ missing


def learn_fill(donor: Matrix, shared: Vector, missing: Vector, ridge: float) -> Fill:
    """Step 1: learn from the donor domain to predict features missing in the other."""
    n_features = donor.shape[1]
    keep = aslinearoperator(sparse.diags_array((~missing).astype(float), format="csr"))
    offset = np.zeros(n_features)
    if not missing.any():
        return Fill(keep, offset)
    known, absent = donor[:, shared].astype(float), donor[:, missing]
    known_mean, absent_mean = column_means(known), column_means(absent)
    centred = plus_constant(aslinearoperator(absent), -absent_mean)
    W = ridge_coefficients(known, known_mean, centred, ridge)
    offset[missing] = absent_mean - W.T @ known_mean
    predict = columns(shared) @ W @ columns(missing).T
    return Fill(keep + predict, offset)


def columns(chosen: Vector) -> LinearOperator:
    """The matrix E with X E = X[:, chosen]."""
    positions = np.flatnonzero(chosen)
    ones, n = np.ones(positions.size), np.arange(positions.size)
    return aslinearoperator(
        sparse.csr_array((ones, (positions, n)), shape=(chosen.size, positions.size))
    )


def filled_rows(domains: list[tuple[Matrix, Fill]]) -> LinearOperator:
    """F of step 2 as an operator."""
    blocks = [plus_constant(aslinearoperator(X) @ fill.matrix, fill.offset) for X, fill in domains]
    ends = np.cumsum([block.shape[0] for block in blocks])

    def multiply(v: np.ndarray) -> np.ndarray:
        return np.concatenate([block @ v for block in blocks])

    def multiply_transposed(u: np.ndarray) -> np.ndarray:
        parts = np.split(u, ends[:-1])
        return sum(block.T @ part for block, part in zip(blocks, parts, strict=True))

    shape = (int(ends[-1]), blocks[0].shape[1])
    return LinearOperator(
        shape,
        matvec=multiply,
        rmatvec=multiply_transposed,
        matmat=multiply,
        rmatmat=multiply_transposed,
        dtype=float,
    )


def right_singular_vectors(F: LinearOperator, k: int) -> tuple[np.ndarray, Vector]:
    """Return the k leading vectors as columns, largest first, and their singular values."""
    smaller = min(F.shape)
    if smaller <= max(FULL_SIZE, k):
        dense = F @ np.eye(F.shape[1]) if smaller == F.shape[1] else (F.T @ np.eye(smaller)).T
        left, values, right = np.linalg.svd(dense, full_matrices=False)
    else:
        start = np.random.default_rng(0).normal(size=smaller)
        left, values, right = svds(F, k, v0=start)
        left, values, right = left[:, ::-1], values[::-1], right[::-1]
    _, right = svd_flip(left, right, u_based_decision=False)
    return right[:k].T, values[:k]


class LatentMap(DomainMap):
    """Fill in features that one domain lacks and project both to a common latent space.

    Source rows become (x T_S + t_S) V, target rows (x T_T + t_T) V: T fills the missing features
    from the shared ones, V holds the leading right singular vectors of all filled rows.
    ``transform`` expects target rows, as a Pipeline requires in ``predict``. ``fit_transform`` and
    ``transform_source`` expect source rows. Without target rows, both project on the singular
    vectors of X.

    Rows are not centred, as usual for text. First scale columns with different units by
    MaxAbsScaler, which keeps zeros; after StandardScaler no feature would appear to be missing. The
    cost grows with the cube of the number of rows or of shared features, whichever is smaller.

    Parameters
    ----------
    n_components : int, default=50
        Number of dimensions of the latent space; at most the number of rows and of columns.
    ridge : float, default=0.1
        Strength of the ridge regression, relative to the mean squared length of its rows.

    Attributes
    ----------
    source_matrix_, target_matrix_ : arrays of shape (n_features, n_components)
    source_offset_, target_offset_ : arrays of shape (n_components,)
        x ↦ x matrix + offset.
    components_ : array of shape (n_components, n_features)
        V', on filled rows.
    singular_values_ : array of shape (n_components,)
    missing_in_source_, missing_in_target_ : arrays of shape (n_features,), bool
        Features that are filled in; their values in new rows are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import LatentMap
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(size=(2, 40, 2)) @ rng.normal(size=(2, 6))
    >>> X[:, 4], X_target[:, 5] = 0.0, 0.0  # each domain lacks a feature
    >>> model = LatentMap(n_components=2, ridge=1e-8).fit(X, X_unlabeled=X_target)
    >>> model.missing_in_target_
    array([False, False, False, False, False,  True])
    >>> model.transform(X_target).shape, model.transform_source(X).shape
    ((40, 2), (40, 2))
    """

    _transfer_checks = {"plain_counterpart": "the singular vectors of X"}

    def __init__(self, n_components: int = 50, ridge: float = 0.1):
        self.n_components = n_components
        self.ridge = ridge

    def _check_parameters(self) -> None:
        check_count(self.n_components, "n_components")
        check_positive(self.ridge, "ridge")

    def _fit_transfer(self, data: TransferData) -> None:
        """Learn to fill and to project; labels are not used."""
        target = data.X if data.target_rows is None else data.target_rows
        source_fill, target_fill = self._learn_fills(data.X, target)
        domains = [(data.X, source_fill)]
        if data.target_rows is not None:
            domains.append((target, target_fill))
        F = filled_rows(domains)
        V, self.singular_values_ = right_singular_vectors(F, min(self.n_components, *F.shape))
        self.components_ = V.T
        self.source_matrix_, self.source_offset_ = source_fill.matrix @ V, source_fill.offset @ V
        self.target_matrix_, self.target_offset_ = target_fill.matrix @ V, target_fill.offset @ V
        self._n_features_out = V.shape[1]

    def _learn_fills(self, source: Matrix, target: Matrix) -> tuple[Fill, Fill]:
        in_source, in_target = has_support(source), has_support(target)
        shared = in_source & in_target
        self.missing_in_source_ = in_target & ~shared
        self.missing_in_target_ = in_source & ~shared
        if not shared.any() and (in_source | in_target).any():
            raise ValueError(
                f"`X` and the target rows must share a feature that is not zero in all "
                f"rows; got {in_source.sum()} non-zero features in X and {in_target.sum()} others "
                "in the target. Check that the columns of both have the same order."
            )
        return (
            learn_fill(target, shared, self.missing_in_source_, self.ridge),
            learn_fill(source, shared, self.missing_in_target_, self.ridge),
        )

    def _map_target(self, X: Matrix) -> np.ndarray:
        """Project *target* rows to the latent space."""
        return np.asarray(X @ self.target_matrix_) + self.target_offset_

    def _map_source(self, X: Matrix) -> np.ndarray:
        """Project *source* rows to the latent space."""
        return np.asarray(X @ self.source_matrix_) + self.source_offset_
