"""What every benchmark uses: measured subprocesses, peers, JSON lines, generated tables."""

import json
import logging
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import landbridge
from landbridge._tasks import Progress, Task, run_tasks

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
PAGES = HERE.parent / "docs" / "benchmarks"
# Each peer lives in a virtual environment of its own, never in ours.
PEERS = {"skada": ["skada"], "adapt": ["adapt"]}


def python_of(peer: str | None) -> str:
    """The interpreter of a peer's environment (created on first use), or our own."""
    if peer is None:
        return sys.executable
    home = Path(os.environ.get("LANDBRIDGE_PEERS", HERE.parent)) / f".venv-{peer}"
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PEERS[peer]], check=True)
    return str(python)


def measure(
    task: Path, arguments: Mapping[str, Any], *, peer: str | None = None, timeout: float = 3600
) -> dict[str, Any]:
    """Run a task file (see ``_measure.py``) in a fresh process on one thread and return figures."""
    command = [python_of(peer), str(HERE / "_measure.py"), str(task), json.dumps(dict(arguments))]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, env={**os.environ, **threads}
    )
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout.strip().splitlines()[-1])


Cells = Iterable[tuple[dict[str, Any], tuple[Any, ...]]]


class Log:
    """A JSON-lines file in ``results/``; every line carries the versions.

    With ``resume``, missing lines are added to the results. Without it, or if ``LANDBRIDGE_FRESH``
    is set, everything is measured again: lines go to a ``.part`` file, which replaces the results
    at the end of the ``with`` statement and is continued after an interruption.
    """

    def __init__(self, name: str, *, resume: bool = False):
        RESULTS.mkdir(exist_ok=True)
        self.complete = RESULTS / f"{name}.jsonl"
        resume = resume and "LANDBRIDGE_FRESH" not in os.environ
        self.path = self.complete if resume else RESULTS / f"{name}.part"
        self.path.touch()
        whole, _, _ = self.path.read_text().rpartition("\n")  # a killed run may cut the last line
        self.lines = [json.loads(line) for line in whole.splitlines()]
        self.path.write_text(whole + "\n" * bool(whole))
        self.versions = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
        self.versions["landbridge"] = landbridge.__version__
        self.versions["python"] = platform.python_version()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        if error is None:
            self.path.replace(self.complete)

    def run(
        self,
        function: Callable[..., Mapping[str, Any] | Sequence[Mapping[str, Any]]],
        cells: Cells,
        *,
        n_jobs: int | None = None,
    ) -> None:
        """Write the lines of every cell that has none: its names and what the function returns.

        A cell is the names that identify its lines, and the arguments of the function, which
        returns one line or several.
        """
        missing = (cell for cell in cells if not self.has(cell[0]))
        for names, found in run_cells(self.complete.stem, function, missing, n_jobs=n_jobs):
            lines = found if isinstance(found, list) else [found]
            self.write(*({**names, **line} for line in lines))

    def has(self, names: Mapping[str, Any]) -> bool:
        """Whether a line with these names was written before."""
        return any(names.items() <= line.items() for line in self.lines)

    def write(self, *lines: Mapping[str, Any]) -> None:
        """Append lines."""
        text = "".join(json.dumps({**line, "versions": self.versions}) + "\n" for line in lines)
        with self.path.open("a") as file:
            file.write(text)


def run_cells(
    name: str, function: Callable[..., Any], cells: Cells, *, n_jobs: int | None = None
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the names of every cell with what the function returns for its arguments.

    This is where benchmarks start tasks and show progress. As many cells run at the same time as
    ``LANDBRIDGE_JOBS`` says (one), or on the active joblib backend; benchmarks of time have
    ``n_jobs=1``.
    """
    n_jobs = n_jobs or int(os.environ.get("LANDBRIDGE_JOBS", "1"))
    tasks = (Task((names, function, arguments)) for names, arguments in cells)
    logging.getLogger("landbridge.progress").setLevel(logging.INFO)
    logging.basicConfig(format="%(message)s")
    with Progress(name, None, unit="cells") as progress:
        for result in run_tasks(_run_cell, tasks, n_jobs=n_jobs):
            if result.failure is not None:
                raise RuntimeError(result.failure.traceback or result.failure.message)
            names = result.task.content[0]
            yield names, (result.outcome or {})["found"]
            progress.advance(note=", ".join(map(str, names.values())))


def _run_cell(shared: Any, cell: tuple[Any, Any, Any]) -> dict[str, Any]:
    _, function, arguments = cell
    return {"found": function(*arguments)}


def read(name: str) -> list[dict[str, Any]]:
    """The lines of ``results/<name>.jsonl``."""
    return [json.loads(line) for line in (RESULTS / f"{name}.jsonl").read_text().splitlines()]


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table for a generated page; floats are shown with three significant digits."""

    def cell(value: Any) -> str:
        return f"{value:.3g}" if isinstance(value, float) else str(value)

    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(map(cell, row)) + " |" for row in rows]
    return "\n".join(lines)


def write_page(name: str, text: str) -> Path:
    """Write ``docs/benchmarks/<name>.md``; its title is the first line, without a full stop."""
    PAGES.mkdir(parents=True, exist_ok=True)
    path = PAGES / f"{name}.md"
    title, _, rest = text.rstrip().partition("\n")
    path.write_text(f"{title.rstrip('.')}\n{rest}\n")
    return path
