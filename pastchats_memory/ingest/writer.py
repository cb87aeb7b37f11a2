"""Write rows in batches.

A batch is one transaction of rows, vectors and the state of the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import orjson

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.formats.registry import formats_of_kind
from pastchats_memory.ingest.changes import COPIES, Plan, fingerprint, recipe_of
from pastchats_memory.ingest.open_file import OpenFile
from pastchats_memory.ingest.options import IndexOptions
from pastchats_memory.ingest.report import FileReport, IndexReport
from pastchats_memory.ingest.task_rows import encode_tasks, prepare_tasks, store_tasks
from pastchats_memory.model import Prompt
from pastchats_memory.redact import redact
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import redactions, sources, vectors
from pastchats_memory.store import turns as corpus
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import SourceState

LOCK_END = "-lock"
"""End of the name of the file that runs lock in turn. It is empty, and removed after each turn."""
LONGEST_WAIT_S = 600.0
BATCH_TURNS = 256
BATCH_CHARACTERS = 1 << 20
MOST_PROBLEMS = 100
"""Unreadable lines of a file that are stored."""
SUPERSEDING = frozenset(known.name for known in formats_of_kind("notes"))
"""Formats whose files state what holds now; a row that is missing from its file is superseded."""


class Writer:
    """Collect rows of several files into batches, each one transaction."""

    def __init__(
        self, database: Database, session: ModelSession, report: IndexReport, run_id: int, options: IndexOptions
    ) -> None:
        self._database = database
        self._session = session
        self._report = report
        self._run_id = run_id
        self._options = options
        self._files: list[OpenFile] = []
        self._turns = 0
        self._characters = 0
        self._uncached = 0
        """Texts of turns in the batch that needed a vector."""

    def skip(self, plan: Plan, recipe: str, reason: str) -> None:
        """Store that a file has no format; rows of the note that it was are superseded."""
        candidate = plan.candidate
        self._report.files.append(FileReport(candidate.name, None, reason=reason))
        reason = redact(reason).text
        state = SourceState(
            candidate.name, candidate.size, candidate.mtime_ns, recipe, note=reason, file_id=candidate.file_id,
            project=plan.project, read_as=plan.read_as.to_json(),
        )  # fmt: skip
        with self._database.transaction():
            if plan.state is not None and plan.state.format in SUPERSEDING:
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
        self._turns += 1
        self._characters += len(prompt.turn.content)
        if self._turns >= BATCH_TURNS or self._characters >= BATCH_CHARACTERS:
            self.flush()

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
                file.fingerprint = fingerprint(candidate.path, file.checkpoint.offset)
            elif candidate.is_alone:
                file.fingerprint = fingerprint(candidate.path)
        except OSError:  # it went away meanwhile: the next run says so
            file.is_cut_short = True

    def flush(self) -> None:
        """Embed what has no vector yet, and store everything that waits."""
        waiting = [prompt for file in self._files for prompt in file.waiting.values()]
        encoded: dict[bytes, str] = {}
        self._uncached, embedded = 0, self._session.embedded
        with self._take_turn(waiting):
            while not self._try_flush(waiting, encoded):
                continue  # another process deleted rows whose vectors were not made again
        self._report.embedded += self._session.embedded - embedded
        self._report.cached += len(waiting) - self._uncached
        for file in self._files:
            if file.is_whole:
                self._report.files.append(file.report())
        self._files = [file for file in self._files if not file.is_whole]
        self._turns = self._characters = 0

    @contextmanager
    def _take_turn(self, waiting: Sequence[Prompt]) -> Iterator[None]:
        """Embed and store a batch while no other run does so, if the batch has anything to embed.

        Runs over the same files then share the work: what one has embedded, the others find in the database. The system
        frees the lock of a killed process. Without locks, two runs embed the same texts.
        """
        if not any(file.task_rows for file in self._files) and not self._find_unembedded(waiting, {}):
            yield
            return
        from filelock import FileLock  # brings asyncio, which a run without anything new has no use for

        path = self._database.path.with_name(self._database.path.name + LOCK_END)
        lock = FileLock(path, LONGEST_WAIT_S, mode=0o600, fallback_to_soft=False)  # a kill would not free a soft one
        with suppress(OSError, NotImplementedError):  # no locks here, or the other process stands still
            lock.acquire()
        try:
            yield
        finally:
            if lock.is_locked:
                with suppress(OSError):  # Windows removes no open file
                    path.unlink()
            lock.release()

    def _try_flush(self, waiting: Sequence[Prompt], encoded: dict[bytes, str]) -> bool:
        """Store everything, or return False if a vector is missing after all.

        A row that had the vector may have been deleted meanwhile.
        """
        self._encode(self._find_unembedded(waiting, encoded), encoded)
        ready = encode_tasks(self._database, self._session, (file.task_rows for file in self._files))
        with sources.vector_transaction(self._database, self._session):
            if self._find_unembedded(waiting, encoded):
                return False
            redactions.claim_rules(self._database, rules_version())
            source_ids = [self._store(file, encoded) for file in self._files]
            # Only after the whole batch, so that text which moved to another note is found again.
            for file, source_id in zip(self._files, source_ids, strict=True):
                self._finish(file, source_id, ready)
            vectors.catch_up(self._database)
            sources.finish_run(self._database, self._run_id, self._report.counts(), None, "running")
        return True

    def _find_unembedded(self, prompts: Sequence[Prompt], encoded: dict[bytes, str]) -> list[Prompt]:
        """Return the rows whose vector is needed and not known.

        Rows that are stored unchanged, or were forgotten, need none.
        """
        same = corpus.are_unchanged(self._database, prompts)
        lacking = [
            prompt
            for prompt, unchanged in zip(prompts, same, strict=True)
            if not unchanged and prompt.text_hash not in encoded
        ]
        gone = corpus.find_forgotten(self._database, lacking)
        return [prompt for prompt in lacking if prompt.content_hash not in gone]

    def _encode(self, prompts: Sequence[Prompt], encoded: dict[bytes, str]) -> None:
        """Add the encoded vectors of these rows, by text_hash."""
        encoded |= corpus.known_vectors(self._database, (prompt.text_hash for prompt in prompts), self._session.name)
        missing = {prompt.text_hash: prompt.turn.content for prompt in prompts if prompt.text_hash not in encoded}
        encoded |= zip(missing, vectors.encode_or_defer(self._session, list(missing.values())), strict=True)
        self._uncached += len(missing)

    def _store(self, file: OpenFile, encoded: dict[bytes, str]) -> int:
        candidate = file.plan.candidate
        source_id = sources.begin_source(self._database, candidate.name, candidate.mtime_ns)
        if file.waiting:
            written = corpus.store(
                self._database, tuple(file.waiting.values()), encoded, self._session.name, source_id, COPIES
            )
            file.added += written.added
            file.updated += written.updated
            file.forgotten += written.forgotten
            file.seen.update(written.ids)
            self._report.added += written.added
            self._report.forgotten += written.forgotten
            self._report.cached -= written.forgotten  # they need no vector
            self._report.skipped += len(written.ids) - written.added - written.updated
            file.waiting.clear()
        return source_id

    def _finish(self, file: OpenFile, source_id: int, ready: dict[bytes, str]) -> None:
        if file.is_whole and not file.is_cut_short:
            before = file.plan.state
            was = None if before is None else before.format
            is_other_reader = (
                was is not None and before is not None and before.recipe != recipe_of(file.format, self._options)
            )
            if not file.is_resumed and ({file.format, was} & SUPERSEDING or (is_other_reader and _is_same_file(file))):
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
    """Check whether the file is unchanged since it was last read.

    Size and time decide, or the bytes if it was copied.
    """
    before = file.plan.state
    return file.plan.is_known_whole or (
        before is not None and before.fingerprint is not None and before.fingerprint == file.fingerprint
    )


def _build_state(file: OpenFile, options: IndexOptions) -> SourceState:
    candidate, unreadable = file.plan.candidate, file.unreadable
    before = file.plan.state if file.is_resumed else None
    problems = orjson.loads(before.problems or "[]") if before is not None else []
    problems = (problems + [[fault.line, redact(fault.reason).text] for fault in unreadable])[:MOST_PROBLEMS]
    return SourceState(
        path=candidate.name,
        size=candidate.size,
        mtime_ns=candidate.mtime_ns,
        recipe=recipe_of(file.format, options)
        + (";opted out" if file.is_opted_out else ""),  # so that it is read once it is not
        format=file.format,
        note=f"{len(problems)} unreadable" if problems else None,
        file_id=candidate.file_id,
        fingerprint=file.fingerprint,
        project=file.plan.project,
        problems=orjson.dumps(problems).decode() if problems else None,
        read_as=file.plan.read_as.to_json(),
    )
