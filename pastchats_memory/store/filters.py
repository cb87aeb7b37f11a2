"""Convert filters to SQL conditions on turns and on the texts of tasks, for words and both vector engines."""

from collections.abc import Sequence

from pastchats_memory.fields import OUTCOMES
from pastchats_memory.model import NO_FILTERS, RESOLVED, Filters
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.outcomes import LEAST_CONFIDENCE
from pastchats_memory.store.visible import HIDDEN_LISTS

NOTE = "note"
FIRST_TEXT = 1 << 40
"""Ids above it belong to `task_texts`, all others to `prompts`."""
KINDS = "CASE WHEN t.attachment_id IS NOT NULL THEN 'attachment' WHEN t.comment_id IS NOT NULL THEN 'comment' ELSE k.type END"
RAW_STATUS = "lower(replace(replace(k.status_raw, ' ', '_'), '-', '_'))"
TEXT_TIME = "coalesce(m.created_at, k.updated_at, k.closed_at, k.created_at)"
TASK_OUTCOME = (
    f"CASE WHEN k.status IN ({', '.join(repr(status) for status in RESOLVED)}) THEN 'worked' ELSE 'unknown' END"
)
TEXTS = "visible_task_texts t JOIN visible_tasks k ON k.id = t.task_id LEFT JOIN visible_task_comments m ON m.id = t.comment_id"
OF_FORMAT = "(SELECT path FROM sources WHERE format = ?)"
"""Subquery of the files of a format."""


def conditions(filters: Filters) -> tuple[str, list[str]]:
    """Return a condition on `visible_prompts AS p`, `1` for none, and its parameters."""
    compared = (
        ("p.source_project = ?", filters.project),
        ("p.role = ?", filters.role),
        ("p.timestamp >= ?", filters.since),
        ("p.timestamp <= ?", filters.until),
        (f"p.source_path IN {OF_FORMAT}", filters.format),
    )
    found = [(clause, value) for clause, value in compared if value is not None]
    found += [_outcome_condition(filters.outcomes)] if filters.outcomes else []
    of_notes = [] if filters.notes is None else [f"p.role {'=' if filters.notes else '!='} '{NOTE}'"]
    return " AND ".join([*(clause for clause, _ in found), *of_notes]) or "1", [value for _, value in found]


def _outcome_condition(wanted: Sequence[str]) -> tuple[str, str]:
    """Return a condition on `visible_prompts AS p`: the outcome of its episode is wanted.

    A row without one is unknown.
    """
    others = [verdict for verdict in OUTCOMES if verdict not in wanted]
    operator, listed = ("NOT IN", others) if "unknown" in wanted else ("IN", wanted)
    episodes = (
        "SELECT q.id FROM visible_outcomes o JOIN visible_prompts q ON q.source_project = o.source_project "
        "AND q.conversation_id = o.conversation_id AND q.turn_index BETWEEN o.first_index AND o.last_index "
        f"WHERE o.confidence >= {LEAST_CONFIDENCE} AND o.verdict IN {LISTED}"
    )
    return f"p.id {operator} ({episodes})", bind_list(listed)


def task_conditions(filters: Filters) -> tuple[str, list[str]]:
    """Return a condition on `TEXTS`, `1` for none, and its parameters."""
    compared = (
        ("k.project = ?", filters.project),
        (f"{TEXT_TIME} >= ?", filters.since),
        (f"{TEXT_TIME} <= ?", filters.until),
        (f"k.source_path IN {OF_FORMAT}", filters.format),
    )
    listed = (
        (f"{KINDS} IN {LISTED}", filters.kinds),
        (f"EXISTS (SELECT 1 FROM json_each(?) WHERE value IN (k.status, '=' || {RAW_STATUS}))", filters.statuses),
        (f"k.priority IN {LISTED}", filters.priorities),
        (f"{TASK_OUTCOME} IN {LISTED}", filters.outcomes),
    )
    found = [(clause, value) for clause, value in compared if value is not None]
    found += [(clause, bind_list(wanted)) for clause, wanted in listed if wanted]
    return " AND ".join(clause for clause, _ in found) or "1", [value for _, value in found]


def is_restricted(database: Database, filters: Filters) -> bool:
    """Return whether some row may be invisible or may not pass the filters."""
    is_any = " UNION ALL ".join(f"SELECT 1 FROM {name}" for name in HIDDEN_LISTS)
    return filters != NO_FILTERS or bool(database.value(f"SELECT EXISTS ({is_any})"))


def is_any(database: Database, filters: Filters) -> bool:
    """Return whether any row passes the filters."""
    among_turns = f"SELECT 1 FROM visible_prompts p WHERE {conditions(filters)[0]}"
    among_tasks = f"SELECT 1 FROM {TEXTS} WHERE {task_conditions(filters)[0]}"
    return bool(
        (not filters.of_tasks and database.value(f"SELECT EXISTS({among_turns})", conditions(filters)[1]))
        or (not filters.of_turns and database.value(f"SELECT EXISTS({among_tasks})", task_conditions(filters)[1]))
    )
