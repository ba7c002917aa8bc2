"""Parts of `diagnose` about labels and columns: audit, label check and loss split."""

from typing import TYPE_CHECKING, Any

import numpy as np

from landbridge.cli._problem import Problem
from landbridge.cli._table_encoder import TableEncoder
from landbridge.inspection import (
    ColumnAudit,
    LabelCheck,
    LossSplit,
    check_labels,
    explain_loss,
)
from landbridge.inspection.audit import Finding
from landbridge.inspection.loss_split import FEWEST
from landbridge.report.blocks import P_VALUE, Column, Heading, Text, make_table, plain
from landbridge.report.search_summary import summarise_label_check
from landbridge.report.tables import columns_table

if TYPE_CHECKING:
    from landbridge.report.blocks import Block


# With more columns, only those with findings are listed.
MOST_COLUMNS = 40
# Findings that affect the interpretation of results. The other findings were handled, or describe
# how cells were read.
CAUTIONS = (
    Finding.CONSTANT_WITHIN_DOMAINS,
    Finding.NAMES_DOMAIN,
    Finding.COPY_OF_LABEL,
    Finding.TIME,
    Finding.GROUP,
    Finding.MISSING_MARKS,
    Finding.CURRENCY,
    Finding.MOSTLY_MISSING,
)
# Findings about folds, for commands that split the rows of a domain.
OF_FOLDS = (Finding.TIME, Finding.GROUP)


def column_cautions(problem: Problem, *, folds: bool = True) -> list[str]:
    """Sentences about columns to check before results are trusted.

    Without ``folds``, times and groups are not mentioned, because no domain is split.
    """
    settled = {Finding.TIME: problem.times, Finding.GROUP: problem.groups}
    shown = [
        finding
        for finding in CAUTIONS
        if settled.get(finding) is None and (folds or finding not in OF_FOLDS)
    ]
    return list(problem.audit.sentences_about(*shown))


def check_target_labels(problem: Problem, seed: int) -> LabelCheck | None:
    """Whether the labelled target rows are a random sample; None without both kinds of rows."""
    parts = [problem.is_target & mask for mask in (problem.has_label, ~problem.has_label)]
    groups = [None, None]
    if problem.groups is not None:
        groups = [problem.groups[problem.in_order(part)] for part in parts]
    return check_labels(
        *map(problem.rows, parts),
        groups=groups[0],
        groups_unlabelled=groups[1],
        random_state=seed,
    )


def explain_losses(problem: Problem, seed: int) -> dict[str, LossSplit]:
    """Split the change in loss of a model of each source, where source and target have labels."""
    theirs = problem.is_target & problem.has_label
    if problem.task is None or theirs.sum() < FEWEST:
        return {}
    X = TableEncoder(dense=True, random_state=seed).fit_transform(problem.features)
    found = {}
    for name, rows in problem.compared_sources().items():
        mine = rows & problem.has_label
        if mine.sum() >= 5 * FEWEST and np.unique(problem.answers(mine)).size > 1:
            found[name] = explain_loss(
                X[mine],
                problem.answers(mine),
                X[theirs],
                problem.answers(theirs),
                task=problem.task,  # type: ignore[arg-type]
                random_state=seed,
            )
    return found


def trust_data(
    audit: ColumnAudit, check: LabelCheck | None, splits: dict[str, LossSplit]
) -> dict[str, Any]:
    """Audit, label check and loss splits as plain values for JSON."""
    return {
        "columns": _columns_data(audit),
        "label_check": plain(summarise_label_check(check)),
        "loss_split": {name: _split_data(split) for name, split in splits.items()},
    }


def _columns_data(audit: ColumnAudit) -> list[dict[str, Any]]:
    return [
        {
            "name": column.name,
            "type": column.kind,
            "missing": column.missing,
            "unique": column.unique,
            "findings": [finding.name.lower() for finding in column.findings],
        }
        for column in audit.columns
    ]


def trust_blocks(
    audit: ColumnAudit, check: LabelCheck | None, splits: dict[str, LossSplit]
) -> "list[Block]":
    """Audit, label check and loss splits as parts of a report."""
    blocks: list[Block] = []
    if check is not None:
        blocks.append(Heading("Are the labels a sample of the target?"))
        alike = (
            f"No difference between the {check.n_labelled} labelled and the "
            f"{check.n_unlabelled} unlabelled target rows was found (p = {check.p_value:.2f})."
        )
        blocks.append(Text(check.verdict or alike))
        if not check.representative:
            blocks.append(_column_table(check))
    if splits:
        blocks.append(Heading("Why does a source model do worse in the target?"))
        blocks += [Text(f"{name}: {split}") for name, split in splits.items()]
    columns = _columns_data(audit)
    if len(columns) > MOST_COLUMNS:
        columns = [column for column in columns if column["findings"]][:MOST_COLUMNS]
    for column in columns:
        column["findings"] = [name.replace("_", " ") for name in column["findings"]]
    if columns:
        blocks += [Heading("Columns"), columns_table({"columns": columns})]
        blocks += [Text(sentence) for sentence in audit.sentences]
    return blocks


def _column_table(check: LabelCheck) -> "Block":
    columns = [
        Column("column"),
        Column("labelled − others, sd", "+.2f"),
        Column("others outside the labelled range", ".0%"),
        Column("corrected p", P_VALUE),
    ]
    rows = [[c.name, c.shift, c.outside, c.p_value] for c in check.columns]
    return make_table(columns, rows)


def _split_data(split: LossSplit) -> dict[str, Any]:
    parts = {"total": split.total, "features": split.features, "relation": split.relation}
    return {
        "loss": split.loss_name,
        "source": split.source,
        "target": split.target,
        **{name: [part.value, part.low, part.high] for name, part in parts.items()},
        "overlap": split.overlap,
        "cause": split.cause.name.lower(),
        "advice": split.advice.name.lower(),
    }
