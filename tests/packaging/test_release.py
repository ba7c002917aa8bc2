"""What a release holds: both archives build, describe themselves well, and run when installed."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
# The tests of an installed package run it, not the checkout.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def call(*command: object, folder: Path | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("dist")
    call(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    return sorted(folder.iterdir())


def test_wheel_and_source_pass_the_check_of_their_description(archives):
    pytest.importorskip("twine")
    assert [path.suffix for path in archives] == [".whl", ".gz"]
    assert call(sys.executable, "-m", "twine", "check", "--strict", *archives).count("PASSED") == 2


def test_the_wheel_holds_templates_and_data_and_no_tests(archives):
    with zipfile.ZipFile(archives[0]) as wheel:
        names = wheel.namelist()
    assert any(name.endswith("templates/report.html") for name in names)
    assert not any(name.startswith(("tests/", "benchmarks/")) for name in names)


def test_the_wheel_runs_the_demo_in_a_clean_environment(archives, tmp_path):
    venv.create(tmp_path / "clean", with_pip=True)
    python = tmp_path / "clean" / "bin" / "python"
    call(python, "-m", "pip", "install", "--quiet", f"{archives[0]}[cli]")
    shown = call(tmp_path / "clean" / "bin" / "landbridge", "demo", folder=tmp_path)
    assert "Transfer is worth it" in shown
    assert (tmp_path / "landbridge-demo" / "report.html").exists()
