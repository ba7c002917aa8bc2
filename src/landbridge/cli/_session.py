"""One run of a command: its output, errors, warnings and exit codes.

Results go to standard output, notes and progress to standard error. Exit codes: 0 done, 2 wrong
usage or input, 1 anything unexpected, 130 stopped by Ctrl-C, 143 by SIGTERM.
"""

import difflib
import io
import json
import logging
import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from landbridge._html import visible
from landbridge.cli import INTERRUPTED, TERMINATED, Terminated

if TYPE_CHECKING:
    from rich.console import Console

    from landbridge.report.blocks import Block, Column, Table

# Spaces between two columns, and at both ends of a line.
GAP = 3
# Sentences in narrower columns are hard to read.
NARROWEST_TEXT = 24


class InputError(ValueError):
    """Invalid user input; the message says what to do."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Suggest the known name most similar to ``name``, if there is one."""
    folded = {candidate.casefold(): candidate for candidate in known}
    close = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f" Did you mean {folded[close[0]]!r}?" if close else ""


def listing(names: Sequence[object], limit: int = 12) -> str:
    """Quote the first ``limit`` names and count the rest."""
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


class Session:
    """Output of one command, which also collects the warnings of the library."""

    def __init__(self, as_json: bool):
        from rich.console import Console

        self.as_json = as_json
        # An encoding like cp1252 lacks signs that names and tables may contain.
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")
        # In a pipe, rich uses the width in COLUMNS, or 80. Programs should use --format json.
        self.out = Console(highlight=False)
        self.out.on_broken_pipe = _raise_broken_pipe  # type: ignore[method-assign]
        self.err = Console(stderr=True, highlight=False, soft_wrap=True)
        self.warnings: list[str] = []

    def note(self, text: str) -> None:
        """Print a note that is not part of the result."""
        self.err.print(visible(text), style="dim", markup=False)

    def warn(self, text: str) -> None:
        """Print a warning of the library, unless it has been printed before."""
        if text not in self.warnings:
            self.warnings.append(text)
            # Lines of a log are not wrapped; a terminal wraps between words.
            words, whole = visible(f"caution: {text}"), not self.err.is_terminal
            self.err.print(words, style="yellow", markup=False, soft_wrap=whole)

    def show(self, data: Any, blocks: "Sequence[Block]") -> None:
        """Print the result: the data as JSON, or the text and tables of the blocks."""
        if self.as_json:
            sys.stdout.write(json.dumps(data, indent=1, allow_nan=False) + "\n")
            return
        for block in blocks:
            print_block(self.out, block)

    def wrote(self, what: str, path: Path) -> None:
        """Report the path of an output."""
        self.note(f"{what}: {path}")


@contextmanager
def session(as_json: bool, debug: bool) -> Iterator[Session]:
    """A session in which errors become messages and exit codes."""
    current = Session(as_json)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = lambda message, *_args, **_rest: current.warn(_caution(message))
            with _progress_as_notes(current):
                yield current
    except typer.Exit:
        raise
    except BrokenPipeError:
        # The reader closed the pipe; avoid an error message at shutdown.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except KeyboardInterrupt as stop:
        current.err.print("stopped; nothing half-written was left behind")
        _stop_workers()
        raise typer.Exit(TERMINATED if isinstance(stop, Terminated) else INTERRUPTED) from None
    except Exception as error:
        if debug:
            current.err.print(traceback.format_exc(), markup=False)
        expected = is_users_mistake(error)
        hint = "" if expected or debug else " (--debug shows where)"
        kind = "" if expected else f"unexpected {type(error).__name__}: "
        message = visible(f"error: {kind}{_words(error)}{hint}")
        current.err.print(message, style="bold red", markup=False)
        raise typer.Exit(2 if expected else 1) from None


@contextmanager
def _progress_as_notes(current: Session) -> Iterator[None]:
    """Show the progress logged by the library if there is no terminal."""
    logger = logging.getLogger("landbridge.progress")
    handler, level = logging.Handler(), logger.level
    handler.emit = lambda record: current.note(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _stop_workers() -> None:
    """End the processes that fit candidates; they do not get the signal themselves."""
    loky = sys.modules.get("joblib.externals.loky.reusable_executor")
    executor = getattr(loky, "_executor", None)
    if executor is not None:
        executor.shutdown(wait=False, kill_workers=True)


def is_users_mistake(error: Exception) -> bool:
    """Whether the error is due to input, to an unusable file, or raised by the library's checks."""
    if isinstance(error, (InputError, OSError, MemoryError)):
        return True
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    module = place.tb_frame.f_globals.get("__name__", "") if place is not None else ""
    return isinstance(error, (ValueError, ImportError)) and module.startswith("landbridge.")


def check_output(path: Path | None, *suffixes: str) -> None:
    """Raise early if an output cannot be written."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(
            f"{path}: an output must be a file; got a directory. Add a name, for example "
            f"{path / 'report.html'}."
        )
    if suffixes and path.suffix.lower() not in suffixes:
        raise InputError(
            f"{path}: the name must end in {', '.join(suffixes)}, which says how it is written."
        )
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} must exist. Create it first.")
    if not os.access(path.parent, os.W_OK):
        raise InputError(
            f"{path}: the folder {path.parent} must be writable; it is read-only. "
            "Choose another place."
        )


def check_distinct(read: Iterable[Path | None], **written: Path | None) -> None:
    """Raise if a file would be overwritten that is read, or that is another output."""
    seen = {os.path.realpath(path): "" for path in read if path is not None}
    for option, path in written.items():
        if path is None:
            continue
        other = seen.setdefault(os.path.realpath(path), option)
        if not other:
            raise InputError(
                f"--{option} must not be a file that is read; got {path}. Choose another name."
            )
        if other != option:
            raise InputError(
                f"--{other} and --{option} must be two files; got {path} for both. Rename one."
            )


def command_line() -> str:
    """The command line, quoted so that it can be run again; bytes outside UTF-8 are escaped."""
    return shlex.join(["landbridge", *sys.argv[1:]]).encode(errors="backslashreplace").decode()


def _caution(message: Warning | str) -> str:
    """Warning for users of the program, which refers to options instead of attributes."""
    from landbridge.exceptions import FailedFitWarning

    if isinstance(message, FailedFitWarning) and len(message.args) > 1:
        return f"{message.args[0]} --debug shows the tracebacks."
    return _with_options(str(message))


def _raise_broken_pipe() -> None:
    """Let `session` end quietly; rich would end the program with exit code 1."""
    raise BrokenPipeError


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{error.strerror}. Check the place, its space and its permissions."
    # Failures of candidates carry the traceback of their worker; --debug shows it.
    words = str(error).partition("\nTraceback (most recent call last)")[0]
    return _with_options(words).replace(", or pass make_scorer(...)", "")


def _with_options(words: str) -> str:
    """Replace parameters of the library by the options that set them."""
    return words.replace("`scoring`", "--metric").replace("`cv`", "--folds")


def print_block(console: "Console", block: Any) -> None:
    """Print a part of the report."""
    if block.kind == "facts":
        for name, text in block.facts:
            console.print(visible(f"{name}: {text}"), markup=False, soft_wrap=True)
    elif block.kind == "text":
        console.print(visible(block.text), markup=False)
    elif block.kind in ("heading", "code"):
        # Headings contain file names and code is copied, so neither is wrapped.
        style = "bold" if block.kind == "heading" else None
        console.print(visible(block.text), style=style, markup=False, soft_wrap=True)
    else:
        print_table(console, block)


def print_table(console: "Console", table: "Table") -> None:
    """Print a table, split into several tables if its columns do not fit on one line."""
    from rich import box
    from rich.table import Table as RichTable

    spaces = [
        _space(column, [row[n].text for row in table.rows])
        for n, column in enumerate(table.columns)
    ]
    for part in _parts(table.columns, spaces, console.width):
        shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        widths = _widths([spaces[n] for n in part], console.width)
        for n, width in zip(part, widths, strict=True):
            column = table.columns[n]
            shown.add_column(
                _escaped(column.title), justify="right" if column.number else "left", width=width
            )
        for place, row in enumerate(table.rows):
            texts = [_escaped(row[n].text) for n in part]
            shown.add_row(*texts, style="bold" if place == table.chosen else None)
        console.print(shown)


@dataclass(frozen=True, slots=True)
class _Space:
    """Width of a column on one line, and its smallest width with words on several lines."""

    whole: int
    least: int


def _space(column: "Column", texts: Sequence[str]) -> _Space:
    from rich.cells import cell_len

    texts = [visible(text) for text in texts]
    title = max(map(cell_len, column.title.split()), default=0)
    longest = max(map(cell_len, texts), default=0)
    whole = max(cell_len(column.title), longest)
    if column.number:
        return _Space(whole, max(title, longest))
    words = max(map(cell_len, chain.from_iterable(text.split() for text in texts)), default=0)
    return _Space(whole, min(whole, max(title, NARROWEST_TEXT, min(words, 2 * NARROWEST_TEXT))))


def _line(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1) + 2


def _parts(columns: "Sequence[Column]", spaces: Sequence[_Space], width: int) -> list[list[int]]:
    """Split columns into lines; minor columns are omitted first, and the first is repeated."""
    kept = list(range(len(columns)))

    def too_wide(part: Sequence[int]) -> bool:
        return _line([spaces[n].least for n in part]) > width

    for n in reversed(range(len(columns))):
        if columns[n].minor and too_wide(kept):
            kept.remove(n)
    parts = [kept[:1]]
    for n in kept[1:]:
        if len(parts[-1]) > 1 and too_wide([*parts[-1], n]):
            parts.append(kept[:1])
        parts[-1].append(n)
    return parts


def _widths(spaces: Sequence[_Space], width: int) -> list[int]:
    """Full width for narrow columns, and the remaining space for the others."""
    limit = max(space.whole for space in spaces)
    widths = [space.whole for space in spaces]
    while _line(widths) > width and limit > 1:
        limit -= 1
        widths = [max(space.least, min(space.whole, limit)) for space in spaces]
    return widths


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(visible(text))
