"""Benchmarks are not run by the tests, but what they import must exist."""

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
