"""Tasks on a Dask cluster.

Shared data is scattered once to all workers; a task carries only its own content. If a worker dies,
Dask runs its tasks on another one; a task during which several workers died is recorded as failed.
"""

import gc
import logging
import pickle
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from uuid import uuid4

from joblib import parallel_config

from landbridge._extras import import_extra
from landbridge._tasks.task import Answer, Attempt, RemoteCall, TaskFailure, TaskResult, cut
from landbridge._tasks.workers import DEATHS, Run, aligned, dumps, pack, unpack

# Tasks sent in advance per core, so that no worker waits for the network.
AHEAD = 2
# Seconds between two checks of the size of the cluster and of the scattered data.
LOOK = 2.0
# Seconds to wait for the result of a finished task; a dead worker never delivers it.
HANDOVER = 20
# Maximum number of seconds that a cluster may be without workers.
WAIT = 600


def run_on_dask(run: Run, source: Iterator[Attempt], client: Any) -> Iterator[TaskResult]:
    """Run the tasks of ``source`` on the workers of ``client``; yield results as they finish."""
    flight = Flight(run, client)
    try:
        while True:
            while flight.has_room() and (attempt := next(source, None)) is not None:
                flight.send(attempt)
            if not flight.futures and not flight.suspects:
                return
            if run.deadline is not None and time.monotonic() >= run.deadline:
                yield from flight.cut()
            elif flight.futures:
                yield from flight.landed(_patience(run.deadline))
    finally:
        flight.close()


class Flight:
    """Tasks that are on the cluster."""

    def __init__(self, run: Run, client: Any):
        self.scattered, self.client = _scattered(run, client), client
        self.fit_timeout, self.n_cores = run.fit_timeout, max(run.n_jobs, 1)
        self.token = uuid4().hex
        self.futures: dict[str, tuple[Any, Attempt]] = {}
        self.done: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.suspects: deque[Attempt] = deque()
        self.alone = False
        self.looked = time.monotonic()

    def has_room(self) -> bool:
        """Whether another task may be sent; suspected tasks are first retried one by one."""
        if self.suspects and not self.futures:
            self.alone = True
            self.send(self.suspects.popleft())
        self.alone = self.alone and bool(self.futures)
        return not (self.suspects or self.alone) and len(self.futures) < AHEAD * self.n_cores

    def send(self, attempt: Attempt) -> None:
        """Submit a task."""
        attempt.started = time.monotonic()
        attempt.sent += 1
        key = f"landbridge-{self.token}-{attempt.index}-{attempt.sent}"
        future = self.client.submit(
            answer_on_dask,
            self.scattered.future,
            self.scattered.token,
            self.fit_timeout,
            dumps(attempt.task.content),
            key=key,
            pure=False,
        )
        self.futures[key] = future, attempt
        future.add_done_callback(lambda done: self.done.put(done.key))

    def landed(self, patience: float) -> Iterator[TaskResult]:
        """Return finished results; wait at most ``patience`` seconds for the first one."""
        with suppress(queue.Empty):
            key = self.done.get(timeout=patience) if patience else self.done.get_nowait()
            while True:
                yield from self._receive(key)
                key = self.done.get_nowait()
        if time.monotonic() - self.looked > LOOK:
            yield from self._look()

    def cut(self) -> Iterator[TaskResult]:
        """Cancel all unfinished tasks."""
        yield from self.landed(0.0)
        for attempt in self.suspects:
            yield attempt.result(cut())
        self.suspects.clear()
        for future, attempt in list(self.futures.values()):
            future.cancel()
            yield attempt.result(cut(attempt.elapsed()))
        self.futures = {}

    def close(self) -> None:
        """Cancel remaining tasks and free the memory of the cluster."""
        with suppress(Exception):  # the cluster may be gone
            self.client.cancel([future for future, _ in self.futures.values()])
        self.futures = {}

    def _receive(self, key: str) -> Iterator[TaskResult]:
        if key not in self.futures:  # given up meanwhile
            return
        future, attempt = self.futures.pop(key)
        if future.status == "error":
            yield from self._failed(attempt, future.exception())
            return
        try:
            answer, place = future.result(timeout=HANDOVER)
        except Exception:  # cancelled, lost, or on a worker that died before handing it over
            if self.scattered.is_held():
                self.send(attempt)
            else:
                yield from self._recover(attempt)
            return
        if answer.failure is not None and answer.failure.reason == "timeout":
            future.release()  # otherwise the task would run again after a restart of its worker
            self._restart(place)
        yield attempt.result(answer)

    def _failed(self, attempt: Attempt, error: BaseException) -> Iterator[TaskResult]:
        if type(error).__name__ == "KilledWorker":
            yield from self._suspect(attempt, certain=self.alone)
            return
        message = f"A Dask worker could not run the task: {type(error).__name__}: {error}"
        failure = TaskFailure("error", message, "", error)
        yield attempt.result(Answer(None, failure))

    def _suspect(self, attempt: Attempt, *, certain: bool = False) -> Iterator[TaskResult]:
        """Record the death of a worker for a task, which is retried alone."""
        attempt.deaths += 1
        if attempt.deaths < DEATHS and not certain:
            self.suspects.append(attempt)
            return
        message = (
            "The Dask workers that ran it died, even when it ran alone. It may crash, or need "
            "more memory than they have."
        )
        failure = TaskFailure("worker_died", message)
        yield attempt.result(Answer(None, failure))

    def _look(self) -> Iterator[TaskResult]:
        """Check the size of the cluster and whether it still has the shared data."""
        self.looked = time.monotonic()
        self.n_cores = max(sum(self.client.ncores().values()), 1)
        if not self.scattered.is_held():
            yield from self._recover()

    def _recover(self, *attempts: Attempt) -> Iterator[TaskResult]:
        """Scatter the data again after all workers with it died; suspect every running task."""
        in_flight, self.futures = list(self.futures.values()), {}
        for future, _ in in_flight:
            future.cancel()
        self.scattered.send()
        for attempt in (*attempts, *(attempt for _, attempt in in_flight)):
            yield from self._suspect(attempt)

    def _restart(self, place: str) -> None:
        """Restart a worker in the background to stop its task."""

        def restart() -> None:
            with suppress(Exception):  # workers without a nanny cannot be restarted
                self.client.restart_workers([place], timeout=60, raise_for_error=False)

        threading.Thread(target=restart, daemon=True).start()


class Scattered:
    """Packed data on the workers of a cluster."""

    def __init__(self, client: Any, remote: RemoteCall, content: Any):
        self.client, self.remote = client, remote
        self.packed = b"".join(pack((remote, content)))
        self.token = uuid4().hex
        self.send()

    def send(self) -> None:
        """Send the data to all workers, waiting for workers if there are none."""
        end = time.monotonic() + WAIT
        while True:
            # All workers may be restarting, or the job queue may not have started any yet.
            self.client.wait_for_workers(1, timeout=WAIT)
            try:
                self.future = self.client.scatter([self.packed], broadcast=True, hash=False)[0]
                return
            except Exception:  # the exception type depends on when a worker dies
                if time.monotonic() > end:
                    raise
                time.sleep(0.5)

    def is_held(self) -> bool:
        """Whether a worker still has the data."""
        if self.future.status != "finished":
            return False
        return any(self.client.who_has([self.future]).values())

    def release(self) -> None:
        """Free the memory of the workers."""
        with suppress(Exception):  # the cluster may be gone
            self.future.release()


def _scattered(run: Run, client: Any) -> Scattered:
    """The shared data on the cluster, sent at the first run that needs it."""
    found, remote = run.shared.scattered, RemoteCall(run.function)
    if found is None or found.client is not client or found.remote != remote:
        found = run.shared.scattered = Scattered(client, remote, run.shared.content)
        run.shared.on_close.append(found.release)
    return found


_unpacked: tuple[str, Any] = ("", None)
_unpacking = threading.Lock()


def answer_on_dask(
    packed: bytes, token: str, fit_timeout: float | None, content: bytes
) -> tuple[Answer, str]:
    """Run one task on a Dask worker; return its result and the address of the worker."""
    from distributed import get_worker

    global _unpacked
    with _unpacking:  # the threads of a worker share one copy
        if _unpacked[0] != token:
            _unpacked = token, unpack(aligned(packed))
        remote, shared = _unpacked[1]
    task = pickle.loads(content)  # noqa: S301 - from this run
    return remote.answer_within(fit_timeout, shared, task), get_worker().address


@contextmanager
def dask_cluster(address: str) -> Iterator[Any]:
    """Run tasks inside the block on a Dask cluster.

    Parameters
    ----------
    address : str
        Address of a scheduler, for example ``tcp://10.0.0.1:8786``, or ``local:4`` for four worker
        processes on this machine.
    """
    place, _, number = address.partition(":")
    if place == "local" and (not number.isdecimal() or int(number) < 1):
        raise ValueError(
            "`dask` must be the address of a scheduler, like tcp://10.0.0.1:8786, or local: with a "
            f"number of workers, like local:4; got {address!r}."
        )
    distributed = import_extra("distributed", "dask")
    options: dict[str, Any] = {"address": address, "timeout": 10}
    if place == "local":
        options = {"n_workers": int(number), "threads_per_worker": 1, "dashboard_address": ":0"}
        # On a slow machine, workers stop late; users need not see these warnings.
        options["silence_logs"] = logging.ERROR
    with ExitStack() as opened:
        try:
            with _interrupted_later():
                client = opened.enter_context(distributed.Client(**options))
        except RuntimeError as error:  # a worker died while it started
            raise ValueError(
                f"`dask` must be able to start its workers; {address!r} failed: {error} Check the "
                "free memory, and try again."
            ) from error
        except (OSError, ValueError) as error:
            raise ValueError(
                f"`dask` must be the address of a scheduler that answers; {address!r} does not: "
                f"{error}. Start one with `dask scheduler`, or pass local:4."
            ) from error
        with parallel_config(backend="dask"), _interruptible_collection():
            yield client


@contextmanager
def _interruptible_collection() -> Iterator[None]:
    """Switch off the callbacks of Dask's scheduler on garbage collection.

    Python ignores exceptions in such callbacks, so Ctrl-C during a collection would have no effect.
    """
    modules = [str(getattr(callback, "__module__", "")) for callback in gc.callbacks]
    removed = [
        callback
        for callback, module in zip(gc.callbacks, modules, strict=True)
        if module.startswith("distributed.")
    ]
    for callback in removed:
        gc.callbacks.remove(callback)
    try:
        yield
    finally:
        gc.callbacks.extend(removed)  # the scheduler removes them when it closes


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """Delay the first Ctrl-C or SIGTERM to the end, because half-started workers cannot be closed.

    A second one acts at once.
    """
    if threading.current_thread() is not threading.main_thread():  # which gets all signals
        yield
        return
    caught: list[tuple[Any, ...]] = []

    def note(*received: Any) -> None:
        caught.append(received)
        restore()

    def restore() -> None:
        for number, handler in before.items():
            if handler is not None:  # not installed by Python
                signal.signal(number, handler)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        restore()
        for received in caught:
            signal.raise_signal(received[0])


def _patience(deadline: float | None) -> float:
    return LOOK if deadline is None else min(LOOK, max(0.01, deadline - time.monotonic()))
