"""Low-rank features: exact at the landmarks, best for the linear kernel, moments in blocks."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from landbridge._kernel import kernel_matrix, resolve_width
from landbridge._low_rank import (
    draw_landmarks,
    fit_low_rank_features,
    positive_eigenpairs,
    resolve_rank,
)

seeds = pytest.mark.parametrize("seed", range(6))


def domains(seed, n_source=40, n_target=30, n_columns=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_source, n_columns)), rng.normal(0.5, 1.2, (n_target, n_columns))


def features(Z, X, **options):
    given = {"spec": "rbf", "gamma": 0.5 / 1.5**2, "rank": 12, "random_state": 0, **options}
    return fit_low_rank_features(Z, X, **given)


@seeds
def test_nystroem_features_are_exact_at_the_landmarks(seed):
    Z, X = domains(seed)
    phi = features(Z, X)
    of_landmarks, of_rows = phi.transform(phi.landmarks), phi.transform(Z)
    K = rbf_kernel(Z, phi.landmarks, gamma=0.5 / 1.5**2)
    np.testing.assert_allclose(of_rows @ of_landmarks.T, K, atol=1e-6)


@seeds
def test_all_rows_as_landmarks_give_the_kernel(seed):
    Z, X = domains(seed)
    phi = features(Z, X, rank=70)
    K = rbf_kernel(Z, X, gamma=0.5 / 1.5**2)
    np.testing.assert_allclose(phi.transform(Z) @ phi.transform(X).T, K, atol=1e-6)


@seeds
def test_moments_are_those_of_the_features(seed, monkeypatch):
    monkeypatch.setattr("landbridge._kernel.BLOCK_VALUES", 60)  # several blocks
    Z, X = domains(seed)
    phi = features(Z, X)
    gram, total = phi.moments(Z)
    A = phi.transform(Z)
    np.testing.assert_allclose(gram, A.T @ A, atol=1e-10)
    np.testing.assert_allclose(total, A.sum(axis=0), atol=1e-10)


@seeds
def test_linear_features_are_the_best_of_their_rank(seed):
    Z, X = domains(seed, n_columns=10)
    phi = features(Z, X, spec="linear", rank=3)
    rows = np.vstack([Z, X])
    singular = np.linalg.svd(rows, compute_uv=False)
    approximation = phi.transform(rows)
    error = np.linalg.norm(rows @ rows.T - approximation @ approximation.T)
    assert error == pytest.approx(np.linalg.norm(singular[3:] ** 2), rel=1e-3)


def test_few_columns_are_their_own_features():
    Z, X = domains(0)
    phi = features(Z, X, spec="linear")
    np.testing.assert_array_equal(phi.transform(Z), Z)
    np.testing.assert_array_equal(phi.transform(sparse.csr_array(Z)), Z)


@pytest.mark.parametrize(
    ("rank", "shares"), [(10, (5, 5)), (11, (5, 6)), (50, (40, 10)), (70, None)]
)
def test_landmarks_come_evenly_from_both_domains(rank, shares):
    Z, X = np.zeros((60, 1)), np.ones((10, 1))
    chosen = draw_landmarks([Z, X], min(rank, 70), np.random.RandomState(0))
    got = ((chosen == 0).sum(), (chosen == 1).sum())
    assert got == (shares or (60, 10))


def test_positive_eigenpairs_leave_noise_out():
    X = np.random.default_rng(0).normal(size=(20, 3))
    values, vectors = positive_eigenpairs(X @ X.T)
    assert values.size == 3
    np.testing.assert_allclose((vectors * values) @ vectors.T, X @ X.T, atol=1e-10)
    assert positive_eigenpairs(np.zeros((4, 4)))[0].size == 0


@pytest.mark.parametrize(
    ("given", "n_rows", "wanted"), [("auto", 1000, 200), ("auto", 9, 9), (5, 9, 5)]
)
def test_rank(given, n_rows, wanted):
    assert resolve_rank(given, n_rows) == wanted


def test_width_of_scale_is_the_mean_squared_distance():
    rows, _ = domains(0)
    width = resolve_width("scale", rows)
    squares = ((rows[:, None] - rows) ** 2).sum(axis=2)
    assert 2 * width**2 == pytest.approx(squares.mean())
    assert resolve_width("scale", sparse.csr_array(rows)) == pytest.approx(width)
    assert resolve_width("scale", np.ones((3, 2))) == 1.0
    assert resolve_width(2, rows) == 2.0


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear", "cosine"])
def test_kernels_are_their_formulas(kernel, monkeypatch):
    monkeypatch.setattr("landbridge._kernel.BLOCK_VALUES", 100)
    Z, X = domains(1)
    inner = Z @ X.T
    distance = np.linalg.norm(Z[:, None] - X, axis=2)
    formulas = {
        "rbf": np.exp(-(distance**2) / (2 * 1.5**2)),
        "laplacian": np.exp(-np.abs(Z[:, None] - X).sum(axis=2) / 1.5),
        "poly": (1 + inner / 1.5**2) ** 3,
        "linear": inner,
        "cosine": inner / np.outer(np.linalg.norm(Z, axis=1), np.linalg.norm(X, axis=1)),
    }
    np.testing.assert_allclose(kernel_matrix(Z, X, kernel, 1.5), formulas[kernel], atol=1e-10)


@pytest.mark.parametrize("far", [1e8, -1e9])
def test_a_gaussian_kernel_does_not_depend_on_the_origin(far):
    rng = np.random.default_rng(0)
    # Eighths are exact in both places.
    X, Y = (np.round(8 * rng.normal(size=(n, 3))) / 8 for n in (30, 20))
    near, away = kernel_matrix(X, Y, "rbf", 1.5), kernel_matrix(X + far, Y + far, "rbf", 1.5)
    squares = ((X[:, None] - Y) ** 2).sum(axis=2)
    np.testing.assert_allclose(near, np.exp(-squares / (2 * 1.5**2)), atol=1e-14)
    np.testing.assert_allclose(away, near, atol=1e-6)
