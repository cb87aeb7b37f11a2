"""What a plain question can ask of `tasks AS k`, as conditions and orders; every text in them is ours or a stored hash."""

from __future__ import annotations

from collections.abc import Iterable

from pastchats_memory.store.database import Database
from pastchats_memory.store.task_rows import identity

_HAS = "SELECT 1 FROM task_links l WHERE l.task_id = k.id AND l.kind = '{kind}'"
CONDITIONS = {
    "epic": f"NOT EXISTS ({_HAS.format(kind='parent')}) AND k.type != 'epic'",
    "dependencies": f"NOT EXISTS ({_HAS.format(kind='depends')})",
    "priority": "k.priority IS NULL",
    "description": "k.description = ''",
    "comments": "NOT EXISTS (SELECT 1 FROM task_comments c WHERE c.task_id = k.id)",
    "due": "k.due_at IS NULL",
    "tags": "k.tags_json = '[]'",
    "subtasks": "NOT EXISTS (SELECT 1 FROM task_links l WHERE l.target = k.identity AND l.kind = 'parent')",
    "project": "k.project = ''",
    "assignee": "ifnull(k.metadata_json ->> 'assignee', '') IN ('', '[]') AND ifnull(k.metadata_json ->> 'assignees', '[]') = '[]'",
}
RELATED = {
    "depends_on": "EXISTS (SELECT 1 FROM task_links l WHERE l.task_id = k.id AND l.kind = 'depends' AND l.target = '{identity}')",
    "dependencies_of": "k.identity IN (SELECT l.target FROM task_links l WHERE l.task_id = {id} AND l.kind = 'depends')",
    "part_of": "EXISTS (SELECT 1 FROM task_links l WHERE l.task_id = k.id AND l.kind = 'parent' AND l.target = '{identity}')",
    "parent_of": "k.identity IN (SELECT l.target FROM task_links l WHERE l.task_id = {id} AND l.kind = 'parent')",
}
ORDERS = {
    "newest": "coalesce(k.updated_at, k.closed_at, k.created_at) DESC",
    "oldest": "coalesce(k.created_at, k.updated_at)",
}
CLOSED = "coalesce(k.closed_at, k.updated_at)"
FIELDS = {"closed": CLOSED, "created": "k.created_at", "updated": "coalesce(k.updated_at, k.closed_at, k.created_at)", "due": "k.due_at"}  # fmt: skip


def without(name: str) -> str:
    """Tasks that lack something, by its name among CONDITIONS."""
    return CONDITIONS[name]


def related(database: Database, relation: str, others: Iterable[int]) -> str:
    """Tasks that are related to one of the tasks, by the relation's name among RELATED. Raises StoreFault."""
    either = (RELATED[relation].format(id=int(other), identity=identity(database, other)) for other in others)
    return f"({' OR '.join(either)})"


def within(field: str, since: str | None, until: str | None) -> list[str]:
    """Tasks of which something happened between two moments, as times are stored, both inclusive."""
    bounds = ((">=", since), ("<=", until))
    return [f"{FIELDS[field]} {sign} '{moment}'" for sign, moment in bounds if moment is not None]
