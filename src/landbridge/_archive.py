"""Checks of a zip archive before it is decompressed into memory.

A saved model or result is an archive of JSON and arrays from a possibly untrusted source. Before
reading, sizes are compared with limits, and the header of each array with the number of bytes that
follow.
"""

import io
import math
import os
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, NoReturn

import numpy as np

# Largest uncompressed size of an archive, and of a JSON member.
MOST_BYTES = 16 << 30
MOST_TEXT = 256 << 20


def require_regular_file(path: str | os.PathLike[str]) -> None:
    """Raise unless the path is a regular file, because a pipe or a device may be endless."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError(
            f"`{path}` must be a regular file; got a folder, a pipe or a device. Pass the path of "
            "a saved file."
        )


def write_arrays(
    file: IO[bytes], arrays: Mapping[str, np.ndarray], *, compress: bool = False
) -> None:
    """Write arrays as an ``.npz`` without pickle.

    numpy before 2.1 has no option against pickle and would store the option as another array.
    """
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise ValueError(f"Object arrays cannot be saved; got one named {name!r}.")
    (np.savez_compressed if compress else np.savez)(file, **arrays)  # type: ignore[arg-type]


def check_archive(archive: zipfile.ZipFile, path: str | os.PathLike[str]) -> None:
    """Raise for duplicate names, excessive sizes, or arrays with wrong headers."""
    members = archive.infolist()
    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        _refuse(path, "two members with the same name")
    total = sum(member.file_size for member in members)
    if total > MOST_BYTES:
        _refuse(path, f"{total} bytes when decompressed, more than {MOST_BYTES}")
    for member in members:
        if member.filename.endswith(".npy"):
            _check_array(archive, member, path)
        elif member.filename.endswith(".npz"):
            with zipfile.ZipFile(io.BytesIO(archive.read(member))) as inner:
                check_archive(inner, path)
        elif member.file_size > MOST_TEXT:
            _refuse(path, f"{member.file_size} bytes of text in {member.filename!r}")


def _check_array(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: str | os.PathLike[str]
) -> None:
    """Compare the declared shape of an array with the number of bytes stored."""
    with archive.open(member) as file:
        try:
            version = np.lib.format.read_magic(file)
            read = {(1, 0): np.lib.format.read_array_header_1_0}.get(
                version, np.lib.format.read_array_header_2_0
            )
            shape, _, dtype = read(file)
        except (ValueError, EOFError) as error:
            _refuse(path, f"a damaged array in {member.filename!r} ({error})")
        if dtype.hasobject:
            _refuse(path, f"Python objects in {member.filename!r}")
        size = math.prod(shape) * dtype.itemsize
        if size != member.file_size - file.tell():
            _refuse(path, f"an array in {member.filename!r} whose header states another size")


def _refuse(path: str | os.PathLike[str], what: str) -> NoReturn:
    raise zipfile.BadZipFile(f"{Path(path).name} contains {what}")
