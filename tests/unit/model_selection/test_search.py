"""The search: its shape, the roles of rows, failures, seeds, tables of any kind."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, LeaveOneOut, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import landbridge as lb
from landbridge._sklearn_versions import VERSION
from landbridge._tasks import run_tasks
from landbridge.model_selection import _run
from landbridge.model_selection.criteria import CRITERIA
from landbridge.model_selection.search_records import KEPT


class Problem:
    """Three sources of 40 rows, the third with turned labels, and a target of 80."""

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(120, 3))
        self.groups = np.repeat(["a", "b", "turned"], 40)
        signal = self.X[:, 0] - 0.5 * self.X[:, 1] + 0.3 * rng.normal(size=120)
        self.y = np.where((signal > 0) != (self.groups == "turned"), "yes", "no")
        self.X_target = rng.normal(0.4, 1.0, size=(80, 3))
        truth = self.X_target[:, 0] - 0.5 * self.X_target[:, 1] + 0.3 * rng.normal(size=80)
        self.y_target = np.where(truth > 0, "yes", "no")

    def arguments(self, n_labels=30):
        given = {"groups": self.groups, "X_unlabeled": self.X_target[n_labels:]}
        if n_labels:
            given |= {"X_target": self.X_target[:n_labels], "y_target": self.y_target[:n_labels]}
        return given

    def fit(self, candidates=None, n_labels=30, **options):
        options = {"cv": 3, "random_state": 0, **options}
        candidates = {"nb": GaussianNB()} if candidates is None else candidates
        return lb.TransferSearchCV(candidates, **options).fit(
            self.X, self.y, **self.arguments(n_labels)
        )


PROBLEM = Problem()


def test_progress_names_sources_as_the_ranking_does(monkeypatch):
    notes = []
    monkeypatch.setattr(
        "landbridge._tasks.TaskProgress.advance", lambda self, result, note: notes.append(note())
    )
    PROBLEM.fit(sources="pooled", verbose=1)
    assert notes[-1] == "leader nb from all sources"


class Broken(ClassifierMixin, BaseEstimator):
    """Fails when it is given fewer than ``needs`` rows."""

    def __init__(self, needs=10**6):
        self.needs = needs

    def fit(self, X, y):
        if len(X) < self.needs:
            raise RuntimeError("out of order")
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_the_main_job():
    search = PROBLEM.fit(
        {
            "nb": GaussianNB(),
            "svm": (SVC(), {"C": [0.01, 1, 100]}),
            "boost": lb.TrAdaBoostClassifier(n_estimators=3),
            "pooled": lb.Pooled(LogisticRegression()),
        },
        criterion="trcv",
        weighting=lb.KernelMeanMatching(),
        sources="each",
        n_jobs=2,
    )
    assert len(search.cv_results_["params"]) == 3 * 6 + 1  # and the majority class
    assert search.best_source_ in ("a", "b")
    assert set(search.best_params_) <= {"candidate", "C"}
    assert search.best_score_ == search.results_.scores("trcv").max()
    assert search.criterion_ == "trcv"
    low, high = search.interval(0.95, method="paper", cell=search.best_index_)
    assert low < search.best_score_ < high
    assert search.prob_better().shape == (19, 19)
    assert search.score(PROBLEM.X_target, PROBLEM.y_target) > 0.7
    assert list(search.classes_) == ["no", "yes"]


def test_labels_tell_the_turned_source_apart():
    search = PROBLEM.fit(sources="both")
    assert search.criterion_ == "anchored"
    assert search.results_.info.by_default
    assert search.best_source_ != "turned"
    cells = zip(search.results_.cells, search.results_.values(), strict=True)
    values = {cell.source: value for cell, value in cells}
    assert values["turned"] == max(values.values())
    assert PROBLEM.fit(n_labels=0).criterion_ == "trcv"


def test_cv_results_have_the_shape_of_grid_search():
    search = PROBLEM.fit(
        {"nb": GaussianNB(), "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 3]})}
    )
    table = pd.DataFrame(search.cv_results_)
    assert len(table) == 10
    assert {
        "params",
        "param_n_neighbors",
        "mean_test_score",
        "std_test_score",
        "rank_test_score",
        "split0_test_score",
        "split2_test_score",
        "mean_fit_time",
        "mean_score_time",
        "candidate",
        "source",
        "status",
    } <= set(table)
    assert table.mean_test_score[search.best_index_] == search.best_score_
    assert table.rank_test_score[search.best_index_] == 1
    assert (table.status == "complete").all()
    assert search.cv_results_["param_n_neighbors"].mask.tolist() == [True, False, False] * 3 + [
        True
    ]
    tlv = PROBLEM.fit(criterion="tlv")
    folds = [tlv.cv_results_[f"split{k}_test_score"][0] for k in range(3)]
    assert np.mean(folds) == pytest.approx(tlv.cv_results_["mean_test_score"][0], abs=0.01)


@pytest.mark.parametrize("criterion", ["scv", "wcv", "rv", "trcv", "tcv", "stv", "tlv"])
def test_asking_for_all_criteria_gives_what_asking_for_one_gives(criterion):
    alone = PROBLEM.fit(criterion=criterion)
    together = PROBLEM.fit(criterion="all")
    assert np.array_equal(alone.results_.values(), together.results_.values(criterion))
    assert np.array_equal(together.cv_results_[f"score_{criterion}"], alone.results_.scores())


def counting(log):
    class Counted(GaussianNB):
        def fit(self, X, y):
            log.append(len(y))
            return super().fit(X, y)

    return Counted()


def test_nothing_is_fitted_twice():
    log = []
    PROBLEM.fit(
        {"one": counting(log)}, criterion="all", error_score="raise", refit=False, sources="each"
    )
    # For each of 3 sources: 3 forward, 3 reverse, 3 tlv, 1 stv; for all of them together 3 tcv.
    assert len(log) == 3 * (3 + 3 + 3 + 1) + 3
    log.clear()
    PROBLEM.fit({"one": counting(log)}, criterion=["scv", "wcv"], refit=False)
    assert len(log) == 3 * 3


def test_baselines_are_not_fitted_again_for_what_they_ignore():
    log = []
    candidates = {"s": lb.SourceOnly(counting(log))}
    search = PROBLEM.fit(candidates, criterion=["tlv", "stv"], refit=False)
    assert len(log) == 3  # one fit a source
    assert np.array_equal(search.results_.values("tlv"), search.results_.values("stv"))
    log.clear()
    candidates = {"t": lb.TargetOnly(counting(log))}
    search = PROBLEM.fit(candidates, criterion=["tlv", "tcv"], refit=False)
    assert len(log) == 3  # one fit a fold
    assert np.array_equal(search.results_.values("tlv"), search.results_.values("tcv"))


def test_refit_uses_the_best_source_and_the_labelled_target_rows():
    search = PROBLEM.fit({"lr": LogisticRegression()}, refit="best")
    rows = PROBLEM.groups == search.best_source_
    by_hand = LogisticRegression().fit(
        np.vstack([PROBLEM.X[rows], PROBLEM.X_target[:30]]),
        np.concatenate([PROBLEM.y[rows], PROBLEM.y_target[:30]]),
    )
    assert np.array_equal(search.best_estimator_.coef_, by_hand.coef_)
    assert np.array_equal(
        search.predict_proba(PROBLEM.X_target), by_hand.predict_proba(PROBLEM.X_target)
    )
    source_only = PROBLEM.fit({"lr": lb.SourceOnly(LogisticRegression())})
    rows = PROBLEM.groups == source_only.best_source_
    plain = LogisticRegression().fit(PROBLEM.X[rows], PROBLEM.y[rows])
    assert np.array_equal(source_only.best_estimator_.estimator_.coef_, plain.coef_)


def test_without_refit_there_is_nothing_to_predict_with():
    search = PROBLEM.fit(refit=False)
    assert not hasattr(search, "predict")
    assert search.best_params_ == {"candidate": "nb"}


def same_predictions(one, other):
    """Every kept prediction and weight of two results is identical."""
    for name in KEPT:
        for first, second in zip(getattr(one, name), getattr(other, name), strict=True):
            np.testing.assert_array_equal(first.values, second.values)
            np.testing.assert_array_equal(first.labels, second.labels)
    for first, second in zip(one.sources, other.sources, strict=True):
        np.testing.assert_array_equal(first.weights, second.weights)


def test_same_answer_for_any_number_of_jobs_and_twice():
    candidates = {"forest": RandomForestClassifier(5), "pooled": lb.Pooled(LogisticRegression())}
    first, second, parallel = (
        PROBLEM.fit(candidates, criterion="all", n_jobs=n) for n in (1, 1, 2)
    )
    for other in (second, parallel):
        same_predictions(first.results_, other.results_)
        assert np.array_equal(
            first.predict_proba(PROBLEM.X_target), other.predict_proba(PROBLEM.X_target)
        )


def test_failures_have_the_same_order_whichever_fit_ends_first(monkeypatch):
    candidates = {"broken": Broken(), "nb": GaussianNB(), "late": Broken(200)}
    with pytest.warns(lb.FailedFitWarning):
        result = PROBLEM.fit(candidates, refit=False).results_
    monkeypatch.setattr(_run, "run_tasks", lambda *a, **b: list(run_tasks(*a, **b))[::-1])
    with pytest.warns(lb.FailedFitWarning):
        other = PROBLEM.fit(candidates, refit=False).results_
    first, reverse = ([(f.cell, f.fold, f.stage) for f in one.failures] for one in (result, other))
    assert len(first) > 3
    assert first == reverse


def test_a_candidate_that_never_fits_is_recorded_and_the_others_go_on():
    with pytest.warns(lb.FailedFitWarning, match="3 of 7 cells failed.*out of order"):
        search = PROBLEM.fit({"broken": Broken(), "nb": GaussianNB()})
    alone = PROBLEM.fit({"nb": GaussianNB()})
    assert search.best_params_ == {"candidate": "nb"}
    assert search.cv_results_["status"].tolist() == ["failed", "complete"] * 3 + ["complete"]
    for found, expected in zip(search.results_.target[1:6:2], alone.results_.target, strict=False):
        np.testing.assert_array_equal(found.values, expected.values)
    failure = search.results_.failures[0]
    assert "RuntimeError: out of order" in failure.traceback
    assert search.results_.cells[failure.cell].candidate == "broken"
    assert search.cv_results_["rank_test_score"][0] > search.cv_results_["rank_test_score"][1]
    assert "failed" in repr(search.results_)


def test_a_candidate_that_fails_in_one_kind_of_fit_fails_for_its_criteria_alone():
    # With 25 rows at least it cannot be validated on the target alone, which has 20 a fold.
    with pytest.warns(lb.FailedFitWarning, match=r"target_alone, fold \d"):
        search = PROBLEM.fit({"picky": Broken(25)}, criterion=["tlv", "tcv"])
    assert search.results_.status("tlv") == ("complete",) * 4
    assert search.results_.status("tcv") == (*["failed"] * 3, "complete")
    assert np.isnan(search.results_.values("tcv")[:3]).all()
    assert np.isfinite(search.results_.values("tlv")).all()


def test_failures_can_be_raised():
    with pytest.raises(RuntimeError, match="out of order"):
        PROBLEM.fit({"broken": Broken(), "nb": GaussianNB()}, error_score="raise")


def test_when_all_fail_the_first_traceback_is_shown():
    with pytest.raises(ValueError, match="(?s)3 of 4 cells failed.*RuntimeError: out of order"):
        PROBLEM.fit({"broken": Broken()})


def test_a_source_with_one_class_or_too_few_rows_is_recorded():
    groups = PROBLEM.groups.copy()
    groups[:2] = "tiny"
    y = np.where(groups == "b", "no", PROBLEM.y)
    with pytest.warns(lb.FailedFitWarning, match="2 of 5 cells failed"):
        search = lb.TransferSearchCV({"nb": GaussianNB()}, cv=3, random_state=0).fit(
            PROBLEM.X, y, **{**PROBLEM.arguments(), "groups": groups}
        )
    cells = search.results_.cells
    messages = {cells[f.cell].source: f.message for f in search.results_.failures}
    assert "must hold at least 2 classes; got np.str_('no') only" in messages["b"] or (
        "got 'no' only" in messages["b"]
    )
    assert "at least as many rows as folds; got n_samples=2 for 3" in messages["tiny"]
    assert search.best_source_ in ("a", "turned")


def test_fewer_labelled_rows_than_folds_warns_and_leaves_one_out():
    with pytest.warns(lb.FewTargetRowsWarning, match="4 labelled target rows for 5 folds, so each"):
        search = PROBLEM.fit(n_labels=4, cv=5, criterion="tlv")
    assert sorted(search.results_.target_folds) == [0, 1, 2, 3]


class FailingWeights(lb.UniformWeights):
    def fit(self, X, X_target):
        raise RuntimeError("no ratio")


def test_weights_that_fail_leave_the_other_criteria():
    with pytest.warns(lb.FailedFitWarning, match=r"\(weights\): .*no ratio"):
        search = PROBLEM.fit(criterion=["tlv", "trcv"], weighting=FailingWeights())
    assert search.results_.status("trcv") == ("failed",) * 4
    assert np.isfinite(search.results_.values("tlv")).all()
    with pytest.raises(RuntimeError, match="no ratio"):
        PROBLEM.fit(criterion="trcv", weighting=FailingWeights(), error_score="raise")


def test_weights_that_rest_on_few_rows_are_announced():
    class Spiky(lb.UniformWeights):
        def fit(self, X, X_target):
            self.weights_ = np.zeros(len(X))
            self.weights_[0] = len(X)
            return self

    with pytest.warns(lb.WeightingWarning, match="rest on about 1 of 40 rows"):
        PROBLEM.fit(criterion="trcv", weighting=Spiky())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"candidates": {}}, ValueError, "`candidates` must hold at least one estimator"),
        ({"candidates": [("a", GaussianNB())]}, TypeError, "must map names to estimators"),
        ({"candidates": {"a": (SVC(), {"C": []})}}, ValueError, "at least one value per"),
        ({"candidates": {"a": (SVC(), [])}}, ValueError, "at least one value per"),
        ({"candidates": {"a": (SVC(), {"D": [1]})}}, ValueError, "grid of 'a' does not fit"),
        ({"candidates": {"a": (SVC(), 3)}}, TypeError, "grids like"),
        ({"candidates": {"a": GaussianNB}}, TypeError, "Pass an instance"),
        ({"candidates": {1: GaussianNB()}}, TypeError, "must map names to estimators"),
        ({"candidates": SVC()}, TypeError, r"got SVC\(\). Write {'name': estimator}, even for"),
        ({"candidates": 3}, TypeError, "must map names to estimators"),
        ({"candidates": {"vote": GaussianNB()}}, ValueError, "must not contain the name 'vote'"),
        ({"candidates": {"a": (SVC(), {"C__x": [1]})}}, ValueError, "grid of 'a' does not fit"),
        ({"candidates": {"a": GaussianNB(), "b": Ridge()}}, ValueError, "all be classifiers"),
        ({"criterion": "luck"}, ValueError, "`criterion` must be one of"),
        ({"cv": 1}, ValueError, "`cv` must be a number of folds, at least 2"),
        ({"cv": True}, ValueError, "`cv` must be a number of folds"),
        ({"cv": LeaveOneOut()}, ValueError, r"does not depend on the rows.*; got LeaveOneOut\(\)"),
        ({"cv": GroupKFold(3)}, ValueError, "must come with the group of every row; got none"),
        ({"cv_target": 0}, ValueError, "`cv_target` must be a number of folds, at least 2"),
        ({"time_budget": 0}, ValueError, "`time_budget` must be"),
        ({"fit_timeout": -1}, ValueError, "`fit_timeout` must be"),
        ({"weighting": "kmm"}, TypeError, r"with fit\(X, X_target\) and weights_.*; got 'kmm'"),
        ({"weighting": lb.KLIEP}, TypeError, "got <class .*KLIEP'>. Pass an instance"),
        ({"sources": ["a", "b", ("a",)]}, ValueError, "distinct names; got .*Pass a mapping"),
        ({"sources": "some"}, ValueError, "`sources` must be one of"),
        ({"sources": [("a", "z")]}, ValueError, r"made of groups.*got \['z'\]"),
        ({"sources": []}, ValueError, "must name at least one source"),
        ({"error_score": 0}, ValueError, "`error_score` must be one of"),
        ({"scoring": "hinge"}, ValueError, "`scoring`.*hinge"),
        (
            {"scoring": "neg_log_loss", "candidates": {"a": SVC()}},
            ValueError,
            "(?s)can be validated.*has no predict_proba",
        ),
    ],
)
def test_bad_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        PROBLEM.fit(**options)


def test_tools_that_cannot_pass_a_target_say_what_to_use_instead():
    search = lb.TransferSearchCV({"nb": GaussianNB()}, cv=3)
    for error_score in ("raise", np.nan):
        with pytest.raises(ValueError, match=r"MultiSourceCV\(search, unlabeled_target=True\)"):
            cross_val_score(search, PROBLEM.X, PROBLEM.y, error_score=error_score)


def test_bad_rows_are_refused():
    search = lb.TransferSearchCV({"nb": GaussianNB()}, cv=3)
    good = PROBLEM.arguments()
    with pytest.raises(ValueError, match="got no target rows at all"):
        search.fit(PROBLEM.X, PROBLEM.y)
    with pytest.raises(ValueError, match="must come with `y_target`"):
        search.fit(PROBLEM.X, PROBLEM.y, X_target=PROBLEM.X_target)
    with pytest.raises(ValueError, match="`sources` .* must come with `groups`"):
        lb.TransferSearchCV({"nb": GaussianNB()}, sources=[("a",)]).fit(
            PROBLEM.X, PROBLEM.y, X_unlabeled=PROBLEM.X_target
        )
    with pytest.raises(ValueError, match="`groups` must name the source of each"):
        search.fit(PROBLEM.X, PROBLEM.y, **{**good, "groups": PROBLEM.groups[:-1]})
    table = pd.DataFrame(PROBLEM.X, columns=["u", "v", "w"])
    with pytest.raises(ValueError, match="`y` must have one label for each row"):
        search.fit(table, PROBLEM.y[:-1], X_unlabeled=table)
    with pytest.raises(ValueError, match="`X_unlabeled` must be the same kind of table as X"):
        search.fit(table, PROBLEM.y, X_unlabeled=PROBLEM.X_target)
    holes = np.where(np.arange(120) == 7, None, PROBLEM.y)
    for rows in (table, PROBLEM.X):
        with pytest.raises(ValueError, match="label for every row of X; got 1 missing.*row 7"):
            search.fit(rows, holes, X_unlabeled=rows)
    with pytest.raises(ValueError, match="columns of X in the same order"):
        search.fit(table, PROBLEM.y, X_unlabeled=table[["w", "v", "u"]])
    with pytest.raises(ValueError, match="as X, a table of pandas; got a table of polars"):
        search.fit(table, PROBLEM.y, X_unlabeled=pl.from_pandas(table))
    for wrong in (np.nan, np.inf):
        numbers = np.where(np.arange(120) == 7, wrong, 0.5)
        with pytest.raises(ValueError, match="got 1 missing or infinite, the first in row 7"):
            search.fit(PROBLEM.X, numbers, X_unlabeled=PROBLEM.X_target)
    with pytest.raises(ValueError, match="the search requires y to be passed"):
        search.fit(PROBLEM.X, None, X_unlabeled=PROBLEM.X_target)
    for name in ("pooled", "all sources"):
        called = np.where(PROBLEM.groups == "a", name, "b")
        for sources in ("both", "pooled", "each", [name], {name: ["b"]}):
            with pytest.raises(
                ValueError, match=f"must not contain '{name}' with sources=.*Rename"
            ):
                lb.TransferSearchCV({"nb": GaussianNB()}, sources=sources).fit(
                    PROBLEM.X, PROBLEM.y, **{**good, "groups": called}
                )


@pytest.mark.parametrize("kind", [bool, int, float])
def test_labels_of_python_objects_are_those_of_numpy(kind):
    # A column with holes keeps its numbers as objects, also after the holes are dropped.
    y, y_target = ((labels == "yes").astype(kind) for labels in (PROBLEM.y, PROBLEM.y_target))
    given = PROBLEM.arguments()
    expected, found = (
        lb.TransferSearchCV({"nb": GaussianNB()}, cv=3, random_state=0).fit(
            PROBLEM.X, y.astype(dtype), **{**given, "y_target": y_target[:30].astype(dtype)}
        )
        for dtype in (kind, object)
    )
    assert found.classes_.dtype == expected.classes_.dtype
    np.testing.assert_array_equal(found.results_.values(), expected.results_.values())


def test_documents_may_be_a_series_whose_rows_were_filtered():
    texts = pd.Series(["good " + w if y == "yes" else "bad " + w for w, y in WORDS_AND_LABELS])
    texts.index += 500
    search = lb.TransferSearchCV(
        {"bayes": make_pipeline(TfidfVectorizer(), LogisticRegression())}, criterion="tlv", cv=3
    )
    labels = [y for _, y in WORDS_AND_LABELS]
    search.fit(texts[:40], labels[:40], X_target=texts[40:], y_target=labels[40:])
    assert search.best_score_ == 1.0


WORDS_AND_LABELS = [(w, "yes" if k % 3 else "no") for k, w in enumerate(["film", "food"] * 30)]


class Unsound(BaseEstimator):
    """A weighting whose weights are wrong on the source that begins with ``first``."""

    def __init__(self, wrong="nan", first=0.0):
        self.wrong = wrong
        self.first = first

    def fit(self, X, X_target):
        self.weights_ = np.ones(len(X))
        if X[0, 0] == self.first:
            values = {"nan": np.nan, "negative": -1.0, "zero": 0.0}
            self.weights_ *= values.get(self.wrong, 1.0)
            self.weights_ = self.weights_[: -1 if self.wrong == "short" else None]
        return self


@pytest.mark.parametrize("wrong", ["nan", "negative", "zero", "short"])
def test_unsound_weights_are_a_failure_of_their_source(wrong):
    weighting = Unsound(wrong, PROBLEM.X[0, 0])
    with pytest.warns(lb.FailedFitWarning, match="2 of 4 cells failed.*source 'a' .weights"):
        search = PROBLEM.fit(weighting=weighting, criterion="trcv")
    assert search.best_source_ == "b"
    assert "`weighting` must give each of the 40 source rows" in search.results_.failures[0].message
    with pytest.raises(
        ValueError, match="finite weight of at least 0, and not all weights may be 0"
    ):
        PROBLEM.fit(weighting=weighting, criterion="trcv", error_score="raise")


def test_the_verdict_leaves_out_cells_that_the_selecting_criterion_could_not_judge():
    models = {"source": lb.SourceOnly(GaussianNB()), "pooled": lb.Pooled(LogisticRegression())}
    weighting = Unsound("nan", PROBLEM.X[0, 0])
    with pytest.warns(lb.FailedFitWarning, match="3 of 7 cells failed"):
        search = PROBLEM.fit(models, criterion=["trcv", "tlv"], weighting=weighting)
    assert search.results_.status("tlv") == ("complete",) * 7
    verdict = search.worth_transferring()
    assert verdict.best.startswith("pooled")
    assert verdict.best != "pooled from a"


def test_all_criteria_may_follow_the_one_that_selects():
    search = PROBLEM.fit(criterion=["stv", "all"])
    assert search.criterion_ == "stv"
    assert set(search.results_.info.criteria) == set(CRITERIA)
    assert PROBLEM.fit(criterion=[None, "scv"]).results_.info.criteria == ("anchored", "scv")
    assert PROBLEM.fit(criterion=["all"]).criterion_ == "anchored"


def test_a_second_fit_forgets_the_first():
    search = PROBLEM.fit()
    search.set_params(candidates={"ridge": Ridge()}, refit=False)
    numbers = {**PROBLEM.arguments(), "y_target": PROBLEM.X_target[:30, 0]}
    search.fit(PROBLEM.X, PROBLEM.X[:, 0], **numbers)
    for name in ("best_estimator_", "classes_", "refit_time_"):
        assert not hasattr(search, name)


def test_dates_may_name_sources(tmp_path):
    days = np.repeat(np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"), 60)
    search = lb.TransferSearchCV({"nb": GaussianNB()}, cv=3, random_state=0)
    search.fit(PROBLEM.X, PROBLEM.y, **{**PROBLEM.arguments(), "groups": days})
    search.results_.save(tmp_path / "days.npz")
    loaded = lb.SearchResult.load(tmp_path / "days.npz")
    assert [source.name for source in loaded.sources][:2] == ["2020-01-01", "2021-01-01"]


def test_sources_can_be_named_subsets():
    search = PROBLEM.fit(sources=[("a", "b"), "turned"])
    assert [source.name for source in search.results_.sources] == ["a+b", "turned", None]
    assert search.best_source_ == "a+b"
    assert search.results_.sources[0].rows.size == 80
    named = PROBLEM.fit(sources={"good": ["a", "b"], "bad": "turned"})
    assert named.best_source_ == "good"
    assert [s.name for s in PROBLEM.fit(sources="pooled").results_.sources] == ["pooled"]


def test_pipelines_pass_target_rows_through_their_steps():
    pipeline = make_pipeline(StandardScaler(), lb.Pooled(LogisticRegression()))
    search = PROBLEM.fit({"scaled": pipeline}, sources="pooled")
    scaler = StandardScaler().fit(PROBLEM.X)
    by_hand = lb.Pooled(LogisticRegression()).fit(
        scaler.transform(PROBLEM.X),
        PROBLEM.y,
        X_target=scaler.transform(PROBLEM.X_target[:30]),
        y_target=PROBLEM.y_target[:30],
    )
    np.testing.assert_allclose(
        search.predict_proba(PROBLEM.X_target),
        by_hand.predict_proba(scaler.transform(PROBLEM.X_target)),
    )
    assert pipeline.transform_input is None


def test_maps_between_domains_are_pipeline_steps_that_get_the_target():
    search = PROBLEM.fit(
        {"coral": make_pipeline(lb.CORAL(), LogisticRegression())}, sources="pooled"
    )
    assert search.results_.cells[0].role == "transfer"
    coral = lb.CORAL()
    rows = coral.fit_transform(
        PROBLEM.X,
        X_target=PROBLEM.X_target[:30],
        y_target=PROBLEM.y_target[:30],
        X_unlabeled=PROBLEM.X_target[30:],
    )
    # The estimator learns from the labelled target rows too, as it does without the map.
    by_hand = LogisticRegression().fit(
        np.vstack([rows, coral.transform(PROBLEM.X_target[:30])]),
        np.concatenate([PROBLEM.y, PROBLEM.y_target[:30]]),
    )
    np.testing.assert_allclose(
        search.predict_proba(PROBLEM.X_target), by_hand.predict_proba(PROBLEM.X_target)
    )


def mixed_tables(library):
    """Source, labelled and unlabelled rows with a column of text."""

    def table(X):
        colour = np.where(X[:, 2] > 0, "red", "blue").tolist()
        return library.DataFrame({"size": X[:, 0], "weight": X[:, 1], "colour": colour})

    return [table(X) for X in (PROBLEM.X, PROBLEM.X_target[:30], PROBLEM.X_target[30:])]


@pytest.mark.parametrize("library", [pd, pl])
def test_tables_with_text_go_to_the_candidates_as_they_are(library):
    if library is pl and VERSION < (1, 9):
        pytest.skip("earlier versions of ColumnTransformer do not take tables of polars 2")
    encoder = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    tables = mixed_tables(library)
    arguments = {
        "groups": PROBLEM.groups,
        "X_target": tables[1],
        "y_target": PROBLEM.y_target[:30],
        "X_unlabeled": tables[2],
    }
    candidates = {"lr": make_pipeline(encoder, LogisticRegression())}
    search = lb.TransferSearchCV(candidates, criterion=["tlv", "rv", "stv", "tcv"], cv=3)
    search.fit(tables[0], PROBLEM.y, **arguments)
    assert search.predict(tables[2]).shape == (50,)
    assert list(search.feature_names_in_) == ["size", "weight", "colour"]
    with pytest.raises(ValueError, match="(?s)numeric columns only; got text in.*`preprocessor=`"):
        lb.TransferSearchCV(candidates, cv=3, criterion="trcv").fit(
            tables[0], PROBLEM.y, **arguments
        )


def test_a_preprocessor_is_fitted_once_on_all_rows_and_kept():
    encoder = make_column_transformer(
        (OneHotEncoder(), ["colour"]), (StandardScaler(), ["size", "weight"])
    )
    tables = mixed_tables(pd)
    search = lb.TransferSearchCV(
        {"pooled": lb.Pooled(LogisticRegression())}, preprocessor=encoder, cv=3, random_state=0
    ).fit(
        tables[0],
        PROBLEM.y,
        X_target=tables[1],
        y_target=PROBLEM.y_target[:30],
        X_unlabeled=tables[2],
    )
    assert search.criterion_ == "anchored"
    everything = pd.concat(tables)
    scaler = search.best_estimator_["preprocessor"].named_transformers_["standardscaler"]
    np.testing.assert_allclose(scaler.mean_, everything[["size", "weight"]].mean())
    assert search.score(tables[2], PROBLEM.y_target[30:]) > 0.7
    assert list(search.feature_names_in_) == ["size", "weight", "colour"]


def test_documents_can_be_searched():
    texts = ["good fine nice" if label == "yes" else "bad poor awful" for label in PROBLEM.y]
    target = ["good nice" if label == "yes" else "awful bad" for label in PROBLEM.y_target]
    search = lb.TransferSearchCV(
        {"nb": make_pipeline(TfidfVectorizer(), LogisticRegression())}, criterion="tlv", cv=3
    ).fit(
        texts,
        PROBLEM.y,
        X_target=target[:30],
        y_target=PROBLEM.y_target[:30],
        X_unlabeled=target[30:],
    )
    assert search.best_score_ == 1.0
    assert search.predict(target[:2]).tolist() == PROBLEM.y_target[:2].tolist()


@pytest.mark.usefixtures("small_default_forests")
def test_default_candidates_hold_the_baselines():
    search = lb.TransferSearchCV(cv=2, random_state=0).fit(
        PROBLEM.X, PROBLEM.y, **PROBLEM.arguments()
    )
    roles = {cell.role for cell in search.results_.cells}
    assert {"source-only", "target-only", "pooled"} <= roles
    unlabelled = lb.TransferSearchCV(cv=2, random_state=0, sources="pooled").fit(
        PROBLEM.X, PROBLEM.y, **PROBLEM.arguments(0)
    )
    assert "target-only" not in {cell.role for cell in unlabelled.results_.cells}
    numbers = lb.TransferSearchCV(cv=2, random_state=0).fit(
        PROBLEM.X, PROBLEM.X[:, 0] * 1.5, X_unlabeled=PROBLEM.X_target
    )
    assert numbers.results_.info.task == "regression"
    assert numbers.score(PROBLEM.X_target, PROBLEM.X_target[:, 0] * 1.5) > 0.5


@pytest.mark.usefixtures("small_default_forests")
def test_default_candidates_take_the_rows_as_they_are():
    rows = [sparse.csr_array(part) for part in (PROBLEM.X, PROBLEM.X_target)]
    for labelled in (20, 0):
        given = {"X_unlabeled": rows[1][labelled:]}
        if labelled:
            given |= {"X_target": rows[1][:labelled], "y_target": PROBLEM.y_target[:labelled]}
        search = lb.TransferSearchCV(cv=2, random_state=0).fit(rows[0], PROBLEM.y, **given)
        assert not search.results_.failures


def test_without_unlabelled_rows_the_labelled_ones_stand_in():
    search = lb.TransferSearchCV({"nb": GaussianNB()}, criterion="all", cv=3).fit(
        PROBLEM.X, PROBLEM.y, X_target=PROBLEM.X_target, y_target=PROBLEM.y_target
    )
    assert np.isfinite(search.results_.values("trcv")).all()


def test_a_fitted_search_can_be_pickled():
    search = PROBLEM.fit()
    revived = pickle.loads(pickle.dumps(search))  # noqa: S301
    assert np.array_equal(revived.predict(PROBLEM.X_target), search.predict(PROBLEM.X_target))
    with pytest.raises(ValueError, match="fitted in this process; got one that was copied"):
        revived.refit_cell(0)
