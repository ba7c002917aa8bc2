"""Audit the columns of a table before models are fitted.

Identifiers, constants, columns that name the domain or copy the label, and numbers written as text
can invalidate a comparison without an error message. `audit_columns` finds them and suggests what
to do.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from landbridge._typing import Vector
from landbridge._validation import missing_values
from landbridge.inspection import _column_tests as tests
from landbridge.metrics.metric import percent


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
    labels = None if label is None else tests.plain(np.asarray(table[label]))
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
    values = tests.plain(values)
    missing = missing_values(values)
    known = values[~missing]
    kind = tests.kind_of(known)
    codes = known.astype(str) if known.dtype == object else known
    n_unique = np.unique(codes).size
    unique = n_unique / known.size if known.size else 0.0
    own = codes if domains is None else tests.within(codes, domains[~missing])
    findings = list(_own_findings(name, known, kind, n_unique, np.unique(own).size))
    if known.size and not any(finding in LEFT_OUT for finding in findings):
        findings += _findings_beside(values, missing, labels, domains)
    if kind == "text":
        findings += [Finding[name] for name, found in tests.writing_of(known).items() if found]
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
    elif tests.is_identifier(name, known, kind, n_within):
        yield Finding.IDENTIFIER
    elif tests.is_group(name, known, kind, n_unique):
        yield Finding.GROUP
    if known.size and n_unique > 1 and tests.is_time(name, known, kind):
        yield Finding.TIME


def _findings_beside(
    values: Vector, missing: Vector, labels: Vector | None, domains: Vector | None
) -> list[Finding]:
    """Findings from the column together with the label and the domain."""
    found = []
    if domains is not None:
        if tests.constant_within(values[~missing], domains[~missing]):
            found.append(Finding.CONSTANT_WITHIN_DOMAINS)
        elif tests.names_groups(values[~missing], domains[~missing]):
            found.append(Finding.NAMES_DOMAIN)
    if labels is not None:
        both = ~missing & ~missing_values(labels)
        if tests.copies(values[both], labels[both]):
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
