"""The report in a real Chromium: quiet, self-contained, readable in light and dark, sortable."""

import pytest

from landbridge.report import write_report

from .chromium import browser
from .example import example_summary

# Relative luminance and contrast as the Web Content Accessibility Guidelines define them.
CONTRASTS = """
const channel = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
const light = c => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number);
  return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b); };
const paper = light(getComputedStyle(document.body).backgroundColor);
return [...document.querySelectorAll("p, h1, h2, h3, td, th, dd, dt, figcaption, .state, svg text")]
  .map(e => { const style = getComputedStyle(e);
    const ink = light(e instanceof SVGElement ? style.fill : style.color);
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05); });
"""
FIRST_TABLE = 'const table = document.querySelector("table.sortable");'
BOXES = """
return [...document.querySelectorAll("svg")].map(s => { const b = s.getBoundingClientRect();
  return [b.width, b.height, s.querySelectorAll("text").length]; });
"""
CUT_OFF = """
return [...document.querySelectorAll("svg")].flatMap(s => {
  const outer = s.getBoundingClientRect();
  return [...s.querySelectorAll("text")].filter(t => { const b = t.getBoundingClientRect();
    return b.left < outer.left - 1 || b.right > outer.right + 1 ||
      b.top < outer.top - 1 || b.bottom > outer.bottom + 1; }).map(t => t.textContent); });
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    write_report(example_summary(), folder / "report.html")
    with browser(folder) as opened:
        opened.call("url", url="about:blank")
        opened.requests()
        opened.open(folder / "report.html")
        yield opened


def test_no_errors_and_no_requests(page):
    assert page.console() == []
    asked = page.requests()
    assert len(asked) == 1
    assert asked[0].startswith("file:///")
    assert page.run("return document.querySelectorAll('script').length") == 1


def test_every_picture_is_visible_with_text_that_can_be_selected(page):
    boxes = page.run(BOXES)
    assert len(boxes) == 7
    assert all(width > 300 and height > 60 and texts > 3 for width, height, texts in boxes)
    selected = page.run(
        "getSelection().selectAllChildren(document.querySelector('svg'));"
        "return getSelection().toString()"
    )
    assert "pooled linear" in selected


def test_no_text_of_a_picture_is_cut_off(page):
    assert page.run(CUT_OFF) == []


def test_tables_sort_on_a_click_and_back(page):
    def click(column):
        page.run(f"{FIRST_TABLE} table.querySelectorAll('th button')[{column}].click();")
        cell = f"r.cells[{column}].textContent"
        return page.run(f"{FIRST_TABLE} return [...table.tBodies[0].rows].map(r => {cell})")

    ranks = click(0)
    assert ranks == [str(rank) for rank in range(1, 9)]
    assert click(0) == ranks[::-1]
    names = click(1)
    assert names == sorted(names)
    scores = [float(score) for score in click(3) if score != "–"]
    assert scores == sorted(scores)
    state = page.run(f"{FIRST_TABLE} return table.querySelectorAll('th[aria-sort]').length")
    assert state == 1


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_is_readable_on_its_ground(page, dark):
    page.dark(dark)
    assert min(page.run(CONTRASTS)) >= 4.5
    ground = page.run("return getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(15, 20, 25)" if dark else "rgb(255, 255, 255)")
    page.dark(False)


def test_it_is_readable_without_scripts_and_prints(page):
    page.devtools("Emulation.setScriptExecutionDisabled", value=True)
    page.call("refresh")
    page.devtools("Emulation.setScriptExecutionDisabled", value=False)
    assert page.run("return document.querySelectorAll('td').length") > 100
    assert page.run("return document.querySelectorAll('th button').length") == 0
    pdf = page.devtools("Page.printToPDF", printBackground=True)["data"]
    assert pdf.startswith("JVBER")  # "%PDF" in base 64


def test_a_narrow_window_needs_no_sideways_scrolling(page):
    page.devtools(
        "Emulation.setDeviceMetricsOverride",
        width=400,
        height=800,
        deviceScaleFactor=1,
        mobile=True,
    )
    assert page.run("return document.documentElement.scrollWidth") <= 400
    page.devtools("Emulation.clearDeviceMetricsOverride")
