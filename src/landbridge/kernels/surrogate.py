"""Surrogate kernels (Zhang, Zheng, Wang, Kwok, Yang and Marsic: Covariate Shift in Hilbert Space).

Z holds n₁ source rows, X holds n₂ target rows. The *surrogate* of the target's kernel on the source

    K_{Z←X} = K_ZX (K_X + λI)^-1 K_XZ                                               Eq. (5)

is the Gram matrix of the source points projected on the span of the target: with λ = 0,
0 ≤ K_{Z←X} ≤ K_Z, with equality to K_Z if the target spans the source. In practice the effect comes
from the ridge λ, which shrinks the directions in which the target varies little. The source is
moved linearly in feature space, Ψ(Z̃) = Ψ(Z)T, so that its kernel becomes the surrogate:

    T = K_Z^-½ (K_{Z←X} − ½γ K_Z^-1)₊^½,     T'K_Z T = (K_{Z←X} − ½γ K_Z^-1)₊        Eq. (9)

The composite kernel of the moved source and the target is

    [[T'K_Z T, T'K_ZX], [K_XZ T, K_X]].                                              Eq. (10)

Eq. (9) is one of many such T. The symmetric one, which moves the source points least, was no better
on text, WiFi signals and images, and is not offered.

Deviation 1: negative eigenvalues are always removed; the paper calls them very rare, but with γ > 0
they are common, because ½γ K_Z^-1 grows without bound on small eigenvalues of K_Z. Deviation 2:
inverses are taken on the numerical range of K_Z and, with λ = 0, of K_X. Deviation 3: the
stationary points of the paper's objective, Eq. (8), satisfy T'K_Z T = K_{Z←X} − ½γ T^-1 K_Z^-1 T;
the printed Eq. (9), which is used here, drops the conjugation by T. The two agree for γ = 0.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from landbridge._low_rank import positive_eigenpairs
from landbridge._typing import Vector
from landbridge._validation import check_not_negative


@dataclass(frozen=True)
class Alignment:
    """Transformation of the source, and the share of the source kernel that the target spans.

    ``transform`` is T (n₁ × n₁) for kernels and the matrix that multiplies source features (r × r)
    for features; ``trace_share`` is tr K_{Z←X} / tr K_Z; ``n_clipped`` counts the negative
    eigenvalues that were removed; ``scale`` makes the mean diagonal of the aligned kernel 1.
    """

    transform: np.ndarray
    trace_share: float
    n_clipped: int
    scale: float


def surrogate_kernel(K_zx: np.ndarray, K_x: np.ndarray, ridge: float = 0.0) -> np.ndarray:
    """Surrogate K_ZX (K_X + ridge·I)^-1 K_XZ of the target kernel on the source, Eq. (5).

    Parameters
    ----------
    K_zx : array of shape (n_source, n_target)
        Kernel between source and target rows.
    K_x : array of shape (n_target, n_target)
        Kernel of the target rows; symmetric and positive semi-definite.
    ridge : float, default=0.0
        λ, in the units of the kernel. 0 uses the pseudo-inverse.

    Returns
    -------
    array of shape (n_source, n_source), symmetric and positive semi-definite.
        The matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import surrogate_kernel
    >>> X = np.random.default_rng(0).normal(size=(5, 8))
    >>> K = X @ X.T
    >>> bool(np.allclose(surrogate_kernel(K, K), K))
    True
    """
    K_zx, K_x = np.asarray(K_zx, dtype=float), _check_square(K_x, "K_x")
    if K_zx.ndim != 2 or K_zx.shape[1] != K_x.shape[0]:
        raise ValueError(
            f"`K_zx` must have a column for each of the {K_x.shape[0]} target rows of `K_x`; got "
            f"shape {K_zx.shape}. Pass the kernel between source rows and those target rows."
        )
    if not np.isfinite(K_zx).all():
        raise ValueError("`K_zx` must contain only finite numbers; got NaN or inf.")
    check_not_negative(ridge, "ridge")
    root = _whitened_cross_kernel(K_zx, K_x, ridge)
    return root.T @ root


def _whitened_cross_kernel(K_zx: np.ndarray, K_x: np.ndarray, ridge: float) -> np.ndarray:
    """R with R'R = K_ZX (K_X + λI)^-1 K_XZ."""
    if ridge > K_x.shape[0] * np.finfo(float).eps * np.trace(K_x):
        shifted = K_x.copy()
        np.fill_diagonal(shifted, K_x.diagonal() + ridge)
        # The transpose of a C-ordered matrix is Fortran-ordered, so LAPACK needs no copy.
        try:
            factor = linalg.cholesky(shifted.T, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError as error:
            raise ValueError(
                "The kernel of the target rows must be positive semi-definite, but it is not. "
                "Use another kernel or increase `ridge`."
            ) from error
        return linalg.solve_triangular(factor, K_zx.T, lower=True, check_finite=False)
    values, vectors = positive_eigenpairs(K_x)
    return (vectors / np.sqrt(values)).T @ K_zx.T


def align_kernel(K_z: np.ndarray, S: np.ndarray, gamma: float = 0.0) -> np.ndarray:
    """Transformation T with T'K_Z T = (S − ½γ K_Z^-1)₊ on the range of K_Z, Eq. (9).

    Parameters
    ----------
    K_z : array of shape (n_source, n_source)
        Kernel of the source rows; symmetric and positive semi-definite.
    S : array of shape (n_source, n_source)
        Desired kernel of the source, usually from `surrogate_kernel`.
    gamma : float, default=0.0
        γ, in the units of the kernel squared. Directions of K_Z below about √(γ/2) are removed.

    Returns
    -------
    array of shape (n_source, n_source)
        The matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from landbridge import align_kernel
    >>> X = np.random.default_rng(0).normal(size=(5, 8))
    >>> K, S = X @ X.T, np.diag([1.0, 2.0, 3.0, 4.0, 5.0])
    >>> T = align_kernel(K, S)
    >>> bool(np.allclose(T.T @ K @ T, S))
    True
    """
    K_z, S = _check_square(K_z, "K_z"), _check_square(S, "S")
    if K_z.shape != S.shape:
        raise ValueError(
            f"`S` must have the shape of `K_z`, {K_z.shape}; got {S.shape}. "
            "Pass the surrogate on the same source rows."
        )
    check_not_negative(gamma, "gamma")
    return _solve_for_rows(K_z, S, gamma)[0]


def _solve_for_rows(K_z: np.ndarray, S: np.ndarray, gamma: float) -> tuple[np.ndarray, float, int]:
    """T over the rows, tr(T'K_Z T), and the number of clipped eigenvalues."""
    values, vectors, n_small = _range_of(K_z, gamma)
    if values.size == K_z.shape[0]:
        return _solve_alignment(values, vectors, S, gamma)
    S = vectors.T @ S @ vectors
    t, trace, n_clipped = _solve_alignment(values, np.eye(values.size), S, gamma)
    return vectors @ t @ vectors.T, trace, n_clipped + n_small


def _range_of(K: np.ndarray, gamma: float) -> tuple[Vector, np.ndarray, int]:
    """Eigenpairs of K except those that γ removes for any S ≤ K, and the number removed.

    Where κ ≪ √γ, the penalty ½γ/κ is much larger than κ ≥ S. Dropping these directions changes
    the result by less than 1e-10 of the largest κ. Keeping them would cause large rounding
    errors.
    """
    values, vectors = positive_eigenpairs(K)
    n_small = int(np.searchsorted(values, 1e-5 * np.sqrt(gamma / 2)))
    return values[n_small:], vectors[:, n_small:], n_small


def _solve_alignment(
    values: Vector, vectors: np.ndarray, S: np.ndarray, gamma: float
) -> tuple[np.ndarray, float, int]:
    """T for K_Z = vectors·values·vectors', tr(T'K_Z T), and the number of clipped eigenvalues."""
    wanted = S - 0.5 * gamma * _power(values, vectors, -1.0) if gamma > 0 else S
    spectrum, basis = linalg.eigh(wanted.T, driver="evr", check_finite=False)
    noise = spectrum.size * np.finfo(float).eps * np.abs(spectrum).max(initial=0.0)
    n_clipped = int((spectrum < -noise).sum())
    first = np.searchsorted(spectrum, noise, side="right")
    spectrum, basis = spectrum[first:], basis[:, first:]
    T = _power(values, vectors, -0.5) @ _power(spectrum, basis, 0.5)  # Eq. (9)
    return T, float(spectrum.sum()), n_clipped


def _power(values: Vector, vectors: np.ndarray, power: float) -> np.ndarray:
    """(vectors·values·vectors')^power, computed as M·M', which costs half of a general product."""
    half = vectors * values ** (power / 2)
    return half @ half.T


def align_exactly(
    K_z: np.ndarray, K_zx: np.ndarray, K_x: np.ndarray, *, gamma: float, ridge: float
) -> Alignment:
    """Eq. (5) and Eq. (9) with γ and λ relative to the mean diagonal of K_Z (squared) and K_X."""
    n_source, total = K_z.shape[0], float(np.trace(K_z))
    root = _whitened_cross_kernel(K_zx, K_x, ridge * np.trace(K_x) / K_x.shape[0])
    S = root.T @ root
    gamma = gamma * (total / n_source) ** 2
    T, aligned, n_clipped = _solve_for_rows(K_z, S, gamma)
    scale = scale_to_unit_diagonal(aligned, total, n_source)
    return Alignment(T, float(np.trace(S)) / total, n_clipped, scale)


def align_features(
    gram_source: np.ndarray,
    gram_target: np.ndarray,
    n_source: int,
    n_target: int,
    *,
    gamma: float,
    ridge: float,
) -> Alignment:
    """Alignment for source features A and target features B, from A'A and B'B alone.

    With A = U s V', Π = B'B (B'B + λI)^-1 and K_Z = AA': U'K_{Z←X}U = s V'ΠV s, and T acts on the
    rows of A as A ↦ A·(V s^-1 t' s V') where T = U t U'.
    """
    total = float(np.trace(gram_source))
    projection = _shrinkage(gram_target, ridge * np.trace(gram_target) / n_target)
    gamma = gamma * (total / n_source) ** 2
    values, vectors, n_small = _range_of(gram_source, gamma)
    singular = np.sqrt(values)
    S = (vectors * singular).T @ projection @ (vectors * singular)
    t, aligned, n_clipped = _solve_alignment(values, np.eye(values.size), S, gamma)
    moved = (vectors / singular) @ t.T @ (vectors * singular).T
    scale = scale_to_unit_diagonal(aligned, total, n_source)
    share = float((projection * gram_source).sum()) / total  # tr(AΠA')
    return Alignment(moved, share, n_clipped + n_small, scale)


def _shrinkage(gram: np.ndarray, ridge: float) -> np.ndarray:
    """Π = B'B (B'B + λI)^-1; with λ = 0 the projection on the range of B'B."""
    values, vectors = positive_eigenpairs(gram)
    return (vectors * (values / (values + ridge))) @ vectors.T


def scale_to_unit_diagonal(aligned_trace: float, trace: float, n_source: int) -> float:
    """Factor that scales the aligned kernel to a mean diagonal of 1."""
    if not aligned_trace > 1e-12 * trace:
        raise ValueError(
            "The aligned kernel is zero: with this `ridge` and `gamma`, the source has no "
            "component in the span of the target. Lower them, widen the kernel, or check that "
            "source and target share non-zero columns."
        )
    return n_source / aligned_trace


def _check_square(K: np.ndarray, name: str) -> np.ndarray:
    K = np.asarray(K, dtype=float)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.size == 0:
        raise ValueError(
            f"`{name}` must be a square kernel matrix; got shape {K.shape}. "
            "Pass the kernel of a set of rows with itself."
        )
    if not np.isfinite(K).all():
        raise ValueError(f"`{name}` must contain only finite numbers; got NaN or inf.")
    if not np.allclose(K, K.T, rtol=1e-6, atol=1e-8 * max(1.0, float(np.abs(K).max(initial=0.0)))):
        raise ValueError(
            f"`{name}` must be symmetric. Pass a kernel matrix, or the symmetric part of "
            "this matrix."
        )
    return K
