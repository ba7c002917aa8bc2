"""Options of commands, defined once as fields of dataclasses and read by typer.

A command is a frozen dataclass. Its fields are the options, its docstring is the help, and ``run``
makes the library call. Options shared by several commands are defined here.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from landbridge.cli._session import InputError, Session, session

if TYPE_CHECKING:
    from landbridge.cli._problem import Problem

# Headings under which the help lists options.
TABLE, RUNNING, OUTPUT = "Reading the table", "Running", "Output"
SIZES = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Format(StrEnum):
    """Output format of a command."""

    table = "table"
    json = "json"


class Task(StrEnum):
    """Kind of label."""

    classification = "classification"
    regression = "regression"


def option(default: Any, words: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    """Field of a command that is an option; ``...`` as default means that it is required."""
    how = typer.Option(*names, help=words, rich_help_panel=panel, **more)
    return field(default=MISSING if default is ... else default, metadata={"typer": how})


def argument(words: str, **more: Any) -> Any:
    """Field of a command that is given by its position."""
    return field(metadata={"typer": typer.Argument(help=words, **more)})


def max_rows_option(default: int) -> Any:
    """Option for the size of the sample of each domain."""
    words = "Maximum number of rows per domain; 0 for all."
    return option(default, words, panel=TABLE, min=0)


def several(words: str, **more: Any) -> Any:
    """Option about the table that may be repeated."""
    return option(None, f"{words}; may be repeated.", panel=TABLE, **more)


def label_option() -> Any:
    """Option for the column to predict."""
    words = "Column to predict; rows with empty cells are unlabelled."
    return option(..., words, "--label", "-y")


def target_option() -> Any:
    """Option for the target domain."""
    return option(..., "Name of the target domain.", "--target", "-t")


def encoding_option() -> Any:
    """Option for the encoding of text files."""
    words = "Encoding of text files, such as latin-1; default UTF-8."
    return option(None, words, panel=TABLE)


def jobs_option() -> Any:
    """Option for the number of parallel jobs."""
    words = "Number of parallel jobs; -1 for all cores."
    return option(1, words, "--jobs", "-j", panel=RUNNING)


def seed_option() -> Any:
    """Option for the random seed."""
    return option(0, "Random seed.", panel=RUNNING, min=0, max=2**32 - 1)


def output(words: str) -> Any:
    """Option that names a file to write."""
    return option(None, words, panel=OUTPUT)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of every command."""

    debug: bool = option(False, "Show the traceback of an error.", "--debug", panel=OUTPUT)

    @property
    def as_json(self) -> bool:
        """Whether results are printed as JSON."""
        return False

    def run(self, current: Session) -> None:
        """Run the command."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class AnswerOptions(Options):
    """Output format of a command."""

    format: Format = option(
        Format.table, "Readable tables, or JSON on standard output.", panel=OUTPUT
    )

    @property
    def as_json(self) -> bool:
        return self.format is Format.json


@dataclass(frozen=True, kw_only=True)
class TableOptions(AnswerOptions):
    """Options for reading a table."""

    data: list[str] = argument(
        "CSV, TSV, Parquet, Excel or JSON lines: one file with a domain column, or one name=path "
        "per domain.",
        metavar="DATA...",
        show_default=False,
    )
    label: str | None = option(
        None, "Column with the label, which is not a feature.", "--label", "-y"
    )
    domain: str | None = option(
        None, "Column with the domain of each row ('domain' if omitted).", "--domain", "-d"
    )
    drop: list[str] | None = several("Column to leave out")
    exclude: list[str] | None = several("Domain to leave out")
    text: list[str] | None = several("Column to read as text")
    id: list[str] | None = several("Column that identifies rows and is not a feature")
    keep: list[str] | None = several(
        "Column to use although it looks like an identifier or a constant"
    )
    missing: list[str] | None = several(
        "Text that marks a missing value, such as ? or n/a", metavar="TEXT"
    )
    encoding: str | None = encoding_option()
    max_rows: int = max_rows_option(20_000)
    seed: int = seed_option()

    def read(self, current: Session, **how: Any) -> "Problem":
        """Read the learning problem; see `landbridge.cli._problem.read_problem`."""
        from landbridge.cli._problem import read_problem

        return read_problem(self, current.note, **how)


@dataclass(frozen=True, kw_only=True)
class LearnOptions(TableOptions):
    """Options for fitting and evaluating models."""

    label: str = label_option()
    task: Task | None = option(None, "Kind of label; inferred from the column if omitted.")
    metric: list[str] | None = option(
        None,
        "Metric of scikit-learn, such as roc_auc or rmse; may be repeated. The first one is used "
        "for selection.",
    )
    level: float = option(0.95, "Nominal coverage of intervals.", min=0.5, max=0.999)
    jobs: int = jobs_option()
    resume: Path | None = option(
        None,
        "Store finished fits in this directory, and reuse stored ones.",
        metavar="DIR",
        panel=RUNNING,
    )


@dataclass(frozen=True, kw_only=True)
class SearchOptions(LearnOptions):
    """Options of a search for one target."""

    target: str = target_option()
    candidates: Path | None = option(
        None, "YAML or TOML file with estimators and grids; a default list if omitted."
    )
    folds: int = option(5, "Number of cross-validation folds.", min=2)
    budget: str = option(
        "10m",
        "Time limit, such as 90s, 5m or 2h; 0 for none. Simple candidates are fitted first.",
        metavar="TIME",
        panel=RUNNING,
    )
    dask: str | None = option(
        None,
        "Dask cluster for the fits: tcp://host:8786, or local:4 for four local workers.",
        metavar="ADDRESS",
        panel=RUNNING,
    )


def as_command(options: type[Options]) -> Callable[..., None]:
    """Function for typer whose parameters are the fields of ``options``."""

    def command(**values: object) -> None:
        asked = options(**values)  # type: ignore[arg-type]
        with session(asked.as_json, asked.debug) as current:
            asked.run(current)

    hints = get_type_hints(options)
    # Required options are listed first.
    ordered = sorted(fields(options), key=lambda one: one.default is not MISSING)
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                one.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if one.default is MISSING else one.default,
                annotation=Annotated[hints[one.name], one.metadata["typer"]],
            )
            for one in ordered
        ]
    )
    command.__annotations__ = hints
    command.__name__ = options.__name__.lower()
    command.__doc__ = options.__doc__
    return command


def seconds_of(text: str) -> float:
    """Seconds of a duration like ``90``, ``5m``, ``12h`` or ``30d``."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", text.strip())
    if found is None:
        raise InputError(f"{text!r}: a duration is a number with a unit, like 90s, 5m, 12h or 30d.")
    return float(found[1]) * UNITS[found[2] or "s"]


def bytes_of(text: str) -> int:
    """Bytes of a size like ``500m`` or ``4g``."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt])b?", text.strip().lower())
    if found is None:
        raise InputError(f"{text!r}: a size is a number with a unit, like 500m or 4g.")
    return int(float(found[1]) * SIZES[found[2]])
