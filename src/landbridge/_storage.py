"""Save results in one file of arrays with a JSON header; loading runs no code.

A *record* is a frozen dataclass of arrays, JSON values and other records. Its arrays become those
of an ``.npz`` file, named by their place in the record; everything else goes into a JSON header
inside that file. Files are written under a temporary name and renamed, so that a file with the
final name is always complete. The header contains the SHA-256 of every array, and the file contains
that of the header. A modified file is rejected with the name of the changed array.

A file may come from an untrusted source. Before an archive is decompressed, its sizes are compared
with limits, and the header of each array with the number of bytes that follow.
"""

import contextlib
import hashlib
import io
import json
import math
import os
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import IO, Any, Literal, NoReturn, TypeVar, get_args, get_origin

import numpy as np

from landbridge._version import __version__

FORMAT = 4
HEADER, SEAL = "header", "seal"
# Keys of the header that stand for an array and for a record inside another.
ARRAY, RECORD = "@array", "@record"
# Largest size of an archive and of its JSON when decompressed: in bytes, or as a multiple of the
# compressed size if that is more. Python objects take about 20 times the space of their JSON.
MOST_BYTES, MOST_TEXT, MOST_RATIO = 512 << 20, 32 << 20, 200
Record = TypeVar("Record")
# Exceptions of numpy and zipfile for truncated or corrupted files. A changed flag marks a member as
# encrypted (RuntimeError) or compressed in an unknown way (its subclass NotImplementedError).
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, RuntimeError)


def save_record(record: Any, path: str | os.PathLike[str]) -> None:
    """Write a dataclass of arrays, JSON values and other dataclasses to ``path``."""
    write_archive(path, *pack(record))


def load_record(cls: type[Record], path: str | os.PathLike[str], **options: Any) -> Record:
    """Read a file written by `save_record`; arrays are read-only. See `unpack` for options."""
    return unpack(cls, *read_archive(path), path, **options)


def pack(record: Any) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and header of a record; fields with the metadata ``saved=False`` are left out."""
    if not is_dataclass(record) or isinstance(record, type):
        raise TypeError(f"`record` must be an instance of a dataclass; got {record!r}.")
    arrays: dict[str, np.ndarray] = {}
    values = _pack(record, "", arrays)
    name = values.pop(RECORD)
    return arrays, {"format": FORMAT, "landbridge": __version__, "record": name, "values": values}


def _pack(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        arrays[name] = plain_array(value, name)
        return {ARRAY: name}
    if isinstance(value, list | tuple):
        return [_pack(item, f"{name} {k}", arrays) for k, item in enumerate(value)]
    if is_dataclass(value):
        saved = [f.name for f in fields(value) if f.init and f.metadata.get("saved", True)]
        parts = {part: getattr(value, part) for part in saved}
        return {RECORD: type(value).__name__, **_pack(parts, name, arrays)}
    if isinstance(value, dict):
        return {key: _pack(item, f"{name} {key}".strip(), arrays) for key, item in value.items()}
    return str(value) if isinstance(value, Path) else value


def unpack(
    cls: type[Record],
    arrays: dict[str, np.ndarray],
    header: dict[str, Any],
    path: Any,
    *,
    parts: Mapping[str, Callable[..., Any]] | None = None,
    complete: Callable[[dict[str, Any]], dict[str, Any]] = dict,
) -> Record:
    """Inverse of `pack`.

    ``parts`` holds the classes of records inside the record by name, and ``complete`` returns all
    fields of the record from those that were saved. A record with the method ``_contradictions``,
    an iterator of sentences, is refused with the first of them.
    """
    if header["record"] != cls.__name__:
        raise ValueError(
            f"`{path}` must contain a saved {cls.__name__}; got a saved {header['record']}. "
            f"Read it with {header['record']}.load."
        )
    if header["format"] != FORMAT:
        raise ValueError(
            f"`{path}` must have format {FORMAT}; got format {header['format']}, saved by "
            f"landbridge {header['landbridge']}. Save it again with landbridge {__version__}."
        )
    try:
        record = cls(**complete(_unpack(header["values"], arrays, parts or {})))
        require_type(record, cls, "")
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(
            f"`{path}` must have the fields of {cls.__name__}; got others ({error}), saved by "
            f"landbridge {header['landbridge']}. Save it again with landbridge {__version__}."
        ) from error
    # Digests show that a file is unchanged, not that its parts fit together.
    try:
        wrong = next(getattr(record, "_contradictions", lambda: iter(()))(), None)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        wrong = f"its parts do not fit together ({error})"
    if wrong is not None:
        raise ValueError(
            f"`{path}` must hold a consistent {cls.__name__}; {wrong}. Restore it from the "
            "original."
        )
    return record


def _unpack(value: Any, arrays: dict[str, np.ndarray], parts: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return tuple(_unpack(item, arrays, parts) for item in value)
    if not isinstance(value, dict):
        return value
    if ARRAY in value:
        return arrays[value[ARRAY]]
    inside = {key: _unpack(item, arrays, parts) for key, item in value.items()}
    return parts[inside.pop(RECORD)](**inside) if RECORD in inside else inside


def require_type(value: Any, kind: Any, name: str) -> None:
    """Raise a `TypeError` unless a value and the parts in it have the types of their fields."""
    if isinstance(kind, UnionType):  # a type or None
        kind = get_args(kind)[0] if value is not None else NoneType
    outer, inner = get_origin(kind) or kind, get_args(kind)
    if outer is Literal:
        fits = value in inner
    elif outer in (int, float):
        fits = type(value) in (int, outer)
    else:
        fits = outer is Any or isinstance(value, outer)
    parts: list[tuple[Any, Any, Any]] = []
    if outer is tuple and inner and fits:
        kinds = inner[:1] * len(value) if Ellipsis in inner else inner
        fits = len(value) == len(kinds)
        parts = list(zip(value, kinds, range(len(kinds)), strict=False))
    elif outer is dict and inner and fits:
        parts = [(value[key], inner[1], key) for key in value]
    elif is_dataclass(outer) and fits:
        saved = (field for field in fields(outer) if field.metadata.get("saved", True))
        parts = [(getattr(value, field.name), field.type, field.name) for field in saved]
    if not fits:
        raise TypeError(f"{name!r} must be {kind}; got {str(value)[:60]!r}")
    for part, its_kind, key in parts:
        require_type(part, its_kind, f"{name} {key}".strip())


def plain_array(array: np.ndarray, name: str) -> np.ndarray:
    """Convert text objects to a text array; reject other objects, which would need pickle."""
    if array.dtype != object:
        return array
    if all(isinstance(value, str) for value in array.ravel().tolist()):
        return array.astype(str)
    raise TypeError(
        f"`{name}` must be an array of numbers or of text to be saved; got Python objects. "
        "Convert it with astype first."
    )


def plain_value(value: Any) -> Any:
    """Convert a value to JSON types; raise if that is not possible."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(
        "A saved value must consist of numbers, text, lists and dictionaries; got "
        f"{type(value).__name__}. Convert it first."
    )


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Binary file for writing that gets its final name when it is complete.

    Until then it has a temporary name in the same folder, and it is removed if an error occurs.
    The content is flushed to disk before the file is renamed, and errors name the final path.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: the folder {path.parent} must exist. Create it first.")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _keep_permissions(path, name)
        os.replace(name, path)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        if isinstance(error, OSError) and error.errno is not None:
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        raise


def _keep_permissions(path: Path, name: str) -> None:
    """Set default permissions, because mkstemp creates private files."""
    if path.exists():
        os.chmod(name, path.stat().st_mode & 0o777)
        return
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)


def write_archive(
    path: str | os.PathLike[str], arrays: dict[str, np.ndarray], header: dict[str, Any]
) -> None:
    """Write arrays and a header with their digests."""
    digests = {name: _digest(array) for name, array in arrays.items()}
    text = json.dumps(header | {"digests": digests}, default=plain_value).encode()
    sealed = np.frombuffer(text, dtype=np.uint8)
    seal = np.frombuffer(hashlib.sha256(text).digest(), dtype=np.uint8)
    # numpy before 2.1 has no option against pickle, and would store the option as another array.
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise ValueError(f"Object arrays cannot be saved; got one named {name!r}.")
    with whole_file(path) as file:
        every: dict[str, Any] = {**arrays, HEADER: sealed, SEAL: seal}
        np.savez_compressed(file, **every)


def read_archive(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays of a saved file, read-only, and its header."""
    path = Path(path)
    require_regular_file(path)
    with path.open("rb") as file:
        arrays = _read_arrays(file, path)
    sealed, seal = arrays.pop(HEADER, None), arrays.pop(SEAL, None)
    header = _read_header(sealed, path)
    _check_seal(arrays, header.pop("digests", None), sealed, seal, path)
    return arrays, header


def _read_arrays(file: Any, path: Path) -> dict[str, np.ndarray]:
    if file.read(4) != b"PK\x03\x04":
        raise ValueError(
            f"`{path}` must be a result saved by landbridge (.npz); got another kind of file. "
            "Pass the path that was given to save."
        )
    file.seek(0)
    arrays = {}
    try:
        with zipfile.ZipFile(file) as archive:
            check_archive(archive, path)
            for member in archive.infolist():
                with archive.open(member) as content:
                    array = np.lib.format.read_array(content, allow_pickle=False)
                array.flags.writeable = False
                arrays[member.filename.removesuffix(".npy")] = array
    except DAMAGE as error:
        raise ValueError(
            f"`{path}` must be a complete result saved by landbridge; the file is damaged, "
            f"incomplete or of another kind ({error}). Restore it from the original."
        ) from error
    return arrays


def _read_header(array: np.ndarray | None, path: Path) -> dict[str, Any]:
    try:
        header = json.loads(array.tobytes())  # type: ignore[union-attr]
        whole = isinstance(header["format"], int)
        whole = whole and isinstance(header.get("digests", {}), dict)
        if not whole or not {"record", "landbridge", "values"} <= set(header):
            raise ValueError("a header without its parts")
    except (AttributeError, TypeError, ValueError, KeyError, RecursionError) as error:
        raise ValueError(
            f"`{path}` must be a result saved by landbridge; got an .npz file without its header. "
            "Pass the path that was given to save."
        ) from error
    return header


def _check_seal(arrays: Any, digests: Any, sealed: Any, seal: Any, path: Path) -> None:
    """Raise for the first part that was changed after saving."""
    wrong = next(
        (name for name in arrays if _digest(arrays[name]) != (digests or {}).get(name)), ""
    )
    missing = next((name for name in digests or {} if name not in arrays), "")
    if seal is None or digests is None:
        what = "its checksum is missing"
    elif wrong or missing:
        what = f"the array {wrong!r} was changed" if wrong else f"the array {missing!r} is missing"
    elif seal.tobytes() != hashlib.sha256(sealed).digest():
        what = "its header was changed"
    else:
        return
    raise ValueError(
        f"`{path}` must be an unchanged landbridge result; it was damaged or edited: {what}. "
        f"Restore it from the original."
    )


def _digest(array: np.ndarray) -> str:
    """SHA-256 of an array's type, shape and values."""
    plain = np.ascontiguousarray(array)
    digest = hashlib.sha256(f"{plain.dtype.str} {array.shape}".encode())
    digest.update(plain.reshape(-1).view(np.uint8).data if plain.size else b"")
    return digest.hexdigest()


def require_regular_file(path: str | os.PathLike[str]) -> None:
    """Raise unless the path is a regular file, because a pipe or a device may be endless."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError(
            f"`{path}` must be a regular file; got a folder, a pipe or a device. Pass the path of "
            "a saved file."
        )


def check_archive(archive: zipfile.ZipFile, path: str | os.PathLike[str]) -> None:
    """Raise for duplicate names, excessive sizes, or arrays with wrong headers."""
    total, most = 0, max(MOST_BYTES, MOST_RATIO * os.path.getsize(path))
    waiting = [archive]
    while waiting:
        inside = waiting.pop()
        members = inside.infolist()
        if len({member.filename for member in members}) < len(members):
            _refuse(path, "two members with the same name")
        total += sum(member.file_size for member in members)
        if total > most:
            _refuse(path, f"{total} bytes when decompressed, more than {most}")
        for member in members:
            is_array = member.filename.endswith(".npy")
            if is_array:
                _check_array(inside, member, path)
            elif member.filename.endswith(".npz") and inside is archive:
                waiting.append(zipfile.ZipFile(io.BytesIO(inside.read(member))))
            # The JSON header of results is an array of bytes.
            is_text = not is_array or member.filename == f"{HEADER}.npy"
            most_text = max(MOST_TEXT, MOST_RATIO * member.compress_size)
            if is_text and member.file_size > most_text:
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
        except Exception as error:  # numpy parses the header as Python code
            _refuse(path, f"a damaged array in {member.filename!r} ({error})")
        if dtype.hasobject:
            _refuse(path, f"Python objects in {member.filename!r}")
        size = math.prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or size != member.file_size - file.tell():
            _refuse(path, f"an array in {member.filename!r} whose header states another size")


def _refuse(path: str | os.PathLike[str], what: str) -> NoReturn:
    raise zipfile.BadZipFile(f"{Path(path).name} contains {what}")
