"""Files of datasets, downloaded from a server on this machine that can misbehave."""

import gzip
import hashlib
import io
import os
import socket
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from landbridge.datasets import _files
from landbridge.datasets._files import DataFile, get_data_home, require_files

CONTENT = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves ``files``; breaks off after ``cuts.pop(0)`` bytes while there are cuts."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.cuts, self.requests = {"/file.bin": CONTENT}, [], []

    def url(self, name):
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        server.requests.append(self.path)
        content = server.files.get(self.path)
        if content is None:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: server.cuts.pop(0)] if server.cuts else content)
        return None

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()


def require(files, home, **options):
    options = {"download_if_missing": True, "origin": "It is a test."} | options
    return require_files(files, data_home=home, **options)


def test_a_missing_file_is_downloaded_once_and_nothing_else_stays(server, tmp_path):
    file = DataFile("deep/file.bin", SHA256, server.url("file.bin"))
    assert require([file], tmp_path) == require([file], tmp_path) == [tmp_path / "deep/file.bin"]
    assert (tmp_path / "deep/file.bin").read_bytes() == CONTENT
    assert os.listdir(tmp_path / "deep") == ["file.bin"]
    assert len(server.requests) == 1


def test_a_broken_transfer_leaves_no_file_and_can_be_repeated(server, tmp_path):
    server.cuts = [100_000]
    file = DataFile("file.bin", SHA256, server.url("file.bin"))
    with pytest.raises(OSError, match="could not be read .*IncompleteRead.* and try again"):
        require([file], tmp_path)
    assert os.listdir(tmp_path) == []
    (path,) = require([file], tmp_path)
    assert path.read_bytes() == CONTENT


def test_a_wrong_checksum_leaves_no_file(server, tmp_path):
    file = DataFile("file.bin", "0" * 64, server.url("file.bin"))
    with pytest.raises(OSError, match=f"must have the SHA-256 {'0' * 64}; got {SHA256}"):
        require([file], tmp_path)
    assert os.listdir(tmp_path) == []


def test_an_address_without_a_file(server, tmp_path):
    with pytest.raises(OSError, match="answered 404 Not Found.*put gone.bin into .* yourself"):
        require([DataFile("gone.bin", SHA256, server.url("gone.bin"))], tmp_path)


def test_offline(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/file.bin"
    with pytest.raises(OSError, match="could not be read .*Check the network.*file.bin"):
        require([DataFile("file.bin", SHA256, address)], tmp_path)


def test_a_data_home_that_cannot_be_written_to(server, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(OSError, match="must be writable.*LANDBRIDGE_DATA"):
        require([DataFile("file/file.bin", SHA256, server.url("file.bin"))], tmp_path)
    assert server.requests == []


def test_a_read_only_data_home(server, tmp_path, monkeypatch):
    # The administrator may write to every folder, so the answer of the system is played here.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(OSError, match="no permission to write"):
        require([DataFile("file.bin", SHA256, server.url("file.bin"))], tmp_path)


def zipped(*names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, CONTENT)
    return buffer.getvalue()


def test_two_files_of_one_archive_need_one_download(server, tmp_path):
    server.files["/both.zip"] = zipped("in/a.bin", "in/b.bin")
    files = [
        DataFile(f"set/{name}.bin", SHA256, server.url("both.zip"), member=f"in/{name}.bin")
        for name in "ab"
    ]
    paths = require(files, tmp_path)
    assert [path.read_bytes() for path in paths] == [CONTENT, CONTENT]
    assert sorted(os.listdir(tmp_path / "set")) == ["a.bin", "b.bin"]
    assert len(server.requests) == 1


@pytest.mark.parametrize("archive", [zipped("other.bin"), b"no archive at all"])
def test_an_archive_that_has_changed(server, tmp_path, archive):
    server.files["/a.zip"] = archive
    with pytest.raises(OSError, match="must be a zip archive that contains a.bin"):
        require([DataFile("a.bin", SHA256, server.url("a.zip"), member="a.bin")], tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_changed_member_of_an_archive_leaves_no_file(server, tmp_path, monkeypatch):
    server.files["/a.zip"] = zipped("a.bin")
    file = DataFile("a.bin", "0" * 64, server.url("a.zip"), member="a.bin")
    with pytest.raises(OSError, match="a.bin from .*a.zip must have the SHA-256"):
        require([file], tmp_path)
    monkeypatch.setattr(_files, "MOST_BYTES", 1000)
    with pytest.raises(OSError, match="got: more than 1000 bytes"):
        require([file], tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_link_in_the_place_of_a_download_is_replaced_not_followed(server, tmp_path):
    (tmp_path / "file.bin").symlink_to(tmp_path / "elsewhere")
    (path,) = require([DataFile("file.bin", SHA256, server.url("file.bin"))], tmp_path)
    assert not path.is_symlink()
    assert os.listdir(tmp_path) == ["file.bin"]


def test_what_is_there_is_used_without_a_request(server, tmp_path):
    (tmp_path / "file.bin").write_bytes(b"mine")
    (path,) = require([DataFile("file.bin", SHA256, server.url("file.bin"))], tmp_path)
    assert path.read_bytes() == b"mine"
    assert server.requests == []


def test_a_compressed_file_serves_as_well(tmp_path):
    (tmp_path / "file.txt.gz").write_bytes(gzip.compress(b"text"))
    (path,) = require([DataFile("file.txt")], tmp_path)
    assert path.name == "file.txt.gz"


def test_download_if_missing_false_raises_without_a_request(server, tmp_path):
    file = DataFile("file.bin", SHA256, server.url("file.bin"))
    with pytest.raises(
        OSError, match="must contain file.bin.*It is a test. Pass download_if_missing"
    ):
        require([file], tmp_path, download_if_missing=False)
    assert server.requests == []


def test_a_file_that_nobody_publishes_is_described(server, tmp_path):
    files = [DataFile(f"{k}.bin") for k in range(4)]
    with pytest.raises(OSError, match="0.bin, 1.bin, 2.bin and 1 more.*no public address"):
        require(files, tmp_path)


def test_the_data_home_is_the_argument_then_the_variable_then_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("LANDBRIDGE_DATA", str(tmp_path / "variable"))
    assert get_data_home(tmp_path / "argument") == tmp_path / "argument"
    assert get_data_home() == tmp_path / "variable"
    monkeypatch.delenv("LANDBRIDGE_DATA")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert get_data_home() == tmp_path / "cache" / "landbridge"
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(("platform", "folder"), [("darwin", "Caches"), ("win32", "Local")])
def test_the_cache_folder_of_other_systems(monkeypatch, platform, folder):
    monkeypatch.delenv("LANDBRIDGE_DATA", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    assert folder in str(get_data_home())


def test_a_changed_file_in_the_cache_folder_is_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("LANDBRIDGE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    (tmp_path / "landbridge").mkdir()
    (tmp_path / "landbridge" / "a.csv").write_bytes(b"changed")
    file = DataFile("a.csv", sha256=hashlib.sha256(b"original").hexdigest(), url="http://nowhere")
    options = {"download_if_missing": True, "origin": ""}
    with pytest.raises(OSError, match="it was changed after the download. Remove it"):
        require_files([file], data_home=None, **options)
    assert require_files([file], data_home=tmp_path / "landbridge", **options)
    (tmp_path / "landbridge" / "a.csv").unlink()
    (tmp_path / "landbridge" / "a.csv.gz").write_bytes(b"not compressed")
    with pytest.raises(OSError, match=r"a.csv.gz must have the SHA-256 .* it was changed after"):
        require_files([file], data_home=None, **options)
