"""``landbridge select``: which source, which algorithm, which parameters."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli import _options as options
from landbridge.cli._session import REPORTS, check_output, command_line, session


class Sources(StrEnum):
    """Which sets of source rows compete."""

    each = "each"
    pooled = "pooled"
    both = "both"


class Criterion(StrEnum):
    """How candidates are judged."""

    scv = "scv"
    wcv = "wcv"
    rv = "rv"
    trcv = "trcv"
    tcv = "tcv"
    stv = "stv"
    tlv = "tlv"
    anchored = "anchored"


class Answer(StrEnum):
    """What predicts."""

    vote = "vote"
    best = "best"


def select(
    data: options.Data,
    label: options.Label,
    target: options.Target,
    domain: options.Domain = None,
    candidates: Annotated[
        Path | None,
        typer.Option(help="YAML or TOML file with estimators and grids; a short list if omitted."),
    ] = None,
    criterion: Annotated[
        Criterion | None,
        typer.Option(help="anchored with labelled target rows, trcv without, if omitted."),
    ] = None,
    metric: options.Metric = None,
    answer: Annotated[
        Answer, typer.Option(help="Weighted vote of several candidates, or the best one.")
    ] = Answer.vote,
    sources: Annotated[
        Sources, typer.Option(help="Every source alone, all rows together, or both.")
    ] = Sources.both,
    task: options.Kind = None,
    drop: options.Drop = None,
    exclude: options.Exclude = None,
    text: options.Text = None,
    encoding: options.Encoding = None,
    folds: options.Folds = 5,
    level: options.Level = 0.95,
    max_rows: options.MaxRows = 20_000,
    jobs: options.Jobs = 1,
    budget: options.Budget = "10m",
    resume: options.Resume = None,
    dask: options.Dask = None,
    seed: options.Seed = 0,
    report: options.Report = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the model, fitted on everything: .skops.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            help="Write the results: .json (all of the report) or .npz (kept predictions)."
        ),
    ] = None,
    format: options.Output = options.Format.table,
    debug: options.Debug = False,
) -> None:
    """Rank sources, algorithms and parameters for a target with few labels or none."""
    with session(format is options.Format.json, debug) as current:
        check_output(report, *REPORTS)
        check_output(results, ".json", ".npz")
        check_output(save, ".skops")
        from landbridge.cli._problem import Question, read_problem
        from landbridge.cli._study import Plan, run_study, save_results
        from landbridge.report import write_report
        from landbridge.report.layout import ranking_section

        question = Question(
            data,
            label,
            domain,
            target,
            task,
            drop or (),
            exclude or (),
            max_rows or None,
            seed,
            True,
            text=text or (),
            encoding=encoding,
        )
        problem = read_problem(question, current.note)
        plan = Plan(
            candidates=candidates,
            criterion=None if criterion is None else criterion.value,
            metrics=tuple(metric or ()),
            answer=answer.value,
            sources=sources.value,
            folds=folds,
            level=level,
            jobs=jobs,
            budget=options.seconds_of(budget) or None,
            resume=resume,
            dask=dask,
            seed=seed,
            command=command_line(),
            whole_report=report is not None or (results is not None and results.suffix == ".json"),
        )
        study = run_study(problem, plan, current)
        # The answer first: a file that cannot be written must not hide it.
        current.show(
            study.summary,
            [*study.verdict_blocks(), *ranking_section(study.summary["ranking"]).blocks],
        )
        if report is not None:
            write_report(study.summary, report)
            current.wrote("report", report)
        if results is not None:
            save_results(study, results)
            current.wrote("results", results)
        if save is not None:
            study.save(save)
            current.wrote("model", save)
