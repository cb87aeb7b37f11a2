"""What was forgotten and is yet to be deleted, in steps (`going`): who reads leaves it out from the first moment on."""

from __future__ import annotations

from pastchats_memory.model import Filters
from pastchats_memory.store.database import Database

GOING = "going"
"""Key of `embedding_meta`: the process that deletes rows in steps, when it did so last, and those that are left, by kind, as JSON."""


def buried(kind: str) -> str:
    """The numbers of such `turns`, `tasks`, `comments` or `attachments`, in brackets; mostly none."""
    return f"(SELECT value FROM json_each((SELECT value FROM embedding_meta WHERE key = '{GOING}'), '$.{kind}'))"


def count(database: Database) -> int:
    """How many such rows of all kinds there are. Raises StoreFault."""
    kinds = ("turns", "tasks", "comments", "attachments")
    return sum(database.value(f"SELECT count(*) FROM {buried(kind)}") for kind in kinds)


def without_buried(database: Database, filters: Filters) -> Filters:
    """The same filters where there are no such rows, else they do not pass. Raises StoreFault."""
    is_any = database.value("SELECT EXISTS (SELECT 1 FROM embedding_meta WHERE key = ?)", (GOING,))
    return filters._replace(buried=True) if is_any else filters
