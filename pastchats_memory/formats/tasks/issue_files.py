"""Read a task from a Markdown file with front matter, as Backlog.md and other trackers beside the code write."""

import re
from collections.abc import Iterator
from pathlib import PurePath

from pastchats_memory.formats.base import tasks
from pastchats_memory.formats.base.format import task_format
from pastchats_memory.formats.base.markdown import front_matter, headings, in_code
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.values import Json
from pastchats_memory.model import RESOLVED, Comment, Task, Unreadable
from pastchats_memory.text.timestamps import LOCAL, iso_utc
from pastchats_memory.text.tracker_words import folded, is_status, priority_of, status_of, type_of

FORMAT = "issue-files"

DOCUMENT_STATUSES = frozenset({"draft", "accepted", "proposed", "approved", "active", "superseded", "current", "removed", "released", "new"})  # fmt: skip
"""Statuses that articles and decisions have too. They need another key of an issue beside them."""
ISSUE_KEYS = frozenset({"assignee", "assignees", "priority", "labels", "dependencies", "parent_task_id", "milestone", "due", "created_date", "number", "type", "blocked_by", "depends_on"})  # fmt: skip
FOLDER_STATUS = {"archive": "archived", "archived": "archived", "drafts": "draft"}
FIRST_PREFIX = "task"
"""The default prefix of Backlog.md's ids. References from before a change of prefix have it."""
NOTES = frozenset({"implementation notes", "notes", "resolution", "final summary", "outcome", "comments"})
"""Titles of sections about how the work went."""

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ID = re.compile(r"([A-Za-z][\w-]*?)-?(?<!\d)(\d+(?:\.\d+)*)\Z")
_NAME = re.compile(r"([A-Za-z][\w]*-\d+(?:\.\d+)*)(?: - |\b)")
_COMMENT = re.compile(r"<!--.*?-->|(<!--.*)", re.DOTALL)
_OLD_DAY = re.compile(r"\A(\d\d)-(\d\d)-(\d\d)\Z")


def detect(source: SourceFile) -> int:
    """Return 65 for front matter with an issue's status, and a title; else 0."""
    if source.shape != "markdown" or tasks.is_template(source.path):
        return 0
    lines = source.head.split("\n")
    front = front_matter([line.rstrip("\r") for line in lines])
    fields = _normalize_keys(front.fields)
    word = _text(fields, "status", "state")
    if not word or not _title(fields, lines[front.lines :]):
        return 0
    if is_status(word) and folded(word) not in DOCUMENT_STATUSES:
        return 65
    own_id = _text(fields, "id")
    has_name = bool(own_id) and source.path.name.lower().startswith(f"{own_id} - ".lower())  # as Backlog.md names files
    return 65 if has_name or any(key in fields for key in ISSUE_KEYS) else 0


def read(source: SourceFile) -> Iterator[Task | Unreadable]:
    """Yield the one task, with the sections about how the work went as comments."""
    lines = source.text.split("\n")
    front = front_matter(lines)
    fields = _normalize_keys(front.fields)
    body = lines[front.lines :]
    named = _NAME.match(source.path.stem)
    id_ = _text(fields, "id", "number", "num") or (named[1] if named else source.path.stem)
    raw = _status(source.path, _text(fields, "status", "state"))
    updated = _time(fields, "updated_date", "updated", "updated_at")
    description, notes = _split_sections(body, _title(fields, body))
    parents = _match_spelling(id_, tasks.names_of(fields.get("parent_task_id") or fields.get("parent")))
    needed = fields.get("dependencies") or fields.get("depends_on") or fields.get("blocked_by")
    depends = _match_spelling(id_, tasks.names_of(needed))
    labels = tasks.names_of(fields.get("labels")) + tasks.names_of(fields.get("tags"))
    kind = next((name for name in (_text(fields, "type"), *labels) if type_of(name) != "task"), "")
    extra = {key: fields[key] for key in ("assignee", "assignees", "milestone", "reporter") if fields.get(key)}
    yield Task(
        native_id=id_,
        title=tasks.one_line(_title(fields, body)),
        line=1,
        scope=FORMAT,
        description=description,
        type=type_of(kind, has_parent=bool(parents)),
        status_raw=raw,
        priority=priority_of(_text(fields, "priority", "severity")),
        tags=tuple(dict.fromkeys(labels)),
        cwd=tasks.folder_of_project(source.path),
        links=tasks.links_to("parent", parents[:1]) + tasks.links_to("depends", depends),
        created_at=_time(fields, "created_date", "created", "created_at", "date"),
        updated_at=updated,
        closed_at=_time(fields, "closed", "closed_at", "completed", "completed_at", "resolved", "resolved_at", "done")
        or (updated if status_of(raw) in RESOLVED else None),
        due_at=_time(fields, "due", "due_date"),
        comments=tuple(Comment(note, created_at=updated) for note in notes),
        metadata={"format": FORMAT, **extra},
    )


def _normalize_keys(fields: Json) -> Json:
    """Return the fields with keys such as `created_at` in place of `createdAt`, `created-at` or `Created At`."""
    return {_CAMEL.sub("_", key).lower().replace("-", "_").replace(" ", "_"): value for key, value in fields.items()}


def _title(fields: Json, body: list[str]) -> str:
    top = (heading.title for _, heading in headings(body, in_code(body)) if heading.level == 1)
    return _text(fields, "title", "name") or next(top, "")


def _status(path: PurePath, word: str) -> str:
    folders = [parent.name.lower() for parent in list(path.parents)[:2]]
    moved = next((FOLDER_STATUS[name] for name in folders if name in FOLDER_STATUS), None)
    if moved is None and folders[0] == "completed" and status_of(word) not in RESOLVED:
        moved = "completed"
    return moved or word


def _match_spelling(id_: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return references in the spelling of this task's id: `task-100` becomes `BACK-100` after a change of the prefix."""
    own = _ID.match(id_)
    found = ((name, _ID.match(name)) for name in names)
    return tuple(
        f"{own[1]}-{other[2]}" if own and other and other[1].lower() in (FIRST_PREFIX, own[1].lower()) else name
        for name, other in found
    )


def _text(fields: Json, *keys: str) -> str:
    return next((value for key in keys if isinstance(value := fields.get(key), str) and value), "")


def _time(fields: Json, *keys: str) -> str | None:
    texts = (_OLD_DAY.sub(r"20\3-\2-\1", _text(fields, key)) for key in keys)
    return next((moment for text in texts if (moment := iso_utc(text, LOCAL))), None)


def _split_sections(body: list[str], title: str) -> tuple[str, list[str]]:
    """Return the description, and the sections about how the work went."""
    description: list[str] = []
    notes: list[list[str]] = []
    into = description
    starts = {place: heading for place, heading in headings(body, in_code(body)) if heading.level <= 2}  # noqa: PLR2004 - deeper ones belong to a section
    for place, line in enumerate(body):
        heading = starts.get(place)
        if heading is None:
            into.append(line)
        elif heading.title.lower() in NOTES:
            notes.append(into := [])
        else:
            into = description
            if heading.title != "Description" and not (heading.level == 1 and heading.title.endswith(title)):
                into.append(line)
    texts = (_COMMENT.sub(r"\1", "\n".join(lines)).strip() for lines in notes)
    whole = re.sub(r"\n{3,}", "\n\n", _COMMENT.sub(r"\1", "\n".join(description))).strip()
    return whole, [text for text in texts if text]


ISSUE_FILES = task_format(FORMAT, 4, detect, read, is_specific=False)
