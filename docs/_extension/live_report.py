"""The report of the demo, made anew with every build and embedded in the start page."""

import os
import subprocess
import sys
from pathlib import Path


def write_live_report(folder: Path) -> None:
    """Run ``landbridge demo`` and keep its report as ``live_report.html``."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "live_report.html"
    if page.exists() and os.environ.get("LANDBRIDGE_DOCS") == "fast":
        return
    demo = folder.parent / "demo"
    subprocess.run(
        [sys.executable, "-m", "landbridge", "demo", "--folder", demo.name],
        cwd=demo.parent,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    page.write_bytes((demo / "report.html").read_bytes())
