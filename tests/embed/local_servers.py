"""Real HTTP servers on this machine: a hub of models, an embeddings endpoint, and one that never answers."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from program import Program
from tiny_bert import REVISION, TinyModel
from waiting import HANG_S


class _Quiet(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def reply_json(self, value: object, status: int = 200, **headers: str) -> None:
        self.reply(status, json.dumps(value).encode(), Content_Type="application/json", **headers)


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The server's address while it runs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def hub(repository: str, model: TinyModel, asked: list[str], *, breaks_off: str = "") -> Iterator[str]:
    """A hub with one repository; paths that were asked for are noted; one file may end in the middle."""
    siblings = [{"rfilename": name, "size": len(content)} for name, content in model.files.items()]
    tree = [
        {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}  # noqa: S324 - as git names blobs
        for name, content in model.files.items()
    ]

    class Hub(_Quiet):
        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            asked.append(f"{self.command} {path}")
            if path.startswith(f"/api/models/{repository}/tree/"):
                self.reply_json(tree)
            elif path.startswith(f"/api/models/{repository}"):
                self.reply_json({"id": repository, "sha": REVISION, "siblings": siblings, "private": False})
            elif path.startswith(f"/{repository}/resolve/"):
                self._file(path.split("/", 5)[5])
            else:
                self.reply_json({"error": "Repository not found"}, 404, X_Error_Code="RepoNotFound")

        def do_HEAD(self) -> None:
            self.do_GET()

        def _file(self, name: str) -> None:
            content = model.files.get(name)
            if content is None:
                self.reply_json({"error": "Entry not found"}, 404, X_Error_Code="EntryNotFound")
                return
            etag = hashlib.sha1(content).hexdigest()  # noqa: S324 - as git names blobs
            if name == breaks_off and self.command == "GET":
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.send_header("ETag", f'"{etag}"')
                self.send_header("X-Repo-Commit", REVISION)
                self.end_headers()
                self.wfile.write(content[: len(content) // 2])
                self.close_connection = True
                return
            self.reply(200, content, ETag=f'"{etag}"', X_Repo_Commit=REVISION)

    with serving(Hub) as address:
        yield address


@contextmanager
def silent() -> Iterator[str]:
    """A server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def patient(program: Program) -> Program:
    """Return the program with patience for a hub on a busy machine."""
    return program.primed(f"from pastchats_memory.embed import registry\nregistry.PATIENCE = {HANG_S}")


Answer = Callable[[dict[str, Any], int], tuple[int, Any, dict[str, str]]]
"""Of a request's body and its number, from 0: status, JSON (or bytes) and headers."""


@contextmanager
def endpoint(answer: Answer, seen: list[dict[str, Any]]) -> Iterator[str]:
    """An embeddings endpoint below `/v1`; every request's body, key and path are noted."""

    class Endpoint(_Quiet):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            number = len(seen)
            seen.append({"body": body, "key": self.headers.get("Authorization"), "path": self.path})
            status, value, headers = answer(body, number)
            if isinstance(value, bytes):
                self.reply(status, value, **headers)
            else:
                self.reply_json(value, status, **headers)

    with serving(Endpoint) as address:
        yield f"{address}/v1"
