"""The front door: every argument of every ``fit`` is checked here, once, and nowhere deeper.

Each message says what must hold, what was given and what to do about it.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_consistent_length,
    validate_data,
)

from landbridge._typing import Matrix, MatrixLike, Vector, VectorLike
from landbridge.exceptions import FewSourcesWarning, NoTargetWarning

FLOATS = [np.float64, np.float32]
Task = Literal["classification", "regression"]
# Which source labels a method knows what to do with when they occur in the target only.
TargetLabels = Literal["any", "known"]


@dataclass(frozen=True, slots=True)
class TransferData:
    """Checked arguments of a transfer fit; ``None`` where nothing was given.

    ``classes`` is the sorted union of source and target labels (``None`` for regression).
    """

    X: Matrix
    y: Vector
    X_target: Matrix | None = None
    y_target: VectorLike = None
    X_unlabeled: Matrix | None = None
    sample_weight: Vector | None = None
    groups: Vector | None = None
    classes: VectorLike = None

    @property
    def target_rows(self) -> Matrix | None:
        """All target rows, labelled first: what methods of the marginal distribution use."""
        parts = [part for part in (self.X_target, self.X_unlabeled) if part is not None]
        return stack_rows(parts) if parts else None

    @property
    def labeled_rows(self) -> Matrix:
        """Source rows followed by the labelled target rows."""
        return self.X if self.X_target is None else stack_rows([self.X, self.X_target])

    @property
    def labels(self) -> Vector:
        """Labels of the source followed by those of the labelled target rows."""
        return self.y if self.y_target is None else np.concatenate([self.y, self.y_target])

    def encode(self, labels: Vector) -> Vector:
        """Labels as their positions in ``classes``."""
        return np.searchsorted(self.classes, labels)


def check_transfer(
    estimator: Any,
    X: MatrixLike,
    y: VectorLike,
    *,
    task: Task,
    X_target: MatrixLike = None,
    y_target: VectorLike = None,
    X_unlabeled: MatrixLike = None,
    sample_weight: VectorLike = None,
    groups: VectorLike = None,
    accept_sparse: bool = True,
    target_labels: TargetLabels = "any",
    min_classes: int = 2,
    multi_output: bool = False,
    plain_counterpart: str | None = None,
) -> TransferData:
    """Check what was given to ``estimator.fit`` and record its columns on the estimator.

    With ``plain_counterpart`` (in words), the absence of any target row raises a
    `NoTargetWarning` that names it.
    """
    X, y = _check_source(estimator, X, y, task, accept_sparse, multi_output)
    if sample_weight is not None:
        sample_weight = check_sample_weight(sample_weight, X)
    if groups is not None:
        groups = check_groups(groups, X.shape[0])
    if (X_target is None) != (y_target is None):
        raise_half_a_target(X_target)
    if X_target is not None:
        X_target = check_like_source(estimator, X_target, "X_target", accept_sparse=accept_sparse)
        y_target = _check_target_labels(y_target, X_target, y, task)
    if X_unlabeled is not None:
        X_unlabeled = check_like_source(
            estimator, X_unlabeled, "X_unlabeled", accept_sparse=accept_sparse
        )
    classes = None
    if task == "classification":
        classes = _union_of_classes(y, y_target, target_labels, min_classes)
    if plain_counterpart and X_target is None and X_unlabeled is None:
        warn_no_target(estimator, plain_counterpart)
    return TransferData(X, y, X_target, y_target, X_unlabeled, sample_weight, groups, classes)


def check_two_domains(
    estimator: Any, X: MatrixLike, X_target: MatrixLike, *, accept_sparse: bool = True
) -> tuple[Matrix, Matrix]:
    """Check rows of the source and of the target, without labels."""
    if X_target is None:
        raise ValueError(
            "`X_target` must hold the rows of the target; got None. "
            "Pass labelled and unlabelled target rows stacked."
        )
    X = check_new_source(estimator, X, accept_sparse=accept_sparse)
    return X, check_like_source(estimator, X_target, "X_target", accept_sparse=accept_sparse)


def check_new_source(estimator: Any, X: MatrixLike, *, accept_sparse: bool = True) -> Matrix:
    """Check source rows at ``fit`` and record their columns on the estimator."""
    with sklearn_errors(X, "X"):
        X = validate_data(
            estimator,
            X,
            accept_sparse="csr" if accept_sparse else False,
            dtype=FLOATS,
            ensure_all_finite=False,
        )
    return check_finite(X, "X", _names(estimator))


def check_rows(estimator: Any, X: MatrixLike, *, accept_sparse: bool = True) -> Matrix:
    """Check the rows given to ``predict`` or ``transform`` of a fitted estimator."""
    with sklearn_errors(X, "X"):
        X = validate_data(
            estimator,
            X,
            reset=False,
            accept_sparse="csr" if accept_sparse else False,
            dtype=FLOATS,
            ensure_all_finite=False,
        )
    return check_finite(X, "X", _names(estimator))


def check_like_source(
    estimator: Any, X: MatrixLike, name: str, *, accept_sparse: bool = True
) -> Matrix:
    """Check a further matrix of ``fit`` against the columns that the source has."""
    names = column_names(X)
    with sklearn_errors(X, name):
        X = check_array(
            X,
            accept_sparse="csr" if accept_sparse else False,
            dtype=FLOATS,
            ensure_all_finite=False,
            input_name=name,
        )
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"`{name}` must have {estimator.n_features_in_} columns like X; got {X.shape[1]}. "
            "Select the same columns in both."
        )
    _check_same_names(names, _names(estimator), name)
    return check_finite(X, name, _names(estimator))


def check_finite(X: Matrix, name: str, columns: list[str] | None = None) -> Matrix:
    """Raise for the first NaN or infinity, with its place."""
    values = X.data if sparse.issparse(X) else X
    # A finite sum proves that every value is finite, without a temporary of X's size.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return X
    if np.isfinite(values).all():
        return X
    row, column = _first_not_finite(X)
    place = repr(columns[column]) if columns else str(column)
    what = "NaN" if np.isnan(X[row, column]) else "inf"
    raise ValueError(
        f"`{name}` must hold only finite numbers, no NaN and no infinity; got {what} in row {row}, "
        f"column {place}. Impute or drop such values first, for example with "
        "sklearn.impute.SimpleImputer in a Pipeline."
    )


def check_sample_weight(sample_weight: VectorLike, X: Matrix) -> Vector:
    """Non-negative weights, one a row, not all zero."""
    if not np.asarray(sample_weight).any():
        raise ValueError(
            "`sample_weight` must have a positive sum; got zeros only. "
            "Give at least one row a positive weight."
        )
    return _check_sample_weight(sample_weight, X, ensure_non_negative=True)


def check_groups(groups: VectorLike, n_rows: int) -> Vector:
    """One group name a row, none missing."""
    if groups is None:
        raise ValueError(
            "`groups` must name the source of each row; got None. "
            "Pass groups=, for example the hospital or the year of each row."
        )
    # A list of text and NaN would become text altogether, and the hole a source called "nan".
    groups = np.array(groups, dtype=object) if isinstance(groups, list) else np.asarray(groups)
    if groups.ndim != 1 or groups.shape[0] != n_rows:
        raise ValueError(
            f"`groups` must name the source of each of the {n_rows} rows of X; got an array of "
            f"shape {groups.shape}. Pass one name a row."
        )
    missing = missing_values(groups)
    if missing.any():
        raise ValueError(
            f"`groups` must name the source of every row; got {missing.sum()} missing, the first "
            f"in row {missing.argmax()}. Fill in the names or drop those rows."
        )
    if groups.dtype != object:
        return groups
    plain = np.array(groups.tolist())
    return plain if plain.dtype.kind in "biuU" else groups.astype(str)


def check_domain_sizes(domains: Vector, counts: Vector) -> None:
    """At least two domains of at least two rows; two domains raise a `FewSourcesWarning`."""
    if domains.size < 2:
        raise ValueError(
            f"`groups` must name at least two domains; got one, {domains.tolist()[0]!r}, with "
            f"n_samples={counts.sum()}. A feature can only be compared between domains: pass the "
            "column that tells them apart."
        )
    if counts.min() < 2:
        raise ValueError(
            "`groups` must give at least two rows to every domain; got one row in "
            f"{domains[counts < 2].tolist()[:5]}. Drop such domains or join them with others."
        )
    if domains.size == 2:
        warnings.warn(
            "Two domains leave one degree of freedom: an effect must be nearly the same in both to "
            "stand out. Use more domains where there are any.",
            FewSourcesWarning,
            stacklevel=4,
        )


def check_labels(y: VectorLike, n_rows: int) -> Vector:
    """Labels of a further batch: one a row, none missing."""
    y = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"))
    if y.shape[0] != n_rows:
        raise ValueError(
            f"`y` must have one label for each of the {n_rows} rows of X; got {y.shape[0]}. "
            "Pass rows and labels of the same batch."
        )
    return y


def check_choice(value: Any, name: str, choices: list[Any] | tuple[Any, ...]) -> None:
    """Raise unless ``value`` is one of ``choices``."""
    if not any(value is choice or value == choice for choice in choices):
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"`{name}` must be one of {known}; got {value!r}.")


def warn_no_target(estimator: Any, plain_counterpart: str) -> None:
    """Say that a transfer estimator had nothing to transfer to."""
    warnings.warn(
        f"{type(estimator).__name__} was fitted without target rows and equals "
        f"{plain_counterpart}. Pass `X_target` with `y_target`, or `X_unlabeled`.",
        NoTargetWarning,
        stacklevel=4,
    )


def stack_rows(parts: list[Matrix]) -> Matrix:
    """Matrices below each other, sparse if any is; tables and lists stay what they are."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], list):
        return [row for part in parts for row in part]
    library = type(parts[0]).__module__.partition(".")[0]
    if library in ("pandas", "polars") and hasattr(parts[0], "columns"):
        options = {"ignore_index": True} if library == "pandas" else {}
        return import_module(library).concat(parts, **options)
    if any(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


def column_names(X: MatrixLike) -> list[str] | None:
    """Column names of a pandas or polars table, ``None`` for anything without them."""
    columns = getattr(X, "columns", None)
    if columns is None or not all(isinstance(column, str) for column in columns):
        return None
    return list(columns)


def _check_source(
    estimator: Any,
    X: MatrixLike,
    y: VectorLike,
    task: Task,
    accept_sparse: bool,
    multi_output: bool,
) -> tuple[Matrix, Vector]:
    with sklearn_errors(X, "X"):
        X, y = validate_data(
            estimator,
            X,
            y,
            accept_sparse="csr" if accept_sparse else False,
            dtype=FLOATS,
            ensure_all_finite=False,
            y_numeric=task == "regression",
            multi_output=multi_output,
        )
    if task == "classification":
        check_classification_targets(y)
    return check_finite(X, "X", _names(estimator)), y


def _check_target_labels(y_target: VectorLike, X_target: Matrix, y: Vector, task: Task) -> Vector:
    y_target = check_array(
        y_target,
        ensure_2d=False,
        dtype="numeric" if task == "regression" else None,
        ensure_all_finite=task == "regression",
        input_name="y_target",
    )
    if y_target.ndim == 2 and y.ndim == 1 and y_target.shape[1] == 1:
        y_target = y_target.ravel()
    check_one_label_each(y_target, X_target)
    if y_target.shape[1:] != y.shape[1:]:
        raise ValueError(
            f"`y_target` must have as many outputs as y, shape (rows, *{y.shape[1:]}); got "
            f"{y_target.shape}. Pass the same outputs in both."
        )
    if task == "regression":
        return y_target.astype(y.dtype, copy=False)
    missing = np.array([label is None or label != label for label in y_target.tolist()], dtype=bool)
    if missing.any():
        raise ValueError(
            f"`y_target` must hold a label for every row of `X_target`; got {missing.sum()} "
            "missing. Pass rows without a label as `X_unlabeled`."
        )
    if _is_text(y) != _is_text(y_target):
        raise ValueError(
            f"`y_target` must hold labels of the same type as y; got {y_target.dtype} beside "
            f"{y.dtype}. Convert both to text or both to numbers."
        )
    return y_target


def check_one_label_each(y_target: Vector, X_target: Matrix) -> None:
    """Raise unless there are as many target labels as target rows."""
    n_labels = y_target.shape[0] if y_target.ndim else 0
    if n_labels != _num_samples(X_target):
        raise ValueError(
            f"`y_target` must have one label for each of the {_num_samples(X_target)} rows of "
            f"`X_target`; got {n_labels}. Pass rows without a label as `X_unlabeled`."
        )


def _union_of_classes(
    y: Vector, y_target: Vector | None, target_labels: TargetLabels, min_classes: int
) -> Vector:
    source = np.unique(y)
    classes = source if y_target is None else np.union1d(source, y_target)
    if target_labels == "known" and classes.size > source.size:
        unknown = np.setdiff1d(classes, source).tolist()
        raise ValueError(
            f"`y_target` must hold only classes that y has, {source.tolist()}; got {unknown} "
            "besides. Drop those rows, or use a method that learns classes from the target."
        )
    if classes.size < min_classes:
        raise ValueError(
            f"`y` must hold at least {min_classes} classes; got 1 class, {classes.tolist()[0]!r}. "
            "Add rows of another class, or check how the labels were read."
        )
    return classes


def raise_half_a_target(X_target: MatrixLike) -> None:
    """Say which of target rows and target labels is missing."""
    if X_target is None:
        raise ValueError(
            "`y_target` must come with `X_target`, the rows that it labels; got `y_target` alone. "
            "Pass both."
        )
    raise ValueError(
        "`X_target` must come with `y_target`, its labels; got `X_target` alone. "
        "Pass unlabelled target rows as `X_unlabeled`."
    )


def _check_same_names(names: list[str] | None, source: list[str] | None, name: str) -> None:
    if names is None or source is None or names == source:
        return
    strange = [column for column in names if column not in source]
    if strange:
        got = f"{strange[:5]}, which X has not"
    else:
        got = "them in another order"
    raise ValueError(
        f"`{name}` must have the columns of X in the same order; got {got}. "
        f"Select them by name: {name}[list(X.columns)]."
    )


def _first_not_finite(X: Matrix) -> tuple[int, int]:
    if sparse.issparse(X):
        entry = int(np.flatnonzero(~np.isfinite(X.data))[0])
        row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
        return row, int(X.indices[entry])
    row, column = np.argwhere(~np.isfinite(X))[0]
    return int(row), int(column)


@contextmanager
def sklearn_errors(X: MatrixLike, name: str) -> Iterator[None]:
    """Complete scikit-learn's messages with what to do about them."""
    try:
        yield
    except ValueError as error:
        message = str(error)
        if "could not convert string to float" in message or "Unable to convert" in message:
            text = non_numeric_columns(X)
            raise ValueError(
                f"`{name}` must have numeric columns only; got text in {text or 'some column'}. "
                "Encode it first, for example with skrub.TableVectorizer or "
                "sklearn.preprocessing.OneHotEncoder in a Pipeline."
            ) from error
        if "while a minimum of" in message:
            raise ValueError(
                f"{message} `{name}` must have at least one row and one column: check the filter "
                "or the file that it comes from."
            ) from error
        if "inconsistent numbers of samples" in message:
            raise ValueError(
                f"`y` must have one label for each row of X; got {message.split(': ')[-1]} rows. "
                "Pass rows and labels of the same table."
            ) from error
        raise


def non_numeric_columns(X: MatrixLike) -> list[str]:
    """Names of the columns of a table that are not numbers."""
    names = column_names(X)
    if names is None:
        return []
    return [name for name in names if not _is_numeric(np.asarray(X[name]))]


def _is_numeric(column: Vector) -> bool:
    if column.dtype.kind in "biuf":
        return True
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def missing_values(names: Vector) -> Vector:
    """Which entries are None, NaN, NaT or pandas.NA."""
    if names.dtype.kind == "f":
        return np.isnan(names)
    if names.dtype.kind == "M":
        return np.isnat(names)
    if names.dtype != object:
        return np.zeros(names.shape, dtype=bool)
    return np.array([_is_missing(name) for name in names.tolist()], dtype=bool)


def _is_missing(name: Any) -> bool:
    try:
        return name is None or bool(name != name)
    except TypeError:  # pandas.NA is neither equal to itself nor different
        return True


def _is_text(labels: Vector) -> bool:
    return labels.dtype.kind in "OUST"


def _names(estimator: Any) -> list[str] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else list(names)


__all__ = [
    "TransferData",
    "check_choice",
    "check_consistent_length",
    "check_domain_sizes",
    "check_finite",
    "check_groups",
    "check_labels",
    "check_like_source",
    "check_new_source",
    "check_one_label_each",
    "check_rows",
    "check_sample_weight",
    "check_transfer",
    "check_two_domains",
    "column_names",
    "missing_values",
    "non_numeric_columns",
    "raise_half_a_target",
    "sklearn_errors",
    "stack_rows",
    "warn_no_target",
]
