"""Tables in several files and in pieces."""

import json

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from landbridge.cli import _files, _tables
from landbridge.cli._columns import RowChecker, describe_columns
from landbridge.cli._files import find_files, scan_parquet
from landbridge.cli._session import InputError
from landbridge.cli._tables import Pieces

from .conftest import make_frame


@pytest.fixture
def small_pieces(monkeypatch):
    """Pieces of three rows."""
    monkeypatch.setattr(_tables, "CELLS", 1)
    monkeypatch.setattr(_tables, "LEAST_ROWS", 3)


def same(left, right):
    """Equal but for the last digits: sums of products depend on the size of a matrix."""
    assert_frame_equal(left, right, rel_tol=1e-12)


def test_predictions_do_not_depend_on_the_pieces(landbridge, model, tmp_path, monkeypatch):
    make_frame(seed=1).with_columns(note=pl.lit("=1+1")).write_csv(tmp_path / "new.csv")
    asked = ("predict", model, "new.csv", "--keep", "note")
    whole, as_json = landbridge(*asked), landbridge.json(*asked)
    landbridge(*asked, "-o", "whole.parquet")
    monkeypatch.setattr(_tables, "CELLS", 1)
    monkeypatch.setattr(_tables, "LEAST_ROWS", 50)
    pieces = landbridge(*asked)
    assert pieces.stdout.count("prediction") == 1, "one header"
    same(pl.read_csv(pieces.stdout.encode()), pl.read_csv(whole.stdout.encode()))
    assert sorted(pieces.stderr.splitlines()) == sorted(whole.stderr.splitlines())
    same(pl.DataFrame(landbridge.json(*asked)), pl.DataFrame(as_json))
    landbridge(*asked, "-o", "pieces.parquet")
    same(pl.read_parquet("pieces.parquet"), pl.read_parquet("whole.parquet"))


def test_several_parquet_files_are_one_table(landbridge, model, tmp_path):
    new = make_frame(seed=1)
    new.write_parquet(tmp_path / "new.parquet")
    folder = tmp_path / "rows"
    for region, part in new.partition_by("region", as_dict=True).items():
        place = folder / f"region={region[0]}"
        place.mkdir(parents=True)
        part.drop("region").write_parquet(place / "part.parquet")
    (folder / "_SUCCESS").write_text("")
    (folder / ".part.parquet").write_text("half-written")
    asked = ("--keep", "region", "--format", "json")
    rows = json.loads(landbridge("predict", model, "rows", *asked).stdout)
    assert rows == json.loads(landbridge("predict", model, "rows/*/*.parquet", *asked).stdout)
    alone = json.loads(landbridge("predict", model, "new.parquet", *asked).stdout)
    assert sorted(map(str, rows)) == sorted(map(str, alone))


@pytest.mark.parametrize(
    ("files", "path", "message"),
    [
        ([], ".", "a directory must hold Parquet files, .* got none"),
        ([], "*.parquet", "no file matches the pattern"),
        (["a.parquet", "b.csv"], "*", "a pattern must match Parquet files only; got .*b.csv"),
        (["deep/a.parquet"], ".", "directly or in folders like region=north; got none"),
        ([], "a.parquet", "no such file"),
    ],
)
def test_paths_without_a_table_are_refused(tmp_path, files, path, message):
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    with pytest.raises(InputError, match=message):
        find_files(tmp_path / path)


def test_only_folders_of_a_dataset_are_entered(tmp_path):
    for folder in ("region=north/year=2020", "other/region=north", "_region=south"):
        (tmp_path / folder).mkdir(parents=True)
        pl.DataFrame({"a": [1]}).write_parquet(tmp_path / folder / "1.parquet")
    assert find_files(tmp_path) == [tmp_path / "region=north" / "year=2020" / "1.parquet"]


def test_broken_links_are_named(tmp_path):
    circle, lost = tmp_path / "circle.csv", tmp_path / "lost.csv"
    circle.symlink_to(circle.name)
    lost.symlink_to("gone.csv")
    with pytest.raises(InputError, match="circle.csv: the symbolic link to circle.csv leads back"):
        find_files(circle)
    with pytest.raises(InputError, match="lost.csv: .* leads to gone.csv, which does not exist"):
        find_files(lost)


def test_files_that_do_not_fit_together_are_refused(tmp_path):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"b": ["x"]}).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(InputError, match="cannot be read as one table.*same columns and types"):
        list(Pieces.open(tmp_path))
    assert len(find_files(tmp_path)) == 2
    assert scan_parquet([tmp_path / "1.parquet"]).collect().height == 1


def test_an_encoding_is_for_text_files(tmp_path):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "1.parquet")
    with pytest.raises(InputError, match="--encoding can only be used with a text file"):
        Pieces.open(tmp_path / "1.parquet", "latin-1")


def test_empty_lines_are_no_rows(tmp_path, small_pieces):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n5,6\n\n\n7,8\n\n\n\n\n")
    with pytest.warns(UserWarning, match="2 rows are empty and left out, the first is row 4"):
        rows = pl.concat(Pieces.open(tmp_path / "a.csv"))
    assert rows["x"].to_list() == ["1", "3", "5", "7"]
    (tmp_path / "b.csv").write_text("x,y\n\n\n")
    with pytest.raises(InputError, match="must have rows below its header"):
        list(Pieces.open(tmp_path / "b.csv"))


def test_infinite_numbers_are_named_by_their_row(tmp_path, small_pieces):
    pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, float("inf")]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="'x' holds inf in row 5"):
        list(Pieces.open(tmp_path / "a.parquet"))


def test_what_is_strange_is_counted_over_all_pieces():
    seen = describe_columns(pl.DataFrame({"size": [1.0, 5.0], "colour": ["red", "white"]}))
    checker = RowChecker(seen)
    first = pl.DataFrame({"size": ["1.5", "2", "9"], "colour": ["red", "rosé", "red"]})
    second = pl.DataFrame({"size": ["2", "many", None], "colour": ["blue", "red", "red"]})
    assert checker.check(first).outside.tolist() == [0, 1, 1]
    assert checker.check(second).outside.tolist() == [1, 1, 1]
    assert checker.cautions() == [
        "size: read as missing, because it is not of type number: 'many' in row 5",
        "size: 1 of 6 rows have no value, which never happened in training",
        "size: 1 of 6 rows lie outside 1 to 5",
        "colour: 2 of 6 rows hold a new value: 'blue', 'rosé'",
    ]
    with pytest.raises(InputError, match="'size' must hold numbers as in training; got 'x'"):
        checker.check(pl.DataFrame({"size": ["x"] * 4, "colour": ["red"] * 4}))


def test_the_first_piece_settles_how_numbers_are_written():
    checker = RowChecker(describe_columns(pl.DataFrame({"size": [1.0, 9000.0]})))
    with pytest.warns(UserWarning, match="a decimal comma"):
        first = checker.check(pl.DataFrame({"size": ["1,25", "2,5"]}))
    assert first.frame["size"].to_list() == [1.25, 2.5]
    # Alone, this piece would be read as thousands.
    assert checker.check(pl.DataFrame({"size": ["1,234"]})).frame["size"].to_list() == [1.234]


TEXTS = {
    "plain": "x,y\n1,2\n3,4\n\n5,6\n",
    "no line end": "x,y\n1,2\n3,4",
    "quotes": 'x,"y, z"\n"a\nb",2\n"say ""no""",4\n",",\n',
    "quoted header": '"x\nx",y\n1,2\n"3\n\n4",5\n',
    "windows": 'x,y\r\n1,"2\r\n2"\r\n3,été\r\n',
    "one column": "x\n1\n\n3\n",
}


@pytest.mark.parametrize("encoding", [None, "utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("block", [4, 1000])
def test_blocks_of_text_give_the_same_table(tmp_path, monkeypatch, text, encoding, block):
    monkeypatch.setattr(_files, "BLOCK", block)
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(encoding or "utf-8-sig"))
    file = _files.TextFile.open(path, encoding)
    _files.check_rectangular(file)
    parts = list(file.frames(10))
    whole = pl.read_csv(text.encode(), infer_schema_length=0, separator=file.separator)
    assert_frame_equal(pl.concat(parts), whole)
    assert file.names == whole.columns
    if block == 4:
        assert max(part.height for part in parts) <= 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,y\n1,2\n3,4\n5,6,7\n", "line 4: every row must have 2 cells like the header; got 3"),
        ('x,y\n"1\n1",2\n\n"3"\n', "line 5: every row must have 2 cells like the header; got 1"),
        ('x,y\n1,2\n5" pipe,4\n5,6\n', "line 3: this row does not end within 0 MB. Check its quot"),
    ],
)
def test_faults_in_later_blocks_are_named_by_their_line(tmp_path, monkeypatch, text, message):
    monkeypatch.setattr(_files, "BLOCK", 4)
    monkeypatch.setattr(_files, "MOST_OF_A_RECORD", 10)
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        Pieces.open(tmp_path / "a.csv")
