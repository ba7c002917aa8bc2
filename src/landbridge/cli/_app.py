"""The program with its commands, in the order in which they are needed."""

from typing import Annotated

import typer

from landbridge._version import __version__
from landbridge.cli._options import as_command
from landbridge.cli.demo import Demo
from landbridge.cli.diagnose import Diagnose, Evaluate, Features
from landbridge.cli.label import Label
from landbridge.cli.predict import Predict
from landbridge.cli.select import Select
from landbridge.cli.stored import Cache, Info, Report

app = typer.Typer(
    help="Transfer learning that you can trust: from a table to a model with error bars.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"landbridge {__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Transfer learning that you can trust: from a table to a model with error bars."""


for command in (Demo, Diagnose, Select, Label, Evaluate, Features, Predict, Report, Info, Cache):
    app.command()(as_command(command))
