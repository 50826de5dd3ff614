"""The mirror: which folder it is, and which file answers for a URL."""

from pathlib import Path

import pytest

from poscope.errors import SourceError
from poscope.sources.mirror import find_in_mirror, resolve_mirror


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror"
    (folder / "example.org" / "a b").mkdir(parents=True)
    (folder / "example.org" / "a b" / "x.txt").write_bytes(b"x")
    (folder / "example.org" / "a%20c").write_bytes(b"escaped")
    (tmp_path / "secret").write_bytes(b"secret")
    return folder


def test_the_config_comes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    monkeypatch.setenv("POSCOPE_MIRROR", str(tmp_path / "two"))
    assert resolve_mirror(str(tmp_path / "one")) == tmp_path / "one"
    assert resolve_mirror(None) == tmp_path / "two"
    assert resolve_mirror("") == tmp_path / "two"


@pytest.mark.parametrize("value", [None, ""])
def test_no_mirror(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POSCOPE_MIRROR", raising=False)
    if value is not None:
        monkeypatch.setenv("POSCOPE_MIRROR", value)
    assert resolve_mirror(None) is None


def test_a_mirror_that_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SourceError, match=r"config key `mirror` names .*nowhere"):
        resolve_mirror(tmp_path / "nowhere")
    monkeypatch.setenv("POSCOPE_MIRROR", str(tmp_path / "file"))
    with pytest.raises(SourceError, match=r"POSCOPE_MIRROR names .*file"):
        resolve_mirror(None)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.org/a%20b/x.txt", "a b/x.txt"),
        ("https://EXAMPLE.org:8443/a%20b/x.txt?raw=1#top", "a b/x.txt"),
        ("https://user:word@example.org/a b/x.txt", "a b/x.txt"),
        ("https://example.org/a%20c", "a%20c"),
    ],
)
def test_finds(mirror: Path, url: str, name: str) -> None:
    assert find_in_mirror(mirror, url) == mirror / "example.org" / name


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/other",
        "https://example.org/a%20b",
        "https://example.org",
        "https://example.org/",
        "https://other.org/a%20b/x.txt",
    ],
)
def test_has_not(mirror: Path, url: str) -> None:
    assert find_in_mirror(mirror, url) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/../../secret",
        "https://example.org/%2e%2e/%2e%2e/secret",
        "https://example.org/a%20b/..%2F..%2F..%2Fsecret",
        "https://../secret",
        "https://example.org//etc/passwd",
        "https://example.org/%2Fetc/passwd",
        "https://example.org/..%5Csecret",
        "https://example.org/x%00",
    ],
)
def test_never_leaves_the_mirror(mirror: Path, url: str) -> None:
    with pytest.raises(SourceError, match="refused"):
        find_in_mirror(mirror, url)
