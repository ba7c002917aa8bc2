"""MultiSourceTrAdaBoost and TaskTrAdaBoost (Yao and Doretto 2010) worked out by hand."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from landbridge import MultiSourceTrAdaBoostClassifier, TaskTrAdaBoostClassifier
from landbridge.boosting.multi_source_tradaboost import collect, select_by_target
from landbridge.boosting.tradaboost import CHANCE
from landbridge.boosting.voting import Boosted

TREE = DecisionTreeClassifier(max_depth=2, random_state=0)


def problem(seed=0, m=24, n=60):
    """Two noisy sources; the second has the target's rule."""
    rng = np.random.default_rng(seed)
    X, X_target = rng.normal(size=(2 * n, 3)), rng.normal(size=(m, 3))
    groups = np.repeat(["a", "b"], n)
    y = np.where(groups == "a", X[:, 0] > 0.5, X[:, 0] + X[:, 1] > 0) ^ (rng.random(2 * n) < 0.1)
    y_target = (X_target[:, 0] + X_target[:, 1] > 0) ^ (np.arange(m) % 6 == 0)
    return X, y, groups, X_target, y_target


def algorithm_1(X, y, groups, X_target, y_target, n_rounds):
    """The printed algorithm, with labels −1 and 1 and α as half logarithms."""
    signs, target_signs = np.where(y, 1, -1), np.where(y_target, 1, -1)
    names = np.unique(groups)
    rate = 0.5 * np.log(1 + np.sqrt(2 * np.log(len(y)) / n_rounds))
    w, v = np.ones(len(y)), np.ones(len(y_target))
    models, alphas, chosen = [], [], []
    for _ in range(n_rounds):
        total = w.sum() + v.sum()
        w, v = w / total, v / total
        candidates = []
        for name in names:
            own = groups == name
            weights = np.concatenate([w[own], v])
            model = clone(TREE)
            rows, labels = np.vstack([X[own], X_target]), np.concatenate([y[own], y_target])
            model.fit(rows, labels, sample_weight=weights / weights.mean())
            error = v[model.predict(X_target) != y_target].sum() / v.sum()
            # Among equals the smallest error on the training rows (Deviation 3).
            tie = weights[model.predict(rows) != labels].sum() / weights.sum()
            candidates.append((round(error, 12), tie, name, model))
        error, _, name, model = min(candidates, key=lambda c: c[:2])
        error = max(error, 0.5 / len(y_target))  # Deviation 2
        alpha = 0.5 * np.log((1 - error) / error)
        answers, target_answers = (np.where(model.predict(x), 1, -1) for x in (X, X_target))
        w = w * np.exp(-rate * np.abs(answers - signs))
        v = v * np.exp(alpha * np.abs(target_answers - target_signs))
        models.append(model)
        alphas.append(alpha)
        chosen.append(name)
    return models, np.array(alphas), chosen


@pytest.mark.parametrize("seed", range(4))
def test_algorithm_1_as_printed(seed):
    X, y, groups, X_target, y_target = problem(seed)
    models, alphas, chosen = algorithm_1(X, y, groups, X_target, y_target, 6)
    ours = MultiSourceTrAdaBoostClassifier(TREE, 6).fit(
        X, y, groups=groups, X_target=X_target, y_target=y_target
    )
    assert alphas.min() > 0.01, "the printed algorithm is at chance here"
    np.testing.assert_allclose(ours.estimator_weights_, 2 * alphas, rtol=1e-6)
    assert ours.chosen_sources_.tolist() == chosen
    new = np.random.default_rng(9).normal(size=(200, 3))
    printed = sum(a * np.where(f.predict(new), 1, -1) for a, f in zip(alphas, models, strict=True))
    np.testing.assert_array_equal(ours.predict(new), printed > 0)
    np.testing.assert_allclose(ours.decision_function(new), 2 * printed / len(models), atol=1e-6)


def test_shares_of_sources_are_those_of_their_votes():
    X, y, groups, X_target, y_target = problem(1)
    model = MultiSourceTrAdaBoostClassifier(TREE, 6).fit(
        X, y, groups=groups, X_target=X_target, y_target=y_target
    )
    votes = model.estimator_weights_
    expected = votes[model.chosen_sources_ == "b"].sum() / votes.sum()
    assert model.source_share_["b"] == pytest.approx(expected)
    assert sum(model.source_share_.values()) == pytest.approx(1)


def test_phase_2_by_hand():
    """Five rows: candidate 1 is wrong on one, candidate 0 on two, candidate 2 on four.

    Round 1: errors 2/5, 1/5, 4/5, and candidate 2 inverted has 1/5 too; the first of equals is
    candidate 1. Its vote is log 4; row 4, its mistake, then weighs 4/8 and the others 1/8.
    Round 2: candidate 0 is wrong on rows 0 and 1, 2/8; candidate 2 on all rows but row 0, 7/8,
    inverted 1/8, and is taken with the vote −log 7. Inverted it is wrong on row 0, which then
    weighs 7 · 1/8 of 14/8: one half, the others 1/14, 1/14, 1/14, 4/14.
    Round 3: candidate 0 is wrong on 1/2 + 1/14, inverted on 6/14, with the vote log(6/8).
    """
    mistakes = np.array(
        [
            [True, True, False, False, False],
            [False, False, False, False, True],
            [False, True, True, True, True],
        ]
    )
    done = select_by_target(mistakes, 2, 10)
    assert done.estimators == [1, 2, 0]
    np.testing.assert_allclose(done.errors, [1 / 5, 7 / 8, 8 / 14])
    np.testing.assert_allclose(done.votes, np.log([4, 1 / 7, 6 / 8]))
    assert done.stop_reason == "no candidate was left"


def test_phase_2_does_not_invert_candidates_of_three_classes():
    mistakes = np.array([[True, True, True, True, False], [True, True, False, False, False]])
    done = select_by_target(mistakes, 3, 10)
    assert done.estimators == [1]
    np.testing.assert_allclose(done.votes, [np.log(3 / 2) + np.log(2)])
    assert done.stop_reason == CHANCE


def test_phase_2_counts_an_error_of_zero_as_half_a_row():
    done = select_by_target(np.zeros((1, 4), dtype=bool), 2, 1)
    np.testing.assert_allclose(done.votes, [np.log(7)])


def test_phase_1_leaves_out_weak_learners():
    by_source = [Boosted(["a", "b"], [2.0, 0.1]), Boosted(["c"], [0.5])]
    candidates, origin = collect(by_source, 0.1)
    assert (candidates, origin.tolist()) == (["a", "c"], [0, 1])
    candidates, origin = collect(by_source, 5.0)
    assert (candidates, origin.tolist()) == (["a"], [0])


def test_an_inverted_source_is_used_upside_down():
    rng = np.random.default_rng(3)
    X, X_target, new = (
        rng.normal(size=(200, 2)),
        rng.normal(size=(30, 2)),
        rng.normal(size=(300, 2)),
    )
    model = TaskTrAdaBoostClassifier(n_estimators=5).fit(
        X, X[:, 0] < 0, X_target=X_target, y_target=X_target[:, 0] > 0
    )
    assert model.estimator_weights_[0] < 0
    assert model.score(new, new[:, 0] > 0) > 0.9
