"""A small hub: the pages of the real one that a download asks for, with its ways to say no."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from tests.hub_caches import SHA, blob_id


@dataclass
class Repo:
    """One repository, at one commit."""

    files: Mapping[str, bytes]
    sha: str = SHA
    token: str = ""
    """The only token that may read it; anybody may when it is empty."""
    gated: bool = False
    status: int = 0
    """What every page of it answers, if not 0."""


@dataclass
class Hub:
    """What the server has, and what it was asked."""

    url: str
    repos: dict[str, Repo] = field(default_factory=dict)
    """By kind and name: `models/org/name`."""
    cuts: dict[str, int] = field(default_factory=dict)
    """Files whose connection breaks in the middle, so many times."""
    holds: dict[str, threading.Event] = field(default_factory=dict)
    """Files that come only to their middle before the event is set."""
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path and `Range` of each request."""

    def files_asked(self, method: str = "GET") -> list[str]:
        return [path.rpartition("/")[2] for verb, path, _ in self.asked if verb == method and "/resolve/" in path]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append((self.command, path, self.headers.get("Range", "")))
        name, repo, rest = self._found(path)
        if repo is None:
            self._refuse(401, "RepoNotFound")
        elif repo.status:
            self._refuse(repo.status, "")
        elif repo.token and self.headers.get("Authorization") != f"Bearer {repo.token}":
            self._refuse(403 if repo.gated else 401, "GatedRepo" if repo.gated else "RepoNotFound")
        elif path.startswith("/api/"):
            self._tell(name, repo, rest)
        else:
            self._send(repo, rest.split("/", 2)[2], body=body)

    def _found(self, path: str) -> tuple[str, Repo | None, str]:
        page = path.removeprefix("/api").strip("/")
        kind = page.partition("/")[0] if page.startswith(("models/", "datasets/")) else "models"
        parts = page.removeprefix(f"{kind}/").split("/", 2)
        name = "/".join(parts[:2])
        return name, self.hub.repos.get(f"{kind}/{name}"), parts[2] if len(parts) > 2 else ""

    def _tell(self, name: str, repo: Repo, rest: str) -> None:
        what, _, revision = rest.partition("/")
        if revision not in ("", "main", repo.sha):
            self._refuse(404, "RevisionNotFound")
        elif what == "tree":
            self._json(
                [{"type": "file", "path": p, "size": len(d), "oid": blob_id(d)} for p, d in repo.files.items()]
            )
        else:
            self._json({"id": name, "sha": repo.sha, "siblings": []})

    def _send(self, repo: Repo, file: str, *, body: bool) -> None:
        data = repo.files[file]
        begin = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")[0])
        self.send_response(206 if begin else 200)
        self.send_header("ETag", f'"{blob_id(data)}"')
        self.send_header("X-Repo-Commit", repo.sha)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(data) - begin))
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        if body:
            self._send_body(file, data, begin)

    def _send_body(self, file: str, data: bytes, begin: int) -> None:
        middle = max(begin, len(data) // 2)
        self.wfile.write(data[begin:middle])
        self.wfile.flush()
        if self.hub.cuts.get(file):
            self.hub.cuts[file] -= 1
            self.close_connection = True
            return
        if file in self.hub.holds:
            self.hub.holds[file].wait(60)
        self.wfile.write(data[middle:])

    def _json(self, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        if code:
            self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that went away is no news."""


@contextmanager
def serving() -> Iterator[Hub]:
    """A hub on a port of its own."""
    server = Server(("127.0.0.1", 0), Handler)
    hub = Hub(f"http://127.0.0.1:{server.server_address[1]}")
    server.RequestHandlerClass = type("Bound", (Handler,), {"hub": hub})
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        for held in hub.holds.values():
            held.set()
        server.shutdown()
        server.server_close()
        thread.join()
