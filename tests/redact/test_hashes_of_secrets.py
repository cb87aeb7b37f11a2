"""A copy of the database gives no hash by which a secret that was removed from a text can be guessed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import apsw
import orjson
import pytest

from pastchats_memory import Memory
from pastchats_memory.ingest.identity import digest
from pastchats_memory.store.database import open_database
from pastchats_memory.tasks.edit import Change

SECRETS = ("kestrel77-moor", "badger41-glenn")
"""Passwords that nobody has, of one length, so that places in files are the same."""
MADE_ANEW = {
    "sources": {"file_id", "indexed_at", "fingerprint"},
    "prompt_embeddings": {"created_at"},
    "task_embeddings": {"created_at"},
    "prompts": {"created_at"},
    "runs": {"started_at", "duration_s", "pid"},
}
"""Columns with times, places on the disk and keyed hashes, by table."""
TIME = 1_700_000_000
OLD_IDENTITY = digest(
    "time", "user", f"The kiln's database has password={SECRETS[0]} since Monday.", "2026-01-31T08:15:01.500Z", "1"
)
"""What a row has that was stored before a rule found the secret."""
SESSION = "0199aaaa-0000-7000-8000-000000000001"


def lines(*records: object) -> str:
    return "".join(orjson.dumps(record).decode() + "\n" for record in records)


def make_message(role: str, text: str, **more: str) -> dict[str, str]:
    return {"role": role, "content": text, **more}


def claude(number: int, text: str) -> dict[str, object]:
    return {
        "type": "user", "uuid": f"00000000-0000-4000-8000-{number:012}", "sessionId": "s1", "cwd": "/srv/kiln",
        "timestamp": f"2026-01-31T08:15:{number:02}.123Z", "message": {"role": "user", "content": text},
    }  # fmt: skip


def codex(kind: str, **payload: object) -> dict[str, object]:
    return {"timestamp": "2026-03-04T11:00:00.500Z", "type": kind, "payload": payload}


def files(secret: str) -> dict[str, str]:
    """Return files of many formats, each with ids or digests of its own that are made of texts."""
    words = f"The kiln's database has password={secret} since Monday."
    meta = codex("session_meta", id=SESSION, cwd="/srv/kiln", timestamp="2026-03-04T11:00:00Z")
    message = codex("response_item", type="message", role="user", content=[{"type": "input_text", "text": words}])
    return {
        "timed.jsonl": lines(make_message("user", words, timestamp="2026-01-31T08:15:01.500Z", conversation_id="c")),
        "untimed.jsonl": lines(make_message("user", words), make_message("assistant", "I shall note it.")),
        "one-line.json": lines([make_message("user", words), make_message("assistant", "I shall note it for the next firing of the kiln.")]),
        "session.jsonl": lines(claude(1, words), claude(2, "Is it noted?")),
        f"rollout-2026-03-04T11-00-00-{SESSION}.jsonl": lines(meta, message, codex("event_msg", type="user_message", message=words)),
        "notes/kiln.md": f"# Access, password={secret}\n\n{words}\n",
        "TODO.md": f"# Tasks\n\n- [ ] {words}\n",
        ".aider.chat.history.md": f"# aider chat started at 2026-01-31 08:15:00\n\n#### {words}\n\nI shall note it.\n",
    }  # fmt: skip


def store(folder: Path, secret: str) -> dict[str, list[dict[str, object]]]:
    """Store the files in an empty folder, and return all tables but those of the indexes."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in files(secret).items():
        path = folder / "history" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (TIME, TIME))
    with Memory.open(folder / "memory.db") as memory:
        memory.index([folder / "history"], notes=True)
    connection = apsw.Connection(str(folder / "memory.db"))
    names = [
        name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE rootpage > 0 AND type = 'table'")
    ]
    return {name: list(_rows(connection, name)) for name in names if "_fts" not in name and "vector" not in name}


def _rows(connection: apsw.Connection, table: str):
    for row in (cursor := connection.execute(f'SELECT * FROM "{table}"')):
        columns = [column for column, _ in cursor.getdescription()]
        yield {name: value for name, value in zip(columns, row, strict=True) if name not in MADE_ANEW.get(table, ())}


@pytest.mark.promise("secrets", "A copied database has no hash of a text from before a secret was removed from it.")
def test_two_memories_that_differ_by_a_removed_secret_are_equal(tmp_path: Path) -> None:
    one, other = (store(tmp_path / "home", secret) for secret in SECRETS)
    assert len(one["prompts"]) > len(files("")), "each file has a row"
    for table in one.keys() - {"embedding_meta"}:
        assert one[table] == other[table], table


def test_the_digest_of_an_attachment_is_made_without_its_secrets(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db") as memory:
        task = memory.tasks.add(Change(title="Fire the kiln"))
        for number, secret in enumerate(SECRETS):
            path = tmp_path / str(number) / "access.txt"
            path.parent.mkdir()
            path.write_text(f"password={secret}\n", encoding="utf-8")
            memory.tasks.attach(task.key, path)
    with open_database(tmp_path / "memory.db") as database:
        assert database.value("SELECT count(*) FROM task_attachments") == 1, "equal without their secrets"


def test_with_another_key_a_file_is_read_again_and_no_row_is_lost_or_doubled(tmp_path: Path) -> None:
    for name, text in files(SECRETS[0]).items():
        path = tmp_path / "history" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([tmp_path / "history"], notes=True)
        before = memory.status()
        (tmp_path / "memory.db.secrets").unlink()
        with (tmp_path / "history" / "session.jsonl").open("a", encoding="utf-8") as file:
            file.write(lines(claude(3, "And the second kiln?")))
        (tmp_path / "history" / "TODO.md").rename(tmp_path / "history" / "todo-list.md")
        report = memory.index([tmp_path / "history"], notes=True)
        assert report.counts()["turns_added"] == 1
        assert memory.status().turns == before.turns + 1
        memory.index([tmp_path / "history"], notes=True, force=True)
        assert memory.status().turns == before.turns + 1


def test_a_row_from_before_a_rule_keeps_its_identity(tmp_path: Path) -> None:
    path = tmp_path / "timed.jsonl"
    path.write_text(files(SECRETS[0])["timed.jsonl"], encoding="utf-8")
    with Memory.open(tmp_path / "memory.db") as memory:
        memory.index([path])
        with open_database(tmp_path / "memory.db") as database:
            database.run("UPDATE prompts SET content_hash = ?", (OLD_IDENTITY,))
        memory.index([path], force=True)
        with open_database(tmp_path / "memory.db") as database:
            assert database.column("SELECT content_hash FROM prompts") == [OLD_IDENTITY]


def test_the_hash_of_a_file_depends_on_a_key_outside_the_database(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Kiln\n\nThe shelf of the kiln is cracked.\n", encoding="utf-8")
    stored = set()
    for name in ("one.db", "two.db"):
        with Memory.open(tmp_path / name) as memory:
            memory.index([note])
        with open_database(tmp_path / name, create=False) as database:
            stored |= set(database.run("SELECT fingerprint FROM sources"))
    assert len(stored) == 2, "each memory has a key of its own"
