"""Todo lists and plans as agents keep them by tool calls: each call replaces the list, or makes and changes one task.

A reader of transcripts tells every call to a `Plans` and asks it for the tasks at the end of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pastchats_memory.model import Task, TaskLink, TaskState
from pastchats_memory.readers.fields import Json, list_of, mapping_of, text_of
from pastchats_memory.readers.source import BadJson, parse_json
from pastchats_memory.readers.tracked import names_of, short_hash, titled, word_of
from pastchats_memory.statuses import RESOLVED, folded, priority_of, status_of

LISTS = frozenset({"todowrite", "todo_write", "write_todos", "update_plan", "update_todo_list", "manage_todo_list", "todo", "todos", "updatetodos", "update_todos", "update_todo", "updatetodolist", "todo_update", "settodolist", "set_todo_list", "todolist", "checklist"})  # fmt: skip
"""Tools, as `folded`, whose call replaces the whole list."""
LIST_KEYS = ("todos", "plan", "items", "todoList", "todo_list", "tasks", "steps", "content", "checklist")
TEXT_KEYS = ("content", "step", "text", "title", "description", "subject", "name")
DROPPED = "dropped"
"""The state of what was still to be done when a list without it replaced the list."""

_BOX = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)?\[([ xX~\-/]|completed|in_progress|pending)\]\s+(\S.*)")
"""A line of a checklist; Droid writes the state out."""
_BOX_STATES = {
    " ": "pending",
    "x": "completed",
    "X": "completed",
    "-": "in_progress",
    "/": "in_progress",
    "~": "in_progress",
}
_MADE = re.compile(r"Task #?(\d+) created")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a list."""

    text: str
    status: str
    priority: int | None = None
    id: str = ""
    """Within its list, where the agent gives one."""


@dataclass(slots=True)
class _Kept:
    task: Task
    states: list[TaskState] = field(default_factory=list)
    last: str = ""
    """The raw state, also one that was told before the file grew."""

    def turn(self, raw: str, at: str | None) -> None:
        if raw and self.last != raw:
            self.states.append(TaskState(status_of(raw), raw, at))
            self.last = raw


class Plans:
    """The lists of the conversations of one file."""

    def __init__(self) -> None:
        self._lists: dict[str, dict[str, _Kept]] = {}
        self._tasks: dict[tuple[str, str], _Kept] = {}
        self._texts: dict[str, dict[str, str]] = {}
        """Of the lines of a list by their ids, which hold within one list alone."""
        self._asked: dict[str, tuple[str, Json, str | None, int]] = {}

    def call(
        self, name: str, given: object, conversation: str, *, at: str | None, line: int, call_id: str = ""
    ) -> None:
        """Take a tool call: its name, its arguments as an object or as JSON text, and where and when it stands."""
        arguments = (
            given if isinstance(given, dict) else mapping_of(parse_json(given) if isinstance(given, str) else None)
        )
        match folded(re.split(r"\.|__", name)[-1]):
            case kind if kind in LISTS:
                if arguments.get("merge") is True:
                    self._merge(conversation, arguments, at, line)
                elif (entries := entries_of(arguments)) is not None:
                    self._replace(conversation, entries, at, line)
            case "taskcreate":
                self._asked[call_id] = (conversation, arguments, at, line)
            case "taskupdate":
                self._update(conversation, arguments, at, line)
        if isinstance(progress := arguments.get("task_progress"), str):
            self._replace(conversation, _boxes(progress), at, line)

    def result(self, call_id: str, told: object, text: str = "") -> None:
        """Take the result of a call: a created task gets its number from it, in `told` or in the words."""
        if call_id not in self._asked:
            return
        conversation, arguments, at, line = self._asked.pop(call_id)
        found = _MADE.search(text)
        number = word_of(mapping_of(mapping_of(told).get("task")).get("id")) or (found[1] if found else "")
        if number and text_of(arguments.get("subject")):
            kept = _Kept(task_of_list(arguments, conversation, number, line=line))
            kept.turn("pending", at)
            self._tasks[conversation, number] = kept

    def tasks(self, cwd: str | None = None, project: str | None = None) -> Iterator[Task]:
        """Every task with its states, the last one as it is now."""
        for kept in (*(kept for lines in self._lists.values() for kept in lines.values()), *self._tasks.values()):
            states = tuple(kept.states)
            raw = states[-1].raw if states else ""
            if raw == "deleted" or not states:  # nothing new of it since the file grew
                continue
            closed = states[-1].at if states[-1].status in RESOLVED else None
            yield kept.task._replace(states=states, status_raw=raw, closed_at=closed, cwd=cwd, project=project,
                created_at=states[0].at if states else None, updated_at=states[-1].at if states else None,
            )  # fmt: skip

    def state(self) -> Json:
        """The lists as they are now, as JSON."""
        lists = {name: [[kept.task.title, kept.last] for kept in of.values()] for name, of in self._lists.items()}
        tasks = [[*key, kept.task.title, kept.task.description, kept.last] for key, kept in self._tasks.items()]
        asked = [[call_id, *call] for call_id, call in self._asked.items()]
        return {"lists": lists, "tasks": tasks, "asked": asked, "texts": self._texts}

    def go_on(self, state: Json) -> None:
        """Take up what `state` gave when the file was shorter."""
        for conversation, texts in mapping_of(state.get("texts")).items():
            self._texts[conversation] = {id_: text_of(text) for id_, text in mapping_of(texts).items()}
        for conversation, entries in mapping_of(state.get("lists")).items():
            known = self._lists.setdefault(conversation, {})
            for title, last in (map(text_of, list_of(entry)) for entry in list_of(entries)):
                known[short_hash(title)] = _Kept(task_of_todo(Entry(title, last), conversation, line=0), last=last)
        for entry in list_of(state.get("tasks")):
            conversation, number, subject, description, last = map(text_of, list_of(entry))
            fields: Json = {"subject": subject, "description": description}
            self._tasks[conversation, number] = _Kept(task_of_list(fields, conversation, number, line=0), last=last)
        for call_id, *call in map(list_of, list_of(state.get("asked"))):
            asked_in, given, at, line = call
            self._asked[text_of(call_id)] = (text_of(asked_in), mapping_of(given), text_of(at) or None, int(str(line)))

    def _replace(self, conversation: str, entries: list[Entry], at: str | None, line: int) -> None:
        known = self._lists.setdefault(conversation, {})
        texts = {short_hash(entry.text) for entry in entries}
        for name, kept in known.items():
            if name not in texts and status_of(kept.last) not in RESOLVED:
                kept.turn(DROPPED, at)
        self._texts[conversation] = {}
        for entry in entries:
            self._keep(conversation, entry, at, line)

    def _keep(self, conversation: str, entry: Entry, at: str | None, line: int) -> None:
        kept = _Kept(task_of_todo(entry, conversation, line=line))
        self._lists.setdefault(conversation, {}).setdefault(short_hash(entry.text), kept).turn(entry.status, at)
        if entry.id:
            self._texts.setdefault(conversation, {})[entry.id] = entry.text

    def _merge(self, conversation: str, arguments: Json, at: str | None, line: int) -> None:
        """Take what changes of a list: of a line that is known by its id the text may be left out."""
        texts = self._texts.get(conversation, {})
        for fields in map(mapping_of, list_of(arguments.get("todos"))):
            entry = entry_of({"content": texts.get(word_of(fields.get("id")), "")} | fields)
            if entry is not None:
                self._keep(conversation, entry, at, line)

    def _update(self, conversation: str, arguments: Json, at: str | None, line: int) -> None:
        number = word_of(arguments.get("taskId"))
        kept = self._tasks.get((conversation, number))
        if kept is None:
            return
        changed = task_of_list(
            {"subject": kept.task.title, "description": kept.task.description} | arguments,
            conversation,
            number,
            line=line,
        )
        kept.task = changed._replace(
            line=kept.task.line, links=tuple(dict.fromkeys((*kept.task.links, *changed.links)))
        )
        kept.turn(text_of(arguments.get("status")), at)


def entries_of(arguments: Json) -> list[Entry] | None:
    """The list that a call gives, None where it gives none: objects, texts, or a checklist in one text."""
    for key in LIST_KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            parsed = parse_json(value)
            if isinstance(parsed, BadJson) or not isinstance(parsed, list):
                return _boxes(value)
            value = parsed
        if isinstance(value, list):
            found = (entry_of(item) if isinstance(item, dict) else _of_text(item) for item in value)
            return [entry for entry in found if entry is not None]
    return None


def entry_of(fields: Json) -> Entry | None:
    """A line of a list from its object, None without a text."""
    text = next((text for key in TEXT_KEYS if (text := text_of(fields.get(key)).strip())), "")
    status = text_of(fields.get("status")) or (
        "completed" if fields.get("completed") is True or fields.get("done") is True else "pending"
    )
    return Entry(text, status, priority_of(fields.get("priority")), word_of(fields.get("id"))) if text else None


def _of_text(value: object) -> Entry | None:
    text = text_of(value).strip()
    return Entry(text, "pending") if text else None


def _boxes(text: str) -> list[Entry]:
    found = (_BOX.match(line) for line in text.split("\n"))
    return [Entry(box[2].strip(), _BOX_STATES.get(box[1], box[1])) for box in found if box]


def task_of_todo(entry: Entry, conversation: str, *, line: int) -> Task:
    """A line of a conversation's list, known by its text."""
    return Task(
        native_id=f"{conversation[:8]}-{short_hash(entry.text)}",
        title=titled(entry.text),
        line=line,
        scope=f"conversation:{conversation}",
        type="subtask" if entry.text.startswith(("↳", "- ")) else "task",
        status_raw=entry.status,
        priority=entry.priority,
        conversation_id=conversation,
        metadata={"format": "todo-list"},
    )


def task_of_list(fields: Json, session: str, number: str, *, line: int) -> Task:
    """A task with a number of its own, from what made or changed it or from its file."""
    blocked = names_of(fields.get("blockedBy")) + names_of(fields.get("addBlockedBy"))
    owner = text_of(fields.get("owner"))
    return Task(
        native_id=f"{session[:8]}-{number}",
        title=titled(text_of(fields.get("subject")) or f"Task {number}"),
        line=line,
        scope=f"conversation:{session}",
        description=text_of(fields.get("description")).strip(),
        status_raw=text_of(fields.get("status")),
        links=tuple(TaskLink("depends", f"{session[:8]}-{name}") for name in blocked),
        conversation_id=session,
        metadata={"format": "task-list"} | ({"assignee": owner} if owner else {}),
    )
