"""Arguments and options that several commands share, with one wording for each."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli._errors import InputError

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Format(StrEnum):
    """How an answer is printed."""

    table = "table"
    json = "json"


class Task(StrEnum):
    """What kind of label there is."""

    classification = "classification"
    regression = "regression"


Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help="CSV, TSV, Parquet, Excel or JSON lines: one file with a domain column, or name=path "
        "for each domain.",
        show_default=False,
    ),
]
Label = Annotated[
    str, typer.Option("--label", "-y", help="Column to learn; empty cells are unlabelled rows.")
]
OptionalLabel = Annotated[
    str | None, typer.Option("--label", "-y", help="Column that is the label and not a feature.")
]
Domain = Annotated[
    str | None,
    typer.Option(
        "--domain", "-d", help="Column with the domain of each row ('domain' if omitted)."
    ),
]
Target = Annotated[str, typer.Option("--target", "-t", help="Name of the target domain.")]
Kind = Annotated[
    Task | None, typer.Option("--task", help="Kind of label; found from the column if omitted.")
]
Drop = Annotated[
    list[str] | None, typer.Option("--drop", help="Column to leave out; may be repeated.")
]
Exclude = Annotated[
    list[str] | None, typer.Option("--exclude", help="Domain to leave out; may be repeated.")
]
Text = Annotated[
    list[str] | None,
    typer.Option("--text", help="Column to read as text, as it is written; may be repeated."),
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", help="Encoding of text files, if not UTF-8: latin-1.")
]
MaxRows = Annotated[
    int, typer.Option("--max-rows", min=0, help="Most rows used of each domain; 0 for all.")
]
Folds = Annotated[int, typer.Option("--folds", min=2, help="Folds of the cross-validation.")]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        help="Metric of scikit-learn, like roc_auc, f1 or rmse; may be repeated, the first counts.",
    ),
]
Level = Annotated[
    float, typer.Option("--level", min=0.5, max=0.999, help="Nominal coverage of intervals.")
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Tasks at a time; -1 for all cores.")]
Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="DIR",
        help="Keep finished fits in this directory, and use those that are there.",
    ),
]
Budget = Annotated[
    str,
    typer.Option(
        "--budget",
        metavar="TIME",
        help="Time for the fits, like 90s, 5m or 2h; 0 for no limit. Simple candidates go first.",
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Fit on a Dask cluster: tcp://host:8786, or local:4 for four workers here.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Same seed, same answer.")]
Report = Annotated[
    Path | None, typer.Option("--report", help="Write a report: .html, .md or .json.")
]
Output = Annotated[
    Format, typer.Option("--format", help="A table for people, or JSON on standard output.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def seconds_of(text: str) -> float:
    """Seconds of a duration like ``90``, ``5m``, ``12h`` or ``30d``."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", text.strip())
    if found is None:
        raise InputError(f"{text!r}: a duration is a number with a unit, like 90s, 5m, 12h or 30d.")
    return float(found[1]) * UNITS[found[2] or "s"]
