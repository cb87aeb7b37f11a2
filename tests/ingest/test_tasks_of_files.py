"""Files of tasks and todo lists in transcripts become tasks, once each, with their history."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from program import REPOSITORY, Program

from pastchats_memory.arrays import Vector
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.run import index
from pastchats_memory.store.database import Database, open_database

FIXTURES = REPOSITORY / "fixtures"
SESSION = "0ccf1a04-1b4c-43b6-8aa5-79e41db43a68"


def tasks(program: Program) -> dict[str, dict]:
    return {task["key"]: task for task in program("task", "list", "--all", "--limit", 1000, "--json").results}


def todo(uuid: str, at: str, *entries: tuple[str, str]) -> str:
    todos = [{"content": text, "status": status, "activeForm": text} for text, status in entries]
    block = {"type": "tool_use", "id": f"toolu_{uuid}", "name": "TodoWrite", "input": {"todos": todos}}
    message = {
        "id": f"msg_{uuid}",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": f"Step {uuid}"}, block],
    }
    return json.dumps({"type": "assistant", "uuid": uuid, "parentUuid": None, "sessionId": SESSION, "cwd": "/yard",
                       "timestamp": at, "message": message})  # fmt: skip


def test_a_tracker_is_read_once_and_its_changes_update_it(program: Program) -> None:
    folder = program.home / "yard" / ".beads"
    folder.mkdir(parents=True)
    shutil.copy(FIXTURES / "beads" / "beads-q4-links.jsonl", folder / "issues.jsonl")
    run = program("index", "yard")
    assert (run.status, "Added 0 turns and 3 tasks" in run.stdout + run.stderr) == (0, True)
    first = tasks(program)
    assert set(first) == {"yard-d1", "yard-d2", "yard-d2.1"}
    assert (first["yard-d2"]["parent"], first["yard-d2"]["source_project"]) == ("yard-d1", "yard")
    assert first["yard-d2"]["source_path"].endswith("issues.jsonl")
    assert program("index", "yard", "--force").status == 0
    assert tasks(program) == first
    lines = (folder / "issues.jsonl").read_text(encoding="utf-8").splitlines()
    closed = json.loads(lines[0]) | {"status": "closed", "updated_at": "2026-02-01T10:00:00Z"}
    (folder / "issues.jsonl").write_text(f"{json.dumps(closed)}\n{lines[1]}\n", encoding="utf-8")
    program("index", "yard")
    second = tasks(program)
    assert set(second) == {"yard-d1", "yard-d2"}
    assert [state["status"] for state in second["yard-d1"]["history"]] == ["pending", "completed"]
    assert [
        hit["key"] for hit in program("search", "dig the pond", "--type", "task", "--limit", 1, "--json").results
    ] == ["yard-d2"]


def test_a_list_that_is_replaced_whole_updates_its_tasks_and_leads_to_the_conversation(program: Program) -> None:
    path = program.home / "projects" / "yard" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    question = {"type": "user", "uuid": "u1", "sessionId": SESSION, "cwd": "/yard", "timestamp": "2026-01-01T10:00:00Z",
                "message": {"role": "user", "content": "Mend the gate, please"}}  # fmt: skip
    lines = [
        json.dumps(question),
        todo("a1", "2026-01-01T10:01:00Z", ("Oil the hinge", "pending"), ("Paint the gate", "pending")),
        todo("a2", "2026-01-01T10:05:00Z", ("Oil the hinge", "completed"), ("Replace the latch", "in_progress")),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert program("index", "projects").status == 0
    found = {task["title"]: task for task in tasks(program).values()}
    assert {title: task["status"] for title, task in found.items()} == {
        "Oil the hinge": "completed", "Paint the gate": "cancelled", "Replace the latch": "in_progress",
    }  # fmt: skip
    hinge = found["Oil the hinge"]
    assert [(state["status"], state["at"]) for state in hinge["history"]] == [
        ("pending", "2026-01-01T10:01:00.000Z"), ("completed", "2026-01-01T10:05:00.000Z"),
    ]  # fmt: skip
    assert (hinge["conversations"], hinge["source_project"]) == ([SESSION], "yard")
    (solved,) = program("consult-episodic-memory", "the hinge squeaks, oil it", "--json").results
    assert solved["resolution"] == "Step a2"
    assert solved["resolution_source"]["source_path"] == str(path)
    with path.open("a", encoding="utf-8") as file:
        file.write(todo("a3", "2026-01-01T10:09:00Z", ("Replace the latch", "completed")) + "\n")
    program("index", "projects")
    assert {task["title"]: task["status"] for task in tasks(program).values()}["Replace the latch"] == "completed"
    assert len(tasks(program)) == 3


def test_every_kind_of_task_file_is_taken_and_dated(program: Program) -> None:
    for name in ("taskmaster", "github-issues", "issue-files", "checklist", "claude-tasks"):
        shutil.copytree(FIXTURES / name, program.home / "files" / name, ignore=shutil.ignore_patterns("*.expected"))
    for path in (program.home / "files").rglob("*.json"):
        os.utime(path, (1_770_000_000, 1_770_000_000))
    run = program("index", "files")
    assert run.status == 0, run.stderr
    found = tasks(program)
    assert {"master/1.2", "winter/1", "BACK-7", "yard/12"} <= set(found)
    assert all(task["updated_at"] or task["created_at"] or task["closed_at"] for task in found.values())
    assert program("index", "files").status == 0
    assert tasks(program) == found


def test_the_plan_of_a_session_has_the_project_and_the_conversation_of_the_session(program: Program) -> None:
    folders = [program.home / "session-state" / f"{SESSION[:-1]}{number}" for number in range(2)]
    yard = program.home / "src" / "yard"
    yard.mkdir(parents=True)
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "plan.md").write_text("# Plan\n\n- [ ] Mend the gate\n- [x] Oil the hinge\n", encoding="utf-8")
        (folder / "workspace.yaml").write_text(f"id: {folder.name}\ncwd: {yard}\n", encoding="utf-8")
        shutil.copy(FIXTURES / "copilot-cli" / "copilot-cli-ends.jsonl", folder / "events.jsonl")
    assert program("index", "session-state").status == 0
    found = tasks(program)
    assert {(task["source_project"], *task["conversations"]) for task in found.values()} == {
        ("yard", folder.name) for folder in folders
    }
    assert sorted(task["title"] for task in found.values()) == ["Mend the gate"] * 2 + ["Oil the hinge"] * 2
    (yard / ".pastchats-ignore").touch()
    program.database.unlink()
    program("index", "session-state")
    assert tasks(program) == {}


class WatchingEmbedder:
    """Note each text that is embedded while the database is locked for writing."""

    name, version, dim = "watching", "1", 4

    def __init__(self, database: Database) -> None:
        self._database = database
        self.texts = 0
        self.under_lock: list[str] = []

    def load(self) -> None:
        """There is nothing to load."""

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """Yield the same vector for each text."""
        for text in texts:
            self.texts += 1
            if self._database.connection.in_transaction:
                self.under_lock.append(text)
            yield self.embed_query(text)

    def embed_query(self, text: str) -> Vector:
        """Return the same vector for any text."""
        del text
        vector: Vector = np.eye(1, self.dim, dtype=np.float32)[0]
        return vector


def test_no_task_of_a_file_is_embedded_while_others_have_to_wait_for_the_database(tmp_path: Path) -> None:
    folder = tmp_path / "yard" / ".beads"
    folder.mkdir(parents=True)
    shutil.copy(FIXTURES / "beads" / "beads-q4-links.jsonl", folder / "issues.jsonl")
    with open_database(tmp_path / "memory.db", create=True) as database:
        embedder = WatchingEmbedder(database)
        assert index(database, embedder, [folder], IndexOptions()).tasks == 3
    assert embedder.texts >= 3
    assert embedder.under_lock == []
