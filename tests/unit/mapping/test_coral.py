"""CORAL: covariance, mean, singular cases."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import landbridge as lb

seeds = pytest.mark.parametrize("seed", range(8))


def domains(seed, n_source=60, n_target=50):
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(3, 3))
    return rng.normal(2.0, 1.0, (n_source, 3)), rng.normal(size=(n_target, 3)) @ mix - 1.0


@seeds
def test_source_gets_the_covariance_and_mean_of_the_target(seed):
    Z, X = domains(seed)
    mapped = lb.CORAL(ridge=0.0, match_mean=True).fit_transform(Z, X_unlabeled=X)
    np.testing.assert_allclose(np.cov(mapped.T), np.cov(X.T), atol=1e-10)
    np.testing.assert_allclose(mapped.mean(axis=0), X.mean(axis=0), atol=1e-10)


@seeds
def test_the_printed_formula(seed):
    """D_S (C_S + I)^-½ (C_T + I)^½, without means."""
    Z, X = domains(seed)

    def power(C, p):
        values, vectors = np.linalg.eigh(C + np.eye(3))
        return (vectors * values**p) @ vectors.T

    wanted = Z @ power(np.cov(Z.T), -0.5) @ power(np.cov(X.T), 0.5)
    got = lb.CORAL().fit_transform(Z, X_unlabeled=X)
    np.testing.assert_allclose(got, wanted, atol=1e-10)


@seeds
def test_target_rows_stay_as_they_are(seed):
    Z, X = domains(seed)
    model = lb.CORAL().fit(Z, X_target=X[:5], y_target=np.zeros(5), X_unlabeled=X[5:])
    np.testing.assert_array_equal(model.transform(X), X)
    np.testing.assert_allclose(
        model.transform_source(Z), lb.CORAL().fit_transform(Z, X_unlabeled=X)
    )


def test_equal_domains_are_left_alone():
    Z, _ = domains(0)
    np.testing.assert_allclose(lb.CORAL().fit_transform(Z, X_unlabeled=Z), Z, atol=1e-12)


def test_in_a_pipeline_the_learner_sees_mapped_source_rows_and_plain_target_rows():
    Z, X = domains(1)
    y = (Z[:, 0] > 2).astype(int)
    pipeline = make_pipeline(lb.CORAL(), LogisticRegression())
    pipeline.fit(Z, y, coral__X_unlabeled=X)
    mapped = lb.CORAL().fit_transform(Z, X_unlabeled=X)
    by_hand = LogisticRegression().fit(mapped, y)
    np.testing.assert_allclose(pipeline.predict_proba(X), by_hand.predict_proba(X), atol=1e-8)


def test_sparse_rows_are_refused():
    Z, X = domains(0)
    with pytest.raises(TypeError, match="X_unlabeled, but dense data is required"):
        lb.CORAL().fit(Z, X_unlabeled=csr_array(X))
    with pytest.raises(TypeError, match="X, but dense data is required"):
        lb.CORAL().fit(Z, X_unlabeled=X).transform(csr_array(X))


def test_by_default_a_shift_of_the_classes_does_not_move_one_class_onto_the_other():
    """The same two clusters with turned frequencies: nothing to align but the means."""
    rng = np.random.default_rng(0)
    y, y_target = rng.random(400) < 0.9, rng.random(400) < 0.1
    Z, X = (rng.normal(np.where(part, 2.0, -2.0)[:, None], 1, (400, 2)) for part in (y, y_target))

    def accuracy(**options):
        model = make_pipeline(lb.CORAL(**options), LogisticRegression())
        model.fit(Z, y, coral__X_unlabeled=X)
        return np.mean(model.predict(X) == y_target)

    assert accuracy() > 0.95
    assert accuracy(match_mean=True) < 0.7


def test_constant_columns_and_single_rows_are_finite():
    Z, X = domains(2)
    Z[:, 1] = 3.0
    for source, target in ((Z, X), (X, Z), (Z[:1], X), (Z, X[:1])):
        for ridge in (0.0, 1.0):
            assert np.isfinite(lb.CORAL(ridge).fit_transform(source, X_unlabeled=target)).all()


def test_a_negative_ridge_is_refused():
    Z, X = domains(0)
    with pytest.raises(ValueError, match="`ridge` must be a finite number of at least 0"):
        lb.CORAL(-1.0).fit(Z, X_unlabeled=X)
