"""Cache of finished tasks on disk, with one file per task and without pickle.

A file consists of a digest of the rest, a line of JSON, and the bytes of the arrays of an outcome.
Its name is the key of the task, a hash of everything that the outcome depends on. Several runs may
share a directory: files get their final name only when they are complete, and the same key always
means the same content.
"""

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from landbridge._storage import require_regular_file, whole_file
from landbridge._tasks.task import Outcome, join_outcome, split_outcome
from landbridge._version import __version__

FORMAT = 1
MARKER = "landbridge-cache.json"
DIGEST_BYTES = 20
# A temporary file older than this belongs to no running process.
STALE_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class StoredTask:
    """A finished task from the cache."""

    kind: str
    outcome: Outcome
    seconds: float


@dataclass(frozen=True, slots=True)
class CacheContents:
    """Number of files, bytes and seconds saved in a cache directory, by kind of task."""

    tasks: dict[str, int]
    bytes: dict[str, int]
    seconds: dict[str, float]
    damaged: int


class TaskCache:
    """Finished tasks in a directory.

    Parameters
    ----------
    directory : path-like
        Directory of the cache, created if missing. A directory with other files is rejected.

    Attributes
    ----------
    hits, misses : int
        Number of tasks found and not found since this object was made.
    """

    def __init__(self, directory: str | os.PathLike[str]):
        self.directory = Path(directory)
        self.hits = self.misses = 0
        if self.directory.exists() and not self.directory.is_dir():
            raise ValueError(
                f"`cache` must be a directory; {self.directory} is a file. Choose another path."
            )
        self.directory.mkdir(parents=True, exist_ok=True)
        marker = self.directory / MARKER
        if not marker.exists():
            others = [path.name for path in self.directory.iterdir() if path.name != MARKER]
            if any(not name.startswith(f".{MARKER}") for name in others) and not marker.exists():
                raise ValueError(
                    f"`cache` must be a new or empty directory, or one made by an earlier run; "
                    f"{self.directory} holds other files, like {others[0]!r}. Choose another one."
                )
            with whole_file(marker) as file:
                file.write(json.dumps({"format": FORMAT, "landbridge": __version__}).encode())
        _check_format(marker)

    def get(self, key: str) -> StoredTask | None:
        """The task with this key; None if it is missing or its file is damaged."""
        path = self._path(key)
        stored = _read(path, key)
        if stored is None:
            self.misses += 1
            return None
        self.hits += 1
        with suppress(OSError):
            os.utime(path)  # `prune` removes files by the time of last use
        return stored

    def put(self, key: str, outcome: Mapping[str, Any], *, kind: str, seconds: float) -> None:
        """Store the outcome of a task."""
        arrays, values = split_outcome(outcome)
        header = {
            "format": FORMAT,
            "key": key,
            "kind": kind,
            "seconds": seconds,
            "landbridge": __version__,
            "names": list(outcome),
            "arrays": [[name, array.dtype.str, array.shape] for name, array in arrays.items()],
            "values": values,
        }
        bodies = [array.tobytes() for array in arrays.values()]
        content = b"".join([json.dumps(header).encode(), b"\n", *bodies])
        path = self._path(key)
        path.parent.mkdir(exist_ok=True)
        with whole_file(path) as file:
            file.write(_digest(content) + content)

    def contents(self) -> CacheContents:
        """Count tasks, bytes and seconds by kind."""
        tasks: Counter[str] = Counter()
        sizes: Counter[str] = Counter()
        seconds: dict[str, float] = {}
        damaged = 0
        for path in self._files():
            stored = _read(path, path.stem)
            if stored is None:
                damaged += 1
                continue
            tasks[stored.kind] += 1
            sizes[stored.kind] += path.stat().st_size
            seconds[stored.kind] = seconds.get(stored.kind, 0.0) + stored.seconds
        return CacheContents(dict(tasks), dict(sizes), seconds, damaged)

    def prune(self, unused_seconds: float = 0.0) -> int:
        """Remove tasks that were not used recently, damaged files and leftovers of killed runs.

        Parameters
        ----------
        unused_seconds : float, default=0.0
            Remove tasks unused for this many seconds; 0 removes every task.

        Returns
        -------
        n_removed : int
            Number of files removed.
        """
        now, removed = time.time(), 0
        for path in self._files():
            with suppress(FileNotFoundError):  # another run may be pruning at the same time
                if now - path.stat().st_mtime >= unused_seconds or _read(path, path.stem) is None:
                    path.unlink()
                    removed += 1
        for path in self.directory.glob("**/.*.part"):
            with suppress(FileNotFoundError):
                if now - path.stat().st_mtime >= STALE_SECONDS:
                    path.unlink()
                    removed += 1
        return removed

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / f"{key}.fit"

    def _files(self) -> Iterator[Path]:
        return self.directory.glob("??/*.fit")


def is_cache(directory: str | os.PathLike[str]) -> bool:
    """Whether the directory was made by `TaskCache`."""
    return (Path(directory) / MARKER).is_file()


def _check_format(marker: Path) -> None:
    require_regular_file(marker)
    try:
        version = json.loads(marker.read_bytes())["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        version = None
    if version != FORMAT:
        raise ValueError(
            f"`cache` must be a directory written by landbridge with format {FORMAT}; {marker} "
            f"has format {version!r}. Choose another directory."
        )


def _read(path: Path, key: str) -> StoredTask | None:
    """The stored task, or None for a file that is missing, cut short, edited or misnamed."""
    try:
        require_regular_file(path)
        stored = path.read_bytes()
        content = stored[DIGEST_BYTES:]
        if stored[:DIGEST_BYTES] != _digest(content):
            return None
        text, _, data = content.partition(b"\n")
        header = json.loads(text)
        arrays, place = {}, 0
        for name, kind, shape in header["arrays"]:
            dtype = np.dtype(str(kind))
            if dtype.hasobject:  # numpy would take the bytes for addresses
                return None
            # A copy, because linear algebra takes another path at addresses that are not aligned.
            arrays[name] = np.ndarray(shape, dtype, data, place).copy()
            arrays[name].flags.writeable = False
            place += arrays[name].nbytes
        outcome = join_outcome(arrays, header["values"], header["names"])
        if (header["format"], header["key"], place) != (FORMAT, key, len(data)):
            return None
        return StoredTask(str(header["kind"]), outcome, float(header["seconds"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError, SyntaxError):
        return None


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()
