"""Files to rows: discover, read, count, embed what is new, store in batches."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pastchats_memory.echo import without_echoes
from pastchats_memory.embed import Embedder
from pastchats_memory.ingest.files import Candidate, candidates
from pastchats_memory.ingest.identity import Identities, project_of, text_hash
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.model import Prompt, Turn, Unreadable, utf8
from pastchats_memory.readers import FALLBACKS, NO_KEYS, READERS, Reader, TwoClaims, keys_taken, reader_for
from pastchats_memory.readers.clean import clean
from pastchats_memory.readers.notes import FORMAT as NOTES
from pastchats_memory.readers.source import NotText, Source
from pastchats_memory.redact import redact, redacted_value
from pastchats_memory.store import prompts as corpus
from pastchats_memory.store import sources, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import SourceState

BATCH_TURNS = 256
BATCH_CHARACTERS = 1 << 20
NOT_TAKEN = "no conversation found in it"
NOTES_NOT_TAKEN = "Markdown that is no dialogue; name the file itself or use --notes to take it"


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one file that was not simply unchanged."""

    path: str
    format: str | None  # None: not taken, see `reason`
    added: int = 0
    updated: int = 0
    skipped: int = 0  # turns that were stored already
    reason: str | None = None
    unreadable: tuple[Unreadable, ...] = ()
    keys: Mapping[str, str] = field(default_factory=lambda: NO_KEYS)  # as `keys_taken` gives them, in a dry run


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    bytes_done: int
    """Of the file under way as many as its turns so far have characters."""
    bytes_total: int
    turns: int
    """Read so far."""


@dataclass(slots=True)
class IndexReport:
    """What a run found, added, skipped and could not read."""

    model: str
    files_scanned: int = 0
    files_unchanged: int = 0
    known: int = 0
    """Of the unchanged files those that were understood when they were read."""
    files: list[FileReport] = field(default_factory=list)
    embedded: int = 0
    """Texts that went through the model."""
    cached: int = 0
    """New rows whose text already had a vector."""
    superseded: int = 0
    """Rows of notes that are no longer in their file."""
    duration_s: float = 0.0
    outcome: str = "done"
    """`done`, `interrupted` or `failed`."""

    @property
    def taken(self) -> list[FileReport]:
        """The files that were understood."""
        return [report for report in self.files if report.format is not None]

    @property
    def unreadable(self) -> list[Unreadable]:
        """Lines and whole files that were not understood."""
        return [line for report in self.files for line in report.unreadable]

    def counts(self) -> dict[str, int]:
        """The record of the run, as `runs` has it."""
        return {
            "files_scanned": self.files_scanned,
            "turns_added": sum(report.added for report in self.files),
            "turns_skipped": sum(report.skipped for report in self.files),
            "unreadable": len(self.unreadable),
        }


def index(
    database: Database,
    embedder: Embedder,
    inputs: Sequence[Path],
    options: IndexOptions,
    progress: Callable[[Progress], None] = lambda _: None,
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
    found, faults = candidates(inputs, options)
    report = IndexReport(embedder.name, files_scanned=len(found) + len(faults))
    report.files += [FileReport(fault.path, None, reason=fault.reason, unreadable=(fault,)) for fault in faults]
    with database.transaction():
        run_id = sources.begin_run(database, [utf8(str(path)) for path in inputs], embedder.name)
        sources.claim_model(database, embedder.name, embedder.version, embedder.dim)
        vectors.catch_up(database)
    report.outcome = "failed"
    try:
        _index_files(database, embedder, found, options, report, progress)
        report.outcome = "done"
    except KeyboardInterrupt:
        report.outcome = "interrupted"
        raise
    finally:
        report.duration_s = time.monotonic() - start
        sources.finish_run(database, run_id, report.counts(), report.duration_s, report.outcome)
    return report


def dry_run(inputs: Sequence[Path], options: IndexOptions) -> Iterator[tuple[FileReport, int]]:
    """For each file what it would be taken for, and how many turns it has; nothing is written. Raises InputMissing."""
    found, faults = candidates(inputs, options)
    for fault in faults:
        yield FileReport(fault.path, None, reason=fault.reason, unreadable=(fault,)), 0
    for candidate in found:
        try:
            source, reader, reason = _open(candidate, options)
        except OSError as fault:
            yield _failed(candidate, fault), 0
            continue
        if reader is None:
            yield FileReport(candidate.name, None, reason=reason), 0
            continue
        reading = _Reading(candidate)
        turns = sum(1 for _ in _turns(source, reader, reading))
        taken = FileReport(candidate.name, reader.FORMAT, unreadable=tuple(reading.unreadable))
        yield replace(taken, keys=keys_taken(reader, source)), turns


def _index_files(
    database: Database,
    embedder: Embedder,
    found: Sequence[Candidate],
    options: IndexOptions,
    report: IndexReport,
    progress: Callable[[Progress], None],
) -> None:
    known = sources.known_sources(database)
    found = [_as_before(candidate, known) for candidate in found]
    todo = [candidate for candidate in found if options.force or not _unchanged(candidate, options, known)]
    unchanged = {candidate.name for candidate in found} - {candidate.name for candidate in todo}
    report.files_unchanged = len(unchanged)
    report.known = sum(known[name].format is not None for name in unchanged)
    total = sum(candidate.size for candidate in todo)
    writer = _Writer(database, embedder, report)
    done = turns = 0
    for candidate in todo:
        try:
            source, reader, reason = _open(candidate, options)
        except OSError as fault:  # not remembered, so that the next run tries again
            report.files.append(_failed(candidate, fault))
        else:
            if reader is None:
                writer.pass_over(candidate, _recipe(options, left=candidate), reason)
            else:
                file = writer.open(candidate, _recipe(options), reader.FORMAT)
                characters = 0
                for prompt in _prompts(source, reader, options, file.reading):
                    writer.add(file, prompt)
                    turns += 1
                    characters += len(prompt.turn.content)
                    progress(Progress(done + min(characters, candidate.size), total, turns))
                writer.close(file)
        done += candidate.size
        progress(Progress(done, total, turns))
    writer.flush()


def _as_before(candidate: Candidate, known: dict[str, SourceState]) -> Candidate:
    """A note that was taken once stays taken, as if it were named each time."""
    state = known.get(candidate.name)
    return replace(candidate, named=True) if state is not None and state.format == NOTES else candidate


def _recipe(options: IndexOptions, *, left: Candidate | None = None) -> str:
    """What besides its bytes decides what is made of a file; of one that was left, also whether notes were wanted."""
    versions = ",".join(f"{reader.FORMAT}={reader.VERSION}" for reader in (*READERS, *FALLBACKS))
    wanted = "" if left is None else f";notes={options.wants_notes_at(left.path) or left.named:d}"
    return f"{versions};project={options.project or ''}{wanted}{options.recipe()}"


def _unchanged(candidate: Candidate, options: IndexOptions, known: dict[str, SourceState]) -> bool:
    state = known.get(candidate.name)
    if state is None:
        return False
    recipe = _recipe(options, left=candidate if state.format is None else None)
    return (state.size, state.mtime_ns, state.recipe) == (candidate.size, candidate.mtime_ns, recipe)


def _open(candidate: Candidate, options: IndexOptions) -> tuple[Source, Reader | None, str]:
    """The file, its reader or None, and the reason for None. Raises OSError."""
    source = Source(
        candidate.path,
        named=candidate.named,
        notes=options.wants_notes_at(candidate.path),
        chunk_size=options.chunk_size,
        chunk_overlap=options.overlap,
    )
    try:
        reader = reader_for(source)
        reason = NOTES_NOT_TAKEN if source.shape == "markdown" else NOT_TAKEN
    except (NotText, TwoClaims) as fault:
        return source, None, str(fault)
    return source, reader, reason if candidate.size else "empty"


def _failed(candidate: Candidate, fault: OSError) -> FileReport:
    reason = fault.strerror or str(fault)
    return FileReport(candidate.name, None, reason=reason, unreadable=(Unreadable(candidate.name, 0, reason),))


@dataclass(slots=True)
class _Reading:
    """What became of reading a file, beside its turns."""

    candidate: Candidate
    unreadable: list[Unreadable] = field(default_factory=list)
    is_cut_short: bool = False
    """The disk or the permissions ended it before the file did."""


def _turns(source: Source, reader: Reader, reading: _Reading) -> Iterator[Turn]:
    """The turns of a file, clean, without our own words, and not empty."""
    try:
        for turn in reader.read(source):
            if isinstance(turn, Unreadable):
                reading.unreadable.append(turn)
            elif (cleaned := clean(turn)) and (said := without_echoes(cleaned.content)):
                yield replace(cleaned, content=said)
    except OSError as fault:
        reading.is_cut_short = True
        reading.unreadable.append(Unreadable(reading.candidate.name, 0, fault.strerror or str(fault)))


def _prompts(source: Source, reader: Reader, options: IndexOptions, reading: _Reading) -> Iterator[Prompt]:
    identities = Identities(utf8(source.path.name))
    places: Counter[str | None] = Counter()
    for turn in _turns(source, reader, reading):
        content = redact(turn.content).text
        metadata = {**redacted_value(turn.metadata), "format": reader.FORMAT, "branch": turn.branch, "kind": turn.kind}
        metadata |= {} if turn.native_id is None else {"native_id": turn.native_id}
        yield Prompt(
            source_path=reading.candidate.name,
            project=options.project or project_of(turn, source.path),
            turn_index=places[turn.conversation_id],
            turn=replace(turn, content=content),
            content_hash=identities.of(turn),  # of the text as it was, so that better detectors make no second row
            text_hash=text_hash(content),
            metadata=metadata,
        )
        places[turn.conversation_id] += 1


@dataclass(slots=True)
class _File:
    """A file whose turns are under way to the database."""

    reading: _Reading
    recipe: str
    format: str
    waiting: dict[str, Prompt] = field(default_factory=dict)
    """By content_hash, so that a turn that stands twice in a batch is one row."""
    seen: set[int] = field(default_factory=set)
    added: int = 0
    updated: int = 0
    read: int = 0
    is_whole: bool = False


class _Writer:
    """Gathers turns across files into batches and stores each batch in one transaction."""

    def __init__(self, database: Database, embedder: Embedder, report: IndexReport) -> None:
        self._database = database
        self._embedder = embedder
        self._report = report
        self._files: list[_File] = []
        self._turns = 0
        self._characters = 0

    def pass_over(self, candidate: Candidate, recipe: str, reason: str) -> None:
        """Remember a file that is no transcript."""
        self._report.files.append(FileReport(candidate.name, None, reason=reason))
        state = SourceState(candidate.name, candidate.size, candidate.mtime_ns, recipe, note=reason)
        with self._database.transaction():
            sources.finish_source(self._database, state)

    def open(self, candidate: Candidate, recipe: str, format_: str) -> _File:
        """Begin a file."""
        self._files.append(_File(_Reading(candidate), recipe, format_))
        return self._files[-1]

    def add(self, file: _File, prompt: Prompt) -> None:
        """One turn more; stores the batch when it is full."""
        earlier = file.waiting.get(prompt.content_hash)
        if earlier is None or len(earlier.turn.content) < len(prompt.turn.content):
            file.waiting[prompt.content_hash] = prompt
        file.read += 1
        self._turns += 1
        self._characters += len(prompt.turn.content)
        if self._turns >= BATCH_TURNS or self._characters >= BATCH_CHARACTERS:
            self.flush()

    def close(self, file: _File) -> None:
        """The file was read to its end."""
        file.is_whole = True

    def flush(self) -> None:
        """Embed what has no vector yet and store everything that waits."""
        encoded = self._encode([prompt for file in self._files for prompt in file.waiting.values()])
        with sources.vectors_of(self._database, self._embedder.name, self._embedder.version):
            source_ids = [self._store(file, encoded) for file in self._files]
            # After all of the batch, so that what moved from one note to another is still there to be known again.
            for file, source_id in zip(self._files, source_ids, strict=True):
                self._finish(file, source_id)
            vectors.catch_up(self._database)
        for file in self._files:
            if file.is_whole:
                self._report.files.append(_report(file))
        self._files = [file for file in self._files if not file.is_whole]
        self._turns = self._characters = 0

    def _encode(self, prompts: Sequence[Prompt]) -> dict[bytes, str]:
        """JSON vectors by text_hash of every text that is not stored unchanged."""
        same = corpus.unchanged(self._database, prompts)
        changed = [prompt for prompt, unchanged in zip(prompts, same, strict=True) if not unchanged]
        encoded = corpus.vectors_of(self._database, (prompt.text_hash for prompt in changed), self._embedder.name)
        missing = {prompt.text_hash: prompt.turn.content for prompt in changed if prompt.text_hash not in encoded}
        fresh = zip(missing, self._embedder.embed(missing.values()), strict=True)
        encoded |= {hash_: vectors.encode(vector) for hash_, vector in fresh}
        self._report.embedded += len(missing)
        self._report.cached += len(changed) - len(missing)
        return encoded

    def _store(self, file: _File, encoded: dict[bytes, str]) -> int:
        candidate = file.reading.candidate
        source_id = sources.begin_source(self._database, candidate.name, candidate.mtime_ns)
        if file.waiting:
            written = corpus.put(self._database, tuple(file.waiting.values()), encoded, self._embedder.name, source_id)
            file.added += written.added
            file.updated += written.updated
            file.seen.update(written.ids)
            file.waiting.clear()
        return source_id

    def _finish(self, file: _File, source_id: int) -> None:
        if file.is_whole and not file.reading.is_cut_short:
            if file.format == NOTES:
                self._report.superseded += corpus.supersede(self._database, source_id, file.seen)
            sources.finish_source(self._database, _state(file))


def _state(file: _File) -> SourceState:
    candidate, unreadable = file.reading.candidate, file.reading.unreadable
    note = f"{len(unreadable)} unreadable" if unreadable else None
    return SourceState(candidate.name, candidate.size, candidate.mtime_ns, file.recipe, file.format, note)


def _report(file: _File) -> FileReport:
    return FileReport(
        file.reading.candidate.name,
        file.format,
        added=file.added,
        updated=file.updated,
        skipped=file.read - file.added - file.updated,
        unreadable=tuple(file.reading.unreadable),
    )
