"""Transfer components against a dense generalised eigenproblem, and their properties."""

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.metrics.pairwise import rbf_kernel

import landbridge as lb

SEEDS = range(5)
seeds = pytest.mark.parametrize("seed", SEEDS)


def domains(seed, n_source=90, n_target=70, n_columns=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_source, n_columns)), rng.normal(0.7, 1.2, (n_target, n_columns))


def parts(Z, X):
    """l and H, dense, as the paper writes them."""
    n = len(Z) + len(X)
    difference = np.concatenate([np.full(len(Z), 1 / len(Z)), np.full(len(X), -1 / len(X))])
    return difference, np.eye(n) - 1 / n


def dense_solution(K, middle, constraint, n_components):
    values, vectors = linalg.eigh(K @ middle @ K, constraint)
    return values[::-1][:n_components], vectors[:, ::-1][:, :n_components]


def same_up_to_sign(got, wanted, atol=1e-8):
    signs = np.sign((got * wanted).sum(axis=0))
    np.testing.assert_allclose(got * signs, wanted, atol=atol * np.abs(wanted).max())


@seeds
@pytest.mark.parametrize("mu", [0.01, 1.0])
def test_equals_the_dense_generalised_eigenproblem(seed, mu):
    Z, X = domains(seed)
    tca = lb.TransferComponentAnalysis(4, width=1.5, mu=mu).fit(Z, X_unlabeled=X)
    rows = np.vstack([Z, X])
    K, (diff, H) = rbf_kernel(rows, gamma=0.5 / 1.5**2), parts(Z, X)
    constraint = K @ np.outer(diff, diff) @ K + mu * np.eye(len(K))
    theta, W = dense_solution(K, H, constraint, 4)
    np.testing.assert_allclose(tca.eigenvalues_, theta, rtol=1e-8)
    same_up_to_sign(tca.transform(rows), K @ W)
    np.testing.assert_allclose(
        tca.components_.T @ constraint @ tca.components_, np.eye(4), atol=1e-8
    )


@seeds
def test_the_order_of_rows_is_irrelevant(seed):
    Z, X = domains(seed)
    rng = np.random.default_rng(seed)
    first = lb.TransferComponentAnalysis(4).fit(Z, X_unlabeled=X).transform(X)
    shuffled = lb.TransferComponentAnalysis(4).fit(
        rng.permutation(Z), X_unlabeled=rng.permutation(X)
    )
    np.testing.assert_allclose(shuffled.transform(X), first, atol=1e-8 * np.abs(first).max())


@seeds
@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
def test_full_rank_equals_exact(seed, kernel):
    Z, X = domains(seed)
    exact = lb.TransferComponentAnalysis(3, kernel=kernel, mu=0.5).fit(Z, X_unlabeled=X)
    low = lb.TransferComponentAnalysis(3, kernel=kernel, mu=0.5, rank=160).fit(Z, X_unlabeled=X)
    same_up_to_sign(low.transform(X), exact.transform(X), atol=1e-6)


@seeds
def test_linear_kernel_needs_no_kernel_matrix(seed):
    """Products XX'v and the dense kernel give the same, for sparse rows too."""
    Z, X = domains(seed, n_columns=30)
    Z[np.abs(Z) < 1], X[np.abs(X) < 1] = 0, 0
    rows = np.vstack([Z, X])
    by_products = lb.TransferComponentAnalysis(3, kernel="linear").fit(Z, X_unlabeled=X)
    by_kernel = lb.TransferComponentAnalysis(3, kernel=lambda a, b: a @ b).fit(Z, X_unlabeled=X)
    of_sparse = lb.TransferComponentAnalysis(3, kernel="linear").fit(
        sparse.csr_array(Z), X_unlabeled=sparse.csr_array(X)
    )
    wanted = by_kernel.transform(rows)
    same_up_to_sign(by_products.transform(rows), wanted)
    same_up_to_sign(of_sparse.transform(sparse.csr_array(rows)), wanted)


@seeds
def test_small_mu_brings_the_means_together(seed):
    Z, X = domains(seed)

    def distance(mu):
        """Between the means, in standard deviations of each component over all rows."""
        tca = lb.TransferComponentAnalysis(3, mu=mu).fit(Z, X_unlabeled=X)
        gap = tca.transform(Z).mean(axis=0) - tca.transform(X).mean(axis=0)
        return np.linalg.norm(gap / tca.transform(np.vstack([Z, X])).std(axis=0))

    assert distance(1e-4) < 0.1 * distance(1e4)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("rank", [None, 10])
def test_single_rows_and_constant_rows(kernel, rank):
    many = np.ones((150, 2)), np.ones((90, 2))
    for Z, X in ([[[1.0, 2.0]], [[1.0, 0.0]]], [many[0][:5], many[1][:4]], many):
        tca = lb.TransferComponentAnalysis(2, kernel=kernel, rank=rank)
        assert np.isfinite(tca.fit(Z, X_unlabeled=X).transform(X)).all()


def test_components_beyond_the_rank_are_zero():
    Z, X = domains(0, n_columns=2)
    for rank in (None, 160):
        tca = lb.TransferComponentAnalysis(4, kernel="linear", rank=rank)
        variances = tca.fit(Z, X_unlabeled=X).transform(np.vstack([Z, X])).var(axis=0)
        np.testing.assert_allclose(variances[:2] * 160, tca.eigenvalues_[:2], rtol=1e-8)
        np.testing.assert_array_equal(variances[2:], 0.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "`n_components` must be a whole number of at least 1"),
        ({"mu": 0.0}, "`mu` must be a finite number above 0, because it makes"),
        ({"rank": 0}, "`rank` must be None"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    Z, X = domains(0)
    with pytest.raises(ValueError, match=message):
        lb.TransferComponentAnalysis(**parameters).fit(Z, X_unlabeled=X)
