"""A server on this machine that speaks enough of the Hugging Face hub's protocol for its own client.

It knows what `huggingface_hub` asks for when it lists and reads model repositories: `/api/models/…`,
the tree of a revision, HEAD and GET of `/{repo}/resolve/{revision}/{file}` with ranges. Large files
("LFS") are redirected to a second server with another port, as the hub redirects to a content
network: credentials must not follow there.
"""

import hashlib
import json
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest

from tests.servers.http_faults import Answer, Handler, LocalServer, Record, serve

REVISION = "0123456789abcdef0123456789abcdef01234567"
"""A revision for tests that need any."""

Repos = Mapping[str, Mapping[str, Mapping[str, bytes]]]


class HubServer(LocalServer):
    """The hub's stand-in: `HubServer({repo: {revision: {name: bytes}}})`, as a context manager.

    Args:
        repos: the content, by repository, revision (40 hex digits) and file name.
        gated: repositories whose files need an accepted licence: 401 without a token, 403 with another
            than `token`.
        private: repositories that do not exist for whoever comes without the token.
        token: what opens gated and private repositories.
        lfs: endings of the files that are redirected to the second server.
        answers: faults, applied in order to the GETs of files' bytes on either server, see `Answer`.
        api_answers: faults, applied in order to requests under `/api/models`: status, headers,
            body, or a stall.
        page_size: entries on a page of a tree listing.

    Attributes:
        requests: all requests to the hub in order, each with method, path, range, status, bytes_sent
            and authorization.
        cdn: the second server; its `requests` are kept apart.
    """

    def __init__(
        self,
        repos: Repos,
        gated: Collection[str] = (),
        *,
        private: Collection[str] = (),
        token: str = "hf_test_token",
        lfs: tuple[str, ...] = (".safetensors", ".bin"),
        answers: Iterable[Answer] = (),
        api_answers: Iterable[Answer] = (),
        page_size: int = 1000,
    ) -> None:
        super().__init__()
        self.repos = repos
        self.gated = gated
        self.private = private
        self.token = token
        self.lfs = lfs
        self.answers = deque(answers)
        self.api_answers = deque(api_answers)
        self.page_size = page_size
        self.cdn = ContentServer(self)

    @property
    def file_bytes_sent(self) -> int:
        """Bytes of files' bodies sent by both servers: listings, redirects and error pages left out."""
        files = [r for r in self.requests if "/resolve/" in r.path and r.status in (200, 206)]
        return sum(r.bytes_sent for r in files + self.cdn.requests)

    def file_requests(self, name: str) -> list[Record]:
        """The GETs of one file on the hub itself."""
        return [
            r for r in self.requests if r.path.endswith("/" + quote(name)) and r.method == "GET"
        ]

    def use(self, monkeypatch: pytest.MonkeyPatch, cache: object = "/nonexistent") -> None:
        """Make `huggingface_hub` in this process talk to this server, with `cache` as cache folder.

        No token is sent until the test sets HF_TOKEN. The client reads HF_ENDPOINT when it is imported,
        so that setting it now would come too late.
        """
        from huggingface_hub import constants
        from huggingface_hub.utils import _detect_agent

        monkeypatch.setattr(constants, "ENDPOINT", self.endpoint)
        template = self.endpoint + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", "/nonexistent/token")
        # The client asks the hub once a day who may be calling: not a part of what is tested.
        monkeypatch.setattr(_detect_agent, "_registry", _detect_agent._EMPTY_REGISTRY)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
            monkeypatch.delenv(name, raising=False)

    def __enter__(self) -> Self:
        self.cdn.__enter__()
        return super().__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, traceback)
        self.cdn.__exit__(kind, error, traceback)

    def respond(self, handler: Handler) -> None:
        """Answer one request to the hub."""
        path = urlsplit(handler.path).path
        if path.startswith("/api/models/"):
            self._respond_api(handler, path.removeprefix("/api/models/"))
        elif "/resolve/" in path:
            repo, rest = path[1:].split("/resolve/", 1)
            revision, name = rest.split("/", 1)
            self._respond_file(handler, unquote(repo), unquote(revision), unquote(name))
        else:
            refuse(handler, 404, None)

    def _respond_api(self, handler: Handler, path: str) -> None:
        if self.api_answers:
            answer = self.api_answers.popleft()
            if answer.stall_at is not None:
                self.closing.wait(timeout=30)
            if answer.status is not None:
                handler.send(answer.status, answer.headers, answer.body or b"{}")
                return
        for kind in ("revision", "tree"):
            repo, separator, revision = path.partition(f"/{kind}/")
            if separator:
                break
        else:
            repo, revision = path, next(iter(self.repos.get(path, {"": {}})))
        # Whoever may not read a gated repository may still see its description, not its tree.
        files = self._find(handler, repo, unquote(revision), gate=kind == "tree")
        if files is None:
            return
        if kind == "tree":
            self._send_tree(handler, files)
        else:
            query = parse_qs(urlsplit(handler.path).query)
            info = _info(repo, revision, files, sizes=query.get("blobs") == ["true"])
            send_json(handler, {"Content-Type": "application/json"}, info)

    def _send_tree(self, handler: Handler, files: Mapping[str, bytes]) -> None:
        query = parse_qs(urlsplit(handler.path).query)
        first = int(query.get("cursor", ["0"])[0])
        names = sorted(files)
        page = [
            _entry(name, files[name], self._is_lfs(name))
            for name in names[first:][: self.page_size]
        ]
        headers: dict[str, str | None] = {"Content-Type": "application/json"}
        after = first + self.page_size
        if after < len(names):
            path = urlsplit(handler.path).path
            headers["Link"] = f'<{self.endpoint}{path}?recursive=true&cursor={after}>; rel="next"'
        send_json(handler, headers, page)

    def _respond_file(self, handler: Handler, repo: str, revision: str, name: str) -> None:
        files = self._find(handler, repo, revision, gate=True)
        if files is None:
            return
        if name not in files:
            refuse(handler, 404, "EntryNotFound", {"X-Repo-Commit": revision})
            return
        content = files[name]
        commit: dict[str, str | None] = {"X-Repo-Commit": revision}
        if self._is_lfs(name):
            linked = {"X-Linked-Etag": lfs_tag(content), "X-Linked-Size": str(len(content))}
            target = f"{self.cdn.endpoint}/{repo}/{revision}/{quote(name)}?signature=abc"
            handler.send(302, {**commit, **linked, "Location": target}, b"Found. Redirecting")
            return
        answer = self.next_answer(handler)
        if answer.status is not None:
            handler.send(answer.status, answer.headers, b"no file here")
            return
        serve(handler, answer.body or content, answer, f'"{blob_id(content)}"', commit)

    def next_answer(self, handler: Handler) -> Answer:
        """The fault for this GET; HEAD requests use none up."""
        with self.lock:
            if handler.command == "GET" and self.answers:
                return self.answers.popleft()
        return Answer()

    def _is_lfs(self, name: str) -> bool:
        return name.endswith(self.lfs)

    def _find(
        self, handler: Handler, repo: str, revision: str, *, gate: bool
    ) -> Mapping[str, bytes] | None:
        """The files of a revision; or a refusal has been sent, with the hub's own codes."""
        trusted = handler.headers.get("Authorization") == f"Bearer {self.token}"
        # For strangers the hub answers 401 to what is private and to what does not exist alike.
        if repo not in self.repos or (repo in self.private and not trusted):
            refuse(handler, 404 if "Authorization" in handler.headers else 401, "RepoNotFound")
        elif gate and repo in self.gated and not trusted:
            refuse(handler, 403 if "Authorization" in handler.headers else 401, "GatedRepo")
        elif revision not in self.repos[repo]:
            refuse(handler, 404, "RevisionNotFound")
        else:
            return self.repos[repo][revision]
        return None


class ContentServer(LocalServer):
    """Where the hub redirects for large files; it would hand them to anybody with the signed address."""

    def __init__(self, hub: HubServer) -> None:
        super().__init__()
        self.hub = hub

    def respond(self, handler: Handler) -> None:
        """Answer one request for a large file."""
        repo, revision, name = _split(unquote(urlsplit(handler.path).path), self.hub.repos)
        content = self.hub.repos[repo][revision][name]
        answer = self.hub.next_answer(handler)
        if answer.status is not None:
            handler.send(answer.status, answer.headers, b"no file here")
            return
        serve(handler, answer.body or content, answer, lfs_tag(content))


def refuse(
    handler: Handler, status: int, code: str | None, headers: Mapping[str, str | None] | None = None
) -> None:
    """Send an error with the hub's `X-Error-Code`."""
    handler.send(status, {"X-Error-Code": code, "X-Error-Message": code, **(headers or {})}, b"{}")


def lfs_tag(content: bytes) -> str:
    """ETag of a large file: its sha256."""
    return f'"{hashlib.sha256(content).hexdigest()}"'


def blob_id(content: bytes) -> str:
    """ETag of a small file: its git object id."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _info(
    repo: str, revision: str, files: Mapping[str, bytes], *, sizes: bool
) -> dict[str, object]:
    siblings = [
        {"rfilename": name, "size": len(files[name]), "blobId": blob_id(files[name])}
        if sizes
        else {"rfilename": name}
        for name in sorted(files)
    ]
    return {"id": repo, "modelId": repo, "sha": revision, "siblings": siblings, "tags": []}


def _entry(name: str, content: bytes, lfs: bool) -> dict[str, object]:
    entry: dict[str, object] = {
        "type": "file",
        "path": name,
        "size": len(content),
        "oid": blob_id(content),
    }
    if lfs:
        digest = hashlib.sha256(content).hexdigest()
        entry["lfs"] = {"oid": digest, "size": len(content), "pointerSize": 134}
    return entry


def send_json(handler: Handler, headers: Mapping[str, str | None], data: object) -> None:
    handler.send(200, headers, json.dumps(data).encode())


def _split(path: str, repos: Repos) -> tuple[str, str, str]:
    for repo in repos:
        if path.startswith(f"/{repo}/"):
            revision, name = path.removeprefix(f"/{repo}/").split("/", 1)
            return repo, revision, name
    raise KeyError(path)
