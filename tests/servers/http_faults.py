"""An HTTP server on this machine that misbehaves on request.

Each request takes the next answer from `FaultServer.answers`; when none is left, the server behaves
well. So a test writes down the faults it wants, in order, and afterwards reads from
`FaultServer.requests` what was asked and what was sent.
"""

import hashlib
import re
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class Answer:
    """How to answer one request; with nothing said, as a good server would.

    Attributes:
        status: HTTP status to send instead of the right one; then the body is short words, not the file.
        headers: sent beside, or instead of, the usual ones; a value of `None` leaves that header out.
        body: the file's bytes as of this request, where they differ from the server's.
        flip: index of a byte of the file to invert.
        truncate_at: end the connection after this many bytes of the body, politely.
        reset_at: end the connection after this many bytes of the body, by a TCP reset.
        stall_at: send this many bytes of the body and then nothing, with the connection open.
        ignore_range: send the whole file although a range was asked for.
        no_length: announce no length: the end of the connection is the end of the body.
        part_bytes: send at most this many bytes of a range, and say so.
        range_shift: add this to the `Content-Range` that is announced (a broken server).
    """

    status: int | None = None
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: bytes | None = None
    flip: int | None = None
    truncate_at: int | None = None
    reset_at: int | None = None
    stall_at: int | None = None
    ignore_range: bool = False
    no_length: bool = False
    part_bytes: int | None = None
    range_shift: int = 0


@dataclass
class Record:
    """One request as the server saw it."""

    method: str
    path: str
    range: str | None
    headers: dict[str, str]
    status: int = 0
    bytes_sent: int = 0

    @property
    def authorization(self) -> str | None:
        """The `Authorization` header, if one came."""
        return self.headers.get("authorization")


class Handler(BaseHTTPRequestHandler):
    """Keeps the record of each request; subclasses answer it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for an acknowledgement
    server: "Listener"
    record: Record

    def do_GET(self) -> None:
        """Answer a GET."""
        self._handle()

    def do_HEAD(self) -> None:
        """Answer a HEAD."""
        self._handle()

    def do_POST(self) -> None:
        """Answer a POST."""
        self._handle()

    def _handle(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.record = Record(self.command, self.path, headers.get("range"), headers)
        with self.server.owner.lock:
            self.server.owner.requests.append(self.record)
        self.rfile.read(int(headers.get("content-length", 0)))
        self.server.owner.respond(self)

    def send(self, status: int, headers: Mapping[str, str | None], body: bytes) -> None:
        """Send a whole answer, with its length."""
        self.start(status, {"Content-Length": str(len(body)), **headers})
        if self.command != "HEAD":
            self.send_part(body)

    def start(self, status: int, headers: Mapping[str, str | None]) -> None:
        """Send status and headers; a header whose value is `None` is left out."""
        self.record.status = status
        self.send_response(status)
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()

    def send_part(self, body: bytes) -> None:
        """Send some bytes of the body, and count them: before, as the client may be done first."""
        self.record.bytes_sent += len(body)
        self.wfile.write(body)
        self.wfile.flush()

    def reset(self) -> None:
        """End the connection by a TCP reset: lingering for zero seconds makes close() send one."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output clean."""


class Listener(ThreadingHTTPServer):
    """The socket and its threads; `owner` decides what to answer."""

    daemon_threads = True
    owner: "LocalServer"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing when a client hangs up: many tests make it do so."""


class LocalServer:
    """A server on 127.0.0.1 with a free port, as a context manager.

    Attributes:
        requests: what was asked so far, in the order of arrival.
    """

    def __init__(self) -> None:
        self.requests: list[Record] = []
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self._listener = Listener(("127.0.0.1", 0), Handler)
        self._listener.owner = self
        self._thread = threading.Thread(
            target=self._listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def port(self) -> int:
        """The TCP port."""
        return int(self._listener.server_address[1])

    @property
    def endpoint(self) -> str:
        """`http://127.0.0.1:port`, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def respond(self, handler: Handler) -> None:
        """Answer one request."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.closing.set()  # wakes answers that stall
        self._listener.shutdown()
        self._listener.server_close()


class FaultServer(LocalServer):
    """Serves `files` (path to bytes), each request answered as the next of `answers` says.

    Args:
        files: bytes by path; paths begin with a slash and are not percent-encoded.
        answers: what to do with the first, second, … request; afterwards the server behaves well.
    """

    def __init__(self, files: Mapping[str, bytes], answers: Iterable[Answer] = ()) -> None:
        super().__init__()
        self.files = dict(files)
        self.answers = deque(answers)

    def url(self, path: str) -> str:
        """The address of a path."""
        return self.endpoint + path

    def respond(self, handler: Handler) -> None:
        """Answer one request by the next fault."""
        with self.lock:
            answer = self.answers.popleft() if self.answers else Answer()
        body = self.files.get(unquote(urlsplit(handler.path).path), answer.body)
        if answer.status is not None or body is None:
            handler.send(answer.status or 404, answer.headers, b"no file here")
            return
        serve(handler, body if answer.body is None else answer.body, answer)


def serve(
    handler: Handler,
    content: bytes,
    answer: Answer,
    etag: str | None = None,
    extra: Mapping[str, str | None] | None = None,
) -> None:
    """Send a file, or the range of it that was asked for, with the faults of `answer`."""
    tag = etag or f'"{hashlib.md5(content).hexdigest()}"'
    if answer.flip is not None:
        content = _flipped(content, answer.flip)
    span = None if answer.ignore_range else _asked_range(handler, tag)
    start, stop = span or (0, len(content))
    stop = min(stop, len(content))
    if span is not None and answer.part_bytes is not None:
        stop = min(stop, start + answer.part_bytes)
    headers: dict[str, str | None] = {"ETag": tag, **(extra or {})}
    if not answer.ignore_range:
        headers["Accept-Ranges"] = "bytes"
    if span is not None and start >= len(content):
        handler.send(416, {"Content-Range": f"bytes */{len(content)}", **answer.headers}, b"")
        return
    if span is not None:
        first, last = start + answer.range_shift, stop - 1 + answer.range_shift
        headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
    headers["Content-Length"] = None if answer.no_length else str(stop - start)
    handler.start(206 if span is not None else 200, {**headers, **answer.headers})
    if handler.command != "HEAD":
        _send_with_faults(handler, content[start:stop], answer)


def _send_with_faults(handler: Handler, body: bytes, answer: Answer) -> None:
    cuts = [answer.truncate_at, answer.reset_at, answer.stall_at]
    cut = next((at for at in cuts if at is not None), None)
    handler.send_part(body if cut is None else body[:cut])
    if answer.stall_at is not None:
        handler.server.owner.closing.wait(timeout=30)
    if answer.reset_at is not None:
        handler.reset()
    if cut is not None or answer.no_length:
        handler.close_connection = True


def _asked_range(handler: Handler, etag: str) -> tuple[int, int] | None:
    """`(start, stop)` of a single range, or `None` where the whole file is to be sent (RFC 9110, §14)."""
    wanted = handler.headers.get("Range")
    condition = handler.headers.get("If-Range")
    if wanted is None or (condition is not None and condition != etag):
        return None
    match = re.fullmatch(r"bytes=(\d+)-(\d*)", wanted)
    if match is None:
        return None
    return int(match[1]), int(match[2]) + 1 if match[2] else 2**63


def _flipped(content: bytes, at: int) -> bytes:
    changed = bytearray(content)
    changed[at] ^= 0xFF
    return bytes(changed)
