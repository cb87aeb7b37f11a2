"""Turns and tasks as JSON-able objects, just as they are stored; `readers.export` reads them back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from pastchats_memory.model import EXPORT
from pastchats_memory.store import task_exchange
from pastchats_memory.store.buried import buried
from pastchats_memory.store.database import Database

TURNS = (
    "SELECT p.role, p.content, p.source_path, p.source_project, p.conversation_id, p.turn_index, p.timestamp, "
    "p.content_hash, p.echo_hash, p.metadata_json, "
    "(SELECT json_group_array(json_array(s.path, g.line, g.end_line)) FROM sightings g JOIN sources s ON s.id = g.source_id "
    "WHERE g.prompt_id = p.id) FROM prompts p "
    f"WHERE p.source_project NOT IN (SELECT value FROM json_each(?)) AND p.id NOT IN {buried('turns')} ORDER BY p.id"
)
NAMES = (
    "role", "content", "source_path", "source_project", "conversation_id", "turn_index", "timestamp", "content_hash",
    "echo_hash", "metadata", "places",
)  # fmt: skip


def exported(database: Database, hidden: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Every turn and then every task but those of hidden projects, the oldest first; in a snapshot. Raises StoreFault."""
    folders = _folders(database)
    for values in database.rows(TURNS, (orjson.dumps(hidden).decode(),)):
        body = dict(zip(NAMES, values, strict=True))
        body["metadata"] = orjson.loads(body["metadata"] or "{}")
        body["places"] = sorted(orjson.loads(body["places"]), key=lambda place: place[0])
        folder, is_private = folders.get(body["source_project"], (None, False))
        yield {"schema": EXPORT, "kind": "turn", **body, "folder": folder, "is_private": is_private}
    for body in task_exchange.exported(database, hidden):
        folder, is_private = folders.get(body["project"], (None, False))
        yield {"schema": EXPORT, "kind": "task", **body, "folder": folder, "is_private": is_private}


def unseen(database: Database, hidden: Sequence[str]) -> int:
    """How many turns are left out. Raises StoreFault."""
    listed = orjson.dumps(hidden).decode()
    statement = "SELECT count(*) FROM prompts WHERE source_project IN (SELECT value FROM json_each(?))"
    return int(database.value(statement, (listed,)))


def _folders(database: Database) -> dict[str, tuple[str, bool]]:
    """A folder of each project, and whether the project is private; the folder that says so, where one does."""
    rows = database.run(
        "SELECT project, folder, is_private = 1 FROM project_folders ORDER BY is_private = 1, folder DESC"
    )
    return {project: (folder, bool(is_private)) for project, folder, is_private in rows}
