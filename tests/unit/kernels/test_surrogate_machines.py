"""The surrogate kernel with kernels, labels, new rows and awkward data."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

import landbridge as lb
from landbridge.exceptions import NothingToAlignWarning

SEEDS = range(5)
seeds = pytest.mark.parametrize("seed", SEEDS)
quiet = pytest.mark.filterwarnings("ignore::landbridge.NothingToAlignWarning")


def domains(seed, n_source=40, n_target=30, n_columns=3):
    rng = np.random.default_rng(seed)
    Z, X = rng.normal(size=(n_source, n_columns)), rng.normal(0.5, 1.2, (n_target, n_columns))
    return Z, np.sin(Z[:, 0]) + Z[:, 1], X, np.sin(X[:, 0]) + X[:, 1]


def composite_kernel(K_z, K_zx, K_x, T):
    """Kernel of the moved source and the target, Eq. (10)."""
    return np.block([[T.T @ K_z @ T, T.T @ K_zx], [K_zx.T @ T, K_x]])


@seeds
def test_inductive_prediction_equals_the_transductive_block(seed):
    """k(x, Z)·T for the rows of X gives the block K_XZ T of Eq. (10)."""
    Z, y, X, _ = domains(seed)
    model = lb.SurrogateKernelRegressor(alpha=0.3, width=1.5, ridge=0.5).fit(Z, y, X_unlabeled=X)
    g = 0.5 / 1.5**2
    K_z, K_zx, K_x = rbf_kernel(Z, Z, g), rbf_kernel(Z, X, g), rbf_kernel(X, X, g)
    S = lb.surrogate_kernel(K_zx, K_x, 0.5 * np.trace(K_x) / len(X))
    G = composite_kernel(K_z, K_zx, K_x, lb.align_kernel(K_z, S))
    G *= len(Z) / np.trace(G[: len(Z), : len(Z)])
    n = len(Z)
    wanted = G[n:, :n] @ np.linalg.solve(G[:n, :n] + 0.3 * np.eye(n), y - y.mean()) + y.mean()
    np.testing.assert_allclose(model.predict(X), wanted, atol=1e-7)
    # New rows, one at a time, get the same answers as in company.
    alone = np.concatenate([model.predict(X[i : i + 1]) for i in range(4)])
    np.testing.assert_allclose(alone, wanted[:4], atol=1e-7)


@seeds
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian", "cosine"])
def test_full_rank_equals_exact(seed, kernel):
    Z, y, X, _ = domains(seed)
    options = {"kernel": kernel, "ridge": 0.4, "gamma": 1e-3}
    data = {"X_target": X[:5], "y_target": X[:5, 0], "X_unlabeled": X[5:]}
    exact = lb.SurrogateKernelRegressor(**options).fit(Z, y, **data)
    low = lb.SurrogateKernelRegressor(**options, n_components=70).fit(Z, y, **data)
    np.testing.assert_allclose(low.predict(X), exact.predict(X), atol=1e-5)
    assert low.trace_share_ == pytest.approx(exact.trace_share_, abs=1e-6)


@seeds
def test_map_with_a_linear_learner_is_the_kernel_machine(seed):
    Z, y, X, _ = domains(seed)
    machine = lb.SurrogateKernelRegressor(alpha=0.2, ridge=2.0).fit(Z, y, X_unlabeled=X)
    surrogate = lb.SurrogateKernelMap(ridge=2.0, n_components=None)
    moved = surrogate.fit_transform(Z, X_unlabeled=X)
    learner = Ridge(0.2, fit_intercept=False).fit(moved, y - y.mean())
    by_map = learner.predict(surrogate.transform(X)) + y.mean()
    np.testing.assert_allclose(by_map, machine.predict(X), atol=1e-6)


def half_each(n_source, n_target):
    """Weights of mean 1, half of their sum on the target rows."""
    n = n_source + n_target
    return np.repeat([n / (2 * n_source), n / (2 * n_target)], [n_source, n_target])


@seeds
def test_classifier_is_an_svm_on_the_composite_kernel(seed):
    Z, y, X, y_x = domains(seed)
    y, y_x = y > 0, y_x > 0
    model = lb.SurrogateKernelClassifier(C=3.0, ridge=0.5, width=1.5)
    model.fit(Z, y, X_target=X[:6], y_target=y_x[:6], X_unlabeled=X[6:])
    g = 0.5 / 1.5**2
    K_z, K_zx, K_x = rbf_kernel(Z, Z, g), rbf_kernel(Z, X, g), rbf_kernel(X, X, g)
    S = lb.surrogate_kernel(K_zx, K_x, 0.5)
    G = composite_kernel(K_z, K_zx, K_x, lb.align_kernel(K_z, S))
    G *= len(Z) / np.trace(G[: len(Z), : len(Z)])
    train = np.arange(len(Z) + 6)
    svm = SVC(C=3.0, kernel="precomputed").fit(
        G[np.ix_(train, train)], np.concatenate([y, y_x[:6]]), half_each(len(Z), 6)
    )
    np.testing.assert_allclose(
        model.decision_function(X), svm.decision_function(G[len(Z) :, : len(train)]), atol=1e-4
    )


def test_aligned_rows_have_unit_mean_square():
    Z, _, X, _ = domains(0)
    moved = lb.SurrogateKernelMap(ridge=3.0, random_state=0).fit_transform(Z, X_unlabeled=X)
    assert (moved**2).sum(axis=1).mean() == pytest.approx(1.0)


def test_parameters_are_free_of_the_scale_of_the_kernel():
    Z, y, X, _ = domains(1)
    one = lb.SurrogateKernelRegressor(kernel="linear", ridge=0.5, gamma=0.01)
    ten = lb.SurrogateKernelRegressor(kernel="linear", ridge=0.5, gamma=0.01)
    first = one.fit(Z, y, X_unlabeled=X).predict(X)
    second = ten.fit(10 * Z, y, X_unlabeled=10 * X).predict(10 * X)
    np.testing.assert_allclose(second, first, atol=1e-8)


def test_no_target_is_the_plain_kernel_machine():
    Z, y, X, _ = domains(2)
    with pytest.warns(lb.NoTargetWarning):
        model = lb.SurrogateKernelRegressor(alpha=0.2, width=1.0).fit(Z, y)
    plain = KernelRidge(alpha=0.2, kernel="rbf", gamma=0.5).fit(Z, y - y.mean())
    np.testing.assert_allclose(model.predict(X), plain.predict(X) + y.mean(), atol=1e-10)
    assert (model.trace_share_, model.n_clipped_) == (1.0, 0)


@seeds
@pytest.mark.parametrize("n_components", [None, 100])
def test_nothing_to_align_is_said(seed, n_components):
    """A linear kernel whose target spans the columns: the transform is the identity."""
    Z, y, X, _ = domains(seed)
    model = lb.SurrogateKernelRegressor(kernel="linear", ridge=0.0, n_components=n_components)
    with pytest.warns(NothingToAlignWarning, match="Raise `ridge`"):
        model.fit(Z, y, X_unlabeled=X)
    assert model.trace_share_ == pytest.approx(1.0)
    with pytest.warns(lb.NoTargetWarning):
        plain = lb.SurrogateKernelRegressor(
            alpha=0.1 * (Z**2).sum(axis=1).mean(), kernel="linear"
        ).fit(Z, y)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), atol=1e-6)


@quiet
@pytest.mark.parametrize("n_components", [None, 20])
def test_constant_columns_and_duplicate_rows_give_finite_answers(n_components):
    Z, y, X, _ = domains(3)
    Z = np.vstack([Z, Z[:10]])
    Z, X = (np.column_stack([M, np.full(len(M), 2.0)]) for M in (Z, X))
    y = np.concatenate([y, y[:10]])
    for kernel in ("rbf", "linear"):
        model = lb.SurrogateKernelRegressor(kernel=kernel, ridge=0.0, n_components=n_components)
        answer = model.fit(Z, y, X_unlabeled=np.vstack([X, X])).predict(X)
        assert np.isfinite(answer).all()
        assert np.isrealobj(answer)


@quiet
def test_one_row_of_each_domain():
    model = lb.SurrogateKernelRegressor().fit([[1.0, 2.0]], [3.0], X_unlabeled=[[1.0, 0.0]])
    assert model.predict([[1.0, 1.0]]) == pytest.approx([3.0])
    constant = lb.SurrogateKernelMap(random_state=0).fit_transform(
        np.ones((4, 2)), X_unlabeled=np.ones((3, 2))
    )
    assert np.isfinite(constant).all()


def test_a_target_without_common_columns_is_refused():
    Z, X = np.eye(4)[:2], np.eye(4)[2:]
    with pytest.raises(ValueError, match="aligned kernel is zero"):
        lb.SurrogateKernelClassifier(kernel="linear").fit(Z, [0, 1], X_unlabeled=X)


def test_sparse_text_keeps_to_low_rank():
    rng = np.random.default_rng(0)
    Z, X = (sparse.csr_array(sparse.random(n, 500, 0.05, random_state=rng)) for n in (60, 50))
    surrogate = lb.SurrogateKernelMap(kernel="linear", n_components=20, random_state=0)
    moved = surrogate.fit_transform(Z, X_unlabeled=X)
    assert moved.shape == (60, 20)
    exact = lb.SurrogateKernelMap(kernel="linear", n_components=110, random_state=0)
    moved = exact.fit_transform(Z, X_unlabeled=X)
    K_zx, K_x = ((A @ X.T).toarray() for A in (Z, X))
    S = lb.surrogate_kernel(K_zx, K_x, np.trace(K_x) / 50)
    np.testing.assert_allclose(moved @ moved.T, S * 60 / np.trace(S), atol=1e-6)


@quiet
def test_several_classes():
    rng = np.random.default_rng(0)
    centres = 3 * np.eye(3)
    y = np.repeat(["a", "b", "c"], 20)
    Z = np.repeat(centres, 20, axis=0) + 0.5 * rng.normal(size=(60, 3))
    X = np.repeat(centres, 20, axis=0) + 0.3 + 0.5 * rng.normal(size=(60, 3))
    for n_components in (None, "auto"):
        model = lb.SurrogateKernelClassifier(n_components=n_components, ridge=0.1, random_state=0)
        model.fit(Z, y, X_unlabeled=X)
        assert model.score(X, y) > 0.9
        assert model.decision_function(X).shape == (60, 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "cubic"}, "`kernel` must be one of 'rbf'"),
        ({"width": -1.0}, "`width` must be a positive number"),
        ({"width": "median"}, "`width` must be one of 'scale'"),
        ({"gamma": -1.0}, "`gamma` must be a finite number of at least 0"),
        ({"ridge": np.inf}, "`ridge` must be a finite number of at least 0"),
        ({"n_components": 0}, "`n_components` must be None .* got 0"),
        ({"n_components": "many"}, "`n_components` must be None .* got 'many'"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    Z, y, X, _ = domains(0)
    with pytest.raises(ValueError, match=message):
        lb.SurrogateKernelRegressor(**parameters).fit(Z, y, X_unlabeled=X)


def test_a_callable_kernel():
    Z, y, X, _ = domains(4)
    model = lb.SurrogateKernelRegressor(kernel=lambda a, b: float(np.exp(-abs(a - b).sum())))
    named = lb.SurrogateKernelRegressor(kernel="laplacian", width=1.0)
    answers = [one.fit(Z, y, X_unlabeled=X).predict(X) for one in (model, named)]
    np.testing.assert_allclose(*answers, atol=1e-8)


@quiet
@seeds
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("ridge", [0.0, 1e-9, 1.0])
def test_single_precision_gives_the_answer_of_double_precision(seed, kernel, ridge):
    """What the alignment divides by is small, so that a kernel in single precision would not do."""
    Z, y, X, _ = domains(seed)
    # Values that both precisions hold, so that the rows are the same.
    Z, X = Z.astype(np.float32), X.astype(np.float32)
    options = {"kernel": kernel, "ridge": ridge}
    for estimator in (
        lb.SurrogateKernelRegressor(**options),
        lb.SurrogateKernelRegressor(**options, n_components=20, random_state=0),
    ):
        single = estimator.fit(Z, y, X_unlabeled=X)
        answer, clipped = single.predict(X), single.n_clipped_
        double = estimator.fit(Z.astype(float), y, X_unlabeled=X.astype(float))
        np.testing.assert_allclose(answer, double.predict(X.astype(float)), atol=1e-6)
        assert clipped == double.n_clipped_
