"""Subspace alignment: its closed form, its limits, its angles."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA

import landbridge as lb

seeds = pytest.mark.parametrize("seed", range(8))


def domains(seed, n_source=60, n_target=50, n_columns=5):
    rng = np.random.default_rng(seed)
    scale = np.array([5.0, 3.0, 2.0, 1.0, 0.5])[:n_columns]
    turn, _ = np.linalg.qr(rng.normal(size=(n_columns, n_columns)))
    return (
        rng.normal(1, 1, (n_source, n_columns)) * scale,
        (rng.normal(-1, 1, (n_target, n_columns)) * scale) @ turn,
    )


@seeds
def test_closed_form(seed):
    Z, X = domains(seed)
    model = lb.SubspaceAlignment(2).fit(Z, X_unlabeled=X)
    P_s, P_t = PCA(2).fit(Z).components_.T, PCA(2).fit(X).components_.T
    source = (Z - Z.mean(axis=0)) @ P_s @ (P_s.T @ P_t)
    target = (X - X.mean(axis=0)) @ P_t
    np.testing.assert_allclose(model.transform_source(Z), source, atol=1e-10)
    np.testing.assert_allclose(model.transform(X), target, atol=1e-10)
    np.testing.assert_allclose(
        lb.SubspaceAlignment(2).fit_transform(Z, X_unlabeled=X), source, atol=1e-10
    )


@seeds
def test_the_alignment_is_optimal(seed):
    """M = P_S'P_T minimises ‖P_S M − P_T‖."""
    Z, X = domains(seed)
    model = lb.SubspaceAlignment(2).fit(Z, X_unlabeled=X)

    def distance(M):
        return np.linalg.norm(model.source_axes_ @ M - model.target_axes_)

    rng = np.random.default_rng(seed)
    for _ in range(10):
        step = 0.1 * rng.normal(size=(2, 2))
        assert distance(model.alignment_ + step) > distance(model.alignment_)


@seeds
def test_with_all_axes_only_the_means_are_aligned(seed):
    Z, X = domains(seed)
    model = lb.SubspaceAlignment(5).fit(Z, X_unlabeled=X)
    both = (Z - Z.mean(axis=0)) @ model.target_axes_
    np.testing.assert_allclose(model.transform_source(Z), both, atol=1e-10)
    np.testing.assert_allclose(model.cosines_, 1.0, atol=1e-10)


def test_cosines_of_known_subspaces():
    Z = np.diag([3.0, 2.0, 0.0])
    Z = np.vstack([Z, -Z])
    X = Z[:, [0, 2, 1]]  # varies along the first and the third axis
    model = lb.SubspaceAlignment(2).fit(Z, X_unlabeled=X)
    np.testing.assert_allclose(model.cosines_, [1.0, 0.0], atol=1e-12)


def test_share_of_the_target_variance():
    Z, X = domains(0)
    model = lb.SubspaceAlignment(0.9).fit(Z, X_unlabeled=X)
    shares = np.cumsum(PCA().fit(X).explained_variance_ratio_)
    assert model.transform(X).shape[1] == np.searchsorted(shares, 0.9) + 1


def test_never_more_axes_than_either_domain_has():
    Z, X = domains(0, n_target=2)
    assert lb.SubspaceAlignment(5).fit(Z, X_unlabeled=X).transform(Z).shape == (60, 2)
    assert lb.SubspaceAlignment(5).fit(X, X_unlabeled=Z).transform(Z).shape == (60, 2)


def test_sparse_rows_with_many_columns():
    rng = np.random.default_rng(0)
    Z, X = (sparse.csr_array(sparse.random(n, 1200, 0.02, random_state=rng)) for n in (40, 30))
    of_sparse = lb.SubspaceAlignment(3).fit(Z, X_unlabeled=X).transform(X)
    of_dense = lb.SubspaceAlignment(3).fit(Z.toarray(), X_unlabeled=X.toarray())
    np.testing.assert_allclose(np.abs(of_sparse), np.abs(of_dense.transform(X)), atol=1e-6)
    with pytest.raises(ValueError, match="`n_components` must be a number of axes for sparse"):
        lb.SubspaceAlignment(0.5).fit(Z, X_unlabeled=X)


@pytest.mark.parametrize("n_components", [2, 0.9])
def test_single_and_constant_rows_are_finite(n_components):
    Z, X = domains(0)
    alike = np.ones((6, 5))
    for source, target in ((Z, X[:1]), (Z[:1], X), (Z, alike), (alike, X)):
        model = lb.SubspaceAlignment(n_components)
        assert np.isfinite(model.fit_transform(source, X_unlabeled=target)).all()
        assert np.isfinite(model.transform(target)).all()


@pytest.mark.parametrize("n_components", [0, -1, 1.5, 0.0, "all"])
def test_bad_numbers_of_axes_are_refused(n_components):
    Z, X = domains(0)
    with pytest.raises(ValueError, match="`n_components` must be a number of axes of at least 1"):
        lb.SubspaceAlignment(n_components).fit(Z, X_unlabeled=X)


def test_one_sparse_row_of_many_columns_has_one_axis():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(sparse.random(30, 1200, 0.05, random_state=rng))
    model = lb.SubspaceAlignment(5).fit(X, X_unlabeled=X[:1])
    assert model.transform(X).shape == (30, 1)
    assert np.isfinite(model.transform_source(X)).all()
