"""Optional packages, imported where they are used, with a message that names the extra."""

from importlib import import_module
from typing import Any


def import_extra(module: str, extra: str) -> Any:
    """Import ``module``, or raise an error that names the extra to install."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(
            f"This needs {package}, which is not installed. Install it with "
            f"pip install 'landbridge[{extra}]'."
        ) from error
