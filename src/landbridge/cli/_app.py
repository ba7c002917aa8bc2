"""The program: its commands in the order in which a person needs them."""

from typing import Annotated

import typer

from landbridge._version import __version__
from landbridge.cli.cache import cache
from landbridge.cli.demo import demo
from landbridge.cli.diagnose import diagnose
from landbridge.cli.evaluate import evaluate
from landbridge.cli.features import features
from landbridge.cli.info import info
from landbridge.cli.predict import predict
from landbridge.cli.report import report
from landbridge.cli.select import select

app = typer.Typer(
    help="Transfer learning that a person can trust: from a table to a model, with error bars.",
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
    """Transfer learning that a person can trust: from a table to a model, with error bars."""


for command in (demo, diagnose, select, evaluate, features, predict, report, info, cache):
    app.command()(command)
