"""Read Markdown checklists and todo.txt: a box is a task, and a subtask of the box above if it is indented."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pastchats_memory.formats.base.format import task_format
from pastchats_memory.formats.base.markdown import front_matter, headings, in_code
from pastchats_memory.formats.base.sibling_files import EVENTS, is_sibling, recorded_cwd
from pastchats_memory.formats.base.source import SourceFile
from pastchats_memory.formats.base.tasks import folder_of_project, is_template, one_line, short_hash
from pastchats_memory.model import Task, TaskLink, Unreadable
from pastchats_memory.text.timestamps import LOCAL, iso_utc

FORMAT = "checklist"

NAMES = re.compile(
    r"(?:\A|[-_. ])(?:todos?|to-?dos?|tasks?|checklist|backlog|roadmap|plan)(?:\Z|[-_. ])", re.IGNORECASE
)
LISTS = re.compile(r"todos?|to-?dos?|tasks?|done|backlog", re.IGNORECASE)
"""Names that a list of tasks has among documents, too."""
DOCUMENTS = frozenset(
    {"docs", "doc", "documentation", "templates", "skills", "commands", "references", "examples", ".github", "wiki"}
)
READ_FIRST = frozenset({"readme", "contributing", "changelog", "install", "security", "agents", "claude", "skill"})
"""Names of documents that lie anywhere in a repository."""
TODO_TXT = ("todo.txt", "done.txt")
BOX_SHARE = 0.5
"""Share of boxes among the lines with text that makes a file of another name a checklist."""
INDENTED_SHARE = 0.1
"""Share of indented lines up to which a todo.txt is a list. With more of them it is some other text."""
STATES = {**dict.fromkeys(" !", "todo"), **dict.fromkeys("xX", "done"), **dict.fromkeys("-~", "cancelled")}
STATES |= {"/": "doing", ">": "deferred"}
TAB = 4
PRIORITIES = {"🔺": 0, "⏫": 1, "🔼": 2, "🔽": 3, "⏬": 4, "(A)": 1, "(B)": 2, "(C)": 3}

_BOX = re.compile(r"(?P<indent>[ \t>]*)(?:[-*+]|\d{1,4}[.)])[ \t]+\[(?P<mark>[ xX~\-/>!])\][ \t]+(?P<text>\S.*)\Z")
_TODO_LINE = re.compile(r"(?P<done>x )?(?P<priority>\([A-Z]\) )?(?P<dates>(?:\d{4}-\d\d-\d\d ){0,2})(?P<text>\S.*)\Z")
_DUE = re.compile(r"(?:📅|⏳|due:)\s*(\d{4}-\d\d-\d\d)")
_DONE = re.compile(r"✅\s*(\d{4}-\d\d-\d\d)")
_CREATED = re.compile(r"➕\s*(\d{4}-\d\d-\d\d)")
_MARKED = re.compile(
    r"(?:(?<!\s)\s+)?(?:[📅⏳🛫✅➕❌]\s*\d{4}-\d\d-\d\d|due:\d{4}-\d\d-\d\d|🔁[^📅⏳✅#]*|[🔺⏫🔼🔽⏬])"
)
_PROJECT = re.compile(r"\+[A-Za-z][\w/-]*")
_SIGNED = re.compile(r"[+@][A-Za-z][\w/-]*")
"""A project or a context in a todo.txt's line."""
_SIGN = re.compile(r"(?<!\S)[+@]([A-Za-z])")
"""The sign of one within them, which is a word as well."""
_TAG = re.compile(r"(?<!\S)[#+@]([A-Za-z][\w/-]*)")


def detect(source: SourceFile) -> int:
    """Return 60 for a todo.txt or a checklist (a name such as `plan.md` and a box, or boxes in half of the lines)."""
    if source.shape != "markdown" or is_template(source.path) or (not source.named and _is_document(source.path)):
        return 0
    lines = source.head.splitlines()
    is_list = _is_todo_txt(lines) if source.path.name.lower() in TODO_TXT else _is_checklist(lines, source.path.stem)
    return 60 if is_list else 0


def _is_document(path: Path) -> bool:
    """Return whether a file is documentation by its folder or name: the boxes in it are steps for its readers."""
    is_in_documents = any(part.lower() in DOCUMENTS for part in path.parts[:-1])
    return LISTS.fullmatch(path.stem) is None and (is_in_documents or path.stem.lower() in READ_FIRST)


def _is_todo_txt(lines: list[str]) -> bool:
    filled = [line for line in lines if line.strip()]
    return bool(filled) and sum(line[0].isspace() for line in filled) <= len(filled) * INDENTED_SHARE


def _is_checklist(lines: list[str], name: str) -> bool:
    code = in_code(lines)
    boxes = sum(not code[place] and _BOX.match(line) is not None for place, line in enumerate(lines))
    filled = sum(bool(line.strip()) and not line.startswith("#") for line in lines)
    return boxes > 0 and (NAMES.search(name) is not None or (boxes > 1 and boxes >= filled * BOX_SHARE))


@dataclass(frozen=True, slots=True)
class _List:
    """The owner of a list: a project, or a session of Copilot CLI."""

    scope: str
    prefix: str
    """The beginning of its tasks' ids."""
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
    """The deeper lines up to the next box: its description."""


def read(source: SourceFile) -> Iterator[Task | Unreadable]:
    """Yield the tasks in file order."""
    if source.path.name.lower() in TODO_TXT:
        yield from _read_todo_txt(source)
        return
    owner = _list_at(source.path)
    above: list[tuple[int, str]] = []
    seen: dict[str, int] = {}
    section = ""
    for box in _boxes_in(source.text.split("\n")):
        above = [(depth, id_) for depth, id_ in above if depth < box.depth and box.section == section]
        section = box.section
        parent = above[-1][1] if above else ""
        key = f"{source.path.name}\n{parent}\n{box.text}"
        seen[key] = seen.get(key, 0) + 1
        id_ = f"{owner.prefix}-{short_hash(key if seen[key] == 1 else f'{key} {seen[key]}')}"
        yield _task(owner, box, id_, parent)
        above.append((box.depth, id_))


def _list_at(path: Path) -> _List:
    if is_sibling(path.with_name(EVENTS)):
        session = path.parent.name
        return _List(f"conversation:{session}", session[:8], recorded_cwd(path.parent), session)
    return _List(f"{FORMAT}/{path.name}", path.stem, folder_of_project(path))


def _boxes_in(lines: list[str]) -> list[_Box]:
    first = front_matter(lines).lines
    code = in_code(lines)
    titles = dict(headings(lines, code))
    section, boxes, last = "", list[_Box](), None
    for place, line in enumerate(lines[first:], start=first):
        if place in titles:
            section, last = titles[place].title, None
        elif not code[place] and (found := _BOX.match(line)):
            last = _Box(place + 1, _depth_of(found["indent"]), found["mark"], found["text"].strip(), section, [])
            boxes.append(last)
        elif last is not None and line.strip():
            if _depth_of(line[: -len(line.lstrip())]) > last.depth:
                last.below.append(line.strip())
            else:
                last = None
    return boxes


def _depth_of(indent: str) -> int:
    return len(indent.replace(">", " ").expandtabs(TAB))


def _task(owner: _List, box: _Box, id_: str, parent: str) -> Task:
    plain = _MARKED.sub("", box.text).strip() or box.text
    tags = (*(found[1] for found in _TAG.finditer(box.text)), one_line(box.section))
    signs = (number for sign, number in PRIORITIES.items() if sign in box.text)
    return Task(
        native_id=id_,
        title=one_line(plain),
        line=box.line,
        scope=owner.scope,
        description="\n".join(box.below),
        type="subtask" if parent else "task",
        status_raw=STATES[box.mark],
        priority=next(signs, 1 if box.mark == "!" else None),
        tags=tuple(dict.fromkeys(filter(None, tags))),
        cwd=owner.cwd,
        conversation_id=owner.conversation_id,
        links=(TaskLink("parent", parent),) if parent else (),
        created_at=_day(_CREATED.search(box.text)),
        closed_at=_day(_DONE.search(box.text)),
        due_at=_day(_DUE.search(box.text)),
        metadata={"format": FORMAT},
    )


def _day(found: re.Match[str] | None) -> str | None:
    return None if found is None else iso_utc(found[1], LOCAL)


def _read_todo_txt(source: SourceFile) -> Iterator[Task]:
    """Yield the tasks of a todo.txt: `x`, a priority, dates of completion and creation, +projects and @contexts."""
    for number, line in enumerate(source.text.split("\n"), start=1):
        found = _TODO_LINE.match(line.strip())
        if found is None:
            continue
        dates = [moment for day in found["dates"].split() if (moment := iso_utc(day, LOCAL))]
        text = found["text"]
        plain = one_line(_MARKED.sub("", text))
        projects = [tag[1:] for tag in text.split() if _PROJECT.fullmatch(tag)]
        yield Task(
            native_id=f"todo-{short_hash(text)}",
            title=_SIGN.sub(r"\1", _drop_rim(plain.split(" "))).strip() or plain or text,
            line=number,
            scope="todo.txt",
            status_raw="done" if found["done"] else "todo",
            priority=PRIORITIES.get((found["priority"] or "").strip()),
            tags=tuple(dict.fromkeys(tag[1] for tag in _TAG.finditer(text) if tag[1] != next(iter(projects), ""))),
            project=next(iter(projects), None),
            cwd=folder_of_project(source.path),
            created_at=dates[-1] if len(dates) > 1 or (dates and not found["done"]) else None,
            closed_at=dates[0] if dates and found["done"] else None,
            due_at=_day(_DUE.search(text)),
            metadata={"format": FORMAT},
        )


CHECKLIST = task_format(FORMAT, 7, detect, read, is_specific=False)


def _drop_rim(words: Sequence[str]) -> str:
    """Return a line without the projects and contexts around its words."""
    inner = [place for place, word in enumerate(words) if not _SIGNED.fullmatch(word)] or [len(words) - 1]
    return " ".join(words[inner[0] : inner[-1] + 1])
