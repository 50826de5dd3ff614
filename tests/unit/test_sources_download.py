"""Downloads from a server that misbehaves: exact bytes or an error, exact requests, nothing half-written."""

import hashlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poscope.errors import ChecksumError, PoscopeError, SourceError
from poscope.sources.download import download
from tests.servers.http_faults import Answer, FaultServer

CONTENT = bytes(range(256)) * 40  # 10,240 bytes
SHA256 = hashlib.sha256(CONTENT).hexdigest()
GIT_BLOB = hashlib.sha1(b"blob 10240\0" + CONTENT).hexdigest()
BAD_SHA256 = "0" * 64


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POSCOPE_MIRROR", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer({"/data/x.bin": CONTENT}) as running:
        yield running


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


class Fetch:
    """Downloads `/data/x.bin` to a fresh folder and remembers the waits between tries."""

    def __init__(self, server: FaultServer, folder: Path) -> None:
        self.server = server
        self.destination = folder / "downloads" / "x.bin"
        self.waits: list[float] = []

    def __call__(  # noqa: D102
        self, *answers: Answer, sha256: str = SHA256, attempts: int = 4, timeout_s: float = 5.0
    ) -> bytes:
        self.server.answers.extend(answers)
        download(
            self.server.url("/data/x.bin"),
            self.destination,
            sha256=sha256,
            attempts=attempts,
            timeout_s=timeout_s,
            sleep=self.waits.append,
        )
        return self.destination.read_bytes()

    @property
    def asked(self) -> list[tuple[str | None, int, int]]:
        """Range, status and bytes sent of each request."""
        return [(r.range, r.status, r.bytes_sent) for r in self.server.requests]

    @property
    def left(self) -> list[str]:
        """What lies in the destination's folder."""
        return _names(self.destination.parent)


@pytest.fixture
def fetch(server: FaultServer, tmp_path: Path) -> Fetch:
    return Fetch(server, tmp_path)


def test_a_good_server_is_asked_once(fetch: Fetch) -> None:
    assert fetch() == CONTENT
    assert fetch.asked == [(None, 200, 10240)]
    assert fetch.waits == []
    assert fetch.left == ["x.bin"]
    assert fetch.server.requests[0].headers["accept-encoding"] == "identity"


def test_git_blob(server: FaultServer, tmp_path: Path) -> None:
    download(server.url("/data/x.bin"), tmp_path / "x", git_blob=GIT_BLOB)
    assert (tmp_path / "x").read_bytes() == CONTENT
    with pytest.raises(ChecksumError, match=GIT_BLOB):
        download(server.url("/data/x.bin"), tmp_path / "y", git_blob="0" * 40)


def test_a_truncated_body_is_resumed(fetch: Fetch) -> None:
    assert fetch(Answer(truncate_at=4000)) == CONTENT
    assert fetch.asked == [(None, 200, 4000), ("bytes=4000-", 206, 6240)]
    assert fetch.server.requests[1].headers["if-range"].startswith('"')
    assert len(fetch.waits) == 1


def test_a_reset_connection_is_resumed(fetch: Fetch) -> None:
    assert fetch(Answer(reset_at=4000)) == CONTENT
    first, (asked_range, status, rest) = fetch.asked
    assert first == (None, 200, 4000)
    # A reset may overtake bytes that were sent before it: then more is asked for again.
    assert 6240 <= rest <= 10240
    expected = (None, 200) if rest == 10240 else (f"bytes={10240 - rest}-", 206)
    assert (asked_range, status) == expected
    assert len(fetch.waits) == 1


def test_resumed_again_and_again(fetch: Fetch) -> None:
    answers = [Answer(truncate_at=1000), Answer(truncate_at=0), Answer(truncate_at=9000)]
    assert fetch(*answers) == CONTENT
    ranges = [asked[0] for asked in fetch.asked]
    assert ranges == [None, "bytes=1000-", "bytes=1000-", "bytes=10000-"]
    assert [asked[2] for asked in fetch.asked] == [1000, 0, 9000, 240]


def test_a_server_that_ignores_ranges_is_read_from_the_start(fetch: Fetch) -> None:
    assert fetch(Answer(truncate_at=4000), Answer(ignore_range=True)) == CONTENT
    assert fetch.asked == [(None, 200, 4000), ("bytes=4000-", 200, 10240)]


def test_a_file_that_changed_is_read_from_the_start(fetch: Fetch) -> None:
    old = bytes(10240)
    assert fetch(Answer(truncate_at=4000, body=old)) == CONTENT
    # The server sees from If-Range that the beginning is of another version.
    assert fetch.asked == [(None, 200, 4000), ("bytes=4000-", 200, 10240)]


def test_a_changed_file_is_seen_with_weak_tags_too(fetch: Fetch) -> None:
    first = Answer(truncate_at=4000, body=bytes(10240), headers={"ETag": 'W/"1"'})
    assert fetch(first, Answer(headers={"ETag": 'W/"2"'})) == CONTENT
    assert [asked[:2] for asked in fetch.asked] == [(None, 200), ("bytes=4000-", 206), (None, 200)]
    assert "if-range" not in fetch.server.requests[1].headers


def test_weak_tags_allow_to_resume(fetch: Fetch) -> None:
    weak = {"ETag": 'W/"1"'}
    assert fetch(Answer(truncate_at=4000, headers=weak), Answer(headers=weak)) == CONTENT
    assert fetch.asked == [(None, 200, 4000), ("bytes=4000-", 206, 6240)]


def test_without_a_version_nothing_is_resumed(fetch: Fetch) -> None:
    assert fetch(Answer(truncate_at=4000, headers={"ETag": None})) == CONTENT
    assert fetch.asked == [(None, 200, 4000), (None, 200, 10240)]


def test_the_date_of_change_is_a_version(fetch: Fetch) -> None:
    dated = {"ETag": None, "Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT"}
    answers = [Answer(truncate_at=4000, headers=dated), Answer(headers=dated)]
    assert fetch(*answers) == CONTENT
    assert fetch.server.requests[1].headers["if-range"] == dated["Last-Modified"]


def test_another_part_than_asked_for_is_refused(fetch: Fetch) -> None:
    assert fetch(Answer(truncate_at=4000), Answer(range_shift=-1)) == CONTENT
    assert [asked[:2] for asked in fetch.asked] == [(None, 200), ("bytes=4000-", 206), (None, 200)]


def test_a_server_that_sends_parts_of_its_own_size(fetch: Fetch) -> None:
    answers = [Answer(truncate_at=4000), Answer(part_bytes=5000)]
    assert fetch(*answers) == CONTENT
    assert fetch.asked == [
        (None, 200, 4000),
        ("bytes=4000-", 206, 5000),
        ("bytes=9000-", 206, 1240),
    ]


def test_a_file_that_grew_is_read_from_the_start(fetch: Fetch) -> None:
    same = {"ETag": 'W/"1"'}
    grown = Answer(body=CONTENT + b"more", headers=same)
    assert fetch(Answer(truncate_at=4000, headers=same), grown) == CONTENT
    assert [a[:2] for a in fetch.asked] == [(None, 200), ("bytes=4000-", 206), (None, 200)]


def test_a_length_that_becomes_known_later(fetch: Fetch) -> None:
    unsized = Answer(no_length=True, reset_at=4000, headers={"Connection": "close"})
    assert fetch(unsized) == CONTENT
    _, (asked_range, status, rest) = fetch.asked
    expected = (None, 200) if rest == 10240 else (f"bytes={10240 - rest}-", 206)
    assert (asked_range, status) == expected


def test_a_file_that_became_shorter_is_read_from_the_start(fetch: Fetch) -> None:
    longer = Answer(truncate_at=12000, body=bytes(20000), headers={"ETag": 'W/"1"'})
    assert fetch(longer) == CONTENT
    assert [a[:2] for a in fetch.asked] == [(None, 200), ("bytes=12000-", 416), (None, 200)]


def test_a_stall_ends_at_the_timeout_and_is_resumed(fetch: Fetch) -> None:
    assert fetch(Answer(stall_at=4000), timeout_s=0.2) == CONTENT
    assert fetch.asked == [(None, 200, 4000), ("bytes=4000-", 206, 6240)]


def test_stalls_without_end(fetch: Fetch) -> None:
    with pytest.raises(SourceError, match=r"after 2 attempts: no sign of life for 0\.1 s"):
        fetch(Answer(stall_at=0), Answer(stall_at=0), timeout_s=0.1, attempts=2)
    assert len(fetch.asked) == 2
    assert fetch.left == []


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_busy_servers_are_asked_again(fetch: Fetch, status: int) -> None:
    assert fetch(Answer(status=status), Answer(status=status)) == CONTENT
    assert [asked[1] for asked in fetch.asked] == [status, status, 200]
    assert 0.5 <= fetch.waits[0] <= 1.0
    assert 1.0 <= fetch.waits[1] <= 2.0


def test_retry_after_is_honoured(fetch: Fetch) -> None:
    assert fetch(Answer(status=429, headers={"Retry-After": "17"})) == CONTENT
    assert fetch.waits == [17.0]


def test_busy_for_ever(fetch: Fetch) -> None:
    with pytest.raises(SourceError, match="gave up after 3 attempts: the server answers HTTP 503"):
        fetch(*[Answer(status=503)] * 9, attempts=3)
    assert len(fetch.asked) == 3
    assert len(fetch.waits) == 2
    assert fetch.left == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
def test_refusals_are_final(fetch: Fetch, status: int) -> None:
    with pytest.raises(SourceError, match=rf"x\.bin: the server answers HTTP {status}"):
        fetch(Answer(status=status))
    assert len(fetch.asked) == 1
    assert fetch.waits == []
    assert fetch.left == []


@pytest.mark.parametrize("status", [204, 206])
def test_odd_successes_are_refused(fetch: Fetch, status: int) -> None:
    with pytest.raises(SourceError, match=f"HTTP {status} to a plain request"):
        fetch(Answer(status=status))
    assert fetch.left == []


def test_a_wrong_byte_is_final(fetch: Fetch) -> None:
    flipped = bytearray(CONTENT)
    flipped[5000] ^= 0xFF
    with pytest.raises(ChecksumError) as caught:
        fetch(Answer(flip=5000))
    for part in (SHA256, hashlib.sha256(flipped).hexdigest(), fetch.server.url("/data/x.bin")):
        assert part in str(caught.value)
    assert len(fetch.asked) == 1
    assert fetch.left == []


def test_a_failed_download_leaves_an_older_file_alone(fetch: Fetch) -> None:
    fetch.destination.parent.mkdir()
    fetch.destination.write_bytes(b"older")
    with pytest.raises(ChecksumError):
        fetch(sha256=BAD_SHA256)
    assert fetch.left == ["x.bin"]
    assert fetch.destination.read_bytes() == b"older"


def test_a_truncation_that_no_length_shows_is_seen_by_the_checksum(fetch: Fetch) -> None:
    closing = {"Connection": "close"}
    with pytest.raises(ChecksumError, match="4000 bytes"):
        fetch(Answer(no_length=True, truncate_at=4000, headers=closing))
    assert fetch.left == []


def test_no_length_is_no_fault(fetch: Fetch) -> None:
    assert fetch(Answer(no_length=True, headers={"Connection": "close"})) == CONTENT


def test_redirects_are_followed(fetch: Fetch) -> None:
    target = {"Location": fetch.server.url("/data/x.bin")}
    assert fetch(Answer(status=302, headers=target)) == CONTENT
    assert [asked[1] for asked in fetch.asked] == [302, 200]


def test_redirects_in_a_circle(fetch: Fetch) -> None:
    target = {"Location": fetch.server.url("/data/x.bin")}
    with pytest.raises(SourceError, match="redirects"):
        fetch(*[Answer(status=302, headers=target)] * 50)
    assert fetch.waits == []


def test_nobody_listens(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
    url = f"http://127.0.0.1:{port}/data/x.bin"
    waits: list[float] = []
    with pytest.raises(SourceError) as caught:
        download(url, tmp_path / "x", sha256=SHA256, attempts=3, sleep=waits.append)
    words = str(caught.value)
    for part in (url, "from 127.0.0.1", "3 attempts", "cannot connect", "POSCOPE_MIRROR"):
        assert part in words
    assert "`mirror`" in words
    assert "127.0.0.1/data/x.bin" in words
    assert len(waits) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written(server: FaultServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder" / "full").mkdir(parents=True)
    for place in ("file/x", "folder"):
        with pytest.raises(PoscopeError, match=f"cannot write .*{place}"):
            download(server.url("/data/x.bin"), tmp_path / place, sha256=SHA256)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize("url", ["ftp://a.b/c", "file:///etc/passwd", "x.bin", "https://", ""])
def test_other_addresses_are_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no http or https address"):
        download(url, tmp_path / "x", sha256=SHA256)


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    file = tmp_path / "mirror" / "127.0.0.1" / "data" / "x.bin"
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENT)
    return tmp_path / "mirror"


def test_the_mirror_answers_and_the_network_is_not_asked(
    server: FaultServer, mirror: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "poscope")
    download(server.url("/data/x.bin"), tmp_path / "out", sha256=SHA256, mirror=mirror)
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert server.requests == []
    assert "from the mirror" in caplog.text


def test_the_environment_names_the_mirror(
    server: FaultServer, mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POSCOPE_MIRROR", str(mirror))
    download(server.url("/data/x.bin"), tmp_path / "out", sha256=SHA256)
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert server.requests == []


def test_what_the_mirror_lacks_comes_from_the_network(
    server: FaultServer, mirror: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "poscope")
    server.files["/data/y.bin"] = b"abc"
    abc = hashlib.sha256(b"abc").hexdigest()
    download(server.url("/data/y.bin"), tmp_path / "out", sha256=abc, mirror=mirror)
    assert (tmp_path / "out").read_bytes() == b"abc"
    assert len(server.requests) == 1
    assert "not in the mirror" in caplog.text


def test_a_wrong_file_in_the_mirror_is_final(
    server: FaultServer, mirror: Path, tmp_path: Path
) -> None:
    (mirror / "127.0.0.1" / "data" / "x.bin").write_bytes(b"stale")
    with pytest.raises(ChecksumError, match="the mirror's file for http://127"):
        download(server.url("/data/x.bin"), tmp_path / "d" / "out", sha256=SHA256, mirror=mirror)
    assert server.requests == []
    assert _names(tmp_path / "d") == []


def test_a_mirror_that_does_not_exist(server: FaultServer, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="not a directory"):
        download(server.url("/data/x.bin"), tmp_path / "x", sha256=SHA256, mirror="/nonexistent")
    assert server.requests == []


FAULTS = st.one_of(
    st.builds(Answer, truncate_at=st.integers(0, 700)),
    st.builds(Answer, reset_at=st.integers(0, 700)),
    st.builds(Answer, truncate_at=st.integers(0, 700), ignore_range=st.just(True)),
    st.builds(Answer, truncate_at=st.integers(0, 700), range_shift=st.integers(-2, 2)),
    st.builds(Answer, truncate_at=st.integers(0, 700), body=st.binary(max_size=700)),
    st.builds(Answer, truncate_at=st.integers(0, 700), headers=st.just({"ETag": None})),
    st.builds(Answer, headers=st.just({"ETag": 'W/"same"'}), truncate_at=st.integers(0, 700)),
    st.builds(Answer, flip=st.integers(0, 599)),
    st.builds(Answer, status=st.sampled_from([429, 500, 404, 204, 206])),
)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(faults=st.lists(FAULTS, max_size=5))
def test_whatever_happens_the_file_is_right_or_not_there(
    server: FaultServer, tmp_path_factory: pytest.TempPathFactory, faults: list[Answer]
) -> None:
    content = CONTENT[:600]
    server.files["/data/y.bin"] = content
    server.answers.clear()
    server.answers.extend(faults)
    server.requests.clear()
    folder = tmp_path_factory.mktemp("property")
    waits: list[float] = []
    digest = hashlib.sha256(content).hexdigest()
    try:
        download(
            server.url("/data/y.bin"), folder / "y", sha256=digest, attempts=4, sleep=waits.append
        )
    except SourceError:
        assert _names(folder) == []
        assert len(faults) > 0
    else:
        assert _names(folder) == ["y"]
        assert (folder / "y").read_bytes() == content
    assert len(server.requests) == len(waits) + 1 <= 4
