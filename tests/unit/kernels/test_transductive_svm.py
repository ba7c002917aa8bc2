"""The transductive SVM: its loop, its fractions, and where it helps."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC

import landbridge as lb
from landbridge.kernels.transductive_svm import highest, influence_levels, transduce

SEEDS = range(5)
seeds = pytest.mark.parametrize("seed", SEEDS)
kernels = pytest.mark.parametrize("kernel", ["linear", "rbf"])


def gap(rng, n, shift):
    """Two clusters apart along x₀; the source sees them only through a noisy, tilted sample."""
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2)) * [0.3, 1.0]
    X[:, 0] += np.where(y == 1, 1, -1) + shift
    return X, y


def test_highest_scores_are_positive_and_ties_go_to_the_first():
    np.testing.assert_array_equal(highest(np.array([0.1, 3, -1, 2]), 2), [-1, 1, -1, 1])
    np.testing.assert_array_equal(highest(np.zeros(3), 1), [1, -1, -1])
    np.testing.assert_array_equal(highest(np.zeros(3), 0), [-1, -1, -1])


def test_influence_rises_to_its_full_value():
    levels = list(influence_levels(10, 30, 0.5))
    first, last = levels[0], levels[-1]
    assert first == pytest.approx((0.5e-5 / 3, 0.5e-5))
    assert last == (0.5, 0.5)
    assert all(b[0] >= a[0] and b[1] >= a[1] for a, b in pairwise(levels))
    assert all(max(level) <= 0.5 for level in levels)


@seeds
def test_exchanges_never_raise_the_objective(seed):
    """At one level of influence each fit and each exchange lowers ½‖w‖² + C Σ loss."""
    rng = np.random.default_rng(seed)
    X, y = gap(rng, 60, 0.0)
    labels = np.where(y[:20] == 1, 1.0, -1.0)
    trace = []

    def objective(plane, signs, weights):
        w, b = plane.coef_[0], plane.intercept_[0]
        slack = np.clip(1 - signs * (X[: len(signs)] @ w + b), 0, None)
        return 0.5 * (w @ w + b**2) + (weights * slack**2).sum()

    def fit(signs, weights):
        plane = LinearSVC(dual=False, tol=1e-8).fit(X[: len(signs)], signs, weights)
        trace.append((signs.copy(), weights.copy(), plane))
        return plane

    transduce(fit, lambda plane: plane.decision_function(X[20:]), labels, np.ones(20), 40, 20, 1.0)
    last_level = [step for step in trace if step[1][-1] == 1.0 and len(step[0]) == 60]
    values = [objective(plane, signs, weights) for signs, weights, plane in last_level]
    assert all(after <= before + 1e-6 for before, after in pairwise(values))


@seeds
@kernels
def test_the_plane_moves_out_of_the_dense_region(seed, kernel):
    """Few labels that tilt the plane; the gap between the unlabelled clusters puts it right."""
    rng = np.random.default_rng(seed)
    X, y = gap(rng, 200, 0.0)
    Z = np.array([[-1.0, -0.9], [1.0, 0.9], [-1.2, -0.8], [1.2, 0.8]])
    labels = np.array([0, 1, 0, 1])
    model = lb.TransductiveSVC(C=1.0, kernel=kernel, width=2.0).fit(Z, labels, X_unlabeled=X)
    plain = SVC(C=1.0, kernel=kernel, gamma=0.5 / 4).fit(Z, labels)
    assert model.score(X, y) > 0.95 > 0.92 > plain.score(X, y)
    np.testing.assert_array_equal(model.unlabeled_labels_, model.predict(X))


@kernels
def test_fractions_are_kept(kernel):
    rng = np.random.default_rng(0)
    Z, y = gap(rng, 60, 0.0)
    X, _ = gap(rng, 100, 0.0)
    for fraction in (0.3, 0.7):
        model = lb.TransductiveSVC(
            kernel=kernel, class_fractions=[1 - fraction, fraction], influence=100.0
        )
        scores = model.fit(Z, y, X_unlabeled=X).decision_function(X)
        # With a large influence the plane itself obeys the fraction, up to rows on the margin.
        assert abs((scores > 0).mean() - fraction) < 0.2


def test_without_unlabelled_rows_it_is_a_support_vector_machine():
    rng = np.random.default_rng(0)
    Z, y = gap(rng, 60, 0.0)
    X, y_x = gap(rng, 30, 0.2)
    model = lb.TransductiveSVC(width=1.0, target_share=None).fit(Z, y, X_target=X, y_target=y_x)
    plain = SVC(gamma=0.5).fit(np.vstack([Z, X]), np.concatenate([y, y_x]))
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-2)
    assert model.unlabeled_labels_.shape == (0,)


@kernels
def test_several_classes(kernel):
    rng = np.random.default_rng(0)
    centres = 4 * np.eye(3)
    y = np.repeat(["a", "b", "c"], 20)
    Z = np.repeat(centres, 20, axis=0) + rng.normal(size=(60, 3))
    X = np.repeat(centres, 20, axis=0) + 0.5 + rng.normal(size=(60, 3))
    model = lb.TransductiveSVC(kernel=kernel).fit(Z, y, X_unlabeled=X)
    assert model.score(X, y) > 0.9
    assert model.decision_function(X).shape == (60, 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, "`C` must be a finite number above 0"),
        ({"influence": -1.0}, "`influence` must be a finite number above 0"),
        ({"kernel": "no"}, "`kernel` must be one of"),
        ({"class_fractions": [1.0]}, "`class_fractions` must contain one number"),
        ({"class_fractions": [-0.5, 1.5]}, "`class_fractions` must contain one number"),
        ({"class_fractions": [0.5, 0.6]}, "`class_fractions` must sum to 1; got a sum of 1.1"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    rng = np.random.default_rng(0)
    Z, y = gap(rng, 20, 0.0)
    with pytest.raises(ValueError, match=message):
        lb.TransductiveSVC(**parameters).fit(Z, y, X_unlabeled=Z)
