"""Read and store the places of rows in their files, by which citations are checked."""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pastchats_memory.model import Filters
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.filters import conditions
from pastchats_memory.store.live_events import LIVE

BELOW = f"(s.path IN (SELECT value FROM json_each(?1)) OR EXISTS (SELECT 1 FROM json_each(?1) WHERE instr(s.path, value || '{os.sep}') = 1))"
"""Condition on `sources AS s`: its path is one of a JSON array, or below one."""
TURNS = (
    "SELECT p.id, s.path, g.line, g.end_line, g.passage, s.size, s.mtime_ns FROM sightings g "
    f"JOIN sources s ON s.id = g.source_id AND s.path NOT LIKE '{LIVE}:%' JOIN visible_prompts p ON p.id = g.prompt_id"
)
TASKS = (
    "SELECT p.id, s.path, p.source_line, NULL, p.passage, s.size, s.mtime_ns FROM "
    "(SELECT id, 't:' || key AS shown_id, project AS source_project, title AS content, source_path, source_line, passage FROM visible_tasks "
    "WHERE source_line IS NOT NULL) p JOIN sources s ON s.path = p.source_path"
)


class CitedPlace(NamedTuple):
    """A place of a row, and the size and time of the file when it was read."""

    path: str
    line: int
    end_line: int | None
    passage: bytes | None
    """As `Passage.packed` returns it; None if it is not computed yet, empty if there is none."""
    size: int
    mtime_ns: int


class CitedRow(NamedTuple):
    """A cited row: a turn, or a task by its title."""

    id: int
    is_task: bool
    shown_id: str
    """`12` or `t:KEY`."""
    project: str
    text: str
    place: CitedPlace


class Source(NamedTuple):
    """A file with rows."""

    id: int
    path: str
    size: int
    mtime_ns: int


def places(database: Database, turns: Sequence[int], tasks: Sequence[int]) -> dict[tuple[bool, int], list[CitedPlace]]:
    """Return all places of turns and tasks, by (is_task, id); the row's own file first."""
    found: dict[tuple[bool, int], list[CitedPlace]] = {}
    for is_task, statement, ids in ((False, TURNS, turns), (True, TASKS, tasks)):
        own_file_first = "s.path != p.source_path, s.mtime_ns, s.path"
        query = f"{statement} WHERE p.id IN {LISTED} ORDER BY p.id, {own_file_first}"
        for id_, *place in database.run(query, (bind_list(ids),)) if ids else ():
            found.setdefault((is_task, id_), []).append(CitedPlace(*place))
    return found


def sources(database: Database, paths: Sequence[str] = ()) -> list[Source]:
    """Return the files that were read, by path; only those paths and below them, if any are given."""
    where = BELOW if paths else "?1 != ''"
    statement = (
        f"SELECT s.id, s.path, s.size, s.mtime_ns FROM sources s WHERE {where} AND s.format IS NOT NULL ORDER BY s.path"
    )
    return [Source(*row) for row in database.run(statement, (bind_list(paths),))]


def rows_of(
    database: Database, source: Source, filters: Filters, turns: str = "TRUE", tasks: str = "TRUE"
) -> Iterator[CitedRow]:
    """Yield the rows of a file that meet the conditions, turns before tasks, by line. Only the filter project applies."""
    where, values = conditions(filters)
    of_turns = TURNS.replace(" FROM", ", p.id || '', p.source_project, p.content FROM", 1)
    of_tasks = TASKS.replace(" FROM", ", p.shown_id, p.source_project, p.content FROM", 1)
    for kind, select, owner, value, condition in (
        ("turns", of_turns, "g.source_id", source.id, turns),
        ("tasks", of_tasks, "s.path", source.path, tasks),
    ):
        for id_, *place, shown_id, project, text in database.run(
            f"{select} WHERE {owner} = ? AND {condition} AND {where} ORDER BY 3, p.id", (value, *values)
        ):
            yield CitedRow(id_, kind == "tasks", shown_id, project, text, CitedPlace(*place))


def sources_without_passage(database: Database) -> list[Source]:
    """Return the files with rows whose passage is not computed yet."""
    return [
        Source(*row)
        for row in database.run(
            "SELECT s.id, s.path, s.size, s.mtime_ns FROM sources s WHERE s.size >= 0 AND "
            "(s.id IN (SELECT source_id FROM sightings WHERE passage IS NULL) "
            "OR s.path IN (SELECT source_path FROM visible_tasks WHERE passage IS NULL AND source_line IS NOT NULL))"
        )
    ]


def rows_without_passage(database: Database, source: Source) -> list[CitedRow]:
    """Return the rows of a file whose passage is not computed yet, by line."""
    rows = rows_of(database, source, Filters(), "g.passage IS NULL", "p.passage IS NULL")
    return sorted(rows, key=lambda row: row.place.line)


def passage_before(database: Database, source: Source, line: int) -> CitedRow | None:
    """Return the last row of a file with a passage, at or above a line."""
    select = TURNS.replace(" FROM", ", p.source_project, p.content FROM", 1)
    found = database.run(
        f"{select} WHERE g.source_id = ? AND g.line <= ? AND g.passage > x'' ORDER BY g.line DESC LIMIT 1",
        (source.id, line),
    )
    for id_, *place, project, text in found:
        return CitedRow(id_, is_task=False, shown_id=str(id_), project=project, text=text, place=CitedPlace(*place))
    return None


def store_passages(database: Database, source: Source, found: Sequence[tuple[CitedRow, bytes]]) -> None:
    """Store passages, unless the file was read again meanwhile, inside the caller's transaction."""
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
