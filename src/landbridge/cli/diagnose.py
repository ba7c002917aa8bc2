"""``landbridge diagnose``: compare the target with each source."""

from dataclasses import dataclass

from landbridge.cli import _options as options
from landbridge.cli._session import Session


@dataclass(frozen=True, kw_only=True)
class Diagnose(options.TableOptions):
    """Report the distance of the target from each source, and which features moved."""

    label: options.OptionalLabel = None
    target: options.Target
    max_rows: options.MaxRows = 5000

    def run(self, current: Session) -> None:
        from landbridge.cli import _trust
        from landbridge.cli._study import shift_part
        from landbridge.report.blocks import Text
        from landbridge.report.layout import shift_section

        problem = self.read(current, target=self.target, announce_task=False)
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
