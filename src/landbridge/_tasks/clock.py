"""The clock that times candidates: it stops while code is loaded or compiled."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

_paused = 0.0


def working_time() -> float:
    """Seconds of a clock that does not run while `not_working` is active."""
    return time.perf_counter() - _paused


@contextmanager
def not_working() -> Iterator[None]:
    """Stop the clock, so that compilation is not counted for the first candidate."""
    global _paused
    started = working_time()
    try:
        yield
    finally:
        # Nested pauses have already moved the clock, so they are not counted twice.
        _paused += working_time() - started
