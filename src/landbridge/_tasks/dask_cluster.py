"""Tasks on a Dask cluster.

Shared data is scattered once to all workers; a task carries only its own content. Dask runs the
tasks of a worker that died on another one, and gives up a task that has ended several workers.
"""

import pickle
import queue
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from joblib import parallel_config

from landbridge._extras import import_extra
from landbridge._tasks._pickling import dumps
from landbridge._tasks.call import Answer, Settings, TaskFunction, call_within, cut
from landbridge._tasks.records import TaskFailure, TaskResult
from landbridge._tasks.shared_file import aligned, pack, unpack
from landbridge._tasks.workers import Attempt

# Tasks per core that are sent ahead, so that no worker waits for the network.
AHEAD = 2
# Seconds between two looks at the size of the cluster and at the scattered data.
LOOK = 2.0
# Seconds that a cluster may be without workers.
WAIT = 600
# Times that a task is sent again because the cluster lost it or the shared data.
LOSSES = 20


def run_on_dask(
    client: Any,
    function: TaskFunction,
    source: Iterator[Attempt | TaskResult],
    *,
    shared: Any,
    n_jobs: int,
    fit_timeout: float | None,
    deadline: float | None,
) -> Iterator[TaskResult]:
    """Answer the tasks of ``source`` on the workers of ``client``, in order of completion."""
    flight = Flight(client, b"".join(pack((function, Settings(), shared))), fit_timeout, n_jobs)
    exhausted = False
    try:
        while True:
            results: list[TaskResult] = []
            while not exhausted and len(flight.futures) < AHEAD * flight.n_cores:
                item = next(source, None)
                if item is None:
                    exhausted = True
                elif isinstance(item, TaskResult):
                    results.append(item)
                    break
                else:
                    flight.send(item)
            yield from results
            if not results and not flight.futures:
                return
            if deadline is not None and time.monotonic() >= deadline:
                yield from flight.cut()
            elif flight.futures:
                yield from flight.landed(0.0 if results else _patience(deadline))
    finally:
        flight.close()


class Flight:
    """Tasks that are on the cluster."""

    def __init__(self, client: Any, packed: bytes, fit_timeout: float | None, n_jobs: int):
        self.client, self.packed, self.fit_timeout = client, packed, fit_timeout
        self.n_cores = max(n_jobs, 1)
        self.token = uuid4().hex
        self.futures: dict[str, tuple[Any, Attempt]] = {}
        self.done: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.looked = time.monotonic()
        self.shared = self._scatter()

    def send(self, attempt: Attempt) -> None:
        """Submit a task."""
        attempt.started = time.monotonic()
        key = f"landbridge-{self.token}-{attempt.index}-{attempt.deaths}"
        future = self.client.submit(
            answer_on_dask,
            self.shared,
            self.token,
            self.fit_timeout,
            dumps(attempt.task.content),
            key=key,
            pure=False,
        )
        self.futures[key] = future, attempt
        future.add_done_callback(lambda done: self.done.put(done.key))

    def landed(self, patience: float) -> Iterator[TaskResult]:
        """Results that are ready, after waiting for the first at most ``patience`` seconds."""
        with suppress(queue.Empty):
            key = self.done.get(timeout=patience) if patience else self.done.get_nowait()
            while True:
                result = self._receive(key)
                if result is not None:
                    yield result
                key = self.done.get_nowait()
        if time.monotonic() - self.looked > LOOK:
            self._look()

    def cut(self) -> Iterator[TaskResult]:
        """Give up everything that is not finished."""
        yield from self.landed(0.0)
        for future, attempt in list(self.futures.values()):
            future.cancel()
            seconds = time.monotonic() - (attempt.started or 0.0)
            yield cut(seconds).as_result(attempt.index, attempt.task)
        self.futures = {}

    def close(self) -> None:
        """Cancel what is left and free the memory of the cluster."""
        with suppress(Exception):  # the cluster may be gone
            self.client.cancel([future for future, _ in self.futures.values()])
        self.futures = {}
        self.shared.release()

    def _receive(self, key: str) -> TaskResult | None:
        if key not in self.futures:  # sent again under another key
            return None
        future, attempt = self.futures.pop(key)
        if future.status == "finished":
            try:
                answer, place = future.result()
            except Exception:  # the worker died before it could hand over its answer
                return self._send_again(attempt)
            if answer.failure is not None and answer.failure.reason == "timeout":
                self._restart(place)
            return answer.as_result(attempt.index, attempt.task)
        if future.status != "error":
            return self._send_again(attempt)
        return _failed(future.exception()).as_result(attempt.index, attempt.task)

    def _send_again(self, attempt: Attempt) -> TaskResult | None:
        """Submit a task that the cluster has lost."""
        attempt.deaths += 1
        if attempt.deaths >= LOSSES:
            failure = TaskFailure("worker_died", f"The cluster lost it {LOSSES} times.")
            return Answer(None, failure, 0.0).as_result(attempt.index, attempt.task)
        if self.shared.status != "finished":
            self.shared = self._scatter()
        self.send(attempt)
        return None

    def _look(self) -> None:
        """Follow a cluster that grows or shrinks, and replace shared data that it has lost."""
        self.looked = time.monotonic()
        self.n_cores = max(sum(self.client.ncores().values()), 1)
        held = self.client.who_has([self.shared])
        if not any(held.values()) and self.client.ncores():
            self.shared = self._scatter()
            again = deque(self.futures.values())
            self.futures = {}
            for future, attempt in again:
                future.cancel()
                self._send_again(attempt)

    def _scatter(self) -> Any:
        # All workers may be starting again, or a queue of jobs may not have started any yet.
        self.client.wait_for_workers(1, timeout=WAIT)
        return self.client.scatter([self.packed], broadcast=True, hash=False, timeout=WAIT)[0]

    def _restart(self, place: str) -> None:
        """Restart a worker whose task could not be stopped otherwise."""
        with suppress(Exception):  # workers without a nanny cannot be restarted
            self.client.restart_workers([place], timeout=10, raise_for_error=False)


_unpacked: tuple[str, Any] = ("", None)
_unpacking = threading.Lock()


def answer_on_dask(
    packed: bytes, token: str, fit_timeout: float | None, content: bytes
) -> tuple[Answer, str]:
    """Answer one task on a Dask worker; also the address of the worker."""
    from distributed import get_worker

    global _unpacked
    with _unpacking:  # the threads of a worker share one copy
        if _unpacked[0] != token:
            _unpacked = token, unpack(aligned(packed))
        function, settings, shared = _unpacked[1]
    answer = call_within(
        fit_timeout,
        settings,
        function,
        shared,
        pickle.loads(content),  # noqa: S301 - from this run
    )
    return answer.sendable(), get_worker().address


@contextmanager
def dask_cluster(address: str) -> Iterator[Any]:
    """Run tasks inside the block on a Dask cluster.

    Parameters
    ----------
    address : str
        Address of a scheduler, for example ``tcp://10.0.0.1:8786``, or ``local:4`` for four worker
        processes on this machine.
    """
    distributed = import_extra("distributed", "dask")
    place, _, number = address.partition(":")
    if place == "local" and (not number.isdecimal() or int(number) < 1):
        raise ValueError(
            "`dask` must be the address of a scheduler, like tcp://10.0.0.1:8786, or local: with a "
            f"number of workers, like local:4; got {address!r}."
        )
    options: dict[str, Any] = {"address": address, "timeout": 10}
    if place == "local":
        options = {"n_workers": int(number), "threads_per_worker": 1, "dashboard_address": None}
    try:
        client = distributed.Client(**options)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"`dask` must be the address of a scheduler that answers; {address!r} does not: "
            f"{error}. Start one with `dask scheduler`, or pass local:4."
        ) from error
    with client, parallel_config(backend="dask"):
        yield client


def _failed(error: BaseException) -> Answer:
    if type(error).__name__ == "KilledWorker":
        message = (
            "It ended the Dask workers that ran it. It may crash, or need more memory than they "
            f"have. Dask said: {error}"
        )
        return Answer(None, TaskFailure("worker_died", message), 0.0)
    message = f"A Dask worker could not run the task: {type(error).__name__}: {error}"
    return Answer(None, TaskFailure("error", message, "", error), 0.0)


def _patience(deadline: float | None) -> float:
    return LOOK if deadline is None else min(LOOK, max(0.01, deadline - time.monotonic()))
