"""The fits that a search cannot avoid, planned once for all criteria.

A *cell* is one candidate on one source. Criteria that are made from the same fits share them, and
so do cells: what does not depend on the source is fitted once for all sources, and a candidate
that ignores the target is not fitted again for every fold of the target.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from landbridge.baselines import TargetOnly
from landbridge.model_selection.candidates import Candidate
from landbridge.model_selection.sources import Source

Stage = Literal["source_fold", "target_fold", "source_to_target", "target_alone"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One candidate on one source, by their numbers."""

    candidate: int
    source: int


@dataclass(frozen=True, slots=True)
class Fit:
    """One task: its losses fill the arrays ``fills`` of every cell in ``cells``."""

    stage: Stage
    fold: int
    candidate: int
    source: int
    cells: tuple[int, ...]
    fills: tuple[str, ...]

    @property
    def n_models(self) -> int:
        """How many models the task fits."""
        return 2 if "reverse" in self.fills else 1


def plan_cells(n_candidates: int, sources: Sequence[Source]) -> list[Cell]:
    """Every candidate on every source, source by source."""
    return [
        Cell(candidate, source)
        for source in range(len(sources))
        for candidate in range(n_candidates)
    ]


def plan_fits(
    cells: Sequence[Cell],
    candidates: Sequence[Candidate],
    sources: Sequence[Source],
    *,
    n_target_folds: int,
    needs: frozenset[str],
) -> list[Fit]:
    """The fits behind the arrays that ``needs`` names; none for a source with a problem."""
    sound = [number for number, cell in enumerate(cells) if not sources[cell.source].problem]
    fits = [
        fit
        for number in sound
        for fit in _fits_of_cell(number, cells[number], candidates, sources, n_target_folds, needs)
    ]
    for number, candidate in enumerate(candidates):
        fills = _filled_by_target_alone(candidate, needs)
        sharing = tuple(cell for cell in sound if cells[cell].candidate == number)
        if fills and sharing:
            source = cells[sharing[0]].source
            fits += [
                Fit("target_alone", fold, number, source, sharing, with_guesses(fills, fold, needs))
                for fold in range(n_target_folds)
            ]
    return fits


def with_guesses(fills: tuple[str, ...], fold: int, needs: frozenset[str]) -> tuple[str, ...]:
    """Let the first model that is validated by ``labelled`` guess the unlabelled rows too."""
    if fold == 0 and "labelled" in fills and "guesses" in needs:
        return (*fills, "guesses")
    return fills


def _fits_of_cell(
    number: int,
    cell: Cell,
    candidates: Sequence[Candidate],
    sources: Sequence[Source],
    n_target_folds: int,
    needs: frozenset[str],
) -> Iterator[Fit]:
    candidate = candidates[cell.candidate]

    def fit(stage: Stage, fold: int, fills: tuple[str, ...]) -> Fit:
        return Fit(stage, fold, cell.candidate, cell.source, (number,), fills)

    fills: tuple[str, ...] = tuple(name for name in ("forward", "reverse") if name in needs)
    if fills:
        for fold in range(sources[cell.source].n_folds):
            yield fit("source_fold", fold, fills)
    ignores_target = candidate.role == "source-only"
    fills = tuple(
        name
        for name in ("source_to_target", "labelled")
        if name in needs and (name == "source_to_target" or ignores_target)
    )
    if fills:
        yield fit("source_to_target", 0, with_guesses(fills, 0, needs))
    if "labelled" in needs and not ignores_target and not _ignores_source(candidate):
        for fold in range(n_target_folds):
            yield fit("target_fold", fold, with_guesses(("labelled",), fold, needs))


def _filled_by_target_alone(candidate: Candidate, needs: frozenset[str]) -> tuple[str, ...]:
    own = ("target_alone",) if "target_alone" in needs else ()
    if "labelled" in needs and _ignores_source(candidate):
        return (*own, "labelled")
    return own


def _ignores_source(candidate: Candidate) -> bool:
    # Not as the last step of a pipeline, whose other steps are fitted on the source.
    return isinstance(candidate.estimator, TargetOnly)
