"""LightGBM, XGBoost and CatBoost as estimators that can be saved as text.

Pickled models of these libraries contain binary data that native code reads without checks. Here,
the model is stored in the text format of the library and checked before it is loaded. Classes may
be of any type.
"""

import json
import math
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
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(
            f"`model_text_` must be trees written by {library}; they were damaged or edited "
            f"({type(error).__name__}: {error}). Train the model again."
        ) from error


def _require(holds: Any, what: str) -> None:
    if not np.all(holds):
        raise ValueError(what)


def _check_lightgbm(text: str, n_features: int) -> None:
    header, *trees = text.split("end of trees")[0].split("\nTree=")
    _require(
        f"max_feature_idx={n_features - 1}" in header.splitlines(), "a wrong number of columns"
    )
    for tree in trees:
        values = dict(line.split("=", 1) for line in tree.splitlines()[1:] if "=" in line)
        n_leaves = int(values["num_leaves"])
        _require(values["num_cat"] == "0" and n_leaves > 0, "categories")
        inner = np.arange(n_leaves - 1)
        for name in ("left_child", "right_child"):
            child = np.array(values.get(name, "").split(), dtype=int)
            _require(child.size == inner.size, "a wrong number of children")
            later = (child > inner) & (child < inner.size)
            _require(later | ((child < 0) & (~child < n_leaves)), "children outside the tree")
        features = np.array(values.get("split_feature", "").split(), dtype=int)
        _require(features.size == inner.size, "a wrong number of splits")
        _require((features >= 0) & (features < n_features), "columns not in X")
        _require(len(values["leaf_value"].split()) == n_leaves, "a wrong number of leaves")


def _check_xgboost(text: str, n_features: int) -> None:
    learner = json.loads(text)["learner"]
    _require(int(learner["learner_model_param"]["num_feature"]) == n_features, "other columns")
    for tree in learner["gradient_booster"]["model"]["trees"]:
        left, right, split = (
            np.asarray(tree[name], dtype=int)
            for name in ("left_children", "right_children", "split_indices")
        )
        place = np.arange(int(tree["tree_param"]["num_nodes"]))
        _require(len(tree["categories"]) == 0, "categories")
        for array in (left, right, split, tree["split_conditions"], tree["base_weights"]):
            _require(len(array) == place.size, "arrays of inconsistent sizes")
        _require((left == -1) == (right == -1), "an incomplete split")
        for child in (left, right):
            later = (child > place) & (child < place.size)
            _require(later | (child == -1), "children outside the tree")
        _require((split >= 0) & (split < n_features), "columns not in X")


def _check_catboost(text: str, n_features: int) -> None:
    model = json.loads(text)
    features = model["features_info"]
    _require(not features.get("categorical_features") and not features.get("ctrs"), "categories")
    known = [feature["flat_feature_index"] for feature in features["float_features"]]
    _require(max(known, default=-1) < n_features, "columns not in X")
    for tree in model["oblivious_trees"]:
        depth = len(tree["splits"] or ())
        n_leaves = 2**depth
        _require(depth <= 16 and len(tree["leaf_values"]) % n_leaves == 0, "other leaves")
        _require(len(tree["leaf_values"]) > 0, "no leaves")
        for split in tree["splits"] or ():
            _require(split["split_type"] == "FloatFeature", "splits of another kind")
            _require(0 <= split["float_feature_index"] < len(known), "columns not in X")
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
    "lightgbm": lambda model: model.booster_.model_to_string(),
    "xgboost": lambda model: model.get_booster().save_raw("json").decode(),
    "catboost": _write_catboost,
}
_READ = {"lightgbm": _read_lightgbm, "xgboost": _read_xgboost, "catboost": _read_catboost}
_CHECK = {"lightgbm": _check_lightgbm, "xgboost": _check_xgboost, "catboost": _check_catboost}
