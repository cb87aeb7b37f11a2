"""Files to rows: discover, read, count, embed what is new, store in batches."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import orjson

from pastchats_memory.embed import Embedder
from pastchats_memory.episodes.derive import derive
from pastchats_memory.ingest.archives import again, members
from pastchats_memory.ingest.changes import Plan, has_still, plans, recipe_of, recipe_of_left
from pastchats_memory.ingest.files import Candidate, candidates, name_of
from pastchats_memory.ingest.forecast import forecast, runs_under_way
from pastchats_memory.ingest.identity import Identities, project_of
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.placing import note_passages
from pastchats_memory.ingest.report import FileReport, Forecast, IndexReport, Progress
from pastchats_memory.ingest.tasks import wrong_with
from pastchats_memory.ingest.turns import Placed, prompt_of_export, without_our_words, without_split_secrets
from pastchats_memory.ingest.writer import Reading, Writer
from pastchats_memory.model import LeftOut, Prompt, Task, Turn, Unreadable, utf8
from pastchats_memory.packed import is_archive
from pastchats_memory.project import opted_out
from pastchats_memory.readers import FALLBACKS, READERS, Reader, TwoClaims, keys_taken, reader_for
from pastchats_memory.readers.resume import CannotResume, Checkpoint
from pastchats_memory.readers.source import BadJson, NotText, Source
from pastchats_memory.store import erasing, prompts, sources, trigrams, vectors
from pastchats_memory.store.database import Database, open_database
from pastchats_memory.store.sources import SourceState

__all__ = ["FileReport", "Forecast", "IndexOptions", "IndexReport", "Progress", "dry_run", "index", "rehearse"]

NOT_TAKEN = "no conversation found in it"
NOTHING_IN_IT = "an empty list or object"
TABLE = "a table; programs that export chats as one do so as JSON too, which is read"
TABLES = frozenset({".csv", ".tsv"})
NOTES_NOT_TAKEN = "Markdown that is no dialogue; name the file itself or use --notes to take it"
BY_FORMAT: dict[str, Reader] = {reader.FORMAT: reader for reader in (*READERS, *FALLBACKS)}


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
        ModelUnavailable: the model cannot be loaded.
        ModelChanged: the database has vectors of another model or version; nothing was indexed.
        StoreFault: the database cannot be written; earlier batches stand.
        KeyboardInterrupt: passed on after the run was recorded as interrupted.
    """
    start = time.monotonic()
    found, faults = candidates(inputs, options.wanted)
    refused = [_refused(fault) for fault in faults]
    report = IndexReport(embedder.name, files_scanned=len(found) + sum(bool(one.unreadable) for one in refused))
    report.files += refused
    with database.transaction():
        run_id = sources.begin_run(database, [name_of(path) for path in inputs], embedder.name, os.getpid())
        sources.claim_model(database, embedder.name, embedder.version, embedder.dim)
        vectors.catch_up(database)
    report.outcome = "failed"
    try:
        writer = Writer(database, embedder, report, run_id, options)
        todo, opened = _prepare(database, found, options, report)
        lies_ahead = forecast(embedder, todo, lambda plan: _texts(database, plan, options))
        announce(replace(lies_ahead, beside=runs_under_way(database)))
        with database.unmapped(), database.patient():
            _index_files(database, writer, todo, options, report, progress)
            for bring_up_to_date in (vectors.pack_all, trigrams.catch_up, note_passages, derive):
                bring_up_to_date(database)
        erasing.finish(database, wait_ms=0)
        with database.transaction():
            for archive in opened:
                recipe = recipe_of_left(notes=options.wants_notes_at(archive.path) or archive.named)
                sources.finish_source(database, SourceState(archive.name, archive.size, archive.mtime_ns, recipe))
        report.outcome = "done"
    except KeyboardInterrupt:
        report.outcome = "interrupted"
        raise
    finally:
        report.duration_s = time.monotonic() - start
        sources.finish_run(database, run_id, report.counts(), report.duration_s, report.outcome)
    return report


def rehearse(path: Path, inputs: Sequence[Path], options: IndexOptions) -> list[tuple[FileReport, int, str | None]]:
    """What `dry_run` says with the database at the path, which is only read and need not exist."""
    if not path.exists():
        return list(dry_run(None, inputs, options))
    with open_database(path) as database:
        return list(dry_run(database, inputs, options))


def dry_run(
    database: Database | None, inputs: Sequence[Path], options: IndexOptions
) -> Iterator[tuple[FileReport, int, str | None]]:
    """For each file what it would be taken for, how many turns it has, and the project where they are of one.

    Nothing is written. A file that would not be read is said to be unchanged, with no turns.

    Raises:
        InputMissing: an input does not exist.
        StoreFault: the database cannot be read.
    """
    found, faults = candidates(inputs, options.wanted)
    for fault in faults:
        yield _refused(fault), 0, None
    known = sources.known_sources(database) if database else {}
    report = IndexReport("")
    found, _ = _read_through(found, known, options, report)
    for refused in report.files:
        yield refused, 0, None
    planned, _ = plans(found, known, options)
    for plan in planned:
        if plan.is_unchanged and plan.state is not None:
            yield replace(_standing(plan), is_unchanged=True), 0, plan.project
            continue
        try:
            source, reader, reason = _open(plan.candidate, options)
        except OSError as fault:
            yield _failed(plan.candidate, fault), 0, None
            continue
        if reader is None:
            yield FileReport(plan.candidate.name, None, reason=reason), 0, None
            continue
        reading = Reading(plan, reader.FORMAT)
        projects = Counter(
            of
            for turn in _turns(source, reader, reading, options)
            if _is_wanted(turn, of := plan.project or project_of(turn, source.path), options)
        )
        project = next(iter(projects)) if len(projects) == 1 else None
        taken = FileReport(plan.candidate.name, reader.FORMAT, unreadable=tuple(reading.unreadable))
        yield replace(taken, keys=keys_taken(reader, source)), projects.total() + len(reading.tasks), project


def _prepare(
    database: Database, found: list[Candidate], options: IndexOptions, report: IndexReport
) -> tuple[list[Plan], list[Candidate]]:
    """What is to be read, and the archives that were opened to know it; what was moved is filed under its new path."""
    known = sources.known_sources(database)
    found, opened = _read_through(found, known, options, report)
    planned, moved = plans(found, known, options)
    with database.transaction():
        for old, new in moved.items():
            sources.move_source(database, old, new.name, new.mtime_ns, new.file_id)
    report.moved = len(moved)
    unchanged = [plan for plan in planned if plan.is_unchanged]
    report.files_unchanged = len(unchanged)
    report.known = sum(plan.state is not None and plan.state.format is not None for plan in unchanged)
    report.files += [_standing(plan) for plan in unchanged if plan.state and (plan.state.note or plan.state.problems)]
    return [plan for plan in planned if not plan.is_unchanged], opened


def _texts(database: Database, plan: Plan, options: IndexOptions) -> Iterator[str]:
    """The texts of a file as the run would embed them: without secrets, nor what was forgotten or is not to be read."""
    try:
        source, reader, _ = _open(plan.candidate, options)
    except OSError:  # which the run itself will say
        return
    if reader is not None:
        found = list(_prompts(database, source, reader, Reading(plan, reader.FORMAT), options))
        gone = prompts.forgotten(database, found)
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


def _read_through(
    found: Sequence[Candidate], known: Mapping[str, SourceState], options: IndexOptions, report: IndexReport
) -> tuple[list[Candidate], list[Candidate]]:
    """The files with archives replaced by what is in them, and the archives that were opened for it.

    One that has not changed is not opened: what was in it is known.
    """
    files: list[Candidate] = []
    opened: list[Candidate] = []
    for candidate in found:
        if not is_archive(candidate.where):
            files.append(candidate)
            continue
        within = [name for name in known if name.startswith(f"{candidate.name}/")] if candidate.name in known else []
        recipe = recipe_of_left(notes=options.wants_notes_at(candidate.path) or candidate.named)
        as_it_was = SourceState(candidate.name, candidate.size, candidate.mtime_ns, recipe)
        is_known = known.get(candidate.name) == as_it_was and all(known[name].size >= 0 for name in within)
        if is_known and not options.force:
            files += [again(candidate, name, known[name].size) for name in within]
            continue
        try:
            inside = list(members(candidate))
        except OSError as fault:
            report.files.append(_failed(candidate, fault))
            continue
        refused = [member for member in inside if isinstance(member, Unreadable)]
        report.files += [FileReport(each.path, None, reason=each.reason, unreadable=(each,)) for each in refused]
        files += [member for member in inside if isinstance(member, Candidate)]
        opened += [] if refused else [candidate]
    report.files_scanned += len(files) - len(found)
    return files, opened


def _index_file(
    database: Database, writer: Writer, plan: Plan, options: IndexOptions, report: IndexReport
) -> Iterator[int]:
    """Read one file into the writer; after each turn the characters so far."""
    source = _resumed(database, plan, options)
    if source is not None and plan.state is not None and plan.state.format is not None:
        try:
            yield from _read(database, writer, plan, source, BY_FORMAT[plan.state.format], options)
        except CannotResume:
            pass
        else:
            return
    try:
        source, reader, reason = _open(plan.candidate, options)
    except OSError as fault:  # not remembered, so that the next run tries again
        report.files.append(_failed(plan.candidate, fault))
        return
    if reader is None:
        writer.pass_over(
            plan, recipe_of_left(notes=options.wants_notes_at(plan.candidate.path) or plan.candidate.named), reason
        )
    else:
        yield from _read(database, writer, plan, source, reader, options)


def _read(
    database: Database, writer: Writer, plan: Plan, source: Source, reader: Reader, options: IndexOptions
) -> Iterator[int]:
    file = writer.open(plan, reader.FORMAT)
    characters = 0
    try:
        for prompt in _prompts(database, source, reader, file, options):
            writer.add(file, prompt)
            characters += len(prompt.turn.content)
            yield characters
    except CannotResume:
        writer.give_up(file)
        raise
    writer.close(file)


def _resumed(database: Database, plan: Plan, options: IndexOptions) -> Source | None:
    """The file from where its reader left off, if it has only grown since and nothing else asks for the whole of it."""
    state = plan.state
    if state is None or state.format not in BY_FORMAT or options.force or state.project != plan.project:
        return None
    resume = (
        sources.resume_of(database, plan.candidate.name) if state.recipe == recipe_of(state.format, options) else None
    )
    if resume is None or plan.candidate.size <= state.size or not has_still(state, plan.candidate):
        return None
    known = json.loads(resume)
    checkpoint = Checkpoint(known["offset"], known["line"], known["state"])
    return Source(plan.candidate.path, named=plan.candidate.named, notes=options.notes, resumed=checkpoint)


def _standing(plan: Plan) -> FileReport:
    """What was found out about a file that is not read again."""
    state = plan.state
    if state is None:
        return FileReport(plan.candidate.name, None, is_unchanged=True)
    reason = state.note if state.format is None else None
    problems = tuple(Unreadable(plan.candidate.name, line, why) for line, why in orjson.loads(state.problems or "[]"))
    return FileReport(plan.candidate.name, state.format, is_unchanged=True, reason=reason, unreadable=problems)


def _open(candidate: Candidate, options: IndexOptions) -> tuple[Source, Reader | None, str]:
    """The file, its reader or None, and the reason for None. Raises OSError."""
    source = Source(
        candidate.path,
        named=candidate.named,
        notes=options.wants_notes_at(candidate.path),
        chunk_size=options.chunk_size,
        chunk_overlap=options.overlap,
        unpacked=candidate.unpacked,
    )
    try:
        reader = reader_for(source)
        reason = _reason_against(source)
    except (NotText, TwoClaims) as fault:
        return source, None, str(fault)
    return source, reader, reason if candidate.size else "empty"


def _reason_against(source: Source) -> str:
    """Why a file that no reader claims is left. Raises NotText, OSError."""
    if source.shape == "markdown":
        return NOTES_NOT_TAKEN
    if source.shape == "json" and isinstance(source.outline, BadJson):
        return f"not whole JSON: {source.outline.reason}"
    if source.shape == "json" and source.outline in ([], {}):
        return NOTHING_IN_IT
    return TABLE if source.path.suffix.lower() in TABLES else NOT_TAKEN


def _is_wanted(turn: Turn, project: str, options: IndexOptions) -> bool:
    """Whether the turn's project has not opted out: by the marker in its folder, or by a glob of the folder or the name."""
    if options.wanted.excludes(project):
        return False
    return turn.cwd is None or not _is_kept_out(turn.cwd, options)


def _is_kept_out(cwd: str, options: IndexOptions) -> bool:
    return opted_out(cwd) or options.wanted.excludes(cwd)


def _refused(fault: Unreadable) -> FileReport:
    """What is said of a file or folder that was not looked into; one that a person keeps out is no fault."""
    faults = () if isinstance(fault, LeftOut) else (fault,)
    return FileReport(fault.path, None, reason=fault.reason, unreadable=faults)


def _failed(candidate: Candidate, fault: OSError) -> FileReport:
    reason = fault.strerror or str(fault)
    return FileReport(candidate.name, None, reason=reason, unreadable=(Unreadable(candidate.name, 0, reason),))


def _turns(source: Source, reader: Reader, file: Reading, options: IndexOptions) -> Iterator[Turn]:
    """The turns of a file, clean, without our own words, and not empty. Raises CannotResume before the first."""
    try:
        for item in reader.read(source):
            match item:
                case Unreadable():
                    file.unreadable.append(item)
                case Checkpoint():
                    file.reached(item)
                case Task() if (wrong := wrong_with(item)) is not None:
                    file.unreadable.append(Unreadable(file.plan.candidate.name, item.line, f"no proper {wrong!r}"))
                case Task() if item.cwd is not None and _is_kept_out(item.cwd, options):
                    file.is_opted_out = True
                case Task():
                    file.tasks.append(item)
                case Turn() if (turn := without_our_words(item)) is not None:
                    yield turn
    except OSError as fault:
        file.is_cut_short = True
        file.unreadable.append(Unreadable(file.plan.candidate.name, 0, fault.strerror or str(fault)))


def _prompts(
    database: Database, source: Source, reader: Reader, file: Reading, options: IndexOptions
) -> Iterator[Prompt]:
    name, project = file.plan.candidate.name, file.plan.project
    identities = Identities(utf8(source.path.name), copies=reader not in FALLBACKS)
    if source.resumed is not None and (resume := sources.resume_of(database, name)) is not None:
        file.is_resumed = True
        file.places.update(dict(json.loads(resume)["places"]))
        identities.stands_before = lambda content_hash, line: sources.earlier_in(database, name, content_hash, line)
    before: Placed | None = None
    for turn in _turns(source, reader, file, options):
        of = project or project_of(turn, source.path)
        if not _is_wanted(turn, of, options):
            file.is_opted_out = True
            continue
        if turn.origin is not None:
            yield prompt_of_export(turn, turn.origin, project)
            continue
        placed = Placed(turn, of, file.places[turn.conversation_id], identities.of(turn))
        file.places[turn.conversation_id] += 1
        if before is not None:
            before, placed = without_split_secrets(before, placed)
            yield before.prompt(name, reader.FORMAT)
        before = placed
    if before is not None:
        yield before.prompt(name, reader.FORMAT)
