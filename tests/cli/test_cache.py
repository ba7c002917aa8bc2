"""``landbridge cache``."""

import os

import numpy as np
import pytest

from landbridge._tasks import TaskCache, task_key
from landbridge.cli._options import seconds_of
from landbridge.cli._session import InputError


@pytest.fixture
def fits(tmp_path):
    cache = TaskCache(tmp_path / "fits")
    for number, kind in enumerate(["LR", "LR", "forest"]):
        cache.put(task_key(number), {"loss": np.ones(4)}, kind=kind, seconds=45.0)
    return cache


def test_contents_by_candidate(landbridge, fits):
    data = landbridge.json("cache", "fits")
    assert data["fits"] == 3
    assert data["bytes"] == sum(path.stat().st_size for path in fits.directory.glob("??/*.fit"))
    assert [(kind["name"], kind["fits"], kind["seconds"]) for kind in data["kinds"]] == [
        ("LR", 2, 90.0),
        ("forest", 1, 45.0),
    ]
    shown = landbridge("cache", "fits").stdout
    assert "finished fits: 3" in shown
    assert "1 min 30 s" in shown


def test_pruning_by_age(landbridge, fits):
    old = next(iter(fits.directory.glob("??/*.fit")))
    os.utime(old, (1, 1))
    assert landbridge.json("cache", "fits", "--prune", "30d")["removed"] == 1
    left = landbridge.json("cache", "fits", "--prune", "0")
    assert (left["removed"], left["fits"]) == (2, 0)
    assert "files removed: 0" in landbridge("cache", "fits", "--prune", "0").stdout


def test_damaged_files_are_counted(landbridge, fits):
    next(iter(fits.directory.glob("??/*.fit"))).write_bytes(b"PK")
    assert "damaged files, which are fitted again: 1" in landbridge("cache", "fits").stdout


def test_another_directory_is_refused(landbridge, tmp_path):
    (tmp_path / "thesis").mkdir()
    done = landbridge("cache", "thesis", code=2)
    assert "not a directory of finished fits" in done.stderr
    assert not list((tmp_path / "thesis").iterdir())


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("5m", 300), ("1.5h", 5400), ("30 d", 2592000), ("0", 0)]
)
def test_durations(text, seconds):
    assert seconds_of(text) == seconds


def test_a_duration_without_a_number_is_refused():
    with pytest.raises(InputError, match="'soon': a duration is a number with a unit, like 90s"):
        seconds_of("soon")
