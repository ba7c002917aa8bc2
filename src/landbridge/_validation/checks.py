"""Checks of parameters, of rows, and of labels, groups and weights."""

import functools
import inspect
import numbers
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.utils import check_array, column_or_1d, get_tags
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted

from landbridge._sklearn_versions import validate_data
from landbridge._typing import Matrix, MatrixLike, Vector, VectorLike
from landbridge._warn import warn_caller
from landbridge.exceptions import FewSourcesWarning

Task = Literal["classification", "regression"]
P = ParamSpec("P")
R = TypeVar("R")
# Integers with more distinct values than this are counts, not classes.
MOST_CLASSES = 30
FLOATS = [np.float64, np.float32]
# Kernels and variances multiply up to four numbers; beyond this size they overflow to NaN.
LARGEST = np.float64(1e75)
# Single precision holds such products only between these sizes; other rows become double.
SINGLE = (1e-9, 1e9)

# Parameters.


def is_number(value: Any) -> bool:
    """Whether ``value`` is a real number, not text, a list or a boolean; NaN is accepted."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_count(value: Any, least: int = 1) -> bool:
    """Whether ``value`` is an integer of at least ``least``."""
    return is_number(value) and isinstance(value, numbers.Integral) and int(value) >= least


def check_not_negative(value: Any, name: str) -> None:
    """Raise unless ``value`` is a finite number of at least 0."""
    if not (is_number(value) and 0 <= value < np.inf):
        raise ValueError(f"`{name}` must be a finite number of at least 0; got {value!r}.")


def check_positive(value: Any, name: str, reason: str = "") -> None:
    """Raise unless ``value`` is a finite number above 0; ``reason`` is added to the message."""
    if not (is_number(value) and 0 < value < np.inf):
        because = f", {reason}" if reason else ""
        raise ValueError(f"`{name}` must be a finite number above 0{because}; got {value!r}.")


def check_count(value: Any, name: str, *, least: int = 1, optional: bool = False) -> None:
    """Raise unless ``value`` is an integer of at least ``least``, or None where ``optional``."""
    if not (is_count(value, least) or (optional and value is None)):
        allowed = f"a whole number of at least {least}{' or None' if optional else ''}"
        raise ValueError(f"`{name}` must be {allowed}; got {value!r}.")


def count_jobs(n_jobs: Any) -> int:
    """Number of workers for ``n_jobs``; None is 1 unless joblib is configured otherwise."""
    whole = is_number(n_jobs) and isinstance(n_jobs, numbers.Integral)
    if n_jobs is not None and (not whole or n_jobs == 0):
        raise ValueError(
            "`n_jobs` must be None, a whole number of parallel jobs, or -1 for all cores; got "
            f"{n_jobs!r}. Pass 1 to run one task after the other."
        )
    return effective_n_jobs(n_jobs)


def check_memory(n_bytes: int, what: str, remedy: str) -> None:
    """Raise if a matrix would not fit into free memory."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not on this system
        return
    if n_bytes > free:
        raise MemoryError(
            f"{what} needs about {n_bytes / 2**30:.0f} GiB of memory; {free / 2**30:.0f} GiB are "
            f"free. {remedy}"
        )


def check_estimator_given(value: Any, name: str = "estimator") -> None:
    """Raise unless ``value`` is an estimator: an instance, not a class, with ``fit``."""
    if isinstance(value, type):
        raise TypeError(
            f"`{name}` must be an estimator instance; got the class {value.__name__}. Pass "
            f"{value.__name__}() with its parameters."
        )
    if not hasattr(value, "fit"):
        raise TypeError(
            f"`{name}` must be an estimator with a fit method; got {value!r}. Pass for example "
            "LogisticRegression() or Ridge()."
        )


def check_probabilistic(classifier: Any, name: str) -> None:
    """Raise if a classifier has no ``predict_proba``; None is accepted."""
    if isinstance(classifier, type):
        check_estimator_given(classifier, name)
    if classifier is not None and not hasattr(classifier, "predict_proba"):
        raise ValueError(
            f"`{name}` must have predict_proba; got {type(classifier).__name__}, which does not. "
            "Wrap it in sklearn.calibration.CalibratedClassifierCV, for example."
        )


def check_choice(value: Any, name: str, choices: list[Any] | tuple[Any, ...]) -> None:
    """Raise unless ``value`` is one of ``choices``."""
    if not any(value is choice or value == choice for choice in choices):
        known = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"`{name}` must be one of {known}; got {value!r}.")


# Rows.


def refuse_masked(given: Mapping[str, Any]) -> None:
    """Raise if an array has masked values, which numpy would replace by whatever is below."""
    for name, values in given.items():
        if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
            mask = np.ma.getmaskarray(values)
            first = np.argwhere(mask)[0].tolist()
            raise ValueError(
                f"`{name}` must have no masked values; got {mask.sum()}, the first at position "
                f"{first if len(first) > 1 else first[0]}. Fill them with {name}.filled(value), or "
                "leave out those rows."
            )


def without_masks(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function or method, so that it refuses arrays with masked values."""
    names = tuple(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*args: P.args, **options: P.kwargs) -> R:
        refuse_masked(dict(zip(names, args, strict=False)) | options)
        return function(*args, **options)

    return checked


def check_new_source(estimator: Any, X: MatrixLike, *, accept_sparse: bool = True) -> Matrix:
    """Check source rows at ``fit`` and record their columns on the estimator."""
    X = validated(estimator, X, accept_sparse=accept_sparse)
    return check_source_rows(estimator, X)


def check_rows(
    estimator: Any, X: MatrixLike, fitted: str | None = None, *, accept_sparse: bool = True
) -> Matrix:
    """Check rows given to ``predict`` or ``transform``; ``fit`` sets the attribute ``fitted``."""
    if fitted is not None:
        check_is_fitted(estimator, fitted)
    X = validated(estimator, X, reset=False, accept_sparse=accept_sparse)
    return check_finite(X, "X", seen_names(estimator), allow_nan=allows_nan(estimator))


def validated(estimator: Any, X: MatrixLike, *y: Any, accept_sparse: bool, **options: Any) -> Any:
    """Check rows, and labels if given, by scikit-learn; numbers of any size pass."""
    options |= {"accept_sparse": "csr" if accept_sparse else False, "dtype": FLOATS}
    refuse_masked({"X": X, **dict(zip("y", y, strict=False))})
    refuse_dates(X, "X")
    with sklearn_errors(X, "X"):
        return validate_data(estimator, X, *y, ensure_all_finite=False, **options)


def check_like_source(
    estimator: Any, X: MatrixLike, name: str, *, accept_sparse: bool = True
) -> Matrix:
    """Check another matrix of ``fit`` against the columns of the source."""
    names = column_names(X)
    refuse_masked({name: X})
    refuse_dates(X, name)
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
    check_same_names(names, seen_names(estimator), name)
    return check_finite(X, name, seen_names(estimator), allow_nan=allows_nan(estimator))


def allows_nan(estimator: Any) -> bool:
    """Whether the tags of an estimator say that it handles missing values."""
    return get_tags(estimator).input_tags.allow_nan


def check_finite(
    X: Matrix, name: str, columns: list[str] | None = None, *, allow_nan: bool = False
) -> Matrix:
    """Raise for the first NaN, infinity or number larger than `LARGEST`, with its position.

    With ``allow_nan``, NaN is a missing value that the estimator handles. Return the rows, in
    double precision if their products overflow or vanish in single precision. Several entries of a
    sparse matrix in one cell are summed, because methods square the entries.
    """
    X = without_duplicates(X)
    values = X.data if sparse.issparse(X) else X
    if allow_nan:
        values = values[~np.isnan(values)]
    if values.size == 0:
        return X
    low, high = values.min(), values.max()
    if low >= -LARGEST and high <= LARGEST:  # false for NaN
        if X.dtype != np.float32 or SINGLE[0] <= max(-low, high) <= SINGLE[1]:
            return X
        return X.astype(np.float64)
    row, column = _first_unusable(X, allow_nan)
    place = repr(columns[column]) if columns else str(column)
    value = X[row, column]
    if np.isfinite(value):
        raise ValueError(
            f"`{name}` must hold numbers of at most {LARGEST:g} in absolute value, whose products "
            f"do not overflow; got {value:g} in row {row}, column {place}. Correct the value, or "
            "scale the column."
        )
    raise ValueError(
        f"`{name}` must hold only finite numbers, no NaN and no infinity; got "
        f"{'NaN' if np.isnan(value) else 'inf'} in row {row}, column {place}. Impute or drop such "
        "values first, for example with sklearn.impute.SimpleImputer in a Pipeline, or as the "
        "`preprocessor` of a search."
    )


def without_duplicates(X: MatrixLike) -> MatrixLike:
    """The rows, with sorted and summed entries if they are a CSR matrix; never changed in place.

    Comparisons of scipy sum the entries of their argument.
    """
    if sparse.issparse(X) and X.format == "csr" and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def check_source_rows(estimator: Any, X: Matrix) -> Matrix:
    """`check_finite` for the source; also raise if all products of its numbers vanish."""
    X = check_finite(X, "X", seen_names(estimator), allow_nan=allows_nan(estimator))
    values = X.data if sparse.issparse(X) else X
    # Unlike min and max, fmin and fmax ignore missing values.
    low, high = (f.reduce(values, axis=None, initial=0) for f in (np.fmin, np.fmax))
    largest = max(-low, high)
    if 0 < largest < 1 / LARGEST:
        raise ValueError(
            f"`X` must hold numbers of at least {1 / LARGEST:g} in absolute value, whose products "
            f"do not vanish; got at most {largest:g}. Scale the columns."
        )
    return X


def stack_rows(parts: list[Matrix]) -> Matrix:
    """Stack matrices, sparse if any is sparse; tables and lists keep their type."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], list):
        return [row for part in parts for row in part]
    library = type(parts[0]).__module__.partition(".")[0]
    if library in ("pandas", "polars") and hasattr(parts[0], "columns"):
        # A column may have integers in one table and floats in another; pandas handles this itself.
        options = {"ignore_index": True} if library == "pandas" else {"how": "vertical_relaxed"}
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


def non_numeric_columns(X: MatrixLike) -> list[str]:
    """Names of the non-numeric columns of a table."""
    names = column_names(X)
    if names is None:
        return []
    return [name for name in names if not _is_numeric(np.asarray(X[name]))]


def seen_names(estimator: Any) -> list[str] | None:
    """Column names recorded by the estimator, if any."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else list(names)


def refuse_dates(X: MatrixLike, name: str) -> None:
    """Raise for dates and durations, whose numbers would depend on their unit."""
    dtypes = X.dtypes if hasattr(X, "columns") else [getattr(X, "dtype", None)]
    if any(_is_date(dtype) for dtype in dtypes):
        raise ValueError(
            f"`{name}` must have numeric columns only; got dates or durations. Convert them to "
            "numbers, for example to days since the first date."
        )


def _is_date(dtype: Any) -> bool:
    if hasattr(dtype, "is_temporal"):  # polars
        return bool(dtype.is_temporal())
    return getattr(dtype, "kind", None) in ("m", "M")


@contextmanager
def sklearn_errors(X: MatrixLike, name: str) -> Iterator[None]:
    """Add advice to scikit-learn's error messages."""
    try:
        yield
    except (ValueError, TypeError) as error:
        message = str(error)
        if message.startswith(("Expected 2D", "Found array with dim", "np.matrix")):
            raise type(error)(f"`{name}` must be a table of rows and columns. {message}") from error
        if np.iscomplexobj(X) and message.startswith("Complex data"):
            raise ValueError(f"`{name}` must hold real numbers. {message}") from error
        if "could not convert string to float" in message or "Unable to convert" in message:
            text = non_numeric_columns(X)
            raise ValueError(
                f"`{name}` must have numeric columns only; got text in {text or 'some column'}. "
                "Encode it first, for example with skrub.TableVectorizer or "
                "sklearn.preprocessing.OneHotEncoder, in a Pipeline around this estimator or as "
                "the `preprocessor` of a search."
            ) from error
        if "while a minimum of" in message:
            raise ValueError(
                f"{message} `{name}` must have at least one row and one column: check the filter "
                "or the file that it comes from."
            ) from error
        if message.startswith("Input y contains"):
            raise ValueError(
                f"{message} `y` must hold a label for every row of X: leave out source rows "
                "without one."
            ) from error
        if "inconsistent numbers of samples" in message:
            raise ValueError(
                f"`y` must have one label for each row of X; got {message.split(': ')[-1]} rows. "
                "Pass rows and labels of the same table."
            ) from error
        raise


def check_same_names(names: list[str] | None, source: list[str] | None, name: str) -> None:
    """Raise if both have column names and these differ."""
    if names is None or source is None or names == source:
        return
    strange = [column for column in names if column not in source]
    if strange:
        got = f"{strange[:5]}, which X does not have"
    else:
        got = "them in another order"
    raise ValueError(
        f"`{name}` must have the columns of X in the same order; got {got}. "
        f"Select them by name: {name}[list(X.columns)]."
    )


def _first_unusable(X: Matrix, allow_nan: bool) -> tuple[int, int]:
    values = X.data if sparse.issparse(X) else X
    unusable = np.abs(values) > LARGEST if allow_nan else ~(np.abs(values) <= LARGEST)
    if sparse.issparse(X):
        entry = int(np.flatnonzero(unusable)[0])
        row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
        return row, int(X.indices[entry])
    row, column = np.argwhere(unusable)[0]
    return int(row), int(column)


def _is_numeric(column: Vector) -> bool:
    if column.dtype.kind in "biuf":
        return True
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


# Labels, groups and weights.


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
    refuse_masked({"y": y})
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
    if sparse.issparse(y):
        raise TypeError(f"`{name}` must be a dense array; got sparse data. Call its toarray().")
    refuse_masked({name: y})
    labels = np.asarray(y)
    if labels.dtype == object:
        _check_complete(
            labels, f"`{name}` must hold a number for every row", "Leave out rows without a label."
        )
    objects = labels.ravel().tolist() if labels.dtype == object else []
    if labels.dtype.kind in "mMUSV" or any(isinstance(label, str) for label in objects):
        raise ValueError(
            f"`{name}` must hold numbers for regression; got {labels.ravel().tolist()[0]!r}. "
            "Convert the labels to numbers, or use a classifier."
        )
    labels = plain_numbers(labels)
    if labels.dtype.kind in "fiu" and labels.size:
        sizes = np.abs(labels.astype(np.float64))
        if sizes.max() > LARGEST and np.isfinite(sizes.max()):
            raise ValueError(
                f"`{name}` must hold numbers of at most {LARGEST:g} in absolute value, whose "
                f"squares do not overflow; got {sizes.max():g}. Correct the value, or scale the "
                "labels."
            )
    return labels


def check_target_labels(y_target: VectorLike, X_target: Matrix, y: Vector, task: Task) -> Vector:
    """Check that target labels match the rows, are complete and have the type of source labels."""
    refuse_masked({"y_target": y_target})
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
    refuse_masked({"y": y})
    labels = np.asarray(y)
    if labels.dtype != object or labels.ndim != 1:
        return y
    _check_complete(
        labels, "`y` must hold a label for every row of X", "Leave out source rows without a label."
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
    try:
        classes = np.unique(y) if y_target is None else np.union1d(y, y_target)
    except TypeError as error:
        raise ValueError(
            f"`y` and `y_target` must hold labels of one kind, which can be sorted; got {error}. "
            "Convert all of them to text or all to numbers."
        ) from error
    if classes.size < min_classes:
        raise ValueError(
            f"`y` must hold at least {min_classes} classes; got 1 class, {classes.tolist()[0]!r}. "
            "Add rows of another class, or check how the labels were read."
        )
    return classes


def check_sample_weight(
    sample_weight: VectorLike, X: Matrix, name: str = "sample_weight"
) -> Vector:
    """Return non-negative weights, one per row, not all zero, whose squares have a sum."""
    refuse_masked({name: sample_weight})
    if not np.asarray(sample_weight).any():
        raise ValueError(
            f"`{name}` must have a positive sum; got zeros only. "
            "Give at least one row a positive weight."
        )
    try:
        weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    except (ValueError, TypeError) as error:
        message = str(error).replace("`sample_weight`", "sample_weight")
        raise type(error)(message.replace("sample_weight", f"`{name}`")) from error
    largest = weights.max()
    if not 1 / LARGEST <= largest <= LARGEST:
        raise ValueError(
            f"`{name}` must have a largest weight between {1 / LARGEST:g} and {LARGEST:g}, whose "
            f"square neither vanishes nor overflows; got {largest:g}. Divide the weights by their "
            "mean."
        )
    return weights


def check_groups(groups: VectorLike, n_rows: int) -> Vector:
    """Check the groups: one name per row, none missing."""
    if groups is None:
        raise ValueError(
            "`groups` must name the source of each row; got None. "
            "Pass groups=, for example the hospital or the year of each row."
        )
    refuse_masked({"groups": groups})
    # An array from a list of text and NaN would contain the text "nan" as a source.
    groups = np.asarray(groups, dtype=object if isinstance(groups, (list, tuple)) else None)
    if groups.ndim != 1 or groups.shape[0] != n_rows:
        raise ValueError(
            f"`groups` must name the source of each of the {n_rows} rows of X; got an array of "
            f"shape {groups.shape}. Pass one name per row."
        )
    _check_complete(
        groups,
        "`groups` must name the source of every row",
        "Fill in the names or drop those rows.",
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


def _check_complete(values: Vector, requirement: str, advice: str) -> None:
    missing = missing_values(values.ravel())
    if missing.any():
        raise ValueError(
            f"{requirement}; got {missing.sum()} missing, the first in row {missing.argmax()}. "
            f"{advice}"
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
    given = labels.tolist() if labels.dtype == object and labels.ndim == 1 else []
    if not given or not all(isinstance(label, numbers.Number) for label in given):
        return labels
    if any(isinstance(label, numbers.Integral) and abs(int(label)) >= 2**63 for label in given):
        raise ValueError(
            f"Integer labels must be below 2**63; got {max(given, key=abs)}. Convert them to text."
        )
    plain = np.array(given)
    return plain if plain.dtype != object else plain.astype(np.float64)  # decimals


def _is_missing(name: Any) -> bool:
    try:
        return name is None or bool(name != name)
    except TypeError:  # pandas.NA is neither equal to itself nor different
        return True


def is_text(labels: Vector) -> bool:
    """Whether labels are text."""
    return labels.dtype.kind in "OUST"
