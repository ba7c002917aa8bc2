"""Run tasks in this process, in supervised workers, or on one of joblib's backends.

No other module starts tasks. Results are identical for any ``n_jobs`` and joblib backend, because
seeds belong to tasks and every task runs its linear algebra on one thread.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from joblib import parallel_config
from joblib._parallel_backends import LokyBackend, SequentialBackend
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from landbridge._tasks.cache import TaskCache
from landbridge._tasks.task import (
    Answer,
    Attempt,
    RemoteCall,
    Task,
    TaskFunction,
    TaskResult,
    call,
    cut,
    one_thread,
    unswallowed_signals,
)
from landbridge._tasks.workers import Run, SharedData, run_in_workers
from landbridge._validation import count_jobs
from landbridge._warn import warn_caller
from landbridge.exceptions import CacheWarning


def map_tasks(
    function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], *, n_jobs: int | None = None
) -> list[Any]:
    """``[function(*task) for task in tasks]`` on ``n_jobs`` workers; raise the first error."""
    parallel = Parallel(n_jobs=count_jobs(n_jobs))
    return parallel(delayed(_call)(function, task) for task in tasks)


@one_thread()
def _call(function: Callable[..., Any], task: tuple[Any, ...]) -> Any:
    return function(*task)


def run_tasks(
    function: TaskFunction,
    tasks: Iterable[Task],
    *,
    shared: Any = None,
    n_jobs: int | None = None,
    cache: TaskCache | None = None,
    fit_timeout: float | None = None,
    deadline: float | None = None,
) -> Iterator[TaskResult]:
    """Yield the result of ``function(shared, task.content)`` for each task when it is ready.

    A task that raises, exceeds ``fit_timeout`` or ends its worker process three times yields a
    `TaskFailure`; the other tasks continue. With one job, tasks run in this process unless
    ``fit_timeout`` requires a process that can be stopped.

    Parameters
    ----------
    function : callable
        Takes ``shared`` and the content of a task, returns a dictionary of arrays and JSON values.
    tasks : iterable of Task
        Pulled one by one when a worker is free, in this order; all at once with a ``cache``.
    shared : object or SharedData, default=None
        Data that all tasks read, sent to each worker once per run; with `SharedData` once for
        several runs. Arrays arrive read-only. They should be contiguous: sending changes the memory
        layout of other arrays, hence the rounding of sums over them.
    n_jobs : int, default=None
        Number of parallel jobs. Outcomes are identical for any value.
    cache : TaskCache, default=None
        Stores finished tasks with a key; tasks that it contains are not run again.
    fit_timeout : float, default=None
        Seconds after which a task is stopped.
    deadline : float, default=None
        Value of `time.monotonic` after which no task is started. Tasks running in worker
        processes are stopped then.

    Yields
    ------
    TaskResult
        Results from the cache first, the others in order of completion; with one job in the order
        of the tasks.
    """
    data = shared if isinstance(shared, SharedData) else SharedData(shared)
    run = Run(function, data, count_jobs(n_jobs), fit_timeout, deadline)
    return _results(run, tasks, cache, close=data is not shared)


def _results(
    run: Run, tasks: Iterable[Task], cache: TaskCache | None, *, close: bool
) -> Iterator[TaskResult]:
    waiting: Iterator[Attempt] = (Attempt(index, task) for index, task in enumerate(tasks))
    if cache is not None:
        waiting = yield from _stored_results(waiting, cache)
    late: list[Attempt] = []
    results = _engine(run, _in_time(waiting, run.deadline, late))
    if cache is not None:
        results = _storing(results, cache)
    try:
        yield from results
    finally:
        results.close()  # type: ignore[attr-defined]  # generators have it
        if close:
            run.shared.close()
    for attempt in late:
        yield attempt.result(cut())


def _stored_results(
    waiting: Iterator[Attempt], cache: TaskCache
) -> Generator[TaskResult, None, Iterator[Attempt]]:
    """Yield the results that the cache contains; return the other tasks."""
    missing = []
    for attempt in waiting:
        stored = None if attempt.task.key is None else cache.get(attempt.task.key)
        if stored is None:
            missing.append(attempt)
        else:
            answer = Answer(stored.outcome, None, stored.seconds)
            yield replace(attempt.result(answer), cached=True)
    return iter(missing)


def _in_time(
    waiting: Iterator[Attempt], deadline: float | None, late: list[Attempt]
) -> Iterator[Attempt]:
    """Yield the tasks that may start; add the others to ``late``."""
    for attempt in waiting:
        if deadline is None or time.monotonic() < deadline:
            yield attempt
        else:
            late.append(attempt)


@contextmanager
def without_dask() -> Iterator[None]:
    """Run joblib's jobs of other packages in this process if they would go to Dask.

    joblib waits forever for jobs whose Dask workers died again and again.
    """
    if type(get_active_backend()[0]).__name__ != "DaskDistributedBackend":
        yield
    else:
        with parallel_config(backend="sequential", n_jobs=1):
            yield


def _engine(run: Run, source: Iterator[Attempt]) -> Iterator[TaskResult]:
    """Run tasks in the way that suits joblib's active backend."""
    backend = get_active_backend()[0]
    if type(backend).__name__ == "DaskDistributedBackend":
        from landbridge._tasks.dask_cluster import run_on_dask

        return run_on_dask(run, source, backend.client)
    if not isinstance(backend, (LokyBackend, SequentialBackend)):
        return _run_with_joblib(run, source)
    if run.n_jobs == 1 and run.fit_timeout is None:
        return _run_here(run, source)
    return run_in_workers(run, source)


def _run_here(run: Run, source: Iterator[Attempt]) -> Iterator[TaskResult]:
    for attempt in source:
        with unswallowed_signals():
            answer = call(run.function, run.shared.content, attempt.task.content)
        error = None if answer.failure is None else answer.failure.exception
        if isinstance(error, KeyboardInterrupt):
            raise error  # not all interrupts come as signals: debuggers and notebooks raise them
        yield attempt.result(answer)


def _run_with_joblib(run: Run, source: Iterator[Attempt]) -> Iterator[TaskResult]:
    """Run tasks in threads, in a multiprocessing pool, on Ray or on a third-party backend."""
    backend = get_active_backend()[0]
    attempts: dict[int, Attempt] = {}
    answer = partial(_answer, RemoteCall(run.function), run.fit_timeout, _sent(run, backend))

    def calls() -> Iterator[Any]:
        for attempt in source:
            attempts[attempt.index] = attempt
            yield delayed(answer)(attempt.index, attempt.task.content)

    # A backend that cannot stream (multiprocessing) returns all results at the end.
    return_as = "generator_unordered" if backend.supports_return_generator else "list"
    parallel = Parallel(n_jobs=run.n_jobs, return_as=return_as, batch_size=1, pre_dispatch="n_jobs")
    for index, result in parallel(calls()):
        yield attempts.pop(index).result(result)


def _answer(
    remote: RemoteCall,
    fit_timeout: float | None,
    shared: Callable[[], Any],
    index: int,
    content: Any,
) -> tuple[int, Answer]:
    return index, remote.answer_within(fit_timeout, shared(), content)


def _sent(run: Run, backend: Any) -> Callable[[], Any]:
    """Function that returns the shared data; Ray sends them to each node once."""
    if type(backend).__name__ != "RayBackend":
        return partial(_itself, run.shared.content)
    import ray

    return partial(ray.get, ray.put(run.shared.content))


def _itself(shared: Any) -> Any:
    return shared


def _storing(results: Iterator[TaskResult], cache: TaskCache) -> Iterator[TaskResult]:
    """Store outcomes in the cache in a thread, so that no task waits for the disk."""
    writes: deque[Future[None]] = deque()
    failed = False
    with closing(results), ThreadPoolExecutor(max_workers=1) as thread:  # type: ignore[type-var]
        for result in results:
            failed = failed or _has_failed(writes, cache)
            key, outcome = result.task.key, result.outcome
            if not failed and key is not None and outcome is not None:
                put = partial(cache.put, kind=result.task.kind, seconds=result.seconds)
                writes.append(thread.submit(put, key, outcome))
            yield result
    if not failed:
        _has_failed(writes, cache)


def _has_failed(writes: deque[Future[None]], cache: TaskCache) -> bool:
    """Whether one of the finished writes failed, with a warning."""
    while writes and writes[0].done():
        error = writes.popleft().exception()
        if error is None:
            continue
        if not isinstance(error, OSError):
            raise error
        warn_caller(
            f"Finished fits can no longer be stored in {cache.directory}: "
            f"{error.strerror or error}. The run continues without storing. Free disk space to be "
            "able to resume it.",
            CacheWarning,
        )
        return True
    return False
