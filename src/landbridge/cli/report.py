"""``landbridge report``: write a report from saved results."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from landbridge.cli import _options as options
from landbridge.cli._errors import InputError
from landbridge.cli._session import REPORTS, Session, check_distinct, check_output, command_line


@dataclass(frozen=True, kw_only=True)
class Report(options.Options):
    """Write a report from saved results."""

    results: Annotated[
        Path, typer.Argument(help="File written by `select --results`: .json or .npz.")
    ]
    output: Annotated[Path, typer.Option("--output", "-o", help="Report: .html, .md or .json.")]
    level: Annotated[
        float | None,
        typer.Option(
            min=0.5,
            max=0.999,
            help="Nominal coverage of intervals computed from .npz; default 0.95.",
        ),
    ] = None

    def run(self, current: Session) -> None:
        check_output(self.output, *REPORTS)
        from jinja2 import UndefinedError

        from landbridge.report import write_report

        check_distinct(results=self.results, output=self.output)
        summary = read_results(self.results, self.level)
        try:
            write_report(summary, self.output)
        except (KeyError, TypeError, AttributeError, IndexError, UndefinedError) as error:
            raise InputError(
                f"{self.results}: the results are damaged; a part is missing or "
                f"was edited ({type(error).__name__}: {error}). Save them again with `select "
                "--results`."
            ) from error
        current.wrote("report", self.output)


def read_results(path: Path, level: float | None) -> dict[str, Any]:
    """Read a summary from a file, or compute it from stored predictions at the given level."""
    import json

    from landbridge.report import summarise, summarise_origin
    from landbridge.report.summary import FORMAT

    if not path.is_file():
        raise InputError(f"{path}: no such file. Pass a file written by `select --results`.")
    if path.suffix.lower() == ".npz":
        from landbridge.model_selection import SearchResult

        origin = summarise_origin(command=command_line())
        result = SearchResult.load(path)
        return summarise(
            title=f"Results of {path.name}",
            target="the target",
            origin=origin,
            result=result,
            level=0.95 if level is None else level,
        )
    if level is not None:
        raise InputError(
            f"{path}: --level requires a .npz file with predictions; the intervals of "
            f"{path.suffix or 'other files'} are fixed. Omit it, or pass the .npz file."
        )
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not a landbridge results file: {error}.") from error
    if not isinstance(summary, dict) or summary.get("kind") != "landbridge report":
        raise InputError(f"{path}: not a landbridge results file.")
    if summary.get("format") != FORMAT:
        raise InputError(
            f"{path}: must have format {FORMAT}; got format {summary.get('format')!r}, saved by "
            "another version of landbridge. Search again, or use that version."
        )
    return summary
