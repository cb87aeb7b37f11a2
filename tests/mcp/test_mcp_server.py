"""Test the MCP server as a process that the SDK's own client starts and calls."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, get_args, get_type_hints

import anyio
import httpx
import pytest
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.types import CallToolResult
from program import Program, write_messages
from served import find_token
from systems import move_open, remove_open
from waiting import FOREVER_S, HANG_S, wait_until

from pastchats_memory.mcp.tools import Tools
from pastchats_memory.views.json_schema import derive_schema

READING = {
    "search", "recall", "read", "find_similar", "check_prior_work", "consult_episodic_memory", "lessons", "how",
    "status",
}  # fmt: skip
WRITING = {"store_turn", "index_paths", "unjudged", "judge"}
ANSWERS_S = HANG_S
NEEDED = {"id": "1"}
"""Values of required arguments that not every text can be."""
ONE_OF = {"read": {"id": "1"}, "find_similar": {"text": "login"}, "how": {"query": "login"}}
"""Arguments of tools that need one of two."""


def server(program: Program, *arguments: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=program.command[0], args=["mcp", *arguments], env=program.environment, cwd=str(program.home)
    )


def talk(program: Program, what: Callable[[Client], Awaitable[Any]], *arguments: str) -> Any:
    """Return the result of a session with a new server."""

    async def session() -> Any:
        with anyio.fail_after(ANSWERS_S):
            async with Client(server(program, *arguments)) as client:
                return await what(client)

    return anyio.run(session)


def text_of(answer: CallToolResult) -> str:
    return "".join(part.text for part in answer.content if part.type == "text")


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """Return a memory with a conversation and three tasks, one stuck and one solved; tests only read it."""
    home = tmp_path_factory.mktemp("tasks")
    program = Program(home)
    messages = [
        ("user", "The login page answers 429 when two tabs sign in."),
        ("assistant", "The limiter counts both tabs as one client; it is keyed by session now and all tests pass."),
    ]
    assert program("index", write_messages(home / "login.jsonl", *messages)).status == 0
    for arguments in (
        ["task", "add", "Retry failed webhooks with backoff", "--key", "HOOK-1", "--status", "blocked"],
        ["task", "comment", "HOOK-1", "Waiting for the queue to be chosen."],
        ["task", "add", "Login answers 429 for two tabs", "--key", "AUTH-2", "--status", "completed"],
        ["task", "comment", "AUTH-2", "Fixed by keying the limiter by session."],
        ["task", "add", "Paint the logo blue", "--key", "ART-3"],
    ):
        done = program(*arguments)
        assert done.status == 0, done.stderr
    return program


CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "search": ("search", {"query": "login 429", "limit": 3}),
    "search task": ("search", {"query": "webhooks", "type": "task", "status": "stuck", "limit": 1}),
    "recall": ("recall", {"query": "login answers 429 for two tabs", "budget": 400}),
    "read": ("read", {"id": "2"}),
    "read task": ("read", {"id": "t:HOOK-1"}),
    "read comment": ("read", {"id": "c:1"}),
    "no such task": ("read", {"id": "t:NONE-1"}),
    "find_similar id": ("find_similar", {"id": "t:AUTH-2"}),
    "find_similar key": ("find_similar", {"taskId": "AUTH-2"}),
    "read key": ("read", {"taskId": "HOOK-1"}),
    "find_similar turn": ("find_similar", {"id": "1", "threshold": 0.2}),
    "find_similar text": ("find_similar", {"text": "Retry webhooks that failed, with backoff"}),
    "check_prior_work": ("check_prior_work", {"query": "Retry failed webhooks with backoff"}),
    "consult": ("consult_episodic_memory", {"problem_context": "sign in returns 429"}),
    "lessons": ("lessons", {"project": "*"}),
    "lessons here": ("lessons", {}),
    "how": ("how", {"query": "sign in returns 429", "project": "*"}),
    "how here": ("how", {"query": "sign in returns 429"}),
    "how task": ("how", {"task": "sign in returns 429"}),
    "how twice": ("how", {"task": "sign in", "query": "sign in"}),
    "status": ("status", {}),
    "no such item": ("read", {"id": "999999"}),
    "no id": ("read", {"id": "twelve"}),
    "neither": ("find_similar", {}),
    "nothing": ("search", {"query": " "}),
    "wrong mode": ("search", {"query": "login", "mode": "psychic"}),
    "rerank": ("search", {"query": "login", "rerank": True}),
    "too long": ("recall", {"query": "fence " * 20_000}),
    "unknown argument": ("lessons", {"all": True}),
    "no query": ("recall", {"budget": 0}),
    "write": ("store_turn", {"role": "user", "content": "hello"}),
}


@pytest.fixture(scope="module")
def answers(tasks: Program) -> tuple[dict[str, dict[str, Any]], dict[str, CallToolResult]]:
    """Return the output schemas by tool and the answers to CALLS, from one server."""

    async def everything(client: Client):
        tools = (await client.list_tools()).tools
        assert all(tool.description and tool.annotations.read_only_hint for tool in tools)
        called = {}
        for name, (tool, arguments) in CALLS.items():
            called[name] = await client.call_tool(tool, arguments)
        return {tool.name: tool.output_schema for tool in tools}, called

    return talk(tasks, everything)


def test_only_reading_tools_are_offered_by_default_and_every_answer_fits_its_output_schema(answers) -> None:
    schemas, called = answers
    assert set(schemas) == READING
    assert all(schema["additionalProperties"] is False for schema in schemas.values())
    for name, (tool, _) in CALLS.items():
        if not called[name].is_error:
            for schema in (schemas[tool], derive_whole_schema(tool)):
                Draft202012Validator(schema).validate(called[name].structured_content)
    assert {tool for name, (tool, _) in CALLS.items() if not called[name].is_error} == READING


def derive_whole_schema(tool: str) -> dict[str, Any]:
    _, view = get_args(get_type_hints(getattr(Tools, tool), include_extras=True)["return"])
    return derive_schema(view)


@pytest.mark.promise("clients", "The list of MCP tools has at most 8,000 bytes, 5,000 of them for the agent.")
def test_the_list_of_tools_is_short(tasks: Program) -> None:
    async def listing(client: Client) -> list[dict[str, Any]]:
        answer = await client.list_tools()
        return [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in answer.tools]

    tools = talk(tasks, listing)
    assert count_bytes(tools) <= 8_000
    read_by_agents = ("name", "description", "inputSchema")
    assert count_bytes([{key: tool[key] for key in read_by_agents} for tool in tools]) <= 5_000


def count_bytes(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def test_the_list_of_tools_names_every_field_of_a_result(answers) -> None:
    schemas, called = answers
    for name, (tool, _) in CALLS.items():
        for entry in (called[name].structured_content or {}).get("results", ()):
            assert set(entry) <= set(schemas[tool]["properties"]["results"]["items"]["properties"]), name


def test_search_finds_turns_and_tasks_and_links_their_sources(answers, tasks: Program) -> None:
    _, called = answers
    best = called["search"].structured_content["results"][0]
    assert best["source_path"] == str(tasks.home / "login.jsonl") or best["id"] == "t:AUTH-2"
    links = [part.uri for part in called["search"].content if part.type == "resource_link"]
    assert links == [(tasks.home / "login.jsonl").as_uri()]
    assert "Source: " in text_of(called["search"])
    (task,) = called["search task"].structured_content["results"]
    assert (task["id"], task["status"]) == ("t:HOOK-1", "blocked")


@pytest.mark.parametrize("tool", ["lessons", "how"])
def test_an_empty_answer_for_one_project_mentions_the_others(answers, tool: str) -> None:
    _, called = answers
    assert "all projects" in text_of(called[f"{tool} here"])
    assert "all projects" not in text_of(called[tool])


def test_recall_returns_the_text_of_the_command_line(answers, tasks: Program) -> None:
    _, called = answers
    query, budget = CALLS["recall"][1].values()
    assert text_of(called["recall"]) == tasks("recall", query, "--budget", budget).stdout
    assert text_of(called["recall"]).startswith("# Memory Recall")
    assert called["recall"].structured_content["tokens"] <= budget
    assert "Source: " in text_of(called["recall"])


def test_read_returns_a_whole_item_with_its_neighbours_and_a_task_with_its_comments(answers) -> None:
    _, called = answers
    body = called["read"].structured_content
    assert (body["before"], body["after"], body["next_start"], body["lines"]) == ("1", None, None, 1)
    assert body["content"].endswith("all tests pass.")
    assert "Waiting for the queue" in called["read task"].structured_content["content"]
    assert called["read comment"].structured_content == called["read task"].structured_content


def test_the_key_of_a_task_stands_for_its_id(answers) -> None:
    _, called = answers
    for tool, by_id in (("find_similar key", "find_similar id"), ("read key", "read task")):
        assert called[tool].structured_content == called[by_id].structured_content


def test_wrong_arguments_are_explained_in_a_sentence_that_names_them(answers) -> None:
    _, called = answers
    errors = {name: text_of(called[name]) for name in ("unknown argument", "no query", "wrong mode", "how twice")}
    assert all(called[name].is_error for name in errors)
    assert errors["unknown argument"] == "lessons has no argument `all`; it takes `project`."
    for part in ("recall got wrong arguments", "`query`: field required", "`budget`: input should be greater"):
        assert part in errors["no query"]
    assert "'hybrid', 'keyword' or 'semantic'" in errors["wrong mode"]
    assert not any("http" in text or "\n  " in text for text in errors.values())
    assert called["how task"].structured_content == called["how here"].structured_content


def test_prior_work_shows_the_comments_of_a_stuck_task(answers) -> None:
    _, called = answers
    assert called["find_similar turn"].structured_content["results"][0]["id"] == "t:AUTH-2"
    assert "t:AUTH-2" not in {one["id"] for one in called["find_similar id"].structured_content["results"]}
    assert called["find_similar text"].structured_content["results"][0]["id"] == "t:HOOK-1"
    work = called["check_prior_work"].structured_content
    assert (work["verdict"], work["results"][0]["id"]) == ("in_progress", "t:HOOK-1")
    assert work["results"][0]["comments"] == ["Waiting for the queue to be chosen."]
    assert "stuck" in text_of(called["check_prior_work"])


def test_episodic_memory_returns_only_solved_tasks_with_their_resolution(answers) -> None:
    _, called = answers
    (solved,) = called["consult"].structured_content["results"]
    assert (solved["id"], solved["resolution"]) == ("t:AUTH-2", "Fixed by keying the limiter by session.")


def test_a_failed_call_says_what_to_do(answers) -> None:
    _, called = answers
    failed = {
        "no such task", "how twice", "no such item", "no id", "neither", "nothing", "wrong mode", "rerank", "too long",
        "unknown argument", "no query", "write",
    }  # fmt: skip
    assert {name for name in CALLS if called[name].is_error} == failed
    assert "Take ids from" in text_of(called["no such item"])
    assert "hybrid" in text_of(called["wrong mode"])
    assert "at most 100000 characters" in text_of(called["too long"])
    assert "only search --rerank fetches it" in text_of(called["rerank"])


def test_the_pages_of_a_long_item_contain_all_of_it(program: Program) -> None:
    lines = [f"line {number} of the deployment log" for number in range(2000)]
    program("index", write_messages(program.home / "long.jsonl", ("user", "\n".join(lines))))

    async def in_pages(client: Client) -> list[str]:
        pages, start = [], 1
        while start:
            body = (await client.call_tool("read", {"id": "1", "start": start})).structured_content
            pages.append(body["content"])
            start = body["next_start"]
        beyond = await client.call_tool("read", {"id": "1", "start": 9000})
        assert beyond.is_error
        return pages

    pages = talk(program, in_pages)
    assert "\n".join(pages).split("\n") == lines
    assert max(map(len, pages)) <= 12_000


def test_writing_tools_store_once_and_index_only_below_allowed_roots(program: Program) -> None:
    config = program.home / "config" / "pastchats-memory" / "pastchats-memory.toml"
    config.parent.mkdir(parents=True)
    root = program.home / "allowed"
    config.write_text(f'roots = ["{root}"]\n', encoding="utf-8")
    write_messages(root / "a.jsonl", ("user", "Why is the pump loud?"))
    write_messages(program.home / "b.jsonl", ("user", "not allowed"))
    (root / "link").symlink_to(program.home)
    turn = {"role": "user", "content": "remember the pump", "conversation_id": "c9", "event_id": "e", "project": "p"}

    async def writing(client: Client):
        assert {tool.name for tool in (await client.list_tools()).tools} == READING | WRITING
        stored = [await client.call_tool("store_turn", turn) for _ in range(2)]
        indexed = await client.call_tool("index_paths", {"paths": [str(root)]})
        refused = [
            await client.call_tool("index_paths", {"paths": [str(path)]})
            for path in (program.home / "b.jsonl", root / "link" / "b.jsonl", root / ".." / "b.jsonl")
        ]
        found = await client.call_tool("search", {"query": "pump"})
        return stored, indexed, refused, found

    stored, indexed, refused, found = talk(program, writing, "--allow-write")
    assert [answer.structured_content["is_new"] for answer in stored] == [True, False]
    assert indexed.structured_content["turns_added"] == 1
    assert all(answer.is_error and "roots" in text_of(answer) for answer in refused)
    sources = {one["source_path"] for one in found.structured_content["results"]}
    assert sources == {"live:mcp", str(root / "a.jsonl")}


def test_an_agent_judges_episodes_after_reading_them(program: Program) -> None:
    messages = [("user", "Which pump fits the pond?"), ("assistant", "The small one."), ("user", "It runs, and for the well?"), ("assistant", "None.")]  # fmt: skip
    assert program("index", write_messages(program.home / "pump.jsonl", *messages)).status == 0

    async def judging(client: Client):
        laid_out = await client.call_tool("unjudged", {"project": "*", "limit": 1})
        judged = await client.call_tool(
            "judge", {"id": 2, "outcome": "worked", "because": "It runs, and for the well?"}
        )
        refused = await client.call_tool("judge", {"id": "1", "outcome": "worked", "because": "It flies"})
        none = await client.call_tool("judge", {"id": "99", "outcome": "unknown"})
        back = await client.call_tool("judge", {"id": "3", "outcome": "unknown"})
        back = await client.call_tool("judge", {"id": "3", "outcome": None})
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        return laid_out, judged, refused, none, back, tools

    laid_out, judged, refused, none, back, tools = talk(program, judging, "--allow-write")
    assert (back.structured_content["results"][0]["basis"], back.structured_content["left"]) == ("", None)
    assert tools["unjudged"].annotations.read_only_hint
    assert not tools["judge"].annotations.read_only_hint
    for answer, name in ((laid_out, "unjudged"), (judged, "judge")):
        Draft202012Validator(derive_whole_schema(name)).validate(answer.structured_content)
    assert laid_out.structured_content["left"] == 1
    assert "Asked:\n> It runs, and for the well?" in text_of(laid_out)
    (one,) = judged.structured_content["results"]
    assert (one["id"], one["outcome"], one["basis"], one["shown_by"]) == (
        "1",
        "worked",
        "judged",
        "It runs, and for the well?",
    )
    assert "Outcome: worked (judged: It runs, and for the well?); was unknown · id 1" in text_of(judged)
    assert refused.is_error
    assert "the user's next message" in text_of(refused)
    assert none.is_error
    assert "there is no item 99" in text_of(none)
    assert "Outcome: worked (judged: It runs, and for the well?)" in program("show", "1").stdout


def test_without_a_database_the_tools_say_how_to_create_one_and_create_none(program: Program) -> None:
    async def asking(client: Client) -> CallToolResult:
        return await client.call_tool("recall", {"query": "anything"})

    answer = talk(program, asking)
    assert answer.is_error
    assert "pastchats-memory index" in text_of(answer)
    assert not program.database.exists()


def test_a_deleted_database_is_neither_read_nor_written(program: Program) -> None:
    async def asking(client: Client) -> list[CallToolResult]:
        answers = [await client.call_tool("store_turn", {"role": "user", "content": "Is the fence painted?"})]
        for path in program.home.glob("memory.db*"):
            remove_open(path)
        answers.append(await client.call_tool("search", {"query": "fence painted"}))
        answers.append(await client.call_tool("store_turn", {"role": "user", "content": "Is the gate painted?"}))
        return answers

    _, found, stored = talk(program, asking, "--allow-write")
    assert "there is no database yet" in text_of(found)
    assert stored.structured_content["is_new"]
    assert program("show", "1").status == 0


@pytest.mark.parametrize("tool", ["search", "recall", "unjudged", "status", "judge"])
def test_no_tool_that_reads_or_labels_makes_a_database(program: Program, tool: str) -> None:
    given = {"search": {"query": "pump"}, "recall": {"query": "pump"}, "judge": {"id": "1", "outcome": "unknown"}}

    async def asking(client: Client) -> tuple[CallToolResult, CallToolResult]:
        assert not (await client.call_tool("store_turn", {"role": "user", "content": "The pump is loud."})).is_error
        aside = {path: path.with_name(f"aside-{path.name}") for path in program.home.glob("memory.db*")}
        for path, there in aside.items():
            move_open(path, there)
        missing = await client.call_tool(tool, given.get(tool, {}))
        assert not program.database.exists()
        for path, there in aside.items():
            there.rename(path)
        return missing, await client.call_tool("search", {"query": "pump"})

    missing, found = talk(program, asking, "--allow-write")
    assert "there is no database yet" in text_of(missing)
    assert len(found.structured_content["results"]) == 1


def test_damage_to_an_open_database_is_explained(own_demo: Program) -> None:
    async def asking(client: Client) -> list[CallToolResult]:
        before = await client.call_tool("read", {"id": "1"})
        with closing(sqlite3.connect(own_demo.database)) as connection, connection:
            connection.execute("UPDATE prompts SET metadata_json = '{'")
        return [before, await client.call_tool("read", {"id": "1"})]

    before, after = talk(own_demo, asking)
    assert not before.is_error
    assert after.is_error
    assert "doctor" in text_of(after)


def test_two_clients_with_many_calls_at_once_all_get_answers(own_demo: Program) -> None:
    async def call_tools(client: Client, number: int, counts: list[int]) -> None:
        answer = await client.call_tool("search", {"query": f"retry strategy {number}", "limit": 2})
        counts.append(len(answer.structured_content["results"]))

    async def both() -> list[int]:
        counts: list[int] = []
        with anyio.fail_after(ANSWERS_S):
            async with (
                Client(server(own_demo)) as one,
                Client(server(own_demo, "--allow-write")) as two,
                anyio.create_task_group() as group,
            ):
                for number in range(6):
                    group.start_soon(call_tools, one, number, counts)
                    group.start_soon(call_tools, two, number, counts)
                group.start_soon(two.call_tool, "store_turn", {"role": "user", "content": "in between"})
        return counts

    assert anyio.run(both) == [2] * 12


def test_stdout_has_only_the_protocol_and_the_server_ends_with_its_client(demo: Program) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    call = {"name": "search", "arguments": {"query": "retry"}}
    messages = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    ]
    running = subprocess.Popen(
        [*demo.command, "mcp"], cwd=demo.home, env=demo.environment, encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    for message in messages:
        running.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    running.stdin.flush()
    lines = [running.stdout.readline() for _ in range(2)]
    rest, talk_ = running.communicate(timeout=ANSWERS_S)  # closes stdin: the client is gone
    assert [json.loads(line)["id"] for line in lines] == [1, 2]
    assert (rest, talk_, running.returncode) == ("", "", 0)


@pytest.mark.parametrize("asks", [True, False], ids=["asking", "silent"])
def test_a_client_that_closes_only_stdout_leaves_no_server_behind(demo: Program, asks: bool) -> None:
    running = subprocess.Popen(
        [*demo.command, "mcp"], cwd=demo.home, env=demo.environment, encoding="utf-8",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    running.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) + "\n")
    running.stdin.flush()
    try:
        assert json.loads(running.stdout.readline())["id"] == 1
        running.stdout.close()
        if asks:
            with suppress(BrokenPipeError):  # it may have ended already
                running.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping"}) + "\n")
                running.stdin.flush()
        assert (running.wait(ANSWERS_S), running.stderr.read()) == (0, "")  # though stdin is open
    finally:
        running.kill()
        running.stderr.close()
        with suppress(BrokenPipeError):
            running.stdin.close()


def test_a_client_that_is_killed_leaves_no_server_behind(demo: Program) -> None:
    code = (
        "import subprocess, sys, time\n"
        "server = subprocess.Popen([sys.argv[1], 'mcp'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "print(server.pid, flush=True)\n"
        f"time.sleep({FOREVER_S})\n"
    )
    client = subprocess.Popen(
        [sys.executable, "-c", code, demo.command[0]], env=demo.environment, stdout=subprocess.PIPE, encoding="utf-8"
    )
    pid = int(client.stdout.readline())
    client.kill()
    client.communicate()
    wait_until(lambda: not is_running(pid))


def is_running(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"  # a zombie that nobody waits for here has ended


def test_over_http_the_server_answers_on_loopback_and_refuses_another_host(demo: Program) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = demo.started("mcp", "--http", port)
    url = f"http://127.0.0.1:{port}/mcp"
    try:
        wait_until(lambda: running.poll() is not None or answers_at(port))
        token = {"X-Memory-Token": find_token(demo.home).read_text(encoding="ascii").strip()}
        for method in ("GET", "POST", "DELETE", "OPTIONS"):
            for path in (url, url.removesuffix("mcp"), f"{url}/x"):
                assert httpx.request(method, path, timeout=HANG_S).status_code == 401

        async def asking() -> int:
            with anyio.fail_after(ANSWERS_S):
                async with (
                    create_mcp_http_client(headers=token) as http,
                    Client(streamable_http_client(url, http_client=http)) as client,
                ):
                    answer = await client.call_tool("search", {"query": "retry strategy", "limit": 2})
                    return len(answer.structured_content["results"])

        assert anyio.run(asking) == 2
        assert httpx.post(url, headers={"Host": "evil.example"}, json={}).status_code in (403, 421)
        for site, is_ours in (("cross-site", False), ("same-site", False), ("none", True)):
            for method in ("GET", "POST", "DELETE", "OPTIONS"):
                reply = httpx.request(method, url, headers={**token, "Sec-Fetch-Site": site}, timeout=HANG_S)
                assert (reply.status_code != 403) == is_ours, (method, site)
        half = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "\\ud83d"}}}'
        json_headers = {**token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        assert httpx.post(url, headers=json_headers, content=half, timeout=HANG_S).status_code == 400
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=ANSWERS_S)


def test_a_port_in_use_is_explained(demo: Program) -> None:
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        port = occupied.getsockname()[1]
        run = demo("mcp", "--http", port)
    assert (run.status, run.stdout) == (2, "")
    assert run.stderr.startswith(f"Error: 127.0.0.1:{port}: ")
    assert "--http" in run.stderr


def answers_at(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("blank", [None, "", " \t", [], {}])
def test_an_optional_argument_that_says_nothing_counts_as_absent(tasks: Program, blank: object) -> None:
    async def session(client: Client) -> dict[str, tuple[CallToolResult, CallToolResult]]:
        found = {}
        for tool in (await client.list_tools()).tools:
            schema = tool.input_schema
            given = ONE_OF.get(tool.name) or {name: NEEDED.get(name, "login") for name in schema.get("required", ())}
            optional = {name: blank for name in schema["properties"] if name not in given}
            if tool.name not in WRITING:
                found[tool.name] = (
                    await client.call_tool(tool.name, given),
                    await client.call_tool(tool.name, {**given, **optional}),
                )
        return found

    found = talk(tasks, session)
    assert set(found) == READING
    for name, (without, filled) in found.items():
        assert not filled.is_error, (name, text_of(filled))
        assert filled.structured_content == without.structured_content


def test_an_id_may_be_a_number_and_so_may_a_text(tasks: Program) -> None:
    async def session(client: Client) -> list[CallToolResult]:
        return [
            await client.call_tool("read", {"id": 1}),
            await client.call_tool("read", {"id": 1.0}),
            await client.call_tool("find_similar", {"id": 1}),
            await client.call_tool("search", {"query": 429}),
            await client.call_tool("read", {"id": True}),
        ]

    *read, refused = talk(tasks, session)
    assert [text_of(one) for one in read if one.is_error] == []
    assert refused.is_error


@pytest.mark.promise("clients", "The MCP server answers every line that is no message with an error, and goes on.")
def test_a_line_that_is_no_message_gets_an_error_and_the_server_goes_on(tasks: Program) -> None:
    call = '{"jsonrpc": "2.0", "id": %s, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "a\\ud83d"}}}'
    lines = {
        call % 7: (7, -32600), call % '"seven"': ("seven", -32600), call % '"\\udc00"': (None, -32600),
        call % 8 + "[": (None, -32700), "not JSON": (None, -32700), "[1, 2]": (None, -32600), "[" * 20_000: (None, -32700),
        '{"jsonrpc": "1.0", "id": 9, "method": "ping"}': (9, -32600), "\xff\xfe": (None, -32700),
    }  # fmt: skip
    silent = ["", '{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"message": "\\ud83d"}}']
    greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": greeting}
    end = {"jsonrpc": "2.0", "id": 99, "method": "ping"}
    with subprocess.Popen(
        [*tasks.command, "mcp"], env=tasks.environment, cwd=tasks.home, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write("\n".join([json.dumps(begin), *silent, *lines, json.dumps(end), ""]).encode("latin-1"))
        running.stdin.flush()
        answers = []
        while not answers or answers[-1]["id"] != end["id"]:
            answers.append(json.loads(running.stdout.readline()))
        running.stdin.close()
    errors = [(one["id"], one["error"]["code"]) for one in answers if "error" in one]
    assert sorted(errors, key=str) == sorted(lines.values(), key=str)
    assert {one["id"] for one in answers if "result" in one} == {0, 99}


def test_requests_before_the_end_of_stdin_get_answers(tasks: Program) -> None:
    greeting = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": greeting},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "login"}}}
            for number in range(1, 4)
        ),
        {"jsonrpc": "2.0", "id": 4, "method": "ping"},
    ]  # fmt: skip
    run = subprocess.run(
        [*tasks.command, "mcp"],
        env=tasks.environment,
        cwd=tasks.home,
        input="".join(json.dumps(one) + "\n" for one in messages),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert sorted(json.loads(line)["id"] for line in run.stdout.splitlines()) == [0, 1, 2, 3, 4]
