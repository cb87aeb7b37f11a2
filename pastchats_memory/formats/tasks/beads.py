"""Issues of Beads: one JSON object a line, rewritten whole, with dependencies, comments and tombstones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.source import Json, Record, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tasks import folder_of_project, joined, names_of, titled
from pastchats_memory.model import Comment, Task, TaskLink, Unreadable, priority_of, status_of, type_of
from pastchats_memory.text.timestamps import iso_utc

FORMAT = "beads"
VERSION = 1

MARKS = ("issue_type", "created_at", "priority")
PARTS = {"description": "", "design": "Design", "acceptance_criteria": "Acceptance criteria", "notes": "Notes"}
LINKS = {"parent-child": "parent", "blocks": "depends"}
MACHINE = frozenset({"message", "molecule", "gate", "agent", "convoy", "event", "wisp", "merge-request", "role"})
"""Issue types that programs write for each other."""
BEFORE_TIME = "0001"


def recognise(source: SourceFile) -> bool:
    """Whether any of the first records is an issue."""
    return any(_is_issue(record) for record in source.sample)


def _is_issue(record: Json) -> bool:
    named = text_of(record.get("id")) and text_of(record.get("title"))
    return bool(named) and sum(mark in record for mark in MARKS) > 1


def read(source: SourceFile) -> Iterator[Task | Unreadable]:
    """Every issue once, the newest of equal ids, the others told of; deleted ones and memories are left out."""
    found: dict[str, tuple[int, Json]] = {}
    for item in source.records():
        if not isinstance(item, Record):
            yield item
        elif not isinstance(item.value, dict):
            yield Unreadable(str(source.path), item.line, "not an issue")
        elif _is_issue(item.value):
            id_ = text_of(item.value.get("id"))
            this, other = (item.line, item.value), found.get(id_, (item.line, item.value))
            found[id_], passed_over = (this, other) if _updated(this[1]) >= _updated(other[1]) else (other, this)
            if passed_over[1] != found[id_][1]:
                yield Unreadable(
                    str(source.path), passed_over[0], f"{id_} is also in line {found[id_][0]}, which is newer"
                )
        elif item.value.get("_type", "issue") == "issue" and item.value.get("status") != "tombstone":
            yield Unreadable(str(source.path), item.line, "an issue without id or title")
    cwd = folder_of_project(source.path)
    epics = {id_ for id_, (_, issue) in found.items() if type_of(text_of(issue.get("issue_type"))) == "epic"}
    for line, issue in found.values():
        if issue.get("status") != "tombstone":
            yield _task(issue, line, cwd, found, epics)


def _updated(issue: Json) -> str:
    return _time(issue.get("updated_at")) or ""


def _time(value: object) -> str | None:
    return None if text_of(value).startswith(BEFORE_TIME) else iso_utc(value)


def _task(issue: Json, line: int, cwd: str, known: Mapping[str, object], epics: set[str]) -> Task:
    id_ = text_of(issue.get("id"))
    links = _links(issue, id_, known)
    parent = next((link.target for link in links if link.kind == "parent"), None)
    kind = text_of(issue.get("issue_type"))
    machine = issue.get("ephemeral") is True or kind in MACHINE
    session = text_of(issue.get("closed_by_session"))
    about = {name: issue[name] for name in ("assignee", "owner", "external_ref") if text_of(issue.get(name))}
    return Task(
        native_id=id_,
        title=titled(text_of(issue.get("title"))),
        line=line,
        scope=FORMAT,
        description=joined(issue, PARTS),
        type=type_of(kind, has_parent=parent is not None and parent not in epics),
        status_raw=text_of(issue.get("status")) or "open",
        priority=priority_of(issue.get("priority")),
        tags=names_of(
            [
                *([kind] if kind not in ("", "task") else []),
                *names_of(issue.get("labels")),
                *(["machine"] if machine else []),
            ]
        ),
        cwd=cwd,
        links=links,
        created_at=_time(issue.get("created_at")),
        updated_at=_time(issue.get("updated_at")),
        closed_at=_time(issue.get("closed_at")),
        due_at=_time(issue.get("due_at")),
        conversation_id=session or None,
        comments=tuple(_comments(issue)),
        metadata={"format": FORMAT, **about},
    )


def _links(issue: Json, id_: str, known: Mapping[str, object]) -> tuple[TaskLink, ...]:
    found = []
    for dependency in map(mapping_of, list_of(issue.get("dependencies"))):
        target, kind = text_of(dependency.get("depends_on_id")), text_of(dependency.get("type"))
        if target and text_of(dependency.get("issue_id")) in ("", id_):
            found.append(TaskLink(LINKS.get(kind, kind or "depends"), target))
    above = id_.rpartition(".")[0]
    if above in known and all(link.kind != "parent" for link in found):
        found.append(TaskLink("parent", above))
    return tuple(dict.fromkeys(found))


def _comments(issue: Json) -> Iterator[Comment]:
    for comment in map(mapping_of, list_of(issue.get("comments"))):
        if text := text_of(comment.get("text")).strip():
            yield Comment(text, text_of(comment.get("author")), _time(comment.get("created_at")))
    reason = text_of(issue.get("close_reason")).strip()
    if reason and status_of(reason) == "unknown":  # not the mere word that it is closed
        yield Comment(reason, text_of(issue.get("assignee")), _time(issue.get("closed_at")))


BEADS = Format(
    name="beads",
    version=1,
    detect=confident(recognise, 90),
    read=read,
    kinds=frozenset({"tasks"}),
)
