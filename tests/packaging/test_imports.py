"""Imports go one way, cost little and change nothing."""

import ast
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import landbridge

SOURCE = Path(landbridge.__file__).parent
TESTS = Path(__file__).parents[1]

# A room may import from its own level and from the levels above it in this list.
LEVELS = """
_version _typing _docstrings _palette _html _sklearn_versions _warn exceptions
_validation _tasks _storage _extras _model_parts
_delegate _domain_map _transfer_estimator _kernel _low_rank inference metrics datasets persistence
weighting boosting kernels mapping ensemble neighbors baselines feature_selection interop
model_selection
labelling
inspection
report
cli
""".strip().splitlines()
LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms.split()}
MODULES = sorted(
    path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.stem[0] != "_"
)


def rooms_imported_by(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module]
            if node.module == "landbridge":
                names = [f"landbridge.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        rooms |= {name.split(".")[1] for name in names if name.startswith("landbridge.")}
    return rooms


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    wrong = [other for other in rooms_imported_by(path) if LEVEL_OF[other] > LEVEL_OF[room]]
    assert not wrong, f"{room} must not import {wrong}"


def test_every_room_has_a_level():
    rooms = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in MODULES}
    assert rooms <= set(LEVEL_OF)


def run_python(code: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE.parent), str(TESTS)])}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_has_no_side_effects():
    run_python(
        """
        import logging, random, warnings
        import joblib, numpy, sklearn.ensemble, sys
        loaded = set(sys.modules)
        before = (sklearn.get_config(), list(warnings.filters), random.getstate(),
                  str(numpy.random.get_state()), list(logging.getLogger().handlers),
                  numpy.geterr())
        import landbridge
        after = (sklearn.get_config(), list(warnings.filters), random.getstate(),
                 str(numpy.random.get_state()), list(logging.getLogger().handlers),
                 numpy.geterr())
        assert before == after
        optional = {"numba", "matplotlib", "pandas", "polars", "rich", "typer", "dask", "jinja2"}
        new = optional & (set(sys.modules) - loaded)
        assert not new, new
        """
    )


def test_every_public_name_is_there_and_documented():
    for name in landbridge.__all__:
        if name != "__version__":
            assert getattr(landbridge, name).__doc__, name


def test_dir_lists_public_names_only():
    assert dir(landbridge) == sorted(landbridge.__all__)


CORE_ONLY = """
import sys

class Refuse:
    extras = {"numba", "llvmlite", "matplotlib", "pandas", "polars", "pyarrow", "rich", "typer",
              "jinja2", "skops", "skrub", "dask", "distributed", "yaml", "altair"}

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.extras:
            raise ImportError(f"{name} is not part of the core")

sys.meta_path.insert(0, Refuse())
import warnings
import numpy as np
from common.cases import CASES, answer, make_sample

warnings.simplefilter("ignore")
for case in CASES:
    sample = make_sample(case)
    estimator = case.make().fit(**sample.arguments(case))
    assert np.isfinite(answer(case, estimator, sample.X_new)).all(), case.name
print(len(CASES))
"""


def test_every_estimator_works_with_the_core_dependencies_only():
    assert int(run_python(CORE_ONLY)) > 0
