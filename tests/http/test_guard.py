"""Test who is admitted, and how much they may send."""

from __future__ import annotations

import json
import re
import socket
import stat
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import httpx
import pytest
from program import Program
from served import Server, find_token, get, serving
from starlette.routing import BaseRoute, Mount, Route
from waiting import HANG_S

from pastchats_memory.config import Config
from pastchats_memory.http import MAX_WAITING, OpenMemory, make_application
from pastchats_memory.http.guard import MAX_REQUESTS
from pastchats_memory.http.page.answers import HERE
from pastchats_memory.http.page.session import Sessions

STATIC = [file.name for file in (HERE / "static").iterdir()]
JSON = {"Content-Type": "application/json"}


@contextmanager
def connected(server: Server) -> Iterator[socket.socket]:
    with socket.create_connection((urlsplit(server.url).hostname, urlsplit(server.url).port), HANG_S) as connection:
        yield connection


def answered(connection: socket.socket) -> tuple[int, str]:
    """Return status and kind of the error."""
    with connection.makefile("rb") as stream:
        status = int(stream.readline().split()[1])
        length = 0
        while (line := stream.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return status, json.loads(stream.read(length))["error"]["kind"]


def refused(reply: httpx.Response) -> tuple[int, str]:
    assert not [name for name in reply.headers if name.startswith("access-control-")]
    return reply.status_code, reply.json()["error"]["kind"]


@pytest.mark.promise(
    "clients", "The HTTP server refuses a web page whose name was made to point at it (DNS rebinding)."
)
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8377", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.1.5"]
)
def test_a_host_name_that_was_made_to_point_here_is_refused(client: httpx.Client, host: str) -> None:
    assert refused(client.get("/search?query=a", headers={"Host": host})) == (421, "bad_host")
    assert refused(client.post("/v1/chat/completions", headers={"Host": host})) == (421, "bad_host")


@pytest.mark.parametrize("host", ["", "a b", "localhost:99999999", "user@localhost"])
def test_a_malformed_host_is_refused(client: httpx.Client, host: str) -> None:
    assert client.get("/healthz", headers={"Host": host}).status_code == 400


def without_uvicorn(folder: Path) -> httpx.AsyncClient:
    """Return a client of the application itself; uvicorn refuses some of the same requests."""
    app = make_application(
        OpenMemory(Config(folder / "memory.db"), print), lambda: "sesame", None, Sessions("http://localhost", 80, print)
    )
    token = {"X-Memory-Token": "sesame"}
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost", headers=token)


@pytest.mark.promise("clients", "The HTTP server refuses a request with two `Host` headers.")
def test_two_host_headers_are_refused(tmp_path: Path) -> None:
    async def requests() -> httpx.Response:
        async with without_uvicorn(tmp_path) as client:
            return await client.get("/healthz", headers=[("Host", "localhost"), ("Host", "evil.example")])

    assert refused(anyio.run(requests)) == (400, "bad_host")


ODD_REQUESTS = {
    "an address in the first line": b"GET http://127.0.0.1/search?query=jitter HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "another address in the first line": b"GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a user before the host": b"GET /search?query=jitter HTTP/1.1\r\nHost: localhost@evil.example\r\n\r\n",
    "a user before our host": b"GET /search?query=jitter HTTP/1.1\r\nHost: evil.example@localhost\r\n\r\n",
    "no host": b"GET /search?query=jitter HTTP/1.0\r\n\r\n",
    "a host in two lines": b"GET /search?query=jitter HTTP/1.1\r\nHost:\r\n localhost\r\n\r\n",
    "a blank before the colon": b"GET /search?query=jitter HTTP/1.1\r\nHost: localhost\r\nX-Memory-Token : a\r\n\r\n",
    "a proxy's words": b"GET /search?query=jitter HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: localhost\r\n"
    b"X-Forwarded-For: 127.0.0.1\r\nForwarded: for=127.0.0.1;host=localhost\r\nX-Original-URL: /healthz\r\n\r\n",
    "another path in a header": b"GET /search?query=jitter HTTP/1.1\r\nHost: localhost\r\nX-Rewrite-URL: /healthz\r\n\r\n",
    "the head alone": b"HEAD /search?query=jitter HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "its options": b"OPTIONS /search HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n"
    b"Access-Control-Request-Method: GET\r\n\r\n",
    "an upgrade": b"GET /search?query=jitter HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    "an open path and a way out of it": b"GET /healthz/../search?query=jitter HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "two slashes": b"GET //search?query=jitter HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a very long header": b"GET /search?query=jitter HTTP/1.1\r\nHost: localhost\r\nX-Memory-Token: "
    + 90_000 * b"a"
    + b"\r\n\r\n",
    "two lengths": b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 40\r\n\r\n{}",
    "a length and chunks": b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /search?query=jitter HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a length that is negative": b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    "two tokens": b"GET /search?query=jitter HTTP/1.1\r\nHost: localhost\r\nX-Memory-Token: \r\nX-Memory-Token: a\r\n\r\n",
    "an empty token": b"GET /search?query=jitter HTTP/1.1\r\nHost: localhost\r\nX-Memory-Token:\r\nAuthorization: Bearer \r\n\r\n",
}
"""Of somebody without the token."""


@pytest.mark.parametrize("request_", ODD_REQUESTS.values(), ids=ODD_REQUESTS)
def test_an_odd_request_of_a_stranger_is_refused(client: httpx.Client, server: Server, request_: bytes) -> None:
    with connected(server) as connection:
        connection.sendall(request_)
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as stream:
            answer = stream.read()
    statuses = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+)", answer)]
    assert statuses
    assert all(400 <= status < 500 for status in statuses)
    assert b"jitter" not in answer.lower()
    assert client.get("/healthz").is_success


@pytest.mark.promise("clients", "The HTTP server turns away more requests than it can answer at once.")
def test_requests_over_the_limit_are_refused_until_others_finish(tmp_path: Path) -> None:
    async def requests() -> list[httpx.Response]:
        is_over = anyio.Event()

        async def slow() -> AsyncIterator[bytes]:
            await is_over.wait()
            yield b"{}"

        async with without_uvicorn(tmp_path) as client:
            async with anyio.create_task_group() as group:
                for _ in range(MAX_REQUESTS):
                    group.start_soon(partial(client.post, "/v1/chat/completions", content=slow(), headers=JSON))
                await anyio.wait_all_tasks_blocked()
                sent_away = await client.get("/openapi.json")
                is_over.set()
            return [sent_away, await client.get("/openapi.json")]

    sent_away, answered = anyio.run(requests)
    assert refused(sent_away) == (503, "busy")
    assert answered.status_code == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]:80"])
def test_every_name_of_this_machine_is_accepted(client: httpx.Client, host: str) -> None:
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.promise("clients", "The HTTP server refuses a page of another origin.")
def test_another_origin_is_refused_and_our_own_is_accepted(client: httpx.Client, server: Server) -> None:
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "http://localhost"):
        assert refused(client.get("/healthz", headers={"Origin": origin})) == (403, "bad_origin")
    twice = [("Origin", server.url), ("Origin", "http://evil.example")]
    assert refused(client.get("/healthz", headers=twice)) == (403, "bad_origin")
    preflight = client.options(
        "/search", headers={"Origin": "http://evil.example", "Access-Control-Request-Method": "GET"}
    )
    assert refused(preflight) == (403, "bad_origin")
    assert client.get("/healthz", headers={"Origin": server.url}).status_code == 200


@pytest.mark.promise("clients", "The HTTP server refuses what another site asks, with or without an origin.")
@pytest.mark.parametrize("site", ["cross-site", "same-site", "CROSS-SITE", ""])
def test_every_path_refuses_what_a_page_of_another_site_asks(client: httpx.Client, site: str) -> None:
    paths = [path.replace("{id}", "1") for path in client.get("/openapi.json").json()["paths"]]
    for path in (*paths, "/openapi.json", "/nowhere"):
        for method in ("GET", "HEAD", "POST", "OPTIONS", "DELETE"):
            reply = client.request(method, path, headers={"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"})
            assert reply.status_code == 403, (method, path)
            assert not [name for name in reply.headers if name.startswith("access-control-")]
    twice = [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")]
    assert refused(client.get("/healthz", headers=twice)) == (403, "bad_origin")


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_our_own_page_and_an_address_that_a_person_typed_are_answered(client: httpx.Client, site: str) -> None:
    assert client.get("/search?query=fence", headers={"Sec-Fetch-Site": site}).status_code == 200


@pytest.mark.promise("clients", "The HTTP server refuses a body of a type that a page may send without asking.")
@pytest.mark.parametrize("type_", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
def test_a_body_that_a_form_could_send_is_refused(client: httpx.Client, type_: str | None) -> None:
    headers = {} if type_ is None else {"Content-Type": type_}
    reply = client.post("/v1/chat/completions", content=b'{"messages": []}', headers=headers)
    assert refused(reply) == (415, "usage")
    declared = {"Content-Type": "application/json; charset=utf-8"}
    assert client.post("/v1/chat/completions", content=b"{}", headers=declared).status_code in (400, 404)


def test_a_body_over_the_limit_is_refused(client: httpx.Client, server: Server) -> None:
    assert refused(client.post("/v1/chat/completions", content=b" " * ((1 << 20) + 1), headers=JSON)) == (
        413,
        "too_large",
    )
    parts = (b" " * 65536 for _ in range(40))
    assert refused(client.post("/v1/chat/completions", content=parts, headers=JSON)) == (413, "too_large")
    with connected(server) as connection:
        head = f"POST /search HTTP/1.1\r\nHost: localhost\r\nX-Memory-Token: {server.token['X-Memory-Token']}\r\n"
        connection.sendall(
            f"{head}Content-Type: application/json\r\nContent-Length: 99999999999999999999\r\n\r\n".encode()
        )
        assert answered(connection) == (413, "too_large")
    assert client.get("/healthz").status_code == 200


@pytest.mark.promise("clients", "The HTTP server drops slow clients and endless bodies while it answers others.")
def test_slow_clients_are_dropped_while_others_get_answers(client: httpx.Client, server: Server) -> None:
    with connected(server) as slow_body, connected(server) as slow_head, connected(server) as silent:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nX-Memory-Token: {server.token['X-Memory-Token']}\r\n"
        slow_body.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{{".encode())
        slow_head.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
        assert client.get("/search?query=fence").status_code == 200
        assert answered(slow_body) == (408, "timeout")
        assert slow_head.recv(1) == b""
        assert silent.recv(1) == b""


@pytest.mark.promise("clients", "Connections without a request make room for those that ask.")
def test_connections_without_a_request_make_room_for_others(server: Server) -> None:
    with ExitStack() as stack:
        first, *_, last = (stack.enter_context(connected(server)) for _ in range(MAX_WAITING + 2))
        last.sendall(b"GET /search HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answered(last) == (401, "unauthorized")
        first.setblocking(False)
        assert first.recv(1) == b""


def test_any_other_address_needs_a_token(program: Program) -> None:
    run = program("serve", "--host", "0.0.0.0", "--port", "0")  # noqa: S104 - that is what is tested
    assert run.status == 2
    assert "there is no token" in run.stderr
    assert program("serve", "--token", "", "--port", "0").status == 2


def test_only_requests_with_the_token_get_an_answer(demo: Program) -> None:
    ours = Program(demo.home).with_variables(PASTCHATS_MEMORY_TOKEN="sesame-öffne")  # noqa: S106 - a token of the test
    with serving(ours, "--host", "0.0.0.0") as server:  # noqa: S104 - what is served beyond this machine is the point
        url = server.url.replace("0.0.0.0", "127.0.0.1")  # noqa: S104 - what is served beyond this machine is the point
        for shown in (
            None,
            "Bearer sesame",
            "Basic c2VzYW1l",
            "Basic sesame-öffne",
            "Bearer x",
            "Bearer sesame-\xf6ffne2",
        ):
            headers = {} if shown is None else {"Authorization": shown.encode()}
            reply = get(f"{url}/search?query=fence", headers=headers)
            assert refused(reply) == (401, "unauthorized")
            assert reply.headers["www-authenticate"] == "Bearer"
        right = {"Authorization": "Bearer sesame-öffne".encode(), "Host": "my-desk.example"}
        assert get(f"{url}/search?query=fence", headers=right).status_code == 200
        assert get(f"{url}/healthz").status_code == 200
        assert "A link is needed" in get(url).text  # the page has links in place of the token
        assert server.find_link().startswith("http://127.0.0.1:")
        assert "öffne" not in "".join(server.messages)


STRANGERS_MAY = {"/healthz", "/page/static/page.css", "/page/static/icon.svg"}


def list_routes(routes: Iterable[BaseRoute], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield method and path of every route of an application, and of those that it mounts."""
    for route in routes:
        if isinstance(route, Mount):
            yield from list_routes(route.routes, above + route.path)
        elif isinstance(route, Route):
            for method in (*(route.methods or ()), "POST", "OPTIONS"):
                yield method, above + re.sub(r"{[^}]*}", "1", route.path)


@pytest.mark.promise("clients", "Without token and session, every route of the HTTP server but `/healthz` is closed.")
@pytest.mark.parametrize(
    "shown",
    [{}, {"X-Memory-Token": "guessed"}, {"Authorization": "Bearer guessed"}, {"Cookie": "pastchats_memory_80=guessed"}],
    ids=["nothing", "token", "bearer", "cookie"],
)
def test_a_stranger_gets_no_answer_on_any_route(tmp_path: Path, shown: dict[str, str]) -> None:
    async def requests() -> list[tuple[str, httpx.Response]]:
        async with without_uvicorn(tmp_path) as client:
            guard = client._transport.app  # noqa: SLF001 - the routes are those that the guard protects
            found = [*list_routes(guard._app.routes), *(("GET", f"/page/static/{name}") for name in STATIC)]  # noqa: SLF001
            del client.headers["X-Memory-Token"]
            return [
                (path, await client.request(method, path, headers=shown)) for method, path in (*found, ("GET", "/x"))
            ]

    answers = anyio.run(requests)
    assert {"/search", "/items/1", "/openapi.json", "/v1/chat/completions", "/v1/models/1", "/page/forget"} <= {
        path for path, _ in answers
    }
    for path, answer in answers:
        assert path in STRANGERS_MAY or answer.status_code in (401, 405), (path, answer.status_code)
        assert answer.status_code != 405 or path in (*STRANGERS_MAY, "/"), path


def test_the_token_lies_in_a_file_for_this_account_alone_and_stays(server: Server, demo: Program) -> None:
    file = find_token(demo.home)
    assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o600, 0o700)
    assert str(file) in "".join(server.messages)
    assert file.read_text().strip() not in "".join(server.messages)
    before = server.token
    with serving(demo) as again:
        assert again.token == before


@pytest.mark.parametrize("way", ["asked for", "readable by others", "a link"])
def test_a_token_that_is_replaced_stops_at_once(program: Program, tmp_path: Path, way: str) -> None:
    with serving(program) as old:
        before = old.token
        assert old.get("/openapi.json").status_code == 200
        file = find_token(program.home)
        if way == "readable by others":
            file.chmod(0o644)
            assert old.get("/openapi.json").status_code == 401
        elif way == "a link":
            elsewhere = file.rename(tmp_path / "elsewhere")
            file.symlink_to(elsewhere)
        with serving(program, *(["--new-token"] if way == "asked for" else [])) as new:
            assert new.token != before
            assert get(f"{old.url}/openapi.json", headers=before).status_code == 401
            assert old.get("/openapi.json").status_code == new.get("/openapi.json").status_code == 200
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
