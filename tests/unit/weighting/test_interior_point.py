"""The interior point against other solvers, and its certificate."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, linprog, minimize
from sklearn.metrics.pairwise import rbf_kernel

from landbridge.weighting import _interior_point
from landbridge.weighting._interior_point import FullMatrix, LowRank, settle, solve_box_and_slab


def shifted_problem(n, seed=0, gamma=0.3):
    rng = np.random.default_rng(seed)
    X, T = rng.normal(size=(n, 3)), rng.normal(0.5, 0.8, size=(n, 3))
    return rbf_kernel(X, gamma=gamma), n * rbf_kernel(X, T, gamma=gamma).mean(axis=1)


def value(K, kappa, beta, ridge=0.0):
    return 0.5 * beta @ K @ beta + 0.5 * ridge * beta @ beta - kappa @ beta


def regret_bound(K, kappa, beta, bound, eps, ridge=0.0):
    """f(β) − min f ≤ ∇f(β)'(β − s), s the linear program's minimiser (a solver not ours)."""
    n, slope = len(beta), K @ beta + ridge * beta - kappa
    ones = np.ones((1, n))
    best = linprog(
        slope,
        A_ub=np.vstack([ones, -ones]),
        b_ub=[n * (1 + eps), -n * (1 - eps)],
        bounds=(0, bound),
    )
    return slope @ beta - best.fun


SETTINGS = [
    {"bound": 1000.0, "eps": 0.8, "ridge": 0.0},
    {"bound": 1000.0, "eps": 0.0, "ridge": 0.0},
    {"bound": 2.0, "eps": 0.1, "ridge": 0.0},
    {"bound": 1.5, "eps": 0.0, "ridge": 0.2},
    {"bound": 1000.0, "eps": 1e-6, "ridge": 1.0},
    {"bound": 1000.0, "eps": 1.0, "ridge": 50.0},
]


@pytest.mark.parametrize("setting", SETTINGS)
def test_objective_equals_that_of_an_independent_solver(setting):
    n = 25
    K, kappa = shifted_problem(n)
    Q = K + setting["ridge"] * np.eye(n)
    independent = minimize(
        lambda b: (0.5 * b @ Q @ b - kappa @ b) / n,
        np.ones(n),
        jac=lambda b: (Q @ b - kappa) / n,
        bounds=[(0, setting["bound"])] * n,
        constraints=LinearConstraint(
            np.ones(n), n * (1 - setting["eps"]), n * (1 + setting["eps"])
        ),
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    ours = solve_box_and_slab(FullMatrix(K), kappa, **setting)
    assert ours.converged
    assert abs(value(Q, kappa, ours.beta) - n * independent.fun) <= 1e-6 * abs(n * independent.fun)


@pytest.mark.parametrize("setting", SETTINGS)
def test_linear_program_certifies_the_optimum(setting):
    n = 300
    K, kappa = shifted_problem(n, seed=1)
    solution = solve_box_and_slab(FullMatrix(K), kappa, **setting)
    gap = regret_bound(K, kappa, solution.beta, **setting)
    assert gap <= 1e-6 * abs(value(K, kappa, solution.beta, setting["ridge"]))
    assert solution.n_iter <= 40


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 40),
    bound=st.floats(1.2, 1e4),
    eps=st.sampled_from([0.0, 0.01, 0.3, 1.0]),
    ridge=st.sampled_from([0.0, 0.1, 10.0]),
)
@example(seed=8388, n=25, bound=1e4, eps=1.0, ridge=0.1)  # the gap grows for five steps at first
@example(seed=1607, n=15, bound=21.0, eps=0.3, ridge=0.0)  # rank one
@settings(max_examples=60, deadline=None)
def test_constraints_hold_to_machine_precision_and_the_answer_is_optimal(
    seed, n, bound, eps, ridge
):
    rng = np.random.default_rng(seed)
    A, kappa = rng.normal(size=(n, rng.integers(1, n + 1))), 5 * rng.normal(size=n)
    K = A @ A.T
    solution = solve_box_and_slab(FullMatrix(K), kappa, bound=bound, eps=eps, ridge=ridge)
    beta = solution.beta
    assert beta.min() >= 0
    assert beta.max() <= bound
    assert abs(beta.sum() - n) <= n * eps + 1e-14 * n
    scale = n * max(np.trace(K) + n * ridge, np.abs(kappa).max())
    regret = regret_bound(K, kappa, beta, bound, eps, ridge)
    assert regret <= solution.gap + 1e-9 * scale
    # A form of low rank without a ridge loses digits before the end, and the solution says so.
    assert regret <= (1e-6 if solution.converged or ridge > 0 else 1e-4) * scale


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_low_rank_finds_the_optimum_of_the_full_matrix(monkeypatch, dtype, ridge):
    monkeypatch.setattr(_interior_point, "BLOCK", 37)
    rng = np.random.default_rng(2)
    A = rng.normal(size=(200, 12)).astype(dtype)
    kappa = A.astype(float) @ rng.normal(size=12) * 20
    K = A.astype(float) @ A.astype(float).T
    low = solve_box_and_slab(LowRank(A), kappa, bound=5.0, eps=0.2, ridge=ridge)
    full = solve_box_and_slab(FullMatrix(K), kappa, bound=5.0, eps=0.2, ridge=ridge)
    assert low.converged
    expected = value(K, kappa, full.beta, ridge)
    assert value(K, kappa, low.beta, ridge) == pytest.approx(expected, rel=1e-7)
    if ridge:
        np.testing.assert_allclose(low.beta, full.beta, atol=1e-4)


def test_multiplier_of_the_slab_closes_stationarity():
    K, kappa = shifted_problem(100)
    for eps in (0.0, 0.3):
        solution = solve_box_and_slab(
            FullMatrix(K), kappa, bound=3.0, eps=eps, ridge=0.5, tol=1e-12
        )
        beta = solution.beta
        slope = K @ beta + 0.5 * beta - kappa - solution.slab_multiplier
        inside = (beta > 1e-3) & (beta < 3 - 1e-3)
        assert np.abs(slope[inside]).max() < 1e-4
        assert slope[beta <= 1e-3].min(initial=0) > -1e-4  # pushed against 0
        assert slope[beta >= 3 - 1e-3].max(initial=0) < 1e-4  # pushed against the bound


def test_matrix_that_is_not_semi_definite_is_refused():
    with pytest.raises(np.linalg.LinAlgError):
        solve_box_and_slab(FullMatrix(-500 * np.eye(4)), np.ones(4), bound=10.0, eps=0.5)


def test_stopping_early_leaves_a_feasible_point_that_says_so():
    K, kappa = shifted_problem(60)
    solution = solve_box_and_slab(FullMatrix(K), kappa, bound=4.0, eps=0.0, max_iter=2)
    assert not solution.converged
    assert solution.n_iter == 2
    assert solution.beta.min() >= 0
    assert solution.beta.max() <= 4
    assert abs(solution.beta.sum() - 60) <= 1e-12


@given(
    beta=st.lists(st.floats(-0.1, 3.1), min_size=2, max_size=20),
    eps=st.sampled_from([0.0, 1e-3, 0.5]),
)
def test_settle_returns_to_the_slab_inside_the_box(beta, eps):
    n, settled = len(beta), settle(np.array(beta), 3.0, eps)
    assert settled.min() >= 0
    assert settled.max() <= 3.0
    assert abs(settled.sum() - n) <= n * eps + 1e-13 * n
