"""Model repositories of the Hugging Face hub, of which only the wanted bytes are fetched."""

import logging
import re
import time
from collections.abc import Callable
from pathlib import Path

from huggingface_hub import constants, try_to_load_from_cache
from huggingface_hub.file_download import repo_folder_name

from poscope.errors import SourceError
from poscope.sources.fileset import check_range, missing_name, safe_name
from poscope.sources.hub_client import HubClient
from poscope.sources.local import LocalFile
from poscope.sources.retry import RetryPolicy

_log = logging.getLogger(__name__)

SMALL_BYTES = 1 << 18
"""Files up to this size are fetched whole and kept: configs, indices."""


class HubFiles:
    """The files of a model repository at one revision.

    What the local cache of the hub's client holds of exactly this revision is read from there; nothing is added to it.

    Args:
        repo: `owner/name`.
        revision: commit id, 40 hex digits.
        timeout_s: seconds without a sign of life after which a try has failed.
        attempts: tries in all, for each request.
        sleep: waits for a number of seconds between tries.

    Attributes:
        bytes_read: bytes of files that were transferred, with what was lost in failed tries, or read from the
            cache. Listings, headers, redirects and error pages are not counted.

    Raises:
        SourceError: the revision is not a commit id.
    """

    def __init__(
        self,
        repo: str,
        revision: str,
        *,
        timeout_s: float = 30.0,
        attempts: int = 5,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not re.fullmatch(r"[0-9a-fA-F]{40}", revision):
            raise SourceError(
                f"{repo}: a revision is pinned by its commit id, 40 hex digits, not {revision!r}: "
                "branches and tags move"
            )
        self.bytes_read = 0
        self._repo = repo
        self._revision = revision.lower()
        policy = RetryPolicy(attempts=attempts, timeout_s=timeout_s, sleep=sleep)
        self._client = HubClient(repo, self._revision, policy, self._count)
        self._sizes: dict[str, int | None] | None = None
        self._small: dict[str, bytes] = {}

    def origin(self) -> dict[str, str]:
        """The repository and its commit id."""
        return {"source": f"hub:{self._repo}", "revision": self._revision}

    def names(self) -> list[str]:
        """Names of all files, '/'-separated, sorted; with HF_HUB_OFFLINE set, of those that the cache holds.

        Raises:
            SourceError: no such repository or revision, no access, no network.
        """
        if constants.is_offline_mode():
            cached = self._cached_names()
            if cached:
                return cached
        return sorted(self._listing())

    def open(self, name: str) -> "HubFile | LocalFile":
        """The file of that name; nothing of its content is fetched yet.

        Raises:
            SourceError: no such file, repository or revision, no access, no network.
        """
        cached = try_to_load_from_cache(self._repo, safe_name(name), revision=self._revision)
        if isinstance(cached, str):
            _log.info("%s of %s: from the cache, %s", name, self._repo, cached)
            return LocalFile(name, Path(cached), self._count)
        sizes = self._listing()
        if name not in sizes:
            place = f"the hub repository {self._repo} at revision {self._revision}"
            raise missing_name(name, sizes, place)
        size = sizes[name]
        return HubFile(self, name, self._client.size(name) if size is None else size)

    def fetch(self, name: str, size: int, start: int, stop: int) -> bytes:
        """The bytes [start, stop) of a file of `size` bytes; small files are fetched whole, and once.

        Raises:
            SourceError: they cannot be had.
        """
        if size > SMALL_BYTES:
            return self._client.fetch(name, size, start, stop)
        if name not in self._small:
            self._small[name] = self._client.fetch(name, size, 0, size)
        return self._small[name][start:stop]

    def _listing(self) -> dict[str, int | None]:
        """Sizes of all files in bytes, by name."""
        if self._sizes is None:
            self._sizes = self._client.sizes()
        return self._sizes

    def _cached_names(self) -> list[str]:
        repository = repo_folder_name(repo_id=self._repo, repo_type="model")
        snapshot = Path(constants.HF_HUB_CACHE) / repository / "snapshots" / self._revision
        paths = sorted(snapshot.rglob("*"))
        return [path.relative_to(snapshot).as_posix() for path in paths if path.is_file()]

    def _count(self, count: int) -> None:
        self.bytes_read += count


class HubFile:
    """One file of a repository on the hub.

    Args:
        files: the set it belongs to.
        name: its name in the repository.
        size: its length in bytes.
    """

    def __init__(self, files: HubFiles, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self._files = files

    def read(self, start: int, stop: int) -> bytes:
        """The bytes [start, stop), fetched from the hub.

        Raises:
            SourceError: the range does not lie within the file, or its bytes cannot be had.
        """
        check_range(self.name, self.size, start, stop)
        return self._files.fetch(self.name, self.size, start, stop) if stop > start else b""
