"""Test GET requests to a real server."""

from __future__ import annotations

import json
import re
import signal
import socket
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from program import REPOSITORY, Program, write_messages
from served import Server, serving
from waiting import HANG_S

from pastchats_memory.http import listen

SCHEMAS = REPOSITORY / "contracts" / "schemas"


def validated(reply: httpx.Response, status: int = 200) -> Any:
    """Return the body after checking it against the schema that it names."""
    body = reply.json()
    assert reply.status_code == status, body
    assert reply.headers["content-type"] == "application/json"
    assert not [name for name in reply.headers if name.startswith("access-control-")]
    name = body["schema"].removesuffix("/1")
    Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))).validate(body)
    return body


def kind(reply: httpx.Response, status: int) -> str:
    return str(validated(reply, status)["error"]["kind"])


def test_semantic_search_returns_scores_and_short_excerpts(client: httpx.Client) -> None:
    reply = client.get("/api/v1/search/semantic", params={"query": "retry strategy", "limit": 4})
    results = validated(reply)["results"]
    assert len(results) == 4
    assert all(len(row["excerpt"]) <= 260 for row in results)
    longer = {"content", "snippet", "metadata", "heading", "relevance", "lexical_rank", "semantic_rank"}
    assert not longer & {name for row in results for name in row}, "the excerpt stands for them"
    similarities = [row["similarity"] for row in results]
    assert similarities == sorted(similarities, reverse=True)
    least = {"query": "retry strategy", "limit": 4, "min_similarity": similarities[1]}
    above = validated(client.get("/api/v1/search/semantic", params=least))["results"]
    assert [row["id"] for row in above] == [row["id"] for row in results[:2]]


@pytest.mark.parametrize("command", ["search", "recall", "context"])
def test_the_answer_equals_that_of_the_command_line(client: httpx.Client, demo: Program, command: str) -> None:
    query = "why did the retries cause a thundering herd"
    over_http = validated(client.get(f"/{command}", params={"query": query, "limit": 5}))
    assert over_http == demo(command, query, "--limit", "5", "--json").json


def test_an_item_is_returned_whole_and_a_missing_one_is_404(client: httpx.Client) -> None:
    first = validated(client.get("/search", params={"query": "retry", "limit": 1}))["results"][0]
    shown = validated(client.get(f"/items/{first['id']}", params={"neighbours": 1}))["results"]
    assert [row["content"] for row in shown if row["is_asked"]] == [first["content"]]
    assert kind(client.get("/items/999999"), 404) == "not_found"
    assert kind(client.get("/items/t:none"), 404) == "not_found"
    assert kind(client.get("/items/many"), 400) == "usage"


def test_tasks_are_listed_and_shown(program: Program) -> None:
    assert program("task", "add", "Fix the login bug", "--project", "gate").status == 0
    assert program("task", "add", "Paint the fence", "--status", "done").status == 0
    with serving(program) as server:
        rows = validated(server.get("/tasks"))["results"]
        assert {row["title"] for row in rows} == {"Fix the login bug", "Paint the fence"}
        done = validated(server.get("/tasks?status=done"))["results"]
        assert [row["title"] for row in done] == ["Paint the fence"]
        (one,) = validated(server.get(f"/tasks/{done[0]['id']}"))["results"]
        assert one == done[0]
        assert validated(server.get(f"/items/{done[0]['id']}"))["results"] == [one]
        assert kind(server.get("/tasks/T-99"), 404) == "not_found"
        found = validated(server.get("/api/v1/search/semantic?query=login&type=task&status=todo"))["results"]
        assert [row["title"] for row in found] == ["Fix the login bug"]


@pytest.mark.parametrize(
    "path",
    [
        "/search",
        "/search?query=%20",
        "/search?query=a&limit=0",
        "/search?query=a&limit=1001",
        "/search?query=a&limit=ten",
        "/search?query=a&mode=magic",
        "/search?query=a&since=someday",
        "/search?query=a&threshold=nan",
        "/search?query=a&query=b",
        "/search?query=a&limt=3",
        "/context?query=a&budget=0",
        f"/search?query={'a' * 4001}",
    ],
)
def test_a_wrong_request_is_400(client: httpx.Client, path: str) -> None:
    assert kind(client.get(path), 400) == "usage"


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("/items/zz", "id is not written as one", "12 is a turn"),
        ("/search?query=a&priority=9", "priority is not written as one", "0 critical"),
        ("/search?query=a&limit=ten", "limit is no whole number", "Results a page"),
        ("/search?query=a&limit=9999999999", "limit is not between 1 and 1000", "Results a page"),
        ("/search?query=a&mode=magic", "mode is none of hybrid, keyword, semantic", "Words, meaning, or both."),
        ("/search?query=%20", "query says nothing", "nothing in it is syntax"),
        ("/searchh", "there is no such path", "/openapi.json"),
    ],
)
def test_a_wrong_request_is_explained_with_a_hint(client: httpx.Client, path: str, message: str, hint: str) -> None:
    error = client.get(path).json()["error"]
    assert error["message"] == message
    assert hint in error["hint"]


def test_a_page_after_the_last_possible_result_is_404(client: httpx.Client) -> None:
    assert kind(client.get("/search?query=a&limit=100&page=11"), 404) == "not_found"
    assert kind(client.get("/search?query=a&page=101"), 404) == "not_found"
    validated(client.get("/search?query=a&limit=100&page=10"))


def test_unknown_paths_and_methods_get_our_own_errors(client: httpx.Client) -> None:
    assert kind(client.get("/admin"), 404) == "not_found"
    wrong = client.post("/search")
    assert (kind(wrong, 405), set(wrong.headers["allow"].split(", "))) == ("usage", {"GET", "HEAD"})


def test_32_clients_at_once_each_get_their_own_answer(client: httpx.Client, server: Server) -> None:
    queries = ["retry strategy", "flaky login test", "queue decision", "webhook", "gauges", "fence", "redis", "deploy"]
    alone = {query: client.get("/search", params={"query": query}).content for query in queries}

    def ask(number: int) -> bool:
        with httpx.Client(base_url=server.url, headers=server.token, timeout=HANG_S) as own:
            wanted = (queries[(number + turn) % len(queries)] for turn in range(3))
            return all(own.get("/search", params={"query": query}).content == alone[query] for query in wanted)

    with ThreadPoolExecutor(32) as clients:
        assert all(clients.map(ask, range(32)))


def test_connections_send_without_waiting_for_acknowledgements() -> None:
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_missing_database_is_503_with_a_hint_until_it_exists(program: Program) -> None:
    with serving(program) as server:
        assert kind(server.get("/healthz"), 503) == "database_missing"
        error = validated(server.get("/search?query=fence"), 503)["error"]
        assert "pastchats-memory index" in error["hint"]
        write_messages(program.home / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green."))
        assert program("index", "chat.jsonl").status == 0
        assert validated(server.get("/healthz"))["status"] == "ok"
        assert len(validated(server.get("/search?query=fence"))["results"]) == 2
        for path in program.home.glob("memory.db*"):
            path.unlink()
        assert kind(server.get("/search?query=fence"), 503) == "database_missing"
        write_messages(program.home / "chat.jsonl", ("user", "Is the gate painted?"))
        assert program("index", "chat.jsonl").status == 0
        (row,) = validated(server.get("/search?query=gate"))["results"]
        assert row["content"] == "Is the gate painted?"


def test_every_connection_notices_that_another_file_replaced_the_database(program: Program) -> None:
    def contents(colour: str) -> set[str]:
        write_messages(program.home / "chat.jsonl", ("user", f"Is the fence painted {colour}?"))
        assert program("index", "chat.jsonl").status == 0
        with ThreadPoolExecutor(8) as clients:
            answers = clients.map(lambda _: server.get("/search?query=fence"), range(24))
            return {row["content"] for answer in answers for row in validated(answer)["results"]}

    with serving(program) as server:
        assert contents("green") == {"Is the fence painted green?"}
        for path in program.home.glob("memory.db*"):
            path.unlink()
        assert contents("white") == {"Is the fence painted white?"}
        assert server.end(signal.SIGTERM) == 0


def test_a_damaged_database_is_an_error_without_a_traceback(program: Program) -> None:
    program.database.write_bytes(b"no database at all" * 500)
    with serving(program) as server:
        assert kind(server.get("/search?query=fence"), 500) == "database_corrupt"
        assert "Traceback" not in "".join(server.messages)


@pytest.mark.promise("durability", "A running server explains damage instead of crashing.")
def test_damage_to_an_open_database_is_an_error_and_not_a_bug(own_demo: Program) -> None:
    with serving(own_demo) as server:
        assert server.get("/items/1").status_code == 200
        with closing(sqlite3.connect(own_demo.database)) as connection, connection:
            connection.execute("UPDATE prompts SET metadata_json = '{'")
        assert kind(server.get("/items/1"), 500) == "database_corrupt"
        assert "Traceback" not in "".join(server.messages)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_ends_the_server_cleanly(demo: Program, number: int, status: int) -> None:
    with serving(Program(demo.home)) as server:
        assert server.get("/search?query=fence").status_code == 200
        assert server.end(number) == status
        serving_line, link_line = server.messages
        assert "Serving on" in serving_line
        assert "Open the page with this link" in link_line


def test_the_log_contains_no_query(demo: Program) -> None:
    with serving(Program(demo.home)) as server:
        for path in ("/search?query=zebracrossing", "/zebracrossing", "/search?query=zebracrossing&limit=0"):
            server.get(path)
        server.end(signal.SIGTERM)
        assert "zebracrossing" not in "".join(server.messages)


def test_notices_about_configuration_and_model_appear_once(own_demo: Program) -> None:
    (own_demo.home / "pastchats-memory.toml").write_text("endpoint = 'http://127.0.0.1:9'\n", encoding="utf-8")
    with serving(own_demo.with_variables(PASTCHATS_MEMORY_MODEL="intfloat/e5-small-v2")) as server:
        for _ in range(2):
            assert server.get("/search?query=webhook").status_code == 200
        messages = "".join(server.messages)
    assert messages.count("`endpoint` is ignored in a project's file") == 1
    assert messages.count("so that model is used and intfloat/e5-small-v2 is not") == 1


def test_the_examples_in_the_help_work(program: Program) -> None:
    examples = re.findall(
        r"pastchats-memory serve(.*)$", program("serve", "--help").stdout.partition("Examples:")[2], re.MULTILINE
    )
    here = [example for example in examples if "--host" not in example]
    assert len(here) == 3
    for example in here:
        with serving(program, *example.split(), "--port", "0") as server:
            assert server.get("/openapi.json").status_code == 200


def test_an_address_in_use_is_explained(program: Program, server: Server) -> None:
    port = server.url.rpartition(":")[2]
    run = program("serve", "--port", port)
    assert run.status == 2
    assert run.stderr.startswith(f"Error: 127.0.0.1:{port}: Address already in use\n")


def test_a_cross_encoder_that_is_not_in_the_cache_is_an_error_and_is_not_fetched(client: httpx.Client) -> None:
    arguments = {"query": "retry strategy", "limit": 2}
    usual = validated(client.get("/search", params=arguments))
    assert validated(client.get("/search", params={**arguments, "rerank": "false"})) == usual
    assert kind(client.get("/search", params={**arguments, "rerank": "true"}), 503) == "model_unavailable"
    assert kind(client.get("/search", params={**arguments, "rerank": "perhaps"}), 400) == "usage"


@pytest.mark.parametrize("blank", ["", " ", "%09", "%E2%80%83"])
def test_an_optional_parameter_that_says_nothing_counts_as_absent(client: httpx.Client, blank: str) -> None:
    for path, item in client.get("/openapi.json").json()["paths"].items():
        if "get" not in item or path.startswith("/v1"):
            continue
        parameters = item["get"]["parameters"]
        optional = "&".join(f"{one['name']}={blank}" for one in parameters if not one["required"])
        needed = "query=fence" if any(one["name"] == "query" for one in parameters) else ""
        asked = path.replace("{id}", "1").replace("{key}", "t:none")
        plain, filled = client.get(f"{asked}?{needed}"), client.get(f"{asked}?{needed}&{optional}".replace("?&", "?"))
        assert (filled.status_code, filled.text) == (plain.status_code, plain.text), path
    assert kind(client.get(f"/search?query={blank}"), 400) == "usage"


@pytest.mark.parametrize("bytes_", ["%ED%A0%80", "%FF", "a%00b", "%C3"])
def test_invalid_unicode_gets_an_answer_and_the_server_continues(client: httpx.Client, bytes_: str) -> None:
    for path in (f"/search?query={bytes_}", f"/search?query=a&project={bytes_}", f"/items/t:{bytes_}", f"/{bytes_}"):
        assert client.get(path).status_code in (200, 400, 404), path
    for body in (b'{"messages": [{"role": "user", "content": "\\ud83d"}]}', b"\xff", b"[" * 5000):
        reply = client.post("/v1/chat/completions", content=body, headers={"Content-Type": "application/json"})
        assert reply.status_code in (400, 404)
    assert client.get("/healthz").status_code == 200
