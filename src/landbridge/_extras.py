"""Optional packages, imported where they are used, with a message that says what to install."""

from importlib import import_module
from typing import Any


def import_extra(module: str, extra: str) -> Any:
    """Import ``module``, or raise an error that names the extra of landbridge to install."""
    return import_optional(module, f"'landbridge[{extra}]'")


def import_optional(module: str, install: str, needed_by: str = "This") -> Any:
    """Import ``module``, or raise an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{needed_by} needs the package {module.partition('.')[0]}, which is not installed. "
            f"Install it with: pip install {install}"
        ) from error
