"""The command line, ``landbridge``: one file a command, a few lines of the library in each."""

import sys


def main() -> None:
    """Entry point of the program."""
    try:
        import typer  # noqa: F401
    except ImportError:
        sys.exit(
            "landbridge: the command line needs more packages than the library. "
            "Install them with: pip install 'landbridge[cli]'"
        )
    from landbridge.cli._app import app

    app(prog_name="landbridge")
