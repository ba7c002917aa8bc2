"""Asking, telling and judging."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from landbridge import LabelPlanner, Pooled, SourceOnly, TargetOnly, TransferSearchCV
from landbridge.inference import score_interval
from landbridge.labelling import LabelStatus, ask_from_predictions, how_many_labels
from landbridge.labelling.estimates import mean_loss, relative_losses
from landbridge.labelling.forecast import labels_to_decide, simulated_score
from landbridge.labelling.pool import default_metric, make_pool
from landbridge.labelling.proofs import (
    labels_to_prove_numbers,
    measured_effect,
    updated_effect,
    updated_wins,
)

GOALS = ["choose", "prove", "measure", "train"]


def make_answers(n=600, skills=(0.85, 0.75, 0.65), n_classes=3, seed=0):
    """Labels, and probabilities of models that are right with the given probabilities."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    said = [np.where(rng.random(n) < s, y, rng.integers(n_classes, size=n)) for s in skills]
    sure = rng.uniform(0.5, 0.9, size=(len(skills), n, 1))
    return y, sure * np.eye(n_classes)[np.array(said)] + (1 - sure) / n_classes


def run(planner, y, predictions, n_batches, **options):
    for _ in range(n_batches):
        batch = planner.ask_from_predictions(predictions, **options)
        planner.tell(batch.rows, y[batch.rows])
    return planner


@pytest.fixture(scope="module")
def search():
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(150, 3)), rng.normal(0.5, 1, size=(240, 3))
    y = np.where(X @ [1, 1, 0] + 0.3 * rng.normal(size=150) > 0, "yes", "no")
    y_target = np.where(X_target @ [1, -0.5, 0] + 0.3 * rng.normal(size=240) > 0, "yes", "no")
    found = TransferSearchCV(
        {
            "source": SourceOnly(LogisticRegression()),
            "target": TargetOnly(LogisticRegression()),
            "pooled": Pooled(GaussianNB()),
        },
        cv=3,
        random_state=0,
    )
    found.fit(X, y, X_target=X_target[:30], y_target=y_target[:30], X_unlabeled=X_target[30:])
    return found, X_target[30:], y_target[30:]


@pytest.mark.parametrize("goal", GOALS)
def test_the_goals_with_a_search(search, goal):
    found, rows, y = search
    planner = LabelPlanner(goal, batch_size=10, random_state=0)
    for _ in range(3):
        batch = planner.ask(found, rows)
        assert len(batch) == 10
        assert len(set(batch.reasons)) > 1
        planner.tell(batch.rows, y[batch.rows])
    status = planner.status(found)
    assert status.n_labels == 30
    assert len(np.unique(planner.labelled_[0])) == 30
    assert status.low <= status.estimate <= status.high
    assert len(status.sentences) == 3
    assert str(status).count("\n") == 2
    assert planner.weights_.mean() == pytest.approx(1)
    assert len(planner.history(found)) == 3
    assert planner.history(found)[-1] == status


def test_prove_asks_only_for_disputed_rows(search):
    found, _rows, _ = search
    planner = LabelPlanner("prove", random_state=0)
    batch = planner.ask(found)
    cells = [found.results_.labels.index(name) for name in ("source", "target")]
    assert planner.baseline_ in ("source", "target")
    assert planner.candidate_ not in ("", planner.baseline_)
    assert cells
    assert all(planner.candidate_ in why for why in batch.reasons)


def test_answers_of_a_search_are_classes_by_name(search):
    found, rows, _ = search
    planner = LabelPlanner(random_state=0)
    batch = planner.ask(found, rows)
    with pytest.raises(ValueError, match="one of the classes no, yes; got 'perhaps'"):
        planner.tell(batch.rows[:1], ["perhaps"])
    planner.tell(batch.rows[:1], ["yes"])
    with pytest.raises(ValueError, match="has the label 'yes' and got 'no'"):
        planner.tell(batch.rows[:1], ["no"])
    assert planner.tell(batch.rows[:1], ["yes"]).labelled_[1].tolist() == ["yes"]


def test_proofs_of_clear_differences_and_of_none():
    y, predictions = make_answers()
    names = ["good", "fair", "poor"]
    planner = LabelPlanner("prove", candidate="good", baseline="poor", random_state=1)
    status = run(planner, y, predictions, 5, names=names).status()
    assert status.reached
    assert status.e_value > 20
    assert status.low > 0
    assert status.left == 0
    assert "is shown to be better than poor" in status.sentences[0]
    planner = LabelPlanner("prove", candidate="poor", baseline="good", random_state=1)
    status = run(planner, y, predictions, 5, names=names).status()
    assert not status.reached
    assert status.high < 0
    assert status.left == np.inf
    assert "good is probably better" in status.sentences[2]


def test_choose_finds_the_best_and_stops():
    y, predictions = make_answers(skills=(0.5, 0.85, 0.6, 0.55))
    planner = run(LabelPlanner(random_state=0), y, predictions, 5)
    status = planner.status()
    assert status.candidate == "1"
    assert status.probability > 0.9
    assert status.reached
    assert status.left == 0
    first = planner.status(after=1)
    assert first.n_labels == 20
    assert first.probability < status.probability


def test_the_interval_of_measure_narrows_to_the_goal():
    y, predictions = make_answers(n=2000)
    planner = LabelPlanner("measure", candidate="0", width=0.06, random_state=0)
    history = run(planner, y, predictions, 8).history()
    widths = [one.high - one.low for one in history]
    assert widths[-1] < widths[0] / 1.8
    assert history[-1].reached == (widths[-1] <= 0.12)
    assert history[-1].worth > history[-1].n_labels
    ahead = [one for one in history if not one.reached]
    assert all(one.left_low <= one.left <= one.left_high for one in ahead)


@pytest.mark.parametrize("goal", GOALS)
def test_numbers(goal):
    rng = np.random.default_rng(0)
    y = rng.normal(size=400)
    predictions = np.stack([y + s * rng.normal(size=400) for s in (0.3, 0.6, 1.0)])
    planner = LabelPlanner(goal, candidate="0", baseline="2", width=0.1, random_state=0)
    status = run(planner, y, predictions, 3).status()
    assert status.candidate == "0"
    if goal == "prove":
        assert status.reached
        assert status.e_value > 20
    else:
        assert status.score == "RMSE"
        assert status.low < np.sqrt(np.mean((predictions[0] - y) ** 2)) < status.high
    poor = LabelPlanner("prove", candidate="2", baseline="0", random_state=0)
    assert not run(poor, y, predictions, 3).status().reached


def test_numbers_with_a_search():
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(120, 2)), rng.normal(size=(150, 2))
    y, y_target = X[:, 0], X_target[:, 0] + 0.1 * rng.normal(size=150)
    search = TransferSearchCV(
        {"tree": DecisionTreeRegressor(random_state=0), "linear": Pooled(LinearRegression())},
        cv=3,
        random_state=0,
    )
    search.fit(X, y, X_target=X_target[:20], y_target=y_target[:20], X_unlabeled=X_target[20:])
    planner = LabelPlanner("measure", random_state=0)
    batch = planner.ask(search, X_target[20:])
    status = planner.tell(batch.rows, y_target[20:][batch.rows]).status(search)
    assert status.score == "RMSE"
    assert status.low <= status.estimate <= status.high


def test_metrics_that_are_no_means(search):
    _, rows, y = search
    encoded = TransferSearchCV(
        {"target": TargetOnly(LogisticRegression()), "pooled": Pooled(GaussianNB())},
        scoring="roc_auc",
        cv=3,
        random_state=0,
    )
    X, X_target = rows[:100], rows[100:]
    encoded.fit(X, y[:100], X_target=X_target[:30], y_target=y[100:130], X_unlabeled=X_target[30:])
    planner = LabelPlanner("measure", random_state=0)
    batch = planner.ask(encoded)
    status = planner.tell(batch.rows, y[130:][batch.rows]).status()
    assert status.score == "ROC AUC"
    assert 0 <= status.low <= status.estimate <= status.high <= 1


def test_a_saved_planner_goes_on_where_it_was(tmp_path):
    y, predictions = make_answers()
    whole = run(LabelPlanner(random_state=3), y, predictions, 4)
    half = run(LabelPlanner(random_state=3), y, predictions, 2)
    half.save(tmp_path / "state.json")
    again = LabelPlanner.load(tmp_path / "state.json")
    again = run(again, y, predictions, 2)
    assert [one.row for one in again.asked_] == [one.row for one in whole.asked_]
    assert again.status().estimate == pytest.approx(whole.status().estimate, abs=1e-6)
    state = json.loads((tmp_path / "state.json").read_text())
    assert state["asked"][0]["why"]


def test_the_same_seed_asks_for_the_same_rows():
    _, predictions = make_answers()
    first, second = (ask_from_predictions(predictions, random_state=5) for _ in range(2))
    assert first.rows.tolist() == second.rows.tolist()
    assert first.rows.tolist() != ask_from_predictions(predictions, random_state=6).rows.tolist()


@pytest.mark.parametrize("wrong", [0, "", (), 7, "nobody"])
def test_candidates_that_do_not_exist_are_refused(wrong):
    _, predictions = make_answers()
    for name in ("candidate", "baseline"):
        given = {"candidate": "0", "baseline": "1", name: wrong}
        with pytest.raises(ValueError, match=f"`{name}` must be one of '0', '1'"):
            ask_from_predictions(predictions, goal="prove", **given)


def test_unanswered_rows_and_an_exhausted_pool():
    y, predictions = make_answers(n=30)
    planner = LabelPlanner("measure", candidate="0", random_state=0)
    batch = planner.ask_from_predictions(predictions)
    planner.tell(batch.rows[::2], y[batch.rows[::2]])
    assert planner.status().n_labels == 10
    # Half of the batch has answered, so each row stands for twice as many.
    assert planner._known().weights.sum() == pytest.approx(30, rel=0.35)
    assert len(planner.ask_from_predictions(predictions)) == 10
    assert len(planner.ask_from_predictions(predictions)) == 0


def test_equal_models_leave_nothing_to_ask():
    y, predictions = make_answers(n=50, skills=(0.8,))
    twice = np.concatenate([predictions, predictions])
    planner = LabelPlanner("prove", candidate="0", baseline="1", random_state=0)
    assert len(planner.ask_from_predictions(twice)) == 0
    with pytest.raises(ValueError, match="predict the same for all rows"):
        how_many_labels(twice, candidate="0", baseline="1")
    assert y.size == 50


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"goal": "win"}, "`goal` must be"),
        ({"batch_size": 0}, "`batch_size` must be"),
        ({"budget": 0}, "`budget` must be"),
        ({"random_share": 1.5}, "`random_share` must be between 0 and 1; got 1.5"),
        ({"random_share": "all"}, "`random_share` must be between 0 and 1; got 'all'"),
        ({"level": 2}, "`level` must"),
        ({"width": 0}, "`width` must be a finite number above 0; got 0"),
        ({"gap": -0.1}, "`gap` must be a finite number of at least 0; got -0.1"),
    ],
)
def test_parameters_are_checked(options, words):
    with pytest.raises(ValueError, match=words):
        LabelPlanner(**options)


def test_rows_and_labels_are_checked(search):
    y, predictions = make_answers(n=60)
    planner = LabelPlanner(random_state=0)
    with pytest.raises(ValueError, match="Pass `search`, or call `ask`"):
        planner.status()
    batch = planner.ask_from_predictions(predictions)
    other = np.setdiff1d(np.arange(60), batch.rows)[0]
    with pytest.raises(ValueError, match=f"asked for; got row {other}"):
        planner.tell([other], [0])
    with pytest.raises(ValueError, match="is named 2 times"):
        planner.tell(batch.rows[[0, 0]], [0, 0])
    with pytest.raises(ValueError, match="2 labels for 1 rows"):
        planner.tell(batch.rows[:1], [0, 1])
    with pytest.raises(ValueError, match="candidates of the first batch"):
        planner.ask_from_predictions(predictions[:2])
    with pytest.raises(ValueError, match="must be the 210 rows"):
        LabelPlanner().ask(search[0], search[1][:5])
    assert y.size == 60


def test_a_random_share_of_one_is_a_simple_random_sample():
    _, predictions = make_answers()
    batch = ask_from_predictions(predictions, random_share=1.0, random_state=0)
    np.testing.assert_allclose(batch.probabilities, 20 / 600)
    assert set(batch.reasons) != {""}


@pytest.mark.parametrize(
    ("make", "goal", "share"),
    [("answers", "choose", 0.1), ("numbers", "choose", 0.25), ("answers", "measure", 0.25)],
)
def test_the_default_random_share_depends_on_the_goal(make, goal, share):
    _, predictions = {"answers": make_answers, "numbers": make_numbers}[make]()
    default, same, other = (
        ask_from_predictions(predictions, goal=goal, random_share=one, random_state=0)
        for one in (None, share, 0.35 - share)
    )
    np.testing.assert_array_equal(default.probabilities, same.probabilities)
    assert sorted(default.probabilities) != pytest.approx(sorted(other.probabilities))


def test_one_terrible_model_does_not_spoil_the_consensus_of_numbers():
    y, predictions = make_numbers(n=50)
    pool = make_pool(np.concatenate([predictions, 1e9 * np.ones((1, 50))]))
    assert np.abs(pool.consensus() - y).max() < 5
    assert pool.consensus(np.full(4, 0.25)).min() > 1e8


def test_intervals_of_numbers_need_fifty_labels():
    y, predictions = make_numbers()
    planner = LabelPlanner("measure", candidate="0", width=10.0, random_state=0)
    history = run(planner, y, predictions, 3).history()
    assert [one.reached for one in history] == [False, False, True]
    assert history[1].left_low >= 10


def test_numbers_that_are_none_are_refused():
    planner = LabelPlanner(random_state=0)
    batch = planner.ask_from_predictions(np.random.default_rng(0).normal(size=(2, 30)))
    for label in (np.nan, None, "1.5"):
        with pytest.raises(ValueError, match=f"must be finite numbers; got {label!r}"):
            planner.tell(batch.rows[:1], [label])
    with pytest.raises(ValueError, match="`labels` must be 0 or between 1e-50 and"):
        planner.tell(batch.rows[:1], [1e300])


def test_predictions_are_checked():
    with pytest.raises(ValueError, match=r"got shape \(3,\)"):
        ask_from_predictions([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="must be finite; got NaN"):
        ask_from_predictions([[1.0, np.nan]])
    with pytest.raises(ValueError, match="each of the 2 candidates; got 1"):
        ask_from_predictions(np.zeros((2, 4)), names=["a"])
    with pytest.raises(ValueError, match="3 candidates; got 3 names, 2 of them different"):
        ask_from_predictions(np.zeros((3, 4)), names=["a", "b", "a"])
    with pytest.raises(ValueError, match="`baseline` must be"):
        ask_from_predictions(np.zeros((2, 4)), goal="prove", baseline="c")
    with pytest.raises(ValueError, match="compares two candidates; got only '0'"):
        ask_from_predictions(np.zeros((1, 4)), goal="prove")
    with pytest.raises(ValueError, match="must be probabilities; got numbers from -1 to 3"):
        ask_from_predictions([[[-1.0, 3.0]]])
    with pytest.raises(ValueError, match="between 1e-50 and 1e.50 in size; got at most 1e-60"):
        ask_from_predictions([[0.0, 1e-60]])
    with pytest.raises(ValueError, match="each of the 3 classes of `predictions` once"):
        LabelPlanner().ask_from_predictions(make_answers()[1], classes=["a", "b"])


def test_states_are_checked(tmp_path):
    with pytest.raises(ValueError, match="got other values"):
        LabelPlanner.from_dict({"format": 7})
    state = LabelPlanner().to_dict()
    del state["names"]
    with pytest.raises(ValueError, match="got damaged values"):
        LabelPlanner.from_dict(state)
    y, predictions = make_answers(n=40)
    state = run(LabelPlanner(random_state=0), y, predictions, 1).to_dict()
    state["asked"][0]["predictions"] = None
    with pytest.raises(ValueError, match="got damaged values"):
        LabelPlanner.from_dict(state)
    for text in ("{", "[" * 100_000):
        (tmp_path / "state.json").write_text(text)
        with pytest.raises(ValueError, match="not a labelling state"):
            LabelPlanner.load(tmp_path / "state.json")
    with pytest.raises(ValueError, match="must be a regular file"):
        LabelPlanner.load("/dev/zero")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch": 10**9}, "row .* of batch 1000000000"),
        ({"row": 10**9}, "row 1000000000 of batch 0"),
        ({"row": 0.5}, "'asked 0 row' must be <class 'int'>; got '0.5'"),
        ({"probability": 0.0}, "row .* of batch 0"),
        ({"label": 0.5}, "the label 0.5 of row"),
        ({"label": 7}, "the label 7 of row"),
        ({"label": "a"}, "'asked 0 label' must be"),
    ],
)
def test_rows_that_cannot_have_been_asked_for_are_refused(changes, message):
    state = run(LabelPlanner(random_state=0), *make_answers(n=40), 1).to_dict()
    state["asked"][0] |= changes
    with pytest.raises(ValueError, match=f"got damaged values .{message}"):
        LabelPlanner.from_dict(state)
    state["asked"][0] = state["asked"][1]
    with pytest.raises(ValueError, match="a row that was asked for twice"):
        LabelPlanner.from_dict(state)


def test_a_search_without_unlabelled_rows_is_refused():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(2, size=60)
    search = TransferSearchCV({"nb": GaussianNB(), "lr": LogisticRegression()}, cv=2)
    search.fit(X, y, X_target=X[:20], y_target=y[:20])
    with pytest.raises(ValueError, match="Fit it with X_unlabeled"):
        LabelPlanner().ask(search)


# Forecasts and estimates


def test_forecasts_grow_with_what_is_asked():
    _, predictions = make_answers(n=1500)
    narrow, wide = (how_many_labels(predictions, goal="measure", width=w) for w in (0.05, 0.1))
    assert 3 < narrow.labels / wide.labels < 5
    small, large = (how_many_labels(predictions, gap=gap) for gap in (0.04, 0.2))
    assert small.labels > large.labels
    assert "labels would show that" in str(large)
    assert "More than 40 labels" in str(how_many_labels(predictions, gap=0.02, budget=40))
    assert "decide between" in str(how_many_labels(predictions, goal="choose", gap=0.1))


def test_forecasts_of_a_search(search):
    found = how_many_labels(search[0])
    assert found.candidate != found.baseline
    assert found.low <= found.labels <= found.high
    other = how_many_labels(search[0], goal="choose", candidate="pooled", baseline="target")
    assert (other.candidate, other.baseline) == ("pooled", "target")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gap": 0}, "`gap` must be a finite number above 0"),
        ({"width": np.nan}, "`width` must be a finite number above 0"),
        ({"level": 1}, "`level` must lie between 0 and 1"),
        ({"budget": 0}, "`budget` must be a whole number"),
        ({"batch_size": 0}, "`batch_size` must be a whole number"),
    ],
)
def test_parameters_of_forecasts_are_checked(options, words):
    with pytest.raises(ValueError, match=words):
        how_many_labels(make_answers()[1], **options)


def test_forecasts_need_two_models():
    with pytest.raises(ValueError, match="at least two models"):
        how_many_labels(np.full((1, 20, 2), 0.5))
    with pytest.raises(ValueError, match="'0' and '1' predict the same for all rows"):
        how_many_labels(np.zeros((2, 20)))


def make_numbers(n=1500, skills=(0.4, 0.6, 0.6), seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    return y, np.stack([y + s * rng.normal(size=n) for s in skills])


def test_forecasts_of_numbers_grow_with_what_is_asked():
    _, predictions = make_numbers()
    options = {"goal": "measure", "budget": 10**6}
    narrow, wide = (how_many_labels(predictions, width=w, **options) for w in (0.02, 0.04))
    assert 3 < narrow.labels / wide.labels < 5
    # The default is relative, so it does not depend on the unit of the label.
    one, thousand = (how_many_labels(k * predictions, goal="measure") for k in (1, 1000))
    assert one == thousand
    small, large = (how_many_labels(predictions, gap=gap, budget=2000) for gap in (0.02, 0.2))
    assert small.labels > large.labels
    found = how_many_labels(predictions, goal="choose")
    assert found.low <= found.labels <= found.high
    assert "decide between" in str(found)


def test_the_effect_of_a_label_is_that_of_the_labels():
    """Its sign points to the winner, and it decides how many labels a proof takes."""
    y, predictions = make_numbers(n=4000, skills=(0.3, 0.9))
    observed, n = measured_effect(predictions, y)
    assert observed > 0.2
    assert 1000 < n < 4000
    swapped, _ = measured_effect(predictions[::-1], y)
    assert swapped == pytest.approx(-observed)
    mean, sd = updated_effect(0.0, 0.1, observed, n)
    assert mean == pytest.approx(observed, rel=0.1)
    assert sd == pytest.approx(1 / np.sqrt(n + 100))
    # A sum of n labels with effect δ has the mean δ√n in standard errors: 1.64 at n = 68 for 0.2.
    counts = labels_to_prove_numbers(0.2, 0.0, np.random.default_rng(0), budget=68, batch_size=68)
    assert np.isfinite(counts).mean() == pytest.approx(0.5, abs=0.08)


def test_forecasts_of_numbers_allow_for_heavy_tails():
    """Chosen labels are worth no more than random ones with a normal interval of this width."""
    _, predictions = make_numbers()
    pool = make_pool(predictions)
    score, spread = simulated_score(pool, 0, default_metric(pool), np.random.default_rng(0))
    normal = (stats.norm.ppf(0.95) * spread / (0.05 * score)) ** 2
    options = {"goal": "measure", "width": 0.05 * score, "candidate": "0", "budget": 10**6}
    # Both are simulated, so they differ by some percent.
    assert how_many_labels(predictions, **options).labels > 0.9 * normal


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "accuracy"])
def test_forecasts_of_any_metric(search, scoring):
    _, rows, y = search
    other = TransferSearchCV(
        {"target": TargetOnly(LogisticRegression()), "pooled": Pooled(GaussianNB())},
        scoring=scoring,
        cv=3,
        random_state=0,
    )
    for labels in ({}, {"X_target": rows[100:130], "y_target": y[100:130]}):
        other.fit(rows[:100], y[:100], X_unlabeled=rows[130:], **labels)
        found = how_many_labels(other, goal="measure", budget=10**6)
        assert 10 <= found.low <= found.labels <= found.high < np.inf
        wide = how_many_labels(other, goal="measure", width=0.2, budget=10**6)
        assert wide.labels < found.labels


def test_a_census_is_the_truth():
    """With every row labelled with weight 1, estimates are the means of the pool."""
    y, predictions = make_answers(n=200)
    labels = predictions.argmax(axis=2)
    losses = (labels != y).astype(float)
    expected = 1 - np.take_along_axis(
        predictions.mean(axis=0)[None].repeat(3, 0), labels[..., None], axis=2
    ).squeeze(-1)
    level = mean_loss(
        losses[0],
        np.ones(200),
        expected[0],
        expected[0].mean(),
        level=0.9,
        zero_one=True,
        n_candidates=3,
    )
    assert level.estimate == pytest.approx(losses[0].mean())
    relative = relative_losses(losses, np.ones(200), expected, expected.mean(axis=1), 200)
    assert np.argsort(relative.mean).tolist() == np.argsort(losses.mean(axis=1)).tolist()
    # A common slope of any size cancels where the rows are the pool.
    truth = losses.mean(axis=1) - losses.mean()
    prior = expected.mean(axis=1) - expected.mean()
    low, high = np.minimum(truth, prior) - 1e-9, np.maximum(truth, prior) + 1e-9
    assert ((low <= relative.mean) & (relative.mean <= high)).all()


def interval_of(losses, n_candidates=1):
    """The interval of numeric losses at random rows with equal expected losses."""
    ones = np.ones(losses.size)
    options = {"level": 0.9, "zero_one": False, "n_candidates": n_candidates}
    return mean_loss(losses, ones, ones, 1.0, **options)


def test_weights_of_the_consensus_cost_degrees_of_freedom():
    losses = np.random.default_rng(0).normal(size=40) ** 2
    few, many = (interval_of(losses, n) for n in (2, 20))
    assert many.error**2 / few.error**2 == pytest.approx((40 - 3) / (40 - 21))
    assert many.high > few.high


def test_heavy_tails_cost_degrees_of_freedom():
    """Two outliers dominate the variance, so that it has few degrees of freedom."""
    losses = np.ones(40)
    losses[:2] = 1000.0
    found = interval_of(losses)
    half = np.log(found.high / found.estimate)
    # Contributions to the variance: two large ones and 38 small ones.
    squares = (losses - losses.mean()) ** 2
    shares = squares / squares.sum()
    freedom = 2 / ((shares**2).sum() - 1 / 40)
    assert 4 < freedom < 5
    assert half == pytest.approx(stats.t.ppf(0.95, freedom) * found.error / found.estimate)


def test_intervals_of_squared_errors_are_symmetric_for_the_logarithm():
    losses = np.random.default_rng(0).normal(size=60) ** 2
    found = interval_of(losses)
    assert found.estimate == pytest.approx(losses.mean())
    assert found.low * found.high == pytest.approx(found.estimate**2)
    assert 0 < found.low < 1 < found.high


def test_few_rows_with_most_of_the_weight_give_a_wide_interval():
    losses = np.zeros(20)
    weights = np.where(np.arange(20) < 4, 100.0, 1.0)
    wide, narrow = (
        mean_loss(losses, one, np.ones(20), 1.0, level=0.9, zero_one=True, n_candidates=3)
        for one in (weights, np.ones(20))
    )
    assert wide.high > 1.5 * narrow.high
    # The interval is that of so many random labels, with the quantile of 20 labels.
    ratio = stats.norm.ppf(0.95) / stats.t.ppf(0.95, 18)
    assert wide.high == pytest.approx(score_interval(0.0, wide.worth * ratio**2, 0.9)[1])


def zero_one_interval(losses, weights, risk):
    options = {"level": 0.9, "zero_one": True, "n_candidates": 3}
    return mean_loss(losses, weights, risk, float(risk.mean()), **options)


def test_random_labels_without_an_error_are_worth_about_their_number():
    """Half a row of both outcomes is added to the residuals as well as to the score."""
    for n in (20, 60, 100):
        for losses in (np.zeros(n), np.ones(n)):
            found = zero_one_interval(losses, np.ones(n), np.full(n, 0.1))
            smooth = 0.5 / (n + 1)
            added = (smooth**2 + (1 - smooth) ** 2) / 2 / n**2 * n / (n - 2)
            assert found.worth == pytest.approx(smooth * (1 - smooth) / added, rel=1e-3)
            assert 0.85 * n < found.worth < n


def test_added_rows_weigh_as_the_rows_that_may_be_wrong():
    """Where risky rows were drawn with high probability, few errors say more."""
    risk = np.repeat([0.3, 0.01], 20)
    aimed = zero_one_interval(np.zeros(40), np.repeat([1.0, 2.0], 20), risk)
    away = zero_one_interval(np.zeros(40), np.repeat([2.0, 1.0], 20), risk)
    plain = zero_one_interval(np.zeros(40), np.ones(40), risk)
    assert away.worth < plain.worth < aimed.worth
    share = np.repeat([1.0, 2.0], 20) / 60
    smooth = 0.5 / 41
    wrong, right = np.average(share**2, weights=risk), np.average(share**2, weights=1 - risk)
    added = (wrong * (1 - smooth) ** 2 + right * smooth**2) / 2 * 40 / 38
    assert aimed.worth == pytest.approx(smooth * (1 - smooth) / added, rel=1e-3)


def test_rare_errors_are_covered():
    """90 % intervals of random labels for 5 % errors; without added rows, 54 % covered."""
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(400):
        losses = (rng.random(20) < 0.05).astype(float)
        found = zero_one_interval(losses, np.ones(20), np.full(20, 0.05))
        covered.append(found.low <= 0.05 <= found.high)
    assert np.mean(covered) > 0.87


def test_losses_of_zero_have_no_upper_bound():
    found = interval_of(np.zeros(30))
    assert (found.estimate, found.low, found.high) == (0.0, 0.0, np.inf)
    _, predictions = make_numbers()
    planner = LabelPlanner("measure", candidate="0", random_state=0)
    status = run(planner, predictions[0], predictions, 3).status()
    assert (status.estimate, status.high, status.reached) == (0.0, np.inf, False)
    assert status.left == np.inf


@pytest.mark.parametrize("goal", GOALS)
def test_the_unit_of_numbers_does_not_matter(goal):
    y, predictions = make_numbers(n=400)
    one, small = (
        run(
            LabelPlanner(goal, candidate="0", baseline="1", random_state=0),
            2.0**unit * y,
            2.0**unit * predictions,
            2,
        )
        for unit in (0, -60)
    )
    assert [row.row for row in one.asked_] == [row.row for row in small.asked_]
    first, second = one.status(), small.status()
    unit = 2.0**-120 if goal == "prove" else 2.0**-60
    assert second.estimate / unit == pytest.approx(first.estimate)
    assert second.high / unit == pytest.approx(first.high)
    assert second.e_value == pytest.approx(first.e_value, nan_ok=True)
    assert second.probability == pytest.approx(first.probability, nan_ok=True)
    assert (second.worth, second.left) == pytest.approx((first.worth, first.left), nan_ok=True)


def test_later_labels_do_not_revise_a_proof():
    """The weights of a look are those of the labels known then."""
    rng = np.random.default_rng(247)
    y, n = rng.normal(size=400), 400
    noise = [s * rng.normal(size=n) * (1 + 3 * (rng.random(n) < 0.05)) for s in (0.9, 1.0, 1.05)]
    planner = LabelPlanner(
        "prove", candidate="0", baseline="1", random_state=247, batch_size=10, budget=60
    )
    reached = [one.reached for one in run(planner, y, y + np.stack(noise), 6).history()]
    assert any(reached)
    assert reached == sorted(reached)


def test_labelled_rows_keep_their_predicted_class():
    """Probabilities that differ by less than any rounding still name the class."""
    predictions = np.tile([[0.5 - 1e-9, 0.5 + 1e-9]], (2, 30, 1))
    predictions[0] = predictions[0, :, ::-1]
    planner = LabelPlanner("prove", candidate="0", baseline="1", random_state=0)
    status = run(planner, np.zeros(30, int), predictions, 1).status()
    assert status.test.informative == status.test.wins == 20


def test_forecasts_of_other_metrics_follow_their_intervals(search):
    _, rows, y = search
    other = TransferSearchCV(
        {"target": TargetOnly(LogisticRegression()), "pooled": Pooled(GaussianNB())},
        scoring="roc_auc",
        cv=3,
        random_state=0,
    )
    other.fit(
        rows[:100], y[:100], X_target=rows[100:130], y_target=y[100:130], X_unlabeled=rows[130:]
    )
    planner = LabelPlanner("measure", width=0.01, random_state=0)
    batch = planner.ask(other)
    status = planner.tell(batch.rows, y[130:][batch.rows]).status()
    half = (status.high - status.low) / 2
    assert status.left == pytest.approx(20 * (half / 0.01) ** 2 - 20, rel=0.1)


def test_small_pools_and_single_classes():
    """Warnings are errors, so that no division by zero remains."""
    y, predictions = make_answers()
    planner = LabelPlanner("train", random_share=0, random_state=0)
    assert run(planner, y, predictions, 2).status().n_labels == 40
    ones = np.ones((2, 50, 1))
    assert len(ask_from_predictions(ones, goal="train", random_state=0)) == 20
    single = run(LabelPlanner(random_state=0), y[:1], predictions[:, :1], 1).status()
    assert single.left_low == 4  # five labels are needed for an estimate


def test_one_random_label_is_singular():
    y, predictions = make_answers()
    status = run(LabelPlanner("measure", random_state=0), y, predictions, 1).status()
    for worth, words in ((1.2, "as precise as 1 random label."), (7.0, "7 random labels.")):
        assert replace(status, worth=worth).sentences[1].endswith(words)


def test_a_forecast_has_two_significant_digits():
    counts = {"left": 251.0, "left_low": 97.0, "left_high": 358.0}
    status = LabelStatus(goal="measure", n_labels=20, budget=400, candidate="vote", **counts)
    first, _, last = status.sentences
    assert first == "After 20 labels, vote is not yet measured precisely enough."
    assert last == "About 250 more labels are needed (80 % interval 97 to 360)."


def test_labels_to_decide_between_the_two_best(search):
    result = search[0].results_
    found = labels_to_decide(result)
    order = [result.labels[cell] for cell in result.ranking()]
    probability = result.prob_better()[result.ranking()[0], result.ranking()[1]]
    assert (found is None) == (not 0.05 < probability < 0.95)
    if found is not None:
        assert [found.candidate, found.baseline] == order[:2]
    # Rows that were won move the expected share up, and narrow it.
    mean, sd = updated_wins(0.5, 0.1, 15, 20)
    assert 0.5 < mean < 0.75
    assert sd < 0.1


def test_a_pool_beyond_the_kept_rows_is_predicted_by_refitted_cells(monkeypatch):
    """Every unlabelled row can be asked for, with the estimates of the whole pool."""
    monkeypatch.setattr("landbridge.model_selection._fit_tasks.MOST_UNLABELLED", 40)
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(80, 2)), rng.normal(size=(320, 2))
    y, y_target = (X[:, 0] > 0).astype(int), (X_target[:, 0] > 0).astype(int)
    search = TransferSearchCV(
        {"lr": Pooled(LogisticRegression()), "nb": GaussianNB()}, cv=2, random_state=0
    )
    search.fit(X, y, X_target=X_target[:20], y_target=y_target[:20], X_unlabeled=X_target[20:])
    assert search.results_.unlabelled_rows.size == 40
    planner = LabelPlanner("measure", batch_size=100, random_state=0)
    batch = planner.ask(search, X_target[20:])
    assert planner.n_rows_ == 300
    assert np.setdiff1d(batch.rows, search.results_.unlabelled_rows).size > 40
    lr = search.results_.labels.index("lr")
    said = search.refit_cell(lr).predict_proba(X_target[20:])[batch.rows]
    asked = np.array([one.predictions[planner.names_.index("lr")] for one in planner.asked_])
    np.testing.assert_allclose(asked, said, atol=1e-5)
    planner.tell(batch.rows, y_target[20:][batch.rows])
    assert planner._known().weights.sum() == pytest.approx(300, rel=0.2)
    # The predictions of the kept rows alone would change the size of the pool.
    with pytest.raises(ValueError, match="must have the 300 rows of the first batch; got 40"):
        LabelPlanner.from_dict(planner.to_dict()).status(search.results_)


def test_members_from_several_sources():
    """Cells of different sources are candidates of their own and are judged as such."""
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(160, 2)), rng.normal(size=(260, 2))
    groups = np.repeat(["like", "unlike"], 80)
    y = np.where(groups == "like", X[:, 0] > 0, X[:, 1] > 0).astype(int)
    y_target = (X_target[:, 0] > 0).astype(int)
    search = TransferSearchCV(
        {"source": SourceOnly(LogisticRegression()), "pooled": Pooled(GaussianNB())},
        cv=2,
        random_state=0,
    )
    search.fit(
        X, y, groups=groups,
        X_target=X_target[:20], y_target=y_target[:20], X_unlabeled=X_target[20:],
    )  # fmt: skip
    planner = LabelPlanner(random_state=0)
    for _ in range(2):
        batch = planner.ask(search, X_target[20:])
        planner.tell(batch.rows, y_target[20:][batch.rows])
    sources = {cell.source for cell in search.results_.cells}
    assert {"like", "unlike"} <= sources
    for source in ("like", "unlike"):
        assert any(source in name for name in planner.names_), planner.names_
    status = planner.status(search)
    assert status.estimate > 0.8
    unlike = next(name for name in planner.names_ if "unlike" in name)
    proof = LabelPlanner("prove", candidate=status.candidate, baseline=unlike, random_state=0)
    batch = proof.ask(search)
    assert proof.tell(batch.rows, y_target[20:][batch.rows]).status().reached
