"""Finished tasks on disk."""

import errno
import json
import os
import threading
import time

import numpy as np
import pytest

from landbridge._tasks import Task, TaskCache, is_cache, run_tasks, task_key
from landbridge.exceptions import CacheWarning
from unit.tasks.task_functions import misbehave, scale

OUTCOME = {
    "numbers": np.array([0.1, np.nan, -np.inf]),
    "empty": np.zeros((0, 3), dtype=np.float32),
    "names": np.array(["a", "βγ"]),
    "flags": np.array([[True], [False]]),
    "seconds": 0.1 + 0.2,
    "nothing": None,
    "nested": {"a": [1, 2.5, "x"]},
    "file": 3,
    "header": float("nan"),
}


@pytest.fixture
def cache(tmp_path):
    return TaskCache(tmp_path / "cache")


def same(left, right):
    assert list(left) == list(right)
    for name, value in left.items():
        if isinstance(value, np.ndarray):
            assert (value.dtype, value.shape) == (right[name].dtype, right[name].shape)
            assert value.tobytes() == right[name].tobytes()
        else:
            assert repr(value) == repr(right[name])


def the_file(cache):
    (path,) = cache.directory.glob("??/*.fit")
    return path


def test_an_outcome_comes_back_bit_for_bit(cache):
    key = task_key("one")
    assert cache.get(key) is None
    cache.put(key, OUTCOME, kind="k", seconds=1.5)
    stored = cache.get(key)
    same(stored.outcome, OUTCOME)
    assert (stored.kind, stored.seconds) == ("k", 1.5)
    assert not stored.outcome["numbers"].flags.writeable
    assert (cache.hits, cache.misses) == (1, 1)


def test_finished_tasks_are_not_repeated(cache):
    tasks = [Task(content, "k", task_key(content)) for content in (1, 2, 3)]
    first = list(run_tasks(scale, tasks[:2], shared=np.ones(2), cache=cache))
    second = list(run_tasks(scale, tasks, shared=np.ones(2), cache=cache))
    assert [result.cached for result in first] == [False, False]
    assert [result.cached for result in second] == [True, True, False]
    assert [result.index for result in second] == [0, 1, 2]
    for fresh, stored in zip(first, second, strict=False):
        same(fresh.outcome, stored.outcome)
        assert fresh.seconds == stored.seconds


def test_failures_and_tasks_without_a_key_are_run_again(cache):
    tasks = [Task("error", "k", task_key("error")), Task("a")]
    for _ in range(2):
        results = list(run_tasks(misbehave, tasks, cache=cache))
        assert not any(result.cached for result in results)
    assert not list(cache.directory.glob("??/*.fit"))


def test_cached_tasks_are_given_after_the_deadline_too(cache):
    tasks = [Task(content, "k", task_key(content)) for content in (1, 2)]
    list(run_tasks(scale, tasks[:1], shared=np.ones(2), cache=cache))
    late = run_tasks(scale, tasks, shared=np.ones(2), cache=cache, deadline=time.monotonic())
    first, second = late
    assert first.cached
    assert second.failure.reason == "cut"


def test_damaged_files_are_never_trusted(cache):
    key = task_key("one")
    cache.put(key, OUTCOME, kind="k", seconds=1.5)
    path = the_file(cache)
    whole = path.read_bytes()
    places = [*range(0, len(whole), 7), len(whole) - 1]
    for place in places:  # cut short
        path.write_bytes(whole[:place])
        assert cache.get(key) is None
    for place in places:  # one bit flipped
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        assert cache.get(key) is None
    path.write_bytes(os.urandom(100))
    assert cache.get(key) is None
    cache.put(key, OUTCOME, kind="k", seconds=1.5)
    assert cache.get(key) is not None


def test_a_file_under_another_name_is_not_trusted(cache):
    cache.put(task_key("one"), OUTCOME, kind="k", seconds=1.5)
    other = task_key("two")
    place = cache.directory / other[:2]
    place.mkdir(exist_ok=True)
    the_file(cache).rename(place / f"{other}.fit")
    assert cache.get(other) is None


def test_a_directory_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ValueError, match="`cache` must be a new or empty directory.*'thesis.tex'"):
        TaskCache(tmp_path)
    assert not is_cache(tmp_path)


@pytest.mark.parametrize("content", ['{"format": 99}', "{}", "nonsense"])
def test_a_directory_of_another_format_is_refused(cache, content):
    (cache.directory / "landbridge-cache.json").write_text(content)
    with pytest.raises(ValueError, match="`cache` must be a directory written by landbridge with"):
        TaskCache(cache.directory)


def test_a_full_disk_is_announced_and_the_run_goes_on(cache, monkeypatch):
    def no_space(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    tasks = [Task(content, "k", task_key(content)) for content in range(5)]
    with pytest.warns(CacheWarning, match="No space left on device.*continues without storing"):
        results = list(run_tasks(scale, tasks, shared=np.ones(2), cache=cache))
    assert all(result.outcome for result in results)
    assert not [path for path in cache.directory.rglob("*") if path.suffix in (".fit", ".part")]


def test_two_runs_may_share_a_directory(cache):
    def fill():
        own = TaskCache(cache.directory)
        for number in range(40):
            key = task_key(number)
            if own.get(key) is None:
                own.put(key, {"number": number, "values": np.arange(50.0)}, kind="k", seconds=0)

    threads = [threading.Thread(target=fill) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.contents().tasks == {"k": 40}
    assert cache.contents().damaged == 0


def test_contents_and_pruning(cache):
    for number, kind in enumerate(["a", "a", "b"]):
        cache.put(task_key(number), OUTCOME, kind=kind, seconds=2.0)
    old = cache.directory / task_key(0)[:2] / f"{task_key(0)}.fit"
    os.utime(old, (1, 1))
    damaged = cache.directory / task_key(2)[:2] / f"{task_key(2)}.fit"
    damaged.write_bytes(b"PK")
    leftover = damaged.parent / ".x.fit.abc.part"
    leftover.touch()
    fresh = damaged.parent / ".y.fit.abc.part"
    fresh.touch()
    os.utime(leftover, (1, 1))
    contents = cache.contents()
    assert contents.tasks == {"a": 2}
    assert contents.seconds == {"a": 4.0}
    assert contents.bytes["a"] > 1000
    assert contents.damaged == 1
    assert cache.prune(3600.0) == 3
    assert not old.exists()
    assert not damaged.exists()
    assert not leftover.exists()
    assert fresh.exists(), "another run may be writing it"
    assert cache.prune() == 1
    assert json.loads((cache.directory / "landbridge-cache.json").read_text())["format"] == 1


def test_use_keeps_a_task_from_being_pruned(cache):
    cache.put(task_key(1), OUTCOME, kind="a", seconds=2.0)
    os.utime(the_file(cache), (1, 1))
    cache.get(task_key(1))
    assert cache.prune(3600.0) == 0
