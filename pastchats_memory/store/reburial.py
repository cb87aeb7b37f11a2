"""What was forgotten in one database, forgotten in another that takes its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pastchats_memory.store import erasing, forgetting
from pastchats_memory.store.database import Database
from pastchats_memory.store.forgetting import Reach
from pastchats_memory.store.task_texts import task_text
from pastchats_memory.store.tombstones import (
    TURN_COLUMNS,
    Said,
    Tombstones,
    marks_of_attachment,
    marks_of_comment,
    marks_of_task,
)

COLUMNS = "at, selector, key, turns, tasks, comments, attachments, before"
AT_ONCE = 1000
"""Turns."""

Grave = tuple[tuple[Any, ...], list[tuple[Any, ...]]]
"""A row of `forgettings` without its number, and its rows of `forgotten` without that."""


def graves(database: Database) -> list[Grave]:
    """Everything that was forgotten. Raises StoreFault."""
    return [
        (tuple(row), database.run("SELECT hash, length FROM forgotten WHERE forgetting_id = ?", (id_,)))
        for id_, *row in database.run(f"SELECT id, {COLUMNS} FROM forgettings ORDER BY id")
    ]


def rebury(database: Database, found: Sequence[Grave]) -> int:
    """Forget what another database had forgotten and this one not yet; how many rows that were.

    What stands here in spite of a tombstone that is here too was stored again on purpose, and stays. Raises StoreFault.
    """
    own = graves(database)
    known = {row for row, _ in own}
    new = [grave for grave in found if grave[0] not in known]
    if not new:
        return 0
    with database.transaction():
        database.run("DELETE FROM forgettings")
        _bury(database, new)
        reach = _forgotten(database)
        forgetting.delete(database, reach)
        database.run("DELETE FROM forgettings")
        _bury(database, sorted([*own, *new], key=lambda grave: str(grave[0][0])))
    erasing.finish(database)
    return sum(reach.counts().values())


def _bury(database: Database, found: Sequence[Grave]) -> None:
    for row, hashes in found:
        number = database.value(
            f"INSERT INTO forgettings({COLUMNS}) VALUES ({', '.join('?' * len(row))}) RETURNING id", row
        )
        database.run_many(
            "INSERT INTO forgotten(hash, forgetting_id, length) VALUES (?, ?, ?)",
            [(hash_, number, length) for hash_, length in hashes],
        )


def _forgotten(database: Database) -> Reach:
    """The rows that the tombstones tell of."""
    tombstones = Tombstones(database)
    tasks = {
        id_: identity
        for id_, identity, title, description in database.run("SELECT id, identity, title, description FROM tasks")
        if tombstones.has(*marks_of_task(identity, task_text(title, description)))
    }
    comments = [
        id_
        for id_, task, identity, content in database.run(
            "SELECT c.id, k.identity, c.identity, c.content FROM task_comments c JOIN tasks k ON k.id = c.task_id"
        )
        if task not in tasks.values() and tombstones.has(*marks_of_comment(task, identity, content))
    ]
    attachments = [
        id_
        for id_, task, sha256 in database.run(
            "SELECT a.id, k.identity, a.sha256 FROM task_attachments a JOIN tasks k ON k.id = a.task_id"
        )
        if task not in tasks.values() and tombstones.has(*marks_of_attachment(task, sha256))
    ]
    return Reach(sorted(_turns(database, tombstones)), sorted(tasks), comments, attachments)


def _turns(database: Database, tombstones: Tombstones) -> Iterator[int]:
    last = 0
    while rows := database.run(
        f"SELECT {TURN_COLUMNS} FROM prompts p WHERE p.id > ? ORDER BY p.id LIMIT ?", (last, AT_ONCE)
    ):
        yield from tombstones.of_turns({row[0]: Said(*row[1:]) for row in rows})
        last = rows[-1][0]
