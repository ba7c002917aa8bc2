"""Ways of writing the same table, ways of breaking it, and notations of labels and domains."""

import contextlib
import warnings

import polars as pl
import pytest

from landbridge.cli._options import TableOptions
from landbridge.cli._problem import read_problem

from .conftest import QUESTION, run

pytestmark = pytest.mark.slow

# What leaves the meaning of the table alone.
SAME = {
    "as it is": lambda t: t.encode(),
    "byte order mark": lambda t: b"\xef\xbb\xbf" + t.encode(),
    "windows lines": lambda t: t.replace("\n", "\r\n").encode(),
    "no last line end": lambda t: t.rstrip("\n").encode(),
    "blank lines at the end": lambda t: (t + "\n\n\n").encode(),
    "semicolons": lambda t: t.replace(",", ";").encode(),
    "tabs": lambda t: t.replace(",", "\t").encode(),
    "bars": lambda t: t.replace(",", "|").encode(),
    "quoted cells": lambda t: "\n".join(
        ",".join(f'"{c}"' for c in line.split(",")) for line in t.splitlines()
    ).encode(),
    "blank line inside": lambda t: t.replace("\n", "\n\n", 4).encode(),
    "rows of empty cells inside": lambda t: "\n".join(
        [*t.splitlines()[:5], "," * 7, *t.splitlines()[5:]]
    ).encode(),
    "decimal commas": lambda t: t.replace(",", ";").replace(".", ",").encode(),
    "true in capitals": lambda t: t.replace("true", "TRUE").replace("false", "FALSE").encode(),
}
# What must be refused, or be announced with a caution.
BROKEN = {
    "empty": lambda t: b"",
    "header only": lambda t: t.splitlines()[0].encode(),
    "one byte": lambda t: b"\x00",
    "binary": lambda t: bytes(range(256)) * 20,
    "zip": lambda t: b"PK\x03\x04" + t.encode(),
    "cut inside a line": lambda t: t[: len(t) // 2 + 3].encode(),
    "short row": lambda t: t.replace(",red,", ",", 1).encode(),
    "long row": lambda t: t.replace(",red,", ",red,extra,", 1).encode(),
    "column twice": lambda t: t.replace("colour", "size", 1).encode(),
    "column without a name": lambda t: t.replace("colour", "", 1).encode(),
    "latin-1": lambda t: t.replace("rose", "rosé").encode("latin-1"),
    "utf-16": lambda t: t.encode("utf-16"),
    "utf-16 without a mark": lambda t: t.encode("utf-16-le"),
    "open quote": lambda t: t.replace("red", '"red', 1).encode(),
    "comment before the header": lambda t: ("# exported by a tool\n" + t).encode(),
    "label missing": lambda t: t.replace("good", "bad", 1).encode(),
    "domain missing": lambda t: t.replace("where", "there", 1).encode(),
    "no header": lambda t: t.split("\n", 1)[1].encode(),
    "html": lambda t: b"<html><body>Please log in</body></html>\n",
    "json": lambda t: b'{"rows": [1, 2, 3]}\n',
    "infinity": lambda t: t.encode() + b"inf,1,red,001,2020-01-01,true,001,1\n",
    "1e308": lambda t: t.encode() + b"1e308,1,red,001,2020-01-01,true,001,1\n",
    "new domain of one row": lambda t: t.encode() + b"0.1,1,red,001,2020-01-01,true,1.0,1\n",
    "empty domain": lambda t: t.encode() + b"0.1,1,red,001,2020-01-01,true,,1\n",
    "stray number": lambda t: t.encode() + b"n.d.,1,red,001,2020-01-01,true,001,1\n",
    "stray date": lambda t: t.encode() + b"0.1,1,red,001,unknown,true,001,1\n",
    "escape in a name": lambda t: t.replace("colour", "col\x1b[2Jour", 1).encode(),
    "label written in two ways": lambda t: t.encode() + b"0.1,1,red,001,2020-01-01,true,001,1.0\n",
    "label with a space": lambda t: t.encode() + b"0.1,1,red,001,2020-01-01,true,001,1 \n",
    "domain with a space": lambda t: t.encode() + b"0.1,1,red,001,2020-01-01,true,001 ,1\n" * 3,
}


def read(path):
    """What the program understands of the table, and what it says about it."""
    table = TableOptions(data=[str(path)], label="good", domain="where")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        problem = read_problem(table, lambda _: None, target="003")
    return problem, " ".join(str(entry.message) for entry in caught)


@pytest.mark.parametrize("name", SAME)
def test_the_same_table_written_differently_is_understood_alike(world, tmp_path, name):
    text = (world.folder / "table.csv").read_text()
    path = tmp_path / "t.csv"
    path.write_bytes(SAME[name](text))
    expected, _ = read(world.folder / "table.csv")
    found, _ = read(path)
    assert found.features.equals(expected.features.select(found.features.columns))
    assert found.labels.equals(expected.labels)
    assert (found.domains == expected.domains).all()


@pytest.mark.parametrize("command", ["evaluate", "diagnose"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_table_is_refused_or_announced(world, tmp_path, name, command):
    path = tmp_path / "t.csv"
    path.write_bytes(BROKEN[name]((world.folder / "table.csv").read_text()))
    if command == "evaluate":
        ended = run("evaluate", path, *QUESTION[:4], "--model", "GaussianNB")
    else:
        ended = run("diagnose", path, *QUESTION, "--max-rows", 20)
    ended.check_clear()
    if name not in ("escape in a name",):
        assert ended.code == 2 or "caution" in ended.err, ended.err


LABELS = ["1", "01", "1.0", "+1", "1e0", " 1", "yes", "Yes", "YES", "true", "TRUE", "0", "00", "-0"]


@pytest.mark.parametrize("first", LABELS)
@pytest.mark.parametrize("column", ["good", "where"])
def test_names_that_are_written_differently_are_different(world, tmp_path, first, column):
    values = world.table[column].to_list()
    for second in LABELS:
        if first == second:
            continue
        names = dict(zip(dict.fromkeys(values), (first, second, "003"), strict=False))
        frame = world.table.with_columns(pl.Series(column, [names[v] for v in values]))
        frame.write_csv(tmp_path / "t.csv")
        problem, cautions = read(tmp_path / "t.csv")
        found = problem.labels.to_list() if column == "good" else problem.domains.tolist()
        assert found == frame[column].to_list()
        alike = first.strip().casefold() == second.strip().casefold()
        with contextlib.suppress(ValueError):
            alike = alike or float(first) == float(second)
        assert (f"'{column}' holds" in cautions) == alike


PAIRS = {
    "numbers": "1.5",
    "text": "blue",
    "dates": "2020-01-05",
    "true and false": "true",
    "codes": "007",
    "times": "2020-01-05T10:00:00",
}


@pytest.mark.parametrize("first", PAIRS)
@pytest.mark.parametrize("second", PAIRS)
def test_files_with_other_types_are_never_put_together_silently(tmp_path, first, second):
    for name, kind in (("a", first), ("b", second)):
        rows = "".join(f"{PAIRS[kind]},{k},{k % 2}\n" for k in range(6))
        (tmp_path / f"{name}.csv").write_text("x,size,good\n" + rows)
    ended = run("evaluate", "a=a.csv", "b=b.csv", "--label", "good", "--model", "GaussianNB")
    ended.check_clear()
    if first != second:
        text = {"text", "codes"}
        assert ended.code == 2 or {first, second} <= text or "caution" in ended.err
