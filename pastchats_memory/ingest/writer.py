"""Turns into the database, batch by batch: each is one transaction of rows, vectors and what is known of the files."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import orjson

from pastchats_memory.embed import Embedder
from pastchats_memory.files.project import project_at
from pastchats_memory.formats.base.checkpoint import Checkpoint
from pastchats_memory.formats.registry import formats_of_kind
from pastchats_memory.ingest.changes import COPIES, Plan, fingerprint, recipe_of
from pastchats_memory.ingest.discover import Candidate, IndexOptions
from pastchats_memory.ingest.report import FileReport, IndexReport
from pastchats_memory.model import Comment, Metadata, Prompt, Task, TaskLink, TaskState, Unreadable, utf8
from pastchats_memory.redact import redact, redact_json, redact_task
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import interchange, redactions, sources, tasks, vectors
from pastchats_memory.store import turns as corpus
from pastchats_memory.store.database import Database
from pastchats_memory.store.sources import SourceState
from pastchats_memory.store.tasks import (
    LONGEST_TITLE,
    Embed,
    Filed,
    TaskWriter,
    encode_texts,
    identity_of,
    supersede_tasks,
    texts_to_come,
    without_forgotten,
)
from pastchats_memory.store.tombstones import Tombstones
from pastchats_memory.text.clean import clean, clean_value
from pastchats_memory.text.recall_block import without_echoes

# Tasks that readers find, on their way into the database in the transaction of their file's turns.

TASK_FORMATS = frozenset(known.name for known in formats_of_kind("tasks"))
"""Formats whose files are lists of tasks: what is no longer in one of them is gone."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of the tasks of a file."""

    added: int
    updated: int
    superseded: int
    """Tasks that are no longer in it."""
    forgotten: int


def filed(found: Iterable[Task], candidate: Candidate, project: str | None) -> list[Filed]:
    """The tasks of a file as they may be stored; a project that nothing tells is empty."""
    written = datetime.fromtimestamp(candidate.mtime_ns / 1e9, UTC).isoformat(timespec="milliseconds")
    seen_at = written.replace("+00:00", "Z")
    return [
        _filed(task, project or task.project or _project_of(task, candidate.path), candidate.name, seen_at)
        if task.exported is None
        else _as_exported(task, task.exported)
        for task in found
    ]


def _filed(task: Task, project: str, source_path: str, seen_at: str) -> Filed:
    """The task without secrets, known by its ids as they were: other rules may leave other things of them."""
    task = _clean(task)
    safe = redact_task(task)
    return Filed(
        safe._replace(title=safe.title[:LONGEST_TITLE]),
        redact(project).text,
        source_path,
        identity=identity_of(project, task.scope, task.native_id),
        targets=tuple(identity_of(project, task.scope, link.target) for link in task.links),
        seen_at=seen_at,
    )


def wrong_with(task: Task) -> str | None:
    """What an export has wrong about a task, None for nothing and for a task of any other source."""
    return None if task.exported is None else interchange.find_fault(task.exported)


def _as_exported(task: Task, exported: Metadata) -> Filed:
    body = dict(redact_json(exported))
    filed = interchange.parse_task(body)
    return replace(filed, task=filed.task._replace(cwd=task.cwd, exported=body))


def _project_of(task: Task, path: Path) -> str:
    """Of the folder that was recorded, else of the file's; nothing for a conversation's list, which has the conversation's."""
    if task.cwd is None and task.conversation_id is not None:
        return ""
    return utf8(project_at(task.cwd or str(path.parent)))


def _clean(task: Task) -> Task:
    return task._replace(
        native_id=clean(task.native_id),
        scope=utf8(task.scope),  # which has the name of a file in it
        title=_text(task.title),
        description=_text(task.description),
        status_raw=clean(task.status_raw),
        tags=tuple(_text(tag) for tag in task.tags),
        links=tuple(TaskLink(clean(link.kind), clean(link.target)) for link in task.links),
        states=tuple(TaskState(state.status, clean(state.raw), state.at) for state in task.states),
        comments=tuple(Comment(_text(said.content), _text(said.author), said.created_at) for said in task.comments),
        metadata={key: clean_value(value) for key, value in task.metadata.items()},
    )


def _text(text: str) -> str:
    return clean(text).strip()


def encode_tasks(database: Database, embedder: Embedder, files: Iterable[Sequence[Filed]]) -> dict[bytes, str]:
    """The vectors that storing the tasks will need, made before the write lock is taken. Raises ModelUnavailable."""
    tombstones = Tombstones(database)
    kept = (without_forgotten(database, tombstones, one) for waiting in files for one in waiting)
    texts = texts_to_come(one.task for one in kept if one is not None)
    return encode_texts(database, texts, embedder.name, _encode(embedder))


def store(
    database: Database,
    embedder: Embedder,
    waiting: Sequence[Filed],
    file: tuple[str, str],
    ready_by_hash: dict[bytes, str],
) -> Stored:
    """Store the tasks of a whole file, of which format and name are given, inside the caller's transaction. Raises StoreFault."""
    format_, name = file
    writer = TaskWriter(database, embedder.name, _encode(embedder), ready_by_hash)
    whole = [one if one.project else _of_conversation(database, one) for one in waiting]
    sources.remember_folders(database, _folders_of(whole, name))
    sources.keep_private(
        database, {one.project for one in whole if one.task.exported and one.task.exported.get("is_private")}
    )
    done = [_put(database, writer, one) for one in whole]
    outcomes = [outcome for _, outcome in done]
    gone = 0
    if format_ in TASK_FORMATS:
        gone = supersede_tasks(database, name, (id_ for id_, _ in done))
    return Stored(outcomes.count("added"), outcomes.count("updated"), gone, outcomes.count("forgotten"))


def _put(database: Database, writer: TaskWriter, one: Filed) -> tuple[int, str]:
    if one.task.exported is None:
        return writer.store(one)
    known = interchange.newer_than(database, one.task.exported)
    return interchange.store_exported(database, writer, one.task.exported) if known is None else (known, "unchanged")


def _folders_of(waiting: Iterable[Filed], name: str) -> dict[str, str]:
    """By folder the projects of tasks; that of the file where the task names none and the file is a tracker's."""
    here = str(Path(name).parent)
    return {
        one.task.cwd or here: one.project for one in waiting if one.project and (one.task.cwd or not one.task.exported)
    }


def _encode(embedder: Embedder) -> Embed:
    return lambda texts: map(vectors.encode, embedder.embed(texts))


def _of_conversation(database: Database, one: Filed) -> Filed:
    project = tasks.project_of_conversation(database, one.task.conversation_id or "")
    return replace(one, project=project or "")


BATCH_TURNS = 256
BATCH_CHARACTERS = 1 << 20
MOST_PROBLEMS = 100
"""Lines of a file that are remembered as not understood."""
MOST_CONVERSATIONS = 1000
"""In a file that is gone on with; how many turns each has is remembered."""
OPTED_OUT = "turns of projects that are kept out were left out of it"
SUPERSEDING = frozenset(known.name for known in formats_of_kind("notes"))
"""Formats whose files say what holds now, so that what is no longer in them is gone."""


@dataclass(slots=True)
class Reading:
    """A file whose turns are under way to the database."""

    plan: Plan
    format: str
    places: Counter[str | None] = field(default_factory=Counter)
    """Turns of each conversation so far."""
    unreadable: list[Unreadable] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    filed: list[Filed] = field(default_factory=list)
    is_cut_short: bool = False
    """The disk or the permissions ended it before the file did."""
    is_opted_out: bool = False
    """Turns of it were left, since their project is not to be read."""
    is_resumed: bool = False
    resume: str | None = None
    checkpoint: Checkpoint | None = None
    waiting: dict[str, Prompt] = field(default_factory=dict)
    """By content_hash, so that a turn that stands twice in a batch is one row."""
    seen: set[int] = field(default_factory=set)
    added: int = 0
    updated: int = 0
    forgotten: int = 0
    read: int = 0
    is_whole: bool = False
    fingerprint: str | None = None

    def reached(self, checkpoint: Checkpoint) -> None:
        """Remember where to go on, with the turns that were counted up to there.

        What waits there is text as it stands in the file: with a secret in it or a block of ours, which quotes what may be
        forgotten, it is not to be kept, and the file is gone on with from an earlier place, or read again.
        """
        if _is_to_be_cleaned([*filter(None, self.places), checkpoint.state]):
            return
        self.checkpoint = checkpoint
        if len(self.places) <= MOST_CONVERSATIONS:
            places = [[conversation, count] for conversation, count in self.places.items()]
            body = {"offset": checkpoint.offset, "line": checkpoint.line, "places": places, "state": checkpoint.state}
            self.resume = json.dumps(body)  # orjson refuses lone surrogates

    def report(self) -> FileReport:
        """What became of it."""
        return FileReport(
            self.plan.candidate.name,
            self.format,
            added=self.added,
            updated=self.updated,
            skipped=self.read + len(self.filed) - self.added - self.updated - self.forgotten,
            forgotten=self.forgotten,
            reason=OPTED_OUT if self.is_opted_out else None,
            unreadable=tuple(self.unreadable),
        )


def _is_to_be_cleaned(state: object) -> bool:
    """Whether a text in it would be redacted or lose an echo; all are looked at as one first, since thousands of ids may be among them."""
    together = "\n".join(_texts(state))
    if without_echoes(together) != together:
        return True
    return redact(together).text != together and json.dumps(redact_json(state)) != json.dumps(state)


def _texts(state: object) -> Iterator[str]:
    if isinstance(state, str):
        yield state
    elif isinstance(state, Mapping):
        for key, inner in state.items():
            yield key
            yield from _texts(inner)
    elif isinstance(state, list | tuple):
        for inner in state:
            yield from _texts(inner)


class Writer:
    """Gathers turns across files into batches and stores each batch in one transaction."""

    def __init__(
        self, database: Database, embedder: Embedder, report: IndexReport, run_id: int, options: IndexOptions
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._report = report
        self._run_id = run_id
        self._options = options
        self._files: list[Reading] = []
        self._turns = 0
        self._characters = 0

    def pass_over(self, plan: Plan, recipe: str, reason: str) -> None:
        """Remember a file that is no transcript; rows of a note that it was go with what it said."""
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

    def open(self, plan: Plan, format_: str) -> Reading:
        """Begin a file."""
        self._files.append(Reading(plan, format_))
        return self._files[-1]

    def add(self, file: Reading, prompt: Prompt) -> None:
        """One turn more; stores the batch when it is full."""
        earlier = file.waiting.get(prompt.content_hash)
        if earlier is None or len(earlier.turn.content) < len(prompt.turn.content):
            file.waiting[prompt.content_hash] = prompt
        file.read += 1
        self._turns += 1
        self._characters += len(prompt.turn.content)
        if self._turns >= BATCH_TURNS or self._characters >= BATCH_CHARACTERS:
            self.flush()

    def give_up(self, file: Reading) -> None:
        """Forget a file that has given no turn yet."""
        self._files.remove(file)

    def close(self, file: Reading) -> None:
        """The file was read to its end."""
        file.is_whole = True
        candidate = file.plan.candidate
        if not file.is_opted_out:
            file.filed = filed(file.tasks, candidate, file.plan.project)
        try:
            if file.resume is not None and file.checkpoint is not None:
                file.fingerprint = fingerprint(candidate.path, file.checkpoint.offset)
            elif candidate.is_alone:
                file.fingerprint = fingerprint(candidate.path)
        except OSError:  # it went away meanwhile: the next run says so
            file.is_cut_short = True

    def flush(self) -> None:
        """Embed what has no vector yet and store everything that waits."""
        waiting = [prompt for file in self._files for prompt in file.waiting.values()]
        encoded: dict[bytes, str] = {}
        embedded = self._report.embedded
        while not self._flushed(waiting, encoded):
            continue  # another process deleted rows whose vectors were not made again
        self._report.cached += len(waiting) - (self._report.embedded - embedded)
        for file in self._files:
            if file.is_whole:
                self._report.files.append(file.report())
        self._files = [file for file in self._files if not file.is_whole]
        self._turns = self._characters = 0

    def _flushed(self, waiting: Sequence[Prompt], encoded: dict[bytes, str]) -> bool:
        """Whether everything was stored; not where a row that was there when the vectors were made is gone."""
        self._encode(self._without_vector(waiting, encoded), encoded)
        ready = encode_tasks(self._database, self._embedder, (file.filed for file in self._files))
        with sources.vector_transaction(self._database, self._embedder.name, self._embedder.version):
            if self._without_vector(waiting, encoded):
                return False
            redactions.claim_rules(self._database, rules_version())
            source_ids = [self._store(file, encoded) for file in self._files]
            # After all of the batch, so that what moved from one note to another is still there to be known again.
            for file, source_id in zip(self._files, source_ids, strict=True):
                self._finish(file, source_id, ready)
            vectors.catch_up(self._database)
            sources.finish_run(self._database, self._run_id, self._report.counts(), None, "running")
        return True

    def _without_vector(self, prompts: Sequence[Prompt], encoded: dict[bytes, str]) -> list[Prompt]:
        """The turns that are not stored with just this text, nor were forgotten, and whose vector we have not got."""
        same = corpus.are_unchanged(self._database, prompts)
        lacking = [
            prompt
            for prompt, unchanged in zip(prompts, same, strict=True)
            if not unchanged and prompt.text_hash not in encoded
        ]
        gone = corpus.find_forgotten(self._database, lacking)
        return [prompt for prompt in lacking if prompt.content_hash not in gone]

    def _encode(self, prompts: Sequence[Prompt], encoded: dict[bytes, str]) -> None:
        """Add the JSON vectors of these turns, by text_hash."""
        encoded |= corpus.known_vectors(self._database, (prompt.text_hash for prompt in prompts), self._embedder.name)
        missing = {prompt.text_hash: prompt.turn.content for prompt in prompts if prompt.text_hash not in encoded}
        fresh = zip(missing, self._embedder.embed(missing.values()), strict=True)
        encoded |= {hash_: vectors.encode(vector) for hash_, vector in fresh}
        self._report.embedded += len(missing)

    def _store(self, file: Reading, encoded: dict[bytes, str]) -> int:
        candidate = file.plan.candidate
        source_id = sources.begin_source(self._database, candidate.name, candidate.mtime_ns)
        if file.waiting:
            written = corpus.store(
                self._database, tuple(file.waiting.values()), encoded, self._embedder.name, source_id, COPIES
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

    def _finish(self, file: Reading, source_id: int, ready: dict[bytes, str]) -> None:
        if file.is_whole and not file.is_cut_short:
            before = file.plan.state
            was = None if before is None else before.format
            is_other_reader = (
                was is not None and before is not None and before.recipe != recipe_of(file.format, self._options)
            )
            if not file.is_resumed and ({file.format, was} & SUPERSEDING or (is_other_reader and _is_as_it_was(file))):
                self._report.superseded += sources.supersede(self._database, source_id, file.seen)
            stored = store(self._database, self._embedder, file.filed, (file.format, file.plan.candidate.name), ready)
            file.added, file.updated = file.added + stored.added, file.updated + stored.updated
            file.forgotten += stored.forgotten
            self._report.forgotten += stored.forgotten
            self._report.superseded += stored.superseded
            self._report.tasks += stored.added
            # What a reader would go on with has text as it stands in the file, also of what is not to be kept.
            resume = None if file.forgotten or file.is_opted_out else file.resume
            sources.finish_source(self._database, _state(file, self._options), resume)


def _is_as_it_was(file: Reading) -> bool:
    """Whether the file is as it was when it was last read: by its size and time, or, where it was copied or checked out anew, by its bytes."""
    before = file.plan.state
    return file.plan.is_known_whole or (
        before is not None and before.fingerprint is not None and before.fingerprint == file.fingerprint
    )


def _state(file: Reading, options: IndexOptions) -> SourceState:
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
