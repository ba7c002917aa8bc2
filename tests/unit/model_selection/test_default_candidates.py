"""The candidates of a search that was given none."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import landbridge as lb
from landbridge.model_selection.candidates import (
    FOREST_ROWS,
    MOST_COLUMNS,
    complexity_of,
    default_candidates,
)

TASKS = ("classification", "regression")
RNG = np.random.default_rng(0)
ROWS = {
    "dense": RNG.normal(size=(60, 5)),
    "sparse": sparse.csr_array(sparse.random(60, 300, 0.1, random_state=0)),
    "sparse with few columns": sparse.csr_array(RNG.normal(size=(60, 3))),
    "wide": RNG.normal(size=(60, MOST_COLUMNS + 1)),
}


@pytest.mark.parametrize("task", TASKS)
def test_with_labels_the_same_learners_stand_on_both_sides(task):
    names = default_candidates(task, labelled=True, X=ROWS["dense"])
    learners = {name: name.split(" ", 1) for name in names}
    roles = {role for role, _ in learners.values()}
    assert roles == {"source-only", "target-only", "pooled"}
    for role in roles:
        assert {kind for one, kind in learners.values() if one == role} == {"linear", "trees"}


@pytest.mark.parametrize("task", TASKS)
def test_without_labels_five_learners_can_agree(task):
    candidates = default_candidates(task, labelled=False, X=ROWS["dense"])
    assert len(candidates) == 5
    roles = {type(model) for model in candidates.values()}
    assert roles <= {lb.SourceOnly, lb.ReweightedClassifier}


@pytest.mark.usefixtures("small_default_forests")
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize("task", TASKS)
def test_every_candidate_takes_the_rows(task, labelled, kind):
    X = ROWS[kind]
    y = np.arange(60) % 3 if task == "classification" else RNG.normal(size=60)
    given = {"X_target": X[:12], "y_target": y[:12]} if labelled else {}
    for model in default_candidates(task, labelled=labelled, X=X).values():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", lb.WeightingWarning)
            model.fit(X, y, X_unlabeled=X[12:], **given)
        assert model.predict(X[:7]).shape == (7,)


@pytest.mark.parametrize("task", TASKS)
def test_trees_draw_a_bounded_number_of_rows(task):
    few = default_candidates(task, labelled=False, X=np.zeros((FOREST_ROWS, 2)))
    many = default_candidates(task, labelled=False, X=np.zeros((FOREST_ROWS + 1, 2)))
    for name in ("source-only trees", "source-only forest"):
        if name in few:
            assert few[name].estimator.max_samples is None
            assert many[name].estimator.max_samples == FOREST_ROWS
            assert many[name].estimator.bootstrap


def test_complexity_orders_learners_then_roles():
    trees = HistGradientBoostingClassifier()
    ascending = [
        lb.SourceOnly(DummyClassifier()),
        lb.SourceOnly(LogisticRegression()),
        lb.Pooled(make_pipeline(StandardScaler(), LogisticRegression())),
        lb.ReweightedRegressor(Ridge()),
        lb.TargetOnly(KNeighborsClassifier()),
        make_pipeline(StandardScaler(), KNeighborsClassifier()),
        lb.TargetOnly(trees),
        lb.Pooled(trees),
        lb.TrAdaBoostClassifier(),
    ]
    values = [complexity_of(model) for model in ascending]
    assert values == sorted(set(values))
    assert complexity_of(lb.SourceOnly(Ridge())) == complexity_of(lb.TargetOnly(Ridge()))
