"""Store and read tasks with their history, links, comments, attachments, and the texts that are searched."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

import orjson

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.model import RESOLVED, Attachment, Comment, Task, TaskState
from pastchats_memory.store import outcomes, vectors
from pastchats_memory.store.database import LISTED, Database, bind_list
from pastchats_memory.store.tombstones import Tombstones
from pastchats_memory.store.turns import known_vectors
from pastchats_memory.store.vector_columns import stored_vector
from pastchats_memory.text.display import remove_controls
from pastchats_memory.text.hashes import text_hash
from pastchats_memory.text.tracker_words import status_of

CHUNK = 1500
"""Characters of one searched part of an attachment."""
MAX_CHUNKS = 256
"""Chunks of one attachment; a larger attachment has longer chunks, so that megabytes take seconds."""


@dataclass(frozen=True, slots=True)
class Text:
    """One searched text of a task."""

    content: str
    comment_id: int | None = None
    attachment_id: int | None = None
    aspect: str = ""
    """`title`, `tags` or `description`: embedded as well, so that no part of a task dilutes another one."""
    chunk: int = 0
    labels: str = ""

    @property
    def place(self) -> tuple[int | None, int | None, str, int]:
        """Return what distinguishes it from the other texts of its task."""
        return self.comment_id, self.attachment_id, self.aspect, self.chunk


def task_text(title: str, description: str) -> str:
    """Return the text of a task that is embedded."""
    return f"{title}\n\n{description}".strip()


def own_texts(title: str, description: str, tags: Sequence[str]) -> Iterator[Text]:
    """Yield the text of a task, then its aspects that differ from it."""
    yield Text(task_text(title, description))
    if title and description:
        yield Text(title, aspect="title")
    if tags:
        yield Text(task_text(title, ", ".join(tags)), aspect="tags")
    if len(description) > CHUNK:
        for number, part in enumerate(chunks(description)):
            yield Text(part, aspect="description", chunk=number)


def texts_to_come(tasks: Iterable[Task]) -> Iterator[str]:
    """Yield the texts that need a vector when the tasks are stored. Merging with stored tasks may change them."""
    for task in tasks:
        yield from (text.content for text in own_texts(task.title, task.description, task.tags))
        yield from (comment.content for comment in task.comments)
        for attachment in task.attachments:
            yield from chunks(attachment.content or attachment.name)


def chunks(text: str) -> list[str]:
    """Split a text into parts of about CHUNK characters, if possible at line ends; at most MAX_CHUNKS, none empty."""
    size = max(CHUNK, -(-2 * len(text) // MAX_CHUNKS))  # a part has at least half of it
    parts, start = [], 0
    while start < len(text):
        end = min(start + size, len(text))
        if end < len(text):
            end = text.rfind("\n", start + size // 2, end) + 1 or end
        parts.append(text[start:end])
        start = end
    return [part for part in parts if part.strip()] or [text]


def encode_texts(database: Database, session: ModelSession, texts: Iterable[str]) -> dict[bytes, str]:
    """Return encoded vectors by text_hash; those of known texts come from the database, and some may be pending."""
    wanted = {text_hash(text): text for text in texts}
    known = known_vectors(database, wanted, session.name)
    missing = {hash_: text for hash_, text in wanted.items() if hash_ not in known}
    if not missing:
        return known
    return known | dict(zip(missing, vectors.encode_or_defer(session, list(missing.values())), strict=True))


class TaskTexts:
    """Keeps `task_texts` and their vectors current, inside the caller's transaction."""

    def __init__(self, database: Database, session: ModelSession, ready: Mapping[bytes, str]) -> None:
        self._database = database
        self._session = session
        self._ready = dict(ready)

    def refresh(self, id_: int) -> None:
        """Update the searched texts and vectors of a task from its rows; delete those of a deleted task.

        Pending vectors are made if the model answers.
        """
        wanted = {text.place: text for text in self._texts(id_)}
        stored = {
            tuple(row[:4]): row[4:]
            for row in self._database.run(
                "SELECT comment_id, attachment_id, aspect, chunk, id, CASE WHEN e.model != '' THEN text_hash END, labels "
                "FROM task_texts LEFT JOIN task_embeddings e ON e.text_id = id WHERE task_id = ?",
                (id_,),
            )
        }
        gone = [(row[0],) for place, row in stored.items() if place not in wanted]
        self._database.run_many("DELETE FROM task_texts WHERE id = ?", gone)
        changed = {
            place: text
            for place, text in wanted.items()
            if place not in stored or tuple(stored[place][1:]) != (text_hash(text.content), text.labels)
        }
        unknown = [text.content for text in changed.values() if text_hash(text.content) not in self._ready]
        self._ready |= encode_texts(self._database, self._session, unknown)
        new = [text for place, text in changed.items() if place not in stored]
        inserted = self._database.insert_rows(
            "INSERT INTO task_texts(task_id, comment_id, attachment_id, aspect, chunk, content, labels, text_hash)",
            [(id_, *text.place, text.content, text.labels, text_hash(text.content)) for text in new],
            "RETURNING id, text_hash",
        )
        rewritten = [(stored[place][0], text) for place, text in changed.items() if place in stored]
        self._database.run_many(
            "UPDATE task_texts SET content = ?, labels = ?, text_hash = ? WHERE id = ?",
            [(text.content, text.labels, text_hash(text.content), text_id) for text_id, text in rewritten],
        )
        hashes = [*inserted, *((text_id, text_hash(text.content)) for text_id, text in rewritten)]
        name = self._session.name
        self._database.insert_rows(
            "INSERT OR REPLACE INTO task_embeddings(text_id, model, dim, vector_json)",
            [(text_id, *stored_vector(self._database, name, self._ready[hash_])) for text_id, hash_ in hashes],
        )

    def contents(self, id_: int) -> list[str]:
        """Return all searched texts of a task."""
        return [text.content for text in self._texts(id_)]

    def _texts(self, id_: int) -> Iterator[Text]:
        for key, native_id, title, description, tags, project in self._database.run(
            "SELECT key, native_id, title, description, tags_json, project FROM tasks WHERE id = ?", (id_,)
        ):
            labels = " ".join(dict.fromkeys([key, native_id, project, *orjson.loads(tags)]))
            whole, *aspects = own_texts(title, description, orjson.loads(tags))
            yield replace(whole, labels=labels)
            yield from aspects
        for comment_id, content in self._database.run(
            "SELECT id, content FROM task_comments WHERE task_id = ? ORDER BY id", (id_,)
        ):
            yield Text(content, comment_id=comment_id)
        for attachment_id, name, content in self._database.run(
            "SELECT id, name, content FROM task_attachments WHERE task_id = ? ORDER BY id", (id_,)
        ):
            for number, part in enumerate(chunks(content or name)):
                yield Text(part, attachment_id=attachment_id, chunk=number, labels=name)


LONGEST_TITLE = 500
LONGEST_KEY = 100
_UNSAFE = re.compile(r"[^\w./:@#+~%&=,()-]+")
"""Characters that a tracker's id loses when it becomes a key: a key is one word, in a shell and in a text."""
CONVERSATION = "conversation:"
"""Prefix of the scope of a conversation's own list."""
COLUMNS = (
    "native_id", "title", "description", "type", "status", "status_raw", "priority", "tags_json", "project",
    "source_path", "source_line", "created_at", "updated_at", "closed_at", "due_at", "metadata_json",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Filed:
    """A task with its project and identity, which its reader does not know."""

    task: Task
    project: str
    source_path: str = ""
    """Empty for a task made by hand."""
    key: str | None = None
    """Wanted key, if it is free; None to choose one."""
    identity: str | None = None
    """Made of the ids before redaction, or exported; None for the one of project, scope and native id."""
    targets: tuple[str, ...] | None = None
    """Identities of the linked tasks, in the order of the links; None for those of project, scope and target."""
    seen_at: str | None = None
    """When its file was last written: the time of a change without a time."""

    @property
    def name(self) -> str:
        """Identity by which the task is recognised when it is read again."""
        return self.identity or identity_of(self.project, self.task.scope, self.task.native_id)


def identity_of(project: str, scope: str, native_id: str) -> str:
    """Return the hex SHA-256 by which a task is recognised."""
    within = "" if scope.startswith(CONVERSATION) else project  # a list in a file of its own has no project
    return hashlib.sha256(f"task\0{within}\0{scope}\0{native_id.lower()}".encode()).hexdigest()


def without_forgotten(database: Database, tombstones: Tombstones, filed: Filed) -> Filed | None:
    """Return a task without its forgotten parts, or None if it was forgotten itself.

    A task that a person adds again by hand is not checked.
    """
    if not tombstones or not (filed.source_path or filed.identity):
        return filed
    task, name = filed.task, filed.name
    if tombstones.has_task(name, task.title, task.description) and not database.value(
        "SELECT count(*) FROM tasks WHERE identity = ?", (name,)
    ):
        return None
    comments = [
        comment
        for identity, comment in _numbered(task.comments)
        if not tombstones.has("comment", (name, identity), comment.content)
    ]
    attachments = [one for one in task.attachments if not tombstones.has("attachment", (name, one.sha256), one.content)]
    return replace(filed, task=task._replace(comments=tuple(comments), attachments=tuple(attachments)))


class TaskWriter:
    """Stores tasks with all their parts, inside the caller's transaction; call `vectors.catch_up` afterwards."""

    def __init__(self, database: Database, session: ModelSession, ready: Mapping[bytes, str] | None = None) -> None:
        """Take vectors by text_hash (`ready`); the model makes others while the transaction waits."""
        self._database = database
        self._tombstones = Tombstones(database)
        self.texts = TaskTexts(database, session, ready or {})
        self.circles = 0
        """Number of links that were left out, since they would have closed a circle."""

    def store(self, filed: Filed) -> tuple[int, str]:
        """Store a task; return its id, and `added`, `updated` or `unchanged`.

        Return (0, "forgotten") for a forgotten task.
        """
        allowed = without_forgotten(self._database, self._tombstones, filed)
        return (0, "forgotten") if allowed is None else self._store(allowed)

    def _store(self, filed: Filed) -> tuple[int, str]:
        database = self._database
        found = database.run(f"SELECT id, {', '.join(COLUMNS)} FROM tasks WHERE identity = ?", (filed.name,))
        fields = dict(zip(COLUMNS, _fields(filed, is_known=bool(found)), strict=True))
        if not found:
            if not _latest(fields):
                fields["updated_at"] = filed.seen_at
            key = filed.key if filed.key is not None and not _has_key(database, filed.key) else _key(database, filed)
            marks = ", ".join("?" * (len(COLUMNS) + 2))
            id_ = database.number(
                f"INSERT INTO tasks(key, identity, {', '.join(COLUMNS)}) VALUES ({marks}) RETURNING id",
                (key, filed.name, *fields.values()),
            )
            self._store_parts(id_, filed)
            return id_, "added"
        id_, stored = found[0][0], dict(zip(COLUMNS, found[0][1:], strict=True))
        if filed.source_path != stored["source_path"] and _latest(fields) <= _latest(stored):
            self._store_history(id_, filed)
            return id_, "unchanged"
        merged = stored | {name: value for name, value in fields.items() if value not in (None, "", "[]", "{}")}
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
        self._store_parts(id_, filed)
        return id_, "updated" if merged != stored or before != self._dependents(id_) else "unchanged"

    def _store_parts(self, id_: int, filed: Filed) -> None:
        task = filed.task
        by_hand = not filed.source_path
        if not by_hand:
            self._database.run("DELETE FROM task_links WHERE task_id = ? AND NOT by_hand", (id_,))
        targets = filed.targets or [identity_of(filed.project, task.scope, link.target) for link in task.links]
        for link, target in zip(task.links, targets, strict=True):
            self.link(id_, link.kind, target, link.target, by_hand=by_hand)
        stored = [self.add_comment(id_, comment, by_hand=by_hand) for comment in _numbered(task.comments)]
        if not by_hand:
            self._database.run(
                f"DELETE FROM task_comments WHERE task_id = ? AND NOT by_hand AND id NOT IN {LISTED}",
                (id_, bind_list(stored)),
            )
        for attachment in task.attachments:
            self.add_attachment(id_, attachment)
        self._store_history(id_, filed)
        self.texts.refresh(id_)

    def _store_history(self, id_: int, filed: Filed) -> None:
        """Add states and the conversation; every source of a task may add some."""
        task = filed.task
        if task.conversation_id is not None:
            self.add_conversation(id_, task.conversation_id)
        self.add_states(id_, task.states or _only_state(task))

    def add_conversation(self, id_: int, conversation_id: str) -> None:
        """Store that a task belongs to a conversation. Its states may decide outcomes of episodes there."""
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

    def add_states(self, id_: int, states: Sequence[TaskState]) -> None:
        """Add new states to the history; one without a time only if it differs from the latest."""
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
        """Link a task to another one, unless parents, or dependencies made by hand, would form a circle: it is counted."""
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

    def add_comment(self, id_: int, comment: tuple[str, Comment], *, by_hand: bool = True) -> int:
        """Store a comment under its identity if it is new; return its id."""
        identity, content = comment
        found = self._database.value("SELECT id FROM task_comments WHERE task_id = ? AND identity = ?", (id_, identity))
        if found is None:
            found = self._database.value(
                "INSERT INTO task_comments(task_id, identity, author, content, created_at, by_hand) "
                "VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
                (id_, identity, content.author, content.content, content.created_at, by_hand),
            )
        return int(found)

    def add_attachment(self, id_: int, attachment: Attachment) -> int:
        """Store an attachment if it is new; return its id."""
        self._database.run(
            "INSERT OR IGNORE INTO task_attachments(task_id, name, size, sha256, content, created_at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (id_, attachment.name, attachment.size, attachment.sha256, attachment.content, attachment.created_at),
        )
        return self._database.number(
            "SELECT id FROM task_attachments WHERE task_id = ? AND name = ? AND sha256 = ?",
            (id_, attachment.name, attachment.sha256),
        )


def closes_circle(database: Database, id_: int, target: str, kind: str) -> bool:
    """Return whether the task is the target, or links of the kind lead from the target to it."""
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
    """Change fields of a task, by name; None leaves a field as it is, `""` empties it."""
    for name, value in values.items():
        column, stored = (
            (f"{name}_json", orjson.dumps(value).decode()) if name in ("tags", "metadata") else (name, value)
        )
        if value is not None:
            emptied = stored or (None if name.endswith("_at") else "") if stored == "" else stored
            database.run(f"UPDATE tasks SET {column} = ? WHERE id = ?", (emptied, id_))


def supersede_tasks(database: Database, source_path: str, seen: Iterable[int]) -> int:
    """Delete the tasks of a rewritten file that are no longer in it; return their number."""
    gone = database.run(
        f"SELECT id FROM tasks WHERE source_path = ? AND id NOT IN {LISTED}", (source_path, bind_list(seen))
    )
    outcomes.mark_of_tasks(database, [id_ for (id_,) in gone])
    database.run_many("DELETE FROM tasks WHERE id = ?", gone)
    return len(gone)


def delete_rows(database: Database, table: str, id_: int) -> None:
    """Delete a row of `tasks`, `task_comments` or `task_attachments` with its parts."""
    if table == "tasks":
        outcomes.mark_of_tasks(database, [id_])
    database.run(f"DELETE FROM {table} WHERE id = ?", (id_,))


def numbered_comment(database: Database, task_id: int, comment: Comment) -> tuple[str, Comment]:
    """Return a comment with an identity that makes it new, even if an equal one is stored."""
    equals = database.value(
        "SELECT count(*) FROM task_comments WHERE task_id = ? AND author = ? AND content = ? AND created_at IS ?",
        (task_id, comment.author, comment.content, comment.created_at),
    )
    return _identity(comment, equals + 1), comment


def _numbered(comments: Sequence[Comment]) -> Iterator[tuple[str, Comment]]:
    seen: Counter[tuple[str, str | None, str]] = Counter()
    for comment in comments:
        key = (comment.author, comment.created_at, comment.content)
        seen[key] += 1
        yield _identity(comment, seen[key]), comment


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


def _latest(fields: Mapping[str, object]) -> str:
    return max(str(fields[name] or "") for name in ("created_at", "updated_at", "closed_at"))


def _only_state(task: Task) -> tuple[TaskState, ...]:
    if not task.status_raw:
        return ()
    return (TaskState(status_of(task.status_raw), task.status_raw, task.closed_at or task.updated_at),)


def _has_key(database: Database, key: str) -> bool:
    return bool(database.value("SELECT count(*) FROM tasks WHERE key = ?", (key,)))


def _key(database: Database, filed: Filed) -> str:
    """Return a free key: the native id; else, or for a bare number, with the project before it; else with a number."""
    wanted: Iterator[str]
    if filed.source_path:
        native = _UNSAFE.sub("-", remove_controls(filed.task.native_id))[:LONGEST_KEY].strip("-") or "task"
        plain = [] if native.isdecimal() else [native]
        wanted = chain(
            plain, [f"{filed.project}/{native}"], (f"{filed.project}/{native}~{number}" for number in count(2))
        )
    else:
        last = database.value("SELECT seq FROM sqlite_sequence WHERE name = 'tasks'") or 0
        wanted = (f"T-{number}" for number in count(last + 1))
    return next(key for key in wanted if not _has_key(database, key))
