"""Read what ranking needs to know about turns: conversation, speaker, time, and neighbours."""

from collections.abc import Sequence
from typing import NamedTuple

from pastchats_memory.model import NO_FILTERS, Filters
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.filters import conditions

OPENING = 64
"""Characters of a turn that may begin with its speaker's name."""
BEGINNING = 2_000
"""Characters of a text that are read for its dates."""


class TurnContext(NamedTuple):
    """Conversation and beginning of a turn."""

    role: str
    conversation: str | None
    """Key that is unique among all projects; None for none."""
    opening: str
    """The first OPENING characters."""
    timestamp: str | None


def turn_contexts(database: Database, ids: Sequence[int], filters: Filters = NO_FILTERS) -> dict[int, TurnContext]:
    """Return the contexts of the turns that pass the filters by id; ids of tasks' texts are missing in it."""
    where, values = conditions(filters)
    found = database.run(
        "SELECT id, role, source_project || char(10) || conversation_id, substr(content, 1, ?), timestamp "
        f"FROM visible_prompts AS p WHERE id IN {LISTED} AND {where}",
        (OPENING, bind_list(ids), *values),
    )
    return {id_: TurnContext(*about) for id_, *about in found}


def text_beginnings(database: Database, ids: Sequence[int]) -> dict[int, str]:
    """Return the first BEGINNING characters of turns and of texts of tasks, by id."""
    found = database.run(
        "SELECT id, substr(content, 1, ?1) FROM visible_prompts WHERE id IN (SELECT value FROM json_each(?2)) "
        "UNION ALL SELECT id, substr(content, 1, ?1) FROM visible_task_texts WHERE id IN (SELECT value FROM json_each(?2))",
        (BEGINNING, bind_list(ids)),
    )
    return dict(found)


def find_neighbours(
    database: Database, ids: Sequence[int], reach: int, filters: Filters
) -> list[tuple[int, int, bool]]:
    """Return pairs of a turn and another one that passes the filters, at most `reach` turns away in its conversation.

    Each pair has both ids, and whether the roles are the same.
    """
    where, values = conditions(filters)
    return database.run(
        "SELECT q.id, p.id, p.role = q.role FROM visible_prompts q JOIN visible_prompts p ON p.conversation_id = q.conversation_id "
        "AND p.turn_index BETWEEN q.turn_index - ? AND q.turn_index + ? AND p.source_project = q.source_project "
        f"AND p.id != q.id WHERE q.id IN {LISTED} AND {where}",
        (reach, reach, bind_list(ids), *values),
    )
