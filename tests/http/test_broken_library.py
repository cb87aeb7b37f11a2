"""Servers and hooks beside a library that cannot be imported: without the model they answer by words."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult
from program import Program, write_messages
from served import serving
from waiting import HANG_S

from pastchats_memory.cli.install import TARGETS

PROMPT = "Why does the flow meter of the Kestrel pump read zero?"


@pytest.fixture
def filled(program: Program) -> Program:
    turns = [
        ("user", "The flow meter of the Kestrel pump reads zero"),
        ("assistant", "Its Kestrel impeller was stuck."),
    ]
    assert program("index", write_messages(program.home / "history" / "chat.jsonl", *turns)).status == 0
    return program


@pytest.fixture(params=["onnxruntime", "tokenizers"])
def broken(filled: Program, request: pytest.FixtureRequest) -> Program:
    return filled.without_library(request.param)


def call_tools(program: Program, *calls: tuple[str, dict[str, Any]]) -> list[CallToolResult]:
    """Return the answers of a new MCP server that may write."""
    command, *first = program.command
    server = StdioServerParameters(
        command=command, args=[*first, "mcp", "--allow-write"], env=program.environment, cwd=str(program.home)
    )

    async def session() -> list[CallToolResult]:
        with anyio.fail_after(HANG_S):
            async with Client(server) as client:
                return [await client.call_tool(tool, arguments) for tool, arguments in calls]

    return anyio.run(session)


def run_hook(program: Program, agent: str) -> tuple[int, str, str]:
    """Return exit code, output and messages of the hook for a prompt."""
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": PROMPT, "cwd": str(program.home)}
    done = subprocess.run(
        [*program.command, "hook", agent, "UserPromptSubmit"], input=json.dumps(event), env=program.environment,
        capture_output=True, encoding="utf-8", timeout=HANG_S, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_the_server_answers_by_words_and_warns(broken: Program) -> None:
    with serving(broken) as server:
        found = server.get("/api/v1/search/semantic", params={"query": "Kestrel pump"})
    assert (found.status_code, len(found.json()["warnings"])) == (200, 1)
    assert "flow meter" in found.text


def test_mcp_stores_and_finds_by_words(broken: Program) -> None:
    turn = {"role": "user", "content": "Which hinge squeaks?", "conversation_id": "c3"}
    stored, found, recalled = call_tools(
        broken, ("store_turn", turn), ("search", {"query": "hinge"}), ("recall", {"query": PROMPT})
    )
    assert not stored.is_error
    assert "Which hinge squeaks?" in str(found.structured_content)
    assert "flow meter" in str(recalled.structured_content)


@pytest.mark.parametrize("agent", TARGETS)
def test_a_hook_ends_well_without_the_model(broken: Program, agent: str) -> None:
    code, _, messages = run_hook(broken, agent)
    assert (code, messages) == (0, "")


@pytest.mark.parametrize("agent", TARGETS)
def test_a_hook_gives_without_numpy_what_words_decide(filled: Program, agent: str) -> None:
    code, block, messages = run_hook(filled.without_library("numpy"), agent)
    assert (code, messages) == (0, "")
    assert not block or "Kestrel impeller was stuck" in block
