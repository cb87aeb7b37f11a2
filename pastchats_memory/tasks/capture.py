"""Store a text as a new task, unless a similar task exists."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pastchats_memory.embed import Embedder
from pastchats_memory.embed.session import ModelSession
from pastchats_memory.errors import UsageFault
from pastchats_memory.model import Comment, StoredTask, Task
from pastchats_memory.store import sources, task_rows, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.tasks import Filed, encode_texts
from pastchats_memory.tasks.edit import BY_HAND, EVERY_TASK, NOWHERE, TaskEditor, Viewpoint, sanitize
from pastchats_memory.tasks.similarity import SimilarTask, TaskQuery, find_similar_tasks
from pastchats_memory.text.timestamps import current_time

CaptureDecision = Literal["comment", "create", "nothing"]
MAX_TITLE_LENGTH = 120
"""Characters of the first line that become the title; the whole text is then the description."""


@dataclass(frozen=True, slots=True)
class CaptureResult:
    """What `capture_task` did with a text."""

    outcome: Literal["created", "commented", "found"]
    """`found`: a similar task exists, and nothing was written."""
    task: StoredTask
    """The task that was created, commented or found."""
    similar: SimilarTask | None
    """The similar task, if there is one."""


def capture_task(
    database: Database,
    embedder: Embedder,
    text: str,
    project: str,
    decide: Callable[[SimilarTask], CaptureDecision],
    viewpoint: Viewpoint = NOWHERE,
) -> CaptureResult:
    """Store a text as a task, as a comment on a similar task, or not at all.

    The user decides before the write lock is taken. The store is searched again inside the transaction: if two processes
    capture one text at the same time, only one creates a task. Its first line becomes the title. A hidden task
    counts as not similar. Raises UsageFault if the text is empty.
    """
    text = sanitize(text)
    if not text:
        raise UsageFault("there is nothing to capture", "Say what is to be done.")
    session = sources.open_session(database, embedder)
    editor, query = TaskEditor(database, session, viewpoint), TaskQuery.embed(session, text)
    title = _format_title(text)
    as_task = title if title == text else f"{title}\n\n{text}"  # as a task of this text is embedded
    embedded = encode_texts(database, session, [text, as_task, title])
    decisions: dict[int, CaptureDecision] = {}
    while True:
        similar = _find_duplicate(database, session, query)
        if similar is not None and similar.task.id not in decisions:
            decisions[similar.task.id] = decide(similar)
        decision: CaptureDecision = "create" if similar is None else decisions[similar.task.id]
        if similar is not None and decision == "nothing":
            return CaptureResult("found", similar.task, similar)
        with database.transaction():
            editor.open_writer()
            latest = _find_duplicate(database, session, query)
            if latest is not None and latest.task.id not in decisions:
                continue  # another process created it meanwhile
            if similar is not None and decision == "comment":
                editor.store_comment(similar.task.id, Comment(text, "", current_time()), embedded)
                id_ = similar.task.id
            else:
                id_ = _create_task(editor, text, project, embedded)
                if similar is not None:
                    editor.link(id_, "related", similar.task.id)
            vectors.catch_up(database)
        (task,) = task_rows.tasks(database, [id_], whole=True)
        return CaptureResult("commented" if decision == "comment" else "created", task, similar)


def _find_duplicate(database: Database, session: ModelSession, query: TaskQuery) -> SimilarTask | None:
    found = find_similar_tasks(database, session, query, EVERY_TASK)
    return found[0] if found and found[0].match.is_duplicate else None


def _format_title(text: str) -> str:
    line = text.split("\n", 1)[0].strip()
    return line if len(line) <= MAX_TITLE_LENGTH else line[:MAX_TITLE_LENGTH].rsplit(" ", 1)[0]


def _create_task(editor: TaskEditor, text: str, project: str, embedded: dict[bytes, str]) -> int:
    time, title = current_time(), _format_title(text)
    task = Task(
        native_id=uuid.uuid4().hex, title=title, scope=BY_HAND, description="" if title == text else text, status_raw="todo",
        created_at=time, updated_at=time, metadata={"format": BY_HAND},
    )  # fmt: skip
    return editor.store(Filed(task, sanitize(project)), embedded)
