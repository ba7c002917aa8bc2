"""Where the real data files are, for tests that need them."""

import os
from pathlib import Path

import pytest

_BESIDE_THE_PROJECT = Path(__file__).resolve().parents[3] / "shared" / "data"
DATA_HOME = Path(os.environ.get("LANDBRIDGE_DATA") or _BESIDE_THE_PROJECT)


def needs_data(folder: str) -> pytest.MarkDecorator:
    """Skip a test where the data home lacks ``folder``."""
    return pytest.mark.skipif(
        not (DATA_HOME / folder).is_dir(), reason=f"no folder {folder} in the data home"
    )
