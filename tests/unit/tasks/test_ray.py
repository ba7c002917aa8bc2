"""Tasks on Ray through joblib, where Ray is installed."""

import os
import sys

import numpy as np
import pytest
from joblib import parallel_config

from landbridge._tasks import Task, run_tasks
from unit.tasks.task_functions import misbehave, product

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def ray_backend():
    from ray.util.joblib import register_ray

    register_ray()
    # Workers find the functions of the tests where this process finds them.
    environment = {"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}}
    ray.init(num_cpus=2, include_dashboard=False, runtime_env=environment)
    yield
    ray.shutdown()


def test_answers_are_bit_identical(ray_backend):
    shared = np.random.default_rng(0).normal(size=(200, 7))
    tasks = [Task(seed) for seed in range(6)]
    here = {
        r.index: r.outcome["product"].tobytes() for r in run_tasks(product, tasks, shared=shared)
    }
    with parallel_config(backend="ray", n_jobs=2):
        there = {
            r.index: r.outcome["product"].tobytes()
            for r in run_tasks(product, tasks, shared=shared, n_jobs=2)
        }
    assert here == there


def test_errors_are_failures_of_their_task(ray_backend):
    with parallel_config(backend="ray", n_jobs=2):
        run = run_tasks(misbehave, [Task("a"), Task("error")], n_jobs=2)
        results = {result.task.content: result for result in run}
    assert results["a"].outcome
    assert results["error"].failure.reason == "error"
