"""Validation of matrices: numeric, finite, same columns in source and target."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from landbridge._sklearn_versions import validate_data
from landbridge._typing import Matrix, MatrixLike, Vector

FLOATS = [np.float64, np.float32]
# Kernels and variances multiply up to four numbers; beyond this size they overflow to NaN.
LARGEST = np.float64(1e75)
# Single precision holds such products only between these sizes; other rows become double.
SINGLE = (1e-9, 1e9)


def check_new_source(estimator: Any, X: MatrixLike, *, accept_sparse: bool = True) -> Matrix:
    """Check source rows at ``fit`` and record their columns on the estimator."""
    X = validated(estimator, X, accept_sparse=accept_sparse)
    return check_source_rows(X, seen_names(estimator))


def check_rows(
    estimator: Any, X: MatrixLike, fitted: str | None = None, *, accept_sparse: bool = True
) -> Matrix:
    """Check rows given to ``predict`` or ``transform``; ``fit`` sets the attribute ``fitted``."""
    if fitted is not None:
        check_is_fitted(estimator, fitted)
    X = validated(estimator, X, reset=False, accept_sparse=accept_sparse)
    return check_finite(X, "X", seen_names(estimator))


def validated(estimator: Any, X: MatrixLike, *y: Any, accept_sparse: bool, **options: Any) -> Any:
    """Check rows, and labels if given, by scikit-learn; numbers of any size pass."""
    options |= {"accept_sparse": "csr" if accept_sparse else False, "dtype": FLOATS}
    with sklearn_errors(X, "X"):
        return validate_data(estimator, X, *y, ensure_all_finite=False, **options)


def check_like_source(
    estimator: Any, X: MatrixLike, name: str, *, accept_sparse: bool = True
) -> Matrix:
    """Check another matrix of ``fit`` against the columns of the source."""
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
    check_same_names(names, seen_names(estimator), name)
    return check_finite(X, name, seen_names(estimator))


def check_finite(X: Matrix, name: str, columns: list[str] | None = None) -> Matrix:
    """Raise for the first NaN, infinity or number larger than `LARGEST`, with its position.

    Return the rows, in double precision if their products overflow or vanish in single precision.
    Several entries of a sparse matrix in one cell are summed, because methods square the entries.
    """
    if sparse.issparse(X) and X.format == "csr" and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    values = X.data if sparse.issparse(X) else X
    if values.size == 0:
        return X
    low, high = values.min(), values.max()
    if low >= -LARGEST and high <= LARGEST:  # false for NaN
        if X.dtype != np.float32 or SINGLE[0] <= max(-low, high) <= SINGLE[1]:
            return X
        return X.astype(np.float64)
    row, column = _first_unusable(X)
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
        "values first, for example with sklearn.impute.SimpleImputer in a Pipeline."
    )


def check_source_rows(X: Matrix, columns: list[str] | None) -> Matrix:
    """`check_finite` for the source; also raise if all products of its numbers vanish."""
    X = check_finite(X, "X", columns)
    values = X.data if sparse.issparse(X) else X
    largest = max(-values.min(initial=0), values.max(initial=0))
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


@contextmanager
def sklearn_errors(X: MatrixLike, name: str) -> Iterator[None]:
    """Add advice to scikit-learn's error messages."""
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


def _first_unusable(X: Matrix) -> tuple[int, int]:
    if sparse.issparse(X):
        entry = int(np.flatnonzero(~(np.abs(X.data) <= LARGEST))[0])
        row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
        return row, int(X.indices[entry])
    row, column = np.argwhere(~(np.abs(X) <= LARGEST))[0]
    return int(row), int(column)


def _is_numeric(column: Vector) -> bool:
    if column.dtype.kind in "biuf":
        return True
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True
