"""LatentMap: the fill, the latent space, both ways to the singular vectors, the messages."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import Ridge

import landbridge as lb
from landbridge.mapping import latent_map
from landbridge.mapping.latent_map import has_support, learn_fill, right_singular_vectors

seeds = pytest.mark.parametrize("seed", range(5))


def overlapping(seed, n_source=60, n_target=50, n_columns=9, rank=None):
    """Two domains; the source lacks the last column, the target the two before it."""
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(rank or n_columns, n_columns))
    source = rng.normal(0.5, 1, (n_source, loadings.shape[0])) @ loadings
    target = rng.normal(-0.5, 1, (n_target, loadings.shape[0])) @ loadings
    seen_source, seen_target = source.copy(), target.copy()
    seen_source[:, -1] = 0
    seen_target[:, -3:-1] = 0
    return source, target, seen_source, seen_target


@seeds
@pytest.mark.parametrize("n_source", [60, 5])  # more rows than shared columns, and fewer
def test_the_fill_is_the_ridge_regression_of_scikit_learn(seed, n_source):
    _, _, source, target = overlapping(seed, n_source=n_source)
    shared = has_support(source) & has_support(target)
    missing = has_support(source) & ~shared
    fill = learn_fill(source, shared, missing, ridge=0.3)
    got = aslinearoperator(target) @ (fill.matrix @ np.eye(9)) + fill.offset
    known = source[:, shared]
    alpha = 0.3 * np.square(known - known.mean(axis=0)).sum() / n_source
    ridge = Ridge(alpha=alpha).fit(known, source[:, missing])
    np.testing.assert_allclose(got[:, missing], ridge.predict(target[:, shared]), atol=1e-10)
    np.testing.assert_allclose(got[:, ~missing], target[:, ~missing], atol=1e-12)


def test_which_features_are_missing_where():
    _, _, source, target = overlapping(0)
    model = lb.LatentMap(3).fit(source, X_unlabeled=target)
    assert np.flatnonzero(model.missing_in_source_).tolist() == [8]
    assert np.flatnonzero(model.missing_in_target_).tolist() == [6, 7]


def test_values_of_new_rows_in_missing_features_are_not_looked_at():
    _, _, source, target = overlapping(0)
    model = lb.LatentMap(3).fit(source, X_unlabeled=target)
    changed = target.copy()
    changed[:, 6:8] = 100.0
    np.testing.assert_allclose(model.transform(changed), model.transform(target), atol=1e-10)
    changed[:, 8] = 100.0
    assert not np.allclose(model.transform(changed), model.transform(target))


def test_without_a_missing_feature_it_is_one_projection_for_all():
    source, target, _, _ = overlapping(0)
    model = lb.LatentMap(4).fit(source, X_unlabeled=target)
    assert not model.missing_in_source_.any()
    np.testing.assert_allclose(model.source_matrix_, model.components_.T, atol=1e-12)
    np.testing.assert_allclose(model.transform(source), model.transform_source(source))
    svd = TruncatedSVD(4, algorithm="arpack").fit(np.vstack([source, target]))
    np.testing.assert_allclose(np.abs(model.transform(target)), np.abs(svd.transform(target)))


def test_without_a_target_it_is_the_truncated_svd():
    source, _, _, _ = overlapping(0)
    with pytest.warns(lb.NoTargetWarning):
        model = lb.LatentMap(4).fit(source)
    svd = TruncatedSVD(4, algorithm="arpack").fit(source)
    np.testing.assert_allclose(np.abs(model.transform(source)), np.abs(svd.transform(source)))
    np.testing.assert_allclose(model.singular_values_, svd.singular_values_)


def test_lanczos_and_the_full_decomposition_agree(monkeypatch):
    _, _, source, target = overlapping(1)
    full = lb.LatentMap(3).fit(source, X_unlabeled=target)
    monkeypatch.setattr(latent_map, "FULL_SIZE", 1)
    few = lb.LatentMap(3).fit(source, X_unlabeled=target)
    np.testing.assert_allclose(few.transform(target), full.transform(target), atol=1e-8)
    np.testing.assert_allclose(few.singular_values_, full.singular_values_)


def test_wide_sparse_rows():
    rng = np.random.default_rng(0)
    source, target = (
        sparse.csr_array(sparse.random(n, 700, 0.02, random_state=rng)) for n in (300, 260)
    )
    of_sparse = lb.LatentMap(5).fit(source, X_unlabeled=target)
    of_dense = lb.LatentMap(5).fit(source.toarray(), X_unlabeled=target.toarray())
    assert (of_sparse.missing_in_source_ == of_dense.missing_in_source_).all()
    assert of_sparse.missing_in_target_.any()
    np.testing.assert_allclose(
        of_sparse.transform(target), of_dense.transform(target.toarray()), atol=1e-6
    )


def test_fewer_rows_than_components():
    _, _, source, target = overlapping(0, n_source=3, n_target=2)
    assert lb.LatentMap(50).fit_transform(source, X_unlabeled=target).shape == (3, 5)
    F = aslinearoperator(np.arange(12.0).reshape(2, 6))
    assert right_singular_vectors(F, 2)[0].shape == (6, 2)


def test_constant_shared_features_leave_the_mean():
    """Nothing can be predicted from a feature that does not vary."""
    source = np.array([[1.0, 2.0], [1.0, 4.0]])
    target = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    model = lb.LatentMap(2).fit(source, X_unlabeled=target)
    filled = model.transform(target) @ model.components_
    np.testing.assert_allclose(filled, np.tile([1.0, 3.0], (3, 1)), atol=1e-10)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0.5}, "`n_components` must be a whole number of at least 1; got 0.5"),
        ({"ridge": 0}, "`ridge` must be a finite number above 0"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    _, _, source, target = overlapping(0)
    with pytest.raises(ValueError, match=message):
        lb.LatentMap(**parameters).fit(source, X_unlabeled=target)


def test_a_ridge_below_working_precision_is_refused():
    _, _, source, target = overlapping(0, rank=2)
    with pytest.raises(ValueError, match=r"`ridge` is too small.*Pass 1e-8 or more"):
        lb.LatentMap(ridge=1e-30).fit(source, X_unlabeled=target)


def test_domains_without_a_common_feature_are_refused():
    with pytest.raises(
        ValueError, match=r"must share a feature.*got 1 non-zero features in X and 2 others"
    ):
        lb.LatentMap().fit([[1.0, 0, 0], [2.0, 0, 0]], X_unlabeled=[[0, 1.0, 1.0]])
