"""``select`` with a cache, a budget and a cluster."""

import pytest

from landbridge._tasks import TaskCache


@pytest.fixture
def select(landbridge, table):
    def run(*options, code=0):
        arguments = ("-y", "good", "-d", "region", "-t", "west", "--folds", 2, "--drop", "remark")
        return landbridge("select", table, *arguments, *options, code=code)

    return run


def test_resume_keeps_finished_fits(select, tmp_path):
    first = select("--resume", "fits").stdout
    n_fits = sum(TaskCache(tmp_path / "fits").contents().tasks.values())
    assert n_fits > 5
    assert select("--resume", "fits").stdout == first
    assert sum(TaskCache(tmp_path / "fits").contents().tasks.values()) == n_fits


def test_an_interrupted_run_says_how_to_go_on(select, monkeypatch):
    from landbridge.model_selection import TransferSearchCV

    def stop(self, **_):
        raise KeyboardInterrupt

    monkeypatch.setattr(TransferSearchCV, "fit", stop)
    words = " ".join(select("--resume", "fits", code=130).stderr.split())
    assert "finished fits are in fits; run the same command again to continue" in words
    words = " ".join(select(code=130).stderr.split())
    assert "with --resume DIR, the same command continues" in words


def test_a_budget_that_ends_is_announced(select):
    words = " ".join(select("--budget", "0.0001s", code=2).stderr.split())
    assert "The time budget ended" in words


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--budget", "soon"), "'soon': a duration is a number with a unit"),
        (("--dask", "local:none"), "like local:4; got 'local:none'"),
    ],
)
def test_wrong_values_are_refused(select, options, message):
    words = " ".join(select(*options, code=2).stderr.split())
    assert message in words
