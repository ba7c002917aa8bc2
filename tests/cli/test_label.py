"""``landbridge label``: batches, answers, and what can be wrong with them."""

import json
import re
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from cli.conftest import CANDIDATES, Program, make_frame
from landbridge.cli.label import _history_table

QUESTION = ["-y", "good", "-d", "region", "-t", "west"]
OPTIONS = [*QUESTION, "--candidates", "few.yaml", "--folds", 2, "--batch", 5]


def complete():
    """The table with every label."""
    rng = np.random.default_rng(0)
    frame = make_frame()
    return frame.with_columns(pl.Series("good", rng.choice(["yes", "no"], frame.height)))


def fill(path, **changes):
    """Answer a batch at random, then change cells: name of the column → list of values."""
    frame = pl.read_csv(path, infer_schema=False)
    labels = np.random.default_rng(0).choice(["yes", "no"], frame.height)
    frame = frame.with_columns(pl.Series("good", labels))
    frame.with_columns(**{name: pl.Series(name, v) for name, v in changes.items()}).write_csv(path)
    return frame


@pytest.fixture
def asked(table, landbridge):
    landbridge("label", table, *OPTIONS)
    return table


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    """A batch that tests of wrong answers share; they never get as far as a search."""
    folder = tmp_path_factory.mktemp("label")
    make_frame().write_csv(folder / "wines.csv")
    (folder / "few.yaml").write_text(CANDIDATES)
    arguments = [*QUESTION, "--candidates", folder / "few.yaml", "--folds", 2, "--batch", 5]
    Program(folder)("label", folder / "wines.csv", *arguments, "-o", folder / "ask.csv")
    return folder, arguments


def test_a_batch_can_be_filled_in(asked, tmp_path):
    frame = pl.read_csv(tmp_path / "ask.csv", infer_schema=False)
    assert frame.columns[:3] == ["row", "good", "why"]
    assert {"size", "colour", "when"} <= set(frame.columns)
    assert frame["good"].null_count() == 5
    state = json.loads((tmp_path / "ask.json").read_text())
    assert len(state["planner"]["asked"]) == 5
    assert state["goal"] == "choose"


def test_answers_give_a_status_a_picture_and_the_next_batch(asked, landbridge, tmp_path):
    first = fill(tmp_path / "ask.csv")
    shown = landbridge("label", asked, *OPTIONS, "--answers", "ask.csv")
    assert "After 5 labels" in shown.stdout
    assert "95 % interval" in shown.stdout
    assert "After 5 labels" in (tmp_path / "ask.html").read_text()
    second = pl.read_csv(tmp_path / "ask.csv", infer_schema=False)
    assert second["good"].null_count() == 5
    assert not set(second["row"]) & set(first["row"])
    # Killed after the state was written: the same command writes the open batch again.
    (tmp_path / "ask.csv").unlink()
    again = landbridge.json("label", asked, *OPTIONS, "--level", 0.8)
    assert (again["n_labels"], again["level"]) == (5, 0.8)
    assert pl.read_csv(tmp_path / "ask.csv", infer_schema=False).equals(second)
    # The answers are labels of a search, weighted as they were chosen.
    few = [*QUESTION, "--candidates", "few.yaml", "--folds", 2, "--design", "ask.json"]
    found = landbridge.json("select", asked, *few)
    assert found["ranking"]["label_check"]["labelled"] == 25
    assert "were chosen with known probabilities" in found["verdict"][0]
    # Labels never go to other rows.
    pl.read_csv(asked, infer_schema=False).reverse().write_csv(tmp_path / "sorted.csv")
    assert "has changed or moved" in landbridge("select", "sorted.csv", *few, code=2).stderr
    dropped = landbridge("select", "sorted.csv", *few, "--drop", "noise")
    assert "it is not checked that the table is the one" in dropped.stderr
    # Answers that are known already change nothing, however the file is written.
    text = first.write_csv(separator=";", line_terminator="\r\n", quote_style="always")
    (tmp_path / "old.csv").write_text(f"\ufeff{text}\r\n")
    assert landbridge.json("label", asked, *OPTIONS, "--answers", "old.csv")["n_labels"] == 5


def test_labels_that_were_copied_into_the_table_change_nothing(asked, landbridge, tmp_path):
    answers = fill(tmp_path / "ask.csv")
    whole = pl.read_csv(asked, infer_schema=False).with_row_index("n", offset=1)
    known = dict(zip(answers["row"], answers["good"], strict=True))
    labels = [known.get(f"row {n}", y) for n, y in zip(whole["n"], whole["good"], strict=True)]
    whole.drop("n").with_columns(pl.Series("good", labels)).write_csv(asked)
    assert landbridge.json("label", asked, *OPTIONS, "--answers", "ask.csv")["n_labels"] == 5


@pytest.mark.parametrize("goal", ["prove", "measure", "train"])
def test_goals(table, landbridge, tmp_path, goal):
    landbridge("label", table, *OPTIONS, "--goal", goal)
    n = fill(tmp_path / "ask.csv").height
    fill(tmp_path / "ask.csv", good=["yes"] * (n - 1) + [None])
    done = landbridge("label", table, *OPTIONS, "--goal", goal, "--answers", "ask.csv")
    assert f"{n - 1} label" in done.stdout
    page = (tmp_path / "ask.html").read_text()
    (last,) = re.findall(r'<tr class="chosen">.*', page)
    assert f">{n - 1}</td>" in last
    assert ("e-value</th>" in page) is (goal == "prove")
    assert "1 row has no label" in done.stderr


@pytest.mark.parametrize(("goal", "zero"), [("prove", 0.0), ("choose", None)])
def test_the_history_has_a_graph(goal, zero):
    status = {"goal": goal, "score": "accuracy", "e_value": 2.0, "n_labels": 9}
    found = [SimpleNamespace(**status, estimate=x, low=0.1, high=0.9) for x in (np.nan, 0.4)]
    table = _history_table(found)
    titles = ["labels", "accuracy", "low", "high", *(["e-value"] if goal == "prove" else [])]
    assert [column.title for column in table.columns] == titles
    graph = table.columns[1].graph
    assert (graph.zero, table.chosen) == (zero, 1)
    assert ("<circle" in graph.row(0), "<circle" in graph.row(1)) == (False, True)


def test_models_that_agree_leave_nothing_to_label(table, landbridge):
    roles = ("SourceOnly", "TargetOnly", "Pooled")
    kinds = {
        role: {"estimator": role, "params": {"estimator": "DummyClassifier"}} for role in roles
    }
    (landbridge.folder / "few.yaml").write_text(json.dumps(kinds))
    shown = landbridge("label", table, *OPTIONS, "--goal", "prove").stdout
    assert "nothing to label" in shown
    assert "agree on all unlabelled rows" in " ".join(shown.split())


def test_labels_of_a_proof_are_no_sample(table, landbridge, tmp_path):
    landbridge("label", table, *OPTIONS, "--goal", "prove")
    n = fill(tmp_path / "ask.csv").height
    landbridge("label", table, *OPTIONS, "--goal", "prove", "--answers", "ask.csv")
    few = [*QUESTION, "--candidates", "few.yaml", "--folds", 2, "--design", "ask.json"]
    found = landbridge.json("select", table, *few)
    check = found["ranking"]["label_check"]
    assert (check["labelled"], check["withheld"]) == (20 + n, True)
    words = f"{n} of the {20 + n} labelled target rows were chosen because two models disagree"
    assert words in found["verdict"][0]
    assert found["ranking"]["interval"]["withheld"]


def test_numbers(landbridge, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    frame = pl.DataFrame(
        {
            "x": x,
            "region": ["a"] * 60 + ["b"] * 60,
            # Whole numbers, which would be classes without --task.
            "y": [*np.round(3 * x[:60]).tolist(), *[None] * 60],
        }
    )
    frame.write_csv("numbers.csv")
    question = ["-y", "y", "-d", "region", "-t", "b", "--task", "regression", "--folds", 2]
    question += ["--goal", "measure", "--batch", 6]
    landbridge("label", "numbers.csv", *question)
    batch = pl.read_csv("ask.csv", infer_schema=False)
    batch.with_columns(pl.col("x").alias("y")).write_csv("ask.csv")
    found = landbridge.json("label", "numbers.csv", *question, "--answers", "ask.csv")
    assert found["score"] == "RMSE"
    for text in ("many", "inf", "1,234", "1_000"):
        batch.with_columns(pl.lit(text).alias("y")).write_csv("ask.csv")
        failed = landbridge("label", "numbers.csv", *question, "--answers", "ask.csv", code=2)
        assert "labels must be finite numbers, written as in the table; row " in failed.stderr


def wrong(batch, change):
    """The message about answers that ``change`` has made wrong."""
    folder, arguments = batch
    frame = pl.read_csv(folder / "ask.csv", infer_schema=False)
    change(frame.with_columns(pl.lit("yes").alias("good"))).write_csv(folder / "wrong.csv")
    done = Program(folder)(
        "label", folder / "wines.csv", *arguments,
        "-o", folder / "ask.csv", "--answers", folder / "wrong.csv", code=2,
    )  # fmt: skip
    return done.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda f: f.with_columns(pl.lit("yess").alias("good")),
            "one of the classes 'no', 'yes'; row",
        ),
        (lambda f: f.with_columns(pl.lit(None).alias("good")), "must hold labels; it is empty"),
        (lambda f: f.vstack(f[:1]), "occurs twice"),
        (lambda f: f[1:], "all 5 lines must be kept; 'row"),
        (lambda f: f[:0], "must have rows below its header"),
        (lambda f: f.with_columns(pl.lit("row 99999").alias("row")), "asked for; got 'row 99999'"),
        (lambda f: f.drop("good"), "must have the column 'good'"),
        (lambda f: f.with_columns(pl.lit("mauve").alias("colour")), "has 'mauve' in 'colour'"),
    ],
)
def test_wrong_answers(batch, change, words):
    assert words in wrong(batch, change)
    state = json.loads((batch[0] / "ask.json").read_text())
    assert all(row["label"] is None for row in state["planner"]["asked"])


def test_wrong_files_and_options(batch, tmp_path):
    folder, arguments = batch
    program, table = Program(folder), folder / "wines.csv"

    def message(*options):
        return program("label", table, *arguments, *options, code=2).stderr

    output = ["-o", folder / "ask.csv"]
    assert "must be 'choose' as in the batches before" in message(*output, "--goal", "prove")
    assert "no such file" in message(*output, "--answers", folder / "nothing.csv")
    assert "no such state file, which --answers requires" in message(
        "-o", tmp_path / "new.csv", "--answers", folder / "ask.csv"
    )
    (tmp_path / "a.json").write_text("{}")
    assert "got another file" in message(*output, "--state", tmp_path / "a.json")
    (tmp_path / "a.json").write_text("{")
    assert "it cannot be read" in message(*output, "--state", tmp_path / "a.json")
    design = ["select", table, *QUESTION, "--design"]
    refused = program(*design, tmp_path / "none.json", code=2).stderr
    assert "must be a file that `landbridge label` wrote" in refused
    state = json.loads((folder / "ask.json").read_text())
    (tmp_path / "a.json").write_text(json.dumps({**state, "target": "east"}))
    refused = program(*design, tmp_path / "a.json", code=2).stderr
    assert "--target must be 'east' as in the state" in refused
    for rows in ({}, [], {str(one["row"]): {} for one in state["planner"]["asked"]}):
        (tmp_path / "a.json").write_text(json.dumps({**state, "rows": rows}))
        assert "the state must describe" in message(*output, "--state", tmp_path / "a.json")
    for columns in (None, 3):
        (tmp_path / "a.json").write_text(json.dumps({**state, "columns": columns}))
        assert "the state must describe" in message(*output, "--state", tmp_path / "a.json")
    state["planner"]["asked"][0]["label"] = 0
    state["rows"][str(state["planner"]["asked"][0]["row"])]["name"] = "row 99999"
    (tmp_path / "a.json").write_text(json.dumps(state))
    assert "row 99999 is missing" in program(*design, tmp_path / "a.json", code=2).stderr
    (tmp_path / "bad.csv").write_bytes(b'row,good\n"1,\xff\n')
    assert "must be text in UTF-8" in message(*output, "--answers", tmp_path / "bad.csv")
    table = tmp_path / "moved.csv"
    make_frame(seed=1).write_csv(table)
    assert "has changed, moved or been removed" in message(*output)
    complete().write_csv(table)
    assert "must have unlabelled rows" in message("-o", tmp_path / "new.csv")
