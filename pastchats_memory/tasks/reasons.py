"""Say why a task is named: why it is worth starting, or what it waits for."""

import re
from collections.abc import Sequence
from datetime import date

from pastchats_memory.model import StoredTask
from pastchats_memory.store import task_rows
from pastchats_memory.store.database import Database
from pastchats_memory.text.tracker_words import PRIORITIES

DAY = 10
"""Characters of an ISO date."""
_WAITS = re.compile(
    r"\b(?:block\w*|wait\w*|stuck|until|because|on hold|depends?|cannot|can't|missing|needs?|not (?:yet )?\w+ed)\b",
    re.IGNORECASE,
)
"""Words of a comment that says what a task waits for."""


def explain_start(database: Database, tasks: Sequence[StoredTask], today: date) -> dict[str, str]:
    """Return for each task, by its id, why it is worth starting on a day."""
    waiting = task_rows.count_waiting(database, [task.id for task in tasks])
    return {task.shown_id: "; ".join(_list_merits(task, waiting.get(task.id, 0), today)) for task in tasks}


def _list_merits(task: StoredTask, waiting: int, today: date) -> list[str]:
    due = (task.due_at or "")[:DAY]
    late = "overdue since" if due < today.isoformat() else "due"
    merits = [
        "" if task.priority is None else f"{PRIORITIES[task.priority]} priority",
        f"{late} {due}" if due else "",
        f"{waiting} {'task waits' if waiting == 1 else 'tasks wait'} for it" if waiting else "",
    ]
    return [merit for merit in merits if merit] or ["nothing blocks it"]


def explain_wait(database: Database, tasks: Sequence[StoredTask]) -> dict[str, str]:
    """Return for each task, by its id, who waits for what; without a link, the comment that says so."""
    reasons = {}
    for task in tasks:
        blockers = ", ".join(f"{key} {title}" for key, title in task_rows.blockers_of(database, task.id))
        found = f"waits for {blockers}" if blockers else find_wait(task)
        who = task.metadata.get("assignee") or task.metadata.get("owner")
        reasons[task.shown_id] = f"{who}: {found}" if isinstance(who, str) and found else found
    return {id_: reason for id_, reason in reasons.items() if reason}


def find_wait(task: StoredTask) -> str:
    """Return the last comment that says what a task waits for; empty if none does."""
    return next((one.content for one in reversed(task.comments) if _WAITS.search(one.content)), "")
