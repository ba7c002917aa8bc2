"""Tables from files, and every way in which a file can be wrong."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from landbridge.cli._errors import InputError
from landbridge.cli._tables import read_data, read_table

GOOD = "a,b,where\n1,x,red\n2,,white\n"


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", GOOD),
        ("t.tsv", GOOD.replace(",", "\t")),
        ("t.csv", GOOD.replace(",", ";")),
        ("t.csv", "\ufeff" + GOOD),
        ("t.csv", GOOD.replace("\n", "\r\n")),
        ("t.csv", GOOD + "\n\n"),
        ("t.csv", GOOD.replace("x", '"x"')),
    ],
    ids=["comma", "tab", "semicolon", "mark", "windows", "blank lines", "quotes"],
)
def test_text_files_of_all_kinds_give_the_same_table(tmp_path, name, text):
    frame = read_table(write(tmp_path / name, text))
    assert frame.to_dict(as_series=False) == {
        "a": [1, 2],
        "b": ["x", None],
        "where": ["red", "white"],
    }


def test_parquet_and_csv_agree(tmp_path):
    frame = pl.DataFrame({"a": [1.5, None], "b": ["x", "y"]})
    frame.write_parquet(tmp_path / "t.parquet")
    frame.write_csv(tmp_path / "t.csv")
    assert read_table(tmp_path / "t.parquet").equals(read_table(tmp_path / "t.csv"))


def test_types_are_right_when_they_show_late_in_the_file(tmp_path):
    text = "a\n" + "1\n" * 20_000 + "1.5\n"
    assert read_table(write(tmp_path / "t.csv", text))["a"].dtype == pl.Float64


def test_decimal_commas_are_numbers_and_announced(tmp_path):
    text = "a;b;c\n1,5;x,1;3\n-2;y;4\n;z;5\n"
    with pytest.warns(UserWarning, match="'a' hold numbers with a decimal comma.*1,5 is one and a"):
        frame = read_table(write(tmp_path / "t.csv", text))
    assert frame["a"].to_list() == [1.5, -2.0, None]
    assert frame["b"].to_list() == ["x,1", "y", "z"]
    assert frame["c"].dtype == pl.Int64
    # Between commas a quoted 1,234 may be a thousand: it is left as it is written.
    assert read_table(write(tmp_path / "t.csv", 'a,b\n"1,234",2\n'))["a"].to_list() == ["1,234"]


def test_quoted_cells_may_hold_separators_and_line_ends(tmp_path):
    frame = read_table(write(tmp_path / "t.csv", 'a,b\n1,"x,\ny"\n2,z\n'))
    assert frame["b"].to_list() == ["x,\ny", "z"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "", "the file is empty"),
        ("t.csv", "a,b\n", "must have rows below its header"),
        ("t.csv", b"a,b\n1,2\n3,\xe9t\xe9\n", "line 3: the file must be text in UTF-8; got.*0xe9"),
        ("t.csv", b"\xe9,b\n1,2\n", "line 1: the file must be text in UTF-8"),
        ("t.csv", "a,b\n1,2\n3\n4,5\n", "line 3: every row must have 2 cells.*got 1"),
        ("t.csv", "a,b\n1,2\n3,4,5\n", "line 3: every row must have 2 cells.*got 3"),
        ("t.csv", 'a,b\n"1\n",2\n3\n', "line 4: every row must have 2 cells.*got 1"),
        ("t.csv", "a,b,a\n1,2,3\n", "name of its own; got 'a' more than once"),
        ("t.csv", "a,,b\n1,2,3\n", "column 2 has none"),
        ("t.parquet", "a,b\n1,2\n", "must be a whole Parquet file"),
        ("t.xlsx", "a,b\n1,2\n", "must end in .csv"),
    ],
)
def test_bad_files_are_refused_with_the_reason(tmp_path, name, text, message):
    with pytest.raises(InputError, match=message):
        read_table(write(tmp_path / name, text))


def test_a_missing_file_suggests_the_nearest_name(tmp_path):
    write(tmp_path / "wine.csv", GOOD)
    with pytest.raises(InputError, match="no such file. Did you mean 'wine.csv'"):
        read_table(tmp_path / "wien.csv")
    with pytest.raises(InputError, match="must be a file; got a directory"):
        read_table(tmp_path)


def test_a_file_cut_inside_a_character_is_refused(tmp_path):
    with pytest.raises(InputError, match="UTF-8"):
        read_table(write(tmp_path / "t.csv", "a,b\n1,é\n".encode()[:-2]))


def test_several_files_are_stacked_with_their_names(tmp_path):
    one = write(tmp_path / "1.csv", "x,y\n1,0\n2,1\n")
    two = write(tmp_path / "2.csv", "y,x\n,3.5\n,4\n")
    frame = read_data([f"red={one}", f"white={two}"], None)
    assert frame["domain"].to_list() == ["red", "red", "white", "white"]
    assert frame["x"].to_list() == [1, 2, 3.5, 4]
    assert frame["y"].to_list() == [0, 1, None, None]


def test_a_file_whose_name_has_an_equals_sign_is_one_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a=b.csv", GOOD)
    assert read_data(["a=b.csv"], None).height == 2


@pytest.mark.parametrize(
    ("names", "texts", "domain", "message"),
    [
        (["", "b="], [GOOD, GOOD], None, "must each be given as name=path"),
        (["b=", "b="], [GOOD, GOOD], None, "a name of its own"),
        (["a=", "b="], [GOOD, GOOD], "where", "got 'where', which the files have already"),
        (["a=", "b="], [GOOD, "a,c,where\n1,2,3\n"], None, "'b' lacks 'b' and has 'c' besides"),
        (["a=", "b="], ["x\n1\n", "x\nred\n"], None, "Int64 and String in 'x'"),
    ],
)
def test_several_files_that_do_not_fit(tmp_path, names, texts, domain, message):
    paths = [write(tmp_path / f"{k}.csv", text) for k, text in enumerate(texts)]
    data = [f"{name}{path}" for name, path in zip(names, paths, strict=True)]
    with pytest.raises(InputError, match=message):
        read_data(data, domain)


def test_a_large_file_is_read_in_pieces(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"x{k}": rng.normal(size=50_000) for k in range(10)})
    frame.write_csv(tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").equals(frame)


def test_decimals_and_nan_of_parquet_are_numbers_and_holes(tmp_path):
    decimals = pl.Series("d", [1.25, None]).cast(pl.Decimal(6, 2))
    pl.DataFrame([pl.Series("a", [1.5, float("nan")]), decimals]).write_parquet(tmp_path / "t.pq")
    frame = read_table(tmp_path / "t.pq")
    assert frame.to_dict(as_series=False) == {"a": [1.5, None], "d": [1.25, None]}
    assert frame["d"].dtype == pl.Float64


@pytest.mark.parametrize("name", ["t.csv", "t.pq"])
def test_infinity_is_refused_with_its_place(tmp_path, name):
    frame = pl.DataFrame({"b": [1, 2], "a": [1.5, float("-inf")]})
    getattr(frame, "write_csv" if name == "t.csv" else "write_parquet")(tmp_path / name)
    with pytest.raises(InputError, match="must be finite; 'a' holds -inf in row 2. Replace it"):
        read_table(tmp_path / name)
