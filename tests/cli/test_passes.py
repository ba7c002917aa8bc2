"""Models that learn from all rows of a table in passes."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler

from landbridge.baselines import Pooled, SourceOnly, TargetOnly
from landbridge.cli import _more_rows, _tables
from landbridge.cli._more_rows import (
    MOST_STEPS,
    Member,
    Newton,
    Piece,
    learn_in_passes,
    members_that_learn,
    stage_of,
)
from landbridge.cli._problem import Problem
from landbridge.cli._tables import find_large
from landbridge.model_selection import TransferSearchCV

from .conftest import make_frame

# The default solver ends a little before the optimum.
EXACT = {"tol": 1e-10, "max_iter": 10_000, "solver": "newton-cg"}


def make_rows(n_classes, n=600, seed=0):
    """Rows far from zero, of unequal scale, with weights; numbers if there are no classes."""
    rng = np.random.default_rng(seed)
    X = 3 + rng.normal(size=(n, 4)) @ np.diag([1, 5, 0.2, 2])
    score = X @ [0.5, 0.1, 2.0, -0.5] + rng.logistic(size=n)
    y = score if n_classes is None else np.digitize(score, [1.5, 2.5][: n_classes - 1])
    return X, y, rng.uniform(0.2, 3, size=n)


def learn(model, X, y, weight, n_pieces=7):
    """The model, fitted on every fifth row, after its passes; and their number."""
    fitted = clone(model).fit(X[::5], y[::5])
    *before, last = fitted if isinstance(fitted, Pipeline) else [fitted]
    stage, n_passes, again = stage_of(last), 0, True
    while again:
        for rows in np.array_split(np.arange(len(y)), n_pieces):
            stage.add(transformed(before, X[rows]), y[rows], weight[rows])
        again, n_passes = stage.end_pass(), n_passes + 1
    return fitted, n_passes


def transformed(transformers, X):
    for transformer in transformers:
        X = transformer.transform(X)
    return X


@pytest.mark.parametrize(
    ("model", "n_classes", "most_passes"),
    [
        (LinearRegression(), None, 1),
        (LinearRegression(fit_intercept=False), None, 1),
        (Ridge(alpha=20.0), None, 1),
        (Ridge(alpha=20.0, fit_intercept=False), None, 1),
        (make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 13))), None, 1),
        (RidgeCV([0.1, 1.0, 1000.0], fit_intercept=False), None, 1),
        (LogisticRegression(**EXACT), 2, 8),
        (LogisticRegression(C=0.05, fit_intercept=False, **EXACT), 3, 8),
        (make_pipeline(MinMaxScaler(), LogisticRegression(C=4.0, **EXACT)), 3, 8),
        (make_pipeline(PolynomialFeatures(2), MinMaxScaler(), LogisticRegression(**EXACT)), 2, 8),
        (make_pipeline(StandardScaler(), GaussianNB()), 3, 1),
        (BernoulliNB(binarize=3.0), 2, 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_passes_reach_the_fit_on_all_rows(model, n_classes, most_passes, weighted):
    X, y, weight = make_rows(n_classes)
    weight = weight if weighted else np.ones(len(y))
    found, n_passes = learn(model, X, y, weight)
    assert n_passes <= most_passes
    # Scalers and the penalty of `RidgeCV` are those of the sample.
    *before, last = found if isinstance(found, Pipeline) else [found]
    encoded, whole = transformed(before, X), clone(last)
    if isinstance(last, RidgeCV):
        whole = Ridge(last.alpha_, fit_intercept=last.fit_intercept)
    whole.fit(encoded, y, sample_weight=weight)
    answer = "predict" if n_classes is None else "predict_proba"
    np.testing.assert_allclose(
        getattr(found, answer)(X), getattr(whole, answer)(encoded), rtol=1e-6, atol=1e-6
    )
    if isinstance(last, LogisticRegression):
        np.testing.assert_allclose(last.coef_, whole.coef_, atol=1e-6)


def test_a_member_without_rows_keeps_its_model():
    X, y, _ = make_rows(2)
    model = LogisticRegression().fit(X, y)
    before = model.coef_.copy()
    member = Member("a", [], stage_of(model), ["east"], [])
    member.add(Piece(len(y), X, y, np.full(len(y), "west")), {"west": len(y)})
    assert not member.end_pass()
    np.testing.assert_array_equal(model.coef_, before)


def test_repeated_columns_have_the_shortest_coefficients():
    X, y, weight = make_rows(None)
    X = X[:, [0, 0, 1]]
    found, _ = learn(LinearRegression(), X, y, weight)
    np.testing.assert_allclose(found.coef_, LinearRegression().fit(X, y, weight).coef_)


@pytest.mark.parametrize(
    "model",
    [
        SGDClassifier(loss="log_loss"),
        MLPClassifier((8,), tol=0.02, n_iter_no_change=2),
        SGDRegressor(),
    ],
    ids=str,
)
def test_iterations_go_on_from_the_sample(model):
    """The rows of the sample say nothing about the second column, all rows do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    X[::5, 1] = 0
    score = X @ [1.0, 1.0]
    y = score if isinstance(model, SGDRegressor) else (score > 0).astype(int)
    model.set_params(random_state=0)
    fitted = clone(model).fit(X[::5], y[::5])
    found, n_passes = learn(model, X, y, np.ones(4000))
    assert n_passes == 1
    assert found.score(X, y) > fitted.score(X, y) + 0.05


def test_a_step_that_goes_too_far_is_halved():
    """Newton from a bad start on nearly separable rows; its steps are bounded."""
    X, y, _ = make_rows(2)
    model = LogisticRegression(C=1e3, **EXACT).fit(X, y)
    best = model.coef_.copy()
    model.coef_ = model.coef_ - np.sign(model.coef_)
    newton = Newton(model)
    losses = []
    again = True
    while again:
        newton.add(X, y, np.ones(len(y)))
        losses.append(newton.loss)
        again = newton.end_pass()
    assert newton.n_steps <= MOST_STEPS
    assert max(losses[1:]) > losses[0]  # some step was too long
    np.testing.assert_allclose(model.coef_, best, atol=1e-5)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(3),
        LogisticRegression(class_weight="balanced"),
        LogisticRegression(solver="liblinear"),
        SGDClassifier(early_stopping=True),
        LinearDiscriminantAnalysis(),
    ],
    ids=str,
)
def test_others_need_their_rows_at_once(model):
    X, y, _ = make_rows(2)
    assert stage_of(model.fit(X, y)) is None


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table that is read in pieces of 70 rows, sorted by domain."""
    frame = pl.concat([make_frame(60, seed=seed) for seed in range(8)]).sort("region")
    frame = frame.select(pl.col("size").fill_null(0.0), "noise", "region", "good")
    frame.write_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr(_tables, "LARGE", 0)
    monkeypatch.setattr(_tables, "CELLS", 1)
    monkeypatch.setattr(_tables, "LEAST_ROWS", 70)
    return frame, find_large([str(tmp_path / "t.parquet")], "region")


def make_problem(rows, task="classification"):
    names = rows["region"].to_numpy().astype(str)
    labels = rows["good"] if task == "classification" else rows["noise"].alias("noise")
    features = rows.select("size", "noise" if task == "classification" else "good")
    return Problem(features, names, labels, "west", task, "region")


@pytest.mark.parametrize("refit", ["vote", "best"])
@pytest.mark.parametrize("source", ["each", "pooled"])
def test_members_learn_from_the_rows_of_their_role(table, refit, source):
    frame, large = table
    linear = LogisticRegression(**EXACT)
    search = TransferSearchCV(
        {
            "plain": GaussianNB(),
            "source": SourceOnly(BernoulliNB()),
            "pooled": Pooled(linear),
            "target": TargetOnly(linear),
            "shared": Pooled(GaussianNB(), target_share=0.9),
        },
        preprocessor=StandardScaler(),
        refit=refit,
        sources=source,
        cv=2,
        random_state=0,
    )
    sample, whole = make_problem(frame[::7]), make_problem(frame)
    search.fit(**sample.transfer_arguments())
    alike = clone(search).fit(**sample.transfer_arguments())
    alike.refit_on(**whole.transfer_arguments())
    members, others = members_that_learn(search, sample)
    assert not others
    learnt = learn_in_passes(members, search, sample, large)
    assert sorted(learnt.names) == sorted(member.name for member in members)
    X = whole.features
    np.testing.assert_allclose(search.predict_proba(X), alike.predict_proba(X), atol=1e-6)


def test_an_estimator_without_weights_sees_rows_several_times(table):
    """One epoch over repeated rows in random order: both domains count the same."""
    frame, large = table
    seen = []

    class Recorder(RegressorMixin, BaseEstimator):
        def __init__(self, max_iter=1):
            self.max_iter = max_iter

        def fit(self, X, y):
            return self

        def partial_fit(self, X, y):
            seen.append(np.array(X))

        def predict(self, X):
            return np.zeros(len(X))

    numbers = frame.with_columns(
        good=pl.col("noise"), noise=pl.lit(0.0) + (pl.col("region") == "west")
    )
    numbers = numbers.with_columns(
        good=pl.when((pl.int_range(pl.len()) % 4 > 0) & (pl.col("region") == "west"))
        .then(None)
        .otherwise("good")
    )
    path = f"{large.place}.parquet"
    numbers.write_parquet(path)
    problem = Problem(
        numbers.select("noise"), numbers["region"].to_numpy().astype(str), numbers["good"], "west",
        "regression", "region",
    )  # fmt: skip
    search = TransferSearchCV(
        {"pooled": Pooled(Recorder())}, preprocessor=PolynomialFeatures(1, include_bias=False),
        refit="best", sources="pooled", cv=2, random_state=0,
    ).fit(**problem.transfer_arguments())  # fmt: skip
    members, _ = members_that_learn(search, problem)
    seen.clear()
    large = find_large([path], "region")
    learnt = learn_in_passes(members, search, problem, large)
    assert learnt.n_passes == 1
    rows = np.concatenate(seen)[:, 0]
    assert rows.mean() == pytest.approx(0.5, abs=0.02)
    # Blocks of several places are in each piece.
    assert 0 < seen[0].mean() < 1


def test_passes_stop_in_time(table, monkeypatch):
    frame, large = table
    sample = make_problem(frame[::7])
    search = TransferSearchCV(
        {"linear": SourceOnly(LogisticRegression()), "t": SourceOnly(RandomForestClassifier(3))},
        preprocessor=StandardScaler(), refit="vote", sources="pooled", cv=2, random_state=0,
    ).fit(**sample.transfer_arguments())  # fmt: skip
    members, others = members_that_learn(search, sample)
    assert (len(members), len(others)) == (1, 1)
    before = members[0].stage.model.coef_
    learnt = learn_in_passes(members, search, sample, large, deadline=-1.0)
    assert (learnt.names, learnt.n_passes) == ([], 0)
    assert "longer than --budget" in learnt.sentence()
    monkeypatch.setattr(_more_rows, "LEAST_SECONDS", 0.0)
    clock = iter(range(10**6))
    monkeypatch.setattr(_more_rows, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    n_pieces = -(-frame.height // 70)
    learnt = learn_in_passes(members, search, sample, large, deadline=2.9 * n_pieces)
    assert learnt.n_passes == 2
    assert learnt.stopped == learnt.names == [members[0].name]
    assert "--budget ended before the last step of" in learnt.sentence()
    assert (members[0].stage.model.coef_ != before).all()


@pytest.mark.parametrize("trees", [False, True])
def test_select_says_which_models_learnt_from_all_rows(landbridge, tmp_path, monkeypatch, trees):
    pl.concat([make_frame(60, seed=seed) for seed in range(8)]).write_parquet(
        tmp_path / "t.parquet"
    )
    monkeypatch.setattr(_tables, "LARGE", 0)
    forest = (
        "trees: {estimator: RandomForestClassifier, params: {n_estimators: 3}}\n" if trees else ""
    )
    (tmp_path / "few.yaml").write_text("linear: LogisticRegression\n" + forest)
    question = ("-y", "good", "-d", "region", "-t", "west", "--max-rows", 50, "--drop", "remark")
    asked = ("--candidates", "few.yaml", "--folds", 2, "--save", "m.skops", "--memory", "1k")
    words = " ".join(landbridge("select", "t.parquet", *question, *asked).stderr.split())
    assert "Learned from all labelled rows, in" in words
    assert ("fitted on 150 of 1440 rows: more would need more than --memory" in words) == trees
    assert "Learned from all labelled rows" in landbridge.json("info", "m.skops")["verdict"][-1]
