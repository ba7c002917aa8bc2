"""The only place that starts tasks and hands out seeds.

Same seed, same answer, for any ``n_jobs`` and any joblib backend: seeds belong to the index of a
task, not to the worker that runs it, and every task runs its linear algebra on one thread, since
the order of a sum inside a threaded product depends on the number of threads.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from sklearn.utils import check_random_state
from threadpoolctl import ThreadpoolController

from landbridge._typing import RandomState


def spawn_seeds(random_state: RandomState, n_tasks: int) -> list[int]:
    """One seed for each task, a function of ``random_state`` and of the task's index alone."""
    root = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    children = np.random.SeedSequence(root).spawn(n_tasks)
    return [int(child.generate_state(1)[0]) & 0x7FFFFFFF for child in children]


def iterate_tasks(
    function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], *, n_jobs: int | None = None
) -> Iterator[Any]:
    """Yield ``function(*task)`` for each task, in the order of the tasks, as they get ready."""
    if n_jobs == 0:
        raise ValueError(
            "`n_jobs` must be a number of tasks at a time, or -1 for all cores; got 0. Pass 1 for "
            "one after the other."
        )
    # A backend that cannot (multiprocessing) hands over the answers when all are ready.
    streams = get_active_backend()[0].supports_return_generator
    parallel = Parallel(n_jobs=n_jobs, return_as="generator" if streams else "list")
    yield from parallel(delayed(_on_one_thread)(function, task) for task in tasks)


def run_tasks(
    function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], *, n_jobs: int | None = None
) -> list[Any]:
    """``[function(*task) for task in tasks]`` on ``n_jobs`` workers."""
    return list(iterate_tasks(function, tasks, n_jobs=n_jobs))


def _on_one_thread(function: Callable[..., Any], task: tuple[Any, ...]) -> Any:
    with _threadpools(len(sys.modules)).limit(limits=1):
        return function(*task)


@lru_cache(maxsize=1)
def _threadpools(n_modules: int) -> ThreadpoolController:
    """The native libraries of this process; looked up (milliseconds) again only after an import."""
    return ThreadpoolController()
