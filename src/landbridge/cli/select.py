"""``landbridge select``: rank sources, algorithms and parameters."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from landbridge.cli import _options as options
from landbridge.cli._options import option, output
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
class Select(options.SearchOptions):
    """Rank sources, algorithms and parameters for a target with few labels or none."""

    criterion: Criterion | None = option(
        None, "Selection criterion; by default anchored with target labels and trcv without."
    )
    answer: Answer = option(
        Answer.vote, "Final model: weighted vote of several candidates, or the best one."
    )
    sources: Sources = option(
        Sources.both, "Train on each source separately, on all rows pooled, or both."
    )
    group: str | None = option(
        None, "Column with groups, such as patients, that are never split between folds."
    )
    time: str | None = option(
        None, "Column with times; models are trained on rows before those of each fold."
    )
    design: Path | None = option(
        None, "State file of `landbridge label`; its labels are used with design weights."
    )
    memory: str = option(
        "1g",
        "Memory for fitting the saved model on more rows than the search, such as 500m or 4g.",
        metavar="SIZE",
        panel=options.RUNNING,
    )
    report: Path | None = output("Write a report: .html, .md or .json.")
    save: Path | None = output("Save the model, fitted on all rows: .skops.")
    results: Path | None = output(
        "Write the results: .json (the whole report) or .npz (with predictions)."
    )

    @property
    def whole_report(self) -> bool:
        """Whether the other parts of a report are needed in addition to the ranking."""
        as_json = self.results is not None and self.results.suffix == ".json"
        return self.report is not None or as_json

    def run(self, current: Session) -> None:
        check_output(self.report, *REPORTS)
        check_output(self.results, ".json", ".npz")
        check_output(self.save, ".skops")
        check_distinct(report=self.report, results=self.results, save=self.save)
        from landbridge.cli._more_rows import with_more_rows
        from landbridge.cli._study import run_study, save_results
        from landbridge.report import write_report
        from landbridge.report.layout import ranking_section

        problem = self.read(
            current,
            target=self.target,
            task=self.task,
            spare_labels=True,
            group=self.group,
            time=self.time,
            memory=options.bytes_of(self.memory),
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
