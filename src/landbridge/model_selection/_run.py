"""Run a search on checked rows and candidates: folds, weights, fits, predictions."""

import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from landbridge._tasks import (
    SharedData,
    Task,
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
    source_rows,
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


def run_search(
    data: SearchData,
    candidates: Sequence[Candidate],
    rows_of_sources: dict[Any, Vector],
    settings: Settings,
    on_plan: Callable[[int], Callable[[], None]] | None = None,
    label_check: LabelCheck | None = None,
) -> SearchResult:
    """Plan the fits, run them and keep their predictions.

    ``on_plan`` is called with the number of fits and returns a function to call after each fit.
    """
    started = time.perf_counter()
    context = make_context(data, candidates, rows_of_sources, settings)
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
        self.y = encode_labels(data.y, data.classes)
        self.y_target = data.y_target
        if data.y_target is not None:
            self.y_target = encode_labels(data.y_target, data.classes)
        self.kept: dict[str, list[Predictions | None]] = {}
        self.folds_of_unlabelled: dict[int, dict[int, np.ndarray]] = {}
        self.weights: dict[int, Vector] = {}
        self.fits_done = self.fits_cut = 0
        self.cut: dict[int, list[FitTask]] = {}  # fits skipped by the time budget
        self.done: Counter[int] = Counter()  # fits of each cell
        self.weight_seconds = 0.0
        self.cache_keys = None if settings.cache is None else CacheKeys(context)
        self.failures = [
            Failure(number, "source", -1, KEPT, f"ValueError: {problem}")
            for number, cell in enumerate(cells)
            if (problem := context.sources[cell.source_index].problem)
        ]

    # Running

    def execute(self, fits: Sequence[FitTask], advance: Callable[[], None] | None) -> None:
        """Compute the weights, then the fits; with racing, cells may stop between rounds."""
        settings, names = self.settings, [one.name for one in self.context.candidates]
        rounds, deadline = self._rounds(fits), None
        if settings.time_budget is not None:
            deadline = time.monotonic() + settings.time_budget
        with (
            SharedData(self.context) as shared,
            TaskProgress(
                [names[fit.candidate] for fit in fits],
                verbose=settings.verbose,
                n_jobs=count_jobs(settings.n_jobs),
                deadline=deadline,
            ) as progress,
        ):
            tasks = [self._task(fit, "weights") for fit in self._weight_fits()]
            while rounds:
                group = rounds.pop(0)
                for fit in group:
                    if all(self.cells[cell].stopped_after is not None for cell in fit.cells):
                        progress.drop(names[fit.candidate])
                    else:
                        tasks.append(self._task(fit, names[fit.candidate]))
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
                    if result.task.content.stage != "weights":
                        progress.advance(result, note=self._leader)
                        if advance is not None:
                            advance()
                tasks = []
                if deadline is None:
                    self._stop_what_is_behind(rounds)
                    continue
                left, work = deadline - time.monotonic(), progress.work_left()
                if work is not None and work > left:
                    self._stop_what_is_behind(rounds)
                # A candidate moves to the end if the time left does not suffice for it.
                work = progress.work_left([names[group[0].candidate]])
                if work is not None and work > left:
                    rounds.sort(key=lambda later: later[0].candidate == group[0].candidate)

    def _rounds(self, fits: Sequence[FitTask]) -> list[list[FitTask]]:
        """Fits that are run together; racing compares the cells after each round.

        With a time budget, simple candidates come first, one after the other, which gives a
        complete ranking of the candidates that were validated in time. The first fits of a
        candidate, one per job, form a separate round to estimate how long the others will take.
        """
        if self.settings.time_budget is None:
            return racing_rounds(fits) if self.settings.racing else [list(fits)]
        candidates, n_first = self.context.candidates, count_jobs(self.settings.n_jobs)
        rounds = []
        for number in sorted(range(len(candidates)), key=lambda n: candidates[n].complexity):
            own = [fit for fit in fits if fit.candidate == number]
            rounds += [own[:n_first], *racing_rounds(own[n_first:])]
        return [group for group in rounds if group]

    def _weight_fits(self) -> list[FitTask]:
        """One task per valid source, if weights are needed; they overlap with the first fits."""
        if self.context.weight_fit is None:
            return []
        cells: list[list[int]] = [[] for _ in self.context.sources]
        for number, cell in enumerate(self.cells):
            cells[cell.source_index].append(number)
        return [
            FitTask("weights", -1, -1, number, tuple(cells[number]), ("weights",))
            for number, source in enumerate(self.context.sources)
            if not source.problem
        ]

    def _task(self, fit: FitTask, kind: str) -> Task:
        return Task(fit, kind, None if self.cache_keys is None else self.cache_keys.of(fit))

    # Recording

    def _record(self, result: TaskResult) -> None:
        """Store the outcome of a task, or its failure."""
        fit, failure = result.task.content, result.failure
        outcome: Any = result.outcome
        if failure is None and fit.stage == "weights":
            self._record_weights(fit.source, outcome)
        elif failure is None:
            self._record_fit(fit, outcome)
        elif self.settings.raise_errors and failure.reason != "cut":
            raise failure.exception or RuntimeError(failure.message)
        elif failure.reason == "cut" and fit.stage != "weights":
            self.fits_cut += 1
            for cell in fit.cells:
                self.cut.setdefault(cell, []).append(fit)
        else:
            self.failures += [
                Failure(cell, fit.stage, fit.fold, fit.fills, failure.message, failure.traceback)
                for cell in fit.cells
            ]

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
                fits=cell.fits + 1 + ("reverse" in fit.fills),
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
        kept = self.kept.setdefault(name, [None] * len(self.cells))
        found = kept[cell] = kept[cell] or self._empty(name, cell)
        held_out: Any = slice(None)
        if name == "target":  # all candidates are compared on the same rows
            held_out = self.context.target_folds.numbers[rows] >= 0  # type: ignore[union-attr]
        found.values[rows[held_out]] = values[held_out]
        if labels is not None:
            found.labels[rows[held_out]] = labels[held_out]

    def _empty(self, name: str, cell: int) -> Predictions:
        """Allocate predictions, filled with NaN and −1."""
        of_source = name in ("source", "reverse")
        source = self.context.sources[self.cells[cell].source_index]
        n_rows = source.rows.size if of_source else self.data.n_labelled
        if self.data.classes is None:
            return Predictions(np.full(n_rows, np.nan))
        n_classes = len(self.data.classes)
        labels = np.full(n_rows, -1, dtype=np.int16 if n_classes < 2**15 else np.int32)
        dtype = np.float32 if of_source else np.float64
        return Predictions(np.full((n_rows, n_classes), np.nan, dtype), labels)

    def _record_weights(self, number: int, outcome: dict[str, Any]) -> None:
        self.weight_seconds += outcome["seconds"]
        self.weights[number] = weights = outcome["weights"]
        name, effective = self.context.sources[number].name, effective_sample_size(weights)
        if name is not None and effective < SMALL_SHARE * weights.size:
            warn_caller(
                f"The importance weights of source {name!r} rest on about {effective:.0f} of "
                f"{weights.size} rows, so `wcv` and `trcv` are unstable on it. Regularise the "
                "weighting, or also consider 'rv' and 'tlv'.",
                WeightingWarning,
            )

    # Racing

    def _stop_what_is_behind(self, later: Iterable[Sequence[FitTask]]) -> None:
        waiting = {cell for group in later for fit in group for cell in fit.cells}
        failed = {failure.cell for failure in self.failures}
        running = {
            number: losses
            for number, cell in enumerate(self.cells)
            if number not in failed and cell.role != "baseline" and cell.stopped_after is None
            if (losses := self._losses_so_far(number)) is not None
        }
        if len(running) > 2:
            for number in waiting.intersection(clearly_behind(running)):
                folds = max(self.folds_of_unlabelled.get(number, {0: None})) + 1
                self.cells[number] = replace(self.cells[number], stopped_after=folds)

    def _losses_so_far(self, cell: int) -> RowLosses | None:
        """Weighted losses on the rows seen so far; on target rows if the criterion uses any."""
        criterion = CRITERIA[self.settings.choice.criterion]
        kept = self.kept.get(criterion.predictions)
        if kept is None or (found := kept[cell]) is None:
            return None
        if criterion.of_target:
            rows = np.arange(self.data.n_labelled)
            y, weight = self.y_target, self.data.sample_weight_target
        else:
            rows = self.context.sources[self.cells[cell].source_index].rows
            y, weight = self.y[rows], self.data.sample_weight
        is_class = found.labels is not None
        losses = (found.labels != y).astype(np.float64) if is_class else (found.values - y) ** 2
        if weight is not None:
            losses = losses * weight[rows]
        seen = found.seen
        return RowLosses(rows[seen], losses[seen]) if seen.any() else None

    def _leader(self) -> str:
        means = {
            number: losses.values.mean()
            for number, cell in enumerate(self.cells)
            if (losses := self._losses_so_far(number)) is not None
        }
        if not means:
            return ""
        best = self.cells[min(means, key=lambda number: means[number])]
        source = "" if best.source is None else f" from {source_name(best.source)}"
        return f"leader {best.name}{source}"

    # Freezing

    def freeze(self, n_planned: int, seconds: float, check: LabelCheck | None) -> SearchResult:
        """The result so far; arrays become read-only."""
        context, data = self.context, self.data
        if self.folds_of_unlabelled:
            self.kept["unlabelled"] = [self._mean_over_folds(c) for c in range(len(self.cells))]
        for found in (one for kept in self.kept.values() for one in kept if one is not None):
            for array in (found.values, found.labels):
                if array is not None:
                    array.flags.writeable = False
        numbers: VectorLike = None
        if context.target_folds is not None:
            numbers = context.target_folds.numbers
        elif "source_to_target" in self.kept:
            numbers = np.zeros(data.n_labelled, dtype=int)
        return SearchResult(
            cells=tuple(self.cells),
            sources=tuple(
                SourceRows(source.name, source.rows, source.folds.numbers, self.weights.get(number))
                for number, source in enumerate(context.sources)
            ),
            y=self.y,
            y_target=self.y_target,
            classes=data.classes,
            target_folds=numbers,
            unlabelled_rows=context.kept_unlabelled,
            sample_weight=data.sample_weight,
            sample_weight_target=data.sample_weight_target,
            target_groups=_group_numbers(self.settings.cv_groups_target),
            failures=tuple(
                # In an order that does not depend on which fit ended first.
                sorted(self.failures, key=lambda one: (one.cell, one.fold, one.stage))
                + self._cut_cells()
                + self._metric_failures()
            ),
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
        asking = [one.label for one in self.settings.metrics if one.response == "probability"]
        message = (
            "{} needs class probabilities; {!r} has no predict_proba. Wrap it in "
            "sklearn.calibration.CalibratedClassifierCV."
        )
        return [
            Failure(number, "metric", -1, (), message.format(metric, cell.candidate))
            for number, cell in enumerate(self.cells)
            if not cell.has_proba
            for metric in asking
        ]

    def _info(self, n_planned: int, seconds: float) -> SearchInfo:
        data = self.data
        return SearchInfo(
            **asdict(self.settings.choice),
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


# Tasks


def run_task(context: FitContext, task: FitTask) -> dict[str, Any]:
    """Fit a candidate, or estimate the density ratios of a source."""
    if context.weight_fit is None or task.stage != "weights":
        return FitRun(context, task).run()
    started = time.perf_counter()
    weighting, X, X_target = context.weight_fit
    X = X[context.sources[task.source].rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LandbridgeWarning)
        model = clone(weighting, safe=False)  # any object with fit and weights_
        model.fit(X, X_target)
    weights = np.asarray(model.weights_, dtype=np.float64)
    sound = weights.shape == X.shape[:1] and np.isfinite(weights).all() and (weights >= 0).all()
    if not sound or not weights.any():
        raise ValueError(
            f"`weighting` must give each of the {X.shape[0]} source rows a finite weight of at "
            f"least 0, and not all weights may be 0; got shape {weights.shape}, starting with "
            f"{weights.ravel()[:3].tolist()}."
        )
    return {"weights": weights, "seconds": time.perf_counter() - started}


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
        self.context, data = context, context.data
        self.target = describe_rows(
            data.X_target, data.y_target, data.X_unlabeled, data.sample_weight_target
        )
        self.candidates = [describe_candidate(c.name, c.estimator) for c in context.candidates]
        parts = (source_rows(data, source.rows) for source in context.sources)
        self.sources = [describe_rows(part.X, part.y, part.sample_weight) for part in parts]

    def of(self, task: FitTask) -> str | None:
        """Key of one fit, or of the density ratios of one source."""
        context, rows = self.context, self.sources[task.source]
        if context.weight_fit is not None and task.stage == "weights":
            text = describe_candidate("weighting", context.weight_fit[0])
            return None if text is None else task_key("weights", rows, self.target, text)
        text = self.candidates[task.candidate]
        if text is None:
            return None
        return task_key(
            self.target,
            None if task.stage == "target_alone" else rows,
            task.stage,
            sorted(task.fills),
            *(() if task.stage == "source_to_target" else context.split(task)),
            text,
            context.candidates[task.candidate].role,
            context.seeds[task.candidate],
            context.data.task,
            None if context.data.classes is None else list(map(str, context.data.classes)),
            context.kept_unlabelled,
            context.kept_rows[context.sources[task.source].rows],
        )


# Racing


def racing_rounds(fits: Sequence[FitTask]) -> list[list[FitTask]]:
    """Fits in rounds of 2, 4, 8, … folds."""
    rounds: dict[int, list[FitTask]] = {}
    for fit in fits:
        rounds.setdefault((fit.fold // FIRST_ROUND).bit_length(), []).append(fit)
    return [rounds[number] for number in sorted(rounds)]


def clearly_behind(losses: dict[int, RowLosses]) -> list[int]:
    """Cells that stop: in the worse half and clearly behind the leader.

    A cell is clearly behind if its mean loss exceeds the leader's by more than ``Z`` standard
    errors of the paired difference; a pair that shares no rows (two sources) is compared by the two
    means and their errors.
    """
    order = sorted(losses, key=lambda cell: losses[cell].values.mean())
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
    elif min(losses.size, of_leader.size) < 2:
        return 0.0
    else:
        gap = losses.mean() - of_leader.mean()
        variance = losses.var(ddof=1) / losses.size + of_leader.var(ddof=1) / of_leader.size
    if variance == 0:
        return np.inf if gap > 0 else 0.0
    return float(gap / np.sqrt(variance))
