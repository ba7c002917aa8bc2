"""KLIEP: the optimum is reached, the constraint holds, the width is chosen by likelihood."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics.pairwise import rbf_kernel

import landbridge as lb
from landbridge.datasets import make_covariate_shift
from landbridge.weighting import kliep as module
from landbridge.weighting._gaussian_basis import MULTIPLES
from landbridge.weighting.kliep import mixture_weights


@pytest.fixture(scope="module")
def data():
    return make_covariate_shift(300, 200, 2, shift=0.7, scale=0.8, random_state=0)


@pytest.mark.parametrize("seed", range(4))
def test_mixture_weights_reach_the_optimum_of_an_independent_solver(seed):
    rng = np.random.default_rng(seed)
    P = rng.exponential(size=(60, 8)) ** 3
    alpha, regret, _ = mixture_weights(P)
    independent = minimize(
        lambda a: -np.log(P @ a).mean(),
        np.full(8, 1 / 8),
        jac=lambda a: -(1 / (P @ a)) @ P / 60,
        bounds=[(0, 1)] * 8,
        constraints={"type": "eq", "fun": lambda a: a.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    assert np.log(P @ alpha).mean() >= -independent.fun - 1e-8
    assert alpha.min() >= 0
    assert alpha.sum() == pytest.approx(1, abs=1e-14)
    assert regret <= 1e-9


def test_regret_bounds_the_distance_to_the_optimum():
    P = np.random.default_rng(0).exponential(size=(80, 10)) ** 2
    best, _, _ = mixture_weights(P)
    early, regret, steps = mixture_weights(P, max_iter=3)
    assert steps == 3
    shortfall = np.log(P @ best).mean() - np.log(P @ early).mean()
    assert 0 < shortfall <= regret


def test_solves_the_paper_s_problem(data):
    """The likelihood under mean_s w = 1, against SLSQP in the coefficients of the paper."""
    kliep = lb.KLIEP(gamma=0.5, n_centers=12).fit(data.X, data.X_target)
    centers = kliep._basis.landmarks
    A = rbf_kernel(data.X_target, centers, gamma=0.5)
    b = rbf_kernel(data.X, centers, gamma=0.5).mean(axis=0)
    independent = minimize(
        lambda a: -np.log(A @ a).mean(),
        np.full(12, 1 / b.sum()),
        jac=lambda a: -(1 / (A @ a)) @ A / len(A),
        bounds=[(0, None)] * 12,
        constraints={"type": "eq", "fun": lambda a: b @ a - 1},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    ours = np.log(A @ kliep.alpha_).mean()
    assert ours == pytest.approx(-independent.fun, abs=1e-6)
    assert kliep.regret_ < 1e-8
    assert kliep.weights_.mean() == pytest.approx(1, abs=1e-12)
    assert kliep.weights_.min() >= 0


def test_width_has_the_best_likelihood_on_rows_left_out(data):
    kliep = lb.KLIEP().fit(data.X, data.X_target)
    assert len(kliep.likelihoods_) == len(MULTIPLES)
    assert kliep.gamma_ == max(kliep.likelihoods_, key=kliep.likelihoods_.get)
    assert min(kliep.likelihoods_) < kliep.gamma_ < max(kliep.likelihoods_)
    fixed = lb.KLIEP(gamma=0.5).fit(data.X, data.X_target)
    assert fixed.likelihoods_ == {}
    np.testing.assert_allclose(fixed.predict_weights(data.X), fixed.weights_)


def test_follows_the_true_ratio(data):
    kliep = lb.KLIEP().fit(data.X, data.X_target)
    new = make_covariate_shift(300, 10, 2, shift=0.7, scale=0.8, random_state=5)
    assert np.corrcoef(kliep.predict_weights(new.X), new.weights)[0, 1] > 0.85


def test_curvature_in_blocks_gives_the_same_answer(monkeypatch):
    P = np.random.default_rng(1).exponential(size=(50, 5))
    expected, _, _ = mixture_weights(P)
    monkeypatch.setattr("landbridge._kernel.BLOCK_VALUES", 35)
    np.testing.assert_allclose(mixture_weights(P)[0], expected, atol=1e-8)


def test_centres_and_rows_that_feel_nothing_are_left_out():
    X, T = np.zeros((20, 1)), np.concatenate([np.zeros((20, 1)), np.full((2, 1), 1000.0)])
    T += np.linspace(0, 0.1, 22)[:, None]
    kliep = lb.KLIEP(gamma=1.0, n_centers=21).fit(X, T)
    assert np.isfinite(kliep.weights_).all()
    assert kliep.weights_.mean() == pytest.approx(1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": "loo"}, "`gamma` must be 'cv', 'median' or a positive number; got 'loo'"),
        ({"gamma": -1.0}, "`gamma` must be 'cv', 'median'.*got -1.0"),
        ({"gamma": [0.5, 1.0]}, r"`gamma` must be 'cv', 'median' or.*got \[0.5, 1.0\]"),
        ({"n_centers": 0}, "`n_centers` must be a whole number of at least 1; got 0"),
    ],
)
def test_bad_parameters_are_refused(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        lb.KLIEP(**parameters).fit(data.X, data.X_target)


def test_domains_that_never_meet_are_refused():
    with pytest.raises(ValueError, match="`gamma` is too large.* Pass a smaller gamma"):
        lb.KLIEP(gamma=1.0).fit(np.zeros((5, 1)), np.full((5, 1), 1e3))


@pytest.mark.parametrize("seed", range(3))
def test_widths_at_which_the_domains_do_not_meet_are_never_chosen(seed):
    rng = np.random.default_rng(seed)
    X, T = rng.normal(size=(60, 4)), rng.normal(100, 1, size=(40, 4))
    kliep = lb.KLIEP().fit(X, T)
    # Among the widths some feel nothing across this gap; the choice passes them over.
    assert min(kliep.likelihoods_.values()) == pytest.approx(np.log(np.finfo(float).tiny))
    assert max(kliep.likelihoods_.values()) > -200
    assert kliep.weights_.mean() == pytest.approx(1)


def test_says_so_when_it_stops_before_the_optimum(monkeypatch, data):
    monkeypatch.setattr(module, "mixture_weights", lambda P: mixture_weights(P, max_iter=1))
    with pytest.warns(lb.NotConvergedWarning, match="KLIEP stopped .* below its maximum"):
        lb.KLIEP(gamma=0.5).fit(data.X, data.X_target)


def test_rows_that_hardly_any_centre_reaches_do_not_overflow():
    P = np.array([[1e-307, 0.0], [2.0, 1.0], [1e30, 1e29], [0.0, 3.0]])
    alpha, regret, _ = mixture_weights(P)
    assert regret <= 1e-9
    np.testing.assert_allclose(alpha, mixture_weights(P / P.max(axis=1, keepdims=True))[0])
