"""Names, ranges, and what is said when they are wrong."""

from pathlib import Path

import pytest

from poscope.errors import SourceError
from poscope.sources.fileset import check_range, missing_name, read_all, safe_name
from poscope.sources.local import LocalFiles


@pytest.mark.parametrize(
    "name", ["a", "config.json", "a/b/c.txt", "..a", "a..", "x y", "ab:c", "ü"]
)
def test_names_inside_the_folder_pass(name: str) -> None:
    assert safe_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        "/etc/passwd",
        "..",
        "../a",
        "a/../../b",
        "a/..",
        "./a",
        "a//b",
        "a/",
        "\\a",
        "a\\..\\b",
        "C:a",
        "c:/a",
        "a\0b",
    ],
)
def test_names_that_may_lead_out_are_refused(name: str) -> None:
    with pytest.raises(SourceError, match="refused"):
        safe_name(name)


@pytest.mark.parametrize(("start", "stop"), [(0, 0), (0, 10), (10, 10), (3, 7)])
def test_ranges_inside_the_file_pass(start: int, stop: int) -> None:
    check_range("x", 10, start, stop)


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (4, 3), (0, 11), (11, 11)])
def test_ranges_outside_are_refused(start: int, stop: int) -> None:
    with pytest.raises(SourceError, match=f"x has 10 bytes, and bytes {start} to {stop}"):
        check_range("x", 10, start, stop)


def test_nearest_names_are_said() -> None:
    names = ["model.safetensors", "vocab.txt", "config.json"]
    error = missing_name("model.safetensor", names, "the folder f")
    assert str(error) == (
        "the folder f has no file 'model.safetensor'; the nearest names are model.safetensors"
    )


def test_without_near_names_the_first_ones_are_said() -> None:
    error = missing_name("qqq", [f"file{i}" for i in range(8)], "f")
    assert str(error).endswith("there are file0, file1, file2, file3, file4 and 3 more")
    assert str(missing_name("q", [], "f")).endswith("it is empty")


def test_read_all(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(range(256)))
    files = LocalFiles(tmp_path)
    assert read_all(files, "a.bin") == bytes(range(256))
    assert files.bytes_read == 256
