"""A frozen result: saved, loaded, ranked, judged; racing and what it saves."""

import copy
import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    log_loss,
    make_scorer,
    roc_auc_score,
    root_mean_squared_error,
)
from sklearn.model_selection import PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import landbridge as lb
from landbridge._storage import write_archive
from landbridge.inference import agreement_interval, e_value, score_interval
from landbridge.inference.control_variate import adjust_mean
from landbridge.model_selection import search_result
from landbridge.model_selection._fit_tasks import FitTask
from landbridge.model_selection._run import RowLosses, clearly_behind, racing_rounds
from landbridge.model_selection.search_inference import (
    Finding,
    Rival,
    Verdict,
    Withheld,
    compare_pair,
)
from landbridge.model_selection.search_records import KEPT, Cell, Failure
from unit.tasks.task_functions import end_budget_at_marks, misbehave

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
def search():
    return searched(scoring=["accuracy", "roc_auc", "f1", "neg_log_loss"])


@pytest.fixture(scope="module")
def result(search):
    return search.results_


def cells_of(result, candidate):
    return [n for n, cell in enumerate(result.cells) if cell.candidate == candidate]


# Files


def test_saved_and_loaded_it_is_the_same(result, tmp_path):
    path = tmp_path / "search.npz"
    result.save(path)
    loaded = lb.SearchResult.load(path)
    for name in KEPT:
        for first, second in zip(getattr(result, name), getattr(loaded, name), strict=True):
            np.testing.assert_array_equal(first.values, second.values)
            np.testing.assert_array_equal(first.labels, second.labels)
    assert (loaded.cells, loaded.failures, loaded.info) == (
        result.cells,
        result.failures,
        result.info,
    )
    assert list(map(repr, loaded.metrics)) == list(map(repr, result.metrics))
    assert repr(loaded) == repr(result)
    assert tuple(loaded.interval()) == tuple(result.interval())
    np.testing.assert_array_equal(loaded.prob_better(), result.prob_better())
    np.testing.assert_array_equal(loaded.vote().weights, result.vote().weights)
    assert loaded.label_check_.verdict == result.label_check_.verdict


def test_a_metric_of_ones_own_must_be_passed_to_load(tmp_path):
    def share_right(y, predicted):
        return np.mean(y == predicted)

    found = searched({"nb": GaussianNB()}, scoring=share_right, criterion="tlv").results_
    found.save(tmp_path / "own.npz")
    with pytest.raises(ValueError, match="user-defined metrics.*Pass scoring= to load"):
        lb.SearchResult.load(tmp_path / "own.npz")
    loaded = lb.SearchResult.load(tmp_path / "own.npz", scoring=share_right)
    np.testing.assert_array_equal(loaded.scores(), found.scores())
    np.testing.assert_array_equal(copy.deepcopy(found).scores(), found.scores())


def test_a_copy_is_the_same(result):
    copied = copy.deepcopy(result)
    assert (repr(copied), tuple(copied.interval())) == (repr(result), tuple(result.interval()))


def edited(path, target, change):
    """A copy of a saved file with one array or the header changed."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays.pop("header").tobytes())
    del arrays["seal"], header["digests"]
    change(arrays, header)
    write_archive(target, arrays, header)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a, h: h.update(format=3), "must have format 4; got format 3"),
        (lambda a, h: h.update(record="Comparison"), "a saved SearchResult; got a saved Compar"),
        (lambda a, h: a.pop("y"), "must have the fields of SearchResult; got others .'y'"),
        (lambda a, h: h["values"]["cells"][0].pop("source"), "got others .*'source'"),
        (lambda a, h: h["values"].pop("info"), "got others .*'info'"),
        (
            lambda a, h: h["values"]["cells"][1].update(fit_seconds="1"),
            "got others .'cells 1 fit_seconds' must be <class 'float'>; got '1'",
        ),
        (
            lambda a, h: h["values"]["cells"][0].update(role="best"),
            "'cells 0 role' must be typing.Literal",
        ),
        (
            lambda a, h: h["values"]["target"].__setitem__(0, 3),
            "'target 0' must be <class .*Predictions'>; got '3'",
        ),
        (
            lambda a, h: h["values"]["info"]["versions"].update(numpy=2),
            "'info versions numpy' must be <class 'str'>; got '2'",
        ),
    ],
)
def test_files_of_other_versions_are_refused_with_the_name_of_what_is_wrong(
    result, tmp_path, change, message
):
    result.save(tmp_path / "good.npz")
    edited(tmp_path / "good.npz", tmp_path / "bad.npz", change)
    with pytest.raises(ValueError, match=message):
        lb.SearchResult.load(tmp_path / "bad.npz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a, h: a.update({"target 0 values": a["target 0 values"][:3]}), "'target 0' must h"),
        (lambda a, h: a.update({"target 0 labels": a["target 0 labels"][:3]}), "'target 0 labels'"),
        (lambda a, h: a.update({"sources 0 folds": a["sources 0 folds"][:3]}), "'source 0 folds'"),
        (lambda a, h: a.update({"sources 0 rows": a["sources 0 rows"] + 999}), "'source 0 rows'"),
        (
            lambda a, h: a.update({"sources 0 weights": a["sources 0 weights"] * np.nan}),
            "'source 0 weights' must hold finite numbers of at least 0",
        ),
        (
            lambda a, h: a.update({"sources 0 weights": -a["sources 0 weights"]}),
            "'source 0 weights' must hold finite numbers of at least 0",
        ),
        (lambda a, h: a.update({"y": a["y"] + 1}), "'y' must hold positions from 0 to 1"),
        (lambda a, h: a.update({"y_target": a["y_target"] - 1}), "'y_target' must hold positions"),
        (lambda a, h: a.update({"target_folds": a["target_folds"][:3]}), "'target_folds' must"),
        (lambda a, h: h["values"]["cells"][0].update(source_index=9), "the sources of the cells"),
        (lambda a, h: h["values"]["target"].pop(), "'target' must have predictions of .* cells"),
        (lambda a, h: h["values"]["target"].__setitem__(0, None), "predictions of cell 0 are miss"),
        (lambda a, h: h["values"]["info"].update(criterion="x"), "its parts do not fit together"),
        (lambda a, h: a.update(y=a["y"].astype(float)), "'y' must hold positions from 0 to 1"),
        (lambda a, h: a.update(y=a["y"][:, None]), "'y' must have the shape"),
        (lambda a, h: a.update(target_folds=a["target_folds"] + 0.5), "'target_folds' must hold"),
        (
            lambda a, h: a.update({"target 0 values": a["target 0 values"][:, :1]}),
            "'target 0' must have the shape",
        ),
        (
            lambda a, h: a.update({"target 0 values": a["target 0 values"].astype(str)}),
            "its parts do not fit together",
        ),
        (
            lambda a, h: a.update({"target 0 values": a["target 0 values"] + np.inf}),
            "'target 0' must hold finite numbers; got others",
        ),
        (
            lambda a, h: a.update({"target 0 labels": a["target 0 labels"] + 1}),
            "'target 0 labels' must hold positions from -1 to 1",
        ),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused_by_name(result, tmp_path, change, message):
    result.save(tmp_path / "good.npz")
    edited(tmp_path / "good.npz", tmp_path / "bad.npz", change)
    with pytest.raises(ValueError, match=f"must hold a consistent SearchResult; .*{message}"):
        lb.SearchResult.load(tmp_path / "bad.npz")


def test_a_metric_with_the_name_of_another_is_not_taken_for_it(tmp_path):
    other_class = {"f1": make_scorer(f1_score, pos_label=0)}
    found = searched({"nb": GaussianNB()}, scoring=other_class, criterion="tlv").results_
    found.save(tmp_path / "other.npz")
    with pytest.raises(ValueError, match="'f1' is the name of another metric"):
        lb.SearchResult.load(tmp_path / "other.npz")
    loaded = lb.SearchResult.load(tmp_path / "other.npz", scoring=other_class)
    np.testing.assert_array_equal(loaded.scores(), found.scores())


def test_it_cannot_be_changed(result):
    with pytest.raises(FrozenInstanceError):
        result.target = ()
    with pytest.raises(ValueError, match="read-only"):
        result.target[0].values[0] = 0


@pytest.mark.parametrize("criterion", ["anchored", "tlv"])
def test_metrics_that_one_class_of_labels_cannot_serve_are_missing(criterion):
    scoring = ["accuracy", "roc_auc"]
    search = lb.TransferSearchCV(CANDIDATES, scoring=scoring, criterion=criterion, random_state=0)
    search.fit(X, Y, X_target=X_TARGET[:30], y_target=np.ones(30, int), X_unlabeled=X_TARGET[30:])
    result = search.results_
    assert np.isnan(result.scores(metric="roc_auc")).all()
    assert np.isfinite(result.scores()).all()
    assert np.isnan(result.prob_better(metric="roc_auc")).all()
    assert result.interval(metric="roc_auc").withheld is Withheld.UNDEFINED
    assert result.to_frame()["roc_auc"].isna().all()
    search.set_params(scoring="roc_auc")
    with pytest.raises(ValueError, match="must be defined on the validation rows"):
        search.fit(X, Y, X_target=X_TARGET[:30], y_target=np.ones(30, int))


def test_distances_between_classes_that_are_numbers_are_ranked_and_have_intervals():
    result = searched(criterion=None, scoring=["mae", "accuracy"]).results_
    errors = result.row(result.best)["score"]
    assert 0 < errors < 0.5
    interval = result.interval(method="adjusted", cell=result.best)
    assert interval.low < interval.estimate < interval.high
    np.testing.assert_allclose(result.values("tlv", "mae"), result.values("tlv", "accuracy"))


def test_a_perfect_candidate_among_regressors_has_no_undefined_neighbours():
    candidates = {
        "target": lb.TargetOnly(Ridge()),
        "source": lb.SourceOnly(Ridge()),
        "other": lb.SourceOnly(Ridge(100.0)),
    }
    search = lb.TransferSearchCV(candidates, random_state=0)
    rows = {"X_target": X_TARGET[:30], "y_target": np.ones(30), "X_unlabeled": X_TARGET[30:]}
    result = search.fit(X, X[:, 0], **rows).results_
    target, *others = (result.scores()[cells_of(result, name)] for name in candidates)
    assert target == pytest.approx(0.0)
    assert np.min(others) > 0.1


# Cells and sources


def test_it_knows_versions_seconds_weights_and_folds(result):
    assert result.info.versions["landbridge"] == lb.__version__
    assert all(cell.fit_seconds > 0 for cell in result.cells)
    assert [source.name for source in result.sources] == ["a", "b", None]
    assert result.sources[0].weights.shape == (60,)
    assert set(result.sources[0].folds) == {0, 1, 2, 3}
    assert np.array_equal(result.sources[0].rows, np.flatnonzero(GROUPS == "a"))
    assert result.failures == ()


def test_baselines_stand_once_in_the_ranking_and_are_never_selected(result):
    assert len(cells_of(result, "target")) == 1
    assert len(cells_of(result, "source")) == 2
    (majority,) = cells_of(result, "majority class")
    assert result.baseline == majority
    assert result.cells[majority].source is None
    share = max(np.mean(Y_TARGET[:40]), 1 - np.mean(Y_TARGET[:40]))
    assert result.scores("tlv")[majority] == pytest.approx(share)
    minority = 1 - int(np.mean(Y_TARGET[:40]) > 0.5)
    worst = DummyClassifier(strategy="constant", constant=minority)
    alone = searched({"constant": worst}, criterion="tlv").results_
    assert alone.cells[alone.best].candidate == "constant"
    assert alone.cells[alone.ranking()[0]].candidate == "majority class"
    assert majority not in result.vote().members


def test_names_of_cells_are_short_unless_that_is_ambiguous():
    assert Cell("svm", {"svc__C": 1, "scale": 2}, "a", "plain").name == "svm (C=1, scale=2)"
    assert Cell("svm", {"a__C": 1, "b__C": 2}, "a", "plain").name == "svm (a__C=1, b__C=2)"


# Scores of any metric


def test_scores_are_those_of_scikit_learn_on_the_kept_predictions(result):
    y = Y_TARGET[:40]
    for cell in range(len(result.cells)):
        found = result.target[cell]
        assert result.scores("tlv")[cell] == pytest.approx(np.mean(found.labels == y))
        constant = result.cells[cell].candidate in ("constant", "majority class")
        auc = 0.5 if constant else roc_auc_score(y, found.values[:, 1])
        assert result.scores("tlv", "roc_auc")[cell] == pytest.approx(auc)
        assert result.scores("tlv", "f1")[cell] == pytest.approx(f1_score(y, found.labels))
    np.testing.assert_allclose(result.scores(), 1 - result.values())


@pytest.mark.parametrize("criterion", ["tlv", "scv"])
def test_constants_that_differ_between_folds_do_not_rank_rows(criterion):
    """The share of a class in the training rows is small where it is large in the others."""
    folds = PredefinedSplit(np.arange(40) % 3)
    search = lb.TransferSearchCV(
        {"constant": DummyClassifier(), "linear": LogisticRegression()},
        scoring=["roc_auc", "average_precision", "neg_log_loss"],
        criterion=[criterion, "tcv"],
        cv=PredefinedSplit(np.arange(len(Y)) % 7),
        cv_target=folds,
        refit=False,
        random_state=0,
    )
    result = search.fit(X, Y, **TARGET).results_
    y = Y_TARGET[:40] if criterion == "tlv" else Y
    constant, linear, baseline = range(3)
    for cell in (constant, baseline):
        kept = result.predictions(criterion, cell)
        assert np.unique(kept.values[:, 1]).size > (criterion == "tlv" or cell == constant)
        assert result.scores(criterion)[cell] == 0.5
        assert result.scores(criterion, "average_precision")[cell] == pytest.approx(y.mean())
        loss = log_loss(y, kept.values)
        assert result.scores(criterion, "neg_log_loss")[cell] == pytest.approx(loss, rel=1e-5)
    auc = roc_auc_score(y, result.predictions(criterion, linear).values[:, 1])
    assert result.scores(criterion)[linear] == pytest.approx(auc)
    one_class = replace(result.cells[linear], constants=result.cells[linear].fits)
    cells = (result.cells[constant], one_class, result.cells[baseline])
    assert replace(result, cells=cells).scores(criterion)[linear] == 0.5
    if criterion == "tlv":
        assert replace(result, cells=cells).score_of("vote") == 0.5


def test_a_constant_is_known_where_every_row_is_a_fold():
    few = {"X_target": X_TARGET[:4], "y_target": Y_TARGET[:4], "X_unlabeled": X_TARGET[40:]}
    search = lb.TransferSearchCV(CANDIDATES, scoring="roc_auc", criterion="tlv", random_state=0)
    with pytest.warns(lb.FewTargetRowsWarning):
        result = search.fit(X, Y, **few).results_
    assert result.scores()[result.baseline] == 0.5
    cell = result.best
    auc = roc_auc_score(Y_TARGET[:4], result.target[cell].values[:, 1])
    assert result.scores()[cell] == auc


def test_any_metric_has_intervals_probabilities_and_an_anchored_value(result):
    for metric in ("roc_auc", "f1", "neg_log_loss"):
        for cell in ("vote", result.best):
            interval = result.interval(0.9, metric=metric, cell=cell)
            assert interval.low < interval.estimate < interval.high
            assert interval.metric.name == metric
        known = np.isfinite(result.values("anchored", metric))
        cells = [n for n, cell in enumerate(result.cells) if cell.role != "baseline"]
        assert known[cells].all()
        probability = result.prob_better(metric=metric)
        np.testing.assert_allclose((probability + probability.T)[cells][:, cells], 1.0)


def test_pairs_without_labels_are_compared_as_the_criterion_ranks_them():
    search = lb.TransferSearchCV(CANDIDATES, criterion="trcv", cv=4, refit=False, random_state=0)
    found = search.fit(X, Y, X_unlabeled=X_TARGET).results_
    values = found.values()
    np.testing.assert_array_equal(found.prob_better() > 0.5, values[:, None] < values - 1e-9)


def test_the_first_metric_selects():
    by_auc = searched(scoring="roc_auc", criterion="tlv").results_
    assert by_auc.best == by_auc.ranking("tlv", "roc_auc")[0]
    assert by_auc.metric.label == "ROC AUC"
    assert by_auc.vote().predictions is not None


def test_a_threshold_of_its_own_counts_in_metrics_of_labels():
    class Bold(LogisticRegression):
        def predict(self, X):
            return (self.predict_proba(X)[:, 1] > 0.05).astype(int)

    found = searched({"bold": Bold()}, scoring=["f1", "roc_auc"], criterion="tlv").results_
    kept = found.target[0]
    assert kept.labels.mean() > (kept.values[:, 1] > 0.5).mean()
    assert found.scores("tlv", "f1")[0] == f1_score(Y_TARGET[:40], kept.labels)
    report = found.class_report(0)
    assert report.n_predicted.tolist() == np.bincount(kept.labels, minlength=2).tolist()


@pytest.mark.parametrize(
    "cell", [99, -100, 1.0, True, "nobody", b"vote", None, [0], np.array([0]), {}, np.nan], ids=repr
)
def test_cells_that_do_not_exist_are_refused(search, result, cell):
    calls = [result.score_of, result.row, lambda cell: search.predict_unlabelled([cell])]
    if cell is not None:  # the model used by `predict`
        calls += [result.class_report, lambda cell: result.predictions("tlv", cell)]
        calls += [lambda cell: result.interval(cell=cell)]
    calls += [lambda cell: result.prob_better(cells=(0, cell))]
    for call in calls:
        with pytest.raises(ValueError, match=r"`cell` must be .*number of one of the \d+ cells"):
            call(cell)


def test_cells_of_either_end_and_the_vote_are_found(result):
    last = len(result.cells) - 1
    assert result.row(-1) == result.row(np.int64(last)) == result.row(last)
    assert result.score_of(-1) == result.score_of(last)
    assert result.row("vote")["candidate"] == "vote"


def test_arguments_that_name_nothing_are_refused(search, result):
    for cells in (5, "01", {0: 1}, None):
        with pytest.raises(ValueError, match="`cells` must be a sequence of numbers of cells"):
            search.predict_unlabelled(cells)
    for criterion in ("", 0, {}, [0], "nobody"):
        for call in (result.values, result.ranking, result.predictions):
            with pytest.raises(ValueError, match="`criterion` must be one of"):
                call(criterion)
        with pytest.raises(ValueError, match="`metric` must be one of"):
            result.scores(None, criterion)
    for level in (-1, 1.5, "0.8", None):
        with pytest.raises(ValueError, match="`level` must"):
            result.within_noise(level)


def test_a_metric_that_a_cell_cannot_serve_is_its_failure_alone():
    models = {"svm": SVC(), "nb": GaussianNB()}
    with pytest.warns(lb.FailedFitWarning, match="ROC AUC needs class probabilities; 'svm' has no"):
        found = searched(models, scoring=["roc_auc", "accuracy"], criterion="tlv").results_
    assert found.status() == ("failed", "complete", "failed", "complete", "complete")
    assert found.status(None, "accuracy") == ("complete",) * 5
    assert np.isfinite(found.scores("tlv", "accuracy")).all()
    assert found.cells[found.best].candidate == "nb"


def test_scorers_of_every_kind():
    own = make_scorer(balanced_accuracy_score)
    found = searched(
        {"nb": GaussianNB()}, scoring={"own": own, "ap": "average_precision"}, criterion="tlv"
    ).results_
    y, kept = Y_TARGET[:40], found.target[0]
    assert found.scores()[0] == pytest.approx(balanced_accuracy_score(y, kept.labels))
    expected = average_precision_score(y, kept.values[:, 1])
    assert found.scores(None, "ap")[0] == pytest.approx(expected)
    with pytest.raises(ValueError, match="`metric` must be one of 'own', 'ap'; got 'f1'"):
        found.scores(None, "f1")


def test_regression_speaks_the_unit_of_the_label():
    y, y_target = X @ [1.0, 2.0, 0.0], X_TARGET @ [1.0, 2.0, 0.5]
    found = lb.TransferSearchCV({"a": Ridge(), "b": Ridge(1e6)}, cv=4, random_state=0).fit(
        X, y, X_target=X_TARGET[:40], y_target=y_target[:40], X_unlabeled=X_TARGET[40:]
    )
    result = found.results_
    assert [metric.label for metric in result.metrics] == ["RMSE", "MAE", "R²"]
    expected = root_mean_squared_error(y_target[:40], result.target[0].values)
    assert result.scores("tlv")[0] == pytest.approx(expected)
    assert result.cells[result.baseline].candidate == "mean"
    interval = found.interval(0.9)
    assert 0 < interval.low < interval.estimate < interval.high
    assert found.prob_better()[0, 1] > 0.99
    assert "e-" not in str(interval)
    with pytest.raises(ValueError, match="'paper' must be used with accuracy; got RMSE"):
        found.interval(method="paper", cell=0)


# Ranking


def test_stored_answers_cannot_be_changed(result):
    best, labels, near = result.best, result.labels, result.within_noise()
    for found in (result.ranking(), result.labels, result.within_noise()):
        found.clear()
    assert (result.best, result.labels, result.within_noise()) == (best, labels, near)
    for found in (result.values(), result.scores(), result.prob_better()):
        with pytest.raises(ValueError, match="read-only"):
            found[0] = 0


def test_ranking_follows_the_values(result):
    values = result.values()
    assert np.all(np.diff(values[result.ranking()]) >= 0)
    assert result.ranks()[result.ranking()[0]] == 1
    lines = repr(result).splitlines()
    assert "accuracy (anchored)" in lines[0]
    assert "vote of" in lines[1]
    assert result.labels[result.ranking()[0]] in lines[2]


def test_among_equals_all_sources_come_first():
    found = searched({"constant": DummyClassifier()}, sources="both", criterion="tlv").results_
    assert len(set(found.values()[:3].tolist())) == 1
    assert found.cells[found.best].source == "pooled"


def test_cells_within_noise_start_with_the_best_and_leave_out_the_clearly_worse(result):
    near = result.within_noise()
    assert near[0] == result.ranking()[0]
    assert not set(near) & set(cells_of(result, "constant"))


def test_the_simpler_candidate_is_that_of_all_sources_if_several_are_equally_simple(monkeypatch):
    candidates = {"C=1": LogisticRegression(), "C=0.01": LogisticRegression(C=0.01)}
    options = {"sources": "both", "criterion": "tlv", "scoring": "neg_log_loss"}
    found = searched(candidates, **options).results_
    monkeypatch.setattr(lb.SearchResult, "within_noise", lambda self: self.ranking())
    assert found.simpler is None  # all are equally simple
    best = replace(found.cells[found.best], complexity=30)
    cells = [best if n == found.best else cell for n, cell in enumerate(found.cells)]
    assert (best.candidate, best.source) == ("C=1", "pooled")
    chosen = cells[replace(found, cells=tuple(cells)).simpler]
    assert (chosen.candidate, chosen.source) == ("C=0.01", "pooled")


def test_the_frame_has_the_vote_the_metrics_and_every_cell(result):
    frame = result.to_frame()
    assert len(frame) == len(result.cells) + 1
    assert {"accuracy", "roc_auc", "f1", "neg_log_loss", "low", "high", "weight"} <= set(frame)
    assert frame.candidate[0] == "vote"
    assert frame.weight[1:].sum() == pytest.approx(1)


def test_trcv_is_part_of_the_prior_where_it_is_computed():
    alone = searched(criterion="anchored").results_
    both = searched(criterion=["anchored", "trcv"]).results_
    assert "trcv" not in alone.available()
    assert not np.array_equal(alone.values(), both.values())
    np.testing.assert_array_equal(alone.values("tlv"), both.values("tlv"))


def test_equal_trcv_values_leave_the_word_to_the_labels():
    # Both candidates are equal on the source; on the target one is always right, one never.
    X = np.r_[np.full((30, 1), -1.0), np.full((30, 1), 1.0)]
    y, target = (X[:, 0] > 0).astype(int), np.tile([[-1.0], [1.0]], (20, 1))
    turned = (target[:, 0] < 0).astype(int)
    models = {"follow": lb.SourceOnly(LogisticRegression()), "learn": lb.TargetOnly(GaussianNB())}
    found = lb.TransferSearchCV(models, criterion=["anchored", "trcv"], cv=4, random_state=0).fit(
        X, y, X_target=target + 0.01 * np.arange(40)[:, None], y_target=turned, X_unlabeled=target
    )
    right, wrong = (cells_of(found.results_, name)[0] for name in ("learn", "follow"))
    assert found.results_.scores("tlv")[[right, wrong]].tolist() == [1.0, 0.0]
    assert found.results_.scores()[right] > 0.95
    assert found.results_.scores()[wrong] < 0.05
    assert found.interval(0.9, cell=right).low > 0.85


def test_unknown_criteria_are_refused(result):
    with pytest.raises(ValueError, match="`criterion` must be one of"):
        result.values("luck")
    alone = searched(criterion="scv").results_
    with pytest.raises(ValueError, match="`criterion` must be one of 'scv'; got 'tlv'"):
        alone.values("tlv")
    for cell in (0, "vote"):
        assert alone.interval(cell=cell).withheld is Withheld.NO_LABELS
        assert np.isnan(alone.interval(cell=cell).low)
    failures = [Failure(n, "target_fold", 0, ("target",), "") for n in range(len(result.cells))]
    with pytest.raises(ValueError, match="`cell` 'vote' must have members that were validated"):
        replace(result, failures=tuple(failures)).interval(cell="vote")
    with pytest.raises(ValueError, match="method='paper' must have the predictions of 'trcv'"):
        alone.interval(method="paper", cell=0)
    with pytest.raises(ValueError, match="`level` must lie between 0 and 1"):
        alone.interval(1.0)


# Intervals


def test_intervals_rest_on_what_they_say(result):
    cell = 3
    paper = result.interval(0.9, method="paper", cell=cell)
    accuracy = 1 - result.values("trcv")[cell]
    assert tuple(paper) == pytest.approx(score_interval(accuracy, N // 2, 0.9))
    effective = result.interval(0.9, method="effective", cell=cell)
    n = lb.effective_sample_size(result.sources[0].weights)
    assert tuple(effective) == pytest.approx(score_interval(accuracy, n, 0.9))
    assert effective.high - effective.low > paper.high - paper.low
    assert "source rows, as if drawn from the target" in str(effective)
    anchored = result.interval(0.9, cell=cell)
    assert anchored.method == "anchored"
    assert anchored.estimate == pytest.approx(1 - result.values("anchored")[cell])
    assert anchored.estimate in anchored
    assert "40 labelled target rows" in str(anchored)
    labelled = result.interval(0.9, cell=cell, method="labelled")
    assert labelled.estimate == pytest.approx(result.scores("tlv")[cell])


def test_the_vote_has_an_interval_from_cross_fitted_predictions(result):
    interval = result.interval(0.9)
    kept = result.vote().predictions
    assert interval.method == "cross-fitted"
    assert result.row("vote", 0.9)["score"] == interval.estimate
    # The accuracy of the vote hardly gains from unlabelled rows, so they are not used.
    assert interval.estimate == pytest.approx(np.mean(kept.labels == Y_TARGET[:40]))
    # The models learn from the labelled rows too: 40 rows are worth 30.
    assert tuple(interval) == pytest.approx(score_interval(interval.estimate, 30, 0.9))


def test_unlabelled_rows_are_a_control_variate(result):
    """The adjusted estimate by hand: the loss minus the slope times the excess of its proxy."""
    cell = cells_of(result, "pooled")[0]
    voters = [n for n, c in enumerate(result.cells) if c.role != "baseline"]
    vote, elsewhere = (
        np.mean([kept[n].values for n in voters], axis=0)
        for kept in (result.target, result.unlabelled)
    )
    labels, others = result.target[cell].labels, result.unlabelled[cell].values.argmax(axis=1)
    g = 1 - vote[np.arange(40), labels]
    g_other = 1 - elsewhere[np.arange(len(others)), others]
    losses = (labels != Y_TARGET[:40]).astype(float)
    _, effective, moved = adjust_mean(losses, g, g_other)
    found = result.interval(0.9, cell=cell, method="adjusted")
    assert found.estimate == pytest.approx(1 - losses.mean() - moved)
    assert tuple(found) == pytest.approx(score_interval(found.estimate, effective * 3 / 4, 0.9))


def test_intervals_are_withheld_where_labels_are_no_sample_of_the_target(result):
    check = replace(result.label_check_, representative=False, withheld=True)
    withheld = replace(result, label_check_=check)
    interval = withheld.interval(0.9)
    assert np.isnan(interval.low)
    assert np.isnan(interval.high)
    assert interval.withheld is Withheld.LABELS
    assert "no interval, because the labelled target rows are not a random sample" in str(interval)
    assert "are not a random sample of the target" in repr(withheld)
    assert withheld.worth_transferring().finding is Finding.OTHER_LABELS
    assert "do not show whether transfer helps" in str(withheld.worth_transferring())


def test_intervals_are_reweighted_where_labels_overlap_with_the_target(result):
    weights = np.where(np.arange(40) < 10, 3.7, 0.1)
    check = replace(
        result.label_check_,
        representative=False,
        withheld=False,
        weights=weights,
        effective_sample_size=10.0,
    )
    found, plain = (
        r.interval(0.9, cell=3, method="labelled")
        for r in (replace(result, label_check_=check), result)
    )
    right = result.target[3].labels == Y_TARGET[:40]
    assert found.estimate == pytest.approx(np.average(right, weights=weights))
    # It reaches as far as the plain one: nobody knows what else differs.
    assert found.low <= plain.low
    assert found.high >= plain.high
    assert found.n_rows == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    reweighted = replace(result, label_check_=check)
    estimate = reweighted.interval(0.9, cell=3).estimate
    assert reweighted.row(3, 0.9)["score"] == estimate
    shown = reweighted.to_frame(0.9).loc[reweighted.rows().index(3)]
    assert shown["low"] < shown["accuracy"] == estimate < shown["high"]
    assert f"{reweighted.labels[3]}: {reweighted.metric.format(estimate)}" in repr(reweighted)


def labelled_by_design(power=1.0, n_labelled=60, seed=0):
    """Rows labelled with probabilities that depend on a column, and their inverse probabilities."""
    rng = np.random.default_rng(seed)
    pool, source, unlabelled = (rng.normal(size=(n, 2)) for n in (1500, 60, 300))
    chance = np.exp(1.2 * pool[:, 0])
    rows = rng.choice(1500, n_labelled, replace=False, p=chance / chance.sum())
    y, y_target = (source[:, 1] > 0).astype(int), (pool[rows, 1] > 0).astype(int)
    target = {"X_target": pool[rows], "y_target": y_target, "X_unlabeled": unlabelled}
    return source, y, target, chance[rows] ** -power


def test_weights_of_a_design_make_labels_representative():
    """Labels of a planner are no random sample, but weighted by the design they are."""
    source, y, target, weights = labelled_by_design()
    search = lb.TransferSearchCV({"a": lb.SourceOnly(GaussianNB())}, random_state=0)
    assert not search.fit(source, y, **target).results_.label_check_.representative
    search.fit(source, y, **target, sample_weight_target=weights)
    check = search.results_.label_check_
    assert check.representative
    assert check.n_labelled == 60
    assert check.effective_sample_size == pytest.approx(weights.sum() ** 2 / (weights @ weights))
    assert "reweighted" not in search.interval(0.9).note


def test_weights_that_do_not_undo_the_selection_are_corrected():
    source, y, target, weights = labelled_by_design(power=-0.3, seed=2)
    search = lb.TransferSearchCV({"a": lb.SourceOnly(GaussianNB())}, random_state=0)
    check = search.fit(source, y, **target, sample_weight_target=weights).results_.label_check_
    assert not check.representative
    assert check.weights.shape == (60,)
    total, column = weights * check.weights, target["X_target"][:, 0]
    assert abs(np.average(column, weights=total)) < abs(np.average(column, weights=weights))
    assert check.effective_sample_size == pytest.approx(total.sum() ** 2 / (total @ total))


def test_a_cell_must_be_one_that_was_validated(result):
    failure = Failure(2, "target_fold", 0, ("target", "reverse"), "broken")
    failed = replace(result, failures=(failure,))
    for method in ("paired", "paper"):
        unknown = np.isnan(failed.prob_better(method=method))
        assert unknown[2].all()
        assert unknown[:, 2].all()
        assert unknown.sum() == 2 * len(result.cells) - 1
    with pytest.raises(ValueError, match="could be validated by 'anchored' and accuracy; got 2"):
        failed.interval(cell=2)
    with pytest.raises(ValueError, match="one of the 10 cells, from 0 to 9; got 10"):
        failed.interval(cell=10)


def test_without_any_fit_on_labelled_rows_cells_have_no_intervals(result):
    n_cells = len(result.cells)
    failures = tuple(Failure(n, "budget", 0, ("target",), "") for n in range(n_cells))
    info = replace(result.info, criterion="trcv", criteria=("trcv", "tlv"))
    cut = replace(result, target=(), failures=failures, info=info)
    assert cut.status() == ("complete",) * n_cells
    assert cut.to_frame()["low"].isna().all()
    with pytest.raises(ValueError, match="could be validated by 'tlv' and accuracy; got 0"):
        cut.interval(cell=0)


# Probabilities and the verdict


def test_probabilities_of_some_cells_are_those_of_all(result, monkeypatch):
    near = result.within_noise()
    for method in ("paper", "paired"):
        whole = result.prob_better(method=method)
        some = result.prob_better(method=method, cells=(5, 0, 3))
        for cells in ([5, 0, 3], np.array([5, 0, 3])):
            np.testing.assert_array_equal(result.prob_better(method=method, cells=cells), some)
        np.testing.assert_allclose(some, whole[np.ix_([5, 0, 3], [5, 0, 3])], rtol=1e-12)
    monkeypatch.setattr(search_result, "PAIRED_AT_ONCE", 2)
    result._answers.clear()
    assert result.within_noise() == near


def test_probabilities_of_the_two_methods(result):
    paper, paired = result.prob_better(method="paper"), result.prob_better(method="paired")
    for probability in (paper, paired):
        np.testing.assert_allclose(probability + probability.T, 1.0)
    assert paired[result.best, cells_of(result, "constant")[0]] > 0.95
    assert np.array_equal(result.prob_better(), paired)
    with pytest.raises(ValueError, match="`method` must be one of"):
        result.prob_better(method="luck")


@pytest.mark.parametrize("criterion", ["scv", "wcv", "rv"])
def test_cells_of_two_sources_share_no_rows(criterion):
    result = searched(criterion=criterion).results_
    probability = result.prob_better()
    np.testing.assert_allclose(probability + probability.T, 1.0)
    first, second = cells_of(result, "source")
    assert probability[first, second] == 0.5
    assert probability[first, cells_of(result, "constant")[0]] != 0.5
    assert result.worth_transferring().finding is Finding.NO_LABELS


def test_the_verdict_compares_the_best_transfer_candidate_with_both_baselines(result):
    verdict = result.worth_transferring()
    assert [rival.role for rival in verdict.rivals] == ["target-only", "source-only"]
    assert verdict.n_rows == 40
    assert "with these 40 labels" in verdict.message or "on these 40 labels" in verdict.message
    assert str(verdict) == verdict.message
    best = result.labels.index(verdict.best)
    for rival in verdict.rivals:
        evidence, probability, _ = compare_pair(result, best, rival.cell)
        assert (rival.e_value, rival.probability) == (evidence, probability)


def test_the_verdict_breaks_ties_as_the_ranking_does():
    """Of equal cells, the one that is trained on all sources comes first."""
    found = searched(sources="both", criterion="tlv").results_
    same = replace(found, target=(found.target[0],) * len(found.cells))
    roles = ("source-only", "target-only", "baseline")
    first = next(n for n in same.ranking() if same.cells[n].role not in roles)
    assert same.worth_transferring().best == same.labels[first]
    assert same.labels[first].endswith("from all sources")


def test_the_verdict_needs_evidence_against_both_baselines():
    rng = np.random.default_rng(1)
    target = rng.normal(size=(300, 2))
    y_target = (target[:, 0] + target[:, 1] > 0).astype(int)
    models = {
        "s": lb.SourceOnly(DummyClassifier()),
        "t": lb.TargetOnly(DummyClassifier()),
        "good": lb.Pooled(LogisticRegression()),
    }
    source = rng.normal(size=(100, 2))
    found = lb.TransferSearchCV(models, criterion="tlv", cv=3, random_state=0).fit(
        source, (source[:, 0] > 0).astype(int), X_target=target, y_target=y_target
    )
    verdict = found.worth_transferring()
    assert verdict.worth is True
    assert bool(verdict)
    assert "Transfer is worth it: good beats target-only and source-only" in verdict.message
    assert "over 99 %" in verdict.message
    equal = {**models, "s": lb.SourceOnly(LogisticRegression()), "good": DummyClassifier()}
    worse = lb.TransferSearchCV(equal, criterion="tlv", cv=3, random_state=0).fit(
        source, (source[:, 0] > 0).astype(int), X_target=target, y_target=y_target
    )
    assert worse.worth_transferring().worth is False
    assert "is not shown to beat target-only or source-only" in str(worse.worth_transferring())


@pytest.mark.parametrize(("probability", "explained"), [(0.99, True), (0.6, False)])
def test_a_high_probability_without_a_verdict_is_explained(probability, explained):
    rival = Rival("target-only", 0, "t", e_value=5.0, probability=probability, beaten=False)
    words = Verdict(Finding.NOT_SHOWN, "good", (rival,), n_rows=50).message
    assert words.startswith("good is not shown to beat target-only with these 50 labels (prob")
    assert words.endswith("stays valid when labels are added.") is explained


def test_verdict_where_the_search_cannot_tell():
    assert "has no transfer estimator. Add" in str(
        searched({"s": lb.SourceOnly(GaussianNB())}, criterion="tlv").worth_transferring()
    )
    none = searched({"nb": GaussianNB()}, criterion="tlv").worth_transferring()
    assert none.worth is None
    assert "has no baseline. Add SourceOnly" in str(none)


# The vote


def test_the_vote_predicts_with_its_members(search):
    vote, fitted = search.results_.vote(), search.vote_
    assert 1 < len(vote.members) <= 5
    by_hand = sum(
        weight * search.refit_cell(cell).predict_proba(X_TARGET)
        for cell, weight in enumerate(vote.weights)
        if weight
    )
    np.testing.assert_allclose(search.predict_proba(X_TARGET), by_hand)
    np.testing.assert_array_equal(search.predict(X_TARGET), by_hand.argmax(axis=1))
    assert [name for name, _ in fitted.members] == [search.results_.labels[c] for c in vote.members]
    assert search.score(X_TARGET, Y_TARGET) == np.mean(search.predict(X_TARGET) == Y_TARGET)


@pytest.mark.parametrize("cell", [99, -99, 1.5, "vote", None])
def test_only_a_cell_can_be_refitted(search, cell):
    with pytest.raises(ValueError, match=r"`cell` must be the number of one of the \d+ cells"):
        search.refit_cell(cell)


def test_members_may_come_from_different_sources_and_have_no_probabilities():
    models = {"svm": SVC(), "nb": GaussianNB()}
    found = searched(models, criterion="tlv")
    sources = {found.results_.cells[cell].source for cell in found.results_.vote().members}
    assert sources == {"a", "b"}
    assert np.allclose(found.predict_proba(X_TARGET).sum(axis=1), 1)


def test_without_labels_the_vote_rests_on_the_criterion():
    models = {"nb": GaussianNB(), "knn": KNeighborsClassifier(), "lr": LogisticRegression()}
    found = lb.TransferSearchCV(models, cv=4, random_state=0).fit(X, Y, X_unlabeled=X_TARGET)
    vote = found.results_.vote()
    assert vote.predictions is None
    order = np.argsort(found.results_.values()[:3], kind="stable")
    assert np.all(np.diff(vote.weights[:3][order]) <= 0)
    assert np.isfinite(vote.disagreement[vote.members]).all()
    interval = found.interval()
    assert interval.withheld is Withheld.NO_LABELS
    assert "no interval, because no model was validated on labelled target rows" in str(interval)
    assert found.results_.row(0)["score"] == found.results_.scores()[0]
    assert np.isnan(found.results_.row(0)["low"])


def test_without_labels_agreement_is_the_reference():
    models = {"nb": GaussianNB(), "knn": KNeighborsClassifier(), "lr": LogisticRegression()}
    found = lb.TransferSearchCV(models, cv=4, random_state=0, sources="both")
    found.fit(X, Y, groups=GROUPS, X_unlabeled=X_TARGET)
    result = found.results_
    cells, reference = result.agreement(0.9)
    # Models of the best cell's source only.
    assert {result.cells[cell].source for cell in cells} == {found.best_source_}
    predicted = np.array([result.unlabelled[cell].values.argmax(axis=1) for cell in cells])
    expected = agreement_interval(predicted)
    np.testing.assert_array_equal(reference.low, expected.low)
    few = lb.TransferSearchCV({"nb": GaussianNB()}, cv=4).fit(X, Y, X_unlabeled=X_TARGET)
    assert few.results_.agreement() is None
    assert few.results_.lead() is None


def test_the_lead_is_the_smallest_e_value_over_all_rivals(result):
    lead = result.lead()
    candidates = [n for n in result.ranking() if result.cells[n].role != "baseline"]
    best, *rivals = candidates
    wrong = {n: (result.target[n].labels != Y_TARGET[:40]).astype(float) for n in candidates}
    evidence = {n: e_value(wrong[best] - wrong[n], bound=1.0) for n in rivals}
    closest = min(evidence, key=evidence.get)
    assert (lead.best, lead.rival) == (result.labels[best], result.labels[closest])
    assert lead.e_value == pytest.approx(evidence[closest])
    assert lead.n_candidates == len(candidates)
    assert lead.decided == (lead.e_value >= len(candidates) * 20)
    assert lead.probability == pytest.approx(result.prob_better()[best, closest])


def test_weighted_rows_are_weighted_in_the_e_value_and_counted_by_their_effective_number(result):
    weight = np.linspace(0.2, 5, 40)
    weighted = replace(result, sample_weight_target=weight)
    wrong = [(result.target[n].labels != Y_TARGET[:40]).astype(float) for n in (0, 5)]
    differences = (wrong[0] - wrong[1]) * weight / 5
    assert differences.any()
    evidence, _, _ = compare_pair(weighted, 0, 5)
    assert evidence == pytest.approx(e_value(differences, bound=1.0))
    effective = weight.sum() ** 2 / (weight @ weight)
    assert weighted.interval(0.9, cell=0).n_rows == pytest.approx(effective)


@pytest.mark.parametrize("names", [["accuracy", "score"], ["weight", "accuracy"]])
def test_metrics_are_not_named_like_other_columns(names):
    scoring = dict.fromkeys(names, "accuracy")
    with pytest.raises(ValueError, match="`scoring` must not name a metric"):
        searched(scoring=scoring)
    assert searched(scoring={"score": "f1"}).results_.metric.name == "score"


def test_refit_best_answers_with_one_model():
    found = searched(refit="best")
    assert not hasattr(found, "vote_")
    np.testing.assert_array_equal(
        found.predict_proba(X_TARGET), found.best_estimator_.predict_proba(X_TARGET)
    )
    assert hasattr(found, "decision_function") == hasattr(
        found.best_estimator_, "decision_function"
    )
    assert found.results_.answer == found.best_index_
    assert "vote" not in repr(found.results_)


# Racing


def test_racing_saves_fits_and_keeps_the_winner():
    grid = {"n_neighbors": [1, 3, 5, 7, 9, 15, 25, 29]}
    candidates = {
        "knn": (KNeighborsClassifier(), grid),
        "constant": (DummyClassifier(), {"strategy": ["most_frequent", "stratified", "uniform"]}),
    }
    full = searched(candidates, criterion="tlv", cv=8)
    raced = searched(candidates, criterion="tlv", cv=8, racing=True)
    info = raced.results_.info
    assert info.fits_done < info.fits_planned == full.results_.info.fits_done
    assert raced.best_params_ == full.best_params_
    assert raced.best_score_ == full.best_score_
    status = raced.results_.status()
    assert "stopped" in status
    assert np.isfinite(raced.results_.values()).all()
    ranks = raced.results_.ranks()
    stopped = [rank for rank, s in zip(ranks, status, strict=True) if s == "stopped"]
    assert min(stopped) > max(r for r, s in zip(ranks, status, strict=True) if s == "complete")
    assert np.isfinite(raced.prob_better()).all()


@pytest.mark.parametrize("criterion", ["anchored", "trcv"])
def test_racing_works_with_every_kind_of_criterion(criterion):
    candidates = {"knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}), **CANDIDATES}
    raced = searched(candidates, criterion=criterion, cv=8, racing=True).results_
    assert np.isfinite(raced.values()).all()
    assert raced.status()[raced.best] == "complete"


def test_rounds_double():
    fits = [FitTask("target_fold", fold, 0, 0, (0,), ("target",)) for fold in range(10)]
    rounds = racing_rounds(fits)
    assert [[fit.fold for fit in group] for group in rounds] == [
        [0, 1],
        [2, 3],
        [4, 5, 6, 7],
        [8, 9],
    ]


def losses_of(*cells, rows=None):
    rows = [np.arange(len(cell)) for cell in cells] if rows is None else rows
    return {n: RowLosses(*pair) for n, pair in enumerate(zip(rows, cells, strict=True))}


def test_only_the_clearly_behind_in_the_worse_half_are_stopped():
    rng = np.random.default_rng(0)
    base = rng.uniform(size=60)
    losses = [base, base + 0.01 * rng.normal(size=60), base + 1.0, base + 2.0]
    assert clearly_behind(losses_of(*losses)) == [2, 3]
    assert clearly_behind(losses_of(*losses[:2])) == []
    # Of three, the better half is two: the middle one goes on, however far behind.
    assert clearly_behind(losses_of(base, base + 1.0, base + 2.0)) == [2]
    first, second = np.arange(60), np.arange(60, 120)  # two sources: no rows in common
    apart = losses_of(base, base, base, base + 1.0, rows=[first, first, second, second])
    assert clearly_behind(apart) == [3]
    # Pairs are compared on the rows that both have seen, wherever these are in the source.
    some = rng.permutation(60)[:30]
    rows = [first, first, first, some]
    paired = losses_of(base, base, base + 0.01, base[some] + 0.5, rows=rows)
    assert clearly_behind(paired) == [2, 3]
    constant = [np.zeros(9), np.zeros(9), np.ones(9), np.ones(9)]
    assert clearly_behind(losses_of(*constant)) == [2, 3]
    assert clearly_behind(losses_of(*np.zeros((4, 9)))) == []


def test_a_time_budget_ends_the_search_with_what_was_validated(tmp_path, monkeypatch):
    end_budget_at_marks(monkeypatch, tmp_path)
    slow = {"quick": GaussianNB(), **{f"slow {k}": Sleepy(str(tmp_path)) for k in range(2)}}
    with pytest.warns(lb.FailedFitWarning, match="time budget ended before .* cells were valid"):
        found = searched(slow, criterion="tlv", time_budget=1e6, fit_timeout=1e12)
    info = found.results_.info
    assert info.fits_cut > 0
    assert info.fits_done < info.fits_planned
    assert found.results_.status()[found.best_index_] == "complete"


class Sleepy(GaussianNB):
    """A fit that never ends."""

    def __init__(self, folder=None):
        super().__init__()
        self.folder = folder

    def fit(self, X, y):
        misbehave(self.folder, "sleep")


def test_the_vote_counts_numbers_within_the_limits_of_the_known_labels():
    wild = lb.SourceOnly(TransformedTargetRegressor(Ridge(), func=np.arctan, inverse_func=np.tan))
    search = lb.TransferSearchCV({"wild": wild, "ridge": Ridge()}, cv=4, random_state=0)
    y, y_target = X[:, 0], X_TARGET[:40, 0]
    search.fit(X, y, X_target=X_TARGET[:40], y_target=y_target, X_unlabeled=X_TARGET[40:])
    result = search.results_
    known = np.concatenate([y, y_target])
    margin = np.ptp(known) / 2
    assert result.limits == pytest.approx((known.min() - margin, known.max() + margin))
    assert search.vote_.limits == result.limits
    far = np.full((5, 3), 1e6)
    assert search.predict(far).max() <= result.limits[1]
    raw = np.array([[-1e9, 0.0, 1e9]])
    assert result._limited(raw).tolist() == [[result.limits[0], 0.0, result.limits[1]]]
