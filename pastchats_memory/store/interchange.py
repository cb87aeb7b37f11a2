"""Read turns and tasks in the form of `text.wire`, and store tasks of that form."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from pastchats_memory.model import EXPORT, Attachment, Comment, Task, TaskState
from pastchats_memory.store.database import Database
from pastchats_memory.store.tasks import COLUMNS, Filed, TaskWriter, set_fields
from pastchats_memory.text.wire import STORED_FIELDS, TASK_PARTS, build_turn

FIELDS = tuple(name for name in COLUMNS if name not in ("tags_json", "metadata_json"))
TABLES = {
    "links": ("visible_task_links", "kind, target"),
    "states": ("task_states", "id"),
    "conversations": ("task_conversations", "conversation_id"),
    "comments": ("visible_task_comments", "id"),
    "attachments": ("visible_task_attachments", "id"),
}
"""Table and order of each list of a task."""


def export_tasks(database: Database) -> Iterator[dict[str, Any]]:
    """Yield all tasks, the oldest first."""
    yield from _task_bodies(database, "TRUE ORDER BY id")


def export_task(database: Database, identity: str) -> dict[str, Any] | None:
    """Return the task with an identity; None if there is none."""
    return next(_task_bodies(database, "identity = ?", identity), None)


def _task_bodies(database: Database, where: str, *values: str) -> Iterator[dict[str, Any]]:
    for row in database.run(
        f"SELECT id, key, identity, tags_json, metadata_json, {', '.join(FIELDS)} FROM visible_tasks WHERE {where}",
        values,
    ):
        body = {"key": row[1], "identity": row[2], "tags": orjson.loads(row[3]), "metadata": orjson.loads(row[4])}
        body |= dict(zip(FIELDS, row[5:], strict=True))
        for name, (table, order) in TABLES.items():
            columns = TASK_PARTS[name]
            found = database.run(
                f"SELECT {', '.join(columns)} FROM {table} WHERE task_id = ? ORDER BY {order}", (row[0],)
            )
            body[name] = [dict(zip(columns, values, strict=True)) for values in found]
        yield body


def parse_task(body: Mapping[str, Any]) -> Filed:
    """Return an exported task, without its links. `find_wrong_task_field` must have found nothing."""
    task = Task(
        native_id=body["native_id"],
        title=body["title"],
        line=body["source_line"] or 0,
        description=body["description"],
        type=body["type"],
        status_raw=body["status_raw"],
        priority=body["priority"],
        tags=tuple(body["tags"]),
        created_at=body["created_at"],
        updated_at=body["updated_at"],
        closed_at=body["closed_at"],
        due_at=body["due_at"],
        states=tuple(TaskState(state["status"], state["status_raw"], state["at"]) for state in body["states"]),
        comments=tuple(Comment(one["content"], one["author"], one["created_at"]) for one in body["comments"]),
        attachments=tuple(Attachment(**attached) for attached in body["attachments"]),
        metadata=body["metadata"],
    )
    return Filed(task, body["project"], body["source_path"], body["key"], body["identity"])


def store_exported(database: Database, writer: TaskWriter, body: Mapping[str, Any]) -> tuple[int, str]:
    """Store an exported task, inside the caller's transaction.

    Return its id, and `added`, `updated`, `unchanged` or `forgotten`.
    """
    id_, status = writer.store(parse_task(body))
    if status == "forgotten":
        return id_, status
    replace_fields(database, id_, body, FIELDS)
    for link in body["links"]:
        writer.link(id_, link["kind"], link["target"], link["name"], by_hand=bool(link["by_hand"]))
    for comment in body["comments"]:
        database.run(
            "UPDATE OR IGNORE task_comments SET by_hand = ? WHERE task_id = ? AND identity = ?",
            (comment["by_hand"], id_, comment["identity"]),
        )
    for conversation in body["conversations"]:
        writer.add_conversation(id_, conversation["conversation_id"])
    writer.texts.refresh(id_)
    return id_, status


def replace_fields(database: Database, id_: int, body: Mapping[str, Any], names: Iterable[str]) -> None:
    """Give a task these fields of an exported one, and its tags, inside the caller's transaction."""
    wanted = set(names) - {"native_id"}
    set_fields(database, id_, {name: body[name] for name in wanted} | {"tags": body["tags"]})
    for name in wanted & {"closed_at", "updated_at", "due_at", "created_at", "priority", "source_line"}:
        if body[name] is None:
            database.run(f"UPDATE tasks SET {name} = NULL WHERE id = ?", (id_,))


def newer_than(database: Database, body: Mapping[str, Any]) -> int | None:
    """Return the id of the stored task if it is at least as new as the exported one, else None."""
    id_: int | None = database.value(
        "SELECT id FROM tasks WHERE identity = ?1 AND ifnull(updated_at, '') >= ifnull(?2, '')",
        (body["identity"], body["updated_at"]),
    )
    return id_


TURNS = (
    "SELECT p.role, p.content, p.source_path, p.source_project, p.conversation_id, p.turn_index, p.timestamp, "
    "p.content_hash, p.echo_hash, p.metadata_json"
)
"""Start of a statement that reads the STORED_FIELDS of turns."""
PLACES = (
    "(SELECT json_group_array(json_array(s.path, g.line, g.end_line)) FROM sightings g JOIN sources s ON s.id = g.source_id "
    "WHERE g.prompt_id = p.id)"
)


def export_turns(database: Database) -> Iterator[dict[str, Any]]:
    """Yield all turns, then all tasks, the oldest first. Call it in a snapshot."""
    rows = database.run(
        "SELECT project, folder, is_private = 1 FROM project_folders ORDER BY is_private = 1, folder DESC"
    )
    folders = {project: (folder, bool(is_private)) for project, folder, is_private in rows}  # the one that marks it
    for *stored, places in database.rows(f"{TURNS}, {PLACES} FROM visible_prompts p ORDER BY p.id"):
        listed = sorted(orjson.loads(places), key=lambda place: place[0])
        folder, is_private = folders.get(stored[STORED_FIELDS.index("source_project")], (None, False))
        yield {"schema": EXPORT, "kind": "turn", **build_turn(stored, listed, folder, is_private=is_private)}
    for body in export_tasks(database):
        folder, is_private = folders.get(body["project"], (None, False))
        yield {"schema": EXPORT, "kind": "task", **body, "folder": folder, "is_private": is_private}
