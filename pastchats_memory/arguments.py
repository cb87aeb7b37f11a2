"""What a caller says in words, as the rooms below take it: projects and filters."""

from __future__ import annotations

import os
from pathlib import Path

from pastchats_memory.errors import UsageFault
from pastchats_memory.model import Filters, utf8
from pastchats_memory.query import moment
from pastchats_memory.statuses import STATUSES, priority_of, wanted_statuses
from pastchats_memory.statuses import TYPES as TASK_TYPES

OUTCOMES = ("worked", "failed", "mixed", "unknown")
TYPES = ("prompt", "note", "task", "epic", "subtask", "comment", "attachment")


def project_here() -> str | None:
    """The name of the project that the working directory belongs to; None where that folder was deleted."""
    try:
        return project_of_folder(str(Path.cwd()))
    except OSError:
        return None


def project_named(name: str | None) -> str | None:
    """A project as a caller names it: `.` is that of the working directory. Raises UsageFault where that is gone."""
    if name == "." and (name := project_here()) is None:
        raise UsageFault(
            "the working directory is gone, and with it the project", "Name the project, or change folder."
        )
    return name and utf8(name)


def project_of_folder(folder: str) -> str:
    """The name of the project that a folder belongs to."""
    from pastchats_memory.project import project_at

    return utf8(project_at(folder))


def filters_of(
    project: str | None = None,
    role: str | None = None,
    since: str | None = None,
    until: str | None = None,
    type_: str | None = None,
    status: str | None = None,
    priority: str | None = None,
    outcome: str | None = None,
) -> Filters:
    """The filters that a caller names in words; None leaves one out, `.` is the project of the working directory.

    Raises:
        UsageFault: one of the words is none that it may be.
    """
    if type_ is not None and type_ not in TYPES:
        raise UsageFault(f"unknown type {type_!r}", f"Use one of {', '.join(TYPES)}.")
    return Filters(
        project=project_named(project),
        role=role and utf8(role),
        since=None if since is None else moment(since, is_end=False),
        until=None if until is None else moment(until, is_end=True),
        notes=type_ == "note" if type_ in ("prompt", "note") else None,
        kinds=() if type_ in (None, "prompt", "note") else TASK_TYPES if type_ == "task" else (str(type_),),
        statuses=_statuses(status),
        priorities=_priorities(priority),
        outcomes=_outcomes(outcome),
    )


def source_named(path: str) -> tuple[str, ...]:
    """A source as it was typed, and as it was indexed if it is a path: a file or a folder, which need not be there any more."""
    try:
        return utf8(path), utf8(os.path.abspath(os.path.expanduser(path)))  # noqa: PTH100, PTH111 - resolve() would follow links
    except OSError:  # the working directory is gone
        return (utf8(path),)


def task_filters(*, parts: bool = False, type_: str | None = None, **words: str | None) -> Filters:
    """The filters that leave nothing but tasks, and with `parts` their comments and attachments. Raises UsageFault."""
    found = filters_of(type_=type_ or "task", **words)
    return found._replace(kinds=(*found.kinds, "comment", "attachment")) if parts else found


def _statuses(words: str | None) -> tuple[str, ...]:
    wanted = wanted_statuses((words or "").split(","))
    if words is not None and not wanted:
        raise UsageFault("no status is named", f"Use one or more of {', '.join(STATUSES)}.")
    return wanted


def outcome_named(word: str) -> str:
    """One outcome. Raises UsageFault."""
    (named, *more) = _outcomes(word)
    if more:
        raise UsageFault(f"{word!r} is more than one outcome", f"Use one of {', '.join(OUTCOMES)}.")
    return named


def _outcomes(words: str | None) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(word.strip().lower() for word in (words or "").split(",") if word.strip()))
    if words is not None and (not wanted or not set(wanted) <= set(OUTCOMES)):
        raise UsageFault(f"{words!r} is no outcome", f"Use {', '.join(OUTCOMES)}, with commas between several.")
    return wanted


def _priorities(words: str | None) -> tuple[int, ...]:
    if words is None:
        return ()
    found = [priority_of(word) for word in words.split(",") if word.strip()]
    if not found or None in found:
        raise UsageFault(f"{words!r} is no priority", "Use 0 (critical) to 4 (lowest), with commas between several.")
    return tuple(number for number in found if number is not None)
