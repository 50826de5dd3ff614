"""Digests by which a damaged file of a cell is known.

The checksums of Parquet are of its pages alone: a wrong byte in a header or footer passes them. So `metrics.json`,
which is written last, holds the SHA-256 of every file of its cell, and one of itself.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeGuard

from poscope.errors import DataError

_SEAL = "sha256"
_METRICS = "metrics.json"


def sealed(folder: Path, metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Metrics with the digests of the files that lie in a cell's folder, and of the metrics themselves.

    Args:
        folder: the cell's, complete but for `metrics.json`.
        metrics: its content; JSON.
    """
    content = json.loads(json.dumps(metrics, allow_nan=False))  # as a reader will see it
    found = {name: _file_digest(folder / name) for name in _names(folder)}
    return content | {_SEAL: found | {_METRICS: _digest(content, found)}}


def check_metrics(path: Path, content: Mapping[str, Any]) -> None:
    """See that the content of a `metrics.json` is what was written; one that was never sealed passes.

    Args:
        path: of the file, for the message.
        content: as read.

    Raises:
        DataError: it is not.
    """
    seal = content.get(_SEAL)
    if not _is_seal(seal):
        # Without any it was never sealed; one under another name, or without this file, was damaged.
        if _SEAL in content or any(_is_seal(each) for each in content.values()):
            raise _damaged(path)
        return
    rest = {name: each for name, each in content.items() if name != _SEAL}
    others = {name: each for name, each in seal.items() if name != _METRICS}
    if seal[_METRICS] != _digest(rest, others):
        raise _damaged(path)


def check_file(path: Path) -> None:
    """See that a file of a cell is what was written, by the digest in the `metrics.json` beside it.

    Raises:
        DataError: it is not, or cannot be read.
    """
    metrics = path.with_name(_METRICS)
    try:
        seal = json.loads(metrics.read_text(encoding="utf-8")).get(_SEAL)
    except FileNotFoundError:
        return
    except (OSError, ValueError, AttributeError) as error:
        raise _damaged(metrics) from error
    try:
        if _is_seal(seal) and seal.get(path.name) != _file_digest(path):
            raise _damaged(path)
    except OSError as error:
        raise DataError(
            f"cannot read {path}: {error.strerror or error}; "
            f"delete the folder {path.parent} and run the workflow again"
        ) from error


def _is_seal(value: Any) -> TypeGuard[dict[str, str]]:
    return isinstance(value, dict) and _METRICS in value


def _names(folder: Path) -> list[str]:
    """Files of a folder and those below it, without `metrics.json` and what is still being written."""
    found = [each for each in folder.rglob("*") if each.is_file() and each.name[0] != "."]
    return sorted(each.relative_to(folder).as_posix() for each in found if each.name != _METRICS)


def _digest(content: Mapping[str, Any], others: Mapping[str, str]) -> str:
    text = json.dumps([content, others], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _damaged(path: Path) -> DataError:
    return DataError(
        f"{path} is damaged: it is not what was written; "
        f"delete the folder {path.parent} and run the workflow again, which makes this cell anew"
    )
