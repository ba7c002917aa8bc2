"""Tasks on a Dask cluster."""

import gc
import os
import signal
import sys
import time

import numpy as np
import pytest
from joblib import parallel_config
from joblib.parallel import get_active_backend
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

from landbridge import TransferSearchCV
from landbridge._tasks import SharedData, Task, run_tasks
from landbridge._tasks.dask_cluster import Scattered, dask_cluster
from unit.tasks.task_functions import misbehave, product, scale, threads

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def outcomes(results):
    return [result.outcome for result in sorted(results, key=lambda result: result.index)]


@pytest.fixture(scope="module")
def client():
    """A cluster whose workers are threads of this process: it starts at once."""
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=2, dashboard_address=":0"
    ) as client:
        yield client


def test_answers_are_bit_identical_and_data_is_scattered_once(client, monkeypatch):
    scattered = []
    send = Scattered.send
    monkeypatch.setattr(Scattered, "send", lambda self: scattered.append(1) or send(self))
    shared = np.asfortranarray(np.random.default_rng(0).normal(size=(200, 7)))
    tasks = [Task(seed) for seed in range(12)]
    here = outcomes(run_tasks(product, tasks, shared=shared))
    with parallel_config(backend="dask"), SharedData(shared) as sent:
        there = outcomes(run_tasks(product, tasks, shared=sent))
        outcomes(run_tasks(product, tasks, shared=sent))
    assert scattered == [1], "two runs share the data"
    for one, other in zip(here, there, strict=True):
        assert one["product"].tobytes() == other["product"].tobytes()


def test_concurrent_tasks_of_a_worker_run_on_one_thread(client):
    with parallel_config(backend="dask"):
        results = outcomes(run_tasks(threads, [Task(0.0), Task(0.05), Task(0.0), Task(0.05)]))
    assert {n for outcome in results for n in outcome["threads"]} <= {1}


def test_errors_timeouts_and_deadlines(client):
    contents = ["a", "error", "local error", "sleep"]
    with parallel_config(backend="dask"):
        run = run_tasks(misbehave, [Task(content) for content in contents], fit_timeout=3.0)
        results = {result.task.content: result for result in run}
        late = list(run_tasks(misbehave, [Task("a")], deadline=time.monotonic()))
        slow = [Task(1.0) for _ in range(20)]
        stopped = list(run_tasks(threads, slow, deadline=time.monotonic() + 0.3))
    assert results["a"].outcome
    assert isinstance(results["error"].failure.exception, ValueError)
    assert results["sleep"].failure.reason == "timeout"
    assert late[0].failure.reason == "cut"
    assert {result.failure.reason for result in stopped} == {"cut"}
    assert sorted(result.index for result in stopped) == list(range(20))


def test_tasks_are_pulled_only_as_the_cluster_needs_them(client):
    pulled = []

    def tasks():
        for number in range(100):
            pulled.append(number)
            yield Task(number)

    with parallel_config(backend="dask"):
        run = run_tasks(scale, tasks(), shared=np.ones(2))
        next(run)
        assert len(pulled) < 50
        run.close()


def test_addresses_without_a_cluster_are_refused():
    with (
        pytest.raises(ValueError, match="like local:4; got 'local:many'"),
        dask_cluster("local:many"),
    ):
        pass
    if sys.platform == "linux":
        with (
            pytest.raises(ValueError, match="`dask` must be the address of a scheduler that answ"),
            dask_cluster("nonsense://127.0.0.1:1"),
        ):
            pass


@pytest.mark.slow
class Watching(BaseEstimator, ClassifierMixin, TransformerMixin):
    """Note joblib's backend in every fit, as a preprocessor and as a candidate."""

    seen = []

    def fit(self, X, y=None):
        Watching.seen.append(type(get_active_backend()[0]).__name__)
        self.classes_ = np.unique(y)
        return self

    def transform(self, X):
        return X

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_only_the_fits_of_a_search_run_on_the_cluster(client):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    search = TransferSearchCV({"w": Watching()}, cv=2, preprocessor=Watching(), random_state=0)
    Watching.seen.clear()
    with parallel_config(backend="dask"):
        search.fit(X, y, X_target=X[:20], y_target=y[:20], X_unlabeled=X[20:])
    assert len(Watching.seen) > 3
    assert set(Watching.seen) == {"SequentialBackend"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_waits_until_the_cluster_can_be_closed(monkeypatch, number):
    done = []

    class Starting:
        def __init__(self, **options):
            os.kill(os.getpid(), number)
            time.sleep(0.01)
            done.append("started")

        def __enter__(self):
            return self

        def __exit__(self, *error):
            done.append("closed")

    def stop(*received):
        raise KeyboardInterrupt

    monkeypatch.setattr(distributed, "Client", Starting)
    before = signal.signal(number, stop)
    try:
        with pytest.raises(KeyboardInterrupt), dask_cluster("local:1"):
            done.append("used")
        assert signal.getsignal(number) is stop
    finally:
        signal.signal(number, before)
    assert done == ["started", "closed"]


def test_no_callback_of_dask_swallows_an_interruption():
    found = []
    with dask_cluster("local:1"):
        found.append([call.__module__ for call in gc.callbacks])
    assert not any(module.startswith("distributed") for module in found[0])


def test_a_worker_that_dies_at_the_start_is_named(monkeypatch):
    def dying(**options):
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr(distributed, "Client", dying)
    with (
        pytest.raises(ValueError, match="`dask` must be able to start its workers; 'local:1' fail"),
        dask_cluster("local:1"),
    ):
        pass


@pytest.mark.parametrize("n_killed", [1, 2])
def test_work_of_killed_workers_is_done_again(n_killed):
    with dask_cluster("local:2") as client:
        victims = list(client.run(os.getpid).values())[:n_killed]
        results = []
        for result in run_tasks(threads, [Task(0.1) for _ in range(40)]):
            results.append(result)
            if len(results) == 5:
                for pid in victims:
                    os.kill(pid, signal.SIGKILL)
    assert sorted(result.index for result in results) == list(range(40))
    assert all(result.outcome for result in results)


@pytest.mark.slow
def test_a_task_that_kills_workers_fails_alone():
    with dask_cluster("local:2"):
        contents = ["a", "exit", "b", "c"]
        run = run_tasks(misbehave, [Task(content) for content in contents])
        results = {result.task.content: result for result in run}
    assert {name for name in contents if results[name].outcome} == {"a", "b", "c"}
    assert results["exit"].failure.reason == "worker_died"
