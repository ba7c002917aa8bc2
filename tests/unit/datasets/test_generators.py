"""The truth that a generator states is the truth of what it generates.

Monte Carlo means over ``N_ROWS`` rows are compared with closed forms at five standard errors of the
mean, estimated from the same rows, for several seeds: a flipped sign is hundreds of them away.
"""

import pickle

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.stats import multivariate_normal, norm

from landbridge.datasets import (
    make_concept_shift,
    make_covariate_shift,
    make_label_shift,
    make_sources,
)

N_ROWS = 40_000
SEEDS = [0, 1, 2]
TASKS = ["classification", "regression"]
GENERATORS = [make_covariate_shift, make_label_shift, make_concept_shift, make_sources]


def assert_mean(values, truth):
    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / np.sqrt(len(values))
    assert abs(values.mean() - truth) < 5 * error + 1e-12


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("task", TASKS)
def test_the_same_seed_gives_the_same_rows_and_the_global_state_is_untouched(generator, task):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, again = (generator(task=task, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y_target, again.y_target)
    assert not np.array_equal(first.X, generator(task=task, random_state=4).X)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("generator", GENERATORS)
def test_an_unknown_task(generator):
    with pytest.raises(ValueError, match="`task` must be one of 'classification', 'regression'"):
        generator(task="ranking")


# Covariate shift -----------------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_the_ratio_is_the_ratio_of_the_two_densities(n_features):
    data = make_covariate_shift(200, 50, n_features, shift=0.8, scale=0.6, random_state=0)
    mean = np.full(n_features, 0.8 / np.sqrt(n_features))
    target = multivariate_normal(mean, 0.36 * np.eye(n_features))
    source = multivariate_normal(np.zeros(n_features), np.eye(n_features))
    for rows, weights in [(data.X, data.weights), (data.X_target, data.weights_target)]:
        truth = np.exp(target.logpdf(rows) - source.logpdf(rows))
        np.testing.assert_allclose(weights, truth, rtol=1e-10)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(data.ratio))(data.X), data.weights)  # noqa: S301


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("n_features", [2, 5])
def test_weighted_source_means_are_target_means(seed, task, n_features):
    data = make_covariate_shift(N_ROWS, N_ROWS, n_features, shift=0.7, task=task, random_state=seed)
    assert_mean(data.weights, 1)
    for column in range(n_features):
        assert_mean(data.weights * data.X[:, column], 0.7 / np.sqrt(n_features))
        assert_mean(data.X_target[:, column], 0.7 / np.sqrt(n_features))
    assert_mean(data.weights * data.y, data.target_mean)
    assert_mean(data.y_target, data.target_mean)
    assert_mean(data.y, data.source_mean)
    assert_mean(data.weights**2, 1 / data.effective_share)
    assert abs(data.source_mean - data.target_mean) > 0.05


def test_the_effective_share_is_a_gaussian_integral():
    data = make_covariate_shift(10, 10, 1, shift=0.9, scale=0.8, random_state=0)
    target, source = norm(0.9, 0.8), norm()
    second_moment, _ = quad(lambda x: target.pdf(x) ** 2 / source.pdf(x), -12, 12)
    assert data.effective_share == pytest.approx(1 / second_moment)
    two = make_covariate_shift(10, 10, 2, shift=0.9, scale=0.8, random_state=0)
    inner = multivariate_normal(np.full(2, 0.9 / np.sqrt(2)), 0.64 * np.eye(2))
    outer = multivariate_normal(np.zeros(2), np.eye(2))
    value, _ = dblquad(lambda a, b: inner.pdf([a, b]) ** 2 / outer.pdf([a, b]), -7, 8, -7, 8)
    assert two.effective_share == pytest.approx(1 / value, rel=1e-5)
    assert make_covariate_shift(10, 10, scale=1.5, random_state=0).effective_share == 0


def test_no_shift_means_weight_one():
    data = make_covariate_shift(shift=0, scale=1, random_state=0)
    np.testing.assert_allclose(data.weights, 1)
    assert data.effective_share == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_source": 0}, "`n_source` must be a whole number of at least 1; got 0"),
        ({"n_features": 1.5}, "`n_features` must be a whole number of at least 1; got 1.5"),
        ({"scale": 0}, "`scale` must be a finite number above 0; got 0"),
        ({"noise": -1}, "`noise` must be a finite number above 0; got -1"),
    ],
)
def test_impossible_covariate_shifts(options, message):
    with pytest.raises(ValueError, match=message):
        make_covariate_shift(**options)


# Label shift ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_class_weights_turn_one_set_of_proportions_into_the_other(seed):
    before, after = [0.5, 0.3, 0.2], [0.1, 0.3, 0.6]
    data = make_label_shift(
        N_ROWS, N_ROWS, source_proportions=before, target_proportions=after, random_state=seed
    )
    np.testing.assert_allclose(data.class_weights, np.divide(after, before))
    for k in range(3):
        assert_mean(data.y == k, before[k])
        assert_mean(data.y_target == k, after[k])
        assert_mean(data.weights * (data.y == k), after[k])
    assert_mean(data.y_target, data.target_mean)
    # The features follow from the label alone, so weighting the label moves them as well.
    np.testing.assert_allclose(
        np.average(data.X, axis=0, weights=data.weights), data.X_target.mean(axis=0), atol=0.06
    )


def test_features_given_the_class_do_not_shift():
    data = make_label_shift(N_ROWS, N_ROWS, separation=1.5, random_state=0)
    for k, centre in enumerate([[1.5, 0], [0, 1.5]]):
        np.testing.assert_allclose(data.X[data.y == k].mean(axis=0), centre, atol=0.05)
        np.testing.assert_allclose(
            data.X_target[data.y_target == k].mean(axis=0), centre, atol=0.05
        )


def test_more_classes_than_features_have_different_centres():
    equal = [0.25] * 4
    data = make_label_shift(
        N_ROWS, 10, 2, source_proportions=equal, target_proportions=equal, random_state=0
    )
    centres = [data.X[data.y == k].mean(axis=0).round(0).tolist() for k in range(4)]
    assert centres == [[2, 0], [0, 2], [4, 0], [0, 4]]


@pytest.mark.parametrize("seed", SEEDS)
def test_label_shift_of_a_number(seed):
    data = make_label_shift(
        N_ROWS, N_ROWS, shift=0.5, scale=0.8, separation=2, task="regression", random_state=seed
    )
    assert_mean(data.weights, 1)
    assert_mean(data.weights * data.y, 0.5)
    assert_mean(data.weights * (data.y - 0.5) ** 2, 0.64)
    assert_mean(data.y_target, data.target_mean)
    assert_mean(data.weights * data.X[:, 0], 2 / np.sqrt(2) * 0.5)
    assert data.class_weights is None


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ((0.5, 0.6), (0.5, 0.5), "`source_proportions` must be non-negative with sum 1"),
        ((0.5, 0.5), (-0.5, 1.5), "`target_proportions` must be non-negative with sum 1"),
        ((0.5, 0.5), (0.2, 0.3, 0.5), "same length as `target_proportions`; got lengths 2 and 3"),
        ((0.0, 1.0), (0.5, 0.5), "`source_proportions` must be positive"),
    ],
)
def test_impossible_proportions(before, after, message):
    with pytest.raises(ValueError, match=message):
        make_label_shift(source_proportions=before, target_proportions=after)


# Concept shift -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("angle", [0.0, np.pi / 3, np.pi])
def test_the_source_rule_scores_what_is_stated(seed, angle):
    classes = make_concept_shift(10, N_ROWS, 3, angle=angle, noise=0.1, random_state=seed)
    assert_mean(
        (classes.X_target @ classes.coef > 0) == classes.y_target, classes.source_rule_score
    )
    own = (classes.X_target @ classes.coef_target > 0) == classes.y_target
    assert_mean(own, classes.target_rule_score)
    assert classes.target_rule_score == pytest.approx(0.9)
    numbers = make_concept_shift(
        10, N_ROWS, 3, angle=angle, noise=0.5, task="regression", random_state=seed
    )
    squares = (numbers.X_target @ numbers.coef - numbers.y_target) ** 2
    assert_mean(squares, numbers.source_rule_score)
    own_squares = (numbers.X_target @ numbers.coef_target - numbers.y_target) ** 2
    assert_mean(own_squares, numbers.target_rule_score)
    assert numbers.target_rule_score == pytest.approx(0.25)


def test_the_features_of_a_concept_shift_do_not_shift():
    data = make_concept_shift(N_ROWS, N_ROWS, random_state=0)
    assert (data.weights == 1).all()
    np.testing.assert_allclose(data.X.mean(axis=0), data.X_target.mean(axis=0), atol=0.05)
    assert data.coef @ data.coef_target == pytest.approx(np.cos(np.pi / 4))


def test_impossible_concept_shifts():
    with pytest.raises(ValueError, match="`n_features` must be at least 2"):
        make_concept_shift(n_features=1)
    for angle in (-0.1, 7.0, np.nan):
        with pytest.raises(ValueError, match=r"`angle` must be in \[0, π\], in radians; got"):
            make_concept_shift(angle=angle)
    with pytest.raises(ValueError, match=r"`noise` must be in \[0, 1\]"):
        make_concept_shift(noise=2)


# Several sources -----------------------------------------------------------------------------


def test_sizes_names_and_coefficients_of_the_sources():
    data = make_sources(3, [10, 20, 30], 4, n_target=7, noise=0, random_state=0)
    names, sizes = np.unique(data.groups, return_counts=True)
    assert names.tolist() == ["source 0", "source 1", "source 2"]
    assert sizes.tolist() == [10, 20, 30]
    assert data.X_target.shape == (7, 4)
    for k, name in enumerate(names):
        own = data.groups == name
        np.testing.assert_allclose(data.X[own] @ data.source_coef[k], data.y[own])
    np.testing.assert_allclose(data.X_target @ data.target_coef, data.y_target)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_common_rule_has_the_stated_error_on_new_sources(seed):
    data = make_sources(
        4000, 1, 3, between=0.4, location=0.7, noise=0.2, n_target=1, random_state=seed
    )
    # One row a source: the rows are independent draws from new sources.
    assert_mean((data.X @ data.coef - data.y) ** 2, data.new_source_error)
    assert np.linalg.norm(data.coef) == pytest.approx(1)
    np.testing.assert_allclose(data.source_coef.std(axis=0), 0.4, rtol=0.1)
    np.testing.assert_allclose(data.centres.std(axis=0), 0.7, rtol=0.1)


def test_classes_of_several_sources_follow_their_own_rule():
    data = make_sources(2, N_ROWS, 3, noise=0.1, task="classification", random_state=0)
    for k in range(2):
        own = data.groups == f"source {k}"
        assert_mean((data.X[own] @ data.source_coef[k] > 0) == data.y[own], 0.9)
    assert data.new_source_error is None


@pytest.mark.parametrize("n_per_source", [0, [10, 20], [5, 5, 0]])
def test_impossible_sizes_of_sources(n_per_source):
    with pytest.raises(ValueError, match="`n_per_source` must be one positive number of rows, or"):
        make_sources(3, n_per_source)


@pytest.mark.parametrize("name", ["n_sources", "n_features", "n_target"])
@pytest.mark.parametrize("size", [0, -1, 2.5, "many"])
def test_impossible_numbers_of_sources_features_and_target_rows(name, size):
    with pytest.raises(ValueError, match=f"`{name}` must be a whole number of at least 1; got"):
        make_sources(**{name: size})
