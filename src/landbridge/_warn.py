"""Warnings that point to the line outside the library that caused them."""

import sys
import warnings

# `fit` of a search runs inside a wrapper of scikit-learn, which notifies its callbacks.
INSIDE = ("landbridge.", "sklearn.callback.")


def warn_caller(message: str | Warning, category: type[Warning] | None = None) -> None:
    """Warn at the innermost line outside landbridge.

    The depth of a call below the public method does not matter. Python shows a warning once per
    line, so that a line of the library would hide the warnings of all later calls.
    """
    level, frame = 1, sys._getframe()
    while frame.f_back and f"{frame.f_globals.get('__name__')}.".startswith(INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
