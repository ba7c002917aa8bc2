"""Pages that the builder would overwrite without a word, and files that tables name."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_no_guide_has_the_name_of_a_page_that_sphinx_writes():
    assert (DOCS / "choosing.md").exists()
    assert not {path.stem for path in DOCS.glob("*.md")} & {"search", "genindex", "py-modindex"}


def test_commands_of_the_reproductions_exist():
    text = (DOCS / "reproductions.md").read_text()
    benchmarks = [f"benchmarks/{name}.py" for name in re.findall(r"make bench NAME=(\w+)", text)]
    tests = re.findall(r"tests/[\w/.]+", text)
    pages = [f"docs/{name}" for name in re.findall(r"\]\(([\w/.]+)\)", text)]
    assert min(len(benchmarks), len(tests), len(pages)) > 5
    assert not [path for path in benchmarks + tests + pages if not (ROOT / path).exists()]


def test_tests_of_the_methods_exist():
    text = (DOCS / "methods.md").read_text()
    paths = re.findall(r"`((?:unit|reference)/[\w/.]+)`", text)
    assert len(paths) > 15
    assert not [path for path in paths if not (ROOT / "tests" / path).exists()]
