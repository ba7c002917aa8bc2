import logging
import sys
import threading
import time

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from landbridge import TGreedySelector
from landbridge._tasks import progress
from landbridge.feature_selection.files import with_progress


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    site = np.repeat(["a", "b", "c"], 100)
    y = X[:, 0] + rng.normal(size=300)
    return pl.DataFrame({"u": X[:, 0], "v": X[:, 1], "w": X[:, 2], "y": y, "site": site})


def written(table, path):
    if path.suffix == ".csv":
        table.write_csv(path)
    else:
        table.write_parquet(path)
    return path


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "t.csv"])
def test_a_file_gives_the_answer_of_its_rows(table, tmp_path, name):
    path = written(table, tmp_path / name)
    model = TGreedySelector(n_features=2).fit_file(path, label="y", domain="site", batch_size=70)
    rows = TGreedySelector(n_features=2).fit(
        table.select("u", "v", "w"), table["y"].to_numpy(), groups=table["site"].to_numpy()
    )
    assert model.path_.feature.tolist() == rows.path_.feature.tolist()
    np.testing.assert_allclose(model.coef_, rows.coef_, rtol=1e-9)
    assert model.feature_names_in_.tolist() == ["u", "v", "w"]
    assert model.domains_.tolist() == ["a", "b", "c"]
    again = model.fit_file(path, label="y", domain="site")
    assert again.moments_.counts.tolist() == [100, 100, 100]


def test_text_labels_and_whole_numbers(table, tmp_path):
    table = table.with_columns(
        pl.when(pl.col("y") > 0).then(pl.lit("yes")).otherwise(pl.lit("no")).alias("y"),
        pl.arange(0, 300).alias("w"),
        pl.Series("site", np.repeat([2011, 2012, 2013], 100)),
    )
    path = written(table, tmp_path / "t.csv")
    with path.open("a") as file:  # whole numbers only, until the last row
        file.write("0.5,0.5,1.5,yes,2013\n")
    model = TGreedySelector(n_features=1).fit_file(str(path), label="y", domain="site")
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.domains_.tolist() == [2011, 2012, 2013]
    assert model.get_support(indices=True).tolist() == [0]


def test_some_features_only(table, tmp_path):
    path = written(table, tmp_path / "t.parquet")
    model = TGreedySelector(n_features=1)
    model.fit_file(path, label="y", domain="site", features=["w", "u"], progress=True)
    assert model.get_feature_names_out().tolist() == ["u"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"label": "z"},
            r"`label` must be a column of the file; got 'z', but the columns are \['u'",
        ),
        ({"domain": "z"}, "`domain` must be a column of the file; got 'z'"),
        ({"features": ["u", "q"]}, r"`features` must be columns of the file other.*got \['q'\]"),
        ({"features": ["u", "y"]}, r"other than label and domain; got \['y'\]"),
        ({"features": []}, "`features` must be columns of the file other.* got none"),
        ({"label": "u", "domain": "v"}, r"`features` must be numeric columns; got \['site'\]"),
    ],
)
def test_missing_columns(table, tmp_path, arguments, message):
    path = written(table, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=message):
        TGreedySelector().fit_file(path, **{"label": "y", "domain": "site", **arguments})


def test_missing_values_and_files(table, tmp_path):
    holes = table.with_columns(pl.when(pl.col("u") > 2).then(None).otherwise("y").alias("y"))
    path = written(holes, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="Column 'y' must have a finite value in every row"):
        TGreedySelector().fit_file(path, label="y", domain="site")
    holes = table.with_columns(pl.when(pl.col("u") > 2).then(None).otherwise("u").alias("u"))
    path = written(holes, tmp_path / "t.parquet")
    with pytest.raises(
        ValueError, match="`rows of domain '[abc]' in one batch` must hold only.*column 'u'"
    ):
        TGreedySelector().fit_file(path, label="y", domain="site")
    with pytest.raises(FileNotFoundError, match="`path` must be a Parquet or CSV file"):
        TGreedySelector().fit_file(tmp_path / "no.csv", label="y", domain="site")
    path = written(table.head(0), tmp_path / "empty.parquet")
    with pytest.raises(ValueError, match="`path` must have at least one row; .*empty"):
        TGreedySelector().fit_file(path, label="y", domain="site")
    (tmp_path / "t.txt").write_text("u")
    with pytest.raises(ValueError, match=r"`path` must end in .parquet, .pq or .csv; got 't.txt'"):
        TGreedySelector().fit_file(tmp_path / "t.txt", label="y", domain="site")


def test_without_rich_progress_goes_to_the_log(monkeypatch, caplog):
    monkeypatch.setattr(progress, "SILENCE", 0.0)
    batches = [[1, 2], [3]]  # anything with a length
    with caplog.at_level(logging.INFO):
        for batch in with_progress(batches, 3, "t.csv"):
            assert batch in batches
            time.sleep(0.05)
    assert "t.csv: 2 of 3 rows" in caplog.text


def test_without_polars_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"landbridge\[polars\]"):
        TGreedySelector().fit_file(tmp_path / "t.csv", label="y", domain="site")


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
@pytest.mark.parametrize("hole", [float("nan"), float("inf")])
def test_a_label_or_domain_that_is_no_number_is_missing(table, tmp_path, name, hole):
    for column, values in {
        "y": table["y"],
        "site": pl.Series(np.repeat([1.0, 2.0, 3.0], 100)),
    }.items():
        holes = table.with_columns(values.alias(column))
        holes = holes.with_columns(
            pl.when(pl.col("u") > 2).then(hole).otherwise(column).alias(column)
        )
        path = written(holes, tmp_path / name)
        with pytest.raises(
            ValueError, match=f"'{column}' must have a finite value.*missing or infinite"
        ):
            TGreedySelector().fit_file(path, label="y", domain="site")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"domain": "y"}, "`label` and `domain` must be two columns; got 'y' for both"),
        ({"features": ["u", "v", "u"]}, r"got \['u'\], but the columns .* each feature"),
        ({"batch_size": 0}, "`batch_size` must be a whole number of at least 1; got 0"),
    ],
)
def test_bad_arguments(table, tmp_path, arguments, message):
    path = written(table, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=message):
        TGreedySelector().fit_file(path, **{"label": "y", "domain": "site", **arguments})


def test_one_name_is_one_feature(table, tmp_path):
    path = written(table.rename({"u": "length"}), tmp_path / "t.parquet")
    model = TGreedySelector().fit_file(path, label="y", domain="site", features="length")
    assert model.feature_names_in_.tolist() == ["length"]


def test_decimals_and_dates(table, tmp_path):
    days = pl.Series("site", np.repeat(np.arange(9, 12), 100)).cast(pl.Date)
    odd = table.with_columns(pl.col("y").cast(pl.Decimal(10, 3)), days)
    path = written(odd, tmp_path / "t.parquet")
    model = TGreedySelector(n_features=1).fit_file(path, label="y", domain="site", batch_size=70)
    assert model.domains_.tolist() == ["1970-01-10", "1970-01-11", "1970-01-12"]
    assert not hasattr(model, "classes_")
    with pytest.raises(
        ValueError, match="`label` must be a column of numbers.*'site' contains Date"
    ):
        TGreedySelector().fit_file(path, label="site", domain="y")
    lists = table.with_columns(pl.concat_list("u").alias("site"))
    path = written(lists, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="`domain` must be a column of.*'site' contains List"):
        TGreedySelector().fit_file(path, label="y", domain="site")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be a readable table.* failed: empty CSV"),
        ("u,y,site\n", "`path` must have at least one row"),
        ("u;y;site\n1;2;a\n", "`label` must be a column.*separated by commas"),
        ("u,y,site\n" + "1,2,a\n" * 10_000 + "1,2.5,a\n", "could not parse `2.5` as dtype `i64`"),
    ],
)
def test_tables_that_cannot_be_read(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        TGreedySelector().fit_file(path, label="y", domain="site")


def test_a_part_of_a_file_does_not_pass_for_the_whole(table, tmp_path):
    path = written(table, tmp_path / "t.csv")
    with path.open("a") as file:
        file.write("1,1,1,,c\n")
    model = TGreedySelector()
    with pytest.raises(ValueError, match="Column 'y' must have a finite value"):
        model.fit_file(path, label="y", domain="site", batch_size=10)
    assert not hasattr(model, "moments_")
    with pytest.raises(NotFittedError):
        model.predict(table.select("u", "v", "w"))


def test_the_bar_ends_with_the_reading(table, tmp_path):
    path = written(table.with_columns(pl.col("site").alias("y")), tmp_path / "t.csv")
    with pytest.raises(ValueError, match="numbers or two classes") as caught:
        TGreedySelector().fit_file(path, label="y", domain="site", batch_size=10, progress=True)
    assert caught.tb  # what it holds is alive, the thread that draws the bar is not
    for thread in threading.enumerate():
        if type(thread).__name__ == "_RefreshThread":
            thread.join(timeout=5)
            assert not thread.is_alive()
