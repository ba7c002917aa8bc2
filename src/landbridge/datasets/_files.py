"""Location of the data files, and how a loader gets them.

A file is looked for in the data home: the argument ``data_home``, else the environment variable
``LANDBRIDGE_DATA``, else the user's cache folder. Files in a folder named by the user are used as
they are; files in the cache folder are compared with their SHA-256. Missing files are downloaded if
they have a public address, and checked before they are written. Otherwise, the error message
describes them.
"""

import gzip
import hashlib
import io
import os
import sys
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO, TypeAlias
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from landbridge._storage import whole_file

DataHome: TypeAlias = str | os.PathLike[str] | None
DATA_HOME_VARIABLE = "LANDBRIDGE_DATA"
TIMEOUT_SECONDS = 30
# Largest decompressed size of a file in a downloaded archive.
MOST_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a dataset, named by its path below the data home.

    ``sha256`` is the checksum of the file downloaded from ``url``; if ``url`` is a zip archive,
    ``member`` names the file inside it and ``sha256`` is that file's checksum. ``url`` is None for
    files without a public address. A file may also be compressed, with ``.gz`` appended to its
    name.
    """

    path: str
    sha256: str = ""
    url: str | None = None
    member: str | None = None


def get_data_home(data_home: DataHome = None) -> Path:
    """Return the folder of the data files.

    Parameters
    ----------
    data_home : path or None
        Folder to use. None uses the environment variable ``LANDBRIDGE_DATA`` or, if it is not set,
        the folder ``landbridge`` in the user's cache folder. The folder is not created.

    Returns
    -------
    path
        The directory.

    Examples
    --------
    >>> from landbridge.datasets import get_data_home
    >>> get_data_home("some/folder").name
    'folder'
    """
    if data_home is None:
        data_home = os.environ.get(DATA_HOME_VARIABLE) or _user_cache() / "landbridge"
    return Path(data_home).expanduser()


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local"))
    if sys.platform == "darwin":
        return Path("~/Library/Caches")
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")


def require_files(
    files: Sequence[DataFile], data_home: DataHome, download_if_missing: bool, origin: str
) -> list[Path]:
    """Paths of all ``files``; ``origin`` describes them in error messages."""
    home = get_data_home(data_home)
    missing = [file for file in files if _find(home, file) is None]
    if missing and (not download_if_missing or any(file.url is None for file in missing)):
        _raise_missing(missing, home, origin)
    _download(missing, home)
    paths = [path for file in files if (path := _find(home, file)) is not None]
    if data_home is None and not os.environ.get(DATA_HOME_VARIABLE):
        for file, path in zip(files, paths, strict=True):
            _check_cached(file, path)
    return paths


def read_bytes(path: Path) -> bytes:
    """Content of a file, decompressed."""
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def open_text(path: Path) -> IO[str]:
    """Open a UTF-8 text file, compressed or not."""
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _find(home: Path, file: DataFile) -> Path | None:
    """Path of the file or its compressed form; None if neither is in the data home."""
    plain = home / file.path
    for candidate in (plain, plain.with_name(plain.name + ".gz")):
        if candidate.is_file():
            return candidate
    return None


def _check_cached(file: DataFile, path: Path) -> None:
    """Raise if a file in the cache folder was changed after the download."""
    if not file.sha256:
        return
    try:
        found = hashlib.sha256(read_bytes(path)).hexdigest()
    except (gzip.BadGzipFile, EOFError, zlib.error):
        found = None
    if found != file.sha256:
        raise OSError(
            f"{path} must have the SHA-256 {file.sha256}; it was changed after the download. "
            "Remove it to download it again, or keep your own files in another folder "
            f"and set {DATA_HOME_VARIABLE} to it."
        )


def _raise_missing(missing: Sequence[DataFile], home: Path, origin: str) -> None:
    names = ", ".join(file.path for file in missing[:3])
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    if all(file.url for file in missing):
        advice = "Pass download_if_missing=True to download it"
    else:
        advice = "It has no public address and cannot be downloaded: put it there"
    raise OSError(
        f"The data home must contain {names}{more}; not found in {home}. {origin} {advice}, or set "
        f"{DATA_HOME_VARIABLE} to a folder that contains it."
    )


def _download(files: Sequence[DataFile], home: Path) -> None:
    """Download files, each archive once, and write those with the right checksum."""
    contents: dict[str, bytes] = {}
    for file in files:
        path, url = home / file.path, str(file.url)
        _make_folder(path.parent)
        if url not in contents:
            contents[url] = _receive(url, path)
        content = contents[url] if file.member is None else _member(contents[url], file)
        found = hashlib.sha256(content).hexdigest()
        if found != file.sha256:
            raise OSError(
                f"{file.member or file.path} from {url} must have the SHA-256 {file.sha256}; got "
                f"{found}. The original may have changed, or a proxy may have returned another "
                "file."
            )
        with whole_file(path) as target:
            target.write(content)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(f"no permission to write to {folder}")
    except OSError as error:
        raise OSError(
            f"The data home must be writable to download to {folder}; "
            f"got: {error}. Set {DATA_HOME_VARIABLE} or data_home to another folder."
        ) from error


def _receive(url: str, path: Path) -> bytes:
    """Content at an address; ``path`` is where a user could save it instead."""
    try:
        request = Request(url, headers={"User-Agent": "landbridge"})
        with urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            return response.read()
    except HTTPError as error:
        error.close()
        raise OSError(
            f"{url} answered {error.code} {error.reason}. The file may have moved; put "
            f"{path.name} into {path.parent} yourself."
        ) from error
    except (OSError, HTTPException) as error:  # no network, a timeout, or a broken connection
        reason = getattr(error, "reason", error)
        raise OSError(
            f"{url} could not be read ({reason}). Check the network connection and try again, or "
            f"put {path.name} into {path.parent} yourself."
        ) from error


def _member(archive: bytes, file: DataFile) -> bytes:
    """One file of a zip archive, which has no checksum of its own."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            if opened.getinfo(str(file.member)).file_size > MOST_BYTES:
                raise zipfile.BadZipFile(f"more than {MOST_BYTES} bytes")
            return opened.read(str(file.member))
    except (KeyError, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise OSError(
            f"{file.url} must be a zip archive that contains {file.member}; got: {error}. "
            "The original may have changed."
        ) from error
