"""Pass Ctrl-C to the caller even if an estimator catches it."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any


@contextmanager
def unswallowed_signals() -> Iterator[None]:
    """Raise a second time after SIGINT or SIGTERM if the block caught the first exception.

    scikit-learn's neural networks catch KeyboardInterrupt and end their training early. Without
    this, Ctrl-C would stop one fit instead of the search.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread receives signals
        return
    seen: list[tuple[Any, int]] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    replaced = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number, handler in replaced.items():
        signal.signal(number, partial(_note_and_handle, seen, handler))
    try:
        yield
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)
    for noted, received in seen:
        noted(received, None)


def _note_and_handle(
    seen: list[tuple[Any, int]], handler: Any, number: int, frame: FrameType | None
) -> None:
    seen.append((handler, number))
    handler(number, frame)
