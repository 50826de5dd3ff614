"""Pinned checksums, against values that other programs print."""

import hashlib
import subprocess
from pathlib import Path

import pytest

from poscope.errors import ChecksumError, SourceError
from poscope.sources.checksum import Pin, pinned

# `printf abc | sha256sum` and `printf 'hello\n' | git hash-object --stdin`
ABC_SHA256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
HELLO_BLOB = "ce013625030ba8dba906f756967f9e9ca394464a"
EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


@pytest.mark.parametrize(
    ("content", "pin"),
    [
        (b"abc", Pin("sha256", ABC_SHA256)),
        (b"hello\n", Pin("git_blob", HELLO_BLOB)),
        (b"", Pin("git_blob", EMPTY_BLOB)),
    ],
)
def test_known_digests(tmp_path: Path, content: bytes, pin: Pin) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    pin.verify(path, "x")


def test_a_mismatch_names_both_digests_and_the_origin(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"abd")
    with pytest.raises(ChecksumError) as caught:
        Pin("sha256", ABC_SHA256).verify(path, "https://a.b/c")
    for part in (ABC_SHA256, hashlib.sha256(b"abd").hexdigest(), "https://a.b/c", "3 bytes"):
        assert part in str(caught.value)


def test_digits_may_be_upper_case() -> None:
    assert pinned(ABC_SHA256.upper(), None, "u") == Pin("sha256", ABC_SHA256)
    assert pinned(None, HELLO_BLOB.upper(), "u") == Pin("git_blob", HELLO_BLOB)


@pytest.mark.parametrize(
    ("sha256", "git_blob", "words"),
    [
        (None, None, "exactly one"),
        (ABC_SHA256, HELLO_BLOB, "exactly one"),
        (HELLO_BLOB, None, "64 hex digits"),
        (None, ABC_SHA256, "40 hex digits"),
        ("g" * 64, None, "64 hex digits"),
    ],
)
def test_useless_pins(sha256: str | None, git_blob: str | None, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        pinned(sha256, git_blob, "u")


def test_large_files_are_hashed_whole(tmp_path: Path) -> None:
    path = tmp_path / "x"
    content = bytes(3_000_001)
    path.write_bytes(content)
    header = b"blob 3000001\0"
    Pin("git_blob", hashlib.sha1(header + content).hexdigest()).verify(path, "x")
    said = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True).stdout
    Pin("sha256", said.split()[0]).verify(path, "x")
