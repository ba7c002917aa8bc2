"""Check array indices of a loaded model that compiled code uses without bounds checks.

Trees, neighbour trees, support vector machines, one-hot encoders and sparse matrices are used
without bounds checks. An edited file could cause invalid memory access or endless loops, so every
index is checked once, when a model is loaded.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse


class DamagedPart(ValueError):
    """Raised for an inconsistent part of a model."""


def check_parts(model: Any) -> None:
    """Raise `DamagedPart` for the first part with invalid indices."""
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen or isinstance(part, (str, bytes, int, float, type, type(None))):
            continue
        seen.add(id(part))
        for name, check in _CHECKS:
            if _is_a(part, name):
                check(part)
        if sparse.issparse(part):
            _check_sparse(part)
        waiting.extend(_inside(part))


def _inside(part: Any) -> Iterator[Any]:
    if isinstance(part, dict):
        yield from part.keys()
        yield from part.values()
    elif isinstance(part, (list, tuple, set, frozenset)):
        yield from part
    elif isinstance(part, np.ndarray):
        yield from part.ravel().tolist() if part.dtype == object else ()
    elif is_dataclass(part):
        yield from (getattr(part, field.name) for field in fields(part))
    elif type(part).__module__.partition(".")[0] in ("sklearn", "landbridge", "skrub"):
        yield from getattr(part, "__dict__", {}).values()


def _is_a(part: Any, name: str) -> bool:
    return any(f"{cls.__module__}.{cls.__qualname__}" == name for cls in type(part).__mro__)


def _require(holds: Any, part: Any, what: str) -> None:
    if not np.all(holds):
        raise DamagedPart(f"{type(part).__name__} with {what}")


def _check_children(part: Any, inner: np.ndarray, *children: np.ndarray) -> None:
    """Check that children of inner nodes are later nodes: in range and without cycles."""
    place = np.arange(inner.size)
    for child in children:
        inside = (child > place) & (child < inner.size)
        _require(inside | ~inner, part, "children outside the tree")


def _check_tree(tree: Any) -> None:
    _require(0 < tree.node_count <= tree.capacity, tree, "a wrong number of nodes")
    left, right = tree.children_left, tree.children_right
    inner = (left != -1) | (right != -1)
    _check_children(tree, inner, left, right)
    features = tree.feature[inner]
    _require((features >= 0) & (features < tree.n_features), tree, "features not in X")
    _require(tree.value.shape[0] == tree.node_count, tree, "values for another number of nodes")
    depth, level = -1, np.zeros(1, dtype=int)
    while level.size:
        level = level[inner[level]]
        level, depth = np.unique([left[level], right[level]]), depth + 1
    _require(depth <= tree.max_depth, tree, "a wrong depth")


def _check_tree_estimator(model: Any) -> None:
    tree = getattr(model, "tree_", None)
    if tree is not None:
        _require(tree.n_features == model.n_features_in_, model, "a tree with other features")


def _check_forest(model: Any) -> None:
    """Check the number of features, since ensembles pass unchecked rows to their trees."""
    for tree in np.ravel(np.asarray(getattr(model, "estimators_", []), dtype=object)):
        _require(tree.n_features_in_ == model.n_features_in_, model, "a tree with other features")


def _check_gradient_boosting(model: Any) -> None:
    """Check the columns of the initial predictions, to which each stage adds without bounds."""
    _check_forest(model)
    if hasattr(model, "estimators_"):
        check_parts(model.init_)
        start = model._raw_predict_init(np.zeros((1, model.n_features_in_)))
        _require(start.shape[1] == model.estimators_.shape[1], model, "other classes")


def _check_histogram_trees(model: Any) -> None:
    for predictor in (p for stage in getattr(model, "_predictors", []) for p in stage):
        nodes = predictor.nodes
        inner = nodes["is_leaf"] == 0
        left, right = (nodes[side].astype(np.int64) for side in ("left", "right"))
        _require(nodes.size > 0, predictor, "no nodes")
        _check_children(predictor, inner, left, right)
        features = nodes["feature_idx"][inner].astype(np.int64)
        n_features = min(model.n_features_in_, getattr(model, "_n_features", np.inf))
        _require((features >= 0) & (features < n_features), predictor, "features not in X")
        of_categories = inner & (nodes["is_categorical"] != 0)
        if of_categories.any():
            sets = nodes["bitset_idx"][of_categories].astype(np.int64)
            n_sets, n_words = predictor.raw_left_cat_bitsets.shape
            known = n_words == 8 and (sets < n_sets).all()
            known &= model.is_categorical_[nodes["feature_idx"][of_categories]].all()
            _require(known, predictor, "unknown categories")


def _check_neighbours(tree: Any) -> None:
    data, order, nodes, bounds, _, levels, n_nodes = tree.__getstate__()[:7]
    data, order, nodes, bounds = map(np.asarray, (data, order, nodes, bounds))
    n_rows = data.shape[0]
    _require(
        order.shape == (n_rows,) and n_nodes == nodes.size, tree, "arrays of inconsistent sizes"
    )
    _require(n_nodes == 2**levels - 1, tree, "a wrong number of nodes")
    shape = (2 if type(tree).__name__ == "KDTree" else 1, n_nodes, data.shape[1])
    _require(bounds.shape == shape, tree, "bounds of other nodes or features")
    _require((order >= 0) & (order < n_rows), tree, "rows out of range")
    start, end = nodes["idx_start"], nodes["idx_end"]
    _require((start >= 0) & (start <= end) & (end <= n_rows), tree, "nodes outside its rows")
    _require(nodes["is_leaf"][n_nodes // 2 :], tree, "children outside the tree")


def _check_neighbour_rows(model: Any) -> None:
    rows = getattr(model, "_fit_X", None)
    if rows is not None:
        n_rows, n_features = rows.shape
        _require(n_rows > 0 and n_features == model.n_features_in_, model, "other rows")


def _check_centers(model: Any) -> None:
    centers = getattr(model, "cluster_centers_", None)
    if centers is not None:
        _require(centers.shape[1] == model.n_features_in_, model, "centers with other features")


def _check_vocabulary(vectorizer: Any) -> None:
    """Check the columns of the words, since the sparse matrix of their counts is not checked."""
    words = getattr(vectorizer, "vocabulary_", {})
    _require(sorted(words.values()) == list(range(len(words))), vectorizer, "other columns")


def _check_hashing(vectorizer: Any) -> None:
    _require(vectorizer.n_features >= 1, vectorizer, "no columns")


def _check_support_vectors(model: Any) -> None:
    if not hasattr(model, "support_vectors_"):
        return
    n_vectors, counts = len(model.support_), np.asarray(model._n_support)
    _require(counts >= 0, model, "negative numbers of support vectors")
    inside = (model.support_ >= 0) & (model.support_ < model.shape_fit_[0])
    _require(inside, model, "support vectors outside its rows")
    if hasattr(model, "classes_"):
        n_classes = len(model.classes_)
        pairs = n_classes * (n_classes - 1) // 2
        shape = (n_classes - 1, n_vectors)
        _require(counts.size == n_classes and counts.sum() == n_vectors, model, "other counts")
    else:
        pairs, shape = 1, (1, n_vectors)
    coefficients = model._dual_coef_
    complete = not sparse.issparse(coefficients) or coefficients.nnz == math.prod(shape)
    _require(coefficients.shape == shape and complete, model, "coefficients of the wrong shape")
    _require(np.size(model._intercept_) == pairs, model, "a wrong number of intercepts")
    for name in ("_probA", "_probB"):
        _require(np.size(getattr(model, name, ())) in (0, pairs), model, "other probabilities")
    if model.kernel != "precomputed":
        _require(
            model.support_vectors_.shape == (n_vectors, model.n_features_in_),
            model,
            "support vectors with other features",
        )


def _check_one_hot(encoder: Any) -> None:
    """Check the codes, which become columns of a sparse matrix without bounds checks."""
    if not hasattr(encoder, "categories_"):
        return
    n_columns = encoder._compute_n_features_outs()
    _require(n_columns == list(encoder._n_features_outs), encoder, "a wrong number of columns")
    unset = [None] * len(n_columns)
    dropped = encoder._drop_idx_after_grouping
    groups = encoder._default_to_infrequent_mappings if encoder._infrequent_enabled else unset
    _require(len(groups) == len(n_columns), encoder, "groups for another number of features")
    for n, drop, group, categories in zip(
        n_columns, unset if dropped is None else dropped, groups, encoder.categories_, strict=True
    ):
        n_codes = n if drop is None else n + 1
        codes = np.arange(len(categories)) if group is None else np.asarray(group)
        _require((codes >= 0) & (codes < n_codes), encoder, "codes outside its columns")
        _require(drop is None or 0 <= drop < n_codes, encoder, "a dropped code that does not exist")


def _check_transfer_tree(tree: Any) -> None:
    left = np.asarray(tree.left)
    inner = np.asarray(tree.feature) != -1
    _check_children(tree, inner, left, left + 1)
    sizes = {len(array) for array in (tree.feature, tree.threshold, left, tree.value)}
    _require(len(sizes) == 1, tree, "arrays of inconsistent sizes")


def _check_sparse(matrix: Any) -> None:
    check = getattr(matrix, "check_format", None)
    try:
        if check is not None:
            check(full_check=True)
    except ValueError as error:
        raise DamagedPart(f"a sparse matrix with wrong indices ({error})") from error


_CHECKS: tuple[tuple[str, Callable[[Any], None]], ...] = (
    ("sklearn.tree._tree.Tree", _check_tree),
    ("sklearn.tree._classes.BaseDecisionTree", _check_tree_estimator),
    ("sklearn.ensemble._forest.BaseForest", _check_forest),
    ("sklearn.ensemble._gb.BaseGradientBoosting", _check_gradient_boosting),
    (
        "sklearn.ensemble._hist_gradient_boosting.gradient_boosting.BaseHistGradientBoosting",
        _check_histogram_trees,
    ),
    ("sklearn.neighbors._kd_tree.KDTree", _check_neighbours),
    ("sklearn.neighbors._ball_tree.BallTree", _check_neighbours),
    ("sklearn.neighbors._base.NeighborsBase", _check_neighbour_rows),
    ("sklearn.cluster._kmeans._BaseKMeans", _check_centers),
    ("sklearn.feature_extraction.text.CountVectorizer", _check_vocabulary),
    ("sklearn.feature_extraction._dict_vectorizer.DictVectorizer", _check_vocabulary),
    ("sklearn.feature_extraction.text.HashingVectorizer", _check_hashing),
    ("sklearn.feature_extraction._hash.FeatureHasher", _check_hashing),
    ("sklearn.svm._base.BaseLibSVM", _check_support_vectors),
    ("sklearn.preprocessing._encoders.OneHotEncoder", _check_one_hot),
    ("landbridge.boosting.tree_growth.Tree", _check_transfer_tree),
)
