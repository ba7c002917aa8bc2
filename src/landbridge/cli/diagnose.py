"""``landbridge diagnose``, ``evaluate`` and ``features``: compare domains."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from landbridge._tasks import Progress
from landbridge.baselines import Pooled, SourceOnly, TargetOnly
from landbridge.cli._candidates import Entry, build_estimator
from landbridge.cli._options import Diagnose, Evaluate, Features, LearnOptions
from landbridge.cli._problem import Problem, require_labels
from landbridge.cli._session import InputError, Session, listing, nearest
from landbridge.cli._table_encoder import TableEncoder, is_free_text
from landbridge.feature_selection import TGreedySelector
from landbridge.inspection import (
    ColumnAudit,
    LabelCheck,
    LossSplit,
    check_labels,
    diagnose_shift,
    explain_loss,
)
from landbridge.inspection.audit import Finding
from landbridge.inspection.loss_split import FEWEST
from landbridge.model_selection import MultiSourceCV
from landbridge.model_selection.candidates import default_candidates
from landbridge.report import summarise_features, summarise_shift, summarise_sources
from landbridge.report.blocks import P_VALUE, Block, Column, Text, make_table, plain, values_of
from landbridge.report.layout import columns_table, features_section, shift_section, sources_section
from landbridge.report.search_summary import summarise_label_check
from landbridge.weighting import ReweightedClassifier, ReweightedRegressor

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


def run_diagnose(asked: Diagnose, current: Session) -> None:
    problem = asked.read(current, target=asked.target, announce_task=False, group=asked.group)
    found = shift_part(problem, asked.seed)
    with Progress("checking columns and labels", None):
        parts = (
            problem.audit,
            check_target_labels(problem, asked.seed),
            explain_losses(problem, asked.seed),
        )
    data = {**found, **trust_data(*parts)}
    blocks = [*shift_section(found).blocks, *trust_blocks(*parts)]
    if problem.sample is not None and problem.sample.cut():
        data["sample"] = problem.sample.sentence()
        blocks.append(Text(data["sample"]))
    current.show(data, blocks)


def run_evaluate(asked: Evaluate, current: Session) -> None:
    problem = asked.read(current, task=asked.task, spare_labels=True)
    for sentence in column_cautions(problem, folds=False):
        current.warn(sentence)
    require_labels(problem, least=2)
    if asked.model is None:
        model = defaults_for(problem, labelled=False)["source-only linear"]
    else:
        model = build_estimator(Entry(asked.model, 1, Path("--model")))
    model = without_target(model)
    require_task(problem, {"--model": model})
    found = sources_part(problem, model, asked)
    current.show(found, sources_section(found).blocks)


def run_features(asked: Features, current: Session) -> None:
    problem = asked.read(current, announce_task=False)
    for sentence in column_cautions(problem, folds=False):
        current.warn(sentence)
    if asked.positive is None:
        problem = problem.with_numeric_labels()
    with Progress("picking features", None):
        found = pick_features(problem, asked)
    current.show(found, features_section(found).blocks)


def pick_features(problem: Problem, asked: Features) -> dict[str, Any]:
    """`features_part`; with several classes, one class against the others."""
    require_labels(problem, least=2)
    if len(problem.sources) < 2:
        raise InputError(
            f"--domain must name a column with at least two domains; {problem.domain_column!r} "
            f"has {problem.sources[0]!r} only. Name another column, or add rows of another domain."
        )
    if asked.positive is not None:
        problem = replace(problem, labels=one_class(problem.labels, asked.positive))
    elif not problem.has_numeric_response:
        known = problem.labels.drop_nulls().cast(str).unique().sort().to_list()  # type: ignore[union-attr]
        raise InputError(
            f"The labels must be numbers or two classes; got the classes {listing(known)}. "
            f"Tell one from the others, for example with --positive {known[0]}."
        )
    return features_part(
        problem, asked.seed, criterion=asked.criterion.value, n_features=asked.number
    )


def one_class(labels: Any, positive: str) -> Any:
    """Encode the named class as +1 and the others as −1."""
    known = labels.cast(str)
    if positive not in known.drop_nulls().to_list():
        names = known.drop_nulls().unique().sort().to_list()
        raise InputError(
            f"--positive must be one of the classes; got {positive!r}."
            f"{nearest(positive, names)} The classes are {listing(names)}."
        )
    return pl.Series(labels.name, [None if k is None else 2 * (k == positive) - 1 for k in known])


def shift_part(problem: Problem, seed: int) -> dict[str, Any]:
    """Distance of the target from each source, on encoded columns."""
    encoder = TableEncoder(dense=True, random_state=seed)
    X = encoder.fit_transform(problem.features)
    names = [str(name) for name in encoder.get_feature_names_out()]
    labels: dict[str, Any] = {}
    diagnoses, compared = {}, problem.compared_sources()
    with Progress("comparing the target with each source", len(compared), unit="sources") as shown:
        for name, rows in compared.items():
            if problem.labels is not None:
                labels = problem.label_arguments(rows)
            diagnoses[name] = diagnose_shift(
                X[rows], X[problem.is_target], feature_names=names, random_state=seed, **labels
            )
            shown.advance()
    summary = summarise_shift(diagnoses, target=str(problem.target))
    if compared.keys() - set(problem.sources):
        summary["note"] = (
            f"The target was compared with all {len(problem.sources)} sources together and with "
            f"the {len(compared) - 1} largest."
        )
    return summary


def takes_sparse(estimator: Any) -> bool:
    """Whether an estimator can learn from text as sparse TF-IDF."""
    return get_tags(estimator).input_tags.sparse


def defaults_for(problem: Problem, *, labelled: bool, dense: bool = False) -> dict[str, Any]:
    """Default candidates for the encoded rows, which are sparse with free text."""
    rows = None
    if not dense and any(map(is_free_text, problem.features)):
        rows = sparse.csr_array((1, 1))
    return default_candidates(problem.task, labelled=labelled, X=rows)  # type: ignore[arg-type]


def sources_part(problem: Problem, estimator: Any, asked: LearnOptions) -> dict[str, Any]:
    """Multiple-source cross-validation of an estimator over all labelled domains."""
    encoder = TableEncoder(dense=not takes_sparse(estimator), random_state=asked.seed)
    model = Pipeline([("encode", encoder), ("model", clone(estimator))])
    cv = MultiSourceCV(
        model,
        scoring=asked.metric or None,
        cache=asked.resume,
        n_jobs=asked.jobs,
        random_state=asked.seed,
        verbose=1,
    )
    cv.fit(**problem.grouped_arguments())
    return summarise_sources(cv.result_, level=asked.level)


def features_part(problem: Problem, seed: int = 0, **options: Any) -> dict[str, Any]:
    """T-greedy over all labelled domains, on encoded columns."""
    arguments = problem.grouped_arguments()
    encoder = TableEncoder(dense=True, random_state=seed)
    X = encoder.fit_transform(arguments["X"])
    # A column that is constant within each domain only identifies the domains.
    varies = np.any(
        [np.ptp(X[arguments["groups"] == g], axis=0) > 0 for g in np.unique(arguments["groups"])],
        axis=0,
    )
    if not varies.any():
        raise InputError(
            "The table must have a column that varies within a domain; got none. Check --drop."
        )
    X, names = X[:, varies], encoder.get_feature_names_out()[varies].astype(str).tolist()
    number = options.get("n_features")
    if number is not None and number > X.shape[1]:
        raise InputError(
            f"--number must be at most the number of columns, {X.shape[1]} with text encoded; got "
            f"{number}. Ask for fewer features."
        )
    selector = TGreedySelector(**options).fit(X, arguments["y"], groups=arguments["groups"])
    return summarise_features(selector.path_, names, criterion=selector.criterion)


def without_target(model: Any) -> Any:
    """Return the wrapped estimator: unseen sources have no target to adapt to."""
    wrappers = (Pooled, ReweightedClassifier, ReweightedRegressor, SourceOnly, TargetOnly)
    return model.estimator if isinstance(model, wrappers) else model


def require_task(problem: Problem, estimators: dict[str, Any]) -> None:
    """Raise if an estimator does not match the task."""
    regression = problem.task == "regression"
    for name, estimator in estimators.items():
        if is_regressor(estimator) != regression:
            kind = "a regressor" if regression else "a classifier"
            raise InputError(
                f"{name} must be {kind}, because this is a {problem.task} task; got "
                f"{type(estimator).__name__}. Name another, or change --task."
            )


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
        *map(problem.rows, parts), groups=groups[0], groups_unlabelled=groups[1], random_state=seed
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
        "loss_split": {
            name: {
                **plain(asdict(split)),
                "cause": split.cause.name.lower(),
                "advice": split.advice.name.lower(),
            }
            for name, split in splits.items()
        },
    }


def _columns_data(audit: ColumnAudit) -> list[dict[str, Any]]:
    return [
        {
            **values_of(column, "name", "missing", "unique", type="kind"),
            "findings": [finding.name.lower() for finding in column.findings],
        }
        for column in audit.columns
    ]


def trust_blocks(
    audit: ColumnAudit, check: LabelCheck | None, splits: dict[str, LossSplit]
) -> list[Block]:
    """Audit, label check and loss splits as parts of a report."""
    blocks: list[Block] = []
    if check is not None:
        blocks.append(Text("Are the labels a sample of the target?", "heading"))
        alike = (
            f"No difference between the {check.n_labelled} labelled and the "
            f"{check.n_unlabelled} unlabelled target rows was found (p = {check.p_value:.2f})."
        )
        blocks.append(Text(check.verdict or alike))
        if not check.representative:
            blocks.append(_column_table(check))
    if splits:
        blocks.append(Text("Does a source model do worse in the target, and why?", "heading"))
        blocks += [Text(f"{name}: {split}") for name, split in splits.items()]
    columns = _columns_data(audit)
    if len(columns) > MOST_COLUMNS:
        columns = [column for column in columns if column["findings"]][:MOST_COLUMNS]
    for column in columns:
        column["findings"] = [name.replace("_", " ") for name in column["findings"]]
    if columns:
        blocks += [Text("Columns", "heading"), columns_table(columns)]
        blocks += [Text(sentence) for sentence in audit.sentences]
    return blocks


def _column_table(check: LabelCheck) -> Block:
    columns = [
        Column("column"),
        Column("labelled − others, sd", "+.2f"),
        Column("others outside the labelled range", ".0%"),
        Column("corrected p", P_VALUE),
    ]
    rows = [[c.name, c.shift, c.outside, c.p_value] for c in check.columns]
    return make_table(columns, rows)
