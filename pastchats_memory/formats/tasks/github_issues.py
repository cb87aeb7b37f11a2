"""Read issues and pull requests as GitHub's command line prints them.

The commands are `gh issue` and `gh pr` (`list` or `view`, with `--json`), and `gh api …/issues`. The output is an array, an object, or one object a line.
"""

import re
from collections.abc import Iterator

from pastchats_memory.formats.base.format import CERTAIN, task_format
from pastchats_memory.formats.base.source import Places, Record, SourceFile
from pastchats_memory.formats.base.tasks import folder_of_project, names_of, one_line, word_of
from pastchats_memory.formats.base.values import Json, list_of, mapping_of, number_of, objects_of, text_of
from pastchats_memory.model import Comment, Task, Unreadable
from pastchats_memory.text.timestamps import iso_utc
from pastchats_memory.text.tracker_words import priority_of, type_of

FORMAT = "github-issues"

STATES = frozenset({"open", "closed", "merged"})
_REPOSITORY = re.compile(r"https?://[^/]+/([^/]+/([^/]+))/(?:issues|pull)/\d+")


def detect(source: SourceFile) -> int:
    """Return 90 if each object has number, title and state of an issue, else 0."""
    issues = source.sample if source.shape == "jsonl" else _issues_in(source, source.outline)
    return CERTAIN if issues and all(map(_is_issue, issues)) else 0


def _issues_in(source: SourceFile, document: object) -> list[Json]:
    if source.shape != "json":
        return []
    return objects_of(document) if isinstance(document, list) else [mapping_of(document)]


def _is_issue(fields: Json) -> bool:
    state = text_of(fields.get("state")).lower()
    has_number = number_of(fields.get("number")) is not None
    return has_number and bool(text_of(fields.get("title"))) and state in STATES


def read(source: SourceFile) -> Iterator[Task | Unreadable]:
    """Yield each issue with its comments."""
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
    for issue in _issues_in(source, source.document):
        if _is_issue(issue):
            yield _task(issue, places.line(text_of(issue.get("title"))), cwd)


def _field(issue: Json, key: str, key_of_api: str) -> str:
    """Return a value by the key of GitHub's API (https://docs.github.com/rest/issues/issues), else of `gh issue`."""
    return text_of(issue.get(key_of_api)) or text_of(issue.get(key))


def _status(issue: Json) -> str:
    """Return the state or its reason; a closed pull request is merged or rejected."""
    state, reason = text_of(issue.get("state")).lower(), _field(issue, "stateReason", "state_reason").lower()
    sources = [issue, mapping_of(issue.get("pull_request"))]
    merged = [fields[key] for fields in sources for key in ("mergedAt", "merged_at") if key in fields]
    if state == "closed" and merged:
        return "merged" if any(merged) else "rejected"
    return reason if reason in ("not_planned", "duplicate") else state


def _task(issue: Json, line: int, cwd: str) -> Task:
    address = _field(issue, "url", "html_url")
    found = _REPOSITORY.match(address)
    labels = names_of(issue.get("labels"))
    people = tuple(text_of(mapping_of(person).get("login")) for person in list_of(issue.get("assignees")))
    milestone = text_of(mapping_of(issue.get("milestone")).get("title"))
    extra = {"assignees": [name for name in people if name], "milestone": milestone, "url": address}
    numbers = (priority_of(label.rpartition(":")[2]) for label in labels)
    shown = [one for one in objects_of(issue.get("comments")) if one.get("isMinimized") is not True]
    comments = (
        (text_of(one.get("body")).strip(), mapping_of(one.get("author")), one.get("createdAt")) for one in shown
    )
    return Task(
        native_id=word_of(issue.get("number")),
        title=one_line(text_of(issue.get("title"))),
        line=line,
        scope=f"{FORMAT}/{found[1].lower()}" if found else FORMAT,
        description=text_of(issue.get("body")).strip(),
        type=next((kind for label in labels if (kind := type_of(label)) != "task"), "task"),
        status_raw=_status(issue),
        priority=next((number for number in numbers if number is not None), None),
        tags=labels,
        project=found[2] if found else None,
        cwd=cwd,
        created_at=iso_utc(_field(issue, "createdAt", "created_at")),
        updated_at=iso_utc(_field(issue, "updatedAt", "updated_at")),
        closed_at=iso_utc(_field(issue, "closedAt", "closed_at") or _field(issue, "mergedAt", "merged_at")),
        comments=tuple(Comment(body, text_of(by.get("login")), iso_utc(at)) for body, by, at in comments if body),
        metadata={"format": FORMAT} | {key: value for key, value in extra.items() if value},
    )


GITHUB_ISSUES = task_format(FORMAT, 4, detect, read)
