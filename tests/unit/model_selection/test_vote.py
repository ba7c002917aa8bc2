"""The vote: weights by stacking and by skill, members, cross-fitting, and the voting model."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import FixedThresholdClassifier, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from landbridge import Pooled, SearchResult, SourceOnly, TargetOnly, TransferSearchCV
from landbridge._validation import check_rows
from landbridge.model_selection import vote
from landbridge.model_selection.candidates import prediction_cost
from landbridge.model_selection.vote import (
    MOST_COST,
    VotingModel,
    combine,
    cross_fitted,
    disagreement,
    members_of,
    number_limits,
    relative_costs,
    role_prior,
    skill_weights,
    vote_weights,
)
from landbridge.persistence import load_model, save_model


def probabilities(rng, y, skills, n_classes=2):
    """Predictions of cells; the logit of the true class is raised by the skill of each."""
    logits = rng.normal(size=(len(skills), y.size, n_classes))
    logits[:, np.arange(y.size), y] += np.array(skills)[:, None]
    exponentials = np.exp(logits)
    return exponentials / exponentials.sum(axis=2, keepdims=True)


def test_prior_gives_roles_their_mass_and_kinds_equal_shares():
    roles = ["pooled", "transfer", "transfer", "source-only", "target-only"]
    weights = role_prior(roles, kinds=["linear", "grid", "grid", "linear", "linear"])
    assert_allclose(weights, [0.35, 0.175, 0.175, 0.2, 0.1])


def test_absent_roles_give_their_mass_to_the_others():
    assert_allclose(role_prior(["source-only", "target-only"]), [2 / 3, 1 / 3])
    assert_allclose(role_prior(["source-only"] * 4), [0.25] * 4)


def test_weights_minimise_log_loss_plus_divergence_from_the_prior():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=30)
    target = probabilities(rng, y, [0.0, 1.0, 2.0], n_classes=3)
    roles = ["source-only", "pooled", "target-only"]
    prior = role_prior(roles)

    def objective(free, strength=5.0):
        w = np.append(free, 1 - free.sum())
        mixture = w @ target[:, np.arange(30), y]
        return -np.log(mixture).sum() + strength * (w @ np.log(w / prior))

    expected = minimize(
        objective,
        prior[:2],
        bounds=[(1e-6, 1 - 1e-6)] * 2,
        constraints={"type": "ineq", "fun": lambda free: 1 - 1e-6 - free.sum()},
        options={"ftol": 1e-14, "maxiter": 500},
        tol=1e-12,
    ).x
    weights = vote_weights(target, y, roles=roles, strength=5.0)
    assert_allclose(weights[:2], expected, atol=1e-4)
    assert weights.sum() == pytest.approx(1.0)


def test_without_evidence_weights_are_the_prior_and_with_much_they_are_the_best_cell():
    rng = np.random.default_rng(1)
    roles = ["source-only", "pooled", "target-only"]
    y = rng.integers(0, 2, size=20)
    same = np.repeat(probabilities(rng, y, [1.0]), 3, axis=0)
    assert_allclose(vote_weights(same, y, roles=roles), role_prior(roles), atol=1e-6)
    y = rng.integers(0, 2, size=5000)
    target = probabilities(rng, y, [0.0, 0.0, 6.0])
    assert vote_weights(target, y, roles=roles)[2] > 0.95


def test_regression_weights_balance_errors_that_cancel_and_shut_out_a_terrible_cell():
    rng = np.random.default_rng(2)
    y = rng.normal(size=200)
    error = rng.normal(size=200)
    target = np.stack([y + error, y - error, y + 1e6 * rng.normal(size=200)])
    weights = vote_weights(target, y, roles=["pooled"] * 3)
    assert_allclose(weights, [0.5, 0.5, 0.0], atol=1e-3)


def test_the_lightest_member_leaves_and_the_others_are_weighted_again():
    rng = np.random.default_rng(6)
    roles = ["source-only"] * 6 + ["pooled"] * 5 + ["target-only"] * 2
    differ = 0
    for _ in range(5):
        y = rng.integers(0, 2, size=40)
        target = probabilities(rng, y, np.linspace(0, 1, 13))
        kept = np.arange(13)
        for n_kept in (10, 9, 8, 7, 6, 5):
            own = [roles[cell] for cell in kept]
            weights = vote_weights(target[kept], y, roles=own, most=13)
            kept = kept[np.sort(np.argsort(-weights)[:n_kept])]
        expected = vote_weights(target[kept], y, roles=[roles[cell] for cell in kept])
        found = vote_weights(target, y, roles=roles)
        assert np.flatnonzero(found).tolist() == kept.tolist()
        assert_allclose(found[kept], expected)
        at_once = np.argsort(-vote_weights(target, y, roles=roles, most=13))[:5]
        differ += set(kept) != set(at_once)
    assert differ > 0


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_weights_of_rows_count_in_the_vote(task):
    rng = np.random.default_rng(8)
    y = rng.integers(0, 2, size=40)
    target = probabilities(rng, y, [0.5, 1.0, 2.0])
    if task == "regression":
        y, target = rng.normal(size=40), rng.normal(size=(3, 40)) * [[0.5], [1.0], [2.0]]
    roles, folds = ["pooled", "source-only", "target-only"], np.arange(40) % 4
    weight = np.where(np.arange(40) < 20, 0.0, 3.0)
    half = vote_weights(target[:, 20:], y[20:], roles=roles)
    assert_allclose(vote_weights(target, y, roles=roles, sample_weight=weight), half)
    assert_allclose(
        cross_fitted(target, y, folds, roles=roles, sample_weight=weight)[20:],
        cross_fitted(target[:, 20:], y[20:], folds[20:], roles=roles),
    )
    nothing = vote_weights(target, y, roles=roles, sample_weight=np.zeros(40))
    assert_allclose(nothing, role_prior(roles), atol=1e-6)


def test_a_vote_of_one_member_predicts_as_it_was_validated():
    X, y, X_target, y_target = two_domains("classification")
    candidates = {"careful": FixedThresholdClassifier(LogisticRegression(), threshold=0.9)}
    search = TransferSearchCV(candidates, random_state=0)
    search.fit(X, y, X_target=X_target, y_target=y_target)
    np.testing.assert_array_equal(
        search.predict(X_target), search.best_estimator_.predict(X_target)
    )
    assert np.any(search.predict(X_target) != search.predict_proba(X_target).argmax(axis=1))


def test_a_search_learns_the_vote_from_weighted_rows():
    X, y, X_target, y_target = two_domains("classification")
    weight = np.arange(60) % 2.0
    candidates = {
        "source": SourceOnly(LogisticRegression()),
        "target": TargetOnly(LogisticRegression()),
        "both": Pooled(LogisticRegression()),
    }
    wrong = np.where(weight == 0, 1 - y_target, y_target)
    votes = [
        TransferSearchCV(candidates, cv_target=KFold(5), random_state=0, refit=False)
        .fit(X, y, X_target=X_target, y_target=labels, sample_weight_target=weight)
        .results_.vote()
        for labels in (y_target, wrong)
    ]
    assert_allclose(votes[0].weights, votes[1].weights, atol=1e-4)


def test_prior_of_numbers_is_divided_by_the_squared_mean_squared_error():
    y = np.zeros(4)
    target = np.array([[1.0, -1.0, 1.0, -1.0], [2.0, 2.0, -2.0, -2.0]])
    # Mean squared errors 1 and 4, prior shares 7 : 2, and labels that hardly count.
    weights = vote_weights(target, y, roles=["pooled", "source-only"], strength=1e9)
    assert_allclose(weights, np.array([7.0, 2 / 16]) / (7 + 2 / 16), rtol=1e-5)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_regression_weights_do_not_depend_on_the_unit_of_the_label(factor):
    rng = np.random.default_rng(3)
    y = rng.normal(size=25)
    target = y + rng.normal(size=(3, 25)) * np.array([[0.5], [1.0], [2.0]])
    roles = ["pooled", "source-only", "target-only"]
    weights = vote_weights(target, y, roles=roles)
    assert_allclose(vote_weights(factor * target, factor * y, roles=roles), weights, atol=1e-4)
    assert weights[0] > weights[2]


def test_skill_is_what_lies_beyond_the_majority_class():
    assert_allclose(skill_weights(np.array([0.0, 0.1, 0.3]), guess=0.2), [2 / 3, 1 / 3, 0])
    assert_allclose(skill_weights(np.array([0.6, 0.7]), guess=0.5), [0.5, 0.5])
    assert_allclose(skill_weights(np.array([0.0, 0.7]), guess=0.0), [1.0, 0.0])
    assert_allclose(skill_weights(np.array([1.0, 4.0]), guess=np.nan), [0.8, 0.2])
    assert_allclose(skill_weights(np.array([1.0, 4.0])), [0.8, 0.2])
    assert_allclose(skill_weights(np.zeros(2)), [0.5, 0.5])
    # A loss of zero counts as a hundredth of the largest.
    assert_allclose(skill_weights(np.array([0.0, 1.0])), [100 / 101, 1 / 101])
    shared = skill_weights(np.array([1.0, 1.0, 1.0]), kinds=["grid", "grid", "other"])
    assert_allclose(shared, [0.25, 0.25, 0.5])


def test_members_hold_most_of_the_weight_and_are_few():
    weights = np.array([0.5, 0.03, 0.3, 0.17])
    assert_allclose(members_of(weights), np.array([0.5, 0, 0.3, 0.17]) / 0.97)
    assert np.count_nonzero(members_of(np.full(40, 1 / 40))) == 5
    assert_allclose(members_of(np.array([1.0])), [1.0])


@pytest.mark.parametrize(
    ("estimator", "cost"),
    [
        (LogisticRegression(), 3),
        (DecisionTreeClassifier(), 2.5),
        (LinearSVC(), 3),
        (GaussianNB(), 16),
        (RandomForestClassifier(30), 2 + 1.5 * 30),
        (HistGradientBoostingClassifier(max_iter=20), 2 + 1.5 * 20),
        (KNeighborsClassifier(), 2 + 700),
        (Pooled(LogisticRegression()), 2 + 3),
        (Pooled(make_pipeline(StandardScaler(), LogisticRegression())), 2 + 4 + 3),
    ],
)
def test_cost_of_a_prediction_follows_from_the_structure(estimator, cost):
    assert prediction_cost(estimator, 700) == cost


def test_members_cost_at_most_the_limit_and_leave_by_weight_per_cost():
    weights = np.array([0.35, 0.3, 0.2, 0.15])
    costs = np.array([MOST_COST, 1.0, 1.0, 1.0])
    assert_allclose(members_of(weights, costs), np.array([0, 0.3, 0.2, 0.15]) / 0.65)
    assert_allclose(members_of(weights, np.ones(4)), weights)
    y = np.array([0, 1] * 20)
    target = probabilities(np.random.default_rng(7), y, [3.0, 1.0, 1.0, 1.0])
    found = vote_weights(target, y, roles=["pooled"] * 4, costs=costs)
    assert costs[found > 0].sum() <= MOST_COST


@pytest.mark.parametrize("n_cells", [3, 8])
def test_members_and_the_vote_itself_cost_less_than_five_times_the_best_cell(n_cells):
    rng = np.random.default_rng(9)
    for _ in range(200):
        costs = rng.choice([5.0, 7.0, 16.0, 47.0], size=n_cells)
        roles = rng.choice(["plain", "pooled", "source-only", "target-only"], size=n_cells)
        in_vote = np.where(roles == "plain", costs, costs - 2.0)
        relative = relative_costs(costs, roles, best=0)
        possible = relative <= MOST_COST
        members = members_of(rng.dirichlet(np.ones(possible.sum())), relative[possible]) > 0
        assert in_vote[possible][members].sum() + 2.0 + 3.0 < 5 * costs[0]


def test_a_cheap_best_cell_leaves_less_room_for_others_than_an_expensive_one():
    """A discriminant, a tree and a wrapped linear model took 5.8 times as long as the tree."""
    weights, roles = np.array([0.4, 0.3, 0.3]), ["plain", "plain", "pooled"]
    wrapped, tree, discriminant = 5.0, 2.5, 3.0
    costs = relative_costs(np.array([tree, discriminant, wrapped]), roles, best=0)
    assert np.count_nonzero(members_of(weights, costs)) == 2
    # The same cells beside a wrapped linear model that is best, with two more like it.
    roles = ["pooled", "plain", "plain", "source-only", "target-only"]
    costs = relative_costs(np.array([wrapped, tree, discriminant, wrapped, wrapped]), roles, best=0)
    assert np.count_nonzero(members_of(np.full(5, 0.2), costs)) == 5


def test_wrappers_cost_less_in_a_vote_which_checks_the_rows_once():
    costs, best = np.array([5.0, 5.0, 5.0]), 2
    alike, wrapped, _ = relative_costs(costs, ["transfer", "pooled", "pooled"], best)
    assert alike / wrapped == pytest.approx(5 / 3)


def test_a_result_counts_the_cost_of_the_vote_itself():
    X, y, X_target, y_target = two_domains("classification")
    candidates = {name: Pooled(LogisticRegression()) for name in ("first", "second", "third")}
    search = TransferSearchCV(candidates, random_state=0, refit=False)
    result = search.fit(X, y, X_target=X_target, y_target=y_target).results_
    for cost, n_members in [(3.0, 2), (5.0, 3)]:  # three cost 5.3 and 3.6 times as much as the best
        costs = dict(zip((result.best, *{0, 1, 2} - {result.best}), (cost, 6.0, 8.0), strict=True))
        cells = [
            replace(cell, prediction_cost=costs.get(number, 3.0))
            for number, cell in enumerate(result.cells)
        ]
        assert len(replace(result, cells=tuple(cells)).vote().members) == n_members


def two_domains(task):
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(80, 3)), rng.normal(0.3, 1, size=(60, 3))
    number, number_target = X.sum(axis=1), X_target.sum(axis=1)
    if task == "regression":
        return X, number, X_target, number_target
    return X, (number > 0).astype(int), X_target, (number_target > 0).astype(int)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("n_labels", [0, 30])
def test_forests_do_not_vote_beside_a_linear_model_that_is_best(task, n_labels, tmp_path):
    X, y, X_target, y_target = two_domains(task)
    linear, forest = LogisticRegression(), RandomForestClassifier(20, random_state=0)
    if task == "regression":
        linear, forest = Ridge(), RandomForestRegressor(20, random_state=0)
    candidates = {"linear": Pooled(linear), "source": SourceOnly(linear), "forest": Pooled(forest)}
    given = {"X_unlabeled": X_target[n_labels:]}
    if n_labels:
        given |= {"X_target": X_target[:n_labels], "y_target": y_target[:n_labels]}
    result = TransferSearchCV(candidates, random_state=0, refit=False).fit(X, y, **given).results_
    assert result.cells[result.best].candidate in ("linear", "source")
    result.save(tmp_path / "search.npz")
    loaded = SearchResult.load(tmp_path / "search.npz")
    for found in (result, loaded):
        members = {found.cells[cell].candidate for cell in found.vote().members}
        assert members == {"linear", "source"}
    assert [cell.prediction_cost for cell in loaded.cells[:3]] == [5, 5, 34]


def test_cross_fitted_weights_never_see_the_labels_of_the_fold():
    rng = np.random.default_rng(4)
    y, folds = rng.integers(0, 2, size=30), np.arange(30) % 5
    target = probabilities(rng, y, [0.5, 1.0, 2.0])
    roles = ["pooled", "source-only", "target-only"]
    before = cross_fitted(target, y, folds, roles=roles)
    changed = np.where(folds == 2, 1 - y, y)
    after = cross_fitted(target, changed, folds, roles=roles)
    assert_allclose(after[folds == 2], before[folds == 2])
    assert np.abs(after - before)[folds != 2].max() > 1e-3
    weights = members_of(vote_weights(target[:, folds != 2], y[folds != 2], roles=roles))
    assert_allclose(before[folds == 2], combine(target[:, folds == 2], weights))


def test_disagreement_is_the_share_of_rows_off_the_vote():
    predictions = np.eye(2)[np.array([[0, 0, 1, 1], [0, 0, 1, 0], [1, 0, 1, 0]])]
    assert disagreement(predictions, np.full(3, 1 / 3)).tolist() == [0.25, 0, 0.25]
    numbers = np.array([[0.0, 1.0], [2.0, 3.0]])
    assert_allclose(disagreement(numbers, np.array([0.75, 0.25])), [0.5, 1.5])


class TestVotingModel:
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = np.array(["no", "no", "yes", "yes"])

    def classifier(self):
        members = [
            ("linear", LogisticRegression().fit(self.X, self.y)),
            ("margin", LinearSVC().fit(self.X, self.y)),
        ]
        return VotingModel(members, [3.0, 1.0], classes=np.array(["maybe", "no", "yes"]))

    def test_averages_probabilities_and_one_hot_classes(self):
        model = self.classifier()
        linear, margin = (member for _, member in model.members)
        expected = np.zeros((4, 3))
        expected[:, 1:] = 0.75 * linear.predict_proba(self.X)
        expected[:, 1:] += 0.25 * (margin.predict(self.X)[:, None] == ["no", "yes"])
        assert_allclose(model.predict_proba(self.X), expected)
        assert model.predict(self.X).tolist() == self.y.tolist()
        assert model.score(self.X, self.y) == 1.0
        assert model.disagreement(self.X).tolist() == [0.0, 0.0]
        assert is_classifier(model)
        assert model.n_features_in_ == 1

    def test_regressors_average_numbers(self):
        y = np.array([1.0, 2.0, 4.0, 4.0])
        members = [
            ("linear", LinearRegression().fit(self.X, y)),
            ("flat", LinearRegression().fit(self.X * 0, y)),
        ]
        model = VotingModel(members, [0.75, 0.25])
        expected = 0.75 * members[0][1].predict(self.X) + 0.25 * y.mean()
        assert_allclose(model.predict(self.X), expected)
        residual = y - expected
        assert model.score(self.X, y) == pytest.approx(
            1 - residual @ residual / ((y - y.mean()) @ (y - y.mean()))
        )
        assert is_regressor(model)
        assert not hasattr(model, "predict_proba")
        assert not hasattr(model, "classes_")
        distances = model.disagreement(self.X)
        assert distances[1] == pytest.approx(3 * distances[0])

    def test_numbers_far_beyond_the_labels_are_limited(self):
        assert number_limits(np.array([2.0, 4.0, 3.0])) == (1.0, 5.0)
        wild = LinearRegression().fit(self.X, 100.0 * self.X[:, 0])
        flat = LinearRegression().fit(self.X, np.full(len(self.X), 3.0))
        model = VotingModel([("wild", wild), ("flat", flat)], [0.5, 0.5], limits=(1.0, 5.0))
        expected = (np.clip(100.0 * self.X[:, 0], 1.0, 5.0) + 3.0) / 2
        assert_allclose(model.predict(self.X), expected)

    def test_rows_are_checked_once_for_all_wrappers(self, monkeypatch):
        target = {"X_target": self.X, "y_target": self.y}
        members = [
            ("pooled", Pooled(GaussianNB()).fit(self.X, self.y, **target)),
            ("plain", LogisticRegression().fit(self.X, self.y)),
            ("target", TargetOnly(LogisticRegression()).fit(self.X, self.y, **target)),
        ]
        weights = [0.5, 0.3, 0.2]
        model = VotingModel(members, weights, classes=np.array(["no", "yes"]))
        alone = [member.predict_proba(self.X) for _, member in members]
        expected = np.tensordot(weights, alone, axes=1)
        checked = []
        monkeypatch.setattr(vote, "check_rows", lambda *a: checked.append(a) or check_rows(*a))
        assert_allclose(model.predict_proba(self.X), expected)
        assert len(checked) == 1
        with pytest.raises(ValueError, match="`X` must hold only finite"):
            model.predict(self.X * np.nan)

    def test_a_clone_is_still_fitted(self):
        model = self.classifier()
        assert clone(model) is model
        assert model.fit(self.X, self.y) is model

    def test_survives_saving(self, tmp_path):
        model = VotingModel(
            [
                ("linear", LogisticRegression().fit(self.X, self.y)),
                ("bayes", GaussianNB().fit(self.X, self.y)),
            ],
            np.array([0.6, 0.4]),
            classes=np.array(["no", "yes"]),
        )
        save_model(model, tmp_path / "vote.skops")
        loaded = load_model(tmp_path / "vote.skops").model
        assert_allclose(loaded.predict_proba(self.X), model.predict_proba(self.X))
        assert [name for name, _ in loaded.members] == ["linear", "bayes"]
