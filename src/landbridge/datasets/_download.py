"""Resumable downloads, checked by SHA-256.

Bytes are written to ``<name>.part`` next to the destination. An interrupted transfer leaves that
file behind, and the next attempt requests the rest from the server; the finished file is checked
against its SHA-256 and moved to its name in one step. Only the standard library is used for network
access.
"""

import hashlib
import logging
import os
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from landbridge._tasks import Progress

try:
    from lzma import LZMAError
except ImportError:  # not every Python has it
    LZMAError = EOFError  # type: ignore[assignment, misc]

logger = logging.getLogger(__name__)

_CHUNK = 1 << 16
_TIMEOUT_SECONDS = 30
_ATTEMPTS = 3
_RANGE_NOT_SATISFIABLE = 416
_PARTIAL_CONTENT = 206
# Largest size of a download; all datasets are smaller.
_LARGEST_DOWNLOAD = 1 << 30
# Largest decompressed size of a file in a downloaded archive.
_MOST_BYTES = 1 << 30
# Most characters of a server's answer that are quoted in a message.
_QUOTED = 200
# Exceptions for archives that are damaged, encrypted or of another kind.
_DAMAGE = (
    KeyError, EOFError, RuntimeError, MemoryError, OSError, OverflowError, ValueError, struct.error,
    tarfile.TarError, zipfile.BadZipFile, zlib.error, LZMAError,
)  # fmt: skip


class Unavailable(OSError):
    """The server cannot be reached or does not have the file."""


class _TooLarge(OSError):
    """The server sends more bytes than any dataset has."""


class _BrokenOff(Exception):
    """The transfer stopped before all bytes had arrived."""


def download(url: str, path: Path, *, sha256: str | None) -> None:
    """Download ``url`` to ``path``; with ``sha256=None``, the caller checks the file."""
    part = path.with_name(path.name + ".part")
    _make_folder(path.parent)
    if part.is_symlink() or (part.exists() and not part.is_file()):
        raise OSError(
            f"{part} must be a file of this download; got a link or another kind of file. Remove "
            "it and try again."
        )
    resumed = part.exists()
    _receive(url, part)
    if resumed and sha256 is not None and checksum(part) != sha256:
        # The partial download belongs to another version of the file.
        part.unlink()
        _receive(url, part)
    if sha256 is not None:
        _verify(part, sha256, url)
    _finish(part, path)


def _finish(part: Path, path: Path) -> None:
    """Flush a complete file to disk and give it its final name."""
    with part.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(part, path)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(f"no permission to write to {folder}")
    except OSError as error:
        raise OSError(
            f"The data home must be writable to download to {folder}; "
            f"got: {error}. Set LANDBRIDGE_DATA or data_home to another folder."
        ) from error


def _receive(url: str, part: Path) -> None:
    for attempt in range(_ATTEMPTS):
        try:
            return _transfer(url, part)
        except _TooLarge:
            part.unlink(missing_ok=True)
            raise
        except _BrokenOff as error:
            logger.info("Attempt %d at %s failed: %s", attempt + 1, url, error)
    raise OSError(
        f"The download of {url} was interrupted {_ATTEMPTS} times. The partial file is kept in "
        f"{part}; try again to resume it."
    )


def _transfer(url: str, part: Path) -> None:
    """Request the remaining bytes once."""
    done = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "landbridge"} | ({"Range": f"bytes={done}-"} if done else {})
    response = _open(Request(url, headers=headers), part)
    if response is None:
        return _transfer(url, part)
    is_part = response.status == _PARTIAL_CONTENT
    if is_part and _first_byte(response.headers.get("Content-Range"), done) != done:
        response.close()
        if done:
            part.unlink()
            return _transfer(url, part)
        raise Unavailable(f"{url} answered with another part of the file than the beginning.")
    start = done if is_part else 0
    total = _length(response.headers.get("Content-Length"))
    total = None if total is None else total + start
    with response:
        _check_size(total or 0, url)
        with (
            _open_part(part, resume=start > 0) as file,
            Progress(url.rsplit("/", 1)[-1], total, unit="bytes", done=start) as progress,
        ):

            def advance(n_bytes: int) -> None:
                progress.advance(n_bytes)
                _check_size(file.tell(), url)

            _copy(response, file, advance)
            arrived = file.tell()
    if total is not None and arrived < total:
        raise _BrokenOff(f"{arrived} of {total} bytes arrived")
    return None


def _first_byte(content_range: str | None, default: int) -> int | None:
    """First byte of a header like ``bytes 500-999/1000``; None if it is malformed."""
    if content_range is None:
        return default
    found = re.match(r"bytes (\d{1,18})-", content_range)
    return None if found is None else int(found[1])


def _length(content_length: str | None) -> int | None:
    """Number of bytes in the body; None if the server does not say, or says nonsense."""
    content_length = content_length or ""
    return int(content_length) if re.fullmatch(r"\d{1,18}", content_length) else None


def _check_size(n_bytes: int, url: str) -> None:
    """Raise if a download is larger than any dataset."""
    if n_bytes > _LARGEST_DOWNLOAD:
        raise _TooLarge(
            f"{url} must have at most {_LARGEST_DOWNLOAD} bytes, more than any dataset needs; the "
            "server sends more. The partial file was removed. The original may have changed."
        )


def _open_part(part: Path, *, resume: bool = False) -> IO[bytes]:
    """Open the partial file, new or for appending, without following links."""
    how = os.O_APPEND if resume else os.O_CREAT | os.O_EXCL
    if not resume:
        part.unlink(missing_ok=True)
    try:
        handle = os.open(part, os.O_WRONLY | how | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        raise OSError(
            f"{part} must be a file of this download; got a link or another kind of file "
            f"({error.strerror}). Remove it and try again."
        ) from error
    return os.fdopen(handle, "ab" if resume else "wb")


def _open(request: Request, part: Path) -> Any:
    """Response of the server; None if a partial file that cannot be resumed was removed."""
    url = request.full_url
    try:
        return urlopen(request, timeout=_TIMEOUT_SECONDS)
    except HTTPError as error:
        error.close()
        if error.code == _RANGE_NOT_SATISFIABLE and part.exists():
            part.unlink()
            return None
        raise Unavailable(
            f"{url} answered {error.code} {str(error.reason)[:_QUOTED]}. The file may have moved."
        ) from error
    except (OSError, HTTPException, ValueError) as error:
        # Not only lost connections: also answers that are not HTTP, and redirections to addresses
        # that are not valid.
        reason = " ".join(str(getattr(error, "reason", error)).split()) or type(error).__name__
        raise Unavailable(
            f"{url} could not be reached ({reason[:_QUOTED]}). Check the network connection."
        ) from error


def _copy(response: IO[bytes], file: IO[bytes], advance: Callable[[int], None]) -> None:
    while chunk := _read(response):
        file.write(chunk)
        advance(len(chunk))


def _read(response: IO[bytes]) -> bytes:
    try:
        return response.read(_CHUNK)
    except (OSError, HTTPException, ValueError) as error:  # ValueError: a chunk of negative size
        raise _BrokenOff(str(error)) from error


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _verify(path: Path, sha256: str, origin: str) -> None:
    found = checksum(path)
    if found != sha256:
        path.unlink()
        raise OSError(
            f"{origin} must have the SHA-256 {sha256}; got {found}. The file was removed. The "
            "original may have changed, or a proxy may have returned another file."
        )


def extract(archive: Path, members: dict[str, tuple[Path, str]]) -> None:
    """Extract files from a zip or tar archive; ``members`` maps names to (path, SHA-256)."""
    for name, (path, sha256) in members.items():
        part = path.with_name(path.name + ".part")
        try:
            with _open_part(part) as file:
                for chunk in _read_member(archive, name):
                    file.write(chunk)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        _verify(part, sha256, f"{name} in {archive.name}")
        _finish(part, path)


def _read_member(archive: Path, name: str) -> Iterator[bytes]:
    """Content of a file in an archive, in chunks."""
    size = 0
    try:
        with _member(archive, name) as source:
            while chunk := source.read(_CHUNK):
                size += len(chunk)
                if size > _MOST_BYTES:
                    raise zipfile.BadZipFile(f"more than {_MOST_BYTES} bytes")
                yield chunk
    except _DAMAGE as error:
        raise OSError(
            f"{archive.name} must be an archive that contains {name}; got: "
            f"{str(error) or type(error).__name__}. The original may have changed."
        ) from error


@contextmanager
def _member(archive: Path, name: str) -> Iterator[IO[bytes]]:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened, opened.open(name) as file:
            yield file
    else:
        with tarfile.open(archive) as tar:
            member = tar.extractfile(name)
            if member is None:
                raise KeyError(name)
            yield member
