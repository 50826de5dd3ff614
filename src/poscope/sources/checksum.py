"""Pinned checksums: what a file's bytes must be."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from poscope.errors import ChecksumError, SourceError

_CHUNK_BYTES = 1 << 20
_HEX_DIGITS = {"sha256": 64, "git_blob": 40}


@dataclass(frozen=True)
class Pin:
    """The one digest that is accepted.

    Attributes:
        kind: `sha256` of the bytes, or `git_blob`, the id under which git stores them: SHA-1 of a header and
            the bytes.
        digest: lower-case hex digits.
    """

    kind: Literal["sha256", "git_blob"]
    digest: str

    def verify(self, path: Path, origin: str) -> None:
        """See that the file at `path`, which came from `origin`, has this digest.

        Raises:
            ChecksumError: it has another.
        """
        found = self._digest_of(path)
        if found != self.digest:
            raise ChecksumError(
                f"{origin} does not hold the pinned bytes: its {self.kind} is {found} ({path.stat().st_size} bytes), "
                f"pinned is {self.digest}; either the file changed at its source, or the pin is wrong"
            )

    def _digest_of(self, path: Path) -> str:
        if self.kind == "sha256":
            hasher = hashlib.sha256()
        else:
            hasher = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                hasher.update(chunk)
        return hasher.hexdigest()


def pinned(sha256: str | None, git_blob: str | None, origin: str) -> Pin:
    """The pin that a source's config gives.

    Raises:
        SourceError: not exactly one of the two is given, or it is not made of the right number of hex digits.
    """
    if (sha256 is None) == (git_blob is None):
        raise SourceError(f"{origin} needs exactly one of sha256 and git_blob")
    pin = (
        Pin("sha256", sha256.lower())
        if sha256 is not None
        else Pin("git_blob", str(git_blob).lower())
    )
    digits = _HEX_DIGITS[pin.kind]
    if not re.fullmatch(rf"[0-9a-f]{{{digits}}}", pin.digest):
        raise SourceError(f"{origin}: {pin.kind} must be {digits} hex digits, not {pin.digest!r}")
    return pin
