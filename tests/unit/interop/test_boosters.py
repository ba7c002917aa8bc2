"""Boosters of other libraries: classes of any type, saved as text that is checked."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

import landbridge as lb
from landbridge.interop.boosters import BoosterRegressor, check_text, find_booster, make_booster
from landbridge.persistence import load_model, save_model

LIBRARIES = {"LGBM": "lightgbm", "XGB": "xgboost", "CatBoost": "catboost"}
each = pytest.mark.parametrize("prefix", LIBRARIES)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    return X, X[:, 0] + 0.2 * rng.normal(size=120)


def make(prefix, kind, **params):
    pytest.importorskip(LIBRARIES[prefix])
    return make_booster(prefix + kind, {"n_estimators": 5} | params)


@each
@pytest.mark.parametrize("cuts", [[0.0], [-0.5, 0.5]], ids=["two classes", "three classes"])
def test_classes_of_any_name_get_the_probabilities_of_the_library(rows, prefix, cuts):
    X, signal = rows
    codes = np.searchsorted(cuts, signal)
    model = make(prefix, "Classifier")
    found = model.fit(X, np.array(["a", "b", "c"])[codes]).predict_proba(X)
    plain = clone(model.estimator).fit(X, codes).predict_proba(X)
    np.testing.assert_allclose(found, plain, atol=1e-6)
    assert (model.predict(X) == model.classes_[plain.argmax(axis=1)]).all()


@each
@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_they_are_saved_inside_other_models_and_answer_the_same(tmp_path, rows, prefix, kind):
    X, signal = rows
    y = signal if kind == "Regressor" else np.where(signal > 0, "yes", "no")
    model = lb.Pooled(make(prefix, kind)).fit(X, y, X_target=X[:20], y_target=y[:20])
    save_model(model, tmp_path / "m.skops")
    again = load_model(tmp_path / "m.skops").model
    answer = "predict" if kind == "Regressor" else "predict_proba"
    np.testing.assert_array_equal(getattr(again, answer)(X), getattr(model, answer)(X))
    assert again.estimator.estimator.get_params()["n_estimators"] == 5


def edit(text, library):
    """Texts with one index that leads outside."""
    if library == "lightgbm":
        for name in ("left_child", "right_child", "split_feature"):
            line = next(line for line in text.splitlines() if line.startswith(name))
            yield text.replace(line, name + "=" + " ".join(["1000000"] * len(line.split())), 1)
        for old, new in [
            ("max_feature_idx=3", "max_feature_idx=30"),
            ("num_class=1", "num_class=99"),
            ("tree_sizes=", "tree_sizes=1"),
            ("decision_type=2", "decision_type=1"),
            ("leaf_value=", "leaf_value=7 "),
            ("leaf_count=", "leaf_count=nan "),
            ("is_linear=0", "is_linear=1"),
            ("\nnum_cat", "\nnum_leaves=2\nnum_cat"),
            ("end of trees\n", ""),
        ]:
            assert old in text
            yield text.replace(old, new, 1)
        return
    for change in range(5):
        model = json.loads(text)
        if library == "xgboost":
            trees = model["learner"]["gradient_booster"]["model"]
            tree = trees["trees"][0]
            if change < 3:
                tree[("left_children", "split_indices", "parents")[change]][change > 1] = 10**9
            elif change == 3:
                tree["tree_param"]["size_leaf_vector"] = "3"
            else:
                trees["tree_info"][0] = -5
        else:
            tree = model["oblivious_trees"][0]
            if change < 2:
                split = ("float_feature_index", "split_index")[change]
                tree["splits"][0][split] = 10**9
            elif change < 4:
                place = ("flat_feature_index", "feature_index")[change - 2]
                model["features_info"]["float_features"][1][place] = 0
            else:
                tree["leaf_values"] = tree["leaf_values"][:-1]
        yield json.dumps(model)
    yield "{"
    yield "{}"


@each
def test_text_that_was_edited_is_refused(rows, prefix):
    X, signal = rows
    model = make(prefix, "Classifier").fit(X, signal > 0)
    library = LIBRARIES[prefix]
    check_text(library, model.model_text_, 4)
    for wrong in edit(model.model_text_, library):
        with pytest.raises(ValueError, match="`model_text_` must be trees written"):
            check_text(library, wrong, 4)
        with pytest.raises(ValueError, match="`model_text_` must be trees written"):
            model.__setstate__(model.__getstate__() | {"model_text_": wrong})
    with pytest.raises(ValueError, match="columns"):
        check_text(library, model.model_text_, 2)


def test_boosters_that_cannot_be_saved_are_refused_when_they_are_fitted(rows):
    for prefix, options in [("XGB", {"booster": "dart"}), ("LGBM", {"linear_tree": True})]:
        with pytest.raises(ValueError, match="with numbers in their leaves"):
            make(prefix, "Regressor", **options).fit(*rows)


def test_one_class_is_refused(rows):
    X, _ = rows
    with pytest.raises(ValueError, match="at least 2 classes; got 1 class, 'a'"):
        make("LGBM", "Classifier").fit(X, ["a"] * len(X))


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (5, "`estimator` must be an estimator with a fit method; got 5"),
        (Ridge, "`estimator` must be an estimator instance; got the class Ridge"),
        (Ridge(), "`estimator` must be a booster of LightGBM.*got Ridge"),
    ],
)
def test_other_estimators_are_refused(estimator, message):
    with pytest.raises(TypeError, match=message):
        BoosterRegressor(estimator).fit([[1.0], [2.0]], [1.0, 2.0])


def test_a_library_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    with pytest.raises(ImportError, match="LGBMClassifier needs.*: pip install lightgbm"):
        find_booster("LGBMClassifier")
    assert find_booster("SVC") is None
