"""Requests to the Hugging Face hub, retried and counted.

The hub's own client lists files, finds the token and tells refusals apart; it reads its settings
(HF_ENDPOINT, HF_HUB_OFFLINE, HF_HOME) from the environment when it is imported.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import httpx2
from huggingface_hub import HfApi, constants, get_session, hf_hub_url, hf_raise_for_status
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled
from huggingface_hub.file_download import get_hf_file_metadata
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # public, lazily loaded

from poscope import __version__
from poscope.errors import SourceError
from poscope.sources.http import PLAIN_BODY, content_range, network_faults
from poscope.sources.hub_errors import explained, offline
from poscope.sources.progress import Progress
from poscope.sources.retry import RetryPolicy, TransientFault, with_retries

UNASKED_BYTES = 64 << 20
"""A server that ignores ranges is put up with for files up to this size."""

_T = TypeVar("_T")


class HubClient:
    """Asks the hub about one repository at one revision.

    Args:
        repo: `owner/name`.
        revision: commit id.
        policy: how patient to be, for each request.
        count: told the number of each file's bytes as they arrive.
    """

    def __init__(
        self, repo: str, revision: str, policy: RetryPolicy, count: Callable[[int], None]
    ) -> None:
        self._repo = repo
        self._revision = revision
        self._policy = policy
        self._count = count

    def sizes(self) -> dict[str, int | None]:
        """Sizes of all files in bytes, by name; `None` where the hub does not say.

        Raises:
            SourceError: no such repository or revision, no access, no network.
        """
        return self._retried(self._ask_sizes, self._repo)

    def size(self, name: str) -> int:
        """Size of one file in bytes, asked for by itself.

        Raises:
            SourceError: no such file, no access, no network.
        """
        url = self._url(name)

        def ask() -> int:
            with self._asking(url):
                size = get_hf_file_metadata(
                    url, timeout=self._policy.timeout_s, headers=self._headers()
                ).size
            if size is None:
                raise SourceError(f"the hub does not say how large {url} is")
            return size

        return self._retried(ask, url)

    def fetch(self, name: str, size: int, start: int, stop: int) -> bytes:
        """The bytes [start, stop) of a file of `size` bytes, by a ranged request unless that is all of it.

        What arrived before a transfer broke off is kept: under a commit id a file never changes.

        Raises:
            SourceError: no access, no network, or the server ignores ranges and the file is too large to be
                fetched whole.
        """
        url = self._url(name)
        arrived = bytearray()
        progress = Progress(f"{self._repo}/{name}")

        def ask() -> None:
            ranged = (start + len(arrived), stop) != (0, size)
            headers = self._headers()
            if ranged:
                headers["Range"] = f"bytes={start + len(arrived)}-{stop - 1}"
            with self._asking(url), self._stream(url, headers) as response:
                if ranged and response.status_code == 200:
                    if stop - start < size:
                        _check_unasked(url, size)
                    body = bytearray()
                    self._receive(response, body, size, progress)
                    arrived[:] = body[start:stop]
                else:
                    _check_part(response, (start + len(arrived), stop, size))
                    self._receive(response, arrived, stop - start, progress)

        self._retried(ask, url)
        progress.finish(stop - start)
        return bytes(arrived)

    def _ask_sizes(self) -> dict[str, int | None]:
        url = f"{constants.ENDPOINT}/{self._repo}"
        with self._asking(url):
            api = HfApi(library_name="poscope", library_version=__version__)
            try:
                info = api.model_info(
                    self._repo,
                    revision=self._revision,
                    files_metadata=True,
                    timeout=self._policy.timeout_s,
                )
            except (ValueError, TypeError, KeyError) as error:
                if isinstance(error, HFValidationError | HfHubHTTPError):
                    raise
                raise SourceError(
                    f"{url} does not answer as the hub does ({error}): check HF_ENDPOINT and the proxy"
                ) from error
        if info.sha != self._revision:
            raise SourceError(
                f"the hub answers with revision {info.sha} of {self._repo} for {self._revision}"
            )
        return {file.rfilename: file.size for file in info.siblings or []}

    def _receive(
        self, response: httpx2.Response, arrived: bytearray, wanted: int, progress: Progress
    ) -> None:
        """Add a body to what has arrived, which is to become `wanted` bytes long."""
        for chunk in response.iter_raw():
            self._count(len(chunk))
            arrived += chunk
            progress.advance(len(chunk), position=len(arrived), total=wanted)
            if len(arrived) > wanted:
                raise SourceError(
                    f"{response.url.copy_with(query=None)} is larger than the hub says"
                )
        if len(arrived) < wanted:
            raise TransientFault(f"only {len(arrived)} of {wanted} bytes were sent")

    @contextmanager
    def _stream(self, url: str, headers: dict[str, str]) -> Iterator[httpx2.Response]:
        session = get_session()
        timeout_s = self._policy.timeout_s
        # On a redirect to another host the client drops the Authorization header.
        with session.stream(
            "GET", url, headers=headers, timeout=timeout_s, follow_redirects=True
        ) as response:
            if response.status_code >= 400:
                response.read()  # the client's errors quote it
            hf_raise_for_status(response)
            yield response

    @contextmanager
    def _asking(self, url: str) -> Iterator[None]:
        """Translate the client's errors while the block runs."""
        with network_faults(url, self._policy.timeout_s):
            try:
                yield
            except HfHubHTTPError as error:
                raise explained(error, self._repo, self._revision) from error
            except OfflineModeIsEnabled as error:
                raise offline(self._repo, self._revision) from error
            except HFValidationError as error:
                raise SourceError(
                    f"{self._repo!r} is no name of a hub repository: {error}"
                ) from error

    def _retried(self, action: Callable[[], _T], what: str) -> _T:
        host = httpx2.URL(constants.ENDPOINT).host
        advice = (
            "Check the network; HF_ENDPOINT names another server, and with HF_HUB_OFFLINE=1 the files "
            f"that are in the cache {constants.HF_HUB_CACHE} are used without it"
        )
        return with_retries(action, self._policy, what=f"{what} from {host}", advice=advice)

    def _url(self, name: str) -> str:
        return hf_hub_url(self._repo, name, revision=self._revision)

    def _headers(self) -> dict[str, str]:
        headers = build_hf_headers(library_name="poscope", library_version=__version__)
        return {**headers, **PLAIN_BODY}


def _check_unasked(url: str, size: int) -> None:
    """See that a file may be fetched whole for a part of it, from a server that ignores ranges."""
    if size > UNASKED_BYTES:
        raise SourceError(
            f"the server ignores ranges and would send all {size} bytes of {url} for a part of them: "
            "download the file by itself and use it as a local source"
        )


def _check_part(response: httpx2.Response, wanted: tuple[int, int, int]) -> None:
    """See that an answer holds what was asked for: start, stop and the size of the whole file."""
    if response.status_code == 200:
        return
    start, stop, size = wanted
    part = content_range(response.headers)
    if response.status_code != 206 or part is None:
        raise TransientFault(
            f"the server answers HTTP {response.status_code} without saying what it sends"
        )
    if part.start != start or part.stop > stop or part.total not in (None, size):
        raise TransientFault(
            f"asked for bytes {start} to {stop} of {size}, the server sends {part.start} to {part.stop} of {part.total}"
        )
