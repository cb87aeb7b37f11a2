"""The text of a private project, asked for from outside by everything that shows text."""

from __future__ import annotations

import json
import re
from typing import Any

import anyio
import httpx
import pytest
from inprocess import Shell

from pastchats_memory import Memory
from pastchats_memory.config import load
from pastchats_memory.hooks.answers import greet, recall
from pastchats_memory.hooks.event import HookEvent
from pastchats_memory.http import OpenMemory, make_application
from pastchats_memory.http.guard import Admission
from pastchats_memory.http.page.session import Sessions
from pastchats_memory.mcp.tools import Tools

WORDS = "why does the ballast pump of the submarine stall"
HIDDEN = ("bulkhead", "gasket", "purser")
"""Words of its turns, of its commands and outcomes, of its tasks."""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A private repository with two conversations that failed and then worked and a task, and an open one beside it."""
    home = tmp_path_factory.mktemp("private")
    for name, part, thing, who in (
        ("submarine", "bulkhead", "gasket", "purser"),
        ("balloon", "burner", "rope", "pilot"),
    ):
        (home / name / ".git").mkdir(parents=True)
        for day in (4, 5):
            said = [
                ("user", f"Why does the ballast pump of the {name} stall? The {part} is wet."),
                ("assistant", f"I put a lock around the {part}."),
                ("user", "No, still broken after a restart."),
                ("assistant", f"The pump now waits for the {part}."),
                ("tool", f"$ pytest -q tests/test_{part}.py\n8 passed in 1.2s"),
            ]
            lines = [
                {"conversation_id": f"{name}-{day}", "cwd": str(home / name), "role": role, "content": text, "timestamp": f"2026-05-{day:02}T08:{minute:02}:07Z"}
                for minute, (role, text) in enumerate(said)
            ]  # fmt: skip
            session = home / "history" / f"{name}-{day}.jsonl"
            session.parent.mkdir(exist_ok=True)
            session.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        at = "2026-05-04T08:00:00Z"
        issue = {"id": f"{name[:3]}-1", "title": f"The ballast pump stalls: new {thing}", "status": "closed", "created_at": at, "updated_at": at, "closed_at": at, "issue_type": "bug",
                 "priority": 1, "description": f"The {thing} is torn.", "comments": [{"text": f"A new {thing}.", "author": who, "created_at": at}]}  # fmt: skip
        file = home / name / ".beads" / "issues.jsonl"
        file.parent.mkdir()
        file.write_text(json.dumps(issue) + "\n", encoding="utf-8")
    (home / "submarine" / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    shell = Shell(home)
    assert shell("index", "history", "submarine/.beads", "balloon/.beads").status == 0
    with Memory.open(home / "memory.db") as memory:  # as if every signal were right often enough to be said
        memory._database.run("UPDATE outcomes SET confidence = 0.99 WHERE verdict != 'unknown'")  # noqa: SLF001 - no command writes what the test needs
    return shell


ASKED = (
    ["search", WORDS], ["search", WORDS, "--mode", "keyword"], ["search", WORDS, "--mode", "semantic"], ["search", "bulkhead", "--project", "submarine"],
    ["search", WORDS, "--type", "task"], ["recall", WORDS], ["recall", WORDS, "--project", "submarine"], ["context", WORDS], ["ask", WORDS],
    ["ask", "which tasks are finished?"], ["lessons", "--all"], ["lessons", "--project", "submarine"], ["judge", "--all", "--outcome", "worked,failed,mixed,unknown"], ["judge", "--project", "submarine"],
    *(["judge", str(id_), "worked", "--because", "a line that stands nowhere"] for id_ in range(1, 11)), *(["judge", str(id_), "--undo"] for id_ in range(1, 11)), ["how", "ballast pump", "--all"], ["how", "ballast pump", "--project", "submarine"],
    *(["show", str(id_)] for id_ in range(1, 21)), ["show", "t:sub-1"], ["show", "c:1"], ["show", "c:2"], ["similar", "bal-1"], ["similar", "sub-1"],
    ["find-duplicates", WORDS], ["duplicates", "--scan"], ["check-prior-work", WORDS], ["consult-episodic-memory", WORDS], ["capture", "The ballast pump stalls"],
    ["task", "list", "--all"], ["task", "list", "--project", "submarine"], ["task", "show", "sub-1"], ["task", "recall", WORDS], ["task", "export"], ["export"],
    ["timeline", "--since", "2026-05-01"], ["timeline", "--since", "2026-05-01", "--project", "submarine"], ["digest", "--since", "2026-05-01"],
    ["digest", "--since", "2026-05-01", "--project", "submarine"], ["blame", "../submarine/tests/test_bulkhead.py"], ["show", "--conversation", "submarine-1"], ["show", "--conversation", "submarine-2"],
    ["export", "--markdown", "--conversation", "submarine-1"], ["export", "--html", "--conversation", "submarine-2"], ["export", "--markdown", "--query", WORDS], *(["resume", str(id_)] for id_ in range(1, 11)),
    *(["open", str(id_), "--print"] for id_ in range(1, 11)), ["forget", "--query", WORDS], ["verify"], ["status"], ["doctor"], ["sources"], ["prune", "--before", "2030-01-01"], ["redact", "--rescan", "--no"],
)  # fmt: skip


def find_private_words(text: str) -> list[str]:
    """Of the hidden words those that are in a text and were not asked for."""
    return [word for word in HIDDEN if word in text.lower()]


@pytest.mark.promise("privacy", "Fifty commands show no text of a private project outside it, as text or as JSON.")
@pytest.mark.parametrize("arguments", ASKED, ids=" ".join)
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
def test_no_command_shows_it_outside(shell: Shell, arguments: list[str], form: list[str]) -> None:
    run = shell(*arguments, *form, at=shell.home / "balloon")
    assert run.status in (0, 1, 2), run.stderr
    asked = " ".join(arguments).lower()
    assert [word for word in find_private_words(run.stdout + run.stderr) if word not in asked] == []


@pytest.mark.parametrize(
    "arguments",
    [["search", WORDS], ["recall", WORDS], ["context", WORDS], ["lessons"], ["judge", "--outcome", "failed"], ["how", "ballast pump"], ["task", "list", "--all"], ["check-prior-work", WORDS],
     ["consult-episodic-memory", WORDS], ["task", "export"], ["export"], ["forget", "--query", WORDS], ["ask", WORDS]],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_inside_the_project_these_commands_show_it(shell: Shell, arguments: list[str]) -> None:
    run = shell(*arguments, at=shell.home / "submarine")
    assert find_private_words(run.stdout), run


def test_nobody_judges_its_episodes_outside(shell: Shell) -> None:
    judged = ["worked", "--because", "a line that stands nowhere"]
    found = {
        shell("judge", str(id_), *judged, at=shell.home / "balloon").status
        for id_ in range(1, 21)
        if shell("show", str(id_), at=shell.home / "balloon").status == 1
    }
    assert found == {1}


@pytest.mark.promise("privacy", "`check-prior-work` bases no verdict on a private conversation outside its project.")
def test_no_verdict_rests_on_its_conversations_outside(shell: Shell) -> None:
    asked = ["check-prior-work", "Why is the bulkhead of the submarine wet?"]
    text = {folder: shell(*asked, at=shell.home / folder).stdout for folder in ("submarine", "balloon")}
    (private,) = re.findall(r"conversation about it ended [a-z ]+ \(id (\d+)\)", text["submarine"])
    assert shell("show", private, at=shell.home / "balloon").status == 1
    assert f"(id {private})" not in text["balloon"]


@pytest.mark.promise("privacy", "Hooks show private text only inside the project.")
@pytest.mark.parametrize("folder", ["balloon", "submarine"])
def test_a_hook_shows_it_inside_alone(shell: Shell, folder: str) -> None:
    with shell.at(shell.home / folder):
        event = HookEvent(prompt=f"{WORDS}?", session=None, cwd=str(shell.home / folder))
        given = f"{recall(event, None)}{greet(event, None)}"
    assert bool(find_private_words(given)) == (folder == "submarine")


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("search", {"query": WORDS}), ("search", {"query": WORDS, "project": "submarine"}), ("recall", {"query": WORDS}), *(("read", {"id": str(id_)}) for id_ in range(1, 21)),
    ("read", {"id": "t:sub-1"}), ("find_similar", {"text": WORDS}), ("check_prior_work", {"query": WORDS}), ("consult_episodic_memory", {"problem_context": WORDS}),
    ("lessons", {"project": None}), ("unjudged", {"project": None, "outcome": "worked,failed,mixed,unknown"}), ("how", {"task": "ballast pump", "project": None}), ("status", {}),
)  # fmt: skip


@pytest.mark.promise("privacy", "The MCP server shows private text only inside the project.")
@pytest.mark.parametrize("folder", ["balloon", "submarine"])
def test_the_tools_of_the_mcp_server_show_it_inside_alone(shell: Shell, folder: str) -> None:
    with shell.at(shell.home / folder):
        tools = Tools(load(), allow_write=False)
        said = []
        for tool, arguments in CALLS:
            try:
                said.append(getattr(tools, tool)(**arguments).model_dump_json())
            except Exception as fault:  # noqa: BLE001 - what a tool refuses is told, too
                said.append(str(fault))
    assert bool(find_private_words("".join(said))) == (folder == "submarine")


@pytest.mark.promise("privacy", "The Python API shows private text only inside the project.")
@pytest.mark.parametrize("folder", ["balloon", "submarine"])
def test_python_shows_it_inside_alone(shell: Shell, folder: str) -> None:
    with shell.at(shell.home / folder), Memory.open(shell.home / "memory.db") as memory:
        said = [*memory.search(WORDS), memory.recall(WORDS), memory.lessons(None), memory.how("ballast pump", None)]
    assert bool(find_private_words(str(said))) == (folder == "submarine")


OF = "query=why+does+the+ballast+pump+of+the+submarine+stall"
PATHS = (
    f"/search?{OF}", f"/search?mode=keyword&{OF}", f"/search?project=submarine&{OF}", f"/api/v1/search/semantic?{OF}", f"/recall?{OF}", f"/recall?project=submarine&{OF}",
    f"/context?{OF}", "/lessons", f"/how?{OF}",
    "/tasks", "/tasks/sub-1", "/items/t:sub-1", "/items/c:1", *(f"/items/{id_}" for id_ in range(1, 12)),
)  # fmt: skip


@pytest.mark.promise("privacy", "The HTTP server shows private text only inside the project.")
@pytest.mark.parametrize("folder", ["balloon", "submarine"])
def test_the_server_shows_it_inside_alone(shell: Shell, folder: str) -> None:
    async def asked() -> list[str]:
        memory = OpenMemory(load(), print)
        app = make_application(memory, Admission(), None, Sessions("http://localhost", 80, print))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
            messages = [(await client.get(path)).text for path in PATHS]
        await memory.close()
        return messages

    with shell.at(shell.home / folder):
        assert bool(find_private_words("".join(anyio.run(asked)))) == (folder == "submarine")
