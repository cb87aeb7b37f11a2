"""Read Taskmaster's `tasks.json`: a list of tasks for each tag, or in the older form a single list."""

from collections import Counter
from collections.abc import Iterator

from pastchats_memory.formats.base import tasks
from pastchats_memory.formats.base.format import CERTAIN, task_format
from pastchats_memory.formats.base.source import Places, SourceFile
from pastchats_memory.formats.base.values import Json, mapping_of, objects_of, text_of
from pastchats_memory.model import RESOLVED, Task, TaskLink, Unreadable
from pastchats_memory.text.timestamps import iso_utc
from pastchats_memory.text.tracker_words import priority_of, status_of

FORMAT = "taskmaster"

ONLY_TAG = "master"
"""Name of the tag in a file without tags."""
MARKS = ("subtasks", "dependencies", "testStrategy", "details")
PARTS = {"description": "", "details": "", "testStrategy": "Test strategy", "acceptanceCriteria": "Acceptance criteria"}


def detect(source: SourceFile) -> int:
    """Return 90 for tasks under `tasks`, or under the `tasks` of a tag; else 0."""
    return CERTAIN if source.shape == "json" and any(_lists_of(source.outline)) else 0


def _lists_of(document: object) -> Iterator[tuple[str, Json, list[Json]]]:
    """Yield tag, metadata and tasks of each list with tasks."""
    root = mapping_of(document)
    has_no_tags = isinstance(root.get("tasks"), list)
    tags = {ONLY_TAG: root} if has_no_tags else {tag: mapping_of(of) for tag, of in root.items()}
    for tag, fields in tags.items():
        listed = [task for task in objects_of(fields.get("tasks")) if _is_task(task)]
        if any(mark in task for task in listed for mark in MARKS):
            yield tag, mapping_of(fields.get("metadata")), listed


def _is_task(fields: Json) -> bool:
    return bool(tasks.word_of(fields.get("id")) and text_of(fields.get("title")))


def read(source: SourceFile) -> Iterator[Task | Unreadable]:
    """Yield each task, then its subtasks; a repeated id gets a number, so that every id is unique."""
    places = Places(source.text)
    cwd = tasks.folder_of_project(source.path)
    seen: Counter[str] = Counter()
    for tag, metadata, listed in _lists_of(source.document):
        for task in listed:
            id_ = tasks.word_of(task.get("id"))
            links = [TaskLink("depends", f"{tag}/{name}") for name in tasks.names_of(task.get("dependencies"))]
            yield _task(task, _unique_id(f"{tag}/{id_}", seen), metadata, links, places, cwd)
            for subtask in objects_of(task.get("subtasks")):
                if _is_task(subtask):
                    local = tasks.word_of(subtask.get("id")).removeprefix(f"{id_}.")
                    names = tasks.names_of(subtask.get("dependencies"))
                    ids = (f"{tag}/{name}" if "." in name else f"{tag}/{id_}.{name}" for name in names)
                    inner = [TaskLink("depends", needed) for needed in ids]
                    inner.append(TaskLink("parent", f"{tag}/{id_}"))
                    yield _task(subtask, _unique_id(f"{tag}/{id_}.{local}", seen), metadata, inner, places, cwd)


def _unique_id(id_: str, seen: Counter[str]) -> str:
    seen[id_] += 1
    return id_ if seen[id_] == 1 else f"{id_}#{seen[id_]}"


def _task(fields: Json, native_id: str, metadata: Json, links: list[TaskLink], places: Places, cwd: str) -> Task:
    title, status = text_of(fields.get("title")), text_of(fields.get("status")) or "pending"
    updated = iso_utc(fields.get("updatedAt"))
    return Task(
        native_id=native_id,
        title=tasks.one_line(title),
        line=places.line(title),
        scope=FORMAT,
        description=tasks.join_sections(fields, PARTS),
        type="subtask" if any(link.kind == "parent" for link in links) else "task",
        status_raw=status,
        priority=priority_of(fields.get("priority")),
        cwd=cwd,
        links=tuple(dict.fromkeys(links)),
        created_at=min(filter(None, (iso_utc(metadata.get("created")), updated)), default=None),
        updated_at=updated or iso_utc(metadata.get("updated")),
        closed_at=updated if status_of(status) in RESOLVED else None,
        metadata={"format": FORMAT},
    )


TASKMASTER = task_format(FORMAT, 3, detect, read)
