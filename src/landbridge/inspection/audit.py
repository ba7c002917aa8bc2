"""Audit the columns of a table before models are fitted.

Identifiers, constants, columns that name the domain or copy the label, and numbers written as text
can invalidate a comparison without an error message. `audit_columns` finds them and suggests what
to do.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from typing import Any

import numpy as np

from landbridge._typing import Vector
from landbridge._validation import missing_values
from landbridge.metrics.metric import percent

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


class Finding(Enum):
    """Problem with a column; the value describes it and says what to do."""

    IDENTIFIER = "every row has its own value; left out (--keep to use it)"
    CONSTANT = "has only one value; left out (--keep to use it)"
    EMPTY = "has no values; left out"
    CONSTANT_WITHIN_DOMAINS = (
        "is constant within each domain and only identifies the domain; `features` never picks "
        "it, other commands use it unless it is left out with --drop"
    )
    NAMES_DOMAIN = (
        "separates the domains almost perfectly; leave it out with --drop if the label does not "
        "depend on it"
    )
    COPY_OF_LABEL = (
        "is almost a copy of the label; leave it out with --drop unless it is known before the "
        "label"
    )
    TIME = (
        "looks like a time; if the model will predict the future, pass it as --time, so that "
        "folds respect the order"
    )
    GROUP = (
        "names groups of rows that belong together; pass it as --group, so that no group is "
        "split between folds"
    )
    FREE_TEXT = "is free text; leave it out with --drop if it is unrelated to the label"
    CURRENCY = "contains amounts of money and is read as text; remove the currency sign"
    PERCENT = "contains percentages and is read as text; remove the percent sign"
    THOUSANDS = (
        "contains numbers with thousands separators and is read as text; remove the separators"
    )
    MISSING_MARKS = (
        "marks missing values with words or signs, which are used as values; pass them as --missing"
    )
    LEADING_ZEROS = (
        "has codes with leading zeros and is read as text; leave it out with --drop if it is a name"
    )
    MOSTLY_MISSING = (
        "is missing in more than half of the rows; used unless it is left out with --drop"
    )


LEFT_OUT = (Finding.IDENTIFIER, Finding.CONSTANT, Finding.EMPTY)


@dataclass(frozen=True, slots=True)
class AuditedColumn:
    """Column with its type and findings.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"number", "text", "date", "true or false", "empty"}
        Type of the column.
    missing : float
        Share of rows without a value.
    unique : float
        Number of distinct values divided by the number of rows with a value.
    findings : tuple of Finding
        Problems found in the column.
    """

    name: str
    kind: str
    missing: float
    unique: float
    findings: tuple[Finding, ...]

    @property
    def left_out(self) -> bool:
        """Whether the column is left out by default: identifiers, constants, empty columns."""
        return any(finding in LEFT_OUT for finding in self.findings)


@dataclass(frozen=True, slots=True)
class ColumnAudit:
    """Result of `audit_columns`.

    Parameters
    ----------
    columns : tuple of AuditedColumn
        All columns except the label and the domain, in the order of the table.
    """

    columns: tuple[AuditedColumn, ...]

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of the columns that are left out by default."""
        return tuple(column.name for column in self.columns if column.left_out)

    def with_finding(self, *findings: Finding) -> tuple[str, ...]:
        """Names of the columns with one of the findings.

        Returns
        -------
        tuple of str
            Names of columns.
        """
        return tuple(c.name for c in self.columns if any(f in findings for f in c.findings))

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence per finding, naming its columns."""
        return self.sentences_about(*Finding)

    def sentences_about(self, *findings: Finding) -> tuple[str, ...]:
        """One sentence per given finding, naming its columns.

        Returns
        -------
        tuple of str
            One sentence per finding that occurs.
        """
        found = []
        for finding in findings:
            names = self.with_finding(finding)
            if names:
                listed = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
                found.append(f"{listed}: {finding.value}")
        return tuple(found)

    def __str__(self) -> str:
        width = max([6, *(len(column.name) for column in self.columns)])
        lines = [f"{'column':<{width}}  {'type':<13}  missing   unique  findings"]
        for c in self.columns:
            words = ", ".join(finding.name.lower().replace("_", " ") for finding in c.findings)
            figures = f"{percent(c.missing, 1):>7}  {percent(c.unique, 1):>7}"
            lines.append(f"{c.name:<{width}}  {c.kind:<13}  {figures}  {words}".rstrip())
        return "\n".join([*lines, *self.sentences])


def audit_columns(
    table: Any, *, label: str | None = None, domain: str | None = None
) -> ColumnAudit:
    """Find columns of a table that would invalidate a comparison.

    Parameters
    ----------
    table : pandas or polars table
        The table to audit.
    label, domain : str, optional
        Names of the columns with the labels and the domains. Without them, copies of the label and
        columns that name the domain are not detected.

    Returns
    -------
    ColumnAudit
        Types and findings of all columns.

    Examples
    --------
    >>> import polars as pl
    >>> from landbridge.inspection import audit_columns
    >>> table = pl.DataFrame({
    ...     "row_id": range(40), "price": ["$1,200", "$950"] * 20, "unit": ["kg"] * 40,
    ...     "sold": [0, 1] * 20})
    >>> audit = audit_columns(table, label="sold")
    >>> audit.left_out
    ('row_id', 'unit')
    >>> [finding.name for finding in audit.columns[1].findings]
    ['COPY_OF_LABEL', 'CURRENCY', 'THOUSANDS']
    >>> from landbridge.inspection import Finding
    >>> audit.with_finding(Finding.CURRENCY)
    ('price',)
    >>> print(audit.sentences_about(Finding.CURRENCY)[0])
    price: contains amounts of money and is read as text; remove the currency sign
    """
    names = _check_table(table, label, domain)
    labels = None if label is None else plain(np.asarray(table[label]))
    domains = None
    if domain is not None:  # numbers are compared faster than names
        domains = np.unique(np.asarray(table[domain]).astype(str), return_inverse=True)[1]
    columns = [
        audit_column(name, np.asarray(table[name]), labels, domains)
        for name in names
        if name not in (label, domain)
    ]
    return ColumnAudit(tuple(columns))


def audit_column(
    name: str, values: Vector, labels: Vector | None = None, domains: Vector | None = None
) -> AuditedColumn:
    """Audit one column, given the labels and domains of the same rows."""
    values = plain(values)
    missing = missing_values(values)
    known = values[~missing]
    kind = kind_of(known)
    codes = known.astype(str) if known.dtype == object else known
    n_unique = np.unique(codes).size
    unique = n_unique / known.size if known.size else 0.0
    own = codes if domains is None else within(codes, domains[~missing])
    findings = list(_own_findings(name, known, kind, n_unique, np.unique(own).size))
    if known.size and not any(finding in LEFT_OUT for finding in findings):
        findings += _findings_beside(values, missing, labels, domains)
    if kind == "text":
        findings += [Finding[name] for name, found in writing_of(known).items() if found]
    share = float(missing.mean()) if missing.size else 1.0
    if 0.5 < share < 1:
        findings.append(Finding.MOSTLY_MISSING)
    return AuditedColumn(name, kind, share, float(unique), tuple(findings))


def _own_findings(
    name: str, known: Vector, kind: str, n_unique: int, n_within: int
) -> Iterable[Finding]:
    """Findings from the values of the column alone.

    ``n_within`` counts distinct values within domains, because files of several domains may use the
    same row numbers.
    """
    if known.size == 0:
        yield Finding.EMPTY
    elif n_unique == 1:
        yield Finding.CONSTANT
    elif is_identifier(name, known, kind, n_within):
        yield Finding.IDENTIFIER
    elif is_group(name, known, kind, n_unique):
        yield Finding.GROUP
    if known.size and n_unique > 1 and is_time(name, known, kind):
        yield Finding.TIME


def _findings_beside(
    values: Vector, missing: Vector, labels: Vector | None, domains: Vector | None
) -> list[Finding]:
    """Findings from the column together with the label and the domain."""
    found = []
    if domains is not None:
        if constant_within(values[~missing], domains[~missing]):
            found.append(Finding.CONSTANT_WITHIN_DOMAINS)
        elif names_groups(values[~missing], domains[~missing]):
            found.append(Finding.NAMES_DOMAIN)
    if labels is not None:
        both = ~missing & ~missing_values(labels)
        if copies(values[both], labels[both]):
            found.append(Finding.COPY_OF_LABEL)
    return found


def _check_table(table: Any, label: str | None, domain: str | None) -> list[str]:
    if not hasattr(table, "columns"):
        raise ValueError(
            f"`table` must be a pandas or polars table; got {type(table).__name__}. Convert it "
            "to a table with column names first."
        )
    names = list(table.columns)
    for option, name in (("label", label), ("domain", domain)):
        if name is not None and name not in names:
            raise ValueError(
                f"`{option}` must name a column of the table; got {name!r}. The columns are "
                f"{', '.join(map(str, names[:20]))}."
            )
    return names


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
