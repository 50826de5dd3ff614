"""The hub's stand-in for repositories of data sets."""

import re
from collections.abc import Mapping
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests.servers.http_faults import Handler
from tests.servers.hub import HubServer, send_json


class DatasetServer(HubServer):
    """The hub's stand-in, for repositories of data sets: their addresses, and trees by folder."""

    def use(self, monkeypatch: pytest.MonkeyPatch, cache: object = "/nonexistent") -> None:
        """Make the hub's libraries in this process talk to this server, with `cache` as folder of both caches."""
        import datasets.config

        super().use(monkeypatch, f"{cache}/hub")
        monkeypatch.setattr(datasets.config, "HF_ENDPOINT", self.endpoint)
        monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", f"{cache}/datasets")

    def respond(self, handler: Handler) -> None:
        """Answer one request to the hub."""
        handler.path = handler.path.replace("/api/datasets/", "/api/models/", 1).removeprefix(
            "/datasets"
        )
        super().respond(handler)

    def _respond_api(self, handler: Handler, path: str) -> None:
        tree = re.fullmatch(r"(.+)/tree/([0-9a-f]{40})(?:/(.*))?", path)
        if tree is None:
            super()._respond_api(handler, path)
            return
        files = self._find(handler, tree[1], tree[2], gate=True)
        if files is not None:
            query = parse_qs(urlsplit(handler.path).query)
            deep = query.get("recursive", ["false"])[0].lower() == "true"
            entries = _entries(files, unquote(tree[3] or ""), deep=deep)
            send_json(handler, {"Content-Type": "application/json"}, entries)


def _entries(files: Mapping[str, bytes], folder: str, *, deep: bool) -> list[dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    prefix = f"{folder}/" if folder else ""
    for name, content in files.items():
        if not name.startswith(prefix):
            continue
        top, below, _ = name.removeprefix(prefix).partition("/")
        if below and not deep:
            found[top] = {"type": "directory", "path": prefix + top, "oid": "0" * 40, "size": 0}
        else:
            found[name] = {"type": "file", "path": name, "oid": "0" * 40, "size": len(content)}
    return list(found.values())
