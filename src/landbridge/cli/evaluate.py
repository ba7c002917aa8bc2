"""``landbridge evaluate``: how well on a source that nobody has seen."""

from dataclasses import dataclass
from typing import Annotated

import typer

from landbridge.cli._options import LearnOptions
from landbridge.cli._session import Session


@dataclass(frozen=True, kw_only=True)
class Evaluate(LearnOptions):
    """Leave every domain out once; scores by source beside a constant guess, and intervals."""

    model: Annotated[
        str | None,
        typer.Option(help="Name of an estimator, like RandomForestClassifier; linear if omitted."),
    ] = None

    def run(self, current: Session) -> None:
        from landbridge.cli._study import run_sources
        from landbridge.report.layout import sources_section

        problem = self.read(current, task=self.task, spare_labels=True)
        found = run_sources(problem, self)
        current.show(found, sources_section(found).blocks)
