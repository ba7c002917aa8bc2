"""``landbridge features``: which features keep their meaning in a new domain."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from landbridge.cli import _options as options
from landbridge.cli._session import Session


class Criterion(StrEnum):
    """How features are picked."""

    t = "t"
    loss = "loss"
    gate = "gate"


@dataclass(frozen=True, kw_only=True)
class Features(options.TableOptions):
    """Pick features whose effect is the same in every domain (T-greedy)."""

    label: options.Label
    positive: Annotated[
        str | None,
        typer.Option(help="With more than two classes: the class to tell from all others."),
    ] = None
    criterion: Annotated[
        Criterion,
        typer.Option(help="t: same effect everywhere; loss: largest effect; gate: both."),
    ] = Criterion.t
    number: Annotated[
        int | None, typer.Option(min=1, help="How many features; found by validation if omitted.")
    ] = None
    max_rows: options.MaxRows = 0

    def run(self, current: Session) -> None:
        from landbridge.cli._study import run_features
        from landbridge.report.layout import features_section

        problem = self.read(current, announce_task=False)
        if self.positive is None:
            problem = problem.with_numeric_labels()
        with current.working("picking features"):
            found = run_features(problem, self)
        current.show(found, features_section(found).blocks)
