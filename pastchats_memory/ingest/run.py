"""Index files: the pipeline that turns the files below some folders into rows.

    discover → detect → read → clean → redact → identify → embed → write

`discover` lists files, `changes` drops unchanged ones, and `detect` finds the format of each. `read` yields clean turns,
`turn_rows` redacts and identifies them, and `writer` embeds and stores them in batches.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pastchats_memory.embed import Embedder
from pastchats_memory.episodes.derive import derive
from pastchats_memory.episodes.replies import classify_replies, open_packaged
from pastchats_memory.formats.base.checkpoint import CannotResume
from pastchats_memory.formats.base.format import Format
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.companions import DATABASE_SUFFIXES, has_companions
from pastchats_memory.formats.registry import added_formats
from pastchats_memory.ingest.anchors import write_anchors
from pastchats_memory.ingest.changes import Plan, recipe_of_skipped
from pastchats_memory.ingest.detect import BY_FORMAT, detect, resume
from pastchats_memory.ingest.discover import Candidate, discover_files, stored_name
from pastchats_memory.ingest.dry_run import sample_pieces
from pastchats_memory.ingest.forecast import Forecast, estimate, other_runs
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.plan import plan_run
from pastchats_memory.ingest.report import IndexProgress, IndexReport, report_failed, report_refused, report_unchanged
from pastchats_memory.ingest.turn_rows import read_rows
from pastchats_memory.ingest.writer import Writer
from pastchats_memory.store import fulltext, scrub, sources, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.middles import fill_middles
from pastchats_memory.store.pending_vectors import fill_pending
from pastchats_memory.store.sources import SourceState


def index(
    database: Database,
    embedder: Embedder,
    inputs: Sequence[Path],
    options: IndexOptions,
    progress: Callable[[IndexProgress], None] = lambda _: None,
    announce: Callable[[Forecast], None] | None = None,
) -> IndexReport:
    """Index all files below the inputs, newest first, and report what became of each.

    Each batch is one transaction of rows, vectors and indexes, so an interrupted run keeps what it stored. The next run
    reads the interrupted file again, and embeds no stored text twice. While the model cannot be used, vectors are pending.

    Raises:
        InputMissing: an input does not exist; nothing was indexed.
        UsageFault: no record has the keys of the map; nothing was indexed.
        ModelChanged: another process has changed the model meanwhile; earlier batches stand.
        StoreFault: the database cannot be written; earlier batches stand.
        KeyboardInterrupt: passed on after the run was recorded as interrupted.
    """
    start = time.monotonic()
    session = sources.open_session(database, embedder)
    files, report = _discover(inputs, options, session.name)
    with database.transaction():
        named = [stored_name(os.path.abspath(path)) for path in inputs]  # noqa: PTH100 - resolve() would follow links
        run_id = sources.begin_run(database, named, session.name, os.getpid(), is_narrow=options.is_narrow)
        sources.claim_model(database, session)
        vectors.catch_up(database)
    report.outcome = "failed"
    try:
        todo, archives = _plan(database, files, options, report)
        if announce is not None:
            expected = estimate(session, todo, lambda plan: sample_pieces(plan, options, session.name))
            announce(replace(expected, other_runs=other_runs(database)))
        with database.with_long_timeout():
            with Writer(database, session, report, run_id, options) as writer:
                packaged = open_packaged(embedder)
                for _ in _index_files(database, writer, todo, options, report, progress):
                    classify_replies(database, packaged)
                    fill_middles(database, packaged)
            report.embedded += fill_pending(database, session, sys.maxsize)
            for bring_up_to_date in (fulltext.merge_scattered, write_anchors, derive):
                bring_up_to_date(database)
        scrub.finish_scrub(database, wait_ms=0)
        report.pending_vectors = vectors.count_pending(database)
        with database.transaction():
            for archive in archives:
                recipe = recipe_of_skipped(archive, options)
                sources.finish_source(database, SourceState(archive.name, archive.size, archive.mtime_ns, recipe))
        report.outcome = "done"
    except KeyboardInterrupt:
        report.outcome = "interrupted"
        raise
    finally:
        report.duration_s = time.monotonic() - start
        sources.finish_run(database, run_id, report.counts(), report.duration_s, report.outcome)
    return report


def describe_repeat(
    database: Database, inputs: Sequence[Path], options: IndexOptions, model: str
) -> IndexReport | None:
    """Return what a run reports that finds everything as it is now; None if it had something to do, or may overlook news.

    The files of some programs have companions elsewhere, and formats of other packages change without a trace here.
    """
    files, report = _discover(inputs, options, model)
    todo, archives = _plan(database, files, options, report)
    is_apart = any(has_companions(file.where) and Path(file.where).suffix not in DATABASE_SUFFIXES for file in files)
    return None if todo or archives or is_apart or added_formats() else report


def _discover(inputs: Sequence[Path], options: IndexOptions, model: str) -> tuple[list[Candidate], IndexReport]:
    """Return the files below the inputs, and a report of those that were refused. Raises InputMissing."""
    files, faults = discover_files(inputs, options.wanted)
    refused = [report_refused(fault) for fault in faults]
    scanned = len(files) + sum(bool(one.unreadable) for one in refused)
    return files, IndexReport(model, files_scanned=scanned, files=refused)


def _plan(
    database: Database, files: list[Candidate], options: IndexOptions, report: IndexReport
) -> tuple[list[Plan], list[Candidate]]:
    """Return the files to read, and the archives that were opened; file moved files under their new paths."""
    planned, moved, archives = plan_run(database, files, options, report)
    with database.transaction():
        for old, new in moved.items():
            sources.move_source(database, old, new.name, new.mtime_ns, new.file_id)
    report.moved = len(moved)
    unchanged = [plan for plan in planned if plan.is_unchanged]
    report.files_unchanged = len(unchanged)
    report.known = sum(plan.state is not None and plan.state.format is not None for plan in unchanged)
    report.files += [
        report_unchanged(plan) for plan in unchanged if plan.state and (plan.state.note or plan.state.problems)
    ]
    todo = [plan for plan in planned if not plan.is_unchanged]
    chosen = todo if options.newest_bytes is None else _choose_newest(todo, options.newest_bytes)
    report.left_for_later = len(todo) - len(chosen)
    return chosen, archives


def _choose_newest(todo: Sequence[Plan], most: int) -> list[Plan]:
    """Return the newest files that fit into so many bytes together; the smallest one if none fits."""
    chosen: list[Plan] = []
    for plan in todo:
        if plan.new_bytes <= most:
            chosen.append(plan)
            most -= plan.new_bytes
    return chosen or sorted(todo, key=lambda plan: plan.new_bytes)[:1]


def _index_files(
    database: Database,
    writer: Writer,
    todo: Sequence[Plan],
    options: IndexOptions,
    report: IndexReport,
    progress: Callable[[IndexProgress], None],
) -> Iterator[None]:
    total = sum(plan.candidate.size for plan in todo)
    done = turns_read = 0
    for plan in todo:
        for characters in _index_file(database, writer, plan, options, report):
            turns_read += 1
            progress(IndexProgress(done + min(characters, plan.candidate.size), total, turns_read))
        done += plan.candidate.size
        progress(IndexProgress(done, total, turns_read))
        yield
    writer.flush()
    yield


def _index_file(
    database: Database, writer: Writer, plan: Plan, options: IndexOptions, report: IndexReport
) -> Iterator[int]:
    """Pass one file to the writer, from its last checkpoint if it only grew; yield the characters so far."""
    source = resume(database, plan, options)
    if source is not None and plan.state is not None and plan.state.format is not None:
        try:
            yield from _write_rows(database, writer, plan, source, BY_FORMAT[plan.state.format], options)
        except CannotResume:
            pass
        else:
            return
    try:
        source, format_, reason = detect(plan, options)
    except OSError as fault:  # not remembered, so that the next run tries again
        report.files.append(report_failed(plan.candidate, fault))
        return
    if format_ is None:
        writer.skip(plan, recipe_of_skipped(plan.candidate, options), reason)
    else:
        yield from _write_rows(database, writer, plan, source, format_, options)


def _write_rows(
    database: Database, writer: Writer, plan: Plan, source: SourceFile, format_: Format, options: IndexOptions
) -> Iterator[int]:
    file = writer.open(plan, format_.name)
    characters = 0
    try:
        for row in read_rows(database, source, format_, file, options):
            writer.add(file, row)
            characters += len(row.turn.content)
            yield characters
    except CannotResume:
        writer.abandon(file)
        raise
    writer.close(file)
