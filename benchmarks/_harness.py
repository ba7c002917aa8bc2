"""What every benchmark uses: measured subprocesses, peers, JSON lines, generated tables."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

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


class Log:
    """A JSON-lines file in ``results/``; every line carries the versions.

    It is written anew, or with ``resume`` continued where an interrupted run left it.
    """

    def __init__(self, name: str, *, resume: bool = False):
        RESULTS.mkdir(exist_ok=True)
        self.path = RESULTS / f"{name}.jsonl"
        if not (resume and self.path.exists()):
            self.path.write_text("")
        self.versions = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
        self.versions["landbridge"] = landbridge.__version__
        self.versions["python"] = platform.python_version()

    def run(
        self,
        function: Callable[..., Mapping[str, Any]],
        cells: Iterable[tuple[dict[str, Any], tuple[Any, ...]]],
    ) -> None:
        """Write a line for every cell that has none: its names and what the function returns.

        A cell is the names that identify its line, and the arguments of the function. As many cells
        run at the same time as ``LANDBRIDGE_JOBS`` says (one), or on the active joblib backend.
        """
        n_jobs = int(os.environ.get("LANDBRIDGE_JOBS", "1"))
        missing = self._missing(function, cells)
        with Progress(self.path.stem, None, unit="lines") as progress:
            for result in run_tasks(_run_cell, missing, n_jobs=n_jobs):
                if result.failure is not None:
                    raise RuntimeError(result.failure.traceback or result.failure.message)
                self.write(**{**result.task.content[0], **(result.outcome or {})})
                progress.advance()

    def _missing(self, function: Any, cells: Iterable[Any]) -> Iterator[Task]:
        lines = read(self.path.stem)
        for names, arguments in cells:
            if not any(names.items() <= line.items() for line in lines):
                yield Task((names, function, arguments))

    def write(self, **fields: Any) -> None:
        """Append one line and show it."""
        line = json.dumps({**fields, "versions": self.versions})
        with self.path.open("a") as file:
            file.write(line + "\n")
        print(
            {k: round(v, 4) if isinstance(v, float) else v for k, v in fields.items()}, flush=True
        )


def _run_cell(shared: Any, cell: tuple[Any, Any, Any]) -> dict[str, Any]:
    _, function, arguments = cell
    return dict(function(*arguments))


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
