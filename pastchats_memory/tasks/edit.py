"""Create, change and delete tasks by hand, each together with its words and vectors."""

import hashlib
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

from pastchats_memory.embed import Embedder
from pastchats_memory.errors import InputMissing, UsageFault
from pastchats_memory.model import RESOLVED, STATUSES, TYPES, Attachment, Comment, Filters, StoredTask, Task, TaskState
from pastchats_memory.model.ids import ATTACHMENT, COMMENT, number_of
from pastchats_memory.redact import redact, redact_attachment
from pastchats_memory.redact.rules_version import rules_version
from pastchats_memory.store import redactions, sources, task_rows, vectors
from pastchats_memory.store import tasks as task_store
from pastchats_memory.store.database import Database
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.timestamps import current_time
from pastchats_memory.text.tracker_words import is_status, priority_of, status_of

E = TypeVar("E", bound="TaskEditor")
P = ParamSpec("P")
T = TypeVar("T")
MAX_ATTACHMENT_SIZE = 64 << 20
"""Bytes."""
PART_TABLES = {COMMENT: "task_comments", ATTACHMENT: "task_attachments"}
"""Tables of comments and attachments by the prefix of their ids, such as `c:`."""
BY_HAND = "by-hand"
"""Scope and format of a task that no file contains."""
BINARY_SAMPLE_SIZE = 4096
"""Bytes at the start of a file in which a NUL byte marks it as binary."""


@dataclass(frozen=True, slots=True)
class Change:
    """New values of a task's fields; None leaves a field. Raises UsageFault for an impossible value."""

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


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """The folder from which the user looks at tasks."""

    folder: str = ""
    project: str | None = None
    """Project of the folder."""


NOWHERE = Viewpoint()
"""A viewpoint without a folder."""
EVERY_TASK = Filters(kinds=TYPES)
"""Filters that every visible task passes."""


class DeletableRow(NamedTuple):
    """A row that can be deleted by itself: a task, a comment or an attachment."""

    table: str
    id: int
    task: int
    """Row id of the task that it belongs to."""


def sanitize(text: str) -> str:
    """Return the text as UTF-8 that may be stored: without NUL bytes, carriage returns and secrets."""
    return redact(_clean(text)).text


def _clean(text: str) -> str:
    return utf8(text).replace("\0", "").replace("\r\n", "\n").strip()


def without_known_secrets(write: Callable[Concatenate[E, P], T]) -> Callable[Concatenate[E, P], T]:
    """Let a method of an editor remove what other texts have shown to be a secret."""

    @wraps(write)
    def run(self: E, /, *args: P.args, **kwargs: P.kwargs) -> T:
        from pastchats_memory.store.known_secrets import known_secrets_of  # it loads words of rules

        with known_secrets_of(self._database):
            return write(self, *args, **kwargs)

    return run


class TaskEditor:
    """Create, change and delete tasks; each method is one transaction, unless it says otherwise."""

    def __init__(self, database: Database, embedder: Embedder, viewpoint: Viewpoint = NOWHERE) -> None:
        """Edit the tasks of an open database.

        Args:
            database: open for writing, unless only tasks are read.
            embedder: of the database's vectors.
            viewpoint: the folder of new tasks.
        """
        self._database = database
        self._embedder = sources.open_session(database, embedder)
        self._viewpoint = viewpoint

    def embed_tasks(self, tasks: Iterable[Task]) -> dict[bytes, str]:
        """Return the vectors that storing the tasks needs, by text hash; call it before the write lock is taken."""
        return task_store.encode_texts(self._database, self._embedder, task_store.texts_to_come(tasks))

    def open_writer(self, embedded: dict[bytes, str] | None = None) -> task_store.TaskWriter:
        """Return a writer for the caller's transaction. Raises ModelChanged if another model is in use by now."""
        sources.claim_model(self._database, self._embedder)
        redactions.claim_rules(self._database, rules_version())
        return task_store.TaskWriter(self._database, self._embedder, embedded)

    def get_task(self, name: str) -> StoredTask:
        """Return a task with its comments, attachments and parts. Raises UsageFault for none or several."""
        return task_rows.with_parts(self._database, self._read(self.find_id(name)))

    def _read(self, id_: int) -> StoredTask:
        return task_rows.tasks(self._database, [id_], whole=True)[0]

    def find_id(self, name: str) -> int:
        """Return the row id of a key or a tracker's id. Raises UsageFault for none or several."""
        found = task_rows.find(self._database, utf8(name))
        if not found:
            raise UsageFault(f"there is no task {name}", "See `pastchats-memory task list`.")
        if len(found) > 1:
            keys = ", ".join(task.key for task in task_rows.tasks(self._database, found[:5]))
            raise UsageFault(f"{name} names {len(found)} tasks", f"Use the whole key: {keys}.")
        return found[0]

    @without_known_secrets
    def add(self, change: Change, depends: Sequence[str] = (), key: str | None = None) -> StoredTask:
        """Create a task and return it.

        Args:
            change: its fields; the title is required.
            depends: keys of the tasks that it waits for.
            key: its key; None lets the store choose one.

        Raises:
            UsageFault: the title is empty, the key is taken, or another task does not exist.
        """
        time, key = current_time(), None if key is None else sanitize(key)
        raw = change.status or "todo"
        task = Task(
            native_id=uuid.uuid4().hex if key is None else key,
            title=sanitize(change.title or ""),
            scope=BY_HAND,
            description=sanitize(change.description or ""),
            type=change.type or ("subtask" if change.parent else "task"),
            status_raw=raw,
            priority=priority_of(change.priority or ""),
            tags=tuple(sanitize(tag) for tag in change.tags or ()),
            created_at=time,
            updated_at=time,
            closed_at=time if status_of(raw) in RESOLVED else None,
            due_at=change.due,
            states=(TaskState(status_of(raw), raw, time),),
            metadata={"format": BY_HAND},
        )
        Change(title=task.title)  # raises if nothing is left of the title
        if key is not None and (not key or task_rows.find(self._database.hide(()), key)):
            raise UsageFault(f"the key {key!r} is taken or empty", "Choose another one, or leave it out.")
        embedded = self.embed_tasks([task])
        with self._database.transaction():
            id_ = self.store(task_store.Filed(task, sanitize(change.project or ""), key=key), embedded)
            self._link_by_name(id_, "parent", [change.parent] if change.parent else [])
            self._link_by_name(id_, "depends", depends)
            vectors.catch_up(self._database)
        return self._read(id_)

    def store(self, filed: task_store.Filed, embedded: dict[bytes, str]) -> int:
        """Store a task inside the caller's transaction and return its row id.

        The folder of the task's project is stored as well, if the user is in it.
        """
        viewpoint = self._viewpoint
        if viewpoint.project is not None and filed.project == viewpoint.project:
            sources.remember_folders(self._database, {viewpoint.folder: viewpoint.project})
        return self.open_writer(embedded).store(filed)[0]

    @without_known_secrets
    def update(self, name: str, change: Change) -> StoredTask:
        """Change fields of a task and return it. Raises UsageFault."""
        time = current_time()
        with self._database.transaction():
            id_ = self.find_id(name)
            fields: dict[str, object] = {
                "title": None if change.title is None else sanitize(change.title),
                "description": None if change.description is None else sanitize(change.description),
                "type": change.type,
                "priority": None if change.priority is None else priority_of(change.priority),
                "tags": None if change.tags is None else [sanitize(tag) for tag in change.tags],
                "project": None if change.project is None else sanitize(change.project),
                "due_at": change.due,
                "updated_at": time,
            }
            writer = self.open_writer()
            if change.status is not None:
                status = status_of(change.status)
                fields |= {"status": status, "status_raw": change.status}
                fields["closed_at"] = time if status in RESOLVED else ""
                writer.add_states(id_, [TaskState(status, change.status, time)])
            task_store.set_fields(self._database, id_, fields)
            if change.parent is not None:
                task_rows.unlink(self._database, id_, "parent", None)
                self._link_by_name(id_, "parent", [change.parent] if change.parent else [])
            writer.texts.refresh(id_)
            vectors.catch_up(self._database)
        return self._read(id_)

    def depend(self, name: str, others: Sequence[str], *, remove: bool = False) -> StoredTask:
        """Make a task wait for others, or with `remove` no longer; return it. Raises UsageFault."""
        with self._database.transaction():
            id_ = self.find_id(name)
            if remove:
                for other in others:
                    target = task_rows.identity(self._database, self.find_id(other))
                    task_rows.unlink(self._database, id_, "depends", target)
            else:
                self._link_by_name(id_, "depends", others)
        return self._read(id_)

    @without_known_secrets
    def comment(self, name: str, content: str, author: str = "") -> StoredTask:
        """Add a comment to a task and return the task. Raises UsageFault."""
        comment = Comment(sanitize(content), sanitize(author), current_time())
        if not comment.content:
            raise UsageFault("the comment is empty", "Say something about the task.")
        embedded = task_store.encode_texts(self._database, self._embedder, [comment.content])
        with self._database.transaction():
            id_ = self.find_id(name)
            self.store_comment(id_, comment, embedded)
            vectors.catch_up(self._database)
        return self._read(id_)

    def store_comment(self, id_: int, comment: Comment, embedded: dict[bytes, str]) -> None:
        """Store a comment, whose vector is known, inside the caller's transaction."""
        writer = self.open_writer(embedded)
        writer.add_comment(id_, task_store.numbered_comment(self._database, id_, comment))
        task_store.set_fields(self._database, id_, {"updated_at": comment.created_at})
        writer.texts.refresh(id_)

    @without_known_secrets
    def attach(self, name: str, path: Path) -> StoredTask:
        """Attach a file to a task and return the task. Raises InputMissing, UsageFault."""
        attachment = read_attachment(path)
        embedded = self.embed_tasks([Task("", self.get_task(name).title, attachments=(attachment,))])
        with self._database.transaction():
            id_ = self.find_id(name)
            writer = self.open_writer(embedded)
            writer.add_attachment(id_, attachment)
            task_store.set_fields(self._database, id_, {"updated_at": attachment.created_at})
            writer.texts.refresh(id_)
            vectors.catch_up(self._database)
        return self._read(id_)

    def delete(self, name: str) -> str:
        """Delete a task, comment (`c:5`) or attachment (`a:7`); return the task's title. Raises UsageFault."""
        with self._database.transaction():
            if name[:2] in PART_TABLES:
                part = self.find_part(name)
                if part is None:
                    raise UsageFault(f"there is no {name}", "See `pastchats-memory task show KEY`.")
            else:
                id_ = self.find_id(name)
                part = DeletableRow("tasks", id_, id_)
            (task,) = task_rows.tasks(self._database, [part.task])
            task_store.delete_rows(self._database, part.table, part.id)
            vectors.catch_up(self._database)
        return task.title

    def find_part(self, id_: str) -> DeletableRow | None:
        """Return the comment (`c:5`) or attachment (`a:7`) with an id, or None."""
        table, number = PART_TABLES[id_[:2]], number_of(id_[2:])
        if number is None:
            return None
        task = task_rows.owner_of(self._database, table, number)
        return None if task is None else DeletableRow(table, number, task)

    def _link_by_name(self, id_: int, kind: str, names: Sequence[str]) -> None:
        for name in names:
            self.link(id_, kind, self.find_id(name))

    def link(self, id_: int, kind: str, other: int) -> None:
        """Link a task to another one, inside the caller's transaction. Raises UsageFault for a circle."""
        target = task_rows.identity(self._database, other)
        if kind in ("parent", "depends") and task_store.closes_circle(self._database, id_, target, kind):
            one, two = task_rows.tasks(self._database, [id_, other]) if id_ != other else (None, None)
            names = f"{one.key} and {two.key}" if one and two else "a task and itself"
            raise UsageFault(f"that would make a circle of {names}", "A task cannot be above, or wait for, itself.")
        self.open_writer().link(id_, kind, target, task_rows.tasks(self._database, [other])[0].key)


def read_attachment(path: Path) -> Attachment:
    """Read a file as an attachment with its text; a binary file has only its name.

    Raises:
        InputMissing: the file cannot be read.
        UsageFault: it is no regular file, or larger than MAX_ATTACHMENT_SIZE.
    """
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise UsageFault(f"{path} is no regular file", "Attach a file.")
        if size > MAX_ATTACHMENT_SIZE:
            raise UsageFault(f"{path} has more than {MAX_ATTACHMENT_SIZE >> 20} MiB", "Attach the part that matters.")
        raw = path.read_bytes()
    except OSError as fault:
        raise InputMissing(f"{path}: {fault.strerror}", "Check the spelling and the permissions.") from fault
    text, digest = _decode_text(raw), hashlib.sha256(raw).hexdigest()
    return redact_attachment(Attachment(_clean(path.name), len(raw), digest, text, current_time()))


def _decode_text(raw: bytes) -> str | None:
    """Return the text of a file as UTF-8 that may be stored; None for binary data and for an empty text."""
    if b"\0" in raw[:BINARY_SAMPLE_SIZE]:
        return None
    try:
        return _clean(raw.decode("utf-8-sig")) or None
    except UnicodeDecodeError:
        return None
