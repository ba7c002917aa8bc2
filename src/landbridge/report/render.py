"""Render a summary as HTML, Markdown or JSON."""

import json
import os
import re
from pathlib import Path
from typing import Any

from landbridge._docstrings import documented
from landbridge._extras import import_extra
from landbridge._html import visible
from landbridge._storage import whole_file
from landbridge.report.blocks import Page
from landbridge.report.layout import lay_out

SUFFIXES = (".html", ".htm", ".md", ".json")
_TEMPLATES = Path(__file__).parent / "templates"


@documented
def render_html(summary: dict[str, Any]) -> str:
    """Render a summary as a self-contained HTML page.

    Returns
    -------
    str
        HTML page without external files.

    Examples
    --------
    >>> from landbridge.report import render_html, summarise, summarise_origin
    >>> summary = summarise(title="Wines", target="white", origin=summarise_origin(seed=0))
    >>> render_html(summary).startswith("<!doctype html>")
    True
    """
    return render_page(lay_out(summary))


def render_page(page: Page) -> str:
    """Render a page as self-contained HTML."""
    from markupsafe import Markup

    return (
        _environment(escape=True)
        .get_template("report.html")
        .render(
            page=page,
            style=Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")),
            script=Markup((_TEMPLATES / "report.js").read_text(encoding="utf-8")),
        )
    )


@documented
def render_markdown(summary: dict[str, Any]) -> str:
    """Render a summary as Markdown, with tables instead of pictures.

    Returns
    -------
    str
        The summary as Markdown.

    Examples
    --------
    >>> from landbridge.report import render_markdown, summarise, summarise_origin
    >>> summary = summarise(title="Wines", target="white", origin=summarise_origin(seed=0))
    >>> render_markdown(summary).splitlines()[0]
    '# Wines'
    """
    return _environment(escape=False).get_template("report.md").render(page=lay_out(summary))


@documented
def render_json(summary: dict[str, Any]) -> str:
    """Render a summary as JSON.

    Returns
    -------
    str
        The summary as JSON.

    Examples
    --------
    >>> from landbridge.report import render_json, summarise, summarise_origin
    >>> summary = summarise(title="Wines", target="white", origin=summarise_origin(seed=0))
    >>> import json
    >>> json.loads(render_json(summary))["title"]
    'Wines'
    """
    return json.dumps(summary, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


@documented
def write_report(summary: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a report in the format given by the file extension.

    Parameters
    ----------
    path : str or path
        Name of the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from landbridge.report import summarise, summarise_origin, write_report
    >>> summary = summarise(title="Wines", target="white", origin=summarise_origin(seed=0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(summary, f"{folder}/wines.md")
    ...     print(Path(f"{folder}/wines.md").read_text().splitlines()[0])
    # Wines
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ValueError(
            f"`path` of a report must end in {', '.join(SUFFIXES)}; got {str(path)!r}. "
            "The ending determines the format."
        )
    render = {".md": render_markdown, ".json": render_json}.get(suffix, render_html)
    content = render(summary).encode()
    with whole_file(path) as file:
        file.write(content)


def _environment(*, escape: bool) -> Any:
    jinja2 = import_extra("jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=escape,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"plain": _plain_markdown, "visible": visible}
    return environment


def _plain_markdown(text: object) -> str:
    """Escape markup and control characters, and remove line breaks, in user text for Markdown."""
    words = visible(" ".join(str(text).split()))
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", words).replace("<", "&lt;").replace(">", "&gt;")
