"""Store the tasks of a file in the transaction of its turns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pastchats_memory.embed.session import ModelSession
from pastchats_memory.files.project import project_at
from pastchats_memory.formats.base.storage import project_of_file
from pastchats_memory.formats.registry import formats_of_kind
from pastchats_memory.ingest.discover import Candidate
from pastchats_memory.model import Comment, Metadata, Task, TaskLink, TaskState
from pastchats_memory.redact import redact, redact_json, redact_task
from pastchats_memory.store import interchange, sources, task_rows, tasks
from pastchats_memory.store.database import Database
from pastchats_memory.store.tombstones import Tombstones
from pastchats_memory.text.clean import clean, clean_value
from pastchats_memory.text.encoding import utf8
from pastchats_memory.text.timestamps import iso_utc
from pastchats_memory.text.wire import find_wrong_task_field

TASK_FORMATS = frozenset(known.name for known in formats_of_kind("tasks"))
"""Formats whose files are complete lists of tasks; a task that is missing from its file is superseded."""


@dataclass(frozen=True, slots=True)
class StoredTasks:
    """How many tasks of a file were stored."""

    added: int
    updated: int
    superseded: int
    """Tasks that are no longer in the file."""
    forgotten: int


def prepare_tasks(found: Iterable[Task], candidate: Candidate, project: str | None) -> list[tasks.Filed]:
    """Return the tasks of a file, clean and redacted; the project is "" if none is known."""
    seen_at = iso_utc(candidate.mtime_ns)
    return [
        _prepare(task, project or task.project or _project_of(task, candidate.path), candidate.name, seen_at)
        if task.exported is None
        else _prepare_exported(task, task.exported)
        for task in found
    ]


def _prepare(task: Task, project: str, source_path: str, seen_at: str | None) -> tasks.Filed:
    """Return a redacted task.

    Its identity is made of the original ids, because other rules may redact other parts.
    """
    task = _clean(task)
    safe = redact_task(task)
    return tasks.Filed(
        safe._replace(title=safe.title[: tasks.LONGEST_TITLE]),
        redact(project).text,
        source_path,
        identity=tasks.identity_of(project, task.scope, task.native_id),
        targets=tuple(tasks.identity_of(project, task.scope, link.target) for link in task.links),
        seen_at=seen_at,
    )


def find_fault(task: Task) -> str | None:
    """Return what is wrong with an exported task; None for a valid task or one of another source."""
    return None if task.exported is None else find_wrong_task_field(task.exported)


def _prepare_exported(task: Task, exported: Metadata) -> tasks.Filed:
    body = dict(redact_json(exported))
    filed = interchange.parse_task(body)
    return replace(filed, task=filed.task._replace(cwd=task.cwd, exported=body))


def _project_of(task: Task, path: Path) -> str:
    """Return the project of the recorded folder, else of the file; "" for a conversation's list."""
    if task.cwd is None and task.conversation_id is not None:
        return ""
    return utf8(project_at(task.cwd) if task.cwd else project_of_file(path))


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
        comments=tuple(
            Comment(_text(comment.content), _text(comment.author), comment.created_at) for comment in task.comments
        ),
        metadata={key: clean_value(value) for key, value in task.metadata.items()},
    )


def _text(text: str) -> str:
    return clean(text).strip()


def encode_tasks(database: Database, session: ModelSession, files: Iterable[Sequence[tasks.Filed]]) -> dict[bytes, str]:
    """Return the encoded vectors of the tasks, before the write lock is taken."""
    tombstones = Tombstones(database)
    remaining = (tasks.without_forgotten(database, tombstones, one) for waiting in files for one in waiting)
    texts = tasks.texts_to_come(one.task for one in remaining if one is not None)
    return tasks.encode_texts(database, session, texts)


def store_tasks(
    database: Database,
    session: ModelSession,
    waiting: Sequence[tasks.Filed],
    file: tuple[str, str],
    ready_by_hash: dict[bytes, str],
) -> StoredTasks:
    """Store the tasks of a whole file, with its format and name, in the caller's transaction."""
    format_, name = file
    writer = tasks.TaskWriter(database, session, ready_by_hash)
    whole = [one if one.project else _add_project(database, one) for one in waiting]
    sources.remember_folders(database, _folders_of(whole, name))
    sources.keep_private(
        database, {one.project for one in whole if one.task.exported and one.task.exported.get("is_private")}
    )
    done = [_put(database, writer, one) for one in whole]
    outcomes = [outcome for _, outcome in done]
    gone = 0
    if format_ in TASK_FORMATS:
        gone = tasks.supersede_tasks(database, name, (id_ for id_, _ in done))
    return StoredTasks(outcomes.count("added"), outcomes.count("updated"), gone, outcomes.count("forgotten"))


def _put(database: Database, writer: tasks.TaskWriter, one: tasks.Filed) -> tuple[int, str]:
    if one.task.exported is None:
        return writer.store(one)
    known = interchange.newer_than(database, one.task.exported)
    return interchange.store_exported(database, writer, one.task.exported) if known is None else (known, "unchanged")


def _folders_of(waiting: Iterable[tasks.Filed], name: str) -> dict[str, str]:
    """Return the project of each folder; a tracker's tasks without one belong to the file's folder."""
    here = str(Path(name).parent)
    return {
        one.task.cwd or here: one.project for one in waiting if one.project and (one.task.cwd or not one.task.exported)
    }


def _add_project(database: Database, one: tasks.Filed) -> tasks.Filed:
    project = task_rows.project_of_conversation(database, one.task.conversation_id or "")
    return replace(one, project=project or "")
