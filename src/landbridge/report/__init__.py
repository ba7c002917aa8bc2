"""Reports: a summary as a plain dictionary, and the same summary as HTML, Markdown or JSON."""

from landbridge.report.data_summary import summarise_data
from landbridge.report.render import render_html, render_json, render_markdown, write_report
from landbridge.report.search_summary import summarise_search
from landbridge.report.summary import (
    summarise,
    summarise_features,
    summarise_origin,
    summarise_shift,
    summarise_sources,
)

__all__ = [
    "render_html",
    "render_json",
    "render_markdown",
    "summarise",
    "summarise_data",
    "summarise_features",
    "summarise_origin",
    "summarise_search",
    "summarise_shift",
    "summarise_sources",
    "write_report",
]
