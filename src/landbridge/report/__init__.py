"""Reports: a summary as a plain dictionary, and the same summary as HTML, Markdown or JSON."""

from landbridge.report.render import render_html, render_json, render_markdown, write_report

__all__ = ["render_html", "render_json", "render_markdown", "write_report"]
