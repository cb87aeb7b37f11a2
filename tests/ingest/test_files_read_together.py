"""A conversation in many files, and a database with rows beside it, are one source: read once, and looked at otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest

from pastchats_memory import Memory
from pastchats_memory.ingest.discover import discover_files

SESSION = "ses_3f0a5ccccffeKq0bV8nW2xYz1a"


@pytest.fixture
def tree(tmp_path: Path):
    """A function that writes a message with one part into a tree of OpenCode's."""
    storage = tmp_path / "storage"

    def write(folder: str, name: str, value: object) -> None:
        path = storage / folder / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")

    def write_record(number: int, role: str, text: str, session: str = SESSION) -> None:
        message = f"msg_c10f53a{number:02d}001Ab9XkQ2mLp7Rt"
        time = {"created": 1769847300000 + number * 1000}
        write(f"message/{session}", message, {"id": message, "sessionID": session, "role": role, "time": time})
        part = f"prt_c10f53a{number:02d}001Vw4YsD8eHj3Uc"
        write(f"part/{message}", part, {"id": part, "type": "text", "text": text})

    write("session/global", SESSION, {"id": SESSION, "directory": "/home/ana/ledgerly", "title": "Retries"})
    write_record(1, "user", "Retry the webhook.")
    write_record(2, "assistant", "It retries five times.")
    write_record.storage = storage
    return write_record


def test_a_tree_of_files_is_one_conversation_that_is_read_when_any_of_them_changes(tmp_path: Path, tree) -> None:
    with Memory.open(tmp_path / "memory.db") as memory:
        (file,) = memory.index([tree.storage]).files
        assert (file.format, file.added) == ("opencode", 2)
        assert Path(file.path).name == f"{SESSION}.json"
        assert memory.index([tree.storage]).files_unchanged == 1
        tree(3, "user", "And when the queue is full?")
        (file,) = memory.index([tree.storage]).files
        assert (file.added, file.skipped) == (1, 2)


def test_messages_whose_session_is_gone_are_read_once_as_well(tmp_path: Path, tree) -> None:
    (tree.storage / "session" / "global" / f"{SESSION}.json").unlink()
    with Memory.open(tmp_path / "memory.db") as memory:
        (file,) = memory.index([tree.storage]).files
        assert (file.format, file.added) == ("opencode", 2)


def test_only_a_part_of_another_file_is_left_to_that_file(tmp_path: Path, tree) -> None:
    for name in ("msg_1.json", "prt_1.json", "ses_1.json"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    found, unreadable = discover_files([tmp_path])
    assert unreadable == []
    assert sorted(candidate.path.name for candidate in found) == [
        "msg_1.json",
        "prt_1.json",
        "ses_1.json",
        f"{SESSION}.json",
    ]
    (message,), _ = discover_files([next(iter((tree.storage / "message" / SESSION).iterdir()))])
    assert message.named


def test_a_database_is_read_again_when_only_the_rows_beside_it_changed(tmp_path: Path) -> None:
    path = tmp_path / "history" / "opencode.db"
    path.parent.mkdir()
    owner = apsw.Connection(str(path))
    owner.execute("PRAGMA journal_mode=WAL").fetchall()
    owner.execute("CREATE TABLE session(id, project_id, directory)")
    owner.execute("CREATE TABLE message(id, session_id, data)")
    owner.execute("CREATE TABLE part(id, message_id, data)")
    owner.execute("INSERT INTO session VALUES ('ses_1', 'global', '/srv/app')")

    def write_record(number: int, role: str, text: str) -> None:
        owner.execute("INSERT INTO message VALUES (?, 'ses_1', ?)", (f"msg_{number}", json.dumps({"role": role})))
        part = json.dumps({"type": "text", "text": text})
        owner.execute("INSERT INTO part VALUES (?, ?, ?)", (f"prt_{number}", f"msg_{number}", part))

    write_record(1, "user", "Is the last message in the file?")
    owner.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    with Memory.open(tmp_path / "memory.db") as memory:
        (file,) = memory.index([path.parent]).files
        assert (file.format, file.added, file.reason) == ("opencode", 1, None)
        before = path.stat()
        write_record(2, "assistant", "It is beside it.")
        assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
        (file,) = memory.index([path.parent]).files
        assert (file.added, file.skipped) == (1, 1)
        assert memory.index([path.parent]).files_unchanged == 1
    owner.close()


def test_a_database_of_no_known_program_is_listed_with_the_reason(tmp_path: Path) -> None:
    apsw.Connection(str(tmp_path / "app.sqlite3")).execute("CREATE TABLE users(id)")
    (tmp_path / "torn.db").write_bytes(b"SQLite format 3\0" + b"\xab" * 900)
    with Memory.open(tmp_path / "elsewhere" / "memory.db") as memory:
        reasons = {Path(file.path).name: file.reason for file in memory.index([tmp_path]).files}
    assert reasons["app.sqlite3"] == "an SQLite database in which no known program keeps conversations"
    assert reasons["torn.db"].startswith("an SQLite database that cannot be read: ")
