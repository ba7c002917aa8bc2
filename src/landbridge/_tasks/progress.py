"""Progress of long work: a bar on a terminal, otherwise lines in the log.

This is the only implementation of progress in the package.
"""

import logging
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any, Self

from landbridge._tasks.task import TaskResult

logger = logging.getLogger("landbridge.progress")
# Seconds between two updates of the text, so that composing it takes little time.
PAUSE = 1.0
# Seconds after which a line appears in the log even if nothing has finished.
SILENCE = 30.0
_shown = threading.Lock()


class Progress:
    """Progress in units of work.

    Parameters
    ----------
    name : str
        Name of the work, for example "search".
    total : float or None
        Units of work; None if unknown.
    verbose : int or bool
        0 is silent.
    unit : str
        Name of the unit in the log.
    done : float, default=0.0
        Units that were done before.
    """

    def __init__(
        self,
        name: str,
        total: float | None,
        *,
        verbose: int | bool = 1,
        unit: str = "steps",
        done: float = 0.0,
    ):
        self.name, self.total, self.verbose, self.unit = name, total, verbose, unit
        self.done = self.before = done
        self.note = ""
        self.started = time.monotonic()
        self.logged = self.started
        self.bar: Any = None
        self._ended = threading.Event()
        self._outermost = False
        self._watch: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.started = self.logged = time.monotonic()
        # Nested work shows no progress, because a terminal has room for one bar only.
        self._outermost = bool(self.verbose) and _shown.acquire(blocking=False)
        if not self._outermost:
            return self
        if sys.stderr is not None and sys.stderr.isatty() and find_spec("rich"):
            self._start_bar()
        else:
            self._watch = threading.Thread(target=self._log_in_silence, daemon=True)
            self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self.bar is not None:
            self.bar.stop()
        if self._watch is not None:
            self._watch.join()
        if self._outermost:
            _shown.release()

    def advance(self, amount: float = 1.0, note: str | None = None) -> None:
        """Report progress; ``note`` is shown next to it."""
        self.done += amount
        if note is not None:
            self.note = note
        if self.bar is not None:
            text = ", ".join(filter(None, (self.name, self.note)))
            self.bar.update(self._line, completed=self.done, description=text, left=self._left())

    def seconds_left(self) -> float | None:
        """Estimated remaining time; None before anything is known."""
        own = self.done - self.before
        if not own or self.total is None:
            return None
        return (time.monotonic() - self.started) * max(self.total - self.done, 0.0) / own

    def log(self) -> None:
        """Write a line to the log now."""
        self.logged = time.monotonic()
        of_total = "" if self.total is None else f" of {self.total:.0f}"
        state = f"{self.done:.0f}{of_total} {self.unit}"
        if self.total is None and not self.done:
            state = f"{duration(self.logged - self.started)} so far"
        logger.info("%s: %s", self.name, ", ".join(filter(None, (state, self.note, self._left()))))

    def _left(self) -> str:
        seconds = self.seconds_left()
        return "" if seconds is None else f"about {duration(seconds)} left"

    def _log_in_silence(self) -> None:
        while not self._ended.wait(max(0.0, self.logged + SILENCE - time.monotonic())):
            if time.monotonic() - self.logged >= SILENCE:
                self.log()

    def _start_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        self.bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True),  # standard output is for results
            transient=True,
        )
        self.bar.start()
        self._line = self.bar.add_task(self.name, total=self.total, left="")


class TaskProgress(Progress):
    """Progress of tasks, with a remaining time measured per kind of task.

    Parameters
    ----------
    kinds : iterable of str
        Kind of every planned task.
    verbose : int or bool
        0 is silent.
    name : str, default="search"
        Purpose of the tasks.
    unit : str, default="fits"
        Name of a task in the log.
    n_jobs : int, default=1
        Number of tasks that run at the same time.
    deadline : float or None, default=None
        Value of `time.monotonic` at which the run ends.
    """

    def __init__(
        self,
        kinds: Iterable[str],
        *,
        verbose: int | bool = 1,
        name: str = "search",
        unit: str = "fits",
        n_jobs: int = 1,
        deadline: float | None = None,
    ):
        self.left = Counter(kinds)
        super().__init__(name, self.left.total(), verbose=verbose, unit=unit)
        self.n_jobs, self.deadline = max(n_jobs, 1), deadline
        self.seconds: Counter[str] = Counter()
        self.measured: Counter[str] = Counter()
        self.shown = -PAUSE

    def advance(  # type: ignore[override]
        self, result: TaskResult, note: Callable[[], str] | None = None
    ) -> None:
        """Count a finished task; ``note`` returns text to show, at most once per second."""
        kind = result.task.kind
        self.left[kind] -= 1
        if not result.cached and (result.failure is None or result.failure.reason != "cut"):
            self.seconds[kind] += result.seconds  # type: ignore[assignment]
            self.measured[kind] += 1
        if not self.verbose:
            self.done += 1
            return
        now = time.monotonic()
        text = None
        if now - self.shown >= PAUSE or self.left.total() <= 0:
            self.shown = now
            text = note() if note is not None else None
        super().advance(1, text)

    def drop(self, kind: str, count: int = 1) -> None:
        """Remove tasks that will not be run from the total."""
        self.left[kind] -= count
        self.total = (self.total or 0) - count

    def seconds_left(self) -> float | None:
        """Time until all tasks are done, or until the deadline if that is sooner."""
        seconds = self.work_left()
        if seconds is None or self.deadline is None:
            return seconds
        return min(seconds, max(self.deadline - time.monotonic(), 0.0))

    def work_left(self, kinds: Iterable[str] | None = None) -> float | None:
        """Estimate the remaining seconds from the mean time per kind of task.

        Kinds without a finished task use the overall mean. None until a task has finished.
        """
        n_measured = self.measured.total()
        if not n_measured:
            return None
        overall = sum(self.seconds.values()) / n_measured
        work = sum(
            self.left[kind]
            * (self.seconds[kind] / self.measured[kind] if self.measured[kind] else overall)
            for kind in (list(self.left) if kinds is None else kinds)
            if self.left[kind] > 0
        )
        return work / self.n_jobs


def duration(seconds: float) -> str:
    """Seconds in words: ``42 s``, ``3 min 20 s``, ``2 h 5 min``."""
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"
