"""Tasks made and changed by hand."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pastchats_memory.embed import Embedder
from pastchats_memory.errors import InputMissing, UsageFault
from pastchats_memory.model import (
    ATTACHMENT,
    COMMENT,
    RESOLVED,
    STATUSES,
    TYPES,
    Attachment,
    Comment,
    Filters,
    StoredTask,
    Task,
    TaskState,
    is_status,
    number_of,
    priority_of,
    status_of,
    utf8,
)
from pastchats_memory.redact import redact
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import redactions, sources, tasks, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.tasks import (
    Filed,
    TaskWriter,
    closes_circle,
    delete_rows,
    encoded,
    numbered_comment,
    set_fields,
    texts_to_come,
)

LARGEST_ATTACHMENT = 64 << 20
"""Bytes."""
BELONGINGS = {COMMENT: "task_comments", ATTACHMENT: "task_attachments"}
"""Tables by how the ids of their rows begin where they are shown."""
BY_HAND = "by-hand"
SAMPLE = 4096


@dataclass(frozen=True, slots=True)
class Change:
    """What a person wants of a task; None leaves a field as it is. Raises UsageFault where that cannot be."""

    title: str | None = None
    description: str | None = None
    type: str | None = None
    status: str | None = None
    priority: str | None = None
    tags: Sequence[str] | None = None
    project: str | None = None
    parent: str | None = None
    """Key of another task; `""` for none."""
    due: str | None = None
    """ISO 8601 in UTC."""

    def __post_init__(self) -> None:
        if self.title is not None and not self.title.strip():
            raise UsageFault("a task needs a title", "Say in a few words what is to be done.")
        if self.type is not None and self.type not in TYPES:
            raise UsageFault(f"unknown type {self.type!r}", f"Use one of {', '.join(TYPES)}.")
        if self.status is not None and not is_status(self.status):
            raise UsageFault(
                f"unknown status {self.status!r}",
                f"Use one of {', '.join(STATUSES)}, or a synonym such as todo or done.",
            )
        if self.priority is not None and priority_of(self.priority) is None:
            raise UsageFault(f"unknown priority {self.priority!r}", "Use 0 (critical) to 4 (lowest).")


def now() -> str:
    """The time, as every time here is written."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def safe(text: str) -> str:
    """A text as it may be stored: valid UTF-8, without NUL bytes and secrets."""
    return redact(utf8(text).replace("\0", "").replace("\r\n", "\n").strip()).text


@dataclass(frozen=True, slots=True)
class Standing:
    """From where tasks are asked for."""

    folder: str = ""
    project: str | None = None
    """That the folder lies in."""
    hidden: tuple[str, ...] = ()
    """Private projects that the caller is not in: their tasks are not there for whoever asks."""

    @property
    def tasks(self) -> Filters:
        """All tasks that may be seen from there."""
        return Filters(kinds=TYPES, hidden=self.hidden)


NOWHERE = Standing()


class Belonging(NamedTuple):
    """A row that can be deleted by itself: a comment, an attachment, or the task's own."""

    table: str
    id: int
    owner: int
    """The task's number."""


class Desk:
    """What a person does with tasks, each in one transaction with words and vectors."""

    def __init__(self, database: Database, embedder: Embedder, standing: Standing = NOWHERE) -> None:
        self._database = database
        self._embedder = embedder
        self._standing = standing

    def _vectors(self, texts: Iterable[str]) -> Iterable[str]:
        return map(vectors.encode, self._embedder.embed(texts))

    def ready(self, tasks: Iterable[Task]) -> dict[bytes, str]:
        """The vectors that storing the tasks will need, made before the write lock is taken."""
        return encoded(self._database, texts_to_come(tasks), self._embedder.name, self._vectors)

    def writer(self, ready: dict[bytes, str] | None = None) -> TaskWriter:
        """Inside a transaction: what stores tasks. Raises ModelChanged where the database has another model's vectors."""
        sources.claim_model(self._database, self._embedder.name, self._embedder.version, self._embedder.dim)
        redactions.claim_rules(self._database, rules_version())
        return TaskWriter(self._database, self._embedder.name, self._vectors, ready)

    def task(self, name: str) -> StoredTask:
        """The one task of a key, with all that belongs to it. Raises UsageFault for none or several."""
        return self._with_parts(self.id_of(name))

    def _whole(self, id_: int) -> StoredTask:
        return tasks.tasks(self._database, [id_], self._standing.hidden, whole=True)[0]

    def _with_parts(self, id_: int) -> StoredTask:
        return tasks.with_parts(self._database, self._whole(id_), self._standing.hidden)

    def id_of(self, name: str) -> int:
        """The number of the one task that a key or a tracker's id names. Raises UsageFault for none or several."""
        found = tasks.find(self._database, utf8(name), self._standing.hidden)
        if not found:
            raise UsageFault(f"there is no task {name}", "See `pastchats-memory task list`.")
        if len(found) > 1:
            keys = ", ".join(task.key for task in tasks.tasks(self._database, found[:5], self._standing.hidden))
            raise UsageFault(f"{name} names {len(found)} tasks", f"Use the whole key: {keys}.")
        return found[0]

    def add(self, change: Change, depends: Sequence[str] = (), key: str | None = None) -> StoredTask:
        """A new task. Raises UsageFault, ModelUnavailable, StoreFault."""
        at, key = now(), None if key is None else safe(key)
        raw = change.status or "todo"
        task = Task(
            native_id=uuid.uuid4().hex if key is None else key,
            title=safe(change.title or ""),
            scope=BY_HAND,
            description=safe(change.description or ""),
            type=change.type or ("subtask" if change.parent else "task"),
            status_raw=raw,
            priority=priority_of(change.priority or ""),
            tags=tuple(safe(tag) for tag in change.tags or ()),
            created_at=at,
            updated_at=at,
            closed_at=at if status_of(raw) in RESOLVED else None,
            due_at=change.due,
            states=(TaskState(status_of(raw), raw, at),),
            metadata={"format": BY_HAND},
        )
        Change(title=task.title)  # raises where nothing of it may be stored
        if key is not None and (not key or tasks.find(self._database, key, hidden=())):
            raise UsageFault(f"the key {key!r} is taken or empty", "Choose another one, or leave it out.")
        ready = self.ready([task])
        with self._database.transaction():
            id_ = self.file(Filed(task, safe(change.project or ""), key=key), ready)
            self._tie(id_, "parent", [change.parent] if change.parent else [])
            self._tie(id_, "depends", depends)
            vectors.catch_up(self._database)
        return self._whole(id_)

    def file(self, filed: Filed, ready: dict[bytes, str]) -> int:
        """Store a task, inside the caller's transaction, and where its project lies if that is here; its number."""
        standing = self._standing
        if standing.project is not None and filed.project == standing.project:
            sources.remember(self._database, {standing.folder: standing.project})
        return self.writer(ready).put(filed)[0]

    def update(self, name: str, change: Change) -> StoredTask:
        """The task as it is then. Raises UsageFault, ModelUnavailable, StoreFault."""
        at = now()
        with self._database.transaction():
            id_ = self.id_of(name)
            fields: dict[str, object] = {
                "title": None if change.title is None else safe(change.title),
                "description": None if change.description is None else safe(change.description),
                "type": change.type,
                "priority": None if change.priority is None else priority_of(change.priority),
                "tags": None if change.tags is None else [safe(tag) for tag in change.tags],
                "project": None if change.project is None else safe(change.project),
                "due_at": change.due,
                "updated_at": at,
            }
            writer = self.writer()
            if change.status is not None:
                status = status_of(change.status)
                fields |= {"status": status, "status_raw": change.status}
                fields["closed_at"] = at if status in RESOLVED else ""
                writer.remember(id_, [TaskState(status, change.status, at)])
            set_fields(self._database, id_, fields)
            if change.parent is not None:
                self._untie(id_, "parent")
                self._tie(id_, "parent", [change.parent] if change.parent else [])
            writer.texts.refresh(id_)
            vectors.catch_up(self._database)
        return self._whole(id_)

    def depend(self, name: str, others: Sequence[str], *, remove: bool = False) -> StoredTask:
        """Let a task wait for others, or no longer. Raises UsageFault, StoreFault."""
        with self._database.transaction():
            id_ = self.id_of(name)
            if remove:
                for other in others:
                    self._untie(id_, "depends", tasks.identity(self._database, self.id_of(other)))
            else:
                self._tie(id_, "depends", others)
        return self._whole(id_)

    def relate(self, id_: int, other: int) -> None:
        """Link two tasks, inside the caller's transaction."""
        self._link(id_, "related", other)

    def comment(self, name: str, content: str, author: str = "") -> StoredTask:
        """The task with a further comment. Raises UsageFault, ModelUnavailable, StoreFault."""
        said = Comment(safe(content), safe(author), now())
        if not said.content:
            raise UsageFault("the comment is empty", "Say something about the task.")
        ready = encoded(self._database, [said.content], self._embedder.name, self._vectors)
        with self._database.transaction():
            id_ = self.id_of(name)
            self.add_comment(id_, said, ready)
            vectors.catch_up(self._database)
        return self._whole(id_)

    def add_comment(self, id_: int, said: Comment, ready: dict[bytes, str]) -> None:
        """The same for one that has its vector, inside the caller's transaction."""
        writer = self.writer(ready)
        writer.comment(id_, numbered_comment(self._database, id_, said))
        set_fields(self._database, id_, {"updated_at": said.created_at})
        writer.texts.refresh(id_)

    def attach(self, name: str, path: Path) -> StoredTask:
        """The task with a file's name and, where it is text, with its text. Raises InputMissing, UsageFault, StoreFault."""
        attachment = attachment_of(path)
        task = self.task(name)
        ready = self.ready([Task("", task.title, attachments=(attachment,))])
        with self._database.transaction():
            id_ = self.id_of(name)
            writer = self.writer(ready)
            writer.attach(id_, attachment)
            set_fields(self._database, id_, {"updated_at": attachment.created_at})
            writer.texts.refresh(id_)
            vectors.catch_up(self._database)
        return self._whole(id_)

    def delete(self, name: str) -> str:
        """Delete a task, or a comment (`c:5`) or attachment (`a:7`) of one; its title. Raises UsageFault, StoreFault."""
        with self._database.transaction():
            if name[:2] in BELONGINGS:
                belonging = self.belonging(name)
                if belonging is None:
                    raise UsageFault(f"there is no {name}", "See `pastchats-memory task show KEY`.")
            else:
                id_ = self.id_of(name)
                belonging = Belonging("tasks", id_, id_)
            (task,) = tasks.tasks(self._database, [belonging.owner], self._standing.hidden)
            delete_rows(self._database, belonging.table, belonging.id)
            vectors.catch_up(self._database)
        return task.title

    def belonging(self, id_: str) -> Belonging | None:
        """The comment (`c:5`) or attachment (`a:7`) of an id that begins as BELONGINGS do; None for none. Raises StoreFault."""
        table, number = BELONGINGS[id_[:2]], number_of(id_[2:])
        if number is None:
            return None
        owner = tasks.task_of(self._database, table, number, self._standing.hidden)
        return None if owner is None else Belonging(table, number, owner)

    def _tie(self, id_: int, kind: str, names: Sequence[str]) -> None:
        for name in names:
            self._link(id_, kind, self.id_of(name))

    def _link(self, id_: int, kind: str, other: int) -> None:
        target = tasks.identity(self._database, other)
        if kind in ("parent", "depends") and closes_circle(self._database, id_, target, kind):
            one, two = (
                tasks.tasks(self._database, [id_, other], self._standing.hidden) if id_ != other else (None, None)
            )
            names = f"{one.key} and {two.key}" if one and two else "a task and itself"
            raise UsageFault(f"that would make a circle of {names}", "A task cannot be above, or wait for, itself.")
        key = tasks.tasks(self._database, [other], self._standing.hidden)[0].key
        self.writer().link(id_, kind, target, key)

    def _untie(self, id_: int, kind: str, target: str | None = None) -> None:
        tasks.unlink(self._database, id_, kind, target)


def attachment_of(path: Path) -> Attachment:
    """A file as an attachment: its text, or its name alone where it is binary. Raises InputMissing, UsageFault."""
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise UsageFault(f"{path} is no regular file", "Attach a file.")
        if size > LARGEST_ATTACHMENT:
            raise UsageFault(f"{path} has more than {LARGEST_ATTACHMENT >> 20} MiB", "Attach the part that matters.")
        raw = path.read_bytes()
    except OSError as fault:
        raise InputMissing(f"{path}: {fault.strerror}", "Check the spelling and the permissions.") from fault
    return Attachment(safe(path.name), len(raw), hashlib.sha256(raw).hexdigest(), _text_of(raw), now())


def _text_of(raw: bytes) -> str | None:
    if b"\0" in raw[:SAMPLE]:
        return None
    try:
        return safe(raw.decode("utf-8-sig")) or None
    except UnicodeDecodeError:
        return None
