"""Read issues of Beads: one a line, in a file that is rewritten whole."""

from collections.abc import Iterator, Mapping

from pastchats_memory.formats.base import tasks
from pastchats_memory.formats.base.format import has_record, task_format
from pastchats_memory.formats.base.source import Record, SourceFile
from pastchats_memory.formats.base.values import Json, objects_of, text_of
from pastchats_memory.model import Comment, Task, TaskLink, Unreadable
from pastchats_memory.text.timestamps import iso_utc
from pastchats_memory.text.tracker_words import priority_of, status_of, type_of

FORMAT = "beads"

MARKS = ("issue_type", "created_at", "priority")
PARTS = {"description": "", "design": "Design", "acceptance_criteria": "Acceptance criteria", "notes": "Notes"}
LINKS = {"parent-child": "parent", "blocks": "depends"}
MACHINE = frozenset({"message", "molecule", "gate", "agent", "convoy", "event", "wisp", "merge-request", "role"})
"""Issue types that programs write for each other."""


def _is_issue(record: Json) -> bool:
    has_names = text_of(record.get("id")) and text_of(record.get("title"))
    return bool(has_names) and sum(mark in record for mark in MARKS) > 1


def read(source: SourceFile) -> Iterator[Task | Unreadable]:
    """Yield each issue once, without deleted ones and memories; yield the older issues of an id as unreadable."""
    found: dict[str, tuple[int, Json]] = {}
    for item in source.records():
        if not isinstance(item, Record):
            yield item
        elif not isinstance(item.value, dict):
            yield Unreadable(str(source.path), item.line, "not an issue")
        elif _is_issue(item.value):
            id_ = text_of(item.value.get("id"))
            this, other = (item.line, item.value), found.get(id_, (item.line, item.value))
            newer, older = (this, other) if _update_time(this[1]) >= _update_time(other[1]) else (other, this)
            found[id_] = newer
            if older[1] != newer[1]:
                yield Unreadable(str(source.path), older[0], f"{id_} is also in line {newer[0]}, which is newer")
        elif item.value.get("_type", "issue") == "issue" and item.value.get("status") != "tombstone":
            yield Unreadable(str(source.path), item.line, "an issue without id or title")
    cwd = tasks.folder_of_project(source.path)
    epics = {id_ for id_, (_, issue) in found.items() if type_of(text_of(issue.get("issue_type"))) == "epic"}
    for line, issue in found.values():
        if issue.get("status") != "tombstone":
            yield _task(issue, line, cwd, found, epics)


def _update_time(issue: Json) -> str:
    return iso_utc(issue.get("updated_at")) or ""


def _task(issue: Json, line: int, cwd: str, known: Mapping[str, object], epics: set[str]) -> Task:
    id_ = text_of(issue.get("id"))
    links = _links_of(issue, id_, known)
    parent = next((link.target for link in links if link.kind == "parent"), None)
    kind = text_of(issue.get("issue_type"))
    is_machine = issue.get("ephemeral") is True or kind in MACHINE
    session, own = text_of(issue.get("closed_by_session")), [kind] if kind not in ("", "task") else []
    extra = {name: issue[name] for name in ("assignee", "owner", "external_ref") if text_of(issue.get(name))}
    return Task(
        native_id=id_,
        title=tasks.one_line(text_of(issue.get("title"))),
        line=line,
        scope=FORMAT,
        description=tasks.join_sections(issue, PARTS),
        type=type_of(kind, has_parent=parent is not None and parent not in epics),
        status_raw=text_of(issue.get("status")) or "open",
        priority=priority_of(issue.get("priority")),
        tags=tasks.names_of([*own, *tasks.names_of(issue.get("labels")), *(["machine"] if is_machine else [])]),
        cwd=cwd,
        links=links,
        conversation_id=session or None,
        comments=tuple(_comments_of(issue)),
        metadata={"format": FORMAT, **extra},
        **tasks.times_of(issue, **{key: key for key in ("created_at", "updated_at", "closed_at", "due_at")}),
    )


def _links_of(issue: Json, id_: str, known: Mapping[str, object]) -> tuple[TaskLink, ...]:
    found = []
    for dependency in objects_of(issue.get("dependencies")):
        target, kind = text_of(dependency.get("depends_on_id")), text_of(dependency.get("type"))
        if target and text_of(dependency.get("issue_id")) in ("", id_):
            found.append(TaskLink(LINKS.get(kind, kind or "depends"), target))
    above = id_.rpartition(".")[0]
    if above in known and all(link.kind != "parent" for link in found):
        found.append(TaskLink("parent", above))
    return tuple(dict.fromkeys(found))


def _comments_of(issue: Json) -> Iterator[Comment]:
    for comment in objects_of(issue.get("comments")):
        if text := text_of(comment.get("text")).strip():
            yield Comment(text, text_of(comment.get("author")), iso_utc(comment.get("created_at")))
    reason = text_of(issue.get("close_reason")).strip()
    if reason and status_of(reason) == "unknown":  # a mere status word is no comment
        yield Comment(reason, text_of(issue.get("assignee")), iso_utc(issue.get("closed_at")))


BEADS = task_format(FORMAT, 1, has_record(_is_issue), read)
