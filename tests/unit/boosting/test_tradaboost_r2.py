"""`TrAdaBoostRegressor`: both variants, their pieces, and what is refused."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import landbridge as lb
from landbridge import TrAdaBoostRegressor
from landbridge.boosting.tradaboost import Rules, boost
from landbridge.boosting.tradaboost_r2 import (
    WeightedRegressor,
    adjusted_errors,
    boost_target,
    decay_for_share,
    decayed,
    target_shares,
    weighted_median,
)


def problem(seed=0, n=150, m=25, opposite=0.4):
    """The target's line, and a source in which a part of the rows follows another one."""
    rng = np.random.default_rng(seed)
    X, X_target, X_test = (rng.uniform(-1, 1, size=(k, 2)) for k in (n, m, 300))
    wrong = rng.random(n) < opposite
    y = np.where(wrong, -2 * X[:, 0] + 1, 2 * X[:, 0]) + 0.1 * rng.normal(size=n)
    return X, y, X_target, 2 * X_target[:, 0], X_test, 2 * X_test[:, 0]


def fitted(model, data):
    X, y, X_target, y_target, *_ = data
    return model.fit(X, y, X_target=X_target, y_target=y_target)


@pytest.mark.filterwarnings("ignore::landbridge.LandbridgeWarning")
@parametrize_with_checks([TrAdaBoostRegressor(n_estimators=3, random_state=0)])
def test_check_estimator_with_trees(estimator, check):
    check(estimator)


def test_adjusted_errors():
    got = adjusted_errors(np.array([0.0, 1.0, 4.0]), np.zeros(3))
    np.testing.assert_allclose(got, [0.0, 0.25, 1.0])
    assert adjusted_errors(np.ones(3), np.ones(3)).tolist() == [0, 0, 0]


def test_weighted_median_by_hand():
    predictions = np.array([[1.0, 5.0, 3.0], [2.0, 2.0, 9.0]])
    assert weighted_median(predictions, np.array([1.0, 1.0, 1.0])).tolist() == [3.0, 2.0]
    assert weighted_median(predictions, np.array([0.2, 3.0, 0.3])).tolist() == [5.0, 2.0]
    # Half of the weight is enough: the smaller of two that weigh the same.
    assert weighted_median(np.array([[1.0, 2.0]]), np.ones(2)).tolist() == [1.0]


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.999])
def test_the_decay_brings_the_target_to_its_share(share):
    rng = np.random.default_rng(0)
    source, errors = rng.random(50), rng.uniform(1e-6, 1, 50)
    decay = decay_for_share(source, errors, 5.0, share)
    after = decayed(source, errors, decay)
    assert decay > 0
    assert 5.0 / (5.0 + after.sum()) == pytest.approx(share)
    assert np.array_equal(
        np.argsort(after / source), np.argsort(-errors)
    )  # larger error, less left


def test_the_source_goes_where_no_decay_does():
    errors = np.array([0.0, 0.0, 0.5, 1.0])
    assert decay_for_share(np.ones(4), errors, 1.0, 0.9) == np.inf
    decay = decay_for_share(np.ones(4), errors + 0.1, 1.0, 1.0)
    assert decayed(np.ones(4), errors + 0.1, decay).sum() < 1e-300
    assert decayed(np.ones(4), errors, np.inf).sum() < 1e-300
    assert decay_for_share(np.ones(4), errors, 1.0, 0.1) == 0.0


def test_target_shares_rise_to_one():
    shares = list(target_shares(90, 10, 4))
    np.testing.assert_allclose(shares, [0.1 + 0.3, 0.1 + 0.6, 1.0])


def test_frozen_source_weights_in_adaboost_r2_prime():
    X, y, X_target, y_target, *_ = problem()
    rows, values = np.vstack([X, X_target]), np.append(y, y_target)
    seen = []

    class Spy(WeightedRegressor):
        def fit(self, weights, inside=None):
            seen.append(weights.copy())
            return super().fit(weights, inside)

    learner = Spy(Ridge(), rows, values, np.random.RandomState(0))
    weights = np.full(175, 1 / 175)
    boost_target(learner, weights, 150, 5, np.arange(175))
    assert len(seen) > 2
    for given in seen:
        assert np.array_equal(given[:150], weights[:150])
        assert given[150:].sum() == pytest.approx(weights[150:].sum())
    assert not np.allclose(seen[-1][150:], weights[150:])
    errors = adjusted_errors(values, Ridge().fit(rows, values).predict(rows))
    heavier = seen[1][150:] / seen[0][150:]
    assert np.array_equal(
        np.argsort(heavier), np.argsort(errors[150:])
    )  # larger error, more weight


def test_rows_that_are_held_out_have_no_part_in_adaboost_r2_prime():
    X, y, X_target, y_target, *_ = problem()
    rows, answers = np.vstack([X, X_target]), np.concatenate([y, y_target])
    inside, weights = np.arange(170), np.full(175, 1 / 175)
    votes = []
    for outlier in (0.0, 1e6):
        answers[172] += outlier
        tree = DecisionTreeRegressor(max_depth=2, random_state=0)
        learner = WeightedRegressor(tree, rows, answers, np.random.RandomState(0))
        votes.append(boost_target(learner, weights, 150, 5, inside).votes)
    assert votes[0] == votes[1]


@pytest.mark.parametrize("variant", ["r2", "two_stage"])
@pytest.mark.parametrize("seed", range(3))
def test_transfer_beats_the_source_alone(variant, seed):
    data = problem(seed)
    base = DecisionTreeRegressor(max_depth=4, random_state=0)
    model = fitted(TrAdaBoostRegressor(base, 8, variant=variant, n_steps=5, random_state=0), data)
    alone = base.fit(data[0], data[1])
    X_test, y_test = data[4:]
    assert (
        np.abs(model.predict(X_test) - y_test).mean()
        < np.abs(alone.predict(X_test) - y_test).mean()
    )


def test_two_stages_report_their_choice():
    data = problem(1)
    model = fitted(TrAdaBoostRegressor(Ridge(), 4, variant="two_stage", n_steps=4), data)
    assert model.cv_errors_.shape == (4,)
    assert model.best_step_ == model.cv_errors_.argmin()
    np.testing.assert_allclose(1 - model.source_mass_, [1 / 7, 3 / 7, 5 / 7, 1], atol=1e-8)


def test_r2_without_correction_is_pardoe_and_stones_update():
    X, y, X_target, y_target, *_ = problem(2)
    rows, values = np.vstack([X, X_target]), np.append(y, y_target)
    learner = WeightedRegressor(Ridge(), rows, values, np.random.RandomState(0))
    rules = Rules(3, correction="none", store_weights=True)
    done = boost(learner, np.zeros(175, dtype=int), 150, 2, rules)
    model = TrAdaBoostRegressor(Ridge(), 3, correction="none")
    model.fit(X, y, X_target=X_target, y_target=y_target)
    np.testing.assert_array_equal(model.errors_, done.errors)
    weights = np.full(175, 1 / 175)
    rate = 1 / (1 + np.sqrt(2 * np.log(150) / 3))
    for t in range(2):
        fit = Ridge().fit(rows, values, sample_weight=weights * 175)
        errors = np.abs(fit.predict(rows) - values)
        errors /= errors.max()
        mean = errors[150:] @ weights[150:] / weights[150:].sum()
        np.testing.assert_allclose(model.errors_[t], mean)
        weights[:150] *= rate ** errors[:150]
        weights[150:] *= (mean / (1 - mean)) ** -errors[150:]
        weights /= weights.sum()
        np.testing.assert_allclose(done.source_weights[t + 1], weights[:150])
        np.testing.assert_allclose(done.target_weights[t + 1], weights[150:])


def test_dynamic_slows_the_drift():
    data = problem(3, opposite=0.0)
    mass = [fitted(TrAdaBoostRegressor(Ridge(), 10, correction=c), data).source_mass_[-1]
            for c in ("none", "dynamic")]  # fmt: skip
    assert mass[0] < mass[1]


def test_a_regressor_without_weights_is_fitted_to_drawn_rows():
    data = problem(4)
    model = TrAdaBoostRegressor(KNeighborsRegressor(3), 4, random_state=0)
    with pytest.warns(
        lb.WeightingWarning, match="KNeighborsRegressor does not accept sample_weight"
    ):
        fitted(model, data)
    assert np.isfinite(model.predict(data[4])).all()


def test_few_target_rows_warn_and_a_single_one_fits():
    X, y, X_target, y_target, *_ = problem(5)
    for rows in (1, 4):
        with pytest.warns(lb.FewTargetRowsWarning, match=f"{rows} labelled target rows"):
            TrAdaBoostRegressor(Ridge(), 2, variant="two_stage", n_steps=2).fit(
                X, y, X_target=X_target[:rows], y_target=y_target[:rows]
            )


def test_a_perfect_fit_stops_at_once():
    X = np.linspace(0, 1, 40)[:, None]
    model = TrAdaBoostRegressor(LinearRegression(), 5).fit(
        X, np.zeros(40), X_target=X[:12], y_target=np.zeros(12)
    )
    assert model.n_estimators_ == 1
    assert model.stop_reason_ == "no row was misclassified any more"


def test_a_regressor_at_chance_warns():
    X, X_target = np.zeros((30, 1)), np.zeros((20, 1))
    y, y_target = np.zeros(30), np.tile([-1.0, 1.0], 10)
    model = TrAdaBoostRegressor(Ridge(), 4)
    with pytest.warns(lb.WeakLearnerWarning):
        model.fit(X, y, X_target=X_target, y_target=y_target)
    assert model.n_estimators_ == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"variant": "r3"}, "`variant` must be one of 'r2', 'two_stage'"),
        ({"estimator": GaussianNB()}, "`estimator` must be a regressor; got GaussianNB"),
        ({"n_steps": 1}, "`n_steps` must be a whole number of at least 2; got 1"),
        ({"n_estimators": 0}, "`n_estimators` must be a whole number of at least 1"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(TrAdaBoostRegressor(**parameters), problem())
