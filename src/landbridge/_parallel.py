"""The only place that starts tasks and hands out seeds.

Same seed, same answer, for any ``n_jobs`` and any joblib backend: seeds belong to the index of a
task, not to the worker that runs it, and every task runs its linear algebra on one thread, since
the order of a sum inside a threaded product depends on the number of threads.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from landbridge._tasks.seeds import spawn_seeds
from landbridge._tasks.threads import one_thread
from landbridge._validation import count_jobs

__all__ = ["iterate_tasks", "run_tasks", "spawn_seeds"]


def iterate_tasks(
    function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], *, n_jobs: int | None = None
) -> Iterator[Any]:
    """Yield ``function(*task)`` for each task, in the order of the tasks, as they get ready."""
    # A backend that cannot (multiprocessing) hands over the answers when all are ready.
    streams = get_active_backend()[0].supports_return_generator
    parallel = Parallel(n_jobs=count_jobs(n_jobs), return_as="generator" if streams else "list")
    yield from parallel(delayed(_on_one_thread)(function, task) for task in tasks)


def run_tasks(
    function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], *, n_jobs: int | None = None
) -> list[Any]:
    """``[function(*task) for task in tasks]`` on ``n_jobs`` workers."""
    return list(iterate_tasks(function, tasks, n_jobs=n_jobs))


def _on_one_thread(function: Callable[..., Any], task: tuple[Any, ...]) -> Any:
    with one_thread():
        return function(*task)
