"""The program as a person runs it: its own process, real files, exit codes, signals."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import landbridge
from landbridge.persistence import load_model

from .conftest import CANDIDATES, make_frame

SOURCE = Path(landbridge.__file__).parents[1]
SCRIPT = Path(sys.executable).with_name("landbridge")
# The installed program where there is one, else the same module.
PROGRAM = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-m", "landbridge"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}


def start(*arguments: object, folder: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        cwd=folder,
        env=ENVIRONMENT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run(*arguments: object, folder: Path, code: int = 0) -> tuple[str, str]:
    process = start(*arguments, folder=folder)
    out, err = process.communicate(timeout=500)
    assert process.returncode == code, err
    return out, err


def test_the_package_runs_as_the_program():
    command = [sys.executable, "-m", "landbridge", "--version"]
    answer = subprocess.run(command, env=ENVIRONMENT, text=True, capture_output=True, check=True)
    assert landbridge.__version__ in answer.stdout


def test_help_waits_for_no_heavy_package():
    check = (
        "import sys, landbridge.cli._options; "
        "print([m for m in ('numpy', 'sklearn', 'polars', 'skops', 'jinja2') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", check], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_demo_answers_a_yes_and_a_no(landbridge, tmp_path):
    words = " ".join(landbridge("demo", "--folder", "story").stdout.split())
    for expected in (
        "Predict winter with the vote",
        "Transfer is worth it: pooled beats target-only and source-only",
        "Predict day off with the vote",
        "pooled is not shown to beat target-only",
        "Next:",
    ):
        assert expected in words
    assert words.count("Accuracy on the hidden labels: 0.") == 2
    winter = pl.read_csv(tmp_path / "story" / "winter.csv").filter(pl.col("season") == "winter")
    labelled = winter["demand"].is_not_null().arg_true().to_numpy()
    assert len(labelled) == 200  # evenly spaced, so that no draw of labels can be preferred
    assert set(np.diff(labelled)) == {4, 5}
    files = {file.name for file in (tmp_path / "story").iterdir()}
    assert files == {"winter.csv", "days_off.csv", "candidates.yaml", "report.html", "model.skops"}
    page = (tmp_path / "story" / "report.html").read_text()
    for title in ("Checks", "Ranking", "Shift between", "Score on a new source"):
        assert title in page
    predicted = landbridge("predict", "story/model.skops", "story/winter.csv").stdout
    assert len(predicted.splitlines()) == 3477
    model = load_model(tmp_path / "story" / "model.skops").model
    frame = pl.read_csv(tmp_path / "story" / "winter.csv").drop("season", "demand")
    printed = pl.read_csv(predicted.encode()).select(f"score_{name}" for name in model.classes_)
    assert (printed.to_numpy() == model.predict_proba(frame)).all()
    with start("info", "story/model.skops", folder=tmp_path) as unread:
        unread.stdout.close()
        assert unread.wait(timeout=200) == 0


@pytest.fixture
def wine():
    home = os.environ.get("LANDBRIDGE_DATA", SOURCE.parents[1] / "shared" / "data")
    folder = Path(home) / "wine_quality"
    if not folder.is_dir():
        pytest.skip("needs the wine data in the folder that LANDBRIDGE_DATA names")
    return {name: next(folder.glob(f"*{name}*.csv")) for name in ("red", "white")}


@pytest.mark.slow
def test_real_wine_from_two_files(tmp_path, wine):
    (tmp_path / "few.toml").write_text('nb = "GaussianNB"\n')
    files = [f"{name}={path}" for name, path in wine.items()]
    question = ("--label", "quality", "--target", "white", "--max-rows", 300)
    options = ("--candidates", "few.toml", "--format", "json", "--report", "r.html")
    out, err = run("select", *files, *question, *options, folder=tmp_path)
    found = json.loads(out)
    best = found["ranking"]["candidates"][0]
    assert best["role"] == "vote"
    assert 0.1 < best["low"] < best["score"] < best["high"] < 0.9
    assert found["shift"]["sources"][0]["auc"] > 0.95
    assert "white: 300 of 4898 rows are used" in err
    assert (tmp_path / "r.html").stat().st_size < 3_000_000


def test_mistakes_end_with_2_and_one_message(tmp_path):
    out, err = run("diagnose", "nowhere.csv", "--target", "x", folder=tmp_path, code=2)
    assert out == ""
    assert err.startswith("error: nowhere.csv: no such file")
    assert "Traceback" not in err


@pytest.mark.parametrize(("stop", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_stop_at_once_and_leave_nothing(tmp_path, stop, code):
    frame = make_frame(400)
    frame.write_csv(tmp_path / "wines.csv")
    (tmp_path / "many.yaml").write_text(
        # Hours of work, so that the signal never comes after the end.
        CANDIDATES + "slow:\n  estimator: MLPClassifier\n  params: {max_iter: 10000000, tol: 0.0, "
        "n_iter_no_change: 10000000}\n"
    )
    question = ("--label", "good", "--domain", "region", "--target", "west")
    process = start(
        "select", "wines.csv", *question, "--candidates", "many.yaml", "--save", "m.skops",
        folder=tmp_path,
    )  # fmt: skip
    process.stderr.readline()  # the note about the task: reading is done, the search begins
    time.sleep(1.0)
    process.send_signal(stop)
    process.communicate(timeout=120)
    assert process.returncode == code
    assert {file.name for file in tmp_path.iterdir()} == {"wines.csv", "many.yaml"}


def test_a_reader_that_stops_early_ends_the_program_quietly(tmp_path, model):
    pl.concat([make_frame()] * 200).write_csv(tmp_path / "new.csv")
    process = start("predict", model, "new.csv", folder=tmp_path)
    with process:
        assert process.stdout.readline().startswith("prediction,")
        process.stdout.close()
        errors = process.stderr.read()
    assert process.returncode == 0
    assert "error" not in errors
    assert "pipe" not in errors.lower()


def test_a_full_disk_is_named(tmp_path):
    """On a real file system of 200 kB, where the machine lets us make one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    made = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(disk)], capture_output=True
    )
    if not made or made.returncode:
        pytest.skip("needs the right to mount a file system")
    try:
        rng = np.random.default_rng(0)
        big = pl.DataFrame({"x": rng.normal(size=60_000), "y": rng.normal(size=60_000)})
        big.write_csv(tmp_path / "big.csv")
        code = (
            "from landbridge.cli._session import session\n"
            "from landbridge.cli.predict import write_answers\n"
            "import polars as pl, pathlib\n"
            "with session(False, False):\n"
            "    write_answers([pl.read_csv('big.csv')], pathlib.Path('disk/out.csv'))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
        )
        assert "No space left on device" in done.stderr
        assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)
