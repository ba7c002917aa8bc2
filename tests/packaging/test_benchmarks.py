"""Benchmarks are not run by the tests, but what they import must exist."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMPORT_ALL = """
import importlib, pkgutil
import benchmarks

for module in pkgutil.iter_modules(benchmarks.__path__):
    if module.name != "__main__" and not module.ispkg:
        importlib.import_module(f"benchmarks.{module.name}")
"""


def test_every_benchmark_can_be_imported():
    pytest.importorskip("matplotlib")
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def harness(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT)
    harness = importlib.import_module("benchmarks._harness")
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    return harness


def test_an_interrupted_benchmark_continues_and_then_replaces_its_results(harness):
    cells = [({"n": n}, (n,)) for n in range(4)]
    done = []

    def squares(n, fail_at=None):
        if n == fail_at:
            raise ValueError("power cut")
        done.append(n)
        return [{"power": 1, "value": n}, {"power": 2, "value": n * n}]

    with harness.Log("toy") as log:
        log.run(squares, cells[:1])
    assert len(harness.read("toy")) == 2

    with pytest.raises(RuntimeError, match="power cut"), harness.Log("toy") as log:
        log.run(lambda n: squares(n, fail_at=2), cells)
    assert len(harness.read("toy")) == 2  # the earlier results, as long as the run is incomplete
    with log.path.open("a") as file:
        file.write('{"n": 2, "pow')

    done.clear()
    with harness.Log("toy") as log:
        log.run(squares, cells)
    assert done == [2, 3]
    lines = [(line["n"], line["power"], line["value"]) for line in harness.read("toy")]
    assert lines == [(n, power, n**power) for n in range(4) for power in (1, 2)]


def test_resume_adds_missing_lines_and_measures_all_again_on_request(harness, monkeypatch):
    def run(n_cells):
        done = []
        with harness.Log("toy", resume=True) as log:
            log.run(lambda n: done.append(n) or {"value": n}, [({"n": n}, (n,)) for n in n_cells])
        return done

    assert run([0, 1]) == [0, 1]
    assert run([0, 1, 2]) == [2]
    monkeypatch.setenv("LANDBRIDGE_FRESH", "1")
    assert run([0, 1]) == [0, 1]
    assert len(harness.read("toy")) == 2
