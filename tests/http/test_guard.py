"""Test who is admitted, and how much they may send."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import httpx
import pytest
from program import Program
from served import Server, get, serving
from waiting import HANG_S

from pastchats_memory.config import Config
from pastchats_memory.http import OpenMemory, make_application
from pastchats_memory.http.guard import MAX_REQUESTS, Admission
from pastchats_memory.http.page.session import Sessions

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
        OpenMemory(Config(folder / "memory.db"), print), Admission(), None, Sessions("http://localhost", 80, print)
    )
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")


@pytest.mark.promise("clients", "The HTTP server refuses a request with two `Host` headers.")
def test_two_host_headers_are_refused(tmp_path: Path) -> None:
    async def requests() -> httpx.Response:
        async with without_uvicorn(tmp_path) as client:
            return await client.get("/healthz", headers=[("Host", "localhost"), ("Host", "evil.example")])

    assert refused(anyio.run(requests)) == (400, "bad_host")


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
        connection.sendall(
            b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999999999999999\r\n\r\n"
        )
        assert answered(connection) == (413, "too_large")
    assert client.get("/healthz").status_code == 200


@pytest.mark.promise("clients", "The HTTP server drops slow clients and endless bodies while it answers others.")
def test_slow_clients_are_dropped_while_others_get_answers(client: httpx.Client, server: Server) -> None:
    with connected(server) as slow_body, connected(server) as slow_head, connected(server) as silent:
        head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        slow_body.sendall(head + b"Content-Length: 50\r\n\r\n{")
        slow_head.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
        assert client.get("/search?query=fence").status_code == 200
        assert answered(slow_body) == (408, "timeout")
        assert slow_head.recv(1) == b""
        assert silent.recv(1) == b""


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
