"""Odd candidates, losses, names and tables: a record or a message, and never a wrong number."""

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GroupKFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import landbridge as lb
from landbridge._validation import TransferData
from landbridge.model_selection import SearchResult
from landbridge.model_selection._search_data import check_search_data, compare_labelled
from landbridge.model_selection._sources import make_folds
from landbridge.model_selection.criteria import CRITERIA
from landbridge.model_selection.search_records import KEPT

RNG = np.random.default_rng(0)
X, X_TARGET = RNG.normal(size=(60, 3)), RNG.normal(0.3, 1, size=(30, 3))
Y, Y_TARGET = (X[:, 0] > 0).astype(int), (X_TARGET[:, 0] > 0).astype(int)
NUMBERS, NUMBERS_TARGET = X @ [1.0, 0.5, 0.0], X_TARGET @ [1.0, 0.5, 0.0]
GROUPS = np.repeat(["a", "b", "c"], 20)
TARGET = {"X_target": X_TARGET[:16], "y_target": Y_TARGET[:16], "X_unlabeled": X_TARGET[16:]}
OF_NUMBERS = {**TARGET, "y_target": NUMBERS_TARGET[:16]}


def search(candidates=None, **options):
    candidates = {"nb": GaussianNB()} if candidates is None else candidates
    return lb.TransferSearchCV(candidates, **{"cv": 3, "random_state": 0, **options})


def same_predictions(one, other):
    """Every kept prediction and weight of two results is identical."""
    for name in KEPT:
        for first, second in zip(getattr(one, name), getattr(other, name), strict=True):
            np.testing.assert_array_equal(first.values, second.values)
            np.testing.assert_array_equal(first.labels, second.labels)
    for first, second in zip(one.sources, other.sources, strict=True):
        np.testing.assert_array_equal(first.weights, second.weights)


class Strange(BaseEstimator):
    """A model whose first answer in every batch is something else."""

    def __init__(self, model, wrong=np.nan):
        self.model = model
        self.wrong = wrong

    def fit(self, X, y):
        self.model.fit(X, y)
        self.classes_ = getattr(self.model, "classes_", None)
        return self

    def _spoil(self, answers):
        answers = np.array(answers, dtype=float)
        answers[0] = self.wrong
        return answers

    def predict(self, X):
        return self._spoil(self.model.predict(X))


class StrangeRegressor(RegressorMixin, Strange):
    pass


class StrangeClassifier(ClassifierMixin, Strange):
    def predict(self, X):
        return self.model.predict(X)

    def predict_proba(self, X):
        return self._spoil(self.model.predict_proba(X))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize(
    ("candidates", "options", "given"),
    [
        ({"odd": StrangeRegressor(Ridge()), "good": Ridge()}, {}, "numbers"),
        (
            {"odd": StrangeClassifier(GaussianNB()), "good": GaussianNB()},
            {"scoring": "neg_log_loss"},
            "classes",
        ),
    ],
)
def test_answers_that_are_no_numbers_are_failures(candidates, options, given, wrong):
    y, target = (NUMBERS, OF_NUMBERS) if given == "numbers" else (Y, TARGET)
    candidates["odd"].set_params(wrong=wrong)
    with pytest.warns(
        lb.FailedFitWarning, match="1 of 3 cells failed.*predicted NaN or infinity for row 0"
    ):
        found = search(candidates, criterion="all", **options).fit(X, y, **target)
    assert found.best_params_ == {"candidate": "good"}
    alone = search({"good": candidates["good"]}, criterion="all", **options).fit(X, y, **target)
    for criterion in set(CRITERIA) - {"anchored"}:
        assert found.results_.status(criterion) == ("failed", "complete", "complete")
        assert found.results_.scores(criterion)[1] == alone.results_.scores(criterion)[0]


class ColumnClassifier(LogisticRegression):
    """Answers with a column, as CatBoost does for several classes."""

    def predict(self, X):
        return super().predict(X).reshape(-1, 1)


class Untagged:
    """Looks like an estimator and is none."""

    def fit(self, X, y):
        return self

    def get_params(self, deep=True):
        return {}

    def set_params(self, **params):
        return self


class ColumnRegressor(Ridge):
    def predict(self, X):
        return super().predict(X).reshape(-1, 1)


def test_a_column_of_predictions_is_a_row_of_them():
    expected = search({"m": LogisticRegression()}, criterion="all").fit(X, Y, **TARGET)
    found = search({"m": ColumnClassifier()}, criterion="all").fit(X, Y, **TARGET)
    same_predictions(found.results_, expected.results_)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    expected = search({"m": Ridge()}, criterion="all").fit(X, NUMBERS, **OF_NUMBERS)
    found = search({"m": ColumnRegressor()}, criterion="all").fit(X, NUMBERS, **OF_NUMBERS)
    same_predictions(found.results_, expected.results_)


def test_a_constant_candidate_has_not_seen_one_class_only():
    found = search({"constant": DummyClassifier()}).fit(X, Y, **TARGET)
    assert found.results_.cells[0].constants == 0


def test_a_splitter_that_cannot_split_one_source_leaves_the_others():
    labels = Y.copy()
    groups = np.where(np.arange(60) < 6, "small", "large")
    labels[:6] = [0, 1] * 3
    with pytest.warns(lb.FailedFitWarning, match="`cv` must be able to split source 'small'"):
        found = search(cv=StratifiedKFold(5)).fit(X, labels, groups=groups, **TARGET)
    assert found.best_source_ == "large"
    assert found.results_.status() == ("complete", "failed", "complete")
    fixed = PredefinedSplit(np.arange(60) % 3)
    with pytest.raises(ValueError, match="holds out rows beyond the 20 rows"):
        search(cv=fixed).fit(X, Y, groups=GROUPS, **TARGET)
    assert search(cv=fixed).fit(X, Y, **TARGET).results_.sources[0].folds.tolist() == [0, 1, 2] * 20


def test_a_group_that_is_named_twice_counts_once():
    once, twice = (
        search(sources={"x": part}, criterion="all").fit(X, Y, groups=GROUPS, **TARGET)
        for part in (["a"], ["a", "a"])
    )
    same_predictions(once.results_, twice.results_)


def test_subsets_may_be_sets_arrays_and_have_any_name(tmp_path):
    parts = [{"b", "a", "c"}, frozenset({"c", "a"}), np.array(["b", "c"])]
    found = search(sources=parts).fit(X, Y, groups=GROUPS, **TARGET)
    assert [source.name for source in found.results_.sources] == ["a+c", "b+c", "a+b+c"]
    named = search(sources={("a", "b"): ["a", "b"], 3: "c"}).fit(X, Y, groups=GROUPS, **TARGET)
    assert named.cv_results_["source"].tolist() == [("a", "b"), 3, None]
    named.results_.save(tmp_path / "search.npz")
    loaded = SearchResult.load(tmp_path / "search.npz")
    assert [cell.source for cell in loaded.cells] == [("a", "b"), 3, None]


@pytest.mark.parametrize(
    ("sources", "error", "message"),
    [
        (None, TypeError, "`sources` must be 'each', 'pooled', 'both', a list.*got None"),
        (3, TypeError, "`sources` must be 'each'.*got 3"),
        ([["a", ["b"]]], ValueError, r"made of groups, .*; got \[\['b'\]\]"),
    ],
)
def test_sources_that_are_none_are_refused(sources, error, message):
    with pytest.raises(error, match=message):
        search(sources=sources).fit(X, Y, groups=GROUPS, **TARGET)


def test_numbers_that_name_sources_stay_numbers_beside_pooled():
    found = search(sources="both").fit(X, Y, groups=np.repeat([1, 2, 3], 20), **TARGET)
    assert found.cv_results_["source"].tolist() == [1, 2, 3, "pooled", None]


def test_names_of_groups_can_be_saved_and_holes_in_a_tuple_are_seen(tmp_path):
    found = search().fit(X, Y, groups=GROUPS.astype("S"), **TARGET)
    found.results_.save(tmp_path / "search.npz")
    loaded = SearchResult.load(tmp_path / "search.npz")
    assert [source.name for source in loaded.sources] == ["a", "b", "c", None]
    with pytest.raises(ValueError, match="`groups` must name the source of every row; got 1 miss"):
        search().fit(X, Y, groups=(*GROUPS[:-1], np.nan), **TARGET)


def test_numbers_beyond_single_precision_are_kept():
    found = []
    for scale in (2.0**-160, 1.0, 2.0**160):
        target = {**OF_NUMBERS, "y_target": scale * OF_NUMBERS["y_target"]}
        candidates = {"r": lb.Pooled(Ridge()), "s": lb.SourceOnly(Ridge(100.0))}
        result = search(candidates).fit(X, scale * NUMBERS, **target).results_
        values = result.unlabelled[0].values
        assert np.isfinite(values).all()
        found.append(np.append(result.scores(), values) / scale)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    np.testing.assert_allclose(found[2], found[1], rtol=1e-5)


def test_repeated_and_unsorted_entries_of_sparse_rows_are_summed_in_a_copy():
    def twice(rows):
        plain = sparse.csr_matrix(rows)
        halves = plain.data.repeat(2) / 2, plain.indices.repeat(2)[::-1].copy(), plain.indptr * 2
        return sparse.csr_matrix(halves, shape=plain.shape)

    rows = {"X": twice(X), "X_target": twice(X_TARGET[:16]), "X_unlabeled": twice(X_TARGET[16:])}
    for matrix in rows.values():
        for part in (matrix.data, matrix.indices, matrix.indptr):
            part.flags.writeable = False
    candidates = {"lr": LogisticRegression()}
    found = search(candidates).fit(**rows, y=Y, y_target=Y_TARGET[:16]).results_
    summed = {name: matrix.toarray() for name, matrix in rows.items()}
    plain = search(candidates).fit(**summed, y=Y, y_target=Y_TARGET[:16]).results_
    assert repr(found) == repr(plain)
    with pytest.raises(ValueError, match="must hold text in every row or numbers in every row"):
        search().fit(X, np.array([1, "a"] * 30, dtype=object), X_unlabeled=X_TARGET)


def test_labels_of_the_other_task_are_refused():
    with pytest.raises(ValueError, match="`y_target` must hold classes.*got numbers like"):
        search().fit(X, Y, **OF_NUMBERS)
    with pytest.raises(ValueError, match="`y` must hold numbers for regression; got 'yes'"):
        search({"r": Ridge()}).fit(X, np.where(Y, "yes", "no"), X_unlabeled=X_TARGET)
    with pytest.raises(ValueError, match=r"`y` must hold one label per row; got .*\(60, 2\)"):
        search({"r": Ridge()}).fit(X, np.c_[NUMBERS, NUMBERS], X_unlabeled=X_TARGET)
    with pytest.raises(ValueError, match=r"the shape \(60,\); got the shape \(16, 2\)"):
        search().fit(X, Y, **{**TARGET, "y_target": np.c_[Y_TARGET, Y_TARGET][:16]})


def test_empty_tables_are_refused():
    table, target = pd.DataFrame(X).add_prefix("x"), pd.DataFrame(X_TARGET).add_prefix("x")
    bad = [
        ("X", (table[:0], Y[:0]), {"X_unlabeled": target}),
        ("X", (table[[]], Y), {"X_unlabeled": target[[]]}),
        ("X_unlabeled", (table, Y), {"X_unlabeled": target[:0]}),
        ("X_target", (table, Y), {"X_target": target[:0], "y_target": Y_TARGET[:0]}),
        ("X_unlabeled", (["some", "words"] * 5, [0, 1] * 5), {"X_unlabeled": []}),
    ]
    for name, source, given in bad:
        with pytest.raises(ValueError, match=f"`{name}` must have at least one row and one column"):
            search(criterion="scv").fit(*source, **given)


def test_documents_may_be_a_tuple():
    words = ["good fine", "bad poor"] * 10
    candidates = {"pooled": make_pipeline(CountVectorizer(), lb.Pooled(LogisticRegression()))}
    labels = [1, 0] * 10
    one, other = (
        search(candidates, criterion="tlv").fit(
            kind(words), labels, X_target=kind(words[:6]), y_target=labels[:6]
        )
        for kind in (list, tuple)
    )
    np.testing.assert_array_equal(one.results_.target[0].values, other.results_.target[0].values)
    np.testing.assert_array_equal(one.predict(words), other.predict(words))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"criterion": {"tlv", "trcv"}},
            TypeError,
            "the first of which is used for selection; got {",
        ),
        ({"criterion": 3}, TypeError, "`criterion` must be a name or a list of names.*got 3"),
        ({"refit": max}, ValueError, "`refit` must be one of 'vote', 'best', False; got <built-"),
        ({"refit": "trcv"}, ValueError, "`refit` must be one of 'vote', 'best', False; got 'trc"),
        ({"refit": True}, ValueError, "`refit` must be one of 'vote', 'best', False; got True"),
        ({"racing": "no"}, ValueError, "`racing` must be one of True, False; got 'no'"),
        ({"candidates": {"m": Untagged()}}, TypeError, "__sklearn_tags__.*BaseEstimator"),
        ({"preprocessor": "scale"}, TypeError, "`preprocessor` must be a transformer.*'scale'"),
        ({"preprocessor": StandardScaler}, TypeError, "must be a transformer.*Pass an instance"),
        ({"preprocessor": GaussianNB()}, TypeError, r"must be a transformer.*got GaussianNB\(\)"),
    ],
)
def test_options_that_would_be_taken_for_others_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        search(**options).fit(X, Y, **TARGET)


def test_a_preprocessor_may_answer_in_any_sparse_form():
    class Coordinates(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            return self

        def transform(self, X):
            return sparse.coo_matrix(X)

    candidates = {"m": LogisticRegression()}
    found = search(candidates, preprocessor=Coordinates()).fit(X, Y, **TARGET)
    assert found.results_.status() == ("complete", "complete")


def test_weights_may_come_from_any_object_with_fit():
    class Ones:
        def fit(self, X, X_target):
            self.weights_ = np.ones(X.shape[0])

    found = search(criterion="all", weighting=Ones()).fit(X, Y, **TARGET)
    expected = search(criterion="all", weighting=lb.UniformWeights()).fit(X, Y, **TARGET)
    same_predictions(found.results_, expected.results_)


class NoWeights(lb.UniformWeights):
    def fit(self, X, X_target):
        raise RuntimeError("no weights")


def test_intervals_and_probabilities_rest_on_what_has_not_failed():
    options = {"criterion": ["tlv", "all"], "weighting": NoWeights()}
    candidates = {"nb": GaussianNB(), "log": LogisticRegression()}
    with pytest.warns(lb.FailedFitWarning, match="3 of 3 .*By 'tlv', which selects, 0 failed"):
        found = search(candidates, **options).fit(X, Y, **TARGET)
    assert found.interval(cell=0).method == "anchored"
    with pytest.warns(lb.FailedFitWarning, match="By 'scv', which selects, 0 failed"):
        found = search(candidates, **{**options, "criterion": ["scv", "trcv"]}).fit(X, Y, **TARGET)
    assert np.isfinite(found.prob_better()).all()
    with pytest.raises(ValueError, match="validated by 'trcv' and accuracy; got .*, which failed"):
        found.interval(cell=0, method="paper")
    assert lb.SearchRankingDisplay.from_estimator(found).ax_ is not None
    assert lb.SourceCandidateDisplay.from_estimator(found, criterion="scv").ax_ is not None


@pytest.mark.parametrize("criterion", ["stv", "tcv"])
def test_probabilities_rest_on_the_rows_of_the_ranking(criterion):
    candidates = {"nb": GaussianNB(), "log": LogisticRegression()}
    found = search(candidates, criterion=[criterion, "trcv"]).fit(X, Y, **TARGET)
    np.testing.assert_array_equal(found.prob_better(), found.prob_better(method="paired"))


@pytest.mark.parametrize("cell", [1.5, "nb", True, 7])
def test_a_cell_is_a_number(cell):
    found = search().fit(X, Y, **TARGET)
    with pytest.raises(ValueError, match="`cell` must be 'vote' or the number of one of the 2"):
        found.interval(cell=cell)


def test_levels_are_said_as_they_are():
    found = search().fit(X, Y, **TARGET)
    assert " 99.5 % interval " in str(found.interval(0.995))
    assert " 90 % interval " in str(found.interval(0.9))
    display = lb.SearchRankingDisplay.from_estimator(found, level=0.999)
    assert ", 99.9 % interval" in display.xlabel


def test_arrays_of_a_result_cannot_be_written_to():
    groups = GROUPS.copy()
    found = search(criterion="all").fit(X, Y, groups=groups, **TARGET).results_
    for array in (found.target[0].values, found.reverse[0].labels, found.values(), found.scores()):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    groups[0] = "b"  # the argument is the user's own


def test_split_scores_of_folds_that_were_validated_are_kept():
    class FailsOnce(GaussianNB):
        def fit(self, X_train, y):
            if X_TARGET[0, 0] not in X_train[:, 0]:
                raise RuntimeError("once")
            return super().fit(X_train, y)

    with pytest.warns(lb.FailedFitWarning, match="once"):
        found = search({"good": GaussianNB(), "odd": FailsOnce()}, criterion="tlv").fit(
            X, Y, **TARGET
        )
    scores = np.array([found.cv_results_[f"split{fold}_test_score"] for fold in range(3)])
    failed = int(found.results_.target_folds[0])
    assert np.isnan(scores[failed, 1])
    others = np.delete(scores, failed, axis=0)
    np.testing.assert_array_equal(others[:, 1], others[:, 0])
    assert np.isnan(found.cv_results_["mean_test_score"][1])


@pytest.mark.parametrize("criterion", ["trcv", "wcv"])
def test_split_scores_are_weighted_where_the_criterion_is(criterion):
    found = search(criterion=criterion).fit(X, Y, **TARGET)
    result = found.results_
    kept = (result.reverse if criterion == "trcv" else result.source)[0]
    losses = (kept.labels != Y) * result.sources[0].weights
    scores = [found.cv_results_[f"split{fold}_test_score"][0] for fold in range(3)]
    expected = [1 - losses[result.sources[0].folds == fold].mean() for fold in range(3)]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    # The folds have 20 rows each, so that the mean of their scores is the score.
    assert np.mean(scores) == pytest.approx(found.best_score_, rel=1e-12)


def test_without_refit_the_error_says_what_to_do():
    found = search(refit=False).fit(X, Y, **TARGET)
    with pytest.raises(AttributeError) as caught:
        found.predict(X)
    assert "`refit` must be 'vote' or 'best' for `predict`" in str(caught.value.__cause__)


@pytest.mark.parametrize("backend", ["threading", "multiprocessing"])
def test_any_backend_gives_the_same_answer(backend):
    expected = search(criterion="all").fit(X, Y, **TARGET)
    with joblib.parallel_backend(backend):
        found = search(criterion="all", n_jobs=2).fit(X, Y, **TARGET)
    same_predictions(found.results_, expected.results_)


def test_rows_of_a_score_may_be_weighted():
    weights = np.arange(30.0)
    for options in ({}, {"preprocessor": StandardScaler()}):
        found = search(**options).fit(X, Y, **TARGET)
        right = found.predict(X_TARGET) == 0
        zeros = np.zeros(30, dtype=int)
        expected = np.average(right, weights=weights)
        assert found.score(X_TARGET, zeros, sample_weight=weights) == pytest.approx(expected)


def test_a_loss_of_zero_is_said_to_be_zero():
    labels = {**TARGET, "y_target": np.zeros(16)}
    found = search({"r": Ridge(), "s": Ridge(2.0)}).fit(X, 0.0 * NUMBERS, **labels)
    assert str(found.interval(0.9, cell=0)).startswith("RMSE 0, 90 % interval 0 to 0 ")
    assert ". r: 0\n" in repr(found.results_)


def test_a_search_forgets_the_columns_and_the_preprocessor_of_its_last_fit():
    found = search(criterion="tlv", preprocessor=StandardScaler()).fit(X, Y, **TARGET)
    assert found.n_features_in_ == 3
    words, labels = ["good fine", "bad poor"] * 6, [1, 0] * 6
    candidates = {"words": make_pipeline(CountVectorizer(), LogisticRegression())}
    found.set_params(candidates=candidates, preprocessor=None)
    found.fit(words, labels, X_target=words[:6], y_target=labels[:6])
    assert not hasattr(found, "n_features_in_")
    assert not hasattr(found, "preprocessor_")
    assert found.predict(words).tolist() == labels


@pytest.mark.parametrize("library", [pd, pl])
def test_whole_and_decimal_numbers_may_meet_in_one_column(library):
    tables = {
        name: library.DataFrame({"a": TARGET[name][:, 0]}) for name in TARGET if name[0] == "X"
    }
    whole = library.DataFrame({"a": np.round(X[:, 0]).astype(int)})
    candidates = {"nb": GaussianNB(), "pooled": lb.Pooled(LogisticRegression())}
    found = search(candidates, criterion="all", preprocessor=StandardScaler()).fit(
        whole, Y, **{**TARGET, **tables}
    )
    assert found.results_.status() == ("complete",) * 3
    plain = search(candidates, criterion="all").fit(whole, Y, **{**TARGET, **tables})
    assert plain.results_.status() == ("complete",) * 3


def test_numbers_that_name_columns_are_compared_too():
    table, target = pd.DataFrame(X), pd.DataFrame(X_TARGET)
    with pytest.raises(ValueError, match="columns of X in the same order; got them in another"):
        search().fit(table, Y, X_unlabeled=target[[2, 0, 1]])
    with pytest.raises(ValueError, match=r"got \[0, 1, 2\], which X does not have"):
        search().fit(table.add_prefix("x"), Y, X_unlabeled=target)


def test_dates_are_no_numbers_for_the_weights():
    table = pd.DataFrame({"x": X[:, 0], "day": pd.date_range("2020", periods=60)})
    with pytest.raises(ValueError, match="(?s)importance weights need numbers: encode the table"):
        search().fit(table, Y, X_unlabeled=table)


class Answers(GaussianNB):
    """Predicts what ``change`` makes of the classes."""

    def __init__(self, change=None):
        super().__init__()
        self.change = change

    def predict(self, X):
        return self.change(super().predict(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda labels: labels + 7, r"classes that y has, like \[0, 1\]; got [78]"),
        (lambda labels: labels - 1, r"classes that y has, like \[0, 1\]; got -1"),
        (lambda labels: labels.astype(str), r"classes that y has, like \[0, 1\]; got '[01]'"),
        (lambda labels: labels[1:], "one label for each of .* rows; got an array of shape"),
    ],
)
def test_answers_that_are_no_classes_are_failures(change, message):
    candidates = {"odd": Answers(change), "good": GaussianNB()}
    with pytest.warns(lb.FailedFitWarning, match=f"1 of 3 cells failed.*{message}"):
        found = search(candidates, criterion="all").fit(X, Y, **TARGET)
    assert found.results_.status() == ("failed", "complete", "complete")


def test_classes_may_be_predicted_as_python_objects():
    objects = search({"nb": Answers(lambda labels: labels.astype(object))}, criterion="all")
    expected = search(criterion="all").fit(X, Y, **TARGET)
    same_predictions(objects.fit(X, Y, **TARGET).results_, expected.results_)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (ShuffleSplit(3, test_size=0.5, random_state=0), "`cv` must hold out each row at most on"),
        ([([0], [1])], r"a splitter like KFold; got \[\(\[0\], \[1\]\)\]"),
    ],
)
def test_splitters_must_hold_out_rows_once(cv, message):
    with pytest.raises(ValueError, match=message):
        search(cv=cv).fit(X, Y, **TARGET)


def test_rows_in_order_of_time_are_trained_on_the_past():
    found = search(cv=TimeSeriesSplit(3), criterion=["tlv", "scv"]).fit(X, Y, **TARGET)
    result = found.results_
    assert result.sources[0].folds.tolist() == [-1] * 15 + [0] * 15 + [1] * 15 + [2] * 15
    assert np.isnan(result.source[0].values[:15]).all()
    by_hand = np.concatenate(
        [
            GaussianNB().fit(X[:end], Y[:end]).predict(X[end : end + 15]) == Y[end : end + 15]
            for end in (15, 30, 45)
        ]
    )
    assert result.scores("scv")[0] == pytest.approx(by_hand.mean())
    assert result.target_folds.tolist() == [-1] * 4 + [0] * 4 + [1] * 4 + [2] * 4
    assert found.interval(0.9, cell=0).n_rows == 12


@pytest.mark.parametrize("cv", [GroupKFold(3), StratifiedGroupKFold(3), 3])
def test_groups_of_rows_stay_in_one_fold(cv):
    patients, of_target = np.arange(60) // 4, np.arange(16) // 2
    found = search(cv=cv, criterion="all").fit(
        X, Y, **TARGET, cv_groups=patients, cv_groups_target=of_target
    )
    folds = found.results_.sources[0].folds
    assert all(len(set(folds[patients == patient])) == 1 for patient in range(15))
    folds = found.results_.target_folds
    assert all(len(set(folds[of_target == patient])) == 1 for patient in range(8))
    assert "of 8 groups" in str(found.interval(0.9, cell=0))


def test_the_check_of_the_labels_compares_groups():
    enough = {"cv_groups_target": np.arange(16) // 2}
    for groups, compared in (
        (enough, True),
        # Four groups on one side are too few to compare.
        ({"cv_groups_target": np.arange(16) // 4}, False),
        ({**enough, "cv_groups_unlabeled": np.arange(14) // 4}, False),
    ):
        check = search(cv=2).fit(X, Y, **TARGET, **groups).results_.label_check_
        assert (check is not None) == compared


def test_groups_must_fit_the_folds():
    patients = np.arange(60) // 4
    with pytest.raises(ValueError, match="`cv_target` .* must come with the group of every row"):
        search(cv=GroupKFold(3)).fit(X, Y, **TARGET, cv_groups=patients)
    with pytest.raises(ValueError, match="its rows belong to fewer than 3 groups"):
        search(cv=3).fit(X, Y, **TARGET, cv_groups=np.arange(60) // 30)
    # Two patients of the target are two folds, and splitters that know no groups get none.
    few = search(cv=3).fit(X, Y, **TARGET, cv_groups_target=np.arange(16) // 8).results_
    assert few.target_folds.tolist() in ([0] * 8 + [1] * 8, [1] * 8 + [0] * 8)
    # A source-only model could predict the first rows, too, but is compared on the same rows.
    models = {"source": lb.SourceOnly(GaussianNB()), "plain": GaussianNB()}
    both = search(models, cv=TimeSeriesSplit(3), criterion=["tlv", "stv"]).fit(X, Y, **TARGET)
    for kept in both.results_.target:
        assert kept.seen.tolist() == [False] * 4 + [True] * 12
    kept = both.results_.source_to_target[0]
    assert kept.seen.all()
    right = kept.labels == Y_TARGET[:16]
    assert both.results_.scores("stv")[0] == right.mean()
    assert both.results_.scores("tlv")[0] == right[4:].mean()
    past = search(cv=TimeSeriesSplit(3)).fit(X, Y, **TARGET, cv_groups_target=np.arange(16) // 2)
    assert past.interval(0.9, cell=0).n_groups == 6


def test_labels_of_one_class_that_differ_from_the_others_are_not_reweighted():
    """No weights can stand in for a class without labels; equal rows stay as they are."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(400, 2)), np.arange(400) % 2
    shifted, labels = rows[:60] * 0.8 + 0.35, np.zeros(60, dtype=int)
    for y_target, withheld in ((labels, True), (np.arange(60) % 2, False)):
        given = TransferData(rows, y, shifted, y_target, rows[60:])
        data = check_search_data(BaseEstimator(), given, None)
        check = compare_labelled(data, 0)
        assert not check.representative
        assert check.withheld == withheld


def test_target_rows_may_have_folds_of_their_own():
    found = search(cv=3, cv_target=8, criterion="all").fit(X, Y, **TARGET).results_
    assert set(found.target_folds) == set(range(8))
    assert set(found.sources[0].folds) == {0, 1, 2}


def test_sample_weights_reach_fits_and_metrics():
    weight, of_target = np.linspace(0.1, 2, 60), np.linspace(2, 0.1, 16)
    given = {**TARGET, "sample_weight": weight, "sample_weight_target": of_target}
    models = {"nb": GaussianNB(), "pooled": lb.Pooled(LogisticRegression())}
    found = search(models, criterion="tlv", refit="best").fit(X, Y, **given)
    kept = found.results_.target[0]
    right = kept.labels == Y_TARGET[:16]
    assert found.results_.scores()[0] == pytest.approx(np.average(right, weights=of_target))
    by_hand = GaussianNB().fit(
        np.r_[X, X_TARGET[:16]], np.r_[Y, Y_TARGET[:16]], sample_weight=np.r_[weight, of_target]
    )
    np.testing.assert_allclose(found.refit_cell(0).theta_, by_hand.theta_)
    with pytest.warns(lb.FailedFitWarning, match="must accept sample_weight in fit"):
        found = search({"nb": GaussianNB(), "knn": KNeighborsClassifier()}).fit(X, Y, **given)
    assert found.results_.status() == ("complete", "failed", "complete")
    with pytest.raises(ValueError, match="`sample_weight_target` must come with `X_target`"):
        search().fit(X, Y, X_unlabeled=X_TARGET, sample_weight_target=of_target)


def test_racing_compares_weighted_losses():
    rows, y = np.zeros((160, 1)), (np.arange(160) % 4 > 0).astype(int)
    constants = {f"{n}": DummyClassifier(strategy="constant", constant=n > 0) for n in range(4)}
    race = search(constants, criterion="scv", cv=8, racing=True, refit=False)
    for weight, stopped in ((None, "0"), (np.where(y == 0, 10.0, 0.1), "3")):
        result = race.fit(rows, y, X_unlabeled=rows, sample_weight=weight).results_
        assert stopped in {cell.candidate for cell in result.cells if cell.stopped_after}
        assert result.cells[result.best].candidate != stopped


@pytest.mark.parametrize("metric", ["accuracy", "neg_log_loss"])
def test_weighted_losses_are_divided_by_the_sum_of_the_sample_weights(metric):
    weight, of_target = np.linspace(0.1, 2, 60), np.linspace(2, 0.1, 16)

    def result(*weights):
        names = ("sample_weight", "sample_weight_target")
        given = dict(zip(names, weights, strict=False))
        found = search(criterion=["trcv", "wcv"], scoring=metric, refit=False)
        return found.fit(X, Y, **TARGET, **given).results_

    for criterion in ("trcv", "wcv"):
        found = result(weight, of_target)
        kept = found.predictions(criterion, 0)
        losses = found.metric.pointwise(Y, kept.read(found.metric.response))
        loss = weight @ (found.sources[0].weights * losses) / weight.sum()
        assert found.values(criterion)[0] == pytest.approx(loss)
        same = result(np.full(60, 1.0), np.full(16, 1.0)).scores(criterion)
        np.testing.assert_allclose(same, result().scores(criterion))
        # The unit of the weights is irrelevant, also next to pseudo-labelled rows.
        scaled = result(8 * weight, 8 * of_target).scores(criterion)
        np.testing.assert_allclose(scaled, found.scores(criterion))


def test_scores_of_folds_stay_within_the_bounds_of_the_metric():
    class FirstFold:
        def fit(self, X, X_target):
            self.weights_ = np.where(np.arange(60) % 3 == 0, 3.0, 0.0)

    fitted = search(
        {"never": DummyClassifier(strategy="constant", constant=0)},
        criterion="wcv",
        weighting=FirstFold(),
        cv=PredefinedSplit(np.arange(60) % 3),
        refit=False,
    ).fit(X, np.where(np.arange(60) % 3 == 0, 1, Y), X_unlabeled=X_TARGET)
    assert fitted.cv_results_["split0_test_score"][0] == 0.0


def test_callbacks_of_scikit_learn_hear_of_every_fit():
    pytest.importorskip("sklearn.callback", reason="needs scikit-learn 1.9")
    heard = []

    class Listener:
        def setup(self, estimator, context):
            heard.append("setup")

        def on_fit_task_begin(self, estimator, context, **_):
            heard.append(context.task_name)

        def on_fit_task_end(self, estimator, context, **_):
            heard.append("end")

        def teardown(self, estimator, context):
            heard.append("teardown")

    found = search(criterion="tlv").set_callbacks(Listener()).fit(X, Y, **TARGET)
    assert heard[0] == "setup"
    assert heard[-1] == "teardown"
    assert heard.count("candidate fit") == found.results_.info.fits_done == 6


def test_the_configuration_of_scikit_learn_reaches_the_workers():
    table, target = pd.DataFrame(X).add_prefix("x"), pd.DataFrame(X_TARGET).add_prefix("x")
    models = {"scaled": make_pipeline(StandardScaler(), NeedsNames())}
    with sklearn.config_context(transform_output="pandas"):
        for jobs in (1, 2):
            found = search(models, criterion="tlv", n_jobs=jobs).fit(
                table, Y, X_target=target[:16], y_target=Y_TARGET[:16]
            )
            assert not found.results_.failures


class NeedsNames(GaussianNB):
    """Learns from tables with names of columns only."""

    def fit(self, X, y):
        if not hasattr(X, "columns"):
            raise TypeError("no names")
        return super().fit(X, y)


def test_large_arrays_are_sampled_and_the_result_says_so(monkeypatch):
    monkeypatch.setattr("landbridge.model_selection._fit_tasks.MOST_VALUES", 120)
    monkeypatch.setattr("landbridge.model_selection._fit_tasks.MOST_UNLABELLED", 5)
    found = search(criterion="all").fit(X, Y, **TARGET).results_
    assert found.info.kept_rows == 30
    assert found.info.kept_unlabelled == 5
    assert (~np.isnan(found.source[0].values[:, 0])).sum() == 30
    assert found.unlabelled[0].values.shape == (5, 2)
    assert np.isfinite(found.values("trcv")).all()


@pytest.mark.parametrize("seed", range(3))
def test_rare_classes_are_dealt_evenly_over_the_folds(seed):
    y = np.random.default_rng(seed).permutation(np.repeat([0, 1, 2], [23, 4, 3]))
    folds = make_folds(y, cv=5, task="classification", seed=seed).numbers
    for label in range(3):
        assert np.ptp(np.bincount(folds[y == label], minlength=5)) <= 1
    assert np.ptp(np.bincount(folds)) == 0
