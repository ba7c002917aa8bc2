"""Candidates are timed by a clock that stops while code is compiled."""

import importlib
import time
from contextlib import suppress

import pytest

from landbridge._tasks import not_working, working_time
from landbridge._tasks import task as clock


@pytest.fixture
def seconds(monkeypatch):
    """A time that the test sets."""
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(clock, "_paused", 0.0)
    return now


def test_nested_pauses_are_counted_once(seconds):
    seconds[0] = 1.0
    with not_working():
        seconds[0] = 3.0
        with not_working():
            seconds[0] = 10.0
        seconds[0] = 11.0
    seconds[0] = 12.0
    assert working_time() == 2.0


def test_the_clock_goes_on_after_an_error(seconds):
    with suppress(ValueError), not_working():
        seconds[0] = 5.0
        raise ValueError
    seconds[0] = 6.0
    assert working_time() == 1.0


def test_compiling_stops_the_clock():
    numba = pytest.importorskip("numba")
    importlib.import_module("landbridge.boosting.growth")
    before = clock._paused
    assert numba.njit(lambda x: x + 1)(1) == 2
    assert clock._paused > before
