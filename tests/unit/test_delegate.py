"""Weighted fits of histogram gradient boosting, which round columns to quantiles."""

import importlib

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from landbridge._delegate import _round_to_quantiles, fit_weighted


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) ** 3
    return X, X[:, 0] + X[:, 1] * X[:, 2], rng.uniform(0.1, 4, size=400)


def test_rounded_rows_are_on_the_same_side_of_every_threshold(rows):
    X, y, weight = rows
    model = fit_weighted(HistGradientBoostingRegressor(max_bins=30, max_iter=20), X, y, weight)
    rounded = _round_to_quantiles(X, weight, 30)
    assert np.unique(rounded[:, 0]).size == 30
    np.testing.assert_array_equal(model.predict(X), model.predict(rounded))


def test_columns_with_few_values_give_the_model_of_scikit_learn(rows):
    X, y, weight = rows
    X = X.round(1)[:, :2].clip(-2, 2)
    expected = HistGradientBoostingRegressor().fit(X, y, sample_weight=weight)
    found = fit_weighted(HistGradientBoostingRegressor(), X, y, weight)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


@pytest.mark.parametrize("first", [[("scaler", StandardScaler())], []])
def test_the_last_step_of_a_pipeline_gets_rounded_rows(rows, first):
    X, y, weight = rows
    learner = HistGradientBoostingRegressor(max_bins=30, max_iter=20)
    scaled = StandardScaler().fit_transform(X) if first else X
    expected = fit_weighted(learner, scaled, y, weight).predict(scaled)
    # scikit-learn's own weighted bins give other trees.
    assert np.any(learner.fit(scaled, y, sample_weight=weight).predict(scaled) != expected)
    inner = Pipeline([("learner", learner)])
    model = fit_weighted(Pipeline([*first, ("inner", inner)]), X, y, weight)
    np.testing.assert_array_equal(model.predict(X), expected)


def test_quantiles_follow_the_weights():
    X = np.arange(100.0)[:, None]
    weight = np.where(X[:, 0] < 50, 9.0, 1.0)
    values = np.unique(_round_to_quantiles(X, weight, 10))
    # Nine tenths of the mass lie below 50: ranks 0.05, 0.15, ... of the total of 500.
    np.testing.assert_array_equal(values, [2, 8, 13, 19, 24, 30, 36, 41, 47, 74])


def test_missing_and_infinite_values_stay(rows):
    X, y, weight = rows
    X[:5, 0], X[7, 1] = np.nan, np.inf
    rounded = _round_to_quantiles(X, weight, 20)
    np.testing.assert_array_equal(np.isnan(rounded), np.isnan(X))
    np.testing.assert_array_equal(rounded[:, 1], X[:, 1])
    model = fit_weighted(HistGradientBoostingClassifier(max_bins=20), X, y > 0, weight)
    np.testing.assert_array_equal(model.predict(rounded), model.predict(X))


def test_arguments_are_not_changed(rows):
    X, y, weight = rows
    before = X.copy()
    fit_weighted(HistGradientBoostingRegressor(max_bins=10, max_iter=2), X, y, weight)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_numbers_in_tables_are_rounded_like_those_in_matrices(library, rows):
    X, y, weight = rows
    X[3, 0] = np.nan
    kind = np.where(X[:, 2] > 1, "big", "small")
    columns = {**{f"x{n}": X[:, n] for n in range(3)}, "kind": kind}
    table = pytest.importorskip(library).DataFrame(columns)
    if library == "pandas":
        table = table.astype({"kind": "category"}).set_index(np.zeros(len(y), dtype=int))
    else:
        table = table.cast({"kind": importlib.import_module("polars").Categorical})
    rounded = _round_to_quantiles(table, weight, 30)
    np.testing.assert_array_equal(
        np.column_stack([rounded[f"x{n}"] for n in range(3)]), _round_to_quantiles(X, weight, 30)
    )
    assert rounded["kind"].dtype == table["kind"].dtype
    learner = HistGradientBoostingRegressor(max_bins=30, max_iter=20)
    model = fit_weighted(learner, table, y, weight)
    np.testing.assert_array_equal(model.predict(table), model.predict(rounded))
    assert list(model.feature_names_in_) == list(table.columns)
    assert np.any(model.predict(table) != learner.fit(table, y, weight).predict(table))
