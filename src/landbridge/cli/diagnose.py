"""``landbridge diagnose``, ``evaluate`` and ``features``: compare domains."""

from dataclasses import dataclass
from enum import StrEnum

from landbridge.cli import _options as options
from landbridge.cli._options import option
from landbridge.cli._session import Session


@dataclass(frozen=True, kw_only=True)
class Diagnose(options.TableOptions):
    """Report the distance of the target from each source, and which features moved."""

    target: str = options.target_option()
    group: str | None = option(
        None, "Column with groups, such as patients, whose rows belong together."
    )
    max_rows: int = options.max_rows_option(5000)

    def run(self, current: Session) -> None:
        from landbridge.cli import _trust
        from landbridge.cli._study import shift_part
        from landbridge.report.blocks import Text
        from landbridge.report.layout import shift_section

        problem = self.read(current, target=self.target, announce_task=False, group=self.group)
        found = shift_part(problem, self.seed)
        with current.working("checking columns and labels"):
            parts = (
                problem.audit,
                _trust.check_target_labels(problem, self.seed),
                _trust.explain_losses(problem, self.seed),
            )
        data = {**found, **_trust.trust_data(*parts)}
        blocks = [*_trust.trust_blocks(*parts), *shift_section(found).blocks]
        if problem.sample is not None and problem.sample.cut():
            data["sample"] = problem.sample.sentence()
            blocks.append(Text(data["sample"]))
        current.show(data, blocks)


@dataclass(frozen=True, kw_only=True)
class Evaluate(options.LearnOptions):
    """Leave each domain out once, and report scores per source with intervals."""

    model: str | None = option(
        None, "Name of an estimator, such as RandomForestClassifier; a linear model if omitted."
    )

    def run(self, current: Session) -> None:
        from landbridge.cli._study import run_sources
        from landbridge.report.layout import sources_section

        problem = self.read(current, task=self.task, spare_labels=True)
        found = run_sources(problem, self)
        current.show(found, sources_section(found).blocks)


class Criterion(StrEnum):
    """Selection criterion."""

    t = "t"
    loss = "loss"
    gate = "gate"


@dataclass(frozen=True, kw_only=True)
class Features(options.TableOptions):
    """Select features with the same effect in every domain (T-greedy)."""

    label: str = options.label_option()
    positive: str | None = option(
        None, "With more than two classes, the class to separate from the others."
    )
    criterion: Criterion = option(
        Criterion.t, "t: most consistent effect; loss: largest effect; gate: both."
    )
    number: int | None = option(None, "Number of features; chosen by validation if omitted.", min=1)
    max_rows: int = options.max_rows_option(0)

    def run(self, current: Session) -> None:
        from landbridge.cli._study import run_features
        from landbridge.report.layout import features_section

        problem = self.read(current, announce_task=False)
        if self.positive is None:
            problem = problem.with_numeric_labels()
        with current.working("picking features"):
            found = run_features(problem, self)
        current.show(found, features_section(found).blocks)
