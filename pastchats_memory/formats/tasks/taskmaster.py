"""Taskmaster's `tasks.json`: lists of tasks with subtasks, one a tag, or the older single list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.source import Json, Places, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tasks import folder_of_project, joined, names_of, titled, word_of
from pastchats_memory.model import RESOLVED, Task, TaskLink, Unreadable, priority_of, status_of
from pastchats_memory.text.timestamps import iso_utc

FORMAT = "taskmaster"
VERSION = 3

ONLY_TAG = "master"
"""What the tag is called where the file has none."""
MARKS = ("subtasks", "dependencies", "testStrategy", "details")
PARTS = {"description": "", "details": "", "testStrategy": "Test strategy", "acceptanceCriteria": "Acceptance criteria"}


def recognise(source: SourceFile) -> bool:
    """Whether the document has a list of tasks under `tasks`, or under the `tasks` of a tag."""
    return source.shape == "json" and any(_lists(source.outline))


def _lists(document: object) -> Iterator[tuple[str, Json, list[Json]]]:
    """Tag, metadata and tasks of each list that has any."""
    root = mapping_of(document)
    tags = (
        {ONLY_TAG: root} if isinstance(root.get("tasks"), list) else {tag: mapping_of(of) for tag, of in root.items()}
    )
    for tag, fields in tags.items():
        tasks = [task for task in map(mapping_of, list_of(fields.get("tasks"))) if _is_task(task)]
        if any(mark in task for task in tasks for mark in MARKS):
            yield tag, mapping_of(fields.get("metadata")), tasks


def _is_task(fields: Json) -> bool:
    return bool(word_of(fields.get("id")) and text_of(fields.get("title")))


def read(source: SourceFile) -> Iterator[Task | Unreadable]:
    """Every task, each followed by its subtasks; what has an id that others had before it has its number after that."""
    places = Places(source.text)
    cwd = folder_of_project(source.path)
    seen: Counter[str] = Counter()
    for tag, about, tasks in _lists(source.document):
        for task in tasks:
            id_ = word_of(task.get("id"))
            links = [TaskLink("depends", f"{tag}/{name}") for name in names_of(task.get("dependencies"))]
            yield _task(task, _alone(f"{tag}/{id_}", seen), about, links, places, cwd)
            for subtask in map(mapping_of, list_of(task.get("subtasks"))):
                if _is_task(subtask):
                    local = word_of(subtask.get("id")).removeprefix(f"{id_}.")
                    inner = [
                        TaskLink("depends", _inside(tag, id_, name)) for name in names_of(subtask.get("dependencies"))
                    ]
                    inner.append(TaskLink("parent", f"{tag}/{id_}"))
                    yield _task(subtask, _alone(f"{tag}/{id_}.{local}", seen), about, inner, places, cwd)


def _alone(id_: str, seen: Counter[str]) -> str:
    seen[id_] += 1
    return id_ if seen[id_] == 1 else f"{id_}#{seen[id_]}"


def _inside(tag: str, id_: str, name: str) -> str:
    """The whole id of what a subtask names: a sister by its own number, any other by both."""
    return f"{tag}/{name}" if "." in name else f"{tag}/{id_}.{name}"


def _task(fields: Json, native_id: str, about: Json, links: list[TaskLink], places: Places, cwd: str) -> Task:
    title, status = text_of(fields.get("title")), text_of(fields.get("status")) or "pending"
    changed = iso_utc(fields.get("updatedAt"))
    return Task(
        native_id=native_id,
        title=titled(title),
        line=places.line(title),
        scope=FORMAT,
        description=joined(fields, PARTS),
        type="subtask" if any(link.kind == "parent" for link in links) else "task",
        status_raw=status,
        priority=priority_of(fields.get("priority")),
        cwd=cwd,
        links=tuple(dict.fromkeys(links)),
        created_at=min(filter(None, (iso_utc(about.get("created")), changed)), default=None),
        updated_at=changed or iso_utc(about.get("updated")),
        closed_at=changed if status_of(status) in RESOLVED else None,
        metadata={"format": FORMAT},
    )


TASKMASTER = Format(
    name="taskmaster",
    version=3,
    detect=confident(recognise, 90),
    read=read,
    kinds=frozenset({"tasks"}),
)
