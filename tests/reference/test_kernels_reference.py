"""Kernel methods against closed forms and against what other programs get wrong."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import landbridge as lb
from landbridge.kernels.laplacian_rls import neighbor_laplacian


def residual(K, difference, mu, W):
    """Largest ‖KHKw − θ(KLK + μI)w‖/‖KHKw‖ over the columns of W."""
    H = np.eye(len(K)) - 1 / len(K)
    left = K @ H @ K @ W
    right = np.outer(K @ difference, difference @ K) @ W + mu * W
    theta = (W * left).sum(axis=0) / (W * right).sum(axis=0)
    return (np.linalg.norm(left - theta * right, axis=0) / np.linalg.norm(left, axis=0)).max()


@pytest.mark.parametrize("seed", range(4))
def test_transfer_components_solve_the_problem_that_a_symmetric_solver_misses(seed):
    """`eigh` on (I + μKLK)^-1 KHK (skada 0.6.0) reads one triangle of an unsymmetric matrix."""
    rng = np.random.default_rng(seed)
    Z, X = rng.normal(size=(150, 5)), rng.normal(1.0, 1.2, (120, 5))
    rows = np.vstack([Z, X])
    K = rbf_kernel(rows, gamma=0.2)
    difference = np.r_[np.full(150, 1 / 150), np.full(120, -1 / 120)]
    tca = lb.TransferComponentAnalysis(5, width=np.sqrt(0.5 / 0.2), mu=1.0).fit(Z, X_unlabeled=X)
    H = np.eye(270) - 1 / 270
    wrong = np.linalg.solve(np.eye(270) + K @ np.outer(difference, difference) @ K, K @ H @ K)
    _, vectors = np.linalg.eigh(wrong)
    assert residual(K, difference, 1.0, tca.components_) < 1e-8
    assert residual(K, difference, 1.0, vectors[:, -5:]) > 1e-3


def test_surrogate_of_gaussians_on_a_line():
    """One target point x: K_{Z←X} = k(z, x)k(x, z')/(k(x, x) + λ), by hand."""
    Z, x = np.array([[0.0], [1.0], [3.0]]), np.array([[1.0]])
    column = np.exp(-0.5 * np.array([1.0, 0.0, 4.0]))
    S = lb.surrogate_kernel(rbf_kernel(Z, x, 0.5), rbf_kernel(x, x, 0.5), ridge=0.25)
    np.testing.assert_allclose(S, np.outer(column, column) / 1.25, atol=1e-15)


def test_coral_of_one_column_is_a_ratio_of_standard_deviations():
    Z, X = np.array([[0.0], [2.0], [4.0]]), np.array([[10.0], [11.0], [12.0]])
    mapped = lb.CORAL(ridge=0.0, match_mean=True).fit_transform(Z, X_unlabeled=X)
    np.testing.assert_allclose(mapped, [[10.0], [11.0], [12.0]])
    with_ridge = lb.CORAL(ridge=5.0, match_mean=True).fit_transform(Z, X_unlabeled=X)
    np.testing.assert_allclose(with_ridge, 11 + np.sqrt(6 / 9) * (Z - 2))


@pytest.mark.parametrize("seed", range(4))
def test_laplacian_least_squares_has_the_harmonic_function_as_its_limit(seed):
    """With ridge ≪ smoothness ≪ 1 labels are kept and f is harmonic: 𝓛_uu f_u = −𝓛_ul y."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(size=(40, 2))
    y = np.array([-1.0, 1.0] * 4)
    model = lb.LaplacianRLSRegressor(1e-10, 1e-4, width=0.05, n_neighbors=4)
    model.fit(rows[:8], y, X_unlabeled=rows[8:])
    graph = neighbor_laplacian(rows, 4).toarray()
    harmonic = -np.linalg.solve(graph[8:, 8:], graph[8:, :8] @ y)
    np.testing.assert_allclose(model.predict(rows[8:]), harmonic, atol=0.01)
