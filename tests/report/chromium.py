"""A real browser for the tests: Chromium through its driver, spoken to over plain HTTP.

The WebDriver protocol is JSON over HTTP, so the standard library is enough.
"""

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
]


class Page:
    """A browser with one page."""

    def __init__(self, address: str, session: str):
        self.root = f"{address}/session/{session}"

    def call(self, path: str, **body: Any) -> Any:
        return _post(f"{self.root}/{path}", body)

    def open(self, path: Path) -> None:
        self.call("url", url=path.resolve().as_uri())

    def run(self, script: str) -> Any:
        """The value of a script's ``return``."""
        return self.call("execute/sync", script=script, args=[])

    def devtools(self, command: str, **parameters: Any) -> Any:
        return self.call("goog/cdp/execute", cmd=command, params=parameters)

    def console(self) -> list[dict[str, Any]]:
        return self.call("se/log", type="browser")

    def requests(self) -> list[str]:
        """Addresses that the page has asked for since the last call."""
        found = []
        for entry in self.call("se/log", type="performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def dark(self, on: bool) -> None:
        value = "dark" if on else "light"
        feature = [{"name": "prefers-color-scheme", "value": value}]
        self.devtools("Emulation.setEmulatedMedia", features=feature)

    def screenshot(self, path: Path, *, width: int = 1000, height: int = 5200) -> None:
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        picture = self.devtools("Page.captureScreenshot")["data"]
        path.write_bytes(base64.b64decode(picture))


@contextmanager
def browser(folder: Path) -> Iterator[Page]:
    """A headless Chromium with a fresh profile; the test is skipped where there is none."""
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("needs the programs chromium and chromedriver (apt install chromium-driver)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [driver, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(f"{address}/status")
        options = {"binary": program, "args": [*FLAGS, f"--user-data-dir={folder / 'profile'}"]}
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        session = _post(f"{address}/session", {"capabilities": {"alwaysMatch": wanted}})
        page = Page(address, session["sessionId"])
        yield page
        urllib.request.urlopen(urllib.request.Request(page.root, method="DELETE"), timeout=30)
    finally:
        server.terminate()
        server.wait()


def _post(address: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        address, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["value"]


def _wait_for(address: str, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                if json.load(answer)["value"]["ready"]:
                    return
        except OSError:
            if time.monotonic() > end:
                raise
        time.sleep(0.05)
