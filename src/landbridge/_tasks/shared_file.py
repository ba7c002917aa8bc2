"""Shared data, packed so that workers use its arrays in place instead of receiving copies."""

import mmap
import os
import pickle
import shutil
import struct
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from joblib.externals.loky.backend import resource_tracker

# cloudpickle also pickles lambdas and functions of ``__main__``. joblib bundles or requires it,
# depending on its version. Its output goes through pipes and private temporary files to processes
# of the same run, never into a file that a later run reads.
try:
    from cloudpickle import dumps
except ImportError:
    from joblib.externals.cloudpickle import dumps

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
        self._path = ""

    def path(self) -> str:
        """A temporary file from which workers on this machine map the arrays into memory.

        It is in a separate folder, which only this user can read. loky's resource tracker removes
        the folder if this process is killed. Workers that have mapped the file keep the memory
        until they release it.
        """
        if not self._path:
            chunks = pack(self.content)
            folder = tempfile.mkdtemp(prefix="landbridge-", dir=_place(sum(map(len, chunks))))
            resource_tracker.register(folder, "folder")
            self.on_close.append(partial(_remove, folder))
            self._path = str(Path(folder) / "shared")
            with open(self._path, "wb") as file:
                file.writelines(chunks)
        return self._path

    def close(self) -> None:
        """Delete the files and free the memory of the workers."""
        while self.on_close:
            self.on_close.pop()()
        self.scattered, self._path = None, ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    resource_tracker.unregister(folder, "folder")


def read_shared(path: str) -> Any:
    """Load the content of a `SharedData` from its file, with arrays memory-mapped read-only."""
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
