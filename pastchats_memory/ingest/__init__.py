"""Files to rows: discover, read, count, embed what is new, store in batches."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pastchats_memory.embed import Embedder
from pastchats_memory.episodes.derive import derive
from pastchats_memory.formats.base.checkpoint import CannotResume
from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.ingest.anchors import note_passages
from pastchats_memory.ingest.archives import read_through
from pastchats_memory.ingest.changes import Plan, plans, recipe_of_left
from pastchats_memory.ingest.discover import Candidate, IndexOptions, candidates, name_of
from pastchats_memory.ingest.dry_run import dry_run, rehearse
from pastchats_memory.ingest.reading import BY_FORMAT, opened, prompts_of, require_records, resumed
from pastchats_memory.ingest.report import (
    FileReport,
    Forecast,
    IndexReport,
    Progress,
    failed,
    forecast,
    refused,
    runs_under_way,
    standing,
)
from pastchats_memory.ingest.writer import Reading, Writer
from pastchats_memory.store import fulltext, scrub, sources, turns, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import SourceState

__all__ = ["FileReport", "Forecast", "IndexOptions", "IndexReport", "Progress", "dry_run", "index", "rehearse"]


def index(
    database: Database,
    embedder: Embedder,
    inputs: Sequence[Path],
    options: IndexOptions,
    progress: Callable[[Progress], None] = lambda _: None,
    announce: Callable[[Forecast], None] = lambda _: None,
) -> IndexReport:
    """Bring everything below the inputs into the database.

    Each batch is one transaction of rows, vectors and indexes, so an interrupted run leaves what it had stored; the
    file it was in is read again by the next run, which embeds nothing twice.

    Raises:
        InputMissing: an input does not exist; nothing was indexed.
        UsageFault: no record has the keys of the map; nothing was indexed.
        ModelUnavailable: the model cannot be loaded.
        ModelChanged: the database has vectors of another model or version; nothing was indexed.
        StoreFault: the database cannot be written; earlier batches stand.
        KeyboardInterrupt: passed on after the run was recorded as interrupted.
    """
    start = time.monotonic()
    found, faults = candidates(inputs, options.wanted)
    left = [refused(fault) for fault in faults]
    report = IndexReport(embedder.name, files_scanned=len(found) + sum(bool(one.unreadable) for one in left))
    report.files += left
    with database.transaction():
        run_id = sources.begin_run(database, [name_of(path) for path in inputs], embedder.name, os.getpid())
        sources.claim_model(database, embedder.name, embedder.version, embedder.dim)
        vectors.catch_up(database)
    report.outcome = "failed"
    try:
        writer = Writer(database, embedder, report, run_id, options)
        todo, archives = _prepare(database, found, options, report)
        lies_ahead = forecast(embedder, todo, lambda plan: _texts(database, plan, options))
        announce(replace(lies_ahead, beside=runs_under_way(database)))
        with database.without_mapping(), database.with_long_timeout():
            _index_files(database, writer, todo, options, report, progress)
            for bring_up_to_date in (vectors.pack_all, fulltext.merge_scattered, note_passages, derive):
                bring_up_to_date(database)
        scrub.finish_scrub(database, wait_ms=0)
        with database.transaction():
            for archive in archives:
                recipe = recipe_of_left(archive, options)
                sources.finish_source(database, SourceState(archive.name, archive.size, archive.mtime_ns, recipe))
        report.outcome = "done"
    except KeyboardInterrupt:
        report.outcome = "interrupted"
        raise
    finally:
        report.duration_s = time.monotonic() - start
        sources.finish_run(database, run_id, report.counts(), report.duration_s, report.outcome)
    return report


def _prepare(
    database: Database, found: list[Candidate], options: IndexOptions, report: IndexReport
) -> tuple[list[Plan], list[Candidate]]:
    """What is to be read, and the archives that were opened to know it; what was moved is filed under its new path."""
    known = sources.known_sources(database)
    found, archives = read_through(found, known, options, report)
    require_records(found, known, options)
    planned, moved = plans(found, known, options)
    with database.transaction():
        for old, new in moved.items():
            sources.move_source(database, old, new.name, new.mtime_ns, new.file_id)
    report.moved = len(moved)
    unchanged = [plan for plan in planned if plan.is_unchanged]
    report.files_unchanged = len(unchanged)
    report.known = sum(plan.state is not None and plan.state.format is not None for plan in unchanged)
    report.files += [standing(plan) for plan in unchanged if plan.state and (plan.state.note or plan.state.problems)]
    return [plan for plan in planned if not plan.is_unchanged], archives


def _texts(database: Database, plan: Plan, options: IndexOptions) -> Iterator[str]:
    """The texts of a file as the run would embed them: without secrets, nor what was forgotten or is not to be read."""
    try:
        source, reader, _ = opened(plan, options)
    except OSError:  # which the run itself will say
        return
    if reader is not None:
        found = list(prompts_of(database, source, reader, Reading(plan, reader.name), options))
        gone = turns.find_forgotten(database, found)
        yield from (prompt.turn.content for prompt in found if prompt.content_hash not in gone)


def _index_files(
    database: Database,
    writer: Writer,
    todo: Sequence[Plan],
    options: IndexOptions,
    report: IndexReport,
    progress: Callable[[Progress], None],
) -> None:
    total = sum(plan.candidate.size for plan in todo)
    done = turns = 0
    for plan in todo:
        for characters in _index_file(database, writer, plan, options, report):
            turns += 1
            progress(Progress(done + min(characters, plan.candidate.size), total, turns))
        done += plan.candidate.size
        progress(Progress(done, total, turns))
    writer.flush()


def _index_file(
    database: Database, writer: Writer, plan: Plan, options: IndexOptions, report: IndexReport
) -> Iterator[int]:
    """Read one file into the writer; after each turn the characters so far."""
    source = resumed(database, plan, options)
    if source is not None and plan.state is not None and plan.state.format is not None:
        try:
            yield from _read(database, writer, plan, source, BY_FORMAT[plan.state.format], options)
        except CannotResume:
            pass
        else:
            return
    try:
        source, reader, reason = opened(plan, options)
    except OSError as fault:  # not remembered, so that the next run tries again
        report.files.append(failed(plan.candidate, fault))
        return
    if reader is None:
        writer.pass_over(plan, recipe_of_left(plan.candidate, options), reason)
    else:
        yield from _read(database, writer, plan, source, reader, options)


def _read(
    database: Database, writer: Writer, plan: Plan, source: SourceFile, reader: Format, options: IndexOptions
) -> Iterator[int]:
    file = writer.open(plan, reader.name)
    characters = 0
    try:
        for prompt in prompts_of(database, source, reader, file, options):
            writer.add(file, prompt)
            characters += len(prompt.turn.content)
            yield characters
    except CannotResume:
        writer.give_up(file)
        raise
    writer.close(file)
