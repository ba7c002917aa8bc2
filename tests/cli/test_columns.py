"""What a model remembers of its columns, and what it says about new rows."""

from dataclasses import dataclass
from datetime import date, datetime

import numpy as np
import polars as pl
import pytest

from landbridge.cli._columns import RowChecker, check_card, describe_columns
from landbridge.cli._session import InputError
from landbridge.cli._tables import read_table


@dataclass
class Checked:
    frame: pl.DataFrame
    outside: np.ndarray
    cautions: list[str]


def check_new_rows(frame, columns, **options):
    checker = RowChecker(columns, **options)
    rows = checker.check(frame)
    return Checked(rows.frame, rows.outside, checker.cautions())


SEEN = pl.DataFrame(
    {
        "size": [1, 5, None],
        "colour": ["red", "white", None],
        "when": [date(2020, 1, 1), date(2020, 2, 1), None],
        "at": [datetime(2020, 1, 1, 3), datetime(2020, 1, 2), None],
        "old": [True, False, None],
        "empty": pl.Series([None, None, None], dtype=pl.String),
        "text": ["a b", "c d", "e"],
    }
)


def test_columns_are_described_with_their_range_or_values():
    found = {column["name"]: column for column in describe_columns(SEEN)}
    assert found["size"] == {
        "name": "size",
        "type": "number",
        "missing": True,
        "low": 1.0,
        "high": 5.0,
    }
    assert found["colour"]["values"] == ["red", "white"]
    assert (found["when"]["low"], found["when"]["high"]) == ("2020-01-01", "2020-02-01")
    assert found["at"]["type"] == "time"
    assert found["old"]["type"] == "true or false"
    assert "values" not in found["empty"]


def test_free_text_has_no_list_of_values():
    column = pl.DataFrame({"text": [f"words {k}" for k in range(100)]})
    assert "values" not in describe_columns(column)[0]


def test_the_rows_of_training_lie_inside():
    rows = check_new_rows(SEEN, describe_columns(SEEN))
    assert rows.outside.tolist() == [0, 0, 0]
    assert rows.cautions == []


def test_rows_outside_are_counted_with_what_is_strange():
    new = SEEN.with_columns(
        pl.Series("size", [9.5, 2.0, None]),
        pl.Series("colour", ["rosé", "red", None]),
        pl.Series("when", [date(2021, 1, 1), date(2019, 1, 1), None]),
        pl.Series("at", [datetime(2020, 1, 1, 3), datetime(2020, 1, 2), None]),
    )
    rows = check_new_rows(new.reverse().reverse(), describe_columns(SEEN))
    assert rows.outside.tolist() == [3, 1, 0]
    assert rows.cautions == [
        "size: 1 of 3 rows lie outside 1 to 5",
        "colour: 1 of 3 rows hold a new value: 'rosé'",
        "when: 2 of 3 rows lie outside 2020-01-01 to 2020-02-01",
    ]


def test_other_order_extra_columns_and_convertible_types_are_accepted():
    new = SEEN.select(reversed(SEEN.columns)).with_columns(
        pl.Series("size", ["2", "3.5", None]),
        pl.Series("empty", [1, 2, 3]),
        pl.lit(1).alias("extra"),
    )
    rows = check_new_rows(new, describe_columns(SEEN))
    assert rows.frame.columns == SEEN.columns
    assert rows.frame["size"].to_list() == [2.0, 3.5, None]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pl.Series("size", ["2", "big", None]), "'size' must hold numbers.*got 'big'"),
        (pl.Series("size", [True, False, None]), "'size' must hold numbers.*got True"),
        (pl.Series("when", ["soon", None, None]), "'when' must hold.*date.*got 'soon'"),
        (pl.Series("colour", [None, ["red"], ["a"]]), "'colour' must hold.*'text'.*got .'red'."),
        (pl.Series("colour", [b"red", None, None]), "'colour' must hold.*'text'.*got b'red'"),
    ],
)
def test_types_that_do_not_fit_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        check_new_rows(SEEN.with_columns(change), describe_columns(SEEN))


def test_missing_columns_are_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="'size' is missing. Did you mean 'siz'"):
        check_new_rows(SEEN.rename({"size": "siz"}), describe_columns(SEEN))


def test_stray_cells_are_missing_named_and_counted():
    new = pl.DataFrame({"size": ["2", "n.d.", "3"], "when": ["2020-01-02", "2020-01-03", "soon"]})
    seen = describe_columns(SEEN.select("size", "when"))
    rows = check_new_rows(new, seen)
    assert rows.frame["size"].to_list() == [2.0, None, 3.0]
    assert rows.frame["when"].to_list() == [date(2020, 1, 2), date(2020, 1, 3), None]
    assert rows.outside.tolist() == [0, 1, 1]
    assert rows.cautions == [
        "size: read as missing, because it is not of type number: 'n.d.' in row 2",
        "when: read as missing, because it is not of type date: 'soon' in row 3",
    ]


def test_cells_that_are_empty_as_never_in_training_count_as_outside():
    seen = describe_columns(pl.DataFrame({"size": [1.0, 2.0], "colour": ["red", None]}))
    new = pl.DataFrame(
        {"size": [None, None], "colour": [None, "red"]}, schema_overrides={"size": str}
    )
    rows = check_new_rows(new, seen)
    assert rows.outside.tolist() == [1, 1]
    assert rows.cautions == ["size: 2 of 2 rows have no value, which never happened in training"]


def test_text_of_training_is_compared_as_it_is_written():
    seen = describe_columns(pl.DataFrame({"zip": ["007", "012", "A1"]}))
    assert check_new_rows(pl.DataFrame({"zip": ["007", "012"]}), seen).cautions == []
    rows = check_new_rows(pl.DataFrame({"zip": ["7", "012"]}), seen)
    assert rows.cautions == ["zip: 1 of 2 rows hold a new value: '7'"]
    with pytest.raises(InputError, match="'zip' must hold values of the type 'text'.*got 7"):
        check_new_rows(pl.DataFrame({"zip": [7, 12]}), seen)


def test_days_first_in_new_rows_are_announced_once():
    seen = describe_columns(pl.DataFrame({"day": [date(2020, 1, 1), date(2020, 12, 31)]}))
    checker = RowChecker(seen)
    new = pl.DataFrame({"day": ["01/05/2020", "02/05/2020"]})
    with pytest.warns(UserWarning, match="new rows: the dates in 'day' are read as day, month"):
        found = checker.check(new).frame["day"].to_list()
    assert found == [date(2020, 5, 1), date(2020, 5, 2)]
    checker.check(new)


@pytest.mark.parametrize("cell", ["2020-01-01T10:00:00Z", "2020-01-01T15:00:00+05:00"])
def test_new_times_with_a_zone_are_announced_and_compared_in_utc(cell):
    seen = describe_columns(SEEN.select("at"))
    with pytest.warns(UserWarning, match="new rows: the times in 'at' have a time zone"):
        rows = check_new_rows(pl.DataFrame({"at": [cell]}), seen)
    assert rows.frame["at"].to_list() == [datetime(2020, 1, 1, 10)]
    assert rows.outside.tolist() == [0]


def test_a_card_with_ends_in_a_time_zone_was_edited():
    seen = describe_columns(SEEN.select("at"))
    check_card({"columns": seen}, "m.skops")
    for end in ("low", "high"):
        edited = [{**seen[0], end: "2020-01-01T03:00:00+00:00"}]
        with pytest.raises(InputError, match="m.skops: the columns on its card .* were edited"):
            check_card({"columns": edited}, "m.skops")


def test_large_whole_numbers_are_read_as_in_training(tmp_path):
    (tmp_path / "t.csv").write_text("n,k\n9000000000000000001,1\n9000000000000000005,2\n")
    seen = describe_columns(read_table(tmp_path / "t.csv"))
    rows = check_new_rows(pl.read_csv(tmp_path / "t.csv", infer_schema_length=0), seen)
    assert rows.frame["n"].null_count() == 0
    assert rows.outside.tolist() == [0, 0]


def test_decimal_commas_in_new_rows_are_announced():
    seen = describe_columns(pl.DataFrame({"size": [1.0, 2.0]}))
    new = pl.DataFrame({"size": ["1,234", "1,5"]})
    with pytest.warns(UserWarning, match="new rows: 'size' holds numbers with a decimal comma"):
        assert check_new_rows(new, seen).frame["size"].to_list() == [1.234, 1.5]
    with pytest.warns(UserWarning, match="thousands separators .*: '1,234' is 1234"):
        assert check_new_rows(new.head(1), seen).outside.tolist() == [1]
    with pytest.warns(UserWarning, match="decimal comma"):
        check_new_rows(new.head(1), seen, comma_separated=False)
