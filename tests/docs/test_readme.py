"""The first example of the README runs when pasted, and its links lead somewhere."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_first_example_runs_when_pasted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "90 % interval" in printed
    assert "target-only" in printed
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_links_lead_to_files():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) > 10
    for link in links:
        assert (ROOT / link).exists(), link


def test_the_citation_has_the_version_of_the_package():
    from landbridge import __version__

    assert f"version: {__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_badges_agree_with_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    python = (ROOT / "docs" / "pictures" / "badge_python.svg").read_text()
    assert f">{project['requires-python'].removeprefix('>=')}+<" in python
    assert (
        f">{project['license']}<" in (ROOT / "docs" / "pictures" / "badge_licence.svg").read_text()
    )


def test_figures_are_those_of_the_cited_pages():
    words = " ".join(README.split())

    def page(name):
        return (ROOT / "docs" / "benchmarks" / f"{name}.md").read_text()

    regret = page("search_regret")
    tasks, vote = re.search(
        r"Labels 10 %, mixed list: the vote's mean regret over (\d+) tasks is ([\d.]+)", regret
    ).groups()
    pooled = re.search(r"\| always pooled \| ([\d.]+)", regret)[1]
    assert f"loses {float(vote):.3f} of accuracy" in words
    assert f"over {tasks} real tasks" in words
    assert f"Always pooling loses {float(pooled):.3f} " in words

    coverage = page("multisource_paper")
    covered = re.search(r"covers the error on a new domain in ([\d.]+) %", coverage)[1]
    theta = re.search(r"θ_B, read as an interval for a new domain, (\d+) %", coverage)[1]
    assert f"covered the truth in {float(covered):.0f} % of cases" in words
    assert f"did so in {theta} %" in words

    speed = page("weighting")
    for peer in ("skada", "ADAPT"):
        ratio = re.search(rf"n = 10000: CPU of {peer} \| [^|]+ \| ([\d.]+)×", speed)[1]
        less = "less CPU" if peer == "skada" else "less"
        assert f"{float(ratio):.0f} times {less} than {peer}" in words

    index = page("index")
    assert f"labels {float(vote):.3f} compared with" in index
    assert f"always pooling: {float(pooled):.3f}" in index
    covers = [float(x) for x in re.findall(r"interval of the vote covers in ([\d.]+)", regret)]
    assert f"{min(covers):.2f} to {max(covers):.2f}, by list" in index
    rows = re.findall(r"\| ([\d.]+) \| ([\d.]+) \| yes \|", page("search_speed"))
    totals, jobs = zip(*rows, strict=True)
    assert "{:.2f}× to {:.2f}× in total".format(*sorted(map(float, totals))) in index
    assert "; {}× and {}× faster on two cores".format(*jobs) in index
    large = re.search(r"CPU and (\d+) MB.* the rest is ([\d.]+) × one pass", page("scale"))
    assert f"{large[2]} passes over the table beyond the search, and {large[1]} MB" in index
