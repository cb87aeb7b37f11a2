"""Stored tasks as values, and what hangs on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from pastchats_memory.model import (
    Attachment,
    Comment,
    Filters,
    StoredTask,
    TaskLink,
    TaskPart,
    TaskState,
    TaskText,
)
from pastchats_memory.store.buried import buried, without_buried
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import TEXT_TIME, TEXTS, task_conditions

COLUMNS = (
    "k.id, k.key, k.title, k.description, k.type, k.status, k.status_raw, k.priority, k.tags_json, k.project, "
    "k.source_path, k.source_line, k.created_at, k.updated_at, k.closed_at, k.due_at, k.metadata_json"
)
MOST_LISTED = 1_000
UNSEEN = "project IN (SELECT value FROM json_each(?))"
SEEN = f"NOT ({UNSEEN}) AND id NOT IN {buried('tasks')}"

ATTACHED = {
    "links": "SELECT l.task_id, l.kind, ifnull(o.key, l.name) FROM task_links l LEFT JOIN tasks o "
    "ON o.identity = l.target WHERE l.task_id IN (SELECT value FROM json_each(?1)) "
    f"AND ifnull(o.project NOT IN (SELECT value FROM json_each(?2)) AND o.id NOT IN {buried('tasks')}, 1) ORDER BY l.kind, 3",
    "conversations": "SELECT task_id, conversation_id FROM task_conversations "
    "WHERE task_id IN (SELECT value FROM json_each(?)) ORDER BY conversation_id",
    "states": "SELECT task_id, status, status_raw, at FROM task_states "
    "WHERE task_id IN (SELECT value FROM json_each(?)) ORDER BY at, id",
    "comments": "SELECT task_id, content, author, created_at, id FROM task_comments "
    f"WHERE task_id IN (SELECT value FROM json_each(?)) AND id NOT IN {buried('comments')} ORDER BY created_at, id",
    "attachments": "SELECT task_id, name, size, sha256, NULL, created_at, id FROM task_attachments "
    f"WHERE task_id IN (SELECT value FROM json_each(?)) AND id NOT IN {buried('attachments')} ORDER BY id",
}
"""What hangs on tasks, by their ids; links without those to the tasks of hidden projects, attachments without their texts."""


def tasks(database: Database, ids: Sequence[int], hidden: Sequence[str], *, whole: bool = False) -> list[StoredTask]:
    """Those of the ids that are stored, in the order given; `whole` with the attachments' texts. Raises StoreFault.

    A link to a task of a hidden project is not told: its key alone may say what it is about.
    """
    wanted = (orjson.dumps(list(ids)).decode(),)
    rows = database.run(f"SELECT {COLUMNS} FROM tasks k WHERE k.id IN (SELECT value FROM json_each(?))", wanted)
    attached = ATTACHED | ({"attachments": ATTACHED["attachments"].replace("NULL", "content")} if whole else {})
    unseen = {"links": (*wanted, orjson.dumps(hidden).decode())}
    of = {name: _by_task(database, statement, unseen.get(name, wanted)) for name, statement in attached.items()}
    found = {row[0]: _task(row, {name: by_task.get(row[0], []) for name, by_task in of.items()}) for row in rows}
    return [found[id_] for id_ in ids if id_ in found]


def with_parts(database: Database, task: StoredTask, hidden: Sequence[str]) -> StoredTask:
    """The task with those that are part of it, in the order in which they were made; none of a hidden project. Raises StoreFault."""
    rows = database.run(
        "SELECT key, title, status FROM tasks WHERE id IN (SELECT l.task_id FROM task_links l WHERE l.kind = 'parent' AND "
        f"l.target = (SELECT identity FROM tasks WHERE id = ?)) AND {SEEN} ORDER BY created_at, id",
        (task.id, orjson.dumps(hidden).decode()),
    )
    return task._replace(parts=tuple(TaskPart(*row) for row in rows))


def plain_tasks(database: Database, ids: Sequence[int]) -> list[StoredTask]:
    """The same without what hangs on them, for many at once. Raises StoreFault."""
    rows = database.run(
        f"SELECT {COLUMNS} FROM tasks k WHERE k.id IN (SELECT value FROM json_each(?)) ORDER BY k.id",
        (orjson.dumps(list(ids)).decode(),),
    )
    nothing: dict[str, list[tuple[Any, ...]]] = {name: [] for name in ATTACHED}
    return [_task(row, nothing) for row in rows]


def _task(row: tuple[Any, ...], of: Mapping[str, list[tuple[Any, ...]]]) -> StoredTask:
    tied = [TaskLink(*link) for link in of["links"]]
    names = COLUMNS.replace("k.", "").replace("_json", "").split(", ")
    fields = dict(zip(names, row, strict=True))
    fields |= {"tags": tuple(orjson.loads(fields["tags"])), "metadata": orjson.loads(fields["metadata"])}
    return StoredTask(
        **fields,
        parent=next((link.target for link in tied if link.kind == "parent"), None),
        links=tuple(link for link in tied if link.kind != "parent"),
        conversations=tuple(name for (name,) in of["conversations"]),
        states=tuple(TaskState(*state) for state in of["states"]),
        comments=tuple(Comment(*comment) for comment in of["comments"]),
        attachments=tuple(Attachment(*attachment) for attachment in of["attachments"]),
    )


def _by_task(database: Database, statement: str, values: Sequence[object]) -> dict[int, list[tuple[Any, ...]]]:
    grouped: dict[int, list[tuple[Any, ...]]] = {}
    for id_, *rest in database.run(statement, values):
        grouped.setdefault(id_, []).append(tuple(rest))
    return grouped


def find(database: Database, name: str, hidden: Sequence[str]) -> list[int]:
    """Ids of the tasks that a key names, with or without `t:`; else of those whose tracker calls them so. Raises StoreFault.

    Those of the hidden projects are not there.
    """
    unseen = orjson.dumps(hidden).decode()
    name = name.removeprefix("t:")
    for where in ("key = ?", "key = ? COLLATE NOCASE", "native_id = ? COLLATE NOCASE"):
        found = database.run(f"SELECT id FROM tasks WHERE {where} AND {SEEN} ORDER BY id", (name, unseen))
        if found:
            return [id_ for (id_,) in found]
    return []


def find_tagged(database: Database, name: str, hidden: Sequence[str]) -> list[int]:
    """Ids of the tasks whose tracker calls them so behind the name of a list: `103` is `master/103`. Raises StoreFault.

    Those of the hidden projects are not there.
    """
    statement = f"SELECT id FROM tasks WHERE substr(native_id, -length(?1) - 1) = '/' || ?1 COLLATE NOCASE AND {SEEN} ORDER BY id"
    return [id_ for (id_,) in database.run(statement, (name, orjson.dumps(hidden).decode()))]


def task_of(database: Database, table: str, id_: int, hidden: Sequence[str]) -> int | None:
    """The task that a row of `task_comments` or `task_attachments` belongs to, unless its project is hidden. Raises StoreFault."""
    found = database.value(
        f"SELECT id FROM tasks WHERE id = (SELECT task_id FROM {table} "
        f"WHERE id = ? AND id NOT IN {buried(table.removeprefix('task_'))}) AND {SEEN}",
        (id_, orjson.dumps(hidden).decode()),
    )
    return None if found is None else int(found)


def project_of_conversation(database: Database, conversation_id: str) -> str | None:
    """The project of a stored conversation. Raises StoreFault."""
    found = database.value("SELECT source_project FROM prompts WHERE conversation_id = ? LIMIT 1", (conversation_id,))
    return None if found is None else str(found)


def count(database: Database) -> int:
    """How many tasks there are. Raises StoreFault."""
    return int(database.value("SELECT count(*) FROM tasks"))


def unseen(database: Database, hidden: Sequence[str]) -> int:
    """How many tasks the hidden projects have. Raises StoreFault."""
    wanted = (orjson.dumps(hidden).decode(),)
    return int(database.value(f"SELECT count(*) FROM tasks WHERE {UNSEEN}", wanted))


def identity(database: Database, id_: int) -> str:
    """What links name the task by. Raises StoreFault."""
    return str(database.value("SELECT identity FROM tasks WHERE id = ?", (id_,)))


def unlink(database: Database, id_: int, kind: str, target: str | None) -> None:
    """Remove the links of a kind, all or that to one identity. Raises StoreFault."""
    database.run(
        "DELETE FROM task_links WHERE task_id = ?1 AND kind = ?2 AND ifnull(target = ?3, 1)", (id_, kind, target)
    )


def task_texts(database: Database, ids: Sequence[int], hidden: Sequence[str]) -> list[TaskText]:
    """Those of the ids of `task_texts` that are stored, in the order given, each with its task. Raises StoreFault.

    No link to a task of a hidden project is told.
    """
    rows = database.run(
        f"SELECT t.id, t.task_id, t.comment_id, t.attachment_id, t.content, {TEXT_TIME} FROM {TEXTS} "
        "WHERE t.id IN (SELECT value FROM json_each(?))",
        (orjson.dumps(list(ids)).decode(),),
    )
    owners = {task.id: task for task in tasks(database, sorted({row[1] for row in rows}), hidden)}
    found = {}
    for id_, task_id, comment_id, attachment_id, content, timestamp in rows:
        kind, shown = "task", f"t:{owners[task_id].key}"
        if comment_id is not None:
            kind, shown = "comment", f"c:{comment_id}"
        elif attachment_id is not None:
            kind, shown = "attachment", f"a:{attachment_id}"
        found[id_] = TaskText(id_, owners[task_id], kind, shown, content, timestamp)
    return [found[id_] for id_ in ids if id_ in found]


def text_ids(database: Database, task_ids: Sequence[int]) -> dict[int, int]:
    """By task the id of its own text, not of its comments or attachments. Raises StoreFault."""
    return dict(
        database.run(
            "SELECT task_id, id FROM task_texts WHERE comment_id IS NULL AND attachment_id IS NULL "
            "AND task_id IN (SELECT value FROM json_each(?))",
            (orjson.dumps(list(task_ids)).decode(),),
        )
    )


def listed(
    database: Database,
    filters: Filters,
    conditions: Sequence[str] = (),
    limit: int = MOST_LISTED,
    order: str | None = None,
    tags: Sequence[str] = (),
) -> list[int]:
    """Ids of the tasks that pass, the most urgent first, then the latest.

    Args:
        database: open.
        filters: of tasks.
        conditions: further ones on `tasks AS k`, of our own making.
        limit: at most so many; -1 for all.
        order: of our own making, instead of by urgency.
        tags: that a task must all have, as a tag or in its type's name.

    Raises:
        StoreFault: the database cannot be read.
    """
    where, values = task_conditions(without_buried(database, filters))
    tagged = ["EXISTS (SELECT 1 FROM json_each(k.tags_json) WHERE lower(value) = ?)"] * len(tags)
    where = " AND ".join((where, "t.comment_id IS NULL", "t.attachment_id IS NULL", *conditions, *tagged))
    by = order or f"ifnull(k.priority, 2), {TEXT_TIME} DESC"
    return [
        id_
        for (id_,) in database.run(
            f"SELECT k.id FROM {TEXTS} WHERE {where} ORDER BY {by}, k.id LIMIT {limit}",
            [*values, *(tag.lower() for tag in tags)],
        )
    ]


def title_vectors(database: Database, ids: Sequence[int]) -> dict[int, tuple[str, str]]:
    """By text id of a task the JSON vectors of its text and of its title alone. Raises StoreFault."""
    return {
        id_: (text, title)
        for id_, text, title in database.run(
            "SELECT text_id, vector_json, ifnull(title_json, vector_json) FROM task_embeddings "
            "WHERE text_id IN (SELECT value FROM json_each(?))",
            (orjson.dumps(list(ids)).decode(),),
        )
    }
