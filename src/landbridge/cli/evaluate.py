"""``landbridge evaluate``: estimate the score on a new source."""

from dataclasses import dataclass
from typing import Annotated

import typer

from landbridge.cli._options import LearnOptions
from landbridge.cli._session import Session


@dataclass(frozen=True, kw_only=True)
class Evaluate(LearnOptions):
    """Leave each domain out once, and report scores per source with intervals."""

    model: Annotated[
        str | None,
        typer.Option(
            help="Name of an estimator, such as RandomForestClassifier; a linear model if omitted."
        ),
    ] = None

    def run(self, current: Session) -> None:
        from landbridge.cli._study import run_sources
        from landbridge.report.layout import sources_section

        problem = self.read(current, task=self.task, spare_labels=True)
        found = run_sources(problem, self)
        current.show(found, sources_section(found).blocks)
