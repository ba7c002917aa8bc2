"""``landbridge select``: rank sources, algorithms and parameters."""

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, TimeSeriesSplit

from landbridge._tasks import Progress
from landbridge._tasks.dask_cluster import dask_cluster
from landbridge.cli._candidates import read_candidates
from landbridge.cli._columns import describe_columns
from landbridge.cli._options import Label, Select, bytes_of, seconds_of
from landbridge.cli._problem import Problem, require_labels
from landbridge.cli._session import InputError, Session, check_distinct, check_output, command_line
from landbridge.cli._table_encoder import TableEncoder
from landbridge.cli._tables import files_of
from landbridge.cli.diagnose import (
    column_cautions,
    defaults_for,
    features_part,
    require_task,
    shift_part,
    sources_part,
    takes_sparse,
    without_target,
)
from landbridge.exceptions import FewSourcesWarning, NothingSelectedWarning
from landbridge.inference.label_check import check_of_design
from landbridge.model_selection import TransferSearchCV
from landbridge.model_selection._sources import POOLED, GroupTimeSeriesSplit
from landbridge.model_selection.candidates import role_of
from landbridge.persistence import save_model
from landbridge.report import summarise, summarise_data, summarise_origin, write_report
from landbridge.report.blocks import Block, Text, plain
from landbridge.report.layout import checks_table, ranking_section
from landbridge.report.render import SUFFIXES

# Maximum number of periods for the score over time, and minimum number of rows per period.
MOST_PARTS, FEWEST_PER_PART = 10, 10


def run_select(asked: Select, current: Session) -> None:
    check_output(asked.report, *SUFFIXES)
    check_output(asked.results, ".json", ".npz")
    check_output(asked.save, ".skops")
    read = [*files_of(asked.data), asked.candidates, asked.design]
    check_distinct(read, report=asked.report, results=asked.results, save=asked.save)
    problem = asked.read(
        current,
        target=asked.target,
        task=asked.task,
        spare_labels=True,
        group=asked.group,
        time=asked.time,
        memory=bytes_of(asked.memory),
    )
    if asked.design is not None:
        from landbridge.cli.label import with_answers

        problem = with_answers(problem, asked.design)
    study = run_study(problem, asked, current, command=command_line())
    # Print the result first, in case a file cannot be written.
    current.show(
        study.summary, [*study.verdict_blocks(), *ranking_section(study.summary["ranking"]).blocks]
    )
    if asked.report is not None:
        write_report(study.summary, asked.report)
        current.wrote("report", asked.report)
    if asked.results is not None:
        if asked.results.suffix.lower() == ".npz":
            study.search.results_.save(asked.results)
        else:
            write_report(study.summary, asked.results)
        current.wrote("results", asked.results)
    if asked.save is not None:
        from landbridge.cli._more_rows import with_more_rows

        study = with_more_rows(study, problem, asked, current)
        study.save(asked.save)
        current.wrote("model", asked.save)


@dataclass(frozen=True, slots=True)
class Study:
    """A finished search with its summary."""

    search: TransferSearchCV
    summary: dict[str, Any]
    card: dict[str, Any]

    def verdict_blocks(self) -> list[Block]:
        """The verdict and the checks, for the terminal."""
        checks = checks_table(self.summary["checks"])
        return [*(Text(sentence) for sentence in self.summary["verdict"]), checks]

    def save(self, path: Path) -> None:
        """Save the selected model with its card."""
        search = self.search
        save_model(getattr(search, "vote_", search.best_estimator_), path, self.card)


def run_study(problem: Problem, asked: Select, session: Session, *, command: str) -> Study:
    """Run the search and, for a report, analyse the shift, the sources and the features."""
    require_labels(problem, least=asked.folds)
    for sentence in column_cautions(problem):
        session.warn(sentence)
    search = run_search(problem, asked, session)
    if problem.target_weights is not None:
        read_design(search, problem)
    parts = report_parts(problem, search, asked, session) if asked.whole_report else {}
    summary = summarise(
        title=f"Predicting {problem.labels.name} for {problem.target}",  # type: ignore[union-attr]
        target=str(problem.target),
        origin=summarise_origin(command=command, seed=asked.seed),
        result=search.results_,
        level=asked.level,
        data=summarise_data(
            problem.features,
            problem.domains,
            problem.labels,
            target=problem.target,
            task=problem.task,
            audit=problem.audit,
        ),
        warnings=session.warnings,
        **parts,
    )
    if problem.sample is not None and problem.sample.cut():
        summary["verdict"].append(problem.sample.sentence())
    name_rows_to_label(problem, summary)
    add_scores_over_time(problem, search, summary)
    card = make_card(problem, search, summary, asked=asked, command=command)
    return Study(search, summary, card)


def read_design(search: TransferSearchCV, problem: Problem) -> None:
    """Replace the check of the labels by their design, since they were not drawn at random."""
    labelled = problem.is_target & problem.has_label
    weights = problem.target_weights[labelled]  # type: ignore[index]
    n_unlabelled = int((problem.is_target & ~problem.has_label).sum())
    check = check_of_design(weights, n_unlabelled, problem.n_disputed)
    search.results_ = replace(search.results_, label_check_=check)


def add_scores_over_time(
    problem: Problem, search: TransferSearchCV, summary: dict[str, Any]
) -> None:
    """Add the score of the selected model over time, on parts of the labelled target rows."""
    found = search.results_.predictions("tlv")
    if problem.times is None or found is None:
        return
    metric, seen = search.results_.metric, np.flatnonzero(found.seen)
    rows = problem.in_order(problem.is_target & problem.has_label)
    values, y = found.read(metric.response), search.results_.y_target
    times = problem.time_words(rows)
    n_parts = int(np.clip(seen.size // FEWEST_PER_PART, 1, MOST_PARTS))
    parts = [
        {
            "start": times[part[0]],
            "end": times[part[-1]],
            "rows": int(part.size),
            "score": float(metric.score(y[part], values[part])),
        }
        for part in np.array_split(seen, n_parts)
        if part.size
    ]
    summary["ranking"]["over_time"] = plain(parts)


def name_rows_to_label(problem: Problem, summary: dict[str, Any]) -> None:
    """Replace positions among the unlabelled rows by row names."""
    check = summary["ranking"]["label_check"]
    if check is None or not check["rows_to_label"]:
        return
    unlabelled = problem.in_order(problem.is_target & ~problem.has_label)
    names = [problem.row_names[unlabelled[k]] for k in check["rows_to_label"]]
    check["rows_to_label"] = names
    summary["verdict"].insert(
        1, f"Label these first, because they differ from the labelled rows: {', '.join(names)}."
    )


def report_parts(
    problem: Problem, search: TransferSearchCV, asked: Select, session: Session
) -> dict[str, Any]:
    """Diagnose the shift and, with several labelled domains, evaluate across sources."""
    parts = {"shift": attempt(session, "shift", shift_part, problem, asked.seed)}
    if len(problem.labelled_domains) > 1:
        model = without_target(search.best_estimator_[-1])
        parts["sources"] = attempt(session, "unseen sources", sources_part, problem, model, asked)
        # In two domains, few effects can be told from chance.
        if problem.has_numeric_response and len(problem.labelled_domains) > 2:
            parts["features"] = attempt(session, "features", features_part, problem, asked.seed)
    return parts


def attempt(session: Session, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Compute a part of the report; on failure, warn and return None."""
    with Progress(name, None), warnings.catch_warnings():
        for category in (FewSourcesWarning, NothingSelectedWarning):
            warnings.simplefilter("ignore", category)  # the sections and the checks say the same
        try:
            return function(*arguments)
        except ValueError as error:
            session.warn(f"The report has no part about {name}: {error}")
            return None


def run_search(
    problem: Problem,
    asked: Select | Label,
    session: Session,
    arguments: dict[str, Any] | None = None,
) -> TransferSearchCV:
    """Search over all candidates and sources; encode rows once, without their labels.

    ``arguments`` are passed to ``fit`` and default to those of the problem.
    """
    arguments = problem.transfer_arguments() if arguments is None else arguments
    candidates, dense = None, False
    if asked.candidates is not None:
        candidates = read_candidates(asked.candidates)
        estimators = {name: _estimator_of(value) for name, value in candidates.items()}
        require_task(problem, estimators)
        dense = not all(map(takes_sparse, estimators.values()))
        labelled = "X_target" in arguments
        candidates = with_baselines(candidates, problem, labelled=labelled, dense=dense)
    budget = seconds_of(asked.budget) or None
    search = TransferSearchCV(
        candidates,
        criterion=None if asked.criterion is None else asked.criterion.value,
        scoring=asked.metric or None,
        refit=asked.answer.value,  # type: ignore[arg-type]
        **folds_of(problem, asked.folds),
        sources=asked.sources.value,
        preprocessor=TableEncoder(dense=dense, random_state=asked.seed),
        cache=asked.resume,
        time_budget=budget,
        # Fits of the default list are fast; fits of other candidates may need a time limit.
        fit_timeout=None if asked.candidates is None else budget,
        # Dask counts its own workers.
        n_jobs=asked.jobs if asked.dask is None else None,
        random_state=asked.seed,
        verbose=1,
    )
    search._task = problem.task  # type: ignore[assignment]
    try:
        with nullcontext() if asked.dask is None else dask_cluster(asked.dask):
            search.fit(**arguments)
    except KeyboardInterrupt:
        if asked.resume is None:
            session.note("with --resume DIR, the same command continues where it was stopped")
        else:
            session.note(
                f"finished fits are in {asked.resume}; run the same command again to continue"
            )
        raise
    if asked.debug:
        for text in dict.fromkeys(failure.traceback for failure in search.results_.failures):
            session.note(text)
    info = search.results_.info
    if info.fits_cut:
        session.warn(
            f"The time budget ended before {info.fits_cut} of {info.fits_planned} fits; the "
            "ranking contains only validated candidates. Increase --budget."
        )
    return search


def folds_of(problem: Problem, n_folds: int) -> dict[str, Any]:
    """Splitters for times or groups; otherwise a number of folds."""
    if problem.times is not None and problem.groups is not None:
        return {"cv": _check_past_groups(problem, GroupTimeSeriesSplit(n_folds))}
    if problem.times is not None:
        return {"cv": TimeSeriesSplit(n_folds)}
    if problem.groups is None:
        return {"cv": n_folds}
    kind = StratifiedGroupKFold if problem.task == "classification" else GroupKFold
    found: dict[str, Any] = {"cv": kind(n_folds)}
    labelled = problem.is_target & problem.has_label
    for name, rows in [
        *((name, problem.domains == name) for name in problem.sources),
        (problem.target, labelled),
    ]:
        n_groups = np.unique(problem.groups[rows & problem.has_label]).size
        if name == problem.target and 1 < n_groups < n_folds:
            found["cv_target"] = kind(n_groups)
        elif rows.any() and n_groups < n_folds:
            raise InputError(
                f"--group must name at least {n_folds} groups of labelled rows in every domain, "
                f"one per fold; {name!r} has {n_groups}. Ask for fewer --folds."
            )
    return found


def _check_past_groups(problem: Problem, cv: GroupTimeSeriesSplit) -> GroupTimeSeriesSplit:
    """Raise if a fold has no earlier rows of other groups."""
    assert problem.groups is not None
    for name in (*problem.sources, problem.target):
        rows = problem.in_order((problem.domains == name) & problem.has_label)
        if rows.size <= cv.n_splits:
            continue  # reported by the search
        try:
            list(cv.split(rows, groups=problem.groups[rows]))
        except ValueError as error:
            raise InputError(
                f"With --time, --group must name groups that end before others begin; in {name!r} "
                f"{error} Leave out --group to predict the future of known groups."
            ) from error
    return cv


def with_baselines(
    candidates: dict[str, Any], problem: Problem, *, labelled: bool, dense: bool
) -> dict[str, Any]:
    """Candidates of a file, with linear baselines for missing roles."""
    roles = {role_of(_estimator_of(value)) for value in candidates.values()}
    defaults = defaults_for(problem, labelled=labelled, dense=dense)
    missing = {
        name: model
        for name, model in defaults.items()
        if name.endswith("linear") and role_of(model) not in roles and name not in candidates
    }
    return {**candidates, **missing}


def make_card(
    problem: Problem,
    search: TransferSearchCV,
    summary: dict[str, Any],
    *,
    asked: Select,
    command: str,
) -> dict[str, Any]:
    """Card of the saved model."""
    ranking = summary["ranking"]
    best = ranking["candidates"][0]
    used = np.isin(problem.domains, training_sources(problem, search)) & problem.has_label
    rows = {name: int((used & (problem.domains == name)).sum()) for name in problem.sources}
    rows[f"{problem.target} (labelled)"] = int((problem.is_target & problem.has_label).sum())
    rows[f"{problem.target} (unlabelled)"] = int((problem.is_target & ~problem.has_label).sum())
    return {
        "task": problem.task,
        "label": problem.labels.name,  # type: ignore[union-attr]
        "domain": problem.domain_column,
        "target": problem.target,
        "sources": training_sources(problem, search),
        "rows": {name: count for name, count in rows.items() if count},
        "candidate": best["name"],
        "members": (ranking["vote"] or {}).get("members", []),
        "criterion": ranking["criterion"]["name"],
        "of_target": ranking["of_target"],
        "score_name": ranking["score"],
        "score": best["score"],
        "interval": {**ranking["interval"], "low": best["low"], "high": best["high"]},
        "classes": [str(c) for c in getattr(search, "classes_", ())],
        "columns": describe_columns(problem.rows(used | problem.is_target)),
        "seed": asked.seed,
        "missing": asked.missing or [],
        "text": asked.text or [],
        "command": command,
        "verdict": summary["verdict"],
    }


def training_sources(problem: Problem, search: TransferSearchCV) -> list[str]:
    """Domains on which the selected model was trained."""
    result = search.results_
    vote = result.vote() if result.info.answer == "vote" else None
    cells = [result.best] if vote is None else vote.members
    chosen = {result.cells[cell].source for cell in cells}
    if POOLED in chosen or chosen - {None, *problem.sources}:
        return problem.sources
    return [name for name in problem.sources if name in chosen]


def _estimator_of(candidate: Any) -> Any:
    return candidate[0] if isinstance(candidate, tuple) else candidate
