"""Summary of the input tables: rows, labels and missing cells of every domain."""

from typing import TYPE_CHECKING, Any

import numpy as np

from landbridge.inspection import ColumnAudit, audit_columns
from landbridge.metrics.metric import percent
from landbridge.report.blocks import plain, values_of

if TYPE_CHECKING:
    import polars as pl

MOST_CLASSES = 6


def summarise_data(
    features: "pl.DataFrame",
    domains: np.ndarray,
    labels: "pl.Series | None",
    *,
    target: str | None = None,
    task: str | None = None,
    audit: ColumnAudit | None = None,
) -> dict[str, Any]:
    """Summarise domains and columns, with the findings of the audit.

    Parameters
    ----------
    features : polars.DataFrame
        Columns used as features.
    domains : ndarray of shape (n_rows,)
        Domain of each row.
    labels : polars.Series or None
        Label of each row, missing where unknown.
    target : str, optional
        Name of the target domain.
    task : {"classification", "regression"} or None, optional
        Kind of label.
    audit : ColumnAudit, optional
        Audit of these columns and of those left out; by default of these alone.

    Returns
    -------
    dict
        A section of the summary.
    """
    missing = features.select(n.is_null() for n in features).to_numpy().mean(axis=1)
    entries = []
    for name in np.unique(domains):
        rows = domains == name
        own = None if labels is None else labels.filter(rows).drop_nulls()
        entries.append(
            {
                "name": name,
                "role": "target" if name == target else "source",
                "rows": int(rows.sum()),
                "labelled": 0 if own is None else len(own),
                "missing": missing[rows].mean(),
                "labels": "" if own is None else describe_labels(own, task),
            }
        )
    audit = audit_columns(features) if audit is None else audit
    return plain(
        {
            "label": "" if labels is None else labels.name,
            "task": task or "",
            "target": target or "",
            "domains": entries,
            "target_only_classes": _target_only_classes(domains, labels, target, task),
            "columns": [
                {
                    **values_of(column, "name", "missing", "unique", type="kind"),
                    "findings": [finding.value for finding in column.findings],
                }
                for column in audit.columns
            ],
        }
    )


def _target_only_classes(
    domains: np.ndarray, labels: "pl.Series | None", target: str | None, task: str | None
) -> list[str] | None:
    """Classes of labelled target rows that no source has; None without classes."""
    if labels is None or target is None or task != "classification":
        return None
    there, elsewhere = (
        set(labels.filter(rows).drop_nulls().to_list())
        for rows in (domains == target, domains != target)
    )
    return [str(name) for name in sorted(there - elsewhere)]


def describe_labels(labels: "pl.Series", task: str | None) -> str:
    """Mean and spread of numbers, shares of classes."""
    if not len(labels):
        return "none"
    if task == "regression":
        numbers = labels.to_numpy().astype(np.float64)
        return f"mean {numbers.mean():.4g}, from {numbers.min():.4g} to {numbers.max():.4g}"
    values, counts = np.unique(np.asarray(labels.to_list()), return_counts=True)
    most = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    shares = [f"{values[k]}: {percent(counts[k] / counts.sum())}" for k in most]
    return ", ".join(shares) + (" …" if values.size > MOST_CLASSES else "")
