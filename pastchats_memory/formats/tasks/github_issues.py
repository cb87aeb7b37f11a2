"""What `gh issue list --json …`, `gh pr list --json …`, the same with `view`, and `gh api …/issues` print: an array, an object, or one object a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.source import Json, Places, Record, SourceFile, list_of, mapping_of, text_of
from pastchats_memory.formats.base.tasks import folder_of_project, names_of, titled, word_of
from pastchats_memory.model import Comment, Task, Unreadable, priority_of, type_of
from pastchats_memory.text.timestamps import iso_utc

FORMAT = "github-issues"
VERSION = 4

STATES = frozenset({"open", "closed", "merged"})
_REPOSITORY = re.compile(r"https?://[^/]+/([^/]+/([^/]+))/(?:issues|pull)/\d+")


def recognise(source: SourceFile) -> bool:
    """Whether every object has a number, a title and the state of an issue."""
    if source.shape == "jsonl":
        return bool(source.sample) and all(map(_is_issue, source.sample))
    issues = _issues(source, source.outline)
    return bool(issues) and all(map(_is_issue, issues))


def _issues(source: SourceFile, document: object) -> list[Json]:
    if source.shape != "json":
        return []
    return [mapping_of(issue) for issue in (document if isinstance(document, list) else [document])]


def _is_issue(fields: Json) -> bool:
    state = text_of(fields.get("state")).lower()
    number = fields.get("number")
    numbered = isinstance(number, int) and not isinstance(number, bool)
    return numbered and bool(text_of(fields.get("title"))) and state in STATES


def read(source: SourceFile) -> Iterator[Task | Unreadable]:
    """Every issue with its comments."""
    cwd = folder_of_project(source.path)
    if source.shape == "jsonl":
        for item in source.records():
            if not isinstance(item, Record):
                yield item
            elif _is_issue(mapping_of(item.value)):
                yield _task(mapping_of(item.value), item.line, cwd)
            else:
                yield Unreadable(str(source.path), item.line, "not an issue")
        return
    places = Places(source.text)
    for issue in _issues(source, source.document):
        if _is_issue(issue):
            yield _task(issue, places.line(text_of(issue.get("title"))), cwd)


def _spelled(issue: Json, key: str, of_api: str) -> str:
    """A value as `gh issue` names it, else as GitHub's own interface does (https://docs.github.com/rest/issues/issues)."""
    return text_of(issue.get(of_api)) or text_of(issue.get(key))


def _status(issue: Json) -> str:
    """The word for where it stands; a pull request that is closed was merged or was not."""
    state, reason = text_of(issue.get("state")).lower(), _spelled(issue, "stateReason", "state_reason").lower()
    told = [issue, mapping_of(issue.get("pull_request"))]
    merged = [fields[key] for fields in told for key in ("mergedAt", "merged_at") if key in fields]
    if state == "closed" and merged:
        return "merged" if any(merged) else "rejected"
    return reason if reason in ("not_planned", "duplicate") else state


def _task(issue: Json, line: int, cwd: str) -> Task:
    address = _spelled(issue, "url", "html_url")
    found = _REPOSITORY.match(address)
    labels = names_of(issue.get("labels"))
    people = tuple(text_of(mapping_of(person).get("login")) for person in list_of(issue.get("assignees")))
    milestone = text_of(mapping_of(issue.get("milestone")).get("title"))
    about = {"assignees": [name for name in people if name], "milestone": milestone, "url": address}
    return Task(
        native_id=word_of(issue.get("number")),
        title=titled(text_of(issue.get("title"))),
        line=line,
        scope=f"{FORMAT}/{found[1].lower()}" if found else FORMAT,
        description=text_of(issue.get("body")).strip(),
        type=next((kind for label in labels if (kind := type_of(label)) != "task"), "task"),
        status_raw=_status(issue),
        priority=next(
            (number for label in labels if (number := priority_of(label.rpartition(":")[2])) is not None), None
        ),
        tags=labels,
        project=found[2] if found else None,
        cwd=cwd,
        created_at=iso_utc(_spelled(issue, "createdAt", "created_at")),
        updated_at=iso_utc(_spelled(issue, "updatedAt", "updated_at")),
        closed_at=iso_utc(_spelled(issue, "closedAt", "closed_at") or _spelled(issue, "mergedAt", "merged_at")),
        comments=tuple(
            Comment(body, text_of(mapping_of(said.get("author")).get("login")), iso_utc(said.get("createdAt")))
            for said in map(mapping_of, list_of(issue.get("comments")))
            if (body := text_of(said.get("body")).strip()) and said.get("isMinimized") is not True
        ),
        metadata={"format": FORMAT} | {key: value for key, value in about.items() if value},
    )


GITHUB_ISSUES = Format(
    name="github-issues",
    version=4,
    detect=confident(recognise, 90),
    read=read,
    kinds=frozenset({"tasks"}),
)
