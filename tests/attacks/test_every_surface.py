"""No place of the program shows rows that are being deleted, or those of a private project to a stranger."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import orjson
import pytest
import surfaces
from inprocess import Shell
from surfaces import Known, Shown

from pastchats_memory.store import deletion
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.visible import KINDS, PENDING_KEY

QUERY = "why does the ballast pump stall after a restart"
COMMAND = "npm run flood"
TASK = "The ballast pump stalls after each restart of the boat"
HIDDEN = ("bulkhead", "gasket", "purser")
"""Words of the turns, commands and outcomes of one project, and of its tasks. No argument contains them."""
TABLES = {"turns": "prompts", "tasks": "tasks", "comments": "task_comments", "attachments": "task_attachments"}


@dataclass(frozen=True)
class Viewer:
    """Somebody in a folder who asks for the rows of the project `submarine`."""

    state: str
    """`inside` of the private project, `outside`, or anywhere while its rows are `pending` deletes."""
    shell: Shell
    folder: Path
    known: Known

    def find(self, shown: Iterable[Shown]) -> dict[str, list[str]]:
        """Return the hidden words that each place showed."""
        found: dict[str, set[str]] = {}
        for name, text in shown:
            found.setdefault(name, set()).update(word for word in HIDDEN if word in text.lower())
        return {name: sorted(words) for name, words in found.items()}

    def check(self, shown: Iterable[Shown], is_silent: Callable[[str], bool]) -> None:
        """Check that each place shows the words inside the project, and never else. `is_silent` takes a place's name."""
        found = self.find(shown)
        assert found
        if self.state == "inside":
            assert [name for name, words in found.items() if is_silent(name) == bool(words)] == []
        else:
            assert {name: words for name, words in found.items() if words} == {}


def write_session(path: Path, cwd: Path, name: str, day: int, part: str) -> None:
    """Write a session of Claude Code's: a command with its cure, an edit that failed, and an answer that worked."""
    records: list[dict[str, Any]] = []

    def add(role: str, content: object) -> None:
        place = len(records)
        records.append({
            "type": role, "uuid": f"{name}-{place}", "parentUuid": f"{name}-{place - 1}" if place else None, "sessionId": name,
            "cwd": str(cwd), "timestamp": f"2026-05-{day:02}T08:{place:02}:07.000Z", "message": {"role": role, "content": content},
        })  # fmt: skip

    def call(tool: str, given: dict[str, str], result: str) -> None:
        id_ = f"call-{name}-{len(records)}"
        add("assistant", [{"type": "tool_use", "id": id_, "name": tool, "input": given}])
        is_error = result.startswith(("Exit code", "String"))
        add("user", [{"type": "tool_result", "tool_use_id": id_, "content": result, "is_error": is_error}])

    add("user", f"Why does the ballast pump at the {part} stall after a restart?")
    call("Bash", {"command": COMMAND}, f'Exit code 1\nnpm error Missing script: "flood" of the {part}')
    call("Bash", {"command": f"npm run flood:{part}"}, "Flooded.")
    call(
        "Edit",
        {"file_path": str(cwd / "pump.py"), "old_string": part, "new_string": f"{part}!"},
        f"String to replace not found: {part}",
    )
    add("assistant", [{"type": "text", "text": f"I put a lock around the {part}."}])
    add("user", "No, still broken after a restart.")
    call(
        "Edit",
        {"file_path": str(cwd / "pump.py"), "old_string": part, "new_string": f"{part}?"},
        f"The file has been updated: {part}",
    )
    call("Bash", {"command": f"pytest -q tests/test_{part}.py"}, "8 passed in 1.2s")
    add("assistant", [{"type": "text", "text": f"The pump now waits for the {part}."}])
    add("user", "Great, that works.")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def write_tasks(folder: Path, title: str, thing: str, who: str) -> None:
    """Write two finished issues of beads that are alike, with a comment each."""
    at = "2026-05-04T08:00:00Z"
    issues = [
        {
            "id": f"{folder.name[:3]}-{number}", "title": f"{title}: {thing}", "status": "closed", "created_at": at,
            "updated_at": at, "closed_at": at, "issue_type": "bug", "priority": 1, "description": f"The {thing} is torn.",
            "comments": [{"text": f"A new {thing}.", "author": who, "created_at": at}],
        }
        for number in (1, 2)
    ]  # fmt: skip
    file = folder / ".beads" / "issues.jsonl"
    file.parent.mkdir()
    file.write_text("".join(json.dumps(issue) + "\n" for issue in issues), encoding="utf-8")


@pytest.fixture(scope="module")
def sleeper() -> Iterator[int]:
    """Run a process that would delete, and does not come to it."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process.pid


@pytest.fixture(scope="module", params=["inside", "outside", "pending"])
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Viewer:
    """Store two projects, one of which is private or is to be deleted."""
    state = request.param
    home = tmp_path_factory.mktemp(state)
    history = home / ".claude" / "projects"
    shell = Shell(home)
    for name, part, title, thing, who in (
        ("submarine", "bulkhead", TASK, "gasket", "purser"),
        ("balloon", "burner", "The ballast of the balloon is heavy", "rope", "pilot"),
    ):
        (home / name / ".git").mkdir(parents=True)
        for day in (4, 5):
            write_session(history / name / f"{name}-{day}.jsonl", home / name, f"{name}-{day}", day, part)
        write_tasks(home / name, title, thing, who)
        (home / f"{name}.txt").write_text(f"Bill of the {thing}.", encoding="utf-8")
    if state != "pending":
        (home / "submarine" / "pastchats-memory.toml").write_text("private = true\n", encoding="utf-8")
    assert shell("index", history, "submarine/.beads", "balloon/.beads").status == 0
    for name in ("submarine", "balloon"):
        assert shell("task", "attach", f"{name[:3]}-1", home / f"{name}.txt", at=home / name).status == 0
    with open_database(home / "memory.db") as database:  # as if every signal were right often enough
        database.run("UPDATE outcomes SET confidence = 0.99 WHERE verdict != 'unknown'")
        (first,) = database.run(
            "SELECT min(id) FILTER (WHERE role = 'user'), min(id) FILTER (WHERE role = 'assistant') FROM prompts WHERE source_project = 'submarine'"
        )
    known = {
        "query": QUERY, "command": COMMAND, "text": TASK, "project": "submarine", "turn": str(first[0]), "answer": str(first[1]),
        "key": "sub-1", "other_key": "bal-1", "conversation": "submarine-4", "file": str(home / "submarine" / "pump.py"), "history": str(history),
    }  # fmt: skip
    return Viewer(state, shell, home / ("balloon" if state == "outside" else "submarine"), known)


@pytest.fixture
def viewer(memory: Viewer, sleeper: int, monkeypatch: pytest.MonkeyPatch) -> Viewer:
    """Return the viewer of a memory whose deletion, if there is one, counts as under way however long a test takes."""
    monkeypatch.setattr(deletion, "ABANDONED_AFTER_S", math.inf)
    if memory.state == "pending":
        with open_database(memory.shell.home / "memory.db") as database:
            list_as_pending(database, sleeper)
            assert not deletion.is_abandoned(database)
    return memory


def list_as_pending(database: Database, process: int) -> None:
    """List every row of the project as being deleted by a process that has just done a step."""
    columns = {"prompts": "source_project = 'submarine'", "tasks": "project = 'submarine'"}
    of_tasks = "task_id IN (SELECT id FROM tasks WHERE project = 'submarine')"
    rows = {
        kind: [id_ for (id_,) in database.run(f"SELECT id FROM {table} WHERE {columns.get(table, of_tasks)}")]
        for kind, table in TABLES.items()
    }
    assert rows.keys() == set(KINDS)
    assert all(rows.values())
    listed = orjson.dumps({"pid": process, "at": 0, **rows}).decode()
    database.run("INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, ?)", (PENDING_KEY, listed))


def collect(ask: Callable[[Known], AsyncIterator[Shown]], viewer: Viewer) -> list[Shown]:
    async def ask_all() -> list[Shown]:
        return [one async for one in ask(viewer.known)]

    with viewer.shell.at(viewer.folder):
        return anyio.run(ask_all)


@pytest.mark.promise("privacy", "No command shows text of a private project outside it, as text or as JSON.")
@pytest.mark.promise("forgetting", "No command at all shows a row that is still to be deleted.")
def test_no_command_shows_an_invisible_row(viewer: Viewer) -> None:
    shown = surfaces.ask_commands(viewer.shell, viewer.known, viewer.folder)
    viewer.check(shown, surfaces.SILENT_COMMANDS.__contains__)


@pytest.mark.promise("privacy", "No page shows text of a private project, unless the server runs in it.")
@pytest.mark.promise("forgetting", "No page shows a row that is still to be deleted.")
def test_no_page_shows_an_invisible_row(viewer: Viewer) -> None:
    viewer.check(collect(surfaces.ask_pages, viewer), surfaces.SILENT_PAGES.__contains__)


@pytest.mark.promise("privacy", "The HTTP server shows private text only inside the project.")
@pytest.mark.promise("forgetting", "The HTTP server shows no row that is still to be deleted, and adds none to a chat.")
def test_no_route_shows_an_invisible_row(viewer: Viewer) -> None:
    viewer.check(collect(surfaces.ask_routes, viewer), surfaces.SILENT_ROUTES.__contains__)


@pytest.mark.promise("privacy", "The MCP server shows private text only inside the project.")
@pytest.mark.promise("forgetting", "No MCP tool shows a row that is still to be deleted.")
def test_no_tool_shows_an_invisible_row(viewer: Viewer) -> None:
    viewer.check(collect(surfaces.ask_tools, viewer), surfaces.SILENT_TOOLS.__contains__)


@pytest.mark.promise("privacy", "Hooks show private text only inside the project.")
@pytest.mark.promise("forgetting", "No hook of any agent shows a row that is still to be deleted.")
def test_no_hook_shows_an_invisible_row(viewer: Viewer) -> None:
    with viewer.shell.at(viewer.folder):
        shown = list(surfaces.ask_hooks(viewer.known, viewer.folder))
    viewer.check(shown, lambda name: name.split()[-1] in surfaces.SILENT_HOOKS)


@pytest.mark.promise("forgetting", "`status` counts rows that are still to be deleted, and says how many they are.")
def test_status_counts_rows_that_are_being_deleted(viewer: Viewer) -> None:
    with open_database(viewer.shell.home / "memory.db") as database:
        stored, visible = (database.value(f"SELECT count(*) FROM {name}") for name in ("prompts", "visible_prompts"))
    status = viewer.shell("status", "--json", at=viewer.folder).json["results"][0]
    assert status["turns"] == stored
    assert (visible < stored) == (viewer.state == "pending") == bool(status["going"])
