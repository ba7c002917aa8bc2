"""Check every internal link of the built site: ``python docs/_extension/links.py FOLDER``."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ATTRIBUTES = {"a": "href", "img": "src", "iframe": "src", "script": "src", "link": "href"}


class Page(HTMLParser):
    """Links of a page and the anchors that others may point to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value is not None}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        link = found.get(ATTRIBUTES.get(tag, ""))
        if link is not None and not urlsplit(link).scheme and not urlsplit(link).netloc:
            self.links.add(link)


def broken_links(folder: Path) -> list[str]:
    """Links to files or anchors that do not exist, with the page they are on."""
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.html")
        if "_static" not in path.parts  # templates of the theme
    }
    broken = []
    for path, page in sorted(pages.items()):
        for link in sorted(page.links):
            address = urlsplit(link)
            goal = (path.parent / unquote(address.path)).resolve() if address.path else path
            known = pages[goal].anchors if goal in pages else None
            if not goal.exists() or (known and unquote(address.fragment) not in known):
                broken.append(f"{path.relative_to(folder)}: {link}")
    return broken


if __name__ == "__main__":
    problems = broken_links(Path(sys.argv[1]).resolve())
    print("\n".join([*problems, f"{len(problems)} broken internal links"]))
    sys.exit(bool(problems))
