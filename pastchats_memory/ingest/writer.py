"""Write rows, vectors and the state of files in batches, each one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

import orjson

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.errors import ModelUnavailable
from pastchats_memory.ingest.changes import COPIES, NOTE_FORMATS, Plan, fingerprint, recipe_of
from pastchats_memory.ingest.forecast import other_runs
from pastchats_memory.ingest.open_file import OpenFile
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.report import FileReport, IndexReport
from pastchats_memory.ingest.run_lock import hold_run_lock
from pastchats_memory.ingest.task_rows import encode_tasks, prepare_tasks, store_tasks
from pastchats_memory.model import Prompt
from pastchats_memory.redact import redact
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import redactions, sources, vectors
from pastchats_memory.store import turns as corpus
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import SourceState
from pastchats_memory.store.tasks import Filed

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

BATCH_TURNS = 256
BATCH_CHARACTERS = 1 << 20
MOST_PROBLEMS = 100
"""Unreadable lines of a file that are stored."""


class _Part(NamedTuple):
    """Rows of one file in a batch."""

    file: OpenFile
    rows: tuple[Prompt, ...]
    is_last: bool
    """Whether the file was read to its end."""

    @property
    def task_rows(self) -> Sequence[Filed]:
        return self.file.task_rows if self.is_last else ()


@dataclass(slots=True)
class _Batch:
    """Rows that are stored together."""

    parts: tuple[_Part, ...]
    encoded: dict[bytes, str] = field(default_factory=dict)
    """Encoded vectors by text_hash."""
    uncached: int = 0
    """Texts of turns that needed a vector."""
    embedding: Future[list[str]] | None = None
    """The encoded vectors of `missing`, as soon as the thread has made them."""
    missing: tuple[bytes, ...] = ()
    """The text_hashes of the texts that the thread embeds."""

    @property
    def rows(self) -> list[Prompt]:
        return [row for part in self.parts for row in part.rows]


class Writer:
    """Collect rows of several files into batches, each one transaction.

    While a thread embeds one batch, the one before is stored and the next one is read. Leave the context to end the thread.
    """

    def __init__(
        self, database: Database, session: ModelSession, report: IndexReport, run_id: int, options: IndexOptions
    ) -> None:
        self._database = database
        self._session = session
        self._report = report
        self._run_id = run_id
        self._options = options
        self._files: list[OpenFile] = []
        self._waiting_turns = 0
        self._characters = 0
        self._batch: _Batch | None = None
        """The batch that is being embedded."""
        self._run_lock = ExitStack()
        """Holds the lock while a batch is embedded and stored."""
        self._embedded_before = session.embedded
        """Texts that the session embedded before this run, such as those of an estimate."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the thread, and release the lock; drop the batch if something failed."""
        if fault is not None:
            self._session.refuse(ModelUnavailable("the run has ended"))
        try:
            if "_pool" in vars(self):
                self._pool.shutdown()
        finally:
            self._run_lock.close()

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        from concurrent.futures import ThreadPoolExecutor  # brings logging; a run without anything new does without

        return ThreadPoolExecutor(1, "batch")

    def skip(self, plan: Plan, recipe: str, reason: str) -> None:
        """Store that a file has no format; rows of the note that it was are superseded."""
        candidate = plan.candidate
        self._report.files.append(FileReport(candidate.name, None, reason=reason))
        state = _make_state(plan, recipe)._replace(note=redact(reason).text)
        with self._database.transaction():
            if plan.state is not None and plan.state.format in NOTE_FORMATS:
                source_id = sources.begin_source(self._database, candidate.name, candidate.mtime_ns)
                self._report.superseded += sources.supersede(self._database, source_id, ())
                vectors.catch_up(self._database)
            sources.finish_source(self._database, state)

    def open(self, plan: Plan, format_: str) -> OpenFile:
        """Start a file."""
        self._files.append(OpenFile(plan, format_))
        return self._files[-1]

    def add(self, file: OpenFile, prompt: Prompt) -> None:
        """Add one row; store the batch if it is full."""
        earlier = file.waiting.get(prompt.content_hash)
        if earlier is None or len(earlier.turn.content) < len(prompt.turn.content):
            file.waiting[prompt.content_hash] = prompt
        file.read += 1
        self._waiting_turns += 1
        self._characters += len(prompt.turn.content)
        if self._waiting_turns >= BATCH_TURNS or self._characters >= BATCH_CHARACTERS:
            self._begin_batch()

    def abandon(self, file: OpenFile) -> None:
        """Drop a file that has yielded no row yet."""
        self._files.remove(file)

    def close(self, file: OpenFile) -> None:
        """Finish a file that was read to its end."""
        file.is_whole = True
        candidate = file.plan.candidate
        if not file.is_opted_out:
            file.task_rows = prepare_tasks(file.tasks, candidate, file.plan.project)
        try:
            if file.resume is not None and file.checkpoint is not None:
                file.fingerprint = fingerprint(candidate.path, file.plan.key, file.checkpoint.offset)
            elif candidate.is_alone:
                file.fingerprint = fingerprint(candidate.path, file.plan.key)
        except OSError:  # it went away meanwhile: the next run says so
            file.is_cut_short = True

    def flush(self) -> None:
        """Embed what has no vector yet, and store everything that waits."""
        self._begin_batch(is_last=True)

    def _begin_batch(self, *, is_last: bool = False) -> None:
        """Begin to embed what waits, and store the batch before meanwhile; the last one is stored at once."""
        before = self._batch
        if before is not None and not self._may_be_followed(before):
            with self._run_lock:
                self._end_batch(before)
            self._batch = before = None
        parts = tuple(_Part(file, tuple(file.waiting.values()), file.is_whole) for file in self._files)
        self._files = [file for file in self._files if not file.is_whole]
        self._waiting_turns = self._characters = 0
        for part in parts:
            part.file.waiting.clear()
        batch = _Batch(parts)
        if before is None and (any(part.task_rows for part in parts) or self._find_unembedded(batch)):
            self._run_lock.enter_context(hold_run_lock(self._database))
        texts = self._find_texts(batch, () if before is None else before.missing)
        if texts:
            batch.missing = tuple(texts)
            batch.embedding = self._start_embedding(texts)
        if before is not None:
            self._end_batch(before)
            needed = {row.text_hash for row in batch.rows}
            batch.encoded = {hash_: one for hash_, one in before.encoded.items() if hash_ in needed} | batch.encoded
        self._batch = batch
        if is_last or not texts:
            with self._run_lock:
                self._end_batch(batch)
            self._batch = None

    def _may_be_followed(self, batch: _Batch) -> bool:
        """Return whether the next batch may be embedded while this one is stored.

        Not if this one has tasks, whose texts need the model then, or if there is another run, which needs the lock.
        """
        return not any(part.task_rows for part in batch.parts) and not other_runs(self._database)

    def _end_batch(self, batch: _Batch) -> None:
        """Store a batch as soon as it is embedded."""
        if batch.embedding is not None:
            batch.encoded |= zip(batch.missing, batch.embedding.result(), strict=True)
        while not self._try_store(batch):
            # Another process deleted rows whose vectors were not made again, or the batch before changed a row.
            if texts := self._find_texts(batch):
                batch.encoded |= zip(texts, self._start_embedding(texts).result(), strict=True)
        self._report.embedded = self._session.embedded - self._embedded_before
        self._report.cached += len(batch.rows) - batch.uncached
        self._report.files += [part.file.report() for part in batch.parts if part.is_last]

    def _try_store(self, batch: _Batch) -> bool:
        """Store everything, or return False if a row with a needed vector was deleted meanwhile."""
        ready = encode_tasks(self._database, self._session, (part.task_rows for part in batch.parts))
        with sources.vector_transaction(self._database, self._session):
            if self._find_unembedded(batch):
                return False
            redactions.claim_rules(self._database, rules_version())
            source_ids = [self._store(part, batch.encoded) for part in batch.parts]
            # Only after the whole batch, so that text which moved to another note is found again.
            for part, source_id in zip(batch.parts, source_ids, strict=True):
                if part.is_last and not part.file.is_cut_short:
                    self._finish(part.file, source_id, ready)
            vectors.catch_up(self._database)
            sources.finish_run(self._database, self._run_id, self._report.counts(), None, "running")
        return True

    def _find_unembedded(self, batch: _Batch) -> list[Prompt]:
        """Return the rows whose vector is needed and not known; unchanged and forgotten rows need none."""
        rows = batch.rows
        same = corpus.are_unchanged(self._database, rows)
        lacking = [
            row
            for row, unchanged in zip(rows, same, strict=True)
            if not unchanged and row.text_hash not in batch.encoded
        ]
        gone = corpus.find_forgotten(self._database, lacking)
        return [row for row in lacking if row.content_hash not in gone]

    def _find_texts(self, batch: _Batch, under_way: Sequence[bytes] = ()) -> dict[bytes, str]:
        """Return the texts to embed, by text_hash; add the vectors of other rows with the same text to the batch.

        `under_way` are the text_hashes of the batch before, which is being embedded.
        """
        rows = self._find_unembedded(batch)
        batch.encoded |= corpus.known_vectors(self._database, (row.text_hash for row in rows), self._session.name)
        known = batch.encoded.keys() | under_way
        texts = {row.text_hash: row.turn.content for row in rows if row.text_hash not in known}
        batch.uncached += len(texts)
        return texts

    def _start_embedding(self, texts: Mapping[bytes, str]) -> Future[list[str]]:
        """Return the encoded vectors of texts, as soon as the thread has made them."""
        self._session.check()  # it reads the database, as this thread alone may
        return self._pool.submit(vectors.encode_or_defer, self._session, list(texts.values()))

    def _store(self, part: _Part, encoded: dict[bytes, str]) -> int:
        file, candidate = part.file, part.file.plan.candidate
        source_id = sources.begin_source(self._database, candidate.name, candidate.mtime_ns)
        if part.rows:
            written = corpus.store(self._database, part.rows, encoded, self._session.name, source_id, COPIES)
            file.added += written.added
            file.updated += written.updated
            file.forgotten += written.forgotten
            file.seen.update(written.ids)
            self._report.added += written.added
            self._report.forgotten += written.forgotten
            self._report.cached -= written.forgotten  # they need no vector
            self._report.skipped += len(written.ids) - written.added - written.updated
        return source_id

    def _finish(self, file: OpenFile, source_id: int, ready: dict[bytes, str]) -> None:
        before = file.plan.state
        was = None if before is None else before.format
        is_other_reader = (
            was is not None and before is not None and before.recipe != recipe_of(file.format, self._options)
        )
        if not file.is_resumed and ({file.format, was} & NOTE_FORMATS or (is_other_reader and _is_same_file(file))):
            self._report.superseded += sources.supersede(self._database, source_id, file.seen)
        stored = store_tasks(
            self._database, self._session, file.task_rows, (file.format, file.plan.candidate.name), ready
        )
        file.added, file.updated = file.added + stored.added, file.updated + stored.updated
        file.forgotten += stored.forgotten
        self._report.forgotten += stored.forgotten
        self._report.superseded += stored.superseded
        self._report.tasks += stored.added
        # A checkpoint holds text as it stands in the file, even text that must not be stored.
        resume = None if file.forgotten or file.is_opted_out or file.judging else file.resume
        sources.finish_source(self._database, _build_state(file, self._options), resume)


def _is_same_file(file: OpenFile) -> bool:
    """Check by size and time, or by the bytes of a copy, whether the file is unchanged since its last reading."""
    before = file.plan.state
    return file.plan.is_known_whole or (
        before is not None and before.fingerprint is not None and before.fingerprint == file.fingerprint
    )


def _make_state(plan: Plan, recipe: str) -> SourceState:
    """Return the state of a file of which nothing was read."""
    candidate = plan.candidate
    return SourceState(
        candidate.name,
        candidate.size,
        candidate.mtime_ns,
        recipe,
        file_id=candidate.file_id,
        project=plan.project,
        read_as=plan.read_as.to_json(),
    )


def _build_state(file: OpenFile, options: IndexOptions) -> SourceState:
    before = file.plan.state if file.is_resumed else None
    problems = orjson.loads(before.problems or "[]") if before is not None else []
    problems = (problems + [[fault.line, redact(fault.reason).text] for fault in file.unreadable])[:MOST_PROBLEMS]
    opted_out = ";opted out" if file.is_opted_out else ""  # so that it is read once it is not
    return _make_state(file.plan, recipe_of(file.format, options) + opted_out)._replace(
        format=file.format,
        note=f"{len(problems)} unreadable" if problems else None,
        fingerprint=file.fingerprint,
        problems=orjson.dumps(problems).decode() if problems else None,
    )
