"""The command line ``landbridge``, with one file per command."""

import signal
import sys

INTERRUPTED = 130  # Exit code that shells expect after Ctrl-C,
TERMINATED = 143  # and after SIGTERM.


class Terminated(KeyboardInterrupt):
    """Raised on SIGTERM: the program stops as after Ctrl-C and removes incomplete files."""


def _terminate(*_signal: object) -> None:
    raise Terminated


def main() -> None:
    """Entry point of the program."""
    try:
        import typer  # noqa: F401
    except ImportError:
        sys.exit(
            "landbridge: the command line needs more packages than the library. "
            "Install them with: pip install 'landbridge[cli]'"
        )
    signal.signal(signal.SIGTERM, _terminate)
    try:
        from landbridge.cli._options import app

        app(prog_name="landbridge")
    except KeyboardInterrupt as stop:  # During import, or while handling another interrupt.
        sys.exit(TERMINATED if isinstance(stop, Terminated) else INTERRUPTED)
