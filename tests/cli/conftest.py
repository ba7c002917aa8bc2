"""Small tables and fast candidates, and the program run inside the test's process."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

CANDIDATES = """\
nb: GaussianNB
logistic:
  estimator: Pooled
  params: {estimator: {estimator: LogisticRegression}}
"""


class Program:
    """Runs ``landbridge`` with arguments; keeps what it said."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __call__(self, *arguments: object, code: int = 0) -> Any:
        from landbridge.cli._options import app

        done = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert done.exit_code == code, (done.output, done.stderr, done.exception)
        return done

    def json(self, *arguments: object) -> Any:
        return json.loads(self(*arguments, "--format", "json").stdout)


@pytest.fixture(autouse=True)
def small_forests(monkeypatch, small_default_forests):
    """Forests of fewer trees: the commands are tested here, and the forests with the library."""
    for module in ("_domain_auc", "loss_split"):
        monkeypatch.setattr(f"landbridge.inspection.{module}.N_TREES", 20)


@pytest.fixture
def landbridge(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Program(tmp_path)


def make_frame(n: int = 40, seed: int = 0) -> pl.DataFrame:
    """Three domains with numbers, categories, dates, text and holes; two classes."""
    rng = np.random.default_rng(seed)
    domains = np.repeat(["north", "south", "west"], n)
    x = rng.normal(np.repeat([0.0, 0.5, 1.0], n), 1.0)
    size = np.where(rng.random(3 * n) < 0.1, np.nan, x)
    y = np.where(x + 0.3 * rng.normal(size=3 * n) > 0.5, "yes", "no").tolist()
    days = rng.integers(0, 300, size=3 * n).tolist()
    frame = pl.DataFrame(
        {
            "size": size,
            "noise": rng.normal(size=3 * n),
            "colour": rng.choice(["red", "white", "rosé"], size=3 * n),
            "when": days,
            "remark": [f"lot {k} of {word}" for k, word in enumerate(["oak", "ash", "elm"] * n)],
            "region": domains,
            "good": y,
        }
    )
    hidden = (pl.col("region") == "west") & (pl.int_range(pl.len()) % 2 == 0)
    return frame.with_columns(
        pl.col("size").fill_nan(None),
        (pl.date(2020, 1, 1) + pl.duration(days=pl.col("when"))).alias("when"),
        pl.when(hidden).then(None).otherwise(pl.col("good")).alias("good"),
    )


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "wines.csv"
    make_frame().write_csv(path)
    (tmp_path / "few.yaml").write_text(CANDIDATES)
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A small saved model; tests must not write to its folder."""
    folder = tmp_path_factory.mktemp("model")
    make_frame().write_csv(folder / "wines.csv")
    (folder / "few.yaml").write_text(CANDIDATES)
    question = ["-y", "good", "-d", "region", "-t", "west"]
    arguments = [*question, "--candidates", folder / "few.yaml", "--folds", 3]
    Program(folder)("select", folder / "wines.csv", *arguments, "--save", folder / "m.skops")
    return folder / "m.skops"
