"""Location of the data files, and how a loader finds them.

A file is looked for in the data home: the argument ``data_home``, else the environment variable
``LANDBRIDGE_DATA``, else the user's cache folder. Files in a folder named by the user are used as
they are; files in the cache folder are compared with their SHA-256. Missing files are downloaded if
they have a public address. Otherwise, the error message describes them.
"""

import gzip
import hashlib
import os
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

from landbridge.datasets._download import Unavailable, download, extract

DataHome: TypeAlias = str | os.PathLike[str] | None
DATA_HOME_VARIABLE = "LANDBRIDGE_DATA"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a dataset, named by its path below the data home.

    ``sha256`` is the checksum of the file downloaded from ``url``; if ``url`` is an archive,
    ``member`` names the file inside it and ``sha256`` is that file's checksum. ``url`` is None for
    files that are not published in this form. A file may also be compressed, with ``.gz`` appended
    to its name.
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


def find_file(home: Path, file: DataFile) -> Path | None:
    """Path of the file or its compressed form; None if neither is in the data home."""
    plain = home / file.path
    for candidate in (plain, plain.with_name(plain.name + ".gz")):
        if candidate.is_file():
            return candidate
    return None


def require_files(
    files: Sequence[DataFile], data_home: DataHome, download_if_missing: bool, origin: str
) -> list[Path]:
    """Paths of all ``files``; ``origin`` describes them in error messages."""
    home = get_data_home(data_home)
    missing = [file for file in files if find_file(home, file) is None]
    if missing and (not download_if_missing or any(file.url is None for file in missing)):
        _raise_missing(missing, home, origin)
    _download_missing(missing, home)
    paths = [path for file in files if (path := find_file(home, file)) is not None]
    if data_home is None and not os.environ.get(DATA_HOME_VARIABLE):
        for file, path in zip(files, paths, strict=True):
            _check_cached(file, path)
    return paths


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


def _download_missing(missing: Sequence[DataFile], home: Path) -> None:
    by_url: dict[str, list[DataFile]] = {}
    for file in missing:
        by_url.setdefault(str(file.url), []).append(file)
    for url, files in by_url.items():
        try:
            _download(url, files, home)
        except Unavailable as error:
            names = ", ".join(file.path for file in files)
            raise OSError(f"{error} You can also save {names} in {home} yourself.") from error


def _download(url: str, files: Sequence[DataFile], home: Path) -> None:
    """Download one file, or the archive that contains ``files``."""
    path = home / files[0].path
    if files[0].member is None:
        return download(url, path, sha256=files[0].sha256)
    archive = path.parent / url.rsplit("/", 1)[-1]
    # An archive has no checksum of its own; its members do.
    download(url, archive, sha256=None)
    try:
        extract(archive, {str(file.member): (home / file.path, file.sha256) for file in files})
    finally:
        archive.unlink()
    return None


def _raise_missing(missing: Sequence[DataFile], home: Path, origin: str) -> None:
    names = ", ".join(file.path for file in missing[:3])
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    if all(file.url for file in missing):
        advice = "Pass download_if_missing=True to download it"
    else:
        advice = "It is not published in this form and cannot be downloaded: put it there"
    raise OSError(
        f"The data home must contain {names}{more}; not found in {home}. {origin} {advice}, or set "
        f"{DATA_HOME_VARIABLE} to a folder that contains it."
    )


def read_bytes(path: Path) -> bytes:
    """Content of a file, decompressed."""
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def open_text(path: Path, *, encoding: str = "utf-8") -> IO[str]:
    """Open a text file, compressed or not."""
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding=encoding)
    return path.open(encoding=encoding)
