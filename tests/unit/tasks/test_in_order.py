"""Calls in order, and seeds."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from landbridge._tasks import map_tasks, spawn_seeds


def draw(seed, size):
    return np.random.default_rng(seed).normal(size=size)


def threads():
    return [pool["num_threads"] for pool in threadpool_info()]


def test_answers_come_in_order_for_any_number_of_jobs():
    tasks = [(seed, 3) for seed in spawn_seeds(0, 5)]
    one, two = (np.array(map_tasks(draw, tasks, n_jobs=n)) for n in (1, 2))
    assert np.array_equal(one, two)
    assert np.array_equal(one[2], draw(*tasks[2]))


def test_seeds_belong_to_the_index():
    assert spawn_seeds(7, 3) == spawn_seeds(7, 5)[:3]
    assert len(set(spawn_seeds(7, 1000))) == 1000
    assert spawn_seeds(7, 3) != spawn_seeds(8, 3)


def test_linear_algebra_of_a_task_runs_on_one_thread():
    assert set(map_tasks(threads, [()], n_jobs=1)[0]) <= {1}


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_wrong_numbers_of_jobs_are_refused(n_jobs):
    with pytest.raises(ValueError, match=f"`n_jobs` must be None, a whole number.*got {n_jobs!r}"):
        map_tasks(abs, [(1,)], n_jobs=n_jobs)
