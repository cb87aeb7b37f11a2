"""What is asked by GET, of a real server."""

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
from served import Server, get, serving
from waiting import HANG_S

from pastchats_memory.http_server.server import Address, _listening

SCHEMAS = REPOSITORY / "contracts" / "schemas"


def validated(reply: httpx.Response, status: int = 200) -> Any:
    """The body, which fits the schema that it names."""
    body = reply.json()
    assert reply.status_code == status, body
    assert reply.headers["content-type"] == "application/json"
    assert not [name for name in reply.headers if name.startswith("access-control-")]
    name = body["schema"].removesuffix("/1")
    Draft202012Validator(json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))).validate(body)
    return body


def kind(reply: httpx.Response, status: int) -> str:
    return str(validated(reply, status)["error"]["kind"])


def test_the_nearest_by_meaning_come_with_scores_and_short_excerpts(client: httpx.Client) -> None:
    reply = client.get("/api/v1/search/semantic", params={"query": "retry strategy", "limit": 4})
    results = validated(reply)["results"]
    assert len(results) == 4
    assert all(len(row["excerpt"]) <= 260 for row in results)
    longer = {"content", "snippet", "metadata", "heading", "relevance", "lexical_rank", "semantic_rank"}
    assert not longer & {name for row in results for name in row}, "the excerpt stands for them"
    similarities = [row["similarity"] for row in results]
    assert similarities == sorted(similarities, reverse=True)
    least = {"query": "retry strategy", "limit": 4, "min_similarity": similarities[1]}
    kept = validated(client.get("/api/v1/search/semantic", params=least))["results"]
    assert [row["id"] for row in kept] == [row["id"] for row in results[:2]]


@pytest.mark.parametrize("command", ["search", "recall", "context"])
def test_the_answer_is_the_one_of_the_command_line(client: httpx.Client, demo: Program, command: str) -> None:
    query = "why did the retries cause a thundering herd"
    over_http = validated(client.get(f"/{command}", params={"query": query, "limit": 5}))
    assert over_http == demo(command, query, "--limit", "5", "--json").json


def test_an_item_is_whole_and_one_that_is_not_there_is_not_found(client: httpx.Client) -> None:
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
        rows = validated(get(f"{server.url}/tasks"))["results"]
        assert {row["title"] for row in rows} == {"Fix the login bug", "Paint the fence"}
        done = validated(get(f"{server.url}/tasks?status=done"))["results"]
        assert [row["title"] for row in done] == ["Paint the fence"]
        (one,) = validated(get(f"{server.url}/tasks/{done[0]['id']}"))["results"]
        assert one == done[0]
        assert validated(get(f"{server.url}/items/{done[0]['id']}"))["results"] == [one]
        assert kind(get(f"{server.url}/tasks/T-99"), 404) == "not_found"
        found = validated(get(f"{server.url}/api/v1/search/semantic?query=login&type=task&status=todo"))["results"]
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
        "/search?query=a&since=yesterday",
        "/search?query=a&threshold=nan",
        "/search?query=a&query=b",
        "/search?query=a&limt=3",
        "/context?query=a&budget=0",
        f"/search?query={'a' * 4001}",
    ],
)
def test_what_cannot_be_asked_is_a_clear_400(client: httpx.Client, path: str) -> None:
    assert kind(client.get(path), 400) == "usage"


@pytest.mark.parametrize(
    ("path", "message", "hint"),
    [
        ("/items/zz", "id is not written as one", "12 a turn"),
        ("/search?query=a&priority=9", "priority is not written as one", "0 critical"),
        ("/search?query=a&limit=ten", "limit is no whole number", "Results a page"),
        ("/search?query=a&limit=9999999999", "limit is not between 1 and 1000", "Results a page"),
        ("/search?query=a&mode=magic", "mode is none of hybrid, keyword, semantic", "Words, meaning, or both."),
        ("/search?query=%20", "query says nothing", "Any text"),
        ("/searchh", "there is no such path", "/openapi.json"),
    ],
)
def test_what_cannot_be_asked_is_said_in_words_with_what_could_be(
    client: httpx.Client, path: str, message: str, hint: str
) -> None:
    error = client.get(path).json()["error"]
    assert error["message"] == message
    assert hint in error["hint"]


def test_a_page_past_the_last_result_there_can_be_is_not_there(client: httpx.Client) -> None:
    assert kind(client.get("/search?query=a&limit=100&page=11"), 404) == "not_found"
    assert kind(client.get("/search?query=a&page=101"), 404) == "not_found"
    validated(client.get("/search?query=a&limit=100&page=10"))


def test_unknown_paths_and_methods_are_errors_of_ours(client: httpx.Client) -> None:
    assert kind(client.get("/admin"), 404) == "not_found"
    wrong = client.post("/search")
    assert (kind(wrong, 405), set(wrong.headers["allow"].split(", "))) == ("usage", {"GET", "HEAD"})


def test_32_clients_at_once_get_each_their_own_right_answer(client: httpx.Client, server: Server) -> None:
    queries = ["retry strategy", "flaky login test", "queue decision", "webhook", "gauges", "fence", "redis", "deploy"]
    alone = {query: client.get("/search", params={"query": query}).content for query in queries}

    def ask(number: int) -> bool:
        with httpx.Client(base_url=server.url, timeout=HANG_S) as own:
            wanted = (queries[(number + turn) % len(queries)] for turn in range(3))
            return all(own.get("/search", params={"query": query}).content == alone[query] for query in wanted)

    with ThreadPoolExecutor(32) as clients:
        assert all(clients.map(ask, range(32)))


def test_a_connection_sends_at_once() -> None:
    """Without it the second part of an answer waits 40 ms for the first one to be acknowledged."""
    with _listening(Address("127.0.0.1", 0)) as listener:
        assert listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_missing_database_is_503_with_the_way_out_and_works_once_it_is_there(program: Program) -> None:
    with serving(program) as server:
        assert kind(get(f"{server.url}/healthz"), 503) == "database_missing"
        error = validated(get(f"{server.url}/search?query=fence"), 503)["error"]
        assert "pastchats-memory index" in error["hint"]
        write_messages(program.home / "chat.jsonl", ("user", "Is the fence painted?"), ("assistant", "Green."))
        assert program("index", "chat.jsonl").status == 0
        assert validated(get(f"{server.url}/healthz"))["status"] == "ok"
        assert len(validated(get(f"{server.url}/search?query=fence"))["results"]) == 2
        for path in program.home.glob("memory.db*"):
            path.unlink()
        assert kind(get(f"{server.url}/search?query=fence"), 503) == "database_missing"
        write_messages(program.home / "chat.jsonl", ("user", "Is the gate painted?"))
        assert program("index", "chat.jsonl").status == 0
        (row,) = validated(get(f"{server.url}/search?query=gate"))["results"]
        assert row["content"] == "Is the gate painted?"


def test_every_connection_notices_that_another_file_took_the_databases_place(program: Program) -> None:
    def contents(colour: str) -> set[str]:
        write_messages(program.home / "chat.jsonl", ("user", f"Is the fence painted {colour}?"))
        assert program("index", "chat.jsonl").status == 0
        with ThreadPoolExecutor(8) as clients:
            answers = clients.map(lambda _: get(f"{server.url}/search?query=fence"), range(24))
            return {row["content"] for answer in answers for row in validated(answer)["results"]}

    with serving(program) as server:
        assert contents("green") == {"Is the fence painted green?"}
        for path in program.home.glob("memory.db*"):
            path.unlink()
        assert contents("white") == {"Is the fence painted white?"}
        assert server.end(signal.SIGTERM) == 0


def test_a_damaged_database_is_an_error_and_no_traceback(program: Program) -> None:
    program.database.write_bytes(b"no database at all" * 500)
    with serving(program) as server:
        assert kind(get(f"{server.url}/search?query=fence"), 500) == "database_corrupt"
        assert "Traceback" not in "".join(server.said)


@pytest.mark.promise("durability", "A running server explains damage instead of crashing.")
def test_damage_that_is_met_while_the_memory_is_open_is_an_error_and_no_bug(own_demo: Program) -> None:
    with serving(own_demo) as server:
        assert get(f"{server.url}/items/1").status_code == 200
        with closing(sqlite3.connect(own_demo.database)) as connection, connection:
            connection.execute("UPDATE prompts SET metadata_json = '{'")
        assert kind(get(f"{server.url}/items/1"), 500) == "database_corrupt"
        assert "Traceback" not in "".join(server.said)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_a_signal_ends_it_cleanly(demo: Program, number: int, status: int) -> None:
    with serving(Program(demo.home)) as server:
        assert get(f"{server.url}/search?query=fence").status_code == 200
        assert server.end(number) == status
        assert [line for line in server.said if "Serving on" not in line] == []


def test_nothing_that_was_asked_is_in_the_log(demo: Program) -> None:
    with serving(Program(demo.home)) as server:
        for path in ("/search?query=zebracrossing", "/zebracrossing", "/search?query=zebracrossing&limit=0"):
            get(server.url + path)
        server.end(signal.SIGTERM)
        assert "zebracrossing" not in "".join(server.said)


def test_what_a_person_should_know_of_the_configuration_and_of_the_model_is_said_once(own_demo: Program) -> None:
    (own_demo.home / "pastchats-memory.toml").write_text("endpoint = 'http://127.0.0.1:9'\n", encoding="utf-8")
    with serving(own_demo.with_variables(PASTCHATS_MEMORY_MODEL="intfloat/e5-small-v2")) as server:
        for _ in range(2):
            assert get(f"{server.url}/search?query=webhook").status_code == 200
        said = "".join(server.said)
    assert said.count("`endpoint` is ignored in a project's file") == 1
    assert said.count("so that model is used and intfloat/e5-small-v2 is not") == 1


def test_without_the_extra_it_says_how_to_install_it(program: Program) -> None:
    lacking = program.altered("import sys; sys.modules['starlette'] = None")
    run = lacking("serve")
    assert (run.status, run.stdout) == (2, "")
    assert "pip install 'pastchats-memory[http]'" in run.stderr
    assert "Traceback" not in run.stderr


def test_the_examples_of_its_help_serve(program: Program) -> None:
    examples = re.findall(
        r"pastchats-memory serve(.*)$", program("serve", "--help").stdout.partition("Examples:")[2], re.MULTILINE
    )
    here = [example for example in examples if "--host" not in example]
    assert len(here) == 3
    for example in here:
        with serving(program, *example.split(), "--port", "0") as server:
            assert get(f"{server.url}/openapi.json").status_code == 200


def test_an_address_that_is_taken_is_explained(program: Program, server: Server) -> None:
    port = server.url.rpartition(":")[2]
    run = program("serve", "--port", port)
    assert run.status == 2
    assert run.stderr.startswith(f"Error: 127.0.0.1:{port}: Address already in use\n")


def test_a_cross_encoder_that_is_not_on_this_machine_is_no_answer_and_is_not_fetched(client: httpx.Client) -> None:
    asked = {"query": "retry strategy", "limit": 2}
    usual = validated(client.get("/search", params=asked))
    assert validated(client.get("/search", params={**asked, "rerank": "false"})) == usual
    assert kind(client.get("/search", params={**asked, "rerank": "true"}), 503) == "model_unavailable"
    assert kind(client.get("/search", params={**asked, "rerank": "perhaps"}), 400) == "usage"
