"""Progress bars and log lines."""

import io
import logging
import sys
import time

import pytest

from landbridge._tasks import Progress, Task, TaskFailure, TaskProgress, TaskResult, duration
from landbridge._tasks import progress as module


def result(kind, seconds, *, cached=False, failure=None):
    return TaskResult(0, Task(0, kind), {}, failure, seconds, cached)


def pretend_terminal(monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)


def test_time_left_is_measured_per_kind():
    progress = TaskProgress(["slow"] * 3 + ["fast"] * 10 + ["new"] * 2, verbose=0, n_jobs=2)
    assert progress.seconds_left() is None
    progress.advance(result("slow", 10.0))
    progress.advance(result("fast", 1.0))
    progress.advance(result("fast", 2.0))
    overall = 13.0 / 3
    assert progress.seconds_left() == pytest.approx((2 * 10 + 8 * 1.5 + 2 * overall) / 2)
    progress.drop("new", 2)
    assert progress.seconds_left() == pytest.approx((2 * 10 + 8 * 1.5) / 2)
    assert (progress.done, progress.total) == (3, 13)


def test_cached_and_cut_tasks_are_not_measured():
    progress = TaskProgress(["a"] * 4, verbose=0)
    progress.advance(result("a", 100.0, cached=True))
    progress.advance(result("a", 0.0, failure=TaskFailure("cut", "")))
    assert progress.seconds_left() is None
    progress.advance(result("a", 3.0))
    assert progress.seconds_left() == pytest.approx(3.0)


def test_time_left_ends_with_the_budget():
    progress = TaskProgress(["a"] * 4, verbose=0, deadline=time.monotonic() + 5)
    progress.advance(result("a", 100.0))
    assert progress.seconds_left() == pytest.approx(5, abs=0.5)


def test_a_line_appears_although_nothing_finishes(monkeypatch, caplog):
    monkeypatch.setattr(module, "SILENCE", 0.05)
    level = caplog.at_level(logging.INFO, "landbridge")
    with level, TaskProgress(["a"] * 3, verbose=1) as progress:
        progress.advance(result("a", 7.0), lambda: "leader LR")
        time.sleep(0.3)
    assert len(caplog.messages) >= 2
    assert caplog.messages[0] == "search: 1 of 3 fits, leader LR, about 14 s left"


def test_silent_progress_logs_nothing(monkeypatch, caplog):
    monkeypatch.setattr(module, "SILENCE", 0.01)
    with caplog.at_level(logging.INFO, "landbridge"), TaskProgress(["a"], verbose=0) as progress:
        progress.advance(result("a", 1.0), lambda: pytest.fail("not asked for"))
        time.sleep(0.05)
    assert not caplog.messages


def test_a_terminal_gets_a_bar(monkeypatch):
    pretend_terminal(monkeypatch)
    with TaskProgress(["a"] * 2, verbose=1) as progress:
        progress.advance(result("a", 61.0), lambda: "leader [LR]")
        line = progress.bar.tasks[0]
        assert (line.completed, line.total) == (1, 2)
        assert line.description == "search, leader [LR]"
        assert line.fields["left"] == "about 1 min 1 s left"


def test_a_terminal_without_rich_gets_lines(monkeypatch):
    pretend_terminal(monkeypatch)
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with Progress("reading", 10, unit="rows") as progress:
        assert progress.bar is None
        assert progress._watch is not None


def test_work_inside_other_work_is_silent(monkeypatch):
    pretend_terminal(monkeypatch)
    with Progress("report", None) as outer, Progress("search", 3) as inner:
        inner.advance()
        assert outer.bar is not None
        assert inner.bar is None
    with Progress("search", 3) as alone:
        assert alone.bar is not None


def test_work_of_unknown_length_logs_its_time(caplog):
    progress = Progress("comparing", None)
    progress.started -= 61
    with caplog.at_level(logging.INFO, "landbridge"):
        progress.log()
    assert caplog.messages == ["comparing: 1 min 1 s so far"]


def test_notes_are_asked_for_once_a_second():
    asked = []
    with TaskProgress(["a"] * 100, verbose=1) as progress:
        for _ in range(50):
            progress.advance(result("a", 1.0), lambda: asked.append(1) or "x")
    assert len(asked) == 1


def test_plain_progress_extrapolates(monkeypatch, caplog):
    progress = Progress("reading", 10, unit="rows")
    assert progress.seconds_left() is None
    progress.started -= 5
    progress.advance(2)
    assert progress.seconds_left() == pytest.approx(20, rel=0.1)
    with caplog.at_level(logging.INFO, "landbridge"):
        progress.log()
    assert caplog.messages == ["reading: 2 of 10 rows, about 20 s left"]
    assert Progress("reading", None).seconds_left() is None
    resumed = Progress("reading", 10, done=4)
    assert resumed.seconds_left() is None
    resumed.started -= 6
    resumed.advance(3)
    assert resumed.seconds_left() == pytest.approx(6, rel=0.1)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (59.4, "59 s"), (60, "1 min"), (200, "3 min 20 s"), (7500, "2 h 5 min")],
)
def test_durations_in_words(seconds, words):
    assert duration(seconds) == words
