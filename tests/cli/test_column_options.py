"""Columns before anything is fitted: identifiers, marks of missing values, groups and time."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, TimeSeriesSplit

from landbridge.cli._columns import warn_similar_names
from landbridge.cli._options import Select
from landbridge.cli._problem import find_task, read_problem
from landbridge.cli.diagnose import column_cautions
from landbridge.cli.select import folds_of
from landbridge.model_selection._sources import needs_groups

N = 60


def make_table(path, *, text=None):
    rng = np.random.default_rng(0)
    domain = np.repeat(["a", "b"], N)
    size = rng.normal(size=2 * N)
    label = (size + 0.5 * rng.normal(size=2 * N)).round(4).tolist()
    columns = {
        "number": [*range(N), *range(N)],
        "unit": ["kg"] * (2 * N),
        "patient": [f"p{k % 12}" for k in range(2 * N)],
        "day": [date(2020, 1, 1) + timedelta(int(k)) for k in rng.permutation(2 * N)],
        "size": ["?" if k % 15 == 0 else f"{v:.4f}" for k, v in enumerate(size)],
        "site": np.where(domain == "a", "x", "y"),
        "domain": domain,
        "label": [None if d == "b" and k % 2 else v for k, (d, v) in enumerate(zip(domain, label))],  # noqa: B905
    }
    pl.DataFrame(columns | (text or {})).write_csv(path)
    return path


@pytest.fixture
def ask(tmp_path):
    path = make_table(tmp_path / "table.csv")

    def read(group=None, time=None, **options):
        asked = Select(data=[str(path)], label="label", target="b", **options)
        notes = []
        options = {"target": "b", "task": asked.task, "group": group, "time": time}
        return read_problem(asked, notes.append, **options), notes

    return read


pytestmark = pytest.mark.filterwarnings("ignore:.*read as missing")


def test_identifiers_and_constants_are_left_out_and_named(ask):
    problem, notes = ask()
    assert problem.features.columns == ["patient", "day", "size", "site"]
    assert any("'number', 'unit'" in note and "--keep number" in note for note in notes)
    assert problem.row_names[0] == "number 0"
    kept, notes = ask(keep=["number", "unit"])
    assert kept.features.columns == ["number", "unit", "patient", "day", "size", "site"]
    assert not any("left out" in note for note in notes)


def test_an_identifier_by_name_is_no_feature_and_names_the_rows(ask):
    problem, _ = ask(id=["patient"])
    assert "patient" not in problem.features.columns
    assert problem.row_names[:2] == ["patient p0", "patient p1"]
    places, _ = ask(drop=["number"])
    assert places.row_names[:2] == ["row 1", "row 2"]


@pytest.mark.filterwarnings("error")
def test_marks_of_missing_values_are_empty_cells(ask):
    problem, _ = ask(missing=["?"])
    assert problem.features["size"].dtype == pl.Float64
    assert problem.features["size"].null_count() == 8


def test_cautions_say_what_to_do_and_end_when_it_is_done(ask):
    words = "\n".join(column_cautions(ask()[0]))
    assert "site: is constant within each domain" in words
    assert "patient: names groups of rows" in words
    assert "--group" in words
    assert "day: looks like a time" in words
    settled = "\n".join(column_cautions(ask(group="patient", time="day")[0]))
    assert "--group" not in settled
    assert "--time" not in settled


@pytest.mark.parametrize("command", ["evaluate", "features"])
def test_commands_that_split_no_domain_also_caution_about_columns(landbridge, tmp_path, command):
    path = make_table(tmp_path / "table.csv")
    said = landbridge(command, path, "--label", "label", "--domain", "domain").stderr
    assert "site: is constant within each domain" in said
    assert "--group" not in said
    assert "--time" not in said


def test_rows_go_in_the_order_of_time(ask):
    problem, _ = ask(time="day")
    assert isinstance(folds_of(problem, 4)["cv"], TimeSeriesSplit)
    given = problem.transfer_arguments()
    for part in ("X", "X_target", "X_unlabeled"):
        assert given[part]["day"].is_sorted()
    by_day = dict(zip(problem.features["day"], problem.labels, strict=True))
    assert given["y_target"].tolist() == [by_day[day] for day in given["X_target"]["day"]]


def test_times_are_shown_without_empty_fractions_of_seconds(ask, tmp_path):
    hours = [f"2020-01-{1 + k // 24:02d} {k % 24:02d}:00" for k in range(2 * N)]
    make_table(tmp_path / "table.csv", text={"hour": hours})
    assert ask(time="hour")[0].time_words(np.array([0])) == ["2020-01-01 00:00:00"]


def test_groups_stay_in_one_fold(ask):
    problem, _ = ask(group="patient")
    assert "patient" not in problem.features.columns
    assert isinstance(folds_of(problem, 5)["cv"], GroupKFold)
    given = problem.transfer_arguments()
    assert len(given["cv_groups"]) == len(given["X"])
    # Every second target row has a label: six of the twelve patients.
    assert folds_of(problem, 8)["cv_target"].get_n_splits() == 6
    classes, _ = ask(group="patient", task="classification")
    assert isinstance(folds_of(classes, 5)["cv"], StratifiedGroupKFold)


def test_with_times_and_groups_folds_train_on_the_past_of_other_groups(ask, tmp_path):
    weeks = [f"w{k // 7}" for k in range(N)] * 2
    make_table(tmp_path / "table.csv", text={"week": weeks, "step": [*range(N), *range(N)]})
    problem, _ = ask(group="week", time="step")
    given = problem.transfer_arguments()
    cv = folds_of(problem, 4)["cv"]
    assert needs_groups(cv)
    groups = given["cv_groups"]
    for train, test in cv.split(given["X"], groups=groups):
        assert train.max() < test.min()
        assert not set(groups[train]) & set(groups[test])
    with pytest.raises(ValueError, match="in 'b' every group with earlier rows .* Leave out --gro"):
        folds_of(ask(group="patient", time="day")[0], 4)


WRONG = {
    "--group must name a column": {"group": "nobody"},
    "--time must name a column": {"time": "never"},
    "--time must hold dates, times or numbers": {"time": "site"},
    "--id must name a feature": {"id": ["label"]},
    "--keep must name a column": {"keep": ["nothing"]},
    "--group must name a feature; got 'label'": {"group": "label"},
    "--time must name a feature; got 'domain'": {"time": "domain"},
    "--exclude must name a source; got the target 'b'": {"exclude": ["b"]},
    "--group must have a value in every row; 'size' is empty in row 1": {
        "group": "size",
        "missing": ["?"],
    },
}


@pytest.mark.parametrize("message", WRONG)
def test_columns_that_cannot_be_what_they_are_named_as(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(**WRONG[message])


@pytest.mark.parametrize("task", [None, "regression"])
@pytest.mark.parametrize(
    ("separator", "form", "words", "first"),
    [
        (",", "${:,}", "currency signs and thousands separators", 1000),
        (",", "{:,}", "thousands separators", 1000),
        (";", "{:,}", "a decimal comma", 1),
    ],
)
@pytest.mark.filterwarnings("ignore:.*'x' holds numbers")
def test_numbers_in_labels_are_read_like_those_in_features(
    tmp_path, separator, form, words, first, task
):
    cells = [form.format(1000 + 37 * k) for k in range(40)]
    frame = pl.DataFrame({"x": cells, "label": cells, "domain": ["a", "b"] * 20})
    frame.write_csv(tmp_path / "t.csv", separator=separator)
    asked = Select(data=[str(tmp_path / "t.csv")], label="label", target="b")
    with pytest.warns(UserWarning, match=f"^label: 'label' holds numbers with {words}"):
        problem = read_problem(asked, lambda note: None, target="b", task=task)
    assert problem.labels.to_list() == problem.features["x"].to_list()
    assert problem.labels[0] == first
    assert problem.read_labels(pl.Series(cells[:1])).to_list() == [first]


@pytest.mark.parametrize(
    ("labels", "task"),
    [
        (["$ a", "$ b"], "classification"),
        ([f"{k:03d}" for k in range(200)], "classification"),
        ([f"{k}" for k in range(200)], "regression"),
        (["0", "1", "?", "?"], "classification"),
    ],
)
def test_codes_and_marks_of_missing_labels_are_no_numbers(labels, task):
    labels = pl.Series("y", labels)
    numbers = labels.cast(float, strict=False)
    assert find_task(labels, numbers, None) == task
    if task == "regression":
        more = [pl.concat([column, column.clear(200)]) for column in (labels, numbers)]
        with pytest.raises(ValueError, match="--label must hold numbers or classes; .*--missing"):
            find_task(more[0].fill_null("?"), more[1], None)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a", "?"], "holds '.', which are read as names of classes"),
        (["a", " "], "holds ' ', which are read as names of classes"),
        (["caf\u00e9", "cafe\u0301"], "are read as 2 different classes"),
        (["1", "\uff11"], "are read as 2 different classes"),
    ],
)
def test_odd_names_of_classes_are_announced(names, words):
    with pytest.warns(UserWarning, match=words):
        warn_similar_names(pl.Series("y", names), "classes")


def test_too_few_groups_are_refused(ask):
    with pytest.raises(ValueError, match="--group must name at least 20 groups of labelled rows"):
        folds_of(ask(group="patient")[0], 20)


def test_select_with_groups_and_features_without_domain_constants(landbridge, tmp_path):
    path = make_table(tmp_path / "t.csv")
    # The model is fitted on more rows than the search.
    question = ("--label", "label", "--missing", "?", "--max-rows", "50")
    found = landbridge.json(
        "select", path, *question, "--target", "b", "--group", "patient", "--folds", "3",
        "--save", "m.skops",
    )  # fmt: skip
    audited = {c["name"]: c["findings"] for c in found["data"]["columns"]}
    assert "left out" in audited["number"][0]
    assert any("site" in check["text"] for check in found["checks"])
    answers = landbridge("predict", "m.skops", path).stdout
    assert len(answers.splitlines()) == 2 * N + 1
    picked = landbridge.json("features", path, *question, "--number", "1")["picked"]
    assert all("site" not in one["feature"] for one in picked)


def test_select_in_the_order_of_time_shows_the_score_over_time(landbridge, tmp_path):
    path = make_table(tmp_path / "t.csv")
    (tmp_path / "few.yaml").write_text("ridge: Ridge\n")
    found = landbridge.json(
        "select", path, "--label", "label", "--target", "b", "--time", "day", "--missing", "?",
        "--folds", "3", "--candidates", tmp_path / "few.yaml",
    )  # fmt: skip
    parts = found["ranking"]["over_time"]
    # The first quarter of the 30 labelled rows is never predicted: it has no past.
    assert sum(part["rows"] for part in parts) == 21
    ends = [part[end] for part in parts for end in ("start", "end")]
    assert ends == sorted(ends)
    assert all(part["score"] > 0 for part in parts)


@pytest.mark.parametrize(("name", "whole"), [("r.JSON", True), ("r.npz", False)])
def test_results_as_json_hold_the_whole_report(name, whole):
    asked = Select(data=["t.csv"], label="y", target="b", results=Path(name))
    assert asked.whole_report is whole
