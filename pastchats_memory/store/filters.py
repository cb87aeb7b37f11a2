"""Convert filters to SQL conditions on `prompts` and on the texts of tasks, for words and both vector engines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import orjson

from pastchats_memory.model import RESOLVED, Filters
from pastchats_memory.store.database import Database
from pastchats_memory.store.ids import Ids, listed
from pastchats_memory.store.outcomes import LEAST_CONFIDENCE, VERDICTS
from pastchats_memory.store.pending_deletes import pending_delete_ids

NOTE = "note"
FIRST_TEXT = 1 << 40
"""Ids above it belong to `task_texts`, all others to `prompts`."""
KINDS = "CASE WHEN t.attachment_id IS NOT NULL THEN 'attachment' WHEN t.comment_id IS NOT NULL THEN 'comment' ELSE k.type END"
RAW_STATUS = "lower(replace(replace(k.status_raw, ' ', '_'), '-', '_'))"
TEXT_TIME = "coalesce(m.created_at, k.updated_at, k.closed_at, k.created_at)"
TASK_OUTCOME = (
    f"CASE WHEN k.status IN ({', '.join(repr(status) for status in RESOLVED)}) THEN 'worked' ELSE 'unknown' END"
)
TEXTS = "task_texts t JOIN tasks k ON k.id = t.task_id LEFT JOIN task_comments m ON m.id = t.comment_id"
LISTED = "(SELECT value FROM json_each(?))"
"""Subquery of the values of a JSON array, one parameter."""
OF_FORMAT = "(SELECT path FROM sources WHERE format = ?)"
"""Subquery of the files of a format."""
SCATTER = 2654435761
"""Knuth's multiplicative hash: every n-th id could be the same speaker of every dialogue."""


def conditions(filters: Filters) -> tuple[str, list[str]]:
    """Return a condition on `prompts AS p`, `1` for none, and its parameters."""
    clauses: list[str] = []
    values: list[str] = []
    for clause, value in (
        ("p.source_project = ?", filters.project),
        ("p.role = ?", filters.role),
        ("p.timestamp >= ?", filters.since),
        ("p.timestamp <= ?", filters.until),
        (f"p.source_path IN {OF_FORMAT}", filters.format),
    ):
        if value is not None:
            clauses.append(clause)
            values.append(value)
    if filters.notes is not None:
        clauses.append(f"p.role {'=' if filters.notes else '!='} '{NOTE}'")
    if filters.outcomes:
        clause, wanted = _outcome_condition(filters.outcomes)
        clauses.append(clause)
        values.append(wanted)
    if filters.excludes_pending:
        clauses.append(f"p.id NOT IN {pending_delete_ids('turns')}")
    if filters.hidden:
        clauses.append("p.source_project NOT IN (SELECT value FROM json_each(?))")
        values.append(orjson.dumps(filters.hidden).decode())
    return " AND ".join(clauses) or "1", values


def _outcome_condition(wanted: Sequence[str]) -> tuple[str, str]:
    """Return a condition on `prompts AS p`: the outcome of its episode is wanted.

    A row without one is unknown.
    """
    others = [verdict for verdict in VERDICTS if verdict not in wanted]
    operator, listed = ("NOT IN", others) if "unknown" in wanted else ("IN", wanted)
    episodes = (
        "SELECT q.id FROM outcomes o JOIN prompts q ON q.source_project = o.source_project "
        "AND q.conversation_id = o.conversation_id AND q.turn_index BETWEEN o.first_index AND o.last_index "
        f"WHERE o.confidence >= {LEAST_CONFIDENCE} AND o.verdict IN (SELECT value FROM json_each(?))"
    )
    return f"p.id {operator} ({episodes})", orjson.dumps(listed).decode()


def task_conditions(filters: Filters) -> tuple[str, list[str]]:
    """Return a condition on `TEXTS`, `1` for none, and its parameters."""
    clauses: list[str] = []
    values: list[str] = []
    for clause, value in (
        ("k.project = ?", filters.project),
        (f"{TEXT_TIME} >= ?", filters.since),
        (f"{TEXT_TIME} <= ?", filters.until),
        (f"k.source_path IN {OF_FORMAT}", filters.format),
    ):
        if value is not None:
            clauses.append(clause)
            values.append(value)
    for clause, wanted in (
        (f"{KINDS} IN (SELECT value FROM json_each(?))", filters.kinds),
        (f"EXISTS (SELECT 1 FROM json_each(?) WHERE value IN (k.status, '=' || {RAW_STATUS}))", filters.statuses),
        ("k.priority IN (SELECT value FROM json_each(?))", filters.priorities),
        (f"{TASK_OUTCOME} IN (SELECT value FROM json_each(?))", filters.outcomes),
        ("k.project NOT IN (SELECT value FROM json_each(?))", filters.hidden),
    ):
        if wanted:
            clauses.append(clause)
            values.append(orjson.dumps(wanted).decode())
    if filters.excludes_pending:
        clauses += (
            f"ifnull({id_} NOT IN {pending_delete_ids(kind)}, 1)"
            for id_, kind in (("k.id", "tasks"), ("t.comment_id", "comments"), ("t.attachment_id", "attachments"))
        )
    return " AND ".join(clauses) or "1", values


def allowed_ids(database: Database, among: Sequence[int] | None, filters: Filters) -> Ids:
    """Return the ids that pass the filters, ascending, of those given or of all: turns, then texts of tasks."""
    found = np.empty(0, np.int64)
    if among is not None and not among:
        return found
    if not filters.of_tasks:
        found = _allowed(database, "prompts p", "p.id", among, conditions(filters))
    if not filters.of_turns:
        found = np.concatenate([found, _allowed(database, TEXTS, "t.id", among, task_conditions(filters))])
    return found


def _allowed(
    database: Database, rows: str, id_: str, among: Sequence[int] | None, condition: tuple[str, list[str]]
) -> Ids:
    where, values = condition
    if among is not None:
        where += f" AND {id_} IN (SELECT value FROM json_each(?))"
        values = [*values, orjson.dumps(list(among)).decode()]
    # As one text: fetching half of a large memory row by row takes longer than finding it.
    return np.sort(listed(database.value(f"SELECT group_concat({id_}) FROM {rows} WHERE {where}", values)))


def is_any(database: Database, filters: Filters) -> bool:
    """Return whether any row passes the filters. Raises StoreFault."""
    among_turns = f"SELECT 1 FROM prompts p WHERE {conditions(filters)[0]}"
    among_tasks = f"SELECT 1 FROM {TEXTS} WHERE {task_conditions(filters)[0]}"
    return bool(
        (not filters.of_tasks and database.value(f"SELECT EXISTS({among_turns})", conditions(filters)[1]))
        or (not filters.of_turns and database.value(f"SELECT EXISTS({among_tasks})", task_conditions(filters)[1]))
    )


def spread_ids(database: Database, about: int) -> list[int]:
    """Return a sample of about so many ids, or all; some may have been deleted.

    Raises StoreFault.
    """
    turns = database.value("SELECT max(id) FROM prompts") or 0
    texts = (database.value("SELECT max(id) FROM task_texts") or FIRST_TEXT) - FIRST_TEXT
    for_turns = about * turns // max(1, turns + texts)
    return [*_scattered(0, turns, for_turns), *_scattered(FIRST_TEXT, texts, about - for_turns)]


def _scattered(before: int, rows: int, about: int) -> list[int]:
    """Return about so many of the `rows` ids after `before`, ascending."""
    return sorted({before + 1 + number * SCATTER % rows for number in range(about)}) if rows else []


def spread_among(ids: Ids, about: int) -> list[int]:
    """Return a sample of about so many of the ids, or all, ascending."""
    scattered = (ids & FIRST_TEXT - 1) * SCATTER >> 16
    chosen: list[int] = ids[scattered % max(1, len(ids) // about) == 0].tolist()
    return chosen
