"""The hub: the real client against a local server that speaks its protocol."""

import hashlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants, hf_hub_download
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poscope.errors import SourceError
from poscope.sources import hub_client
from poscope.sources.fileset import read_all
from poscope.sources.hub import HubFiles
from tests.servers.http_faults import Answer
from tests.servers.hub import REVISION, HubServer

REPO = "me/bert"
OTHER_REVISION = "f" * 40
CONFIG = b'{"model_type": "bert"}'
WEIGHTS = hashlib.shake_128(b"weights").digest(300_000)  # above what is fetched whole
BIG_TEXT = hashlib.shake_128(b"text").digest(280_000)
FILES = {
    "config.json": CONFIG,
    "model.safetensors": WEIGHTS,
    "sub/a b#c.txt": b"odd name",
    "big.txt": BIG_TEXT,
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    repos = {name: {REVISION: FILES} for name in (REPO, "me/gated", "me/private")}
    with HubServer(repos, gated={"me/gated"}, private={"me/private"}) as running:
        running.use(monkeypatch, tmp_path / "cache")
        yield running


@pytest.fixture
def waits() -> list[float]:
    return []


Opener = Callable[..., HubFiles]


@pytest.fixture
def files(server: HubServer, waits: list[float]) -> Opener:
    def make(repo: str = REPO, revision: str = REVISION, timeout_s: float = 5.0) -> HubFiles:
        return HubFiles(repo, revision, timeout_s=timeout_s, attempts=3, sleep=waits.append)

    return make


def test_lists_all_files_with_one_request(files: Opener, server: HubServer) -> None:
    repository = files()
    assert repository.names() == ["big.txt", "config.json", "model.safetensors", "sub/a b#c.txt"]
    assert repository.names() == repository.names()
    assert len(server.requests) == 1
    assert repository.bytes_read == 0


def test_origin(files: Opener) -> None:
    assert files(revision=REVISION.upper()).origin() == {
        "source": "hub:me/bert",
        "revision": REVISION,
    }


def test_only_the_wanted_bytes_are_fetched(files: Opener, server: HubServer) -> None:
    repository = files()
    weights = repository.open("model.safetensors")
    assert (weights.name, weights.size) == ("model.safetensors", 300_000)
    assert server.file_bytes_sent == 0
    assert weights.read(8, 1000) == WEIGHTS[8:1000]
    assert weights.read(299_990, 300_000) == WEIGHTS[-10:]
    assert weights.read(5, 5) == b""
    assert [r.range for r in server.cdn.requests] == ["bytes=8-999", "bytes=299990-299999"]
    assert repository.bytes_read == server.file_bytes_sent == 992 + 10


def test_files_that_are_not_redirected_are_read_in_ranges_too(
    files: Opener, server: HubServer
) -> None:
    assert files().open("big.txt").read(100, 300) == BIG_TEXT[100:300]
    assert server.file_bytes_sent == 200
    assert server.cdn.requests == []


def test_small_files_are_fetched_whole_and_once(files: Opener, server: HubServer) -> None:
    repository = files()
    assert repository.open("config.json").read(2, 7) == CONFIG[2:7]
    assert read_all(repository, "config.json") == CONFIG
    assert [(r.range, r.bytes_sent) for r in server.file_requests("config.json")] == [(None, 22)]
    assert repository.bytes_read == 22


def test_a_whole_large_file_needs_no_range(files: Opener, server: HubServer) -> None:
    assert read_all(files(), "model.safetensors") == WEIGHTS
    assert [(r.range, r.status) for r in server.cdn.requests] == [(None, 200)]


def test_odd_names_are_escaped(files: Opener) -> None:
    assert read_all(files(), "sub/a b#c.txt") == b"odd name"


def test_the_token_does_not_follow_to_another_host(
    files: Opener, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_test_token")
    repository = files("me/gated")
    assert repository.open("model.safetensors").read(0, 10) == WEIGHTS[:10]
    assert {r.authorization for r in server.requests} == {"Bearer hf_test_token"}
    assert [(r.authorization, r.bytes_sent) for r in server.cdn.requests] == [(None, 10)]


def test_sizes_that_the_listing_lacks_are_asked_for(files: Opener, server: HubServer) -> None:
    siblings = [{"rfilename": name} for name in FILES]
    body = json.dumps({"id": REPO, "sha": REVISION, "siblings": siblings}).encode()
    server.api_answers.append(Answer(status=200, body=body))
    repository = files()
    assert repository.open("model.safetensors").size == 300_000
    assert repository.open("big.txt").size == 280_000
    assert [r.method for r in server.requests] == ["GET", "HEAD", "HEAD"]


@pytest.mark.parametrize("revision", ["main", "v1.0", REVISION[:-1], REVISION + "0", "g" * 40, ""])
def test_revisions_are_commit_ids(revision: str) -> None:
    with pytest.raises(SourceError, match=f"40 hex digits, not '{revision}'"):
        HubFiles(REPO, revision)


def test_no_such_repository(files: Opener, server: HubServer, waits: list[float]) -> None:
    with pytest.raises(SourceError, match=r"repository me/none does not exist .*HF_TOKEN"):
        files("me/none").names()
    assert (len(server.requests), waits) == (1, [])


def test_no_such_repository_for_somebody_known(
    files: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    with pytest.raises(SourceError, match=r"me/none does not exist .*the token in use may not see"):
        files("me/none").open("config.json")


def test_private_repositories_open_with_the_token(
    files: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SourceError, match="it is private and it wants HF_TOKEN"):
        files("me/private").names()
    monkeypatch.setenv("HF_TOKEN", "hf_test_token")
    assert len(files("me/private").names()) == 4


def test_no_such_revision(files: Opener, server: HubServer, waits: list[float]) -> None:
    with pytest.raises(SourceError, match=f"me/bert exists, and has no revision {OTHER_REVISION}"):
        files(revision=OTHER_REVISION).names()
    assert (len(server.requests), waits) == (1, [])


@pytest.mark.parametrize("token", [None, "hf_other"])
def test_gated_repositories(
    files: Opener,
    server: HubServer,
    waits: list[float],
    monkeypatch: pytest.MonkeyPatch,
    token: str | None,
) -> None:
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(SourceError) as caught:
        read_all(files("me/gated"), "config.json")
    having = "the token in use has no access" if token else "no token is set"
    for part in ("me/gated is gated", having, "accept its licence", "HF_TOKEN"):
        assert part in str(caught.value)
    assert f"{server.endpoint}/me/gated" in str(caught.value)
    assert waits == []


@pytest.mark.parametrize("status", [401, 403])
def test_refusals_without_a_reason(files: Opener, server: HubServer, status: int) -> None:
    server.answers.append(Answer(status=status))
    with pytest.raises(
        SourceError, match=rf"refuses access to me/bert \(HTTP {status}\): set HF_TOKEN"
    ):
        read_all(files(), "config.json")


def test_no_such_file_names_the_nearest(files: Opener) -> None:
    with pytest.raises(
        SourceError, match=r"no file 'config\.jso'; the nearest names are config\.json"
    ):
        files().open("config.jso")


@pytest.mark.parametrize("name", ["../config.json", "/etc/passwd", "sub/../../x", "a\\b"])
def test_names_do_not_lead_out(files: Opener, server: HubServer, name: str) -> None:
    with pytest.raises(SourceError, match="refused"):
        files().open(name)
    assert server.requests == []


def test_names_of_repositories_are_checked(files: Opener) -> None:
    for repo in ("a/b/c", "a--b", "../x", ""):
        with pytest.raises(SourceError, match="no name of a hub repository"):
            files(repo).names()


def test_range_past_the_end(files: Opener, server: HubServer) -> None:
    with pytest.raises(SourceError, match="has 300000 bytes"):
        files().open("model.safetensors").read(0, 300_001)
    assert server.cdn.requests == []


def test_something_else_than_the_hub(files: Opener, server: HubServer) -> None:
    for body in (b"<html>Please log in</html>", b"{}", b"[]"):
        server.api_answers.append(Answer(status=200, body=body))
        with pytest.raises(SourceError, match="does not answer as the hub does"):
            files().names()


def test_another_revision_than_asked_for(files: Opener, server: HubServer) -> None:
    body = json.dumps({"id": REPO, "sha": OTHER_REVISION, "siblings": []}).encode()
    server.api_answers.append(Answer(status=200, body=body))
    with pytest.raises(SourceError, match=f"answers with revision {OTHER_REVISION}"):
        files().names()


def test_a_busy_listing_is_asked_again(
    files: Opener, server: HubServer, waits: list[float]
) -> None:
    server.api_answers.extend(
        [Answer(status=429, headers={"Retry-After": "9"}), Answer(status=500)]
    )
    assert len(files().names()) == 4
    assert [r.status for r in server.requests] == [429, 500, 200]
    assert waits[0] == 9.0


def test_a_listing_that_stalls(files: Opener, server: HubServer, waits: list[float]) -> None:
    server.api_answers.append(Answer(stall_at=0))
    assert len(files(timeout_s=0.2).names()) == 4
    assert len(waits) == 1


def test_the_hubs_own_word_for_a_wait(files: Opener, server: HubServer, waits: list[float]) -> None:
    limit = {"RateLimit": '"api";r=0;t=55'}
    server.api_answers.append(Answer(status=429, headers=limit))
    assert len(files().names()) == 4
    assert waits == [55.0]


def test_a_hub_that_stays_busy(files: Opener, server: HubServer, waits: list[float]) -> None:
    server.api_answers.extend([Answer(status=503)] * 9)
    with pytest.raises(
        SourceError, match=r"me/bert from 127\.0\.0\.1: gave up after 3 attempts: .*503"
    ):
        files().names()
    assert (len(server.requests), len(waits)) == (3, 2)


def test_a_truncated_range_is_continued(files: Opener, server: HubServer) -> None:
    repository = files()
    server.answers.append(Answer(truncate_at=400))
    assert repository.open("model.safetensors").read(1000, 3000) == WEIGHTS[1000:3000]
    assert [r.range for r in server.cdn.requests] == ["bytes=1000-2999", "bytes=1400-2999"]
    assert repository.bytes_read == 2000


def test_a_server_that_sends_parts_of_its_own_size(files: Opener, server: HubServer) -> None:
    server.answers.append(Answer(part_bytes=500))
    assert files().open("model.safetensors").read(1000, 3000) == WEIGHTS[1000:3000]
    assert [r.range for r in server.cdn.requests] == ["bytes=1000-2999", "bytes=1500-2999"]


def test_a_truncated_small_file_is_continued(files: Opener, server: HubServer) -> None:
    server.answers.append(Answer(truncate_at=10))
    assert read_all(files(), "config.json") == CONFIG
    assert [r.range for r in server.file_requests("config.json")] == [None, "bytes=10-21"]


def test_a_stall_ends_at_the_timeout(files: Opener, server: HubServer, waits: list[float]) -> None:
    server.answers.append(Answer(stall_at=100))
    weights = files(timeout_s=0.2).open("model.safetensors")
    assert weights.read(0, 1000) == WEIGHTS[:1000]
    assert [r.range for r in server.cdn.requests] == ["bytes=0-999", "bytes=100-999"]
    assert len(waits) == 1


def test_a_server_that_ignores_ranges_sends_all(files: Opener, server: HubServer) -> None:
    server.answers.append(Answer(ignore_range=True))
    repository = files()
    assert repository.open("model.safetensors").read(1000, 3000) == WEIGHTS[1000:3000]
    assert repository.bytes_read == 300_000


def test_a_large_file_is_not_fetched_whole_unasked(
    files: Opener, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_client, "UNASKED_BYTES", 299_999)
    server.answers.append(Answer(ignore_range=True))
    repository = files()
    with pytest.raises(SourceError, match="ignores ranges and would send all 300000 bytes"):
        repository.open("model.safetensors").read(1000, 3000)
    assert repository.bytes_read == 0


def test_a_large_file_that_is_wanted_whole_is_fetched_whole(
    files: Opener, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_client, "UNASKED_BYTES", 299_999)
    server.answers.extend([Answer(truncate_at=1000), Answer(ignore_range=True)])
    repository = files()
    assert read_all(repository, "model.safetensors") == WEIGHTS
    assert [r.range for r in server.cdn.requests] == [None, "bytes=1000-299999"]
    assert repository.bytes_read == 301_000


def test_another_part_than_asked_for_is_refused(files: Opener, server: HubServer) -> None:
    server.answers.extend([Answer(range_shift=1)] * 3)
    with pytest.raises(
        SourceError, match="asked for bytes 1000 to 3000 of 300000, the server sends 1001"
    ):
        files().open("model.safetensors").read(1000, 3000)
    assert len(server.cdn.requests) == 3


def test_a_file_larger_than_listed(files: Opener, server: HubServer) -> None:
    repository = files()
    config = repository.open("config.json")
    server.answers.append(Answer(body=CONFIG + b" "))
    with pytest.raises(SourceError, match="larger than the hub says"):
        config.read(0, 22)


def test_no_network(files: Opener, monkeypatch: pytest.MonkeyPatch, waits: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
    monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{port}")
    with pytest.raises(SourceError) as caught:
        files().names()
    for part in (
        "me/bert from 127.0.0.1",
        "3 attempts",
        "cannot connect",
        "HF_HUB_OFFLINE",
        "HF_ENDPOINT",
    ):
        assert part in str(caught.value)
    assert len(waits) == 2


def test_what_the_cache_holds_is_read_from_there(
    files: Opener, server: HubServer, caplog: pytest.LogCaptureFixture
) -> None:
    hf_hub_download(REPO, "model.safetensors", revision=REVISION)
    server.requests.clear()
    server.cdn.requests.clear()
    caplog.set_level("INFO", "poscope")
    repository = files()
    assert repository.open("model.safetensors").read(8, 1000) == WEIGHTS[8:1000]
    assert repository.bytes_read == 992
    assert server.requests == server.cdn.requests == []
    assert "from the cache" in caplog.text
    assert read_all(repository, "config.json") == CONFIG
    assert len(server.requests) == 2


def test_another_revision_in_the_cache_is_left_alone(files: Opener, server: HubServer) -> None:
    hf_hub_download(REPO, "config.json", revision=REVISION)
    changed = {"config.json": b"{}"}
    server.repos = {REPO: {REVISION: FILES, OTHER_REVISION: changed}}
    assert read_all(files(revision=OTHER_REVISION), "config.json") == b"{}"


def test_offline_with_and_without_the_cache(
    files: Opener, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hf_hub_download(REPO, "config.json", revision=REVISION)
    hf_hub_download(REPO, "sub/a b#c.txt", revision=REVISION)
    server.requests.clear()
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    repository = files()
    assert repository.names() == ["config.json", "sub/a b#c.txt"]
    assert read_all(repository, "config.json") == CONFIG
    with pytest.raises(SourceError) as caught:
        repository.open("model.safetensors")
    for part in (
        "HF_HUB_OFFLINE is set",
        "does not hold",
        f"hf download me/bert --revision {REVISION}",
    ):
        assert part in str(caught.value)
    with pytest.raises(SourceError, match="HF_HUB_OFFLINE is set"):
        files("me/other").names()
    assert server.requests == []


def test_the_environment_names_the_hub(server: HubServer, tmp_path: Path) -> None:
    code = (
        "from poscope.sources.hub import HubFiles; from poscope.sources.fileset import read_all\n"
        f"files = HubFiles({'me/gated'!r}, {REVISION!r})\n"
        "print(len(files.names()), len(read_all(files, 'config.json')), files.bytes_read)"
    )
    environment = {
        **os.environ,
        "HF_ENDPOINT": server.endpoint,
        "HF_HOME": str(tmp_path),
        "HF_TOKEN": "hf_test_token",
        "HF_HUB_OFFLINE": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "4 22 22\n"
    assert server.file_requests("config.json")[0].authorization == "Bearer hf_test_token"


CUTS = st.one_of(
    st.builds(Answer, truncate_at=st.integers(0, 3000)),
    st.builds(Answer, reset_at=st.integers(0, 3000)),
    st.builds(Answer, truncate_at=st.integers(0, 3000), ignore_range=st.just(True)),
    st.builds(Answer, ignore_range=st.just(True)),
    st.builds(Answer, range_shift=st.integers(-1, 1)),
    st.builds(Answer, status=st.sampled_from([429, 500, 404])),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(faults=st.lists(CUTS, max_size=4), start=st.integers(0, 299_000), count=st.integers(1, 3000))
def test_whatever_happens_the_bytes_are_right_or_an_error(
    server: HubServer, files: Opener, faults: list[Answer], start: int, count: int
) -> None:
    server.answers.clear()
    server.answers.extend(faults)
    stop = min(start + count, 300_000)
    weights = files().open("model.safetensors")
    try:
        data = weights.read(start, stop)
    except SourceError:
        assert faults
    else:
        assert data == WEIGHTS[start:stop]
