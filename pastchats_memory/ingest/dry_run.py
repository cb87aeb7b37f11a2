"""Show what a run would make of files, without writing.

Every function that takes the database raises StoreFault if it cannot be read or written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pastchats_memory.ingest.archives import expand_archives
from pastchats_memory.ingest.changes import Plan, plan_files
from pastchats_memory.ingest.detect import detect, require_records, suggest_map
from pastchats_memory.ingest.discover import discover_files
from pastchats_memory.ingest.identity import project_of
from pastchats_memory.ingest.open_file import OpenFile
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.read import is_wanted, read_turns
from pastchats_memory.ingest.report import FileReport, IndexReport, report_failed, report_refused, report_unchanged
from pastchats_memory.store import sources
from pastchats_memory.store.database import Database, open_database

DryRunFile = tuple[FileReport, int, str | None]
"""The report of a file, its number of turns, and its project if all turns have the same."""


def dry_run_at(path: Path, inputs: Sequence[Path], options: IndexOptions) -> list[DryRunFile]:
    """Return the dry run with the database at a path, which need not exist."""
    if not path.exists():
        return list(dry_run(None, inputs, options))
    with open_database(path) as database:
        return list(dry_run(database, inputs, options))


def dry_run(database: Database | None, inputs: Sequence[Path], options: IndexOptions) -> Iterator[DryRunFile]:
    """Yield each file with its number of turns; unchanged files have none.

    Raises:
        InputMissing: an input does not exist.
        UsageFault: no record has the keys of the map.
    """
    found, faults = discover_files(inputs, options.wanted)
    known = sources.known_sources(database) if database else {}
    report = IndexReport("", files=list(map(report_refused, faults)))
    found, _ = expand_archives(found, known, options, report)
    require_records(found, known, options)
    yield from ((left, 0, None) for left in report.files)
    planned, _ = plan_files(found, known, options)
    yield from (_dry_run_file(plan, options) for plan in planned)


def _dry_run_file(plan: Plan, options: IndexOptions) -> DryRunFile:
    if plan.is_unchanged and plan.state is not None and plan.state.format is not None:  # else a map may fit
        return replace(report_unchanged(plan), is_unchanged=True), 0, plan.project
    try:
        source, format_, reason = detect(plan, options)
    except OSError as fault:
        return report_failed(plan.candidate, fault), 0, None
    if format_ is None:
        return FileReport(plan.candidate.name, None, reason=reason, map=suggest_map(source, format_)), 0, None
    file = OpenFile(plan, format_.name)
    projects = Counter(
        name
        for turn in read_turns(source, format_, file, options)
        if is_wanted(turn, name := plan.project or project_of(turn, source.path, format_.service), options)
    )
    report = FileReport(
        plan.candidate.name,
        format_.name,
        unreadable=tuple(file.unreadable),
        keys=format_.explain(source) if format_.explain else {},
        map=suggest_map(source, format_),
    )
    project = next(iter(projects)) if len(projects) == 1 else None
    return report, projects.total() + len(file.tasks), project
