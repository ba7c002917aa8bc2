"""Transfer learning that you can trust.

The names of `landbridge._public` are imported when the first of them is used, so that ``landbridge
--help`` and ``landbridge.__version__`` do not import scikit-learn.
"""

import importlib
from typing import TYPE_CHECKING, Any

from landbridge._version import __version__ as __version__

if TYPE_CHECKING:
    from landbridge._public import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name != "__all__" and name.startswith("__"):
        raise AttributeError(name)
    public = importlib.import_module("landbridge._public")
    if name == "__all__" or name in public.__all__:
        return getattr(public, name)
    if name in globals():  # a subpackage, loaded by the import above
        return globals()[name]
    raise AttributeError(f"module 'landbridge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))
