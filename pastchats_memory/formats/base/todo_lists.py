"""Todo lists and plans that agents keep by tool calls: a call replaces the list, or makes or changes one task.

A reader passes every call to a `TodoLists`, and takes the tasks at the end of the file.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from pastchats_memory.formats.base.dialect import COMMON, Dialect
from pastchats_memory.formats.base.tasks import names_of, one_line, short_hash, word_of
from pastchats_memory.formats.base.tools import fold_tool_name
from pastchats_memory.formats.base.values import Json, first_text, list_of, mapping_of, number_of, text_of, value_of
from pastchats_memory.model import RESOLVED, Task, TaskLink, TaskState
from pastchats_memory.text.tracker_words import priority_of, status_of

LIST_KEYS = ("todos", "plan", "items", "todoList", "todo_list", "tasks", "steps", "content", "checklist")
TEXT_KEYS = ("content", "step", "text", "title", "description", "subject", "name")
DELETED = "deleted"
DROPPED = "dropped"
"""The state of an open line when a list without it replaced its list."""

_BOX = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)?\[([ xX~\-/]|completed|in_progress|pending)\]\s+(\S.*)")
"""A line of a checklist; Droid writes the state as a word."""
_BOX_STATES = {" ": "pending", **dict.fromkeys("xX", "completed"), **dict.fromkeys("-/~", "in_progress")}
_MADE = re.compile(r"Task #?(\d+) created")


@dataclass(frozen=True, slots=True)
class TodoEntry:
    """One line of a list."""

    text: str
    status: str
    priority: int | None = None
    id: str = ""
    """Its id within the list, if the agent gives one."""


@dataclass(slots=True)
class _TrackedTask:
    task: Task
    states: list[TaskState] = field(default_factory=list)
    last: str = ""
    """The last raw state, also from before the file grew."""

    def set_status(self, raw: str, at: str | None) -> None:
        if raw and self.last != raw:
            self.states.append(TaskState(status_of(raw), raw, at))
            self.last = raw


class TodoLists:
    """The lists of the conversations of one file."""

    def __init__(self, dialect: Dialect = COMMON) -> None:
        self._todo_tools = dialect.todo_tools
        self._lists: dict[str, dict[str, _TrackedTask]] = {}
        self._tasks: dict[tuple[str, str], _TrackedTask] = {}
        self._texts: dict[str, dict[str, str]] = {}
        """Texts of a conversation's list by the ids of its lines."""
        self._created: dict[str, tuple[str, Json, str | None, int]] = {}

    def add_call(
        self, name: str, value: object, conversation: str, *, at: str | None, line: int, call_id: str = ""
    ) -> None:
        """Add a tool call: its name, its arguments as an object or as JSON text, its time and its line."""
        arguments = mapping_of(value_of(value))
        match fold_tool_name(name):
            case kind if kind in self._todo_tools:
                if arguments.get("merge") is True:
                    self._merge(conversation, arguments, at, line)
                elif (entries := entries_of(arguments)) is not None:
                    self._replace(conversation, entries, at, line)
            case "taskcreate":
                self._created[call_id] = (conversation, arguments, at, line)
            case "taskupdate":
                self._update(conversation, arguments, at)
        if isinstance(progress := arguments.get("task_progress"), str):
            self._replace(conversation, _boxes(progress), at, line)

    def add_result(self, call_id: str, output: object, text: str = "") -> None:
        """Add the result of a call: a created task takes its number from the output or from the text."""
        if call_id not in self._created:
            return
        conversation, arguments, at, line = self._created.pop(call_id)
        found = _MADE.search(text)
        number = word_of(mapping_of(mapping_of(output).get("task")).get("id")) or (found[1] if found else "")
        if number and text_of(arguments.get("subject")):
            self._add_numbered(task_of_list(arguments, conversation, number, line=line), conversation, number)
            self._tasks[conversation, number].set_status("pending", at)

    def _add_numbered(self, task: Task, conversation: str, number: str, last: str = "") -> None:
        """Add a task under its number; an agent that writes its list again gives the same task a further number."""
        own = (tracked for (owner, _), tracked in self._tasks.items() if owner == conversation)
        same = (tracked for tracked in own if tracked.task.title == task.title and tracked.last != DELETED)
        self._tasks[conversation, number] = known = next(same, None) or _TrackedTask(task)
        known.last = last or known.last

    def tasks(self, cwd: str | None = None, project: str | None = None) -> Iterator[Task]:
        """Yield every task with its states, the current one last."""
        numbered = {id(tracked): tracked for tracked in self._tasks.values()}
        names = {f"{owner[:8]}-{number}": one.task.native_id for (owner, number), one in self._tasks.items()}
        for tracked in chain(*(lines.values() for lines in self._lists.values()), numbered.values()):
            states = tuple(tracked.states)
            if not states or states[-1].raw == DELETED:  # nothing new since the file grew
                continue
            links = (link._replace(target=names.get(link.target, link.target)) for link in tracked.task.links)
            yield tracked.task._replace(
                states=states,
                links=tuple(dict.fromkeys(link for link in links if link.target != tracked.task.native_id)),
                status_raw=states[-1].raw,
                closed_at=states[-1].at if states[-1].status in RESOLVED else None,
                cwd=cwd,
                project=project,
                created_at=states[0].at,
                updated_at=states[-1].at,
            )

    def snapshot(self) -> Json:
        """Return the lists as JSON."""
        lists = {name: [[one.task.title, one.last] for one in of.values()] for name, of in self._lists.items()}
        tasks = [[*key, one.task.title, one.task.description, one.last] for key, one in self._tasks.items()]
        created = [[call_id, *call] for call_id, call in self._created.items()]
        return {"lists": lists, "tasks": tasks, "created": created, "texts": self._texts}

    def restore(self, snapshot: Json) -> None:
        """Restore the lists from a snapshot of the shorter file."""
        for conversation, texts in mapping_of(snapshot.get("texts")).items():
            self._texts[conversation] = {id_: text_of(text) for id_, text in mapping_of(texts).items()}
        for conversation, entries in mapping_of(snapshot.get("lists")).items():
            known = self._lists.setdefault(conversation, {})
            for title, last in (map(text_of, list_of(entry)) for entry in list_of(entries)):
                task = task_of_todo(TodoEntry(title, last), conversation, line=0)
                known[short_hash(title)] = _TrackedTask(task, last=last)
        for entry in list_of(snapshot.get("tasks")):
            conversation, number, subject, description, last = map(text_of, list_of(entry))
            fields: Json = {"subject": subject, "description": description}
            self._add_numbered(task_of_list(fields, conversation, number, line=0), conversation, number, last)
        for call_id, owner, arguments, at, line in map(list_of, list_of(snapshot.get("created"))):
            call = (text_of(owner), mapping_of(arguments), text_of(at) or None, number_of(line) or 0)
            self._created[text_of(call_id)] = call

    def _replace(self, conversation: str, entries: list[TodoEntry], at: str | None, line: int) -> None:
        known = self._lists.setdefault(conversation, {})
        texts = {short_hash(entry.text) for entry in entries}
        for name, tracked in known.items():
            if name not in texts and status_of(tracked.last) not in RESOLVED:
                tracked.set_status(DROPPED, at)
        self._texts[conversation] = {}
        for entry in entries:
            self._keep(conversation, entry, at, line)

    def _keep(self, conversation: str, entry: TodoEntry, at: str | None, line: int) -> None:
        lines = self._lists.setdefault(conversation, {})
        new = _TrackedTask(task_of_todo(entry, conversation, line=line))
        lines.setdefault(short_hash(entry.text), new).set_status(entry.status, at)
        if entry.id:
            self._texts.setdefault(conversation, {})[entry.id] = entry.text

    def _merge(self, conversation: str, arguments: Json, at: str | None, line: int) -> None:
        """Change lines of a list: a line with a known id may leave out its text."""
        texts = self._texts.get(conversation, {})
        for fields in map(mapping_of, list_of(arguments.get("todos"))):
            entry = entry_of({"content": texts.get(word_of(fields.get("id")), "")} | fields)
            if entry is not None:
                self._keep(conversation, entry, at, line)

    def _update(self, conversation: str, arguments: Json, at: str | None) -> None:
        number = word_of(arguments.get("taskId"))
        tracked = self._tasks.get((conversation, number))
        if tracked is None:
            return
        others = [one for key, one in self._tasks.items() if key != (conversation, number)]
        if text_of(arguments.get("status")) == DELETED and any(one is tracked for one in others):
            del self._tasks[conversation, number]
            return
        before = tracked.task
        fields = {"subject": before.title, "description": before.description} | arguments
        changed = task_of_list(fields, conversation, number, line=before.line)
        links = tuple(dict.fromkeys((*before.links, *changed.links)))
        tracked.task = changed._replace(native_id=before.native_id, links=links)
        tracked.set_status(text_of(arguments.get("status")), at)


def entries_of(arguments: Json) -> list[TodoEntry] | None:
    """Return the list in a call's arguments: objects, texts, or a checklist in one text; None without one."""
    for key in LIST_KEYS:
        written = arguments.get(key)
        if isinstance(value := value_of(written), list):
            found = (entry_of(item if isinstance(item, dict) else {"text": item}) for item in value)
            return [entry for entry in found if entry is not None]
        if isinstance(written, str):
            return _boxes(written)
    return None


def entry_of(fields: Json) -> TodoEntry | None:
    """Return a line of a list from its object, or None without a text."""
    text = first_text(fields, TEXT_KEYS)
    is_done = fields.get("completed") is True or fields.get("done") is True
    status = text_of(fields.get("status")) or ("completed" if is_done else "pending")
    return TodoEntry(text, status, priority_of(fields.get("priority")), word_of(fields.get("id"))) if text else None


def _boxes(text: str) -> list[TodoEntry]:
    found = (_BOX.match(line) for line in text.split("\n"))
    return [TodoEntry(box[2].strip(), _BOX_STATES.get(box[1], box[1])) for box in found if box]


def task_of_todo(entry: TodoEntry, conversation: str, *, line: int) -> Task:
    """Return the task of a line of a conversation's list, which its text identifies."""
    return Task(
        native_id=f"{conversation[:8]}-{short_hash(entry.text)}",
        title=one_line(entry.text),
        line=line,
        scope=f"conversation:{conversation}",
        type="subtask" if entry.text.startswith(("↳", "- ")) else "task",
        status_raw=entry.status,
        priority=entry.priority,
        conversation_id=conversation,
        metadata={"format": "todo-list"},
    )


def task_of_list(fields: Json, session: str, number: str, *, line: int) -> Task:
    """Return a numbered task from the call that made or changed it, or from its file."""
    blocked = names_of(fields.get("blockedBy")) + names_of(fields.get("addBlockedBy"))
    owner = text_of(fields.get("owner"))
    return Task(
        native_id=f"{session[:8]}-{number}",
        title=one_line(text_of(fields.get("subject")) or f"Task {number}"),
        line=line,
        scope=f"conversation:{session}",
        description=text_of(fields.get("description")).strip(),
        status_raw=text_of(fields.get("status")),
        links=tuple(TaskLink("depends", f"{session[:8]}-{name}") for name in blocked),
        conversation_id=session,
        metadata={"format": "task-list"} | ({"assignee": owner} if owner else {}),
    )
