"""Controls a headless Chromium over its debugging pipe, without a driver or another package."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from tests.harness import unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def needs_browser() -> None:
    """Skips the test if there is no Chromium."""
    if CHROMIUM is None:
        unavailable("there is no Chromium to show the page: install Debian's chromium")


_OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")

_KEYS = {"Tab": 9, "Enter": 13, " ": 32}
"""By name of a key its code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """The screen that a page is shown on."""

    width: int = 1280
    height: int = 800
    dark: bool = False
    paper: bool = False


class Tab:
    """One open page."""

    def __init__(self, commands: IO[bytes], replies: Iterator[dict[str, Any]]) -> None:
        self._commands, self._replies = commands, replies
        self._number = 0
        self._session: str | None = None
        target = self._tell("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._tell("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._tell("Page.enable")

    def open(self, path: Path, fragment: str = "", screen: Screen | None = None) -> None:
        """Shows the file; returns when it has loaded and its script has run."""
        self.show_on(screen or Screen())
        # The same file with another fragment would be the same page, gone to another place.
        self._tell("Page.navigate", url="about:blank")
        self._tell("Page.navigate", url=f"{path.as_uri()}{fragment and f'#{fragment}'}")
        self.run("new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))")
        self.settle()

    def settle(self) -> None:
        """Returns when the page has drawn everything and has no pending work."""
        self.run("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")

    def show_on(self, screen: Screen) -> None:
        """As `screen` shows it from here on."""
        size = {"width": screen.width, "height": screen.height, "deviceScaleFactor": 1, "mobile": screen.width < 600}
        self._tell("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if screen.dark else "light"}
        self._tell("Emulation.setEmulatedMedia", media="print" if screen.paper else "", features=[scheme])

    def run(self, script: str) -> Any:
        """The value of the expression, awaited if it is a promise; an exception in it is raised here."""
        reply = self._tell("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in reply, reply
        return reply["result"].get("value")

    def press(self, key: str) -> None:
        """Presses and lets go of a key, by its name."""
        pressed = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
        typed = {"text": {"Enter": "\r"}.get(key, key)} if key != "Tab" else {}
        self._tell("Input.dispatchKeyEvent", type="keyDown", **pressed, **typed)
        self._tell("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def paper(self) -> bytes:
        """The page as it is printed, as a PDF."""
        return base64.b64decode(self._tell("Page.printToPDF", printBackground=False)["data"])

    def picture(self) -> bytes:
        """The content of the screen as a PNG."""
        return base64.b64decode(self._tell("Page.captureScreenshot", format="png")["data"])

    def _tell(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        told = {"id": self._number, "method": method, "params": parameters, "sessionId": self._session}
        self._commands.write(json.dumps({key: value for key, value in told.items() if value is not None}).encode())
        self._commands.write(b"\0")
        self._commands.flush()
        for reply in self._replies:
            if reply.get("id") == self._number:
                assert "error" not in reply, f"{method}: {reply['error']}"
                result: dict[str, Any] = reply["result"]
                return result
        raise AssertionError(f"{method}: the browser has ended")


@contextlib.contextmanager
def open_tab() -> Iterator[Tab]:
    """A tab of a browser that is closed at the end."""
    assert CHROMIUM is not None
    # The browser reads commands from descriptor 3 and writes messages to descriptor 4.
    shell = ("/bin/sh", "-c", 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1', "sh")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = (*_OPTIONS, f"--user-data-dir={profile}", "--remote-debugging-pipe")
        browser = subprocess.Popen([*shell, CHROMIUM, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with browser:
            assert browser.stdin is not None
            assert browser.stdout is not None
            try:
                yield Tab(browser.stdin, _messages(browser.stdout))
            finally:
                browser.terminate()


def _messages(said: IO[bytes]) -> Iterator[dict[str, Any]]:
    """The messages of the browser; each ends in a null byte."""
    rest = b""
    while part := os.read(said.fileno(), 1 << 20):
        *whole, rest = (rest + part).split(b"\0")
        yield from map(json.loads, whole)
