"""From checked rows and candidates to a result: folds, weights, fits, pointwise losses."""

import platform
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from traceback import format_exc
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.base import clone

from landbridge._parallel import iterate_tasks, spawn_seeds
from landbridge._typing import Matrix, Vector, VectorLike
from landbridge._version import __version__
from landbridge.exceptions import FewTargetRowsWarning, LandbridgeWarning, WeightingWarning
from landbridge.model_selection import halving
from landbridge.model_selection.candidates import Candidate
from landbridge.model_selection.criteria import Choice
from landbridge.model_selection.execution import Failure, Job, run_job
from landbridge.model_selection.ledger import Ledger
from landbridge.model_selection.losses import Loss, loss_name
from landbridge.model_selection.plan import Fit, plan_cells, plan_fits
from landbridge.model_selection.progress import Progress
from landbridge.model_selection.results import SearchResult
from landbridge.model_selection.sources import Source, fold_numbers, make_source, n_folds
from landbridge.model_selection.tables import SearchData, numeric_rows
from landbridge.weighting import effective_sample_size
from landbridge.weighting._base import SMALL_SHARE


@dataclass(frozen=True, slots=True)
class Settings:
    """How to search, as opposed to what is searched."""

    choice: Choice
    loss: Loss
    weighting: Any
    cv: Any
    halving: bool
    record_errors: bool
    n_jobs: int | None
    seed: int
    verbose: int


def run_search(
    data: SearchData,
    candidates: Sequence[Candidate],
    source_rows: dict[Any, Vector],
    settings: Settings,
) -> SearchResult:
    """Plan the fits, run them and gather their losses."""
    started = time.perf_counter()
    *fold_seeds, target_seed = spawn_seeds(settings.seed, len(source_rows) + 1)
    sources = [
        make_source(name, rows, data.y, cv=settings.cv, task=data.task, seed=seed)
        for (name, rows), seed in zip(source_rows.items(), fold_seeds, strict=True)
    ]
    target_folds = _target_folds(data, settings, target_seed)
    cells = plan_cells(len(candidates), sources)
    ledger = Ledger(cells, candidates, sources, data, settings.choice, settings.loss)
    ratios = _weight_tasks(data, sources, settings)
    fits = plan_fits(
        cells,
        candidates,
        sources,
        n_target_folds=0 if target_folds is None else int(target_folds.max()) + 1,
        needs=settings.choice.needs,
    )
    jobs = _jobs(fits, candidates, sources, target_folds, settings)
    _run_jobs(data, jobs, ratios, ledger, settings)
    about = _about(data, settings)
    spent = {
        "fits_planned": len(fits),
        "fits_done": ledger.fits_done,
        "weight_seconds": ledger.weight_seconds,
        "seconds": time.perf_counter() - started,
    }
    return ledger.freeze(target_folds, {**about, **spent})


def _jobs(
    fits: Sequence[Fit],
    candidates: Sequence[Candidate],
    sources: Sequence[Source],
    target_folds: VectorLike,
    settings: Settings,
) -> dict[Fit, Job]:
    """Every planned fit with all it needs besides the data."""
    seeds = model_seeds(settings.seed, len(candidates))
    return {
        fit: Job(
            fit,
            candidates[fit.candidate].estimator,
            sources[fit.source],
            target_folds,
            settings.loss,
            seeds[fit.candidate],
            settings.record_errors,
        )
        for fit in fits
    }


def _run_jobs(
    data: SearchData,
    jobs: dict[Fit, Job],
    ratios: dict[int, tuple[Any, ...]],
    ledger: Ledger,
    settings: Settings,
) -> None:
    """Run the jobs, with halving in rounds between which cells may stop.

    Weights go first into the same queue, so that a worker fits candidates while another weighs.
    """
    criterion, fits = settings.choice.criterion, list(jobs)
    groups = halving.rounds(fits, n_folds(settings.cv)) if settings.halving else [fits]
    calls: list[tuple[Any, ...]] = [(_weights_of, *task) for task in ratios.values()]
    with Progress(settings.verbose, len(fits), len(ledger.cells)) as progress:
        for number, group in enumerate(groups, start=1):
            running = ledger.still_running(group)
            calls += [(run_job, data, jobs[fit]) for fit in running]
            answers = iterate_tasks(_call, calls, n_jobs=settings.n_jobs)
            if number == 1:
                for source in ratios:
                    _record_weights(ledger, source, *next(answers))
            for fit, outcome in zip(running, answers, strict=True):
                ledger.record(fit, outcome)
                progress.advance(ledger, criterion)
            if number < len(groups):
                ledger.stop(halving.clearly_behind, settings.choice)
            calls = []


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def model_seeds(seed: int, n_candidates: int) -> list[int]:
    """One seed for each candidate, the same in every fold and in the final fit."""
    return spawn_seeds(seed + 1, n_candidates)


def _target_folds(data: SearchData, settings: Settings, seed: int) -> VectorLike:
    """Folds of the labelled target rows; as many as rows where there are too few for ``cv``."""
    needed = {"labelled", "target_alone"} & settings.choice.needs
    if not needed:
        return None
    folds = n_folds(settings.cv)
    if data.n_labelled < folds:
        warnings.warn(
            f"There are fewer labelled target rows than folds, {data.n_labelled} for {folds}, so "
            "each of them is a fold of its own. Label more rows, or lower `cv`.",
            FewTargetRowsWarning,
            stacklevel=4,
        )
    return fold_numbers(data.y_target, cv=min(folds, data.n_labelled), task=data.task, seed=seed)


def _weight_tasks(
    data: SearchData, sources: Sequence[Source], settings: Settings
) -> dict[int, tuple[Any, ...]]:
    """Arguments of `_weights_of` for each sound source, if weights are needed."""
    if "weights" not in settings.choice.needs:
        return {}
    X, X_target = numeric_rows(data)
    return {
        number: (settings.weighting, X[source.rows], X_target, settings.record_errors)
        for number, source in enumerate(sources)
        if not source.problem
    }


def _record_weights(ledger: Ledger, source: int, answer: Vector | Failure, seconds: float) -> None:
    """Enter weights or their failure; say so when they rest on few rows."""
    ledger.weight_seconds += seconds
    if isinstance(answer, Failure):
        ledger.fail_source(source, "weights", answer)
        return
    ledger.record_weights(source, answer)
    effective = effective_sample_size(answer)
    if effective < SMALL_SHARE * answer.size:
        warnings.warn(
            f"The importance weights of source {ledger.sources[source].name!r} rest on about "
            f"{effective:.0f} of {answer.size} rows, so `wcv` and `trcv` are unstable on it. "
            "Regularise the weighting, or look at 'rv' and 'tlv' too.",
            WeightingWarning,
            stacklevel=5,
        )


def _weights_of(
    weighting: Any, X: Matrix, X_target: Matrix, record_errors: bool
) -> tuple[Vector | Failure, float]:
    """The weights or the record of their failure, and the seconds they took."""
    started = time.perf_counter()
    answer: Vector | Failure
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LandbridgeWarning)
            model = clone(weighting, safe=False)  # any object with fit and weights_
            model.fit(X, X_target)
            answer = _checked_weights(model.weights_, X.shape[0])
    except Exception as error:
        if not record_errors:
            raise
        answer = Failure(f"{type(error).__name__}: {error}", format_exc())
    return answer, time.perf_counter() - started


def _checked_weights(weights: VectorLike, n_rows: int) -> Vector:
    weights = np.asarray(weights, dtype=np.float64)
    sound = weights.shape == (n_rows,) and np.isfinite(weights).all() and (weights >= 0).all()
    if not sound or not weights.any():
        raise ValueError(
            f"`weighting` must give each of {n_rows} source rows a finite weight of at least 0, "
            f"not all of them 0; got shape {weights.shape}, like {weights.ravel()[:3].tolist()}."
        )
    return weights


def _about(data: SearchData, settings: Settings) -> dict[str, Any]:
    return {
        "criterion": settings.choice.criterion,
        "reason": settings.choice.reason,
        "criteria": settings.choice.criteria,
        "correction": settings.choice.correction,
        "loss": loss_name(settings.loss),
        "task": data.task,
        "labelled_rows": data.n_labelled,
        "halving": settings.halving,
        "versions": {
            "landbridge": __version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "python": platform.python_version(),
        },
    }
