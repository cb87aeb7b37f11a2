"""Filters as conditions on `prompts`, in one place for the lexical query and for both vector engines."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from pastchats_memory.model import Filters
from pastchats_memory.store.database import Database

NOTE = "note"
SCATTER = 2654435761
"""Knuth's multiplicative hash: every third id as it stands could be one side of every dialogue."""


def conditions(filters: Filters) -> tuple[str, list[str]]:
    """A condition on `prompts AS p`, `1` for none, and the values that it binds."""
    clauses: list[str] = []
    values: list[str] = []
    for clause, value in (
        ("p.source_project = ?", filters.project),
        ("p.role = ?", filters.role),
        ("p.timestamp >= ?", filters.since),
        ("p.timestamp <= ?", filters.until),
    ):
        if value is not None:
            clauses.append(clause)
            values.append(value)
    if filters.notes is not None:
        clauses.append(f"p.role {'=' if filters.notes else '!='} '{NOTE}'")
    return " AND ".join(clauses) or "1", values


def allowed_ids(database: Database, among: Sequence[int] | None, filters: Filters) -> list[int]:
    """Ids that the filters let through, ascending, of those given or of all."""
    if among is not None and not among:
        return []
    where, values = conditions(filters)
    if among is not None:
        where += " AND p.id IN (SELECT value FROM json_each(?))"
        values.append(orjson.dumps(list(among)).decode())
    return [row[0] for row in database.run(f"SELECT p.id FROM prompts p WHERE {where} ORDER BY p.id", values)]


def spread_ids(database: Database, filters: Filters, about: int) -> list[int]:
    """About so many of the ids that the filters let through, or all where they are fewer: a sample of what is searched."""
    if filters == Filters():
        last = database.value("SELECT max(id) FROM prompts") or 1
        return sorted({1 + number * SCATTER % last for number in range(about)})
    where, values = conditions(filters)
    rows = database.value(f"SELECT count(*) FROM prompts p WHERE {where}", values)
    chosen = f"(p.id * {SCATTER} >> 16) % {max(1, rows // about)} = 0"
    found = database.run(f"SELECT p.id FROM prompts p WHERE {where} AND {chosen}", values)
    return [id_ for (id_,) in found]
