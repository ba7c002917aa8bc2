"""The three forms of a report say the same, and nothing of the user's text becomes markup."""

import json
import re
import sys
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from landbridge import _palette
from landbridge.report import render_html, render_json, render_markdown, write_report
from landbridge.report.blocks import P_VALUE, THREE_DIGITS, Column, make_table
from landbridge.report.graph import Graph, Marks, interval_graph

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
    # One axis and a graph per row: ranking, features that moved, sources, their intervals, effects.
    assert found.tags.count("svg") == (1 + 8) + 2 * (1 + 10) + (1 + 5) + (1 + 3) + (1 + 2)


def test_many_classes_have_their_most_frequent_mistake_instead_of_a_matrix():
    summary, n = example_summary(), 13
    confusion = [[0.0] * n for _ in range(n)]
    confusion[0][:3] = 5.0, 1.0, 2.0
    names = [f"class {k}" for k in range(n)]
    figures = {"rows": [8.0] * n, "recall": [0.6] * n, "precision": [0.5] * n}
    summary["ranking"]["classes"] |= {"names": names, "confusion": confusion, **figures}
    words = render_markdown(summary)
    assert "| class 0 | 8 | 0.60 | 0.50 | class 2 | 2 |" in words
    assert "| class 1 | 8 | 0.60 | 0.50 | – | – |" in words
    assert "predicted class" not in words


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
    page = render_html(summary)
    assert 'class="zero"' not in page
    assert "--strength:" not in page


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
    ends = (0.2, 0.9) if best_is_high else (0.9, 0.2)
    values = [["a", 0.2], ["b", 0.9], ["c", 0.5], ["d", None]]
    table = make_table([Column("name"), Column("score", ".2f", shaded=ends)], values)
    strengths = [row[1].strength for row in table.rows]
    order = [0, 2, 1] if best_is_high else [1, 2, 0]
    assert strengths[order[0]] < strengths[order[1]] < strengths[order[2]] < 0.6
    assert strengths[3] == 0


@pytest.mark.parametrize("higher", [True, False])
def test_the_best_source_of_a_candidate_has_the_strongest_colour(higher):
    summary = example_summary()
    summary["ranking"]["higher_is_better"] = higher
    page = render_html(summary)
    strengths = dict(re.findall(r'--strength: ([\d.]+)%">([\d.]+)<', page))
    by_score = {score: float(strength) for strength, score in strengths.items()}
    assert (by_score["0.550"] > by_score["0.430"]) is higher


def positions(markup, name):
    return [float(x) for x in re.findall(rf'{name}="([\d.]+)%"', str(markup))]


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 4e11, ["0", "200×10⁹", "400×10⁹"]),
        (1.2e6, 1.3e6, ["1.20×10⁶", "1.28×10⁶"]),
        (0, 1e-5, ["0", "4×10⁻⁶", "8×10⁻⁶"]),
        (-5e11, 1e11, ["-500×10⁹", "-100×10⁹"]),
        (0, 4e5, ["0", "200000", "400000"]),
        (0, 0.5, ["0.0", "0.2", "0.4"]),
    ],
)
def test_ticks_have_engineering_exponents_only_where_numbers_would_be_long(low, high, labels):
    assert [text for _, text in interval_graph([(low, low, high)]).ticks] == labels


def test_marks_lie_on_the_axis_of_their_graph():
    graph = interval_graph([(0.5, 0.4, 0.6), (None, None, None)], include=[0.2, 1.0], zero=0.0)
    (dot,) = positions(graph.row(0), "cx")
    assert dot == pytest.approx(50.0)  # halfway between zero and the largest number
    line = re.search(r'x1="([\d.]+)%" x2="([\d.]+)%" y1="50%"', graph.row(0))
    assert [float(x) for x in line.groups()] == pytest.approx([41.2, 58.8])
    assert "circle" not in graph.row(1)
    assert "range" not in graph.row(1)
    labels = re.findall(r'x="([\d.]+)%"[^>]*>([\d.]+)<', graph.axis())
    assert [(float(x), float(text)) for x, text in labels] == [
        pytest.approx((6 + 88 * tick, tick)) for tick in (0.0, 0.4, 0.8)
    ]
    assert positions(graph.row(0), "x1")[:3] == [float(x) for x, _ in labels]
    bar = Graph([Marks(bar=0.25)], include=[0.0, 1.0]).row(0)
    assert (positions(bar, "x"), positions(bar, "width")) == ([6.0], [22.0])
    above_zero = interval_graph([(0.6, 0.4, 0.8), (0.5, 0.4, 0.6)])
    assert positions(above_zero.row(0), "cx") == pytest.approx([50.0])
    assert positions(above_zero.row(1), "cx") == pytest.approx([28.0])


@pytest.mark.parametrize("values", [[0.0], [5e-9], [-3.0, 4e7], [0.123456, 0.123457]])
def test_an_axis_has_room_for_the_labels_of_its_ticks(values):
    labels = [text for _, text in interval_graph([(x, None, None) for x in values]).ticks]
    assert len(set(labels)) == len(labels) >= 1
    assert sum(map(len, labels)) <= 27


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0.675, 0.0123, None], ["0.675", "0.012", "–"]),
        ([1.0, 0.5], ["1.000", "0.500"]),
        ([157.04, -46.32], ["157", "-46"]),
        ([123456.7, 1.0], ["123 500", "1"]),
        ([0.0, None], ["0", "–"]),
        ([4e-9, 2e-8], ["4.000e-09", "2.000e-08"]),
    ],
)
def test_numbers_of_a_column_have_three_digits_of_the_largest(values, shown):
    table = make_table([Column("a", THREE_DIGITS), Column("b")], [[x, "b"] for x in values])
    assert [row[0].text for row in table.rows] == shown


@pytest.mark.parametrize(
    ("width", "shown"), [(0.2, "0.550"), (0.02, "0.550"), (0.001, "0.5500"), (0.0, "0.550")]
)
def test_scores_have_the_decimals_of_their_narrowest_interval(width, shown):
    summary = example_summary()
    for row in summary["ranking"]["candidates"][:7]:
        row |= {"low": row["score"] - width / 2, "high": row["score"] + width / 2}
    assert f">{shown}<" in render_html(summary)


def test_columns_without_values_are_left_out_and_p_values_are_never_zero():
    columns = [Column("name"), Column("none", ".2f"), Column("blank"), Column("p", P_VALUE)]
    rows = [["a", None, "", 0.0], ["b", float("inf"), None, 0.0123], ["c", None, "", 0.00111]]
    table = make_table(columns, rows)
    assert [column.title for column in table.columns] == ["name", "p"]
    shown = [[cell.text for cell in row] for row in table.rows]
    assert shown == [["a", "< 0.001"], ["b", "0.012"], ["c", "0.0011"]]
    assert len(make_table(columns, []).columns) == 4


def test_the_style_sheet_and_the_displays_have_the_same_colours():
    sheet = files("landbridge.report").joinpath("templates/report.css").read_text()
    names = {"accent": _palette.ACCENT, "strong": _palette.STRONG, "quiet": _palette.QUIET}
    for name, colour in (names | {"ink": _palette.INK}).items():
        assert f"--{name}: {colour};" in sheet
