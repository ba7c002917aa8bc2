"""The commands, run in this process: what they answer, and what they say about mistakes."""

import json
import os
import re
import shutil
import sys
import zipfile
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import xlsxwriter
from typer.testing import CliRunner

from landbridge.cli import _session, main
from landbridge.cli._options import app
from landbridge.inference.intervals import format_number
from landbridge.persistence import CARD, load_card, load_model, seal_of

from .conftest import CANDIDATES, Program, make_frame

QUESTION = ("--label", "good", "--domain", "region", "--target", "west")
SELECT = (*QUESTION, "--candidates", "few.yaml", "--folds", "3")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with the results, the reports and the model of one search."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for module in ("_domain_auc", "loss_split"):
            patch.setattr(f"landbridge.inspection.{module}.N_TREES", 20)
        make_frame().write_csv("wines.csv")
        Path("few.yaml").write_text(CANDIDATES)
        program, asked = Program(folder), ("select", "wines.csv", *SELECT, "--resume", "fits")
        written = ("--save", "m.skops", "--results", "r.npz", "--report", "r.html")
        Path("out.json").write_text(program(*asked, *written, "--format", "json").stdout)
        program(*asked, "--results", "r.json", "--report", "first.html")
    return folder


@pytest.fixture
def after_select(landbridge, finished):
    """The program in a folder with the files of a finished search."""
    shutil.copytree(finished, landbridge.folder, dirs_exist_ok=True)
    return landbridge


def test_select_ranks_saves_and_explains(after_select):
    landbridge = after_select
    found = json.loads((landbridge.folder / "out.json").read_text())
    ranking = found["ranking"]["candidates"]
    assert [row["rank"] for row in ranking] == list(range(1, len(ranking) + 1))
    scores = [row["score"] for row in ranking[1:]]
    assert scores == sorted(scores, reverse=True)
    assert all(row["low"] <= row["score"] <= row["high"] for row in ranking)
    assert {row["source"] for row in ranking} == {"north", "south", "all sources", None}
    roles = {row["role"] for row in ranking}
    assert {"vote", "source-only", "target-only", "pooled", "baseline"} <= roles
    assert sum(row["role"] == "target-only" for row in ranking) == 1
    assert found["verdict"][0].startswith("Predict west with the vote of ")
    classes = found["ranking"]["classes"]
    assert classes["names"] == ["no", "yes"]
    assert np.shape(classes["confusion"]) == (2, 2)
    assert {check["state"] for check in found["checks"]} <= {"ok", "caution", "problem"}
    card = load_card("m.skops")
    assert card["score"] == ranking[0]["score"]
    assert [m["name"] for m in card["members"]] == [
        m["name"] for m in found["ranking"]["vote"]["members"]
    ]
    assert card["classes"] == ["no", "yes"]
    assert [column["name"] for column in card["columns"]] == make_frame().columns[:5]
    page = (landbridge.folder / "r.html").read_text()
    assert found["verdict"][0].split(" (")[0] in page
    landbridge("report", "r.npz", "-o", "again.md")
    assert "## Ranking" in (landbridge.folder / "again.md").read_text()


def test_the_same_seed_gives_the_same_answer(landbridge, table):
    answers = [
        landbridge.json("select", table, *SELECT, "--seed", 3, "--jobs", jobs)["ranking"]
        for jobs in (1, 2)
    ]
    for answer in answers:
        for row in answer["candidates"]:
            del row["seconds"]
    assert answers[0] == answers[1]


def test_the_table_for_people_holds_the_numbers_of_the_json(landbridge, table):
    shown = landbridge("select", table, *SELECT).stdout
    first = landbridge.json("select", table, *SELECT)["ranking"]["candidates"][0]
    line = next(line for line in shown.splitlines() if line.split()[:1] == ["1"])
    assert first["name"] in line
    assert format_number(first["score"]) in line


def test_notes_go_to_standard_error_only(landbridge, table):
    done = landbridge("select", table, *SELECT, "--format", "json")
    json.loads(done.stdout)
    assert "classification task" in done.stderr


def test_a_target_without_labels_is_ranked_with_a_problem_check(landbridge, table):
    frame = make_frame().with_columns(
        pl.when(pl.col("region") == "west").then(None).otherwise(pl.col("good")).alias("good")
    )
    frame.write_csv(table)
    few = ("--folds", 2, "--candidates", "few.yaml", "--save", "m.skops")
    found = landbridge.json("select", table, *QUESTION, *few)
    assert found["ranking"]["criterion"]["name"] == "trcv"
    shown = landbridge("info", "m.skops").stdout
    assert "expected on the target: unknown: no target row with a label was used" in shown
    states = {check["name"]: check["state"] for check in found["checks"]}
    assert states["Target labels"] == "problem"
    failed = landbridge("select", table, *SELECT, "--criterion", "tlv", code=2)
    assert "at least 2 labelled target rows" in failed.stderr
    assert "No labelled row of west was used" in found["verdict"][0]


def test_regression_is_found_from_the_label(landbridge, table):
    make_frame().with_columns(pl.col("noise").alias("good")).write_csv(table)
    (landbridge.folder / "few.yaml").write_text("ridge: Ridge\n")
    found = landbridge.json("select", table, *SELECT)
    assert found["ranking"]["score"] == "RMSE"
    assert found["ranking"]["other_scores"] == ["MAE", "R²"]
    assert all(row["low"] >= 0 for row in found["ranking"]["candidates"])


def test_metrics_are_asked_for_by_name_and_the_first_selects(landbridge, table):
    found = landbridge.json("select", table, *SELECT, "--metric", "roc_auc", "--metric", "f1_macro")
    ranking = found["ranking"]
    assert (ranking["score"], ranking["other_scores"][0][:2]) == ("ROC AUC", "F1")
    assert "ROC AUC" in found["verdict"][0]
    failed = landbridge("select", table, *SELECT, "--metric", "luck", code=2)
    assert "luck" in failed.stderr


def test_the_card_names_the_sources_that_were_trained_on(landbridge, table):
    (landbridge.folder / "few.yaml").write_text("nb: GaussianNB\n")
    options = ("--sources", "each", "--answer", "best", "--save", "one.skops")
    best = landbridge.json("select", table, *SELECT, *options)["ranking"]["candidates"][0]
    expected = [] if best["source"] is None else [best["source"]]
    assert load_card("one.skops")["sources"] == expected
    assert set(load_card("one.skops")["rows"]) - {"west (labelled)", "west (unlabelled)"} == set(
        expected
    )


def test_several_files_are_domains(landbridge, table):
    frame = make_frame()
    for name in ("north", "south", "west"):
        frame.filter(pl.col("region") == name).drop("region").write_parquet(f"{name}.parquet")
    files = [f"{name}={name}.parquet" for name in ("north", "south", "west")]
    one = landbridge.json("select", table, *SELECT)["ranking"]["candidates"]
    several = landbridge.json("select", *files, "--label", "good", "--target", "west", *SELECT[6:])[
        "ranking"
    ]["candidates"]
    assert [row["score"] for row in one] == [row["score"] for row in several]


def test_evaluate_reports_every_domain_and_three_intervals(landbridge, table):
    found = landbridge.json("evaluate", table, "--label", "good", "--domain", "region")
    assert [row["source"] for row in found["per_source"]] == ["north", "south", "west"]
    assert [row["question"] for row in found["intervals"]] == [
        "one new source",
        "all sources of this kind",
        "these sources",
        "one new source, balanced accuracy",
    ]
    mean = np.mean([row["mean"] for row in found["per_source"]])
    assert found["intervals"][0]["estimate"] == pytest.approx(mean)
    widths = [row["high"] - row["low"] for row in found["intervals"]]
    assert widths[0] >= widths[1]
    named = landbridge.json(
        "evaluate", table, "--label", "good", "--domain", "region", "--model", "GaussianNB"
    )
    assert named["per_source"] != found["per_source"]


def test_evaluate_with_metrics_beside_a_constant_guess(landbridge, table):
    asked = ("evaluate", table, "--label", "good", "--domain", "region")
    found = landbridge.json(*asked, "--metric", "roc_auc", "--metric", "f1")
    assert found["metric"] == "ROC AUC"
    assert found["other_metrics"][0].startswith("F1")
    assert all(row["baseline"] == pytest.approx(0.5) for row in found["per_source"])
    assert all(len(row["other_metrics"]) == 1 for row in found["per_source"])
    assert "source's own majority class" in found["words"][1]
    shown = landbridge(*asked, "--metric", "roc_auc").stdout
    assert "constant guess" in shown
    assert "ROC AUC" in shown
    assert "--metric must be the name" in landbridge(*asked, "--metric", "auc", code=2).stderr
    numbers = landbridge.json("evaluate", table, "--label", "noise", "--domain", "region")
    assert numbers["metric"] == "RMSE"
    assert numbers["other_metrics"] == ["MAE", "R²"]


def test_features_name_the_one_that_matters(landbridge, table):
    shown = landbridge.json(
        "features", table, "--label", "good", "--domain", "region", "--number", 1
    )
    assert shown["picked"][0]["feature"] == "size"
    assert shown["domains"] == ["north", "south", "west"]
    assert len(shown["picked"][0]["effects"]) == 3


def test_features_of_several_classes_need_the_class_that_is_meant(landbridge, table):
    asked = ("features", table, "--label", "colour", "--domain", "region", "--drop", "remark")
    assert "--positive red" in landbridge(*asked, code=2).stderr
    wrong = landbridge(*asked, "--positive", "rose", code=2)
    assert "Did you mean 'rosé'" in wrong.stderr
    landbridge(*asked, "--positive", "rosé", "--number", 1)


def test_predict_takes_raw_rows_in_any_order(landbridge, table, model):
    new = make_frame(seed=1).drop("region", "good")
    new.select(reversed(new.columns)).write_csv("new.csv")
    done = landbridge("predict", model, "new.csv", "-o", "out.csv", "--keep", "remark")
    assert "Warning" not in done.stderr
    out = pl.read_csv("out.csv")
    assert out.columns == ["remark", "prediction", "score_no", "score_yes", "columns_outside"]
    assert (out["score_no"] + out["score_yes"]).to_numpy() == pytest.approx(np.ones(out.height))
    saved = load_model(model).model
    assert out["prediction"].to_list() == saved.predict(new).tolist()
    assert landbridge("predict", model, "new.csv").stdout.splitlines()[0].startswith("prediction,")
    rows = landbridge.json("predict", model, "new.csv")
    assert rows[0]["prediction"] == out["prediction"][0]
    told = landbridge.json("predict", model, "new.csv", "-o", "out.parquet")
    assert told["rows"] == out.height


def test_predict_warns_about_rows_unlike_training(landbridge, table, model):
    new = make_frame(seed=1).with_columns(
        pl.lit(99.5).alias("size"), pl.lit("green").alias("colour"), pl.lit(1).alias("extra")
    )
    new.with_columns(pl.lit(date(2030, 1, 1)).alias("when")).write_csv("new.csv")
    done = landbridge("predict", model, "new.csv", "-o", "out.tsv")
    assert "size: 120 of 120 rows lie outside" in done.stderr
    assert "hold a new value: 'green'" in done.stderr
    assert "ignored columns that the model does not know: extra" in done.stderr
    out = pl.read_csv("out.tsv", separator="\t")
    assert out["columns_outside"].min() >= 3


def test_predict_refuses_tables_that_do_not_fit(landbridge, table, model):
    make_frame().drop("size").write_csv("new.csv")
    assert "'size' is missing" in landbridge("predict", model, "new.csv", code=2).stderr
    make_frame().with_columns(pl.lit("big").alias("size")).write_csv("new.csv")
    assert "must hold numbers" in landbridge("predict", model, "new.csv", code=2).stderr
    assert "must end in" in landbridge("predict", model, table, "-o", "x.txt", code=2).stderr
    (landbridge.folder / "cut.skops").write_bytes(model.read_bytes()[:500])
    assert "damaged" in landbridge("predict", "cut.skops", table, code=2).stderr


def test_info_tells_what_the_model_is(landbridge, table, model):
    shown = landbridge("info", model).stdout
    assert "predicts: good (classification)" in shown
    heaviest = load_card(model)["members"][0]
    assert f"{heaviest['name']} {100 * heaviest['weight']:.0f} %" in shown
    assert "95 % interval" in shown
    assert "red, rosé, white" in shown
    assert landbridge.json("info", model)["target"] == "west"


def test_report_is_rebuilt_from_saved_results(after_select):
    landbridge = after_select
    landbridge("report", "r.json", "-o", "second.html")
    first, second = (
        (landbridge.folder / name).read_text() for name in ("first.html", "second.html")
    )
    assert first == second
    for content, message in [
        ("[]", "not a landbridge results file."),
        ("{", "not a landbridge results file: "),
        ('{"kind": "landbridge report", "format": 99}', "must have format 2; got format 99"),
    ]:
        (landbridge.folder / "bad.json").write_text(content)
        assert message in landbridge("report", "bad.json", "-o", "x.html", code=2).stderr
    assert "no such file" in landbridge("report", "no.json", "-o", "x.html", code=2).stderr
    assert "must end in" in landbridge("report", "r.json", "-o", "x.pdf", code=2).stderr


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (None, ("--label", "god"), "--label must name a column.*Did you mean 'good'"),
        (None, ("--domain", "Region "), "--domain must name a column.*Did you mean 'region'"),
        (None, ("--target", "East"), "--target must be one of the names in 'region'.*'north'"),
        (None, ("--exclude", "est"), "--exclude must be one of the names"),
        (None, ("--drop", "siz"), "--drop must name a column"),
        (None, ("--text", "siz"), "--text must name a column.*Did you mean 'size'"),
        (pl.lit("yes").alias("good"), (), "labels must differ between rows; got 'yes'"),
        (pl.lit(None).alias("good"), (), "source must have labels; got none"),
        (pl.lit("west").alias("region"), (), "source besides the target"),
        (
            pl.when(pl.int_range(pl.len()) == 0).then(None).otherwise("region").alias("region"),
            (),
            "Every row must name its domain; 'region' is empty in 1 rows",
        ),
        (
            pl.when(pl.int_range(pl.len()) == 0)
            .then(pl.lit("island"))
            .otherwise("region")
            .alias("region"),
            (),
            "at least 2 rows; 'island' has 1. Leave it out with --exclude island",
        ),
        (
            pl.when(pl.int_range(pl.len()) < 2)
            .then(pl.lit("island"))
            .otherwise("region")
            .alias("region"),
            (),
            "at least 3 labelled rows; 'island' has 2",
        ),
        (None, ("--task", "regression"), "must have numbers as labels; 'good' holds 'no'"),
        (None, ("--save", "."), "must be a file; got a directory"),
        (None, ("--report", "nowhere/r.html"), "the folder nowhere must exist"),
        (None, ("--report", "r.pdf"), "must end in .html"),
        (None, ("--results", "r.txt"), "must end in .json, .npz"),
        (None, ("--save", "model.pkl"), "model.pkl: the name must end in .skops"),
        (None, ("--label", "region"), "--label and --domain must be two columns; got 'region'"),
        (None, ("--drop", "good"), "--drop must name a feature; got 'good', the label or"),
        (None, ("--label", "noise"), "nb must be a regressor, because this is a regression task"),
        (
            pl.col("region").replace("south", "pooled"),
            (),
            "must not contain 'pooled' with sources='both'.*Rename the group",
        ),
    ],
)
def test_wrong_input_is_named_and_ends_with_2(landbridge, table, change, arguments, message):
    if change is not None:
        make_frame().with_columns(change).write_csv(table)
    done = landbridge("select", table, *SELECT, *arguments, code=2)
    words = " ".join(done.stderr.split())
    assert re.search(message, words), words
    assert "Traceback" not in words


def test_labels_and_columns_of_kinds_that_cannot_be_learnt(landbridge, table):
    made = make_frame().with_columns(pl.Series("pairs", [[1, 2]] * 120))
    made.write_parquet("wines.parquet")
    words = landbridge("select", "wines.parquet", *SELECT, code=2).stderr
    assert "'pairs' hold lists, records or bytes. Leave them out with --drop pairs" in words
    landbridge("select", "wines.parquet", *SELECT, "--drop", "pairs")
    done = landbridge("select", table, *SELECT, "--label", "when", code=2)
    assert "--label must hold numbers, text or true and false; 'when' holds dates" in done.stderr


def test_a_level_is_for_results_that_hold_losses(after_select):
    landbridge = after_select
    for level, words in ((0.5, "50 % interval "), (None, "95 % interval ")):
        asked = () if level is None else ("--level", level)
        landbridge("report", "r.npz", "-o", "r.md", *asked)
        assert words in (landbridge.folder / "r.md").read_text()
    done = landbridge("report", "r.json", "-o", "r.md", "--level", 0.5, code=2)
    assert "--level requires a .npz file with predictions" in done.stderr


def test_no_jobs_are_refused(landbridge, table):
    assert "got 0. Pass 1" in landbridge("select", table, *SELECT, "--jobs", 0, code=2).stderr


def test_only_label_and_domain_columns_leave_nothing_to_learn_from(landbridge, table):
    make_frame().select("region", "good").write_csv(table)
    assert "columns to learn from" in landbridge("select", table, *SELECT, code=2).stderr


def test_an_excluded_domain_is_left_out(landbridge, table):
    found = landbridge.json("select", table, *SELECT, "--exclude", "south")
    assert {row["source"] for row in found["ranking"]["candidates"]} == {"north", None}


def test_a_sample_is_announced_and_repeatable(landbridge, table):
    asked = ("select", table, *SELECT, "--max-rows", 20)
    done = landbridge(*asked)
    assert "north: 20 of 40 rows are used" in done.stderr
    assert [d["rows"] for d in landbridge.json(*asked)["data"]["domains"]] == [20, 20, 20]


def test_a_sample_takes_the_labels_first(landbridge, table):
    # 4 of 40 target rows have a label: a plain sample of 10 rows would keep about one.
    west = pl.col("region") == "west"
    few = pl.when(west & (pl.int_range(pl.len()) % 10 > 0)).then(None).otherwise("good")
    make_frame().with_columns(few.alias("good")).with_columns(
        pl.when(west & (pl.int_range(pl.len()) % 10 == 0))
        .then(pl.Series(["yes", "no"] * 60))
        .otherwise("good")
        .alias("good")
    ).write_csv(table)
    found = landbridge.json("select", table, *SELECT, "--max-rows", 10)
    domains = {d["name"]: d for d in found["data"]["domains"]}
    assert [d["rows"] for d in domains.values()] == [10, 10, 10]
    assert domains["west"]["labelled"] == 4


def test_files_that_are_read_are_never_overwritten(landbridge, table, model):
    Path("rows").mkdir()
    make_frame().write_parquet("rows/1.parquet")
    Path("ask.json").write_text("{}")
    for command, output, path in (
        (("predict", model, table), "--output", table),
        (("predict", model, "rows"), "--output", "rows/1.parquet"),
        (("label", table, *SELECT), "--output", table),
        (("select", table, *SELECT, "--design", "ask.json"), "--results", "ask.json"),
    ):
        before = Path(path).read_bytes()
        done = landbridge(*command, output, path, code=2)
        assert f"{output} must not be a file that is read; got" in done.stderr
        assert Path(path).read_bytes() == before
    done = landbridge("select", table, *SELECT, "--report", "r.json", "--results", "r.json", code=2)
    assert "--report and --results must be two files; got r.json for both" in done.stderr


def test_evaluate_says_which_models_do_not_fit_the_task(landbridge, table):
    question = ("--domain", "region", "--label")
    done = landbridge("evaluate", table, *question, "noise", "--model", "GaussianNB", code=2)
    assert "--model must be a regressor, because this is a regression task" in done.stderr
    done = landbridge("evaluate", table, *question, "good", "--model", "Ridge", code=2)
    assert "--model must be a classifier" in done.stderr
    done = landbridge("evaluate", table, *question, "good", "--model", "SourceOnly", code=2)
    assert "SourceOnly cannot be made" in done.stderr


@pytest.mark.parametrize(
    ("criterion", "verdict", "pairs"),
    [
        ("stv", "alone has accuracy", "From stv alone"),
        ("scv", "No labelled row of west was used", "From scv alone"),
        ("rv", "No labelled row of west was used", "From rv alone"),
    ],
)
def test_words_say_what_the_criterion_measured(landbridge, table, criterion, verdict, pairs):
    found = landbridge.json("select", table, *SELECT, "--criterion", criterion)
    assert verdict in found["verdict"][0]
    assert pairs in found["ranking"]["pairwise"]["words"]
    assert found["ranking"]["interval"]["words"].startswith(
        "Intervals are withheld, because no model was validated"
    )


def test_a_read_only_folder_and_a_full_disk_are_named(landbridge, table, monkeypatch):
    monkeypatch.setattr(os, "access", lambda _path, mode: mode != os.W_OK)
    assert "read-only" in landbridge("select", table, *SELECT, "--save", "m.skops", code=2).stderr
    monkeypatch.undo()
    monkeypatch.chdir(landbridge.folder)

    def full(*_args):
        raise OSError(28, "No space left on device", "m.skops")

    monkeypatch.setattr(os, "replace", full)
    done = landbridge("select", table, *SELECT, "--save", "m.skops", code=2)
    assert "No space left on device" in done.stderr
    assert not [file for file in landbridge.folder.iterdir() if "skops" in file.name]


def test_ctrl_c_leaves_no_file_behind(landbridge, table, monkeypatch):
    def stop(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", stop)
    done = landbridge("select", table, *SELECT, "--save", "m.skops", code=130)
    assert "stopped" in done.stderr
    assert not [file for file in landbridge.folder.iterdir() if "skops" in file.name]


def test_the_unexpected_ends_with_1_and_debug_shows_where(landbridge, table, monkeypatch):
    def fail(*_args, **_options):
        raise RuntimeError("a bug")

    monkeypatch.setattr("landbridge.cli._tables.read_table", fail)
    monkeypatch.setattr("landbridge.cli._problem.read_data", fail)
    done = landbridge("select", table, *SELECT, code=1)
    assert "unexpected RuntimeError: a bug (--debug shows where)" in done.stderr
    assert "Traceback" in landbridge("select", table, *SELECT, "--debug", code=1).stderr


def test_wrong_usage_ends_with_2(landbridge, table):
    landbridge("select", table, code=2)
    landbridge("select", table, *SELECT, "--sources", "some", code=2)
    landbridge("nothing", code=2)
    assert "landbridge " in landbridge("--version").stdout


def test_errors_of_other_packages_are_unexpected():
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        np.zeros(3).reshape(2)
    assert not _session.is_users_mistake(caught.value)


def test_the_program_names_the_extra_when_typer_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match="landbridge\\[cli\\]"):
        main()


def test_an_interruption_that_nobody_caught_ends_with_130(monkeypatch):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr("landbridge.cli._options.app", interrupted)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 130


def test_diagnose_puts_the_nearest_source_first_and_names_what_moved(landbridge, table):
    asked = ("diagnose", table, "--domain", "region", "--target", "west", "--drop", "remark")
    found = landbridge.json(*asked, "--drop", "good")
    distances = [source["auc"] for source in found["sources"]]
    assert distances == sorted(distances)
    north = next(source for source in found["sources"] if source["source"] == "north")
    assert max(north["features"], key=lambda f: f["distance"])["name"] == "size"
    assert 0 < north["effective_share"] <= 1
    labelled = " ".join(landbridge(*asked, "--label", "good").stdout.split())
    assert "The labels" in labelled
    assert "north → west" in labelled


def test_cautions_name_options_instead_of_parameters():
    assert _session._caution("Label more rows, or lower `cv`.") == (
        "Label more rows, or lower --folds."
    )


def test_a_tiny_target_does_not_cost_the_report(landbridge, table):
    """Three target rows with one label: the search stands, the report says what it lacks."""
    frame = make_frame()
    tiny = frame.filter(pl.col("region") == "west").head(3)
    pl.concat([frame.filter(pl.col("region") != "west"), tiny]).write_csv(table)
    done = landbridge("select", table, *SELECT, "--report", "r.html", "--format", "json")
    assert "sources; with fewer than 5" not in done.stderr  # a check says so
    assert "two domains" not in done.stderr  # there is no part about features
    found = json.loads(done.stdout)
    assert found["shift"] is found["features"] is None
    assert any("no part about shift" in check["text"] for check in found["checks"])
    assert [row["source"] for row in found["sources"]["per_source"]] == ["north", "south"]
    assert (landbridge.folder / "r.html").exists()


def test_features_need_a_column_that_varies_within_a_domain(landbridge, table):
    make_frame().select(
        "region", "good", x=pl.col("region").replace_strict({"north": 1, "south": 2, "west": 3})
    ).write_csv(table)
    done = landbridge("features", table, "-y", "good", "-d", "region", code=2)
    assert "must have a column that varies within a domain" in done.stderr


def test_words_about_features_are_those_of_their_effects(landbridge, table):
    asked = ("features", table, "--label", "good", "--domain", "region", "--drop", "remark")
    shown = landbridge.json(*asked, "--number", 3)
    same = sum(abs(np.sign(pick["effects"]).sum()) == 3 for pick in shown["picked"])
    assert f"the effect of {same} of them has the same sign in all 3 domains" in shown["words"][0]
    assert same < len(shown["picked"])


def test_features_speak_of_options_that_they_have(landbridge, table):
    asked = ("features", table, "--label", "good", "--domain", "region", "--drop", "remark")
    assert "--task" not in landbridge(*asked, "--number", 1).stderr
    assert "--number must be at most" in landbridge(*asked, "--number", 99, code=2).stderr
    alone = (*asked, "--exclude", "north", "--exclude", "south")
    assert (
        "--domain must name a column with at least two domains" in landbridge(*alone, code=2).stderr
    )


def coded_frame() -> pl.DataFrame:
    """A column of codes in which one code is not a number, and numbered domains and classes."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 12, size=120)
    frame = make_frame().with_columns(
        pl.Series("zip", ["X99" if k == 11 else f"{k:03d}" for k in codes]),
        pl.col("region").replace({"north": "001", "south": "1", "west": "003"}),
        pl.col("good").replace({"yes": "01", "no": "1"}),
    )
    return frame


def test_types_and_names_are_those_of_training(landbridge, table):
    coded_frame().write_csv(table)
    asked = ("--label", "good", "--domain", "region", "--target", "003", *SELECT[6:])
    done = landbridge("select", table, *asked, "--save", "m.skops")
    assert "'good' holds" in done.stderr
    assert "which are read as 2 different classes" in done.stderr
    card = load_card("m.skops")
    assert card["sources"] in (["001"], ["1"], ["001", "1"])
    assert card["classes"] == ["01", "1"]
    new = coded_frame()
    new.write_csv("all.csv")
    landbridge("predict", "m.skops", "all.csv", "-o", "all.parquet")
    rest = pl.read_parquet("all.parquet").filter(new["zip"] != "X99")
    assert set(rest["prediction"]) == {"01", "1"}
    new.filter(pl.col("zip") != "X99").write_csv("some.csv")
    done = landbridge("predict", "m.skops", "some.csv", "-o", "some.parquet")
    assert "caution" not in done.stderr
    some = pl.read_parquet("some.parquet")
    assert some["prediction"].equals(rest["prediction"])
    assert some["score_01"].to_numpy() == pytest.approx(rest["score_01"].to_numpy(), abs=1e-9)
    assert some["columns_outside"].sum() == 0


def test_stray_numbers_in_the_label_are_refused(landbridge, table):
    frame = make_frame().with_columns(
        pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("n.d.")).otherwise("noise").alias("good")
    )
    frame.write_csv(table)
    done = landbridge("select", table, *SELECT, code=2)
    assert "'good' holds numbers except for 'n.d.' in row 4. Leave those cells" in done.stderr
    frame.with_columns(good=pl.lit("1e200")).write_csv(table)
    done = landbridge("select", table, *SELECT, "--task", "regression", code=2)
    assert "'good' holds 1e+200" in done.stderr


def edit_card(path, **changes):
    """The model file with parts of its card replaced; None removes a part."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    card = json.loads(members[CARD]) | changes
    members[CARD] = json.dumps({k: v for k, v in card.items() if v is not None}).encode()
    with zipfile.ZipFile("edited.skops", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.comment = seal_of(archive)
    return "edited.skops"


@pytest.mark.parametrize(
    "columns",
    [3, [3], [{"name": 1}], [{"name": "size", "type": "thing", "missing": False}],
     [{"name": "size", "type": "number", "missing": False, "low": "a", "high": 2}],
     [{"name": "when", "type": "date", "missing": False, "low": "soon", "high": "late"}],
     [{"name": "size", "type": "text", "missing": False, "values": [1]}],
     [{"name": "size", "type": "text", "missing": False}] * 2],
)  # fmt: skip
def test_cards_that_were_edited_are_refused(landbridge, table, model, columns):
    for name in ("columns", "missing", "text"):
        done = landbridge("predict", edit_card(model, **{name: columns}), table, code=2)
        assert "the columns on its card must be as" in " ".join(done.stderr.split())


def test_columns_read_as_text_and_marks_are_the_same_in_new_rows(landbridge, table):
    rng = np.random.default_rng(0)
    made = make_frame().with_columns(pl.Series("code", rng.choice([1, 2, 3, -9], 120)))
    made.write_csv(table)
    landbridge("select", table, *SELECT, "--text", "code", "--missing", "-9", "--save", "c.skops")
    made.write_parquet("new.parquet")
    made.with_columns(pl.col("code").cast(pl.Float64)).write_parquet("floats.parquet")
    made.write_ndjson("new.jsonl")
    expected = landbridge.json("predict", "c.skops", table)
    for path in ("new.parquet", "floats.parquet", "new.jsonl"):
        assert landbridge.json("predict", "c.skops", path) == expected


def test_a_card_of_another_model_is_refused(landbridge, table, model):
    for columns in ([], load_card(model)["columns"][:2]):
        done = landbridge("predict", edit_card(model, columns=columns), table, code=2)
        assert "the model does not accept the columns named in its card" in done.stderr


@pytest.mark.parametrize("broken", [{}, {"model": None}])
def test_a_model_that_fails_or_predicts_nan_is_refused(
    landbridge, table, model, monkeypatch, broken
):
    def answer(rows):
        return np.full((len(rows), 2), broken["model"], dtype=float)  # KeyError, or NaN

    found = load_model(model)
    found.model[-1].predict_proba = answer
    monkeypatch.setattr("landbridge.cli.predict.load_model", lambda path: found)
    done = landbridge("predict", model, table, code=2)
    assert ("NaN or infinity for row 0" if broken else "KeyError: 'model'") in done.stderr


def test_info_refuses_cards_that_lack_a_part(landbridge, table, model):
    for name, value in (("score", None), ("interval", 3), ("rows", []), ("columns", [{}])):
        done = landbridge("info", edit_card(model, **{name: value}), code=2)
        assert "its card is damaged" in done.stderr


def test_predictions_keep_columns_as_they_are_written_and_quote_formulas(landbridge, table, model):
    made = make_frame(seed=1).with_columns(
        pl.Series("note", ["=1+1", "-5", "@x", "plain"] * 30), pl.lit("007").alias("=code")
    )
    made.write_csv("new.csv")
    asked = ("predict", model, "new.csv", "--keep", "note", "--keep", "=code", "--keep", "note")
    landbridge(*asked, "-o", "out.csv")
    out = pl.read_csv("out.csv", infer_schema=False)
    assert out.columns[:2] == ["note", "'=code"]
    assert out["note"][:4].to_list() == ["'=1+1", "-5", "'@x", "plain"]
    assert out["'=code"][0] == "007"
    landbridge(*asked, "-o", "raw.csv", "--raw")
    assert pl.read_csv("raw.csv", infer_schema=False)["note"][:2].to_list() == ["=1+1", "-5"]
    assert "'=1+1" in landbridge(*asked).stdout


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "xlsx"])
def test_kept_columns_are_not_read_as_missing(landbridge, model, suffix):
    words = ["NA", "null", "N/A", "NaN", "nan", "NULL", "-999", "x"]
    made = make_frame(seed=1).with_columns(
        pl.Series("^w.*$", words[::-1] * 15),  # polars reads such names as patterns
        word=pl.Series(words * 15),
        colour=pl.Series(["red", "NA"] * 60),
    )
    write = {"jsonl": "write_ndjson", "xlsx": "write_excel"}.get(suffix, f"write_{suffix}")
    getattr(made, write)(f"new.{suffix}")
    kept = ["word", "colour", "^w.*$"]
    asked = ("predict", model, f"new.{suffix}", *[part for k in kept for part in ("--keep", k)])
    landbridge(*asked, "-o", "out.parquet")
    out = pl.read_parquet("out.parquet")
    assert out[kept].equals(made[kept])
    # The model still reads a missing colour, which never happened in training.
    assert out["columns_outside"].to_list()[:2] == [0, 1]
    landbridge(*asked, "-o", "out.csv")
    text = pl.read_csv("out.csv", infer_schema=False)
    assert text[kept].equals(made[kept])
    assert [row["word"] for row in landbridge.json(*asked)] == made["word"].to_list()


def test_kept_columns_of_parquet_keep_their_types(landbridge, model):
    whole = pl.Series([2**40] * 120, dtype=pl.Int128)
    made = make_frame(seed=1).with_columns(
        price=pl.lit("1.10").cast(pl.Decimal(9, 2)),
        level=pl.Series([0.5, float("nan"), None] * 40),
        at=pl.datetime(2020, 1, 1, time_zone="Europe/Paris"),
        kind=pl.Series(["NA", "b"] * 60, dtype=pl.Categorical),
        wait=pl.duration(minutes=90),
        whole=whole,
    )
    made.write_parquet("new.parquet")
    kept = ["price", "level", "at", "kind", "wait", "whole"]
    asked = ("predict", model, "new.parquet", *[word for k in kept for word in ("--keep", k)])
    landbridge(*asked, "-o", "out.parquet")
    out = pl.read_parquet("out.parquet").select(kept)
    assert out.equals(made.select(kept).with_columns(whole.alias("whole").cast(pl.String)))
    landbridge(*asked, "-o", "out.csv")
    rows = pl.read_csv("out.csv", infer_schema=False).select(kept).rows()
    paris = "2020-01-01T00:00:00.000000+0100"
    assert rows[0] == ("1.10", "0.5", paris, "NA", "5400.0", str(2**40))
    assert rows[1][1] == "NaN"
    shown = landbridge.json(*asked)[1]
    assert shown["level"] is None
    assert shown["wait"] == 5400


def test_errors_of_a_spreadsheet_are_kept_as_written(landbridge, model):
    made = make_frame(seed=1).with_columns(pl.lit("x").alias("note"))
    with xlsxwriter.Workbook("new.xlsx") as book:
        made.write_excel(book, "s", autofit=False)
        sheet = book.get_worksheet_by_name("s")
        sheet.write_formula(2, made.columns.index("note"), "=NA()", None, "#N/A")
        sheet.write_formula(3, made.columns.index("size"), "=1/0", None, "#DIV/0!")
    done = landbridge(
        "predict", model, "new.xlsx", "--keep", "note", "--keep", "size", "-o", "o.csv"
    )
    out = pl.read_csv("o.csv", infer_schema=False)
    assert out["note"].to_list()[:3] == ["x", "#N/A", "x"]
    assert out["size"][2] == "#DIV/0!"
    assert (
        "'note': 1 cell is an error of a formula and read as missing: '#N/A' in row 2"
        in done.stderr
    )


def test_columns_of_the_answer_cannot_be_kept(landbridge, table, model):
    make_frame(seed=1).with_columns(prediction=1).write_csv("new.csv")
    done = landbridge("predict", model, "new.csv", "--keep", "prediction", code=2)
    assert "--keep must not name an output column; got 'prediction'" in done.stderr


@pytest.mark.parametrize("cell", [[1.0, float("nan")], {"a": 1}, b"\xff"], ids=repr)
def test_lists_and_bytes_are_kept_in_parquet_only(landbridge, model, cell):
    make_frame(seed=1).with_columns(pl.Series("k", [cell] * 120)).write_parquet("new.parquet")
    asked = ("predict", model, "new.parquet", "--keep", "k")
    for more in ((), ("--format", "json"), ("-o", "o.csv")):
        done = landbridge(*asked, *more, code=2)
        assert "--keep must name columns with one value per cell; 'k' holds lists" in done.stderr
    landbridge(*asked, "-o", "o.parquet")
    assert str(pl.read_parquet("o.parquet")["k"].to_list()[0]) == str(cell)


def test_names_cannot_steer_the_terminal(landbridge, table):
    frame = make_frame().with_columns(pl.col("region").replace("south", "so\x1b[2Juth\u202e"))
    frame.write_csv(table)
    done = landbridge("select", table, *SELECT)
    assert "so\\x1b[2Juth\\u202e" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    done = landbridge("select", table, *SELECT, "--target", "\x1b[31m", code=2)
    assert "\x1b" not in done.stderr


def test_seeds_that_no_generator_takes_are_refused(landbridge, table):
    done = landbridge("select", table, *SELECT, "--seed", 2**32, code=2)
    assert "4294967295" in done.stderr


def test_results_that_lack_a_part_are_refused(after_select):
    landbridge = after_select
    whole = json.loads((landbridge.folder / "r.json").read_text())
    for name in whole:
        if name in ("kind", "format"):
            continue
        for edited in ({k: v for k, v in whole.items() if k != name}, whole | {name: 3}):
            (landbridge.folder / "bad.json").write_text(json.dumps(edited))
            process = CliRunner().invoke(app, ["report", "bad.json", "-o", "x.html"])
            assert process.exit_code in (0, 2), (name, process.stderr)
            assert process.exit_code == 0 or "the results are damaged" in process.stderr
    (landbridge.folder / "bad.json").write_text(json.dumps(whole | {"format": "x"}))
    assert (
        "must have format 2; got format"
        in landbridge("report", "bad.json", "-o", "x.html", code=2).stderr
    )
    done = landbridge("report", "r.json", "-o", "r.json", code=2)
    assert "--output must not be a file that is read; got r.json" in done.stderr
    circle = landbridge.folder / "circle.html"
    circle.symlink_to(circle.name)
    landbridge("report", "r.json", "-o", "circle.html")
    assert circle.read_text().startswith("<!doctype html>")
