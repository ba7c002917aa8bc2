"""Tables and words in a terminal of any width, and in a pipe."""

import io
import json
import re
import sys

import pytest
from rich.console import Console

from landbridge.cli._session import command_line, print_block, session
from landbridge.report.blocks import Column, Text, make_table

from .test_commands import SELECT

WORDS = "The nearest source is red; a classifier tells it from the target without a mistake."


def printed(block, width):
    file = io.StringIO()
    print_block(Console(file=file, width=width, highlight=False), block)
    return file.getvalue()


def wide_table():
    columns = [Column("name"), *(Column(f"score of model {k}", ".4f") for k in range(8))]
    columns += [Column("seconds", ".0f", minor=True), Column("what it says")]
    values = [
        [name, *(row + k / 10 for k in range(8)), 777, WORDS] for row, name in enumerate("ab")
    ]
    return make_table(columns, values)


@pytest.mark.parametrize("width", [40, 80, 100, 220])
def test_a_table_keeps_to_the_width_and_loses_no_figure(width):
    shown = printed(wide_table(), width)
    assert max(map(len, shown.splitlines())) <= width
    for row in range(2):
        for k in range(8):
            assert f" {row + k / 10:.4f} " in shown
    assert set(WORDS.split()) <= set(shown.split())
    # A column of little interest gives way before the table is cut in parts.
    assert ("777" in shown) is (width == 220)


def test_parts_of_a_table_repeat_the_first_column():
    table = make_table(
        [Column("name"), Column("x" * 20, "d"), Column("y" * 20, "d")], [["a", 1, 2]]
    )
    assert printed(table, 52).count("name") == 1
    assert re.findall(r"a +(\d)", printed(table, 51)) == ["1", "2"]


def test_paragraphs_are_wrapped_and_code_is_not():
    assert max(map(len, printed(Text(WORDS), 30).splitlines())) <= 30
    assert printed(Text(WORDS, "code"), 30) == f"{WORDS}\n"


@pytest.mark.parametrize(("columns", "width"), [(None, 80), ("120", 120)])
def test_what_is_piped_has_80_columns_or_as_many_as_asked_for(
    landbridge, table, monkeypatch, columns, width
):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    lines = landbridge("select", table, *SELECT).stdout.splitlines()
    assert width - 20 < max(map(len, lines)) <= width


def test_failed_candidates_point_to_an_option_that_shows_why(landbridge, table):
    (landbridge.folder / "few.yaml").write_text(
        "nb: GaussianNB\nbad: {estimator: LogisticRegression, params: {max_iter: -1}}\n"
    )
    said = landbridge("select", table, *SELECT).stderr
    assert "cells failed" in said
    assert "--debug shows the tracebacks" in said
    assert "results_" not in said
    assert "Traceback" not in said
    assert "Traceback" in landbridge("select", table, *SELECT, "--debug").stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
@pytest.mark.parametrize("as_json", [True, False])
def test_signs_that_the_output_cannot_encode_are_escaped(monkeypatch, encoding, as_json):
    file = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(file, encoding=encoding))
    name = "größe – →"
    with session(as_json, debug=False) as current:
        current.show({"name": name}, [Text(name)])
        sys.stdout.flush()
    shown = file.getvalue().decode(encoding)
    assert not as_json or json.loads(shown) == {"name": name}
    assert as_json or shown.strip() == name.encode(encoding, "backslashreplace").decode(encoding)


def test_a_file_name_outside_utf8_is_escaped_in_the_command(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["landbridge", "t\udcff.csv"])
    assert command_line() == "landbridge 't\\udcff.csv'"
