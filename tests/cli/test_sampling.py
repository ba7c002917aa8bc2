"""Samples of large tables."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from landbridge.cli import _tables
from landbridge.cli._more_rows import Cost, predicted
from landbridge.cli._options import Select, bytes_of
from landbridge.cli._problem import read_problem
from landbridge.cli._session import InputError
from landbridge.cli._tables import ROW, Sampler, find_large, read_data, shares

from .conftest import make_frame


def make_table(n=3000, seed=0):
    """Two domains; the second has few labels; a class of 1 % in the first."""
    rng = np.random.default_rng(seed)
    domain = rng.choice(["a", "b"], size=n, p=[0.7, 0.3])
    label = rng.choice(["no", "yes", "rare"], size=n, p=[0.69, 0.3, 0.01])
    known = (domain == "a") | (rng.random(n) < 0.1)
    return pl.DataFrame(
        {"domain": domain, "label": np.where(known, label, "?"), "row": np.arange(n)}
    ).with_columns(pl.col("label").replace("?", None))


def draw(table, max_rows, *, pieces=1, label="label", labels_first=True):
    sampler = Sampler("domain", label, max_rows, seed=0, labels_first=labels_first)
    for piece in table.iter_slices(-(-table.height // pieces)):
        sampler.add(piece)
    rows, sample = sampler.draw()
    return table[rows], sample


def test_labels_keep_their_shares_and_come_first():
    table = make_table()
    found, sample = draw(table, 300)
    assert sample.drawn == {"a": 300, "b": 300}
    assert found["row"].is_sorted()
    counts = table.filter(domain="a")["label"].value_counts()
    drawn = found.filter(domain="a")["label"].value_counts()
    for name, count in drawn.iter_rows():
        whole = counts.filter(label=name)["count"].item()
        assert abs(count - 300 * whole / table.filter(domain="a").height) <= 2
    known = table.filter(pl.col("domain") == "b", pl.col("label").is_not_null())
    assert known.height < 300
    assert found.filter(pl.col("domain") == "b", pl.col("label").is_not_null()).equals(known)
    even, _ = draw(table, 300, labels_first=False)
    n_known = even.filter(pl.col("domain") == "b")["label"].count()
    assert abs(n_known - 300 * known.height / table.filter(domain="b").height) <= 4


def test_the_sample_does_not_depend_on_the_pieces(monkeypatch):
    table = make_table()
    whole, sample = draw(table, 100)
    monkeypatch.setattr(_tables, "WAITING", 150)
    for pieces in (2, 7, 60):
        found, again = draw(table, 100, pieces=pieces)
        assert found.equals(whole)
        assert again == sample
    assert sample.cut() == ["a", "b"]
    assert "200 of 3000 rows, at most 100 of each domain" in sample.sentence()


def test_rows_are_drawn_with_equal_chances():
    """Of 20 rows 5 are drawn, 1000 times: each row about 250 times (5 standard errors are 68)."""
    row = np.tile(np.arange(20), 100)
    table = pl.DataFrame({"domain": np.repeat(np.arange(100).astype(str), 20), "row": row})
    counts = np.zeros(20, dtype=int)
    for seed in range(10):
        sampler = Sampler("domain", None, 5, seed=seed, labels_first=False)
        sampler.add(table)
        counts += np.bincount(row[sampler.draw()[0]], minlength=20)
    assert counts.sum() == 5000
    assert abs(counts - 250).max() < 68


def test_numbers_are_no_classes():
    table = pl.DataFrame({"domain": ["a"] * 500, "label": [1.5, None] * 250})
    for labels in (table["label"], pl.Series("label", np.arange(500))):
        found, _ = draw(table.with_columns(labels), 300)
        assert found.height == 300
        assert found["label"].count() == min(300, labels.count())


def test_a_row_without_a_domain_is_refused():
    with pytest.raises(InputError, match="'domain' is empty in 2 rows"):
        draw(pl.DataFrame({"domain": ["a", None, None], "label": [1, 2, 3]}), 2)


@pytest.mark.parametrize(
    ("counts", "total", "sizes"),
    [
        ([10, 10], 30, [10, 10]),
        ([60, 40], 10, [6, 4]),
        ([997, 2, 1], 10, [7, 2, 1]),
        ([50, 25, 26], 10, [5, 2, 3]),
        ([5, 5, 5], 2, [1, 1, 0]),
    ],
)
def test_shares_are_proportional_with_two_of_each(counts, total, sizes):
    assert shares(np.array(counts), total).tolist() == sizes


@pytest.fixture
def rows(tmp_path):
    """A table in one file and in three; north, south and west have 240 rows each."""
    frame = pl.concat([make_frame(60, seed=seed) for seed in range(4)])
    frame.write_parquet(tmp_path / "whole.parquet")
    (tmp_path / "rows").mkdir()
    for number, part in enumerate(frame.iter_slices(300)):
        part.write_parquet(tmp_path / "rows" / f"{number}.parquet")
    return tmp_path / "rows"


def test_datasets_that_are_not_read_whole_give_the_same_sample(rows, monkeypatch):
    def sample(*data):
        asked = Select(
            data=[*map(str, data)], label="good", domain="region", target="west", max_rows=90
        )
        problem = read_problem(asked, lambda note: None, target="west", spare_labels=True)
        return problem.features.with_columns(problem.labels, region=problem.domains), problem.sample

    small, drawn = sample(rows.parent / "whole.parquet")
    assert drawn.drawn == {"north": 90, "south": 90, "west": 90}
    monkeypatch.setattr(_tables, "LARGE", 0)
    for data in (
        [rows.parent / "whole.parquet"],
        [rows],
        [rows / "*.parquet"],
        sorted(rows.iterdir()),
    ):
        found, again = sample(*data)
        assert_frame_equal(found, small)
        assert again == drawn


def test_select_and_diagnose_state_the_sample(landbridge, rows, monkeypatch):
    monkeypatch.setattr(_tables, "LARGE", 0)
    (rows.parent / "few.yaml").write_text("nb: GaussianNB\n")
    question = ("-y", "good", "-d", "region", "-t", "west", "--max-rows", 90, "--drop", "remark")
    done = landbridge("select", "rows", *question, "--candidates", "few.yaml", "--folds", 2)
    sentence = "random sample by domain and label: 270 of 720 rows, at most 90 of each domain"
    assert sentence in " ".join(done.stdout.split())
    assert "north: 90 of 240 rows are used" in done.stderr
    few = ("-d", "region", "-t", "west", "--exclude", "south", "--max-rows", 12)
    drop = [word for name in ("remark", "colour", "when", "good") for word in ("--drop", name)]
    assert "24 of 480" in landbridge.json("diagnose", "rows", *few, *drop)["sample"]
    done = landbridge("select", "rows", "-y", "god", "-d", "region", "-t", "west", code=2)
    assert "Did you mean 'good'?" in done.stderr
    (rows / "5.parquet").write_text("cut off")
    done = landbridge("select", "rows", *question, code=2)
    assert "cannot be read as one table" in done.stderr


def test_tables_by_name_are_one_large_table(tmp_path, monkeypatch):
    frame = make_frame(60)
    for (region,), part in frame.partition_by("region", as_dict=True).items():
        (tmp_path / region).mkdir()
        part.drop("region").write_parquet(tmp_path / region / "1.parquet")
    data = [f"{name}={tmp_path / name}" for name in ("north", "south", "west")]
    assert find_large(data, "region") is None
    monkeypatch.setattr(_tables, "LARGE", 0)
    found, sample = find_large(data, "region").draw("good", 50, seed=0, labels_first=True)
    assert found[ROW].is_sorted()
    found = found.drop(ROW)
    assert sample.drawn == {"north": 50, "south": 50, "west": 50}
    table = frame.select(found.columns)
    assert_frame_equal(found, found.join(table, on=found.columns, how="semi", nulls_equal=True))
    # What is wrong with the tables is said where they are read whole.
    assert find_large([*data, data[0]], "region") is None
    assert find_large(data, "good") is None
    assert find_large([data[0], str(tmp_path / "west")], "region") is None
    frame.write_csv(tmp_path / "all.csv")
    assert find_large([str(tmp_path / "all.csv")], "region") is None


def test_large_tables_are_read_like_small_ones(tmp_path, monkeypatch):
    path = [str(tmp_path / "t.parquet")]
    made = {"x": [1.0, -999.0, 2.0], "k": [7, 8, 9], "y": ["a", "?", ""], "where": ["n", "n", "s"]}
    pl.DataFrame(made).write_parquet(path[0])
    how = {"missing": ["?", "-999"], "text": ["k"]}
    small = read_data(path, "where", **how)
    assert small.null_count().row(0) == (1, 0, 2, 0)
    monkeypatch.setattr(_tables, "LARGE", 0)
    large = find_large(path, "where", **how)
    found, _ = large.draw("y", 5, seed=0, labels_first=True)
    assert_frame_equal(found.drop(ROW), small)
    assert_frame_equal(pl.concat(large.pieces(small.columns)), small)
    assert large.counts("y") == {"n": 1}


def test_large_text_files_are_better_saved_as_parquet(landbridge, tmp_path):
    make_frame(20).drop("remark").write_csv(tmp_path / "t.csv")
    make_frame(20).drop("remark").write_parquet(tmp_path / "t.parquet")
    question = ("-y", "god", "-d", "region", "-t", "west")
    advice = "of text are read whole into memory; save the table as Parquet"
    assert advice not in " ".join(landbridge("select", "t.csv", *question, code=2).stderr.split())
    question = (*question, "--memory", "1k")
    assert advice in " ".join(landbridge("select", "t.csv", *question, code=2).stderr.split())
    assert advice not in landbridge("select", "t.parquet", *question, code=2).stderr


def test_the_saved_model_is_fitted_on_more_rows(landbridge, tmp_path):
    pl.concat([make_frame(60, seed=seed) for seed in range(8)]).write_csv(tmp_path / "t.csv")
    (tmp_path / "few.yaml").write_text("nb: GaussianNB\n")
    question = ("-y", "good", "-d", "region", "-t", "west", "--max-rows", 50, "--drop", "remark")
    asked = ("--candidates", "few.yaml", "--folds", 2, "--save", "m.skops")
    done = landbridge("select", "t.csv", *question, *asked)
    assert "the model is fitted on all 1440 rows" in done.stderr
    rows = landbridge.json("info", "m.skops")["rows"]
    assert rows["west (labelled)"] + rows["west (unlabelled)"] == 480
    done = landbridge("select", "t.csv", *question, *asked, "--memory", "1k")
    words = " ".join(done.stderr.split())
    assert "fitted on 150 of 1440 rows: more would need more than --memory" in words
    done = landbridge("select", "t.csv", *question, "--memory", "much", code=2)
    assert "'much': a size is a number with a unit, like 500m or 4g" in done.stderr


def test_costs_grow_with_the_power_that_was_measured():
    first = Cost(100, 1.0, 8.0)
    assert predicted([first], 400, "seconds") == 16.0
    linear = Cost(400, 4.0, 32.0)
    assert predicted([first, linear], 1600, "seconds") == pytest.approx(16.0)
    assert predicted([first, Cost(400, 1.0, 128.0)], 1600, "seconds") == pytest.approx(4.0)
    assert predicted([first, Cost(400, 1.0, 128.0)], 1600, "bytes") == pytest.approx(2048.0)
    assert bytes_of("1.5G") == 1.5 * 2**30
