"""`TransferBoostClassifier`: the transfer terms, the update, the report."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import landbridge as lb
from landbridge import TransferBoostClassifier, TrimmedTreeClassifier
from landbridge.boosting.transferboost import boosted_weights, transferability


def problem(seed=0, m=30):
    """Source "same" has the target's rule with little noise, "opposite" the reverse of it."""
    rng = np.random.default_rng(seed)
    X, X_target, X_test = (rng.normal(size=(k, 3)) for k in (160, m, 300))
    groups = np.repeat(["opposite", "same"], 80)
    y = (X[:, 0] + X[:, 1] > 0) ^ (groups == "opposite")
    return (
        X,
        y,
        groups,
        X_target,
        X_target[:, :2].sum(axis=1) > 0,
        X_test,
        X_test[:, :2].sum(axis=1) > 0,
    )


def fitted(model, data):
    X, y, groups, X_target, y_target, *_ = data
    return model.fit(X, y, groups=groups, X_target=X_target, y_target=y_target)


@pytest.mark.parametrize("seed", range(4))
def test_the_helpful_source_is_found_and_gains_weight(seed):
    data = problem(seed)
    model = fitted(TransferBoostClassifier(LogisticRegression(C=0.1), 10, target_share=None), data)
    assert model.sources_.tolist() == ["opposite", "same"]
    assert model.transferability_.shape == (model.n_estimators_, 2)
    assert model.source_transfer_["same"] > model.source_transfer_["opposite"]
    first, last = model.source_mass_[0], model.source_mass_[-1]
    assert first[0] == pytest.approx(first[1])
    if model.n_estimators_ > 1:
        assert last[1] > last[0]


@pytest.mark.parametrize(("share", "source_mass"), [(None, 160 / 190), (0.5, 0.5), (0.2, 0.8)])
def test_the_target_starts_with_its_share_of_the_weight(share, source_mass):
    model = fitted(TransferBoostClassifier(n_estimators=1, target_share=share), problem())
    assert model.source_mass_[0].sum() == pytest.approx(source_mass)


def test_a_share_outside_of_0_and_1_is_refused():
    with pytest.raises(ValueError, match="`target_share` must be between 0 and 1"):
        fitted(TransferBoostClassifier(target_share=1.5), problem())


def test_transfer_terms_by_hand():
    X, y, groups, X_target, y_target, *_ = problem(5)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    model = fitted(TransferBoostClassifier(tree, 1, random_state=0, target_share=None), problem(5))
    alone = (tree.fit(X_target, y_target).predict(X_target) != y_target).mean()
    for j, name in enumerate(model.sources_):
        rows = groups == name
        tree.fit(np.vstack([X[rows], X_target]), np.append(y[rows], y_target))
        added = (tree.predict(X_target) != y_target).mean()
        assert model.transferability_[0, j] == pytest.approx(alone - added)


def test_the_update_by_hand():
    weights = np.array([0.25, 0.25, 0.25, 0.25])
    got = boosted_weights(weights, np.array([0, 1, 0, 1]), np.array([0.2, 0.2, 0.0, 0.0]), 0.7)
    np.testing.assert_allclose(got, 0.25 * np.exp([0.2, 0.9, 0.0, 0.7]))


def test_the_vote_minimises_the_sum_of_the_new_weights():
    data = problem(6)
    stump = TrimmedTreeClassifier(1, target_error=None)
    model = fitted(TransferBoostClassifier(stump, 1, target_share=None), data)
    X, y, groups, X_target, y_target, *_ = data
    rows = np.vstack([X, X_target])
    mistakes = model.estimators_[0].predict(rows) != np.append(y, y_target)
    alpha = np.append(model.transferability_[0][(groups == "same").astype(int)], np.zeros(30))

    def total(vote):  # the symmetric form: right rows are lowered as much as wrong ones are raised
        return np.exp(alpha + vote / 2 * np.where(mistakes, 1, -1)).sum()

    best = model.estimator_weights_[0]
    assert total(best) < min(total(best - 0.01), total(best + 0.01))


def test_a_target_of_one_class_is_learned_without_a_mistake():
    class Never:
        def fit(self, weights, inside=None):
            assert inside.size > 3, "the target alone is not fitted"
            return object()

        def mistakes(self, estimator):
            return np.array([0, 0, 1, 0, 0, 1.0])

    weights = np.full(6, 1 / 6)
    terms = transferability(Never(), weights, [np.arange(3)], np.arange(3, 6), one_class=True)
    np.testing.assert_allclose(terms, [-1 / 3])


def test_without_groups_all_of_X_is_one_source():
    X, y, _, X_target, y_target, X_test, y_test = problem(7)
    model = TransferBoostClassifier(n_estimators=5).fit(
        X[80:], y[80:], X_target=X_target, y_target=y_target
    )
    assert model.sources_.tolist() == ["source"]
    assert model.score(X_test, y_test) > 0.7


def test_without_a_target_there_are_no_terms():
    X, y, groups, *_ = problem(8)
    with pytest.warns(lb.NoTargetWarning, match="equals AdaBoost fitted on X"):
        model = TransferBoostClassifier(n_estimators=3).fit(X, y, groups=groups)
    assert model.source_transfer_ == {}
    assert model.transferability_.shape == (model.n_estimators_, 0)


def test_a_learner_at_chance_warns_and_stays():
    X = np.zeros((40, 1))
    y = np.tile([0, 1], 20)
    model = TransferBoostClassifier(n_estimators=3)
    with pytest.warns(lb.WeakLearnerWarning):
        model.fit(X, y, X_target=X[:12], y_target=y[:12])
    assert model.n_estimators_ == 1
    assert model.predict(X[:2]).shape == (2,)


def test_groups_must_name_every_row():
    X, y, groups, X_target, y_target, *_ = problem(9)
    with pytest.raises(ValueError, match="`groups` must name the source of each of the 160 rows"):
        TransferBoostClassifier().fit(X, y, groups=groups[1:], X_target=X_target, y_target=y_target)
