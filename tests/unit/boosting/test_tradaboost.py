"""`TrAdaBoostClassifier`: options, doubts about the input, what it reports."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import landbridge as lb
from landbridge import TrAdaBoostClassifier, TrimmedTreeClassifier
from landbridge.boosting.tradaboost import Rules, boost
from landbridge.boosting.voting import first_voter
from landbridge.boosting.weight_updates import mass_correction, printed_correction, vote_weight


def problem(seed=0, n=200, m=20, c=2, flip=0.3):
    """The source has the target's rule for most rows and the opposite one for the rest."""
    rng = np.random.default_rng(seed)
    X, X_target, X_test = (rng.normal(size=(k, 4)) for k in (n, m, 300))

    def label(X):
        return np.digitize(X[:, 0] + 0.5 * X[:, 1], np.linspace(-1, 1, c + 1)[1:-1])

    y = label(X)
    wrong = rng.random(n) < flip
    y[wrong] = (y[wrong] + 1) % c
    return X, y, X_target, label(X_target), X_test, label(X_test)


def fitted(model, data):
    X, y, X_target, y_target, *_ = data
    return model.fit(X, y, X_target=X_target, y_target=y_target)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("c", [2, 3])
def test_predictions_scores_and_stages_agree(seed, c):
    data = problem(seed, c=c)
    model = fitted(TrAdaBoostClassifier(n_estimators=9), data)
    X = data[4]
    predicted = model.predict(X)
    scores = model.predict_proba(X)
    assert np.array_equal(model.classes_[scores.argmax(axis=1)], predicted)
    np.testing.assert_allclose(scores.sum(axis=1), 1)
    decision = model.decision_function(X)
    by_decision = (decision > 0).astype(int) if c == 2 else decision.argmax(axis=1)
    assert np.array_equal(model.classes_[by_decision], predicted)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_estimators_ == len(model.estimators_)
    assert np.array_equal(stages[-1], predicted)
    assert model.score(X, data[5]) > 1 / c


@pytest.mark.parametrize("m", [20, 200])
def test_trees_trimmed_by_auto_err_less_where_target_rows_are_more(m):
    data = problem(3, m=m)
    model = fitted(TrAdaBoostClassifier(TrimmedTreeClassifier(target_error="auto"), 9), data)
    assert (model.errors_ < 1.5 / np.sqrt(m)).all()
    paper = fitted(TrAdaBoostClassifier(TrimmedTreeClassifier(), 9), data)
    assert (paper.errors_ < 0.5).all()
    assert m == 20 or (paper.errors_ > 1.5 / np.sqrt(m)).any()


def test_a_stage_is_the_ensemble_that_stopped_there():
    data = problem(1)
    model = TrAdaBoostClassifier(TrimmedTreeClassifier(max_depth=2), 8, vote="second_half")
    third = list(fitted(model, data).staged_predict(data[4]))[2]
    votes = np.zeros((300, 2))
    for t in (1, 2):  # rounds ⌈3/2⌉ … 3
        answer = model.estimators_[t].predict(data[4])
        votes[np.arange(300), answer] += model.estimator_weights_[t]
    assert np.array_equal(third, votes.argmax(axis=1))


@pytest.mark.parametrize(("share", "source_mass"), [(0.5, 0.5), (0.2, 0.8), (None, 400 / 440)])
def test_the_target_starts_with_its_share_of_the_weight(share, source_mass):
    model = fitted(TrAdaBoostClassifier(target_share=share), problem(1, n=400, m=40))
    assert model.source_mass_[0] == pytest.approx(source_mass)
    with pytest.raises(ValueError, match="`target_share` must be between 0 and 1"):
        fitted(TrAdaBoostClassifier(target_share=0), problem(1))


@pytest.mark.parametrize(
    ("n_rounds", "first"), [(1, 0), (2, 0), (3, 1), (4, 1), (30, 14), (31, 15)]
)
def test_the_second_half_votes(n_rounds, first):
    assert first_voter(n_rounds, "second_half") == first
    assert first_voter(n_rounds, "all") == 0


def test_dynamic_keeps_the_source_and_tradaboost_loses_it():
    data = problem(2, flip=0.0, n=400, m=40)
    kept, lost = (
        fitted(TrAdaBoostClassifier(TrimmedTreeClassifier(max_depth=1), 30, how), data).source_mass_
        for how in ("dynamic", "none")
    )
    assert lost[-1] < 0.5 * kept[-1]


def test_a_wrong_source_loses_its_weight():
    X, y, X_target, y_target, *_ = problem(3, flip=0.0, n=300, m=60)
    y = np.where(X[:, 2] > 0, 1 - y, y)  # half of the source follows the opposite rule
    model = TrAdaBoostClassifier(TrimmedTreeClassifier(max_depth=4), 20, store_weights=True)
    model.fit(X, y, X_target=X_target, y_target=y_target)
    last = model.source_weights_[-1]
    assert last[X[:, 2] > 0].mean() < 0.8 * last[X[:, 2] <= 0].mean()
    assert model.effective_source_rows_[-1] < model.effective_source_rows_[0] == pytest.approx(300)


def test_histories_are_kept_on_request_and_sum_to_one():
    data = problem(4)
    model = fitted(TrAdaBoostClassifier(n_estimators=7, store_weights=True), data)
    assert model.source_weights_.shape == (model.n_estimators_, 200)
    assert model.target_weights_.shape == (model.n_estimators_, 20)
    total = model.source_weights_.sum(axis=1) + model.target_weights_.sum(axis=1)
    np.testing.assert_allclose(total, 1)
    np.testing.assert_allclose(model.source_weights_.sum(axis=1), model.source_mass_)
    assert not hasattr(fitted(TrAdaBoostClassifier(n_estimators=3), data), "source_weights_")


def test_shared_bins_give_the_answer_of_bins_made_anew():
    data = problem(5)

    class Anew(TrimmedTreeClassifier):
        """Not the tree itself, so that every round is fitted through the public interface."""

    shared = fitted(TrAdaBoostClassifier(TrimmedTreeClassifier(2, target_error=None), 6), data)
    anew = fitted(TrAdaBoostClassifier(Anew(2, target_error=None), 6), data)
    assert np.array_equal(shared.predict(data[4]), anew.predict(data[4]))
    np.testing.assert_allclose(shared.errors_, anew.errors_)


@pytest.mark.parametrize(
    "base",
    [
        LogisticRegression(),
        SVC(),
        DecisionTreeClassifier(max_depth=2),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=["logistic", "svc", "tree", "pipeline"],
)
def test_any_classifier_with_weights_is_a_base_learner(base):
    data = problem(6, flip=0.1)
    model = fitted(TrAdaBoostClassifier(base, 5, random_state=0), data)
    assert model.score(data[4], data[5]) > 0.75
    assert hasattr(model, "feature_importances_") == hasattr(
        model.estimators_[0], "feature_importances_"
    )


def test_a_classifier_without_weights_is_fitted_to_rows_drawn_by_weight():
    data = problem(7)
    model = TrAdaBoostClassifier(KNeighborsClassifier(5), 5, random_state=0)
    with pytest.warns(
        lb.WeightingWarning, match="KNeighborsClassifier does not accept sample_weight"
    ):
        fitted(model, data)
    assert model.score(data[4], data[5]) > 0.75


def test_drawing_rows_never_loses_a_class():
    data = list(problem(8, n=60, m=12, flip=0.0))
    data[1] = np.where(np.arange(60) == 0, 2, data[1])  # a class with a single row
    model = TrAdaBoostClassifier(KNeighborsClassifier(1), 4, random_state=0)
    with pytest.warns(lb.WeightingWarning):
        fitted(model, data)
    assert all(np.array_equal(e.classes_, [0, 1, 2]) for e in model.estimators_)


def test_importances_point_at_the_features_that_matter():
    model = fitted(TrAdaBoostClassifier(TrimmedTreeClassifier(2), 10), problem(9, flip=0.1))
    importances = model.feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert importances[0] > importances[2] + importances[3]


def test_a_penalty_is_not_stronger_without_a_target():
    X = np.random.default_rng(0).normal(size=(64, 3))
    y = 0.3 * X[:, 2] ** 2 < X @ [1.0, 0.5, 0.0]
    with pytest.warns(lb.NoTargetWarning):
        model = TrAdaBoostClassifier(LogisticRegression(), 1).fit(X, y)
    np.testing.assert_allclose(model.estimators_[0].coef_, LogisticRegression().fit(X, y).coef_)


def test_sparse_text_is_not_made_dense(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.poisson(0.2, size=(150, 40)).astype(float))
    y = (X[:, [0, 1]].sum(axis=1) > 0).astype(int)
    dense = TrAdaBoostClassifier(n_estimators=6).fit(
        X[:120].toarray(), y[:120], X_target=X[120:].toarray(), y_target=y[120:]
    )
    expected = dense.predict(X.toarray())
    monkeypatch.setattr(sparse.csr_array, "todense", lambda *a, **k: pytest.fail("made dense"))
    model = TrAdaBoostClassifier(n_estimators=6).fit(
        X[:120], y[:120], X_target=X[120:], y_target=y[120:]
    )
    assert np.array_equal(model.predict(X), expected)


# ------------------------------------------------------------------ doubts about the input


def test_fewer_than_ten_target_rows_warn():
    X, y, X_target, y_target, *_ = problem(10)
    keep = np.concatenate([np.flatnonzero(y_target == c)[:3] for c in (0, 1)])
    with pytest.warns(lb.FewTargetRowsWarning, match="6 labelled target rows are too few"):
        TrAdaBoostClassifier(n_estimators=3).fit(
            X, y, X_target=X_target[keep], y_target=y_target[keep]
        )


def test_target_rows_of_one_class_warn_and_fit():
    X, y, X_target, y_target, X_test, _ = problem(11, m=60)
    with pytest.warns(lb.FewTargetRowsWarning, match="have only one class, 1"):
        model = TrAdaBoostClassifier(n_estimators=4).fit(
            X, y, X_target=X_target[y_target == 1], y_target=y_target[y_target == 1]
        )
    assert np.isfinite(model.predict_proba(X_test)).all()


def test_target_labels_absent_from_the_source_warn_and_are_learned():
    X, y, X_target, y_target, *_ = problem(12, m=40)
    new = np.where(X_target[:, 3] > 0.5, 7, y_target)
    with pytest.warns(lb.FewTargetRowsWarning, match=r"no rows of the target classes \[7\]"):
        model = TrAdaBoostClassifier(TrimmedTreeClassifier(3, target_error=None), 6).fit(
            X, y, X_target=X_target, y_target=new
        )
    assert model.classes_.tolist() == [0, 1, 7]


def test_no_labelled_target_rows_warn_also_with_unlabelled_ones():
    X, y, X_target, *_ = problem(13)
    with pytest.warns(lb.NoTargetWarning, match="equals AdaBoost fitted on X"):
        TrAdaBoostClassifier(TrimmedTreeClassifier(1), 3).fit(X, y, X_unlabeled=X_target)


def chance_data():
    """A target in which both labels occur at the same place: nothing beats chance."""
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    y = np.repeat([0, 1], 20)
    return X, y, np.zeros((12, 1)), np.tile([0, 1], 6)


def test_a_learner_at_chance_in_round_one_warns_and_stays_the_only_one():
    X, y, X_target, y_target = chance_data()
    model = TrAdaBoostClassifier(TrimmedTreeClassifier())
    with pytest.warns(lb.WeakLearnerWarning, match="no better than chance.*round 1 was 0.5"):
        model.fit(X, y, X_target=X_target, y_target=y_target)
    assert model.n_estimators_ == 1
    assert "chance" in model.stop_reason_
    assert model.n_doublings_ == 30
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]


def test_doubling_the_target_rescues_a_stalled_round():
    X, y, X_target, y_target, *_ = problem(14, flip=1.0, n=400, m=20)  # the opposite rule
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lb.WeakLearnerWarning)
        stump = TrimmedTreeClassifier(1, target_error=None)
        model = TrAdaBoostClassifier(stump, 6, target_share=None)
        model.fit(X, y, X_target=X_target, y_target=y_target)
    assert model.n_estimators_ == 6
    assert model.n_doublings_ > 0
    assert model.score(X_target, y_target) > 0.5


def test_plain_adaboost_at_chance_is_not_empty():
    X, y = np.zeros((20, 1)), np.tile([0, 1], 10)
    with (
        pytest.warns(lb.NoTargetWarning),
        pytest.warns(lb.WeakLearnerWarning, match="no better than chance"),
    ):
        model = TrAdaBoostClassifier(DummyClassifier(), 3).fit(X, y)
    assert model.n_estimators_ == 1


def test_a_perfect_round_is_the_last_and_has_a_finite_vote():
    X, y, X_target, y_target, *_ = problem(15, flip=0.0)
    model = TrAdaBoostClassifier(TrimmedTreeClassifier(target_error=None), 10)
    model.fit(X, y, X_target=X_target, y_target=y_target)
    assert model.n_estimators_ == 1
    assert model.stop_reason_ == "no row was misclassified any more"
    # The floor is 1/(2m): log((1 − 1/40)/(1/40)).
    np.testing.assert_allclose(model.estimator_weights_, np.log(39))


def test_all_weight_on_one_row_warns():
    X = np.append(np.linspace(0, 1, 30), [0.1, 0.2, 0.8, 0.9] * 3)[:, None]
    y = (X[:, 0] > 0.5).astype(int)
    y[-1] = 0  # one wrong label among the target rows, at the place of right ones
    model = TrAdaBoostClassifier(LogisticRegression(C=1e-4), 60, correction="none", vote="all")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model.fit(X[:30], y[:30], X_target=X[30:], y_target=y[30:])
    assert np.isfinite(model.estimator_weights_).all()
    assert all(issubclass(w.category, lb.LandbridgeWarning) for w in seen)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "`n_estimators` must be a whole number of at least 1; got 0"),
        ({"n_estimators": 2.5}, "`n_estimators` must be a whole number of at least 1; got 2.5"),
        (
            {"correction": "dynamik"},
            "`correction` must be 'dynamic', 'paper', 'none' or a positive",
        ),
        ({"estimator": Ridge()}, "`estimator` must be a classifier; got Ridge"),
        ({"correction": -1.0}, "`correction` must be .* got -1.0"),
        ({"correction": True}, "`correction` must be .* got True"),
        ({"correction": np.inf}, "`correction` must be .* got inf"),
        ({"label_cost": np.nan}, "`label_cost` must be a finite number of at least 0; got nan"),
        ({"label_cost": {0: -1.0}}, r"`label_cost\[0\]` must be a finite number of at least 0"),
        ({"vote": "half"}, "`vote` must be one of 'second_half', 'all'; got 'half'"),
        ({"label_cost": 1.0, "correction": "none"}, "`label_cost` requires correction="),
        ({"label_cost": {"a": 1.0}}, r"`label_cost` must name classes of the data, \[0, 1\]"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(TrAdaBoostClassifier(**parameters), problem(16))


def test_label_costs_by_class_change_the_factor_of_that_class_only():
    data = problem(17)
    base = TrimmedTreeClassifier(1)
    model = fitted(TrAdaBoostClassifier(base, 1, label_cost={1: 3.0}), data)
    plain = fitted(TrAdaBoostClassifier(base, 1, correction="paper"), data)
    assert model.corrections_.shape == (1, 2)
    assert model.corrections_[0, 0] == plain.corrections_[0]
    assert model.corrections_[0, 1] > plain.corrections_[0]
    same = fitted(TrAdaBoostClassifier(base, 1, label_cost=3.0), data)
    assert same.corrections_[0, 1] == model.corrections_[0, 1]


@pytest.mark.parametrize("seed", range(3))
def test_a_fixed_cost_lies_between_none_and_more(seed):
    data = problem(seed, m=40)
    base = TrimmedTreeClassifier(1)
    mass = [
        fitted(TrAdaBoostClassifier(base, 12, cost), data).source_mass_[1]
        for cost in ("none", 1.1, 1.3)
    ]
    assert mass[0] < mass[1] < mass[2]
    one = fitted(TrAdaBoostClassifier(base, 12, 1.0), data)
    none = fitted(TrAdaBoostClassifier(base, 12, "none"), data)
    assert np.array_equal(one.source_mass_, none.source_mass_)


class Scripted:
    """A learner whose mistakes are given; it keeps the weights that it was fitted to."""

    def __init__(self, mistakes):
        self.script, self.seen = iter(mistakes), []

    def fit(self, weights):
        self.seen.append(weights.copy())
        return next(self.script)

    def mistakes(self, estimator):
        return estimator


def test_a_stall_doubles_the_target():
    """Two source rows and two target rows: 1 : 1 becomes 2 : 1, then 4 : 1."""
    stall, good = np.array([0, 0, 1, 1]), np.array([1, 0, 0, 0])
    learner = Scripted([stall, stall, good])
    done = boost(learner, np.zeros(4, dtype=int), 2, 2, Rules(1, "none", None, "double"))
    ratios = [weights[2:].sum() / weights[:2].sum() for weights in learner.seen]
    np.testing.assert_allclose(ratios, [1, 2, 4])
    assert done.n_doublings == 2


def test_doublings_are_counted_anew_in_every_round():
    stall, good = np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])
    learner = Scripted([stall, stall, good] * 20)
    done = boost(learner, np.zeros(4, dtype=int), 2, 2, Rules(20, "none", None, "double"))
    assert (len(done.estimators), done.n_doublings) == (20, 40)


@pytest.mark.parametrize("c", [2, 3, 5])
def test_the_printed_factor_is_the_change_of_the_target_mass(c):
    weights, mistakes = np.full(10, 0.1), np.repeat([1, 0], [3, 7])
    mass = mass_correction(weights, mistakes, vote_weight(0.3, c))
    assert printed_correction(0.3, c) == pytest.approx(mass) == pytest.approx(0.7 * c)


def test_scores_are_votes_per_voter():
    model = fitted(TrAdaBoostClassifier(n_estimators=6), problem())
    X, first = problem()[4], first_voter(model.n_estimators_, model.vote)
    voters = model.estimators_[first:]
    signs = [2 * (voter.predict(X) == voter.classes_[1]) - 1 for voter in voters]
    mean = np.average(signs, axis=0, weights=model.estimator_weights_[first:])
    scale = model.estimator_weights_[first:].sum() / len(voters)
    np.testing.assert_allclose(model.decision_function(X), mean * scale)
