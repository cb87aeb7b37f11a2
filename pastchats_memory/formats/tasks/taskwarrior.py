"""Read what `task export` of Taskwarrior prints: an array of tasks, or one a line.

Fields are those of https://taskwarrior.org/docs/design/task/.
"""

from collections.abc import Iterator

from pastchats_memory.formats.base.format import CERTAIN, task_format
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tasks import folder_of_project, links_to, names_of, one_line, times_of
from pastchats_memory.formats.base.values import Json, mapping_of, objects_of, text_of
from pastchats_memory.model import Comment, Task, Unreadable
from pastchats_memory.text.timestamps import iso_utc

FORMAT = "taskwarrior"
STATES = {"pending": "pending", "waiting": "deferred", "completed": "completed", "deleted": "deleted"}
"""Our word for each status. A recurring task is a template: its instances are tasks of their own."""
TEMPLATE = "recurring"
PRIORITIES = {"H": 1, "M": 2, "L": 3}


def _is_task(fields: Json) -> bool:
    has_names = all(text_of(fields.get(key)) for key in ("uuid", "description", "entry"))
    return has_names and fields.get("status") in (*STATES, TEMPLATE)


def detect(source: SourceFile) -> int:
    """Return 90 if each object has the fields of a task, else 0."""
    outline = source.outline if source.shape == "json" else None
    tasks = source.sample if source.shape == "jsonl" else objects_of(outline) or [mapping_of(outline)]
    return CERTAIN if tasks and all(map(_is_task, tasks)) else 0


def read(source: SourceFile) -> Iterator[Task | Unreadable]:
    """Yield each task."""
    cwd = folder_of_project(source.path)
    for item in source.records() if source.shape == "jsonl" else source.elements():
        if isinstance(item, Unreadable):
            yield item
        elif not _is_task(fields := mapping_of(item.value)):
            yield Unreadable(str(source.path), item.line, "not a task of Taskwarrior")
        elif fields["status"] != TEMPLATE:
            yield _task(fields, item.line, cwd)


def _task(fields: Json, line: int, cwd: str) -> Task:
    status = STATES[text_of(fields.get("status"))]
    listed = objects_of(fields.get("annotations"))
    notes = [(text_of(note.get("description")).strip(), note.get("entry")) for note in listed]
    return Task(
        native_id=text_of(fields.get("uuid")),
        title=one_line(text_of(fields.get("description"))),
        line=line,
        scope=FORMAT,
        status_raw="started" if status == "pending" and fields.get("start") else status,
        priority=PRIORITIES.get(text_of(fields.get("priority"))),
        tags=names_of(fields.get("tags")),
        project=text_of(fields.get("project")) or None,
        cwd=cwd,
        links=links_to("depends", names_of(fields.get("depends"))),
        comments=tuple(Comment(text, "", iso_utc(time)) for text, time in notes if text),
        metadata={"format": FORMAT},
        **times_of(fields, created_at="entry", updated_at="modified", closed_at="end", due_at="due"),
    )


TASKWARRIOR = task_format(FORMAT, 1, detect, read)
