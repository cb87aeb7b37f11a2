"""Rows that are forgotten but not deleted yet: readers leave them out from the first moment on."""

from __future__ import annotations

from pastchats_memory.model import Filters
from pastchats_memory.store.database import Database

PENDING_KEY = "going"
"""Key of `embedding_meta`: as JSON the process that deletes, when it did so last, and the ids that are left by kind."""
KINDS = ("turns", "tasks", "comments", "attachments")


def pending_delete_ids(kind: str) -> str:
    """Return an SQL subquery, in brackets, of the listed ids of a kind; mostly it has no rows."""
    return f"(SELECT value FROM json_each((SELECT value FROM embedding_meta WHERE key = '{PENDING_KEY}'), '$.{kind}'))"


def count(database: Database) -> int:
    """Return the number of listed rows of all kinds. Raises StoreFault."""
    return sum(database.value(f"SELECT count(*) FROM {pending_delete_ids(kind)}") for kind in KINDS)


def exclude_pending(database: Database, filters: Filters) -> Filters:
    """Return filters that the listed rows do not pass.

    Return the same filters if none is listed. Raises StoreFault.
    """
    is_any = database.value("SELECT EXISTS (SELECT 1 FROM embedding_meta WHERE key = ?)", (PENDING_KEY,))
    return filters._replace(excludes_pending=True) if is_any else filters
