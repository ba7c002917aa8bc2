"""Downloads against a server on this machine that can misbehave."""

import contextlib
import gzip
import hashlib
import io
import logging
import os
import socket
import sys
import tarfile
import threading
import time
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from landbridge._tasks import progress
from landbridge.datasets import _download as transfers
from landbridge.datasets._download import download
from landbridge.datasets._home import DataFile, get_data_home, require_files

CONTENT = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves ``files``; breaks off after ``cuts.pop(0)`` bytes while there are cuts."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.cuts, self.requests, self.ranges = {"/file.bin": CONTENT}, [], [], True

    def url(self, name):
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server = self.server
        asked = self.headers.get("Range") if server.ranges else None
        server.requests.append(self.headers.get("Range"))
        content = server.files.get(self.path)
        if content is None:
            return self.send_error(404)
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        if start >= len(content):
            return self.send_error(416)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        body = content[start:]
        self.wfile.write(body[: server.cuts.pop(0)] if server.cuts else body)
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


def left_over(path):
    return path.with_name(path.name + ".part")


def test_a_file_arrives_whole_and_nothing_else_stays(server, tmp_path):
    path = tmp_path / "deep" / "file.bin"
    download(server.url("file.bin"), path, sha256=SHA256)
    assert path.read_bytes() == CONTENT
    assert list(path.parent.iterdir()) == [path]


def test_a_broken_transfer_goes_on_where_it_stopped(server, tmp_path):
    server.cuts = [100_000, 50_000]
    download(server.url("file.bin"), tmp_path / "file.bin", sha256=SHA256)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT
    assert server.requests == [None, "bytes=100000-", "bytes=150000-"]


def test_after_too_many_breaks_the_beginning_is_kept_for_the_next_call(server, tmp_path):
    path = tmp_path / "file.bin"
    server.cuts = [1000] * 3
    with pytest.raises(OSError, match="was interrupted 3 times.*try again to resume"):
        download(server.url("file.bin"), path, sha256=SHA256)
    assert not path.exists()
    assert left_over(path).read_bytes() == CONTENT[:3000]
    download(server.url("file.bin"), path, sha256=SHA256)
    assert path.read_bytes() == CONTENT
    assert server.requests[-1] == "bytes=3000-"


def test_an_interrupted_program_resumes(server, tmp_path, monkeypatch):
    path = tmp_path / "file.bin"
    copy = transfers._copy

    def interrupted(response, file, advance):
        file.write(response.read(5000))
        raise KeyboardInterrupt

    monkeypatch.setattr(transfers, "_copy", interrupted)
    with pytest.raises(KeyboardInterrupt):
        download(server.url("file.bin"), path, sha256=SHA256)
    assert not path.exists()
    monkeypatch.setattr(transfers, "_copy", copy)
    download(server.url("file.bin"), path, sha256=SHA256)
    assert path.read_bytes() == CONTENT
    assert server.requests == [None, "bytes=5000-"]


def test_a_server_without_ranges_sends_everything_again(server, tmp_path):
    server.ranges, server.cuts = False, [100_000]
    download(server.url("file.bin"), tmp_path / "file.bin", sha256=SHA256)
    assert (tmp_path / "file.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("stale", [b"another version", CONTENT + b"longer than the file"])
def test_a_leftover_of_another_version_is_thrown_away(server, tmp_path, stale):
    path = tmp_path / "file.bin"
    left_over(path).write_bytes(stale)
    download(server.url("file.bin"), path, sha256=SHA256)
    assert path.read_bytes() == CONTENT


def test_a_wrong_checksum_leaves_no_file(server, tmp_path):
    with pytest.raises(OSError, match=f"must have the SHA-256 {'0' * 64}; got {SHA256}"):
        download(server.url("file.bin"), tmp_path / "file.bin", sha256="0" * 64)
    assert list(tmp_path.iterdir()) == []


def test_an_address_without_a_file(server, tmp_path):
    file = DataFile("set/gone.bin", SHA256, server.url("gone.zip"), member="gone.bin")
    with pytest.raises(
        OSError, match=r"answered 404 Not Found.*You can also save set/gone\.bin in"
    ):
        require([file], tmp_path)


def test_offline(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/file.bin"
    with pytest.raises(OSError, match="could not be reached .*Check the network.*save file.bin in"):
        require([DataFile("file.bin", SHA256, address)], tmp_path)


def test_a_data_home_that_cannot_be_written_to(server, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(OSError, match="must be writable.*LANDBRIDGE_DATA"):
        download(server.url("file.bin"), tmp_path / "file" / "file.bin", sha256=SHA256)
    assert server.requests == []


def test_a_read_only_data_home(server, tmp_path, monkeypatch):
    # The administrator may write to every folder, so the answer of the system is played here.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(OSError, match="no permission to write"):
        download(server.url("file.bin"), tmp_path / "file.bin", sha256=SHA256)


def test_progress_is_logged_without_a_terminal(server, tmp_path, monkeypatch, caplog):
    copy = transfers._copy

    def slowly(*arguments):
        copy(*arguments)
        time.sleep(0.05)

    monkeypatch.setattr(progress, "SILENCE", 0.0)
    monkeypatch.setattr(transfers, "_copy", slowly)
    with caplog.at_level(logging.INFO, logger="landbridge"):
        download(server.url("file.bin"), tmp_path / "file.bin", sha256=SHA256)
    assert f"file.bin: {len(CONTENT)} of {len(CONTENT)} bytes" in caplog.text


def zipped(names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, CONTENT)
    return buffer.getvalue()


def tarred(names):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = len(CONTENT)
            archive.addfile(info, io.BytesIO(CONTENT))
    return buffer.getvalue()


def require(files, home, **options):
    options = {"download_if_missing": True, "origin": "It is a test."} | options
    return require_files(files, data_home=home, **options)


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_two_files_of_one_archive_need_one_download(server, tmp_path, pack):
    server.files["/both.zip"] = pack(["in/a.bin", "in/b.bin"])
    files = [
        DataFile(f"set/{name}.bin", SHA256, server.url("both.zip"), member=f"in/{name}.bin")
        for name in "ab"
    ]
    paths = require(files, tmp_path)
    assert [path.read_bytes() for path in paths] == [CONTENT, CONTENT]
    assert sorted(path.name for path in (tmp_path / "set").iterdir()) == ["a.bin", "b.bin"]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("archive", "message"),
    [
        (zipped(["other.bin"]), "must be an archive that contains a.bin"),
        (tarred(["other.bin"]), "must be an archive that contains a.bin"),
        (b"no archive at all", "must be an archive that contains a.bin"),
    ],
)
def test_an_archive_that_has_changed(server, tmp_path, archive, message):
    server.files["/a.zip"] = archive
    with pytest.raises(OSError, match=message):
        require([DataFile("a.bin", SHA256, server.url("a.zip"), member="a.bin")], tmp_path)
    assert not (tmp_path / "a.bin").exists()
    assert not (tmp_path / "a.zip").exists()


def test_a_damaged_or_excessive_member_leaves_no_file(server, tmp_path, monkeypatch):
    damaged = bytearray(zipped(["a.bin"]))
    damaged[60:80] = bytes(20)
    file = DataFile("a.bin", SHA256, server.url("a.zip"), member="a.bin")
    server.files["/a.zip"] = bytes(damaged)
    with pytest.raises(OSError, match=r"must be an archive that contains a\.bin"):
        require([file], tmp_path)
    monkeypatch.setattr("landbridge.datasets._download._MOST_BYTES", 10)
    server.files["/a.zip"] = zipped(["a.bin"])
    with pytest.raises(OSError, match="more than 10 bytes"):
        require([file], tmp_path)
    assert list(tmp_path.iterdir()) == []


class RawServer:
    """Sends the given answers as they are, one per request, and repeats the last one."""

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []
        self.socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    def url(self, name):
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}/{name}"

    def _serve(self):
        # The socket is shut down at the end of the test.
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                with connection, contextlib.suppress(OSError):
                    self.requests.append(connection.recv(65536))
                    answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                    connection.sendall(answer)


@pytest.fixture
def raw():
    """Start a server that sends given answers."""
    servers = []

    def start(*answers):
        servers.append(RawServer(*answers))
        return servers[-1]

    yield start
    for server in servers:
        server.socket.shutdown(socket.SHUT_RDWR)
        server.socket.close()


def answer(*headers, body=CONTENT, status="200 OK"):
    lines = "".join(f"{header}\r\n" for header in ("Connection: close", *headers))
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1") + body


LENGTH = f"Content-Length: {len(CONTENT)}"
PART = "206 Partial Content"


@pytest.mark.parametrize(
    "garbage",
    [
        b"<html>hello</html>",
        b"HTTP/1.1 99999 X\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        answer("Location: http://host:abc/", status="302 F", body=b""),
        answer("Location: http://" + "a" * 80 + ".example/", status="302 F", body=b""),
        answer("Location: http://\x01/", status="302 F", body=b""),
        answer("Location: file:///etc/passwd", status="302 F", body=b""),
    ],
    ids=range(9),
)
def test_an_answer_that_is_not_http_or_leads_nowhere(raw, tmp_path, garbage):
    file = DataFile("a.bin", SHA256, raw(garbage).url("a.bin"))
    with pytest.raises(
        OSError, match="(could not be reached|answered 302).*You can also save"
    ) as e:
        require([file], tmp_path)
    assert len(str(e.value)) < 600
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", ["abc", "-5", "1e3", "", "1,2", "9" * 30])
def test_a_content_length_that_is_no_number_is_ignored(raw, tmp_path, length):
    server = raw(answer(f"Content-Length: {length}"))
    download(server.url("a.bin"), tmp_path / "a.bin", sha256=SHA256)
    assert (tmp_path / "a.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("content_range", ["bytes 0-9/10", "garbage", "bytes */5"])
def test_another_part_than_the_rest_is_not_appended(raw, tmp_path, content_range):
    whole = answer(LENGTH)
    server = raw(answer(f"Content-Range: {content_range}", LENGTH, status=PART), whole)
    left_over(tmp_path / "a.zip").write_bytes(CONTENT[:1000])
    download(server.url("a.zip"), tmp_path / "a.zip", sha256=None)
    assert (tmp_path / "a.zip").read_bytes() == CONTENT
    assert [b"Range" in asked for asked in server.requests] == [True, False]


def test_a_part_for_which_nobody_asked(raw, tmp_path):
    start = answer(f"Content-Range: bytes 0-255999/{len(CONTENT)}", LENGTH, status=PART)
    download(raw(start).url("a.bin"), tmp_path / "a.bin", sha256=SHA256)
    assert (tmp_path / "a.bin").read_bytes() == CONTENT
    other = raw(answer("Content-Range: bytes 5-9/10", body=b"56789", status=PART))
    with pytest.raises(OSError, match="answered with another part of the file"):
        download(other.url("b.bin"), tmp_path / "b.bin", sha256=SHA256)
    assert [path.name for path in tmp_path.iterdir()] == ["a.bin"]


def test_a_body_that_never_ends_is_cut_off(raw, tmp_path, monkeypatch):
    monkeypatch.setattr("landbridge.datasets._download._LARGEST_DOWNLOAD", 100_000)
    for server in (raw(answer()), raw(answer("Content-Length: 99999999999"))):
        with pytest.raises(
            OSError, match="must have at most 100000 bytes.*partial file was removed"
        ):
            download(server.url("a.bin"), tmp_path / "a.bin", sha256=SHA256)
        assert list(tmp_path.iterdir()) == []


def test_a_chunk_of_negative_size_is_a_broken_transfer(raw, tmp_path):
    chunked = answer("Transfer-Encoding: chunked", body=b"-5\r\nabc\r\n")
    with pytest.raises(OSError, match="was interrupted 3 times"):
        download(raw(chunked).url("a.bin"), tmp_path / "a.bin", sha256=SHA256)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_damaged_in_any_compression_are_described(server, tmp_path, method):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("a.bin", CONTENT)
    damaged = bytearray(buffer.getvalue())
    damaged[45:85] = bytes(40)
    server.files["/a.zip"] = bytes(damaged)
    with pytest.raises(OSError, match=r"a\.zip must be an archive that contains a\.bin; got: "):
        require([DataFile("a.bin", SHA256, server.url("a.zip"), member="a.bin")], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_changed_member_of_an_archive_leaves_no_file(server, tmp_path):
    server.files["/a.zip"] = zipped(["a.bin"])
    with pytest.raises(OSError, match="a.bin in a.zip must have the SHA-256"):
        require([DataFile("a.bin", "0" * 64, server.url("a.zip"), member="a.bin")], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_downloaded_once(server, tmp_path):
    file = DataFile("set/file.bin", SHA256, server.url("file.bin"))
    assert require([file], tmp_path) == require([file], tmp_path) == [tmp_path / "set/file.bin"]
    assert (tmp_path / "set/file.bin").read_bytes() == CONTENT
    assert len(server.requests) == 1


def test_a_connection_that_breaks_while_reading_is_a_broken_transfer(tmp_path):
    class Line:
        def read(self, n_bytes):
            raise ConnectionResetError("reset by peer")

    with (tmp_path / "x").open("wb") as file, pytest.raises(transfers._BrokenOff, match="reset"):
        transfers._copy(Line(), file, print)


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
    with pytest.raises(OSError, match="0.bin, 1.bin, 2.bin and 1 more.*not published"):
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


def test_links_in_the_place_of_a_download_are_refused(server, tmp_path):
    (tmp_path / "precious").write_text("keep me")
    (tmp_path / "file.csv.part").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="must be a file of this download; got a link"):
        download(server.url("file.csv"), tmp_path / "file.csv", sha256=None)
    assert (tmp_path / "precious").read_text() == "keep me"


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
