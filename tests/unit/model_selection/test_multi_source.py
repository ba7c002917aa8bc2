"""MultiSourceCV: what it trains on, what it records, and its contract.

It is a procedure without predict, so it is not in the table of estimators: scikit-learn's checks
ask predictors to refuse text, NaN and lists, which this one hands on to the estimator on purpose.
The promises of that table that make sense for it are checked here.
"""

import copy
import logging
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import landbridge as lb
from landbridge import MultiSourceCV
from landbridge.model_selection import MultiSourceResult

RNG = np.random.default_rng(0)
GROUPS = np.repeat(["a", "b", "c", "d", "e"], [30, 20, 25, 40, 35])
X = RNG.normal(size=(150, 3)) + RNG.normal(size=(5, 3))[np.unique(GROUPS, return_inverse=True)[1]]
Y = (X[:, 0] + RNG.normal(size=150) > 0).astype(int)


def rows_of(name):
    return np.equal(GROUPS, name)


FIRST = X[0]


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was fitted on and judged on."""

    seen = []

    def fit(self, X, y, groups=None, X_unlabeled=None):
        self.classes_ = np.unique(y)
        self.trained_on = {"X": X, "groups": groups, "X_unlabeled": X_unlabeled}
        return self

    def predict(self, X):
        self.seen.append({**self.trained_on, "X_test": X})
        return np.full(len(X), self.classes_[0])


class FailsWithout(ClassifierMixin, BaseEstimator):
    """Fails when the rows of some sources are missing."""

    def __init__(self, sources=()):
        self.sources = sources

    def fit(self, X, y, groups=None):
        gone = set(self.sources) - set(groups)
        if gone:
            raise RuntimeError(f"cannot live without {sorted(gone)}")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def losses_of(estimator, X=X, y=Y, groups=GROUPS, **options):
    return MultiSourceCV(estimator, **options).fit(X, y, groups=groups).result_.losses


def test_losses_are_those_of_leaving_each_source_out():
    predicted = cross_val_predict(GaussianNB(), X, Y, groups=GROUPS, cv=LeaveOneGroupOut())
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_
    assert np.array_equal(result.losses, predicted != Y)
    assert np.array_equal(result.source_names[result.source], GROUPS)
    assert np.array_equal(result.fold, result.source)
    means = [(predicted != Y)[rows_of(name)].mean() for name in "abcde"]
    assert result.source_means == pytest.approx(means, rel=1e-12)
    assert result.estimate == pytest.approx(np.mean(means), rel=1e-12)


def test_trains_on_every_other_row_and_judges_on_the_left_out_ones():
    Recorder.seen.clear()
    MultiSourceCV(Recorder(), unlabeled_target=True).fit(X, Y, groups=GROUPS)
    assert len(Recorder.seen) == 5
    for name, seen in zip("abcde", Recorder.seen, strict=True):
        assert np.array_equal(seen["X"], X[~rows_of(name)])
        assert np.array_equal(seen["groups"], GROUPS[~rows_of(name)])
        assert np.array_equal(seen["X_test"], X[rows_of(name)])
        assert np.array_equal(seen["X_unlabeled"], X[rows_of(name)])


def test_the_left_out_source_stays_hidden_unless_asked():
    Recorder.seen.clear()
    MultiSourceCV(Recorder()).fit(X, Y, groups=GROUPS)
    assert all(seen["X_unlabeled"] is None for seen in Recorder.seen)


def test_random_blocks_are_a_balanced_partition_across_sources():
    result = MultiSourceCV(GaussianNB(), scheme="random", random_state=0).fit(X, Y, groups=GROUPS)
    fold = result.result_.fold
    assert sorted(np.bincount(fold)) == [30] * 5
    assert all(np.unique(GROUPS[fold == k]).size == 5 for k in range(5))
    again = MultiSourceCV(GaussianNB(), scheme="random", random_state=0).fit(X, Y, groups=GROUPS)
    other = MultiSourceCV(GaussianNB(), scheme="random", random_state=1).fit(X, Y, groups=GROUPS)
    assert np.array_equal(again.result_.fold, fold)
    assert not np.array_equal(other.result_.fold, fold)


def test_random_blocks_answer_no_question_about_new_sources():
    cv = MultiSourceCV(GaussianNB(), scheme="random", random_state=0).fit(X, Y, groups=GROUPS)
    assert cv.result_.interval("fixed").n_sources == 5
    for question in ("new_source", "population"):
        with pytest.raises(ValueError, match=f"'source' for question='{question}'; got 'random'"):
            cv.result_.interval(question)
    assert "Random blocks share sources" in repr(cv.result_)
    assert "new source:" not in repr(cv.result_)


@pytest.mark.parametrize("loss", ["zero_one", "log", "absolute", "squared", lambda y, p: y + p])
def test_every_loss(loss):
    result = MultiSourceCV(GaussianNB(), loss=loss).fit(X, Y, groups=GROUPS).result_
    assert result.losses.shape == (150,)
    assert np.isfinite(result.losses).all()
    assert result.loss == ("<lambda>" if callable(loss) else loss)
    assert "5 sources" in repr(result)


def test_regression():
    y = X[:, 0] + RNG.normal(size=150)
    result = MultiSourceCV(Ridge(), loss="squared").fit(X, y, groups=GROUPS).result_
    predicted = cross_val_predict(Ridge(), X, y, groups=GROUPS, cv=LeaveOneGroupOut())
    assert result.losses == pytest.approx((predicted - y) ** 2, rel=1e-10)
    assert "Expected squared error on a new source" in repr(result)
    with pytest.raises(ValueError, match="`loss` must measure a distance for regression"):
        MultiSourceCV(Ridge()).fit(X, y, groups=GROUPS)


# The contract


def test_same_answer_for_any_number_of_jobs():
    forest = RandomForestClassifier(n_estimators=5)
    for scheme in ("source", "random"):
        one, two = (
            losses_of(forest, scheme=scheme, random_state=3, n_jobs=n, loss="log") for n in (1, 2)
        )
        assert one.tobytes() == two.tobytes()
    assert losses_of(forest, random_state=4, loss="log").tobytes() != one.tobytes()


def test_seeds_fill_only_what_is_unset():
    fixed = RandomForestClassifier(n_estimators=5, random_state=0)
    first, second = (losses_of(fixed, random_state=seed, loss="log") for seed in (1, 2))
    assert np.array_equal(first, second)


@pytest.mark.parametrize("scheme", ["source", "random"])
def test_global_random_state_is_untouched(scheme):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    losses_of(GaussianNB(), scheme=scheme)
    losses_of(GaussianNB(), scheme=scheme, random_state=1)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_arguments_and_parameters_are_never_modified():
    arguments = {"X": X.copy(), "y": Y.copy(), "groups": GROUPS.copy()}
    estimator = GaussianNB()
    cv = MultiSourceCV(estimator, random_state=0)
    before = cv.get_params()
    cv.fit(**arguments)
    assert np.array_equal(arguments["X"], X)
    assert np.array_equal(arguments["y"], Y)
    assert np.array_equal(arguments["groups"], GROUPS)
    assert cv.estimator is estimator
    assert not hasattr(estimator, "classes_")
    assert cv.get_params() == before


def test_labels_and_group_names_of_any_type():
    expected = losses_of(GaussianNB())
    codes = np.unique(GROUPS, return_inverse=True)[1]
    for labels in (["no", "yes"], [False, True], [2.0, 5.0]):
        assert np.array_equal(losses_of(GaussianNB(), y=np.array(labels)[Y]), expected)
        y = pd.Series(np.array(labels)[Y], dtype="category")
        assert np.array_equal(losses_of(GaussianNB(), y=y), expected)
    for groups in (codes, codes * 1.5, pd.Series(GROUPS), pl.Series(GROUPS), GROUPS.tolist()):
        assert np.array_equal(losses_of(GaussianNB(), groups=groups), expected)
    assert np.array_equal(losses_of(GaussianNB(), y=Y[:, None]), expected)


def test_tables_csr_and_lists():
    expected = losses_of(GaussianNB())
    columns = ["u", "v", "w"]
    for table in (pd.DataFrame(X, columns=columns), pl.DataFrame(X, schema=columns)):
        assert np.array_equal(losses_of(GaussianNB(), table), expected)
    logistic = LogisticRegression()
    for matrix in (sparse.csr_array(X), sparse.coo_array(X), sparse.csr_matrix(X)):
        assert np.array_equal(losses_of(logistic, matrix), losses_of(logistic))
    assert np.array_equal(losses_of(GaussianNB(), X.tolist()), expected)


def test_raw_tables_and_texts_reach_the_pipeline_as_they_are():
    table = pd.DataFrame({"x": X[:, 0], "place": np.where(X[:, 1] > 0, "in", None)})
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["place"]))
    encode.remainder = "passthrough"
    result = MultiSourceCV(make_pipeline(encode, LogisticRegression())).fit(table, Y, groups=GROUPS)
    assert result.result_.estimate < 0.5
    texts = [f"word{'s' * y} of row {i}" for i, y in enumerate(Y)]
    bag = make_pipeline(CountVectorizer(), MultinomialNB())
    assert losses_of(bag, texts).mean() == 0


def test_row_order_is_irrelevant():
    order = RNG.permutation(150)
    shuffled = losses_of(LogisticRegression(), X[order], Y[order], GROUPS[order], loss="log")
    np.testing.assert_allclose(shuffled, losses_of(LogisticRegression(), loss="log")[order], 1e-4)


def test_clone_pickle_and_repr():
    cv = MultiSourceCV(GaussianNB(), loss="log", n_jobs=1).fit(X, Y, groups=GROUPS)
    assert "MultiSourceCV" in repr(cv)
    assert not hasattr(clone(cv), "result_")
    revived = pickle.loads(pickle.dumps(cv))  # noqa: S301
    assert np.array_equal(revived.result_.losses, cv.result_.losses)


def test_progress_is_logged_not_printed(caplog, capsys):
    with caplog.at_level(logging.INFO, logger="landbridge"):
        losses_of(GaussianNB())
    assert sum("fold" in message for message in caplog.messages) == 5
    assert capsys.readouterr().out == ""


# Nested searches and transfer estimators


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("cv", [3, LeaveOneGroupOut()])
def test_nested_search_with_any_splitter_and_with_metadata_routing(routing, cv):
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, cv=cv)
    with sklearn.config_context(enable_metadata_routing=routing):
        assert np.isfinite(losses_of(search)).all()


def test_nested_search_gets_the_groups_of_its_training_rows():
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, cv=LeaveOneGroupOut())
    result = MultiSourceCV(search).fit(X, Y, groups=GROUPS).result_
    assert np.isfinite(result.losses).all()
    inner = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, cv=LeaveOneGroupOut())
    rest = GROUPS != "c"
    inner.fit(X[rest], Y[rest], groups=GROUPS[rest])
    assert np.array_equal(result.losses[~rest], inner.predict(X[~rest]) != Y[~rest])


@pytest.mark.filterwarnings("ignore::landbridge.LandbridgeWarning")
def test_a_nested_transfer_search_sees_the_left_out_rows_as_its_target():
    candidates = {"nb": GaussianNB(), "lr": LogisticRegression()}
    search = lb.TransferSearchCV(candidates, cv=3, random_state=0)
    cv = MultiSourceCV(search, unlabeled_target=True, random_state=0)
    losses = cv.fit(X, Y, groups=GROUPS).result_.losses
    rest = GROUPS != "c"
    inner = clone(search).fit(X[rest], Y[rest], groups=GROUPS[rest], X_unlabeled=X[~rest])
    assert np.array_equal(losses[~rest], inner.predict(X[~rest]) != Y[~rest])


@pytest.mark.filterwarnings("ignore::landbridge.LandbridgeWarning")
def test_transfer_estimators_get_the_left_out_rows_without_labels():
    weighted = lb.ReweightedClassifier(LogisticRegression(), lb.UniformWeights())
    result = MultiSourceCV(weighted, unlabeled_target=True).fit(X, Y, groups=GROUPS).result_
    assert np.array_equal(result.losses, losses_of(LogisticRegression()))
    kmm = lb.ReweightedClassifier(LogisticRegression(), lb.KernelMeanMatching())
    moved = MultiSourceCV(kmm, unlabeled_target=True, loss="log")
    adapted = moved.fit(X, Y, groups=GROUPS).result_.losses
    assert not np.array_equal(adapted, losses_of(LogisticRegression(), loss="log"))


def test_plain_estimators_cannot_take_unlabelled_rows():
    with pytest.raises(ValueError, match="must take X_unlabeled in fit .* got GaussianNB"):
        MultiSourceCV(GaussianNB(), unlabeled_target=True).fit(X, Y, groups=GROUPS)


# Bad input and failures


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"groups": None}, "`groups` must name the source of each row; got None"),
        ({"groups": np.repeat("a", 150)}, "at least 2 sources; got 1, 'a'"),
        ({"groups": GROUPS[:-1]}, "each of the 150 rows"),
        ({"groups": np.where(GROUPS == "a", np.nan, 1.0)}, "got 30 missing, the first in row 0"),
        ({"y": None}, "`y` must hold the label of each row; got None"),
        ({"y": Y[:-1]}, "one label for each of the 150 rows of X; got 149"),
        (
            {"y": np.where(Y == 1, np.nan, 0.0)},
            "`y` must have a label for every row; got .* missing",
        ),
        ({"y": np.where(Y == 1, None, "no")}, "`y` must have a label for every row"),
    ],
)
def test_bad_input(changes, message):
    with pytest.raises(ValueError, match=message):
        MultiSourceCV(GaussianNB()).fit(**{"X": X, "y": Y, "groups": GROUPS, **changes})


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"scheme": "blocked"}, "`scheme` must be one of 'source', 'random'; got 'blocked'"),
        ({"loss": "hinge"}, "`loss` must be one of 'zero_one'"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        MultiSourceCV(GaussianNB(), **params).fit(X, Y, groups=GROUPS)


def test_a_failed_source_is_recorded_and_leaves_every_interval():
    cv = MultiSourceCV(FailsWithout(["b"]))
    with pytest.warns(
        lb.FailedFitWarning, match="1 of 5 fits failed, the first without 'b'"
    ) as seen:
        result = cv.fit(X, Y, groups=GROUPS).result_
    assert len(seen) == 1
    assert result.failures == (("'b'", "RuntimeError: cannot live without ['b']"),)
    assert np.array_equal(np.isnan(result.losses), GROUPS == "b")
    assert np.isnan(result.source_means).tolist() == [False, True, False, False, False]
    with pytest.warns(lb.FewSourcesWarning, match="4 sources"):
        assert result.interval().n_sources == 4
    expected = [(np.zeros(150) != Y)[rows_of(name)].mean() for name in "acde"]
    assert result.estimate == pytest.approx(np.mean(expected))
    assert "Failed and left out: 'b' (RuntimeError" in repr(result)


def test_a_failed_block_is_named_too():
    class FailsOnTheFirstRow(GaussianNB):
        def fit(self, X, y):
            if not (X == FIRST).all(axis=1).any():
                raise RuntimeError("no first row")
            return super().fit(X, y)

    cv = MultiSourceCV(FailsOnTheFirstRow(), scheme="random", random_state=0)
    with pytest.warns(lb.FailedFitWarning, match="without block"):
        result = cv.fit(X, Y, groups=GROUPS).result_
    assert result.failures[0][0] == f"block {result.fold[0]}"
    assert result.interval("fixed").n_sources == 4


@pytest.mark.parametrize("gone", [list("abcde"), list("bcde")])
def test_too_many_failures_raise_with_the_first_reason(gone):
    with pytest.raises(
        ValueError, match=f"got {len(gone)} failures, the first .*RuntimeError: cannot"
    ):
        MultiSourceCV(FailsWithout(gone)).fit(X, Y, groups=GROUPS)


def test_a_missing_predict_proba_is_an_error_not_a_result():
    with pytest.raises(ValueError, match="got 5 failures.*must have predict_proba for loss='log'"):
        MultiSourceCV(Recorder(), loss="log").fit(X, Y, groups=GROUPS)


def test_a_source_of_one_row_and_a_source_of_one_class():
    groups = GROUPS.copy()
    groups[:29] = "b"  # source a keeps one row
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=groups).result_
    assert result.interval().n_sources == 5
    with pytest.raises(ValueError, match="at least 2 rows.*in 'a'"):
        result.interval("fixed")
    assert "over these" not in repr(result)
    one_class = np.where(GROUPS == "a", 1, Y)
    result = MultiSourceCV(GaussianNB(), loss="log").fit(X, one_class, groups=GROUPS).result_
    assert np.isfinite(result.losses).all()


def test_a_class_that_only_one_source_has():
    y = np.where(GROUPS == "a", 2, Y)
    result = MultiSourceCV(GaussianNB(), loss="log").fit(X, y, groups=GROUPS).result_
    assert (result.losses[GROUPS == "a"] > 36).all()


def test_training_rows_of_one_class_are_a_recorded_failure():
    y = np.where(GROUPS == "a", Y, 0)
    with pytest.warns(lb.FailedFitWarning, match="without 'a'.*at least 2 classes"):
        result = MultiSourceCV(LogisticRegression()).fit(X, y, groups=GROUPS).result_
    assert [name for name, _ in result.failures] == ["'a'"]


def test_two_sources_answer_only_about_themselves():
    two = np.isin(GROUPS, ["a", "b"])
    result = MultiSourceCV(GaussianNB()).fit(X[two], Y[two], groups=GROUPS[two]).result_
    text = repr(result)
    assert "Mean error over these 2 sources" in text
    assert "Two sources say nothing about a third" in text
    with pytest.raises(ValueError, match="at least 3 sources"):
        result.interval()


# The result


def test_words_and_numbers():
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_
    answer = result.interval("new_source", 0.9)
    text = result.describe(0.9)
    assert text.splitlines()[0].startswith("GaussianNB(): zero_one loss on 150 rows, 5 sources")
    assert str(answer) in text
    assert f"expect {answer.expected_half_width(sources=2):.2f}"[:9] in text
    assert "Mean error over all sources of this kind" in text
    assert "Mean error over these 5 sources" in text
    assert repr(result) == result.describe(0.95)
    assert answer.low >= 0


def test_variance_by_name():
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_
    assert result.variance() == lb.cv_variance(result.losses, GROUPS, "theta_b")
    expected = lb.cv_variance(result.losses, GROUPS, "theta_omega", source="c")
    assert result.variance("theta_omega", source="c") == expected


@pytest.mark.parametrize("groups", [GROUPS, np.unique(GROUPS, return_inverse=True)[1]])
def test_saved_and_loaded(tmp_path, groups):
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=groups).result_
    result.save(tmp_path / "result.npz")
    loaded = MultiSourceResult.load(tmp_path / "result.npz")
    assert repr(loaded) == repr(result)
    assert loaded.source_names.tolist() == result.source_names.tolist()
    assert loaded.interval() == result.interval()


def test_results_are_frozen():
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_
    with pytest.raises(AttributeError):
        result.loss = "log"


# Comparisons


def test_compare_two_estimators():
    comparison = lb.compare_estimators(GaussianNB(), DummyClassifier(), X, Y, groups=GROUPS)
    assert comparison.names.tolist() == ["GaussianNB", "DummyClassifier"]
    for name, estimator in (("GaussianNB", GaussianNB()), ("DummyClassifier", DummyClassifier())):
        assert np.array_equal(comparison.result(name).losses, losses_of(estimator))
    (test,) = comparison.pairs()
    expected = lb.paired_test(*comparison.losses, GROUPS)
    assert (test.difference, test.p_value) == (expected.difference, expected.p_value)
    assert "GaussianNB − DummyClassifier" in repr(comparison)


def test_compare_many_estimators_with_holm_and_ranks():
    many = {"nb": GaussianNB(), "lr": LogisticRegression(), "no": DummyClassifier()}
    comparison = lb.compare_estimators(many, None, X, Y, groups=GROUPS, loss="log")
    tests = comparison.pairs("nadeau_bengio", 0.9)
    assert [(t.first, t.second) for t in tests] == [("nb", "lr"), ("nb", "no"), ("lr", "no")]
    p_values = [t.p_value for t in tests]
    assert [t.p_holm for t in tests] == pytest.approx(lb.inference.holm(p_values))
    assert comparison.friedman().mean_ranks.shape == (3,)
    assert comparison.source_means.shape == (3, 5)
    with_b = lb.compare_estimators({"nb": GaussianNB()}, {"lr": Ridge()}, X, Y, groups=GROUPS,
                                   loss="squared")  # fmt: skip
    assert with_b.names.tolist() == ["nb", "lr"]


def test_twins_get_two_names():
    comparison = lb.compare_estimators(GaussianNB(), GaussianNB(), X, Y, groups=GROUPS)
    assert comparison.names.tolist() == ["GaussianNB", "GaussianNB_2"]
    assert comparison.pairs()[0].p_value == 1.0


def test_comparison_bit_identical_for_any_number_of_jobs_and_saved(tmp_path):
    forests = {f"forest{n}": RandomForestClassifier(n_estimators=n) for n in (3, 4)}
    one, two = (
        lb.compare_estimators(
            forests, None, X, Y, groups=GROUPS, loss="log", n_jobs=n, random_state=0
        )
        for n in (1, 2)
    )
    assert one.losses.tobytes() == two.losses.tobytes()
    one.save(tmp_path / "comparison.npz")
    loaded = type(one).load(tmp_path / "comparison.npz")
    assert repr(loaded) == repr(one)


def test_a_source_that_fails_for_one_leaves_every_test():
    many = {"nb": GaussianNB(), "fails": FailsWithout(["b"]), "no": DummyClassifier()}
    with pytest.warns(lb.FailedFitWarning, match="1 of 15 fits failed"):
        comparison = lb.compare_estimators(many, None, X, Y, groups=GROUPS)
    with pytest.warns(lb.FewSourcesWarning):
        tests = comparison.pairs()
    assert {test.n_sources for test in tests} == {4}
    assert comparison.friedman().n_sources == 4
    assert comparison.result("fails").failures[0][0] == "'b'"
    assert comparison.result("nb").failures == ()
    with pytest.warns(lb.FewSourcesWarning):
        assert "failed: fails without 'b'" in repr(comparison)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (GaussianNB(), None, "at least 2 estimators together; got 1"),
        ({"nb": GaussianNB()}, {"nb": GaussianNB()}, "must not use the names of a again; got 'nb'"),
        (DummyRegressor(), DummyRegressor(), "`loss` must measure a distance"),
    ],
)
def test_bad_comparisons(a, b, message):
    with pytest.raises(ValueError, match=message):
        lb.compare_estimators(a, b, X, Y, groups=GROUPS)


def test_unknown_name_in_a_comparison():
    comparison = lb.compare_estimators(GaussianNB(), DummyClassifier(), X, Y, groups=GROUPS)
    with pytest.raises(ValueError, match="`name` must be one of"):
        comparison.result("svm")


def test_copies_share_nothing_with_the_scaler_of_the_caller():
    scaler = StandardScaler()
    pipeline = make_pipeline(scaler, GaussianNB())
    before = copy.deepcopy(vars(scaler))
    losses_of(pipeline)
    assert vars(scaler) == before


def test_the_left_out_rows_reach_the_transfer_step_of_a_pipeline():
    weighted = make_pipeline(StandardScaler(), lb.ReweightedClassifier(GaussianNB()))
    found = MultiSourceCV(weighted, unlabeled_target=True).fit(X, Y, groups=GROUPS).result_
    first = found.source_names[0]
    rest, there = first != GROUPS, first == GROUPS
    scale = StandardScaler().fit(X[rest])
    model = lb.ReweightedClassifier(GaussianNB()).fit(
        scale.transform(X[rest]), Y[rest], X_unlabeled=scale.transform(X[there])
    )
    wrong = model.predict(scale.transform(X[there])) != Y[there]
    np.testing.assert_array_equal(found.losses[there], wrong)
    plain = make_pipeline(StandardScaler(), GaussianNB())
    with pytest.raises(ValueError, match="must take X_unlabeled.*got Pipeline"):
        MultiSourceCV(plain, unlabeled_target=True).fit(X, Y, groups=GROUPS)


def test_labels_of_python_objects_are_those_of_numpy():
    first, second = (
        MultiSourceCV(GaussianNB()).fit(X, (Y[0] == Y).astype(kind), groups=GROUPS).result_
        for kind in (bool, object)
    )
    np.testing.assert_array_equal(first.losses, second.losses)


def test_words_for_a_source_of_one_row_and_for_losses_without_spread():
    groups = np.where(np.arange(len(Y)) == 0, "alone", GROUPS)
    words = repr(MultiSourceCV(GaussianNB()).fit(X, Y, groups=groups).result_)
    assert "half-width" in words
    assert "nan" not in words
    right = MultiSourceCV(GaussianNB()).fit(Y[:, None] == Y[0], Y[0] == Y, groups=GROUPS).result_
    assert right.estimate == 0
    assert "nothing measures how far it can be off" in repr(right)
