"""The three forms of a report say the same, and nothing of the user's text becomes markup."""

import json
import re
import sys
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from landbridge import _palette
from landbridge.report import render_html, render_json, render_markdown, write_report
from landbridge.report.blocks import P_VALUE, Column, make_table
from landbridge.report.pictures import matrix_picture

from .example import EVIL, example_summary


class Text(HTMLParser):
    """Tags and visible text of a page."""

    def __init__(self, page: str):
        super().__init__()
        self.tags, self.words, self.addresses = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.words.append(data)


def test_html_is_one_small_file_that_asks_for_nothing():
    page = render_html(example_summary())
    assert len(page.encode()) < 3_000_000
    found = Text(page)
    assert [link for link in found.addresses if link[0] != "#"] == ["data:,"]
    assert "@import" not in page
    assert not re.findall(r"url\((?!data:)", page)
    assert found.tags.count("script") == 1
    assert found.tags.count("svg") == 7


def test_text_of_the_user_is_escaped_everywhere():
    page = render_html(example_summary())
    assert EVIL not in page
    assert page.count("&lt;script&gt;alert(1)") > 10
    lines = render_markdown(example_summary()).splitlines()
    code = [line for line in lines if EVIL in line]  # shown as it is written, by its indentation
    assert len(code) == 1
    assert code[0].startswith("    landbridge select")


def test_markdown_has_no_control_characters():
    summary = example_summary()
    summary["title"] = summary["origin"]["command"] = "red \x1b[31m"
    written = render_markdown(summary)
    assert written.startswith(r"# red \\x1b\[31m")
    assert r"    red \x1b[31m" in written
    assert "\x1b" not in written


def test_every_form_holds_the_verdict_the_checks_and_the_numbers():
    summary = example_summary()
    html = " ".join(Text(render_html(summary)).words)
    markdown = render_markdown(summary)
    for form in (html, markdown):
        assert summary["verdict"][0] in form
        for check in summary["checks"]:
            assert check["text"] in form
        assert "0.550" in form
        assert "s4" in form
        assert "alcohol" in form
        assert "rosé" in form
    assert json.loads(render_json(summary)) == summary


def test_markdown_tables_have_as_many_cells_as_columns():
    lines = render_markdown(example_summary()).splitlines()
    tables = [n for n, line in enumerate(lines) if re.fullmatch(r"\|( -+:? \|)+", line)]
    assert len(tables) >= 9
    for n in tables:
        width = lines[n].count("|")
        assert lines[n - 1].count("|") == width
        assert lines[n + 1].replace("\\|", "").count("|") == width


def test_parts_that_are_missing_are_left_out():
    summary = example_summary()
    for part in ("ranking", "shift", "sources", "features"):
        summary[part] = None
    page = render_html(summary)
    assert "<svg" not in page
    assert "Data" in page
    summary = example_summary()
    summary["features"]["picked"] = []
    summary["ranking"]["matrix"] = summary["ranking"]["pairwise"] = None
    assert render_html(summary).count("<svg") == 4


@pytest.mark.parametrize("suffix", ["html", "md", "json"])
def test_reports_are_written_by_their_ending(tmp_path, suffix):
    write_report(example_summary(), tmp_path / f"r.{suffix}")
    assert (tmp_path / f"r.{suffix}").stat().st_size > 1000
    with pytest.raises(ValueError, match="must end in .html"):
        write_report(example_summary(), tmp_path / "r.pdf")


def test_the_extra_is_named_when_jinja_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match="landbridge\\[report\\]"):
        render_html(example_summary())


@pytest.mark.parametrize("best_is_high", [True, False])
def test_the_better_the_number_the_stronger_the_colour(best_is_high):
    values = [[0.2, 0.9, 0.5, None]]
    picture = matrix_picture(
        ["row"], ["a", "b", "c", "d"], values, description="", best_is_high=best_is_high
    )
    strengths = [float(o) for o in re.findall(r'fill-opacity="([\d.]+)"', picture)]
    order = [0, 2, 1] if best_is_high else [1, 2, 0]
    assert [strengths[k] for k in order] == sorted(strengths[:3])
    assert strengths[order[0]] < strengths[order[1]] < strengths[order[2]]
    assert strengths[3] == 0


def test_columns_without_values_are_left_out_and_p_values_are_never_zero():
    columns = [Column("name"), Column("none", ".2f"), Column("blank"), Column("p", P_VALUE)]
    rows = [["a", None, "", 0.0], ["b", float("inf"), None, 0.0123], ["c", None, "", 1e-299]]
    table = make_table(columns, rows)
    assert [column.title for column in table.columns] == ["name", "p"]
    shown = [[cell.text for cell in row] for row in table.rows]
    assert shown == [["a", "<1e-300"], ["b", "0.012"], ["c", "1e-299"]]
    assert len(make_table(columns, []).columns) == 4


def test_the_style_sheet_and_the_displays_have_the_same_colours():
    sheet = files("landbridge.report").joinpath("templates/report.css").read_text()
    names = {"accent": _palette.ACCENT, "strong": _palette.STRONG, "quiet": _palette.QUIET}
    for name, colour in (names | {"ink": _palette.INK, "line": _palette.LINE}).items():
        assert f"--{name}: {colour};" in sheet
