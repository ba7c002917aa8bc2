"""Plan of a search: folds, cells, fits with their cache keys, and the rounds of racing."""

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from sklearn.utils import _safe_indexing

from landbridge._tasks import TaskCache, describe_candidate, describe_rows, spawn_seeds, task_key
from landbridge._typing import Vector, VectorLike
from landbridge.exceptions import FewTargetRowsWarning
from landbridge.metrics.metric import Metric
from landbridge.model_selection._fit_tasks import FitContext, FitTask, Stage
from landbridge.model_selection._search_data import SearchData, numeric_rows
from landbridge.model_selection._sources import Folds, Source, make_folds, make_source, n_folds
from landbridge.model_selection.candidates import Candidate, prediction_cost
from landbridge.model_selection.criteria import Choice
from landbridge.model_selection.search_records import Cell

# Maximum number of unlabelled rows, and of source rows × classes × cells, for which predictions are
# kept; beyond that, rows are sampled.
MOST_UNLABELLED = 2000
MOST_VALUES = 50_000_000
# Number of folds before the first comparison of racing, and the number of standard errors that
# counts as clearly behind.
FIRST_ROUND = 2
Z = 2.5


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a search."""

    choice: Choice
    metrics: tuple[Metric, ...]
    answer: str
    weighting: Any
    cv: Any
    cv_target: Any
    cv_groups: VectorLike
    cv_groups_target: VectorLike
    racing: bool
    raise_errors: bool
    cache: TaskCache | None
    time_budget: float | None
    fit_timeout: float | None
    n_jobs: int | None
    seed: int
    verbose: int


def make_context(
    data: SearchData,
    candidates: Sequence[Candidate],
    source_rows: dict[Any, Vector],
    settings: Settings,
) -> FitContext:
    """Folds, seeds and the rows whose predictions are kept."""
    fold_seed, target_seed, kept_seed = spawn_seeds(settings.seed, 3)
    sources = make_sources(data, candidates, source_rows, settings, fold_seed)
    n_values = data.n_rows * len(candidates) * (1 if data.classes is None else len(data.classes))
    rng = np.random.default_rng(kept_seed)
    kept = np.ones(data.n_rows, dtype=bool)
    if n_values > MOST_VALUES:
        kept = rng.permutation(data.n_rows) < max(data.n_rows * MOST_VALUES // n_values, 1)
    n_unlabelled = data.n_unlabelled
    chosen = rng.permutation(n_unlabelled)[:MOST_UNLABELLED]
    return FitContext(
        data=data,
        candidates=tuple(candidates),
        seeds=tuple(model_seeds(settings.seed, candidates)),
        sources=tuple(sources),
        target_folds=_target_folds(data, settings, target_seed),
        kept_rows=kept,
        kept_unlabelled=np.sort(chosen),
        weight_rows=numeric_rows(data) if "weights" in settings.choice.needs else None,
    )


def make_sources(
    data: SearchData,
    candidates: Sequence[Candidate],
    source_rows: dict[Any, Vector],
    settings: Settings,
    seed: int,
) -> list[Source]:
    """Sources with their folds; the last one contains all rows.

    Candidates that ignore the source are validated on the last one, which is the pooled source or
    an unnamed set of all rows.
    """
    rows = dict(source_rows)
    whole = [name for name, part in rows.items() if part.size == data.n_rows]
    if not whole and any(not candidate.uses_source for candidate in candidates):
        rows[None], whole = np.arange(data.n_rows), [None]
    last = whole[-1] if whole else next(reversed(rows))
    rows[last] = rows.pop(last)
    return [
        make_source(
            name,
            part,
            data.y,
            cv=settings.cv,
            task=data.task,
            # The folds of a source do not change when another source is added.
            seed=seed,
            cv_groups=settings.cv_groups,
        )
        for name, part in rows.items()
    ]


def model_seeds(seed: int, candidates: Sequence[Candidate]) -> list[int]:
    """One seed per candidate, used in every fold and in the final fit.

    It depends only on the name of the candidate and its position in the grid, so that adding
    another candidate does not change it.
    """
    met: Counter[str] = Counter()
    seeds = []
    for candidate in candidates:
        # Use a CRC, because Python's hash of text differs between processes.
        words = [seed, crc32(candidate.name.encode()), met[candidate.name]]
        seeds.append(int(np.random.SeedSequence(words).generate_state(1)[0]) & 0x7FFFFFFF)
        met[candidate.name] += 1
    return seeds


def _target_folds(data: SearchData, settings: Settings, seed: int) -> Folds | None:
    """Folds of the labelled target rows; one per row if there are too few for ``cv``."""
    if not settings.choice.needs & {"target", "target_alone"}:
        return None
    cv = settings.cv_target
    if data.n_labelled < n_folds(cv):
        warnings.warn(
            f"There are {data.n_labelled} labelled target rows for {n_folds(cv)} folds, so each "
            "row is a separate fold. Label more rows, or lower `cv`.",
            FewTargetRowsWarning,
            stacklevel=5,
        )
        cv = data.n_labelled
    groups = settings.cv_groups_target
    if isinstance(cv, int) and groups is not None:
        cv = max(min(cv, np.unique(groups).size), 2)
    return make_folds(data.y_target, cv=cv, task=data.task, seed=seed, groups=groups)


def plan_cells(
    candidates: Sequence[Candidate], sources: Sequence[Source], n_labelled: int
) -> list[Cell]:
    """Cells of all candidates and sources; candidates that ignore the source have a single cell."""
    named = [number for number, source in enumerate(sources) if source.name is not None]
    places = [
        (number, source)
        for source in named
        for number, candidate in enumerate(candidates)
        if candidate.uses_source
    ]
    # The last source holds all rows (see `make_sources`).
    places += [(n, len(sources) - 1) for n, c in enumerate(candidates) if not c.uses_source]
    return [
        Cell(
            candidate=candidates[number].name,
            params={name: _plain(value) for name, value in candidates[number].params.items()},
            source=sources[source].name if candidates[number].uses_source else None,
            role=candidates[number].role,
            source_index=source,
            candidate_index=number,
            complexity=candidates[number].complexity,
            prediction_cost=prediction_cost(
                candidates[number].estimator,
                n_labelled + candidates[number].uses_source * sources[source].rows.size,
            ),
        )
        for number, source in places
    ]


def _plain(value: Any) -> Any:
    """Convert a value of a grid to a JSON type."""
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def plan_fits(cells: Sequence[Cell], context: FitContext, needs: frozenset[str]) -> list[FitTask]:
    """Fits needed for the arrays in ``needs``; sources with a problem are skipped."""
    return [
        fit
        for number, cell in enumerate(cells)
        if not context.sources[cell.source_index].problem
        for fit in _fits_of_cell(number, cell, context, needs)
    ] + list(_shared_target_fits(cells, context, needs))


def _fits_of_cell(
    number: int, cell: Cell, context: FitContext, needs: frozenset[str]
) -> Iterator[FitTask]:
    candidate = context.candidates[cell.candidate_index]
    source = context.sources[cell.source_index]

    def fit(stage: Stage, fold: int, *fills: str) -> FitTask:
        return FitTask(stage, fold, cell.candidate_index, cell.source_index, (number,), fills)

    from_source = tuple(name for name in ("source", "reverse") if name in needs)
    # Unlabelled rows are predicted by the models most similar to the final one.
    by_target = "target" in needs
    if from_source:
        extra = () if by_target else ("unlabelled",)
        for fold in range(len(source.folds)):
            yield fit("source_fold", fold, *from_source, *extra)
    if candidate.role == "source-only" and by_target:
        also = ("source_to_target",) if "source_to_target" in needs else ()
        yield fit("source_to_target", 0, *also, "target", "unlabelled")
        return
    if "source_to_target" in needs:
        alone = not by_target and not from_source
        yield fit("source_to_target", 0, "source_to_target", *(["unlabelled"] if alone else []))
    if by_target and candidate.uses_source and context.target_folds is not None:
        for fold in range(len(context.target_folds)):
            yield fit("target_fold", fold, "target", "unlabelled")


def _shared_target_fits(
    cells: Sequence[Cell], context: FitContext, needs: frozenset[str]
) -> Iterator[FitTask]:
    """Fits on labelled target rows alone, shared by a candidate's cells on all sources."""
    if context.target_folds is None:
        return
    only = "target_alone" in needs and not needs & {"target", "source", "reverse"}
    for number, candidate in enumerate(context.candidates):
        fills = ("target_alone",) if "target_alone" in needs else ()
        if "target" in needs and not candidate.uses_source:
            fills = (*fills, "target", "unlabelled")
        elif only:
            fills = (*fills, "unlabelled")
        sharing = tuple(
            place
            for place, cell in enumerate(cells)
            if cell.candidate_index == number and not context.sources[cell.source_index].problem
        )
        if fills and sharing:
            source = cells[sharing[0]].source_index
            for fold in range(len(context.target_folds)):
                yield FitTask("target_alone", fold, number, source, sharing, fills)


@dataclass(frozen=True)
class WeightTask:
    """Density ratios of one source."""

    source: int
    weighting: Any


class CacheKeys:
    """Cache keys of fits, which depend only on the inputs of the fit."""

    def __init__(self, context: FitContext):
        self.context = context
        data = context.data
        self.target = describe_rows(
            data.X_target, data.y_target, data.X_unlabeled, data.sample_weight_target
        )
        self.describe = {
            number: describe_candidate(candidate.name, candidate.estimator)
            for number, candidate in enumerate(context.candidates)
        }
        self.sources = {
            number: describe_rows(
                _safe_indexing(data.X, source.rows),
                data.y[source.rows],
                None if data.sample_weight is None else data.sample_weight[source.rows],
            )
            for number, source in enumerate(context.sources)
        }

    def of(self, content: FitTask | WeightTask) -> str | None:
        """Key of one fit, or of the density ratios of one source."""
        if isinstance(content, WeightTask):
            text = describe_candidate("weighting", content.weighting)
            rows = self.sources[content.source]
            return None if text is None else task_key("weights", rows, self.target, text)
        fit, text = content, self.describe[content.candidate]
        if text is None:
            return None
        context, source = self.context, self.context.sources[fit.source]
        split: tuple[Any, ...] = ()
        if fit.stage == "source_fold":
            split = source.folds.splits[fit.fold]
        elif fit.stage in ("target_fold", "target_alone"):
            split = context.target_folds.splits[fit.fold]  # type: ignore[union-attr]
        return task_key(
            self.target,
            None if fit.stage == "target_alone" else self.sources[fit.source],
            fit.stage,
            sorted(fit.fills),
            *split,
            text,
            context.candidates[fit.candidate].role,
            context.seeds[fit.candidate],
            context.data.task,
            None if context.data.classes is None else list(map(str, context.data.classes)),
            context.kept_unlabelled,
            context.kept_rows[source.rows],
        )


# Racing


def racing_rounds(fits: Sequence[FitTask]) -> list[list[FitTask]]:
    """Fits in rounds of 2, 4, 8, … folds."""
    most = max((fit.fold for fit in fits), default=0) + 1
    bounds, reached = [], FIRST_ROUND
    while reached < most:
        bounds.append(reached)
        reached *= 2
    rounds: list[list[FitTask]] = [[] for _ in range(len(bounds) + 1)]
    for fit in fits:
        rounds[int(np.searchsorted(bounds, fit.fold, side="right"))].append(fit)
    return [group for group in rounds if group]


def clearly_behind(losses: dict[int, Vector]) -> list[int]:
    """Cells that stop: in the worse half and clearly behind the leader.

    ``losses`` are those of the rows that a cell has been validated on so far, NaN elsewhere. A
    cell is clearly behind if its mean loss is larger than the leader's by more than ``Z`` standard
    errors of the paired difference; a pair that shares no rows (two sources) is compared by the
    two means and their errors.
    """
    order = sorted(losses, key=lambda cell: float(np.nanmean(losses[cell])))
    worse_half = order[(len(order) + 1) // 2 :]
    return [cell for cell in worse_half if _distance(losses[cell], losses[order[0]]) > Z]


def _distance(losses: Vector, of_leader: Vector) -> float:
    """Difference of the mean loss from the leader's, in standard errors."""
    shared = ~np.isnan(losses) & ~np.isnan(of_leader)
    if shared.sum() >= 2:
        difference = losses[shared] - of_leader[shared]
        gap, variance = difference.mean(), difference.var(ddof=1) / difference.size
    else:
        own, leading = losses[~np.isnan(losses)], of_leader[~np.isnan(of_leader)]
        if min(own.size, leading.size) < 2:
            return 0.0
        gap = own.mean() - leading.mean()
        variance = own.var(ddof=1) / own.size + leading.var(ddof=1) / leading.size
    if variance == 0:
        return np.inf if gap > 0 else 0.0
    return float(gap / np.sqrt(variance))
