"""``landbridge diagnose``, ``evaluate`` and ``features``: compare domains."""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from landbridge.cli import _options as options
from landbridge.cli._options import option
from landbridge.cli._session import InputError, Session, listing, nearest

if TYPE_CHECKING:
    from landbridge.cli._problem import Problem


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
        from landbridge.cli._trust import column_cautions
        from landbridge.report.layout import sources_section

        problem = self.read(current, task=self.task, spare_labels=True)
        for sentence in column_cautions(problem, folds=False):
            current.warn(sentence)
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
        from landbridge.cli._trust import column_cautions
        from landbridge.report.layout import features_section

        problem = self.read(current, announce_task=False)
        for sentence in column_cautions(problem, folds=False):
            current.warn(sentence)
        if self.positive is None:
            problem = problem.with_numeric_labels()
        with current.working("picking features"):
            found = run_features(problem, self)
        current.show(found, features_section(found).blocks)


def run_sources(problem: "Problem", asked: Evaluate) -> dict[str, Any]:
    """`sources_part` for the named estimator, or for the default."""
    from landbridge.cli import _study
    from landbridge.cli._candidates import Entry, build_estimator
    from landbridge.cli._problem import require_labels

    require_labels(problem, least=2)
    if asked.model is None:
        estimator = _study.defaults_for(problem, labelled=False)["source-only linear"]
        return _study.sources_part(problem, _study.without_target(estimator), asked)
    estimator = _study.without_target(build_estimator(Entry(asked.model, 1, Path("--model"))))
    _study.require_task(problem, {"--model": estimator})
    return _study.sources_part(problem, estimator, asked)


def run_features(problem: "Problem", asked: Features) -> dict[str, Any]:
    """`features_part`; with several classes, one class against the others."""
    from landbridge.cli._problem import require_labels
    from landbridge.cli._study import features_part

    require_labels(problem, least=2)
    if len(problem.sources) < 2:
        raise InputError(
            f"--domain must name a column with at least two domains; {problem.domain_column!r} "
            f"has {problem.sources[0]!r} only. Name another column, or add rows of another domain."
        )
    if asked.positive is not None:
        problem = replace(problem, labels=one_class(problem.labels, asked.positive))
    elif not problem.has_numeric_response:
        known = problem.labels.drop_nulls().cast(str).unique().sort().to_list()  # type: ignore[union-attr]
        raise InputError(
            f"The labels must be numbers or two classes; got the classes {listing(known)}. "
            f"Tell one from the others, for example with --positive {known[0]}."
        )
    return features_part(
        problem, asked.seed, criterion=asked.criterion.value, n_features=asked.number
    )


def one_class(labels: Any, positive: str) -> Any:
    """Encode the named class as +1 and the others as −1."""
    import polars as pl

    known = labels.cast(str)
    if positive not in known.drop_nulls().to_list():
        names = known.drop_nulls().unique().sort().to_list()
        raise InputError(
            f"--positive must be one of the classes; got {positive!r}."
            f"{nearest(positive, names)} The classes are {listing(names)}."
        )
    return pl.Series(labels.name, [None if k is None else 2 * (k == positive) - 1 for k in known])
