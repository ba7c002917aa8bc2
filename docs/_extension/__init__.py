"""Pages of the site that are generated: API reference, command line, live report."""

from pathlib import Path
from typing import Any

from _extension.api import skip_inherited, write_api_pages
from _extension.commands import write_command_pages
from _extension.copies import write_copies
from _extension.live_report import write_live_report


def setup(app: Any) -> dict[str, bool]:
    # Autosummary looks for its stubs when the builder starts, so the pages must exist before.
    app.connect("config-inited", write_pages, priority=1)
    app.connect("autodoc-skip-member", skip_inherited)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_pages(app: Any, config: Any) -> None:
    docs = Path(app.srcdir)
    write_api_pages(docs / "api")
    write_command_pages(docs / "command_reference.md")
    write_copies(docs)
    write_live_report(docs / "_build" / "extra")


def reset_scikit_learn(gallery: dict[str, Any], example: str) -> None:
    """Undo the global switch of scikit-learn that importing skada sets."""
    import sklearn

    sklearn.set_config(enable_metadata_routing=False)
