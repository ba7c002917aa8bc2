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
