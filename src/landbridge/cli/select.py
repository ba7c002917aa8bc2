"""``landbridge select``: rank sources, algorithms and parameters."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli import _options as options
from landbridge.cli._session import REPORTS, Session, check_distinct, check_output, command_line


class Sources(StrEnum):
    """Sets of source rows that are compared."""

    each = "each"
    pooled = "pooled"
    both = "both"


class Criterion(StrEnum):
    """Criterion by which candidates are selected."""

    scv = "scv"
    wcv = "wcv"
    rv = "rv"
    trcv = "trcv"
    tcv = "tcv"
    stv = "stv"
    tlv = "tlv"
    anchored = "anchored"


class Answer(StrEnum):
    """Kind of the final model."""

    vote = "vote"
    best = "best"


@dataclass(frozen=True, kw_only=True)
class Select(options.LearnOptions):
    """Rank sources, algorithms and parameters for a target with few labels or none."""

    target: options.Target
    candidates: Annotated[
        Path | None,
        typer.Option(
            help="YAML or TOML file with estimators and grids; a default list if omitted."
        ),
    ] = None
    criterion: Annotated[
        Criterion | None,
        typer.Option(
            help="Selection criterion; by default anchored with target labels and trcv without."
        ),
    ] = None
    answer: Annotated[
        Answer,
        typer.Option(help="Final model: weighted vote of several candidates, or the best one."),
    ] = Answer.vote
    sources: Annotated[
        Sources, typer.Option(help="Train on each source separately, on all rows pooled, or both.")
    ] = Sources.both
    folds: options.Folds = 5
    group: Annotated[
        str | None,
        typer.Option(
            help="Column with groups, such as patients, that are never split between folds."
        ),
    ] = None
    time: Annotated[
        str | None,
        typer.Option(
            help="Column with times; models are trained on rows before those of each fold."
        ),
    ] = None
    design: Annotated[
        Path | None,
        typer.Option(
            help="State file of `landbridge label`; its labels are used with design weights."
        ),
    ] = None
    budget: options.Budget = "10m"
    dask: options.Dask = None
    memory: options.Memory = "1g"
    report: options.Report = None
    save: Annotated[
        Path | None,
        typer.Option(
            help="Save the model, fitted on all rows: .skops.", rich_help_panel=options.OUTPUT
        ),
    ] = None
    results: Annotated[
        Path | None,
        typer.Option(
            help="Write the results: .json (the whole report) or .npz (with predictions).",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None

    @property
    def whole_report(self) -> bool:
        """Whether the other parts of a report are needed in addition to the ranking."""
        as_json = self.results is not None and self.results.suffix == ".json"
        return self.report is not None or as_json

    def run(self, current: Session) -> None:
        check_output(self.report, *REPORTS)
        check_output(self.results, ".json", ".npz")
        check_output(self.save, ".skops")
        options.bytes_of(self.memory)  # fail before the search starts
        check_distinct(report=self.report, results=self.results, save=self.save)
        from landbridge.cli._study import run_study, save_results, with_more_rows
        from landbridge.report import write_report
        from landbridge.report.layout import ranking_section

        problem = self.read(
            current,
            target=self.target,
            task=self.task,
            spare_labels=True,
            group=self.group,
            time=self.time,
        )
        if self.design is not None:
            from landbridge.cli._label_state import with_answers

            problem = with_answers(problem, self.design)
        study = run_study(problem, self, current, command=command_line())
        # Print the result first, in case a file cannot be written.
        current.show(
            study.summary,
            [*study.verdict_blocks(), *ranking_section(study.summary["ranking"]).blocks],
        )
        if self.report is not None:
            write_report(study.summary, self.report)
            current.wrote("report", self.report)
        if self.results is not None:
            save_results(study, self.results)
            current.wrote("results", self.results)
        if self.save is not None:
            study = with_more_rows(study, problem, self, current)
            study.save(self.save)
            current.wrote("model", self.save)
