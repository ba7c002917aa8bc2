"""Summaries say what the objects of the library say; checks change state when they should."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from landbridge import Pooled, SearchRankingDisplay, SourceOnly, TransferSearchCV
from landbridge.report import summarise, summarise_origin, summarise_search
from landbridge.report.pictures import three_digits
from landbridge.report.summary import plain
from landbridge.report.verdict import checks_of

from .example import example_summary


class Failing(LogisticRegression):
    """A candidate that cannot be fitted."""

    def fit(self, X, y, sample_weight=None):
        raise ValueError("no fit today")


def fitted(candidates, *, labels=True, seed=0, **options):
    rng = np.random.default_rng(seed)
    X, X_target = rng.normal(size=(60, 2)), rng.normal(0.3, 1.0, size=(30, 2))
    y, y_target = X[:, 0] > 0, X_target[:, 0] > 0
    if options.pop("regression", False):
        y, y_target = X[:, 0], X_target[:, 0]
    target = {"X_target": X_target, "y_target": y_target} if labels else {"X_unlabeled": X_target}
    search = TransferSearchCV(candidates, cv=3, random_state=0, **options)
    return search.fit(X, y, **target)


def red(summary):
    return summary["shift"]["sources"][0]


def states(summary, result=None):
    return {check["name"]: check["state"] for check in checks_of(summary, result)}


def test_the_ranking_repeats_the_result():
    search = fitted({"a": SourceOnly(LogisticRegression()), "b": Pooled(LogisticRegression())})
    ranking = summarise_search(search.results_, level=0.9)
    best = ranking["candidates"][0]
    low, high = search.interval(0.9)
    assert best["score"] == pytest.approx(search.best_score_)
    assert (best["low"], best["high"]) == pytest.approx((low, high))
    assert ranking["matrix"] is None
    better = search.prob_better(method="paired")
    order = search.results_.ranking()
    assert ranking["pairwise"]["values"][0][1] == pytest.approx(better[order[0], order[1]])
    assert ranking["pairwise"]["values"][0][0] is None


def test_a_single_candidate_has_no_rival():
    ranking = summarise_search(fitted({"a": LogisticRegression()}).results_)
    assert ranking["pairwise"] is None


def test_failed_candidates_are_named_with_the_reason():
    with pytest.warns(UserWarning, match="failed"):
        search = fitted({"good": LogisticRegression(), "bad": Failing()})
    summary = summarise(
        title="t", target="x", origin=summarise_origin(), result=search.results_, warnings=["look"]
    )
    last = summary["ranking"]["candidates"][-1]
    assert (last["name"], last["score"], last["low"]) == ("bad", None, None)
    assert "no fit today" in last["note"]
    assert states(summary)["Failed candidates"] == "caution"
    assert summary["checks"][-1]["text"] == "look"


def test_without_target_labels_intervals_say_so_or_are_left_out():
    classes = summarise_search(fitted({"a": LogisticRegression()}, labels=False).results_)
    assert classes["interval"]["method"] == "effective"
    assert "not guaranteed" in classes["interval"]["words"]
    numbers = fitted({"a": Ridge(), "b": SourceOnly(Ridge())}, labels=False, regression=True)
    ranking = summarise_search(numbers.results_)
    assert ranking["interval"]["method"] is None
    assert ranking["candidates"][0]["low"] is None
    assert ranking["score"] == "mean squared error"
    assert "without target labels" in ranking["pairwise"]["words"]


def test_intervals_of_losses_say_that_they_are_less_sure():
    losses, rates = (
        summarise_search(fitted({"a": model}, regression=regression).results_)["interval"]["words"]
        for model, regression in ((Ridge(), True), (LogisticRegression(), False))
    )
    assert "hold the truth less often than that: in trials with squared losses 83 %" in losses
    assert rates == "Lines are 95 % intervals, resting on 30 labelled target rows."


def test_all_sources_have_one_name_in_both_sentences_of_the_verdict():
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(60, 2)), np.repeat(["a", "b"], 30)
    models = {"s": SourceOnly(LogisticRegression()), "p": Pooled(LogisticRegression())}
    search = TransferSearchCV(models, cv=3, sources="both", random_state=0)
    search.fit(X, X[:, 0] > 0, groups=groups, X_target=X[:20], y_target=X[:20, 0] > 0)
    labelled = np.ones_like(search.results_.labelled)
    labelled[search.results_.labels.index("p from pooled")] = 0.0
    result = replace(search.results_, labelled=labelled)
    assert "p from pooled beats" in result.worth_transferring().message
    summary = summarise(title="t", target="x", origin=summarise_origin(), result=result)
    assert summary["verdict"][0].startswith("Train p on all sources")
    assert "p from all sources beats source-only" in summary["verdict"][1]


def test_a_cell_that_only_tlv_could_not_judge_has_no_interval():
    models = {"a": SourceOnly(LogisticRegression()), "b": Pooled(LogisticRegression())}
    result = fitted(models, criterion=["trcv", "tlv"]).results_
    failure = {"cell": 0, "arrays": ("labelled",), "message": "no", "candidate": "a"}
    result = replace(result, failures=(failure,))
    rows = {row["name"]: row for row in summarise_search(result)["candidates"]}
    assert rows["a"]["low"] is None
    assert rows["a"]["score"] is not None
    assert rows["b"]["low"] < rows["b"]["high"]
    assert SearchRankingDisplay.from_result(result).labels == ["b"]


def test_a_label_floor_that_counts_is_said():
    models = {"a": SourceOnly(LogisticRegression()), "b": LogisticRegression(C=0.1)}
    search = fitted(models, labels=False, correction="label_floor")
    half = np.array([[0.5, 0.5]])
    said = np.array([[0.05, 0.95], [0.5, 0.5]])
    result = replace(search.results_, pseudo_labels=said, source_labels=half)
    notes = {row["name"]: row["note"] for row in summarise_search(result)["candidates"]}
    assert notes == {"a": "at most 0.550 by its label floor", "b": ""}
    by_name = replace(result, about={**result.about, "correction": None})
    assert not any(row["note"] for row in summarise_search(by_name)["candidates"])
    ridges = {"a": Ridge(), "b": Ridge(10.0)}
    numbers = fitted(ridges, labels=False, regression=True, correction="label_floor").results_
    moved = numbers.source_labels + np.array([[3.0], [0.0]])
    rows = summarise_search(replace(numbers, pseudo_labels=moved))["candidates"]
    assert {row["name"]: row["note"] for row in rows}["a"] == "at least 9 by its label floor"


def test_grids_are_part_of_the_name():
    search = fitted({"a": (LogisticRegression(), {"C": [0.1, 1.0]})})
    names = {row["name"] for row in summarise_search(search.results_)["candidates"]}
    assert names == {"a (C=0.1)", "a (C=1.0)"}


@pytest.mark.parametrize(
    ("change", "name", "state"),
    [
        (lambda s: s["data"]["domains"][1].update(labelled=0), "Target labels", "problem"),
        (lambda s: s["data"]["domains"][1].update(labelled=5), "Target labels", "caution"),
        (lambda s: None, "Target labels", "ok"),
        (lambda s: s["data"].update(target_only_classes=["9"]), "Classes", "caution"),
        (lambda s: s["data"].update(target_only_classes=[]), "Classes", "ok"),
        (lambda s: s["data"]["domains"][0].update(missing=0.5), "Missing cells", "caution"),
        (lambda s: None, "Failed candidates", "caution"),
        (lambda s: None, "Lead of the winner", "caution"),
        (
            lambda s: s["ranking"]["pairwise"]["values"][0].__setitem__(1, 0.97),
            "Lead of the winner",
            "ok",
        ),
        (lambda s: None, "Distance to the target", "problem"),
        (lambda s: s["shift"]["sources"][1].update(auc=0.7), "Distance to the target", "caution"),
        (lambda s: s["shift"]["sources"][1].update(auc=0.55), "Distance to the target", "ok"),
        (lambda s: None, "Importance weights", "problem"),
        (lambda s: red(s).update(effective_share=0.2), "Importance weights", "caution"),
        (lambda s: red(s).update(effective_share=0.8), "Importance weights", "ok"),
        (lambda s: None, "Number of sources", "ok"),
        (lambda s: s["sources"]["per_source"].pop(), "Number of sources", "caution"),
    ],
)  # fmt: skip
def test_checks_change_their_state(change, name, state):
    summary = example_summary()
    change(summary)
    assert states(summary)[name] == state


def test_the_check_of_transfer_follows_the_verdict():
    search = fitted({"a": SourceOnly(LogisticRegression()), "b": Pooled(LogisticRegression())})
    verdict = search.worth_transferring()
    state = states(example_summary(), search.results_)["Transfer"]
    assert state == ("ok" if verdict.worth else "caution")


def test_plain_values_are_what_json_can_hold():
    given = {"a": np.float64(1.5), 2: np.array([np.nan, 1]), "c": (True, None), "d": Ridge()}
    assert plain(given) == {"a": 1.5, "2": [None, 1.0], "c": [True, None], "d": "Ridge()"}


@pytest.mark.parametrize(
    ("value", "words"), [(0.4, "0.400"), (0.5924, "0.592"), (123.0, "123"), (12.34, "12.3")]
)
def test_three_digits_whatever_they_are(value, words):
    assert three_digits(value) == words


@pytest.mark.parametrize(
    ("probability", "state", "words"),
    [
        (0.97, "ok", "The winner beats b with probability 0.97"),
        (0.7, "caution", "better than b with probability 0.70: take them as equals"),
        (
            0.16,
            "caution",
            "Compared as a pair, b is ahead: the winner is better with probability 0.16",
        ),
        (None, "caution", "better than b with an unknown probability"),
    ],
)
def test_the_lead_of_the_winner_in_words(probability, state, words):
    pairwise = {"names": ["a", "b"], "values": [[None, probability], [None, None]]}
    candidates = [{"name": "a", "note": ""}, {"name": "b", "note": ""}]
    checks = checks_of({"ranking": {"pairwise": pairwise, "candidates": candidates}})
    (lead,) = [check for check in checks if check["name"] == "Lead of the winner"]
    assert lead["state"] == state
    assert words in lead["text"]
