"""The command line, ``landbridge``: one file a command, a few lines of the library in each."""

import sys

INTERRUPTED = 130  # What shells call a program that Ctrl-C has ended.


def main() -> None:
    """Entry point of the program."""
    try:
        import typer  # noqa: F401
    except ImportError:
        sys.exit(
            "landbridge: the command line needs more packages than the library. "
            "Install them with: pip install 'landbridge[cli]'"
        )
    try:
        from landbridge.cli._app import app

        app(prog_name="landbridge")
    except KeyboardInterrupt:  # While importing, or while an earlier one was being dealt with.
        sys.exit(INTERRUPTED)
