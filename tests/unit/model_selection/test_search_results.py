"""A frozen result: saved, loaded, ranked, judged; halving and what it saves."""

from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import landbridge as lb
from landbridge.inference import score_interval
from landbridge.model_selection import halving
from landbridge.model_selection.anchored import anchor
from landbridge.model_selection.anchored_ratios import anchor_ratios
from landbridge.model_selection.confidence import (
    SearchInterval,
    interval_of_skewed_mean,
    prob_better_paired,
)
from landbridge.model_selection.plan import Fit
from landbridge.model_selection.results import cell_label
from landbridge.model_selection.worth import judge

RNG = np.random.default_rng(0)
N = 120
X, X_TARGET = RNG.normal(size=(N, 3)), RNG.normal(0.3, 1, size=(N, 3))
Y = (X[:, 0] + 0.4 * RNG.normal(size=N) > 0).astype(int)
Y_TARGET = (X_TARGET[:, 0] + 0.4 * RNG.normal(size=N) > 0.1).astype(int)
GROUPS = np.repeat(["a", "b"], N // 2)
TARGET = {"X_target": X_TARGET[:40], "y_target": Y_TARGET[:40], "X_unlabeled": X_TARGET[40:]}
CANDIDATES = {
    "source": lb.SourceOnly(LogisticRegression()),
    "target": lb.TargetOnly(LogisticRegression()),
    "pooled": (lb.Pooled(LogisticRegression()), {"target_share": [0.2, 0.5]}),
    "constant": DummyClassifier(),
}


def searched(candidates=CANDIDATES, **options):
    options = {"criterion": "all", "cv": 4, "random_state": 0, **options}
    search = lb.TransferSearchCV(candidates, **options)
    return search.fit(X, Y, groups=GROUPS, **TARGET)


@pytest.fixture(scope="module")
def result():
    return searched().results_


def test_saved_and_loaded_it_is_the_same(result, tmp_path):
    path = tmp_path / "search.npz"
    result.save(path)
    loaded = lb.SearchResult.load(path)
    for field in fields(result):
        first, second = getattr(result, field.name), getattr(loaded, field.name)
        if isinstance(first, np.ndarray):
            np.testing.assert_array_equal(first, second)
        else:
            assert first == second, field.name
    assert repr(loaded) == repr(result)
    assert loaded.interval() == result.interval()
    np.testing.assert_array_equal(loaded.prob_better(), result.prob_better())


def test_it_cannot_be_changed(result):
    with pytest.raises(FrozenInstanceError):
        result.forward = None


def test_it_knows_versions_seconds_weights_and_folds(result):
    assert result.about["versions"]["landbridge"] == lb.__version__
    assert all(cell["fit_seconds"] > 0 for cell in result.cells)
    assert result.weights.shape == (2, N)
    assert np.isnan(result.weights[0][GROUPS == "b"]).all()
    assert set(result.folds[0][GROUPS == "a"]) == {0, 1, 2, 3}
    assert np.all(result.folds[0][GROUPS == "b"] == -1)
    assert result.failures == ()


def test_ranking_follows_the_values(result):
    values = result.values()
    assert result.ranking() == np.argsort(values, kind="stable").tolist()
    assert result.ranks()[result.best] == 1
    np.testing.assert_array_equal(result.scores(), 1 - values)
    lines = repr(result).splitlines()
    assert "criterion anchored" in lines[0]
    assert result.labels[result.best] in lines[1]


def test_the_anchored_posterior_can_be_looked_at(result):
    cells, posterior = result.anchored()
    assert cells == list(range(10))
    np.testing.assert_allclose(posterior.mean, result.values("anchored"))
    assert np.all((posterior.trust > 0) & (posterior.trust < 1))
    assert posterior.slopes.shape == (2,)


def test_target_only_is_one_model_whatever_the_source(result):
    cells = [n for n, cell in enumerate(result.cells) if cell["candidate"] == "target"]
    assert len({result.values("trcv")[n] for n in cells}) == 2
    assert len({result.values("anchored")[n] for n in cells}) == 1
    others = [n for n, cell in enumerate(result.cells) if cell["candidate"] == "source"]
    assert len({result.values("anchored")[n] for n in others}) == 2


def test_names_of_cells_are_short_unless_that_is_ambiguous():
    cell = {"candidate": "svm", "params": {"svc__C": 1, "scale": 2}, "source": "a"}
    assert cell_label(cell, several=False) == "svm(C=1, scale=2)"
    cell["params"] = {"svc__C": 1, "nu__C": 2}
    assert cell_label(cell, several=True) == "svm(svc__C=1, nu__C=2) from a"


def test_unknown_criteria_are_refused(result):
    with pytest.raises(ValueError, match="`criterion` must be one of"):
        result.values("luck")
    alone = searched(criterion="scv").results_
    with pytest.raises(ValueError, match="`criterion` must be one of 'scv'; got 'tlv'"):
        alone.values("tlv")
    with pytest.raises(ValueError, match="must have the losses of 'tlv' or 'trcv'"):
        alone.interval()
    with pytest.raises(ValueError, match="method='paper' must have the losses of 'trcv'"):
        alone.interval(method="paper")
    with pytest.raises(ValueError, match="`level` must lie between 0 and 1"):
        alone.interval(1.0)


def test_intervals_rest_on_what_they_say(result):
    cell = 3
    paper = result.interval(0.9, method="paper", cell=cell)
    accuracy = 1 - result.values("trcv")[cell]
    assert tuple(paper) == pytest.approx(score_interval(accuracy, N // 2, 0.9))
    effective = result.interval(0.9, method="effective", cell=cell)
    n = lb.effective_sample_size(result.weights[0][GROUPS == "a"])
    assert tuple(effective) == pytest.approx(score_interval(accuracy, n, 0.9))
    assert effective.high - effective.low > paper.high - paper.low
    labelled = result.interval(0.9, method="labelled", cell=cell)
    tlv = 1 - result.values("tlv")[cell]
    assert tuple(labelled) == pytest.approx(score_interval(tlv, 40, 0.9))
    anchored = result.interval(0.9, cell=cell)
    assert anchored.method == "anchored"
    assert anchored.estimate == pytest.approx(1 - result.values("anchored")[cell])
    assert anchored.estimate in anchored
    assert "40 labelled target rows" in str(anchored)


def test_without_labels_the_interval_says_that_it_rests_on_the_source():
    search = lb.TransferSearchCV({"nb": GaussianNB()}, cv=4, random_state=0)
    search.fit(X, Y, X_unlabeled=X_TARGET)
    interval = search.interval()
    assert interval.method == "effective"
    assert "source rows, as if drawn from the target" in str(interval)


def test_regression_has_student_s_interval_and_paired_probabilities():
    search = lb.TransferSearchCV({"a": Ridge(), "b": Ridge(1e6)}, cv=4, random_state=0).fit(
        X, X @ [1.0, 2.0, 0.0], X_target=X_TARGET, y_target=X_TARGET @ [1.0, 2.0, 0.0]
    )
    interval = search.interval(0.9)
    assert interval.low <= interval.estimate <= interval.high
    assert search.prob_better()[0, 1] > 0.99
    assert search.best_score_ < 0
    with pytest.raises(ValueError, match="'paper' must have zero-one losses; got 'squared'"):
        search.interval(method="paper")


def test_probabilities_of_the_two_methods(result):
    paper, paired = result.prob_better(method="paper"), result.prob_better(method="paired")
    for probability in (paper, paired):
        np.testing.assert_allclose(probability + probability.T, 1.0)
    best, constant = result.best, 4
    assert paired[best, constant] > 0.95
    assert np.array_equal(result.prob_better(), paired)
    unlabelled = lb.TransferSearchCV(
        {"nb": GaussianNB(), "constant": DummyClassifier()}, criterion="trcv", random_state=0
    ).fit(X, Y, X_unlabeled=X_TARGET)
    assert unlabelled.prob_better(method="paired")[0, 1] > 0.9
    assert np.array_equal(unlabelled.prob_better(), unlabelled.prob_better(method="paper"))
    with pytest.raises(ValueError, match="`method` must be one of"):
        result.prob_better(method="luck")


@pytest.mark.parametrize("criterion", ["stv", "tcv", "scv", "wcv", "rv"])
def test_every_criterion_has_paired_probabilities_from_its_own_losses(criterion):
    result = searched(criterion=criterion).results_
    probability = result.prob_better()
    np.testing.assert_allclose(probability + probability.T, 1.0)
    name = {"stv": "source_to_target", "tcv": "target_alone"}.get(criterion)
    if name:
        losses = getattr(result, name)
        np.testing.assert_array_equal(probability, prob_better_paired(losses))
        assert "on at least 2 labelled target rows" in result.worth_transferring().message
    else:  # cells 0 and 4 have the source "a" in common, 0 and 5 no row
        losses = {"rv": result.reverse}.get(criterion, result.forward)[[0, 4]]
        weights = result.weights[0] if criterion == "wcv" else np.ones(N)
        mine = GROUPS == "a"
        assert probability[0, 5] == 0.5
        assert probability[0, 4] == prob_better_paired((losses * weights)[:, mine])[0, 1]


def test_probabilities_of_failed_and_stopped_cells():
    result = searched({"a": GaussianNB(), "b": DummyClassifier(), "c": KNeighborsClassifier()})
    result, half = result.results_, np.arange(40) < 20
    labelled = np.where(half | (np.arange(6) != 1)[:, None], result.labelled, np.nan)
    stopped = replace(result, labelled=labelled)
    probability = stopped.prob_better()
    expected = prob_better_paired(result.labelled[:2, :20])
    assert probability[0, 1] == expected[0, 1]
    assert not np.isnan(probability).any()
    failure = {"cell": 2, "arrays": ("labelled", "reverse"), "message": "", "candidate": "c"}
    failed = replace(stopped, failures=(failure,))
    for method in ("paired", "paper"):
        unknown = np.isnan(failed.prob_better(method=method))
        assert unknown[2].all()
        assert unknown[:, 2].all()
        assert unknown.sum() == 11
    with pytest.raises(ValueError, match=r"got 2, 'c from a', which failed. `results_.failures`"):
        failed.interval(cell=2)
    with pytest.raises(ValueError, match=r"one of the 6 cells, from 0 to 5; got 6"):
        failed.interval(cell=6)


def test_intervals_end_where_losses_do():
    search = lb.TransferSearchCV(
        {"a": GaussianNB()}, criterion="tlv", loss="log", cv=3, random_state=0
    ).fit(X, Y, X_target=X_TARGET[:3], y_target=Y_TARGET[:3])
    interval = search.interval(0.99)
    assert interval.low < interval.estimate < interval.high < 0


def regression_search(loss, shift=0.0):
    """A search among regressors, one of them terrible, with a loss moved by ``shift``."""
    models = {
        "source": lb.SourceOnly(Ridge()),
        "target": lb.TargetOnly(Ridge()),
        "pooled": lb.Pooled(Ridge()),
        "terrible": make_pipeline(
            FunctionTransformer(np.exp), FunctionTransformer(np.exp), Ridge()
        ),
    }
    y, y_target = X[:, 0] + 0.1 * X[:, 1] ** 2, X_TARGET[:, 0] + 0.3
    chosen = (lambda y, guess: (y - guess) ** 2 - shift) if shift else loss
    search = lb.TransferSearchCV(models, cv=4, loss=chosen, random_state=0)
    return search.fit(X, y, **TARGET | {"y_target": y_target[:40]}).results_


@pytest.mark.parametrize("loss", ["squared", "absolute", lambda y, guess: np.abs(y - guess) ** 1.5])
def test_losses_that_are_no_rates_are_anchored_by_ratios(loss):
    result = regression_search(loss)
    power = {"squared": 2, "absolute": 1}.get(loss if isinstance(loss, str) else "")
    expected = anchor_ratios(result.labelled, result.values("trcv"), result.guesses, power=power)
    np.testing.assert_allclose(result.values("anchored"), expected.mean)
    np.testing.assert_allclose(result.anchored()[1].mean, expected.mean)
    for cell, mean in enumerate(expected.mean):
        interval = result.interval(0.9, cell=cell)
        ends = interval_of_skewed_mean(mean, result.labelled[cell], 0.9)
        assert (-interval.high, -interval.low) == pytest.approx(ends)
        assert interval.high < 0


def test_losses_that_can_be_negative_are_anchored_by_differences():
    plain, moved = regression_search("squared"), regression_search("squared", shift=5.0)
    np.testing.assert_allclose(moved.labelled, plain.labelled - 5.0)
    expected = anchor(moved.labelled, moved.values("trcv"), moved.guesses).mean
    np.testing.assert_allclose(moved.values("anchored"), expected)
    interval = moved.interval(0.9)
    error = stats.sem(moved.labelled[moved.best])
    student = stats.t.interval(0.9, 39, expected[moved.best], error)
    assert (-interval.high, -interval.low) == pytest.approx(student)


def test_log_losses_end_and_are_anchored_by_differences():
    """A row of probability zero costs 36: a long tail, but no ratio without end."""
    result = searched(criterion=["anchored", "tlv"], loss="log").results_
    cells, posterior = result.anchored()
    expected = anchor(result.labelled[cells], result._prior()[cells], result.guesses[cells])
    np.testing.assert_array_equal(posterior.mean, expected.mean)
    interval = result.interval(0.9)
    ends = interval_of_skewed_mean(-interval.estimate, result.labelled[result.best], 0.9)
    assert (-interval.high, -interval.low) == pytest.approx(ends)
    assert result.interval(1 - 1e-12).low == pytest.approx(np.log(np.finfo(float).eps))


def test_rates_are_anchored_by_differences_and_have_the_score_interval(result):
    """Figures of the zero-one loss were measured; other losses must not move them."""
    cells, posterior = result.anchored()
    by_hand = anchor(result.labelled[cells], result._prior()[cells], result.guesses[cells])
    np.testing.assert_array_equal(posterior.mean, by_hand.mean)
    for cell in cells:
        value = result.values("anchored")[cell]
        low, high = score_interval(value, 40, 0.9)
        expected = SearchInterval(
            1 - value, 1 - high, 1 - low, 0.9, "anchored", "40 labelled target rows"
        )
        assert result.interval(0.9, cell=cell) == expected


def test_scores_end_where_losses_do_and_ranks_go_on(result):
    heavy = replace(result, weights=8 * result.weights)
    values = heavy.values("trcv")
    assert values[4] > values[0] > 1  # the constant candidate is worse still
    np.testing.assert_array_equal(heavy.scores("trcv"), 1 - np.clip(values, 0, 1))
    assert heavy.ranking("trcv") == np.argsort(values, kind="stable").tolist()


def test_losses_that_are_no_rates_have_an_interval_with_labels_only():
    search = lb.TransferSearchCV({"a": Ridge(), "b": Ridge(1e6)}, cv=4, random_state=0)
    search.fit(X, X @ [1.0, 2.0, 0.0], X_unlabeled=X_TARGET)
    with pytest.raises(ValueError, match="'tlv' .*and 0 labelled target rows. Search with 'tlv'"):
        search.interval()
    with pytest.raises(ValueError, match="'paper' must have zero-one losses.*method='paired'"):
        search.prob_better(method="paper")


def test_worth_transferring_in_words(result):
    verdict = result.worth_transferring()
    assert set(verdict.probabilities) == {"target-only", "source-only"}
    assert "with these 40 labels" in verdict.message
    assert str(verdict) == verdict.message


ROLES = ["source-only", "target-only", "transfer", "plain"]
NAMES = ["s", "t", "good", "other"]


def losses_of(accuracies, n=200, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.uniform(size=n) > np.array(accuracies)[:, None]).astype(float)


@pytest.mark.parametrize(
    ("accuracies", "worth", "words"),
    [
        ([0.6, 0.6, 0.9, 0.5], True, "Transfer is worth it: good beats target-only and source"),
        ([0.6, 0.9, 0.9, 0.5], False, "No transfer candidate beats target-only with these 200"),
        ([0.9, 0.6, 0.9, 0.5], False, "No transfer candidate beats source-only with these 200"),
        ([0.9, 0.9, 0.6, 0.6], False, "beats target-only or source-only with these 200 labels"),
    ],
)
def test_verdict_follows_the_paired_differences(accuracies, worth, words):
    losses = losses_of(accuracies)
    verdict = judge(ROLES, NAMES, losses.mean(axis=1), losses, 0.9)
    assert verdict.worth is worth
    assert bool(verdict) is worth
    assert words in verdict.message


def test_the_best_of_many_candidates_must_be_better_beyond_having_been_chosen():
    rng = np.random.default_rng(0)
    called = 0
    for _ in range(200):  # forty equal candidates, none better than the baselines
        losses = (rng.uniform(size=(42, 40)) < 0.3).astype(float)
        roles = ["source-only", "target-only", *["transfer"] * 40]
        called += bool(judge(roles, list(map(str, range(42))), losses.mean(axis=1), losses, 0.9))
    assert called / 200 < 0.1
    two = losses_of([0.6, 0.6, 0.9, 0.5])
    assert judge(ROLES, NAMES, two.mean(axis=1), two, 0.9).level == pytest.approx(0.95)


def test_verdict_where_the_search_cannot_tell():
    assert judge([], [], np.array([]), None, 0.9).worth is None
    losses = losses_of([0.6, 0.9])
    none = judge(["plain", "transfer"], ["a", "b"], losses.mean(axis=1), losses, 0.9)
    assert none.worth is None
    assert "target-only or source-only must be among them" in none.message
    only = judge(["source-only"], ["a"], losses.mean(axis=1)[:1], losses[:1], 0.9)
    assert "a transfer candidate must be among them" in only.message


def test_halving_saves_fits_and_keeps_the_winner():
    grid = {"n_neighbors": [1, 3, 5, 7, 9, 15, 25, 29]}
    candidates = {
        "knn": (KNeighborsClassifier(), grid),
        "constant": (DummyClassifier(), {"strategy": ["most_frequent", "stratified", "uniform"]}),
    }
    full = searched(candidates, criterion="tlv", cv=8)
    halved = searched(candidates, criterion="tlv", cv=8, halving=True)
    about = halved.results_.about
    assert about["fits_done"] < about["fits_planned"] == full.results_.about["fits_done"]
    assert halved.best_params_ == full.best_params_
    assert halved.best_score_ == full.best_score_
    status = halved.results_.status()
    assert "stopped" in status
    assert np.isfinite(halved.results_.values()).all()
    ranks = halved.results_.ranks()
    stopped = [rank for rank, s in zip(ranks, status, strict=True) if s == "stopped"]
    assert min(stopped) > max(r for r, s in zip(ranks, status, strict=True) if s == "complete")
    assert f"{about['fits_planned'] - about['fits_done']} fits saved by halving" in repr(
        halved.results_
    )


@pytest.mark.parametrize("criterion", ["anchored", "trcv"])
def test_halving_works_with_every_kind_of_criterion(criterion):
    candidates = {"knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}), **CANDIDATES}
    halved = searched(candidates, criterion=criterion, cv=8, halving=True).results_
    assert np.isfinite(halved.values()).all()
    assert halved.status()[halved.best] == "complete"


def fit_of(fold):
    return Fit("target_fold", fold, 0, 0, (0,), ("labelled",))


def test_rounds_double():
    rounds = halving.rounds([fit_of(fold) for fold in range(10)], 10)
    assert [[fit.fold for fit in group] for group in rounds] == [
        [0, 1],
        [2, 3],
        [4, 5, 6, 7],
        [8, 9],
    ]


def test_only_the_clearly_behind_are_stopped():
    rng = np.random.default_rng(0)
    base = rng.uniform(size=60)
    losses = np.stack([base, base + 0.01 * rng.normal(size=60), base + 1.0, base + 2.0])
    assert halving.clearly_behind(losses, range(4)) == [2, 3]
    assert halving.clearly_behind(losses[:2], range(2)) == []
    apart = np.full((4, 120), np.nan)  # two sources: no rows in common
    apart[0, :60], apart[1, :60], apart[2, 60:], apart[3, 60:] = base, base, base, base + 1.0
    assert halving.clearly_behind(apart, range(4)) == [3]
    constant = np.stack([np.zeros(9), np.zeros(9), np.ones(9), np.ones(9)])
    assert halving.clearly_behind(constant, range(4)) == [2, 3]
    assert halving.clearly_behind(np.zeros((4, 9)), range(4)) == []
