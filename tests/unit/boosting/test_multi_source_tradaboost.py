"""Two estimators for several sources: which source is chosen, edge cases, messages."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import landbridge as lb
from landbridge import MultiSourceTrAdaBoostClassifier, TaskTrAdaBoostClassifier

TREE = lb.TrimmedTreeClassifier(max_depth=3, target_error=None)
BOTH = [MultiSourceTrAdaBoostClassifier, TaskTrAdaBoostClassifier]


def problem(seed=0, m=30):
    """Source "same" has the target's rule, "other" one about another feature."""
    rng = np.random.default_rng(seed)
    X, X_target, X_test = (rng.normal(size=(k, 3)) for k in (200, m, 400))
    groups = np.repeat(["other", "same"], 100)
    y = np.where(groups == "same", X[:, 0], X[:, 2]) > 0
    return X, y, groups, X_target, X_target[:, 0] > 0, X_test, X_test[:, 0] > 0


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("seed", range(3))
def test_the_source_with_the_rule_of_the_target_is_chosen(estimator, seed):
    X, y, groups, X_target, y_target, X_test, y_test = problem(seed)
    model = estimator(TREE, 8).fit(X, y, groups=groups, X_target=X_target, y_target=y_target)
    assert model.sources_.tolist() == ["other", "same"]
    assert model.chosen_sources_[0] == "same"
    assert model.source_share_["same"] > 0.5
    assert model.score(X_test, y_test) > 0.85


@pytest.mark.parametrize("estimator", BOTH)
def test_without_a_target_it_is_adaboost(estimator):
    X, y, groups, *_ = problem()
    with pytest.warns(lb.NoTargetWarning, match="equals AdaBoost fitted on X"):
        model = estimator(LogisticRegression(), 4).fit(X, y, groups=groups)
    assert model.chosen_sources_.size == 0
    assert model.source_share_ == {"other": 0.0, "same": 0.0}
    with pytest.warns(lb.NoTargetWarning):
        plain = lb.TrAdaBoostClassifier(LogisticRegression(), 4).fit(X, y)
    np.testing.assert_allclose(model.estimator_weights_, plain.estimator_weights_)


def test_one_source_is_tradaboost_in_which_all_rounds_vote():
    X, y, _, X_target, y_target, X_test, _ = problem(1)
    given = {"X_target": X_target, "y_target": y_target}
    base = LogisticRegression(C=0.1)
    one = MultiSourceTrAdaBoostClassifier(base, 6).fit(X, y, **given)
    plain = lb.TrAdaBoostClassifier(base, 6, correction="none", target_share=None)
    plain.fit(X, y, **given)
    np.testing.assert_allclose(one.estimator_weights_, plain.estimator_weights_)
    np.testing.assert_array_equal(one.predict(X_test), plain.predict(X_test))


def test_three_classes():
    rng = np.random.default_rng(4)
    X, X_target = rng.normal(size=(300, 2)), rng.normal(size=(60, 2))
    rule = lambda rows: np.digitize(rows[:, 0], [-0.5, 0.5])  # noqa: E731
    groups = np.arange(300) % 3
    for estimator in BOTH:
        model = estimator(n_estimators=6).fit(
            X, rule(X), groups=groups, X_target=X_target, y_target=rule(X_target)
        )
        assert model.score(X, rule(X)) > 0.8


@pytest.mark.parametrize("estimator", BOTH)
def test_a_learner_at_chance_warns_and_stays(estimator):
    X, y = np.zeros((40, 1)), np.tile([0, 1], 20)
    with pytest.warns(lb.WeakLearnerWarning):
        model = estimator(n_estimators=3).fit(X, y, X_target=X[:12], y_target=y[:12])
    assert model.n_estimators_ == 1
    assert model.predict(X[:2]).shape == (2,)


@pytest.mark.parametrize("estimator", BOTH)
def test_rounds_and_groups_are_checked(estimator):
    X, y, groups, X_target, y_target, *_ = problem()
    given = {"X_target": X_target, "y_target": y_target}
    with pytest.raises(ValueError, match="`n_estimators` must be a whole number of at least 1"):
        estimator(n_estimators=0).fit(X, y, **given)
    with pytest.raises(ValueError, match="`groups` must name the source of each of the 200 rows"):
        estimator().fit(X, y, groups=groups[1:], **given)


def test_a_source_with_one_class_gives_constant_learners():
    X = np.arange(40.0)[:, None] % 20
    y, groups = (X[:, 0] >= 10).astype(int), np.repeat(["both", "one"], 20)
    y[20:] = 1
    target = {"X_target": X[:20], "y_target": np.append(1, y[1:20])}
    model = TaskTrAdaBoostClassifier(n_estimators=2).fit(X, y, groups=groups, **target)
    assert model.chosen_sources_.tolist() == ["both", "one"]
    assert model.estimators_[1].predict(X[:3]).tolist() == [1, 1, 1]
