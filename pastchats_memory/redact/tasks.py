"""Secrets out of a task, whoever wrote it, before it reaches the disk."""

from __future__ import annotations

from pastchats_memory.model import Attachment, Task, TaskState
from pastchats_memory.redact import redact, redacted_path, redacted_value


def redacted_task(task: Task) -> Task:
    """The task with every text of it, and of what belongs to it, redacted; ids and the links to them alike, so that they still meet."""
    return task._replace(
        native_id=_text(task.native_id),
        conversation_id=None if task.conversation_id is None else _text(task.conversation_id),
        cwd=None if task.cwd is None else redacted_path(task.cwd),
        title=_text(task.title),
        description=_text(task.description),
        status_raw=_text(task.status_raw),
        tags=tuple(map(_text, task.tags)),
        links=tuple(link._replace(kind=_text(link.kind), target=_text(link.target)) for link in task.links),
        states=tuple(TaskState(state.status, _text(state.raw), state.at) for state in task.states),
        comments=tuple(said._replace(content=_text(said.content), author=_text(said.author)) for said in task.comments),
        attachments=tuple(map(_attachment, task.attachments)),
        metadata=redacted_value(task.metadata),
    )


def _attachment(one: Attachment) -> Attachment:
    return one._replace(name=_text(one.name), content=None if one.content is None else _text(one.content))


def _text(text: str) -> str:
    return redact(text).text
