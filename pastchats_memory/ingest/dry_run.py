"""What a run would make of files, without anything being written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pastchats_memory.ingest.archives import read_through
from pastchats_memory.ingest.changes import Plan, plans
from pastchats_memory.ingest.discover import IndexOptions, candidates
from pastchats_memory.ingest.identity import project_of
from pastchats_memory.ingest.reading import is_wanted, opened, require_records, suggested_map, turns_of
from pastchats_memory.ingest.report import FileReport, IndexReport, failed, refused, standing
from pastchats_memory.ingest.writer import Reading
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database, open_database

Rehearsed = tuple[FileReport, int, str | None]
"""What a file would be taken for, how many turns it has, and the project where they are of one."""


def rehearse(path: Path, inputs: Sequence[Path], options: IndexOptions) -> list[Rehearsed]:
    """What `dry_run` says with the database at the path, which is only read and need not exist."""
    if not path.exists():
        return list(dry_run(None, inputs, options))
    with open_database(path) as database:
        return list(dry_run(database, inputs, options))


def dry_run(database: Database | None, inputs: Sequence[Path], options: IndexOptions) -> Iterator[Rehearsed]:
    """Each file. Nothing is written; one that would not be read is said to be unchanged, with no turns.

    Raises:
        InputMissing: an input does not exist.
        UsageFault: no record has the keys of the map.
        StoreFault: the database cannot be read.
    """
    found, faults = candidates(inputs, options.wanted)
    known = sources.known_sources(database) if database else {}
    report = IndexReport("", files=list(map(refused, faults)))
    found, _ = read_through(found, known, options, report)
    require_records(found, known, options)
    yield from ((left, 0, None) for left in report.files)
    planned, _ = plans(found, known, options)
    yield from (_rehearsed(plan, options) for plan in planned)


def _rehearsed(plan: Plan, options: IndexOptions) -> Rehearsed:
    if plan.is_unchanged and plan.state is not None:
        return replace(standing(plan), is_unchanged=True), 0, plan.project
    try:
        source, reader, reason = opened(plan, options)
    except OSError as fault:
        return failed(plan.candidate, fault), 0, None
    if reader is None:
        return FileReport(plan.candidate.name, None, reason=reason, map=suggested_map(source, reader)), 0, None
    reading = Reading(plan, reader.name)
    projects = Counter(
        of
        for turn in turns_of(source, reader, reading, options)
        if is_wanted(turn, of := plan.project or project_of(turn, source.path), options)
    )
    taken = FileReport(
        plan.candidate.name,
        reader.name,
        unreadable=tuple(reading.unreadable),
        keys=reader.explain(source) if reader.explain else {},
        map=suggested_map(source, reader),
    )
    project = next(iter(projects)) if len(projects) == 1 else None
    return taken, projects.total() + len(reading.tasks), project
