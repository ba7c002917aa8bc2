"""Shared data, packed so that workers use its arrays in place instead of receiving copies."""

import mmap
import os
import pickle
import shutil
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
from joblib.externals.loky.backend import resource_tracker

from landbridge._tasks._pickling import dumps

# Same alignment as numpy's own allocations or better, so that loops take the same path.
ALIGNMENT = 64
LENGTH = struct.Struct("<Q")
MEMORY_DISK = "/dev/shm"


class SharedData:
    """Data that all tasks of one or several runs read.

    Pass it as ``shared`` to several calls of `run_tasks` to send the data to the workers once.
    Close it, or use it in a ``with`` statement, to free the memory of the workers.
    """

    def __init__(self, content: Any):
        self.content = content
        self.on_close: list[Callable[[], None]] = []
        self.scattered: Any = None
        self._file: SharedFile | None = None

    def path(self) -> str:
        """A file from which worker processes of this machine read the content."""
        if self._file is None:
            self._file = SharedFile(self.content)
            self.on_close.append(self._file.close)
        return self._file.path

    def close(self) -> None:
        """Delete the files and free the memory of the workers."""
        while self.on_close:
            self.on_close.pop()()
        self.scattered = self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SharedFile:
    """A temporary file with a packed object, whose arrays workers map into memory.

    The file is in a separate folder, which only this user can read. loky's resource tracker
    removes the folder if this process is killed.
    """

    def __init__(self, shared: Any):
        chunks = pack(shared)
        self.folder = tempfile.mkdtemp(prefix="landbridge-", dir=_place(sum(map(len, chunks))))
        resource_tracker.register(self.folder, "folder")
        self.path = str(Path(self.folder) / "shared")
        with open(self.path, "wb") as file:
            file.writelines(chunks)

    def close(self) -> None:
        """Remove the file; workers that have mapped it keep the memory until they release it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        resource_tracker.unregister(self.folder, "folder")


def read_shared(path: str) -> Any:
    """Load the object in a `SharedFile`, with arrays memory-mapped read-only."""
    with open(path, "rb") as file:
        return unpack(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))


def pack(shared: Any) -> list[Any]:
    """Bytes of an object in chunks: a header, then its arrays, each at an aligned offset."""
    buffers: list[pickle.PickleBuffer] = []
    payload = dumps(shared, protocol=5, buffer_callback=buffers.append)
    views = [buffer.raw() for buffer in buffers]
    header = pickle.dumps((payload, [view.nbytes for view in views]))
    chunks: list[Any] = [LENGTH.pack(len(header)), header]
    place = LENGTH.size + len(header)
    for view in views:
        gap = -place % ALIGNMENT
        chunks += [b"\0" * gap, view]
        place += gap + view.nbytes
    return chunks


def unpack(packed: memoryview) -> Any:
    """The object, with read-only arrays that use the memory of ``packed``, which is aligned."""
    (n_header,) = LENGTH.unpack(packed[: LENGTH.size])
    place = LENGTH.size + n_header
    payload, sizes = pickle.loads(packed[LENGTH.size : place])  # noqa: S301 - from this run
    buffers = []
    for size in sizes:
        place += -place % ALIGNMENT
        buffers.append(packed[place : place + size])
        place += size
    return pickle.loads(payload, buffers=buffers)  # noqa: S301 - from this run


def aligned(packed: bytes) -> memoryview:
    """A read-only copy at an aligned address."""
    space = np.empty(len(packed) + ALIGNMENT, dtype=np.uint8)
    start = -space.ctypes.data % ALIGNMENT
    copy = space[start : start + len(packed)]
    copy[:] = np.frombuffer(packed, dtype=np.uint8)
    copy.flags.writeable = False
    return copy.data


def _place(n_bytes: int) -> str | None:
    """The in-memory file system if it has enough space, else the default temporary folder."""
    usable = os.path.isdir(MEMORY_DISK) and os.access(MEMORY_DISK, os.W_OK)
    roomy = usable and shutil.disk_usage(MEMORY_DISK).free > 2 * n_bytes + 2**20
    return MEMORY_DISK if roomy else None
