"""Linear algebra on one thread.

The order of a sum inside a threaded product depends on the number of threads, so results differ
in the last bits between machines and between settings of ``OMP_NUM_THREADS``. One thread per task
makes them identical, and keeps parallel tasks from competing for cores.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from threading import Lock
from typing import Any, TypeVar, cast

from threadpoolctl import OpenBLASController, ThreadpoolController

Function = TypeVar("Function", bound=Callable[..., Any])
_lock = Lock()
_users = 0
_limit: Any = None


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread.

    The limit belongs to the process, not to the calling thread. Concurrent tasks in threads
    therefore share it: the last one lifts it. If each task restored the limit it found, a task
    that ends early would lift the limit of a task still running. Every task sets it, because the
    caller may have changed it since the first one did; a task that was given up after its
    ``fit_timeout`` counts as running until its thread ends.
    """
    global _users, _limit
    with _lock, _in_control():
        limit = _threadpools(len(sys.modules)).limit(limits=1)
        if not _users:
            _limit = limit
        _users += 1
    try:
        yield
    finally:
        with _lock, _in_control():
            _users -= 1
            if not _users:
                _limit.restore_original_limits()


def on_one_thread(function: Function) -> Function:
    """Decorator: run the function inside `one_thread`."""

    @wraps(function)
    def limited(*arguments: Any, **options: Any) -> Any:
        with one_thread():
            return function(*arguments, **options)

    return cast(Function, limited)


@contextmanager
def _in_control() -> Iterator[None]:
    """Let this thread set the limit of OpenBLAS.

    Since threadpoolctl 3.8 the first thread that sets it keeps all others from doing so, until it
    ends or gives up control.
    """
    give_up = getattr(OpenBLASController, "clear_controlling_thread", lambda force: None)
    give_up(force=True)
    try:
        yield
    finally:
        give_up(force=True)


@lru_cache(maxsize=1)
def _threadpools(n_modules: int) -> ThreadpoolController:
    """Native libraries of this process, looked up again only after an import."""
    return ThreadpoolController()
