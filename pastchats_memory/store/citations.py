"""Where the texts of rows stood in their files: what citations are checked by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from pastchats_memory.model import Filters
from pastchats_memory.store.database import Database
from pastchats_memory.store.filters import LISTED, conditions
from pastchats_memory.store.live_events import LIVE
from pastchats_memory.store.pending_deletes import pending_delete_ids

BELOW = "(s.path IN (SELECT value FROM json_each(?1)) OR EXISTS (SELECT 1 FROM json_each(?1) WHERE instr(s.path, value || '/') = 1))"
"""Sources that are one of the paths, or below one."""
TURNS = (
    "SELECT p.id, s.path, g.line, g.end_line, g.passage, s.size, s.mtime_ns FROM sightings g "
    f"JOIN sources s ON s.id = g.source_id AND s.path NOT LIKE '{LIVE}:%' JOIN prompts p ON p.id = g.prompt_id"
)
TASKS = (
    "SELECT p.id, s.path, p.source_line, NULL, p.passage, s.size, s.mtime_ns FROM "
    "(SELECT id, 't:' || key AS shown_id, project AS source_project, title AS content, source_path, source_line, passage FROM tasks "
    "WHERE source_line IS NOT NULL) p JOIN sources s ON s.path = p.source_path"
)


class Cited(NamedTuple):
    """A place that a row is cited by, and the file as it was when it was read."""

    path: str
    line: int
    end_line: int | None
    passage: bytes | None
    """As `Passage.packed` gives it; None where it was not looked for yet, empty where there is none."""
    size: int
    mtime_ns: int


class Row(NamedTuple):
    """What is cited: a turn, or a task by its title."""

    id: int
    is_task: bool
    shown_id: str
    """`12` or `t:KEY`."""
    project: str
    text: str
    place: Cited


class Source(NamedTuple):
    """A file that has rows."""

    id: int
    path: str
    size: int
    mtime_ns: int


def places(database: Database, turns: Sequence[int], tasks: Sequence[int]) -> dict[tuple[bool, int], list[Cited]]:
    """Every place of some rows, by whether it is a task and the id, the file it is filed under first. Raises StoreFault."""
    found: dict[tuple[bool, int], list[Cited]] = {}
    for is_task, statement, ids in ((False, TURNS, turns), (True, TASKS, tasks)):
        filed = "s.path != p.source_path, s.mtime_ns, s.path"
        asked = f"{statement} WHERE p.id IN {LISTED} ORDER BY p.id, {filed}"
        for id_, *place in database.run(asked, (orjson.dumps(ids).decode(),)) if ids else ():
            found.setdefault((is_task, id_), []).append(Cited(*place))
    return found


def sources(database: Database, paths: Sequence[str] = ()) -> list[Source]:
    """Files that were read, by path; of those paths and below them alone, where any are given. Raises StoreFault."""
    where = BELOW if paths else "?1 != ''"
    statement = (
        f"SELECT s.id, s.path, s.size, s.mtime_ns FROM sources s WHERE {where} AND s.format IS NOT NULL ORDER BY s.path"
    )
    return [Source(*row) for row in database.run(statement, (orjson.dumps(paths).decode(),))]


def rows_of(database: Database, source: Source, filters: Filters) -> Iterator[Row]:
    """The rows that were read from a file, turns before tasks, by line; of the filters project and hidden count. Raises StoreFault."""
    return _rows_of(database, source, filters, "TRUE", "TRUE")


def _rows_of(database: Database, source: Source, filters: Filters, turns: str, tasks: str) -> Iterator[Row]:
    """As `rows_of`, of turns and of tasks those alone of which a condition is true."""
    where, values = conditions(filters)
    of_turns = TURNS.replace(" FROM", ", p.id || '', p.source_project, p.content FROM", 1)
    of_tasks = TASKS.replace(" FROM", ", p.shown_id, p.source_project, p.content FROM", 1)
    for kind, asked, of, value, which in (
        ("turns", of_turns, "g.source_id", source.id, turns),
        ("tasks", of_tasks, "s.path", source.path, tasks),
    ):
        for id_, *place, shown_id, project, text in database.run(
            f"{asked} WHERE {of} = ? AND {which} AND {where} AND p.id NOT IN {pending_delete_ids(kind)} ORDER BY 3, p.id",
            (value, *values),
        ):
            yield Row(id_, kind == "tasks", shown_id, project, text, Cited(*place))


def unplaced_sources(database: Database) -> list[Source]:
    """Files of whose rows some passages were not looked for yet. Raises StoreFault."""
    return [
        Source(*row)
        for row in database.run(
            "SELECT s.id, s.path, s.size, s.mtime_ns FROM sources s WHERE s.size >= 0 AND "
            "(s.id IN (SELECT source_id FROM sightings WHERE passage IS NULL) "
            "OR s.path IN (SELECT source_path FROM tasks WHERE passage IS NULL AND source_line IS NOT NULL))"
        )
    ]


def unplaced(database: Database, source: Source) -> list[Row]:
    """Rows of a file whose passages were not looked for yet, by line. Raises StoreFault."""
    rows = _rows_of(database, source, Filters(), "g.passage IS NULL", "p.passage IS NULL")
    return sorted(rows, key=lambda row: row.place.line)


def placed_before(database: Database, source: Source, line: int) -> Row | None:
    """The last row with a passage at or above a line of a file. Raises StoreFault."""
    asked = TURNS.replace(" FROM", ", p.source_project, p.content FROM", 1)
    found = database.run(
        f"{asked} WHERE g.source_id = ? AND g.line <= ? AND g.passage > x'' ORDER BY g.line DESC LIMIT 1",
        (source.id, line),
    )
    for id_, *place, project, text in found:
        return Row(id_, is_task=False, shown_id=str(id_), project=project, text=text, place=Cited(*place))
    return None


def place(database: Database, source: Source, found: Sequence[tuple[Row, bytes]]) -> None:
    """Note passages, unless the file was read anew meanwhile; inside the caller's transaction. Raises StoreFault."""
    if database.run("SELECT size, mtime_ns FROM sources WHERE id = ?", (source.id,)) != [
        (source.size, source.mtime_ns)
    ]:
        return
    for is_task, statement in (
        (False, "UPDATE sightings SET passage = ?1 WHERE source_id = ?2 AND prompt_id = ?3 AND line = ?4"),
        (True, "UPDATE tasks SET passage = ?1 WHERE source_path = ?5 AND id = ?3 AND source_line = ?4"),
    ):
        values = [
            (passage, source.id, row.id, row.place.line, source.path)[: 5 if is_task else 4]
            for row, passage in found
            if row.is_task == is_task
        ]
        database.run_many(statement, values)
