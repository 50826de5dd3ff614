"""Real data for tests, where a mirror has them."""

import os
from pathlib import Path

import pytest

from poscope.sources.checksum import pinned
from poscope.sources.mirror import VARIABLE, find_in_mirror


def mirrored(url: str, sha256: str) -> Path:
    """The mirror's file for `url`; the test is skipped where no mirror has it."""
    folder = _mirror()
    found = None if folder is None else find_in_mirror(folder, url)
    if found is None:
        pytest.skip(f"no mirror has {url}: set {VARIABLE} to one that does")
    pinned(sha256, None, url).verify(found, url)
    return found


def _mirror() -> Path | None:
    """The mirror in use, or the one that lies beside the checkout."""
    named = os.environ.get(VARIABLE)
    folder = Path(named) if named else Path(__file__).parents[3] / "shared" / "mirror"
    return folder if folder.is_dir() else None
