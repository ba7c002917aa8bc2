"""Input of a search, with the checks that apply to any candidate.

Candidates may be pipelines that begin with an encoder, so tables with text columns, missing values
and lists of documents are passed on unchanged. Only the importance weights need numbers.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, column_or_1d

from landbridge._sklearn_versions import validate_data
from landbridge._tasks import without_dask
from landbridge._typing import Matrix, MatrixLike, Vector, VectorLike
from landbridge._validation import (
    Task,
    TransferData,
    check_finite,
    check_groups,
    check_like_source,
    check_new_source,
    check_numeric_labels,
    check_object_labels,
    check_same_names,
    check_sample_weight,
    check_target_labels,
    missing_values,
    plain_numbers,
    raise_half_a_target,
    refuse_masked,
    sklearn_errors,
    stack_rows,
    task_of,
    union_of_classes,
    without_duplicates,
)
from landbridge.inference.label_check import LabelCheck, check_labels


@dataclass(frozen=True, kw_only=True)
class SearchData(TransferData):
    """Checked rows, as passed to the candidates."""

    task: Task

    @property
    def n_rows(self) -> int:
        return self.y.shape[0]

    @property
    def n_labelled(self) -> int:
        return 0 if self.y_target is None else self.y_target.shape[0]

    @property
    def n_unlabelled(self) -> int:
        """Number of rows that get pseudo-labels."""
        return _num_samples(self.rows_to_label)

    @property
    def rows_to_label(self) -> MatrixLike:
        """Rows that receive pseudo-labels in reverse validation."""
        return self.X_target if self.X_unlabeled is None else self.X_unlabeled

    def check_finite(self) -> None:
        """Raise if a numeric matrix has NaN or infinity, with the name of the argument.

        Some candidates can use such rows, so this is only called if every candidate failed.
        """
        for name in ("X", "X_target", "X_unlabeled"):
            rows = getattr(self, name)
            is_matrix = isinstance(rows, np.ndarray) or sparse.issparse(rows)
            if is_matrix and rows.dtype.kind in "fiub":
                check_finite(rows, name)

    def transformed(self, X: MatrixLike) -> "SearchData":
        """Replace the rows by those of ``X``, which stacks source, labelled and unlabelled rows."""
        n, m = self.n_rows, self.n_rows + self.n_labelled
        X = X.tocsr() if sparse.issparse(X) else X
        return replace(
            self,
            X=X[:n],
            X_target=None if self.X_target is None else X[n:m],
            X_unlabeled=None if self.X_unlabeled is None else X[m:],
        )


def encode_labels(labels: Vector, classes: VectorLike) -> Vector:
    """Labels as positions in ``classes``, or as floats for regression."""
    if classes is None:
        return np.asarray(labels, dtype=np.float64)
    places = np.searchsorted(classes, labels).clip(max=classes.size - 1)
    unknown = np.asarray(labels)[classes[places] != labels]
    if unknown.size:
        raise ValueError(
            f"`estimator` must predict classes that y has, like {classes.tolist()[:5]}; got "
            f"{unknown.tolist()[0]!r}. Pass a classifier that learns y."
        )
    return places


def check_search_data(search: Any, given: TransferData, task: Task | None) -> SearchData:
    """Check the arguments of a search; ``task`` is inferred from ``y`` if not given."""
    refuse_masked({"X": given.X, "y": given.y, **given.options})
    X_target, y_target, X_unlabeled = given.X_target, given.y_target, given.X_unlabeled
    if X_target is None and X_unlabeled is None and y_target is None:
        raise ValueError(
            "`X_target` or `X_unlabeled` must hold rows of the target; got no target rows at all. "
            "Pass X_target with y_target, or X_unlabeled. cross_val_score and other tools of "
            "scikit-learn cannot pass them: evaluate a search on left-out sources with "
            "MultiSourceCV(search, unlabeled_target=True). Without any target use GridSearchCV."
        )
    if (X_target is None) != (y_target is None):
        raise_half_a_target(X_target)
    X, y = _check_rows_and_labels(search, given.X, given.y)
    task = task or task_of(y)
    if task == "classification":
        _check_classes(y, "y")
    else:
        y = check_numeric_labels(y)
    if X_target is not None:
        X_target = _check_table_like_source(search, X_target, X, "X_target")
        y_target = check_target_labels(y_target, X_target, y, task)
    classes = union_of_classes(y, y_target) if task == "classification" else None
    if classes is not None and y_target is not None:
        _check_classes(y_target, "y_target")
    if X_unlabeled is not None:
        X_unlabeled = _check_table_like_source(search, X_unlabeled, X, "X_unlabeled")
    groups = None if given.groups is None else check_groups(given.groups, y.shape[0])
    weight, target_weight = given.sample_weight, given.sample_weight_target
    if weight is not None:
        weight = check_sample_weight(weight, y)
    if target_weight is not None:
        if y_target is None:
            raise ValueError(
                "`sample_weight_target` must come with `X_target` and `y_target`; got no labelled "
                "target rows. Leave it out, or pass them."
            )
        target_weight = check_sample_weight(target_weight, y_target)
    rows = (X, y, X_target, y_target, X_unlabeled)
    return SearchData(*rows, weight, target_weight, groups, classes, task=task)


@without_dask()
def compare_labelled(
    data: SearchData, seed: int, groups: VectorLike = None, groups_unlabelled: VectorLike = None
) -> LabelCheck | None:
    """Compare labelled with unlabelled target rows, if there are enough of both.

    Rows that were labelled with known probabilities differ from the others, but their weights make
    up for it, so the weighted rows are compared too. If they differ and have only one class, no
    weights can compensate for the other classes, so estimates are withheld.
    """
    rows = [data.X_target, data.X_unlabeled]
    if any(part is None for part in rows):
        return None
    names = None
    if not hasattr(data.X, "columns") and len(getattr(data.X, "shape", ())) != 2:
        # Documents: one column of text.
        rows, names = [np.array(part, dtype=object)[:, None] for part in rows], ["text"]
    options = {"groups_unlabelled": groups_unlabelled, "feature_names": names, "random_state": seed}
    found = check_labels(*rows, groups=groups, **options)
    weight = data.sample_weight_target
    if found is not None and not found.representative and weight is not None:
        # Rows accepted with a probability in proportion to their weights are a plain sample of
        # what the weighted rows stand for, so the same test applies to them.
        accepted = np.random.default_rng(seed).random(weight.size) * weight.max() < weight
        kept = np.flatnonzero(accepted)
        of_kept = None if groups is None else groups[kept]
        weighted = check_labels(_safe_indexing(rows[0], kept), rows[1], groups=of_kept, **options)
        if weighted is not None:  # a check of the kept rows, for all rows with their weights
            correction = np.ones(weight.size)
            correction[kept] = weighted.weights
            total = weight * correction
            found = replace(
                weighted,
                n_labelled=weight.size,
                weights=correction,
                effective_sample_size=float(total.sum() ** 2 / (total @ total)),
            )
    if found is None or found.representative or data.classes is None:
        return found
    return replace(found, withheld=found.withheld or np.unique(data.y_target).size == 1)


def numeric_rows(data: SearchData) -> tuple[Matrix, Matrix]:
    """Source rows and all target rows as finite numbers, for the importance weights."""
    source = _Columns()
    named = {"X_target": data.X_target, "X_unlabeled": data.X_unlabeled}
    try:
        X = check_new_source(source, data.X)
        target = [check_like_source(source, T, name) for name, T in named.items() if T is not None]
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"{error} The importance weights need numbers: encode the table once with "
            "`preprocessor=`, or choose a criterion without weights (`scv`, `rv`, `tlv`)."
        ) from error
    return X, stack_rows(target)


class _Columns(BaseEstimator):
    """Store the number and names of columns to check other tables."""


def _check_rows_and_labels(search: Any, X: MatrixLike, y: VectorLike) -> tuple[MatrixLike, Vector]:
    if y is None:
        raise ValueError(
            "`y` must hold the label of each source row; the search requires y to be passed, but "
            "the target y is None. Pass y."
        )
    shape = np.asarray(y).shape
    if len(shape) == 2 and shape[1] > 1:
        raise ValueError(
            f"`y` must hold one label per row; got several outputs, an array of shape {shape}. "
            "Run a separate search for each output."
        )
    with sklearn_errors(X, "X"):
        if _is_table(X):
            X = _check_table(X, "X")
            vars(search).pop("n_features_in_", None)  # from an earlier fit; texts have no columns
            validate_data(search, X, skip_check_array=True)
        else:
            X = validate_data(search, X, accept_sparse="csr", dtype=None, ensure_all_finite=False)
            X = without_duplicates(X)
        y = plain_numbers(column_or_1d(y, warn=True))
        if _num_samples(X) != y.shape[0]:
            raise ValueError(f"inconsistent numbers of samples: [{_num_samples(X)}, {y.shape[0]}]")
    missing = ~np.isfinite(y) if y.dtype.kind == "f" else missing_values(y)
    if missing.any():
        raise ValueError(
            f"`y` must hold a label for every row of X; got {missing.sum()} missing or infinite, "
            f"the first in row {missing.argmax()}. Leave out source rows without a label."
        )
    return X, check_object_labels(y)


def _check_table(X: MatrixLike, name: str) -> MatrixLike:
    """Require a non-empty table; convert tuples of texts to lists for pipelines."""
    if not all(getattr(X, "shape", (len(X),))):
        raise ValueError(
            f"`{name}` must have at least one row and one column; got an empty table. Check the "
            "filter or the file that it comes from, or leave it out."
        )
    return list(X) if isinstance(X, tuple) else X


def _check_classes(y: Vector, name: str) -> None:
    try:
        check_classification_targets(y)
    except ValueError as error:
        raise ValueError(
            f"`{name}` must hold classes, because the candidates are classifiers; got numbers like "
            f"{y.tolist()[0]!r}. Pass regressors, or the labels as whole numbers or text. {error}"
        ) from error


def _check_table_like_source(
    search: Any, X: MatrixLike, source: MatrixLike, name: str
) -> MatrixLike:
    if _is_table(X) or (isinstance(X, (list, tuple)) and not X):
        X = _check_table(X, name)
    if _kind_of_table(X) != _kind_of_table(source):
        raise ValueError(
            f"`{name}` must be the same kind of table as X, {_kind_of_table(source)}; got "
            f"{_kind_of_table(X)}. Convert one of them."
        )
    if not _is_table(X):
        with sklearn_errors(X, name):
            X = check_array(
                X, accept_sparse="csr", dtype=None, ensure_all_finite=False, input_name=name
            )
        X = without_duplicates(X)
    expected = getattr(search, "n_features_in_", None)
    if expected is not None and X.shape[1] != expected:
        raise ValueError(
            f"`{name}` must have {expected} columns like X; got {X.shape[1]}. "
            "Select the same columns in both."
        )
    check_same_names(_labels_of_columns(X), _labels_of_columns(source), name)
    return X


def _labels_of_columns(X: MatrixLike) -> list[Any] | None:
    """Column names, including numeric ones, by which tables are stacked."""
    library = type(X).__module__.partition(".")[0]
    return list(X.columns) if library in ("pandas", "polars") and hasattr(X, "columns") else None


def _kind_of_table(X: MatrixLike) -> str:
    if hasattr(X, "columns"):
        return f"a table of {type(X).__module__.partition('.')[0]}"
    return "a list of texts" if _is_table(X) else "a matrix"


def _is_table(X: MatrixLike) -> bool:
    """Whether X is a table or a sequence of documents, which is passed on unchanged."""
    if hasattr(X, "columns"):
        return True
    if sparse.issparse(X) or getattr(X, "ndim", 1) != 1 or not hasattr(X, "__len__"):
        return False
    return isinstance(next(iter(X), None), str)
