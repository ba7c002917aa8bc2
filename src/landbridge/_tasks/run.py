"""Run tasks. No other module starts tasks.

Results are identical for any ``n_jobs`` and joblib backend, because seeds belong to tasks and every
task runs its linear algebra on one thread.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from joblib._parallel_backends import LokyBackend, SequentialBackend
from joblib.parallel import get_active_backend

from landbridge._tasks.cache import TaskCache
from landbridge._tasks.call import TaskFunction, call, cut
from landbridge._tasks.joblib_backends import run_with_joblib
from landbridge._tasks.records import Task, TaskResult
from landbridge._tasks.shared_file import SharedData
from landbridge._tasks.signals import unswallowed_signals
from landbridge._tasks.workers import Attempt, run_in_workers
from landbridge._validation import count_jobs
from landbridge.exceptions import CacheWarning


def run_tasks(
    function: TaskFunction,
    tasks: Iterable[Task],
    *,
    shared: Any = None,
    n_jobs: int | None = None,
    cache: TaskCache | None = None,
    fit_timeout: float | None = None,
    deadline: float | None = None,
    on_result: Callable[[TaskResult], None] | None = None,
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
        Pulled one by one when a worker is free, in this order. A generator can therefore leave
        out tasks that earlier results have made unnecessary.
    shared : object or SharedData, default=None
        Data that all tasks read, sent to each worker once per run; with `SharedData` once for
        several runs. Arrays arrive read-only. They should
        be contiguous: sending changes the memory layout of other arrays, hence the rounding of
        sums over them.
    n_jobs : int, default=None
        Number of parallel jobs. Outcomes are identical for any value.
    cache : TaskCache, default=None
        Stores finished tasks with a key; tasks that it contains are not run again.
    fit_timeout : float, default=None
        Seconds after which a task is stopped.
    deadline : float, default=None
        Value of `time.monotonic` after which no task is started. Tasks running in worker
        processes are stopped then.
    on_result : callable, default=None
        Called with each result before it is yielded.

    Yields
    ------
    TaskResult
        In order of completion; with one job in the order of the tasks.
    """
    return _run(
        function, tasks, shared, count_jobs(n_jobs), cache, fit_timeout, deadline, on_result
    )


def _run(
    function: TaskFunction,
    tasks: Iterable[Task],
    shared: Any,
    n_jobs: int,
    cache: TaskCache | None,
    fit_timeout: float | None,
    deadline: float | None,
    on_result: Callable[[TaskResult], None] | None,
) -> Iterator[TaskResult]:
    source = _pull(tasks, cache, deadline)
    data = shared if isinstance(shared, SharedData) else SharedData(shared)
    results = _engine(function, source, data, n_jobs, fit_timeout, deadline)
    store = _Store(cache)
    try:
        for result in results:
            store.add(result)
            if on_result is not None:
                on_result(result)
            yield result
    finally:
        results.close()  # type: ignore[attr-defined]  # generators have it
        if data is not shared:
            data.close()
        store.finish()
    store.warn()


def _engine(
    function: TaskFunction,
    source: Iterator[Attempt | TaskResult],
    shared: SharedData,
    n_jobs: int,
    fit_timeout: float | None,
    deadline: float | None,
) -> Iterator[TaskResult]:
    """Run tasks in the way that suits joblib's active backend."""
    backend = get_active_backend()[0]
    if type(backend).__name__ == "DaskDistributedBackend":
        from landbridge._tasks.dask_cluster import run_on_dask

        return run_on_dask(
            backend.client,
            function,
            source,
            shared=shared,
            fit_timeout=fit_timeout,
            n_jobs=n_jobs,
            deadline=deadline,
        )
    if isinstance(backend, (LokyBackend, SequentialBackend)):
        if n_jobs == 1 and fit_timeout is None:
            return _run_here(function, source, shared.content)
        return run_in_workers(
            function,
            source,
            shared=shared,
            n_jobs=n_jobs,
            fit_timeout=fit_timeout,
            deadline=deadline,
        )
    return run_with_joblib(
        function, source, shared=shared.content, n_jobs=n_jobs, fit_timeout=fit_timeout
    )


def _run_here(
    function: TaskFunction, source: Iterator[Attempt | TaskResult], shared: Any
) -> Iterator[TaskResult]:
    for item in source:
        if isinstance(item, TaskResult):
            yield item
        else:
            with unswallowed_signals():
                answer = call(function, shared, item.task.content)
            yield answer.as_result(item.index, item.task)


def _pull(
    tasks: Iterable[Task], cache: TaskCache | None, deadline: float | None
) -> Iterator[Attempt | TaskResult]:
    """Yield tasks to run, or their results if they are cached or the deadline has passed."""
    for index, task in enumerate(tasks):
        stored = None if cache is None or task.key is None else cache.get(task.key)
        if stored is not None:
            yield TaskResult(index, task, stored.outcome, None, stored.seconds, cached=True)
        elif deadline is not None and time.monotonic() >= deadline:
            yield cut().as_result(index, task)
        else:
            yield Attempt(index, task)


class _Store:
    """Writes outcomes to the cache in a thread, so that no task waits for the disk."""

    def __init__(self, cache: TaskCache | None):
        self.cache = cache
        self.thread = ThreadPoolExecutor(max_workers=1) if cache is not None else None
        self.writes: list[Future[None]] = []

    def add(self, result: TaskResult) -> None:
        """Store a fresh outcome."""
        key = result.task.key
        if self.cache is None or self.thread is None or result.cached:
            return
        if key is None or result.outcome is None:
            return
        self.warn()
        if self.cache is not None:
            self.writes.append(
                self.thread.submit(
                    self.cache.put,
                    key,
                    result.outcome,
                    kind=result.task.kind,
                    seconds=result.seconds,
                )
            )

    def warn(self) -> None:
        """Stop storing after the first failed write, with a warning."""
        done = [write for write in self.writes if write.done()]
        self.writes = [write for write in self.writes if not write.done()]
        for write in done:
            error = write.exception()
            if error is None or self.cache is None:
                continue
            if not isinstance(error, OSError):
                raise error
            folder, self.cache = self.cache.directory, None
            warnings.warn(
                f"Finished fits can no longer be stored in {folder}: {error.strerror or error}. "
                "The run continues without storing. Free disk space to be able to resume it.",
                CacheWarning,
                stacklevel=4,
            )

    def finish(self) -> None:
        """Wait until all outcomes are on disk."""
        if self.thread is not None:
            self.thread.shutdown(wait=True)
