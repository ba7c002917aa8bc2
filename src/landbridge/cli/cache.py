"""``landbridge cache``: show and prune a directory of finished fits."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from landbridge.cli import _options as options
from landbridge.cli._errors import InputError
from landbridge.cli._session import Session


@dataclass(frozen=True, kw_only=True)
class Cache(options.AnswerOptions):
    """Show the contents of a directory of finished fits, and prune it."""

    directory: Annotated[Path, typer.Argument(help="Directory given to `select --resume`.")]
    prune: Annotated[
        str | None,
        typer.Option(
            metavar="AGE",
            help="Remove fits unused for this long, such as 30d or 12h; 0 removes all.",
        ),
    ] = None

    def run(self, current: Session) -> None:
        from landbridge._tasks import TaskCache, duration, is_cache
        from landbridge.report.blocks import Column, Facts, make_table

        if not is_cache(self.directory):
            raise InputError(
                f"{self.directory}: not a directory of finished fits. Pass the directory that was "
                "given to --resume."
            )
        fits = TaskCache(self.directory)
        removed = None if self.prune is None else fits.prune(options.seconds_of(self.prune))
        contents = fits.contents()
        data = {
            "directory": str(self.directory),
            "fits": sum(contents.tasks.values()),
            "bytes": sum(contents.bytes.values()),
            "damaged": contents.damaged,
            "removed": removed,
            "kinds": [
                {
                    "name": name,
                    "fits": contents.tasks[name],
                    "bytes": contents.bytes[name],
                    "seconds": contents.seconds[name],
                }
                for name in sorted(contents.tasks)
            ],
        }
        facts = [
            ("directory", str(self.directory)),
            ("finished fits", f"{data['fits']}, {size_words(sum(contents.bytes.values()))}"),
        ]
        if contents.damaged:
            facts.append(("damaged files, which are fitted again", str(contents.damaged)))
        if removed is not None:
            facts.append(("files removed", str(removed)))
        columns = [
            Column("candidate"),
            Column("fits", ".0f"),
            Column("size"),
            Column("time saved"),
        ]
        rows = [
            [
                name,
                contents.tasks[name],
                size_words(contents.bytes[name]),
                duration(contents.seconds[name]),
            ]
            for name in sorted(contents.tasks)
        ]
        current.show(data, [Facts(facts), *([make_table(columns, rows)] if rows else [])])


def size_words(n_bytes: float) -> str:
    """Format a number of bytes."""
    for unit in ("B", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"
