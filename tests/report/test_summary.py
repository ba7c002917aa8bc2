"""Summaries say what the objects of the library say; checks change state when they should."""

import re
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB

from landbridge import Pooled, SourceOnly, TargetOnly, TransferSearchCV
from landbridge.model_selection.search_records import Failure
from landbridge.report import summarise, summarise_origin, summarise_search
from landbridge.report.blocks import plain
from landbridge.report.checks import checks_of
from landbridge.report.layout import ranking_section

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


def states(summary):
    return {check["name"]: check["state"] for check in checks_of(summary)}


def test_the_ranking_repeats_the_result():
    search = fitted({"a": SourceOnly(LogisticRegression()), "b": Pooled(LogisticRegression())})
    ranking = summarise_search(search.results_, level=0.9)
    vote, best = ranking["candidates"][:2]
    assert vote["name"] == "vote of 2"
    assert (vote["low"], vote["high"]) == pytest.approx(tuple(search.interval(0.9)))
    assert best["score"] == pytest.approx(search.best_score_)
    low, high = search.interval(0.9, cell=search.best_index_)
    assert (best["low"], best["high"]) == pytest.approx((low, high))
    assert ranking["matrix"] is None
    better = search.prob_better(method="paired")
    order = search.results_.ranking()
    assert ranking["pairwise"]["values"][0][1] == pytest.approx(better[order[0], order[1]])
    assert ranking["pairwise"]["values"][0][0] is None


@pytest.mark.parametrize("labels", [True, False])
def test_the_text_about_a_vote_says_where_its_weights_come_from(labels):
    other = Pooled(LogisticRegression()) if labels else GaussianNB()
    search = fitted({"a": SourceOnly(LogisticRegression()), "b": other}, labels=labels)
    blocks = ranking_section(summarise_search(search.results_)).blocks
    place = [getattr(block, "text", "") for block in blocks].index("The vote")
    words = blocks[place + 1].text
    assert ("come from labelled target rows. Each row is scored" in words) == labels
    assert words.endswith("come from the criterion.") != labels


def test_a_single_candidate_is_compared_with_the_majority_class():
    ranking = summarise_search(fitted({"a": LogisticRegression()}).results_)
    assert ranking["pairwise"]["names"] == ["a", "majority class"]
    assert ranking["vote"] is None
    assert ranking["beats_baseline"]


def sentences(search, **options):
    summary = summarise(
        title="t", target="x", origin=summarise_origin(), result=search.results_, **options
    )
    return summary["verdict"]


def test_an_answer_that_does_not_beat_the_majority_says_so_first():
    constant = DummyClassifier(strategy="constant", constant=False)
    search = fitted({"constant": constant})
    words = sentences(search)
    assert words[0].startswith('The selected model never predicts class "True": it finds 0 of')
    assert "no better than always predicting the majority class" in words[0]
    assert "no better than" not in words[1]
    assert "no better" not in sentences(fitted({"a": LogisticRegression()}))[0]


def test_a_model_without_a_source_is_not_said_to_be_trained_on_one():
    search = fitted({"t": TargetOnly(LogisticRegression())}, refit="best")
    assert sentences(search)[0].startswith("Train t on the labelled rows of x: accuracy")


def test_without_labels_nothing_is_promised():
    models = {"a": LogisticRegression(), "b": SourceOnly(LogisticRegression(C=0.1))}
    words = sentences(fitted(models, labels=False))
    assert "No labelled row of x was used, so its score there is unknown" in words[0]
    assert "random labels of x would measure the accuracy to within 0.05" in words[-1]
    constant = sentences(fitted({"c": DummyClassifier()}, labels=False))
    assert 'predicts class "False" for all unlabelled rows' in constant[1]
    three = sentences(fitted({**models, "c": SourceOnly(DummyClassifier())}, labels=False))
    assert "Candidates agree with each other on up to" in three[1]
    assert "for 90 % of other datasets: a reference, not a measurement" in three[1]
    numbers = {"a": Ridge(), "b": SourceOnly(Ridge(100.0))}
    regression = sentences(fitted(numbers, labels=False, regression=True))
    assert regression[1].startswith("Its members differ from the vote by ")
    two = sentences(fitted({**models}, labels=False))[1]
    assert re.fullmatch(r"Its members differ .* on \d+ % to \d+ % of the unlabelled rows\.", two)
    assert (
        "About 40 random labels of x would measure the error to within 20 % of it" in regression[2]
    )
    assert "expect" not in " ".join([*words, *three, *regression])


def test_a_rare_class_has_its_recall_in_the_verdict():
    rng = np.random.default_rng(0)
    X, X_target = rng.normal(size=(300, 2)), rng.normal(size=(100, 2))
    y, y_target = np.arange(300) % 10 == 0, np.arange(100) % 10 == 0
    search = TransferSearchCV({"a": LogisticRegression()}, cv=3, random_state=0)
    search.fit(X, y, X_target=X_target, y_target=y_target)
    warning, headline = sentences(search)[:2]
    assert warning.startswith(
        'The selected model never predicts class "True": it finds 0 of 10 labelled rows.'
    )
    assert "Search with the metric average_precision" in warning
    assert 'recall 0.00 of the rarest class "True" (10.0 % of the rows, 0 of 10 found)' in headline
    few = np.arange(100) % 40 == 0  # three rows may be ignored by chance
    assert "never" not in sentences(search.fit(X, y, X_target=X_target, y_target=few))[0]
    # Average precision is that of the class True, and ROC AUC does not hide a rare class.
    warning = sentences(search.fit(X, ~y, X_target=X_target, y_target=~y_target))[0]
    assert "Search with the metric roc_auc" in warning
    search.set_params(scoring="roc_auc").fit(X, y, X_target=X_target, y_target=y_target)
    assert "Use the predicted probability of the class" in sentences(search)[0]


def test_labels_of_one_class_come_first():
    search = fitted({"a": LogisticRegression()})
    report = replace(search.results_, y_target=np.zeros_like(search.results_.y_target))
    summary = summarise(title="t", target="x", origin=summarise_origin(), result=report)
    assert summary["verdict"][0].startswith("All 30 labelled target rows are of class False, so")


def test_labels_that_are_no_sample_come_first():
    result = fitted({"a": LogisticRegression(), "b": Pooled(LogisticRegression())}).results_
    check = LabelCheckStub(representative=False, withheld=True, verdict="Labels are from January.")
    spoilt = replace(result, label_check_=check)
    summary = summarise(title="t", target="x", origin=summarise_origin(), result=spoilt)
    assert summary["verdict"][0] == "Labels are from January."
    assert "the labelled rows say accuracy" in summary["verdict"][1]
    assert summary["verdict"][2].startswith("Cannot compare: the labelled")
    assert len(summary["verdict"]) == 3  # no forecast, which would rest on the same labels
    assert states(summary)["Labels are a sample"] == "problem"
    (text,) = (c["text"] for c in summary["checks"] if c["name"] == "Labels are a sample")
    assert text.endswith("differ from the 100 unlabelled ones (AUC 0.90, p = 0.001).")


@dataclass(frozen=True)
class LabelCheckStub:
    """What the summary reads of a label check."""

    representative: bool
    withheld: bool
    verdict: str
    p_value: float = 0.001
    auc: float = 0.9
    overlap: float = 0.1
    effective_sample_size: float = 3.0
    n_labelled: int = 30
    n_unlabelled: int = 100
    columns: tuple = ()
    rows_to_label: tuple = ()
    by_design: bool = False
    weights: np.ndarray = field(default_factory=lambda: np.ones(30))


def test_failed_candidates_are_named_with_the_reason():
    with pytest.warns(UserWarning, match="failed"):
        search = fitted({"good": LogisticRegression(), "bad": Failing()})
    summary = summarise(
        title="t", target="x", origin=summarise_origin(), result=search.results_, warnings=["look"]
    )
    last = summary["ranking"]["candidates"][-1]
    assert (last["name"], last["score"], last["low"]) == ("bad", None, None)
    assert last["status"] == "failed"
    assert "no fit today" in last["note"]
    assert states(summary)["Failed candidates"] == "caution"
    assert summary["checks"][-1]["text"] == "look"


def test_without_target_labels_intervals_say_so_or_are_left_out():
    classes = summarise_search(fitted({"a": LogisticRegression()}, labels=False).results_)
    assert classes["interval"]["withheld"].startswith("no model was validated on labelled")
    assert classes["candidates"][0]["low"] is None
    numbers = fitted({"a": Ridge(), "b": SourceOnly(Ridge())}, labels=False, regression=True)
    ranking = summarise_search(numbers.results_)
    assert "withheld, because no model was validated" in ranking["interval"]["words"]
    assert ranking["candidates"][0]["low"] is None
    assert ranking["score"] == "RMSE"
    assert ranking["other_scores"] == ["MAE", "R²"]
    assert "without target labels" in ranking["pairwise"]["words"]


def test_a_cell_that_only_tlv_could_not_judge_has_no_interval():
    models = {"a": SourceOnly(LogisticRegression()), "b": Pooled(LogisticRegression())}
    result = fitted(models, criterion=["trcv", "tlv"]).results_
    result = replace(result, failures=(Failure(0, "target_fold", 0, ("target",), "no"),))
    rows = {row["name"]: row for row in summarise_search(result)["candidates"]}
    assert rows["a"]["low"] is None
    assert rows["a"]["score"] is not None
    assert rows["b"]["low"] < rows["b"]["high"]


def test_grids_are_part_of_the_name():
    search = fitted({"a": (LogisticRegression(), {"C": [0.1, 1.0]})})
    names = {row["name"] for row in summarise_search(search.results_)["candidates"]}
    assert names == {"vote of 2", "a (C=0.1)", "a (C=1.0)", "majority class"}


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
        (lambda s: None, "Lead of the best candidate", "caution"),
        (
            lambda s: s["ranking"]["lead"].update(decided=True),
            "Lead of the best candidate",
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


def test_one_label_is_not_called_labels():
    summary = example_summary()
    summary["data"]["domains"][1]["labelled"] = 1
    assert checks_of(summary)[0]["text"].startswith("The target has 1 label, so")


def test_the_check_of_transfer_follows_the_verdict():
    search = fitted({"a": SourceOnly(LogisticRegression()), "b": Pooled(LogisticRegression())})
    verdict = search.worth_transferring()
    ranking = summarise_search(search.results_)
    assert ranking["worth"]["words"] == verdict.message
    assert states({"ranking": ranking})["Transfer"] == ("ok" if verdict.worth else "caution")


@pytest.mark.parametrize(
    ("shown", "state", "words"),
    [
        (True, "ok", "Transfer beats both baselines beyond noise."),
        (False, "caution", "Transfer is not shown to beat target-only and a beyond noise."),
        (None, "caution", "Cannot compare."),
    ],
)
def test_the_check_of_transfer_in_words(shown, state, words):
    ranking = example_summary()["ranking"]
    ranking["worth"] = {
        "shown": shown, "words": "Cannot compare.", "unbeaten": ["target-only", "a"],
    }  # fmt: skip
    (found,) = [c for c in checks_of({"ranking": ranking}) if c["name"] == "Transfer"]
    assert (found["state"], found["text"]) == (state, words)


def test_plain_values_are_what_json_can_hold():
    given = {"a": np.float64(1.5), 2: np.array([np.nan, 1]), "c": (True, None), "d": Ridge()}
    assert plain(given) == {"a": 1.5, "2": [None, 1.0], "c": [True, None], "d": "Ridge()"}


@pytest.mark.parametrize(
    ("change", "state", "words"),
    [
        ({}, "caution", "a is not shown to beat b (probability 0.70 on 30 labels): treat them as"),
        ({"decided": True}, "ok", "a leads, next is b (probability 0.70 on 30 labels)"),
        (
            {"probability": 0.9999},
            "caution",
            "a leads b (probability above 0.99 on 30 labels), but",
        ),
        ({"probability": 0.0001}, "caution", "b does better than a on the labelled rows (probab"),
    ],
)
def test_the_lead_of_the_winner_in_words(change, state, words):
    summary = example_summary()
    summary["ranking"]["lead"].update(
        best="a", rival="b", **{"probability": 0.7, "rows": 30, **change}
    )
    checks = checks_of({"ranking": summary["ranking"]})
    (lead,) = [check for check in checks if check["name"] == "Lead of the best candidate"]
    assert lead["state"] == state
    assert words in lead["text"]
    spoilt = {**summary["ranking"]["label_check"], "representative": False, "withheld": True}
    if change.get("decided"):
        checks = checks_of({"ranking": {**summary["ranking"], "label_check": spoilt}})
        (lead,) = [check for check in checks if check["name"] == "Lead of the best candidate"]
        assert lead["state"] == "caution"
