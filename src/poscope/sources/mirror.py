"""A mirror: a directory that answers for URLs, as `{mirror}/{host}/{path}`."""

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from poscope.errors import SourceError
from poscope.sources.fileset import safe_name

VARIABLE = "POSCOPE_MIRROR"
"""Environment variable that names the mirror where the config does not."""


def resolve_mirror(configured: str | os.PathLike[str] | None) -> Path | None:
    """The mirror in use, or `None`: what the config says, else what POSCOPE_MIRROR says; empty words count as none.

    Raises:
        SourceError: the mirror is not a directory.
    """
    named = os.fspath(configured) if configured is not None else ""
    said_by = "the config key `mirror`"
    if not named:
        named = os.environ.get(VARIABLE, "")
        said_by = f"the environment variable {VARIABLE}"
    if not named:
        return None
    mirror = Path(named).expanduser()
    if not mirror.is_dir():
        raise SourceError(f"{said_by} names {mirror} as the mirror, which is not a directory")
    return mirror


def find_in_mirror(mirror: Path, url: str) -> Path | None:
    """The mirror's file for `url`, or `None` where it has none.

    Percent-escapes may be written out in the file's name or not; port and query are no part of it.

    Raises:
        SourceError: the URL's path would lead out of the mirror.
    """
    parts = urlsplit(url)
    for path in dict.fromkeys((unquote(parts.path), parts.path)):
        if not path.strip("/"):
            continue
        candidate = mirror / safe_name(f"{parts.hostname or ''}/{path.removeprefix('/')}")
        if candidate.is_file():
            return candidate
    return None
