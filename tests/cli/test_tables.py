"""Tables from files, and every way in which a file can be wrong."""

import os
import warnings
from datetime import time, timedelta
from pathlib import Path
from urllib.parse import quote

import numpy as np
import polars as pl
import pytest
import xlsxwriter

from landbridge.cli._columns import column_kind
from landbridge.cli._files import TextFile, check_rectangular
from landbridge.cli._session import InputError
from landbridge.cli._tables import Pieces, read_data, read_table

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
        ("t.csv", GOOD.replace("2,,", "2,NA,")),
    ],
    ids=["comma", "tab", "semicolon", "mark", "windows", "blank lines", "quotes", "marks"],
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
    with pytest.warns(
        UserWarning, match="'a' holds numbers with a decimal comma.*'1,5' is 1.5 .--text a to"
    ):
        frame = read_table(write(tmp_path / "t.csv", text))
    assert frame["a"].to_list() == [1.5, -2.0, None]
    assert frame["b"].to_list() == ["x,1", "y", "z"]
    assert frame["c"].dtype == pl.Int64


@pytest.mark.filterwarnings("ignore:.*read as missing")
def test_one_comma_separates_thousands_between_commas_and_decimals_between_semicolons(tmp_path):
    text = 'a,b\n"1,234",2\n-,3\n"56,789",4\n987,5\n'
    with pytest.warns(UserWarning, match="thousands separators .*: '56,789' is 56789 .--text a to"):
        read = read_table(write(tmp_path / "t.csv", text))
    assert read["a"].to_list() == [1234.0, None, 56789.0, 987.0]
    with pytest.warns(UserWarning, match="decimal comma .*: '1,234' is 1.234 "):
        assert read_table(write(tmp_path / "s.csv", "a;b\n1,234;2\n"))["a"].to_list() == [1.234]


def test_quoted_cells_may_hold_separators_and_line_ends(tmp_path):
    frame = read_table(write(tmp_path / "t.csv", 'a,b\n1,"x,\ny"\n2,z\n'))
    assert frame["b"].to_list() == ["x,\ny", "z"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "", "the file is empty"),
        ("t.csv", "a,b\n", "must have rows below its header"),
        ("t.csv", "\na,b\n1,2\n", "the first line must hold the names of the columns"),
        ("t.csv", b"a,b\n1,2\n3,\xe9t\xe9\n", "line 3: the file must be text in UTF-8; got.*0xe9"),
        ("t.csv", b"\xe9,b\n1,2\n", "line 1: the file must be text in UTF-8"),
        ("t.csv", "a,b\n1,2\n3\n4,5\n", "line 3: every row must have 2 cells.*got 1"),
        ("t.csv", "a,b\n1,2\n3,4,5\n", "line 3: every row must have 2 cells.*got 3"),
        ("t.csv", 'a,b\n"1\n",2\n3\n', "line 4: every row must have 2 cells.*got 1"),
        ("t.csv", "a,b,a\n1,2,3\n", "name of its own; got 'a' more than once"),
        ("t.csv", "a,,b\n1,2,3\n", "column 2 has none"),
        ("t.parquet", "a,b\n1,2\n", "cannot be read as one table"),
        ("t.xlsx", "a,b\n1,2\n", "must be a spreadsheet"),
        ("t.pdf", "a,b\n1,2\n", "the name must end in .csv"),
        ("t.jsonl", "a,b\n1,2\n", "must hold one JSON object per line"),
    ],
)
def test_bad_files_are_refused_with_the_reason(tmp_path, name, text, message):
    with pytest.raises(InputError, match=message):
        read_table(write(tmp_path / name, text))


@pytest.mark.parametrize("cell", ["1", '"1"'])
def test_blank_lines_have_no_cells(tmp_path, cell):
    text = f"a,b\n{cell},2\n\n  \n3,4"
    check_rectangular(TextFile.open(write(tmp_path / "t.csv", text)))
    with pytest.raises(InputError, match="line 6: every row must have 2 cells.*got 3"):
        check_rectangular(TextFile.open(write(tmp_path / "u.csv", f"{text}\n,,")))


def test_a_missing_file_suggests_the_nearest_name(tmp_path):
    write(tmp_path / "wine.csv", GOOD)
    with pytest.raises(InputError, match="no such file. Did you mean 'wine.csv'"):
        read_table(tmp_path / "wien.csv")
    with pytest.raises(
        InputError, match="a directory must hold Parquet files, directly or .*; got none"
    ):
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
        (["b=", "b="], [GOOD, GOOD], None, "a different name"),
        (["a=", "b="], [GOOD, GOOD], "where", "got 'where', which the files already have"),
        (["a=", "b="], [GOOD, "a,c,where\n1,2,3\n"], None, "'b' lacks 'b' and also has 'c'"),
        (
            ["a=", "b="],
            ["x\n1\n", "x\nred\n"],
            None,
            "'x' holds numbers in 'a' .'1'. and text in 'b'",
        ),
        (["a=", "b="], ["x\n1\n", "x\n2020-01-01\n"], None, "holds numbers in 'a'.* and dates in"),
        (["a=", "b="], ["x\ntrue\n", "x\n2020-01-01\n"], None, "true and false in 'a'.* dates in"),
        (["a=", "b="], ["x\ntrue\n", "x\n1\n"], None, "--text x, or leave it out with --drop x"),
    ],
)
def test_several_files_that_do_not_fit(tmp_path, names, texts, domain, message):
    paths = [write(tmp_path / f"{k}.csv", text) for k, text in enumerate(texts)]
    data = [f"{name}{path}" for name, path in zip(names, paths, strict=True)]
    with pytest.raises(InputError, match=message):
        read_data(data, domain)


@pytest.mark.parametrize("argument", ["=b.csv", "b="])
def test_a_file_without_a_name_or_path_is_refused(tmp_path, argument):
    path = write(tmp_path / "a.csv", "x,y\n1,2\n")
    with pytest.raises(InputError, match=f"given as name=path; got '{argument}'. Write the name"):
        read_data([f"a={path}", f"c={path}", argument], None)


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


def test_numbers_that_are_too_large_to_square_are_refused_with_their_place(tmp_path):
    with pytest.raises(
        InputError, match="at most 1e.19 in absolute value; 'a' holds 1e.308 in row 2"
    ):
        read_table(write(tmp_path / "t.csv", "a,b\n1,2\n1e308,3\n"))


TEN = [str(k) for k in range(10)]


@pytest.mark.filterwarnings("ignore:.*numbers like '1.250', which are read as decimals")
@pytest.mark.parametrize(
    ("cells", "message", "values"),
    [
        (
            [*TEN, "n.d."],
            "holds numbers; 1 cell that is not is read as missing: 'n.d.' in row 11",
            None,
        ),
        ([*TEN, "12%"], "missing: '12%' in row 11", None),
        (["0.5", *TEN, '"1.234,56"'], "missing: '1.234,56' in row 12", None),
        (["0.512", "1.250", *TEN, '"1.234,56"'], "missing: '1.234,56' in row 13", None),
        (["1.512", "1.250", *TEN, '"1.234,56"'], "missing: '1.234,56' in row 13", None),
        (["0.5", *TEN, '"1,5"'], "missing: '1,5' in row 12", None),
        (['"0,512"', '"1,250"'], "with a decimal comma", 1.25),
        ([*TEN, '"1,5"'], "with a decimal comma", 1.5),
        (['"1.234,56"', '"2,5"', '"3"'], "with a decimal comma", 3.0),
        (['"1,234.5"', '"2,345,678"', "7"], "with thousands separators", 7.0),
        (["5%", "7.5 %"], "percent signs and is read as such: '7.5 %' is 7.5 .--text x to", 7.5),
        (['"12,5%"', "7 %"], "with percent signs and a decimal comma", 7.0),
        (["$5", '"$1,200"', "-$3.5"], "currency signs and thousands .*: '.1,200' is 1200", -3.5),
        (['"$1,200"', '"$2,300"'], "with currency signs and thousands separators", 2300.0),
        (['"€ 3,50"', '"1.234,50 €"'], "with currency signs and a decimal comma", 1234.5),
        (["5 USD", "EUR 7.25"], "with currency signs and is", 7.25),
        (["5", "n/a", "-", "?", "6", "7"], "3 cells that are not are .*'n/a' in row 2, '-'", 7.0),
    ],
)
def test_stray_cells_and_other_notations_are_announced(tmp_path, cells, message, values):
    path = write(tmp_path / "t.csv", "x,b\n" + "".join(f"{cell},1\n" for cell in cells))
    with pytest.warns(UserWarning, match=message):
        column = read_table(path)["x"]
    assert column.dtype == pl.Float64
    assert column[-1] == values


@pytest.mark.parametrize(
    ("cells", "announced"),
    [
        (["1.720", "35", "-4.321"], True),
        (["1.720", "35", "n.d.", *TEN[1:]], True),
        (["1.720", "35.000"], False),
        (["1.724", "35"], False),
        (["1.720", "35", "0.5"], False),
        (["1.720", "35", "0.500"], False),
    ],
)
def test_dots_that_may_separate_thousands_are_announced(tmp_path, cells, announced):
    path = write(tmp_path / "t.csv", "x,b\n" + "".join(f"{cell},1\n" for cell in cells))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = read_table(path)["x"]
    words = "'x' holds numbers like '1.720', which are read as decimals. If the dots"
    assert any(words in str(one.message) for one in caught) is announced
    assert values[0] == float(cells[0])


def test_a_column_with_many_cells_that_are_no_numbers_is_text_and_announced(tmp_path):
    path = write(tmp_path / "t.csv", "x,b\n1,1\n2,1\nred,1\n")
    with pytest.warns(UserWarning, match="'x' is read as text, because 1 of its 3 cells are not"):
        assert read_table(path)["x"].dtype == pl.String


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([f"{k} 234" for k in range(1, 50)], "numbers"),
        ([f"{k} kg" for k in range(50)], "numbers"),
        ([f"({k})" for k in range(50)], "numbers"),
        ([f"'{k}.5" for k in range(50)], "numbers"),
        ([f"{k % 12 + 1}/{k // 2 + 1}/2020" for k in range(50)], "dates"),
        ([f"{k % 12 + 1}-{k // 2 + 1}-20" for k in range(50)], "dates"),
        ([f"{k % 28 + 1:02d} {'May' if k % 2 else 'Sept.'} 20{k}" for k in range(10, 60)], "dates"),
        ([f"December {k % 28 + 1} 20{k}" for k in range(10, 60)], "dates"),
        (["2020-01-01", "2020-01-02", "never"], "dates"),
    ],
)
def test_text_that_looks_like_numbers_or_dates_is_announced(tmp_path, cells, kind):
    path = write(tmp_path / "t.csv", "x,b\n" + "".join(f"{cell},1\n" for cell in cells))
    with pytest.warns(UserWarning, match=f"'x' is read as text, because .* are not {kind} "):
        assert read_table(path)["x"].dtype == pl.String


def test_whole_numbers_that_may_be_dates_are_announced(tmp_path):
    path = write(tmp_path / "t.csv", "day,k\n20201231,20201231\n20200229,20201232\n")
    with pytest.warns(UserWarning, match="'day' holds whole numbers like 20201231, which are read"):
        assert read_table(path).dtypes == [pl.Int64, pl.Int64]


def test_few_values_with_a_unit_are_categories_without_a_word(tmp_path):
    text = "x,b\n" + "".join(f"{k % 24:02d} h,{k}\n" for k in range(100))
    assert read_table(write(tmp_path / "t.csv", text))["x"].dtype == pl.String


def test_names_and_times_of_day_are_text_without_a_word(tmp_path):
    text = "x,y,z\nA12,10:00,1-2\nB13,11:30,2-3\n"
    assert read_table(write(tmp_path / "t.csv", text)).dtypes == [pl.String] * 3


def test_times_with_a_zone_are_converted_to_utc_and_announced(tmp_path):
    text = "x,b\n2020-01-01T10:00:00Z,1\n2020-01-01T10:00:00+05:00,2\n"
    with pytest.warns(UserWarning, match="times in 'x' have a time zone and are converted to UTC"):
        frame = read_table(write(tmp_path / "t.csv", text))
    assert frame["x"].dtype == pl.Datetime("us")
    assert frame["x"].dt.hour().to_list() == [10, 5]
    zoned = frame.with_columns(pl.col("x").dt.replace_time_zone("UTC"))
    zoned.with_columns(pl.col("x").dt.convert_time_zone("Asia/Tokyo")).write_parquet(
        tmp_path / "t.pq"
    )
    assert read_table(tmp_path / "t.pq")["x"].to_list() == frame["x"].to_list()


def test_mostly_marks_of_missing_values_or_other_words_stay_text(tmp_path):
    for cells in (["1", "n/a", "?"], ["1", "2", "n/a", "red"]):
        path = write(tmp_path / "t.csv", "x,b\n" + "".join(f"{cell},1\n" for cell in cells))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert read_table(path)["x"].dtype == pl.String


def test_money_with_three_decimals_is_read_by_the_separator_of_the_file(tmp_path):
    path = write(tmp_path / "t.csv", "x;b\n1,459 €;1\n1,479 €;2\n")
    with pytest.warns(UserWarning, match="currency signs and a decimal comma"):
        assert read_table(path)["x"].to_list() == [1.459, 1.479]


def test_dates_with_a_stray_cell_stay_dates(tmp_path):
    days = [f"2020-01-{k:02d}" for k in range(1, 21)]
    path = write(tmp_path / "t.csv", "x,b\n" + "".join(f"{d},1\n" for d in [*days, "unknown"]))
    with pytest.warns(UserWarning, match="holds dates; 1 cell .* 'unknown' in row 21"):
        assert read_table(path)["x"].dtype == pl.Date


def test_a_date_beside_times_is_midnight(tmp_path):
    for cells in (["2020-01-01", "2020-01-02 12:00"], ["2020-01-02 12:00", "2020-01-01"]):
        path = write(tmp_path / "t.csv", f"x,b\n{cells[0]},1\n{cells[1]},2\n")
        hours = read_table(path)["x"].dt.hour().to_list()
        assert hours == [12 if ":" in cell else 0 for cell in cells]


@pytest.mark.filterwarnings("ignore:.*read as missing")
@pytest.mark.parametrize("stray", ["13/02/2020", "unknown"])
def test_dates_with_slashes_are_read_day_first_and_announced(tmp_path, stray):
    cells = ["01/02/2020"] * 9 + [stray]
    path = write(tmp_path / "t.csv", "x,b\n" + "".join(f"{cell},1\n" for cell in cells))
    with pytest.warns(UserWarning, match="dates in 'x' are read as day, month, year"):
        assert read_table(path)["x"][0].month == 2


def test_codes_with_leading_zeros_are_text(tmp_path):
    path = write(tmp_path / "t.csv", "zip,size,b\n007,00.5,1\n101,1.5,2\n")
    with pytest.warns(UserWarning, match="leading zeros are read as text in 'zip'"):
        frame = read_table(path)
    assert frame["zip"].to_list() == ["007", "101"]
    assert frame["size"].to_list() == [0.5, 1.5]
    mixed = write(tmp_path / "m.csv", "zip,word,b\n" + "007,x,1\n" * 20 + "A1,01,2\n")
    with pytest.warns(UserWarning, match="leading zeros are read as text in 'zip'\\."):
        assert read_table(mixed).dtypes == [pl.String, pl.String, pl.Int64]


def test_codes_in_one_file_are_codes_in_the_others(tmp_path):
    one = write(tmp_path / "1.csv", "zip,y\n007,0\n012,1\n")
    two = write(tmp_path / "2.csv", "zip,y\n101,0\n7,1\n")
    with pytest.warns(UserWarning, match="leading zeros"):
        frame = read_data([f"red={one}", f"white={two}"], None)
    assert frame["zip"].to_list() == ["007", "012", "101", "7"]


def test_names_are_read_as_they_are_written(tmp_path):
    path = write(tmp_path / "t.csv", "where,y,x\n1,1,1\n01,1.0,2\n1.0,01,3\n")
    frame = read_data([str(path)], "where", text=["y"])
    assert frame["where"].to_list() == ["1", "01", "1.0"]
    assert frame["y"].to_list() == ["1", "1.0", "01"]
    assert frame["x"].dtype == pl.Int64


def test_times_of_day_and_numbers_too_long_for_any_type(tmp_path):
    frame = read_table(write(tmp_path / "t.csv", "at,k\n10:00,1\n11:30,3\n"))
    assert frame["at"].to_list() == ["10:00", "11:30"]
    for long in ("9" * 45, str(10**20)):
        with pytest.raises(
            InputError, match="at most 1e.19 in absolute value; 'n' holds 1e.* in row 1"
        ):
            read_table(write(tmp_path / "t.csv", f"n,k\n{long},1\n2,3\n"))


@pytest.mark.parametrize("text", ["1,2\n,\n3,4\n", "1,2\nNA,\n3,4\n\n", "1,2\n,\n,\n\n"])
def test_empty_rows_are_announced_but_no_blank_lines_at_the_end(tmp_path, text):
    with pytest.warns(UserWarning, match="[12] rows are empty and left out, the first is row 2"):
        frame = read_table(write(tmp_path / "t.csv", f"a,b\n{text}"))
    assert frame["a"].to_list() == ([1, 3] if "3" in text else [1])


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_empty_rows_of_other_formats_are_rows(tmp_path, suffix):
    path = write_as(suffix, pl.DataFrame({"a": [1, None, 2, None]}), tmp_path)
    assert sum(piece.height for piece in Pieces.open(path)) == 4


def test_other_encodings_are_read_and_named(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\nété,1\nx,2\n".encode("latin-1"))
    assert read_table(path, encoding="latin-1")["a"].to_list() == ["été", "x"]
    with pytest.raises(InputError, match="--encoding must be a name like utf-8.*got 'latin-x'"):
        read_table(path, encoding="latin-x")
    with pytest.raises(InputError, match="--encoding must be a name.*got 'hex'"):
        read_table(path, encoding="hex")
    with pytest.raises(InputError, match="must be text in the encoding utf-8"):
        read_table(path, encoding="utf-8")
    with pytest.raises(InputError, match="got UTF-16. Read it with --encoding utf-16"):
        read_table(write(tmp_path / "u.csv", "a,b\n1,2\n".encode("utf-16")))
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "t.pq")
    with pytest.raises(InputError, match="--encoding can only be used with a text file"):
        read_table(tmp_path / "t.pq", encoding="latin-1")


def test_spreadsheets_and_json_lines_give_the_same_table(tmp_path):
    made = pl.DataFrame({"a": [1.5, None, 3.0], "b": ["x", "y", "NA"], "c": ["n.d.", "1", "2"]})
    made.write_excel(tmp_path / "t.xlsx")
    made.write_ndjson(tmp_path / "t.jsonl")
    with pytest.warns(UserWarning, match="'c' is read as text, because 1 of its 3 cells"):
        sheet = read_table(tmp_path / "t.xlsx")
    assert sheet.to_dict(as_series=False) == {
        "a": [1.5, None, 3.0],
        "b": ["x", "y", None],
        "c": ["n.d.", "1", "2"],
    }
    with pytest.warns(UserWarning, match="'c' is read as text, because 1 of its 3 cells"):
        lines = read_table(tmp_path / "t.jsonl")
    assert lines["a"].to_list() == [1.5, None, 3.0]


@pytest.mark.filterwarnings("ignore:.*leading zeros are read as text")
def test_text_of_json_lines_gets_types_as_in_other_text_files(tmp_path):
    lines = [f'{{"x": {k}.5, "day": "2020-01-{k:02d}", "code": "0{k}"}}' for k in range(1, 20)]
    lines[3] = lines[3].replace("4.5", '"n.d."')
    path = write(tmp_path / "t.jsonl", "\n".join(lines))
    with pytest.warns(UserWarning, match="'x' holds numbers; 1 cell .* missing: 'n.d.' in row 4"):
        frame = read_table(path)
    assert frame.dtypes == [pl.Float64, pl.Date, pl.String]


def write_as(suffix, frame, path):
    write = {"jsonl": "write_ndjson", "xlsx": "write_excel"}.get(suffix, f"write_{suffix}")
    getattr(frame, write)(path / f"t.{suffix}")
    return path / f"t.{suffix}"


FORMATS = pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "xlsx"])


@FORMATS
@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical])
def test_marks_of_missing_values_are_known_in_all_formats(tmp_path, suffix, dtype):
    frame = pl.DataFrame({"x": ["a", "?", "NA", ""], "k": [1, 2, -999, 4], "f": [1.5, -999, 2, 3]})
    path = write_as(suffix, frame.cast({"x": dtype}), tmp_path)
    for missing, n_missing in (((), (2, 0, 0)), (("?", "-999"), (3, 1, 1))):
        table = read_table(path, missing=missing)
        assert table.null_count().row(0) == n_missing
        assert table.dtypes[1:] == [pl.Int64, pl.Float64]


@FORMATS
@pytest.mark.parametrize("empty", [[], [None]])
def test_columns_are_read_as_text_in_all_formats(tmp_path, suffix, empty):
    path = write_as(suffix, pl.DataFrame({"k": [*empty, 7, -12], "x": [1, 2, *empty]}), tmp_path)
    assert read_table(path, text=["k"])["k"].to_list() == [*empty, "7", "-12"]
    if suffix == "parquet":  # as other programs write integers beside empty cells
        pl.read_parquet(path).cast(pl.Float64).write_parquet(path)
        assert read_table(path, text=["k"])["k"].to_list() == [*empty, "7", "-12"]


def test_rare_types_of_parquet_become_numbers_and_text(tmp_path):
    made = pl.DataFrame(
        {
            "lasted": [timedelta(seconds=1.5), None],
            "at": [time(9, 30), None],
            "kind": pl.Series(["a", None], dtype=pl.Enum(["a"])),
            "none": [None, None],
            "bytes": [b"\xff", None],
        }
    )
    made.write_parquet(tmp_path / "t.pq")
    with pytest.warns(UserWarning, match="Durations in 'lasted' are read as seconds"):
        frame = read_table(tmp_path / "t.pq")
    assert frame.row(0) == (1.5, "09:30:00", "a", None, b"\xff")
    kinds = ["number", "text", "text", "text", "other"]
    assert [column_kind(column) for column in frame] == kinds


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["1", "01"], pl.String),
        (["1", "1.0"], pl.String),
        (["true", "True"], pl.String),
        (["a b", "é"], pl.String),
        (["7", "12"], pl.Int64),
        (["0.5", "1.0"], pl.Float64),
        (["2020-01-31", "2020-02-01"], pl.Date),
    ],
)
def test_folders_that_are_named_differently_are_different(tmp_path, names, kind):
    for name in [*names, "__HIVE_DEFAULT_PARTITION__"]:
        folder = tmp_path / "data" / f"k={quote(name)}"
        folder.mkdir(parents=True)
        pl.DataFrame({"x": [1]}).write_parquet(folder / "t.parquet")
    column = read_table(tmp_path / "data")["k"]
    assert column.dtype == kind
    assert sorted(column.drop_nulls().cast(pl.String).to_list()) == sorted(names)
    assert column.null_count() == 1


def test_other_sheets_of_a_workbook_are_named(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        for sheet in ("2019", "2020"):
            pl.DataFrame({"a": [1, 2]}).write_excel(book, sheet)
    with pytest.warns(UserWarning, match="only the sheet '2019' is read.* Save the others, '2020'"):
        assert read_table(tmp_path / "t.xlsx").height == 2


def test_errors_of_formulas_in_a_workbook_are_announced(tmp_path):
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(2, 1, ["a", "b", "c"])
        for row in range(3, 13):
            sheet.write_row(row, 1, [row, f"x{row}", 0.5 * row])
        sheet.write_formula(4, 1, "=1/0", None, "#DIV/0!")
        for row, error in zip((4, 6, 7, 9), ("#N/A", "#REF!", "#NAME?", "#NUM!"), strict=True):
            sheet.write_formula(row, 2, "=NA()", None, error)
        sheet.write_string(5, 2, "#VALUE!")  # text that somebody typed
    with pytest.warns(UserWarning, match="read as missing") as said:
        frame = read_table(tmp_path / "t.xlsx")
    words = [str(one.message) for one in said]
    assert len(words) == 2
    assert (
        "'a': 1 cell is an error of a formula and read as missing: '#DIV/0!' in row 2" in words[0]
    )
    assert "'b': 4 cells are errors" in words[1]
    assert "'#N/A' in row 2, '#REF!' in row 4, '#NAME?' in row 5 and 1 more" in words[1]
    assert frame["a"].to_list() == [3, None, *range(5, 13)]
    assert frame["b"].to_list()[:5] == ["x3", None, "#VALUE!", None, None]


def test_numbers_of_a_workbook_are_not_rounded(tmp_path):
    values = [1.23456789e-10, 1 / 3, 0.1 + 0.2, -2e9 / 7, 1e-300, 0.0, 12.0]
    made = pl.DataFrame({"x": values, "y": [1.0, 2.0, 0.25, 1e-12, 3.0, 4.0, 5.0]})
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, made.columns)
        for number, row in enumerate(made.rows(), start=1):
            sheet.write_row(number, 0, row)
    frame = read_table(tmp_path / "t.xlsx", names=["y"])
    np.testing.assert_allclose(frame["x"], values, rtol=1e-15)
    assert frame["y"].to_list() == ["1", "2", "0.25", "1e-12", "3", "4", "5"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a", "a"], [1, 2]], "'a' more than once"),
        ([["a", None], [1, 2]], "column 2 has none"),
        ([["a", "b"]], "must have rows below its header"),
        ([], "the first line must hold the names of the columns"),
        ([[None, None, None], ["a", None, "b"], [1, None, 2], [None, None, 3]], None),
    ],
)
def test_names_of_columns_in_a_workbook_are_not_changed(tmp_path, rows, message):
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        sheet = book.add_worksheet()
        for number, cells in enumerate(rows):
            sheet.write_row(number, 0, cells)
    if message is None:
        frame = read_table(tmp_path / "t.xlsx")
        assert frame.to_dict(as_series=False) == {"a": [1, None], "b": [2, 3]}
    else:
        with pytest.raises(InputError, match=message):
            read_table(tmp_path / "t.xlsx")


def test_json_lines_may_begin_with_a_byte_order_mark(tmp_path):
    path = write(tmp_path / "t.jsonl", '\ufeff{"a": 1}\r\n{"a": 2}\r\n')
    assert read_table(path)["a"].to_list() == [1, 2]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ('"a;b;c",x', ["a;b;c", "x"]),
        ('"a,b,c";"d"', ["a,b,c", "d"]),
        ('"a|""b|\n|c"\te', ['a|"b|\n|c', "e"]),
    ],
)
def test_separators_inside_quoted_names_do_not_count(tmp_path, header, names):
    assert TextFile.open(write(tmp_path / "t.csv", f"{header}\n")).names == names


def test_parquet_columns_must_have_names(tmp_path):
    pl.DataFrame({"": [1, 2], "b": [3, 4]}).write_parquet(tmp_path / "t.pq")
    with pytest.raises(InputError, match="must have a name in the header; column 1 has none"):
        read_table(tmp_path / "t.pq")


def test_pipes_and_cells_that_break_the_reader(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(InputError, match="must be a regular file; got a pipe"):
        read_table(tmp_path / "t.csv")
    huge = write(tmp_path / "h.csv", 'a,b\n"' + "x" * 200_000 + '",1\n')
    with pytest.raises(InputError, match="line 2: cannot be read as a table: field larger"):
        read_table(huge)
