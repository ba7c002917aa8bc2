"""Worker processes under supervision.

joblib's process pool gives up as a whole when one of its processes dies, and cannot stop a single
task. Here, each worker has a separate pipe: if a worker dies, only its task is affected, and
a task that takes too long is stopped by ending its process. Processes start as joblib's do (loky:
a fresh interpreter, no fork, no import of ``__main__``).
"""

import atexit
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from traceback import format_exc
from typing import Any

from joblib.externals.loky.backend import get_context
from joblib.externals.loky.backend.utils import kill_process_tree

from landbridge._tasks.call import Answer, Attempt, RemoteCall, Run, cut, timed_out
from landbridge._tasks.records import TaskFailure, TaskResult
from landbridge._tasks.shared_file import dumps, read_shared

DEATHS = 3  # a task is recorded as failed after this number of worker deaths
IDLE_SECONDS = 300.0  # unused workers are ended after this time
ORPHAN_SECONDS = 0.5  # interval between checks that the parent is still running
# Environment for native libraries that a task loads after `one_thread` has looked for them.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
RUN, TASK, FORGET = b"run", b"task", b"forget"
STARTED = b"started"


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
        self.setup: bytes | None = None

    def prepare(self, setup: bytes) -> None:
        """Send the parts shared by all tasks of a run, once per run."""
        if self.setup != setup:
            self.send(RUN, setup)
            self.setup = setup

    def send(self, order: bytes, message: bytes = b"") -> None:
        """Send a command with its data; raise OSError if the worker has died."""
        self.pipe.send_bytes(order)
        self.pipe.send_bytes(message)

    def forget(self) -> None:
        """Let the worker release the shared data of its last run."""
        self.setup = None
        self.send(FORGET)

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
                    worker.forget()

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
                worker.prepare(self.setup)
                worker.send(TASK, content)
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
        return attempt.result(Answer(None, failure, _elapsed(attempt)))

    def _out_of_time(self, worker: Worker) -> TaskResult | None:
        attempt = self.busy[worker]
        if self.fit_timeout is not None and _elapsed(attempt) >= self.fit_timeout:
            answer = timed_out(self.fit_timeout)
        elif self.deadline is not None and time.monotonic() >= self.deadline:
            answer = cut(_elapsed(attempt))
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
    setup: Setup | None = None
    with suppress(EOFError, OSError):
        while True:
            order, message = pipe.recv_bytes(), pipe.recv_bytes()
            if order == RUN:
                setup = Setup(message)
            elif order == TASK and setup is not None:
                pipe.send_bytes(pickle.dumps(setup.answer(pipe, message), protocol=5))
            else:
                setup = None


class Setup:
    """Parts shared by all tasks of a run, unpickled for the first task."""

    def __init__(self, message: bytes):
        self.message = message
        self.parts: tuple[RemoteCall, Any] | None = None

    def answer(self, pipe: Connection, message: bytes) -> Answer:
        """Run one task; data that cannot be unpickled here is recorded as its failure."""
        try:
            if self.parts is None:
                remote, path = pickle.loads(self.message)  # noqa: S301 - our parent's
                self.parts = remote, read_shared(path)
            content = pickle.loads(message)  # noqa: S301 - our parent's
        except Exception as error:
            text = f"A worker process could not read the task: {type(error).__name__}: {error}"
            return Answer(None, TaskFailure("error", text, format_exc()), 0.0)
        pipe.send_bytes(STARTED)
        remote, shared = self.parts
        try:
            return remote.answer(shared, content)
        except KeyboardInterrupt as error:  # of the task itself, because workers ignore Ctrl-C
            text = f"{type(error).__name__}: {error}"
            return Answer(None, TaskFailure("error", text, format_exc()), 0.0)


def _end_with_parent(parent: int) -> None:
    """End this process when its parent has ended, even if the parent was killed."""
    while os.getppid() == parent:
        time.sleep(ORPHAN_SECONDS)
    os._exit(1)


def _elapsed(attempt: Attempt) -> float:
    return 0.0 if attempt.started is None else time.monotonic() - attempt.started


def _exit_words(code: int | None) -> str:
    """Describe an exit code; negative codes are signals."""
    if code is not None and code < 0:
        with suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"
