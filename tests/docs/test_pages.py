"""Pages of the site that the builder would overwrite without a word."""

from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_no_guide_has_the_name_of_a_page_that_sphinx_writes():
    assert (DOCS / "choosing.md").exists()
    assert not {path.stem for path in DOCS.glob("*.md")} & {"search", "genindex", "py-modindex"}
