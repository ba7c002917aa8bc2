"""Encode two sets of rows from any kind of table as comparable numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from landbridge._typing import Matrix, MatrixLike, Vector
from landbridge._validation import column_names, without_duplicates

# Maximum number of indicators per text column, and of compared columns of a sparse matrix.
MOST_VALUES, MOST_SPARSE = 10, 2000
# Maximum number of word indicators per column of free text.
MOST_WORDS = 50


@dataclass(frozen=True, slots=True, eq=False)
class ComparableRows:
    """Labelled and unlabelled rows as float matrices, with the original name of each column."""

    labelled: Matrix
    unlabelled: Matrix
    names: tuple[str, ...]

    def column(self, k: int) -> tuple[Vector, Vector]:
        """Values of one column in both parts."""
        return _dense_column(self.labelled, k), _dense_column(self.unlabelled, k)


def comparable_rows(
    X_labelled: MatrixLike, X_unlabelled: MatrixLike, feature_names: Sequence[str] | None
) -> ComparableRows:
    """Encode both parts in the same way.

    Numbers are kept, and dates become days. Text becomes indicators of its ten most frequent
    values, or of its fifty most frequent words if most values differ. Missing values are replaced
    by the median and marked by an indicator.
    """
    if sparse.issparse(X_labelled) or sparse.issparse(X_unlabelled):
        first, second = map(sparse.csr_array, (X_labelled, X_unlabelled))
        return _sparse(without_duplicates(first), without_duplicates(second), feature_names)
    names = column_names(X_labelled)
    if hasattr(X_labelled, "columns"):
        keys = list(X_labelled.columns)
        parts = [[np.asarray(part[key]) for key in keys] for part in (X_labelled, X_unlabelled)]
        names = [str(key) for key in keys]
    else:
        arrays = [np.asarray(part) for part in (X_labelled, X_unlabelled)]
        if arrays[0].ndim != 2 or arrays[1].ndim != 2 or arrays[0].shape[1] != arrays[1].shape[1]:
            raise ValueError(
                "`X_labelled` and `X_unlabelled` must be tables with the same columns; got shapes "
                f"{arrays[0].shape} and {arrays[1].shape}. Select the same columns in both."
            )
        parts = [list(array.T) for array in arrays]
    names = _check_names(feature_names, names, len(parts[0]))
    columns, of = [], []
    for first, second, name in zip(*parts, names, strict=True):
        encoded = _encode(np.concatenate([_plain(first), _plain(second)]))
        columns += encoded
        of += [name] * len(encoded)
    n = len(parts[0][0])
    X = np.column_stack(columns)
    return ComparableRows(X[:n], X[n:], tuple(of))


def _plain(values: Vector) -> Vector:
    """Numbers as floats, dates as days, everything else as objects."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind in "mM":
        days = values.astype("datetime64[s]" if values.dtype.kind == "M" else "timedelta64[s]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64) / 86400.0)
    try:
        return np.array([np.nan if value is None else value for value in values.tolist()], float)
    except (TypeError, ValueError):
        return values.astype(object)


def _encode(values: Vector) -> list[Vector]:
    if values.dtype == object:
        texts = np.array(["" if _is_missing(value) else str(value) for value in values])
        found, counts = np.unique(texts, return_counts=True)
        if found.size > texts.size / 2:
            return _words(texts)
        frequent = found[np.argsort(-counts, kind="stable")][:MOST_VALUES]
        return [(texts == value).astype(np.float64) for value in frequent]
    missing = ~np.isfinite(values)
    if not missing.any():
        return [values]
    middle = float(np.median(values[~missing])) if (~missing).any() else 0.0
    return [np.where(missing, middle, values), missing.astype(np.float64)]


def _words(texts: Vector) -> list[Vector]:
    """Indicators of the most frequent words, except those in all texts or in only one."""
    found = [set(text.lower().split()) for text in texts.tolist()]
    counts = Counter(word for words in found for word in words)
    usual = {word: n for word, n in counts.items() if 1 < n < len(texts)}
    chosen = sorted(usual, key=lambda word: (-usual[word], word))[:MOST_WORDS]
    if not chosen:
        return [np.zeros(len(texts))]
    return [np.array([word in words for words in found], dtype=np.float64) for word in chosen]


def _is_missing(value: Any) -> bool:
    return value is None or value != value


def _sparse(first: Matrix, second: Matrix, feature_names: Sequence[str] | None) -> ComparableRows:
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            "`X_labelled` and `X_unlabelled` must be tables with the same columns; got shapes "
            f"{first.shape} and {second.shape}. Select the same columns in both."
        )
    names = _check_names(feature_names, None, first.shape[1])
    used = np.asarray((first != 0).sum(axis=0) + (second != 0).sum(axis=0)).ravel()
    keep = np.sort(np.argsort(-used, kind="stable")[:MOST_SPARSE])
    return ComparableRows(first[:, keep], second[:, keep], tuple(names[k] for k in keep))


def _check_names(
    given: Sequence[str] | None, own: Sequence[str] | None, n_columns: int
) -> list[str]:
    if given is not None and len(given) != n_columns:
        raise ValueError(
            f"`feature_names` must name each of the {n_columns} columns; got {len(given)} names. "
            "Pass one name per column, or None."
        )
    if given is not None:
        return [str(name) for name in given]
    return list(own) if own is not None else [f"column {k}" for k in range(n_columns)]


def _dense_column(X: Matrix, k: int) -> Vector:
    return X[:, [k]].toarray().ravel() if sparse.issparse(X) else X[:, k]
