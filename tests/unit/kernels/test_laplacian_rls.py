"""Laplacian least squares against its formula, its limits and its solvers."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

import landbridge as lb
from landbridge.exceptions import NotConvergedWarning
from landbridge.kernels import laplacian_rls
from landbridge.kernels.laplacian_rls import neighbor_laplacian

SEEDS = range(5)
seeds = pytest.mark.parametrize("seed", SEEDS)


def domains(seed, n_source=40, n_target=30, n_columns=3):
    rng = np.random.default_rng(seed)
    Z, X = rng.normal(size=(n_source, n_columns)), rng.normal(0.5, 1.2, (n_target, n_columns))
    return Z, np.sin(Z[:, 0]) + Z[:, 1], X


def two_moons(rng, n):
    angle = rng.uniform(0, np.pi, n)
    upper = rng.random(n) < 0.5
    X = (
        np.where(upper[:, None], 0, [1.0, 0.4])
        + np.column_stack([np.cos(angle), np.sin(angle)]) * np.where(upper, 1, -1)[:, None]
    )
    return X + 0.05 * rng.normal(size=X.shape), upper.astype(int)


@seeds
def test_coefficients_solve_the_equation_of_the_paper(seed):
    """α = (JK + γ_A l I + (γ_I l/n²) 𝓛K)^-1 JY with γ_I = smoothness·n."""
    Z, y, X = domains(seed)
    model = lb.LaplacianRLSRegressor(0.01, 0.5, width=1.0, n_neighbors=4).fit(Z, y, X_unlabeled=X)
    rows, n, labelled = np.vstack([Z, X]), 70, 40
    K = rbf_kernel(rows, gamma=0.5)
    J = np.diag((np.arange(n) < labelled).astype(float))
    graph = neighbor_laplacian(rows, 4).toarray()
    gamma_i = 0.5 * n
    system = J @ K + 0.01 * labelled * np.eye(n) + gamma_i * labelled / n**2 * graph @ K
    target = np.concatenate([y - y.mean(), np.zeros(30)])
    alpha = np.linalg.solve(system, target)
    np.testing.assert_allclose(model.predict(rows), K @ alpha + y.mean(), atol=1e-8)


@seeds
def test_the_solution_is_a_minimum(seed):
    """(1/l)Σ(y − f)² + ridge·‖f‖² + smoothness·(1/n)f'𝓛f rises in every direction."""
    Z, y, X = domains(seed)
    rows = np.vstack([Z, X])
    model = lb.LaplacianRLSRegressor(0.01, 0.5, width=1.0).fit(Z, y, X_unlabeled=X)
    K, graph = rbf_kernel(rows, gamma=0.5), neighbor_laplacian(rows, 10)

    def objective(alpha):
        f = K @ alpha
        loss = ((y - y.mean() - f[:40]) ** 2).mean()
        return loss + 0.01 * alpha @ K @ alpha + 0.5 * f @ (graph @ f) / 70

    alpha = model.coef_[:, 0]
    rng = np.random.default_rng(seed)
    for _ in range(10):
        step = 0.05 * rng.normal(size=70)
        assert objective(alpha + step) > objective(alpha)
        assert objective(alpha - step) > objective(alpha)


@seeds
def test_without_smoothness_it_is_kernel_ridge_regression(seed):
    Z, y, X = domains(seed)
    model = lb.LaplacianRLSRegressor(0.01, 0.0, width=1.0).fit(Z, y, X_unlabeled=X)
    plain = KernelRidge(alpha=0.01 * 40, kernel="rbf", gamma=0.5).fit(Z, y - y.mean())
    np.testing.assert_allclose(model.predict(X), plain.predict(X) + y.mean(), atol=1e-8)


@seeds
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_full_rank_equals_exact(seed, kernel):
    Z, y, X = domains(seed)
    exact = lb.LaplacianRLSRegressor(kernel=kernel).fit(Z, y, X_unlabeled=X)
    low = lb.LaplacianRLSRegressor(kernel=kernel, n_components=70, random_state=0)
    np.testing.assert_allclose(low.fit(Z, y, X_unlabeled=X).predict(X), exact.predict(X), atol=1e-5)


@seeds
def test_linear_features_equal_the_linear_kernel(seed):
    Z, y, X = domains(seed)
    features = lb.LaplacianRLSRegressor(kernel="linear").fit(Z, y, X_unlabeled=X)
    kernel = lb.LaplacianRLSRegressor(kernel=lambda a, b: a @ b).fit(Z, y, X_unlabeled=X)
    np.testing.assert_allclose(features.predict(X), kernel.predict(X), atol=1e-7)


@seeds
def test_conjugate_gradients_equal_the_factorisation(seed, monkeypatch):
    Z, y, X = domains(seed, n_columns=20)
    Z, X = sparse.csr_array(Z), sparse.csr_array(X)
    model = lb.LaplacianRLSRegressor(kernel="linear")
    direct = model.fit(Z, y, X_unlabeled=X).predict(X)
    monkeypatch.setattr(laplacian_rls, "DIRECT_COLUMNS", 5)
    iterative = model.fit(Z, y, X_unlabeled=X).predict(X)
    np.testing.assert_allclose(iterative, direct, atol=1e-5)


def test_conjugate_gradients_say_when_they_stop_early(monkeypatch):
    Z, y, X = domains(0, n_columns=20)
    monkeypatch.setattr(laplacian_rls, "DIRECT_COLUMNS", 5)
    monkeypatch.setattr(laplacian_rls, "MAX_STEPS", 1)
    with pytest.warns(NotConvergedWarning, match="stopped after 1 steps"):
        lb.LaplacianRLSRegressor(kernel="linear").fit(Z, y, X_unlabeled=X)


@seeds
def test_unlabelled_rows_carry_labels_along_the_moons(seed):
    rng = np.random.default_rng(seed)
    X, y = two_moons(rng, 300)
    few = np.concatenate([np.flatnonzero(y == c)[:3] for c in (0, 1)])
    options = {"width": 0.35, "n_neighbors": 6}
    model = lb.LaplacianRLSClassifier(1e-5, 1.0, **options)
    with_graph = model.fit(X[few], y[few], X_unlabeled=X).score(X, y)
    without = lb.LaplacianRLSClassifier(1e-5, 0.0, **options)
    alone = without.fit(X[few], y[few], X_unlabeled=X).score(X, y)
    assert with_graph >= alone
    assert with_graph > 0.85


def test_several_responses_and_classes():
    Z, y, X = domains(1)
    both = lb.LaplacianRLSRegressor().fit(Z, np.column_stack([y, Z[:, 0]]), X_unlabeled=X)
    one = lb.LaplacianRLSRegressor().fit(Z, y, X_unlabeled=X)
    assert both.predict(X).shape == (30, 2)
    np.testing.assert_allclose(both.predict(X)[:, 0], one.predict(X), atol=1e-10)
    labels = np.digitize(y, [-0.5, 0.5])
    model = lb.LaplacianRLSClassifier().fit(Z, labels, X_unlabeled=X)
    assert model.decision_function(X).shape == (30, 3)
    np.testing.assert_array_equal(
        model.predict(X), model.classes_[model.decision_function(X).argmax(axis=1)]
    )


def test_graph_laplacian():
    X = np.array([[0.0], [1.0], [1.1], [5.0]])
    graph = neighbor_laplacian(X, 1).toarray()
    edge = -np.sqrt(0.5)
    wanted = [[1, edge, 0, 0], [edge, 1, -0.5, 0], [0, -0.5, 1, edge], [0, 0, edge, 1]]
    np.testing.assert_allclose(graph, wanted)
    np.testing.assert_allclose(neighbor_laplacian(X, 9).sum(axis=1), 0, atol=1e-15)
    assert neighbor_laplacian(X[:1], 3).toarray() == [[0.0]]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ridge": 0.0}, "`ridge` must be a finite number above 0, because"),
        ({"smoothness": -1.0}, "`smoothness` must be a finite number of at least 0"),
        ({"n_neighbors": 0}, "`n_neighbors` must be a whole number of at least 1"),
        ({"kernel": "no"}, "`kernel` must be one of"),
        ({"n_components": -2}, "`n_components` must be None"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    Z, y, X = domains(0)
    with pytest.raises(ValueError, match=message):
        lb.LaplacianRLSRegressor(**parameters).fit(Z, y, X_unlabeled=X)
