"""LightGBM, XGBoost and CatBoost as estimators that can be saved as text.

Pickled models of these libraries contain binary data that native code reads without checks. Here,
the model is stored in the text format of the library and checked before it is loaded. Classes may
be of any type.
"""

import json
import math
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.utils.validation import validate_data

from landbridge._docstrings import Documented
from landbridge._extras import import_optional
from landbridge._typing import MatrixLike, Vector, VectorLike
from landbridge._validation import check_estimator_given, check_rows

# Class names, with options that make a library silent and single-threaded.
QUIET: dict[str, tuple[str, dict[str, Any]]] = {
    "LGBM": ("lightgbm", {"verbosity": -1, "n_jobs": 1, "deterministic": True}),
    "XGB": ("xgboost", {"verbosity": 0, "n_jobs": 1}),
    "CatBoost": ("catboost", {"verbose": False, "allow_writing_files": False, "thread_count": 1}),
}

END_OF_TREES = "end of trees\n"
# Fields of LightGBM's trees that do not affect predictions but are read by their sizes.
LIGHTGBM_SPLITS = ("split_gain", "internal_value", "internal_weight", "internal_count")
LIGHTGBM_LEAVES = ("leaf_weight", "leaf_count")
# Arrays of XGBoost's trees with one entry per node.
XGBOOST_NODES = (
    "left_children", "right_children", "split_indices", "parents", "split_conditions",
    "base_weights", "default_left", "loss_changes", "sum_hessian", "split_type",
)  # fmt: skip


class _Booster(Documented, MetaEstimatorMixin, BaseEstimator):
    """Base class that fits ``estimator`` and stores its trees as text.

    Attributes
    ----------
    model_text_ : str
        The fitted trees in the library's own text format.
    """

    def __init__(self, estimator: Any):
        self.estimator = estimator

    def _fit(self, X: MatrixLike, y: Vector, sample_weight: VectorLike) -> None:
        check_estimator_given(self.estimator)
        if not is_booster_name(type(self.estimator).__name__):
            raise TypeError(
                "`estimator` must be a booster of LightGBM, XGBoost or CatBoost; got "
                f"{type(self.estimator).__name__}. Pass the booster without a wrapper, or use "
                f"other estimators directly."
            )
        model = clone(self.estimator).fit(X, y, sample_weight=sample_weight)
        self.library_ = type(model).__module__.partition(".")[0]
        self.model_text_ = _WRITE[self.library_](model)
        check_text(self.library_, self.model_text_, self.n_features_in_)

    def _raw(self, X: MatrixLike) -> np.ndarray:
        """Output of the trees: class probabilities, or numbers."""
        X = check_rows(self, X, "model_text_")
        if not hasattr(self, "_reader"):
            # Not saved: the model is rebuilt from the text, which `__setstate__` checks.
            self._reader = _READ[self.library_](self.model_text_)
        return np.asarray(self._reader(X), dtype=np.float64)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_reader", None)
        model = state.pop("estimator", None)
        if model is not None:
            params = {k: v for k, v in model.get_params().items() if v is not None and v == v}
            state["unfitted"] = [type(model).__name__, params]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        name, params = state.pop("unfitted", (None, {}))
        if name is not None:
            state["estimator"] = find_booster(name)(**params)
        if "model_text_" in state:
            check_text(state["library_"], state["model_text_"], state["n_features_in_"])
        super().__setstate__(state)


class BoosterClassifier(ClassifierMixin, _Booster):
    """Classifier of LightGBM, XGBoost or CatBoost, for classes of any type.

    Parameters
    ----------
    estimator : LGBMClassifier, XGBClassifier or CatBoostClassifier
        Booster to clone and fit.

    Attributes
    ----------
    classes_ : sorted classes.
    """

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> Self:
        """Fit a clone of ``estimator``, with classes numbered from 0."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.classes_.size < 2:
            raise ValueError(
                f"`y` must hold at least 2 classes; got 1 class, {self.classes_.tolist()[0]!r}. "
                "Add rows of another class."
            )
        self._fit(X, codes, sample_weight)
        return self

    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Class probabilities, in the order of ``classes_``."""
        raw = self._raw(X)
        return raw if raw.ndim == 2 else np.column_stack([1 - raw, raw])

    def predict(self, X: MatrixLike) -> Vector:
        """Predict the most probable class of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class BoosterRegressor(RegressorMixin, _Booster):
    """Regressor of LightGBM, XGBoost or CatBoost.

    Parameters
    ----------
    estimator : LGBMRegressor, XGBRegressor or CatBoostRegressor
        Booster to clone and fit.
    """

    def fit(self, X: MatrixLike, y: VectorLike, sample_weight: VectorLike = None) -> Self:
        """Fit a clone of ``estimator``."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        self._fit(X, y, sample_weight)
        return self

    def predict(self, X: MatrixLike) -> Vector:
        """Predict the response of each row."""
        return self._raw(X)


def find_booster(name: str) -> Any:
    """Class with a name such as ``LGBMClassifier``; None for other names."""
    if not is_booster_name(name):
        return None
    library = next(library for prefix, (library, _) in QUIET.items() if name.startswith(prefix))
    return getattr(import_optional(library, library, needed_by=name), name)


def is_booster_name(name: str) -> bool:
    """Whether a name is that of a booster class, installed or not."""
    return name in {f"{prefix}{kind}" for prefix in QUIET for kind in ("Classifier", "Regressor")}


def make_booster(name: str, params: dict[str, Any]) -> BoosterClassifier | BoosterRegressor:
    """Create the named booster; by default it is silent and single-threaded."""
    quiet = next(options for prefix, (_, options) in QUIET.items() if name.startswith(prefix))
    model = find_booster(name)(**quiet | params)
    return (BoosterClassifier if name.endswith("Classifier") else BoosterRegressor)(model)


def check_text(library: str, text: str, n_features: int) -> None:
    """Raise if tree indices in `text` are out of range or refer to columns not in X."""
    try:
        _CHECK[library](text, n_features)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ValueError(
            f"`model_text_` must be trees written by {library}, with numbers in their leaves and "
            f"without categories; got others ({type(error).__name__}: {error}). Train the model "
            "again, with another kind of booster if this one is linear."
        ) from error


def _require(holds: Any, what: str) -> None:
    if not np.all(holds):
        raise ValueError(what)


def _check_lightgbm(text: str, n_features: int) -> None:
    head, *trees = re.split(r"(?=Tree=)", text.removesuffix(END_OF_TREES))
    _require(text.endswith(END_OF_TREES), "no end of the trees")
    about = _fields(head)
    _require(int(about["max_feature_idx"]) == n_features - 1, "a wrong number of columns")
    for name in ("feature_names", "feature_infos"):
        _require(len(about[name].split()) == n_features, "a wrong number of columns")
    # LightGBM finds each tree by these sizes.
    _require([int(size) for size in about["tree_sizes"].split()] == list(map(len, trees)), "sizes")
    n_outputs = int(about["num_tree_per_iteration"])
    of_objective = re.findall(r"num_class:(\S+)", about["objective"]) or [n_outputs]
    _require(
        {n_outputs, int(about["num_class"]), *map(int, of_objective)} == {n_outputs}, "classes"
    )
    _require(n_outputs > 0 and len(trees) % n_outputs == 0, "a wrong number of trees")
    for tree in trees:
        values = _fields(tree)
        n_leaves = int(values["num_leaves"])
        _require(values["num_cat"] == values["is_linear"] == "0" and n_leaves > 0, "categories")
        inner = np.arange(n_leaves - 1)
        numbers = {
            name: _numbers(values.get(name, ""), inner.size)
            for name in ("split_feature", "left_child", "right_child", "decision_type")
        }
        for name in ("left_child", "right_child"):
            child = numbers[name].astype(int)
            later = (child > inner) & (child < inner.size)
            _require(later | ((child < 0) & (~child < n_leaves)), "children outside the tree")
        features, decisions = numbers["split_feature"], numbers["decision_type"]
        _require((features >= 0) & (features < n_features), "columns not in X")
        _require((decisions >= 0) & (decisions % 2 == 0), "categories")
        for name in (*LIGHTGBM_SPLITS, "threshold"):
            _numbers(values.get(name, ""), inner.size)
        _numbers(values["leaf_value"], n_leaves)
        for name in LIGHTGBM_LEAVES if inner.size else ():
            _numbers(values[name], n_leaves)
        _numbers(values["shrinkage"], 1)


def _fields(text: str) -> dict[str, str]:
    """Fields of a part of LightGBM's format, each of which must be given once."""
    pairs = [line.split("=", 1) for line in text.splitlines() if "=" in line]
    fields = dict(pairs)
    _require(len(fields) == len(pairs), "repeated fields")
    return fields


def _numbers(text: str, count: int) -> np.ndarray:
    """Finite numbers in a line."""
    values = np.array(text.split(), dtype=float)
    _require(values.size == count and np.isfinite(values).all(), "a wrong number of values")
    return values


def _check_xgboost(text: str, n_features: int) -> None:
    learner = json.loads(text)["learner"]
    about, model = learner["learner_model_param"], learner["gradient_booster"]["model"]
    _require(int(about["num_feature"]) == n_features, "other columns")
    n_outputs, trees = max(1, int(about["num_class"])), model["trees"]
    classes = learner["objective"].get("softmax_multiclass_param", about)["num_class"]
    _require(classes == about["num_class"] and about["num_target"] == "1", "other classes")
    info, ends = np.asarray(model["tree_info"]), np.asarray(model["iteration_indptr"])
    _require(info.shape == (len(trees),), "a wrong number of trees")
    _require((info >= 0) & (info < n_outputs), "trees of other classes")
    _require((np.diff(ends) >= 0).all() and [*ends[[0, -1]]] == [0, len(trees)], "other trees")
    for tree in trees:
        left, right, split, parents = (
            np.asarray(tree[name])
            for name in ("left_children", "right_children", "split_indices", "parents")
        )
        about = tree["tree_param"]
        place = np.arange(int(about["num_nodes"]))
        _require(len(tree["categories"]) == 0 and not any(tree["split_type"]), "categories")
        _require(int(about["num_feature"]) == n_features, "other columns")
        _require(about["size_leaf_vector"] in ("0", "1"), "several numbers per leaf")
        for name in XGBOOST_NODES:
            _require(np.shape(tree[name]) == place.shape, "arrays of inconsistent sizes")
        _require(left.dtype.kind == right.dtype.kind == split.dtype.kind == "i", "other numbers")
        inner = left != -1
        _require(inner == (right != -1), "an incomplete split")
        for child in (left, right):
            later = (child > place) & (child < place.size)
            _require(later | ~inner, "children outside the tree")
            _require(parents[child[inner]] == place[inner], "nodes with other parents")
        _require(((split >= 0) & (split < n_features)) | ~inner, "columns not in X")
        _require(np.isfinite(np.asarray(tree["split_conditions"], dtype=float)), "other borders")


def _check_catboost(text: str, n_features: int) -> None:
    model = json.loads(text)
    features = model["features_info"]
    _require(not features.get("categorical_features") and not features.get("ctrs"), "categories")
    known = [feature["flat_feature_index"] for feature in features["float_features"]]
    _require(known == [f["feature_index"] for f in features["float_features"]], "other columns")
    _require(known == sorted(set(known) & set(range(n_features))), "columns not in X")
    n_borders = sum(len(feature["borders"] or ()) for feature in features["float_features"])
    n_outputs = len(model["scale_and_bias"][1])
    for tree in model["oblivious_trees"]:
        depth = len(tree["splits"] or ())
        _require(depth <= 16 and len(tree["leaf_values"]) == n_outputs * 2**depth, "other leaves")
        _require(n_outputs > 0, "no leaves")
        for split in tree["splits"] or ():
            _require(split["split_type"] == "FloatFeature", "splits of another kind")
            _require(0 <= split["float_feature_index"] < len(known), "columns not in X")
            _require(0 <= split["split_index"] < n_borders, "splits outside the borders")
            _require(math.isfinite(split["border"]), "a non-finite border")


def _write_catboost(model: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        return path.read_text(encoding="utf-8")


def _read_lightgbm(text: str) -> Callable[[Any], Any]:
    import lightgbm

    booster = lightgbm.Booster(model_str=text)
    return lambda X: booster.predict(X, num_threads=1)


def _read_xgboost(text: str) -> Callable[[Any], Any]:
    import xgboost

    booster = xgboost.Booster()
    booster.load_model(bytearray(text, "utf-8"))
    booster.set_param({"nthread": 1, "verbosity": 0})
    return lambda X: booster.predict(xgboost.DMatrix(X, nthread=1))


def _read_catboost(text: str) -> Callable[[Any], Any]:
    import catboost

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_text(text, encoding="utf-8")
        booster = catboost.CatBoost().load_model(str(path), format="json")
    losses = json.loads(text)["model_info"]["params"]["loss_function"]["type"]
    classes = losses in ("Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll")
    kind = "Probability" if classes else "RawFormulaVal"
    return lambda X: booster.predict(X, prediction_type=kind, thread_count=1)


_WRITE: dict[str, Callable[[Any], str]] = {
    # Without the parameters of the training, which predictions do not need.
    "lightgbm": lambda model: (
        model.booster_.model_to_string().partition(END_OF_TREES)[0] + END_OF_TREES
    ),
    "xgboost": lambda model: model.get_booster().save_raw("json").decode(),
    "catboost": _write_catboost,
}
_READ = {"lightgbm": _read_lightgbm, "xgboost": _read_xgboost, "catboost": _read_catboost}
_CHECK = {"lightgbm": _check_lightgbm, "xgboost": _check_xgboost, "catboost": _check_catboost}
