"""Show tasks as a board with a column for each status, and a task with its history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pastchats_memory.http.answers import RequestError
from pastchats_memory.http.page.answers import Page, PageRequest, make_url
from pastchats_memory.http.page.words import name_status
from pastchats_memory.memory import Memory
from pastchats_memory.model import OPEN, RESOLVED, STATUSES, StoredTask, leads_to_task

SHOWN = 20
"""Tasks in a column of the board."""
LISTED = 300
"""Tasks in the column of a board that shows one status."""
TYPES = ("epic", "task", "subtask")


class Column(NamedTuple):
    """A status with its tasks, as the board shows it."""

    name: str
    total: int
    tasks: Sequence[StoredTask]
    more: str | None
    """Address of the board with all tasks of the status; None if this one has them."""
    is_open: bool


def show_board(memory: Memory, request: PageRequest) -> Page:
    """Show the board; `project`, `type` and `status` restrict it."""
    chosen = {name: request.query[name] for name in ("project", "type", "status") if name in request.query}
    if chosen.get("type", TYPES[0]) not in TYPES or chosen.get("status", STATUSES[0]) not in STATUSES:
        hint = f"Types are {', '.join(TYPES)}; statuses are {', '.join(STATUSES)}."
        raise RequestError(400, "usage", "there is no such type or status", hint)
    columns = memory.load_board(**chosen, limit=LISTED if "status" in chosen else SHOWN)
    shown = [
        Column(
            name_status(column.status),
            column.total,
            column.tasks,
            make_url("/page/tasks", **{**chosen, "status": column.status}) if "status" not in chosen else None,
            column.status in OPEN,
        )
        for column in columns
    ]
    values = {
        "columns": shown,
        "chosen": chosen,
        "projects": memory.tasks.list_projects(),
        "types": TYPES,
        "statuses": STATUSES,
    }
    return Page("tasks", values)


def show_task(memory: Memory, request: PageRequest) -> Page:
    """Show the task of `key`, which is a key, or the id of a task, a comment or an attachment."""
    key = request.query.get("key", "")
    found = memory.tasks.find_item(key if leads_to_task(key) else f"t:{key}") if key else None
    if found is None:
        raise RequestError(404, "not_found", "there is no such task", "It may have been forgotten. See the board.")
    task = found[0]
    values = {
        "task": task,
        "own_word": _own_word(task.status, task.status_raw),
        "history": [one._replace(raw=_own_word(one.status, one.raw)) for one in task.states],
        "done": sum(part.status in RESOLVED for part in task.parts),
        "links": [(name_link(link.kind), link.target) for link in task.links],
        "opened": found[1],
    }
    return Page("task", values)


def name_link(kind: str) -> str:
    """Write the kind of a link, such as `Depends on`."""
    names: Mapping[str, str] = {"depends": "Depends on", "related": "Related to", "duplicates": "Duplicate of"}
    return names.get(kind, kind.replace("_", " ").replace("-", " ").capitalize())


def _own_word(status: str, raw: str) -> str:
    return "" if raw.strip().lower().replace(" ", "_") in ("", status) else raw
