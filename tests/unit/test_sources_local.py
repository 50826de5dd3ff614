"""Local files: what is listed, what is read, and what is refused."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.errors import SourceError
from poscope.sources.local import LocalFiles


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "model"
    (root / "sub").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "config.json").write_bytes(b"{}")
    (root / "sub" / "weights.bin").write_bytes(b"0123456789")
    (root / ".git" / "HEAD").write_bytes(b"ref")
    (tmp_path / "secret").write_bytes(b"secret")
    return root


def test_lists_files_of_subfolders_and_leaves_hidden_folders_out(folder: Path) -> None:
    assert LocalFiles(folder).names() == ["config.json", "sub/weights.bin"]


def test_reads_ranges_and_counts_them(folder: Path) -> None:
    files = LocalFiles(folder)
    file = files.open("sub/weights.bin")
    assert (file.name, file.size, files.bytes_read) == ("sub/weights.bin", 10, 0)
    assert file.read(2, 5) == b"234"
    assert file.read(10, 10) == b""
    assert file.read(0, 10) == b"0123456789"
    assert files.bytes_read == 13


def test_origin_is_the_path_as_given(folder: Path) -> None:
    assert LocalFiles(folder).origin() == {"source": f"local:{folder}", "revision": "unversioned"}


def test_a_single_file_is_a_set_of_one(folder: Path) -> None:
    files = LocalFiles(folder / "config.json")
    assert files.names() == ["config.json"]
    assert files.open("config.json").read(0, 2) == b"{}"
    with pytest.raises(SourceError, match=r"no file 'other'; there are config\.json"):
        files.open("other")


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"there is no file or directory .*nowhere"):
        LocalFiles(tmp_path / "nowhere")


def test_missing_file_names_the_nearest(folder: Path) -> None:
    with pytest.raises(
        SourceError, match=r"no file 'config\.jsn'; the nearest names are config\.json"
    ):
        LocalFiles(folder).open("config.jsn")
    with pytest.raises(SourceError, match="no file 'sub'"):
        LocalFiles(folder).open("sub")


def test_range_past_the_end(folder: Path) -> None:
    with pytest.raises(SourceError, match="has 10 bytes"):
        LocalFiles(folder).open("sub/weights.bin").read(5, 11)


@pytest.mark.parametrize("name", ["../secret", "sub/../../secret", "/etc/passwd"])
def test_names_do_not_lead_out(folder: Path, name: str) -> None:
    with pytest.raises(SourceError, match="refused"):
        LocalFiles(folder).open(name)


def test_links_do_not_lead_out(folder: Path) -> None:
    (folder / "direct").symlink_to("../secret")
    (folder / "up").symlink_to("..")
    for name in ("direct", "up/secret"):
        with pytest.raises(SourceError, match="a link that leads out"):
            LocalFiles(folder).open(name)


def test_links_inside_are_followed(folder: Path) -> None:
    (folder / "again.json").symlink_to("config.json")
    assert LocalFiles(folder).open("again.json").read(0, 2) == b"{}"


def test_a_snapshot_of_the_hub_cache_is_readable(tmp_path: Path) -> None:
    repository = tmp_path / "models--me--bert"
    snapshot = repository / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    (repository / "blobs" / "e3b0").write_bytes(b"weights")
    (repository / "outside").write_bytes(b"no")
    (snapshot / "model.safetensors").symlink_to("../../blobs/e3b0")
    (snapshot / "bad").symlink_to("../../outside")
    files = LocalFiles(snapshot)
    assert files.open("model.safetensors").read(0, 7) == b"weights"
    with pytest.raises(SourceError, match="leads out"):
        files.open("bad")


def test_a_pointer_of_git_lfs_is_no_file(folder: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 440\n"
    (folder / "model.safetensors").write_bytes(pointer)
    with pytest.raises(SourceError, match="git lfs pull"):
        LocalFiles(folder).open("model.safetensors")


def test_a_file_that_shrank(folder: Path) -> None:
    file = LocalFiles(folder).open("sub/weights.bin")
    (folder / "sub" / "weights.bin").write_bytes(b"01")
    with pytest.raises(SourceError, match="shrank"):
        file.read(0, 10)


@given(data=st.binary(max_size=200), cuts=st.lists(st.integers(0, 200), max_size=5))
def test_pieces_make_the_whole(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cuts: list[int]
) -> None:
    path = tmp_path_factory.mktemp("pieces") / "x"
    data = b"\0" + data  # never the first words of a Git LFS pointer
    path.write_bytes(data)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut <= len(data))})
    file = LocalFiles(path).open("x")
    pieces = [file.read(start, stop) for start, stop in itertools.pairwise(edges)]
    assert b"".join(pieces) == data
