"""A Chromium without a window, spoken to in its DevTools protocol over a pair of pipes."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ANSWER_S = 60.0

Message = dict[str, Any]

# The browser reads messages from descriptor 3 and writes to 4, whatever numbers they have here.
_START = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
_FIRST_FREE = 10
_LOADED = """
new Promise((done) => {
  if (document.readyState === "complete") done();
  else addEventListener("load", () => done());
})
"""

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--remote-debugging-pipe", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--hide-scrollbars"),
)


def find_chromium() -> str | None:
    """The browser's program; None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    """A running browser; to be used in a `with` block.

    Args:
        program: its path.
        profile: an empty folder for what it keeps.
    """

    def __init__(self, program: str, profile: Path) -> None:
        theirs_in, self._out = _pipe()
        self._in, theirs_out = _pipe()
        start = [sys.executable, "-c", _START, str(theirs_in), str(theirs_out)]
        # What it says of itself (no bus, no graphics card) is not of the page.
        self._process = subprocess.Popen(
            [*start, program, *_FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._unread = b""
        self._calls = 0
        self.events: list[Message] = []

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the browser."""
        try:
            self.call("Browser.close")
            self._process.wait(timeout=ANSWER_S)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        finally:
            os.close(self._in)
            os.close(self._out)

    def call(self, method: str, session: str | None = None, **params: Any) -> Message:
        """Ask for something, of the browser or of one page, and wait for the answer.

        Raises:
            OSError: the browser refused, ended, or was silent for a minute.
        """
        self._calls += 1
        number = self._calls
        message = {"id": number, "method": method, "params": params}
        _write(self._out, json.dumps(message | ({"sessionId": session} if session else {})))
        answer = self._wait(lambda each: each.get("id") == number)
        if "error" in answer:
            raise OSError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _wait(self, wanted: Callable[[Message], bool]) -> Message:
        """The next message that is wanted; events that come before it are kept in `events`."""
        deadline = time.monotonic() + ANSWER_S
        while True:
            while b"\0" not in self._unread:
                self._read(deadline)
            line, _, self._unread = self._unread.partition(b"\0")
            message = json.loads(line)
            if "method" in message:
                self.events.append(message)
            if wanted(message):
                return message

    def _read(self, deadline: float) -> None:
        ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise OSError(f"the browser said nothing for {ANSWER_S:g} s")
        found = os.read(self._in, 1 << 20)
        if not found:
            raise OSError("the browser ended")
        self._unread += found


class Tab:
    """A page in a browser.

    Args:
        browser: it runs already.
        path: HTML file to open.
        width: of the window, in CSS pixels.
        height: likewise.
        paper: whether the page is laid out as for print.
    """

    def __init__(
        self,
        browser: Chromium,
        path: Path,
        *,
        width: int,
        height: int = 900,
        paper: bool = False,
    ) -> None:
        self._browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        if paper:
            self.call("Emulation.setEmulatedMedia", media="print")
        self.call("Page.navigate", url=path.absolute().as_uri())
        self.evaluate(_LOADED)

    def call(self, method: str, **params: Any) -> Message:
        """Ask something of this page."""
        return self._browser.call(method, self._session, **params)

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page, as JSON; of a promise, what it comes to.

        Raises:
            OSError: it threw.
        """
        options = {"returnByValue": True, "awaitPromise": True}
        answer = self.call("Runtime.evaluate", expression=script, **options)
        if "exceptionDetails" in answer:
            raise OSError(f"the page threw: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def events(self, *methods: str) -> list[Message]:
        """Parameters of the page's events of some kinds, up to now and to what it had begun."""
        self.evaluate("new Promise((done) => { setTimeout(done); })")
        return [each["params"] for each in self._browser.events if self._is(each, *methods)]

    def complaints(self) -> list[Message]:
        """What stands in the page's console: its own words, the browser's, and what was thrown and not caught."""
        return self.events("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")

    def requests(self) -> list[str]:
        """Every address that the page asked for."""
        return [each["request"]["url"] for each in self.events("Network.requestWillBeSent")]

    def picture(self, **options: Any) -> bytes:
        """The whole page as PNG, or what `clip` cuts out (`x`, `y`, `width`, `height`, `scale`)."""
        answer = self.call("Page.captureScreenshot", captureBeyondViewport=True, **options)
        return base64.b64decode(answer["data"])

    def pdf(self) -> bytes:
        """The page as printed on A4 paper, by the margins that it states."""
        answer = self.call(
            "Page.printToPDF", preferCSSPageSize=True, paperWidth=8.27, paperHeight=11.69
        )
        return base64.b64decode(answer["data"])

    def _is(self, event: Message, *methods: str) -> bool:
        return event.get("sessionId") == self._session and event.get("method") in methods


def _pipe() -> tuple[int, int]:
    """A pipe whose descriptors are none of those that the browser wants for itself."""
    ends = os.pipe()
    free = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FIRST_FREE) for end in ends]
    for end in ends:
        os.close(end)
    return free[0], free[1]


def _write(descriptor: int, text: str) -> None:
    left = memoryview(text.encode() + b"\0")
    while left:
        left = left[os.write(descriptor, left) :]
