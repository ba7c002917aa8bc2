"""Validation of labels, groups and weights."""

from numbers import Number
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import _check_sample_weight, _num_samples

from landbridge._typing import Matrix, Vector, VectorLike
from landbridge._validation.matrices import LARGEST, sklearn_errors
from landbridge._warn import warn_caller
from landbridge.exceptions import FewSourcesWarning

Task = Literal["classification", "regression"]
# Integers with more distinct values than this are counts, not classes.
MOST_CLASSES = 30


def task_of(y: Vector) -> Task:
    """Regression for numbers that are fractional or take many values, else classification."""
    if y.dtype.kind not in "iuf":
        return "classification"
    whole = bool(np.all(y == np.floor(y)))
    return "classification" if whole and np.unique(y).size <= MOST_CLASSES else "regression"


def check_labels(y: VectorLike, n_rows: int) -> Vector:
    """Check the labels of a further batch: one per row, none missing."""
    if y is None:
        raise ValueError(
            f"`y` must have one label for each of the {n_rows} rows of X; got None. "
            "Pass the labels of the batch."
        )
    with sklearn_errors(y, "y"):
        y = check_array(check_object_labels(y), ensure_2d=False, dtype=None, input_name="y")
    y = column_or_1d(y)
    if y.shape[0] != n_rows:
        raise ValueError(
            f"`y` must have one label for each of the {n_rows} rows of X; got {y.shape[0]}. "
            "Pass rows and labels of the same batch."
        )
    return y


def check_numeric_labels(y: VectorLike, name: str = "y") -> Vector:
    """Check regression labels: numeric, none missing, none larger than `LARGEST`."""
    labels = np.asarray(y)
    if labels.dtype == object:
        missing = missing_values(labels.ravel())
        if missing.any():
            raise ValueError(
                f"`{name}` must hold a number for every row; got {missing.sum()} missing, the "
                f"first in row {missing.argmax()}. Leave out rows without a label."
            )
    objects = labels.ravel().tolist() if labels.dtype == object else []
    if labels.dtype.kind in "mMUS" or any(isinstance(label, str) for label in objects):
        raise ValueError(
            f"`{name}` must hold numbers for regression; got {labels.ravel()[0]!r}. Convert the "
            "labels to numbers, or use a classifier."
        )
    if labels.dtype.kind in "fiu" and labels.size:
        numbers = np.abs(labels.astype(np.float64))
        if numbers.max() > LARGEST and np.isfinite(numbers.max()):
            raise ValueError(
                f"`{name}` must hold numbers of at most {LARGEST:g} in absolute value, whose "
                f"squares do not overflow; got {numbers.max():g}. Correct the value, or scale the "
                "labels."
            )
    return labels


def check_target_labels(y_target: VectorLike, X_target: Matrix, y: Vector, task: Task) -> Vector:
    """Check that target labels match the rows, are complete and have the type of the source's."""
    if task == "regression":
        y_target = check_numeric_labels(y_target, "y_target")
    y_target = check_array(
        y_target,
        ensure_2d=False,
        dtype="numeric" if task == "regression" else None,
        ensure_all_finite=False,
        input_name="y_target",
    )
    if y_target.ndim == 2 and y.ndim == 1 and y_target.shape[1] == 1:
        y_target = y_target.ravel()
    check_one_label_each(y_target, X_target)
    if y_target.shape[1:] != y.shape[1:]:
        raise ValueError(
            "`y_target` must have as many outputs as y, which has the shape "
            f"{y.shape}; got the shape {y_target.shape}. Pass the same outputs in both."
        )
    missing = ~np.isfinite(y_target) if task == "regression" else missing_values(y_target)
    if missing.any():
        raise ValueError(
            f"`y_target` must hold a label for every row of `X_target`; got {missing.sum()} "
            "missing or infinite. Pass rows without a label as `X_unlabeled`."
        )
    if task == "regression":
        return y_target.astype(y.dtype, copy=False)
    y_target = plain_numbers(y_target)
    if is_text(y) != is_text(y_target):
        raise ValueError(
            f"`y_target` must hold labels of the same type as y; got {y_target.dtype} and "
            f"{y.dtype}. Convert both to text or both to numbers."
        )
    return y_target


def check_object_labels(y: VectorLike) -> VectorLike:
    """Check class labels given as Python objects, and convert numbers to a numeric array."""
    labels = np.asarray(y)
    if labels.dtype != object or labels.ndim != 1:
        return y
    missing = missing_values(labels)
    if missing.any():
        raise ValueError(
            f"`y` must hold a label for every row of X; got {missing.sum()} missing, the first in "
            f"row {missing.argmax()}. Leave out source rows without a label."
        )
    text = np.array([isinstance(label, str) for label in labels.tolist()])
    if text.any() and not text.all():
        raise ValueError(
            "`y` must hold text in every row or numbers in every row; got "
            f"{labels[text.argmax()]!r} and {labels[text.argmin()]!r}. Convert the "
            "labels to one kind, for example with astype(str)."
        )
    return plain_numbers(labels)


def check_one_label_each(y_target: Vector, X_target: Matrix) -> None:
    """Raise unless there are as many target labels as target rows."""
    n_labels = y_target.shape[0] if y_target.ndim else 0
    if n_labels != _num_samples(X_target):
        raise ValueError(
            f"`y_target` must have one label for each of the {_num_samples(X_target)} rows of "
            f"`X_target`; got {n_labels}. Pass rows without a label as `X_unlabeled`."
        )


def union_of_classes(y: Vector, y_target: Vector | None, min_classes: int = 2) -> Vector:
    """The sorted labels of source and target."""
    classes = np.unique(y) if y_target is None else np.union1d(y, y_target)
    if classes.size < min_classes:
        raise ValueError(
            f"`y` must hold at least {min_classes} classes; got 1 class, {classes.tolist()[0]!r}. "
            "Add rows of another class, or check how the labels were read."
        )
    return classes


def check_sample_weight(
    sample_weight: VectorLike, X: Matrix, name: str = "sample_weight"
) -> Vector:
    """Return non-negative weights, one per row, not all zero."""
    if not np.asarray(sample_weight).any():
        raise ValueError(
            f"`{name}` must have a positive sum; got zeros only. "
            "Give at least one row a positive weight."
        )
    return _check_sample_weight(sample_weight, X, ensure_non_negative=True)


def check_groups(groups: VectorLike, n_rows: int) -> Vector:
    """Check the groups: one name per row, none missing."""
    if groups is None:
        raise ValueError(
            "`groups` must name the source of each row; got None. "
            "Pass groups=, for example the hospital or the year of each row."
        )
    # An array from a list of text and NaN would contain the text "nan" as a source.
    groups = np.asarray(groups, dtype=object if isinstance(groups, (list, tuple)) else None)
    if groups.ndim != 1 or groups.shape[0] != n_rows:
        raise ValueError(
            f"`groups` must name the source of each of the {n_rows} rows of X; got an array of "
            f"shape {groups.shape}. Pass one name per row."
        )
    missing = missing_values(groups)
    if missing.any():
        raise ValueError(
            f"`groups` must name the source of every row; got {missing.sum()} missing, the first "
            f"in row {missing.argmax()}. Fill in the names or drop those rows."
        )
    if groups.dtype != object:
        return groups if groups.dtype.kind in "biufU" else groups.astype(str)  # JSON types
    plain = np.array(groups.tolist())
    return plain if plain.dtype.kind in "biuU" else groups.astype(str)


def check_domain_sizes(domains: Vector, counts: Vector) -> None:
    """Require at least two domains of at least two rows; warn if there are only two."""
    if domains.size < 2:
        raise ValueError(
            f"`groups` must name at least two domains; got one, {domains.tolist()[0]!r}, with "
            f"n_samples={counts.sum()}. A feature can only be compared between domains. Pass the "
            "column that names the domain."
        )
    if counts.min() < 2:
        raise ValueError(
            "`groups` must have at least two rows per domain; got one row in "
            f"{domains[counts < 2].tolist()[:5]}. Drop such domains or join them with others."
        )
    if domains.size == 2:
        warn_caller(
            "With two domains there is one degree of freedom, so an effect must be nearly equal in "
            "both to be significant. Use more domains if possible.",
            FewSourcesWarning,
        )


def missing_values(names: Vector) -> Vector:
    """Mask of the entries that are None, NaN, NaT or pandas.NA."""
    if names.dtype.kind == "f":
        return np.isnan(names)
    if names.dtype.kind in "mM":
        return np.isnat(names)
    if names.dtype != object:
        return np.zeros(names.shape, dtype=bool)
    return np.array([_is_missing(name) for name in names.tolist()], dtype=bool)


def plain_numbers(labels: Vector) -> Vector:
    """Convert numbers and booleans in an array of Python objects to their type."""
    if labels.dtype != object or not all(isinstance(label, Number) for label in labels.tolist()):
        return labels
    numbers = np.array(labels.tolist())
    return numbers if numbers.dtype != object else numbers.astype(np.float64)  # decimals


def _is_missing(name: Any) -> bool:
    try:
        return name is None or bool(name != name)
    except TypeError:  # pandas.NA is neither equal to itself nor different
        return True


def is_text(labels: Vector) -> bool:
    """Whether labels are text."""
    return labels.dtype.kind in "OUST"
