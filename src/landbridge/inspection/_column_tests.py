"""Tests on single columns: identifiers, times, copies of the label, and formats of text."""

import re
from datetime import date, datetime, timedelta

import numpy as np

from landbridge._typing import Vector
from landbridge._validation import missing_values

# At most this many values of a text column are examined.
MOST_TEXTS = 5000
FEWEST_ROWS = 20
# Shares of rows above which a column counts as an identifier, as naming the domain, as a copy of
# the label, or as having one format.
ALL_DIFFERENT, PURE, COPIED, NEARLY_ALL = 0.99, 0.995, 0.99, 0.9
# Number of words above which a typical text is free text.
FREE_WORDS = 4

_ID_NAME = re.compile(r"(^|[_\s.-])(id|uuid|guid|key|nr|no|index|number|code)$|^(id|index)", re.I)
_GROUP_NAME = re.compile(
    r"(patient|subject|user|customer|client|person|student|animal|machine|device|session|batch)",
    re.I,
)
_TIME_NAME = re.compile(
    r"(^|[_\s.-])(date|time|timestamp|datetime|year|month|day|week|hour)$", re.I
)
_CURRENCY = re.compile(
    r"^\s*[-+]?\s*([$€£¥]|usd|eur|gbp|chf)\s*[\d.,]+|[\d.,]+\s*([$€£¥]|usd|eur)\s*$", re.I
)
_PERCENT = re.compile(r"^\s*[-+]?[\d.,]+\s*%\s*$")
_THOUSANDS = re.compile(r"\d{1,3}([,' \u00a0]\d{3})+(\.\d+)?\b|\d{1,3}(\.\d{3})+(,\d+)\b")
_LEADING_ZERO = re.compile(r"^0\d+$")
MISSING_MARKS = frozenset(
    {"n/a", "na", "-", "--", "?", "none", "null", "nan", "missing", "unknown", "nil", ".", "#n/a"}
)


def plain(values: Vector) -> Vector:
    """Convert numbers to floats, dates to days since 1970, and the rest except booleans to
    objects."""
    if values.dtype.kind == "b":
        return values
    if values.dtype.kind in "iuf":
        return values.astype(np.float64)
    if values.dtype.kind in "mM":
        return values.astype("datetime64[s]" if values.dtype.kind == "M" else "timedelta64[s]")
    known = ~missing_values(values)
    some = values[known].tolist()
    if some and not all(isinstance(value, bool) for value in some):
        filled = values.copy()
        if all(isinstance(value, int | float) for value in some):
            filled[~known] = np.nan
            return filled.astype(np.float64)
        if all(isinstance(value, date) for value in some):
            filled[~known] = None
            return filled.astype("datetime64[s]")
    return values.astype(object)


def kind_of(known: Vector) -> str:
    """Type of a column in words."""
    if known.size == 0:
        return "empty"
    if known.dtype.kind in "mM":
        return "date"
    if known.dtype.kind == "f":
        return "number"
    if known.dtype.kind == "b" or isinstance(known.tolist()[0], bool):
        return "true or false"
    return "date" if isinstance(known.tolist()[0], date | datetime | timedelta) else "text"


def is_identifier(name: str, known: Vector, kind: str, n_unique: int) -> bool:
    """Whether (nearly) every row has a unique integer or code.

    Measurements with many digits are also unique. Therefore numbers must be integers that are
    nearly consecutive, increase along the rows, or have the name of an identifier. Texts must
    be single words.
    """
    if known.size < FEWEST_ROWS or n_unique < ALL_DIFFERENT * known.size:
        return False
    if kind == "number":
        whole = bool((known == np.round(known)).all())
        consecutive = known.max() - known.min() + 1 <= 2 * known.size
        # In a sample that keeps the order of the table, row numbers increase with gaps.
        rising = np.mean(np.diff(known) > 0) >= ALL_DIFFERENT and _TIME_NAME.search(name) is None
        return whole and bool(consecutive or rising or _ID_NAME.search(name) is not None)
    return kind == "text" and typical_words(known) < 2


def is_group(name: str, known: Vector, kind: str, n_unique: int) -> bool:
    """Whether the name indicates a group, such as "patient", and values repeat."""
    if kind not in ("number", "text") or not 2 < n_unique <= known.size / 2:
        return False
    if kind == "number" and not (known == np.round(known)).all():
        return False
    whose = _GROUP_NAME.search(name) is not None
    return whose and (_ID_NAME.search(name) is not None or n_unique >= 5)


def is_time(name: str, known: Vector, kind: str) -> bool:
    """Whether a column contains dates, or increasing numbers and has the name of a time."""
    if kind == "date":
        return True
    if kind != "number" or _TIME_NAME.search(name) is None:
        return False
    return bool(np.mean(np.diff(known) >= 0) >= NEARLY_ALL)


def within(values: Vector, groups: Vector) -> Vector:
    """Encode pairs of value and group as integers."""
    groups = _codes(groups)
    return _codes(values) * (groups.max(initial=0) + 1) + groups


def constant_within(values: Vector, groups: Vector) -> bool:
    """Whether every group has one value, and groups differ."""
    n_groups = np.unique(groups).size
    if n_groups < 2 or np.unique(_codes(values)).size < 2:
        return False
    return np.unique(within(values, groups)).size == n_groups


def names_groups(values: Vector, groups: Vector) -> bool:
    """Whether values identify groups, by disjoint ranges or by values unique to a group."""
    if values.size < FEWEST_ROWS or np.unique(groups).size < 2:
        return False
    if values.dtype.kind in "fmM":
        order = np.argsort(groups, kind="stable")
        starts = np.unique(groups[order], return_index=True)[1]
        least, most = (f.reduceat(values[order], starts) for f in (np.minimum, np.maximum))
        rising = np.lexsort([most, least])
        if (most[rising[:-1]] < least[rising[1:]]).all():
            return True
    # Values that are all unique would separate any two groups.
    codes, counts = np.unique(_codes(values), return_counts=True)
    if values.dtype.kind == "f" or codes.size > values.size / 5:
        return False
    return _purity(_codes(values), _codes(groups)) >= PURE and counts.min() > 1


def copies(values: Vector, labels: Vector) -> bool:
    """Whether a column and the label determine each other almost always."""
    if values.size < FEWEST_ROWS or np.unique(_codes(labels)).size < 2:
        return False
    if values.dtype.kind == "f" and labels.dtype.kind == "f":
        if np.ptp(values) == 0:
            return False
        if np.unique(labels).size > 20:
            return bool(abs(np.corrcoef(values, labels)[0, 1]) >= 0.999)
    a, b = _codes(values), _codes(labels)
    if values.dtype.kind == "f" and a.max() > b.max():  # numbers near one value per class
        a = _nearest_class(values, b)
    if a.max() != b.max():
        return False
    return _decides(a, b) and _decides(b, a)


def _nearest_class(values: Vector, classes: Vector) -> Vector:
    """Class whose median is closest to each value."""
    medians = np.array([np.median(values[classes == k]) for k in range(classes.max() + 1)])
    order = np.argsort(medians)
    return order[np.searchsorted((medians[order][1:] + medians[order][:-1]) / 2, values)]


def _decides(codes: Vector, groups: Vector) -> bool:
    """Whether codes and groups, even rare ones, correspond one to one in nearly all rows."""
    n = groups.max() + 1
    most = [np.bincount(groups[codes == k], minlength=n).argmax() for k in np.unique(codes)]
    return np.unique(most).size == n and _purity(codes, groups) >= COPIED


def _purity(codes: Vector, groups: Vector) -> float:
    """Share of rows that are in the most frequent group of their value."""
    # Count only pairs that occur, since a table of all values and groups may not fit into memory.
    pairs, counts = np.unique(codes * (groups.max() + 1) + groups, return_counts=True)
    starts = np.unique(pairs // (groups.max() + 1), return_index=True)[1]
    return float(np.maximum.reduceat(counts, starts).sum() / codes.size)


def _codes(values: Vector) -> Vector:
    if values.dtype == object:
        values = values.astype(str)
    return np.unique(values, return_inverse=True)[1]


def typical_words(known: Vector) -> float:
    """Median number of words of the texts."""
    return float(np.median([len(str(text).split()) for text in known[:MOST_TEXTS]]))


def writing_of(known: Vector) -> dict[str, bool]:
    """How the texts are written: amounts, percentages, marks of missing values, codes."""
    texts = [str(text).strip() for text in known[:MOST_TEXTS].tolist()]
    marks = [text.lower() in MISSING_MARKS for text in texts]
    others = [text for text, mark in zip(texts, marks, strict=True) if not mark]

    def nearly_all(pattern: re.Pattern[str]) -> bool:
        matched = sum(pattern.search(text) is not None for text in others)
        return bool(others) and matched >= NEARLY_ALL * len(others)

    digits = [text for text in others if any(c.isdigit() for c in text)]
    numbers = len(digits) >= NEARLY_ALL * max(len(others), 1) and bool(others)
    all_codes = bool(others) and all(text.isdigit() for text in others)
    return {
        "FREE_TEXT": typical_words(known) >= FREE_WORDS,
        "CURRENCY": nearly_all(_CURRENCY),
        "PERCENT": nearly_all(_PERCENT),
        "THOUSANDS": numbers and _grouped(others),
        "MISSING_MARKS": any(marks),
        "LEADING_ZEROS": all_codes and any(_LEADING_ZERO.match(text) for text in others),
    }


def _grouped(texts: list[str]) -> bool:
    """Whether the texts are numbers, some with thousands separators."""
    numeric = [text for text in texts if re.fullmatch(r"[-+$€£¥%\s\d.,'\u00a0]+", text)]
    some = any(_THOUSANDS.search(text) for text in numeric)
    return len(numeric) >= NEARLY_ALL * len(texts) and some
