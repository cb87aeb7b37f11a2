"""Filters as conditions on `prompts`, in one place for the lexical query and for both vector engines."""

from __future__ import annotations

from pastchats_memory.model import Filters

NOTE = "note"


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
