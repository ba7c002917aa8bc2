"""Options of commands, defined once as dataclasses and read by typer.

A command is a frozen dataclass. Its fields are the options, its docstring is the help, and ``run``
makes the library call. Options shared by several commands are defined here.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_type_hints

import typer

from landbridge.cli._errors import InputError
from landbridge.cli._session import Session, session

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


Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help="CSV, TSV, Parquet, Excel or JSON lines: one file with a domain column, or one "
        "name=path per domain.",
        show_default=False,
    ),
]
Label = Annotated[
    str,
    typer.Option("--label", "-y", help="Column to predict; rows with empty cells are unlabelled."),
]
OptionalLabel = Annotated[
    str | None, typer.Option("--label", "-y", help="Column with the label, which is not a feature.")
]
Domain = Annotated[
    str | None,
    typer.Option(
        "--domain", "-d", help="Column with the domain of each row ('domain' if omitted)."
    ),
]
Target = Annotated[str, typer.Option("--target", "-t", help="Name of the target domain.")]
Kind = Annotated[
    Task | None, typer.Option("--task", help="Kind of label; inferred from the column if omitted.")
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", rich_help_panel=TABLE, help="Column to leave out; may be repeated."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", rich_help_panel=TABLE, help="Domain to leave out; may be repeated."),
]
Text = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        rich_help_panel=TABLE,
        help="Column to read as text; may be repeated.",
    ),
]
Id = Annotated[
    list[str] | None,
    typer.Option(
        "--id",
        rich_help_panel=TABLE,
        help="Column that identifies rows and is not a feature; may be repeated.",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        rich_help_panel=TABLE,
        help="Column to use although it looks like an identifier or a constant; may be repeated.",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="TEXT",
        rich_help_panel=TABLE,
        help="Text that marks a missing value, such as ? or n/a; may be repeated.",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        rich_help_panel=TABLE,
        help="Encoding of text files, such as latin-1; default UTF-8.",
    ),
]
MaxRows = Annotated[
    int,
    typer.Option(
        "--max-rows",
        min=0,
        rich_help_panel=TABLE,
        help="Maximum number of rows per domain; 0 for all.",
    ),
]
Folds = Annotated[int, typer.Option("--folds", min=2, help="Number of cross-validation folds.")]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        help="Metric of scikit-learn, such as roc_auc or rmse; may be repeated. The first one "
        "is used for selection.",
    ),
]
Level = Annotated[
    float, typer.Option("--level", min=0.5, max=0.999, help="Nominal coverage of intervals.")
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs", "-j", rich_help_panel=RUNNING, help="Number of parallel jobs; -1 for all cores."
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="DIR",
        rich_help_panel=RUNNING,
        help="Store finished fits in this directory, and reuse stored ones.",
    ),
]
Budget = Annotated[
    str,
    typer.Option(
        "--budget",
        metavar="TIME",
        rich_help_panel=RUNNING,
        help="Time limit, such as 90s, 5m or 2h; 0 for none. Simple candidates are fitted first.",
    ),
]
Memory = Annotated[
    str,
    typer.Option(
        "--memory",
        metavar="SIZE",
        rich_help_panel=RUNNING,
        help="Memory for fitting the saved model on more rows than the search, such as 500m or 4g.",
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        rich_help_panel=RUNNING,
        help="Dask cluster for the fits: tcp://host:8786, or local:4 for four local workers.",
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", min=0, max=2**32 - 1, rich_help_panel=RUNNING, help="Random seed."),
]
Report = Annotated[
    Path | None,
    typer.Option("--report", rich_help_panel=OUTPUT, help="Write a report: .html, .md or .json."),
]
Output = Annotated[
    Format,
    typer.Option(
        "--format", rich_help_panel=OUTPUT, help="Readable tables, or JSON on standard output."
    ),
]
Debug = Annotated[
    bool, typer.Option("--debug", rich_help_panel=OUTPUT, help="Show the traceback of an error.")
]


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of every command."""

    debug: Debug = False

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

    format: Output = Format.table

    @property
    def as_json(self) -> bool:
        return self.format is Format.json


@dataclass(frozen=True, kw_only=True)
class TableOptions(AnswerOptions):
    """Options for reading a table."""

    data: Data
    label: OptionalLabel
    domain: Domain = None
    drop: Drop = None
    exclude: Exclude = None
    text: Text = None
    id: Id = None
    keep: Keep = None
    missing: Missing = None
    encoding: Encoding = None
    max_rows: MaxRows = 20_000
    seed: Seed = 0

    def read(
        self,
        current: Session,
        *,
        target: str | None = None,
        task: str | None = None,
        spare_labels: bool = False,
        announce_task: bool = True,
        group: str | None = None,
        time: str | None = None,
    ) -> "Problem":
        """Read the learning problem; see `landbridge.cli._problem.read_problem`."""
        from landbridge.cli._problem import read_problem

        return read_problem(
            self,
            current.note,
            target=target,
            task=task,
            spare_labels=spare_labels,
            announce_task=announce_task,
            group=group,
            time=time,
        )


@dataclass(frozen=True, kw_only=True)
class LearnOptions(TableOptions):
    """Options for fitting and evaluating models."""

    label: Label
    task: Kind = None
    metric: Metric = None
    level: Level = 0.95
    jobs: Jobs = 1
    resume: Resume = None


def as_command(options: type[Options]) -> Callable[..., None]:
    """Function for typer whose parameters are the fields of ``options``."""

    def command(**values: object) -> None:
        asked = options(**values)  # type: ignore[arg-type]
        with session(asked.as_json, asked.debug) as current:
            asked.run(current)

    hints = get_type_hints(options, include_extras=True)
    # Required options are listed first.
    ordered = sorted(fields(options), key=lambda field: field.default is not MISSING)
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
                annotation=hints[field.name],
            )
            for field in ordered
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
