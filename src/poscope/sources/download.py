"""Files from the web, each held to a pinned checksum."""

import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

import httpx2

from poscope import __version__
from poscope.errors import PoscopeError, SourceError
from poscope.files import atomic_path
from poscope.sources.checksum import Pin, pinned
from poscope.sources.http import (
    PLAIN_BODY,
    ContentRange,
    check_status,
    content_length,
    content_range,
    network_faults,
)
from poscope.sources.mirror import VARIABLE, find_in_mirror, resolve_mirror
from poscope.sources.progress import Progress
from poscope.sources.retry import RetryPolicy, TransientFault, with_retries

_log = logging.getLogger(__name__)


def download(
    url: str,
    destination: str | os.PathLike[str],
    *,
    sha256: str | None = None,
    git_blob: str | None = None,
    mirror: str | os.PathLike[str] | None = None,
    timeout_s: float = 30.0,
    attempts: int = 5,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Fetch `url` to `destination`, whole and as pinned, or leave nothing there.

    A mirror's file is taken where a mirror is in use and has it; else the network is asked. Timeouts, broken
    connections, truncated bodies and the statuses 408, 429 and 5xx are retried with back-off, from where the
    transfer broke off if the server allows. Other statuses and a wrong checksum are final.

    Args:
        url: http or https address.
        destination: the file to write; its folder is made.
        sha256: digest of the bytes; exactly one of this and `git_blob` is to be given.
        git_blob: git object id of the bytes.
        mirror: directory that answers for URLs, see `poscope.sources.mirror`; else POSCOPE_MIRROR names it.
        timeout_s: seconds without a sign of life after which a try has failed.
        attempts: tries in all.
        sleep: waits for a number of seconds between tries.

    Raises:
        ChecksumError: other bytes arrived than the pinned ones.
        SourceError: the bytes cannot be had, from the mirror or the network; or the arguments make no sense.
        PoscopeError: `destination` cannot be written.
    """
    pin = pinned(sha256, git_blob, url)
    host = urlsplit(url).hostname
    if urlsplit(url).scheme not in ("http", "https") or not host:
        raise SourceError(f"{url!r} is no http or https address")
    folder = resolve_mirror(mirror)
    found = None if folder is None else find_in_mirror(folder, url)
    if found is not None:
        _log.info("%s: from the mirror, %s", url, found)
        _copy(found, Path(destination), pin, f"{found} (the mirror's file for {url})")
        return
    asked_first = "" if folder is None else f", not in the mirror {folder}"
    _log.info("%s: from the network%s", url, asked_first)
    policy = RetryPolicy(attempts=attempts, timeout_s=timeout_s, sleep=sleep)
    headers = {**PLAIN_BODY, "User-Agent": f"poscope/{__version__}"}
    with (
        httpx2.Client(timeout=timeout_s, follow_redirects=True, headers=headers) as client,
        _writing(Path(destination)) as temporary,
    ):
        _fetch(url, temporary, client, policy)
        pin.verify(temporary, url)


def _copy(source: Path, destination: Path, pin: Pin, origin: str) -> None:
    try:
        stream = source.open("rb")
    except OSError as error:
        raise SourceError(f"cannot read {origin}: {error.strerror}") from error
    with stream, _writing(destination) as temporary:
        with temporary.open("wb") as target:
            shutil.copyfileobj(stream, target)
        pin.verify(temporary, origin)


@contextmanager
def _writing(destination: Path) -> Iterator[Path]:
    """As `atomic_path`; a full disk, or a folder in the file's place, is the user's to mend as well."""
    try:
        with atomic_path(destination) as temporary:
            yield temporary
    except OSError as error:
        raise PoscopeError(f"cannot write {destination}: {error.strerror or error}") from error


def _fetch(url: str, path: Path, client: httpx2.Client, policy: RetryPolicy) -> None:
    """Fetch `url` to `path`, in as many tries as it takes."""
    parts = urlsplit(url)
    advice = (
        "Check the network; or put the file into a folder as "
        f"{parts.hostname}{parts.path} and name that folder in the config key `mirror` or in {VARIABLE}"
    )
    with path.open("wb") as stream:
        transfer = _Transfer(url, stream, client, policy.timeout_s)
        what = f"{url} from {parts.hostname}"
        with_retries(transfer.attempt, policy, what=what, advice=advice)


class _Transfer:
    """One file on its way, over as many connections as it takes.

    Args:
        url: where it comes from.
        stream: where it goes; holds what has arrived so far.
        client: makes the requests.
        timeout_s: the client's timeout, for messages.
    """

    def __init__(self, url: str, stream: BinaryIO, client: httpx2.Client, timeout_s: float) -> None:
        self._url = url
        self._stream = stream
        self._client = client
        self._timeout_s = timeout_s
        self._progress = Progress(url.rsplit("/", 1)[-1] or url)
        self._version: str | None = None  # what tells this version of the file from another
        self._total: int | None = None  # bytes

    def attempt(self) -> None:
        """Fetch what is missing.

        Raises:
            TransientFault: something is still missing, and another try may bring it.
            SourceError: no other try will.
        """
        headers = self._resume_headers()
        with (
            network_faults(self._url, self._timeout_s),
            self._client.stream("GET", self._url, headers=headers) as response,
        ):
            self._accept(response, resuming="Range" in headers)
            for chunk in response.iter_raw():
                self._stream.write(chunk)
                position = self._stream.tell()
                self._progress.advance(len(chunk), position=position, total=self._total)
        if self._total is not None and self._stream.tell() < self._total:
            raise TransientFault(f"only {self._stream.tell()} of {self._total} bytes were sent")
        self._progress.finish(self._stream.tell())

    def _resume_headers(self) -> dict[str, str]:
        """Ask for the rest only, if there is a beginning and a way to see that the rest belongs to it."""
        position = self._stream.tell()
        if position == 0 or self._version is None:
            return {}
        headers = {"Range": f"bytes={position}-"}
        # Weak tags may not stand in If-Range (RFC 9110, §13.1.5); they are compared when the answer comes.
        if not self._version.startswith("W/"):
            headers["If-Range"] = self._version
        return headers

    def _accept(self, response: httpx2.Response, *, resuming: bool) -> None:
        """Make ready for the body of an answer: it continues what is there, or begins anew."""
        status, headers = response.status_code, response.headers
        if status == 416 and resuming:
            self._start_over()
            raise TransientFault("the file has another length than before")
        check_status(status, headers, self._url)
        if status == 206 and resuming:
            if not self._continued_by(content_range(headers), _version_of(headers)):
                self._start_over()
                raise TransientFault(
                    "the file changed on the server, or the wrong part of it was sent"
                )
        elif status == 200:
            self._start_over()
            self._version = _version_of(headers)
            self._total = content_length(headers)
        else:
            raise SourceError(
                f"cannot read {self._url}: the server answers HTTP {status} to a plain request"
            )

    def _continued_by(self, part: ContentRange | None, version: str | None) -> bool:
        """Whether a part begins where what is there ends, and is of the same file."""
        if part is None or version != self._version:
            return False
        return part.start == self._stream.tell() and self._total in (None, part.total)

    def _start_over(self) -> None:
        self._stream.seek(0)
        self._stream.truncate()
        self._version = self._total = None


def _version_of(headers: httpx2.Headers) -> str | None:
    return headers.get("ETag") or headers.get("Last-Modified")
