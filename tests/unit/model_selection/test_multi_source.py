"""MultiSourceCV: what it trains on, what it records, and its contract.

It is a procedure without predict, so it is not in the table of estimators: scikit-learn's checks
ask predictors to refuse text, NaN and lists, which this one hands on to the estimator on purpose.
The promises of that table that make sense for it are checked here.
"""

import copy
import pickle
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from scipy.stats import ttest_1samp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import landbridge as lb
from landbridge import MultiSourceCV
from landbridge.metrics.scoring import check_scoring
from landbridge.model_selection import MultiSourceResult, multi_source
from landbridge.model_selection.multi_source_result import what_shrinks

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
    return MultiSourceCV(estimator, **options).fit(X, y, groups=groups).result_.losses()


def test_losses_are_those_of_leaving_each_source_out():
    predicted = cross_val_predict(GaussianNB(), X, Y, groups=GROUPS, cv=LeaveOneGroupOut())
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_
    assert np.array_equal(result.losses(), predicted != Y)
    assert np.array_equal(result.source_names[result.source], GROUPS)
    assert np.array_equal(result.fold, result.source)
    means = [(predicted != Y)[rows_of(name)].mean() for name in "abcde"]
    assert result.source_scores("zero_one") == pytest.approx(means, rel=1e-12)
    assert result.source_scores() == pytest.approx(1 - np.array(means), rel=1e-12)
    assert result.estimate() == pytest.approx(1 - np.mean(means), rel=1e-12)


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


@pytest.mark.parametrize("scoring", ["zero_one", "log", "mae", "roc_auc", "f1", ["f1", "log"]])
def test_every_kind_of_metric(scoring):
    result = MultiSourceCV(GaussianNB(), scoring=scoring).fit(X, Y, groups=GROUPS).result_
    names = (scoring,) if isinstance(scoring, str) else tuple(scoring)
    assert tuple(metric.name for metric in result.metrics) == names
    folds = cross_val_predict(
        GaussianNB(), X, Y, groups=GROUPS, cv=LeaveOneGroupOut(), method="predict_proba"
    )
    (metric, *_) = check_scoring(scoring, task="classification", classes=[0, 1])
    expected = [metric.score(Y[rows_of(name)], folds[rows_of(name)]) for name in "abcde"]
    assert result.source_scores() == pytest.approx(expected)
    answer = result.interval("new_source", 0.9)
    variance = np.var(expected, ddof=1) * (1 + 1 / 5)
    within = np.sum(result.summary().mean_variance) / 25
    assert answer.estimate == pytest.approx(np.mean(expected))
    assert answer.standard_error == pytest.approx(np.sqrt(max(variance, within)))
    assert "5 sources" in repr(result)
    assert metric.label in repr(result)


def test_functions_are_metrics_and_must_be_passed_to_load(tmp_path):
    def gain(y_true, y_pred, sample_weight=None):
        return float(np.average((y_true == y_pred) * 3.0, weights=sample_weight))

    result = MultiSourceCV(GaussianNB(), scoring=gain).fit(X, Y, groups=GROUPS).result_
    assert result.source_scores() == pytest.approx(3 * result.source_scores("accuracy"))
    result.save(tmp_path / "gain.npz")
    with pytest.raises(ValueError, match="user-defined metrics, .'gain'.*Pass scoring= to load"):
        MultiSourceResult.load(tmp_path / "gain.npz")
    loaded = MultiSourceResult.load(tmp_path / "gain.npz", scoring=gain)
    assert loaded.interval() == result.interval()
    assert loaded.interval(metric="accuracy").estimate == pytest.approx(result.estimate() / 3)


def test_any_metric_can_be_asked_for_afterwards():
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_
    asked = MultiSourceCV(GaussianNB(), scoring="roc_auc").fit(X, Y, groups=GROUPS).result_
    assert result.interval(metric="roc_auc") == asked.interval()
    assert result.interval("fixed", metric="f1").standard_error > 0


def test_the_variance_within_sources_of_a_metric_is_that_of_its_replicates():
    """Accuracy as a function goes through replicates, by name through its exact form."""

    def share(y_true, y_pred, sample_weight=None):
        return float(np.average(y_true == y_pred, weights=sample_weight))

    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_
    exact, replicated = result.summary(), result.summary(share)
    np.testing.assert_allclose(replicated.mean, exact.mean)
    np.testing.assert_allclose(replicated.mean_variance, exact.mean_variance, rtol=0.25)
    assert result.interval("fixed", metric=share).standard_error == pytest.approx(
        result.interval("fixed").standard_error, rel=0.15
    )


def test_models_without_probabilities_serve_metrics_of_labels_only():
    class Labels(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.where(X[:, 0] > 0, self.classes_[1], self.classes_[0])

    result = MultiSourceCV(Labels(), scoring="f1").fit(X, Y, groups=GROUPS).result_
    assert np.isfinite(result.source_scores("balanced_accuracy")).all()
    with pytest.raises(ValueError, match="must not need probabilities.*got 'roc_auc'"):
        result.interval(metric="roc_auc")
    with pytest.raises(ValueError, match="must have predict_proba for the metric 'roc_auc'"):
        MultiSourceCV(Labels(), scoring=["f1", "roc_auc"]).fit(X, Y, groups=GROUPS)


def test_a_source_of_one_class_has_no_auc_and_leaves_its_interval():
    y = np.where(GROUPS == "b", 1, Y)
    result = MultiSourceCV(GaussianNB(), scoring=["accuracy", "roc_auc"]).fit(X, y, groups=GROUPS)
    scores = result.result_.source_scores("roc_auc")
    assert np.isnan(scores).tolist() == [False, True, False, False, False]
    with pytest.warns(lb.FewSourcesWarning):
        assert result.result_.interval(metric="roc_auc").n_sources == 4
    assert result.result_.interval().n_sources == 5


def test_predictions_are_those_of_predict_not_of_the_largest_probability():
    class Cautious(GaussianNB):
        def predict(self, X):
            return np.where(self.predict_proba(X)[:, 1] > 0.9, 1, 0)

    result = MultiSourceCV(Cautious()).fit(X, Y, groups=GROUPS).result_
    assert result.predicted.mean() < (result.probabilities[:, 1] > 0.5).mean()
    auc = MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_.source_scores("roc_auc")
    np.testing.assert_array_equal(result.source_scores("roc_auc"), auc)


def test_regression_speaks_the_unit_of_the_label():
    y = 1000 * (X[:, 0] + RNG.normal(size=150))
    result = MultiSourceCV(Ridge()).fit(X, y, groups=GROUPS).result_
    predicted = cross_val_predict(Ridge(), X, y, groups=GROUPS, cv=LeaveOneGroupOut())
    assert result.losses("mse") == pytest.approx((predicted - y) ** 2, rel=1e-10)
    rmse = [np.sqrt(np.mean(((predicted - y) ** 2)[rows_of(name)])) for name in "abcde"]
    assert result.source_scores() == pytest.approx(rmse)
    text = repr(result)
    assert "Expected RMSE on a new source" in text
    assert "Expected MAE on a new source" in text
    assert "Expected R² on a new source" in text
    assert "e+" not in text
    constant = [y[rows_of(name)].std() for name in "abcde"]
    assert result.baseline_scores() == pytest.approx(constant)
    assert result.baseline_scores("r2") == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ValueError, match="must be a regression metric"):
        MultiSourceCV(Ridge(), scoring="accuracy").fit(X, y, groups=GROUPS)
    with pytest.raises(ValueError, match="`y` must hold numbers for regression; got 'yes'"):
        MultiSourceCV(Ridge()).fit(X, np.array(["no", "yes"])[Y], groups=GROUPS)


def test_every_score_stands_beside_that_of_a_constant_guess():
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_
    majority = [max(Y[rows_of(name)].mean(), 1 - Y[rows_of(name)].mean()) for name in "abcde"]
    assert result.baseline_scores() == pytest.approx(majority)
    assert result.baseline_scores("roc_auc") == pytest.approx(0.5)
    assert result.baseline_scores("balanced_accuracy") == pytest.approx(0.5)
    better = int((result.source_scores() > np.array(majority)).sum())
    assert f"own majority class on {better} of 5 sources" in repr(result)
    never = MultiSourceCV(DummyClassifier(strategy="constant", constant=0)).fit(X, Y, groups=GROUPS)
    assert "own majority class on 0 of 5 sources" in repr(never.result_)


# Weights


def test_a_metric_that_needs_both_classes_in_every_source():
    scoring = ["accuracy", "roc_auc"]
    result = MultiSourceCV(GaussianNB(), scoring=scoring).fit(X, Y, groups=[*Y[:-1], 2]).result_
    assert "\nROC AUC is defined on fewer than 2 sources.\n" in repr(result)
    with pytest.raises(ValueError, match="`metric` must be defined on at least 2 sources; got 0"):
        result.interval(metric="roc_auc")


def test_sample_weights_reach_the_fit_and_the_metric():
    weight = np.random.default_rng(1).gamma(1.0, size=150)
    result = MultiSourceCV(GaussianNB(), scoring=["accuracy", "roc_auc"]).fit(
        X, Y, groups=GROUPS, sample_weight=weight
    )
    result = result.result_
    for k, name in enumerate("abcde"):
        there = rows_of(name)
        model = GaussianNB().fit(X[~there], Y[~there], sample_weight=weight[~there])
        wrong = np.average(model.predict(X[there]) != Y[there], weights=weight[there])
        assert 1 - result.source_scores()[k] == pytest.approx(wrong)
        auc = roc_auc_score(
            Y[there], model.predict_proba(X[there])[:, 1], sample_weight=weight[there]
        )
        assert result.source_scores("roc_auc")[k] == pytest.approx(auc)
        shares = np.bincount(Y[there], weight[there]) / weight[there].sum()
        assert result.baseline_scores()[k] == pytest.approx(shares.max())
    pipeline = make_pipeline(StandardScaler(), GaussianNB())
    weighted = MultiSourceCV(pipeline).fit(X, Y, groups=GROUPS, sample_weight=weight).result_
    assert not np.array_equal(weighted.probabilities, MultiSourceCV(pipeline).fit(
        X, Y, groups=GROUPS).result_.probabilities)  # fmt: skip
    equal = MultiSourceCV(pipeline).fit(X, Y, groups=GROUPS, sample_weight=np.ones(150)).result_
    assert equal.source_scores() == pytest.approx(losses_to_scores(pipeline))


def losses_to_scores(estimator):
    return MultiSourceCV(estimator).fit(X, Y, groups=GROUPS).result_.source_scores()


def test_weights_that_cannot_be_used_are_refused():
    with pytest.raises(ValueError, match="must accept sample_weight in fit.*KNeighborsClassifier"):
        MultiSourceCV(KNeighborsClassifier()).fit(X, Y, groups=GROUPS, sample_weight=np.ones(150))
    with pytest.raises(ValueError, match="one finite weight of at least 0"):
        MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS, sample_weight=-np.ones(150))


@pytest.mark.parametrize(
    ("last", "unlabelled"),
    [(KNeighborsClassifier(), False), (lb.SurrogateKernelClassifier(), True)],
    ids=["neighbours", "kernel"],
)
def test_weights_that_only_a_scaler_would_use_are_refused(last, unlabelled):
    cv = MultiSourceCV(make_pipeline(StandardScaler(), last), unlabeled_target=unlabelled)
    with pytest.raises(ValueError, match="must accept sample_weight in fit because sample weights"):
        cv.fit(X, Y, groups=GROUPS, sample_weight=np.linspace(0.1, 2, 150))


def test_a_step_that_refuses_weights_gets_none():
    weight = np.random.default_rng(1).gamma(1.0, size=150)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        learner = LogisticRegression().set_fit_request(sample_weight=False)
    model = make_pipeline(scaler, LogisticRegression())
    found = MultiSourceCV(model).fit(X, Y, groups=GROUPS, sample_weight=weight).result_
    there = rows_of("b")
    own = make_pipeline(StandardScaler(), LogisticRegression())
    own.fit(X[~there], Y[~there], logisticregression__sample_weight=weight[~there])
    np.testing.assert_allclose(found.probabilities[there], own.predict_proba(X[there]))
    with pytest.raises(ValueError, match="must accept sample_weight in fit"):
        MultiSourceCV(make_pipeline(StandardScaler(), learner)).fit(
            X, Y, groups=GROUPS, sample_weight=weight
        )


def test_settings_of_scikit_learn_reach_the_workers():
    table = pd.DataFrame(X, columns=["u", "v", "w"])
    pipeline = make_pipeline(StandardScaler(), NeedsTable())
    with sklearn.config_context(transform_output="pandas"):
        for n_jobs in (1, 2):
            result = MultiSourceCV(pipeline, n_jobs=n_jobs).fit(table, Y, groups=GROUPS).result_
            assert result.failures == ()


class NeedsTable(GaussianNB):
    def fit(self, X, y):
        return super().fit(X[["u", "w"]], y)

    def predict_proba(self, X):
        return super().predict_proba(X[["u", "w"]])

    def predict(self, X):
        return super().predict(X[["u", "w"]])


# The contract


def test_same_answer_for_any_number_of_jobs():
    forest = RandomForestClassifier(n_estimators=5)
    for scheme in ("source", "random"):
        one, two = (
            losses_of(forest, scheme=scheme, random_state=3, n_jobs=n, scoring="log")
            for n in (1, 2)
        )
        assert one.tobytes() == two.tobytes()
    assert losses_of(forest, random_state=4, scoring="log").tobytes() != one.tobytes()


def test_seeds_fill_only_what_is_unset():
    fixed = RandomForestClassifier(n_estimators=5, random_state=0)
    first, second = (losses_of(fixed, random_state=seed, scoring="log") for seed in (1, 2))
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
    assert result.result_.estimate() > 0.5
    texts = [f"word{'s' * y} of row {i}" for i, y in enumerate(Y)]
    bag = make_pipeline(CountVectorizer(), MultinomialNB())
    assert losses_of(bag, texts).mean() == 0


def test_row_order_is_irrelevant():
    order = RNG.permutation(150)
    shuffled = losses_of(LogisticRegression(), X[order], Y[order], GROUPS[order], scoring="log")
    np.testing.assert_allclose(
        shuffled, losses_of(LogisticRegression(), scoring="log")[order], 1e-4
    )


def test_clone_pickle_and_repr():
    cv = MultiSourceCV(GaussianNB(), scoring="log", n_jobs=1).fit(X, Y, groups=GROUPS)
    assert "MultiSourceCV" in repr(cv)
    assert not hasattr(clone(cv), "result_")
    revived = pickle.loads(pickle.dumps(cv))  # noqa: S301
    assert np.array_equal(revived.result_.losses(), cv.result_.losses())


def test_finished_fits_are_kept(tmp_path, monkeypatch):
    ran = []
    predict_fold = multi_source.predict_fold

    def counting(context, task):
        ran.append(type(context.estimators[task.who]).__name__)
        return predict_fold(context, task)

    monkeypatch.setattr(multi_source, "predict_fold", counting)
    rows = {"X": X, "y": Y, "groups": GROUPS, "cache": tmp_path / "fits"}
    trees = RandomForestClassifier(3)
    whole = lb.compare_estimators(GaussianNB(), trees, X, Y, groups=GROUPS, random_state=0)
    for again in (False, True):
        ran.clear()
        cv = MultiSourceCV(GaussianNB(), cache=tmp_path / "fits", random_state=0)
        result = cv.fit(X, Y, groups=GROUPS).result_
        assert ran == ([] if again else ["GaussianNB"] * 5)
    comparison = lb.compare_estimators(GaussianNB(), trees, **rows, random_state=0)
    assert ran == ["RandomForestClassifier"] * 5
    assert comparison.probabilities.tobytes() == whole.probabilities.tobytes()
    assert comparison.probabilities[0].tobytes() == result.probabilities.tobytes()
    for change in ({"y": 1 - Y}, {"groups": GROUPS[::-1]}, {"X": X + 1e-9}):
        ran.clear()
        lb.compare_estimators(GaussianNB(), trees, **{**rows, **change}, random_state=0)
        assert len(ran) == 10, f"{next(iter(change))} changed"
    ran.clear()
    lb.compare_estimators(GaussianNB(), trees, **rows, random_state=1)
    assert ran == ["GaussianNB"] * 5 + ["RandomForestClassifier"] * 5


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
    assert np.isfinite(result.losses()).all()
    inner = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, cv=LeaveOneGroupOut())
    rest = GROUPS != "c"
    inner.fit(X[rest], Y[rest], groups=GROUPS[rest])
    assert np.array_equal(result.losses()[~rest], inner.predict(X[~rest]) != Y[~rest])


@pytest.mark.filterwarnings("ignore::landbridge.LandbridgeWarning")
def test_a_nested_transfer_search_sees_the_left_out_rows_as_its_target():
    candidates = {"nb": GaussianNB(), "lr": LogisticRegression()}
    search = lb.TransferSearchCV(candidates, cv=3, random_state=0)
    cv = MultiSourceCV(search, unlabeled_target=True, random_state=0)
    losses = cv.fit(X, Y, groups=GROUPS).result_.losses()
    rest = GROUPS != "c"
    inner = clone(search).fit(X[rest], Y[rest], groups=GROUPS[rest], X_unlabeled=X[~rest])
    assert np.array_equal(losses[~rest], inner.predict(X[~rest]) != Y[~rest])


@pytest.mark.filterwarnings("ignore::landbridge.LandbridgeWarning")
def test_transfer_estimators_get_the_left_out_rows_without_labels():
    weighted = lb.ReweightedClassifier(LogisticRegression(), lb.UniformWeights())
    result = MultiSourceCV(weighted, unlabeled_target=True).fit(X, Y, groups=GROUPS).result_
    assert np.array_equal(result.losses(), losses_of(LogisticRegression()))
    kmm = lb.ReweightedClassifier(LogisticRegression(), lb.KernelMeanMatching())
    moved = MultiSourceCV(kmm, unlabeled_target=True, scoring="log")
    adapted = moved.fit(X, Y, groups=GROUPS).result_.losses()
    assert not np.array_equal(adapted, losses_of(LogisticRegression(), scoring="log"))


def test_plain_estimators_cannot_take_unlabelled_rows():
    with pytest.raises(ValueError, match="must accept X_unlabeled in fit .* got GaussianNB"):
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
        ({"y": Y[:-1]}, "one label for each of the 150 rows of X; got shape \\(149,\\)"),
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
        ({"scoring": "hinge"}, "`scoring` must be the name of a metric; got 'hinge'"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        MultiSourceCV(GaussianNB(), **params).fit(X, Y, groups=GROUPS)


def test_a_failed_source_is_recorded_and_leaves_every_interval():
    cv = MultiSourceCV(FailsWithout(["b"]))
    with pytest.warns(
        lb.FailedFitWarning, match="1 of 5 fits failed, the first with 'b' left out"
    ) as seen:
        result = cv.fit(X, Y, groups=GROUPS).result_
    assert len(seen) == 1
    assert result.failures == (("'b'", "RuntimeError: cannot live without ['b']"),)
    assert np.array_equal(np.isnan(result.losses()), GROUPS == "b")
    assert np.isnan(result.source_scores()).tolist() == [False, True, False, False, False]
    with pytest.warns(lb.FewSourcesWarning, match="4 sources"):
        assert result.interval().n_sources == 4
    expected = [(np.zeros(150) != Y)[rows_of(name)].mean() for name in "acde"]
    assert result.estimate("zero_one") == pytest.approx(np.mean(expected))
    assert "Failed and left out: 'b' (RuntimeError" in repr(result)


def test_a_failed_block_is_named_too():
    class FailsOnTheFirstRow(GaussianNB):
        def fit(self, X, y):
            if not (X == FIRST).all(axis=1).any():
                raise RuntimeError("no first row")
            return super().fit(X, y)

    cv = MultiSourceCV(FailsOnTheFirstRow(), scheme="random", random_state=0)
    with pytest.warns(lb.FailedFitWarning, match="with block [0-9]+ left out"):
        result = cv.fit(X, Y, groups=GROUPS).result_
    assert result.failures[0][0] == f"block {result.fold[0]}"
    assert result.interval("fixed").n_sources == 4


@pytest.mark.parametrize("gone", [list("abcde"), list("bcde")])
def test_too_many_failures_raise_with_the_first_reason(gone):
    with pytest.raises(
        ValueError, match=f"could not be fitted in {len(gone)} of 5 folds.*RuntimeError: cannot"
    ):
        MultiSourceCV(FailsWithout(gone)).fit(X, Y, groups=GROUPS)


def test_a_missing_predict_proba_is_an_error_not_a_result():
    with pytest.raises(
        ValueError, match="in 5 of 5 folds.*must have predict_proba for the metric 'log'"
    ):
        MultiSourceCV(Recorder(), scoring="log").fit(X, Y, groups=GROUPS)


def test_a_source_of_one_row_and_a_source_of_one_class():
    groups = GROUPS.copy()
    groups[:29] = "b"  # source a keeps one row
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=groups).result_
    assert result.interval().n_sources == 5
    with pytest.raises(ValueError, match="at least 2 rows.*in 'a'"):
        result.interval("fixed")
    assert "over these" not in repr(result)
    one_class = np.where(GROUPS == "a", 1, Y)
    result = MultiSourceCV(GaussianNB(), scoring="log").fit(X, one_class, groups=GROUPS).result_
    assert np.isfinite(result.losses()).all()


def test_a_class_that_only_one_source_has():
    y = np.where(GROUPS == "a", 2, Y)
    result = MultiSourceCV(GaussianNB(), scoring="log").fit(X, y, groups=GROUPS).result_
    assert (result.losses()[GROUPS == "a"] > 36).all()


def test_training_rows_of_one_class_are_a_recorded_failure():
    y = np.where(GROUPS == "a", Y, 0)
    with pytest.warns(lb.FailedFitWarning, match="with 'a' left out.*at least 2 classes"):
        result = MultiSourceCV(LogisticRegression()).fit(X, y, groups=GROUPS).result_
    assert [name for name, _ in result.failures] == ["'a'"]


def test_two_sources_answer_only_about_themselves():
    two = np.isin(GROUPS, ["a", "b"])
    result = MultiSourceCV(GaussianNB()).fit(X[two], Y[two], groups=GROUPS[two]).result_
    text = repr(result)
    assert "Mean accuracy over these 2 sources" in text
    assert "Two sources do not allow conclusions about a third" in text
    with pytest.raises(ValueError, match="at least 3 sources"):
        result.interval()


# The result


def test_words_and_numbers():
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_
    answer = result.interval("new_source", 0.9)
    text = result.describe(0.9)
    assert text.splitlines()[0].startswith("GaussianNB(): 150 rows, 5 sources")
    assert str(answer) in text
    assert "Mean accuracy over all sources of this kind" in text
    assert "Mean accuracy over these 5 sources" in text
    assert repr(result) == result.describe(0.95)
    assert answer.low >= 0


def test_large_numbers_are_grouped_and_small_ones_have_an_exponent():
    y = X @ [1.0, -2.0, 0.5] + np.random.default_rng(0).normal(size=len(X))
    for scale, number in [(1e6, r"-?\d+( \d{3})+"), (1e-8, r"-?\d\.\d{3}e-\d\d")]:
        rows = {"X": X, "y": scale * y, "groups": GROUPS}
        words = repr(MultiSourceCV(Ridge()).fit(**rows).result_)
        assert re.search(f"RMSE on a new source: {number}, 95 % between", words)
        assert re.search(f"half-width {number}; expect {number} with", words)
        words = repr(lb.compare_estimators(Ridge(), DummyRegressor(), **rows))
        assert re.search(f"Ridge − DummyRegressor: {number}, 95 % between {number} and", words)
        assert re.search(f"  Ridge: {number}\n", words)


def test_what_twice_the_sources_and_twice_the_rows_would_give():
    """With sources that differ much, more sources narrow the interval and more rows do not."""
    answer = lb.interval(
        np.repeat([0.1, 0.5, 0.9, 0.3, 0.7], 100) + RNG.normal(size=500) / 100,
        np.repeat(np.arange(5), 100),
        "population",
    )
    found = re.search("expect (.+) with twice the sources, (.+) with twice", what_shrinks(answer))
    sources, rows = (float(number) for number in found.groups())
    assert sources == pytest.approx(answer.expected_half_width(sources=2), abs=0.005)
    assert rows == pytest.approx(answer.expected_half_width(rows=2), abs=0.005)
    assert sources < 0.8 * rows


def test_variance_by_name():
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_
    assert result.variance() == lb.cv_variance(result.losses(), GROUPS, "theta_b")
    expected = lb.cv_variance(result.losses(), GROUPS, "theta_omega", source="c")
    assert result.variance("theta_omega", source="c") == expected


@pytest.mark.parametrize("groups", [GROUPS, np.unique(GROUPS, return_inverse=True)[1]])
def test_saved_and_loaded(tmp_path, groups):
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=groups).result_
    result.save(tmp_path / "result.npz")
    loaded = MultiSourceResult.load(tmp_path / "result.npz")
    assert repr(loaded) == repr(result)
    assert loaded.source_names.tolist() == result.source_names.tolist()
    assert loaded.interval() == result.interval()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (lambda r: {"source": r.source[:3]}, "'source' must have the shape"),
        (lambda r: {"source": r.source + 9}, "'source' must hold positions from 0 to"),
        (lambda r: {"y": r.y - 1}, "'y' must hold positions from 0"),
        (lambda r: {"predicted": r.predicted[:3]}, "'predicted' must have the shape"),
        (lambda r: {"predicted": r.predicted - 2}, "'predicted' must hold positions from -1"),
        (lambda r: {"probabilities": r.probabilities[:, :1]}, "'probabilities' must have the"),
        (lambda r: {"sample_weight": np.ones(3)}, "'sample_weight' must have"),
        (lambda r: {"sample_weight": -np.ones(len(r.y))}, "'sample_weight' must hold finite"),
        (lambda r: {"classes": r.classes[[0] * len(r.classes)]}, "'classes' must hold different"),
        (lambda r: {"fold": r.fold[:3]}, "'fold' must have the shape"),
        (lambda r: {"fold": r.fold + 1}, "'fold' must hold positions from 0"),
        (lambda r: {"seconds": r.seconds * np.nan}, "'seconds' must hold finite"),
        (lambda r: {"probabilities": r.probabilities > 0.5}, "'probabilities' must hold finite"),
        (lambda r: {"source_names": r.source_names[[0] * len(r.source_names)]}, "'source_names'"),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused_by_name(tmp_path, changes, message):
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_
    replace(result, **changes(result)).save(tmp_path / "result.npz")
    with pytest.raises(ValueError, match=f"must hold a consistent MultiSourceResult; {message}"):
        MultiSourceResult.load(tmp_path / "result.npz")


def test_a_comparison_whose_arrays_do_not_fit_together_is_refused_by_name(tmp_path):
    found = lb.compare_estimators(GaussianNB(), DummyClassifier(), X, Y, groups=GROUPS)
    for changes, name in [
        ({"names": found.names[[0, 0]]}, "names"),
        ({"seconds": found.seconds.T}, "seconds"),
        ({"predicted": found.predicted[:1]}, "predicted"),
    ]:
        replace(found, **changes).save(tmp_path / "comparison.npz")
        with pytest.raises(ValueError, match=f"a consistent Comparison; '{name}' must"):
            type(found).load(tmp_path / "comparison.npz")


def test_results_are_frozen():
    result = MultiSourceCV(GaussianNB()).fit(X, Y, groups=GROUPS).result_
    with pytest.raises(AttributeError):
        result.scheme = "random"


# Comparisons


def test_compare_two_estimators():
    comparison = lb.compare_estimators(GaussianNB(), DummyClassifier(), X, Y, groups=GROUPS)
    assert comparison.names.tolist() == ["GaussianNB", "DummyClassifier"]
    for name, estimator in (("GaussianNB", GaussianNB()), ("DummyClassifier", DummyClassifier())):
        assert np.array_equal(comparison.result(name).losses(), losses_of(estimator))
    (test,) = comparison.pairs()
    losses = [comparison.result(str(name)).losses() for name in comparison.names]
    expected = lb.paired_test(*losses, GROUPS)
    assert (test.difference, test.p_value) == (expected.difference, expected.p_value)
    assert "GaussianNB − DummyClassifier" in repr(comparison)


def test_compare_many_estimators_with_holm_and_ranks():
    many = {"nb": GaussianNB(), "lr": LogisticRegression(), "no": DummyClassifier()}
    comparison = lb.compare_estimators(many, None, X, Y, groups=GROUPS, scoring="log")
    tests = comparison.pairs("nadeau_bengio", 0.9)
    assert [(t.first, t.second) for t in tests] == [("nb", "lr"), ("nb", "no"), ("lr", "no")]
    p_values = [t.p_value for t in tests]
    assert [t.p_holm for t in tests] == pytest.approx(lb.inference.holm(p_values))
    assert comparison.friedman().mean_ranks.shape == (3,)
    assert comparison.source_losses().shape == (3, 5)
    two = {"nb": GaussianNB()}, {"lr": LogisticRegression()}
    with_b = lb.compare_estimators(*two, X, Y, groups=GROUPS)
    assert with_b.names.tolist() == ["nb", "lr"]


def test_compare_with_metrics_that_are_no_means():
    many = {"nb": GaussianNB(), "no": DummyClassifier()}
    comparison = lb.compare_estimators(many, None, X, Y, groups=GROUPS, scoring=["roc_auc", "f1"])
    (test,) = comparison.pairs()
    auc = comparison.result("nb").source_scores()
    assert test.difference == pytest.approx(np.mean((1 - auc) - 0.5))
    expected = ttest_1samp((1 - auc) - 0.5, 0.0)
    assert test.p_value == pytest.approx(expected.pvalue)
    assert "1 − ROC AUC of nb − no" in repr(comparison)
    assert comparison.test("nb", "no", metric="accuracy").difference != test.difference
    exact = comparison.differences("nb", "no", "accuracy")

    def share(y_true, y_pred, sample_weight=None):
        return float(np.average(y_true == y_pred, weights=sample_weight))

    replicated = comparison.differences("nb", "no", share)
    np.testing.assert_allclose(replicated.mean, exact.mean)
    np.testing.assert_allclose(replicated.mean_variance, exact.mean_variance, rtol=0.3)
    assert comparison.test("nb", "no", "theta_b", metric=share).standard_error > 0


def test_twins_get_two_names():
    comparison = lb.compare_estimators(GaussianNB(), GaussianNB(), X, Y, groups=GROUPS)
    assert comparison.names.tolist() == ["GaussianNB", "GaussianNB_2"]
    assert comparison.pairs()[0].p_value == 1.0


def test_comparison_bit_identical_for_any_number_of_jobs_and_saved(tmp_path):
    forests = {f"forest{n}": RandomForestClassifier(n_estimators=n) for n in (3, 4)}
    one, two = (
        lb.compare_estimators(
            forests, None, X, Y, groups=GROUPS, scoring="log", n_jobs=n, random_state=0
        )
        for n in (1, 2)
    )
    assert one.probabilities.tobytes() == two.probabilities.tobytes()
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
        ({"nb": GaussianNB()}, {"nb": GaussianNB()}, "must not repeat names of `a`; got 'nb'"),
        (DummyRegressor(), DummyClassifier(), "must all be classifiers or all be regressors"),
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
    np.testing.assert_array_equal(found.losses()[there], wrong)
    plain = make_pipeline(StandardScaler(), GaussianNB())
    with pytest.raises(ValueError, match="must accept X_unlabeled.*got Pipeline"):
        MultiSourceCV(plain, unlabeled_target=True).fit(X, Y, groups=GROUPS)


def test_labels_of_python_objects_are_those_of_numpy():
    first, second = (
        MultiSourceCV(GaussianNB()).fit(X, (Y[0] == Y).astype(kind), groups=GROUPS).result_
        for kind in (bool, object)
    )
    np.testing.assert_array_equal(first.losses(), second.losses())


def test_words_for_a_source_of_one_row_and_for_losses_without_spread():
    groups = np.where(np.arange(len(Y)) == 0, "alone", GROUPS)
    words = repr(MultiSourceCV(GaussianNB()).fit(X, Y, groups=groups).result_)
    assert "half-width" in words
    assert "nan" not in words
    right = MultiSourceCV(GaussianNB()).fit(Y[:, None] == Y[0], Y[0] == Y, groups=GROUPS).result_
    assert right.estimate() == 1
    assert "the uncertainty cannot be estimated" in repr(right)
