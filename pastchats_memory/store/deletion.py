"""Rows out of every table for good, with tombstones in their place."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson

from pastchats_memory.errors import DatabaseLocked, DatabaseReadOnly, DiskFull
from pastchats_memory.model import Filters
from pastchats_memory.store import fulltext, outcomes, vectors
from pastchats_memory.store.atomic_file import is_alive
from pastchats_memory.store.citations import BELOW
from pastchats_memory.store.database import BUSY_MS, PAUSE, Database
from pastchats_memory.store.filters import LISTED, TEXTS, conditions, task_conditions
from pastchats_memory.store.pending_deletes import GOING, without_buried
from pastchats_memory.store.schema import schema
from pastchats_memory.store.sources import meta, set_meta
from pastchats_memory.store.tasks import task_text
from pastchats_memory.store.tombstones import (
    TURN_COLUMNS,
    Burial,
    Mark,
    Said,
    Tombstones,
    marks_of_attachment,
    marks_of_comment,
    marks_of_task,
)
from pastchats_memory.store.vectors import vec0

# What is forgotten but still to be deleted: in steps, so that no other writer waits for long, and to the end whoever is killed.
#
# The transaction that buries writes down which rows go; each step deletes some of them and crosses them off.

KINDS = ("turns", "tasks", "comments", "attachments")
FEW = 64
"""Rows that go at once, and with which the steps begin."""
MOST = 2048
SILENT = 60.0
"""Seconds after which a process that has deleted nothing counts as ended, since another one may have its number."""
SECONDS = 0.5
"""That a step may take, after which the next is smaller."""

Rows = dict[str, list[int]]
Delete = Callable[[Rows], None]


def begin_delete(database: Database, rows: Rows) -> None:
    """Write down, inside the caller's transaction, which rows go. Raises StoreFault."""
    before = _left(database)
    left = {kind: sorted({*before[kind], *rows[kind]}) for kind in KINDS}
    set_meta(database, {GOING: orjson.dumps(_by() | left).decode()})


def is_left(database: Database) -> bool:
    """Whether a process that deleted has ended before it was done. Raises StoreFault."""
    written = meta(database).get(GOING)
    if written is None:
        return False
    by = orjson.loads(written)
    is_recent = abs(time.time() - by.get("at", 0)) < SILENT
    return by["pid"] == os.getpid() or not is_alive(by["pid"]) or not is_recent


def carry_out(database: Database, delete: Delete) -> None:
    """Delete all that is written down, in steps of about half a second, each a transaction that `delete` is called in.

    Raises:
        StoreFault: it cannot be written; the next call goes on.
    """
    most = FEW
    while True:
        start = time.monotonic()
        with database.transaction():
            if not _step(database, delete, most):
                return
        most = min(MOST, most * 2) if time.monotonic() - start < SECONDS else max(FEW, most // 2)
        time.sleep(PAUSE)


def _step(database: Database, delete: Delete, most: int) -> bool:
    """Whether there was something to delete."""
    left = _left(database)
    if not any(left.values()):
        database.run("DELETE FROM embedding_meta WHERE key = ?", (GOING,))
        return False
    delete({kind: left[kind][:most] for kind in KINDS})
    rest = {kind: left[kind][most:] for kind in KINDS}
    set_meta(database, {GOING: orjson.dumps(_by() | rest).decode()})
    return True


def _by() -> dict[str, Any]:
    return {"pid": os.getpid(), "at": time.time()}


def _left(database: Database) -> Rows:
    written = orjson.loads(meta(database).get(GOING, "{}"))
    return {kind: list(written.get(kind, ())) for kind in KINDS}


# Deleted text out of the file: out of the full-text indexes, whose old segments keep it, and out of the write-ahead log.
#
# SQLite overwrites the rows themselves (`secure_delete`), sqlite-vec its vectors. What is left to do is written down in the
# transaction that deletes, so that it is done at the next opening if the process ends before.

UNERASED = "unerased"
"""Key of `embedding_meta`: how many times something was deleted whose bytes may still be in the file."""
UNMERGED = "unmerged"
"""Key of `embedding_meta`, with the same number: the full-text indexes have them as well."""
TURN_MS = 200
"""For so long a process waits for readers at a time, since nobody can write then."""


def begin_scrub(database: Database) -> None:
    """Write down, inside the caller's transaction that deletes, that `finish` is to come. Raises StoreFault."""
    times = int(meta(database).get(UNERASED, "0")) + 1
    set_meta(database, {UNERASED: str(times), UNMERGED: str(times)})


def blank(database: Database, ids: str, values: Sequence[Any]) -> None:
    """Overwrite vectors that only sqlite-vec can delete, where it is not loaded; inside the caller's transaction.

    Args:
        database: open for writing.
        ids: a statement that gives the ids of the rows.
        values: that it binds.

    Raises:
        StoreFault: it was not written.
    """
    if database.vec0_loaded:
        return
    for places, chunks in vec0.shadow_tables(database):
        found = database.run(
            f"SELECT c.oid, v.chunk_offset, length(c.vectors) / k.size FROM {places} v "
            f"JOIN {chunks} c ON c.rowid = v.chunk_id JOIN {places.removesuffix('_rowids')}_chunks k "
            f"ON k.chunk_id = v.chunk_id WHERE v.rowid IN ({ids}) ORDER BY 1",
            values,
        )
        with closing(database.blobs(chunks, "vectors", writable=True)) as blobs:
            for row, offset, size in found:
                blobs.write(row, offset * size, bytes(size))


def is_due(database: Database) -> bool:
    """Whether deleted text may still be in the file. Raises StoreFault."""
    return UNERASED in meta(database)


def finish_scrub(database: Database, *, wait_ms: int = BUSY_MS) -> bool:
    """Whether nothing that was deleted is in the file any more; not where another process still reads an old state of it.

    Args:
        database: open for writing, in no transaction.
        wait_ms: how long readers are waited for.

    Raises:
        StoreFault: it cannot be written; the next call goes on.
    """
    times = meta(database).get(UNERASED)
    if times is None:
        return True
    _merge(database)
    is_empty = _emptied(database, wait_ms)
    if is_empty:
        database.run("DELETE FROM embedding_meta WHERE key = ? AND value = ?", (UNERASED, times))
    return is_empty


def _emptied(database: Database, wait_ms: int) -> bool:
    """Whether the log is empty now. Who waits for readers to leave it keeps all writers out meanwhile, so he waits in short turns."""
    until = time.monotonic() + wait_ms / 1000
    database.set_timeout(min(wait_ms, TURN_MS))
    try:
        while database.run("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
            if time.monotonic() >= until:
                return False
            time.sleep(PAUSE)
    finally:
        database.set_timeout(BUSY_MS)
    return True


def finish_at_opening(database: Database) -> None:
    """What a process left that was to delete; then the same without waiting, where only the log is left.

    To write an index anew takes too long for a question; rows that were forgotten are to be seen by none.
    """
    if database.writable and database.value("SELECT 1 FROM embedding_meta WHERE key = ?", (GOING,)):
        with suppress(DatabaseLocked, DatabaseReadOnly, DiskFull):
            go_on(database)
    if database.writable and database.value("SELECT 1 FROM embedding_meta WHERE key = ?", (UNERASED,)):
        with suppress(DatabaseLocked, DatabaseReadOnly, DiskFull):
            if UNMERGED not in meta(database):
                finish_scrub(database, wait_ms=0)


def _merge(database: Database) -> None:
    """Write the full-text indexes anew, which leaves out what was deleted."""
    times = meta(database).get(UNMERGED)
    if times is None:
        return
    for index in fulltext.FULL_TEXT:
        fulltext.merge(database, index)
    database.run("DELETE FROM embedding_meta WHERE key = ? AND value = ?", (UNMERGED, times))  # not of a later deletion


@dataclass(frozen=True, slots=True)
class Choice:
    """By what rows are chosen; all that is given must hold, None and `()` leave a criterion out."""

    filters: Filters = field(default_factory=Filters)
    """Project, time and what may be seen from here."""
    ids: Mapping[str, Sequence[int]] | None = None
    """Rows that are named, by `turns`, `tasks`, `comments`, `attachments`."""
    conversation: str | None = None
    sources: tuple[str, ...] = ()
    """Paths of files and folders."""
    rows: Sequence[int] | None = None
    """Ids of `prompts` and of `task_texts` that a query led to."""
    before: str | None = None
    """Only turns that are older, as `prompts.timestamp` has it; tasks stay."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The rows that go, by their own numbers, ascending."""

    turns: list[int]
    tasks: list[int]
    comments: list[int]
    """Of tasks that stay."""
    attachments: list[int]
    """Of tasks that stay."""

    def __bool__(self) -> bool:
        return bool(self.turns or self.tasks or self.comments or self.attachments)

    def counts(self) -> dict[str, int]:
        """How many of each kind."""
        kinds = ("turns", "tasks", "comments", "attachments")
        return {kind: len(getattr(self, kind)) for kind in kinds}


@dataclass(frozen=True, slots=True)
class Shown:
    """A row that would go, as a person is shown it."""

    id: str
    type: str
    project: str
    timestamp: str | None
    content: str


def reach_of(database: Database, choice: Choice) -> Reach:
    """The rows that a choice comes to now. Raises StoreFault."""
    tasks, comments, attachments = _of_tasks(database, choice) if choice.before is None else (set(), set(), set())
    return Reach(_turns(database, choice), sorted(tasks), sorted(comments), sorted(attachments))


def _turns(database: Database, choice: Choice) -> list[int]:
    where, bound = conditions(without_buried(database, choice.filters))
    clauses, values = [where], list[Any](bound)
    if choice.ids is not None:
        clauses.append(f"p.id IN {LISTED}")
        values.append(_json(choice.ids["turns"]))
    if choice.rows is not None:
        clauses.append(f"p.id IN {LISTED}")
        values.append(_json(choice.rows))
    if choice.conversation is not None:
        clauses.append("p.conversation_id = ?")
        values.append(choice.conversation)
    if choice.before is not None:
        clauses.append("p.timestamp < ?")
        values.append(choice.before)
    if choice.sources:
        clauses.append(f"p.id IN {LISTED}")
        values.append(_json(_of_sources(database, choice.sources)))
    statement = f"SELECT p.id FROM prompts p WHERE {' AND '.join(clauses)} ORDER BY p.id"
    return [id_ for (id_,) in database.run(statement, values)]


def _of_sources(database: Database, paths: Sequence[str]) -> list[int]:
    """Turns that were seen in files, or below folders: where else they stand makes no difference."""
    return [
        id_
        for (id_,) in database.run(
            f"SELECT g.prompt_id FROM sources s JOIN sightings g ON g.source_id = s.id WHERE {BELOW} "
            f"UNION SELECT p.id FROM prompts p JOIN (SELECT DISTINCT source_path AS path FROM prompts) s "
            f"ON s.path = p.source_path WHERE {BELOW}",
            (_json(paths),),
        )
    ]


def _of_tasks(database: Database, choice: Choice) -> tuple[set[int], set[int], set[int]]:
    """Tasks, and comments and attachments of further ones."""
    where, bound = task_conditions(without_buried(database, choice.filters))
    clauses, values = [where], list[Any](bound)
    if choice.ids is not None:
        clauses.append(
            f"((t.comment_id IS NULL AND t.attachment_id IS NULL AND k.id IN {LISTED}) "
            f"OR t.comment_id IN {LISTED} OR t.attachment_id IN {LISTED})"
        )
        values += [_json(choice.ids[kind]) for kind in ("tasks", "comments", "attachments")]
    if choice.rows is not None:
        clauses.append(f"t.id IN {LISTED}")
        values.append(_json(choice.rows))
    if choice.conversation is not None:
        clauses.append(
            "EXISTS (SELECT 1 FROM task_conversations c WHERE c.task_id = k.id AND c.conversation_id = ?) "
            "AND NOT EXISTS (SELECT 1 FROM task_conversations c WHERE c.task_id = k.id AND c.conversation_id != ?)"
        )
        values += [choice.conversation, choice.conversation]
    if choice.sources:
        clauses.append(
            "EXISTS (SELECT 1 FROM json_each(?) WHERE k.source_path = value OR instr(k.source_path, value || '/') = 1)"
        )
        values.append(_json(choice.sources))
    statement = f"SELECT k.id, t.comment_id, t.attachment_id FROM {TEXTS} WHERE {' AND '.join(clauses)}"
    found = database.run(statement, values)
    tasks = {task for task, comment, attachment in found if comment is None and attachment is None}
    parts = [row for row in found if row[0] not in tasks]
    return tasks, {row[1] for row in parts} - {None}, {row[2] for row in parts} - {None}


def forget(database: Database, choice: Choice, selector: Mapping[str, Any]) -> tuple[int, Reach]:
    """Bury what a choice comes to and write down that it goes; inside the caller's transaction.

    Few rows are deleted at once with all that was made of them, many by `finish` after the commit; what stood in words and
    vectors is overwritten by `erasing.finish` after that.

    Args:
        database: open for writing.
        choice: of what is to go.
        selector: what is remembered of the choice: no words of a text.

    Returns:
        The number of the forgetting, 0 where there was nothing to forget, and what went.
    """
    reach = reach_of(database, choice)
    if not reach and choice.before is None:
        return 0, reach
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    burial = Burial(database, now, selector, choice.before)
    if choice.before is None:  # else their age is enough
        burial.turns(_json(reach.turns))
    burial.marks(_marks_of_tasks(database, reach))
    outcomes.mark_of_tasks(database, reach.tasks)
    burial.count(reach.counts())
    if choice.conversation is not None:
        database.run("DELETE FROM task_conversations WHERE conversation_id = ?", (choice.conversation,))
    if sum(reach.counts().values()) <= FEW:
        delete(database, reach)
    else:
        begin_delete(database, {kind: getattr(reach, kind) for kind in KINDS})
        begin_scrub(database)
    return burial.id, reach


def finish(database: Database) -> None:
    """Delete all that was buried and is still there. Raises StoreFault; the next call goes on."""
    carry_out(database, lambda rows: delete(database, Reach(**rows)))


def go_on(database: Database) -> None:
    """The same where the process that did so has ended. Raises StoreFault."""
    if is_left(database):
        finish(database)


def _marks_of_tasks(database: Database, reach: Reach) -> Iterator[Mark]:
    going = _json(reach.tasks)
    for identity, title, description in database.run(
        f"SELECT identity, title, description FROM tasks WHERE id IN {LISTED}", (going,)
    ):
        yield from marks_of_task(identity, task_text(title, description))
    for identity, comment, content in database.run(
        f"SELECT k.identity, c.identity, c.content FROM task_comments c JOIN tasks k ON k.id = c.task_id "
        f"WHERE c.id IN {LISTED} OR c.task_id IN {LISTED}",
        (_json(reach.comments), going),
    ):
        yield from marks_of_comment(identity, comment, content)
    for identity, sha256 in database.run(
        f"SELECT k.identity, a.sha256 FROM task_attachments a JOIN tasks k ON k.id = a.task_id "
        f"WHERE a.id IN {LISTED} OR a.task_id IN {LISTED}",
        (_json(reach.attachments), going),
    ):
        yield from marks_of_attachment(identity, sha256)


def delete(database: Database, reach: Reach) -> None:
    """The rows with all that hangs on them, and what was kept so as to go on reading the files that they stood in.

    Inside the caller's transaction, without tombstones. Raises StoreFault.
    """
    turns = _json(reach.turns)
    database.run(
        "UPDATE sources SET resume = NULL WHERE resume IS NOT NULL "
        f"AND id IN (SELECT source_id FROM sightings WHERE prompt_id IN {LISTED})",
        (turns,),
    )
    database.run(
        f"DELETE FROM task_links WHERE target IN (SELECT identity FROM tasks WHERE id IN {LISTED})",
        (_json(reach.tasks),),
    )
    begin_scrub(database)
    blank(database, f"SELECT id FROM prompts WHERE id IN {LISTED}", (turns,))
    blank(
        database,
        f"SELECT id FROM task_texts WHERE task_id IN {LISTED} OR comment_id IN {LISTED} OR attachment_id IN {LISTED}",
        (_json(reach.tasks), _json(reach.comments), _json(reach.attachments)),
    )
    for table, ids in (
        ("prompts", reach.turns),
        ("tasks", reach.tasks),
        ("task_comments", reach.comments),
        ("task_attachments", reach.attachments),
    ):
        database.run(f"DELETE FROM {table} WHERE id IN {LISTED}", (_json(ids),))
    database.run(
        "DELETE FROM project_folders WHERE NOT is_private AND project NOT IN (SELECT source_project FROM prompts "
        "UNION SELECT project FROM tasks)"
    )
    vectors.catch_up(database)


def shown(database: Database, reach: Reach, most: int) -> list[Shown]:
    """The first rows of each kind that would go, `most` in all, the latest first. Raises StoreFault."""
    rows = database.run(
        "SELECT CAST(p.id AS TEXT), iif(p.role = 'note', 'note', 'prompt'), p.source_project, p.timestamp, p.content "
        f"FROM prompts p WHERE p.id IN {LISTED} "
        "UNION ALL SELECT 't:' || k.key, k.type, k.project, coalesce(k.updated_at, k.closed_at, k.created_at), k.title "
        f"FROM tasks k WHERE k.id IN {LISTED} "
        "UNION ALL SELECT 'c:' || c.id, 'comment', k.project, c.created_at, c.content FROM task_comments c "
        f"JOIN tasks k ON k.id = c.task_id WHERE c.id IN {LISTED} "
        "UNION ALL SELECT 'a:' || a.id, 'attachment', k.project, a.created_at, a.name FROM task_attachments a "
        f"JOIN tasks k ON k.id = a.task_id WHERE a.id IN {LISTED} ORDER BY 4 DESC LIMIT ?",
        (*(_json(ids) for ids in (reach.turns, reach.tasks, reach.comments, reach.attachments)), most),
    )
    return [Shown(*row) for row in rows]


def having(database: Database, text: str) -> list[int]:
    """Rows of `prompts` and `task_texts` that have just this text in them, in whatever case. Raises StoreFault."""
    return [
        id_
        for (id_,) in database.run(
            "SELECT id FROM prompts WHERE instr(lower(content), lower(?1)) "
            "UNION ALL SELECT id FROM task_texts WHERE instr(lower(content), lower(?1))",
            (text,),
        )
    ]


def _json(values: Sequence[object]) -> str:
    return orjson.dumps(list(values)).decode()


# What was forgotten in one database, forgotten in another that takes its place.

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
        delete(database, reach)
        database.run("DELETE FROM forgettings")
        _bury(database, sorted([*own, *new], key=lambda grave: str(grave[0][0])))
    finish_scrub(database)
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
    return Reach(sorted(_reburial_turns(database, tombstones)), sorted(tasks), comments, attachments)


def _reburial_turns(database: Database, tombstones: Tombstones) -> Iterator[int]:
    last = 0
    while rows := database.run(
        f"SELECT {TURN_COLUMNS} FROM prompts p WHERE p.id > ? ORDER BY p.id LIMIT ?", (last, AT_ONCE)
    ):
        yield from tombstones.of_turns({row[0]: Said(*row[1:]) for row in rows})
        last = rows[-1][0]


# Everything out of a database but what was forgotten before, which stays so.

KEPT = ("forgettings", "forgotten", "sqlite_sequence")
"""Tables whose rows stay: tombstones, and the last ids, so that none is given twice."""
MODEL = ("model_name", "model_version", "embedding_dim", "last_reindex_at")
"""Keys of `embedding_meta` that stay: another process may be writing vectors of that model just now."""


def purge(database: Database) -> bool:
    """Make the database as new, with its tombstones and its model; whether the file has nothing of the rest any more.

    All tables are dropped and made anew in one transaction: rows one by one would hold up every writer for minutes.

    Raises:
        StoreFault: it cannot be written; nothing was deleted.
    """
    database.run("PRAGMA foreign_keys=OFF")  # dropping a table would delete row by row what refers to it
    try:
        with database.transaction():
            kept = {table: database.run(f"SELECT * FROM {table}") for table in KEPT}
            model = [row for row in database.run("SELECT key, value FROM embedding_meta") if row[0] in MODEL]
            _drop_all(database)
            database.run(schema())
            for table, rows in kept.items():
                database.run(f"DELETE FROM {table}")
                if rows:
                    marks = ", ".join("?" * len(rows[0]))
                    database.run_many(f"INSERT INTO {table} VALUES ({marks})", rows)
            database.run_many("INSERT OR REPLACE INTO embedding_meta(key, value) VALUES (?, ?)", model)
            if not database.vec0_loaded:
                vec0.give_up(database)
            begin_scrub(database)
    finally:
        database.run("PRAGMA foreign_keys=ON")
    with suppress(DatabaseLocked, DiskFull):
        database.run("VACUUM")
    return finish_scrub(database)


def _drop_all(database: Database) -> None:
    tables = database.run("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    virtual = [name for name, sql in tables if sql.startswith("CREATE VIRTUAL")]
    of_vec0 = [name for name, _ in tables if name.startswith((f"{vec0.TABLE}_", f"{vec0.OF_TASKS}_"))]
    for name in virtual:
        if name not in (vec0.TABLE, vec0.OF_TASKS) or database.vec0_loaded:
            database.run(f"DROP TABLE {name}")
    if not database.vec0_loaded:
        for name in of_vec0:  # the tables of a module that is not there cannot be dropped
            database.run(f"DELETE FROM {name}")
    for (name,) in database.run("SELECT name FROM sqlite_schema WHERE type = 'view'"):
        database.run(f"DROP VIEW {name}")
    left = database.run("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    for (name,) in left:
        if name not in (*virtual, *of_vec0):
            database.run(f"DROP TABLE {name}")
