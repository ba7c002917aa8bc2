"""A small model and table, and the program run inside the test's process.

Every case of this corpus ends in one of three ways: the program refuses (exit code 2 and one clear
message), it answers exactly as it does for the sound table, or it answers and names what is strange
in a caution. Everything else is a silent wrong answer or a crash, and fails.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

QUESTION = ("--label", "good", "--domain", "where", "--target", "003")


def make_table(n: int = 24, seed: int = 0) -> pl.DataFrame:
    """One column of every kind; codes, domains and classes that look like numbers."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=3 * n).round(3)
    days = rng.integers(0, 300, size=3 * n).tolist()
    codes = rng.integers(0, 9, size=3 * n)
    frame = pl.DataFrame(
        {
            "size": x,
            "count": rng.integers(1, 90, size=3 * n),
            "colour": rng.choice(["red", "white", "rose"], size=3 * n),
            "code": [f"{k:03d}" if k else "X99" for k in codes],
            "day": days,
            "old": rng.random(3 * n) < 0.5,
            "where": np.repeat(["001", "01", "003"], n),
            "good": np.where(x + 0.3 * rng.normal(size=3 * n) > 0, "1", "01"),
        }
    )
    return frame.with_columns((pl.date(2020, 1, 1) + pl.duration(days=pl.col("day"))).alias("day"))


@dataclass(frozen=True)
class Ended:
    """How a run of the program ended."""

    code: int
    out: str
    err: str

    def check_clear(self) -> None:
        """Exit code 0, or 2 with a message; never a traceback."""
        assert "Traceback (most recent" not in self.out + self.err, self.err
        assert "error: unexpected" not in self.err, self.err
        assert self.code in (0, 2), (self.code, self.err)
        assert self.code == 0 or "error:" in self.err or "Error" in self.err, self.err
        assert "\x1b" not in self.out + self.err

    def cautions(self) -> str:
        return " ".join(line for line in self.err.splitlines() if line.startswith("caution:"))


def run(*arguments: object) -> Ended:
    from landbridge.cli._options import app

    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Ended(done.exit_code, done.stdout, done.stderr)


@dataclass(frozen=True)
class World:
    """A folder with a sound table, the same without labels, and a model."""

    folder: Path
    table: pl.DataFrame

    def predict(self, path: Path) -> tuple[Ended, list[dict[str, Any]] | None]:
        ended = run("predict", self.folder / "model.skops", path, "--format", "json")
        ended.check_clear()
        return ended, json.loads(ended.out) if ended.code == 0 else None


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    table = make_table()
    table.write_csv(folder / "table.csv")
    (folder / "nb.yaml").write_text("nb: GaussianNB\n")
    asked = ("--candidates", folder / "nb.yaml", "--folds", 2, "--sources", "pooled")
    saved = ("--save", folder / "model.skops", "--results", folder / "r.npz")
    for more in (saved, ("--results", folder / "r.json")):
        ended = run("select", folder / "table.csv", *QUESTION, *asked, *more)
        assert ended.code == 0, ended.err
    return World(folder, table)


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
