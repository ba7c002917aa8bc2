"""Run a search on checked rows and candidates: folds, weights, fits, predictions."""

import time
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from landbridge._tasks import (
    SharedData,
    Task,
    TaskFailure,
    TaskProgress,
    TaskResult,
    describe_candidate,
    describe_rows,
    run_tasks,
    task_key,
)
from landbridge._typing import Vector, VectorLike
from landbridge._validation import count_jobs
from landbridge._version import versions
from landbridge._warn import warn_caller
from landbridge.exceptions import LandbridgeWarning, WeightingWarning
from landbridge.inference.label_check import LabelCheck
from landbridge.model_selection._fit_tasks import (
    FitContext,
    FitRun,
    FitTask,
    Settings,
    make_context,
    plan_cells,
    plan_fits,
    single,
)
from landbridge.model_selection._search_data import SearchData, encode_labels
from landbridge.model_selection._sources import source_name
from landbridge.model_selection.candidates import Candidate
from landbridge.model_selection.criteria import CRITERIA
from landbridge.model_selection.search_records import (
    KEPT,
    Cell,
    Failure,
    Predictions,
    SearchInfo,
    SourceRows,
)
from landbridge.model_selection.search_result import SearchResult
from landbridge.weighting import effective_sample_size
from landbridge.weighting._base import SMALL_SHARE

# Number of folds before the first comparison of racing, and the number of standard errors that
# counts as clearly behind.
FIRST_ROUND = 2
Z = 2.5


@dataclass(frozen=True, slots=True)
class RowLosses:
    """Losses of a cell on the rows on which it was validated so far."""

    rows: Vector
    values: Vector

    @property
    def mean(self) -> float:
        return float(self.values.mean())


@dataclass(frozen=True)
class WeightTask:
    """Density ratios of one source."""

    source: int
    weighting: Any


def run_search(
    data: SearchData,
    candidates: Sequence[Candidate],
    source_rows: dict[Any, Vector],
    settings: Settings,
    on_plan: Callable[[int], Callable[[], None]] | None = None,
    label_check: LabelCheck | None = None,
) -> SearchResult:
    """Plan the fits, run them and keep their predictions.

    ``on_plan`` is called with the number of fits and returns a function to call after each fit.
    """
    started = time.perf_counter()
    context = make_context(data, candidates, source_rows, settings)
    cells = plan_cells(candidates, context.sources, data.n_labelled)
    fits = plan_fits(cells, context, settings.choice.needs)
    run = _Run(context, cells, settings)
    advance = on_plan(len(fits)) if on_plan else None
    run.execute(fits, advance)
    return run.freeze(len(fits), time.perf_counter() - started, label_check)


class _Run:
    """A running search, which starts tasks and collects their results."""

    def __init__(self, context: FitContext, cells: Sequence[Cell], settings: Settings):
        self.context, self.cells, self.settings = context, list(cells), settings
        self.data = data = context.data
        self.y, self.y_target = encode_labels(data.y, data.classes), data.y_target
        if data.y_target is not None:
            self.y_target = encode_labels(data.y_target, data.classes)
        self.kept: dict[str, list[Predictions | None]] = {}
        self.folds_of_unlabelled: dict[int, dict[int, np.ndarray]] = {}
        self.weights: dict[int, Vector] = {}
        self.failures: list[Failure] = []
        self.fits_done = self.fits_cut = 0
        self.cut: dict[int, list[FitTask]] = {}  # fits skipped by the time budget
        self.done: Counter[int] = Counter()  # fits of each cell
        self.weight_seconds = 0.0
        self.cache_keys = None if settings.cache is None else CacheKeys(context)
        for number, source in enumerate(context.sources):
            if source.problem:
                self._fail_source(number, "source", KEPT, f"ValueError: {source.problem}")

    # Running

    def execute(self, fits: Sequence[FitTask], advance: Callable[[], None] | None) -> None:
        """Compute the weights, then the fits; with racing, cells may stop between rounds."""
        settings = self.settings
        deadline = None
        rounds = deque(racing_rounds(fits) if settings.racing else [list(fits)])
        if settings.time_budget is not None:
            deadline = time.monotonic() + settings.time_budget
            rounds = deque(self._one_candidate_after_the_other(fits))
        kinds = [self.context.candidates[fit.candidate].name for fit in fits]
        with (
            SharedData(self.context) as shared,
            TaskProgress(
                kinds,
                verbose=settings.verbose,
                n_jobs=count_jobs(settings.n_jobs),
                deadline=deadline,
            ) as progress,
        ):
            first = self._weight_tasks()
            while rounds:
                group = rounds.popleft()
                tasks, first = first, []
                for fit in group:
                    if all(self.cells[cell].stopped_after is not None for cell in fit.cells):
                        progress.drop(self.context.candidates[fit.candidate].name)
                    else:
                        tasks.append(self._task(fit))
                for result in run_tasks(
                    run_task,
                    tasks,
                    shared=shared,
                    n_jobs=settings.n_jobs,
                    cache=settings.cache,
                    fit_timeout=settings.fit_timeout,
                    deadline=deadline,
                ):
                    self._record(result)
                    if isinstance(result.task.content, FitTask):
                        progress.advance(result, note=self._leader)
                        if advance is not None:
                            advance()
                if deadline is None:
                    self._stop_what_is_behind(rounds)
                    continue
                left = deadline - time.monotonic()
                work = progress.work_left()
                if work is not None and work > left:
                    self._stop_what_is_behind(rounds)
                self._postpone(rounds, group[0].candidate, progress, left)

    def _task(self, content: FitTask | WeightTask) -> Task:
        kind = "weights"
        if isinstance(content, FitTask):
            kind = self.context.candidates[content.candidate].name
        key = None if self.cache_keys is None else self.cache_keys.of(content)
        return Task(content=content, kind=kind, key=key)

    def _weight_tasks(self) -> list[Task]:
        """One task per valid source, if weights are needed; they overlap with the first fits."""
        if "weights" not in self.settings.choice.needs:
            return []
        return [
            self._task(WeightTask(number, self.settings.weighting))
            for number, source in enumerate(self.context.sources)
            if not source.problem
        ]

    def _one_candidate_after_the_other(self, fits: Sequence[FitTask]) -> list[list[FitTask]]:
        """Rounds of a search with a time budget: simple candidates first, one after the other.

        This gives a complete ranking of the candidates that were validated in time. The first fits
        of a candidate, one per job, form a separate round to estimate how long the others will
        take.
        """
        candidates, n_first = self.context.candidates, count_jobs(self.settings.n_jobs)
        rounds = []
        for number in sorted(range(len(candidates)), key=lambda n: candidates[n].complexity):
            own = [fit for fit in fits if fit.candidate == number]
            rounds += [own[:n_first], *racing_rounds(own[n_first:])]
        return [group for group in rounds if group]

    def _postpone(
        self, rounds: deque[list[FitTask]], candidate: int, progress: TaskProgress, left: float
    ) -> None:
        """Move a candidate to the end if the time left, in seconds, does not suffice for it."""
        own = [group for group in rounds if group[0].candidate == candidate]
        work = progress.work_left([self.context.candidates[candidate].name])
        if work is not None and work > left:
            for group in own:
                rounds.remove(group)
            rounds.extend(own)

    # Recording

    def _record(self, result: TaskResult) -> None:
        content = result.task.content
        if result.failure is not None:
            self._record_failure(content, result.failure)
        elif isinstance(content, WeightTask):
            self.weight_seconds += result.outcome["seconds"]  # type: ignore[index]
            self._record_weights(content.source, result.outcome["weights"])  # type: ignore[index]
        else:
            self._record_fit(content, result.outcome)  # type: ignore[arg-type]

    def _record_fit(self, fit: FitTask, outcome: dict[str, Any]) -> None:
        self.fits_done += 1
        self.done.update(fit.cells)
        for number in fit.cells:
            cell = self.cells[number]
            self.cells[number] = replace(
                cell,
                # The time of a shared fit is counted once, regardless of the number of cells.
                fit_seconds=cell.fit_seconds + outcome["fit_seconds"] / len(fit.cells),
                predict_seconds=cell.predict_seconds + outcome["predict_seconds"] / len(fit.cells),
                fits=cell.fits + fit.n_models,
                constants=cell.constants + outcome["constants"],
                has_proba=cell.has_proba and outcome["has_proba"],
            )
            for name in fit.fills:
                values = outcome[f"{name}.values"]
                if name == "unlabelled":
                    self.folds_of_unlabelled.setdefault(number, {})[fit.fold] = values
                else:
                    self._keep(name, number, outcome["rows"], values, outcome.get(f"{name}.labels"))

    def _keep(self, name: str, cell: int, rows: Vector, values: Any, labels: VectorLike) -> None:
        found = self.kept.setdefault(name, [None] * len(self.cells))
        if found[cell] is None:
            found[cell] = self._empty(name, cell)
        held_out: Any = slice(None)
        if name == "target":  # all candidates are compared on the same rows
            held_out = self.context.target_folds.numbers[rows] >= 0  # type: ignore[union-attr]
        found[cell].values[rows[held_out]] = values[held_out]  # type: ignore[union-attr]
        if labels is not None:
            found[cell].labels[rows[held_out]] = labels[held_out]  # type: ignore[union-attr]

    def _empty(self, name: str, cell: int) -> Predictions:
        """Allocate predictions, filled with NaN and −1."""
        of_source = name in ("source", "reverse")
        source = self.context.sources[self.cells[cell].source_index]
        n_rows = source.rows.size if of_source else self.data.n_labelled
        kind = np.float32 if of_source else np.float64
        if self.data.classes is None:
            return Predictions(np.full(n_rows, np.nan))
        n_classes = len(self.data.classes)
        labels = np.full(n_rows, -1, dtype=np.int16 if n_classes < 2**15 else np.int32)
        return Predictions(np.full((n_rows, n_classes), np.nan, dtype=kind), labels)

    def _record_weights(self, source: int, weights: Vector) -> None:
        self.weights[source] = weights
        effective = effective_sample_size(weights)
        named = self.context.sources[source].name is not None
        if named and effective < SMALL_SHARE * weights.size:
            warn_caller(
                f"The importance weights of source {self.context.sources[source].name!r} rest on "
                f"about {effective:.0f} of {weights.size} rows, so `wcv` and `trcv` are unstable "
                "on it. Regularise the weighting, or also consider 'rv' and 'tlv'.",
                WeightingWarning,
            )

    def _record_failure(self, content: Any, failure: TaskFailure) -> None:
        if self.settings.raise_errors and failure.reason != "cut":
            if failure.exception is not None:
                raise failure.exception
            raise RuntimeError(failure.message)
        if isinstance(content, WeightTask):
            self._fail_source(
                content.source, "weights", ("weights",), failure.message, failure.traceback
            )
            return
        if failure.reason == "cut":
            self.fits_cut += 1
            for cell in content.cells:
                self.cut.setdefault(cell, []).append(content)
            return
        for cell in content.cells:
            self.failures.append(
                Failure(
                    cell, content.stage, content.fold, content.fills, failure.message,
                    failure.traceback,
                )
            )  # fmt: skip

    def _fail_source(
        self, source: int, stage: str, arrays: Sequence[str], message: str, traceback: str = ""
    ) -> None:
        for number, cell in enumerate(self.cells):
            if cell.source_index == source:
                self.failures.append(Failure(number, stage, -1, tuple(arrays), message, traceback))

    # Racing

    def _stop_what_is_behind(self, later: Iterable[Sequence[FitTask]]) -> None:
        waiting = {cell for group in later for fit in group for cell in fit.cells}
        failed = {failure.cell for failure in self.failures}
        running = {}
        for number, cell in enumerate(self.cells):
            if number not in failed and cell.role != "baseline" and cell.stopped_after is None:
                losses = self._losses_so_far(number)
                if losses is not None:
                    running[number] = losses
        if len(running) > 2:
            for number in clearly_behind(running):
                if number in waiting:
                    folds = max(self.folds_of_unlabelled.get(number, {0: None})) + 1
                    self.cells[number] = replace(self.cells[number], stopped_after=folds)

    def _losses_so_far(self, cell: int) -> RowLosses | None:
        """Weighted losses on the rows seen so far; on target rows if the criterion uses any."""
        criterion = CRITERIA[self.settings.choice.criterion]
        found = self.kept.get(criterion.predictions, [None] * len(self.cells))[cell]
        if found is None:
            return None
        rows = self.context.sources[self.cells[cell].source_index].rows
        y = self.y_target if criterion.of_target else self.y[rows]
        if self.data.classes is None:
            seen, losses = found.seen, (found.values - y) ** 2
        else:
            seen, losses = found.labels >= 0, (found.labels != y).astype(np.float64)
        kept = np.flatnonzero(seen)
        if not kept.size:
            return None
        if criterion.of_target:
            numbers, weight = kept, self.data.sample_weight_target
        else:
            numbers, weight = rows[kept], self.data.sample_weight
        losses = losses[kept] if weight is None else losses[kept] * weight[numbers]
        return RowLosses(numbers, losses)

    def _leader(self) -> str:
        losses = {cell: self._losses_so_far(cell) for cell in range(len(self.cells))}
        means = {cell: found.mean for cell, found in losses.items() if found is not None}
        if not means:
            return ""
        best = self.cells[min(means, key=lambda cell: means[cell])]
        return f"leader {best.name}" + (
            "" if best.source is None else f" from {source_name(best.source)}"
        )

    # Freezing

    def freeze(self, n_planned: int, seconds: float, check: LabelCheck | None) -> SearchResult:
        """The result so far; arrays become read-only."""
        sources = tuple(
            SourceRows(source.name, source.rows, source.folds.numbers, self.weights.get(number))
            for number, source in enumerate(self.context.sources)
        )
        if self.folds_of_unlabelled:
            self.kept["unlabelled"] = [self._mean_over_folds(c) for c in range(len(self.cells))]
        for found in (one for kept in self.kept.values() for one in kept if one is not None):
            for array in (found.values, found.labels):
                if array is not None:
                    array.flags.writeable = False
        folds = self.context.target_folds
        data = self.data
        if folds is None and data.n_labelled and "source_to_target" in self.kept:
            numbers: VectorLike = np.zeros(data.n_labelled, dtype=int)
        else:
            numbers = None if folds is None else folds.numbers
        return SearchResult(
            cells=tuple(self.cells),
            sources=sources,
            y=self.y,
            y_target=self.y_target,
            classes=data.classes,
            target_folds=numbers,
            unlabelled_rows=self.context.kept_unlabelled,
            sample_weight=data.sample_weight,
            sample_weight_target=data.sample_weight_target,
            target_groups=_group_numbers(self.settings.cv_groups_target),
            failures=tuple(self.failures + self._cut_cells() + self._metric_failures()),
            info=self._info(n_planned, seconds),
            metrics=self.settings.metrics,
            label_check_=check,
            **{name: tuple(kept) for name, kept in self.kept.items()},
        )

    def _mean_over_folds(self, cell: int) -> Predictions | None:
        folds = self.folds_of_unlabelled.get(cell)
        if not folds:
            return None
        # Use the order of the folds, so that rounding does not depend on which fit ended first.
        stack = np.stack([folds[fold] for fold in sorted(folds)])
        values: np.ndarray = stack.mean(axis=0, dtype=np.float64)
        labels = None if self.data.classes is None else values.argmax(axis=1).astype(np.int16)
        return Predictions(single(values), labels)

    def _cut_cells(self) -> list[Failure]:
        """One failure per cell that the time budget cut short, with its progress."""
        failures = []
        for cell, fits in sorted(self.cut.items()):
            done, planned = self.done[cell], self.done[cell] + len(fits)
            message = f"The time budget ended: {done} of {planned} fits were done."
            arrays = tuple(dict.fromkeys(name for fit in fits for name in fit.fills))
            failures.append(Failure(cell, "budget", fits[0].fold, arrays, message))
        return failures

    def _metric_failures(self) -> list[Failure]:
        """Failures of cells without probabilities, for metrics that need them."""
        asking = [metric for metric in self.settings.metrics if metric.response == "probability"]
        return [
            Failure(
                number,
                "metric",
                -1,
                (),
                f"{metric.label} needs class probabilities; {cell.candidate!r} has no "
                "predict_proba. Wrap it in sklearn.calibration.CalibratedClassifierCV.",
            )
            for number, cell in enumerate(self.cells)
            if not cell.has_proba
            for metric in asking
        ]

    def _info(self, n_planned: int, seconds: float) -> SearchInfo:
        data, choice = self.data, self.settings.choice
        return SearchInfo(
            criterion=choice.criterion,
            criteria=choice.criteria,
            by_default=choice.by_default,
            answer=self.settings.answer,  # type: ignore[arg-type]
            task=data.task,
            n_rows=data.n_rows,
            n_labelled=data.n_labelled,
            n_unlabelled=data.n_unlabelled,
            kept_rows=int(self.context.kept_rows.sum()),
            kept_unlabelled=self.context.kept_unlabelled.size,
            fits_planned=n_planned,
            fits_done=self.fits_done,
            fits_cut=self.fits_cut,
            weight_seconds=self.weight_seconds,
            seconds=seconds,
            versions=versions(),
        )


# Density ratios


def run_task(context: FitContext, content: FitTask | WeightTask) -> dict[str, Any]:
    """Run one task of either kind."""
    if isinstance(content, FitTask):
        return FitRun(context, content).outcome()
    started = time.perf_counter()
    X, X_target = context.weight_rows  # type: ignore[misc]
    X = X[context.sources[content.source].rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LandbridgeWarning)
        model = clone(content.weighting, safe=False)  # any object with fit and weights_
        model.fit(X, X_target)
    weights = _checked_weights(model.weights_, X.shape[0])
    return {"weights": weights, "seconds": time.perf_counter() - started}


def _checked_weights(weights: VectorLike, n_rows: int) -> Vector:
    weights = np.asarray(weights, dtype=np.float64)
    sound = weights.shape == (n_rows,) and np.isfinite(weights).all() and (weights >= 0).all()
    if not sound or not weights.any():
        raise ValueError(
            f"`weighting` must give each of the {n_rows} source rows a finite weight of at least "
            f"0, and not all weights may be 0; got shape {weights.shape}, starting with "
            f"{weights.ravel()[:3].tolist()}."
        )
    return weights


def _group_numbers(groups: VectorLike) -> VectorLike:
    """Encode groups as integers in order of appearance."""
    if groups is None:
        return None
    _, first, codes = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]


# Cache


class CacheKeys:
    """Cache keys of fits, which depend only on the inputs of the fit."""

    def __init__(self, context: FitContext):
        self.context = context
        data = context.data
        self.target = describe_rows(
            data.X_target, data.y_target, data.X_unlabeled, data.sample_weight_target
        )
        self.describe = [
            describe_candidate(candidate.name, candidate.estimator)
            for candidate in context.candidates
        ]
        self.sources = [
            describe_rows(
                _safe_indexing(data.X, source.rows),
                data.y[source.rows],
                None if data.sample_weight is None else data.sample_weight[source.rows],
            )
            for source in context.sources
        ]

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


def clearly_behind(losses: dict[int, RowLosses]) -> list[int]:
    """Cells that stop: in the worse half and clearly behind the leader.

    A cell is clearly behind if its mean loss exceeds the leader's by more than ``Z`` standard
    errors of the paired difference; a pair that shares no rows (two sources) is compared by the two
    means and their errors.
    """
    order = sorted(losses, key=lambda cell: losses[cell].mean)
    worse_half, leader = order[(len(order) + 1) // 2 :], losses[order[0]]
    # Only the leader's losses are spread over all rows: with thousands of sources, those of every
    # cell would not fit into memory.
    of_leader = np.full(1 + max(int(own.rows.max()) for own in losses.values()), np.nan)
    of_leader[leader.rows] = leader.values
    return [
        cell
        for cell in worse_half
        if _distance(losses[cell].values, of_leader[losses[cell].rows], leader.values) > Z
    ]


def _distance(losses: Vector, on_same_rows: Vector, of_leader: Vector) -> float:
    """Difference of the mean loss from the leader's, in standard errors.

    ``on_same_rows`` are the leader's losses on the rows of ``losses``, NaN where there are none.
    """
    difference = losses - on_same_rows
    difference = difference[~np.isnan(difference)]
    if difference.size >= 2:
        gap, variance = difference.mean(), difference.var(ddof=1) / difference.size
    else:
        if min(losses.size, of_leader.size) < 2:
            return 0.0
        gap = losses.mean() - of_leader.mean()
        variance = losses.var(ddof=1) / losses.size + of_leader.var(ddof=1) / of_leader.size
    if variance == 0:
        return np.inf if gap > 0 else 0.0
    return float(gap / np.sqrt(variance))
