"""A search with a cache, a time budget or a time limit per fit."""

import time
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import landbridge as lb
from landbridge._tasks import TaskCache, TaskProgress
from landbridge.exceptions import CacheWarning
from landbridge.model_selection import _run
from landbridge.model_selection.search_records import KEPT

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = (X[:, 0] + 0.5 * RNG.normal(size=120) > 0).astype(int)
GROUPS = np.repeat(["a", "b"], 60)
TARGET = {"X_target": X[:30] + 0.2, "y_target": Y[:30], "X_unlabeled": X[30:70] + 0.2}
CANDIDATES = {"bayes": lb.SourceOnly(GaussianNB()), "pooled": lb.Pooled(LogisticRegression())}


@pytest.fixture
def run(monkeypatch):
    """Fits a search and counts the tasks that ran."""
    counted = []  # candidates by number; None for weights
    run_task = _run.run_task

    def counting(context, task):
        counted.append(getattr(task, "candidate", None))
        return run_task(context, task)

    monkeypatch.setattr(_run, "run_task", counting)

    def fit(candidates=CANDIDATES, *, rows=None, **options):
        counted.clear()
        search = lb.TransferSearchCV(
            candidates, **{"cv": 3, "refit": False, "random_state": 0, **options}
        )
        search.fit(**{"X": X, "y": Y, "groups": GROUPS, **TARGET, **(rows or {})})
        return search.results_, len(counted)

    fit.counted = counted
    return fit


def kept(result):
    return [
        None if part is None else part.values.tobytes()
        for name in KEPT
        for part in getattr(result, name)
    ]


def test_a_finished_search_fits_nothing_again(run, tmp_path):
    options = {"cache": tmp_path / "fits", "criterion": ["anchored", "trcv"]}
    whole, _ = run(criterion=["anchored", "trcv"])
    first, n_first = run(**options)
    second, n_second = run(**options)
    assert n_first > 10
    assert n_second == 0, "weights are stored, too"
    assert kept(first) == kept(second) == kept(whole)


def test_an_interrupted_search_goes_on(run, tmp_path, monkeypatch):
    whole, n_whole = run()
    stop_after, run_task = 7, _run.run_task

    def interrupted(context, task):
        nonlocal stop_after
        stop_after -= 1
        if stop_after < 0:
            raise KeyboardInterrupt
        return run_task(context, task)

    with monkeypatch.context() as patch:
        patch.setattr(_run, "run_task", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(cache=tmp_path / "fits")
    resumed, n_resumed = run(cache=tmp_path / "fits")
    assert n_resumed == n_whole - 7
    assert kept(resumed) == kept(whole)


def test_a_new_candidate_or_source_fits_only_what_is_new(run, tmp_path):
    cache = tmp_path / "fits"
    trees = {"trees": lb.SourceOnly(ExtraTreesClassifier(3))}  # with a seed from the search
    run({**CANDIDATES, **trees}, cache=cache, sources=["a"])
    more = {"linear": lb.SourceOnly(LogisticRegression()), **CANDIDATES, **trees}
    run(more, cache=cache, sources=["a"])
    assert set(run.counted) == {0}, "the new candidate comes first"
    _, n_source = run(more, cache=cache, sources=["a", "b"])
    _, n_both = run(more, sources=["a", "b"])
    assert 0 < n_source < n_both


@pytest.mark.parametrize(
    "change",
    [
        {"rows": {"X": X + 1e-9}},
        {"rows": {"y": 1 - Y}},
        {"rows": {"X_unlabeled": X[30:71] + 0.2}},
        {"rows": {"sample_weight": np.linspace(1, 2, 120)}},
        {"rows": {"sample_weight_target": np.linspace(1, 2, 30)}},
        {"random_state": 1},
        {"cv": 4},
        {"candidates": {"bayes": lb.SourceOnly(GaussianNB(var_smoothing=1e-3))}},
    ],
    ids=lambda change: next(iter(change.get("rows", change))),
)
def test_what_matters_is_fitted_again(run, tmp_path, change):
    cache = tmp_path / "fits"
    one = {"bayes": lb.SourceOnly(GaussianNB())}
    run(one, cache=cache, criterion="scv")
    n_fits = run.counted.count(0)
    run(**{"candidates": one, **change}, cache=cache, criterion="scv")
    assert run.counted.count(0) >= n_fits > 3


def test_a_candidate_without_a_stable_description_is_fitted_every_time(run, tmp_path):
    class Local(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

    candidates = {"local": Local(), **CANDIDATES}
    with pytest.warns(CacheWarning, match="Fits of 'local' are not cached: .*inside a function"):
        _, n_first = run(candidates, cache=tmp_path / "fits")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)
        _, n_second = run(candidates, cache=tmp_path / "fits")
    assert 0 < n_second < n_first


def test_a_damaged_file_is_fitted_again(run, tmp_path):
    first, _ = run(cache=tmp_path / "fits")
    victim = next(iter(TaskCache(tmp_path / "fits")._files()))
    victim.write_bytes(victim.read_bytes()[:100])
    second, n_again = run(cache=tmp_path / "fits")
    assert n_again == 1
    assert kept(first) == kept(second)


def test_a_generous_budget_changes_nothing(run):
    whole, n_whole = run()
    within, n_within = run(time_budget=1000.0)
    assert n_within == n_whole
    assert within.info.fits_cut == 0
    assert kept(within) == kept(whole)


def test_a_budget_that_is_over_before_anything_was_validated_is_an_error(run):
    with pytest.raises(ValueError, match="`time_budget` must be long.*0 of .* fits were done"):
        run(time_budget=1e-6)


def test_a_short_budget_ranks_what_was_validated(run, monkeypatch):
    class Clock:
        """A clock that jumps to the end after eight looks: the simple candidate is validated."""

        looks = 0

        def monotonic(self):
            Clock.looks += 1
            return time.monotonic() + (1e9 if Clock.looks > 8 else 0.0)

    monkeypatch.setattr("landbridge._tasks.run.time", Clock())
    with pytest.warns(lb.FailedFitWarning, match="time budget ended before .* cells were valid"):
        result, n_fits = run(criterion="scv", time_budget=1e6)
    assert result.info.fits_cut > 0
    assert result.info.fits_cut + n_fits == result.info.fits_planned
    assert result.status().count("complete") == 2
    cut = [failure for failure in result.failures if failure.stage == "budget"]
    assert len({failure.cell for failure in cut}) == len(cut) == result.status().count("failed")
    assert all(" fits were done" in failure.message for failure in cut)


def test_a_candidate_that_takes_too_long_lets_others_go_first(run, monkeypatch):
    work_left = TaskProgress.work_left

    def pretend(self, kinds=None):
        return 1e9 if kinds == ["bayes"] else work_left(self, kinds)

    monkeypatch.setattr(TaskProgress, "work_left", pretend)
    whole, _ = run(criterion="scv")
    result, _ = run(criterion="scv", time_budget=1e6)
    order = [number for number in run.counted if number is not None]
    bayes = [place for place, number in enumerate(order) if number == 0]
    pooled = [place for place, number in enumerate(order) if number == 1]
    assert bayes[0] < pooled[0], "the simpler one begins"
    assert max(pooled) < bayes[1], "and goes on when the other is validated"
    assert kept(result) == kept(whole)
