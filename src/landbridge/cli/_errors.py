"""Errors in user input, shown as one message without traceback and with exit code 2."""

import difflib
import unicodedata
from collections.abc import Iterable, Sequence


class InputError(ValueError):
    """Invalid user input; the message says what to do."""


def visible(text: str) -> str:
    """Escape control characters, so that a name cannot control the terminal."""
    return "".join(
        character
        if character == "\n" or unicodedata.category(character) not in _INVISIBLE
        else character.encode("unicode_escape").decode()
        for character in text
    )


# Unicode categories: control, format (such as writing direction), surrogate, line separators.
_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def nearest(name: str, known: Iterable[str]) -> str:
    """Suggest the known name most similar to ``name``, if there is one."""
    folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f" Did you mean {folded[close[0]]!r}?" if close else ""


def listing(names: Sequence[object], limit: int = 12) -> str:
    """Quote the first ``limit`` names and count the rest."""
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
