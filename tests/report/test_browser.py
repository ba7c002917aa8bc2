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
RANKING = 'const table = document.querySelector("#section-1 table.sortable");'
# Graphs of table rows as large as their cells, with all marks inside.
OUTSIDE = """
return [...document.querySelectorAll(".graph svg")].filter(s => s.checkVisibility()).flatMap(s => {
  const outer = s.parentElement.getBoundingClientRect();
  return [...s.querySelectorAll("text, circle, rect, line")].filter(t => {
    const b = t.getBoundingClientRect();
    return b.left < outer.left - 1 || b.right > outer.right + 1 || b.top < outer.top - 9 ||
      b.bottom > outer.bottom + 1; }).map(t => t.outerHTML); });
"""
OVERLAPS = """
return [...document.querySelectorAll("th.graph svg")].flatMap(s => {
  const boxes = [...s.querySelectorAll("text")].map(t => t.getBoundingClientRect());
  return boxes.filter((b, k) => k > 0 && b.left < boxes[k - 1].right + 2).map(b => b.left); });
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


@pytest.mark.parametrize("width", [1280, 390])
def test_graphs_fit_into_their_cells(page, width):
    page.devtools(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=800, deviceScaleFactor=1, mobile=True,
    )  # fmt: skip
    boxes = page.run(
        "return [...document.querySelectorAll('td.graph svg')].map(s => {"
        "const b = s.getBoundingClientRect(); return [b.width, b.height]; })"
    )
    assert len(boxes) > 30
    assert all(w > 150 and h > 15 for w, h in boxes)
    assert page.run(OUTSIDE) == []
    assert page.run(OVERLAPS) == []
    page.devtools("Emulation.clearDeviceMetricsOverride")


def test_tables_sort_on_a_click_and_back(page):
    def click(column):
        page.run(f"{RANKING} table.querySelectorAll('th button')[{column}].click();")
        cell = f"r.querySelectorAll('td:not(.graph)')[{column}].textContent"
        return page.run(f"{RANKING} return [...table.tBodies[0].rows].map(r => {cell})")

    ranks = click(0)
    assert ranks == [str(rank) for rank in range(1, 9)]
    assert click(0) == ranks[::-1]
    names = click(1)
    assert names == sorted(names)
    for _ in range(2):  # unknown scores are last in both orders
        scores = click(3)
        assert scores[-1] == "–"
        assert scores[:-1] == sorted(scores[:-1], reverse=bool(_))
    state = page.run(f"{RANKING} return table.querySelectorAll('th[aria-sort]').length")
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
