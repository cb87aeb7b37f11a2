"""Forget in one database what was forgotten in another one that it replaces."""

from collections.abc import Iterator, Sequence
from typing import Any

from pastchats_memory.store import deletion
from pastchats_memory.store.database import Database
from pastchats_memory.store.deletion import ChosenRows
from pastchats_memory.store.scrub import finish_scrub
from pastchats_memory.store.tombstones import TURN_COLUMNS, Tombstones, TurnIdentity

COLUMNS = "at, selector, key, turns, tasks, comments, attachments, before"
BATCH = 1000
"""Turns that are compared at once."""

Record = tuple[tuple[Any, ...], list[tuple[Any, ...]]]
"""A row of `forgettings` without its id, and its rows of `forgotten` (hash, length)."""


def load_tombstones(database: Database) -> list[Record]:
    """Return everything that was forgotten."""
    return [
        (tuple(row), database.run("SELECT hash, length FROM forgotten WHERE forgetting_id = ?", (id_,)))
        for id_, *row in database.run(f"SELECT id, {COLUMNS} FROM forgettings ORDER BY id")
    ]


def apply_tombstones(database: Database, records: Sequence[Record]) -> int:
    """Forget what the records name and this database has not forgotten yet; return the number of deleted rows.

    A row that is stored here in spite of a tombstone of this database was stored again on purpose, and stays.
    """
    own = load_tombstones(database)
    known = {row for row, _ in own}
    new = [record for record in records if record[0] not in known]
    if not new:
        return 0
    with database.transaction():
        database.run("DELETE FROM forgettings")
        _write(database, new)
        chosen = _choose_forgotten(database)
        deletion.delete_rows(database, chosen)
        database.run("DELETE FROM forgettings")
        _write(database, sorted([*own, *new], key=lambda record: str(record[0][0])))
    finish_scrub(database)
    return sum(chosen.counts().values())


def _write(database: Database, records: Sequence[Record]) -> None:
    for row, hashes in records:
        number = database.value(
            f"INSERT INTO forgettings({COLUMNS}) VALUES ({', '.join('?' * len(row))}) RETURNING id", row
        )
        database.run_many(
            "INSERT INTO forgotten(hash, forgetting_id, length) VALUES (?, ?, ?)",
            [(hash_, number, length) for hash_, length in hashes],
        )


def _choose_forgotten(database: Database) -> ChosenRows:
    tombstones = Tombstones(database)
    tasks = {
        id_: identity
        for id_, identity, title, description in database.run("SELECT id, identity, title, description FROM tasks")
        if tombstones.has_task(identity, title, description)
    }
    comments = [
        id_
        for id_, task, identity, content in database.run(
            "SELECT c.id, k.identity, c.identity, c.content FROM task_comments c JOIN tasks k ON k.id = c.task_id"
        )
        if task not in tasks.values() and tombstones.has("comment", (task, identity), content)
    ]
    attachments = [
        id_
        for id_, task, sha256, content in database.run(
            "SELECT a.id, k.identity, a.sha256, a.content FROM task_attachments a JOIN tasks k ON k.id = a.task_id"
        )
        if task not in tasks.values() and tombstones.has("attachment", (task, sha256), content)
    ]
    return ChosenRows(sorted(_forgotten_turns(database, tombstones)), sorted(tasks), comments, attachments)


def _forgotten_turns(database: Database, tombstones: Tombstones) -> Iterator[int]:
    last = 0
    while rows := database.run(
        f"SELECT {TURN_COLUMNS} FROM prompts p WHERE p.id > ? ORDER BY p.id LIMIT ?", (last, BATCH)
    ):
        yield from tombstones.find_forgotten({row[0]: TurnIdentity(*row[1:]) for row in rows})
        last = rows[-1][0]
