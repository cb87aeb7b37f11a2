"""Run the real server as a process, and a chat endpoint that records its requests."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
from program import Program
from waiting import HANG_S, wait_until

get, post = (partial(send, timeout=HANG_S) for send in (httpx.get, httpx.post))
"""As httpx has them, with a limit that only a hanging server exceeds."""
STARTED = re.compile(r"Serving on (http://\S+)")
LINK = re.compile(r"http://\S+/\?token=\S+")


@dataclass
class Server:
    """A running server and its messages so far."""

    url: str
    home: Path
    process: subprocess.Popen[str]
    messages: list[str]
    reading: threading.Thread
    """Reads what the server says until it ends."""

    @property
    def token(self) -> dict[str, str]:
        """The header of a program that may ask."""
        return {"X-Memory-Token": find_token(self.home).read_text(encoding="ascii").strip()}

    def get(self, path: str, **further: Any) -> httpx.Response:
        """Ask as a program that has the token."""
        return get(self.url + path, headers=self.token, **further)

    def post(self, path: str, **further: Any) -> httpx.Response:
        """Send as a program that has the token."""
        return post(self.url + path, headers=self.token, **further)

    def list_links(self) -> list[str]:
        """Wait for the first link to the page, and return all so far."""
        wait_until(lambda: LINK.search("".join(self.messages)))
        return LINK.findall("".join(self.messages))

    def find_link(self) -> str:
        """Return the link that opens the page now."""
        return self.list_links()[-1]

    def end(self, number: int) -> int:
        """Send a signal, wait for the end and return the exit code; then `messages` is complete."""
        self.process.send_signal(number)
        code = self.process.wait(HANG_S)
        self.reading.join(HANG_S)
        return code


def find_token(home: Path) -> Path:
    """Return the file with the token of the servers that run in a home."""
    return home / ".local" / "state" / "pastchats-memory" / "server-token"


@contextmanager
def serving(program: Program, *arguments: object) -> Iterator[Server]:
    """Run the server on a free port."""
    process = program.started("serve", "--port", "0", *arguments)
    messages: list[str] = []
    url = None
    assert process.stderr is not None
    for line in process.stderr:
        messages.append(line)
        if found := STARTED.search(line):
            url = found[1]
            break
    assert url is not None, "".join(messages)
    reading = threading.Thread(target=lambda: messages.extend(process.stderr or ()), daemon=True)
    reading.start()
    try:
        yield Server(url, program.home, process, messages, reading)
    finally:
        process.kill()
        process.wait()
        reading.join(HANG_S)
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


@contextmanager
def browsing(server: Server) -> Iterator[httpx.Client]:
    """Open the page with a link that was not used yet, and follow redirects as a browser does."""
    with httpx.Client(base_url=server.url, timeout=HANG_S, follow_redirects=True) as client:
        assert use_link(server, client).status_code == 200
        yield client


def use_link(server: Server, client: httpx.Client) -> httpx.Response:
    """Open the present link, and wait until the server has printed the next one."""
    known = len(server.list_links())
    answer = client.get(server.find_link())
    wait_until(lambda: len(server.list_links()) > known)
    return answer


@dataclass
class Endpoint:
    """A chat endpoint: its answers, and the requests it received."""

    url: str = ""
    seen: list[dict[str, Any]] = field(default_factory=list)
    status: int = 200
    body: bytes = b'{"id": "a", "object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}}]}'
    breaks_off: bool = False
    ends_with_done: bool = True
    first_chunk_read: threading.Event = field(default_factory=threading.Event)
    may_answer: threading.Event = field(default_factory=threading.Event)
    """Unset to hold every answer back."""

    def __post_init__(self) -> None:
        self.may_answer.set()


WORDS = ("Jitter ", "spreads ", "them.")


def chunk(word: str) -> bytes:
    """Return an event of a stream."""
    body = {
        "id": "s1",
        "object": "chat.completion.chunk",
        "model": "m",
        "choices": [{"index": 0, "delta": {"content": word}}],
    }
    return b"data: " + json.dumps(body).encode() + b"\n\n"


@contextmanager
def chat_endpoint() -> Iterator[Endpoint]:
    """Run the endpoint."""
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            with suppress(BrokenPipeError, ConnectionResetError):  # a server that gave us up, as some tests want it to
                self._answer()

        do_GET = do_POST  # noqa: N815 - the name that http.server calls

        def _answer(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            endpoint.seen.append({"path": self.path, "body": body, "headers": dict(self.headers)})
            endpoint.may_answer.wait(HANG_S)
            if body.get("stream") and endpoint.status == 200:
                self._stream()
            else:
                self.send_response(endpoint.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(endpoint.body)))
                self.end_headers()
                self.wfile.write(endpoint.body)

        def _stream(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream; charset=utf-8")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            parts = [chunk(word) for word in WORDS] + ([b"data: [DONE]\n\n"] if endpoint.ends_with_done else [])
            for number, part in enumerate(parts):
                if number == 1:
                    if endpoint.breaks_off:
                        self.close_connection = True
                        return
                    endpoint.first_chunk_read.wait(HANG_S)
                for half in (part[:9], part[9:]):
                    self.wfile.write(f"{len(half):x}\r\n".encode() + half + b"\r\n")
                    self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield endpoint
        finally:
            endpoint.first_chunk_read.set()
            endpoint.may_answer.set()
            server.shutdown()
            thread.join()


def nowhere() -> str:
    """Return an address on which nothing listens, now or later."""
    return f"http://127.0.0.1:{_reserve_port().getsockname()[1]}"


@cache
def _reserve_port() -> socket.socket:
    """Bind a port without listening, so that no server of another test gets it while this process runs."""
    reserved = socket.socket()
    reserved.bind(("127.0.0.1", 0))
    return reserved
