"""Pages that live in the root of the repository, where people look for them first."""

from pathlib import Path

PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
}
MORE = {"contributing.md": "\n```{toctree}\n:hidden:\n\narchitecture\n```\n"}


def write_copies(docs: Path) -> None:
    """Copy the pages and point the links between them to the copies."""
    for name, copy in PAGES.items():
        text = (docs.parent / name).read_text()
        for other, its_copy in PAGES.items():
            text = text.replace(f"]({other})", f"]({its_copy})")
        text = text.replace("](docs/", "](") + MORE.get(copy, "")
        path = docs / copy
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
