"""The rows of commands that were run, by which a command is found that nobody spoke of."""

from __future__ import annotations

from pastchats_memory.model import Filters
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import conditions

LINE = 400
"""Characters of a row in which its command stands."""


def latest_runs(database: Database, filters: Filters, most: int) -> list[tuple[int, str, str]]:
    """Id, project and command of the latest rows that pass the filters, the newest first. Raises StoreFault."""
    condition, values = conditions(filters._replace(buried=True))
    rows = database.run(
        f"SELECT p.id, p.source_project, substr(p.content, 3, {LINE}) FROM prompts p "
        f"WHERE p.role = 'tool' AND p.content LIKE '$ %' AND {condition} ORDER BY p.timestamp DESC, p.id DESC LIMIT ?",
        (*values, most),
    )
    return [(id_, project, text.partition("\n")[0].strip()) for id_, project, text in rows]
