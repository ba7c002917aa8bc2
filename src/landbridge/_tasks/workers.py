"""Worker processes under supervision, and the data that they share.

joblib's process pool gives up as a whole when one of its processes dies, and cannot stop a single
task. Here, each worker has a separate pipe: if a worker dies, only its task is affected, and
a task that takes too long is stopped by ending its process. Processes start as joblib's do (loky:
a fresh interpreter, no fork, no import of ``__main__``). Shared data is packed into one file, so
that workers use its arrays in place instead of receiving copies.
"""

import atexit
import mmap
import os
import pickle
import shutil
import signal
import struct
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from traceback import format_exc
from typing import Any, Self

import numpy as np
from joblib.externals.loky.backend import get_context, resource_tracker
from joblib.externals.loky.backend.utils import kill_process_tree

from landbridge._tasks.task import (
    Answer,
    Attempt,
    RemoteCall,
    TaskFailure,
    TaskFunction,
    TaskResult,
    cut,
    timed_out,
)

# cloudpickle also pickles lambdas and functions of ``__main__``. joblib bundles or requires it,
# depending on its version. Its output goes through pipes and private temporary files to processes
# of the same run, never into a file that a later run reads.
try:
    from cloudpickle import dumps
except ImportError:
    from joblib.externals.cloudpickle import dumps

DEATHS = 3  # a task is recorded as failed after this number of worker deaths
IDLE_SECONDS = 300.0  # unused workers are ended after this time
ORPHAN_SECONDS = 0.5  # interval between checks that the parent is still running
# Environment for native libraries that a task loads after `one_thread` has looked for them.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
STARTED = b"started"
# Same alignment as numpy's own allocations or better, so that loops take the same path.
ALIGNMENT = 64
LENGTH = struct.Struct("<Q")
MEMORY_DISK = "/dev/shm"


class SharedData:
    """Data that all tasks of one or several runs read.

    Pass it as ``shared`` to several calls of `run_tasks` to send the data to the workers once.
    Close it, or use it in a ``with`` statement, to free the memory of the workers.
    """

    def __init__(self, content: Any):
        self.content = content
        self.on_close: list[Callable[[], None]] = []
        self.scattered: Any = None
        self._path = ""

    def path(self) -> str:
        """A temporary file from which workers on this machine map the arrays into memory.

        It is in a separate folder, which only this user can read. loky's resource tracker removes
        the folder if this process is killed. Workers that have mapped the file keep the memory
        until they release it.
        """
        if not self._path:
            chunks = pack(self.content)
            folder = tempfile.mkdtemp(prefix="landbridge-", dir=_place(sum(map(len, chunks))))
            resource_tracker.register(folder, "folder")
            self.on_close.append(partial(_remove, folder))
            self._path = str(Path(folder) / "shared")
            with open(self._path, "wb") as file:
                file.writelines(chunks)
        return self._path

    def close(self) -> None:
        """Delete the files and free the memory of the workers."""
        while self.on_close:
            self.on_close.pop()()
        self.scattered, self._path = None, ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    resource_tracker.unregister(folder, "folder")


def _place(n_bytes: int) -> str | None:
    """The in-memory file system if it has enough space, else the default temporary folder."""
    usable = os.path.isdir(MEMORY_DISK) and os.access(MEMORY_DISK, os.W_OK)
    roomy = usable and shutil.disk_usage(MEMORY_DISK).free > 2 * n_bytes + 2**20
    return MEMORY_DISK if roomy else None


@dataclass(frozen=True, slots=True)
class Run:
    """What all tasks of a run have in common; ``deadline`` is a value of `time.monotonic`."""

    function: TaskFunction
    shared: SharedData
    n_jobs: int
    fit_timeout: float | None
    deadline: float | None


class Worker:
    """A process that runs one task at a time."""

    def __init__(self) -> None:
        context = get_context("loky")
        self.pipe, other_end = context.Pipe()
        self.process = context.Process(
            target=serve, args=(other_end, os.getpid()), env=ONE_THREAD, name="landbridge-worker"
        )
        self.process.start()
        other_end.close()

    def send(self, setup: bytes, content: bytes = b"") -> None:
        """Send a task with the parts shared by its run; raise OSError if the worker has died.

        An empty setup lets the worker release the shared data of its last run.
        """
        self.pipe.send_bytes(setup)
        self.pipe.send_bytes(content)

    def stop(self) -> None:
        """Kill the process and its child processes."""
        self.pipe.close()
        if self.process.is_alive():
            with suppress(Exception):
                kill_process_tree(self.process)
        self.process.join()


class IdleWorkers:
    """Idle workers, kept for the next run because starting one takes about a second."""

    def __init__(self) -> None:
        self.workers: list[Worker] = []
        self.lock = threading.Lock()
        self.owner = os.getpid()
        self.timer: threading.Timer | None = None

    def take(self) -> Worker:
        """Return an idle worker, or start a new one."""
        with self.lock:
            if self.owner != os.getpid():  # a forked process must not use the pipes of its parent
                self.workers, self.owner = [], os.getpid()
            while self.workers:
                worker = self.workers.pop()
                if worker.process.is_alive():
                    return worker
                worker.stop()
        return Worker()

    def give_back(self, worker: Worker) -> None:
        """Keep a worker for the next run, if that starts soon."""
        with self.lock:
            self.workers.append(worker)
            if self.timer is not None:
                self.timer.cancel()
            # A worker that exits by itself would stay in the process table until the next run.
            self.timer = threading.Timer(IDLE_SECONDS, self.stop)
            self.timer.daemon = True
            self.timer.start()

    def forget(self) -> None:
        """Let all idle workers release their shared data."""
        with self.lock:
            for worker in self.workers if self.owner == os.getpid() else ():
                with suppress(OSError):  # a dead worker is replaced when needed
                    worker.send(b"")

    def stop(self) -> None:
        """End all idle workers."""
        with self.lock:
            if self.owner == os.getpid():
                while self.workers:
                    self.workers.pop().stop()


idle_workers = IdleWorkers()
atexit.register(idle_workers.stop)


def run_in_workers(run: Run, source: Iterator[Attempt]) -> Iterator[TaskResult]:
    """Run the tasks of ``source`` in worker processes; yield results when ready."""
    team = Team(run)
    if idle_workers.forget not in run.shared.on_close:
        run.shared.on_close.append(idle_workers.forget)
    finished: list[TaskResult] = []
    try:
        while True:
            # Start new tasks before yielding results, so that no worker waits for the caller.
            while len(team.busy) < run.n_jobs:
                attempt = team.again.popleft() if team.again else next(source, None)
                if attempt is None:
                    break
                team.start(attempt)
            yield from finished
            if not team.busy:
                return
            finished = team.collect()
    finally:
        team.disband()


class Team:
    """The workers of one run."""

    def __init__(self, run: Run):
        self.setup = dumps((RemoteCall(run.function), run.shared.path()))
        self.fit_timeout, self.deadline = run.fit_timeout, run.deadline
        self.busy: dict[Worker, Attempt] = {}
        self.free: list[Worker] = []
        self.again: deque[Attempt] = deque()  # tasks whose worker died

    def start(self, attempt: Attempt) -> None:
        """Give the task to a worker; replace workers that died while idle."""
        attempt.started = None
        content = dumps(attempt.task.content)
        while True:
            worker = self.free.pop() if self.free else idle_workers.take()
            try:
                worker.send(self.setup, content)
            except OSError:
                worker.stop()
                continue
            self.busy[worker] = attempt
            return

    def collect(self) -> list[TaskResult]:
        """Wait for workers, and return finished results."""
        handles = [worker.pipe for worker in self.busy]
        handles += [worker.process.sentinel for worker in self.busy]
        wait(handles, timeout=self._patience())
        finished = []
        for worker in list(self.busy):
            result = self._hear(worker)
            if result is None and worker in self.busy:
                result = self._out_of_time(worker)
            if result is not None:
                finished.append(result)
        return finished

    def disband(self) -> None:
        """Stop busy workers, keep the others for later runs."""
        for worker in self.busy:
            worker.stop()
        for worker in self.free:
            idle_workers.give_back(worker)
        self.busy, self.free = {}, []

    def _hear(self, worker: Worker) -> TaskResult | None:
        """Read the messages of a worker: the start of its task, its result, or its death."""
        attempt = self.busy[worker]
        try:
            while worker.pipe.poll():
                message = worker.pipe.recv_bytes()
                if message == STARTED:
                    attempt.started = time.monotonic()
                    continue
                del self.busy[worker]
                self.free.append(worker)
                answer: Answer = pickle.loads(message)  # noqa: S301 - from our own process
                return attempt.result(answer)
        except (EOFError, OSError):
            return self._bury(worker)
        return None if worker.process.is_alive() else self._bury(worker)

    def _bury(self, worker: Worker) -> TaskResult | None:
        attempt = self.busy.pop(worker)
        worker.stop()
        attempt.deaths += 1
        if attempt.deaths < DEATHS:
            self.again.append(attempt)
            return None
        code = worker.process.exitcode
        message = (
            f"Its worker process ended {DEATHS} times, the last time with {_exit_words(code)}. "
            "It may crash, or need more memory than is available."
        )
        failure = TaskFailure("worker_died", message)
        return attempt.result(Answer(None, failure, attempt.elapsed()))

    def _out_of_time(self, worker: Worker) -> TaskResult | None:
        attempt = self.busy[worker]
        if self.fit_timeout is not None and attempt.elapsed() >= self.fit_timeout:
            answer = timed_out(self.fit_timeout)
        elif self.deadline is not None and time.monotonic() >= self.deadline:
            answer = cut(attempt.elapsed())
        else:
            return None
        del self.busy[worker]
        worker.stop()
        return attempt.result(answer)

    def _patience(self) -> float | None:
        """Seconds until a task or the run is out of time."""
        ends = [] if self.deadline is None else [self.deadline]
        if self.fit_timeout is not None:
            ends += [a.started + self.fit_timeout for a in self.busy.values() if a.started]
        return max(0.0, min(ends) - time.monotonic()) if ends else None


def serve(pipe: Connection, parent: int) -> None:
    """Main loop of a worker: receive tasks and send back results."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends its workers
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    known, parts = b"", None
    with suppress(EOFError, OSError):
        while True:
            setup, content = pipe.recv_bytes(), pipe.recv_bytes()
            if setup != known:
                known, parts = setup, None
            if not setup:
                continue
            try:
                parts = parts or _unpickled(setup)
                task = pickle.loads(content)  # noqa: S301 - our parent's
            except Exception as error:
                text = f"A worker process could not read the task: {type(error).__name__}: {error}"
                answer = Answer(None, TaskFailure("error", text, format_exc()))
            else:
                pipe.send_bytes(STARTED)
                answer = parts[0].answer(parts[1], task)  # no other reference keeps the data
            pipe.send_bytes(pickle.dumps(answer, protocol=5))


def _unpickled(setup: bytes) -> tuple[RemoteCall, Any]:
    remote, path = pickle.loads(setup)  # noqa: S301 - our parent's
    return remote, read_shared(path)


def _end_with_parent(parent: int) -> None:
    """End this process when its parent has ended, even if the parent was killed."""
    while os.getppid() == parent:
        time.sleep(ORPHAN_SECONDS)
    os._exit(1)


def _exit_words(code: int | None) -> str:
    """Describe an exit code; negative codes are signals."""
    if code is not None and code < 0:
        with suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


def read_shared(path: str) -> Any:
    """Load the content of a `SharedData` from its file, with arrays memory-mapped read-only."""
    with open(path, "rb") as file:
        return unpack(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))


def pack(shared: Any) -> list[Any]:
    """Bytes of an object in chunks: a header, then its arrays, each at an aligned offset."""
    buffers: list[pickle.PickleBuffer] = []
    payload = dumps(shared, protocol=5, buffer_callback=buffers.append)
    views = [buffer.raw() for buffer in buffers]
    header = pickle.dumps((payload, [view.nbytes for view in views]))
    chunks: list[Any] = [LENGTH.pack(len(header)), header]
    place = LENGTH.size + len(header)
    for view in views:
        gap = -place % ALIGNMENT
        chunks += [b"\0" * gap, view]
        place += gap + view.nbytes
    return chunks


def unpack(packed: memoryview) -> Any:
    """The object, with read-only arrays that use the memory of ``packed``, which is aligned."""
    (n_header,) = LENGTH.unpack(packed[: LENGTH.size])
    place = LENGTH.size + n_header
    payload, sizes = pickle.loads(packed[LENGTH.size : place])  # noqa: S301 - from this run
    buffers = []
    for size in sizes:
        place += -place % ALIGNMENT
        buffers.append(packed[place : place + size])
        place += size
    return pickle.loads(payload, buffers=buffers)  # noqa: S301 - from this run


def aligned(packed: bytes) -> memoryview:
    """A read-only copy at an aligned address."""
    space = np.empty(len(packed) + ALIGNMENT, dtype=np.uint8)
    start = -space.ctypes.data % ALIGNMENT
    copy = space[start : start + len(packed)]
    copy[:] = np.frombuffer(packed, dtype=np.uint8)
    copy.flags.writeable = False
    return copy.data
