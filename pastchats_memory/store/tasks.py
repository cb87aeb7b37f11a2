"""Tasks on their way into the database: rows, history, links, comments, attachments, and the texts that are searched."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import orjson

from pastchats_memory.model import Attachment, Comment, Task, TaskState
from pastchats_memory.statuses import RESOLVED, status_of
from pastchats_memory.store import outcomes
from pastchats_memory.store.database import Database
from pastchats_memory.store.task_texts import Embed, TaskTexts, task_text
from pastchats_memory.store.tombstones import Tombstones, marks_of_attachment, marks_of_comment, marks_of_task

LONGEST_TITLE = 500
CONVERSATION = "conversation:"
"""Begins the scope of a conversation's own list."""
COLUMNS = (
    "native_id", "title", "description", "type", "status", "status_raw", "priority", "tags_json", "project",
    "source_path", "source_line", "created_at", "updated_at", "closed_at", "due_at", "metadata_json",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Filed:
    """A task with what its reader could not know."""

    task: Task
    project: str
    source_path: str = ""
    """Empty for one made by hand."""
    key: str | None = None
    """To be given, if nobody has it; None for one of our choosing."""
    identity: str | None = None
    """Told by the ids as they were before secrets were taken out, or by an export; None for that of project, scope and native id."""
    targets: tuple[str, ...] | None = None
    """The identities of the tasks that its links lead to, in their order; None for those of project, scope and target."""
    seen_at: str | None = None
    """When its file was last written: the time of a change that the source does not tell."""

    @property
    def name(self) -> str:
        """What makes it the same task when it is seen again."""
        return self.identity or identity_of(self.project, self.task.scope, self.task.native_id)


def identity_of(project: str, scope: str, native_id: str) -> str:
    """Hex SHA-256 by which a task is known again."""
    within = "" if scope.startswith(CONVERSATION) else project  # which a list in a file of its own does not know
    return hashlib.sha256(f"task\0{within}\0{scope}\0{native_id.lower()}".encode()).hexdigest()


def without_forgotten(database: Database, tombstones: Tombstones, filed: Filed) -> Filed | None:
    """The task without what of it was forgotten, or None; a person who says a thing again is not held to it. Raises StoreFault."""
    if not tombstones or not (filed.source_path or filed.identity):
        return filed
    task, name = filed.task, filed.name
    if tombstones.has(*marks_of_task(name, task_text(task.title, task.description))) and not database.value(
        "SELECT count(*) FROM tasks WHERE identity = ?", (name,)
    ):
        return None
    comments = [
        said
        for identity, said in _numbered(task.comments)
        if not tombstones.has(*marks_of_comment(name, identity, said.content))
    ]
    attachments = [one for one in task.attachments if not tombstones.has(*marks_of_attachment(name, one.sha256))]
    return replace(filed, task=task._replace(comments=tuple(comments), attachments=tuple(attachments)))


class TaskWriter:
    """Stores tasks with all that belongs to them; inside the caller's transaction, who lets the engines catch up."""

    def __init__(self, database: Database, model: str, embed: Embed, ready: Mapping[bytes, str] | None = None) -> None:
        """Vectors that are not in `ready`, nor in the database, are made by `embed` while the transaction waits."""
        self._database = database
        self._tombstones = Tombstones(database)
        self.texts = TaskTexts(database, model, embed, ready or {})
        self.circles = 0
        """Links that were left out, since they would have closed one."""

    def put(self, filed: Filed) -> tuple[int, str]:
        """The task's id, and whether it was `added`, `updated` or `unchanged`; 0 where it was `forgotten`. Raises StoreFault, ModelUnavailable."""
        kept = without_forgotten(self._database, self._tombstones, filed)
        return (0, "forgotten") if kept is None else self._put(kept)

    def _put(self, filed: Filed) -> tuple[int, str]:
        database = self._database
        found = database.run(f"SELECT id, {', '.join(COLUMNS)} FROM tasks WHERE identity = ?", (filed.name,))
        fields = dict(zip(COLUMNS, _fields(filed, is_known=bool(found)), strict=True))
        if not found:
            if not _latest(fields):
                fields["updated_at"] = filed.seen_at
            key = filed.key if filed.key is not None and not _is_taken(database, filed.key) else _key(database, filed)
            marks = ", ".join("?" * (len(COLUMNS) + 2))
            id_ = int(
                database.value(
                    f"INSERT INTO tasks(key, identity, {', '.join(COLUMNS)}) VALUES ({marks}) RETURNING id",
                    (key, filed.name, *fields.values()),
                )
            )
            self._attend(id_, filed)
            return id_, "added"
        id_, stored = found[0][0], dict(zip(COLUMNS, found[0][1:], strict=True))
        if filed.source_path != stored["source_path"] and not _is_newer(fields, stored):
            self._join(id_, filed)
            return id_, "unchanged"
        merged = {name: fields[name] if _says_something(fields[name]) else stored[name] for name in COLUMNS}
        merged["status"] = status_of(str(merged["status_raw"]))
        before = self._dependents(id_)
        is_other = any(merged[name] != stored[name] for name in COLUMNS if name not in ("source_line", "updated_at"))
        if is_other and not fields["updated_at"]:
            merged["updated_at"] = filed.seen_at or stored["updated_at"]
            if merged["status"] in RESOLVED and stored["status"] not in RESOLVED:
                merged["closed_at"] = merged["closed_at"] or filed.seen_at
        if merged != stored:
            assignments = ", ".join(f"{name} = ?" for name in COLUMNS)
            database.run(f"UPDATE tasks SET {assignments} WHERE id = ?", (*merged.values(), id_))
        self._attend(id_, filed)
        return id_, "updated" if merged != stored or before != self._dependents(id_) else "unchanged"

    def _attend(self, id_: int, filed: Filed) -> None:
        """What hangs on the row: links, comments, attachments, states, conversation, texts."""
        task = filed.task
        by_hand = not filed.source_path
        if not by_hand:
            self._database.run("DELETE FROM task_links WHERE task_id = ? AND NOT by_hand", (id_,))
        targets = filed.targets or [identity_of(filed.project, task.scope, link.target) for link in task.links]
        for link, target in zip(task.links, targets, strict=True):
            self.link(id_, link.kind, target, link.target, by_hand=by_hand)
        kept = [self.comment(id_, comment, by_hand=by_hand) for comment in _numbered(task.comments)]
        if not by_hand:
            self._database.run(
                "DELETE FROM task_comments WHERE task_id = ? AND NOT by_hand "
                "AND id NOT IN (SELECT value FROM json_each(?))",
                (id_, orjson.dumps(kept).decode()),
            )
        for attachment in task.attachments:
            self.attach(id_, attachment)
        self._join(id_, filed)
        self.texts.refresh(id_)

    def _join(self, id_: int, filed: Filed) -> None:
        """History and conversation, which every source may add to."""
        task = filed.task
        if task.conversation_id is not None:
            self.keep_in(id_, task.conversation_id)
        self.remember(id_, task.states or _only_state(task))

    def keep_in(self, id_: int, conversation_id: str) -> None:
        """Note that a conversation keeps the task; it may tell how episodes ended, from its first state on."""
        self._database.run("INSERT OR IGNORE INTO task_conversations VALUES (?, ?)", (id_, conversation_id))
        if self._database.value("SELECT changes()"):
            begun = self._database.value("SELECT min(at) FROM task_states WHERE task_id = ?", (id_,))
            if begun is not None:
                outcomes.mark_of_tasks(self._database, [id_], begun)

    def _dependents(self, id_: int) -> object:
        return [
            self._database.run(f"SELECT * FROM {table} WHERE task_id = ? ORDER BY 1, 2, 3", (id_,))
            for table in ("task_links", "task_states", "task_comments", "task_texts")
        ]

    def remember(self, id_: int, states: Sequence[TaskState]) -> None:
        """Add to the history what it does not have; without a time only what differs from the latest state."""
        for state in states:
            if state.at is None:
                latest = self._database.value(
                    "SELECT status_raw FROM task_states WHERE task_id = ? ORDER BY id DESC LIMIT 1", (id_,)
                )
                if latest == state.raw:
                    continue
            self._database.run(
                "INSERT OR IGNORE INTO task_states(task_id, at, status, status_raw) VALUES (?, ?, ?, ?)",
                (id_, state.at, state.status, state.raw),
            )
            if state.at is not None and self._database.value("SELECT changes()"):
                outcomes.mark_of_tasks(self._database, [id_], state.at)

    def link(self, id_: int, kind: str, target: str, name: str, *, by_hand: bool = True) -> None:
        """Tie a task to another one, but for a circle of parents, or one of dependencies that no tracker has; those are counted."""
        if kind == "parent":
            self._database.run("DELETE FROM task_links WHERE task_id = ? AND kind = 'parent'", (id_,))
        may_close = kind == "parent" or (kind == "depends" and by_hand)
        if may_close and closes_circle(self._database, id_, target, kind):
            self.circles += 1
            return
        self._database.run(
            "INSERT OR IGNORE INTO task_links(task_id, kind, target, name, by_hand) VALUES (?, ?, ?, ?, ?)",
            (id_, kind, target, name, by_hand),
        )

    def comment(self, id_: int, comment: tuple[str, Comment], *, by_hand: bool = True) -> int:
        """Store a comment under its identity, if it is not stored; its number."""
        identity, said = comment
        found = self._database.value("SELECT id FROM task_comments WHERE task_id = ? AND identity = ?", (id_, identity))
        if found is None:
            found = self._database.value(
                "INSERT INTO task_comments(task_id, identity, author, content, created_at, by_hand) "
                "VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
                (id_, identity, said.author, said.content, said.created_at, by_hand),
            )
        return int(found)

    def attach(self, id_: int, attachment: Attachment) -> int:
        """Store an attachment, if it is not stored; its number."""
        self._database.run(
            "INSERT OR IGNORE INTO task_attachments(task_id, name, size, sha256, content, created_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (id_, attachment.name, attachment.size, attachment.sha256, attachment.content, attachment.created_at),
        )
        return int(
            self._database.value(
                "SELECT id FROM task_attachments WHERE task_id = ? AND name = ? AND sha256 = ?",
                (id_, attachment.name, attachment.sha256),
            )
        )


def closes_circle(database: Database, id_: int, target: str, kind: str) -> bool:
    """Whether the task is the target, or the target hangs on it already by links of the kind."""
    return bool(
        database.value(
            "WITH RECURSIVE above(identity) AS (SELECT ?1 UNION "
            "SELECT l.target FROM above a JOIN tasks k ON k.identity = a.identity "
            "JOIN task_links l ON l.task_id = k.id AND l.kind = ?2) "
            "SELECT count(*) FROM above a JOIN tasks k ON k.identity = a.identity WHERE k.id = ?3",
            (target, kind, id_),
        )
    )


def set_fields(database: Database, id_: int, values: Mapping[str, object]) -> None:
    """Change fields of a task, by name; None leaves one as it is, `""` empties one. Raises StoreFault."""
    for name, value in values.items():
        column, stored = (
            (f"{name}_json", orjson.dumps(value).decode()) if name in ("tags", "metadata") else (name, value)
        )
        if value is not None:
            emptied = stored or (None if name.endswith("_at") else "") if stored == "" else stored
            database.run(f"UPDATE tasks SET {column} = ? WHERE id = ?", (emptied, id_))


def supersede_tasks(database: Database, source_path: str, seen: Iterable[int]) -> int:
    """Delete the tasks of a rewritten file that are no longer in it; how many. Raises StoreFault."""
    gone = database.run(
        "SELECT id FROM tasks WHERE source_path = ? AND id NOT IN (SELECT value FROM json_each(?))",
        (source_path, orjson.dumps(list(seen)).decode()),
    )
    outcomes.mark_of_tasks(database, [id_ for (id_,) in gone])
    database.run_many("DELETE FROM tasks WHERE id = ?", gone)
    return len(gone)


def delete_rows(database: Database, table: str, id_: int) -> None:
    """Delete a row of `tasks`, `task_comments` or `task_attachments` with all that hangs on it. Raises StoreFault."""
    if table == "tasks":
        outcomes.mark_of_tasks(database, [id_])
    database.run(f"DELETE FROM {table} WHERE id = ?", (id_,))


def numbered_comment(database: Database, task_id: int, comment: Comment) -> tuple[str, Comment]:
    """A comment that is new, whatever was said before, under its identity."""
    equals = database.value(
        "SELECT count(*) FROM task_comments WHERE task_id = ? AND author = ? AND content = ? AND created_at IS ?",
        (task_id, comment.author, comment.content, comment.created_at),
    )
    return _identity(comment, equals + 1), comment


def _numbered(comments: Sequence[Comment]) -> Iterator[tuple[str, Comment]]:
    seen: Counter[tuple[str, str | None, str]] = Counter()
    for comment in comments:
        said = (comment.author, comment.created_at, comment.content)
        seen[said] += 1
        yield _identity(comment, seen[said]), comment


def _identity(comment: Comment, ordinal: int) -> str:
    parts = (comment.author, comment.created_at or "", comment.content, str(ordinal))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _fields(filed: Filed, *, is_known: bool) -> tuple[object, ...]:
    task = filed.task
    raw = task.states[-1].raw if task.states else task.status_raw
    status = status_of(raw)
    closed = task.closed_at or (task.states[-1].at if task.states and status in RESOLVED else None)
    return (
        task.native_id,
        task.title[:LONGEST_TITLE] or ("" if is_known else task.native_id),
        task.description,
        task.type,
        status,
        raw,
        task.priority,
        orjson.dumps(list(task.tags)).decode(),
        filed.project,
        filed.source_path,
        task.line or None,
        task.created_at,
        task.updated_at or (task.states[-1].at if task.states else None),
        closed,
        task.due_at,
        orjson.dumps(dict(task.metadata)).decode(),
    )


def _says_something(value: object) -> bool:
    return value not in (None, "", "[]", "{}")


def _is_newer(fields: Mapping[str, object], stored: Mapping[str, object]) -> bool:
    """Whether another source than the stored one knows of something later; a source that has no times never does."""
    return _latest(fields) > _latest(stored)


def _latest(fields: Mapping[str, object]) -> str:
    """Nothing where no time is known."""
    return max(str(fields[name] or "") for name in ("created_at", "updated_at", "closed_at"))


def _only_state(task: Task) -> tuple[TaskState, ...]:
    if not task.status_raw:
        return ()
    return (TaskState(status_of(task.status_raw), task.status_raw, task.closed_at or task.updated_at),)


def _is_taken(database: Database, key: str) -> bool:
    return bool(database.value("SELECT count(*) FROM tasks WHERE key = ?", (key,)))


def _key(database: Database, filed: Filed) -> str:
    """The native id, unless it is a bare number or taken: then with the project before it, then with a number behind it."""
    if filed.source_path:
        native = filed.task.native_id
        wanted = [f"{filed.project}/{native}", *(f"{filed.project}/{native}~{number}" for number in range(2, 1000))]
        if not native.isdecimal():
            wanted.insert(0, native)
    else:
        last = database.value("SELECT seq FROM sqlite_sequence WHERE name = 'tasks'") or 0
        wanted = [f"T-{number}" for number in range(last + 1, last + 1000)]
    return next(key for key in wanted if not _is_taken(database, key))
