"""The commands of the program and their options, read by typer.

A command is a frozen dataclass. Its fields are the options and its docstring is the help. ``FILES``
names the file whose function ``run_select``, for example, gets the options of ``select`` and makes
the library call. These files are imported when a command runs, so that help appears at once.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from enum import StrEnum
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from landbridge._version import __version__
from landbridge.cli._session import InputError, Session, session

if TYPE_CHECKING:
    from landbridge.cli._problem import Problem

# Headings under which the help lists options.
TABLE, RUNNING, OUTPUT = "Reading the table", "Running", "Output"
SIZES = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# Options with a choice of words.
Format = StrEnum("Format", "table json")
Task = StrEnum("Task", "classification regression")
Sources = StrEnum("Sources", "each pooled both")
Criterion = StrEnum("Criterion", "scv wcv rv trcv tcv stv tlv anchored")
Answer = StrEnum("Answer", "vote best")
FeatureCriterion = StrEnum("FeatureCriterion", "t loss gate")
Goal = StrEnum("Goal", "choose prove measure train")


def option(default: Any, words: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    """Field of a command that is an option; ``...`` as default means that it is required."""
    how = typer.Option(*names, help=words, rich_help_panel=panel, **more)
    return field(default=MISSING if default is ... else default, metadata={"typer": how})


def argument(words: str, **more: Any) -> Any:
    """Field of a command that is given by its position."""
    return field(metadata={"typer": typer.Argument(help=words, **more)})


def several(words: str, **more: Any) -> Any:
    """Option about the table that may be repeated."""
    return option(None, f"{words}; may be repeated.", panel=TABLE, **more)


# Options of several commands.
label_option = partial(
    option, ..., "Column to predict; rows with empty cells are unlabelled.", "--label", "-y"
)
target_option = partial(option, ..., "Name of the target domain.", "--target", "-t")
max_rows_option = partial(
    option, words="Maximum number of rows per domain; 0 for all.", panel=TABLE, min=0
)
encoding_option = partial(
    option, None, "Encoding of text files, such as latin-1; default UTF-8.", panel=TABLE
)
jobs_option = partial(
    option, 1, "Number of parallel jobs; -1 for all cores.", "--jobs", "-j", panel=RUNNING
)
seed_option = partial(option, 0, "Random seed.", panel=RUNNING, min=0, max=2**32 - 1)
output = partial(option, None, panel=OUTPUT)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of every command."""

    debug: bool = option(False, "Show the traceback of an error.", "--debug", panel=OUTPUT)
    format = Format.table  # an option of most commands


@dataclass(frozen=True, kw_only=True)
class AnswerOptions(Options):
    """Output format of a command."""

    format: Format = option(
        Format.table, "Readable tables, or JSON on standard output.", panel=OUTPUT
    )


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


@dataclass(frozen=True, kw_only=True)
class Demo(Options):
    """Answer two questions about bike rentals: one where transfer helps, one where it does not."""

    folder: Path = option(
        Path("landbridge-demo"), "Folder for the tables, the report and the model."
    )
    jobs: int = jobs_option()
    seed: int = seed_option()


@dataclass(frozen=True, kw_only=True)
class Diagnose(TableOptions):
    """Report the distance of the target from each source, and which features moved."""

    target: str = target_option()
    group: str | None = option(
        None, "Column with groups, such as patients, whose rows belong together."
    )
    max_rows: int = max_rows_option(5000)


@dataclass(frozen=True, kw_only=True)
class Select(SearchOptions):
    """Rank sources, algorithms and parameters for a target with few labels or none."""

    criterion: Criterion | None = option(
        None, "Selection criterion; by default anchored with target labels and trcv without."
    )
    answer: Answer = option(
        Answer.vote, "Final model: weighted vote of several candidates, or the best one."
    )
    sources: Sources = option(
        Sources.both, "Train on each source separately, on all rows pooled, or both."
    )
    group: str | None = option(
        None, "Column with groups, such as patients, that are never split between folds."
    )
    time: str | None = option(
        None, "Column with times; models are trained on rows before those of each fold."
    )
    design: Path | None = option(
        None, "State file of `landbridge label`; its labels are used with design weights."
    )
    memory: str = option(
        "1g",
        "Memory for fitting the saved model on more rows than the search, such as 500m or 4g.",
        metavar="SIZE",
        panel=RUNNING,
    )
    report: Path | None = output("Write a report: .html, .md or .json.")
    save: Path | None = output("Save the model, fitted on all rows: .skops.")
    results: Path | None = output(
        "Write the results: .json (the whole report) or .npz (with predictions)."
    )

    @property
    def whole_report(self) -> bool:
        """Whether the other parts of a report are needed in addition to the ranking."""
        as_json = self.results is not None and self.results.suffix.lower() == ".json"
        return self.report is not None or as_json


@dataclass(frozen=True, kw_only=True)
class Label(SearchOptions):
    """Choose the target rows to label next, and report when there are enough labels."""

    goal: Goal = option(
        Goal.choose,
        "Choose the best model, prove that it beats one without transfer, measure its score, or "
        "train.",
    )
    batch: int = option(20, "Rows per batch.", min=1)
    planned: int = option(100, "Planned total number of labels.", min=1)
    answers: Path | None = option(None, "The file of the last batch, filled in.")
    output: Path = option(Path("ask.csv"), "File to fill in: .csv.", "--output", "-o")
    state: Path | None = option(None, "State file: .json; next to the output if omitted.")
    # Other settings of a search, with the defaults of `select`.
    criterion = None
    answer = Answer.vote
    sources = Sources.both

    @property
    def state_path(self) -> Path:
        """Path of the state file."""
        return self.output.with_suffix(".json") if self.state is None else self.state


@dataclass(frozen=True, kw_only=True)
class Evaluate(LearnOptions):
    """Leave each domain out once, and report scores per source with intervals."""

    model: str | None = option(
        None, "Name of an estimator, such as RandomForestClassifier; a linear model if omitted."
    )


@dataclass(frozen=True, kw_only=True)
class Features(TableOptions):
    """Select features with the same effect in every domain (T-greedy)."""

    label: str = label_option()
    positive: str | None = option(
        None, "With more than two classes, the class to separate from the others."
    )
    criterion: FeatureCriterion = option(
        FeatureCriterion.t, "t: most consistent effect; loss: largest effect; gate: both."
    )
    number: int | None = option(None, "Number of features; chosen by validation if omitted.", min=1)
    max_rows: int = max_rows_option(0)


@dataclass(frozen=True, kw_only=True)
class Predict(AnswerOptions):
    """Predict new rows with a saved model, and mark rows outside its training range."""

    model: Path = argument("Model file written by `select --save`.")
    new: Path = argument(
        "Table with the rows to predict: a file, or a directory or pattern of Parquet files. It is "
        "read in pieces."
    )
    output: Path | None = option(
        None, "Output file: .csv, .tsv or .parquet; CSV is printed if omitted.", "--output", "-o"
    )
    keep: list[str] | None = option(
        None, "Column of the table to copy to the output; may be repeated."
    )
    raw: bool = option(
        False, "Do not escape text that a spreadsheet would treat as a formula.", "--raw"
    )
    encoding: str | None = encoding_option()


@dataclass(frozen=True, kw_only=True)
class Report(Options):
    """Write a report from saved results."""

    results: Path = argument("File written by `select --results`: .json or .npz.")
    output: Path = option(..., "Report: .html, .md or .json.", "--output", "-o")
    level: float | None = option(
        None, "Nominal coverage of intervals computed from .npz; default 0.95.", min=0.5, max=0.999
    )


@dataclass(frozen=True, kw_only=True)
class Info(AnswerOptions):
    """Describe a saved model, its training data and its expected score."""

    model: Path = argument("Model file written by `select --save`.")


@dataclass(frozen=True, kw_only=True)
class Cache(AnswerOptions):
    """Show the contents of a directory of finished fits, and prune it."""

    directory: Path = argument("Directory given to `select --resume`.")
    prune: str | None = option(
        None, "Remove fits unused for this long, such as 30d or 12h; 0 removes all.", metavar="AGE"
    )


def as_command(options: type[Options], file: str) -> Callable[..., None]:
    """Function for typer whose parameters are the fields of ``options``."""
    name = options.__name__.lower()

    def command(**values: object) -> None:
        asked = options(**values)  # type: ignore[arg-type]
        with session(asked.format is Format.json, asked.debug) as current:
            run = getattr(import_module(f"landbridge.cli.{file}"), f"run_{name}")
            run(asked, current)

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
    command.__name__ = name
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


# The file of each command, whose function ``run_...`` takes the options.
FILES = {
    Demo: "demo",
    Diagnose: "diagnose",
    Select: "select",
    Label: "label",
    Evaluate: "diagnose",
    Features: "diagnose",
    Predict: "predict",
    Report: "stored",
    Info: "stored",
    Cache: "stored",
}
for options, file in FILES.items():
    app.command()(as_command(options, file))
