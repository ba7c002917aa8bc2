"""``landbridge demo``: answer two questions about embedded data, offline."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from landbridge.cli._options import Demo, Select
from landbridge.cli._session import Session, check_output
from landbridge.cli.predict import write_answers
from landbridge.cli.select import run_study
from landbridge.datasets import load_bike_hours
from landbridge.report import write_report
from landbridge.report.blocks import Text
from landbridge.report.layout import ranking_section

LABEL = "demand"
# One learner as source-only, target-only and pooled model; the default list also contains trees.
CANDIDATES = """\
# Candidates of the demo; `landbridge select --candidates` takes a file like this.
source-only:
  estimator: SourceOnly
  params: {estimator: {estimator: LogisticRegression, params: {max_iter: 1000}}}
target-only:
  estimator: TargetOnly
  params: {estimator: {estimator: LogisticRegression, params: {max_iter: 1000}}}
pooled:
  estimator: Pooled
  params: {estimator: {estimator: LogisticRegression, params: {max_iter: 1000}}}
"""
# Number of target rows that keep their label, evenly spaced in time; the others check the estimate.
LABELLED = 200
# Number of blocks of the ranking shown in the terminal; the report contains the rest.
SHOWN = 3


@dataclass(frozen=True)
class Question:
    """Question about one target domain of the embedded bike rentals.

    The rule for choosing both targets is in ``benchmarks/demo_choice.py``: of all seasons, years
    and kinds of day, the ones on which pooling gains most and least over the better baseline.
    """

    domain: str
    target: str
    file: str
    words: str
    others: str = ""  # common name of all other domains, or empty


WINTER = Question(
    "season",
    "winter",
    "winter.csv",
    "How many bikes will be rented in an hour of winter, when most labelled hours are from other "
    "seasons?",
    others="other seasons",
)
DAY_OFF = Question(
    "day",
    "day off",
    "days_off.csv",
    "How many bikes will be rented on a day off, when most labelled hours are from working days?",
)


def run_demo(asked: Demo, current: Session) -> None:
    asked.folder.mkdir(parents=True, exist_ok=True)
    report, model = asked.folder / "report.html", asked.folder / "model.skops"
    for name in (WINTER.file, DAY_OFF.file, "candidates.yaml", report.name, model.name):
        check_output(asked.folder / name)
    (asked.folder / "candidates.yaml").write_text(CANDIDATES)

    study, accuracy = _ask(WINTER, asked, current, report)
    ranking = ranking_section(study.summary["ranking"])
    current.show(study.summary, [*study.verdict_blocks()[:-1], *ranking.blocks[:SHOWN]])
    _show_accuracy(current, accuracy)
    write_report(study.summary, report)
    study.save(model)
    current.out.print()
    study, accuracy = _ask(DAY_OFF, asked, current, None)
    current.show(study.summary, study.verdict_blocks()[:-1])
    _show_accuracy(current, accuracy)
    words = ENDING.format(report=report, model=model, table=asked.folder / WINTER.file)
    current.out.print(words, markup=False, soft_wrap=True)
    current.show(study.summary, [Text(f"Report: {report}", "heading")])


def _ask(
    question: Question, demo: Demo, current: Session, report: Path | None
) -> tuple[Any, float]:
    """Write the table of a question, search, and score the result on the hidden labels."""
    path = demo.folder / question.file
    table, truth = hide_labels(question)
    write_answers([table], path)
    current.out.print(f"[bold]{question.words}[/bold]")
    current.out.print(
        f"{path}: {len(table)} hours, {LABELLED} labels among those of {question.target}.\n",
        markup=False,
    )
    asked = Select(
        data=[str(path)],
        label=LABEL,
        domain=question.domain,
        target=question.target,
        candidates=demo.folder / "candidates.yaml",
        jobs=demo.jobs,
        seed=demo.seed,
        budget="0",
        report=report,
    )
    problem = asked.read(current, target=question.target)
    command = (
        f"landbridge select {path} --label {LABEL} --domain {question.domain} "
        f"--target '{question.target}' --candidates {demo.folder / 'candidates.yaml'}"
    )
    study = run_study(problem, asked, current, command=command)
    hidden = problem.is_target & ~problem.has_label
    predicted = study.search.predict(problem.rows(hidden))
    return study, float((predicted == truth[hidden]).mean())


def _show_accuracy(current: Session, accuracy: float) -> None:
    current.out.print(f"Accuracy on the hidden labels: {accuracy:.3g}.", markup=False)


def bike_table(domain: str) -> tuple[pl.DataFrame, np.ndarray]:
    """The embedded rentals as a table with a column of domains, and the demand of every hour."""
    bikes = load_bike_hours(domain=domain, task="classification")  # type: ignore[arg-type]
    table = pl.DataFrame(bikes.data.astype(int), schema=bikes.feature_names)
    hour, is_off = pl.format("{} h", pl.col("hour").cast(str).str.zfill(2)), pl.col("day off") == 1
    if domain == "day":
        words = {"hour": hour}
    else:
        # Demand over the day has one shape on working days and another on days off.
        words = {
            "working_hour": pl.when(is_off).then(pl.lit("day off")).otherwise(hour),
            "free_hour": pl.when(is_off).then(hour).otherwise(pl.lit("working day")),
        }
    if "year" in table.columns:
        # As a number, it would be taken for a time column, which the demo does not need.
        year = pl.col("year") == 2012
        words["second_year"] = pl.when(year).then(pl.lit("yes")).otherwise(pl.lit("no"))
    sky = {1: "clear", 2: "mist", 3: "rain or snow", 4: "rain or snow"}
    words["weather"] = pl.col("weather").replace_strict(sky)
    used = {"hour", "day off", "weekday", "month", "weather", "year"}
    numbers = [name for name in table.columns if name not in used or name == domain]
    domains = pl.Series(domain, bikes.domain.tolist())
    return table.select(domains, *(w.alias(n) for n, w in words.items()), *numbers), bikes.target


def hide_labels(question: Question) -> tuple[pl.DataFrame, np.ndarray]:
    """Remove all but a few labels of the target; return the table and the original labels."""
    table, demand = bike_table(question.domain)
    if question.others:
        is_target = pl.col(question.domain) == question.target
        others = pl.when(is_target).then(pl.lit(question.target)).otherwise(pl.lit(question.others))
        table = table.with_columns(others.alias(question.domain))
    target = np.flatnonzero(table[question.domain].to_numpy() == question.target)
    # Rows are in order of time. Evenly spaced rows need no seed, so no particular draw is chosen.
    known = target[np.arange(LABELLED) * len(target) // LABELLED]
    hidden = np.isin(np.arange(len(demand)), np.setdiff1d(target, known))
    labels = pl.Series(LABEL, demand.tolist())
    return table.with_columns(
        pl.when(pl.Series(hidden)).then(None).otherwise(labels).alias(LABEL)
    ), demand


ENDING = """
Next:
  predict new rows       landbridge predict {model} {table} -o predictions.csv
  look at the model      landbridge info {model}
  your own table         landbridge select FILE --label Y --domain D --target T --report report.html
"""
