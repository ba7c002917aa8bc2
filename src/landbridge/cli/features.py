"""``landbridge features``: which features keep their meaning in a new domain."""

from enum import StrEnum
from typing import Annotated

import typer

from landbridge.cli import _options as options
from landbridge.cli._session import session


class Criterion(StrEnum):
    """How features are picked."""

    t = "t"
    loss = "loss"
    gate = "gate"


def features(
    data: options.Data,
    label: options.Label,
    domain: options.Domain = None,
    positive: Annotated[
        str | None,
        typer.Option(help="With more than two classes: the class to tell from all others."),
    ] = None,
    criterion: Annotated[
        Criterion,
        typer.Option(help="t: same effect everywhere; loss: largest effect; gate: both."),
    ] = Criterion.t,
    number: Annotated[
        int | None, typer.Option(min=1, help="How many features; found by validation if omitted.")
    ] = None,
    drop: options.Drop = None,
    exclude: options.Exclude = None,
    text: options.Text = None,
    encoding: options.Encoding = None,
    max_rows: options.MaxRows = 0,
    seed: options.Seed = 0,
    format: options.Output = options.Format.table,
    debug: options.Debug = False,
) -> None:
    """Pick features whose effect is the same in every domain (T-greedy)."""
    with session(format is options.Format.json, debug) as current:
        from landbridge.cli._problem import Question, read_problem
        from landbridge.cli._study import run_features
        from landbridge.report.layout import features_section

        question = Question(
            data,
            label,
            domain,
            drop=drop or (),
            exclude=exclude or (),
            max_rows=max_rows or None,
            seed=seed,
            task_option=False,
            text=text or (),
            encoding=encoding,
        )
        problem = read_problem(question, current.note)
        if positive is None:
            problem = problem.with_numeric_labels()
        with current.working("picking features"):
            found = run_features(
                problem, positive, seed, criterion=str(criterion), n_features=number
            )
        current.show(found, features_section(found).blocks)
