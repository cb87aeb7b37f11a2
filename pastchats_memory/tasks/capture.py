"""A thought becomes a task, unless there is one like it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pastchats_memory.embed import Embedder
from pastchats_memory.errors import UsageFault
from pastchats_memory.model import Comment, Filters, StoredTask, Task
from pastchats_memory.store import tasks, vectors
from pastchats_memory.store.database import Database
from pastchats_memory.store.tasks import Filed, encoded
from pastchats_memory.tasks.desk import BY_HAND, NOWHERE, Desk, Standing, now, safe
from pastchats_memory.tasks.near import Asked, Near, asked, near

Answer = Literal["comment", "create", "nothing"]
TITLE_WIDTH = 120
"""Characters of a text's first line that make the title; the whole text is then the description."""


@dataclass(frozen=True, slots=True)
class Captured:
    """What became of a thought."""

    outcome: Literal["created", "commented", "found"]
    """`found`: there is a similar task, and nothing was written."""
    task: StoredTask
    """The one that was created, that got the comment, or that was found."""
    similar: Near | None
    """The similar task; None where there was none."""


def capture(
    database: Database,
    embedder: Embedder,
    text: str,
    project: str,
    decide: Callable[[Near], Answer],
    standing: Standing = NOWHERE,
) -> Captured:
    """Store a thought as a task, as a comment on one like it, or not at all.

    The question is asked before the write lock is taken, and the store is looked through once more after: of two
    captures of one text at one moment only one creates a task.

    Args:
        database: open for writing.
        embedder: of the database's vectors.
        text: the thought; its first line is the title.
        project: of a task that is created.
        decide: what to do about a similar task.
        standing: from where it is captured: a task that is hidden from there is similar to nothing.

    Raises:
        UsageFault: the text is empty.
        ModelUnavailable, ModelChanged: without vectors nothing is compared, and nothing written.
        StoreFault: the database cannot be written.
    """
    text = safe(text)
    if not text:
        raise UsageFault("there is nothing to capture", "Say what is to be done.")
    desk, one = Desk(database, embedder, standing), asked(embedder, _text_of_task(text))
    ready = encoded(
        database, [text, one.text, one.text.partition("\n")[0]], embedder.name,
        lambda texts: map(vectors.encode, embedder.embed(texts)),
    )  # fmt: skip
    answered: dict[int, Answer] = {}
    while True:
        similar = _similar(database, embedder, one, standing.tasks)
        if similar is not None and similar.task.id not in answered:
            answered[similar.task.id] = decide(similar)
        answer: Answer = "create" if similar is None else answered[similar.task.id]
        if similar is not None and answer == "nothing":
            return Captured("found", similar.task, similar)
        with database.transaction():
            desk.writer()
            latest = _similar(database, embedder, one, standing.tasks)
            if latest is not None and latest.task.id not in answered:
                continue  # another process was quicker
            if similar is not None and answer == "comment":
                desk.add_comment(similar.task.id, Comment(text, "", now()), ready)
                id_ = similar.task.id
            else:
                id_ = _create(desk, text, project, ready)
                if similar is not None:
                    desk.relate(id_, similar.task.id)
            vectors.catch_up(database)
        (task,) = tasks.tasks(database, [id_], standing.hidden, whole=True)
        return Captured("commented" if answer == "comment" else "created", task, similar)


def _similar(database: Database, embedder: Embedder, one: Asked, filters: Filters) -> Near | None:
    found = near(database, embedder, one, filters)
    return found[0] if found and found[0].likeness.is_duplicate else None


def _title_of(text: str) -> str:
    line = text.split("\n", 1)[0].strip()
    if len(line) <= TITLE_WIDTH:
        return line
    return line[:TITLE_WIDTH].rsplit(" ", 1)[0]


def _text_of_task(text: str) -> str:
    title = _title_of(text)
    return title if title == text else f"{title}\n\n{text}"


def _create(desk: Desk, text: str, project: str, ready: dict[bytes, str]) -> int:
    at, title = now(), _title_of(text)
    task = Task(
        native_id=uuid.uuid4().hex, title=title, scope=BY_HAND, description="" if title == text else text, status_raw="todo",
        created_at=at, updated_at=at, metadata={"format": BY_HAND},
    )  # fmt: skip
    return desk.file(Filed(task, safe(project)), ready)
