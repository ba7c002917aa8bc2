"""``landbridge demo``: the whole story on the embedded sample, offline, in under a minute."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from landbridge.cli import _options as options
from landbridge.cli._session import Session, check_output
from landbridge.cli.select import Select

if TYPE_CHECKING:
    import polars as pl

TARGET, LABEL, DOMAIN = "USA", "consumption", "origin"
# Enough hidden labels must remain to show how good the estimate was.
LABELLED = 60
# Blocks of each section that the terminal shows; the report has the rest.
SHOWN = 3


@dataclass(frozen=True, kw_only=True)
class Demo(options.Options):
    """Diagnose, select and report on cars of 1970 to 1982: from Europe and Japan to the USA."""

    folder: Annotated[
        Path, typer.Option("--folder", help="Where the table, the report and the model go.")
    ] = Path("landbridge-demo")
    jobs: options.Jobs = 1
    seed: options.Seed = 0

    def run(self, current: Session) -> None:
        folder = self.folder
        folder.mkdir(parents=True, exist_ok=True)
        table, report, model = folder / "cars.csv", folder / "report.html", folder / "model.skops"
        for path in (table, report, model):
            check_output(path)
        from landbridge.cli._study import run_study
        from landbridge.cli.predict import write_answers
        from landbridge.report import write_report
        from landbridge.report.blocks import Heading, Text
        from landbridge.report.layout import ranking_section, shift_section

        cars, truth = hide_labels(self.seed)
        write_answers([cars], table)
        current.out.print(INTRODUCTION.format(table=table, n=LABELLED), markup=False)
        asked = Select(
            data=[str(table)],
            label=LABEL,
            domain=DOMAIN,
            target=TARGET,
            jobs=self.jobs,
            seed=self.seed,
            budget="0",
            report=report,
        )
        problem = asked.read(current, target=TARGET)
        command = f"landbridge select {table} --label {LABEL} --domain {DOMAIN} --target {TARGET}"
        study = run_study(problem, asked, current, command=command)
        for section in (
            shift_section(study.summary["shift"]),
            ranking_section(study.summary["ranking"]),
        ):
            current.show(study.summary, [Heading(section.title.upper()), *section.blocks[:SHOWN]])
        current.show(study.summary, [Heading("CHECKS"), study.checks()])
        write_report(study.summary, report)
        study.save(model)
        accuracy = hidden_accuracy(study.search, problem, truth)
        words = ENDING.format(accuracy=accuracy, report=report, model=model, table=table)
        current.out.print(words, markup=False)
        verdict = study.verdict_blocks()[:-1]
        current.show(study.summary, [Heading("VERDICT"), *verdict, Text(f"Report: {report}")])


def hide_labels(seed: int) -> "tuple[pl.DataFrame, pl.Series]":
    """The cars with all but a few labels of the target removed, and the labels as they were."""
    import numpy as np
    import polars as pl

    from landbridge.datasets import load_auto_mpg

    cars = load_auto_mpg(task="classification", missing="keep")
    frame = pl.DataFrame(dict(zip(cars.feature_names, cars.data.T, strict=True)))
    frame = frame.with_columns(pl.all().fill_nan(None), pl.Series(DOMAIN, cars.domain.tolist()))
    target = np.flatnonzero(cars.domain == TARGET)
    known = np.random.default_rng(seed).choice(target, size=LABELLED, replace=False)
    truth = pl.Series(LABEL, cars.target.tolist())
    hidden = pl.Series(np.isin(np.arange(len(truth)), np.setdiff1d(target, known)))
    return frame.with_columns(pl.when(hidden).then(None).otherwise(truth).alias(LABEL)), truth


def hidden_accuracy(search: Any, problem: Any, truth: "pl.Series") -> float:
    """Accuracy on the target rows whose labels were hidden."""
    hidden = problem.is_target & ~problem.has_label
    predicted = search.predict(problem.rows(hidden))
    return float((predicted == truth.filter(hidden).to_numpy()).mean())


INTRODUCTION = """\
Which American cars go farther on a gallon than most, when most labelled cars are from Europe and
Japan? The table {table} has 398 cars; of the 249 American ones {n} have a label.
"""
ENDING = """\
The 189 labels that were hidden say: accuracy {accuracy:.3g}.

Next:
  predict new rows       landbridge predict {model} {table} -o predictions.csv
  look at the model      landbridge info {model}
  your own table         landbridge select FILE --label Y --domain D --target T --report report.html
"""
