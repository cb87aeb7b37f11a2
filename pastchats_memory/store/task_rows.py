"""Stored tasks, with their comments and attachments; conditions and orders for plain questions about them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import orjson

from pastchats_memory import model
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.filters import FIRST_TEXT, TEXT_TIME, TEXTS, task_conditions
from pastchats_memory.text.groups import group_by_key

ROW_COLUMNS = (
    "k.id, k.key, k.title, k.description, k.type, k.status, k.status_raw, k.priority, k.tags_json, k.project, "
    "k.source_path, k.source_line, k.created_at, k.updated_at, k.closed_at, k.due_at, k.metadata_json"
)
MAX_LISTED = 1_000

PART_QUERIES = {
    "links": "SELECT l.task_id, l.kind, ifnull(o.key, l.name) FROM visible_task_links l LEFT JOIN visible_tasks o "
    f"ON o.identity = l.target WHERE l.task_id IN {LISTED} "
    "ORDER BY l.kind, 3",
    "conversations": "SELECT task_id, conversation_id FROM task_conversations "
    f"WHERE task_id IN {LISTED} ORDER BY conversation_id",
    "states": f"SELECT task_id, status, status_raw, at FROM task_states WHERE task_id IN {LISTED} ORDER BY at, id",
    "comments": "SELECT task_id, content, author, created_at, id FROM visible_task_comments "
    f"WHERE task_id IN {LISTED} ORDER BY created_at, id",
    "attachments": "SELECT task_id, name, size, sha256, NULL, created_at, id FROM visible_task_attachments "
    f"WHERE task_id IN {LISTED} ORDER BY id",
}
"""Queries of the parts of tasks, by name; attachments without their texts."""


def tasks(database: Database, ids: Sequence[int], *, whole: bool = False) -> list[model.StoredTask]:
    """Return the stored tasks with these ids, in the order given; `whole` with the attachments' texts."""
    wanted = (bind_list(ids),)
    rows = database.run(f"SELECT {ROW_COLUMNS} FROM visible_tasks k WHERE k.id IN {LISTED}", wanted)
    attached = PART_QUERIES | ({"attachments": PART_QUERIES["attachments"].replace("NULL", "content")} if whole else {})
    parts = {name: database.run(statement, wanted) for name, statement in attached.items()}
    of = {name: group_by_key((id_, tuple(rest)) for id_, *rest in listed) for name, listed in parts.items()}
    found = {row[0]: _task(row, {name: by_task.get(row[0], []) for name, by_task in of.items()}) for row in rows}
    return [found[id_] for id_ in ids if id_ in found]


def with_parts(database: Database, task: model.StoredTask) -> model.StoredTask:
    """Return a task with its subtasks, the oldest first."""
    rows = database.run(
        "SELECT key, title, status FROM visible_tasks WHERE id IN (SELECT l.task_id FROM visible_task_links l WHERE l.kind = 'parent' AND "
        "l.target = (SELECT identity FROM visible_tasks WHERE id = ?)) ORDER BY created_at, id",
        (task.id,),
    )
    return task._replace(parts=tuple(model.TaskPart(*row) for row in rows))


def plain_tasks(database: Database, ids: Sequence[int]) -> list[model.StoredTask]:
    """Return tasks without their parts, for many at once."""
    rows = database.run(
        f"SELECT {ROW_COLUMNS} FROM visible_tasks k WHERE k.id IN {LISTED} ORDER BY k.id", (bind_list(ids),)
    )
    nothing: dict[str, list[tuple[Any, ...]]] = {name: [] for name in PART_QUERIES}
    return [_task(row, nothing) for row in rows]


def _task(row: tuple[Any, ...], of: Mapping[str, list[tuple[Any, ...]]]) -> model.StoredTask:
    links = [model.TaskLink(*link) for link in of["links"]]
    names = ROW_COLUMNS.replace("k.", "").replace("_json", "").split(", ")
    fields = dict(zip(names, row, strict=True))
    fields |= {"tags": tuple(orjson.loads(fields["tags"])), "metadata": orjson.loads(fields["metadata"])}
    return model.StoredTask(
        **fields,
        parent=next((link.target for link in links if link.kind == "parent"), None),
        links=tuple(link for link in links if link.kind != "parent"),
        conversations=tuple(name for (name,) in of["conversations"]),
        states=tuple(model.TaskState(*state) for state in of["states"]),
        comments=tuple(model.Comment(*comment) for comment in of["comments"]),
        attachments=tuple(model.Attachment(*attachment) for attachment in of["attachments"]),
    )


def find(database: Database, name: str) -> list[int]:
    """Return ids of tasks with a key, with or without `t:`; else of tasks with this native id."""
    name = name.removeprefix("t:")
    for where in ("key = ?", "key = ? COLLATE NOCASE", "native_id = ? COLLATE NOCASE"):
        found = database.run(f"SELECT id FROM visible_tasks WHERE {where} ORDER BY id", (name,))
        if found:
            return [id_ for (id_,) in found]
    return []


def find_tagged(database: Database, name: str) -> list[int]:
    """Return ids of tasks whose native id has a list before this name: `103` finds `master/103`."""
    statement = (
        "SELECT id FROM visible_tasks WHERE substr(native_id, -length(?1) - 1) = '/' || ?1 COLLATE NOCASE ORDER BY id"
    )
    return database.column(statement, (name,))


def is_tag(database: Database, name: str) -> bool:
    """Return whether a task of a visible project has a tag, in any case."""
    statement = "SELECT EXISTS (SELECT 1 FROM visible_tasks WHERE EXISTS (SELECT 1 FROM json_each(tags_json) WHERE lower(value) = ?))"
    return bool(database.value(statement, (name.lower(),)))


def find_epics(database: Database, title: str) -> list[int]:
    """Return ids of epics with a key or a title, in any case, with or without the word epic.

    If there is none, return the only epic whose title begins with two words or more of that title, else the only one that
    has all of its words.
    """
    words = title.lower().removeprefix("the ").removeprefix("epic ").removesuffix(" epic").strip()
    statement = "SELECT id FROM visible_tasks WHERE type = 'epic' AND {condition} ORDER BY id"
    wanted = (words,)
    whole = statement.format(condition="(lower(title) IN (?1, ?1 || ' epic', 'epic ' || ?1) OR lower(key) = ?1)")
    if found := database.column(whole, wanted):
        return found
    begun = statement.format(condition="instr(?1, ' ') AND substr(lower(title), 1, length(?1) + 1) = ?1 || ' '")
    found = database.column(begun, wanted)
    if not found:
        titles = database.run("SELECT id, lower(title) FROM visible_tasks WHERE type = 'epic' ORDER BY id")
        named = set(words.split())
        found = [id_ for id_, of in titles if named and named <= set(re.findall(r"[\w-]+", of))]
    return found if len(found) == 1 else []


def owner_of(database: Database, table: str, id_: int) -> int | None:
    """Return the task of a row of `task_comments` or `task_attachments`."""
    found = database.value(
        f"SELECT id FROM visible_tasks WHERE id = (SELECT task_id FROM visible_{table} WHERE id = ?)", (id_,)
    )
    return None if found is None else int(found)


def of_conversation(database: Database, conversation_id: str) -> list[model.StoredTask]:
    """Return the tasks that a conversation worked on, as its todo list."""
    statement = (
        "SELECT id FROM visible_tasks WHERE id IN (SELECT task_id FROM task_conversations WHERE conversation_id = ?) "
        "ORDER BY id"
    )
    return tasks(database, database.column(statement, (conversation_id,)))


def project_of_conversation(database: Database, conversation_id: str) -> str | None:
    """Return the project of a stored conversation, or None."""
    found = database.value(
        "SELECT source_project FROM visible_prompts WHERE conversation_id = ? LIMIT 1", (conversation_id,)
    )
    return None if found is None else str(found)


def count(database: Database) -> int:
    """Return the number of tasks."""
    return database.number("SELECT count(*) FROM visible_tasks")


def count_by_status(database: Database) -> dict[str, int]:
    """Return the number of tasks of each status, the most frequent first."""
    return database.mapping("SELECT status, count(*) FROM visible_tasks GROUP BY status ORDER BY count(*) DESC, status")


def identity(database: Database, id_: int) -> str:
    """Return the identity by which links name a task."""
    return str(database.value("SELECT identity FROM visible_tasks WHERE id = ?", (id_,)))


def unlink(database: Database, id_: int, kind: str, target: str | None) -> None:
    """Remove the links of a kind, all or the one to an identity."""
    database.run(
        "DELETE FROM task_links WHERE task_id = ?1 AND kind = ?2 AND ifnull(target = ?3, 1)", (id_, kind, target)
    )


def task_texts(database: Database, ids: Sequence[int]) -> list[model.TaskText]:
    """Return the stored texts with these ids, in the order given, each with its task."""
    rows = database.run(
        f"SELECT t.id, t.task_id, t.comment_id, t.attachment_id, t.content, {TEXT_TIME} FROM {TEXTS} "
        f"WHERE t.id IN {LISTED}",
        (bind_list(ids),),
    )
    owners = {task.id: task for task in tasks(database, sorted({row[1] for row in rows}))}
    found = {}
    for id_, task_id, comment_id, attachment_id, content, timestamp in rows:
        kind, shown = "task", f"t:{owners[task_id].key}"
        if comment_id is not None:
            kind, shown = "comment", f"c:{comment_id}"
        elif attachment_id is not None:
            kind, shown = "attachment", f"a:{attachment_id}"
        found[id_] = model.TaskText(id_, owners[task_id], kind, shown, content, timestamp)
    return [found[id_] for id_ in ids if id_ in found]


def has_aspects(database: Database) -> bool:
    """Check whether any task has several vectors."""
    return bool(database.value("SELECT EXISTS (SELECT 1 FROM visible_task_texts WHERE aspect != '')"))


def aspect_owners(database: Database, ids: Sequence[int]) -> dict[int, int]:
    """Return the id of a task's own text by the id of each aspect, for the tasks of whose texts some are given.

    Comments and attachments have no aspects.
    """
    if not any(id_ > FIRST_TEXT for id_ in ids):
        return {}
    own = "{0}.comment_id IS NULL AND {0}.attachment_id IS NULL"
    return database.mapping(
        # The planner would begin with every text of its kind.
        "SELECT a.id, t.id FROM json_each(?) i CROSS JOIN visible_task_texts x ON x.id = i.value "
        f"CROSS JOIN visible_task_texts t ON t.task_id = x.task_id AND t.aspect = '' AND {own.format('t')} "
        "CROSS JOIN visible_task_texts a ON a.task_id = x.task_id AND a.aspect != '' "
        f"WHERE {own.format('x')}",
        (bind_list(id_ for id_ in ids if id_ > FIRST_TEXT),),
    )


class OwnText(NamedTuple):
    """A text of a task that is neither a comment nor an attachment."""

    task_id: int
    aspect: str
    """Empty for the whole text."""
    text_id: int


def own_texts(database: Database, task_ids: Sequence[int]) -> list[OwnText]:
    """Return the texts of tasks with all aspects."""
    rows = database.run(
        "SELECT task_id, aspect, id FROM visible_task_texts WHERE comment_id IS NULL AND attachment_id IS NULL "
        f"AND task_id IN {LISTED} ORDER BY task_id, aspect, chunk",
        (bind_list(task_ids),),
    )
    return [OwnText(*row) for row in rows]


_IS_OWN_TEXT = "t.comment_id IS NULL AND t.attachment_id IS NULL AND t.aspect = ''"
"""Condition for the text of a task itself, of which each task has one."""


def listed(
    database: Database,
    filters: model.Filters,
    conditions: Sequence[str] = (),
    limit: int = MAX_LISTED,
    order: str | None = None,
    tags: Sequence[str] = (),
) -> list[int]:
    """Return ids of the tasks that pass: unfinished ones first, of those the most urgent, then the latest.

    Args:
        database: open.
        filters: of tasks.
        conditions: further SQL conditions on `tasks AS k`, never of a user's text.
        limit: number of ids; -1 for all.
        order: SQL order instead of urgency, never of a user's text.
        tags: tags that a task must all have.
    """
    where, values = task_conditions(filters)
    tagged = ["EXISTS (SELECT 1 FROM json_each(k.tags_json) WHERE lower(value) = ?)"] * len(tags)
    where = " AND ".join((where, _IS_OWN_TEXT, *conditions, *tagged))
    by = order or f"k.status IN ('completed', 'archived', 'cancelled'), ifnull(k.priority, 2), {TEXT_TIME} DESC"
    return database.column(
        f"SELECT k.id FROM {TEXTS} WHERE {where} ORDER BY {by}, k.id LIMIT {limit}",
        [*values, *(tag.lower() for tag in tags)],
    )


def count_listed(database: Database, filters: model.Filters) -> dict[str, int]:
    """Return the number of tasks of each status that pass."""
    where, values = task_conditions(filters)
    return database.mapping(
        f"SELECT k.status, count(*) FROM {TEXTS} WHERE {where} AND {_IS_OWN_TEXT} GROUP BY k.status", values
    )


def projects(database: Database) -> list[str]:
    """Return the projects that have tasks."""
    return database.column("SELECT DISTINCT project FROM visible_tasks ORDER BY project")


# Conditions on `tasks AS k` and orders for plain questions. They contain no text of a user, only ours and stored hashes.

_HAS = "SELECT 1 FROM visible_task_links l WHERE l.task_id = k.id AND l.kind = '{kind}'"
_UNFINISHED = f"status IN ({', '.join(map(repr, model.OPEN))})"
IS_BLOCKED = (
    f"(k.status = 'blocked' OR k.{_UNFINISHED} AND EXISTS (SELECT 1 FROM visible_task_links l JOIN visible_tasks o "
    f"ON o.identity = l.target WHERE l.task_id = k.id AND l.kind = 'depends' AND o.{_UNFINISHED}))"
)
"""Condition for a task that is blocked by its status, or by an unfinished task that it depends on."""
IS_STARTABLE = (
    "NOT EXISTS (SELECT 1 FROM visible_task_links l JOIN visible_tasks o ON o.id = l.task_id "
    f"WHERE l.target = k.identity AND l.kind = 'parent' AND o.{_UNFINISHED}) "
    "AND NOT EXISTS (SELECT 1 FROM visible_task_links l JOIN visible_tasks p ON p.identity = l.target WHERE l.task_id = k.id "
    f"AND l.kind = 'parent' AND (p.status IN ('cancelled', 'deferred') OR {IS_BLOCKED.replace('k.', 'p.')}))"
)
"""Condition for a task without unfinished parts, which is part of nothing that is blocked or put off."""
_WAITING = (
    "(SELECT count(*) FROM visible_task_links l JOIN visible_tasks o ON o.id = l.task_id "
    f"WHERE l.target = k.identity AND l.kind = 'depends' AND o.{_UNFINISHED})"
)
"""Number of unfinished tasks that wait for a task."""
CONDITIONS = {
    "epic": f"NOT EXISTS ({_HAS.format(kind='parent')}) AND k.type != 'epic'",
    "blockers": f"NOT {IS_BLOCKED}",
    "dependencies": f"NOT EXISTS ({_HAS.format(kind='depends')})",
    "priority": "k.priority IS NULL",
    "description": "k.description = ''",
    "comments": "NOT EXISTS (SELECT 1 FROM visible_task_comments c WHERE c.task_id = k.id)",
    "due": "k.due_at IS NULL",
    "tags": "k.tags_json = '[]'",
    "subtasks": "NOT EXISTS (SELECT 1 FROM visible_task_links l WHERE l.target = k.identity AND l.kind = 'parent')",
    "project": "k.project = ''",
    "assignee": "ifnull(k.metadata_json ->> 'assignee', '') IN ('', '[]') AND ifnull(k.metadata_json ->> 'assignees', '[]') = '[]'",
}
RELATED = {
    "named": "k.id = {id}",
    "depends_on": "EXISTS (SELECT 1 FROM visible_task_links l WHERE l.task_id = k.id AND l.kind = 'depends' AND l.target = '{identity}')",
    "dependencies_of": "k.identity IN (SELECT l.target FROM visible_task_links l WHERE l.task_id = {id} AND l.kind = 'depends')",
    "part_of": "EXISTS (SELECT 1 FROM visible_task_links l WHERE l.task_id = k.id AND l.kind = 'parent' AND l.target = '{identity}')",
    "parent_of": "k.identity IN (SELECT l.target FROM visible_task_links l WHERE l.task_id = {id} AND l.kind = 'parent')",
}
ORDERS = {
    "newest": "coalesce(k.created_at, k.updated_at) DESC",
    "latest": "coalesce(k.updated_at, k.closed_at, k.created_at) DESC",
    "due": "k.due_at",
    "oldest": "coalesce(k.created_at, k.updated_at)",
}
FROM_A_SESSION = "k.metadata_json ->> 'format' IN ('todo-list', 'task-list')"
"""Condition for a line of the list that an agent kept in a session."""
CLOSED = "coalesce(k.closed_at, k.updated_at)"
FIELDS = {"closed": CLOSED, "created": "k.created_at", "updated": "coalesce(k.updated_at, k.closed_at, k.created_at)", "due": "k.due_at"}  # fmt: skip


def order_to_start(soon: date) -> str:
    """Return the order of tasks to start: due by a day, urgent, waited for; lists of agents last."""
    return (
        f"{FROM_A_SESSION}, ifnull(k.priority, 2) - (k.due_at IS NOT NULL AND date(k.due_at) <= '{soon}'), {_WAITING} DESC, "
        "k.due_at IS NULL, k.due_at, coalesce(k.created_at, k.updated_at)"
    )


def count_waiting(database: Database, ids: Sequence[int]) -> dict[int, int]:
    """Return how many unfinished tasks wait for each of some tasks."""
    listed_ids = (bind_list(ids),)
    return database.mapping(f"SELECT k.id, {_WAITING} FROM visible_tasks k WHERE k.id IN {LISTED}", listed_ids)


def blockers_of(database: Database, id_: int) -> list[tuple[str, str]]:
    """Return key and title of the unfinished tasks that a task waits for."""
    return database.run(
        f"SELECT o.key, o.title FROM visible_task_links l JOIN visible_tasks o ON o.identity = l.target "
        f"WHERE l.task_id = ? AND l.kind = 'depends' AND o.{_UNFINISHED} ORDER BY o.id",
        (id_,),
    )


def kind_condition(kind: str, title_words: Iterable[str]) -> str:
    """Return the condition for tasks of a kind that trackers keep as a tag; neither argument is a user's text.

    A title with one of the words counts, too.
    """
    in_title = (f"' ' || lower(k.title) || ' ' GLOB '*[^a-z]{word}[^a-z]*'" for word in title_words)
    return f"(EXISTS (SELECT 1 FROM json_each(k.tags_json) WHERE lower(value) = '{kind}'){''.join(f' OR {one}' for one in in_title)})"


def related_condition(database: Database, relation: str, others: Iterable[int]) -> str:
    """Return the condition for tasks with a relation to one of the others, by its name in RELATED."""
    either = (RELATED[relation].format(id=int(other), identity=identity(database, other)) for other in others)
    return f"({' OR '.join(either)})"


def time_conditions(field: str, since: str | None, until: str | None) -> list[str]:
    """Return conditions for tasks with a time between two stored times, both inclusive."""
    bounds = ((">=", since), ("<=", until))
    return [f"{FIELDS[field]} {sign} '{moment}'" for sign, moment in bounds if moment is not None]
