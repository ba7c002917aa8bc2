"""``landbridge evaluate``: how well on a source that nobody has seen."""

from typing import Annotated

import typer

from landbridge.cli import _options as options
from landbridge.cli._session import session


def evaluate(
    data: options.Data,
    label: options.Label,
    domain: options.Domain = None,
    model: Annotated[
        str | None,
        typer.Option(help="Name of an estimator, like RandomForestClassifier; linear if omitted."),
    ] = None,
    metric: options.Metric = None,
    task: options.Kind = None,
    drop: options.Drop = None,
    exclude: options.Exclude = None,
    text: options.Text = None,
    encoding: options.Encoding = None,
    level: options.Level = 0.95,
    max_rows: options.MaxRows = 20_000,
    jobs: options.Jobs = 1,
    seed: options.Seed = 0,
    format: options.Output = options.Format.table,
    debug: options.Debug = False,
) -> None:
    """Leave every domain out once; scores by source beside a constant guess, and intervals."""
    with session(format is options.Format.json, debug) as current:
        from landbridge.cli._problem import Question, read_problem
        from landbridge.cli._study import Plan, run_sources
        from landbridge.report.layout import sources_section

        question = Question(
            data,
            label,
            domain,
            None,
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
        plan = Plan(metrics=tuple(metric or ()), level=level, jobs=jobs, seed=seed)
        with current.working("leaving every domain out once"):
            found = run_sources(problem, model, plan)
        current.show(found, sources_section(found).blocks)
