"""Shared data in one file that worker processes map into memory instead of receiving copies."""

import mmap
import os
import pickle
import shutil
import struct
import tempfile
from pathlib import Path
from typing import Any

from joblib.externals.loky.backend import resource_tracker

from landbridge._tasks._pickling import dumps

# Same alignment as numpy's own allocations or better, so that loops take the same path.
ALIGNMENT = 64
LENGTH = struct.Struct("<Q")
MEMORY_DISK = "/dev/shm"


class SharedFile:
    """A temporary file with a pickled object whose arrays can be mapped.

    The file lives in a folder of its own, which only this user can read. loky's resource tracker
    removes the folder if this process is killed.
    """

    def __init__(self, shared: Any):
        buffers: list[pickle.PickleBuffer] = []
        payload = dumps(shared, protocol=5, buffer_callback=buffers.append)
        views = [buffer.raw() for buffer in buffers]
        sizes = [view.nbytes for view in views]
        header = pickle.dumps((payload, sizes))
        n_bytes = len(header) + sum(sizes)
        self.folder = tempfile.mkdtemp(prefix="landbridge-", dir=_place(n_bytes))
        resource_tracker.register(self.folder, "folder")
        self.path = str(Path(self.folder) / "shared")
        with open(self.path, "wb") as file:
            file.write(LENGTH.pack(len(header)))
            file.write(header)
            for view in views:
                file.write(b"\0" * (-file.tell() % ALIGNMENT))
                file.write(view)

    def close(self) -> None:
        """Remove the file; workers that have mapped it keep their memory until they forget it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        resource_tracker.unregister(self.folder, "folder")


def read_shared(path: str) -> Any:
    """The object of a `SharedFile`, with read-only arrays in mapped memory."""
    with open(path, "rb") as file:
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    (n_header,) = LENGTH.unpack(mapped[: LENGTH.size])
    place = LENGTH.size + n_header
    payload, sizes = pickle.loads(mapped[LENGTH.size : place])  # noqa: S301 - our own file
    buffers = []
    for size in sizes:
        place += -place % ALIGNMENT
        buffers.append(mapped[place : place + size])
        place += size
    return pickle.loads(payload, buffers=buffers)  # noqa: S301 - our own file


def _place(n_bytes: int) -> str | None:
    """The memory disk if it has ample room, else the default folder for temporary files."""
    usable = os.path.isdir(MEMORY_DISK) and os.access(MEMORY_DISK, os.W_OK)
    roomy = usable and shutil.disk_usage(MEMORY_DISK).free > 2 * n_bytes + 2**20
    return MEMORY_DISK if roomy else None
