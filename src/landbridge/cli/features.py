"""``landbridge features``: find features with the same effect in every domain."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from landbridge.cli import _options as options
from landbridge.cli._session import Session


class Criterion(StrEnum):
    """Selection criterion."""

    t = "t"
    loss = "loss"
    gate = "gate"


@dataclass(frozen=True, kw_only=True)
class Features(options.TableOptions):
    """Select features with the same effect in every domain (T-greedy)."""

    label: options.Label
    positive: Annotated[
        str | None,
        typer.Option(help="With more than two classes, the class to separate from the others."),
    ] = None
    criterion: Annotated[
        Criterion,
        typer.Option(help="t: most consistent effect; loss: largest effect; gate: both."),
    ] = Criterion.t
    number: Annotated[
        int | None, typer.Option(min=1, help="Number of features; chosen by validation if omitted.")
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
