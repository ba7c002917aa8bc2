"""The identities of surrogate kernels, over many seeds, kernels and shapes."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from landbridge import align_kernel, surrogate_kernel
from landbridge.kernels.surrogate import align_exactly, align_features

SEEDS = range(12)
seeds = pytest.mark.parametrize("seed", SEEDS)


def domains(seed, n_source=14, n_target=9, n_columns=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_source, n_columns)), rng.normal(0.5, 1.3, (n_target, n_columns))


def kernels(seed, kernel=rbf_kernel, **shape):
    """K_Z, K_ZX, K_X."""
    Z, X = domains(seed, **shape)
    return kernel(Z, Z), kernel(Z, X), kernel(X, X)


def linear(A, B):
    return A @ B.T


def inverse(K):
    return np.linalg.pinv(K, hermitian=True, rcond=1e-12)


def positive_part(S):
    values, vectors = np.linalg.eigh(S)
    return (vectors * np.clip(values, 0, None)) @ vectors.T


def smallest_eigenvalue(K):
    return np.linalg.eigvalsh((K + K.T) / 2)[0]


@seeds
@pytest.mark.parametrize("gamma", [0.0, 1e-4, 0.05])
def test_aligned_kernel_is_the_positive_part(seed, gamma):
    """T'K_Z T = (K_{Z←X} − ½γ K_Z^-1)₊."""
    K_z, K_zx, K_x = kernels(seed)
    S = surrogate_kernel(K_zx, K_x)
    T = align_kernel(K_z, S, gamma)
    wanted = positive_part(S - 0.5 * gamma * inverse(K_z))
    np.testing.assert_allclose(T.T @ K_z @ T, wanted, atol=1e-8)


@seeds
def test_aligned_kernel_on_the_range_of_a_singular_kernel(seed):
    K_z, K_zx, K_x = kernels(seed, linear)  # rank 4 of 14
    S = surrogate_kernel(K_zx, K_x, ridge=2.0)
    T = align_kernel(K_z, S, gamma=0.5)
    wanted = positive_part(S - 0.25 * inverse(K_z))
    np.testing.assert_allclose(T.T @ K_z @ T, wanted, atol=1e-8)
    assert np.linalg.matrix_rank(T, tol=1e-8) <= 4


@seeds
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_surrogate_is_the_formula(seed, ridge):
    _, K_zx, K_x = kernels(seed)
    wanted = K_zx @ np.linalg.solve(K_x + ridge * np.eye(len(K_x)), K_zx.T)
    np.testing.assert_allclose(surrogate_kernel(K_zx, K_x, ridge), wanted, atol=1e-10)


@seeds
@pytest.mark.parametrize("kernel", [rbf_kernel, linear])
def test_surrogate_of_the_source_itself_is_its_kernel(seed, kernel):
    K_z, _, _ = kernels(seed, kernel)
    np.testing.assert_allclose(surrogate_kernel(K_z, K_z), K_z, atol=1e-9)
    np.testing.assert_allclose(K_z @ align_kernel(K_z, K_z), K_z, atol=1e-7)


@seeds
@pytest.mark.parametrize("kernel", [rbf_kernel, linear])
@pytest.mark.parametrize("ridge", [0.0, 0.1, 5.0])
def test_surrogate_lies_between_zero_and_the_kernel(seed, kernel, ridge):
    K_z, K_zx, K_x = kernels(seed, kernel)
    S = surrogate_kernel(K_zx, K_x, ridge)
    assert smallest_eigenvalue(S) > -1e-10
    assert smallest_eigenvalue(K_z - S) > -1e-9


@seeds
def test_linear_kernel_is_a_projection_on_the_span_of_the_target(seed):
    Z, X = domains(seed, n_target=2)
    projection = np.linalg.pinv(X) @ X
    np.testing.assert_allclose(surrogate_kernel(Z @ X.T, X @ X.T), Z @ projection @ Z.T, atol=1e-9)


@seeds
def test_nothing_happens_when_the_target_spans_the_columns(seed):
    K_z, K_zx, K_x = kernels(seed, linear)
    np.testing.assert_allclose(surrogate_kernel(K_zx, K_x), K_z, atol=1e-9)


@seeds
def test_duplicated_target_rows_change_nothing(seed):
    Z, X = domains(seed)
    twice = np.vstack([X, X[:5]])
    once = surrogate_kernel(rbf_kernel(Z, X), rbf_kernel(X))
    again = surrogate_kernel(rbf_kernel(Z, twice), rbf_kernel(twice))
    np.testing.assert_allclose(again, once, atol=1e-8)


@seeds
def test_permutations(seed):
    K_z, K_zx, K_x = kernels(seed)
    rng = np.random.default_rng(seed)
    p, q = rng.permutation(len(K_z)), rng.permutation(len(K_x))
    S = surrogate_kernel(K_zx, K_x, 0.2)
    moved = surrogate_kernel(K_zx[np.ix_(p, q)], K_x[np.ix_(q, q)], 0.2)
    np.testing.assert_allclose(moved, S[np.ix_(p, p)], atol=1e-10)
    T = align_kernel(K_z, S, 0.01)
    moved_T = align_kernel(K_z[np.ix_(p, p)], moved, 0.01)
    np.testing.assert_allclose(moved_T, T[np.ix_(p, p)], atol=1e-7)


@seeds
@pytest.mark.parametrize("factor", [1e-3, 7.0, 1e4])
def test_scaling_the_kernel_and_gamma_leaves_the_transform(seed, factor):
    """(k, γ) → (ck, c²γ) leaves T unchanged."""
    K_z, K_zx, K_x = kernels(seed)
    T = align_kernel(K_z, surrogate_kernel(K_zx, K_x, 0.1), 0.02)
    K_z, K_zx, K_x = factor * K_z, factor * K_zx, factor * K_x
    S = surrogate_kernel(K_zx, K_x, factor * 0.1)
    scaled = align_kernel(K_z, S, factor**2 * 0.02)
    np.testing.assert_allclose(scaled, T, atol=1e-7)


@seeds
def test_composite_kernel_is_positive_semi_definite(seed):
    K_z, K_zx, K_x = kernels(seed)
    T = align_kernel(K_z, surrogate_kernel(K_zx, K_x, 0.3), 0.01)
    G = np.block([[T.T @ K_z @ T, T.T @ K_zx], [K_zx.T @ T, K_x]])  # Eq. (10)
    np.testing.assert_allclose(G, G.T, atol=1e-12)
    assert smallest_eigenvalue(G) > -1e-9


@seeds
def test_the_paper_transform_is_its_formula(seed):
    """T = K_Z^-½ (S − ½γ K_Z^-1)₊^½, Eq. (9)."""
    K_z, K_zx, K_x = kernels(seed)
    S = surrogate_kernel(K_zx, K_x, 0.3)
    values, vectors = np.linalg.eigh(K_z)
    inverse_root = (vectors / np.sqrt(values)) @ vectors.T
    values, vectors = np.linalg.eigh(S - 0.005 * inverse(K_z))
    root = (vectors * np.sqrt(np.clip(values, 0, None))) @ vectors.T
    np.testing.assert_allclose(align_kernel(K_z, S, 0.01), inverse_root @ root, atol=1e-6)


@seeds
@pytest.mark.parametrize("gamma", [0.0, 0.01])
def test_features_of_full_rank_give_the_exact_alignment(seed, gamma):
    """Z̃ = A·M has the Gram matrix T'K_Z T and the cross kernel T'K_ZX."""
    Z, X = domains(seed)
    options = {"gamma": gamma, "ridge": 0.7}
    exact = align_exactly(Z @ Z.T, Z @ X.T, X @ X.T, **options)
    low = align_features(Z.T @ Z, X.T @ X, len(Z), len(X), **options)
    moved = Z @ low.transform
    T = exact.transform
    np.testing.assert_allclose(moved @ moved.T, T.T @ Z @ Z.T @ T, atol=1e-8)
    np.testing.assert_allclose(moved @ X.T, T.T @ Z @ X.T, atol=1e-8)
    assert low.trace_share == pytest.approx(exact.trace_share)
    assert low.scale == pytest.approx(exact.scale)
    assert low.n_clipped == exact.n_clipped
    assert np.trace(moved @ moved.T) * low.scale == pytest.approx(len(Z))


def test_negative_eigenvalues_are_counted():
    values = np.array([4.0, 1.0, 0.01])
    K = np.diag(values)
    # With S = K and γ/2 = 0.5 an eigenvalue s becomes s − 0.5/s: 3.875, 0.5 and −49.99.
    counted = align_exactly(K, K, K, gamma=1.0 / (values.sum() / 3) ** 2, ridge=0.0)
    assert counted.n_clipped == 1
    np.testing.assert_allclose(
        np.diag(counted.transform) ** 2 * values, [3.875, 0.5, 0.0], atol=1e-12
    )


@seeds
def test_small_eigenvalues_do_not_drown_the_others(seed):
    """κ from 1 to 1e-12 with γ between: S = K/2 gives κ/2 − γ/2κ in closed form."""
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(13, 13)))
    values = 10.0 ** -np.arange(13)
    K = (basis * values) @ basis.T
    gamma = 1e-9
    T = align_kernel(K, K / 2, gamma)
    wanted = (basis * np.clip(values / 2 - 0.5 * gamma / values, 0, None)) @ basis.T
    np.testing.assert_allclose(T.T @ K @ T, wanted, atol=1e-9)
    relative = gamma / (values.sum() / 13) ** 2
    counted = align_exactly(K, K, K * 2, gamma=relative, ridge=0.0)
    assert counted.n_clipped == (values / 2 < 0.5 * gamma / values).sum() == 8


def test_trace_share_is_what_the_target_expresses():
    Z = np.eye(4)
    X = np.eye(4)[:1] * 3
    alignment = align_exactly(Z @ Z.T, Z @ X.T, X @ X.T, gamma=0.0, ridge=0.0)
    assert alignment.trace_share == pytest.approx(0.25)
    # λ = ridge·9: the one direction is shrunk by 9/(9 + 9).
    alignment = align_exactly(Z @ Z.T, Z @ X.T, X @ X.T, gamma=0.0, ridge=1.0)
    assert alignment.trace_share == pytest.approx(0.125)


def test_a_ridge_that_leaves_nothing_is_refused():
    Z, X = np.eye(4)[:2], np.eye(4)[2:]
    for align in (
        lambda: align_exactly(Z @ Z.T, Z @ X.T, X @ X.T, gamma=0, ridge=0),
        lambda: align_features(Z.T @ Z, X.T @ X, 2, 2, gamma=0, ridge=1),
        lambda: align_features(Z.T @ Z, Z.T @ Z, 2, 2, gamma=1e9, ridge=0),
        lambda: align_features(0 * Z.T @ Z, Z.T @ Z, 2, 2, gamma=0, ridge=0),
    ):
        with pytest.raises(ValueError, match="aligned kernel is zero"):
            align()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda K: surrogate_kernel(K[:, :2], K), "`K_zx` must have a column for each of the 3"),
        (lambda K: surrogate_kernel(K[0], K), "`K_zx` must have a column for each"),
        (lambda K: surrogate_kernel(K, K[:2]), "`K_x` must be a square kernel matrix"),
        (lambda K: surrogate_kernel(K, K, -1.0), "`ridge` must be a finite number of at least 0"),
        (lambda K: surrogate_kernel(K, K, np.inf), "`ridge` must be a finite number"),
        (lambda K: align_kernel(K, K[:2, :2]), "`S` must have the shape of `K_z`"),
        (lambda K: align_kernel(K, K, -1.0), "`gamma` must be a finite number of at least 0"),
        (lambda K: align_kernel(K, np.triu(K + 1)), "`S` must be symmetric"),
        (lambda K: align_kernel(K * np.nan, K), "`K_z` must contain only finite numbers"),
        (lambda K: surrogate_kernel(K * np.nan, K), "`K_zx` must contain only finite numbers"),
        (lambda K: surrogate_kernel(K[:, :0], K[:0, :0]), "`K_x` must be a square kernel matrix"),
        (lambda K: surrogate_kernel(K, -K, 0.5), "kernel of the target rows must be positive"),
    ],
)
def test_kernels_of_the_wrong_shape_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(np.eye(3))


def test_arguments_are_not_modified():
    K_z, K_zx, K_x = kernels(0)
    before = [K.copy() for K in (K_z, K_zx, K_x)]
    S = surrogate_kernel(K_zx, K_x, 0.5)
    align_kernel(K_z, S, 0.1)
    for K, copy in zip((K_z, K_zx, K_x), before, strict=True):
        np.testing.assert_array_equal(K, copy)
