"""Run calls in parallel and return their results in order; raise the first error."""

from collections.abc import Callable, Iterable
from typing import Any

from sklearn.utils.parallel import Parallel, delayed

from landbridge._tasks.threads import on_one_thread
from landbridge._validation import count_jobs


def map_tasks(
    function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]], *, n_jobs: int | None = None
) -> list[Any]:
    """``[function(*task) for task in tasks]`` on ``n_jobs`` workers, on one thread each."""
    parallel = Parallel(n_jobs=count_jobs(n_jobs))
    return parallel(delayed(_call)(function, task) for task in tasks)


@on_one_thread
def _call(function: Callable[..., Any], task: tuple[Any, ...]) -> Any:
    return function(*task)
