"""Markdown checklists and todo.txt: every box a task, indented ones part of the one above them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pastchats_memory.formats.base.format import Format, confident
from pastchats_memory.formats.base.markdown import front_matter, headings, in_code
from pastchats_memory.formats.base.sibling_files import EVENTS, is_sibling, recorded_cwd
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tasks import folder_of_project, is_template, short_hash, titled
from pastchats_memory.model import Task, TaskLink, Unreadable
from pastchats_memory.text.timestamps import LOCAL, iso_utc

FORMAT = "checklist"
VERSION = 4

NAMES = re.compile(
    r"(?:\A|[-_. ])(?:todos?|to-?dos?|tasks?|checklist|backlog|roadmap|plan)(?:\Z|[-_. ])", re.IGNORECASE
)
BOX_SHARE = 0.5
"""Of the lines with text, so many boxes make a file of another name a checklist."""
INDENTED_SHARE = 0.1
"""Of the lines of a todo.txt, which has a task a line: with more it is a text of that name."""
STATES = {
    " ": "todo",
    "x": "done",
    "X": "done",
    "-": "cancelled",
    "~": "cancelled",
    "/": "doing",
    ">": "deferred",
    "!": "todo",
}
TAB = 4
PRIORITIES = {"🔺": 0, "⏫": 1, "🔼": 2, "🔽": 3, "⏬": 4, "(A)": 1, "(B)": 2, "(C)": 3}

_BOX = re.compile(r"(?P<indent>[ \t>]*)(?:[-*+]|\d{1,4}[.)])[ \t]+\[(?P<mark>[ xX~\-/>!])\][ \t]+(?P<text>\S.*)\Z")
_TODO_TXT = re.compile(r"(?P<done>x )?(?P<priority>\([A-Z]\) )?(?P<dates>(?:\d{4}-\d\d-\d\d ){0,2})(?P<text>\S.*)\Z")
_DUE = re.compile(r"(?:📅|⏳|due:)\s*(\d{4}-\d\d-\d\d)")
_DONE = re.compile(r"✅\s*(\d{4}-\d\d-\d\d)")
_CREATED = re.compile(r"➕\s*(\d{4}-\d\d-\d\d)")
_MARKED = re.compile(
    r"(?:(?<!\s)\s+)?(?:[📅⏳🛫✅➕❌]\s*\d{4}-\d\d-\d\d|due:\d{4}-\d\d-\d\d|🔁[^📅⏳✅#]*|[🔺⏫🔼🔽⏬])"
)
_TAG = re.compile(r"(?<!\S)[#+@]([A-Za-z][\w/-]*)")


def recognise(source: SourceFile) -> bool:
    """Whether boxes are what the file is about: by its name and one box, or by half of its lines; or it is a todo.txt."""
    if source.shape != "markdown" or is_template(source.path):
        return False
    if source.path.name.lower() in ("todo.txt", "done.txt"):
        told = [line for line in source.head.splitlines() if line.strip()]
        return bool(told) and sum(line[0].isspace() for line in told) <= len(told) * INDENTED_SHARE
    lines = source.head.splitlines()
    code = in_code(lines)
    boxes = sum(not code[place] and _BOX.match(line) is not None for place, line in enumerate(lines))
    text = sum(bool(line.strip()) and not line.startswith("#") for line in lines)
    return boxes > 0 and (NAMES.search(source.path.stem) is not None or (boxes > 1 and boxes >= text * BOX_SHARE))


@dataclass(frozen=True, slots=True)
class _List:
    """Whose list a file is: its project's, or that of the session in whose folder Copilot CLI keeps it."""

    scope: str
    prefix: str
    """What the ids of its tasks begin with."""
    cwd: str | None
    conversation_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Box:
    line: int
    depth: int
    mark: str
    text: str
    section: str
    below: list[str]
    """Lines that stand further in, up to the next box: what else is said of it."""


def read(source: SourceFile) -> Iterator[Task | Unreadable]:
    """The tasks in the order of the file."""
    if source.path.name.lower() in ("todo.txt", "done.txt"):
        yield from _todo_txt(source)
        return
    of = _list_at(source.path)
    above: list[tuple[int, str]] = []
    seen: dict[str, int] = {}
    section = ""
    for box in _boxes(source.text.split("\n")):
        above = [(depth, id_) for depth, id_ in above if depth < box.depth and box.section == section]
        section = box.section
        parent = above[-1][1] if above else ""
        what = f"{source.path.name}\n{parent}\n{box.text}"
        seen[what] = seen.get(what, 0) + 1
        id_ = f"{of.prefix}-{short_hash(what if seen[what] == 1 else f'{what} {seen[what]}')}"
        yield _task(of, box, id_, parent)
        above.append((box.depth, id_))


def _list_at(path: Path) -> _List:
    if is_sibling(path.with_name(EVENTS)):
        session = path.parent.name
        return _List(f"conversation:{session}", session[:8], recorded_cwd(path.parent), session)
    return _List(f"{FORMAT}/{path.name}", path.stem, folder_of_project(path))


def _boxes(lines: list[str]) -> list[_Box]:
    first = front_matter(lines).lines
    code = in_code(lines)
    titles = dict(headings(lines, code))
    section, boxes, last = "", list[_Box](), None
    for place, line in enumerate(lines[first:], start=first):
        if place in titles:
            section, last = titles[place].title, None
        elif not code[place] and (found := _BOX.match(line)):
            last = _Box(place + 1, _depth(found["indent"]), found["mark"], found["text"].strip(), section, [])
            boxes.append(last)
        elif last is not None and line.strip():
            if _depth(line[: -len(line.lstrip())]) > last.depth:
                last.below.append(line.strip())
            else:
                last = None
    return boxes


def _depth(indent: str) -> int:
    return len(indent.replace(">", " ").expandtabs(TAB))


def _task(of: _List, box: _Box, id_: str, parent: str) -> Task:
    plain = _MARKED.sub("", box.text).strip() or box.text
    section = (short for short in [titled(box.section)] if short)
    tags = (*(found[1] for found in _TAG.finditer(box.text)), *section)
    done = _DONE.search(box.text)
    return Task(
        native_id=id_,
        title=titled(plain),
        line=box.line,
        scope=of.scope,
        description="\n".join(box.below),
        type="subtask" if parent else "task",
        status_raw=STATES[box.mark],
        priority=next(
            (number for sign, number in PRIORITIES.items() if sign in box.text), 1 if box.mark == "!" else None
        ),
        tags=tuple(dict.fromkeys(tags)),
        cwd=of.cwd,
        conversation_id=of.conversation_id,
        links=(TaskLink("parent", parent),) if parent else (),
        created_at=_day(_CREATED.search(box.text)),
        closed_at=_day(done),
        due_at=_day(_DUE.search(box.text)),
        metadata={"format": FORMAT},
    )


def _day(found: re.Match[str] | None) -> str | None:
    return None if found is None else iso_utc(found[1], LOCAL)


def _todo_txt(source: SourceFile) -> Iterator[Task]:
    """Rules of todo.txt: `x`, priority, dates of completion and creation, text with +projects and @contexts."""
    for number, line in enumerate(source.text.split("\n"), start=1):
        found = _TODO_TXT.match(line.strip())
        if found is None:
            continue
        dates = [moment for day in found["dates"].split() if (moment := iso_utc(day, LOCAL))]
        text = found["text"]
        yield Task(
            native_id=f"todo-{short_hash(text)}",
            title=titled(_MARKED.sub("", text).strip() or text),
            line=number,
            scope="todo.txt",
            status_raw="done" if found["done"] else "todo",
            priority=PRIORITIES.get((found["priority"] or "").strip()),
            tags=tuple(dict.fromkeys(tag[1] for tag in _TAG.finditer(text))),
            cwd=folder_of_project(source.path),
            created_at=dates[-1] if len(dates) > 1 or (dates and not found["done"]) else None,
            closed_at=dates[0] if dates and found["done"] else None,
            due_at=_day(_DUE.search(text)),
            metadata={"format": FORMAT},
        )


CHECKLIST = Format(
    name="checklist",
    version=4,
    detect=confident(recognise, 60),
    read=read,
    is_specific=False,
    kinds=frozenset({"tasks"}),
)
