"""What turns belong to and what stands around them, for the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import orjson

from pastchats_memory.model import Filters
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import conditions

OPENING = 64
"""Characters of a turn in which the name of its speaker may stand."""
BEGINNING = 2_000
"""Characters of a text that are read to see what it tells."""


class Belonging(NamedTuple):
    """What a turn is part of, and how it begins."""

    role: str
    conversation: str | None
    """What names it in all projects; None for none."""
    opening: str
    """The first OPENING characters."""
    timestamp: str | None


def belongings(database: Database, ids: Sequence[int]) -> dict[int, Belonging]:
    """By id what the turns belong to; texts of tasks are missing. Raises StoreFault."""
    found = database.run(
        "SELECT id, role, source_project || char(10) || conversation_id, substr(content, 1, ?), timestamp FROM prompts "
        "WHERE id IN (SELECT value FROM json_each(?))",
        (OPENING, orjson.dumps(list(ids)).decode()),
    )
    return {id_: Belonging(*about) for id_, *about in found}


def beginnings(database: Database, ids: Sequence[int]) -> dict[int, str]:
    """By id the first BEGINNING characters of turns and of texts of tasks. Raises StoreFault."""
    found = database.run(
        "SELECT id, substr(content, 1, ?1) FROM prompts WHERE id IN (SELECT value FROM json_each(?2)) "
        "UNION ALL SELECT id, substr(content, 1, ?1) FROM task_texts WHERE id IN (SELECT value FROM json_each(?2))",
        (BEGINNING, orjson.dumps(list(ids)).decode()),
    )
    return dict(found)


def around(database: Database, ids: Sequence[int], reach: int, filters: Filters) -> list[tuple[int, int, bool]]:
    """An id, another turn at most `reach` before or after it in its conversation that the filters let through, and
    whether both are of one role.
    """
    where, values = conditions(filters)
    return database.run(
        "SELECT q.id, p.id, p.role = q.role FROM prompts q JOIN prompts p ON p.conversation_id = q.conversation_id "
        "AND p.turn_index BETWEEN q.turn_index - ? AND q.turn_index + ? AND p.source_project = q.source_project "
        f"AND p.id != q.id WHERE q.id IN (SELECT value FROM json_each(?)) AND {where}",
        (reach, reach, orjson.dumps(list(ids)).decode(), *values),
    )
