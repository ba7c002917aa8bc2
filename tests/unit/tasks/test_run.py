"""Running tasks: order, workers, failures, deadlines."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from sklearn import config_context

from landbridge._tasks import SharedData, Task, one_thread, run_tasks, workers
from landbridge._tasks.workers import idle_workers
from unit.tasks.task_functions import (
    end_budget_at_marks,
    misbehave,
    not_a_dictionary,
    objects,
    product,
    scale,
    settings,
    threads,
)

ROWS = np.arange(5.0)


def outcomes(results):
    return [result.outcome for result in sorted(results, key=lambda result: result.index)]


def by_content(results):
    return {result.task.content: result for result in results}


def test_tasks_run_in_order_in_this_process_with_one_job():
    pulled = []

    def tasks():
        for content in (3, 1, 2):
            pulled.append(content)
            yield Task(content, kind="scale")

    results = run_tasks(scale, tasks(), shared=ROWS)
    first = next(results)
    assert pulled == [3], "a task is pulled only when it can start"
    assert (first.index, first.task.kind, first.failure, first.cached) == (0, "scale", None, False)
    assert first.seconds > 0
    assert [result.index for result in results] == [1, 2]
    assert np.array_equal(first.outcome["values"], 3 * ROWS)


def test_outcomes_are_plain_and_arrays_read_only():
    (result,) = run_tasks(scale, [Task(np.float64(2))], shared=ROWS)
    assert type(result.outcome["content"]) is float
    assert result.outcome["pair"] == [1, 2]
    assert list(result.outcome) == ["values", "content", "pair"]
    with pytest.raises(ValueError, match="read-only"):
        result.outcome["values"][0] = 1


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (not_a_dictionary, "must return a dictionary of arrays and JSON values; got list"),
        (objects, "`rows` of a task's outcome must be an array of numbers or of text"),
    ],
)
def test_an_outcome_that_cannot_be_stored_is_a_failure(function, message):
    (result,) = run_tasks(function, [Task(1)])
    assert message in result.failure.message


@pytest.mark.parametrize("content", ["error", "system exit", "generator exit", "local error"])
def test_errors_are_failures_of_their_task(content):
    results = by_content(run_tasks(misbehave, [Task(content), Task("fine")]))
    assert results["fine"].outcome == {"content": "fine"}
    failure = results[content].failure
    assert failure.reason == "error"
    assert "Error" in failure.message or "SystemExit: 4" in failure.message
    assert "misbehave" in failure.traceback
    assert failure.exception is not None


def test_an_interrupt_raised_by_a_task_is_its_failure_in_a_worker():
    tasks = [Task("keyboard interrupt"), Task("fine")]
    results = by_content(run_tasks(misbehave, tasks, n_jobs=2))
    assert results["fine"].outcome == {"content": "fine"}
    failure = results["keyboard interrupt"].failure
    assert (failure.reason, failure.message) == ("error", "KeyboardInterrupt: of the task")
    assert "misbehave" in failure.traceback


def test_workers_give_the_same_answers_as_one_process():
    shared = np.asfortranarray(np.random.default_rng(0).normal(size=(200, 7)))
    tasks = [Task(seed) for seed in range(6)]
    one = outcomes(run_tasks(product, tasks, shared=shared, n_jobs=1))
    two = outcomes(run_tasks(product, tasks, shared=shared, n_jobs=2))
    with parallel_config(backend="threading"):
        three = outcomes(run_tasks(product, tasks, shared=shared, n_jobs=3))
    for first, *others in zip(one, two, three, strict=True):
        assert all(first["product"].tobytes() == other["product"].tobytes() for other in others)


def test_workers_know_the_configuration_and_share_the_data():
    shared = np.arange(100_000.0)
    with config_context(assume_finite=True):
        results = outcomes(
            run_tasks(settings, [Task(i) for i in range(3)], shared=shared, n_jobs=2)
        )
    for outcome in results:
        assert outcome["assume_finite"] is True
        assert outcome["writeable"] is False
        assert outcome["address"] == 0
        assert outcome["sum"] == shared.sum()
        assert outcome["pid"] != os.getpid()


def test_several_runs_can_share_data(tmp_path):
    with SharedData(np.arange(1000.0)) as shared:
        runs = [
            outcomes(run_tasks(settings, [Task(0), Task(1)], shared=shared, n_jobs=2))
            for _ in range(2)
        ]
        folder = Path(shared.path()).parent
        assert folder.exists()
    assert not folder.exists()
    assert {outcome["sum"] for run in runs for outcome in run} == {np.arange(1000.0).sum()}


def test_one_bad_task_does_not_stop_the_others(tmp_path):
    contents = ["a", "sleep", "error", "exit once", "local error", "b", "segfault"]
    tasks = [Task(content) for content in contents]
    run = run_tasks(misbehave, tasks, shared=str(tmp_path), n_jobs=2, fit_timeout=2.0)
    results = by_content(run)
    assert {name for name in contents if results[name].outcome} == {"a", "b", "exit once"}
    reasons = {name: result.failure.reason for name, result in results.items() if result.failure}
    assert reasons == {
        "segfault": "worker_died",
        "sleep": "timeout",
        "error": "error",
        "local error": "error",
    }
    assert "signal SIGSEGV" in results["segfault"].failure.message
    assert results["sleep"].failure.message == "Stopped after `fit_timeout` = 2 s."
    assert isinstance(results["error"].failure.exception, ValueError)
    assert results["local error"].failure.exception is None


def test_a_timeout_isolates_tasks_also_with_one_job():
    results = by_content(run_tasks(misbehave, [Task("exit"), Task("a")], fit_timeout=30.0))
    assert results["exit"].failure.reason == "worker_died"
    assert "ended 3 times, the last time with exit code 3" in results["exit"].failure.message
    assert results["a"].outcome == {"content": "a"}


def test_a_timeout_in_threads_gives_up_the_task():
    with parallel_config(backend="threading", n_jobs=2):
        results = by_content(
            run_tasks(misbehave, [Task("sleep"), Task("a"), Task("error")], fit_timeout=2.0)
        )
    assert results["sleep"].failure.reason == "timeout"
    assert results["error"].failure.reason == "error"
    assert results["a"].outcome


def test_after_the_deadline_nothing_starts():
    results = list(run_tasks(scale, [Task(1), Task(2)], shared=ROWS, deadline=time.monotonic()))
    assert [result.failure.reason for result in results] == ["cut", "cut"]
    assert results[0].failure.message == "The time budget ended: not started."


def test_the_deadline_stops_running_workers(tmp_path, monkeypatch):
    end_budget_at_marks(monkeypatch, tmp_path, n_marks=2)
    tasks = [Task(content) for content in ("a", "sleep", "sleep", "b")]
    run = run_tasks(
        misbehave, tasks, shared=str(tmp_path), n_jobs=2, deadline=time.monotonic() + 1e6
    )
    results = sorted(run, key=lambda result: result.index)
    assert results[0].outcome
    assert [result.failure.reason for result in results[1:]] == ["cut", "cut", "cut"]
    assert "stopped after" in results[1].failure.message


def test_idle_workers_end_and_leave_no_zombies(monkeypatch):
    monkeypatch.setattr(workers, "IDLE_SECONDS", 0.2)
    results = run_tasks(settings, [Task(i) for i in range(4)], shared=ROWS, n_jobs=2)
    idle = {outcome["pid"] for outcome in outcomes(results)}
    started = time.monotonic()
    while idle_workers.workers and time.monotonic() - started < 60:
        time.sleep(0.05)
    with idle_workers.lock:  # until the last one has ended
        for pid in idle:
            with pytest.raises(ChildProcessError):  # a zombie would be returned
                os.waitpid(pid, os.WNOHANG)


def test_no_jobs_are_refused():
    with pytest.raises(ValueError, match="`n_jobs` must be None, a whole number.*got 0"):
        run_tasks(scale, [Task(1)], n_jobs=0)


def test_a_closed_run_leaves_no_busy_worker():
    idle_workers.stop()
    run = run_tasks(misbehave, [Task("a"), Task("sleep")], fit_timeout=1000)
    next(run)
    run.close()
    assert idle_workers.workers == []
    names = {child.name for child in multiprocessing.active_children()}
    assert "landbridge-worker" not in names


def test_an_idle_worker_that_died_is_replaced():
    list(run_tasks(misbehave, [Task("a")], fit_timeout=1000))
    for worker in idle_workers.workers:
        os.kill(worker.process.pid, signal.SIGKILL)
        worker.process.join()
    (result,) = run_tasks(misbehave, [Task("b")], fit_timeout=1000)
    assert result.outcome


def test_concurrent_tasks_in_threads_do_not_lift_each_others_limit():
    with parallel_config(backend="threading", n_jobs=2):
        results = outcomes(run_tasks(threads, [Task(0.0), Task(0.05), Task(0.0), Task(0.05)]))
    assert {n for outcome in results for n in outcome["threads"]} <= {1}


def test_the_limit_is_lifted_by_the_last_user():
    before = threads(None, 0)
    with one_thread():
        with one_thread():
            pass
        assert set(threads(None, 0)["threads"]) <= {1}
    assert threads(None, 0) == before


SCRIPT = """
import multiprocessing.process, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
sys.path.insert(0, {folder!r})
from unit.tasks.task_functions import misbehave
from landbridge._tasks import Task, run_tasks
for result in run_tasks(misbehave, [Task("a"), Task("sleep")], fit_timeout=1000):
    print(*[child.pid for child in multiprocessing.process.active_children()], flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_no_process_outlives_a_run_that_is_killed(number):
    script = SCRIPT.format(folder=str(Path(__file__).parents[2]))
    run = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    workers = [int(pid) for pid in run.stdout.readline().split()]
    assert workers
    run.send_signal(number)
    run.wait(60)
    run.stdout.close()
    end = time.monotonic() + 60
    while any(map(_alive, workers)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(map(_alive, workers))


def _alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_an_interrupt_that_a_task_catches_still_ends_the_run():
    """As scikit-learn's neural networks do."""

    def stubborn(_, content):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return {"content": content}

    # A process that a shell starts in the background ignores SIGINT, so the handler is set here.
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        results = run_tasks(stubborn, [Task(1), Task(2)])
        with pytest.raises(KeyboardInterrupt):
            next(results)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, earlier)
